/* SPDX-License-Identifier: Apache-2.0 */
/* What the layer counts: every OpenCL function that dynsel or a task of the bench can call. */
#ifndef BENCH_LAYER_COUNTS_H
#define BENCH_LAYER_COUNTS_H

/* X(type, name, parameters, arguments) */
#define DYNSEL_LAYER_LIST(X)                                                                       \
    X(cl_int, clEnqueueNDRangeKernel,                                                              \
      (cl_command_queue a, cl_kernel b, cl_uint c, const size_t *d, const size_t *e,               \
       const size_t *f, cl_uint g, const cl_event *h, cl_event *i),                                \
      (a, b, c, d, e, f, g, h, i))                                                                 \
    X(cl_int, clEnqueueMarkerWithWaitList,                                                         \
      (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d))               \
    X(cl_int, clEnqueueBarrierWithWaitList,                                                        \
      (cl_command_queue a, cl_uint b, const cl_event *c, cl_event *d), (a, b, c, d))               \
    X(cl_int, clFlush, (cl_command_queue a), (a))                                                  \
    X(cl_int, clFinish, (cl_command_queue a), (a))                                                 \
    X(cl_int, clGetEventInfo, (cl_event a, cl_event_info b, size_t c, void *d, size_t *e),         \
      (a, b, c, d, e))                                                                             \
    X(cl_int, clGetEventProfilingInfo,                                                             \
      (cl_event a, cl_profiling_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))            \
    X(cl_int, clSetEventCallback,                                                                  \
      (cl_event a, cl_int b, void(CL_CALLBACK * c)(cl_event, cl_int, void *), void *d),            \
      (a, b, c, d))                                                                                \
    X(cl_int, clWaitForEvents, (cl_uint a, const cl_event *b), (a, b))                             \
    X(cl_int, clRetainEvent, (cl_event a), (a))                                                    \
    X(cl_int, clReleaseEvent, (cl_event a), (a))                                                   \
    X(cl_event, clCreateUserEvent, (cl_context a, cl_int * b), (a, b))                             \
    X(cl_int, clSetUserEventStatus, (cl_event a, cl_int b), (a, b))                                \
    X(cl_int, clSetKernelArg, (cl_kernel a, cl_uint b, size_t c, const void *d), (a, b, c, d))     \
    X(cl_int, clRetainCommandQueue, (cl_command_queue a), (a))                                     \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue a), (a))                                    \
    X(cl_int, clGetCommandQueueInfo,                                                               \
      (cl_command_queue a, cl_command_queue_info b, size_t c, void *d, size_t *e),                 \
      (a, b, c, d, e))                                                                             \
    X(cl_command_queue, clCreateCommandQueue,                                                      \
      (cl_context a, cl_device_id b, cl_command_queue_properties c, cl_int * d), (a, b, c, d))     \
    X(cl_context, clCreateContext,                                                                 \
      (const cl_context_properties *a, cl_uint b, const cl_device_id *c,                           \
       void(CL_CALLBACK * d)(const char *, const void *, size_t, void *), void *e, cl_int *f),     \
      (a, b, c, d, e, f))                                                                          \
    X(cl_int, clReleaseContext, (cl_context a), (a))                                               \
    X(cl_int, clGetDeviceInfo, (cl_device_id a, cl_device_info b, size_t c, void *d, size_t *e),   \
      (a, b, c, d, e))                                                                             \
    X(cl_int, clGetDeviceIDs,                                                                      \
      (cl_platform_id a, cl_device_type b, cl_uint c, cl_device_id * d, cl_uint * e),              \
      (a, b, c, d, e))                                                                             \
    X(cl_int, clGetPlatformInfo,                                                                   \
      (cl_platform_id a, cl_platform_info b, size_t c, void *d, size_t *e), (a, b, c, d, e))       \
    X(cl_int, clGetPlatformIDs, (cl_uint a, cl_platform_id * b, cl_uint * c), (a, b, c))

enum {
#define DYNSEL_LAYER_ENUMERATOR(type, name, parameters, arguments) DYNSEL_LAYER_##name,
    DYNSEL_LAYER_LIST(DYNSEL_LAYER_ENUMERATOR)
#undef DYNSEL_LAYER_ENUMERATOR
        DYNSEL_LAYER_FUNCTIONS
};

/* Of the layer's symbol dynsel_layer_read: how often each function was called so far; returns their
 * names. */
typedef const char *const *(*dynsel_layer_read_fn)(unsigned long *counts);

#endif
