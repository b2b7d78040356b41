/* SPDX-License-Identifier: Apache-2.0 */
#include "faults/own_queue.h"

#include "faults/layer.h"

static cl_context context;
static cl_command_queue queue;

dynsel_resource fault_own_queue(const dynsel_resource *of)
{
    fault_suspend(true);
    const cl_device_id device = dynsel_opencl_device(of);
    if (queue == NULL) {
        context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
        queue = clCreateCommandQueue(context, device, 0, NULL);
    }
    fault_suspend(false);
    return (dynsel_resource){&dynsel_opencl_backend, dynsel_opencl_adopt(queue)};
}

void fault_release_own_queue(void)
{
    if (queue != NULL) {
        fault_suspend(true);
        (void)clReleaseCommandQueue(queue);
        (void)clReleaseContext(context);
        fault_suspend(false);
    }
}
