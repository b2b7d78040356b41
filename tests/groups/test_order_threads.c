/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that submit at the same time: whoever comes first comes first for all buffers; and
 * failures of workers. */
#define _XOPEN_SOURCE 700

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "test.h"

enum { THREADS = 4, ROUNDS = CONFIG_DYNSEL_HAS_FULL_SPEED ? 2000 : 200 };

static uint32_t numbers[2];
static dynsel_buffer a;
static dynsel_buffer b;

static dynsel_fixed_resource_policy workers[2];
static atomic_uint failures;

static dynsel_status work_in(const dynsel_launch *launch)
{
    const uint32_t number = DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t);
    for (size_t i = 0; i < 2; i++) {
        uint32_t *x = dynsel_launch_data(launch, i);
        *x = *x * 3 + number;
    }
    return DYNSEL_OK;
}

typedef struct both {
    uint32_t number;
    bool turned; /* the buffers are required in the other order */
} both;

static dynsel_status group_of_both(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "both", .function = work_in};
    const both *what = args;
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t n = what->turned ? 1 - i : i;
        dynsel_accessor accessor = {.name = "both"};
        (void)dynsel_get_access(handler, n == 0 ? a : b, DYNSEL_ACCESS_READ_WRITE,
                                DYNSEL_MEMORY_GLOBAL, &accessor);
        (void)dynsel_set_arg_accessor(handler, n, &accessor);
    }
    (void)dynsel_set_arg_value(handler, 2, &what->number, sizeof what->number);
    return dynsel_single_task(handler, &kernel);
}

static void *submit_many(void *argument)
{
    const uint32_t me = (uint32_t)(uintptr_t)argument;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        both what = {.number = me * ROUNDS + i, .turned = me % 2 != 0};
        const dynsel_status status =
            dynsel_submit_command_group(&workers[(me + i) % 2].policy, group_of_both, &what, NULL);
        atomic_fetch_add(&failures, status != DYNSEL_OK ? 1 : 0);
    }
    return NULL;
}

static void begin_on(dynsel_backend *backend, size_t resources)
{
    dynsel_resource table[2] = {{.backend = backend}, {.backend = backend}};
    if (backend == &dynsel_threads_backend) {
        size_t count = 0;
        assert_status(DYNSEL_OK, dynsel_threads_start(2));
        assert_status(DYNSEL_OK, dynsel_threads_resources(table, 2, &count));
    }
    for (size_t i = 0; i < 2; i++) {
        const dynsel_options options = {.resources = &table[i % resources], .count = 1};
        memset(&workers[i], 0, sizeof workers[i]);
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&workers[i], &options, 0));
    }
}

/* What happens to them in the same order leaves them equal. */
static void begin_buffers(void)
{
    numbers[0] = 7;
    numbers[1] = 7;
    a = (dynsel_buffer){0};
    b = (dynsel_buffer){0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&a, &numbers[0], 4, DYNSEL_RANGE(1)));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&b, &numbers[1], 4, DYNSEL_RANGE(1)));
}

static void submit_from_all_threads(dynsel_backend *backend, size_t resources)
{
    pthread_t threads[THREADS];
    begin_on(backend, resources);
    begin_buffers();
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, submit_many, (void *)i));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_wait_group(dynsel_get_submission_group(&workers[i].policy)));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&workers[i].policy));
    }
    if (backend == &dynsel_threads_backend) {
        assert_status(DYNSEL_OK, dynsel_threads_stop());
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_int_equal(0, atomic_load(&failures));
    assert_true(numbers[0] != 7);
    assert_int_equal(numbers[0], numbers[1]);
}

static void threads_agree_on_order_inline(void **state)
{
    (void)state;
    submit_from_all_threads(&dynsel_inline_backend, 1);
}

static void threads_agree_on_order_on_one_worker(void **state)
{
    (void)state;
    submit_from_all_threads(&dynsel_threads_backend, 1);
}

static void threads_agree_on_order_on_two_workers(void **state)
{
    (void)state;
    submit_from_all_threads(&dynsel_threads_backend, 2);
}

/* Failures */

static atomic_bool is_held;
static atomic_uint runs;

static dynsel_status fail_when_let_go(const dynsel_launch *launch)
{
    (void)launch;
    while (atomic_load(&is_held)) {
        (void)sched_yield();
    }
    return DYNSEL_E_TASK;
}

static dynsel_status count_run(const dynsel_launch *launch)
{
    (void)launch;
    atomic_fetch_add(&runs, 1);
    return DYNSEL_OK;
}

static const dynsel_kernel failing = {.name = "failing", .function = fail_when_let_go};
static const dynsel_kernel counting = {.name = "counting", .function = count_run};

/* What is done to a, and to b if that is not DYNSEL_ACCESS_ATOMIC: then nothing. */
typedef struct step {
    const dynsel_kernel *kernel;
    dynsel_access_mode of_a;
    dynsel_access_mode of_b;
    dynsel_status ends;
} step;

static dynsel_status group_of_step(dynsel_handler *handler, void *args)
{
    const step *what = args;
    dynsel_accessor accessor = {.name = NULL};
    if (what->of_a != DYNSEL_ACCESS_ATOMIC) {
        (void)dynsel_get_access(handler, a, what->of_a, DYNSEL_MEMORY_GLOBAL, &accessor);
    }
    if (what->of_b != DYNSEL_ACCESS_ATOMIC) {
        (void)dynsel_get_access(handler, b, what->of_b, DYNSEL_MEMORY_GLOBAL, &accessor);
    }
    return dynsel_single_task(handler, what->kernel);
}

static step steps[] = {
    {&failing, DYNSEL_ACCESS_READ_WRITE, DYNSEL_ACCESS_ATOMIC, DYNSEL_E_TASK},
    {&counting, DYNSEL_ACCESS_READ, DYNSEL_ACCESS_ATOMIC, DYNSEL_E_DEPENDENCY},
    {&counting, DYNSEL_ACCESS_ATOMIC, DYNSEL_ACCESS_READ_WRITE, DYNSEL_OK},
    {&counting, DYNSEL_ACCESS_READ, DYNSEL_ACCESS_WRITE, DYNSEL_E_DEPENDENCY},
    {&counting, DYNSEL_ACCESS_ATOMIC, DYNSEL_ACCESS_READ_WRITE, DYNSEL_E_DEPENDENCY},
    {&counting, DYNSEL_ACCESS_READ_WRITE, DYNSEL_ACCESS_ATOMIC, DYNSEL_E_DEPENDENCY},
    {&counting, DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_ACCESS_ATOMIC, DYNSEL_OK},
    {&counting, DYNSEL_ACCESS_READ, DYNSEL_ACCESS_ATOMIC, DYNSEL_OK},
};
enum {
    STEPS = sizeof steps / sizeof steps[0],
    CAN_WAIT = CONFIG_DYNSEL_THREADS_QUEUE >= STEPS,
    CAN_DEPEND = CONFIG_DYNSEL_MAX_DEPENDENCIES >= STEPS,
    CAN_READ = CONFIG_DYNSEL_MAX_READERS >= STEPS,
    CAN_HOLD = CAN_WAIT && CAN_DEPEND && CAN_READ
};

/* Reads only what the one before it was to write, which does not begin: where that is known when it
 * is submitted, it finds what was there before. */
enum { MAY_COME_LATE = 4 };

/* Returns: how many more ran than have to. */
static int check_end(unsigned n, bool held, dynsel_submission *submission)
{
    const dynsel_status status = dynsel_wait(submission);
    if (n == MAY_COME_LATE && !held && status == DYNSEL_OK) {
        return 1;
    }
    assert_status(steps[n].ends, status);
    if (steps[n].ends != DYNSEL_OK) {
        assert_error_says("the task failed");
        assert_error_says("failing");
    }
    return 0;
}

/* last_first: whom is waited for first. */
static void fail_on_a_worker(bool held, bool last_first)
{
    dynsel_submission submissions[STEPS];
    begin_buffers();
    atomic_store(&runs, 0);
    atomic_store(&is_held, held);
    for (unsigned i = 0; i < STEPS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&workers[0].policy, group_of_step,
                                                             &steps[i], &submissions[i]));
    }
    atomic_store(&is_held, false);
    int more = 0;
    for (unsigned i = 0; i < STEPS; i++) {
        const unsigned n = last_first ? STEPS - 1 - i : i;
        more += check_end(n, held, &submissions[n]);
    }
    assert_int_equal(3 + more, atomic_load(&runs));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b)); /* the others that failed did not run */
}

static atomic_bool looks;

static void *look(void *argument)
{
    while (atomic_load(&looks)) {
        dynsel_progress();
    }
    return argument;
}

/* Also what was given to the worker before the failure, whoever hears of that first. */
static void work_behind_failure_on_same_worker_does_not_run(void **state)
{
    (void)state;
    pthread_t looker;
    begin_on(&dynsel_threads_backend, 1);
    atomic_store(&looks, true);
    assert_int_equal(0, pthread_create(&looker, NULL, look, NULL));
    for (unsigned i = 0; i < ROUNDS / 4; i++) {
        fail_on_a_worker(CAN_HOLD && i % 2 == 0, i % 4 < 2);
    }
    atomic_store(&looks, false);
    assert_int_equal(0, pthread_join(looker, NULL));
    for (unsigned i = 0; i < 2; i++) {
        assert_true(dynsel_invariants_hold(&workers[i].policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&workers[i].policy));
    }
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_agree_on_order_inline),
        cmocka_unit_test(threads_agree_on_order_on_one_worker),
        cmocka_unit_test(threads_agree_on_order_on_two_workers),
        cmocka_unit_test(work_behind_failure_on_same_worker_does_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
