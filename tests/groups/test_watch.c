/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending work is checked when its dependencies complete, and not before: the number of checks does
 * not depend on the number of pending command groups.
 */
#include <dynsel/dynsel.h>

#include "groups/queues.h"
#include "groups/watch.h"

enum { WAITING = 12, ROUNDS = 20 };

static uint32_t numbers[3];
static dynsel_buffer a;
static dynsel_buffer b;
static dynsel_buffer c;

static int set_up(void **state)
{
    (void)state;
    queues_begin(false);
    for (unsigned i = 0; i < 3; i++) {
        numbers[i] = 7;
    }
    a = new_number(&numbers[0]);
    b = new_number(&numbers[1]);
    c = new_number(&numbers[2]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&manual.queues[0].is_full, false);
    for (unsigned i = 0; i < QUEUES; i++) {
        dynsel_status status = DYNSEL_E_USER;
        while (status != DYNSEL_OK) { /* what fails was meant to */
            status = dynsel_wait_group(dynsel_get_submission_group(&queues[i].policy));
        }
    }
    queues_end();
    return 0;
}

static void end_buffers(void)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&c));
}

/* How many command groups the calls of `rounds` rounds look at. */
static uint32_t looks_of(unsigned rounds)
{
    const uint32_t before = dynsel_watch_looks;
    for (unsigned i = 0; i < rounds; i++) {
        dynsel_progress();
    }
    return dynsel_watch_looks - before;
}

static void send_chain(job *jobs, unsigned count, dynsel_buffer buffer)
{
    for (unsigned i = 0; i < count; i++) {
        jobs[i] = (job)CHANGES(i + 1, buffer);
        send(i % QUEUES, &jobs[i], NULL);
    }
}

static void pending_work_is_not_checked_while_dependencies_run(void **state)
{
    (void)state;
    job chain[1 + WAITING];
    job elsewhere = READS(1, b);
    send_chain(chain, 1 + WAITING, a);
    assert_int_equal(0, looks_of(ROUNDS));
    const uint32_t before = dynsel_watch_looks;
    send(0, &elsewhere, NULL);
    complete(&elsewhere);
    dynsel_progress();
    assert_int_equal(before, dynsel_watch_looks);
    for (unsigned i = 0; i < WAITING; i++) {
        complete(&chain[i]);
        /* the next: it is started, and the one behind it sees that */
        assert_in_range(looks_of(1), 1, 2);
        assert_runs(1, &chain[i + 1]);
        assert_int_equal(0, looks_of(ROUNDS));
    }
    complete(&chain[WAITING]);
    dynsel_progress();
    end_buffers();
}

static void completion_checks_only_its_dependents(void **state)
{
    (void)state;
    job first[] = {CHANGES(1, a), CHANGES(2, b)};
    job behind_a = CHANGES(3, a);
    job behind_b[] = {READS(4, b), READS(5, b), READS(6, b), READS(7, b)};
    for (unsigned i = 0; i < 2; i++) {
        send(i, &first[i], NULL);
    }
    send(2, &behind_a, NULL);
    for (unsigned i = 0; i < 4; i++) {
        send(i, &behind_b[i], NULL);
    }
    complete(&first[0]);
    assert_int_equal(1, looks_of(ROUNDS));
    assert_runs(1, &behind_a);
    complete(&first[1]);
    assert_int_equal(4, looks_of(ROUNDS));
    for (unsigned i = 0; i < 4; i++) {
        assert_runs(1, &behind_b[i]);
        assert_int_equal(4 + i, behind_b[i].turn); /* in the order of their entry */
    }
    for (unsigned i = 0; i < 4; i++) {
        complete(&behind_b[i]);
    }
    complete(&behind_a);
    dynsel_progress();
    end_buffers();
}

/* All that an open host accessor keeps waiting is started in the order of entry, when it closes. */
static void host_accessor_close_starts_pending_work_in_order(void **state)
{
    (void)state;
    dynsel_host_accessor open[3] = {{.data = NULL}};
    const dynsel_buffer buffers[] = {b, c, a};
    job jobs[3 * 4];
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_host_accessor_open(&open[i], buffers[i], DYNSEL_ACCESS_WRITE));
    }
    for (unsigned i = 0; i < 12; i++) {
        jobs[i] = (job)READS(1 + i, buffers[i % 3]);
        send(0, &jobs[i], NULL);
    }
    assert_int_equal(0, looks_of(ROUNDS));
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&open[i]));
    }
    assert_int_equal(12, looks_of(1));
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(1 + i, jobs[i].turn);
        complete(&jobs[i]);
    }
    dynsel_progress();
    end_buffers();
}

/* One attempt a round, however many wait for room in it. */
static void full_queue_is_retried_once_per_round(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job jobs[] = {READS(2, a), READS(3, a), READS(4, a), READS(5, a)};
    send(1, &first, NULL);
    for (unsigned i = 0; i < 4; i++) {
        send(0, &jobs[i], NULL);
    }
    atomic_store(&manual.queues[0].is_full, true);
    complete(&first);
    assert_int_equal(4, looks_of(1)); /* each is refused once */
    assert_int_equal(ROUNDS, looks_of(ROUNDS));
    atomic_store(&manual.queues[0].is_full, false);
    dynsel_progress();
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(2 + i, jobs[i].turn);
        complete(&jobs[i]);
    }
    dynsel_progress();
    assert_int_equal(0, looks_of(ROUNDS));
    end_buffers();
}

/* It only reads, so nobody relies on its end: it need not wait for what goes on. */
static void reader_fails_as_soon_as_one_dependency_failed(void **state)
{
    (void)state;
    job goes_on = CHANGES(1, a);
    job fails = CHANGES(2, b);
    job unconcerned = CHANGES(3, a);
    job reads = {.number = 4, .buffers = {a, b}, .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
    dynsel_submission submission;
    send(0, &goes_on, NULL);
    send(1, &fails, NULL);
    send(2, &reads, &submission);
    send(3, &unconcerned, NULL);
    break_off(&fails);
    assert_int_equal(1, looks_of(1));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait_for(&submission, 0));
    assert_runs(0, &reads);
    assert_runs(0, &unconcerned);
    complete(&goes_on);
    dynsel_progress();
    assert_runs(1, &unconcerned);
    complete(&unconcerned);
    dynsel_progress();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&b));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pending_work_is_not_checked_while_dependencies_run),
        TEST(completion_checks_only_its_dependents),
        TEST(host_accessor_close_starts_pending_work_in_order),
        TEST(full_queue_is_retried_once_per_round),
        TEST(reader_fails_as_soon_as_one_dependency_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
