/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several threads of rank 0 submit tasks and command groups to other ranks at once. Where MPI
 * allows only one thread to call it, that one makes calls of the library meanwhile.
 *
 * DYNSEL_TEST_LEVEL: the program initializes MPI itself, with this level. DYNSEL_TEST_OWN_THREAD: a
 * thread of the library calls MPI.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "backends/mpi/operations.h"
#include "mpi/add_on_host.h"
#include "mpi/served.h"
#include "random.h"
#include "test.h"

enum { THREADS = 4, ROUNDS = 150, WORDS = 5000, MOST_RESOURCES = 16, IN_FLIGHT = 4 };

typedef struct square {
    uint64_t of;
    uint64_t result;
} square;

static dynsel_status find_square(const dynsel_resource *where, void *args, dynsel_event *done)
{
    square *const s = args;
    (void)where;
    (void)done;
    s->result = s->of * s->of;
    return DYNSEL_OK;
}

static const dynsel_kernel add = {.name = "add", .function = add_on_host};

static dynsel_round_robin_policy in_turn;
static dynsel_dynamic_load_policy balanced;
static uint64_t seed;
static atomic_uint at_work;

/* What one thread found out, whose assertions would end another one. */
typedef struct thread_result {
    const char *failed;
    uint32_t number;
    dynsel_status status;
} thread_result;

typedef struct job {
    dynsel_buffer buffer;
    uint32_t value;
} job;

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    (void)dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL,
                            &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    (void)dynsel_set_arg_value(handler, 1, &j->value, sizeof j->value);
    return dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL);
}

static bool expect(thread_result *result, dynsel_status status, const char *call)
{
    if (status != DYNSEL_OK && result->failed == NULL) {
        result->failed = call;
        result->status = status;
        served_say(call);
    }
    return status == DYNSEL_OK;
}

static void run_tasks(thread_result *result, dynsel_policy *policy, uint32_t first)
{
    square squares[IN_FLIGHT];
    dynsel_submission work[IN_FLIGHT] = {{0}};
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        squares[i] = (square){.of = first + i};
        if (!expect(result, dynsel_submit(policy, &DYNSEL_TASK(find_square, &squares[i]), &work[i]),
                    "dynsel_submit")) {
            return;
        }
    }
    for (uint32_t i = 0; i < IN_FLIGHT; i++) {
        (void)expect(result, dynsel_wait(&work[i]), "dynsel_wait");
        (void)expect(result,
                     squares[i].result == squares[i].of * squares[i].of ? DYNSEL_OK
                                                                        : DYNSEL_E_DEVICE,
                     "the square");
    }
}

/* Random tasks and command groups on a buffer of its own. */
static void *submit_all(void *args)
{
    static uint32_t words[THREADS][WORDS];
    thread_result *const result = args;
    uint32_t *const its = words[result->number];
    test_random random = {seed + result->number};
    uint32_t sum = 0;
    job j = {.buffer = {0}};
    memset(its, 0, sizeof words[0]);
    if (!expect(result, dynsel_buffer_init(&j.buffer, its, sizeof its[0], DYNSEL_RANGE(WORDS)),
                "dynsel_buffer_init")) {
        atomic_fetch_sub(&at_work, 1);
        return NULL;
    }
    for (uint32_t i = 0; i < ROUNDS && result->failed == NULL; i++) {
        const uint32_t chosen = test_random_next(&random);
        dynsel_policy *const policy = chosen % 2 == 0 ? &in_turn.policy : &balanced.policy;
        if (chosen % 3 == 0) {
            run_tasks(result, policy, i);
            continue;
        }
        j.value = chosen % 1000;
        sum += j.value;
        (void)expect(result, dynsel_submit_command_group(policy, add_value, &j, NULL),
                     "dynsel_submit_command_group");
    }
    dynsel_host_accessor last = {0}; /* behind all of them */
    if (expect(result, dynsel_host_accessor_open(&last, j.buffer, DYNSEL_ACCESS_READ),
               "dynsel_host_accessor_open")) {
        (void)expect(result, dynsel_host_accessor_close(&last), "dynsel_host_accessor_close");
    }
    (void)expect(result, dynsel_buffer_deinit(&j.buffer), "dynsel_buffer_deinit");
    for (uint32_t i = 0; i < WORDS; i++) {
        (void)expect(result, its[i] == sum ? DYNSEL_OK : DYNSEL_E_DEVICE, "the sum");
    }
    atomic_fetch_sub(&at_work, 1);
    return NULL;
}

static void threads_submit_to_ranks_at_once(void **state)
{
    pthread_t threads[THREADS];
    thread_result results[THREADS];
    dynsel_resource resources[MOST_RESOURCES];
    size_t count = 0;
    (void)state;
    seed = test_seed();
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, resources, MOST_RESOURCES, &count));
    const dynsel_options options = {.resources = resources, .count = count};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&in_turn, &options, 0));
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&balanced, &options));
    atomic_store(&at_work, THREADS);
    for (uint32_t i = 0; i < THREADS; i++) {
        results[i] = (thread_result){.number = i};
        assert_int_equal(pthread_create(&threads[i], NULL, submit_all, &results[i]), 0);
    }
    while (atomic_load(&at_work) != 0) { /* this thread may be the one that calls MPI */
        square s = {.of = 3};
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(&in_turn.policy, &DYNSEL_TASK(find_square, &s)));
        assert_int_equal(s.result, 9);
        (void)sched_yield();
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_null(results[i].failed);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&in_turn.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&balanced.policy));
    /* what was released is free when its transfer was looked at once more */
    for (uint32_t i = 0; i < 100000 && dynsel_mpi_operations_used() != 0; i++) {
        dynsel_spinlock_acquire(&dynsel_mpi_lock);
        (void)dynsel_mpi_advance();
        dynsel_spinlock_release(&dynsel_mpi_lock);
        (void)sched_yield();
    }
    assert_int_equal(dynsel_mpi_operations_used(), 0);
    assert_status(DYNSEL_OK, dynsel_mpi_close());
}

static bool initialize_mpi(void)
{
    static const struct level {
        const char *name;
        int level;
    } levels[] = {{"SINGLE", MPI_THREAD_SINGLE},
                  {"FUNNELED", MPI_THREAD_FUNNELED},
                  {"SERIALIZED", MPI_THREAD_SERIALIZED},
                  {"MULTIPLE", MPI_THREAD_MULTIPLE}};
    const char *const name = getenv("DYNSEL_TEST_LEVEL");
    for (size_t i = 0; name != NULL && i < sizeof levels / sizeof levels[0]; i++) {
        if (strcmp(name, levels[i].name) == 0) {
            int level = 0;
            return MPI_Init_thread(NULL, NULL, levels[i].level, &level) == MPI_SUCCESS;
        }
    }
    return false;
}

int main(void)
{
    static const dynsel_kernel *const kernels[] = {&add};
    static const dynsel_mpi_task tasks[] = {{.function = find_square,
                                             .name = "find_square",
                                             .bytes = sizeof(square),
                                             .comes_back = true}};
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_submit_to_ranks_at_once)};
    dynsel_mpi_options options = served_options();
    const bool initialized = initialize_mpi();
    int failed = 0;
    options.kernels = kernels;
    options.kernel_count = 1;
    options.tasks = tasks;
    options.task_count = 1;
    options.idle_ns = UINT64_C(20000000000);
    options.own_thread = getenv("DYNSEL_TEST_OWN_THREAD") != NULL;
    if (dynsel_mpi_open(&options) != DYNSEL_OK) {
        served_say("dynsel_mpi_open");
        return 1;
    }
    if (dynsel_mpi_rank() == 0) {
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    } else if (dynsel_mpi_serve() != DYNSEL_OK) {
        served_say("dynsel_mpi_serve");
        failed = 1;
    }
    if (initialized && failed == 0) { /* else it would wait for ever */
        MPI_Finalize();
    }
    return failed;
}
