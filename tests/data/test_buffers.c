/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers from init to deinit: handles, memory, and results copied back to the host. */
#include <dynsel/dynsel.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS
#include <pthread.h>
#endif

#include "fakes/simulated_memory.h"
#include "port/thread.h"
#include "support/recorded.h"

enum { COUNT = 6, BUFFERS = CONFIG_DYNSEL_MAX_BUFFERS };

static simulated_backend simulated;
static dynsel_fixed_resource_policy device;
static dynsel_fixed_resource_policy host;
static int data[COUNT];
static dynsel_buffer buffer;
static dynsel_status kernel_status;

static void open_policies(void)
{
    const dynsel_resource place = simulated_resource(&simulated, 0);
    const dynsel_options on_device = {.resources = &place, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&device, &on_device, 0));
    const dynsel_resource inside = {.backend = &dynsel_inline_backend};
    const dynsel_options on_host = {.resources = &inside, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&host, &on_host, 0));
}

static int set_up(void **state)
{
    (void)state;
    simulated_reset(&simulated, 1, false);
    open_policies();
    for (int i = 0; i < COUNT; i++) {
        data[i] = i;
    }
    buffer = (dynsel_buffer){0};
    kernel_status = DYNSEL_OK;
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    simulated_finish(&simulated);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&device.policy)));
    if (buffer.token != 0) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    }
    simulated_assert_clean(&simulated, true);
    assert_true(dynsel_invariants_hold(&device.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&device.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&host.policy));
    return 0;
}

static dynsel_status add_ten(const dynsel_launch *launch)
{
    int *numbers = dynsel_launch_data(launch, 0);
    for (int i = 0; i < COUNT; i++) {
        numbers[i] += 10;
    }
    return kernel_status;
}

static const dynsel_kernel adding = {.name = "add_ten", .function = add_ten};

/* args: the accessor. */
static dynsel_status add(dynsel_handler *handler, void *args)
{
    (void)dynsel_require(handler, args);
    (void)dynsel_set_arg_accessor(handler, 0, args);
    return dynsel_single_task(handler, &adding);
}

static dynsel_accessor changing(void)
{
    return (dynsel_accessor){.name = "changing", .buffer = buffer, .placeholder = true};
}

static void buffer_init_with_wrong_arguments_is_refused(void **state)
{
    (void)state;
    static char bytes[8];
    dynsel_buffer made = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_init(NULL, bytes, 1, DYNSEL_RANGE(8)));
    assert_error_says("NULL");
    static const struct {
        size_t element_bytes;
        dynsel_range range;
    } wrong[] = {
        {0, {.size = {8}, .dimensions = 1}},
        {1, {.size = {8}, .dimensions = 0}},
        {1, {.size = {2, 2, 2}, .dimensions = 4}},
        {0, {.size = {0}, .dimensions = 1}},
        {1, {.size = {0, 0, 0}, .dimensions = 4}},
        {4, {.size = {SIZE_MAX / 4 + 1}, .dimensions = 1}},
        {1, {.size = {(size_t)PTRDIFF_MAX + 1}, .dimensions = 1}},
        {1, {.size = {SIZE_MAX / 2 + 1, 2}, .dimensions = 2}},
        {SIZE_MAX, {.size = {SIZE_MAX, SIZE_MAX, SIZE_MAX}, .dimensions = 3}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_status(DYNSEL_E_INVALID,
                      dynsel_buffer_init(&made, bytes, wrong[i].element_bytes, wrong[i].range));
        assert_error_says("elements and range");
        assert_int_equal(0, made.token);
    }
    assert_status(DYNSEL_OK, dynsel_buffer_init(&made, bytes, 1, DYNSEL_RANGE(PTRDIFF_MAX)));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made)); /* nobody has touched it */
    const dynsel_buffer before = buffer;
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_init(&buffer, bytes, 1, DYNSEL_RANGE(8)));
    assert_error_says("in use");
    assert_int_equal(before.token, buffer.token);
}

static void full_buffer_table_error_names_its_option(void **state)
{
    (void)state;
    static char bytes[BUFFERS];
    dynsel_buffer made[BUFFERS] = {{0}};
    for (int i = 1; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&made[i], &bytes[i], 1, DYNSEL_RANGE(1)));
    }
    assert_status(DYNSEL_E_FULL, dynsel_buffer_init(&made[0], &bytes[0], 1, DYNSEL_RANGE(1)));
    assert_error_says("CONFIG_DYNSEL_MAX_BUFFERS");
    assert_int_equal(0, made[0].token);
    dynsel_buffer last = made[BUFFERS - 1];
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made[BUFFERS - 1]));
    assert_status(DYNSEL_E_STALE, dynsel_buffer_deinit(&last));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&made[0], &bytes[0], 1, DYNSEL_RANGE(1)));
    for (int i = 0; i < BUFFERS - 1; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made[i]));
    }
}

static void library_memory_of_new_buffer_is_zero(void **state)
{
    (void)state;
    dynsel_buffer inside = {0};
    const size_t bytes = CONFIG_DYNSEL_BUFFER_INSIDE_BYTES;
    assert_status(DYNSEL_E_FULL, dynsel_buffer_init(&inside, NULL, 1, DYNSEL_RANGE(bytes + 1)));
    assert_error_says("CONFIG_DYNSEL_BUFFER_INSIDE_BYTES");
    for (int i = 0; i < 3 && bytes > 0; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&inside, NULL, 1, DYNSEL_RANGE(bytes)));
        unsigned char *memory = dynsel_buffer_find(inside)->data;
        assert_int_equal(0, (uintptr_t)memory % 16);
        for (size_t k = 0; k < bytes; k++) {
            assert_int_equal(0, memory[k]);
            memory[k] = 1;
        }
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&inside));
    }
}

static void handle_of_ended_buffer_is_stale(void **state)
{
    (void)state;
    static char byte;
    uint32_t last = 0;
    for (int i = 0; i < 5000; i++) {
        dynsel_buffer made = {0};
        assert_status(DYNSEL_OK, dynsel_buffer_init(&made, &byte, 1, DYNSEL_RANGE(1)));
        assert_true(made.token != 0 && made.token != last && made.token != buffer.token);
        dynsel_buffer old = {last};
        if (last != 0) {
            assert_null(dynsel_buffer_find(old));
            assert_status(DYNSEL_E_STALE, dynsel_buffer_deinit(&old));
            assert_error_says("was ended");
        }
        last = made.token;
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made));
        assert_int_equal(0, made.token);
    }
    assert_non_null(dynsel_buffer_find(buffer));
}

/* Where the generations end they begin again, and none of them makes a handle of 0. */
static void buffer_handles_stay_distinct_when_generation_wraps(void **state)
{
    (void)state;
    static char byte;
    dynsel_buffer made = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&made, &byte, 1, DYNSEL_RANGE(1)));
    dynsel_buffer_record *record = dynsel_buffer_find(made);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made));
    record->generation = (1u << 21) - 3;
    dynsel_buffer old[6] = {{0}};
    for (int i = 0; i < 6; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&made, &byte, 1, DYNSEL_RANGE(1)));
        assert_true(dynsel_buffer_find(made) == record);
        assert_true(made.token >> 11 != 0);
        for (int k = 0; k < i; k++) {
            assert_true(old[k].token != made.token);
        }
        old[i] = made;
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made));
    }
}

static void deinit_of_invalid_handle_is_refused(void **state)
{
    (void)state;
    static const uint32_t wrong[] = {0, 1, 1u << 11, UINT32_MAX, 0x7ffu | 1u << 11};
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_deinit(NULL));
    assert_error_says("NULL");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        dynsel_buffer none = {wrong[i]};
        assert_status(DYNSEL_E_INVALID, dynsel_buffer_deinit(&none));
        assert_error_says("dynsel_buffer_init()");
        assert_int_equal(wrong[i], none.token);
    }
}

static void handle_copy_of_ended_buffer_is_stale(void **state)
{
    (void)state;
    dynsel_buffer copy = buffer;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&copy));
    assert_int_equal(0, copy.token);
    copy = buffer;
    assert_status(DYNSEL_E_STALE, dynsel_buffer_deinit(&buffer));
    assert_int_equal(copy.token, buffer.token);
    buffer.token = 0;
}

static void buffer_deinit_copies_results_to_host(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_int_equal(1, data[1]);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(10 + i, data[i]);
    }
    assert_int_equal(1, simulated.counts.fetched);
    simulated_assert_clean(&simulated, true);
}

static void buffer_deinit_returns_results_in_shared_memory(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    simulated.devices[0].shares = true;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(15, data[5]);
    assert_int_equal(0, simulated.counts.bytes_out);
}

static void buffer_deinit_waits_for_results(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    simulated.devices[0].pace = SIMULATED_WHEN_POLLED;
    simulated.devices[0].polls = 50;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(15, data[5]);
}

static void buffer_deinit_after_reads_copies_nothing(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    accessor.mode = DYNSEL_ACCESS_READ;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(5, data[5]);
    assert_int_equal(0, simulated.counts.fetched);
    simulated_assert_clean(&simulated, true);
}

static void buffer_deinit_during_use_is_busy(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    dynsel_submission submission;
    simulated.devices[0].pace = SIMULATED_BY_HAND;
    static const uint8_t modes[] = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_WRITE};
    for (int i = 0; i < 2; i++) {
        accessor.mode = modes[i];
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&device.policy, add, &accessor, &submission));
        const dynsel_buffer before = buffer;
        assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&buffer));
        assert_error_says("wait for it first");
        assert_int_equal(before.token, buffer.token);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    simulated.devices[0].pace = SIMULATED_AT_ONCE;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(25, data[5]);
}

/* args: two accessors. */
static dynsel_status add_after_the_other(dynsel_handler *handler, void *args)
{
    const dynsel_accessor *both = args;
    (void)dynsel_require(handler, &both[0]);
    return add(handler, (void *)(uintptr_t)&both[1]);
}

/* Pending work has no resource yet. */
static void buffer_deinit_with_pending_work_is_busy(void **state)
{
    (void)state;
    static int more[COUNT];
    dynsel_buffer second = {0};
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&second, more, sizeof more[0], DYNSEL_RANGE(COUNT)));
    for (int mode = DYNSEL_ACCESS_READ; mode <= DYNSEL_ACCESS_WRITE; mode++) {
        dynsel_submission submission;
        dynsel_accessor first = changing();
        dynsel_accessor both[] = {changing(), changing()};
        both[1].buffer = second;
        both[1].mode = (uint8_t)mode;
        simulated.devices[0].pace = SIMULATED_BY_HAND;
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&device.policy, add, &first, NULL));
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&host.policy, add_after_the_other,
                                                             both, &submission));
        assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&second));
        simulated_finish(&simulated);
        simulated.devices[0].pace = SIMULATED_AT_ONCE;
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&second));
    assert_int_equal(20, more[0]);
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
static void *end_buffer(void *args)
{
    dynsel_buffer handle = *(const dynsel_buffer *)args;
    static dynsel_status status;
    status = dynsel_buffer_deinit(&handle);
    return &status;
}

/* Another thread ends the buffer, and its results are still being copied. */
static void buffer_during_deinit_is_stale_for_other_threads(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    pthread_t thread;
    void *status = NULL;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    simulated.devices[0].pace = SIMULATED_BY_HAND;
    simulated.wait_sleeps = true; /* however often the thread looks */
    assert_int_equal(0, pthread_create(&thread, NULL, end_buffer, &accessor.buffer));
    while (simulated_pending(&simulated) == 0) {
    }
    assert_status(DYNSEL_E_STALE,
                  dynsel_submit_command_group_and_wait(&host.policy, add, &accessor));
    assert_status(DYNSEL_E_STALE, dynsel_buffer_deinit(&buffer));
    static char byte;
    dynsel_buffer other = {0}; /* and its place is not free yet */
    assert_status(DYNSEL_OK, dynsel_buffer_init(&other, &byte, 1, DYNSEL_RANGE(1)));
    simulated_finish(&simulated);
    assert_int_equal(0, pthread_join(thread, &status));
    simulated.wait_sleeps = false;
    assert_status(DYNSEL_OK, *(dynsel_status *)status);
    assert_int_equal(15, data[5]);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&other));
    buffer.token = 0;
}
#endif

/* Detached work that is complete. */
static void buffer_deinit_after_detached_work_completed_succeeds(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    simulated.devices[0].pace = SIMULATED_BY_HAND;
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&device.policy, add, &accessor, NULL));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&buffer));
    simulated_finish(&simulated);
    simulated.devices[0].pace = SIMULATED_AT_ONCE;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(15, data[5]);
}

/* The writer came after the reader's event on the other queue of the domain, and was waited for;
 * nobody has looked at the reader since. */
static void buffer_deinit_polls_reader_that_no_wait_polled(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy second;
    const dynsel_resource place = simulated_resource(&simulated, 1);
    const dynsel_options options = {.resources = &place, .count = 1};
    dynsel_accessor reading = changing();
    dynsel_accessor writing = changing();
    dynsel_submission written;
    reading.mode = DYNSEL_ACCESS_READ;
    simulated.devices[1].domain = simulated.devices[0].domain;
    for (int i = 0; i < 2; i++) {
        simulated.devices[i].pace = SIMULATED_BY_HAND;
    }
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&second, &options, 0));
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&device.policy, add, &reading, NULL));
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&second.policy, add, &writing, &written));
    simulated_finish(&simulated);
    assert_status(DYNSEL_OK, dynsel_wait(&written));
    assert_int_equal(1, dynsel_get_in_flight_statistics().in_use);
    simulated.devices[0].pace = SIMULATED_AT_ONCE;
    simulated.devices[1].pace = SIMULATED_AT_ONCE;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&second.policy));
}

static void buffer_deinit_with_open_host_accessor_is_busy(void **state)
{
    (void)state;
    dynsel_host_accessor open = {0};
    for (int mode = DYNSEL_ACCESS_READ; mode <= DYNSEL_ACCESS_WRITE; mode++) {
        assert_status(DYNSEL_OK,
                      dynsel_host_accessor_open(&open, buffer, (dynsel_access_mode)mode));
        assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&buffer));
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&open));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void buffer_deinit_after_failed_writer_returns_dependency_error(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    kernel_status = (dynsel_status)(DYNSEL_E_USER - 2);
    assert_status(kernel_status,
                  dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&buffer));
    assert_error_says("was to write it failed");
    assert_int_equal(0, buffer.token);
    simulated_assert_clean(&simulated, true);
}

static void buffer_deinit_after_failed_reader_succeeds(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    accessor.mode = DYNSEL_ACCESS_READ;
    kernel_status = DYNSEL_E_TASK;
    assert_status(DYNSEL_E_TASK,
                  dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void buffer_deinit_reports_lost_results(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    for (int late = 0; late < 2; late++) {
        simulated.devices[0].pace = SIMULATED_WHEN_POLLED;
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
        simulated.failures_are_losses = true;
        simulated_fail(&simulated, SIMULATED_FETCH, 1, late == 1, DYNSEL_E_DEVICE);
        assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&buffer));
        assert_error_says("simulated: ");
        assert_error_says("the only valid copy");
        assert_error_says("code -110, buffer ");
        assert_int_equal(0, buffer.token);
        simulated_assert_clean(&simulated, true);
        assert_status(DYNSEL_OK,
                      dynsel_buffer_init(&buffer, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
        accessor = changing();
    }
}

static dynsel_buffer made_inside;

static dynsel_status make_and_end(const dynsel_launch *launch)
{
    static char byte;
    (void)launch;
    assert_status(DYNSEL_OK, dynsel_buffer_init(&made_inside, &byte, 1, DYNSEL_RANGE(1)));
    return dynsel_buffer_deinit(&made_inside);
}

static dynsel_status end_inside(dynsel_handler *handler, void *args)
{
    (void)args;
    return dynsel_host_task(handler, make_and_end);
}

static void buffer_deinit_in_task_function_is_refused(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_submit_command_group_and_wait(&host.policy, end_inside, NULL));
    assert_error_says("outside of task functions");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made_inside));
}

static void ended_buffer_in_use_is_stale(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_E_STALE,
                  dynsel_submit_command_group_and_wait(&device.policy, add, &accessor));
    assert_error_says("[changing]");
    dynsel_host_accessor open = {0};
    assert_status(DYNSEL_E_STALE,
                  dynsel_host_accessor_open(&open, accessor.buffer, DYNSEL_ACCESS_READ));
    dynsel_movement movement;
    assert_status(DYNSEL_E_STALE, dynsel_buffer_movement(accessor.buffer, &movement));
}

/* Ends the buffer when everything about it was recorded; as another thread, for the group function
 * itself must not. */
static dynsel_status add_and_end(dynsel_handler *handler, void *args)
{
    const dynsel_status status = add(handler, args);
    const uint32_t recordings = dynsel_this_thread()->recordings;
    dynsel_this_thread()->recordings = 0;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    dynsel_this_thread()->recordings = recordings;
    return status;
}

static dynsel_status add_and_replace(dynsel_handler *handler, void *args)
{
    const dynsel_status status = add_and_end(handler, args);
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
    return status;
}

static void buffer_ended_between_record_and_use_is_stale(void **state)
{
    (void)state;
    dynsel_accessor accessor = changing();
    assert_status(DYNSEL_E_STALE,
                  dynsel_submit_command_group_and_wait(&device.policy, add_and_replace, &accessor));
    assert_error_says("[changing]");
    assert_true(dynsel_invariants_hold(&device.policy));
    accessor = changing();
    assert_status(DYNSEL_E_STALE,
                  dynsel_submit_command_group_and_wait(&host.policy, add_and_end, &accessor));
    assert_true(dynsel_invariants_hold(&host.policy));
    assert_int_equal(5, data[5]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(buffer_init_with_wrong_arguments_is_refused),
        TEST(full_buffer_table_error_names_its_option),
        TEST(library_memory_of_new_buffer_is_zero),
        TEST(handle_of_ended_buffer_is_stale),
        TEST(buffer_handles_stay_distinct_when_generation_wraps),
        TEST(deinit_of_invalid_handle_is_refused),
        TEST(handle_copy_of_ended_buffer_is_stale),
        TEST(buffer_deinit_copies_results_to_host),
        TEST(buffer_deinit_returns_results_in_shared_memory),
        TEST(buffer_deinit_waits_for_results),
        TEST(buffer_deinit_after_reads_copies_nothing),
        TEST(buffer_deinit_during_use_is_busy),
        TEST(buffer_deinit_with_pending_work_is_busy),
#if CONFIG_DYNSEL_CONTEXT_THREADS
        TEST(buffer_during_deinit_is_stale_for_other_threads),
#endif
        TEST(buffer_deinit_after_detached_work_completed_succeeds),
        TEST(buffer_deinit_polls_reader_that_no_wait_polled),
        TEST(buffer_deinit_with_open_host_accessor_is_busy),
        TEST(buffer_deinit_after_failed_writer_returns_dependency_error),
        TEST(buffer_deinit_after_failed_reader_succeeds),
        TEST(buffer_deinit_reports_lost_results),
        TEST(buffer_deinit_in_task_function_is_refused),
        TEST(ended_buffer_in_use_is_stale),
        TEST(buffer_ended_between_record_and_use_is_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
