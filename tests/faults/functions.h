/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL functions that the library calls, in alphabetical order. tests/SConscript reads the
 * names here and has the linker wrap those functions; test_covered.py looks whether one is missing.
 */
#ifndef DYNSEL_TESTS_FAULTS_FUNCTIONS_H
#define DYNSEL_TESTS_FAULTS_FUNCTIONS_H

#define FAULT_FUNCTIONS(X)                                                                         \
    X(clBuildProgram)                                                                              \
    X(clCreateBuffer)                                                                              \
    X(clCreateCommandQueue)                                                                        \
    X(clCreateContext)                                                                             \
    X(clCreateKernel)                                                                              \
    X(clCreateProgramWithBinary)                                                                   \
    X(clCreateProgramWithSource)                                                                   \
    X(clEnqueueBarrierWithWaitList)                                                                \
    X(clEnqueueCopyBuffer)                                                                         \
    X(clEnqueueCopyBufferRect)                                                                     \
    X(clEnqueueFillBuffer)                                                                         \
    X(clEnqueueMapBuffer)                                                                          \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clEnqueueNDRangeKernel)                                                                      \
    X(clEnqueueReadBuffer)                                                                         \
    X(clEnqueueUnmapMemObject)                                                                     \
    X(clEnqueueWriteBuffer)                                                                        \
    X(clFlush)                                                                                     \
    X(clGetCommandQueueInfo)                                                                       \
    X(clGetDeviceIDs)                                                                              \
    X(clGetDeviceInfo)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clGetExtensionFunctionAddressForPlatform)                                                    \
    X(clGetKernelInfo)                                                                             \
    X(clGetKernelWorkGroupInfo)                                                                    \
    X(clGetMemObjectInfo)                                                                          \
    X(clGetPlatformIDs)                                                                            \
    X(clGetPlatformInfo)                                                                           \
    X(clGetProgramBuildInfo)                                                                       \
    X(clGetProgramInfo)                                                                            \
    X(clReleaseCommandQueue)                                                                       \
    X(clReleaseContext)                                                                            \
    X(clReleaseEvent)                                                                              \
    X(clReleaseKernel)                                                                             \
    X(clReleaseMemObject)                                                                          \
    X(clReleaseProgram)                                                                            \
    X(clRetainCommandQueue)                                                                        \
    X(clRetainEvent)                                                                               \
    X(clRetainMemObject)                                                                           \
    X(clSetEventCallback)                                                                          \
    X(clSetKernelArg)                                                                              \
    X(clWaitForEvents)

/* Those that it does not link with: clGetExtensionFunctionAddressForPlatform() gives it the layer's
 * own. */
#define FAULT_FOUND_FUNCTIONS(X)                                                                   \
    X(clCreateProgramWithIL)                                                                       \
    X(clCreateProgramWithILKHR)                                                                    \
    X(clEnqueueSVMMap)                                                                             \
    X(clEnqueueSVMUnmap)                                                                           \
    X(clSVMAlloc)                                                                                  \
    X(clSVMFree)                                                                                   \
    X(clSetKernelArgSVMPointer)

#endif
