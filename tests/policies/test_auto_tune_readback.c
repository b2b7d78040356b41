/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What auto_tune makes of results that are brought back after the work, at 5 percent exploration:
 * simulated lives of one kind of task each.
 */
#define COPY_EXPLORE_PERCENT 5
#include "policies/auto_tune_copy.h"
#include "policies/auto_tune_world.h"

#include "room.h"

enum { MOST_BEHIND = 16, FIRST_CHOICES = 8 };

static uint64_t now_ns = 1;
static uint64_t seed;

uint64_t dynsel_now_ns(void)
{
    return now_ns;
}

static const dynsel_task task = {.function = world_nothing, .id = 7};

typedef struct device {
    uint64_t run_ns;
    uint64_t back_ns;
} device;

/* Results that come back so many runs later. */
typedef struct life {
    device devices[4];
    uint32_t count;
    uint32_t behind;
    uint32_t one_in; /* that come back at all */
    dynsel_selection out[MOST_BEHIND];
    uint32_t runs;
    uint32_t timed;
    uint32_t on[4];
    test_random random;
} life;

static void tell(dynsel_selection *selection, dynsel_execution_info info, uint64_t ns)
{
    if (!dynsel_selection_needs(selection, info)) {
        return;
    }
    const bool has_value = info == DYNSEL_TASK_TIME || info == DYNSEL_TASK_READBACK_TIME;
    assert_status(DYNSEL_OK, has_value ? dynsel_report_value(selection, info, ns)
                                       : dynsel_report(selection, info));
}

static void come_back(const life *l, dynsel_selection *selection)
{
    const uint64_t ns = l->devices[selection->index].back_ns;
    if (ns != 0) {
        tell(selection, DYNSEL_TASK_READBACK_TIME, ns);
    }
}

static uint32_t run_once(life *l)
{
    dynsel_selection *selection = &l->out[l->runs % MOST_BEHIND];
    *selection = world_choose(&task);
    tell(selection, DYNSEL_TASK_SUBMISSION, 0);
    tell(selection, DYNSEL_TASK_TIME, l->devices[selection->index].run_ns);
    tell(selection, DYNSEL_TASK_COMPLETION, 0);
    l->timed += dynsel_selection_needs(selection, DYNSEL_TASK_TIME) ? 1 : 0;
    l->on[selection->index]++;
    const uint32_t index = selection->index;
    const uint32_t run = l->runs++;
    if (run >= l->behind && (run - l->behind) % l->one_in == 0) {
        come_back(l, &l->out[(run - l->behind) % MOST_BEHIND]);
    }
    return index;
}

static void begin(const life *l)
{
    world_open(l->count, DYNSEL_NEVER_RESAMPLE);
}

static life random_life(uint32_t number)
{
    life l = {.count = 2 + number % 3, .one_in = 1, .random = {seed + number * 7919ull}};
    for (uint32_t i = 0; i < l.count; i++) {
        l.devices[i].run_ns = 1000 + test_random_below(&l.random, 100000);
        l.devices[i].back_ns =
            test_random_below(&l.random, 2) == 0 ? 0 : test_random_below(&l.random, 100000);
    }
    return l;
}

static uint32_t best_of(const life *l)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < l->count; i++) {
        const device *d = &l->devices[i];
        const device *b = &l->devices[best];
        best = d->run_ns + d->back_ns < b->run_ns + b->back_ns ? i : best;
    }
    return best;
}

/* Where results come back before the next choice it makes no difference who says what it took: the
 * run, or the run and then the way back. */
static void copy_back_time_counts_like_run_time(void **state)
{
    (void)state;
    enum { LIVES = 300, RUNS = 1500 };
    static uint32_t choices[RUNS];
    for (uint32_t k = 0; k < LIVES; k++) {
        life apart = random_life(k);
        life whole = apart;
        begin(&apart);
        for (uint32_t i = 0; i < RUNS; i++) {
            choices[i] = run_once(&apart);
        }
        world_close();
        for (uint32_t i = 0; i < whole.count; i++) {
            whole.devices[i].run_ns += whole.devices[i].back_ns;
            whole.devices[i].back_ns = 0;
        }
        whole.one_in = RUNS + 1;
        whole.behind = 1;
        begin(&whole);
        for (uint32_t i = 0; i < RUNS; i++) {
            assert_int_equal(choices[i], run_once(&whole));
        }
        world_close();
        assert_int_equal(apart.timed, whole.timed);
    }
}

/* However far behind they come: the best is found, and then rarely timed and rarely left. */
static void late_copy_back_reports_still_find_best(void **state)
{
    (void)state;
    enum { LIVES = 200, RUNS = 4000, LAST = 2000 };
    for (uint32_t k = 0; k < LIVES; k++) {
        life l = random_life(k);
        l.behind = 1 + test_random_below(&l.random, MOST_BEHIND - 1);
        begin(&l);
        for (uint32_t i = 0; i < RUNS; i++) {
            if (i == RUNS - LAST) {
                memset(l.on, 0, sizeof l.on);
                l.timed = 0;
            }
            (void)run_once(&l);
        }
        world_close();
        const uint32_t best = best_of(&l);
        uint64_t more = 0;
        const uint64_t best_ns = l.devices[best].run_ns + l.devices[best].back_ns;
        for (uint32_t i = 0; i < l.count; i++) {
            more += l.on[i] * (l.devices[i].run_ns + l.devices[i].back_ns - best_ns);
        }
        if (more * 10 > LAST * best_ns || l.timed > LAST / 4) {
            print_error("life %u, %u behind: %u in 1000 more, %u timed\n", k, l.behind,
                        (unsigned)(more * 1000 / (LAST * best_ns)), l.timed);
            fail();
        }
    }
}

static uint32_t live(life *l, uint32_t runs)
{
    const uint32_t before = l->on[0];
    for (uint32_t i = 0; i < runs; i++) {
        (void)run_once(l);
    }
    return l->on[0] - before;
}

/* Often enough that it does not pay. */
static void rare_copy_backs_are_weighted_by_frequency(void **state)
{
    (void)state;
    life l = {.count = 2, .one_in = 5, .devices = {{1000, 30000}, {2000, 0}}};
    begin(&l);
    assert_true(live(&l, 2000) < 100);
    world_close();
}

static void vanished_copy_backs_change_best(void **state)
{
    (void)state;
    life l = {.count = 2, .one_in = 1, .devices = {{1000, 5000}, {2000, 0}}};
    begin(&l);
    assert_true(live(&l, 1000) < 50);
    l.devices[0].back_ns = 0;
    (void)live(&l, 10000);
    assert_true(live(&l, 1000) > 900);
    world_close();
}

static dynsel_selection timed_selection(void)
{
    dynsel_selection selection = world_choose(&task);
    assert_true(dynsel_selection_needs(&selection, DYNSEL_TASK_TIME));
    tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    tell(&selection, DYNSEL_TASK_TIME, 1000 + 1000 * selection.index);
    tell(&selection, DYNSEL_TASK_COMPLETION, 0);
    return selection;
}

/* The second runs count: only the first resource's comes back, in two parts. */
static void copy_back_times_of_one_run_add_up(void **state)
{
    (void)state;
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 4; i++) {
        dynsel_selection selection = timed_selection();
        for (uint32_t part = 0; part < 2 && selection.index == 0; part++) {
            tell(&selection, DYNSEL_TASK_READBACK_TIME, 600);
        }
    }
    dynsel_selection best = world_choose(&task);
    assert_int_equal(1, best.index);
    world_close();
}

/* Until its own way back is known, that of the run before is assumed. */
static void unknown_copy_back_time_is_assumed_from_previous_run(void **state)
{
    (void)state;
    dynsel_selection first[4];
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 4; i++) {
        first[i] = timed_selection();
    }
    tell(&first[0], DYNSEL_TASK_READBACK_TIME, 5000);
    dynsel_selection best = world_choose(&task);
    assert_int_equal(1, best.index);
    tell(&first[2], DYNSEL_TASK_READBACK_TIME, 500); /* which was wrong */
    best = world_choose(&task);
    assert_int_equal(0, best.index);
    world_close();
}

/* What is known of that round is forgotten. */
static void copy_back_reports_of_earlier_round_are_dropped(void **state)
{
    (void)state;
    world_open(2, 1000);
    dynsel_selection old[4];
    for (uint32_t i = 0; i < 4; i++) {
        old[i] = timed_selection();
    }
    now_ns += 2000;
    for (uint32_t i = 0; i < 4; i++) {
        (void)timed_selection();
        for (uint32_t k = 0; k < 4; k++) {
            if (old[k].index == 0) {
                tell(&old[k], DYNSEL_TASK_READBACK_TIME, 100000);
            }
        }
    }
    dynsel_selection best = world_choose(&task);
    assert_int_equal(0, best.index);
    world_close();
}

static void extreme_copy_back_times_are_harmless(void **state)
{
    (void)state;
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 40; i++) {
        dynsel_selection selection = world_choose(&task);
        tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
        tell(&selection, DYNSEL_TASK_TIME, 1000);
        tell(&selection, DYNSEL_TASK_COMPLETION, 0);
        if (selection.index == 0 && dynsel_selection_needs(&selection, DYNSEL_TASK_TIME)) {
            tell(&selection, DYNSEL_TASK_READBACK_TIME, UINT64_MAX);
            tell(&selection, DYNSEL_TASK_READBACK_TIME, UINT64_MAX);
        }
        assert_true(i < FIRST_CHOICES || selection.index == 1);
    }
    world_close();
}

/* It has no table entry, and is not asked for. */
static void untracked_work_needs_no_copy_back_reports(void **state)
{
    (void)state;
    world_open(2, DYNSEL_NEVER_RESAMPLE);
    for (uint32_t i = 0; i < 4 * CONFIG_DYNSEL_MAX_TUNED_TASKS; i++) {
        const dynsel_task one = {.function = world_nothing, .id = i + 1};
        dynsel_selection selection = world_choose(&one);
        assert_int_equal(dynsel_selection_needs(&selection, DYNSEL_TASK_TIME),
                         dynsel_selection_needs(&selection, DYNSEL_TASK_READBACK_TIME));
        tell(&selection, DYNSEL_TASK_SUBMISSION, 0);
    }
    assert_true(dynsel_auto_tune_untracked(&tuner) > 0);
    world_close();
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
        cmocka_unit_test(copy_back_time_counts_like_run_time),
        cmocka_unit_test(late_copy_back_reports_still_find_best),
        cmocka_unit_test(rare_copy_backs_are_weighted_by_frequency),
        cmocka_unit_test(vanished_copy_backs_change_best),
        cmocka_unit_test(copy_back_times_of_one_run_add_up),
        cmocka_unit_test(unknown_copy_back_time_is_assumed_from_previous_run),
        cmocka_unit_test(copy_back_reports_of_earlier_round_are_dropped),
        cmocka_unit_test(extreme_copy_back_times_are_harmless),
        cmocka_unit_test(untracked_work_needs_no_copy_back_reports),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
