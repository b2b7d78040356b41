/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion by dynsel_complete(): from any context, at any time, once; the status of the work, and
 * its time.
 */
#define _XOPEN_SOURCE 700

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "random.h"
#include "room.h"
#include "support/signals.h"
#include "test.h"

enum { SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT, NO_TIME = 0 };

/* What one piece of work does when it is started. */
typedef struct plan {
    dynsel_status returns; /* of the task function */
    dynsel_status ends_in;
    uint64_t ready_ns;
    uint64_t end_ns;
    bool marked_in_start;
    bool marked_by_thread; /* in start, by another thread */
    bool began;
    bool untimed;   /* the policy does not request its time */
    uint32_t token; /* out */
} plan;

typedef struct record {
    unsigned submissions, completions, times;
    uint64_t last_time;
} record;

static dynsel_policy policy;
static record heard;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const plan *p = args;
    (void)where;
    done->value = 4711;
    return p->returns;
}

static dynsel_status mark(const plan *p)
{
    return dynsel_complete(p->token, p->ends_in, p->end_ns);
}

static void *mark_in_thread(void *argument)
{
    return mark(argument) == DYNSEL_OK ? argument : NULL;
}

/* Another thread marks it; true when that worked. */
static bool mark_elsewhere(plan *p)
{
    pthread_t thread;
    void *result = NULL;
    assert_int_equal(pthread_create(&thread, NULL, mark_in_thread, p), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return result == p;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    plan *p = work->args;
    (void)backend;
    p->token = work->token;
    dynsel_work_call(work);
    if (p->ready_ns != 0) {
        work->ready_ns = p->ready_ns;
    }
    work->began = p->began;
    if (p->marked_in_start) {
        assert_status(DYNSEL_OK, mark(p));
    } else if (p->marked_by_thread) {
        assert_true(mark_elsewhere(p));
    }
    return DYNSEL_OK;
}

enum { ALL = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME };

static const dynsel_backend_ops marking_ops = {.name = "marking",
                                               .reports = ALL,
                                               .outlives_submit = true,
                                               .marks_completion = true,
                                               .start = start};
static dynsel_backend marking = {&marking_ops};

static dynsel_status choose_first(dynsel_policy *base, const dynsel_task *task,
                                  dynsel_selection *selection)
{
    (void)base;
    selection->index = 0;
    if (task->function == run && ((const plan *)task->args)->untimed) {
        selection->wants &= (uint8_t)~DYNSEL_TASK_TIME;
    }
    return DYNSEL_OK;
}

static void listen(dynsel_policy *base, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    (void)base;
    (void)selection;
    heard.submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    heard.completions += info == DYNSEL_TASK_COMPLETION ? 1 : 0;
    if (info == DYNSEL_TASK_TIME) {
        heard.times++;
        heard.last_time = value;
    }
}

static const dynsel_policy_ops listening = {
    .name = "listening", .needs = ALL, .try_select = choose_first, .report = listen};

static void init_with(dynsel_backend *backend)
{
    const dynsel_resource resource = {.backend = backend};
    heard = (record){0};
    policy = (dynsel_policy){0};
    assert_status(DYNSEL_OK,
                  dynsel_policy_init(&policy, &listening,
                                     &(dynsel_options){.resources = &resource, .count = 1}));
}

static void init(void)
{
    init_with(&marking);
}

static void submit(plan *p, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &DYNSEL_TASK(run, p), submission));
}

static dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy));
}

/* Everything that was submitted was reported, and nothing is left. */
static void finish(unsigned submitted)
{
    assert_int_equal(heard.submissions, submitted);
    assert_int_equal(heard.completions, submitted);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void completion_before_start_returns_is_accepted(void **state)
{
    plan at_once = {.marked_in_start = true};
    plan by_thread = {.marked_by_thread = true, .ends_in = DYNSEL_E_TASK};
    dynsel_submission submission;
    (void)state;
    init();
    submit(&at_once, &submission);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    submit(&by_thread, &submission);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    submit(&at_once, NULL);
    assert_status(DYNSEL_OK, wait_group());
    finish(3);
}

static void *mark_soon(void *argument)
{
    for (unsigned i = 0; i < 100; i++) {
        sched_yield(); /* so that the other thread sleeps, or nearly */
    }
    return mark_in_thread(argument);
}

static void completion_during_wait_ends_wait(void **state)
{
    NEEDS(CONFIG_DYNSEL_CONTEXT_THREADS);
    enum { TIMES = 200 };
    (void)state;
    init();
    for (unsigned i = 0; i < TIMES; i++) {
        plan p = {.ends_in = i % 2 == 0 ? DYNSEL_OK : DYNSEL_E_USER};
        dynsel_submission submission;
        pthread_t thread;
        void *marked = NULL;
        submit(&p, &submission);
        assert_int_equal(pthread_create(&thread, NULL, mark_soon, &p), 0);
        assert_status(p.ends_in, dynsel_wait(&submission));
        assert_int_equal(pthread_join(thread, &marked), 0);
        assert_ptr_equal(marked, &p);
    }
    finish(TIMES);
}

static _Atomic uint64_t marked_at;

static void *mark_a_sleeper(void *argument)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    atomic_store(&marked_at, dynsel_now_ns());
    return mark_in_thread(argument);
}

/* Without being woken, the sleeper would look again after 10 ms, 8 ms after the mark. The shortest
 * of several counts, because the machine may be busy. */
static void completion_wakes_sleeping_waiter(void **state)
{
    NEEDS(CONFIG_DYNSEL_CONTEXT_THREADS);
    enum { TRIES = 20, SOON_NS = 4000000 };
    uint64_t shortest = UINT64_MAX;
    unsigned tries = 0;
    (void)state;
    init();
    for (; tries < TRIES && shortest > SOON_NS; tries++) {
        plan p = {.ends_in = DYNSEL_OK};
        dynsel_submission submission;
        pthread_t thread;
        submit(&p, &submission);
        assert_int_equal(pthread_create(&thread, NULL, mark_a_sleeper, &p), 0);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        const uint64_t late = dynsel_now_ns() - atomic_load(&marked_at);
        shortest = late < shortest ? late : shortest;
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_in_range(shortest, 0, SOON_NS);
    finish(tries);
}

static void first_completion_wins(void **state)
{
    plan p = {.ends_in = DYNSEL_E_TASK, .ready_ns = 100, .end_ns = 300};
    dynsel_submission submission;
    (void)state;
    init();
    submit(&p, &submission);
    assert_status(DYNSEL_OK, mark(&p));
    assert_status(DYNSEL_E_STALE, mark(&p));
    assert_status(DYNSEL_E_STALE, dynsel_complete(p.token, DYNSEL_OK, 900));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, mark(&p));
    finish(1);
}

static void completion_leaves_last_error_unchanged(void **state)
{
    plan p = {.ends_in = DYNSEL_OK};
    dynsel_submission submission;
    (void)state;
    init();
    submit(&p, &submission);
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_USER, .code = 5});
    assert_status(DYNSEL_OK, mark(&p));
    assert_status(DYNSEL_E_STALE, mark(&p));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_USER);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    finish(1);
}

static uint32_t slot_of(uint32_t token)
{
    return token & 0x1fff; /* below it the table cannot be larger: 4096 slots */
}

static void token_of_earlier_slot_use_is_stale(void **state)
{
    plan old = {.ends_in = DYNSEL_E_TASK, .marked_in_start = true};
    plan later = {.ends_in = DYNSEL_OK};
    dynsel_submission submission;
    unsigned submitted = 1;
    (void)state;
    init();
    submit(&old, &submission);
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    do {
        submit(&later, &submission);
        submitted++;
        assert_status(DYNSEL_E_STALE, mark(&old));
        assert_int_equal(heard.completions, submitted - 1);
        assert_status(DYNSEL_OK, mark(&later));
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    } while (slot_of(later.token) != slot_of(old.token) && submitted <= SLOTS + 1);
    assert_int_equal(slot_of(later.token), slot_of(old.token));
    assert_int_not_equal(later.token, old.token);
    finish(submitted);
}

static void invalid_tokens_are_stale(void **state)
{
    enum { TRIES = 200000 };
    plan p = {.ends_in = DYNSEL_OK};
    dynsel_submission submission;
    test_random random = {test_seed()};
    (void)state;
    init();
    submit(&p, &submission);
    const uint32_t some[] = {
        p.token + 1,        p.token - 1, ~p.token, UINT32_MAX, p.token ^ 1u << 13,
        p.token ^ 1u << 31, SLOTS + 1u,  4096,     8191};
    for (unsigned i = 0; i < sizeof some / sizeof some[0]; i++) {
        assert_status(DYNSEL_E_STALE, dynsel_complete(some[i], DYNSEL_E_USER, 1));
    }
    /* of every generation that a slot behind the last one could be in */
    for (uint32_t generation = 0; SLOTS < 8192 && generation < 1u << 19; generation++) {
        const uint32_t token = generation << 13 | SLOTS;
        assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_E_USER, 1));
    }
    for (unsigned i = 0; i < TRIES; i++) {
        const uint32_t token = test_random_next(&random);
        if (token != p.token) {
            assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_E_USER, 1));
        }
    }
    assert_int_equal(heard.completions, 0);
    assert_status(DYNSEL_OK, mark(&p));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    finish(1);
}

static void completion_with_failure_reaches_wait_and_group(void **state)
{
    plan failed_function = {.returns = DYNSEL_E_USER, .ends_in = DYNSEL_E_DEVICE};
    plan failed_device = {.ends_in = DYNSEL_E_DEVICE};
    dynsel_submission submission;
    (void)state;
    init();
    submit(&failed_function, &submission);
    assert_status(DYNSEL_OK, mark(&failed_function));
    assert_status(DYNSEL_E_USER, dynsel_wait(&submission));
    submit(&failed_device, NULL);
    assert_status(DYNSEL_OK, mark(&failed_device));
    assert_status(DYNSEL_E_DEVICE, wait_group());
    assert_int_equal(heard.times, 0);
    finish(2);
}

static void failed_completions_take_resource_out_of_service(void **state)
{
    NEEDS(CONFIG_DYNSEL_MAX_FAILURES > 0 && CONFIG_DYNSEL_MAX_FAILURES <= 100);
    plan p = {.marked_in_start = true, .ends_in = DYNSEL_E_DEVICE};
    (void)state;
    init();
    for (int i = 0; i < CONFIG_DYNSEL_MAX_FAILURES; i++) {
        assert_status(DYNSEL_OK, dynsel_resource_in_service(&policy, 0));
        submit(&p, NULL);
        assert_status(DYNSEL_E_DEVICE, wait_group());
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy, 0));
    finish(CONFIG_DYNSEL_MAX_FAILURES);
}

static void event_of_task_is_visible_after_completion(void **state)
{
    plan p = {.ends_in = DYNSEL_OK};
    dynsel_submission submission;
    dynsel_event done;
    (void)state;
    init();
    submit(&p, &submission);
    memset(&done, 0xff, sizeof done);
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_null(done.native);
    assert_int_equal(done.value, 0);
    assert_status(DYNSEL_OK, mark(&p));
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_int_equal(done.value, 4711);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    finish(1);
}

/* Runs the pieces of work, all submitted before the first is marked; checks the time of each. */
static void check_times(plan *plans, const uint64_t *expected, unsigned count)
{
    dynsel_submission submissions[8];
    init();
    for (unsigned i = 0; i < count; i++) {
        submit(&plans[i], &submissions[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        const unsigned before = heard.times;
        assert_status(DYNSEL_OK, mark(&plans[i]));
        const dynsel_status status =
            plans[i].returns != DYNSEL_OK ? plans[i].returns : plans[i].ends_in;
        assert_status(status, dynsel_wait(&submissions[i]));
        assert_int_equal(heard.times - before, expected[i] != NO_TIME ? 1 : 0);
        if (expected[i] != NO_TIME) {
            assert_int_equal(heard.last_time, expected[i]);
        }
    }
    finish(count);
}

static void task_time_excludes_queueing(void **state)
{
    NEEDS(SLOTS >= 4);
    plan plans[] = {
        {.ready_ns = 1000, .end_ns = 1500},
        {.ready_ns = 1100, .end_ns = 1900},                /* could begin at 1500 */
        {.ready_ns = 2000, .end_ns = 2100},                /* was not there yet at 1900 */
        {.ready_ns = 1200, .end_ns = 2130, .began = true}, /* says itself when it began */
    };
    (void)state;
    check_times(plans, (const uint64_t[]){500, 400, 100, 930}, 4);
}

static void unknown_end_time_gives_no_task_time(void **state)
{
    NEEDS(SLOTS >= 5);
    plan plans[] = {
        {.ready_ns = 1000, .end_ns = 0},
        {.ready_ns = 1000, .end_ns = 2000}, /* nobody knows when it could begin */
        {.ready_ns = 1000, .end_ns = 2500},
        {.ready_ns = 1000, .end_ns = 0},
        {.ready_ns = 2600, .end_ns = 2900, .began = true},
    };
    (void)state;
    check_times(plans, (const uint64_t[]){NO_TIME, NO_TIME, 500, NO_TIME, 300}, 5);
}

static void marked_end_of_untimed_work_ends_queueing(void **state)
{
    NEEDS(SLOTS >= 5);
    plan plans[] = {
        {.end_ns = 1500, .untimed = true},
        {.ready_ns = 1100, .end_ns = 1900},
        {.end_ns = 0, .untimed = true},
        {.ready_ns = 1100, .end_ns = 2900}, /* nobody knows when it could begin */
        {.ready_ns = 1100, .end_ns = 3000},
    };
    (void)state;
    check_times(plans, (const uint64_t[]){NO_TIME, 400, NO_TIME, NO_TIME, 100}, 5);
}

static void failed_work_gives_no_task_time_but_ends_queueing(void **state)
{
    NEEDS(SLOTS >= 3);
    plan plans[] = {
        {.ready_ns = 1000, .end_ns = 1500, .ends_in = DYNSEL_E_TASK},
        {.ready_ns = 1000, .end_ns = 1900},
        {.ready_ns = 1000, .end_ns = 2000, .returns = DYNSEL_E_TASK},
    };
    (void)state;
    check_times(plans, (const uint64_t[]){NO_TIME, 400, NO_TIME}, 3);
}

static void stopped_clock_gives_minimal_task_time(void **state)
{
    NEEDS(SLOTS >= 2);
    plan plans[] = {{.ready_ns = 1000, .end_ns = 1000}, {.ready_ns = 1000, .end_ns = 900}};
    (void)state;
    check_times(plans, (const uint64_t[]){1, 1}, 2);
}

/* Backends that can be asked as well. */
static dynsel_status asked_says;

static dynsel_status ask(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    (void)work;
    return asked_says;
}

static void give_back(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    work->done.native = NULL;
}

static dynsel_status start_with_event(dynsel_backend *backend, dynsel_work *work)
{
    const dynsel_status status = start(backend, work);
    work->done.native = work->args;
    return status;
}

static void wait_status_overrides_status_of_completion(void **state)
{
    static const dynsel_backend_ops ops = {.name = "asked",
                                           .reports = ALL,
                                           .outlives_submit = true,
                                           .marks_completion = true,
                                           .poll_synchronizes = true,
                                           .start = start,
                                           .poll = ask,
                                           .wait = ask,
                                           .release = give_back};
    dynsel_backend asked = {&ops};
    plan p = {.ends_in = DYNSEL_OK, .ready_ns = 10, .end_ns = 30};
    (void)state;
    init_with(&asked);
    asked_says = DYNSEL_E_TASK;
    submit(&p, NULL);
    assert_status(DYNSEL_OK, mark(&p));
    assert_status(DYNSEL_E_TASK, wait_group());
    asked_says = DYNSEL_OK;
    p.end_ns = 45;
    submit(&p, NULL);
    assert_status(DYNSEL_OK, mark(&p));
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(heard.times, 1);
    assert_int_equal(heard.last_time, 15);
    finish(2);
}

/* As the OpenCL backend: the mark only says when, and may come late or never. */
static void completion_beside_events_gives_end_time_only(void **state)
{
    static const dynsel_backend_ops ops = {.name = "events",
                                           .reports = ALL,
                                           .outlives_submit = true,
                                           .poll_synchronizes = true,
                                           .start = start_with_event,
                                           .poll = ask,
                                           .wait = ask,
                                           .release = give_back};
    dynsel_backend events = {&ops};
    plan marked = {.ready_ns = 10, .end_ns = 30};
    plan unmarked = {.end_ns = 0};
    (void)state;
    init_with(&events);
    asked_says = DYNSEL_E_AGAIN;
    submit(&marked, NULL);
    assert_status(DYNSEL_OK, mark(&marked));
    asked_says = DYNSEL_OK;
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(heard.last_time, 20);
    submit(&unmarked, NULL);
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_E_STALE, mark(&unmarked));
    finish(2);
}

/* A signal stands in for the interrupt. */
static _Atomic uint32_t interrupt_token;
static atomic_bool interrupt_due;
static atomic_uint interrupts;

static void interrupt(int number)
{
    (void)number;
    if (atomic_exchange(&interrupt_due, false)) {
        (void)dynsel_complete(atomic_load(&interrupt_token), DYNSEL_OK, dynsel_now_ns());
        atomic_fetch_add(&interrupts, 1);
    }
}

static void completion_from_interrupt_ends_wait(void **state)
{
    plan p = {.ready_ns = 1};
    dynsel_submission submission;
    (void)state;
    use_signal(SIGUSR1, interrupt);
    init();
    submit(&p, &submission);
    atomic_store(&interrupt_token, p.token);
    atomic_store(&interrupt_due, true);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(heard.times, 1);
    use_signal(SIGUSR1, SIG_DFL);
    finish(1);
}

/* The interrupt comes in the thread that is on its way to sleep, sleeps, or wakes up. */
static void completion_from_interrupt_wakes_interrupted_thread(void **state)
{
    NEEDS(!CONFIG_DYNSEL_CONTEXT_NOTHING);
    enum { TIMES = 3000, PERIOD_US = 20 };
    (void)state;
    use_signal(SIGALRM, interrupt);
    init();
    set_timer(PERIOD_US);
    for (unsigned i = 0; i < TIMES; i++) {
        plan p = {.ready_ns = 1};
        dynsel_submission submission;
        submit(&p, &submission);
        atomic_store(&interrupt_token, p.token);
        atomic_store(&interrupt_due, true);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    set_timer(0);
    use_signal(SIGALRM, SIG_DFL);
    finish(TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completion_before_start_returns_is_accepted),
        cmocka_unit_test(completion_during_wait_ends_wait),
        cmocka_unit_test(completion_wakes_sleeping_waiter),
        cmocka_unit_test(first_completion_wins),
        cmocka_unit_test(completion_leaves_last_error_unchanged),
        cmocka_unit_test(token_of_earlier_slot_use_is_stale),
        cmocka_unit_test(invalid_tokens_are_stale),
        cmocka_unit_test(completion_with_failure_reaches_wait_and_group),
        cmocka_unit_test(failed_completions_take_resource_out_of_service),
        cmocka_unit_test(event_of_task_is_visible_after_completion),
        cmocka_unit_test(task_time_excludes_queueing),
        cmocka_unit_test(unknown_end_time_gives_no_task_time),
        cmocka_unit_test(marked_end_of_untimed_work_ends_queueing),
        cmocka_unit_test(failed_work_gives_no_task_time_but_ends_queueing),
        cmocka_unit_test(stopped_clock_gives_minimal_task_time),
        cmocka_unit_test(wait_status_overrides_status_of_completion),
        cmocka_unit_test(completion_beside_events_gives_end_time_only),
        cmocka_unit_test(completion_from_interrupt_ends_wait),
        cmocka_unit_test(completion_from_interrupt_wakes_interrupted_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
