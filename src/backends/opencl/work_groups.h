/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of work-groups where the program gives none. All ranges are in OpenCL's order. */
#ifndef DYNSEL_BACKENDS_OPENCL_WORK_GROUPS_H
#define DYNSEL_BACKENDS_OPENCL_WORK_GROUPS_H

#include "backends/opencl/kernel_cache.h"
#include "port/likely.h"

/* Neighbours in OpenCL's dimension 0 run side by side; in dynsel that is the last dimension. */
void dynsel_opencl_reverse(const dynsel_range *range, uint32_t dimensions, size_t *turned);

/* Writes a size that divides the range of the shape in each dimension. */
void dynsel_opencl_fit_local(const dynsel_opencl_entry *entry, const dynsel_opencl_kernel *built,
                             const dynsel_opencl_shape *shape, dynsel_opencl_caps caps,
                             size_t *local);

void dynsel_opencl_choose_new_shape(const dynsel_opencl_entry *entry, dynsel_opencl_kernel *built,
                                    const dynsel_range *global);

static inline bool dynsel_opencl_is_shape_of(const dynsel_opencl_shape *shape,
                                             const dynsel_range *global)
{
    const uint32_t dimensions = global->dimensions;
    if (shape->dimensions != dimensions) {
        return false;
    }
    for (uint32_t i = 0; i < dimensions; i++) {
        if (shape->global[i] != global->size[dimensions - 1 - i]) {
            return false;
        }
    }
    return true;
}

/* Writes the shape of a taken kernel for the range; the latest range costs a comparison. */
static inline void dynsel_opencl_choose_shape(const dynsel_opencl_entry *entry,
                                              dynsel_opencl_kernel *built,
                                              const dynsel_range *global)
{
    if (!DYNSEL_LIKELY(dynsel_opencl_is_shape_of(&built->shape, global))) {
        dynsel_opencl_choose_new_shape(entry, built, global);
    }
}

#endif
