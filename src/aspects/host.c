/* SPDX-License-Identifier: Apache-2.0 */
#include "aspects/host.h"

#include <float.h>

static const dynsel_aspect_set aspects = 0
#define DYNSEL_ASPECT(name, text, host, opencl) | ((host) ? DYNSEL_ASPECT_BIT(name) : 0)
#include <dynsel/aspects.def>
    ;

#if CONFIG_DYNSEL_ASPECT_FP64
_Static_assert(!dynsel_all_devices_have(fp64) || DBL_MANT_DIG >= 53,
               "double has less than 64 bits here: take fp64 out of the target host");
#endif

dynsel_status dynsel_describe_host(dynsel_backend *backend, const void *handle,
                                   dynsel_device *device)
{
    (void)backend;
    (void)handle;
    device->type = "host";
    device->aspects = aspects;
    device->processors = 1;
    return DYNSEL_OK;
}
