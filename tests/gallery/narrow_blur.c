/* SPDX-License-Identifier: Apache-2.0 */
/** Laid over OpenCL with LD_PRELOAD: devices blur with a smaller window than they are told, so that
 * their results are wrong. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *code)
{
    static char changed[65536];
    const char *line = "#define RADIUS 4";
    const char *given[8];
    size_t sizes[8];

    for (cl_uint i = 0; i < count && i < 8; i++) {
        given[i] = texts[i];
        sizes[i] = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
        const char *found = memmem(texts[i], sizes[i], line, strlen(line));
        if (found != NULL && sizes[i] <= sizeof changed) {
            memcpy(changed, texts[i], sizes[i]);
            changed[found - texts[i] + strlen(line) - 1] = '3';
            given[i] = changed;
        }
    }
    return ((__typeof__(&clCreateProgramWithSource))dlsym(RTLD_NEXT, "clCreateProgramWithSource"))(
        context, count, given, sizes, code);
}
