/* SPDX-License-Identifier: Apache-2.0 */
#include "groups.h"

#include <inttypes.h>
#include <stdio.h>

#include <dynsel/dynsel.h>

#include "phases.h"
#include "report.h"

enum { LARGE_BYTES = 64 << 20, PAGE = 4096, TABLE_WORDS = 1 << 18, ROUNDS = 100, DEVICES = 2 };

/* Adds to one word of each page. */
static const dynsel_kernel touch = {
    .name = "touch",
    .source = "kernel void touch(global uint *x) { x[get_global_id(0) * 1024] += 1; }",
};

static const dynsel_kernel look_up = {
    .name = "look_up",
    .source = "kernel void look_up(global const uint *table, global uint *sum, uint i)"
              "{ sum[0] += table[i]; }",
};

static _Alignas(PAGE) unsigned char large[LARGE_BYTES];
static uint32_t table[TABLE_WORDS + 1];
static uint32_t sum_data[DEVICES];
static dynsel_fixed_resource_policy policies[DEVICES];

static dynsel_status touch_group(dynsel_handler *handler, void *args)
{
    const dynsel_accessor *x = args;
    dynsel_require(handler, x);
    dynsel_set_arg_accessor(handler, 0, x);
    return dynsel_parallel_for(handler, &touch, DYNSEL_RANGE(LARGE_BYTES / PAGE), NULL, NULL);
}

static void print_movement(const char *subject, dynsel_buffer buffer, uint64_t most_bytes)
{
    char text[192];
    dynsel_movement m;
    report_check(dynsel_buffer_movement(buffer, &m) == DYNSEL_OK, "dynsel_buffer_movement");
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " bytes in %" PRIu32 " times, %" PRIu64 " out %" PRIu32
                   " times, %" PRIu64 " of them pinned, %" PRIu32 " avoided",
                   m.bytes_in, m.copies_in, m.bytes_out, m.copies_out, m.bytes_pinned,
                   m.copies_avoided);
    report_fact(subject, text, m.bytes_in + m.bytes_out <= most_bytes);
}

/* Copies from host to device and back, repeatedly. */
static void move_large(const char *name, uint64_t most_bytes)
{
    char subject[64];
    dynsel_buffer buffer = {0};
    report_check(dynsel_buffer_init(&buffer, large, 1, DYNSEL_RANGE(LARGE_BYTES)) == DYNSEL_OK,
                 "dynsel_buffer_init");
    dynsel_accessor x = {.name = "large", .buffer = buffer, .placeholder = true};
    for (unsigned i = 0; i < ROUNDS; i++) {
        dynsel_host_accessor seen = {0};
        report_check(dynsel_submit_command_group(&policies[0].policy, touch_group, &x, NULL) ==
                         DYNSEL_OK,
                     "the large buffer");
        report_check(dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ_WRITE) ==
                         DYNSEL_OK,
                     "the large buffer");
        uint32_t *last = (uint32_t *)(void *)((unsigned char *)seen.data + LARGE_BYTES - PAGE);
        report_check(*last == 1, "a wrong result");
        *last = 0;
        report_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "close");
    }
    (void)snprintf(subject, sizeof subject, "%.16s, 64 MiB", name);
    print_movement(subject, buffer, most_bytes);
    report_check(dynsel_buffer_deinit(&buffer) == DYNSEL_OK, "deinit");
}

typedef struct looking {
    const dynsel_accessor *table;
    const dynsel_accessor *sum;
    uint32_t i;
} looking;

static dynsel_status look_up_group(dynsel_handler *handler, void *args)
{
    const looking *l = args;
    dynsel_require(handler, l->table);
    dynsel_require(handler, l->sum);
    dynsel_set_arg_accessor(handler, 0, l->table);
    dynsel_set_arg_accessor(handler, 1, l->sum);
    dynsel_set_arg_value(handler, 2, &l->i, sizeof l->i);
    return dynsel_single_task(handler, &look_up);
}

static void look_up_on(unsigned device, const dynsel_accessor *reading, const dynsel_accessor *sum)
{
    for (uint32_t i = 0; i < ROUNDS; i++) {
        looking l = {reading, sum, i};
        report_check(dynsel_submit_command_group(&policies[device].policy, look_up_group, &l,
                                                 NULL) == DYNSEL_OK,
                     "a look at the table");
    }
}

/* The table is not aligned as devices need it, so that none can share it. */
static void read_from_two(const char *name)
{
    char subject[64];
    dynsel_buffer buffer = {0};
    dynsel_buffer sums[DEVICES] = {{0}};
    for (uint32_t i = 0; i <= TABLE_WORDS; i++) {
        table[i] = i;
    }
    report_check(dynsel_buffer_init(&buffer, &table[1], sizeof table[0],
                                    DYNSEL_RANGE(TABLE_WORDS)) == DYNSEL_OK,
                 "dynsel_buffer_init");
    const dynsel_accessor reading = {
        .name = "table", .buffer = buffer, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    for (unsigned d = 0; d < DEVICES; d++) {
        report_check(dynsel_buffer_init(&sums[d], &sum_data[d], sizeof sum_data[d],
                                        DYNSEL_RANGE(1)) == DYNSEL_OK,
                     "dynsel_buffer_init");
        const dynsel_accessor sum = {.name = "sum", .buffer = sums[d], .placeholder = true};
        look_up_on(d, &reading, &sum);
    }
    for (unsigned d = 0; d < DEVICES; d++) {
        dynsel_host_accessor seen = {0};
        report_check(dynsel_host_accessor_open(&seen, sums[d], DYNSEL_ACCESS_READ) == DYNSEL_OK &&
                         *(const uint32_t *)seen.data == ROUNDS * (ROUNDS + 1) / 2 &&
                         dynsel_host_accessor_close(&seen) == DYNSEL_OK,
                     "a wrong sum");
        report_check(dynsel_buffer_deinit(&sums[d]) == DYNSEL_OK, "deinit");
    }
    (void)snprintf(subject, sizeof subject, "%.16s twice, 1 MiB table", name);
    print_movement(subject, buffer, sizeof table[0] * DEVICES * TABLE_WORDS);
    report_check(dynsel_buffer_deinit(&buffer) == DYNSEL_OK, "deinit");
}

/* A queue in a context of its own, so that the second device shares nothing with the first. */
static cl_command_queue own_queue(cl_device_id device)
{
    cl_int code = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    report_check(code == CL_SUCCESS, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
    report_check(code == CL_SUCCESS, "clCreateCommandQueue");
    (void)clReleaseContext(context);
    return queue;
}

static bool shares_memory(cl_device_id device)
{
    cl_bool unified = CL_FALSE;
    return clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL) ==
               CL_SUCCESS &&
           unified != CL_FALSE;
}

static void measure(const dynsel_resource *where)
{
    const char *name = dynsel_resource_name(where);
    const cl_device_id device = dynsel_opencl_device(where);
    cl_command_queue queue = own_queue(device);
    const dynsel_resource second = {.backend = &dynsel_opencl_backend, .handle = queue};
    const dynsel_options options[DEVICES] = {
        {.resources = where, .count = 1},
        {.resources = &second, .count = 1, .adapt = dynsel_opencl_adopt},
    };
    for (unsigned d = 0; d < DEVICES; d++) {
        report_check(dynsel_fixed_resource_init(&policies[d], &options[d], 0) == DYNSEL_OK, "init");
    }
    move_large(name, shares_memory(device) ? 0 : (uint64_t)2 * ROUNDS * LARGE_BYTES);
    read_from_two(name);
    for (unsigned d = 0; d < DEVICES; d++) {
        report_check(dynsel_policy_deinit(&policies[d].policy) == DYNSEL_OK, "deinit");
    }
    (void)clReleaseCommandQueue(queue);
}

void bench_movement(void)
{
    size_t count = 0;
    const dynsel_resource *const resources =
        bench_devices(CONFIG_DYNSEL_OPENCL_MAX_DEVICES, &count);
    if (count == 0) {
        return;
    }
    printf("\nWhat %d command groups on a device move: a large buffer, which the host changes in "
           "between, must\nmove nothing where the memory is shared; a table that two devices "
           "with memories of their own read\n%d times each is moved once to each.\n\n",
           ROUNDS, ROUNDS);
    measure(&resources[count - 1]);
}
