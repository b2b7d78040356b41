/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/work_groups.h"

enum {
    MOST_ITEMS = 64,
    MOST_ITEMS_ON_GPU = 256, /* hide the latency of its memory; more leave less room to others */
    MOST_SLICES = 64,        /* in OpenCL's dimension 2, where GPUs allow no more */
    ENOUGH_ITEMS = 32,       /* powers of two from here on are preferred to larger other sizes */
    /* A CPU core runs the items of a work-group in a loop. Larger work-groups are faster if there
     * are still enough of them for all cores. */
    MANY_ITEMS = 1 << 20,
    MOST_OF_MANY = 1024,
};

void dynsel_opencl_reverse(const dynsel_range *range, uint32_t dimensions, size_t *turned)
{
    for (uint32_t i = 0; i < dimensions; i++) {
        turned[i] = range->size[dimensions - 1 - i];
    }
}

/* The largest divisor of `count` up to `room`; a power of two if it has ENOUGH_ITEMS. */
static size_t divisor_of(size_t count, size_t room)
{
    size_t power = count & (~count + 1); /* the largest power of two that divides it */
    while (power > room) {
        power /= 2;
    }
    if (power >= ENOUGH_ITEMS || power == count) {
        return power;
    }
    size_t divisor = count < room ? count : room;
    while (count % divisor != 0) {
        divisor--;
    }
    return divisor;
}

/* The most work items in a work-group. */
static size_t most_items(const dynsel_opencl_entry *entry, const dynsel_opencl_kernel *built,
                         const dynsel_opencl_shape *shape)
{
    size_t count = 1;
    size_t most = (entry->type & CL_DEVICE_TYPE_GPU) != 0 ? MOST_ITEMS_ON_GPU : MOST_ITEMS;
    for (cl_uint i = 0; i < shape->dimensions; i++) {
        count *= shape->global[i];
    }
    if ((entry->type & CL_DEVICE_TYPE_CPU) != 0 && count >= MANY_ITEMS) {
        cl_ulong local_bytes = 0;
        const cl_int code =
            clGetKernelWorkGroupInfo(built->kernel, entry->device, CL_KERNEL_LOCAL_MEM_SIZE,
                                     sizeof(local_bytes), &local_bytes, NULL);
        /* Kernels with local memory are written for a certain size. */
        most = code == CL_SUCCESS && local_bytes == 0 ? MOST_OF_MANY : MOST_ITEMS;
    }
    return built->most_items != 0 && built->most_items < most ? built->most_items : most;
}

void dynsel_opencl_fit_local(const dynsel_opencl_entry *entry, const dynsel_opencl_kernel *built,
                             const dynsel_opencl_shape *shape, dynsel_opencl_caps caps,
                             size_t *local)
{
    const size_t most = caps.all == 0 ? most_items(entry, built, shape) : caps.all;
    size_t room = built->most_items != 0 && built->most_items < most ? built->most_items : most;
    const size_t own[DYNSEL_MAX_DIMENSIONS] = {caps.x != 0 ? caps.x : room,
                                               caps.y != 0 ? caps.y : room, MOST_SLICES};
    for (cl_uint i = 0; i < shape->dimensions; i++) {
        local[i] = divisor_of(shape->global[i], own[i] < room ? own[i] : room);
        room /= local[i];
    }
}

void dynsel_opencl_choose_new_shape(const dynsel_opencl_entry *entry, dynsel_opencl_kernel *built,
                                    const dynsel_range *global)
{
    dynsel_opencl_shape *const shape = &built->shape;
    shape->dimensions = global->dimensions;
    dynsel_opencl_reverse(global, shape->dimensions, shape->global);
    if (built->demanded[0] != 0) {
        for (cl_uint i = 0; i < shape->dimensions; i++) {
            shape->local[i] = built->demanded[i];
        }
    } else {
        const bool is_measured = built->measured_dimensions == shape->dimensions;
        dynsel_opencl_fit_local(entry, built, shape,
                                is_measured ? built->fastest : (dynsel_opencl_caps){.all = 0},
                                shape->local);
    }
}
