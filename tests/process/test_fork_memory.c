/* SPDX-License-Identifier: Apache-2.0 */
/* A child of fork() and the parent's memory on devices: staging memory, shared memory, and the
 * times of copies back to the host. */
#define _POSIX_C_SOURCE 200809L

#include "process/child.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "room.h"
#include "support/places.h"

DYNSEL_HOST_ITERATOR(inputs, int);

enum { DEVICE = 0, RANGES = 2 };

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    places_hurry();
    places_end();
    return 0;
}

static void wait_for(atomic_bool *what)
{
    while (!atomic_load(what)) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* New devices for the child, and its policy over the first of them. */
static dynsel_policy *begin_child(void)
{
    static dynsel_fixed_resource_policy own;
    simulated_reset(&sim, 1, false);
    const dynsel_resource first = simulated_resource(&sim, DEVICE);
    (void)memset(&own, 0, sizeof own);
    child_expects_status(
        DYNSEL_OK,
        dynsel_fixed_resource_init(&own, &(dynsel_options){.resources = &first, .count = 1}, 0));
    return &own.policy;
}

static void end_child(dynsel_policy *policy)
{
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    child_expects(atomic_load(&sim.mistakes) == 0);
    child_expects(dynsel_invariants_hold(NULL));
}

/* Staging memory */

static int elements[RANGES][ELEMENTS];

static dynsel_status add_one(const dynsel_launch *launch)
{
    for (size_t k = 0; k < launch->argument_count; k++) {
        int *const data = dynsel_launch_data(launch, k);
        for (size_t i = 0; i < ELEMENTS; i++) {
            data[i]++;
        }
    }
    return DYNSEL_OK;
}

static dynsel_status record_ranges(dynsel_handler *handler, void *unused)
{
    static const dynsel_kernel kernel = {.name = "add_one", .function = add_one};
    (void)unused;
    for (uint32_t i = 0; i < RANGES; i++) {
        (void)dynsel_set_range(handler, i, inputs, inputs_make(elements[i]), ELEMENTS,
                               DYNSEL_ACCESS_READ_WRITE);
    }
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static void use_ranges(void)
{
    dynsel_policy *const policy = begin_child();
    (void)memset(elements, 0, sizeof elements);
    child_expects_status(DYNSEL_OK,
                         dynsel_submit_command_group_and_wait(policy, record_ranges, NULL));
    child_expects(elements[0][0] == 1 && elements[RANGES - 1][ELEMENTS - 1] == 1);
    child_expects(sim.counts.allocated == RANGES); /* none of it is the parent's */
    end_child(policy);
}

static void staging_memory_of_parent_in_child_does_not_exist(void **state)
{
    (void)state;
    dynsel_policy *const policy = &places[DEVICE].policy;
    (void)memset(elements, 0, sizeof elements);
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, record_ranges, NULL));
    assert_child_succeeds(use_ranges); /* the memory is idle */
    sim.devices[DEVICE].pace = SIMULATED_BY_HAND;
    assert_status(DYNSEL_OK, dynsel_submit_command_group(policy, record_ranges, NULL, NULL));
    assert_child_succeeds(use_ranges); /* it is in use */
    simulated_finish(&sim);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_int_equal(2, elements[0][0]);
}

static atomic_bool is_releasing;
static atomic_bool may_go_on;

static void release_slowly(void)
{
    atomic_store(&is_releasing, true);
    wait_for(&may_go_on);
}

static void *end_policy(void *policy)
{
    return dynsel_policy_deinit(policy) == DYNSEL_OK ? NULL : policy;
}

/* One of two pieces is being released, and the other one is to follow. */
static void staging_memory_that_parent_releases_is_not_released_in_child(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy passing;
    const dynsel_resource device = simulated_resource(&sim, DEVICE);
    pthread_t thread;
    void *result = NULL;
    (void)memset(&passing, 0, sizeof passing);
    atomic_store(&is_releasing, false);
    atomic_store(&may_go_on, false);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(
                                 &passing, &(dynsel_options){.resources = &device, .count = 1}, 0));
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&passing.policy, record_ranges, NULL));
    sim.releasing = release_slowly;
    assert_int_equal(0, pthread_create(&thread, NULL, end_policy, &passing.policy));
    wait_for(&is_releasing);
    assert_child_succeeds(use_ranges);
    atomic_store(&may_go_on, true);
    assert_int_equal(0, pthread_join(thread, &result));
    assert_null(result);
}

/* Times of copies back to the host */

static atomic_uint reports;
static atomic_bool is_reporting;

static dynsel_status choose_device(dynsel_policy *policy, const dynsel_task *task,
                                   dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 0;
    selection->wants |= DYNSEL_TASK_READBACK_TIME;
    return DYNSEL_OK;
}

static void report_slowly(dynsel_policy *policy, const dynsel_selection *selection,
                          dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    if (info == DYNSEL_TASK_READBACK_TIME) {
        atomic_fetch_add(&reports, 1);
        atomic_store(&is_reporting, true);
        wait_for(&may_go_on);
    }
}

static const dynsel_policy_ops slow_ops = {.name = "slow reports",
                                           .needs = DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                           .try_select = choose_device,
                                           .report = report_slowly};

static int32_t numbers[2][ELEMENTS];
static dynsel_buffer buffers[2];

/* Brings both buffers to the host, which causes two reports. */
static void *read_on_host(void *unused)
{
    const job both = total_of(buffers[0], buffers[1]);
    (void)unused;
    return run_job(HOST, &both) == DYNSEL_OK ? NULL : buffers;
}

static void run_and_end(void)
{
    atomic_store(&reports, 0);
    atomic_store(&may_go_on, true);
    dynsel_policy *const policy = begin_child();
    static int32_t data[ELEMENTS];
    dynsel_buffer made = {0};
    child_expects_status(DYNSEL_OK,
                         dynsel_buffer_init(&made, data, sizeof *data, DYNSEL_RANGE(ELEMENTS)));
    const job sets = set_all(made, 1);
    child_expects_status(DYNSEL_OK, run_job_with(policy, &sets));
    child_expects_status(DYNSEL_OK, dynsel_buffer_deinit(&made));
    child_expects(data[1] == 2);
    end_child(policy); /* waits for reports that another thread is making */
    child_expects(atomic_load(&reports) == 0);
}

static void reports_of_parent_in_child_are_forgotten(void **state)
{
    (void)state;
    static dynsel_policy slow;
    const dynsel_resource device = simulated_resource(&sim, DEVICE);
    pthread_t thread;
    void *result = NULL;
    atomic_store(&may_go_on, false);
    atomic_store(&is_reporting, false);
    atomic_store(&reports, 0);
    assert_status(
        DYNSEL_OK,
        dynsel_policy_init(&slow, &slow_ops, &(dynsel_options){.resources = &device, .count = 1}));
    for (int i = 0; i < 2; i++) {
        buffers[i] = new_buffer(numbers[i]);
        const job sets = set_all(buffers[i], 1);
        assert_status(DYNSEL_OK, run_job_with(&slow, &sets));
    }
    assert_int_equal(0, pthread_create(&thread, NULL, read_on_host, NULL));
    wait_for(&is_reporting);
    assert_child_succeeds(run_and_end);
    atomic_store(&may_go_on, true);
    assert_int_equal(0, pthread_join(thread, &result));
    assert_null(result);
    assert_int_equal(2, atomic_load(&reports)); /* one of them was due at the fork */
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&slow));
}

/* Shared memory */

#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64

static const dynsel_resource host = {.backend = &dynsel_inline_backend};
static void *blocks[CONFIG_DYNSEL_SVM_BLOCKS];
static size_t block_count;

static size_t take_all_blocks(void **taken)
{
    size_t count = 0;
    while (count < CONFIG_DYNSEL_SVM_BLOCKS &&
           dynsel_svm_alloc(&host, 1, 1, &taken[count]) == DYNSEL_OK) {
        count++;
    }
    return count;
}

static void use_all_blocks(void)
{
    void *own[CONFIG_DYNSEL_SVM_BLOCKS];
    void *whole = NULL;
    child_expects_status(DYNSEL_E_INVALID, dynsel_svm_map(blocks[0], DYNSEL_ACCESS_READ));
    child_expects_status(DYNSEL_E_INVALID, dynsel_svm_free(blocks[0]));
    child_expects_status(DYNSEL_OK,
                         dynsel_svm_alloc(&host, CONFIG_DYNSEL_SVM_HOST_BYTES, 1, &whole));
    child_expects_status(DYNSEL_E_FULL, dynsel_svm_alloc(&host, 1, 1, &own[0]));
    child_expects_status(DYNSEL_OK, dynsel_svm_free(whole));
    child_expects(take_all_blocks(own) == block_count);
    for (size_t i = 0; i < block_count; i++) {
        child_expects_status(DYNSEL_OK, dynsel_svm_free(own[i]));
    }
}

static void shared_memory_of_parent_in_child_is_free(void **state)
{
    (void)state;
    block_count = take_all_blocks(blocks);
    assert_true(block_count > 0);
    assert_child_succeeds(use_all_blocks);
    for (size_t i = 0; i < block_count; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_free(blocks[i]));
    }
}

enum { FORKS = 50, THREADS = 2 };

static atomic_bool ends;
static atomic_uint mistakes;

static void *take_blocks_all_the_time(void *unused)
{
    (void)unused;
    thread_has_started();
    while (!atomic_load(&ends)) {
        void *block = NULL;
        if (dynsel_svm_alloc(&host, 1, 1, &block) != DYNSEL_OK ||
            dynsel_svm_free(block) != DYNSEL_OK) {
            atomic_fetch_add(&mistakes, 1);
        }
    }
    return NULL;
}

static void take_one_block(void)
{
    void *block = NULL;
    child_expects_status(DYNSEL_OK, dynsel_svm_alloc(&host, 1, 1, &block));
    child_expects_status(DYNSEL_OK, dynsel_svm_free(block));
}

#endif

static void child_of_parent_busy_with_shared_memory_does_not_hang(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64
    NEEDS(CONFIG_DYNSEL_SVM_BLOCKS >= THREADS);
    pthread_t threads[THREADS];
    atomic_store(&ends, false);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, take_blocks_all_the_time, NULL));
    }
    wait_for_starts(THREADS);
    for (int i = 0; i < FORKS; i++) {
        assert_child_succeeds(take_one_block);
    }
    atomic_store(&ends, true);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_int_equal(0, atomic_load(&mistakes));
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(staging_memory_of_parent_in_child_does_not_exist),
        TEST(staging_memory_that_parent_releases_is_not_released_in_child),
        TEST(reports_of_parent_in_child_are_forgotten),
#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64
        TEST(shared_memory_of_parent_in_child_is_free),
#endif
        TEST(child_of_parent_busy_with_shared_memory_does_not_hang),
    };
    return cmocka_run_group_tests_name("process: fork and memory", tests, NULL, NULL);
}
