/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that die at each step of the protocol: their work fails or is done elsewhere, all else is
 * right, and nothing waits for them.
 *
 * Ranks 1 and 2 stay alive. The others die one after the other, each at another step of the
 * scenario. DYNSEL_TEST_FIRST_STEP and _STRIDE: those steps; a scenario that is over before the
 * step ends its sweep; DYNSEL_TEST_SCENARIO: only this one, with all ranks. DYNSEL_TEST_STOP: they
 * do not die, but stop (SIGSTOP) until they have been given up, and then go on.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <string.h>
#include <unistd.h>

#include "backends/mpi/operations.h"
#include "mpi/add_on_host.h"
#include "mpi/dies.h"
#include "mpi/served.h"
#include "test.h"

enum {
    MOST_RANKS = 16,
    FIRST_TO_DIE = 3,
    WORDS = 640 * 1024, /* two and a half pieces of data */
    TASKS = 24,
    CHAIN = 9,
    SILENCE_MS = 1500 /* sixteen processes share the processors with other tests */
};

#define WITHIN_NS UINT64_C(20000000000) /* everything ends on a machine with other work */

static uint32_t dying; /* the rank whose turn it is */
static uint32_t death_step;
static int64_t process; /* of that rank */
static pid_t processes[MOST_RANKS];
static uint32_t process_count; /* of all that had their turn */
static bool may_stop;          /* this rank */

typedef struct order_to_die {
    uint32_t steps;
    int32_t by;
} order_to_die;

static dynsel_status arm(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const order_to_die *const its = args;
    (void)where;
    (void)done;
    dies_by = its->by;
    may_stop = may_stop || its->by == SIGSTOP;
    atomic_store(&steps_left, its->steps);
    return DYNSEL_OK;
}

/* The process, so that it can go on. */
static dynsel_status tell_process(const dynsel_resource *where, void *args, dynsel_event *done)
{
    int64_t *const its = args;
    (void)where;
    (void)done;
    *its = getpid();
    return DYNSEL_OK;
}

typedef struct square {
    uint32_t of;
    uint32_t result;
    uint32_t rank;
} square;

static dynsel_status find_square(const dynsel_resource *where, void *args, dynsel_event *done)
{
    square *const s = args;
    (void)where;
    (void)done;
    s->result = s->of * s->of;
    s->rank = dynsel_mpi_rank();
    return DYNSEL_OK;
}

static dynsel_status triple_on_host(const dynsel_launch *launch)
{
    const uint32_t *const from = dynsel_launch_data(launch, 0);
    uint32_t *const to = dynsel_launch_data(launch, 1);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        to[i] = 3 * from[i];
    }
    return DYNSEL_OK;
}

static const dynsel_kernel add = {.name = "add", .function = add_on_host};
static const dynsel_kernel triple = {.name = "triple", .function = triple_on_host};
DYNSEL_HOST_ITERATOR(numbers, uint32_t);

static dynsel_fixed_resource_policy on[3]; /* ranks 1 and 2, and the one that dies */
static dynsel_round_robin_policy in_turn;  /* over all three */
static uint32_t words[2][WORDS];
static uint32_t others[WORDS];

/* Work that may fail because its rank died, and for no other reason. */
static bool may_fail(dynsel_status status)
{
    if (status != DYNSEL_OK && status != DYNSEL_E_OUT_OF_SERVICE && status != DYNSEL_E_DEPENDENCY) {
        check_status(DYNSEL_E_OUT_OF_SERVICE, status, "work of a rank that died", __FILE__,
                     __LINE__);
    }
    return status == DYNSEL_OK;
}

/* A buffer whose only valid contents were on the rank: see dynsel_buffer_deinit(). */
static bool may_lose(dynsel_status status)
{
    return status != DYNSEL_E_DEVICE && may_fail(status);
}

static bool all_are(const uint32_t *data, uint32_t factor, uint32_t sum)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        if (data[i] != factor * i + sum) {
            print_error("word %u is %u, expected %u\n", (unsigned)i, (unsigned)data[i],
                        (unsigned)(factor * i + sum));
            return false;
        }
    }
    return true;
}

static void count_up(uint32_t *data)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        data[i] = i;
    }
}

static void tasks_over_all_ranks(void)
{
    static square squares[TASKS];
    static dynsel_submission work[TASKS];
    bool accepted[TASKS];
    memset(work, 0, sizeof work);
    for (uint32_t i = 0; i < TASKS; i++) {
        squares[i] = (square){.of = i};
        accepted[i] = may_fail(dynsel_submit(i % 3 == 2 ? &on[2].policy : &in_turn.policy,
                                             &DYNSEL_TASK(find_square, &squares[i]), &work[i]));
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        if (accepted[i] && may_fail(dynsel_wait(&work[i]))) {
            assert_int_equal(squares[i].result, i * i);
        } else if (accepted[i]) {
            assert_true(squares[i].rank == 0); /* what failed does not come back */
        }
    }
}

static void repeatable_tasks(void)
{
    static square squares[TASKS];
    static dynsel_submission work[TASKS];
    static const dynsel_repeat repeat = {.overwritten = NULL};
    memset(work, 0, sizeof work);
    for (uint32_t i = 0; i < TASKS; i++) {
        squares[i] = (square){.of = i};
        const dynsel_task task = {.function = find_square, .args = &squares[i], .repeat = &repeat};
        assert_status(DYNSEL_OK, dynsel_submit(&in_turn.policy, &task, &work[i]));
    }
    for (uint32_t i = 0; i < TASKS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&work[i]));
        assert_int_equal(squares[i].result, i * i);
    }
}

typedef struct job {
    dynsel_buffer from;
    dynsel_buffer to;
    bool repeatable;
} job;

static dynsel_status add_one(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    const uint32_t one = 1;
    (void)dynsel_get_access(handler, j->to, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    (void)dynsel_set_arg_value(handler, 1, &one, sizeof one);
    return dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL);
}

static dynsel_status triple_all(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor from;
    dynsel_accessor to;
    (void)dynsel_get_access(handler, j->from, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &from);
    (void)dynsel_get_access(handler, j->to, DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &to);
    (void)dynsel_set_arg_accessor(handler, 0, &from);
    (void)dynsel_set_arg_accessor(handler, 1, &to);
    if (j->repeatable) {
        (void)dynsel_set_repeatable(handler);
    }
    return dynsel_parallel_for(handler, &triple, DYNSEL_RANGE(WORDS), NULL, NULL);
}

static dynsel_status triple_ranges(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)dynsel_set_range(handler, 0, numbers, numbers_make(words[0]), WORDS, DYNSEL_ACCESS_READ);
    (void)dynsel_set_range(handler, 1, numbers, numbers_make(others), WORDS,
                           DYNSEL_ACCESS_DISCARD_WRITE);
    return dynsel_parallel_for(handler, &triple, DYNSEL_RANGE(WORDS), NULL, NULL);
}

/* Two buffers: one goes over all three ranks, which pass it on; one only over those that live. */
static void chain_of_groups(void)
{
    dynsel_buffer buffers[2] = {{0}, {0}};
    static dynsel_submission work[2 * CHAIN];
    bool accepted[2 * CHAIN] = {false};
    uint32_t good = 0;
    memset(work, 0, sizeof work);
    for (uint32_t i = 0; i < 2; i++) {
        count_up(words[i]);
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], words[i], sizeof(uint32_t),
                                                    DYNSEL_RANGE(WORDS)));
    }
    for (size_t i = 0; i < CHAIN; i++) {
        job j = {.to = buffers[0]};
        accepted[2 * i] =
            may_fail(dynsel_submit_command_group(&on[i % 3].policy, add_one, &j, &work[2 * i]));
        j.to = buffers[1];
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&on[i % 2].policy, add_one, &j,
                                                             &work[2 * i + 1]));
    }
    for (size_t i = 0; i < CHAIN; i++) {
        good += accepted[2 * i] && may_fail(dynsel_wait(&work[2 * i])) ? 1 : 0;
        assert_status(DYNSEL_OK, dynsel_wait(&work[2 * i + 1]));
    }
    const bool back = may_lose(dynsel_buffer_deinit(&buffers[0]));
    if (good == CHAIN && back) {
        assert_true(all_are(words[0], 1, CHAIN));
    }
    if (buffers[0].token != 0) {
        assert_status(DYNSEL_OK, dynsel_buffer_discard(&buffers[0]));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[1]));
    assert_true(all_are(words[1], 1, CHAIN));
}

/* What only the rank that dies has is fetched. */
static void fetch_at_the_end(void)
{
    dynsel_buffer buffers[2] = {{0}, {0}};
    count_up(words[0]);
    memset(words[1], 0, sizeof words[1]);
    for (uint32_t i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], words[i], sizeof(uint32_t),
                                                    DYNSEL_RANGE(WORDS)));
    }
    job j = {.from = buffers[0], .to = buffers[1]};
    const bool done = may_fail(dynsel_submit_command_group_and_wait(&on[2].policy, triple_all, &j));
    dynsel_host_accessor seen = {0};
    if (may_lose(dynsel_host_accessor_open(&seen, buffers[1], DYNSEL_ACCESS_READ)) && done) {
        assert_true(all_are(words[1], 3, 0));
    }
    if (seen.data != NULL) {
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&buffers[1]));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[0])); /* the host has what it was */
    assert_true(all_are(words[0], 1, 0));
}

static void staged_ranges(void)
{
    for (uint32_t i = 0; i < 3; i++) {
        count_up(words[0]);
        memset(others, 0, sizeof others);
        const dynsel_status status =
            dynsel_submit_command_group_and_wait(&on[(i + 1) % 3].policy, triple_ranges, NULL);
        if ((i + 1) % 3 == 2 ? may_fail(status) : status == DYNSEL_OK) {
            assert_true(all_are(others, 3, 0));
        }
        assert_true((i + 1) % 3 == 2 || status == DYNSEL_OK);
        assert_true(all_are(words[0], 1, 0));
    }
}

static void repeatable_groups(void)
{
    enum { RESULTS = 4 };
    static uint32_t results[RESULTS][WORDS];
    static dynsel_submission work[RESULTS];
    dynsel_buffer from = {0};
    dynsel_buffer to[RESULTS] = {{0}};
    memset(results, 0, sizeof results);
    memset(work, 0, sizeof work);
    count_up(words[0]);
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&from, words[0], sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    for (uint32_t i = 0; i < RESULTS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&to[i], results[i], sizeof(uint32_t),
                                                    DYNSEL_RANGE(WORDS)));
        job j = {.from = from, .to = to[i], .repeatable = true};
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&in_turn.policy, triple_all, &j, &work[i]));
    }
    for (uint32_t i = 0; i < RESULTS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&work[i]));
        /* the rank may die after its work, with the only copy */
        if (may_lose(dynsel_buffer_deinit(&to[i]))) {
            assert_true(all_are(results[i], 3, 0));
        } else if (to[i].token != 0) {
            assert_status(DYNSEL_OK, dynsel_buffer_discard(&to[i]));
        }
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&from));
}

static void begin(void)
{
    dynsel_resource three[3];
    const uint32_t its[3] = {1, 2, dying};
    order_to_die order = {.steps = death_step,
                          .by = getenv("DYNSEL_TEST_STOP") != NULL ? SIGSTOP : SIGKILL};
    size_t count = 0;
    for (uint32_t i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_mpi_resources(its[i], &three[i], 1, &count));
        assert_int_equal(count, 1);
        const dynsel_options one = {.resources = &three[i], .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on[i], &one, 0));
    }
    const dynsel_options all = {.resources = three, .count = 3};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&in_turn, &all, 0));
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&on[2].policy, &DYNSEL_TASK(tell_process, &process)));
    (void)may_fail(dynsel_submit_and_wait(&on[2].policy, &DYNSEL_TASK(arm, &order)));
}

static bool is_alive(void)
{
    order_to_die disarm = {.steps = 0};
    return may_fail(dynsel_submit_and_wait(&on[2].policy, &DYNSEL_TASK(arm, &disarm)));
}

/* What is submitted afterwards is done by those that live. */
static void later_work(void)
{
    for (uint32_t i = 0; i < TASKS; i++) {
        square s = {.of = i};
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(&in_turn.policy, &DYNSEL_TASK(find_square, &s)));
        assert_int_equal(s.result, i * i);
        assert_true(s.rank == 1 || s.rank == 2);
    }
}

static void end(void)
{
    for (uint32_t i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&on[i].policy));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&in_turn.policy));
}

/* Also those that stopped late, when they were given up because the machine was slow. */
static void let_all_go_on(void)
{
    for (uint32_t i = 0; i < process_count; i++) {
        (void)kill(processes[i], SIGCONT);
    }
}

static uint32_t number_from(const char *variable, uint32_t otherwise)
{
    const char *const text = getenv(variable);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static const struct scenario {
    const char *name;
    void (*play)(void);
    uint32_t deaths;
} scenarios[] = {
    {"tasks", tasks_over_all_ranks, 2}, {"repeatable_tasks", repeatable_tasks, 2},
    {"chain", chain_of_groups, 3},      {"fetch", fetch_at_the_end, 2},
    {"ranges", staged_ranges, 2},       {"repeatable_groups", repeatable_groups, 2},
};

/* False: it was over before the rank died. */
static bool play(const struct scenario *scenario)
{
    const uint64_t begin_ns = dynsel_now_ns();
    begin();
    scenario->play();
    const bool alive = is_alive();
    const uint64_t took_ns = dynsel_now_ns() - begin_ns;
    if (!alive) {
        processes[process_count++] = (pid_t)process;
        let_all_go_on();
        later_work();
    }
    end();
    (void)printf("%s, step %u: rank %u %s, %u ms\n", scenario->name, (unsigned)death_step,
                 (unsigned)dying, alive ? "lives" : "died", (unsigned)(took_ns / 1000000));
    (void)fflush(stdout);
    assert_true(took_ns < WITHIN_NS);
    assert_int_equal(dynsel_mpi_operations_used(), 0);
    return !alive;
}

static void ranks_die_at_each_step(void **state)
{
    (void)state;
    const char *const only = getenv("DYNSEL_TEST_SCENARIO");
    const uint32_t first = number_from("DYNSEL_TEST_FIRST_STEP", 1);
    const uint32_t stride = number_from("DYNSEL_TEST_STRIDE", 9);
    dying = FIRST_TO_DIE;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *const scenario = &scenarios[i];
        if (only != NULL && strcmp(only, scenario->name) != 0) {
            continue;
        }
        const uint32_t deaths = only != NULL ? MOST_RANKS : scenario->deaths;
        bool died = true;
        death_step = first;
        for (uint32_t n = 0; n < deaths && died && dying < dynsel_mpi_rank_count(); n++) {
            died = play(scenario);
            dying += died ? 1 : 0;
            death_step += stride;
        }
    }
    assert_true(dying > FIRST_TO_DIE);
    for (uint32_t rank = 0; rank <= dynsel_mpi_rank_count(); rank++) {
        assert_int_equal(dynsel_mpi_rank_is_lost(rank), rank >= FIRST_TO_DIE && rank < dying);
    }
}

static void close_tells_of_the_first_that_died(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_mpi_close());
    assert_error_number(FIRST_TO_DIE);
    assert_false(dynsel_mpi_rank_is_lost(FIRST_TO_DIE)); /* it is closed */
    let_all_go_on();
}

int main(void)
{
    static const dynsel_kernel *const kernels[] = {&add, &triple};
    static const dynsel_mpi_task tasks[] = {
        {.function = arm, .name = "arm", .bytes = sizeof(order_to_die)},
        {.function = tell_process, .name = "tell_process", .bytes = 8, .comes_back = true},
        {.function = find_square,
         .name = "find_square",
         .bytes = sizeof(square),
         .comes_back = true}};
    dynsel_mpi_options options = served_options();
    options.kernels = kernels;
    options.kernel_count = 2;
    options.tasks = tasks;
    options.task_count = 3;
    options.idle_ns = WITHIN_NS;
    options.own_thread = getenv("DYNSEL_TEST_OWN_THREAD") != NULL;
    options.silence_ns = number_from("DYNSEL_TEST_SILENCE_MS", SILENCE_MS) * UINT64_C(1000000);
    if (dynsel_mpi_open(&options) != DYNSEL_OK) {
        served_say("dynsel_mpi_open");
        return 1;
    }
    if (dynsel_mpi_rank() != 0) {
        const dynsel_status status = dynsel_mpi_serve();
        const bool as_expected =
            status == DYNSEL_OK || (may_stop && status == DYNSEL_E_OUT_OF_SERVICE);
        if (!as_expected) {
            served_say("dynsel_mpi_serve");
        }
        return as_expected ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_die_at_each_step),
        cmocka_unit_test(close_tells_of_the_first_that_died),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
