/* SPDX-License-Identifier: Apache-2.0 */
/* Host accessors: they wait for the data, block conflicting work, and never deadlock. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "groups/two_numbers.h"

enum { NS_PER_MS = 1000000 };

static void end_with(dynsel_status of_a)
{
    queues_wait();
    assert_status(of_a, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    queues_end();
}

static void open_as(dynsel_host_accessor *accessor, dynsel_buffer buffer, dynsel_access_mode mode)
{
    *accessor = (dynsel_host_accessor){.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(accessor, buffer, mode));
}

static void close_it(dynsel_host_accessor *accessor)
{
    static const dynsel_host_accessor closed;
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(accessor));
    assert_memory_equal(&closed, accessor, sizeof closed);
}

static void open_host_accessor_points_to_data(void **state)
{
    (void)state;
    dynsel_host_accessor seen;
    open_as(&seen, a, DYNSEL_ACCESS_READ);
    assert_ptr_equal(&numbers[0], seen.data);
    assert_int_equal(sizeof numbers[0], seen.bytes);
    close_it(&seen);
    end_with(DYNSEL_OK);
}

static void host_accessor_open_waits_for_writers(void **state)
{
    (void)state;
    job writes[] = {CHANGES(1, a), CHANGES(2, a)};
    send(0, &writes[0], NULL);
    send(1, &writes[1], NULL);
    dynsel_host_accessor seen;
    open_as(&seen, a, DYNSEL_ACCESS_READ);
    assert_runs(1, &writes[1]);
    assert_int_equal(worked_in(worked_in(7, 1), 2), *(uint32_t *)seen.data);
    close_it(&seen);
    end_with(DYNSEL_OK);
}

static void host_accessor_open_to_write_waits_for_readers(void **state)
{
    (void)state;
    job reads = READS(1, a);
    send(0, &reads, NULL);
    dynsel_host_accessor mine = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open_for(&mine, a, DYNSEL_ACCESS_READ, 0));
    close_it(&mine);
    assert_status(DYNSEL_E_TIMEOUT,
                  dynsel_host_accessor_open_for(&mine, a, DYNSEL_ACCESS_WRITE, 0));
    complete(&reads);
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_WRITE));
    close_it(&mine);
    end_with(DYNSEL_OK);
}

static void host_accessor_open_ignores_other_buffers(void **state)
{
    (void)state;
    job writes = CHANGES(1, a);
    send(0, &writes, NULL);
    dynsel_host_accessor seen;
    open_as(&seen, b, DYNSEL_ACCESS_READ_WRITE);
    assert_int_equal(1, dynsel_get_in_flight_statistics().in_use - 1);
    close_it(&seen);
    complete(&writes);
    end_with(DYNSEL_OK);
}

static void host_accessor_open_to_read_blocks_writers(void **state)
{
    (void)state;
    job reads = READS(1, a);
    job writes = CHANGES(2, a);
    dynsel_host_accessor seen;
    dynsel_host_accessor too;
    open_as(&seen, a, DYNSEL_ACCESS_READ);
    open_as(&too, a, DYNSEL_ACCESS_READ);
    send(0, &reads, NULL);
    assert_runs(1, &reads); /* they read together */
    complete(&reads);
    send(0, &writes, NULL);
    close_it(&too);
    dynsel_progress();
    assert_runs(0, &writes);
    assert_int_equal(7, *(uint32_t *)seen.data);
    close_it(&seen);
    dynsel_progress();
    assert_runs(1, &writes);
    end_with(DYNSEL_OK);
}

static void host_accessor_open_to_write_blocks_readers_and_writers(void **state)
{
    (void)state;
    static const dynsel_access_mode modes[] = {
        DYNSEL_ACCESS_READ_WRITE, DYNSEL_ACCESS_WRITE, DYNSEL_ACCESS_DISCARD_WRITE,
        DYNSEL_ACCESS_DISCARD_READ_WRITE, DYNSEL_ACCESS_ATOMIC};
    for (uint32_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        job reads = READS(1, a);
        job writes = CHANGES(2, a);
        dynsel_host_accessor mine;
        open_as(&mine, a, modes[i]);
        send(0, &reads, NULL);
        send(1, &writes, NULL);
        dynsel_progress();
        assert_runs(0, &reads);
        assert_runs(0, &writes);
        *(uint32_t *)mine.data = 100 + i;
        close_it(&mine);
        dynsel_progress();
        assert_int_equal(100 + i, reads.seen);
        complete(&reads);
        dynsel_progress();
        assert_int_equal(100 + i, writes.seen);
        complete(&writes);
    }
    end_with(DYNSEL_OK);
}

/* Not closing it: submitting anything, or opening another. */
static void next_call_after_close_starts_blocked_work(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job second = CHANGES(2, a);
    job other = READS(3, b);
    dynsel_host_accessor mine;
    open_as(&mine, a, DYNSEL_ACCESS_READ);
    send(0, &first, NULL);
    close_it(&mine);
    assert_runs(0, &first);
    send(1, &other, NULL);
    assert_runs(1, &first);
    complete(&first);
    dynsel_progress();
    open_as(&mine, a, DYNSEL_ACCESS_READ);
    send(0, &second, NULL);
    close_it(&mine);
    open_as(&mine, b, DYNSEL_ACCESS_READ);
    assert_runs(1, &second);
    close_it(&mine);
    end_with(DYNSEL_OK);
}

static void buffer_deinit_during_host_access_is_busy(void **state)
{
    (void)state;
    dynsel_host_accessor seen;
    open_as(&seen, a, DYNSEL_ACCESS_READ);
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&a));
    assert_error_says("host accessor");
    close_it(&seen);
    end_with(DYNSEL_OK);
}

/* Many are opened and closed while one stays open. */
static void host_accessor_takes_slot_only_while_open(void **state)
{
    (void)state;
    dynsel_host_accessor long_open;
    open_as(&long_open, b, DYNSEL_ACCESS_READ);
    for (unsigned i = 0; i < 3 * CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        dynsel_host_accessor seen;
        open_as(&seen, i % 2 == 0 ? a : b, DYNSEL_ACCESS_READ);
        close_it(&seen);
        assert_int_equal(1, dynsel_get_in_flight_statistics().in_use);
    }
    close_it(&long_open);
    end_with(DYNSEL_OK);
}

/* What would wait for ever. */

static void second_open_by_same_thread_is_busy(void **state)
{
    (void)state;
    dynsel_host_accessor mine;
    dynsel_host_accessor again = {.data = NULL};
    open_as(&mine, a, DYNSEL_ACCESS_READ_WRITE);
    assert_status(DYNSEL_E_BUSY, dynsel_host_accessor_open(&again, a, DYNSEL_ACCESS_READ));
    assert_error_says("close that first");
    assert_null(again.data);
    assert_status(DYNSEL_E_BUSY, dynsel_host_accessor_open_for(&again, a, DYNSEL_ACCESS_WRITE,
                                                               10000ULL * NS_PER_MS));
    close_it(&mine);
    open_as(&mine, a, DYNSEL_ACCESS_READ);
    assert_status(DYNSEL_E_BUSY, dynsel_host_accessor_open(&again, a, DYNSEL_ACCESS_DISCARD_WRITE));
    close_it(&mine);
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&again, a, DYNSEL_ACCESS_READ));
    close_it(&again);
    end_with(DYNSEL_OK);
}

/* Not directly: through command groups that wait for it, over two buffers. */
static void wait_for_work_blocked_by_own_host_accessor_is_busy(void **state)
{
    (void)state;
    job copies = COPIES(1, a, b);
    job changes = CHANGES(2, b);
    dynsel_submission submission;
    dynsel_host_accessor mine;
    dynsel_host_accessor other = {.data = NULL};
    open_as(&mine, a, DYNSEL_ACCESS_READ_WRITE);
    send(0, &copies, NULL);
    send(1, &changes, &submission);
    assert_status(DYNSEL_E_BUSY, dynsel_host_accessor_open(&other, b, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_BUSY, dynsel_wait(&submission));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    assert_status(DYNSEL_E_BUSY, dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    close_it(&mine);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_runs(1, &copies);
    end_with(DYNSEL_OK);
}

/* No handle exists, so no other call could collect the submission. */
static void submit_and_wait_blocked_by_own_host_accessor_leaks_no_slot(void **state)
{
    (void)state;
    job changes = CHANGES(1, a);
    dynsel_host_accessor mine;
    open_as(&mine, a, DYNSEL_ACCESS_READ_WRITE);
    assert_status(DYNSEL_E_BUSY,
                  dynsel_submit_command_group_and_wait(&queues[0].policy, group_of, &changes));
    assert_error_says("dynsel_submit_command_group_and_wait");
    assert_error_says("close that first");
    close_it(&mine);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    assert_runs(1, &changes);
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    end_with(DYNSEL_OK);
}

static void timed_out_open_leaves_no_trace(void **state)
{
    (void)state;
    static const dynsel_access_mode modes[] = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ_WRITE,
                                               DYNSEL_ACCESS_DISCARD_WRITE};
    atomic_store(&manual.wait_completes, false);
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        job writes = CHANGES(1, a);
        job next = CHANGES(2, a);
        send(0, &writes, NULL);
        dynsel_host_accessor mine = {.data = NULL};
        assert_status(DYNSEL_E_TIMEOUT,
                      dynsel_host_accessor_open_for(&mine, a, modes[i], NS_PER_MS));
        static const dynsel_host_accessor nothing;
        assert_memory_equal(&nothing, &mine, sizeof mine);
        assert_status(DYNSEL_E_STALE, dynsel_host_accessor_close(&mine));
        send(1, &next, NULL); /* behind what was given up */
        complete(&writes);
        dynsel_progress();
        assert_runs(1, &next);
        complete(&next);
        dynsel_progress();
        assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    }
    end_with(DYNSEL_OK);
}

static void give_up(dynsel_access_mode mode)
{
    dynsel_host_accessor mine = {.data = NULL};
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(&mine, a, mode, 0));
}

/* However often somebody asks whether the data are there. */
static void timed_out_opens_use_no_slots(void **state)
{
    (void)state;
    for (int mode = DYNSEL_ACCESS_READ_WRITE; mode <= DYNSEL_ACCESS_ATOMIC; mode++) {
        job writes = CHANGES(1, a);
        send(0, &writes, NULL);
        for (unsigned i = 0; i < 2 * CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
            give_up((dynsel_access_mode)mode);
            assert_int_equal(1, dynsel_get_in_flight_statistics().in_use);
        }
        complete(&writes);
        dynsel_progress();
    }
    end_with(DYNSEL_OK);
}

/* Not even who only reads, as those do that it would have waited for. */
static void timed_out_open_blocks_no_later_work(void **state)
{
    (void)state;
    job reads[] = {READS(1, a), READS(2, a)};
    job writes = CHANGES(3, a);
    dynsel_host_accessor seen;
    dynsel_host_accessor again = {.data = NULL};
    send(0, &reads[0], NULL);
    open_as(&seen, a, DYNSEL_ACCESS_READ);
    give_up(DYNSEL_ACCESS_READ_WRITE);
    complete(&reads[0]);
    assert_status(DYNSEL_E_BUSY, dynsel_host_accessor_open(&again, a, DYNSEL_ACCESS_WRITE));
    assert_error_says("dynsel_host_accessor_open");
    send(1, &reads[1], NULL);
    assert_runs(1, &reads[1]);
    send(2, &writes, NULL);
    complete(&reads[1]);
    dynsel_progress();
    assert_runs(0, &writes);
    close_it(&seen);
    dynsel_progress();
    assert_runs(1, &writes);
    end_with(DYNSEL_OK);
}

/* The writer and the readers that it came behind are waited for as before. */
static void timed_out_open_keeps_order_of_work(void **state)
{
    (void)state;
    job first = CHANGES(1, a);
    job reads[] = {READS(2, a), READS(3, a)};
    job last = CHANGES(4, a);
    send(0, &first, NULL);
    send(1, &reads[0], NULL);
    give_up(DYNSEL_ACCESS_WRITE);
    send(2, &reads[1], NULL);
    give_up(DYNSEL_ACCESS_DISCARD_WRITE);
    send(3, &last, NULL);
    dynsel_progress();
    assert_runs(0, &reads[0]);
    assert_runs(0, &reads[1]);
    complete(&first);
    dynsel_progress();
    for (unsigned i = 0; i < 2; i++) {
        assert_runs(1, &reads[i]);
        assert_int_equal(worked_in(7, 1), reads[i].seen);
        assert_runs(0, &last);
        complete(&reads[i]);
        dynsel_progress();
    }
    assert_runs(1, &last);
    end_with(DYNSEL_OK);
}

/* Failed contents stay failed behind it; valid contents stay valid. */
static void timed_out_open_passes_earlier_failure_on(void **state)
{
    (void)state;
    job fails = CHANGES(1, a);
    fails.returns = DYNSEL_E_USER;
    job next = CHANGES(2, a);
    dynsel_submission submissions[2];
    send(0, &fails, &submissions[0]);
    dynsel_host_accessor mine = {.data = NULL};
    assert_status(DYNSEL_E_TIMEOUT,
                  dynsel_host_accessor_open_for(&mine, a, DYNSEL_ACCESS_READ_WRITE, 0));
    assert_status(DYNSEL_E_TIMEOUT,
                  dynsel_host_accessor_open_for(&mine, a, DYNSEL_ACCESS_DISCARD_WRITE, 0));
    send(1, &next, &submissions[1]);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_E_USER, dynsel_wait(&submissions[0]));
    end_with(DYNSEL_E_DEPENDENCY);
}

/* Failures. */

static void host_accessor_open_reports_failure_until_discard(void **state)
{
    (void)state;
    job fails = CHANGES(1, a);
    fails.returns = DYNSEL_E_USER;
    dynsel_submission submission;
    send(0, &fails, &submission);
    dynsel_host_accessor mine = {.data = NULL};
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_READ));
    assert_null(mine.data);
    assert_status(DYNSEL_E_DEPENDENCY,
                  dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_WRITE));
    assert_status(DYNSEL_E_USER, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_DISCARD_WRITE));
    *(uint32_t *)mine.data = 10;
    close_it(&mine);
    job again = CHANGES(2, a);
    again.returns = DYNSEL_E_USER;
    send(0, &again, &submission);
    assert_status(DYNSEL_E_USER, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_DISCARD_READ_WRITE));
    *(uint32_t *)mine.data = 11;
    close_it(&mine);
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_READ));
    assert_int_equal(11, *(uint32_t *)mine.data);
    close_it(&mine);
    end_with(DYNSEL_OK);
}

static dynsel_host_accessor of_a_task;

static dynsel_status open_in_task(job *what)
{
    (void)what;
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_host_accessor_open_for(&of_a_task, b, DYNSEL_ACCESS_READ, 0));
    return DYNSEL_OK;
}

static dynsel_status close_in_task(job *what)
{
    (void)what;
    return dynsel_host_accessor_close(&of_a_task);
}

static void host_accessor_in_task_function_may_only_be_closed(void **state)
{
    (void)state;
    job opens = CHANGES(1, a);
    opens.does = open_in_task;
    job closes = CHANGES(2, a);
    closes.does = close_in_task;
    of_a_task = (dynsel_host_accessor){.data = NULL};
    send(0, &opens, NULL);
    assert_runs(1, &opens);
    complete(&opens);
    dynsel_progress();
    open_as(&of_a_task, b, DYNSEL_ACCESS_READ);
    send(0, &closes, NULL);
    assert_runs(1, &closes);
    assert_null(of_a_task.data);
    end_with(DYNSEL_OK);
}

static void wrong_host_accessor_calls_are_refused(void **state)
{
    (void)state;
    dynsel_host_accessor mine = {.data = NULL};
    assert_status(DYNSEL_E_INVALID, dynsel_host_accessor_open(NULL, a, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_host_accessor_open(&mine, (dynsel_buffer){0}, DYNSEL_ACCESS_READ));
    assert_error_says("dynsel_host_accessor_open");
    assert_status(DYNSEL_E_INVALID, dynsel_host_accessor_open(&mine, a, (dynsel_access_mode)6));
    assert_status(DYNSEL_E_INVALID, dynsel_host_accessor_close(NULL));
    assert_status(DYNSEL_E_STALE, dynsel_host_accessor_close(&mine));

    open_as(&mine, a, DYNSEL_ACCESS_READ);
    assert_status(DYNSEL_E_INVALID, dynsel_host_accessor_open(&mine, b, DYNSEL_ACCESS_READ));
    dynsel_host_accessor copy = mine;
    close_it(&mine);
    assert_status(DYNSEL_E_STALE, dynsel_host_accessor_close(&copy));
    open_as(&mine, a, DYNSEL_ACCESS_READ); /* perhaps in the same slot */
    assert_status(DYNSEL_E_STALE, dynsel_host_accessor_close(&copy));
    close_it(&mine);

    const dynsel_buffer ended = b;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_status(DYNSEL_E_STALE, dynsel_host_accessor_open(&mine, ended, DYNSEL_ACCESS_READ));
    b = new_number(&numbers[1]);
    assert_status(DYNSEL_E_STALE, dynsel_host_accessor_open(&mine, ended, DYNSEL_ACCESS_READ));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    end_with(DYNSEL_OK);
}

/* One more than can read at a time, all by one thread, which would wait for itself. */
static void host_accessor_open_with_full_reader_table_is_refused(void **state)
{
    (void)state;
    dynsel_host_accessor open[CONFIG_DYNSEL_MAX_READERS];
    dynsel_host_accessor mine = {.data = NULL};
    job reads = READS(1, a);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_READERS; i++) {
        open_as(&open[i], a, DYNSEL_ACCESS_READ);
    }
    assert_status(DYNSEL_E_FULL, dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_READ));
    assert_error_says("CONFIG_DYNSEL_MAX_READERS");
    assert_status(DYNSEL_E_FULL,
                  dynsel_submit_command_group(&queues[0].policy, group_of, &reads, NULL));
    assert_int_equal(CONFIG_DYNSEL_MAX_READERS, dynsel_get_in_flight_statistics().in_use);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_READERS; i++) {
        close_it(&open[i]);
    }
    end_with(DYNSEL_OK);
}

#if CONFIG_DYNSEL_CONTEXT_THREADS

static dynsel_status opened;

static void sleep_a_little(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 3L * NS_PER_MS}, NULL);
}

static void *open_and_close(void *argument)
{
    dynsel_host_accessor mine = {.data = NULL};
    opened = dynsel_host_accessor_open(&mine, a, DYNSEL_ACCESS_READ);
    if (opened == DYNSEL_OK) {
        *(uint32_t *)argument = *(uint32_t *)mine.data;
        opened = dynsel_host_accessor_close(&mine);
    }
    return NULL;
}

/* Another thread's is waited for: it will be closed. */
static void host_accessor_open_waits_for_close_by_other_thread(void **state)
{
    (void)state;
    pthread_t thread;
    uint32_t seen = 0;
    dynsel_host_accessor mine;
    open_as(&mine, a, DYNSEL_ACCESS_READ_WRITE);
    assert_int_equal(0, pthread_create(&thread, NULL, open_and_close, &seen));
    sleep_a_little();
    *(uint32_t *)mine.data = 12;
    close_it(&mine);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_status(DYNSEL_OK, opened);
    assert_int_equal(12, seen);
    end_with(DYNSEL_OK);
}

static void *close_later(void *argument)
{
    sleep_a_little();
    opened = dynsel_host_accessor_close(argument);
    return NULL;
}

/* Opened here and closed elsewhere, while this thread waits with a bound. */
static void host_accessor_may_be_closed_by_other_thread(void **state)
{
    (void)state;
    pthread_t thread;
    job writes = CHANGES(1, a);
    dynsel_submission submission;
    dynsel_host_accessor mine;
    open_as(&mine, a, DYNSEL_ACCESS_READ);
    send(0, &writes, &submission);
    assert_int_equal(0, pthread_create(&thread, NULL, close_later, &mine));
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_status(DYNSEL_OK, opened);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    end_with(DYNSEL_OK);
}

static dynsel_host_accessor left_open;

static void *open_and_leave(void *unused)
{
    (void)unused;
    opened = dynsel_host_accessor_open(&left_open, a, DYNSEL_ACCESS_READ_WRITE);
    return NULL;
}

static void *try_to_open(void *unused)
{
    dynsel_host_accessor mine = {.data = NULL};
    (void)unused;
    opened = dynsel_host_accessor_open_for(&mine, a, DYNSEL_ACCESS_READ, NS_PER_MS);
    if (opened == DYNSEL_OK) {
        opened = dynsel_host_accessor_close(&mine);
    }
    return NULL;
}

static void run_in_thread(void *(*function)(void *))
{
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, function, NULL));
    assert_int_equal(0, pthread_join(thread, NULL));
}

/* It stays open, and is nobody's: a thread that has the place of the one that ended is not told
 * that it has it open itself. Any thread may close it. */
static void host_accessor_of_ended_thread_stays_open(void **state)
{
    (void)state;
    left_open = (dynsel_host_accessor){.data = NULL};
    run_in_thread(open_and_leave);
    assert_status(DYNSEL_OK, opened);
    for (unsigned i = 0; i < 3; i++) {
        run_in_thread(try_to_open);
        assert_status(DYNSEL_E_TIMEOUT, opened);
    }
    close_it(&left_open);
    run_in_thread(try_to_open);
    assert_status(DYNSEL_OK, opened);
    end_with(DYNSEL_OK);
}

static job behind;

/* Comes while another thread waits to open an accessor, if that is slow enough. */
static void *send_behind(void *argument)
{
    for (unsigned i = 0; i < 1000 && dynsel_get_in_flight_statistics().in_use < 2; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS / 100}, NULL);
    }
    send(1, &behind, argument);
    return NULL;
}

/* It keeps its place as long as that counts on it, and what was wrong before is wrong behind it. */
static void work_behind_timed_out_open_keeps_place_and_fails_with_cause(void **state)
{
    (void)state;
    pthread_t thread;
    job fails = CHANGES(1, a);
    fails.returns = DYNSEL_E_USER;
    dynsel_submission submissions[2];
    dynsel_host_accessor mine = {.data = NULL};
    behind = (job)CHANGES(2, a);
    send(0, &fails, &submissions[0]);
    atomic_store(&manual.wait_completes, false);
    assert_int_equal(0, pthread_create(&thread, NULL, send_behind, &submissions[1]));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_host_accessor_open_for(
                                        &mine, a, DYNSEL_ACCESS_READ_WRITE, 30ULL * NS_PER_MS));
    assert_int_equal(0, pthread_join(thread, NULL));
    atomic_store(&manual.wait_completes, true);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[1]));
    assert_runs(0, &behind);
    assert_status(DYNSEL_E_USER, dynsel_wait(&submissions[0]));
    end_with(DYNSEL_E_DEPENDENCY);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(open_host_accessor_points_to_data),
        TEST_SET_UP(host_accessor_open_waits_for_writers),
        TEST_SET_UP(host_accessor_open_to_write_waits_for_readers),
        TEST_SET_UP(host_accessor_open_ignores_other_buffers),
        TEST_SET_UP(host_accessor_open_to_read_blocks_writers),
        TEST_SET_UP(host_accessor_open_to_write_blocks_readers_and_writers),
        TEST_SET_UP(next_call_after_close_starts_blocked_work),
        TEST_SET_UP(buffer_deinit_during_host_access_is_busy),
        TEST_SET_UP(host_accessor_takes_slot_only_while_open),
        TEST_SET_UP(second_open_by_same_thread_is_busy),
        TEST_SET_UP(wait_for_work_blocked_by_own_host_accessor_is_busy),
        TEST_SET_UP(submit_and_wait_blocked_by_own_host_accessor_leaks_no_slot),
        TEST_SET_UP(timed_out_open_leaves_no_trace),
        TEST_SET_UP(timed_out_opens_use_no_slots),
        TEST_SET_UP(timed_out_open_blocks_no_later_work),
        TEST_SET_UP(timed_out_open_keeps_order_of_work),
        TEST_SET_UP(timed_out_open_passes_earlier_failure_on),
        TEST_SET_UP(host_accessor_open_reports_failure_until_discard),
        TEST_SET_UP(host_accessor_in_task_function_may_only_be_closed),
        TEST_SET_UP(wrong_host_accessor_calls_are_refused),
        TEST_SET_UP(host_accessor_open_with_full_reader_table_is_refused),
#if CONFIG_DYNSEL_CONTEXT_THREADS
        TEST_SET_UP(host_accessor_open_waits_for_close_by_other_thread),
        TEST_SET_UP(host_accessor_may_be_closed_by_other_thread),
        TEST_SET_UP(host_accessor_of_ended_thread_stays_open),
        TEST_SET_UP(work_behind_timed_out_open_keeps_place_and_fails_with_cause),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
