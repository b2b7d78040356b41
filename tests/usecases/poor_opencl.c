/* SPDX-License-Identifier: Apache-2.0 */
/* Laid over OpenCL with LD_PRELOAD, so that devices are as POOR says:
 *
 *     memory:N    no buffer of more than N bytes can be made
 *     skip:N      the Nth kernel and all later ones are not run, and nobody is told
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* What POOR says about this kind; 0: nothing. */
static size_t limit(const char *kind)
{
    const char *asked = getenv("POOR");
    const size_t length = strlen(kind);
    return asked != NULL && strncmp(asked, kind, length) == 0 ? strtoul(asked + length, NULL, 10)
                                                              : 0;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                      cl_int *code)
{
    const size_t most = limit("memory:");
    if (most != 0 && bytes > most) {
        *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return NULL;
    }
    return NEXT(clCreateBuffer)(context, flags, bytes, host, code);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *list, cl_event *event)
{
    static size_t calls;
    const size_t first = limit("skip:");
    if (first != 0 && __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) >= first) {
        return NEXT(clEnqueueMarkerWithWaitList)(queue, count, list, event);
    }
    return NEXT(clEnqueueNDRangeKernel)(queue, kernel, dimensions, offset, global, local, count,
                                        list, event);
}
