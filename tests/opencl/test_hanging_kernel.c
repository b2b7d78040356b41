/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that does not end, on a real driver: the host goes on with a stream of command groups,
 * the kernel's work ends once its device is given up, and everything that the library has can be
 * ended. A device that shares the host's memory is set free at the end; another one, such as a GPU,
 * runs on until the process ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "opencl/fill_kernel.h"
#include "test.h"

enum { GROUPS = 64, HANGS_AT = GROUPS / 4, IN_FLIGHT = 6, BUFFERS = 5, TESTS = 4 };

static const uint64_t MS = 1000000; /* in ns */

static _Alignas(4096) uint32_t words[BUFFERS][WORDS];
static _Alignas(4096) uint32_t doors[TESTS][WORDS];
static uint32_t *door;                      /* of this test; the first: open */
static _Alignas(4096) uint32_t seen[WORDS]; /* only read by the kernel that hangs */
static _Alignas(4096) uint32_t late[WORDS]; /* of work behind it, of another policy */
static dynsel_buffer buffers[BUFFERS];
static dynsel_buffer door_buffer;
static dynsel_buffer seen_buffer;
static dynsel_buffer late_buffer;
static dynsel_submission submissions[GROUPS];
static uint64_t began_ns;
static bool shares; /* the device works in the host's memory */

static const dynsel_kernel hang = {
    .name = "hang",
    .source = "kernel void hang(volatile global uint *door, uint number,\n"
              "                 volatile global const uint *seen)\n"
              "{ while (door[0] == 0) { door[1] = door[1] + number + seen[0]; } }\n"};

typedef struct job {
    const dynsel_kernel *kernel;
    const dynsel_buffer *buffer;
    uint32_t number;
    bool repeatable;
} job;

static dynsel_status pass(dynsel_handler *handler, uint32_t argument, dynsel_buffer buffer,
                          dynsel_access_mode mode)
{
    dynsel_accessor data;
    const dynsel_status status =
        dynsel_get_access(handler, buffer, mode, DYNSEL_MEMORY_GLOBAL, &data);
    return status == DYNSEL_OK ? dynsel_set_arg_accessor(handler, argument, &data) : status;
}

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    const bool hangs = j->kernel == &hang;
    dynsel_status status = pass(handler, 0, *j->buffer,
                                hangs ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_DISCARD_WRITE);
    if (status == DYNSEL_OK && hangs) {
        status = pass(handler, 2, seen_buffer, DYNSEL_ACCESS_READ);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->number, sizeof(j->number));
    }
    if (status == DYNSEL_OK && hangs) {
        status = dynsel_set_time_limit(handler, 50 * MS);
    }
#if CONFIG_DYNSEL_REPEAT
    if (status == DYNSEL_OK && j->repeatable) {
        status = dynsel_set_repeatable(handler);
    }
#endif
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, j->kernel,
                                                     DYNSEL_RANGE(hangs ? 1 : WORDS), NULL, NULL)
                               : status;
}

static double ms_since(uint64_t then_ns)
{
    return (double)(dynsel_now_ns() - then_ns) / (double)MS;
}

static void note(const dynsel_resource_change *change)
{
    printf("%8.1f ms: %s: %s -> %s, %s\n", ms_since(began_ns),
           dynsel_resource_name(&change->policy->resources[change->index]),
           dynsel_resource_state_text(change->before), dynsel_resource_state_text(change->after),
           dynsel_status_name(change->cause));
}

static void run_stream(dynsel_policy *policy, dynsel_policy *device, dynsel_submission *hanging)
{
    static const job hangs = {.kernel = &hang, .buffer = &door_buffer, .number = 1};
    for (uint32_t i = 0; i < GROUPS; i++) {
        job j = {.kernel = &fill, .buffer = &buffers[i % BUFFERS], .number = i};
        if (i == HANGS_AT) {
            assert_status(DYNSEL_OK,
                          dynsel_submit_command_group(device, record, (void *)&hangs, hanging));
        }
        assert_status(DYNSEL_OK, dynsel_submit_command_group(policy, record, &j, &submissions[i]));
        if (i >= IN_FLIGHT) {
            assert_status(DYNSEL_OK, dynsel_wait(&submissions[i - IN_FLIGHT]));
        }
    }
    for (uint32_t i = GROUPS - IN_FLIGHT; i < GROUPS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
}

static void check_contents(void)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        const uint32_t last = (GROUPS - 1 - i) / BUFFERS * BUFFERS + i;
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
        for (uint32_t k = 0; k < WORDS; k++) {
            assert_int_equal(last * WORDS + k, words[i][k]);
        }
    }
    dynsel_buffer *const used[] = {&door_buffer, &seen_buffer, &late_buffer};
    for (uint32_t i = 0; i < sizeof(used) / sizeof(used[0]); i++) {
        if (shares || used[i] != &late_buffer) {
            assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(used[i]));
            assert_error_says("may still use its memory");
            assert_int_equal(0, used[i]->token);
        } else {
            assert_status(DYNSEL_OK, dynsel_buffer_deinit(used[i]));
        }
    }
}

static void make_buffers(void)
{
    static uint32_t tests;
    door = doors[tests++];
    const struct {
        dynsel_buffer *buffer;
        uint32_t *words;
    } others[] = {{&door_buffer, door}, {&seen_buffer, seen}, {&late_buffer, late}};
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], words[i], sizeof(uint32_t),
                                                    DYNSEL_RANGE(WORDS)));
    }
    for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(others[i].buffer, others[i].words,
                                                    sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    }
}

static void kernel_without_an_end_costs_its_own_work_only(void **state)
{
    (void)state;
    size_t count = 0;
    dynsel_resource device;
    shares = dynsel_opencl_select("gpu", &device, 1, &count) != DYNSEL_OK || count == 0;
    if (shares) {
        (void)!dynsel_opencl_select("cpu", &device, 1, &count);
    }
    if (count == 0) {
        skip();
    }
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_resource both[] = {device, host};
    static dynsel_round_robin_policy on_device;
    static dynsel_round_robin_policy also; /* on the same device */
    static dynsel_round_robin_policy on_host;
    began_ns = dynsel_now_ns();
    assert_status(DYNSEL_OK,
                  dynsel_round_robin_init(
                      &on_device,
                      &(dynsel_options){.resources = &device, .count = 1, .resource_changed = note},
                      0));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &also, &(dynsel_options){.resources = both, .count = 2}, 0));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &on_host, &(dynsel_options){.resources = &host, .count = 1}, 0));
    make_buffers();
    dynsel_submission hanging;
    dynsel_submission behind = {.policy = NULL};
    run_stream(&on_host.policy, &on_device.policy, &hanging);
    if (shares) { /* NVIDIA's driver does not return from the first launch of another */
        job j = {.kernel = &fill, .buffer = &late_buffer, .repeatable = true};
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&also.policy, record, &j, &behind));
    }
    printf("%8.1f ms: the stream of the host is done\n", ms_since(began_ns));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&hanging));
    printf("%8.1f ms: the wait for the kernel has ended\n", ms_since(began_ns));
    if (shares) {
        assert_int_equal(0, behind.index);
        assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&behind)); /* not repeated in that memory */
        assert_error_says("may still use this memory");
    }
    check_contents();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_device.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&also.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_host.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    printf("%8.1f ms: all is ended\n", ms_since(began_ns));
    *(volatile uint32_t *)door = 1;
}

/* Of memory that the host shares with the device; NULL: it shares none. */
static void *block;
static void *used_block; /* by work behind the kernel */

static void take_block(const dynsel_resource *device)
{
#if CONFIG_DYNSEL_SVM
    const size_t bytes = WORDS * sizeof(uint32_t);
    if (dynsel_svm_alloc(device, bytes, 0, &block) != DYNSEL_OK ||
        dynsel_svm_alloc(device, bytes, 0, &used_block) != DYNSEL_OK) {
        block = NULL;
    }
#else
    (void)device;
#endif
}

static dynsel_status record_pointer(dynsel_handler *handler, void *args)
{
    static const uint32_t number = 0;
    (void)dynsel_set_arg_pointer(handler, 0, args);
    (void)dynsel_set_arg_value(handler, 1, &number, sizeof(number));
    return dynsel_parallel_for(handler, &fill, DYNSEL_RANGE(WORDS), NULL, NULL);
}

static void use_block(dynsel_policy *policy)
{
    if (block != NULL) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(policy, record_pointer, used_block, NULL));
    }
}

/* No other is taken from the pool of the device. */
static void free_block(const dynsel_resource *device)
{
#if CONFIG_DYNSEL_SVM
    if (block != NULL) {
        void *another = NULL;
        assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_svm_alloc(device, WORDS, 0, &another));
        assert_status(DYNSEL_OK, dynsel_svm_free(block));
        assert_status(DYNSEL_E_GIVEN_UP, dynsel_svm_map(used_block, DYNSEL_ACCESS_READ));
        assert_error_says("free it");
        assert_status(DYNSEL_OK, dynsel_svm_free(used_block));
    }
#else
    (void)device;
#endif
}

/*
 * The host wants data that the device has written, and that come behind the kernel. Nothing has a
 * limit but the kernel, which nobody waits for. Not on a GPU, which may hang until the end of the
 * process.
 */
static void assert_ends_behind_the_kernel(dynsel_status expected, dynsel_status (*call)(void))
{
    static dynsel_round_robin_policy policy;
    size_t count = 0;
    dynsel_resource device;
    (void)!dynsel_opencl_select("cpu", &device, 1, &count);
    if (count == 0) {
        skip();
    }
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(
                                 &policy, &(dynsel_options){.resources = &device, .count = 1}, 0));
    make_buffers();
    take_block(&device);
    job fills = {.kernel = &fill, .buffer = &late_buffer};
    job hangs = {.kernel = &hang, .buffer = &door_buffer, .number = 1};
    dynsel_submission hanging;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, record, &fills));
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&policy.policy, record, &hangs, &hanging));
    use_block(&policy.policy);
    assert_status(expected, call());
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait(&hanging));
    if (late_buffer.token != 0) { /* only the device has the data */
        assert_int_not_equal(DYNSEL_OK, dynsel_buffer_deinit(&late_buffer));
        assert_int_equal(0, late_buffer.token);
    }
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&door_buffer));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&seen_buffer));
    free_block(&device);
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    *(volatile uint32_t *)door = 1;
}

static dynsel_status open_late(void)
{
    dynsel_host_accessor accessor = {.data = NULL};
    return dynsel_host_accessor_open(&accessor, late_buffer, DYNSEL_ACCESS_READ);
}

static void host_access_behind_the_kernel_ends(void **state)
{
    (void)state;
    assert_ends_behind_the_kernel(DYNSEL_E_DEVICE, open_late);
}

static dynsel_status end_late(void)
{
    return dynsel_buffer_deinit(&late_buffer);
}

static void buffer_deinit_behind_the_kernel_ends(void **state)
{
    (void)state;
    assert_ends_behind_the_kernel(DYNSEL_E_DEPENDENCY, end_late);
}

#if CONFIG_DYNSEL_SVM
static dynsel_status map_block(void)
{
    const dynsel_status first = dynsel_svm_map(block, DYNSEL_ACCESS_READ);
    assert_status(first, dynsel_svm_map(block, DYNSEL_ACCESS_READ)); /* the driver is not asked */
    assert_error_says("may still use this memory");
    return first;
}
#endif

static void svm_map_behind_the_kernel_ends(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_SVM
    const char *const shown = getenv("DYNSEL_TEST_SVM");
    if (shown == NULL || strcmp(shown, "coarse") != 0) {
        skip(); /* the host has the memory at all times */
    }
    assert_ends_behind_the_kernel(DYNSEL_E_GIVEN_UP, map_block);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_without_an_end_costs_its_own_work_only),
        cmocka_unit_test(host_access_behind_the_kernel_ends),
        cmocka_unit_test(buffer_deinit_behind_the_kernel_ends),
        cmocka_unit_test(svm_map_behind_the_kernel_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
