/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/dynsel.h>

#include "policy/default_backends.h"

#if CONFIG_DYNSEL_BACKEND_THREADS
#include "backends/threads/backend.h"
#endif

dynsel_backend *const dynsel_default_backends[] = {
#if CONFIG_DYNSEL_BACKEND_INLINE
    &dynsel_inline_backend,
#endif
#if CONFIG_DYNSEL_BACKEND_THREADS
    &dynsel_threads_if_started,
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
    &dynsel_opencl_backend,
#endif
#if CONFIG_DYNSEL_BACKEND_MPI
    &dynsel_mpi_backend,
    &dynsel_mpi_device_backend,
#endif
    NULL,
};

#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL || CONFIG_DYNSEL_BACKEND_MPI
dynsel_backend *const dynsel_backends_beside_caller[] = {
#if CONFIG_DYNSEL_BACKEND_THREADS
    &dynsel_threads_backend,
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
    &dynsel_opencl_backend,
#endif
#if CONFIG_DYNSEL_BACKEND_MPI
    &dynsel_mpi_backend,
    &dynsel_mpi_device_backend,
#endif
    NULL,
};
#endif
