/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small table of submissions in flight against a simple model: random programs over two
 * policies, three devices and the host. The model knows of each piece of work where it must go,
 * whether it has ended and how, and who is to hear of it; nothing of slots but how many there are.
 */
#include <dynsel/dynsel.h>

#include "fakes/marked_backend.h"
#include "random.h"
#include "room.h"
#include "support/put_in_service.h"
#include "test.h"

#define SLOTS CONFIG_DYNSEL_MAX_IN_FLIGHT
enum {
    POLICIES = 2, /* in turn; and where the least is unfinished, on the devices alone */
    DEVICES = RESOURCES_UP_TO(3),
    HOST = CONFIG_DYNSEL_BACKEND_INLINE && DEVICES < CONFIG_DYNSEL_MAX_RESOURCES ? 1 : 0,
    PLACES = DEVICES + HOST,
    ROOM = 3, /* in a device's queue */
    PROGRAMS = CONFIG_DYNSEL_HAS_FULL_SPEED ? 400 : 30,
    STEPS = 150
};

typedef struct piece {
    dynsel_submission submission;
    unsigned policy, place;
    bool owned;  /* a wait or a release is due */
    bool ended;  /* its end was marked */
    bool told;   /* its failure was taken */
    int returns; /* what its function returns */
    int ends;    /* how its end was marked */
    unsigned runs;
} piece;

static marked_device devices[DEVICES];
static dynsel_round_robin_policy turns;
static dynsel_dynamic_load_policy load;
static dynsel_policy *const policies[POLICIES] = {&turns.policy, &load.policy};

static test_random dice;
static piece pieces[STEPS];
static unsigned count, turn, failed[POLICIES];

/* The model. */

static bool in_use(const piece *p)
{
    return !p->ended || p->owned;
}

static unsigned slots_in_use(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += in_use(&pieces[i]) ? 1 : 0;
    }
    return sum;
}

static bool any_runs(void)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        any = any || !pieces[i].ended;
    }
    return any;
}

static unsigned unfinished(unsigned policy, unsigned place)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < count; i++) {
        sum += pieces[i].policy == policy && pieces[i].place == place && !pieces[i].ended ? 1 : 0;
    }
    return sum;
}

/* Where the policy sends the next piece. */
static unsigned choose(unsigned policy)
{
    if (policy == 0) {
        return turn++ % PLACES;
    }
    unsigned least = 0;
    for (unsigned i = 1; i < DEVICES; i++) {
        least = unfinished(1, i) < unfinished(1, least) ? i : least;
    }
    return least;
}

static dynsel_status result_of(const piece *p)
{
    return (dynsel_status)(p->returns != DYNSEL_OK ? p->returns : p->ends);
}

/* A failure that nobody asks for is the group's, once. */
static void give_to_group(piece *p)
{
    if (p->ended && !p->owned && !p->told && result_of(p) != DYNSEL_OK) {
        p->told = true;
        failed[p->policy]++;
    }
}

/* The library, and what the model says of it. */

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    piece *p = args;
    p->runs++;
    done->native = where->backend == &marked_backend ? marked_event() : NULL;
    return (dynsel_status)p->returns;
}

static int draw_status(void)
{
    static const int statuses[] = {DYNSEL_OK, DYNSEL_OK, DYNSEL_OK, DYNSEL_E_DEVICE, DYNSEL_E_USER};
    return statuses[test_random_below(&dice, sizeof statuses / sizeof statuses[0])];
}

static dynsel_status submit_one_way(dynsel_policy *policy, piece *p)
{
    const dynsel_task task = {.function = run, .args = p};
    dynsel_submission *submission = p->owned ? &p->submission : NULL;
    dynsel_selection selection;
    switch (test_random_below(&dice, 3)) {
    case 0:
        return dynsel_try_submit(policy, &task, submission);
    case 1:
        return dynsel_submit_for(policy, &task, submission, 0) == DYNSEL_E_TIMEOUT ? DYNSEL_E_AGAIN
                                                                                   : DYNSEL_OK;
    default:
        assert_status(DYNSEL_OK, dynsel_select(policy, &task, &selection));
        return dynsel_try_submit_selection(&selection, &task, submission);
    }
}

/* The model knows of no resource out of service. */
static void reinstate_all(void)
{
    dynsel_progress(); /* which counts failures */
    for (unsigned i = 0; i < POLICIES; i++) {
        for (unsigned k = 0; k < policies[i]->count; k++) {
            put_in_service(policies[i], k);
        }
    }
}

/* In turn, a try has its turn when the policy is asked, which it is not where the table is full
 * before the choice. So such tries only ask that policy when the table has room. */
static void submit(void)
{
    piece *p = &pieces[count];
    *p = (piece){.policy = test_random_below(&dice, POLICIES),
                 .owned = test_random_below(&dice, 2) == 0,
                 .returns = draw_status()};
    if (CONFIG_DYNSEL_MAX_FAILURES > 0) {
        reinstate_all();
    }
    if (slots_in_use() == SLOTS) {
        const dynsel_task task = {.function = run, .args = p};
        assert_status(DYNSEL_E_FULL, dynsel_try_submit(policies[p->policy], &task, NULL));
        if (!any_runs()) {
            assert_status(DYNSEL_E_FULL, dynsel_submit(policies[p->policy], &task, NULL));
        }
        assert_int_equal(p->runs, 0);
        return;
    }
    p->place = choose(p->policy);
    const bool fits = p->place >= DEVICES || devices[p->place].put - devices[p->place].taken < ROOM;
    assert_status(fits ? DYNSEL_OK : DYNSEL_E_AGAIN, submit_one_way(policies[p->policy], p));
    assert_int_equal(p->runs, fits ? 1 : 0);
    if (fits) {
        size_t number = 0;
        if (p->owned) {
            assert_ptr_equal(dynsel_submission_resource(&p->submission),
                             dynsel_get_resources(policies[p->policy], &number) + p->place);
        }
        p->ended = p->place >= DEVICES;
        give_to_group(p);
        count++;
    }
}

/* The oldest of a device ends. */
static void end_some(unsigned device)
{
    for (unsigned i = 0; i < count; i++) {
        piece *p = &pieces[i];
        if (p->place == device && !p->ended) {
            p->ends = draw_status();
            p->ended = true;
            marked_end(&devices[device], (dynsel_status)p->ends, 0);
            give_to_group(p);
            return;
        }
    }
}

static void collect(piece *p)
{
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    if (test_random_below(&dice, 2) == 0) {
        assert_status(p->ended ? DYNSEL_OK : DYNSEL_E_AGAIN,
                      dynsel_submission_poll(&p->submission));
    }
#endif
    switch (test_random_below(&dice, 3)) {
    case 0:
        p->owned = false;
        assert_status(DYNSEL_OK, dynsel_submission_release(&p->submission));
        give_to_group(p);
        break;
    case 1:
        if (p->ended) {
            assert_status(result_of(p), dynsel_wait(&p->submission));
            p->owned = false;
            p->told = true;
            break;
        }
        /* fallthrough */
    default:
        assert_status(p->ended ? result_of(p) : DYNSEL_E_TIMEOUT,
                      dynsel_wait_for(&p->submission, 0));
        p->told = p->ended;
        p->owned = !p->ended;
        break;
    }
    if (!p->owned) {
        assert_status(DYNSEL_E_STALE, dynsel_wait(&p->submission));
    }
}

static void end_all(void)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        while (devices[i].put != devices[i].taken) {
            end_some(i);
        }
    }
}

static void wait_for_group(unsigned policy)
{
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(policies[policy]));
    assert_int_equal(status != DYNSEL_OK, failed[policy] != 0);
    failed[policy] = 0;
}

static void wait_briefly_for_group(unsigned policy)
{
    bool goes_on = false;
    for (unsigned i = 0; i < count; i++) {
        goes_on = goes_on || (pieces[i].policy == policy && !pieces[i].ended);
    }
    dynsel_status status = DYNSEL_E_TIMEOUT;
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    status = dynsel_wait_group_for(dynsel_get_submission_group(policies[policy]), 0);
#else
    status = goes_on ? status : dynsel_wait_group(dynsel_get_submission_group(policies[policy]));
#endif
    if (goes_on) {
        assert_status(DYNSEL_E_TIMEOUT, status);
    } else {
        assert_int_equal(status != DYNSEL_OK, failed[policy] != 0);
        failed[policy] = 0;
    }
}

static void look(void)
{
    dynsel_progress();
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, slots_in_use());
    for (unsigned i = 0; i < POLICIES; i++) {
        assert_true(dynsel_invariants_hold(policies[i]));
    }
    for (unsigned i = 0; i < DEVICES; i++) {
        assert_int_equal(load.loads[i].word.value, unfinished(1, i));
    }
}

static void step(void)
{
    const unsigned any = count > 0 ? test_random_below(&dice, count) : 0;
    switch (test_random_below(&dice, 8)) {
    case 0:
        look();
        break;
    case 1:
    case 2:
        end_some(test_random_below(&dice, DEVICES));
        break;
    case 3:
        if (count > 0 && pieces[any].owned) {
            collect(&pieces[any]);
        }
        break;
    case 4:
        wait_briefly_for_group(test_random_below(&dice, POLICIES));
        if (test_random_below(&dice, 8) == 0) {
            end_all();
            wait_for_group(test_random_below(&dice, POLICIES));
        }
        break;
    default:
        submit();
        break;
    }
}

static void begin_program(void)
{
    dynsel_resource resources[PLACES];
    const dynsel_options options = {.resources = resources, .count = PLACES};
    for (unsigned i = 0; i < DEVICES; i++) {
        marked_reset(&devices[i]);
        devices[i].room = ROOM;
        resources[i] = marked_resource(&devices[i]);
    }
#if CONFIG_DYNSEL_BACKEND_INLINE
    if (HOST != 0) {
        resources[PLACES - 1] = (dynsel_resource){.backend = &dynsel_inline_backend};
    }
#endif
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&turns, &options, 0));
    const dynsel_options devices_alone = {.resources = resources, .count = DEVICES};
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&load, &devices_alone));
    count = turn = failed[0] = failed[1] = 0;
    marked_releases = 0;
}

static void end_program(void)
{
    uint32_t events = 0;
    end_all();
    look();
    for (unsigned i = 0; i < count; i++) {
        if (pieces[i].owned) {
            assert_status(DYNSEL_E_BUSY, dynsel_policy_deinit(policies[pieces[i].policy]));
            assert_status(result_of(&pieces[i]), dynsel_wait(&pieces[i].submission));
            pieces[i].owned = false;
        }
        events += pieces[i].place < DEVICES ? 1 : 0;
        assert_int_equal(pieces[i].runs, 1);
    }
    look();
    for (unsigned i = 0; i < POLICIES; i++) {
        wait_for_group(i);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(policies[i]));
    }
    assert_int_equal(marked_releases, events);
}

static void random_programs_on_static_slots_agree_with_model(void **state)
{
    (void)state;
    dice.state = test_seed();
    for (unsigned i = 0; i < PROGRAMS; i++) {
        begin_program();
        for (unsigned k = 0; k < STEPS; k++) {
            step();
        }
        end_program();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_on_static_slots_agree_with_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
