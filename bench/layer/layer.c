/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A layer of the OpenCL loader (OPENCL_LAYERS) that counts calls and passes them on. What is not in
 * the list goes straight to the driver.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl_layer.h>

#include <stdatomic.h>
#include <string.h>

#include "counts.h"

static const cl_icd_dispatch *target;
static cl_icd_dispatch dispatch;
static atomic_ulong counts[DYNSEL_LAYER_FUNCTIONS];

#define COUNTED(type, name, parameters, arguments)                                                 \
    static type CL_API_CALL counted_##name parameters                                              \
    {                                                                                              \
        atomic_fetch_add_explicit(&counts[DYNSEL_LAYER_##name], 1, memory_order_relaxed);          \
        return target->name arguments;                                                             \
    }
DYNSEL_LAYER_LIST(COUNTED)

const char *const *dynsel_layer_read(unsigned long *into);

const char *const *dynsel_layer_read(unsigned long *into)
{
    static const char *const names[] = {
#define NAMED(type, name, parameters, arguments) #name,
        DYNSEL_LAYER_LIST(NAMED)};
    for (int i = 0; i < DYNSEL_LAYER_FUNCTIONS; i++) {
        into[i] = atomic_load(&counts[i]);
    }
    return names;
}

static cl_int answer(const void *value, size_t bytes, size_t room, void *to, size_t *needed)
{
    if (to != NULL) {
        if (room < bytes) {
            return CL_INVALID_VALUE;
        }
        memcpy(to, value, bytes);
    }
    if (needed != NULL) {
        *needed = bytes;
    }
    return CL_SUCCESS;
}

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size,
                                  void *param_value, size_t *param_value_size_ret)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "dynsel call counter";
    switch (param_name) {
    case CL_LAYER_API_VERSION:
        return answer(&version, sizeof version, param_value_size, param_value,
                      param_value_size_ret);
    case CL_LAYER_NAME:
        return answer(name, sizeof name, param_value_size, param_value, param_value_size_ret);
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                               cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    if (target_dispatch == NULL || num_entries_ret == NULL || layer_dispatch_ret == NULL ||
        num_entries < sizeof dispatch / sizeof(void *)) {
        return CL_INVALID_VALUE;
    }
    target = target_dispatch;
    dispatch = *target_dispatch;
#define PUT(type, name, parameters, arguments) dispatch.name = counted_##name;
    DYNSEL_LAYER_LIST(PUT)
    *layer_dispatch_ret = &dispatch;
    *num_entries_ret = sizeof dispatch / sizeof(void *);
    return CL_SUCCESS;
}
