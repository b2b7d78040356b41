/* SPDX-License-Identifier: Apache-2.0 */
/* A child of fork() has none of the library's threads: what belongs to the parent is refused, and
 * policies of its own work. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#define _POSIX_C_SOURCE 200809L

#include "process/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "policy/traced.h"
#include "room.h"
#include "support/count_run.h"

static atomic_bool is_in_task;
static atomic_bool may_go_on;

static void wait_for(atomic_bool *what)
{
    while (!atomic_load(what)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

static dynsel_status block(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    atomic_store(&is_in_task, true);
    wait_for(&may_go_on);
    return DYNSEL_OK;
}

static const dynsel_task blocking = DYNSEL_TASK(block, NULL);
static const dynsel_task counting = DYNSEL_TASK(count_run, NULL);

static dynsel_round_robin_policy workers; /* of the parent */
static dynsel_submission submission;
static dynsel_selection selection;

static const dynsel_options on_workers = {.backend = &dynsel_threads_backend};

/* The only worker is in a task when the process forks. */
static int set_up(void **state)
{
    (void)state;
    atomic_store(&is_in_task, false);
    atomic_store(&may_go_on, false);
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&workers, &on_workers, 0));
    submission = (dynsel_submission){.policy = NULL};
    assert_status(DYNSEL_OK, dynsel_select(&workers.policy, &counting, &selection));
    assert_status(DYNSEL_OK, dynsel_submit(&workers.policy, &blocking, &submission));
    wait_for(&is_in_task);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    atomic_store(&may_go_on, true);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&workers.policy)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&workers.policy));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return 0;
}

static void use_policy_of_parent(void)
{
    dynsel_policy *const policy = &workers.policy;
    dynsel_selection other;
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit(policy, &counting, NULL));
    child_expects_text("initialize policies after fork()");
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_try_submit(policy, &counting, NULL));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit_for(policy, &counting, NULL, 1));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit_and_wait(policy, &counting));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_select(policy, &counting, &other));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit_selection(&selection, &counting, NULL));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit_selection_and_wait(&selection, &counting));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_wait_group(dynsel_get_submission_group(policy)));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_policy_deinit(policy));
    child_expects(dynsel_submission_resource(&submission) == NULL);
    child_expects_status(DYNSEL_E_STALE, dynsel_wait_for(&submission, 1));
    child_expects_status(DYNSEL_E_STALE, dynsel_wait(&submission));
    child_expects_text("belongs to the parent");
    child_expects_status(DYNSEL_E_STALE, dynsel_submission_release(&submission));
    child_expects_status(
        DYNSEL_OK, dynsel_wait_group(dynsel_get_backend_submission_group(&dynsel_threads_backend)));
    dynsel_progress();
}

static void policy_of_parent_in_child_is_refused(void **state)
{
    (void)state;
    assert_child_succeeds(use_policy_of_parent);
}

static void stop_workers_of_parent(void)
{
    child_expects_status(DYNSEL_OK, dynsel_threads_stop());
}

static void workers_of_parent_in_child_do_not_exist(void **state)
{
    (void)state;
    assert_child_succeeds(stop_workers_of_parent);
}

/* On workers of this process, in more pieces than there are slots. */
static void use_own_policy(void)
{
    static dynsel_round_robin_policy own;
    (void)memset(&own, 0, sizeof own);
    atomic_store(&runs, 0);
    child_expects_status(DYNSEL_OK, dynsel_round_robin_init(&own, &on_workers, 0));
    for (unsigned i = 0; i < 2 * CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        child_expects_status(DYNSEL_OK, dynsel_submit(&own.policy, &counting, NULL));
    }
    child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&own.policy, &counting));
    child_expects_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&own.policy)));
    child_expects(atomic_load(&runs) == 2 * CONFIG_DYNSEL_MAX_IN_FLIGHT + 1);
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
    child_expects_status(DYNSEL_OK, dynsel_threads_stop());
    child_expects(dynsel_invariants_hold(NULL));
}

static void own_policy_in_child_works(void **state)
{
    (void)state;
    assert_child_succeeds(use_own_policy);
}

/* Of slots, or the queue of the worker. */
static void fill_table(void)
{
    dynsel_status status = DYNSEL_OK;
    while (status == DYNSEL_OK) {
        status = dynsel_try_submit(&workers.policy, &counting, NULL);
    }
    assert_true(status == DYNSEL_E_FULL || status == DYNSEL_E_AGAIN);
}

static void work_of_parent_in_child_takes_no_slots(void **state)
{
    (void)state;
    fill_table();
    assert_child_succeeds(use_own_policy);
}

static void reuse_memory(void)
{
    (void)memset(&workers, 0, sizeof workers);
    child_expects_status(DYNSEL_OK, dynsel_round_robin_init(&workers, &on_workers, 0));
    child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&workers.policy, &counting));
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&workers.policy));
}

static void zeroed_policy_of_parent_can_be_initialized_in_child(void **state)
{
    (void)state;
    assert_child_succeeds(reuse_memory);
}

#if CONFIG_DYNSEL_CUSTOM_BACKENDS

/* A backend that counts no users, for policies that are zeroed without being ended. */
static dynsel_status start_nothing(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    return dynsel_complete(work->token, DYNSEL_OK, 0);
}

static const dynsel_backend_ops marked_ops = {.name = "marked",
                                              .reports =
                                                  DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                              .outlives_submit = true,
                                              .marks_completion = true,
                                              .poll_synchronizes = true,
                                              .start = start_nothing};
static dynsel_backend marked_backend = {&marked_ops};
static const dynsel_resource marked = {.backend = &marked_backend};
static const dynsel_options on_marked = {.resources = &marked, .count = 1};

static dynsel_fixed_resource_policy *leaving; /* in memory that goes */
static dynsel_fixed_resource_policy staying;

static void use_both(void)
{
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit(&leaving->policy, &counting, NULL));
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit(&staying.policy, &counting, NULL));
}

static void *page(size_t *bytes)
{
    *bytes = (sizeof *leaving / (size_t)sysconf(_SC_PAGESIZE) + 1) * (size_t)sysconf(_SC_PAGESIZE);
    void *const memory =
        mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}
#endif

/* One that was zeroed, and initialized again, is listed once. */
static void policies_that_were_ended_may_go_before_a_fork(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    size_t bytes = 0;
    leaving = page(&bytes);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(leaving, &on_marked, 0));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&staying, &on_marked, 0));
    (void)memset(leaving, 0, sizeof *leaving);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(leaving, &on_marked, 0));
    assert_child_succeeds(use_both);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&leaving->policy, &counting));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&leaving->policy));
    assert_int_equal(0, munmap(leaving, bytes));
    assert_child_succeeds(use_own_policy);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&staying.policy));
    assert_child_succeeds(use_own_policy);
#else
    skip();
#endif
}

static dynsel_fixed_resource_policy in_caller; /* of the parent; its work outlives no submit */

static void run_in_caller(void)
{
    atomic_store(&runs, 0);
    child_expects_status(DYNSEL_OK, dynsel_submit(&in_caller.policy, &counting, NULL));
    child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&in_caller.policy, &counting));
    child_expects(atomic_load(&runs) == 2);
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&in_caller.policy));
}

static const dynsel_resource the_host = {.backend = &dynsel_inline_backend};
static const dynsel_options on_host = {.resources = &the_host, .count = 1};

static void inline_policy_of_parent_works_in_child(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&in_caller, &on_host, 0));
    assert_child_succeeds(run_in_caller);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&in_caller.policy));
}

#if CONFIG_DYNSEL_TRACE_TO_RINGS
/* Another thread of the parent was naming the policy in the trace at the moment of the fork. */
static void policy_that_was_being_named_works_in_child(void **state)
{
    (void)state;
    static dynsel_trace_record records[1 << 12];
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&in_caller, &on_host, 0));
    assert_status(DYNSEL_OK, dynsel_trace_start(records, sizeof records / sizeof records[0]));
    in_caller.policy.trace_life.value = DYNSEL_TRACED_NAMED_NOW;
    assert_child_succeeds(run_in_caller);
    in_caller.policy.trace_life.value = 0;
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&in_caller.policy));
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && !CONFIG_DYNSEL_AUTO_TUNE_SMALL
static dynsel_auto_tune_policy tuner;

enum { TUNED_KINDS = CONFIG_DYNSEL_MAX_TUNED_TASKS };

static void submit_kinds(uint32_t first)
{
    for (uint32_t i = 0; i < TUNED_KINDS; i++) {
        const dynsel_task task = {.function = count_run, .id = first + i};
        child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&tuner.policy, &task));
    }
}

static void meet_new_kinds(void)
{
    static uint32_t tags[TUNED_KINDS];
    unsigned changed = 0;
    for (unsigned i = 0; i < TUNED_KINDS; i++) {
        tags[i] = tuner.tasks[i].tag.value;
    }
    for (unsigned i = 0; i < 64; i++) {
        submit_kinds(1 + TUNED_KINDS);
    }
    for (unsigned i = 0; i < TUNED_KINDS; i++) {
        changed += tags[i] != tuner.tasks[i].tag.value ? 1 : 0;
    }
    child_expects(changed != 0);
}

/* Another thread of the parent was giving a kind its entry. */
static void new_kinds_are_tuned_in_child(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuner, &on_host, DYNSEL_NEVER_RESAMPLE));
    submit_kinds(1);
    tuner.replacing.value = 1;
    assert_child_succeeds(meet_new_kinds);
    tuner.replacing.value = 0;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuner.policy));
}
#endif

static void fork_again(void)
{
    int status = 0;
    use_own_policy();
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(CHILD_PATIENCE_S);
        use_policy_of_parent();
        use_own_policy();
        _exit(EXIT_SUCCESS);
    }
    child_expects(waitpid(child, &status, 0) == child);
    child_expects(status == 0);
}

static void child_of_child_finds_the_same(void **state)
{
    (void)state;
    assert_child_succeeds(fork_again);
}

enum { FORKS = 100, THREADS = 3 };

static atomic_bool ends;

static atomic_uint mistakes;

static void expect_ok(dynsel_status status)
{
    if (status != DYNSEL_OK) {
        atomic_fetch_add(&mistakes, 1);
    }
}

static void *submit_all_the_time(void *unused)
{
    (void)unused;
    thread_has_started();
    while (!atomic_load(&ends)) {
        dynsel_round_robin_policy passing = {.policy = {.ops = NULL}};
        expect_ok(dynsel_round_robin_init(&passing, &on_workers, 0));
        expect_ok(dynsel_submit(&passing.policy, &counting, NULL));
        expect_ok(dynsel_submit_and_wait(&passing.policy, &counting));
        expect_ok(dynsel_wait_group(dynsel_get_submission_group(&passing.policy)));
        expect_ok(dynsel_policy_deinit(&passing.policy));
    }
    return NULL;
}

/* Holds the lock of the workers most of the time. */
static void *start_all_the_time(void *unused)
{
    (void)unused;
    thread_has_started();
    while (!atomic_load(&ends)) {
        expect_ok(dynsel_threads_start(1));
    }
    return NULL;
}

static void use_everything(void)
{
    use_own_policy();
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit(&workers.policy, &counting, NULL));
}

/* Locks of the library are held by other threads at the moment of some of the forks. */
static void child_of_busy_parent_does_not_hang(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_IN_FLIGHT > THREADS);
    pthread_t threads[THREADS];
    atomic_store(&ends, false);
    atomic_store(&may_go_on, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL,
                                        i == 0 ? start_all_the_time : submit_all_the_time, NULL),
                         0);
    }
    wait_for_starts(THREADS);
    for (int i = 0; i < FORKS; i++) {
        assert_child_succeeds(use_everything);
    }
    atomic_store(&ends, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&mistakes), 0);
}

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && CONFIG_DYNSEL_MAX_RESOURCES >= 2
static dynsel_auto_tune_policy tuned; /* of the parent; its work outlives no submit */

static void *tune_all_the_time(void *unused)
{
    (void)unused;
    thread_has_started();
    while (!atomic_load(&ends)) {
        expect_ok(dynsel_submit_and_wait(&tuned.policy, &counting));
    }
    return NULL;
}

static void tune_in_child(void)
{
    enum { RUNS = 10 };
    for (int i = 0; i < RUNS; i++) {
        child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&tuned.policy, &counting));
    }
}
#endif

/* All choices are measured, so that most forks find the lock of the measurements taken. */
static void child_of_parent_busy_with_tuning_does_not_hang(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && CONFIG_DYNSEL_MAX_RESOURCES >= 2
    static int names[2];
    const dynsel_resource hosts[] = {{&dynsel_inline_backend, &names[0]},
                                     {&dynsel_inline_backend, &names[1]}};
    pthread_t threads[THREADS];
    atomic_store(&ends, false);
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(
                                 &tuned, &(dynsel_options){.resources = hosts, .count = 2}, 0));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, tune_all_the_time, NULL), 0);
    }
    wait_for_starts(THREADS);
    for (int i = 0; i < FORKS; i++) {
        assert_child_succeeds(tune_in_child);
    }
    atomic_store(&ends, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&mistakes), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&tuned.policy));
#else
    skip();
#endif
}

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH && CONFIG_DYNSEL_EARLIEST_FINISH_KINDS >= 32 &&           \
    CONFIG_DYNSEL_MAX_RESOURCES >= 2
static dynsel_earliest_finish_policy finisher; /* of the parent; its work outlives no submit */

static uint32_t samples_of_entries(void)
{
    uint32_t samples = 0;
    for (unsigned k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
        for (unsigned i = 0; i < 2; i++) {
            samples += finisher.kinds[k].resources[i].samples.value;
        }
    }
    return samples;
}

static uint32_t entry_count(void)
{
    uint32_t count = 0;
    for (unsigned k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
        count += finisher.kinds[k].tag.value != 0 ? 1 : 0;
    }
    return count;
}

static void learn_in_child(void)
{
    enum { RUNS = 10 };
    const dynsel_task fresh = {.function = count_run, .id = 1};
    const uint32_t before = samples_of_entries();
    const uint32_t entries = entry_count();
    for (int i = 0; i < RUNS; i++) {
        child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&finisher.policy, &counting));
    }
    child_expects(samples_of_entries() > before);
    child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&finisher.policy, &fresh));
    child_expects(entry_count() == entries + 1);
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
}
#endif

/* As if other threads of the parent held the locks of its tables when it forks. */
static void locks_that_parent_held_are_free_in_child(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH && CONFIG_DYNSEL_EARLIEST_FINISH_KINDS >= 32 &&           \
    CONFIG_DYNSEL_MAX_RESOURCES >= 2
    static int names[2];
    const dynsel_resource hosts[] = {{&dynsel_inline_backend, &names[0]},
                                     {&dynsel_inline_backend, &names[1]}};
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(
                                 &finisher, &(dynsel_options){.resources = hosts, .count = 2}));
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&finisher.policy, &counting));
    assert_int_equal(samples_of_entries(), 1);
    for (unsigned k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
        finisher.kinds[k].lock.value = 1;
    }
    finisher.replacing.value = 1;
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&finisher.policy, &counting));
    assert_int_equal(samples_of_entries(), 1); /* they are held */
    assert_child_succeeds(learn_in_child);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(policy_of_parent_in_child_is_refused),
        TEST(workers_of_parent_in_child_do_not_exist),
        TEST(own_policy_in_child_works),
        TEST(work_of_parent_in_child_takes_no_slots),
        TEST(zeroed_policy_of_parent_can_be_initialized_in_child),
        TEST(policies_that_were_ended_may_go_before_a_fork),
        TEST(inline_policy_of_parent_works_in_child),
#if CONFIG_DYNSEL_TRACE_TO_RINGS
        TEST(policy_that_was_being_named_works_in_child),
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE && !CONFIG_DYNSEL_AUTO_TUNE_SMALL
        TEST(new_kinds_are_tuned_in_child),
#endif
        TEST(child_of_child_finds_the_same),
        TEST(child_of_busy_parent_does_not_hang),
        TEST(child_of_parent_busy_with_tuning_does_not_hang),
        TEST(locks_that_parent_held_are_free_in_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
