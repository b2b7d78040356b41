/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/default_backends.h"

#include <dynsel/dynsel.h>

dynsel_backend *const dynsel_default_backends[] = {
#if CONFIG_DYNSEL_BACKEND_INLINE
    &dynsel_inline_backend,
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
    &dynsel_opencl_backend,
#endif
    NULL,
};
