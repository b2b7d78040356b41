/* SPDX-License-Identifier: Apache-2.0 */
/** Laid over OpenCL with LD_PRELOAD, so that drivers answer as ODD says, which has rules such as
 *
 *     basic 102b 410042;pthread 1053 -;platform 902 4100
 *
 * Each is a part of the device's own name ("platform": it is about platforms), the number of a
 * question, and the bytes of the answer; "-": the driver does not know the question. All numbers
 * are hexadecimal. Devices with ODD_MARKER in their name refuse markers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define NEXT(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

/** The answer in the rule for `name` and `what`, or NULL. */
static const char *find_rule(const char *name, cl_uint what)
{
    const char *rule = getenv("ODD");

    while (rule != NULL && *rule != '\0') {
        char part[64] = "";
        size_t length = strcspn(rule, " ");
        if (length < sizeof part) {
            memcpy(part, rule, length);
        }
        char *end;
        unsigned long number = strtoul(rule + length, &end, 16);
        if (number == what && strstr(name, part) != NULL) {
            return end + 1;
        }
        rule = strchr(end, ';');
        rule += rule != NULL ? 1 : 0;
    }
    return NULL;
}

static unsigned char byte_at(const char *hex)
{
    const char digits[] = {hex[0], hex[1], '\0'};

    return (unsigned char)strtoul(digits, NULL, 16);
}

static cl_int answer(const char *hex, size_t size, void *value, size_t *bytes)
{
    size_t length = strspn(hex, "0123456789abcdef") / 2;

    if (*hex == '-' || (value != NULL && size < length)) {
        return CL_INVALID_VALUE;
    }
    for (size_t i = 0; value != NULL && i < length; i++) {
        ((unsigned char *)value)[i] = byte_at(hex + 2 * i);
    }
    if (bytes != NULL) {
        *bytes = length;
    }
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value,
                       size_t *bytes)
{
    char name[256] = "";

    NEXT(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    const char *rule = find_rule(name, what);
    return rule != NULL ? answer(rule, size, value, bytes)
                        : NEXT(clGetDeviceInfo)(device, what, size, value, bytes);
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size, void *value,
                         size_t *bytes)
{
    const char *rule = find_rule("platform", what);

    return rule != NULL ? answer(rule, size, value, bytes)
                        : NEXT(clGetPlatformInfo)(platform, what, size, value, bytes);
}

cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event *list,
                                   cl_event *event)
{
    const char *part = getenv("ODD_MARKER");
    cl_device_id device = NULL;
    char name[256] = "";

    clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    NEXT(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    return part != NULL && strstr(name, part) != NULL
               ? CL_OUT_OF_HOST_MEMORY
               : NEXT(clEnqueueMarkerWithWaitList)(queue, count, list, event);
}
