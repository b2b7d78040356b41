/* SPDX-License-Identifier: Apache-2.0 */
/* Which copies of a buffer are valid: only data that are not resident are copied, and no reader
 * gets stale data. */
#include <string.h>

#include "data/pair.h"
#include "support/put_in_service.h"

static void repeated_reads_copy_in_once_per_domain(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        run_on(0, total_of(a, b));
        run_on(1, total_of(a, b));
        run_on(HOST, total_of(a, b));
    }
    assert_moved(a, 2, 0, 3 * 3 - 2);
    see_buffer(a, 0, 1);
    assert_moved(a, 2, 0, 3 * 3 - 2 + 1);
    finish_with(0, 1);
    assert_int_equal(ELEMENTS * (ELEMENTS - 1) / 2, others[0]);
    assert_int_equal(-1, others[1]);
}

static void write_invalidates_copies_of_other_domains(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    run_on(0, add_to(a, 1));
    assert_moved(a, 1, 0, 1);
    run_on(1, add_to(a, 1));
    assert_moved(a, 2, 1, 1);
    run_on(0, add_to(a, 1));
    assert_moved(a, 3, 2, 1);
    run_on(HOST, add_to(a, 1));
    assert_moved(a, 3, 3, 1);
    run_on(0, add_to(a, 1));
    assert_moved(a, 4, 3, 1);
    finish_with(6, 1);
}

static void discard_access_copies_nothing_in(void **state)
{
    (void)state;
    run_on(0, set_all(a, 10));
    job again = set_all(a, 20);
    again.modes[0] = DYNSEL_ACCESS_DISCARD_READ_WRITE;
    run_on(1, again);
    run_on(HOST, set_all(a, 30));
    run_on(0, set_all(a, 40));
    assert_moved(a, 0, 0, 4);
    write_buffer(a, 50, 1);
    assert_moved(a, 0, 0, 5);
    run_on(1, set_all(a, 60));
    assert_moved(a, 0, 0, 6);
    finish_with(60, 1);
    assert_int_equal(0, sim.counts.bytes_in);
    assert_int_equal(BYTES, sim.counts.bytes_out);
}

static void write_of_part_keeps_rest_of_buffer(void **state)
{
    (void)state;
    job half = set_all(a, 100);
    half.parts[0] = ELEMENTS / 2;
    run_on(0, half);
    assert_moved(a, 1, 0, 0);
    job writes = set_all(a, 100);
    writes.modes[0] = DYNSEL_ACCESS_WRITE;
    writes.parts[0] = 1;
    run_on(1, writes);
    assert_moved(a, 2, 1, 0);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    for (int32_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(i < ELEMENTS / 2 ? 100 + i : i, numbers[i]);
        numbers[i] = i;
    }
    a = new_buffer(numbers);
    finish_with(0, 1);
}

static void constant_target_is_copied_in_once_per_domain(void **state)
{
    (void)state;
    job total = total_of(a, b);
    total.target = DYNSEL_MEMORY_CONSTANT;
    run_on(0, total);
    run_on(1, total);
    run_on(HOST, total);
    run_on(0, total);
    assert_moved(a, 2, 0, 2);
    finish_with(0, 1);
}

static void host_write_invalidates_device_copies(void **state)
{
    (void)state;
    run_on(0, total_of(a, b));
    run_on(1, total_of(a, b));
    write_buffer(a, 5, 5);
    run_on(0, add_to(a, 1));
    assert_moved(a, 3, 0, 1);
    see_buffer(a, 6, 5);
    see_buffer(a, 6, 5);
    assert_moved(a, 3, 1, 2);
    run_on(0, total_of(a, b));
    assert_moved(a, 3, 1, 3);
    finish_with(6, 5);
}

/* Devices 0 and 2 share a domain. */
static void queues_of_one_domain_share_one_copy(void **state)
{
    (void)state;
    sim.devices[2].domain = sim.devices[0].domain;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[2].pace = SIMULATED_BY_HAND;
    dynsel_submission first;
    dynsel_submission second;
    send_to(0, copy_to(b, a), &first);
    const job total = {.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}};
    send_to(2, total, &second);
    assert_moved(a, 1, 0, 1);
    assert_int_equal(3, simulated_pending(&sim)); /* what is brought, and both kernels */
    assert_false(simulated_step(&sim, 2));
    assert_true(simulated_step(&sim, 0));
    assert_true(simulated_step(&sim, 0));
    assert_true(simulated_step(&sim, 2));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
    assert_status(DYNSEL_OK, dynsel_wait(&second));
    run_on(2, add_to(b, 1));
    assert_moved(b, 0, 0, 2);
    finish_with(0, 1);
    assert_int_equal(ELEMENTS, others[ELEMENTS - 1]);
}

static void out_of_order_kernel_runs_after_its_copy_in(void **state)
{
    (void)state;
    sim.devices[0].in_order = false;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    dynsel_submission submission;
    dynsel_submission reader;
    send_to(0, copy_to(b, a), &submission);
    send_to(0, (job){.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}}, &reader);
    assert_int_equal(3, simulated_pending(&sim));
    assert_true(simulated_step(&sim, 0));
    assert_int_equal(2, simulated_pending(&sim));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_wait(&reader));
    assert_moved(a, 1, 0, 1);
    finish_with(0, 1);
    assert_int_equal(ELEMENTS - 1, others[ELEMENTS - 1]);
}

static void readers_in_several_domains_run_concurrently(void **state)
{
    (void)state;
    dynsel_submission submissions[3];
    static int32_t results[3][ELEMENTS];
    dynsel_buffer to[3];
    run_on(0, add_to(a, 1));
    run_on(HOST, (job){.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}});
    for (unsigned i = 0; i < 3; i++) {
        sim.devices[i].pace = SIMULATED_BY_HAND;
        to[i] = new_buffer(results[i]);
    }
    for (unsigned i = 0; i < 3; i++) {
        send_to(i, copy_to(to[i], a), &submissions[i]);
    }
    assert_int_equal(5, simulated_pending(&sim)); /* three kernels, and two had to be brought */
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    places_hurry();
    for (unsigned i = 0; i < 3; i++) {
        end_buffer(&to[i], results[i], 1, 1);
    }
    assert_moved(a, 3, 1, 1);
    finish_with(1, 1);
}

/* Moves for work that was moved for before, in all ways at the same time. */

static void out_of_order_readers_share_one_copy_in(void **state)
{
    (void)state;
    static int32_t more[ELEMENTS];
    dynsel_buffer c = new_buffer(more);
    sim.devices[0].in_order = false;
    for (int32_t round = 0; round < 16; round++) {
        sim.devices[0].pace = SIMULATED_BY_HAND;
        write_buffer(a, round, 1);
        send_to(0, copy_to(b, a), NULL);
        send_to(0, copy_to(c, a), NULL);
        places_hurry();
        see_buffer(b, round, 1);
        see_buffer(c, round, 1);
    }
    assert_moved(a, 16, 0, 32);
    end_buffer(&c, more, 15, 1);
    finish_with(15, 1);
}

/* Two of its buffers were brought by the same work: a device may refuse a list that has it twice.
 */
static void out_of_order_dependency_list_has_no_duplicates(void **state)
{
    (void)state;
    const job reads = {
        .kind = FAIL, .buffers = {a, b}, .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
    dynsel_submission submissions[2];
    sim.devices[0].in_order = false;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    send_to(0, reads, &submissions[0]);
    send_to(0, reads, &submissions[1]);
    assert_int_equal(4, simulated_pending(&sim)); /* both that are brought, and both kernels */
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_moved(a, 1, 0, 1);
    finish_with(0, 1);
}

/* The device works on while its data are on the way to the host. */
static void device_copy_is_readable_during_copy_out(void **state)
{
    (void)state;
    for (int shares = 0; shares < 2; shares++) {
        sim.devices[0].shares = shares != 0;
        run_on(0, add_to(shares != 0 ? b : a, 1));
        const dynsel_buffer from = shares != 0 ? b : a;
        const job look = {.kind = FAIL, .buffers = {from}, .modes = {DYNSEL_ACCESS_READ}};
        sim.devices[0].pace = SIMULATED_BY_HAND;
        dynsel_submission fetches;
        dynsel_submission reads;
        send_to(1, look, &fetches);
        assert_int_equal(1, simulated_pending(&sim));
        send_to(0, look, &reads);
        /* who shares it is about to lose it */
        assert_int_equal(shares != 0 ? 1 : 2, simulated_pending(&sim));
        places_hurry();
        assert_status(DYNSEL_OK, dynsel_wait(&fetches));
        assert_status(DYNSEL_OK, dynsel_wait(&reads));
    }
    finish_with(1, 1);
}

/* However many wait for it. */
static void copy_out_with_many_waiters_is_polled_once_per_round(void **state)
{
    enum { READERS = 3, ROUNDS = 10 };
    (void)state;
    run_on(0, add_to(a, 1));
    sim.devices[0].pace = SIMULATED_BY_HAND;
    const job look = {.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}};
    dynsel_submission reads[READERS];
    for (unsigned i = 0; i < READERS; i++) {
        send_to(HOST, look, &reads[i]);
    }
    assert_int_equal(1, simulated_pending(&sim));
    const unsigned before = sim.counts.polls;
    for (unsigned i = 0; i < ROUNDS; i++) {
        dynsel_progress();
    }
    assert_int_equal(before + ROUNDS, sim.counts.polls);
    places_hurry();
    for (unsigned i = 0; i < READERS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&reads[i]));
    }
    finish_with(1, 1);
}

static void writer_waits_for_copy_out_of_its_copy(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    sim.devices[0].pace = SIMULATED_BY_HAND;
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&seen, a, DYNSEL_ACCESS_READ, 0));
    assert_int_equal(1, simulated_pending(&sim));
    dynsel_submission submission;
    send_to(0, add_to(a, 1), &submission);
    assert_int_equal(1, simulated_pending(&sim));
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_moved(a, 1, 1, 1);
    finish_with(2, 1);
}

/* A copy that was lost stays until those that still read it are done. */
static void lost_copy_is_released_after_its_last_reader(void **state)
{
    (void)state;
    sim.devices[2].domain = sim.devices[0].domain;
    run_on(0, add_to(a, 1));
    sim.devices[0].pace = SIMULATED_BY_HAND;
    dynsel_submission reads;
    send_to(0, copy_to(b, a), &reads);
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    const job look = {.kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}};
    assert_status(DYNSEL_E_DEVICE, run_job(HOST, &look));
    dynsel_submission writes;
    send_to(2, set_all(a, 5), &writes);
    assert_int_equal(0, sim.counts.released);
    assert_status(DYNSEL_OK, dynsel_wait(&reads));
    assert_status(DYNSEL_OK, dynsel_wait(&writes));
    assert_int_equal(1, sim.counts.released);
    finish_with(5, 1);
    assert_int_equal(ELEMENTS, others[ELEMENTS - 1]);
}

/* One of two moves cannot even be begun, while the other is under way. */
static void failed_copy_in_leaves_second_copy_in_running(void **state)
{
    (void)state;
    static int32_t more[ELEMENTS];
    dynsel_buffer c = new_buffer(more);
    sim.devices[2].domain = sim.devices[0].domain;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    simulated_fail(&sim, SIMULATED_BRING, 2, false, DYNSEL_E_DEVICE);
    dynsel_submission fails;
    dynsel_submission reads;
    const job both = {
        .kind = FAIL, .buffers = {a, b}, .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
    send_to(0, both, &fails);
    assert_int_equal(1, simulated_pending(&sim));
    send_to(2, copy_to(c, a), &reads);
    places_hurry();
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&fails));
    assert_status(DYNSEL_OK, dynsel_wait(&reads));
    run_on(0, both);
    assert_moved(b, 1, 0, 0);
    end_buffer(&c, more, 0, 1);
    finish_with(0, 1);
}

/* A host that is busy: what was decided for it is taken back. */

static dynsel_status be_busy(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_E_AGAIN;
}

static dynsel_status start_now(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static void full_host_backend_acquires_no_data(void **state)
{
    (void)state;
    static dynsel_backend_ops ops = {.name = "busy host", .outlives_submit = false};
    static dynsel_backend busy = {&ops};
    static dynsel_fixed_resource_policy policy;
    memset(&policy, 0, sizeof policy);
    ops.start = be_busy;
    const dynsel_resource resource = {.backend = &busy};
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    run_on(0, add_to(a, 1));
    const job sets = set_all(a, 3);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, send_job_with(&policy.policy, &sets, &submission));
    const dynsel_requirement needs[] = {
        {.accessor = &(dynsel_accessor){.placeholder = true}, .buffer = a}};
    const dynsel_task task = {.requirements = needs, .requirement_count = 1};
    size_t count = 0;
    assert_int_equal(0,
                     dynsel_bytes_to_move(dynsel_get_resources(&places[0].policy, &count), &task));
    assert_int_equal(BYTES, dynsel_bytes_to_move(&resource, &task));
    assert_moved(a, 1, 0, 0);
    ops.start = start_now;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_moved(a, 1, 0, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    finish_with(3, 1);
}

/* Failures */

static void lose_the_last_copy(bool late)
{
    run_on(0, add_to(a, 1));
    sim.devices[0].pace = late ? SIMULATED_WHEN_POLLED : SIMULATED_AT_ONCE;
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, late, DYNSEL_E_DEVICE);
    job copy = copy_to(b, a);
    assert_status(DYNSEL_E_DEVICE, run_job(1, &copy));
    assert_error_says("the only valid copy");
    assert_status(DYNSEL_E_DEVICE, run_job(HOST, &copy));
    assert_status(DYNSEL_E_DEVICE, run_job(0, &copy));
    run_on(1, set_all(a, 3));
    run_on(0, add_to(a, 1));
    run_on(1, set_all(b, 0));
    run_on(1, copy);
    see_buffer(b, 4, 1);
}

static void lost_device_loses_last_valid_copy(void **state)
{
    (void)state;
    lose_the_last_copy(false);
    lose_the_last_copy(true);
    finish_with(4, 1);
}

static void valid_copy_elsewhere_replaces_lost_copy(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    sim.devices[2].domain = 3;
    run_on(1, add_to(a, 1));
    run_on(0, copy_to(b, a)); /* valid on 1, and on 0 */
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    run_on(2, copy_to(b, a));
    see_buffer(b, 1, 1);
    run_on(0, add_to(a, 1));
    finish_with(2, 1);
}

static void refused_start_leaves_copies_unchanged(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    atomic_store(&sim.devices[1].refuses, true);
    dynsel_fixed_resource_policy *const away = &places[1];
    job copy = copy_to(b, a);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, run_job(1, &copy));
    assert_moved(a, 1, 1, 0);
    assert_moved(b, 0, 0, 0);
    atomic_store(&sim.devices[1].refuses, false);
    put_in_service(&away->policy, 0);
    run_on(1, set_all(b, 0));
    run_on(1, copy);
    assert_moved(a, 2, 1, 0);
    see_buffer(b, 1, 1);
    finish_with(1, 1);
}

static void full_queue_accepts_work_later(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    atomic_store(&sim.devices[0].is_full, true);
    dynsel_submission submission;
    send_to(0, copy_to(b, a), &submission);
    dynsel_progress();
    assert_moved(a, 0, 0, 0);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    atomic_store(&sim.devices[0].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_moved(a, 0, 0, 1);
    finish_with(0, 1);
    assert_int_equal(ELEMENTS - 1, others[ELEMENTS - 1]);
}

/* What was brought for it is still on its way: the host's memory is being read. */
static void fail_launch_behind_copy_in(int pending)
{
    sim.devices[0].pace = SIMULATED_BY_HAND;
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_TASK);
    dynsel_submission submission;
    send_to(0, (job){.kind = COPY, .buffers = {b, a}}, &submission);
    assert_int_equal(pending, simulated_pending(&sim));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    assert_int_equal(0, simulated_pending(&sim));
    write_buffer(a, 0, 1);
    write_buffer(b, 0, 1);
    finish_with(0, 1);
}

static void command_with_failed_launch_completes_after_its_copy_in(void **state)
{
    (void)state;
    fail_launch_behind_copy_in(2);
}

static void out_of_order_command_with_failed_launch_completes_after_its_copy_in(void **state)
{
    (void)state;
    sim.devices[0].in_order = false;
    fail_launch_behind_copy_in(1);
}

static void failed_copy_in_is_repeated_by_next_use(void **state)
{
    (void)state;
    simulated_fail(&sim, SIMULATED_BRING, 1, true, DYNSEL_E_DEVICE);
    sim.devices[0].pace = SIMULATED_BY_HAND;
    job copy = copy_to(b, a);
    dynsel_submission submission;
    send_to(0, copy, &submission);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, run_job(0, &copy));
    assert_moved(a, 2, 0, 0);
    places_hurry();
    see_buffer(b, 0, 1);
    finish_with(0, 1);
}

/* It runs behind on the same queue, on what did not arrive. */
static void reader_behind_failed_copy_in_fails(void **state)
{
    (void)state;
    simulated_fail(&sim, SIMULATED_BRING, 1, true, DYNSEL_E_DEVICE);
    sim.devices[0].pace = SIMULATED_BY_HAND;
    job changes = add_to(a, 1);
    job copies = copy_to(b, a);
    const job minds = {
        .kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}, .value = DYNSEL_E_TASK};
    dynsel_submission submissions[3];
    send_to(0, copies, &submissions[0]);
    send_to(0, copies, &submissions[1]);
    send_to(0, minds, &submissions[2]);
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[i]));
    }
    places_hurry();
    assert_status(DYNSEL_OK, run_job(0, &copies));
    assert_status(DYNSEL_OK, run_job(0, &changes));
    see_buffer(b, 0, 1);
    finish_with(1, 1);
}

int main(void)
{
#define EACH(test) TEST_SET_UP(test), cmocka_unit_test_setup(test, set_up_with_waits)
    const struct CMUnitTest tests[] = {
        EACH(repeated_reads_copy_in_once_per_domain),
        EACH(write_invalidates_copies_of_other_domains),
        EACH(discard_access_copies_nothing_in),
        EACH(write_of_part_keeps_rest_of_buffer),
        EACH(constant_target_is_copied_in_once_per_domain),
        EACH(host_write_invalidates_device_copies),
        EACH(queues_of_one_domain_share_one_copy),
        EACH(out_of_order_kernel_runs_after_its_copy_in),
        EACH(readers_in_several_domains_run_concurrently),
        EACH(lost_device_loses_last_valid_copy),
        EACH(valid_copy_elsewhere_replaces_lost_copy),
        EACH(refused_start_leaves_copies_unchanged),
        EACH(full_queue_accepts_work_later),
        EACH(command_with_failed_launch_completes_after_its_copy_in),
        EACH(out_of_order_command_with_failed_launch_completes_after_its_copy_in),
        EACH(failed_copy_in_is_repeated_by_next_use),
        EACH(reader_behind_failed_copy_in_fails),
        EACH(out_of_order_readers_share_one_copy_in),
        EACH(out_of_order_dependency_list_has_no_duplicates),
        EACH(device_copy_is_readable_during_copy_out),
        EACH(copy_out_with_many_waiters_is_polled_once_per_round),
        EACH(writer_waits_for_copy_out_of_its_copy),
        EACH(lost_copy_is_released_after_its_last_reader),
        EACH(failed_copy_in_leaves_second_copy_in_running),
        EACH(full_host_backend_acquires_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
