/* SPDX-License-Identifier: Apache-2.0 */
/* What survives a failure: contents that work did not begin to write, and data that could not be
 * brought to the host. */
#include "data/pair.h"

/* Three command groups have room behind what holds their worker, the last with two dependencies. */
#if CONFIG_DYNSEL_BACKEND_THREADS && CONFIG_DYNSEL_THREADS_QUEUE >= 4 &&                           \
    CONFIG_DYNSEL_MAX_DEPENDENCIES >= 2
#include <sched.h>
#define CAN_HOLD 1
#else
#define CAN_HOLD 0
#endif

/* Refuses the next command, which has changed nothing then. */
static void refuse_next(void)
{
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_TASK);
}

/* a: first, and only on device 1. */
static void keep_on_device(int32_t first)
{
    run_on(1, set_all(a, first));
}

static void refused_command_keeps_only_valid_copy(void **state)
{
    (void)state;
    const job changes[] = {set_all(a, 90), add_to(a, 90), copy_to(a, b)};
    for (int32_t i = 0; i < 3; i++) {
        for (unsigned place = 0; place < 2; place++) {
            keep_on_device(10 * i);
            refuse_next();
            assert_status(DYNSEL_E_TASK, run_job(place, &changes[i]));
            see_buffer(a, 10 * i, 1);
            keep_on_device(10 * i);
            refuse_next();
            assert_status(DYNSEL_E_TASK, run_job(place, &changes[i]));
            run_on(2, add_to(a, 1)); /* from where it was, without the host's look */
            see_buffer(a, 10 * i + 1, 1);
        }
    }
    see_buffer(b, 0, -1);
    run_on(0, add_to(a, 1)); /* the same again succeeds */
    finish_with(22, 1);
}

static void refused_discard_keeps_shared_memory(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    sim.devices[0].maps_first = true;
    const job sets = set_all(a, 90);
    refuse_next(); /* new memory, handed over first */
    assert_status(DYNSEL_E_TASK, run_job(0, &sets));
    see_buffer(a, 0, 1);
    run_on(0, add_to(a, 1));
    write_buffer(a, 5, 1); /* the host has it */
    refuse_next();
    assert_status(DYNSEL_E_TASK, run_job(0, &sets));
    see_buffer(a, 5, 1);
    finish_with(5, 1);
}

static void full_device_memory_keeps_old_contents_of_result(void **state)
{
    (void)state;
    keep_on_device(3);
    sim.limits[1] = BYTES / 2;
    const job sets = set_all(a, 90);
    assert_status(DYNSEL_E_FULL, run_job(0, &sets));
    finish_with(3, 1);
}

/* They were entered before it was known, so they do not begin either; what comes later does. */
static void dependents_of_refused_work_fail_and_change_nothing(void **state)
{
    (void)state;
    dynsel_submission first;
    dynsel_submission refused;
    dynsel_submission behind[2];
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, add_to(a, 1), &first);
    send_to(0, add_to(a, 100), &refused);
    send_to(2, copy_to(b, a), &behind[0]);
    send_to(3, add_to(b, 7), &behind[1]);
    refuse_next();
    places_hurry();
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&behind[1]));
    assert_error_says("work that failed: the task failed");
    assert_error_says(", buffer ");
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&behind[0]));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&refused));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
    see_buffer(b, 0, -1);
    run_on(2, copy_to(b, a));
    see_buffer(b, 1, 1);
    finish_with(1, 1);
}

/* It fails in its start, but what it came after is still on its way: who comes next waits for
 * that. */
static void work_after_refused_work_waits_for_earlier_work(void **state)
{
    (void)state;
    dynsel_submission submissions[3];
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, add_to(a, 1), &submissions[0]);
    refuse_next();
    send_to(1, set_all(a, 100), &submissions[1]);
    send_to(1, copy_to(b, a), &submissions[2]);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    places_hurry();
    see_buffer(b, 1, 1);
    finish_with(1, 1);
}

/* Two write a, one behind the other, from what `fails` was to write: the start of both was decided
 * before that fails, and neither begins. So a has to be where it was. go: lets all take place. */
static void fail_ahead_of_two_writers(dynsel_policy *fails, dynsel_policy *writes, void (*go)(void))
{
    dynsel_submission submissions[3];
    const job failing = {.kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {b}};
    const job writer = copy_to(a, b);
    assert_status(DYNSEL_OK, send_job_with(fails, &failing, &submissions[0]));
    assert_status(DYNSEL_OK, send_job_with(writes, &writer, &submissions[1]));
    assert_status(DYNSEL_OK, send_job_with(writes, &writer, &submissions[2]));
    go();
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    run_on(3, set_all(b, 0));
}

/* Only the host has a, then only a device of another domain, then only the device in whose domain
 * they were to write it. */
static void two_writers_that_never_started_keep_copies(void **state)
{
    (void)state;
    sim.devices[2].domain = sim.devices[0].domain;
    for (int32_t i = 0; i < 3; i++) {
        for (unsigned look = 0; look < 2; look++) {
            write_buffer(a, 10 * i, 1);
            if (i != 0) {
                run_on(i == 1 ? 1 : 0, set_all(a, 10 * i));
            }
            sim.devices[0].pace = SIMULATED_BY_HAND;
            sim.devices[2].pace = SIMULATED_BY_HAND;
            fail_ahead_of_two_writers(&places[0].policy, &places[2].policy, places_hurry);
            run_on(look == 0 ? 2 : HOST, add_to(a, 1));
            see_buffer(a, 10 * i + 1, 1);
        }
    }
    finish_with(21, 1);
}

/* Shared memory is handed over for work that does not begin, and a has to be seen all the same. */
static void keep_the_hosts_data_in_shared_memory(bool maps_first)
{
    sim.devices[2].domain = sim.devices[0].domain;
    for (unsigned i = 0; i < 3; i += 2) {
        sim.devices[i].shares = true;
        sim.devices[i].maps_first = maps_first;
    }
    for (int32_t i = 0; i < 2; i++) { /* at first the memory is new */
        write_buffer(a, 10 * i, 1);
        sim.devices[0].pace = SIMULATED_BY_HAND;
        sim.devices[2].pace = SIMULATED_BY_HAND;
        fail_ahead_of_two_writers(&places[0].policy, &places[2].policy, places_hurry);
        see_buffer(a, 10 * i, 1);
    }
    write_buffer(a, 30, 1);
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[2].pace = SIMULATED_BY_HAND;
    dynsel_submission submissions[2];
    send_to(0, (job){.kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {b}}, &submissions[0]);
    send_to(
        2,
        (job){.kind = FAIL, .buffers = {a, b}, .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}},
        &submissions[1]);
    places_hurry();
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submissions[0]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    run_on(3, set_all(b, 0));
    see_buffer(a, 30, 1);
    finish_with(30, 1);
}

static void unstarted_work_keeps_host_data_in_mapped_shared_memory(void **state)
{
    (void)state;
    keep_the_hosts_data_in_shared_memory(false);
}

static void unstarted_work_keeps_host_data_in_unmapped_shared_memory(void **state)
{
    (void)state;
    keep_the_hosts_data_in_shared_memory(true);
}

/* What it brought arrives first, but who comes behind it counts on the reader being over too. */
static void refused_work_completes_after_its_dependencies(void **state)
{
    (void)state;
    sim.devices[2].domain = sim.devices[0].domain;
    sim.devices[0].shares = true;
    sim.devices[2].shares = true;
    run_on(0, add_to(a, 1));
    see_buffer(a, 1, 1); /* so the memory is handed over again to who writes it */
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[2].pace = SIMULATED_BY_HAND;
    dynsel_submission reader;
    dynsel_submission refused;
    send_to(0, copy_to(b, a), &reader);
    refuse_next();
    send_to(2, set_all(a, 50), &refused);
    assert_true(simulated_step(&sim, 2));
    dynsel_progress();
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&refused, 0));
    places_hurry();
    assert_status(DYNSEL_E_TASK, dynsel_wait(&refused));
    assert_status(DYNSEL_OK, dynsel_wait(&reader));
    see_buffer(b, 1, 1);
    finish_with(1, 1);
}

#if CAN_HOLD
static atomic_bool is_held;

static dynsel_status hold(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    while (atomic_load(&is_held)) {
        (void)sched_yield();
    }
    return DYNSEL_OK;
}

static void let_go(void)
{
    atomic_store(&is_held, false);
}

/* The worker refuses both before anybody is told that the first of them is over. */
static void two_writers_refused_by_worker_keep_only_valid_copy(void **state)
{
    (void)state;
    dynsel_resource resource;
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&resource, 1, &count));
    const dynsel_options options = {.resources = &resource, .count = 1};
    dynsel_fixed_resource_policy worker = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&worker, &options, 0));
    for (int32_t i = 0; i < 2; i++) {
        const dynsel_task holds = {.function = hold};
        keep_on_device(10 * i);
        atomic_store(&is_held, true);
        assert_status(DYNSEL_OK, dynsel_submit(&worker.policy, &holds, NULL));
        fail_ahead_of_two_writers(&worker.policy, &worker.policy, let_go);
        if (i == 0) {
            see_buffer(a, 0, 1);
        }
    }
    run_on(2, add_to(a, 1)); /* from where it was, without the host's look */
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&worker.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    finish_with(11, 1);
}
#endif

/* Both are on the device, and its queue alone orders them: nothing but the library knows that what
 * comes behind has read what was lost. */
static void resident_work_behind_failed_writer_fails(void **state)
{
    (void)state;
    dynsel_submission failed;
    dynsel_submission behind[2];
    run_on(0, add_to(a, 1));
    run_on(0, copy_to(b, a));
    sim.devices[0].pace = SIMULATED_BY_HAND;
    send_to(0, (job){.kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {a}}, &failed);
    send_to(0, copy_to(b, a), &behind[0]);
    send_to(0, add_to(b, 1), &behind[1]);
    places_hurry();
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&behind[1]));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&behind[0]));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&failed));
    run_on(0, set_all(a, 5));
    run_on(0, set_all(b, 6));
    finish_with(5, 1);
}

static void failed_writer_that_started_invalidates_contents(void **state)
{
    (void)state;
    keep_on_device(3);
    const job fails = {.kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {a}};
    assert_status(DYNSEL_E_TASK, run_job(0, &fails));
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    assert_int_equal(a.token, dynsel_last_error()->buffer);
    const job refused = set_all(a, 90);
    refuse_next(); /* it would have begun afresh, and does not */
    assert_status(DYNSEL_E_TASK, run_job(1, &refused));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    run_on(1, set_all(a, 4));
    finish_with(4, 1);
}

/* Of a transfer that is wanted once: whether it is tried again is the status' and the event's to
 * say. */
static void failed_copy_out_is_retried(void **state)
{
    (void)state;
    sim.devices[1].pace = SIMULATED_WHEN_POLLED;
    for (int32_t i = 0; i < 2; i++) {
        keep_on_device(10 * i);
        const unsigned before = sim.counts.fetched;
        simulated_fail(&sim, SIMULATED_FETCH, 1, i == 0, i == 0 ? DYNSEL_E_DEVICE : DYNSEL_E_AGAIN);
        see_buffer(a, 10 * i, 1);
        assert_int_equal(before + (i == 0 ? 2 : 1), sim.counts.fetched);
    }
    keep_on_device(7);
    finish_with(7, 1);
}

static dynsel_memory_ops failing_memory;
static dynsel_backend_ops failing_ops;
static unsigned fetches;

static dynsel_status fail_to_fetch(dynsel_backend *backend, void *own, dynsel_memory *memory,
                                   bool contents, bool to_write, dynsel_event *done)
{
    (void)backend;
    (void)own;
    (void)memory;
    (void)contents;
    (void)to_write;
    (void)done;
    fetches++;
    return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_AGAIN,
                                       .code = -6,
                                       .function = "clEnqueueReadBuffer",
                                       .subject = "a device"});
}

/* From here on no data come from devices, until `ops` are given back. */
static const dynsel_backend_ops *break_fetches(void)
{
    const dynsel_backend_ops *const ops = sim.backend.ops;
    failing_memory = *ops->memory;
    failing_memory.fetch = fail_to_fetch;
    failing_ops = *ops;
    failing_ops.memory = &failing_memory;
    sim.backend.ops = &failing_ops;
    fetches = 0;
    return ops;
}

static void assert_says_what_failed(void)
{
    const dynsel_error *const error = dynsel_last_error();
    assert_int_equal(a.token, error->buffer);
    assert_int_equal(-6, error->code);
    assert_error_says("clEnqueueReadBuffer");
    assert_error_says("still on the device");
    assert_error_says("[a device]");
}

static void copy_out_that_keeps_failing_fails_access_and_keeps_data(void **state)
{
    (void)state;
    keep_on_device(7);
    const dynsel_backend_ops *const ops = break_fetches();
    dynsel_host_accessor seen = {0};
    for (unsigned i = 1; i <= 2; i++) {
        assert_status(DYNSEL_E_DEVICE, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
        assert_says_what_failed();
        assert_int_equal(i * DYNSEL_FETCH_ATTEMPTS, fetches);
    }
    const job copies = copy_to(b, a);
    assert_status(DYNSEL_E_DEVICE, run_job(0, &copies));
    assert_status(DYNSEL_E_DEVICE, run_job(HOST, &copies));
    run_on(1, add_to(a, 1)); /* where the data are */
    sim.backend.ops = ops;
    see_buffer(b, 0, -1);
    see_buffer(a, 8, 1);
    run_on(0, copies);
    see_buffer(b, 8, 1);
    finish_with(8, 1);
}

static void buffer_deinit_with_failing_copy_out_keeps_buffer(void **state)
{
    (void)state;
    keep_on_device(7);
    const dynsel_backend_ops *const ops = break_fetches();
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&a));
        assert_says_what_failed();
    }
    run_on(1, add_to(a, 1)); /* it is as usable as before */
    sim.backend.ops = ops;
    finish_with(8, 1);
}

static void buffer_deinit_after_host_overwrite_needs_no_copy_out(void **state)
{
    (void)state;
    keep_on_device(7);
    const dynsel_backend_ops *const ops = break_fetches();
    assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&a));
    write_buffer(a, 30, 1);
    sim.backend.ops = ops;
    finish_with(30, 1);
    assert_int_equal(DYNSEL_FETCH_ATTEMPTS, fetches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(refused_command_keeps_only_valid_copy),
        TEST_SET_UP(refused_discard_keeps_shared_memory),
        TEST_SET_UP(full_device_memory_keeps_old_contents_of_result),
        TEST_SET_UP(dependents_of_refused_work_fail_and_change_nothing),
        TEST_SET_UP(work_after_refused_work_waits_for_earlier_work),
        TEST_SET_UP(two_writers_that_never_started_keep_copies),
        TEST_SET_UP(unstarted_work_keeps_host_data_in_mapped_shared_memory),
        TEST_SET_UP(unstarted_work_keeps_host_data_in_unmapped_shared_memory),
        TEST_SET_UP(refused_work_completes_after_its_dependencies),
#if CAN_HOLD
        TEST_SET_UP(two_writers_refused_by_worker_keep_only_valid_copy),
#endif
        TEST_SET_UP(resident_work_behind_failed_writer_fails),
        TEST_SET_UP(failed_writer_that_started_invalidates_contents),
        TEST_SET_UP(failed_copy_out_is_retried),
        TEST_SET_UP(copy_out_that_keeps_failing_fails_access_and_keeps_data),
        TEST_SET_UP(buffer_deinit_with_failing_copy_out_keeps_buffer),
        TEST_SET_UP(buffer_deinit_after_host_overwrite_needs_no_copy_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
