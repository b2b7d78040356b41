/* SPDX-License-Identifier: Apache-2.0 */
/* Workers: order, queues that are full, failures, stopping and starting. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "room.h"
#include "support/count_run.h"
#include "test.h"

enum {
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    QUEUE = CONFIG_DYNSEL_THREADS_QUEUE,
    WORKERS = WORKERS_UP_TO(4),
    MOST_RUNS = 20000
};

static dynsel_policy policy; /* chooses what `next` says */
static atomic_uint next;
static atomic_uint mistakes;
static pthread_t ran_in[MOST_RUNS]; /* by the number of the piece of work */
static unsigned order[MOST_RUNS];
static sem_t entered;
static sem_t door;
static uint64_t last_time;
static atomic_uint times;

static dynsel_status choose_next(dynsel_policy *base, const dynsel_task *task,
                                 dynsel_selection *selection)
{
    const unsigned first = atomic_load(&next);
    for (unsigned i = 0; i < base->count; i++) {
        selection->index = (first + i) % base->count;
        if (dynsel_policy_may_use(base, selection->index, task)) {
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(base, task);
}

static void hear_time(dynsel_policy *base, const dynsel_selection *selection,
                      dynsel_execution_info info, uint64_t value)
{
    (void)base;
    (void)selection;
    (void)info;
    last_time = value;
    atomic_fetch_add(&times, 1);
}

static const dynsel_policy_ops choosing = {.name = "choosing", .try_select = choose_next};
static const dynsel_policy_ops timing = {
    .name = "timing", .needs = DYNSEL_TASK_TIME, .try_select = choose_next, .report = hear_time};

static dynsel_status note_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const unsigned number = (unsigned)(uintptr_t)args;
    (void)where;
    ran_in[number] = pthread_self();
    order[atomic_fetch_add(&runs, 1)] = number;
    done->value = number + 1;
    return DYNSEL_OK;
}

static dynsel_status stand_at_door(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    (void)sem_post(&entered);
    while (sem_wait(&door) != 0) {
    }
    atomic_fetch_add(&runs, 1);
    return DYNSEL_OK;
}

static void await_entered(void)
{
    while (sem_wait(&entered) != 0) {
    }
}

static void open_door(void)
{
    assert_int_equal(sem_post(&door), 0);
}

static void sleep_ms(long ms)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static dynsel_task numbered(unsigned number)
{
    return (dynsel_task){.function = note_run, .args = (void *)(uintptr_t)number};
}

static dynsel_status submit(dynsel_task_fn function, dynsel_submission *submission)
{
    return dynsel_submit(&policy, &DYNSEL_TASK(function, NULL), submission);
}

static dynsel_status wait_group(void)
{
    return dynsel_wait_group(dynsel_get_submission_group(&policy));
}

/* The first `workers` workers behind `policy`, all other started too. */
static void init(unsigned workers)
{
    dynsel_resource resources[WORKERS];
    size_t count = 0;
    atomic_store(&runs, 0);
    atomic_store(&next, 0);
    atomic_store(&mistakes, 0);
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, WORKERS, &count));
    assert_int_equal(count, WORKERS);
    policy = (dynsel_policy){0};
    const dynsel_options options = {.resources = resources, .count = workers};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing, &options));
}

static void finish(void)
{
    assert_int_equal(atomic_load(&mistakes), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

static void workers_are_listed_as_resources(void **state)
{
    dynsel_resource resources[WORKERS];
    size_t count = 99;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_E_INVALID, dynsel_threads_resources(resources, WORKERS, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_threads_resources(NULL, 1, &count));
    assert_status(DYNSEL_OK, dynsel_threads_resources(NULL, 0, &count));
    assert_int_equal(count, WORKERS);
    if (WORKERS > 1) {
        assert_status(DYNSEL_E_FULL, dynsel_threads_resources(resources, WORKERS - 1, &count));
        assert_int_equal(count, WORKERS);
    }
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, WORKERS, &count));
    for (unsigned i = 0; i < WORKERS; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "worker %u", i);
        assert_string_equal(dynsel_resource_name(&resources[i]), name);
    }
    assert_string_equal(
        dynsel_resource_name(&(dynsel_resource){&dynsel_threads_backend, resources}), "threads");
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

static void stopped_or_invalid_workers_are_refused(void **state)
{
    dynsel_resource resources[WORKERS];
    size_t count = 0;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, WORKERS, &count));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    policy = (dynsel_policy){0};
    dynsel_resource wrong = {&dynsel_threads_backend, &count};
    const dynsel_options given = {.resources = &wrong, .count = 1};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&policy, &choosing, &given));
    assert_error_says("dynsel_threads_resources()");
    for (unsigned i = 1; i < WORKERS; i++) {
        wrong = resources[i];
        assert_status(DYNSEL_E_INVALID, dynsel_policy_init(&policy, &choosing, &given));
    }
    wrong = resources[0];
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing, &given));
    finish();
}

/* How many of the resources that a policy gets by default are workers, and that they follow the
 * host. */
static unsigned default_workers(dynsel_backend *backend)
{
    unsigned workers = 0;
    size_t count = 0;
    policy = (dynsel_policy){0};
    assert_status(DYNSEL_OK,
                  dynsel_policy_init(&policy, &choosing, &(dynsel_options){.backend = backend}));
    const dynsel_resource *resources = dynsel_get_resources(&policy, &count);
    for (size_t i = 0; i < count; i++) {
        workers += resources[i].backend == &dynsel_threads_backend ? 1 : 0;
    }
    if (workers > 0) {
        const size_t first = backend == NULL ? CONFIG_DYNSEL_BACKEND_INLINE : 0;
        assert_string_equal(dynsel_resource_name(&resources[first]), "worker 0");
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    return workers;
}

static void default_resources_include_started_workers_only(void **state)
{
    NEEDS(CONFIG_DYNSEL_BACKEND_INLINE);
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES > WORKERS);
    (void)state;
    assert_int_equal(default_workers(NULL), 0);
    assert_true(default_workers(&dynsel_threads_backend) > 0); /* starts them, for itself */
    assert_int_equal(default_workers(NULL), 0);
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_int_equal(default_workers(NULL), WORKERS);
    assert_int_equal(default_workers(&dynsel_threads_backend), WORKERS);
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_int_equal(default_workers(NULL), 0);
}

static void one_worker_keeps_submission_order(void **state)
{
    enum { COUNT = 500 };
    (void)state;
    init(1);
    for (unsigned i = 0; i < COUNT; i++) {
        const dynsel_task task = numbered(i);
        assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, NULL));
    }
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(atomic_load(&runs), COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(order[i], i);
        assert_true(pthread_equal(ran_in[i], ran_in[0]));
        assert_false(pthread_equal(ran_in[i], pthread_self()));
    }
    finish();
}

/* All must be inside at once before the first may leave. */
static void workers_run_concurrently(void **state)
{
    NEEDS(SLOTS >= WORKERS);
    (void)state;
    init(WORKERS);
    for (unsigned i = 0; i < WORKERS; i++) {
        atomic_store(&next, i);
        assert_status(DYNSEL_OK, submit(stand_at_door, NULL));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        await_entered();
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        open_door();
    }
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(atomic_load(&runs), WORKERS);
    finish();
}

/* One piece of work stands at the door, and the queue behind it is full. */
static void fill_worker(void)
{
    init(1);
    assert_status(DYNSEL_OK, submit(stand_at_door, NULL));
    await_entered();
    for (unsigned i = 0; i < QUEUE; i++) {
        assert_status(DYNSEL_OK, dynsel_try_submit(&policy, &DYNSEL_TASK(count_run, NULL), NULL));
    }
}

static void full_worker_queue_is_refused(void **state)
{
    NEEDS(SLOTS >= QUEUE + 2);
    dynsel_submission submission = {.policy = NULL};
    dynsel_selection selection;
    const dynsel_task task = DYNSEL_TASK(count_run, NULL);
    (void)state;
    fill_worker();
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&policy, &task, &submission));
    assert_error_says("CONFIG_DYNSEL_THREADS_QUEUE");
    assert_error_says("worker 0");
    assert_null(submission.policy);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_for(&policy, &task, &submission, 1000000));
    assert_status(DYNSEL_OK, dynsel_select(&policy, &task, &selection));
    assert_status(DYNSEL_E_AGAIN, dynsel_try_submit_selection(&selection, &task, NULL));
    open_door();
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_try_submit_selection(&selection, &task, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(atomic_load(&runs), QUEUE + 2);
    finish();
}

static void *open_later(void *unused)
{
    sleep_ms(5);
    (void)sem_post(&door);
    return unused;
}

static void check_waiting_for_room(bool with_selection)
{
    const dynsel_task task = DYNSEL_TASK(count_run, NULL);
    pthread_t opener;
    dynsel_selection selection;
    dynsel_submission submission;
    fill_worker();
    assert_status(DYNSEL_OK, dynsel_select(&policy, &task, &selection));
    assert_int_equal(pthread_create(&opener, NULL, open_later, NULL), 0);
    assert_status(DYNSEL_OK, with_selection
                                 ? dynsel_submit_selection(&selection, &task, &submission)
                                 : dynsel_submit(&policy, &task, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(pthread_join(opener, NULL), 0);
    assert_int_equal(atomic_load(&runs), QUEUE + 2);
    finish();
}

static void submit_waits_for_room_in_worker_queue(void **state)
{
    NEEDS(SLOTS >= QUEUE + 2);
    (void)state;
    check_waiting_for_room(false);
    check_waiting_for_room(true);
}

static dynsel_status fail_with_details(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return dynsel_fail(&(dynsel_error){
        .status = DYNSEL_E_TASK, .function = "read_sensor", .code = 42, .detail = "no sensor"});
}

static dynsel_status leave_event(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    done->native = where->handle;
    return DYNSEL_OK;
}

static dynsel_status leave_event_and_fail(const dynsel_resource *where, void *args,
                                          dynsel_event *done)
{
    (void)leave_event(where, args, done);
    return DYNSEL_E_USER - 7;
}

static void check_details(void)
{
    assert_error_code(42);
    assert_error_says("read_sensor");
    assert_error_says("no sensor");
}

static void worker_failures_reach_wait_and_group(void **state)
{
    dynsel_submission submission;
    (void)state;
    init(1);
    assert_status(DYNSEL_OK, submit(fail_with_details, &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    check_details();
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_USER});
    assert_status(DYNSEL_OK, submit(fail_with_details, NULL));
    assert_status(DYNSEL_E_TASK, wait_group());
    check_details();
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, submit(fail_with_details, &submission));
    assert_status(DYNSEL_OK, dynsel_submission_release(&submission));
    assert_status(DYNSEL_E_TASK, wait_group());
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_and_wait(&policy, &DYNSEL_TASK(leave_event, NULL)));
    assert_error_says("waits for none");
    assert_status(DYNSEL_E_USER - 7,
                  dynsel_submit_and_wait(&policy, &DYNSEL_TASK(leave_event_and_fail, NULL)));
    finish();
}

/* Nobody is to wait for what is not waited for here. */
static void event_from_worker_task_is_invalid(void **state)
{
    dynsel_submission submission;
    dynsel_event done = {.value = 99};
    (void)state;
    init(1);
    assert_status(DYNSEL_OK, submit(leave_event, &submission));
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &done));
    assert_null(done.native);
    assert_status(DYNSEL_E_INVALID, dynsel_wait(&submission));
    finish();
}

static void handles_of_worker_tasks_can_be_waited_for(void **state)
{
    NEEDS(SLOTS >= 2);
    dynsel_submission submission;
    dynsel_submission behind;
    dynsel_event done = {.value = 99};
    const dynsel_task task = numbered(5);
    (void)state;
    init(1);
    assert_status(DYNSEL_OK, submit(stand_at_door, &submission));
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, &behind));
    await_entered();
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&behind, &done));
    assert_int_equal(done.value, 0);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&behind, 2000000));
    open_door();
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    while (done.value == 0) {
        assert_status(DYNSEL_OK, dynsel_submission_unwrap(&behind, &done));
    }
    assert_int_equal(done.value, 6);
    assert_status(DYNSEL_OK, dynsel_wait(&behind));
    done.value = 0;
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&behind, &done));
    assert_int_equal(done.value, 6);
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, &behind));
    assert_status(DYNSEL_OK, dynsel_wait_and_unwrap(&behind, &done));
    assert_int_equal(done.value, 6);
    finish();
}

static dynsel_status nest(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    const dynsel_task inner = DYNSEL_TASK(count_run, NULL);
    if (dynsel_wait_group(*(dynsel_submission_group *)args) != DYNSEL_E_IN_TASK ||
        dynsel_submit_and_wait(&policy, &inner) != DYNSEL_E_IN_TASK) {
        atomic_fetch_add(&mistakes, 1);
    }
    return dynsel_submit(&policy, &inner, NULL);
}

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
static void cancelled_worker_task_never_runs(void **state)
{
    NEEDS(SLOTS >= 5 && QUEUE >= 4);
    dynsel_submission standing;
    dynsel_submission queued[4];
    (void)state;
    for (unsigned unwanted = 0; unwanted < 4; unwanted++) {
        init(1);
        assert_status(DYNSEL_OK, submit(stand_at_door, &standing));
        await_entered();
        for (unsigned i = 0; i < 4; i++) {
            const dynsel_task task = numbered(i);
            assert_status(DYNSEL_OK, dynsel_submit(&policy, &task, &queued[i]));
        }
        assert_status(DYNSEL_OK, dynsel_cancel(&queued[unwanted]));
        assert_status(DYNSEL_OK, dynsel_submission_poll(&queued[unwanted]));
        assert_status(DYNSEL_E_STALE, dynsel_cancel(&queued[unwanted]));
        assert_status(DYNSEL_E_BUSY, dynsel_cancel(&standing));
        assert_error_says("wait for it");
        open_door();
        assert_status(DYNSEL_OK, dynsel_wait(&standing));
        for (unsigned i = 0; i < 4; i++) {
            assert_status(i == unwanted ? DYNSEL_E_CANCELLED : DYNSEL_OK, dynsel_wait(&queued[i]));
            assert_status(DYNSEL_E_STALE, dynsel_cancel(&queued[i]));
        }
        assert_int_equal(atomic_load(&runs), 4);
        for (unsigned i = 0; i < 3; i++) {
            assert_int_equal(order[i + 1], i < unwanted ? i : i + 1);
        }
        finish();
    }
}
#endif

static void submit_in_worker_task_does_not_wait(void **state)
{
    NEEDS(SLOTS >= 2);
    dynsel_submission_group group = dynsel_get_submission_group(&policy);
    (void)state;
    init(1);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &DYNSEL_TASK(nest, &group)));
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(atomic_load(&runs), 1);
    finish();
}

static void threads_stop_with_work_in_flight_is_busy(void **state)
{
    NEEDS(SLOTS >= 2);
    (void)state;
    init(1);
    assert_status(DYNSEL_OK, submit(stand_at_door, NULL));
    assert_status(DYNSEL_OK, submit(count_run, NULL));
    await_entered();
    assert_status(DYNSEL_E_BUSY, dynsel_threads_stop());
    assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(&policy));
    open_door();
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(atomic_load(&runs), 2);
    assert_status(DYNSEL_E_BUSY, dynsel_threads_stop());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

/* As a policy would give it: work that no slot holds, still waiting when the workers end. */
static void threads_stop_completes_accepted_work(void **state)
{
    enum { COUNT = QUEUE < 8 ? QUEUE : 8 };
    dynsel_work works[COUNT];
    dynsel_resource resource[WORKERS];
    size_t count = 0;
    pthread_t opener;
    (void)state;
    atomic_store(&runs, 0);
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resource, WORKERS, &count));
    for (unsigned i = 0; i < COUNT; i++) {
        works[i] = (dynsel_work){.where = resource,
                                 .own = resource[0].handle,
                                 .function = i == 0 ? stand_at_door : count_run,
                                 .token = UINT32_MAX};
        const dynsel_backend_ops *ops = dynsel_threads_backend.ops;
        assert_status(DYNSEL_OK, ops->start(&dynsel_threads_backend, &works[i]));
    }
    await_entered();
    assert_int_equal(pthread_create(&opener, NULL, open_later, NULL), 0);
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_int_equal(atomic_load(&runs), COUNT);
    assert_int_equal(pthread_join(opener, NULL), 0);
}

static void threads_start_checks_worker_count(void **state)
{
    size_t count = 0;
    (void)state;
    assert_status(DYNSEL_E_FULL, dynsel_threads_start(CONFIG_DYNSEL_THREADS_WORKERS + 1));
    assert_error_says("CONFIG_DYNSEL_THREADS_WORKERS");
    assert_status(DYNSEL_OK, dynsel_threads_start(0));
    assert_status(DYNSEL_OK, dynsel_threads_start(0));
    assert_status(DYNSEL_OK, dynsel_threads_resources(NULL, 0, &count));
    assert_in_range(count, 1, CONFIG_DYNSEL_THREADS_WORKERS);
    assert_status(DYNSEL_OK, dynsel_threads_start(count));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_status(DYNSEL_OK, dynsel_threads_start(CONFIG_DYNSEL_THREADS_WORKERS));
    if (CONFIG_DYNSEL_THREADS_WORKERS > 1) {
        assert_status(DYNSEL_E_BUSY, dynsel_threads_start(1));
        assert_error_says("dynsel_threads_stop()");
    }
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

static dynsel_status look_at_signals(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    return pthread_sigmask(SIG_BLOCK, NULL, args) == 0 ? DYNSEL_OK : DYNSEL_E_TASK;
}

static void workers_block_signals(void **state)
{
    static sigset_t in_worker;
    sigset_t here;
    (void)state;
    init(1);
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&policy, &DYNSEL_TASK(look_at_signals, &in_worker)));
    assert_int_equal(1, sigismember(&in_worker, SIGUSR1));
    assert_int_equal(1, sigismember(&in_worker, SIGINT));
    assert_int_equal(0, pthread_sigmask(SIG_BLOCK, NULL, &here));
    assert_int_equal(0, sigismember(&here, SIGUSR1));
    finish();
}

static void workers_restart_repeatedly(void **state)
{
    enum { TIMES = 100, EACH = 20 };
    (void)state;
    for (unsigned i = 0; i < TIMES; i++) {
        init(WORKERS);
        for (unsigned k = 0; k < EACH; k++) {
            atomic_store(&next, k);
            assert_status(DYNSEL_OK, submit(count_run, NULL));
        }
        assert_status(DYNSEL_OK, wait_group());
        assert_int_equal(atomic_load(&runs), EACH);
        finish();
    }
}

/* Work of another policy that was in the worker first does not count. */
static uint64_t time_behind_another_policy(long wait_ms)
{
    static dynsel_policy timed;
    const dynsel_options same = {.resources = policy.resources, .count = 1};
    timed = (dynsel_policy){0};
    assert_status(DYNSEL_OK, dynsel_policy_init(&timed, &timing, &same));
    assert_status(DYNSEL_OK, submit(stand_at_door, NULL));
    await_entered();
    const unsigned before = atomic_load(&times);
    assert_status(DYNSEL_OK, dynsel_submit(&timed, &DYNSEL_TASK(count_run, NULL), NULL));
    sleep_ms(wait_ms);
    open_door();
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&timed)));
    assert_int_equal(atomic_load(&times) - before, 1);
    assert_status(DYNSEL_OK, dynsel_submit(&timed, &DYNSEL_TASK(fail_with_details, NULL), NULL));
    assert_status(DYNSEL_E_TASK, dynsel_wait_group(dynsel_get_submission_group(&timed)));
    assert_int_equal(atomic_load(&times) - before, 1);
    assert_status(DYNSEL_OK, wait_group());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&timed));
    return last_time;
}

/* Tried again, because a busy machine may hold up the function itself that long. */
static void task_time_on_worker_excludes_queueing(void **state)
{
    NEEDS(SLOTS >= 2);
    enum { WAIT_MS = 20, TRIES = 10 };
    const uint64_t wait_ns = (uint64_t)WAIT_MS * 1000000;
    uint64_t shortest = UINT64_MAX;
    (void)state;
    init(1);
    for (unsigned i = 0; i < TRIES && shortest >= wait_ns; i++) {
        shortest = time_behind_another_policy(WAIT_MS);
    }
    assert_in_range(shortest, 1, wait_ns - 1);
    finish();
}

/* As auto_tune, which times only some of the work: the first of each pair is not timed. */
static dynsel_status choose_and_time_some(dynsel_policy *base, const dynsel_task *task,
                                          dynsel_selection *selection)
{
    selection->wants = task->args != NULL ? DYNSEL_TASK_TIME : 0;
    return choose_next(base, task, selection);
}

static void task_time_behind_untimed_work_excludes_queueing(void **state)
{
    static const dynsel_policy_ops timing_some = {.name = "timing some",
                                                  .needs = DYNSEL_TASK_TIME,
                                                  .try_select = choose_and_time_some,
                                                  .report = hear_time};
    static int timed;
    dynsel_resource worker;
    size_t count = 0;
    (void)state;
    NEEDS(SLOTS >= 2);
    atomic_store(&times, 0);
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&worker, 1, &count));
    policy = (dynsel_policy){0};
    const dynsel_options options = {.resources = &worker, .count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &timing_some, &options));
    assert_status(DYNSEL_OK, submit(stand_at_door, NULL));
    assert_status(DYNSEL_OK, dynsel_submit(&policy, &DYNSEL_TASK(count_run, &timed), NULL));
    open_door();
    assert_status(DYNSEL_OK, wait_group());
    assert_int_equal(atomic_load(&times), 1);
    await_entered();
    finish();
}

#if CONFIG_DYNSEL_BACKEND_INLINE

static void task_with_worker_form_runs_on_worker(void **state)
{
    static const dynsel_task_form only_workers[] = {{&dynsel_threads_backend, count_run}};
    dynsel_resource resources[2] = {{&dynsel_inline_backend, NULL}};
    const dynsel_task task = {.forms = only_workers, .form_count = 1};
    size_t count = 0;
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    init(1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&resources[1], 1, &count));
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing, &options));
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&next, i);
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy, &task));
        assert_int_equal(atomic_load(&runs), i + 1);
    }
    const dynsel_options host = {.resources = resources, .count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &choosing, &host));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit(&policy, &task, NULL));
    finish();
}

#endif

static int make_semaphores(void **state)
{
    (void)state;
    return sem_init(&entered, 0, 0) != 0 || sem_init(&door, 0, 0) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_listed_as_resources),
        cmocka_unit_test(stopped_or_invalid_workers_are_refused),
        cmocka_unit_test(default_resources_include_started_workers_only),
        cmocka_unit_test(one_worker_keeps_submission_order),
        cmocka_unit_test(workers_run_concurrently),
        cmocka_unit_test(full_worker_queue_is_refused),
        cmocka_unit_test(submit_waits_for_room_in_worker_queue),
        cmocka_unit_test(worker_failures_reach_wait_and_group),
        cmocka_unit_test(event_from_worker_task_is_invalid),
        cmocka_unit_test(handles_of_worker_tasks_can_be_waited_for),
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
        cmocka_unit_test(cancelled_worker_task_never_runs),
#endif
        cmocka_unit_test(submit_in_worker_task_does_not_wait),
        cmocka_unit_test(threads_stop_with_work_in_flight_is_busy),
        cmocka_unit_test(threads_stop_completes_accepted_work),
        cmocka_unit_test(threads_start_checks_worker_count),
        cmocka_unit_test(workers_block_signals),
        cmocka_unit_test(workers_restart_repeatedly),
        cmocka_unit_test(task_time_on_worker_excludes_queueing),
        cmocka_unit_test(task_time_behind_untimed_work_excludes_queueing),
#if CONFIG_DYNSEL_BACKEND_INLINE
        cmocka_unit_test(task_with_worker_form_runs_on_worker),
#endif
    };
    return cmocka_run_group_tests(tests, make_semaphores, NULL);
}
