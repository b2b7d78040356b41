/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of what the OpenCL backend does with memory, called as the library calls it, on the
 * devices of this machine.
 *
 * DYNSEL_EXPECT_DEVICES says how many OpenCL devices there must be; unset: any number. What
 * DYNSEL_TEST_SVM says, tests/opencl/hide_svm.c does to them.
 */
#ifndef DYNSEL_TESTS_OPENCL_FIXTURE_H
#define DYNSEL_TESTS_OPENCL_FIXTURE_H

#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>
#include <dynsel/memory.h>

#include "test.h"

enum { MOST_DEVICES = CONFIG_DYNSEL_OPENCL_MAX_DEVICES };

static dynsel_resource resources[MOST_DEVICES];
static size_t resource_count;

static inline const dynsel_memory_ops *memory_ops(void)
{
    return dynsel_opencl_backend.ops->memory;
}

static inline size_t expected_devices(void)
{
    const char *const expected = getenv("DYNSEL_EXPECT_DEVICES");
    return expected != NULL ? (size_t)atoi(expected) : SIZE_MAX;
}

/* Finds the devices and opens them. */
static inline int open_devices(void **state)
{
    (void)state;
    /* what the backend does with memory is only in programs that use command groups */
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(NULL, NULL, 0, NULL, NULL));
    assert_non_null(memory_ops());
    const dynsel_status status =
        dynsel_opencl_select("all", resources, MOST_DEVICES, &resource_count);
    if (status != DYNSEL_OK) {
        resource_count = 0;
    }
    for (size_t i = 0; i < resource_count; i++) {
        assert_non_null(dynsel_opencl_queue(&resources[i]));
    }
    return 0;
}

static inline int close_devices(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    return 0;
}

static inline bool has_room(void)
{
    return expected_devices() == SIZE_MAX || expected_devices() <= MOST_DEVICES;
}

static inline void device_count_equals_expected(void **state)
{
    (void)state;
    if (expected_devices() != SIZE_MAX) {
        assert_int_equal(resource_count, expected_devices());
    }
}

/* So that it is known what a run is of. */
static inline void sharing_equals_expected(void **state)
{
    const char *const shown = getenv("DYNSEL_TEST_SVM");
    (void)state;
    for (size_t i = 0; i < resource_count && shown != NULL; i++) {
        assert_int_equal(strcmp(shown, "coarse") == 0 ? DYNSEL_SHARES_MAPPED
                         : strcmp(shown, "fine") == 0 ? DYNSEL_SHARES_ALLOCATED
                                                      : DYNSEL_SHARES_NOTHING,
                         memory_ops()->sharing(&dynsel_opencl_backend, resources[i].handle));
    }
}

static inline void skip_unless(bool condition)
{
    if (!condition) {
        skip();
    }
}

/* Flushes and waits for an event; its status. */
static inline dynsel_status wait_for(void *own, dynsel_event *done)
{
    dynsel_work work = {.own = own, .done = *done};
    const dynsel_resource where = {&dynsel_opencl_backend, own};
    if (done->native == NULL) {
        return DYNSEL_OK;
    }
    assert_int_equal(clFlush(dynsel_opencl_queue(&where)), CL_SUCCESS);
    const dynsel_status status = dynsel_opencl_backend.ops->wait(&dynsel_opencl_backend, &work);
    dynsel_opencl_backend.ops->release(&dynsel_opencl_backend, &work);
    *done = (dynsel_event){.native = NULL};
    return status;
}

static inline dynsel_memory allocate(void *own, void *host, size_t bytes, bool shared)
{
    dynsel_memory memory = {.host = host, .bytes = bytes, .shared = shared};
    assert_status(DYNSEL_OK, memory_ops()->allocate(&dynsel_opencl_backend, own, &memory));
    assert_non_null(memory.native);
    return memory;
}

static inline void release(void *own, dynsel_memory *memory)
{
    memory_ops()->release(&dynsel_opencl_backend, own, memory);
}

static inline void bring(void *own, dynsel_memory *memory, bool contents)
{
    dynsel_event done = {.native = NULL};
    assert_status(DYNSEL_OK, memory_ops()->bring(&dynsel_opencl_backend, own, memory, contents,
                                                 NULL, 0, &done));
    assert_status(DYNSEL_OK, wait_for(own, &done));
}

static inline void fetch(void *own, dynsel_memory *memory, bool contents, bool to_write)
{
    dynsel_event done = {.native = NULL};
    assert_status(DYNSEL_OK, memory_ops()->fetch(&dynsel_opencl_backend, own, memory, contents,
                                                 to_write, &done));
    assert_status(DYNSEL_OK, wait_for(own, &done));
}

static inline dynsel_status run(void *own, const dynsel_command *command)
{
    dynsel_event done = {.native = NULL};
    const dynsel_status status = memory_ops()->launch(&dynsel_opencl_backend, own, command, &done);
    const dynsel_status ended = wait_for(own, &done);
    return status != DYNSEL_OK ? status : ended;
}

static inline dynsel_argument data_of(dynsel_memory *memory)
{
    return (dynsel_argument){.kind = DYNSEL_ARGUMENT_DATA,
                             .memory = memory,
                             .value = memory->host,
                             .bytes = memory->bytes};
}

static inline dynsel_argument value_of(void *value, size_t bytes)
{
    return (dynsel_argument){.kind = DYNSEL_ARGUMENT_VALUE, .value = value, .bytes = bytes};
}

static inline dynsel_command launch_of(const dynsel_kernel *kernel, dynsel_range global,
                                       const dynsel_argument *arguments, size_t count)
{
    return (dynsel_command){
        .kind = DYNSEL_COMMAND_KERNEL,
        .kernel = kernel,
        .launch = {.global = global, .arguments = arguments, .argument_count = count}};
}

#endif
