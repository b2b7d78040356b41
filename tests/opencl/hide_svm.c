/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in front of the driver's answer, so that devices share what DYNSEL_TEST_SVM says:
 *
 *     fine      memory made for it
 *     coarse    the same, which the host has to map
 *     none      nothing
 *     unknown   nothing, as drivers older than OpenCL 2.0 say it
 *
 * Unset: as they are. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

enum { SVM_CAPABILITIES = 0x1053, COARSE_GRAIN_BUFFER = 1, FINE_GRAIN_BUFFER = 2 };

typedef cl_int (*ask_fn)(cl_device_id device, cl_device_info what, size_t bytes, void *to,
                         size_t *answered);

static ask_fn driver(void)
{
    void *const address = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    ask_fn ask = NULL;
    memcpy(&ask, &address, sizeof(ask));
    return ask;
}

static cl_bitfield left_of(cl_bitfield bits, const char *shown)
{
    if (strcmp(shown, "fine") == 0) {
        return bits & (COARSE_GRAIN_BUFFER | FINE_GRAIN_BUFFER);
    }
    return strcmp(shown, "coarse") == 0 ? bits & COARSE_GRAIN_BUFFER : 0;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *to,
                       size_t *answered)
{
    const char *const shown = getenv("DYNSEL_TEST_SVM");
    if (what != SVM_CAPABILITIES || shown == NULL) {
        return driver()(device, what, bytes, to, answered);
    }
    if (strcmp(shown, "unknown") == 0) {
        return CL_INVALID_VALUE;
    }
    const cl_int code = driver()(device, what, bytes, to, answered);
    if (code == CL_SUCCESS && to != NULL) {
        cl_bitfield bits = 0;
        memcpy(&bits, to, sizeof(bits));
        bits = left_of(bits, shown);
        memcpy(to, &bits, sizeof(bits));
    }
    return code;
}
