/* SPDX-License-Identifier: Apache-2.0 */
#include "facts.h"

#include <string.h>

/* Newer than OpenCL 1.2, or of an extension: not in the headers of all systems. */
enum { SVM_CAPABILITIES = 0x1053, SUB_GROUP_SIZES_INTEL = 0x4108 };

/** Queries a value of exactly these bytes, else 0. */
static void ask(cl_device_id device, cl_device_info what, void *to, size_t bytes)
{
    size_t answered = 0;

    memset(to, 0, bytes);
    if (clGetDeviceInfo(device, what, bytes, to, &answered) != CL_SUCCESS || answered != bytes) {
        memset(to, 0, bytes);
    }
}

static void ask_text(cl_device_id device, cl_device_info what, char *to, size_t bytes)
{
    if (clGetDeviceInfo(device, what, bytes - 1, to, NULL) != CL_SUCCESS) {
        to[0] = '\0';
    }
    to[bytes - 1] = '\0';
}

/** Keeps the sizes ascending, and each once. */
static void add_size(info_facts *facts, size_t size)
{
    size_t at = 0;

    while (at < facts->sub_group_size_count && facts->sub_group_sizes[at] < size) {
        at++;
    }
    bool is_there = at < facts->sub_group_size_count && facts->sub_group_sizes[at] == size;
    if (is_there || size == 0 || size > 99999) { /* the table's own bounds */
        return;
    }
    for (size_t i = facts->sub_group_size_count++; i > at; i--) {
        facts->sub_group_sizes[i] = facts->sub_group_sizes[i - 1];
    }
    facts->sub_group_sizes[at] = (uint32_t)size;
}

static void read_sub_group_sizes(info_facts *facts, cl_device_id device)
{
    size_t sizes[INFO_MOST_SUB_GROUP_SIZES] = {0};
    size_t bytes = 0;

    if (clGetDeviceInfo(device, SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes) != CL_SUCCESS) {
        return;
    }
    for (size_t i = 0; i < INFO_MOST_SUB_GROUP_SIZES && i < bytes / sizeof *sizes; i++) {
        add_size(facts, sizes[i]);
    }
}

void facts_read(info_facts *facts, cl_device_id device)
{
    cl_bool unified = CL_FALSE;
    cl_command_queue_properties queues = 0;

    ask(device, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
    ask(device, CL_DEVICE_QUEUE_PROPERTIES, &queues, sizeof queues);
    ask(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &facts->max_allocation_bytes, sizeof(cl_ulong));
    ask(device, CL_DEVICE_LOCAL_MEM_SIZE, &facts->local_memory_bytes, sizeof(cl_ulong));
    ask(device, SVM_CAPABILITIES, &facts->svm, sizeof(cl_bitfield));
    facts->shares_host_memory = unified != CL_FALSE;
    facts->out_of_order = (queues & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    facts->profiling = (queues & CL_QUEUE_PROFILING_ENABLE) != 0;
    ask_text(device, CL_DEVICE_VERSION, facts->version, sizeof facts->version);
    ask_text(device, CL_DEVICE_OPENCL_C_VERSION, facts->c_version, sizeof facts->c_version);
    read_sub_group_sizes(facts, device);
}
