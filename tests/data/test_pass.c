/* SPDX-License-Identifier: Apache-2.0 */
/* Data pass from one domain to another without the host's memory. */
#include <string.h>

#include "data/buffers.h"
#include "data/pair.h"
#include "support/forget_domains.h"
#include "support/put_in_service.h"

#define PASSING(test) cmocka_unit_test_setup(test, set_up_passing)

static int set_up_passing(void **state)
{
    (void)state;
    begin(false);
    forget_domains();
    simulated_let_pass(&sim);
    return 0;
}

static job look_at(dynsel_buffer buffer)
{
    return (job){.kind = FAIL, .buffers = {buffer}, .modes = {DYNSEL_ACCESS_READ}};
}

static job look_at_both(void)
{
    return (job){
        .kind = FAIL, .buffers = {a, b}, .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
}

static void assert_passed(dynsel_buffer buffer, unsigned copies)
{
    dynsel_movement moved;
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffer, &moved));
    assert_int_equal(copies, moved.copies_passed);
    assert_int_equal((uint64_t)copies * BYTES, moved.bytes_passed);
}

static dynsel_movement moved_of(unsigned device)
{
    const dynsel_resource where = simulated_resource(&sim, device);
    dynsel_movement moved;
    assert_status(DYNSEL_OK, dynsel_domain_movement(&where, &moved));
    return moved;
}

/* What is moved */

static void data_pass_to_writer(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    const dynsel_movement before[] = {moved_of(0), moved_of(1), moved_of(2)};
    run_on(1, add_to(a, 1));
    assert_moved(a, 1, 0, 0);
    assert_passed(a, 1);
    for (unsigned i = 0; i < 3; i++) {
        const dynsel_movement after = moved_of(i);
        assert_int_equal(i < 2 ? 1 : 0, after.copies_passed - before[i].copies_passed);
        assert_int_equal(i < 2 ? BYTES : 0, after.bytes_passed - before[i].bytes_passed);
        assert_int_equal(before[i].bytes_in, after.bytes_in);
        assert_int_equal(before[i].bytes_out, after.bytes_out);
    }
    run_on(0, add_to(a, 1)); /* into the copy that is there */
    assert_passed(a, 2);
    assert_int_equal(0, sim.counts.fetched);
    assert_int_equal(1, sim.counts.brought);
    assert_int_equal(2, sim.counts.allocated);
    see_buffer(a, 3, 1);
    finish_with(3, 1);
}

static void reader_leaves_source_valid_and_hosts_memory_not(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    run_on(1, total_of(a, b));
    run_on(0, look_at(a));
    run_on(1, look_at(a));
    assert_passed(a, 1);
    assert_moved(a, 1, 0, 2);
    see_buffer(a, 1, 1);
    assert_moved(a, 1, 1, 2);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_int_equal(ELEMENTS * (ELEMENTS + 1) / 2, others[0]);
    b = new_buffer(others);
    finish_with(1, 1);
}

static void data_that_are_on_host_too_come_from_there(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    see_buffer(a, 1, 1);
    run_on(1, look_at(a));
    assert_passed(a, 0);
    assert_moved(a, 2, 1, 0);
    finish_with(1, 1);
}

static void discarded_data_do_not_pass(void **state)
{
    (void)state;
    run_on(0, add_to(a, 1));
    run_on(1, set_all(a, 7));
    assert_passed(a, 0);
    finish_with(7, 1);
}

static void shared_copies_do_not_pass(void **state)
{
    (void)state;
    sim.devices[1].shares = true;
    run_on(1, add_to(a, 1)); /* in the host's memory */
    run_on(0, add_to(a, 1));
    assert_passed(a, 0);
    run_on(1, add_to(a, 1)); /* back into it */
    assert_passed(a, 0);
    run_on(2, set_all(b, 5));
    run_on(1, add_to(b, 1)); /* its memory there will be the host's */
    assert_passed(b, 0);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_int_equal(6, others[0]);
    b = new_buffer(others);
    finish_with(3, 1);
}

/* A third domain shares it. */
static void data_pass_beside_shared_memory(void **state)
{
    (void)state;
    sim.devices[1].shares = true;
    run_on(1, add_to(a, 1));
    run_on(0, add_to(a, 1));
    run_on(2, add_to(a, 1));
    assert_passed(a, 1);
    run_on(1, add_to(a, 1));
    assert_passed(a, 1);
    finish_with(4, 1);
}

static void data_do_not_pass_between_backends(void **state)
{
    static simulated_backend other;
    dynsel_fixed_resource_policy there = {0};
    (void)state;
    simulated_reset(&other, 2, false);
    simulated_let_pass(&other);
    const dynsel_resource resource = simulated_resource(&other, 1);
    const dynsel_options options = {.resources = &resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&there, &options, 0));
    run_on(0, add_to(a, 1));
    const job adds = add_to(a, 1);
    assert_status(DYNSEL_OK, run_job_with(&there.policy, &adds));
    assert_passed(a, 0);
    assert_moved(a, 2, 1, 0);
    finish_with(2, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&there.policy));
    simulated_assert_clean(&other, true);
}

/* When */

static void work_is_started_at_once_and_runs_after_its_data(void **state)
{
    dynsel_submission adds;
    (void)state;
    sim.devices[1].in_order = false;
    sim.devices[1].pace = SIMULATED_BY_HAND;
    run_on(0, add_to(a, 1));
    send_to(1, add_to(a, 1), &adds);
    assert_int_equal(2, simulated_pending(&sim));
    assert_int_equal(1, sim.counts.passed);
    assert_status(DYNSEL_OK, dynsel_wait(&adds));
    finish_with(2, 1);
}

/* Two writers in the domain, the second on another queue. */
static void data_pass_after_earlier_work_of_domain(void **state)
{
    dynsel_submission first;
    dynsel_submission second;
    (void)state;
    sim.devices[2].domain = sim.devices[1].domain;
    sim.devices[1].pace = SIMULATED_BY_HAND;
    sim.devices[2].pace = SIMULATED_BY_HAND;
    run_on(0, add_to(a, 1));
    send_to(1, set_all(b, 5), &first);
    send_to(2, total_of(b, a), &second);
    assert_false(simulated_step(&sim, 2)); /* the transfer, too, comes after the first */
    assert_true(simulated_step(&sim, 1));
    assert_true(simulated_step(&sim, 2));
    assert_status(DYNSEL_OK, dynsel_wait(&first));
    assert_status(DYNSEL_OK, dynsel_wait(&second));
    assert_passed(a, 1);
    places_hurry();
    run_on(HOST, set_all(a, 2));
    finish_with(2, 1);
}

/* Valid on 1, and on its way to 0. */
static void copy_that_is_complete_is_preferred(void **state)
{
    dynsel_submission looks[2];
    (void)state;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[2].pace = SIMULATED_BY_HAND;
    run_on(1, add_to(a, 1));
    send_to(0, look_at(a), &looks[0]);
    send_to(2, look_at(a), &looks[1]);
    assert_int_equal(4, simulated_pending(&sim));
    assert_status(DYNSEL_OK, dynsel_wait(&looks[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&looks[0]));
    assert_passed(a, 2);
    finish_with(1, 1);
}

static void copy_on_its_way_is_passed_on_when_it_came(void **state)
{
    dynsel_submission looks[2];
    (void)state;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[2].apart = 1u << sim.devices[1].domain;
    run_on(1, add_to(a, 1));
    run_on(1, add_to(b, 1));
    run_on(2, look_at(b)); /* learns that the two are apart */
    send_to(0, look_at(a), &looks[0]);
    send_to(2, total_of(a, b), &looks[1]);
    assert_int_equal(2, simulated_pending(&sim));
    assert_int_equal(1, sim.counts.passed);
    assert_true(simulated_step(&sim, 0));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&looks[1], 0));
    assert_status(DYNSEL_OK, dynsel_wait(&looks[0]));
    assert_status(DYNSEL_OK, dynsel_wait(&looks[1]));
    assert_passed(a, 2);
    assert_passed(b, 0);
    finish_with(1, 1);
    assert_int_equal(ELEMENTS * (ELEMENTS + 1) / 2, others[0]);
}

/* What the source is protected from meanwhile */

static void source_is_written_only_afterwards(void **state)
{
    dynsel_submission looks;
    dynsel_submission adds;
    (void)state;
    run_on(0, add_to(a, 1));
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, total_of(a, b), &looks);
    send_to(0, add_to(a, 5), &adds);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&adds, 0));
    assert_status(DYNSEL_OK, dynsel_wait(&adds));
    assert_status(DYNSEL_OK, dynsel_wait(&looks));
    finish_with(6, 1);
    assert_int_equal(ELEMENTS * (ELEMENTS + 1) / 2, others[0]);
}

/* The source is invalid from the start of the writer on. */
static void source_is_not_evicted(void **state)
{
    dynsel_submission user;
    (void)state;
    for (unsigned writes = 0; writes < 2; writes++) {
        sim.limits[1] = BYTES;
        run_on(0, set_all(a, 1));
        sim.devices[1].pace = SIMULATED_BY_HAND;
        send_to(1, writes ? add_to(a, 0) : look_at(a), &user);
        const job looks = look_at(b);
        assert_status(DYNSEL_E_FULL, run_job(0, &looks));
        assert_status(DYNSEL_OK, dynsel_wait(&user));
        sim.devices[1].pace = SIMULATED_AT_ONCE;
        run_on(0, looks); /* in its place */
        see_buffer(a, 1, 1);
    }
    finish_with(1, 1);
}

static void buffer_is_in_use_meanwhile(void **state)
{
    dynsel_submission looks;
    (void)state;
    run_on(0, add_to(a, 1));
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, look_at(a), &looks);
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_discard(&a));
    assert_status(DYNSEL_OK, dynsel_wait(&looks));
    finish_with(1, 1);
}

static void source_is_fetched_meanwhile(void **state)
{
    dynsel_submission looks;
    (void)state;
    run_on(0, add_to(a, 1));
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, look_at(a), &looks);
    see_buffer(a, 1, 1);
    assert_int_equal(2, simulated_pending(&sim));
    assert_moved(a, 1, 1, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&looks));
    finish_with(1, 1);
}

/* Its memory is lost, which another copy to the host finds out. */
static void lost_source_is_freed_only_afterwards(void **state)
{
    dynsel_submission looks;
    dynsel_submission sets;
    (void)state;
    run_on(0, add_to(a, 1));
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, look_at(a), &looks);
    sim.devices[0].is_lost = true;
    const job look = look_at(a);
    dynsel_submission fetches;
    assert_status(DYNSEL_OK, send_job(HOST, &look, &fetches));
    sim.devices[0].is_lost = false;
    send_to(0, total_of(a, b), &sets); /* passed back, when the memory was freed */
    assert_int_equal(2, simulated_pending(&sim));
    assert_int_equal(0, sim.counts.released);
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&looks));
    assert_status(DYNSEL_OK, dynsel_wait(&fetches));
    assert_status(DYNSEL_OK, dynsel_wait(&sets));
    assert_int_equal(1, sim.counts.released);
    finish_with(1, 1);
}

/* Refusals and failures */

static void refused_pair_goes_through_host(void **state)
{
    dynsel_resource_statistics counts = {0};
    (void)state;
    sim.devices[1].apart = 1u << sim.devices[0].domain;
    for (unsigned i = 0; i < 2; i++) {
        run_on(0, add_to(a, 1));
        run_on(1, add_to(a, 1));
    }
    assert_passed(a, 1); /* in the other direction */
    assert_moved(a, 3, 2, 0);
    assert_int_equal(1, sim.counts.refused); /* it is not asked again */
    run_on(2, add_to(a, 1));
    assert_passed(a, 2);
    assert_status(DYNSEL_OK, dynsel_resource_in_service(&places[1].policy, 0));
#if CONFIG_DYNSEL_STATISTICS
    assert_status(DYNSEL_OK, dynsel_get_statistics(&places[1].policy, 0, &counts));
    assert_int_equal(2, counts.submitted);
    assert_int_equal(2, counts.completed);
    assert_int_equal(0, counts.failed);
#else
    (void)counts;
#endif
    finish_with(5, 1);
}

/* The start is withdrawn; the work waits for the copy to the host, and can be cancelled. */
static void work_waits_after_refusal(void **state)
{
    dynsel_submission adds;
    (void)state;
    sim.devices[1].apart = 1u << sim.devices[0].domain;
    run_on(0, add_to(a, 1));
    sim.devices[0].pace = SIMULATED_BY_HAND;
    send_to(1, add_to(a, 1), &adds);
    assert_int_equal(1, simulated_pending(&sim));
    assert_int_equal(1, sim.counts.fetched);
    assert_int_equal(1, sim.counts.launched);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&adds, 0));
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&adds));
    assert_passed(a, 0);
    assert_moved(a, 2, 1, 0);
    finish_with(2, 1);
}

/* What it was to write is lost then, as if nothing had been refused. */
static void work_that_begins_after_refusal_and_fails_has_begun(void **state)
{
    dynsel_host_accessor seen = {0};
    const job fails = {.kind = FAIL, .value = DYNSEL_E_TASK, .buffers = {a}};
    (void)state;
    sim.devices[1].apart = 1u << sim.devices[0].domain;
    run_on(0, add_to(a, 1));
    assert_status(DYNSEL_E_TASK, run_job(1, &fails));
    assert_int_equal(1, sim.counts.refused);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&seen, a, DYNSEL_ACCESS_READ));
    run_on(HOST, set_all(a, 2));
    finish_with(2, 1);
}

/* One passes, and is on its way when the other is refused. */
static void refusal_waits_for_passes_before(void **state)
{
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        sim.devices[1].apart = 1u << sim.devices[2].domain;
        run_on(0, set_all(a, 1));
        run_on(2 - late, set_all(b, 1)); /* in the second round they are known to be apart */
        sim.devices[1].pace = SIMULATED_BY_HAND;
        run_on(1, look_at_both());
        assert_int_equal(0, simulated_pending(&sim));
        places_hurry();
        assert_passed(a, late == 0 ? 2 : 3);
        assert_passed(b, 0);
    }
    finish_with(1, 1);
}

/* A failure of one that was on its way when the other was refused is no failure of the work. */
static void failed_pass_before_refusal_is_repeated(void **state)
{
    (void)state;
    sim.devices[1].apart = 1u << sim.devices[2].domain;
    run_on(0, set_all(a, 1));
    run_on(2, set_all(b, 1));
    sim.devices[1].pace = SIMULATED_BY_HAND;
    simulated_fail(&sim, SIMULATED_PASS, 1, true, DYNSEL_E_DEVICE);
    run_on(1, look_at_both());
    run_on(1, add_to(a, 1));
    assert_passed(a, 2);
    finish_with(2, 1);
}

/* By way of the host, and passed. */
static void lost_device_fails_work_as_failed_fetch_does(void **state)
{
    char texts[2][512];
    (void)state;
    for (unsigned passes = 0; passes < 2; passes++) {
        run_on(0, set_all(a, 1));
        forget_domains();
        sim.devices[1].apart = passes == 0 ? 1u << sim.devices[0].domain : 0;
        sim.devices[0].is_lost = true;
        const job adds = add_to(a, 1);
        assert_status(DYNSEL_E_DEVICE, run_job(1, &adds));
        (void)dynsel_error_text(dynsel_last_error(), texts[passes], sizeof texts[passes]);
        assert_error_says("the only valid copy was on a device that failed");
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&places[1].policy, 0));
        sim.devices[0].is_lost = false;
        assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&a));
        assert_int_equal(0, a.token);
        a = new_buffer(numbers);
    }
    *strrchr(texts[0], 'b') = '\0'; /* the number of the buffer */
    *strrchr(texts[1], 'b') = '\0';
    assert_string_equal(texts[0], texts[1]);
    run_on(HOST, set_all(a, 1));
    finish_with(1, 1);
}

static void other_copy_is_passed_after_loss(void **state)
{
    (void)state;
    run_on(2, set_all(a, 1));
    run_on(0, look_at(a));
    sim.devices[0].is_lost = true; /* the first that is looked at */
    run_on(1, add_to(a, 1));
    assert_passed(a, 2);
    assert_moved(a, 0, 0, 1);
    sim.devices[0].is_lost = false;
    run_on(0, add_to(a, 1)); /* in new memory */
    assert_int_equal(4, sim.counts.allocated);
    finish_with(3, 1);
}

static void failed_pass_fails_start_and_keeps_source(void **state)
{
    (void)state;
    const job jobs[] = {look_at(a), add_to(a, 9)};
    for (unsigned i = 0; i < 2; i++) {
        run_on(0, set_all(a, 1));
        simulated_fail(&sim, SIMULATED_PASS, 1, false, DYNSEL_E_TASK);
        assert_status(DYNSEL_E_TASK, run_job(1, &jobs[i]));
        run_on(0, add_to(a, 1));
        run_on(1, add_to(a, 1));
        see_buffer(a, 3, 1);
    }
    finish_with(3, 1);
}

/* What began to pass goes on although the launch failed. */
static void failed_launch_keeps_source(void **state)
{
    dynsel_submission failing;
    (void)state;
    const job jobs[] = {look_at(a), add_to(a, 9)};
    for (unsigned i = 0; i < 2 * 2; i++) {
        const bool by_hand = i / 2 != 0;
        run_on(0, set_all(a, 1));
        sim.devices[1].pace = by_hand ? SIMULATED_BY_HAND : SIMULATED_AT_ONCE;
        simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_TASK);
        send_to(1, jobs[i % 2], &failing);
        assert_int_equal(by_hand ? 1 : 0, simulated_pending(&sim));
        const job adds = add_to(a, 1);
        dynsel_submission next;
        send_to(0, adds, &next);
        assert_status(DYNSEL_E_TASK, dynsel_wait(&failing));
        assert_status(DYNSEL_OK, dynsel_wait(&next));
        see_buffer(a, 2, 1);
    }
    finish_with(2, 1);
}

/* Its event fails: the command does not begin. */
static void late_failure_keeps_source(void **state)
{
    dynsel_submission failing;
    (void)state;
    const job jobs[] = {look_at(a), add_to(a, 9)};
    for (unsigned i = 0; i < 2 * 2; i++) {
        sim.devices[1].in_order = i / 2 == 0;
        run_on(0, set_all(a, 1));
        sim.devices[1].pace = SIMULATED_BY_HAND;
        simulated_fail(&sim, SIMULATED_PASS, 1, true, DYNSEL_E_DEVICE);
        send_to(1, jobs[i % 2], &failing);
        assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&failing));
        sim.devices[1].pace = SIMULATED_AT_ONCE;
        const unsigned passed = sim.counts.passed;
        run_on(1, add_to(a, 1)); /* what came there is not used */
        assert_int_equal(passed + 1, sim.counts.passed);
        see_buffer(a, 2, 1);
    }
    finish_with(2, 1);
}

static void pass_makes_room(void **state)
{
    (void)state;
    run_on(0, set_all(a, 1));
    run_on(1, look_at(b));
    simulated_fail(&sim, SIMULATED_PASS, 1, false, DYNSEL_E_AGAIN);
    run_on(1, look_at(a)); /* in the place of b */
    assert_int_equal(1, sim.counts.released);
    assert_passed(a, 1);
    run_on(0, add_to(a, 1));
    simulated_fail(&sim, SIMULATED_PASS, 1, false, DYNSEL_E_AGAIN);
    const job none = add_to(a, 1);
    assert_status(DYNSEL_E_FULL, run_job(1, &none));
    assert_error_says("the device's memory is full");
    run_on(1, none);
    finish_with(3, 1);
}

#if CONFIG_DYNSEL_RESOURCE_SETS
static void resource_leaves_when_its_data_have_passed(void **state)
{
    const dynsel_resource resources[] = {simulated_resource(&sim, 2), simulated_resource(&sim, 3)};
    const dynsel_options options = {.resources = resources, .count = 2, .may_change = true};
    dynsel_fixed_resource_policy both = {0};
    dynsel_submission adds;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&both, &options, 0));
    const job sets = set_all(a, 1);
    assert_status(DYNSEL_OK, run_job_with(&both.policy, &sets));
    sim.devices[1].pace = SIMULATED_BY_HAND;
    send_to(1, add_to(a, 1), &adds);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_policy_remove_resource(&both.policy, 0, 0));
    assert_int_equal(0, sim.counts.released);
    assert_status(DYNSEL_OK, dynsel_wait(&adds));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(&both.policy, 0, 0));
    assert_int_equal(1, sim.counts.released);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&both.policy));
    finish_with(2, 1);
}

static void withdrawn_start_does_not_hold_resource(void **state)
{
    const dynsel_resource resources[] = {simulated_resource(&sim, 2), simulated_resource(&sim, 3)};
    const dynsel_options options = {.resources = resources, .count = 2, .may_change = true};
    dynsel_fixed_resource_policy both = {0};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&both, &options, 0));
    sim.devices[2].apart = 1u << sim.devices[0].domain;
    run_on(0, add_to(a, 1));
    const job adds = add_to(a, 1);
    assert_status(DYNSEL_OK, run_job_with(&both.policy, &adds));
    assert_int_equal(1, sim.counts.refused);
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(&both.policy, 0, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&both.policy));
    finish_with(2, 1);
}
#endif

#if CONFIG_DYNSEL_REPEAT
/* Its inputs are kept in the host's memory. */
static void data_of_repeatable_work_go_through_host(void **state)
{
    (void)state;
    run_on(0, set_all(a, 1));
    job adds = add_to(a, 1);
    adds.repeatable = true;
    run_on(1, adds);
    assert_passed(a, 0);
    assert_moved(a, 1, 1, 1);
    finish_with(2, 1);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        PASSING(data_pass_to_writer),
        PASSING(reader_leaves_source_valid_and_hosts_memory_not),
        PASSING(data_that_are_on_host_too_come_from_there),
        PASSING(discarded_data_do_not_pass),
        PASSING(shared_copies_do_not_pass),
        PASSING(data_pass_beside_shared_memory),
        PASSING(data_do_not_pass_between_backends),
        PASSING(work_is_started_at_once_and_runs_after_its_data),
        PASSING(data_pass_after_earlier_work_of_domain),
        PASSING(copy_that_is_complete_is_preferred),
        PASSING(copy_on_its_way_is_passed_on_when_it_came),
        PASSING(source_is_written_only_afterwards),
        PASSING(source_is_not_evicted),
        PASSING(buffer_is_in_use_meanwhile),
        PASSING(source_is_fetched_meanwhile),
        PASSING(lost_source_is_freed_only_afterwards),
        PASSING(refused_pair_goes_through_host),
        PASSING(work_waits_after_refusal),
        PASSING(work_that_begins_after_refusal_and_fails_has_begun),
        PASSING(refusal_waits_for_passes_before),
        PASSING(failed_pass_before_refusal_is_repeated),
        PASSING(lost_device_fails_work_as_failed_fetch_does),
        PASSING(other_copy_is_passed_after_loss),
        PASSING(failed_pass_fails_start_and_keeps_source),
        PASSING(failed_launch_keeps_source),
        PASSING(late_failure_keeps_source),
        PASSING(pass_makes_room),
#if CONFIG_DYNSEL_RESOURCE_SETS
        PASSING(resource_leaves_when_its_data_have_passed),
        PASSING(withdrawn_start_does_not_hold_resource),
#endif
#if CONFIG_DYNSEL_REPEAT
        PASSING(data_of_repeatable_work_go_through_host),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
