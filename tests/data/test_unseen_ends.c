/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffer ends behind its last work, although the library has not seen the ends of all work before
 * that: the devices 0, 1 and 2 share a domain, where work comes behind that of another queue by its
 * event, and nobody waits for the earlier work.
 */
#include "data/pair.h"

#include <stdatomic.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS
#include <pthread.h>
#include <sched.h>
#endif

enum { FIRST, SECOND, BESIDE, SHARERS };

/* The backend of the devices, but for what the tests change in it. */
static dynsel_backend_ops ops;
static const dynsel_backend_ops *simulated_ops;

/* Both know the device of the work. */
typedef dynsel_status (*ask)(dynsel_backend *backend, const dynsel_work *work);

static void begin_domain(ask poll, ask wait)
{
    begin(false);
    simulated_ops = sim.backend.ops;
    ops = *simulated_ops;
    ops.poll = poll != NULL ? poll : ops.poll;
    ops.wait = wait != NULL ? wait : ops.wait;
    sim.backend.ops = &ops;
    for (unsigned i = 0; i < SHARERS; i++) {
        sim.devices[i].domain = sim.devices[FIRST].domain;
        sim.devices[i].in_order = false;
        place_is_another(i);
    }
    run_on(FIRST, add_to(a, 0)); /* work that copied data in would be waited for by the next */
    run_on(BESIDE, add_to(b, 0));
    for (unsigned i = 0; i < SHARERS; i++) {
        sim.devices[i].pace = SIMULATED_BY_HAND;
    }
}

static bool is_on(const dynsel_work *work, unsigned place)
{
    return work->own == &sim.devices[place];
}

static void step_all(unsigned place)
{
    while (simulated_step(&sim, place)) {
    }
}

/* All of a, on two queues; only the later work is waited for. */
static void change_twice(void)
{
    dynsel_submission later;
    send_to(FIRST, add_to(a, 1), NULL);
    send_to(SECOND, add_to(a, 2), &later);
    step_all(FIRST);
    step_all(SECOND);
    assert_status(DYNSEL_OK, dynsel_wait(&later));
}

static void hurry(unsigned place)
{
    sim.devices[place].pace = SIMULATED_AT_ONCE;
}

static void end_a(void)
{
    hurry(FIRST);
    hurry(SECOND);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_int_equal(3, numbers[0]);
    assert_int_equal(ELEMENTS + 2, numbers[ELEMENTS - 1]);
}

static void end_b(void)
{
    places_hurry();
    for (unsigned i = 0; i < SHARERS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&places[i].policy)));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
}

/* The earlier work on a has ended, but is behind work on b that goes on. */
static void buffer_ends_behind_running_work_on_other_buffer(void **state)
{
    (void)state;
    begin_domain(NULL, NULL);
    send_to(BESIDE, add_to(b, 1), NULL);
    send_to(FIRST, add_to(b, 1), NULL);
    change_twice();
    end_a();
    assert_int_equal(3, dynsel_get_in_flight_statistics().in_use); /* it is over, in its place */
    end_b();
}

/* An answer that is on its way, as from another rank. */
static atomic_bool has_answered;

static dynsel_status poll_before_answer(dynsel_backend *backend, const dynsel_work *work)
{
    return is_on(work, FIRST) && !atomic_load(&has_answered) ? DYNSEL_E_AGAIN
                                                             : simulated_ops->poll(backend, work);
}

static dynsel_status wait_for_answer(dynsel_backend *backend, const dynsel_work *work)
{
    if (is_on(work, FIRST)) {
        atomic_store(&has_answered, true);
    }
    return simulated_ops->wait(backend, work);
}

static void buffer_ends_where_earlier_end_is_told_late(void **state)
{
    (void)state;
    atomic_store(&has_answered, false);
    begin_domain(poll_before_answer, wait_for_answer);
    change_twice();
    end_a();
    assert_true(atomic_load(&has_answered));
    end_b();
}

/* The later work fails at once, whatever it depends on. */
static dynsel_status fail_early(dynsel_backend *backend, const dynsel_work *work)
{
    return is_on(work, SECOND)
               ? dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_TASK, .function = "early"})
               : simulated_ops->poll(backend, work);
}

static dynsel_status wait_in_vain(dynsel_backend *backend, const dynsel_work *work)
{
    return is_on(work, SECOND) ? fail_early(backend, work) : simulated_ops->wait(backend, work);
}

static void buffer_with_running_work_before_failed_work_is_busy(void **state)
{
    (void)state;
    dynsel_submission later;
    begin_domain(fail_early, wait_in_vain);
    send_to(FIRST, add_to(a, 1), NULL);
    send_to(SECOND, add_to(a, 2), &later);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&later));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_discard(&a));
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&a));
    places_hurry();
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&a));
    assert_int_equal(0, a.token);
    end_b();
}

#if CONFIG_DYNSEL_CONTEXT_THREADS

static pthread_t ender;
static atomic_bool is_looking;
static atomic_bool goes_on;

/* Stops a thread that looks at all queues, in the middle of that. */
static dynsel_status stop_in_poll(dynsel_backend *backend, const dynsel_work *work)
{
    while (is_on(work, FIRST) && !pthread_equal(pthread_self(), ender) && !atomic_load(&goes_on)) {
        atomic_store(&is_looking, true);
        (void)sched_yield();
    }
    return simulated_ops->poll(backend, work);
}

static dynsel_status let_go_on(dynsel_backend *backend, const dynsel_work *work)
{
    if (is_on(work, FIRST)) {
        atomic_store(&goes_on, true);
    }
    return simulated_ops->wait(backend, work);
}

static void *look(void *args)
{
    dynsel_progress();
    return args;
}

static void buffer_ends_while_another_thread_sees_earlier_end(void **state)
{
    pthread_t thread;
    (void)state;
    atomic_store(&is_looking, false);
    atomic_store(&goes_on, false);
    ender = pthread_self();
    begin_domain(NULL, let_go_on);
    change_twice();
    hurry(FIRST);
    hurry(SECOND);
    ops.poll = stop_in_poll;
    assert_int_equal(0, pthread_create(&thread, NULL, look, NULL));
    while (!atomic_load(&is_looking)) {
        (void)sched_yield();
    }
    const dynsel_status status = dynsel_buffer_deinit(&a);
    atomic_store(&goes_on, true);
    assert_int_equal(0, pthread_join(thread, NULL));
    assert_status(DYNSEL_OK, status);
    assert_int_equal(3, numbers[0]);
    end_b();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_ends_behind_running_work_on_other_buffer),
        cmocka_unit_test(buffer_ends_where_earlier_end_is_told_late),
        cmocka_unit_test(buffer_with_running_work_before_failed_work_is_busy),
#if CONFIG_DYNSEL_CONTEXT_THREADS
        cmocka_unit_test(buffer_ends_while_another_thread_sees_earlier_end),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
