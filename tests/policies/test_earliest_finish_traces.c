/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish in random worlds in virtual time: how much longer it takes than the best single
 * device of the same trace, and what its trial runs cost.
 */
#define COPY_KINDS 32
#include "policies/finish_copy.h"
#include "policies/finish_world.h"

enum {
    TRACES = SLOW_HERE ? 1000 : 10000,
    MOST_KINDS = 20,
    MOST_PIECES = 600,
    MOST_SPIKE = 400,
    PER_MILLE = 1000,
    FIRST_CREDIT = 128000 /* ns that trial runs of a kind may cost before it has earned any */
};

static uint64_t seed;

/* What the runs of a kind took. */
typedef struct kind_account {
    uint64_t runs_ns;
    uint64_t lost_ns;     /* by trial runs, compared with the fastest device */
    uint64_t compiled_ns; /* the same of first runs on a device, which may compile */
    uint64_t wrong_ns[WORLD_MOST_DEVICES]; /* by which the last estimate was too short */
} kind_account;

/* What varies in the traces of a test. */
typedef struct variety {
    const char *name;
    bool has_amounts; /* that differ within a kind */
    bool has_queues;  /* several pieces in flight */
    bool has_noise;   /* jitter and spikes */
} variety;

static kind_account accounts[MOST_KINDS];
static double regrets[TRACES];

/* What the program spends on each run beside it. */
static uint64_t beside_ns(uint32_t device)
{
    return w.devices[device].submit_ns + w.devices[device].latency_ns;
}

/* Of the devices that have run the kind: of others nothing can be known. */
static uint64_t fastest_ns(uint32_t kind, uint64_t amount)
{
    uint64_t least_ns = UINT64_MAX;
    for (uint32_t i = 0; i < w.count; i++) {
        const uint64_t ns = world_true_ns(kind, i, amount) + beside_ns(i);
        least_ns = w.runs[kind][i] != 0 && ns < least_ns ? ns : least_ns;
    }
    return least_ns;
}

/* As far as the policy can know. */
static bool may_compile(const world_device *device)
{
    return device->what == WORLD_GPU || device->what == WORLD_PROCESSORS;
}

static void account(const world_piece *piece)
{
    kind_account *it = &accounts[piece->kind];
    const uint64_t took_ns = piece->end_ns - piece->begin_ns;
    it->runs_ns += took_ns + beside_ns(piece->selection.index);
    if (piece->selection.reason != DYNSEL_REASON_EXPLORING) {
        return;
    }
    const uint64_t least_ns = fastest_ns(piece->kind, piece->amount);
    const uint64_t all_ns = took_ns + beside_ns(piece->selection.index);
    const uint64_t lost_ns = all_ns > least_ns ? all_ns - least_ns : 0;
    if (piece->is_first && may_compile(&w.devices[piece->selection.index])) {
        it->compiled_ns += lost_ns;
        return;
    }
    const uint64_t guess_ns = dynsel_finish_ns(piece->selection.notes[2]);
    it->lost_ns += lost_ns;
    it->wrong_ns[piece->selection.index] = took_ns > guess_ns ? took_ns - guess_ns : 0;
}

/* Evenly in the logarithm. */
static uint64_t random_size(uint32_t least_bits, uint32_t bits)
{
    const uint64_t low = UINT64_C(1) << (least_bits + test_random_below(&w.random, bits));
    return low + test_random_next(&w.random) % low;
}

static void random_device(uint32_t index)
{
    const uint32_t what = test_random_below(&w.random, WORLD_CLASSES);
    w.devices[index] = (world_device){.what = what};
    if (what != WORLD_CALLER) {
        w.devices[index].submit_ns = random_size(6, 8);
        w.devices[index].latency_ns = random_size(6, 9);
    }
    if (may_compile(&w.devices[index]) && test_random_below(&w.random, 2) == 0) {
        w.devices[index].compile_ns = random_size(18, 9);
    }
}

/* Times over four orders of magnitude; spikes in some worlds. Returns the number of kinds. */
static uint32_t random_world(uint64_t number, const variety *with)
{
    (void)memset(&w, 0, sizeof w);
    w.random.state = seed + number * 104729;
    w.count = 1 + test_random_below(&w.random, WORLD_MOST_DEVICES);
    w.in_flight = 1 + test_random_below(&w.random, WORLD_MOST_IN_FLIGHT);
    w.in_flight = with->has_queues ? w.in_flight : 1;
    if (with->has_noise) {
        w.jitter_percent = test_random_below(&w.random, 21);
        w.spike_percent = test_random_below(&w.random, 6);
        w.spike_factor = 2 + test_random_below(&w.random, MOST_SPIKE - 1);
    }
    const uint32_t kinds = 1 + test_random_below(&w.random, MOST_KINDS);
    for (uint32_t i = 0; i < w.count; i++) {
        random_device(i);
        for (uint32_t k = 0; k < kinds; k++) {
            w.times[k][i] = (world_time){random_size(7, 13), random_size(0, 13)};
        }
    }
    return kinds;
}

static uint64_t play(int32_t always, const variety *with, uint32_t kinds, uint32_t pieces)
{
    const uint64_t began = UINT64_C(1) << 40;
    world_begin(always);
    w.random.state = seed ^ pieces;
    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t kind = test_random_below(&w.random, kinds);
        const uint64_t amount = random_size(0, 30);
        (void)world_submit(kind, with->has_amounts ? amount : UINT64_C(1) << kind);
    }
    world_drain();
    return w.now_ns - began;
}

/* Returns how much longer it took than the best single device, as a factor. */
static double trace(uint64_t number, const variety *with, uint32_t *kinds)
{
    *kinds = random_world(number, with);
    const uint32_t pieces = 1 + test_random_below(&w.random, MOST_PIECES);
    uint64_t best_ns = UINT64_MAX;
    for (uint32_t i = 0; i < w.count; i++) {
        const uint64_t ns = play((int32_t)i, with, *kinds, pieces);
        best_ns = ns < best_ns ? ns : best_ns;
    }
    (void)memset(accounts, 0, sizeof accounts);
    w.submitted = account;
    world_open();
    const uint64_t ns = play(-1, with, *kinds, pieces);
    world_assert_idle();
    assert_int_equal(w.begun, pieces);
    world_close();
    return (double)ns / (double)best_ns;
}

/* Whether the trial runs of a kind cost what the header promises at most. In ns: by how much more.
 * */
static uint64_t beyond_bound(const kind_account *it)
{
    uint64_t allowed_ns = it->runs_ns / 20 + FIRST_CREDIT;
    for (uint32_t i = 0; i < WORLD_MOST_DEVICES; i++) {
        allowed_ns += it->wrong_ns[i];
    }
    return it->lost_ns > allowed_ns ? it->lost_ns - allowed_ns : 0;
}

typedef struct bound_count {
    uint32_t kinds;
    uint32_t broken;
    uint32_t compiled; /* kinds with first runs that compiled */
    double worst;      /* excess over the bound, as a part of the kind's runs */
    double lost;       /* of all runs */
    double runs;
    double compilation;
} bound_count;

static void count_bounds(bound_count *count, uint32_t kinds)
{
    for (uint32_t k = 0; k < kinds; k++) {
        const kind_account *it = &accounts[k];
        const uint64_t beyond_ns = beyond_bound(it);
        const double part = it->runs_ns != 0 ? (double)beyond_ns / (double)it->runs_ns : 0;
        count->kinds++;
        count->broken += beyond_ns != 0 ? 1 : 0;
        count->compiled += it->compiled_ns != 0 ? 1 : 0;
        count->worst = part > count->worst ? part : count->worst;
        count->lost += (double)it->lost_ns;
        count->runs += (double)it->runs_ns;
        count->compilation += (double)it->compiled_ns;
    }
}

static int compare_regrets(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static bound_count play_all(const variety *with)
{
    bound_count count = {.kinds = 0};
    for (uint32_t i = 0; i < TRACES; i++) {
        uint32_t kinds = 0;
        regrets[i] = trace(i, with, &kinds);
        count_bounds(&count, kinds);
    }
    qsort(regrets, TRACES, sizeof regrets[0], compare_regrets);
    printf(
        "%s: the time of %d traces, of that of their best single device: worst %.2f, 99 %% %.2f, "
        "95 %% %.2f, median %.3f, best %.3f\n",
        with->name, TRACES, regrets[TRACES - 1], regrets[(size_t)TRACES / 100 * 99],
        regrets[(size_t)TRACES / 100 * 95], regrets[TRACES / 2], regrets[0]);
    printf("%s: trial runs cost %.3f %% of all runs, those that compile %.3f %%; of %u kinds %u "
           "beyond the bound, the worst by %.3f of its runs\n",
           with->name, 100 * count.lost / count.runs, 100 * count.compilation / count.runs,
           count.kinds, count.broken, count.worst);
    assert_true(regrets[TRACES / 2] < 1.6);
    assert_true(regrets[(size_t)TRACES / 100 * 95] < 150);
    return count;
}

static double part_beyond(const bound_count *count)
{
    return (double)count->broken / (double)count->kinds;
}

/*
 * What the header promises is kept where the amounts are equal and nothing waits, but for a few
 * kinds
 * of which two estimates in a row were wrong. Elsewhere a trial run may seem to cost nothing, as
 * the queue of the best or a wrong estimate for it is longer: the parts beyond the bound are what
 * holds.
 */
static void trial_runs_keep_bound(void **state)
{
    (void)state;
    const variety with = {.name = "nothing varies"};
    const bound_count count = play_all(&with);
    assert_true(part_beyond(&count) < 0.002);
}

static void trial_runs_with_varied_amounts(void **state)
{
    (void)state;
    const variety with = {.name = "amounts", .has_amounts = true};
    const bound_count count = play_all(&with);
    assert_true(part_beyond(&count) < 0.07);
}

static void trial_runs_with_work_in_flight(void **state)
{
    (void)state;
    const variety with = {.name = "queues", .has_queues = true};
    const bound_count count = play_all(&with);
    assert_true(part_beyond(&count) < 0.05);
}

static void trial_runs_with_jitter_and_spikes(void **state)
{
    (void)state;
    const variety with = {.name = "noise", .has_noise = true};
    const bound_count count = play_all(&with);
    assert_true(part_beyond(&count) < 0.005);
}

static void trial_runs_where_everything_varies(void **state)
{
    (void)state;
    const variety with = {
        .name = "everything", .has_amounts = true, .has_queues = true, .has_noise = true};
    const bound_count count = play_all(&with);
    assert_true(part_beyond(&count) < 0.12);
}

static int setup(void **state)
{
    (void)state;
    seed = test_seed();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trial_runs_keep_bound),
        cmocka_unit_test(trial_runs_with_varied_amounts),
        cmocka_unit_test(trial_runs_with_work_in_flight),
        cmocka_unit_test(trial_runs_with_jitter_and_spikes),
        cmocka_unit_test(trial_runs_where_everything_varies),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
