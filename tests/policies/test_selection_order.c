/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fixed_resource and round_robin choose, against a second implementation over random tables,
 * forms, offsets and failures.
 */
#include <dynsel/dynsel.h>

#include "random.h"
#include "room.h"
#include "support/do_nothing.h"
#include "support/put_in_service.h"
#include "test.h"

static dynsel_resource hosts[CONFIG_DYNSEL_MAX_RESOURCES];

static dynsel_options first_hosts(size_t count)
{
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        hosts[i] = (dynsel_resource){&dynsel_inline_backend, &hosts[i]};
    }
    return (dynsel_options){.resources = hosts, .count = count};
}

static uint32_t choice(dynsel_policy *policy)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(policy, &DYNSEL_TASK(do_nothing, NULL), &selection));
    return selection.index;
}

static void fixed_resource_always_selects_its_offset(void **state)
{
    (void)state;
    for (size_t offset = 0; offset < RESOURCES_UP_TO(5); offset++) {
        const dynsel_options options = first_hosts(RESOURCES_UP_TO(5));
        dynsel_fixed_resource_policy policy = {0};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, offset));
        for (int i = 0; i < 12; i++) {
            assert_int_equal(choice(&policy.policy), offset);
        }
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    }
}

static void offset_beyond_count_is_refused(void **state)
{
    (void)state;
    const size_t count = RESOURCES_UP_TO(3);
    const dynsel_options options = first_hosts(count);
    dynsel_fixed_resource_policy fixed = {0};
    dynsel_round_robin_policy round_robin = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&fixed, &options, count));
    assert_error_number(count);
    assert_status(DYNSEL_E_INVALID, dynsel_round_robin_init(&round_robin, &options, SIZE_MAX));
    assert_status(DYNSEL_E_INVALID, dynsel_round_robin_init(NULL, &options, 0));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_policy_deinit(&fixed.policy));
}

static void round_robin_begins_at_offset_and_rotates(void **state)
{
    (void)state;
    for (size_t count = 1; count <= CONFIG_DYNSEL_MAX_RESOURCES; count++) {
        for (size_t offset = 0; offset < count; offset++) {
            const dynsel_options options = first_hosts(count);
            dynsel_round_robin_policy policy = {0};
            assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, offset));
            for (size_t i = 0; i < 3 * count; i++) {
                assert_int_equal(choice(&policy.policy), (offset + i) % count);
            }
            assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
        }
    }
}

static void round_robin_order_survives_counter_wrap(void **state)
{
    (void)state;
    for (size_t count = 1; count <= CONFIG_DYNSEL_MAX_RESOURCES; count++) {
        const dynsel_options options = first_hosts(count);
        dynsel_round_robin_policy policy = {0};
        assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
        const uint32_t longest = 1u << 30;
        policy.turn.value = longest - longest % (uint32_t)count -
                            5 * (uint32_t)count; /* as if it had run for a long time */
        for (size_t i = 0; i < 10 * count; i++) {
            assert_int_equal(choice(&policy.policy), i % count);
        }
        assert_true(policy.turn.value < 10 * count);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    }
}

/* Two backends that do the same, so that a task can have a form for one of them. */
static dynsel_backend left;
static dynsel_backend right;

typedef struct model {
    uint32_t count;
    bool is_left[CONFIG_DYNSEL_MAX_RESOURCES];
    bool is_out[CONFIG_DYNSEL_MAX_RESOURCES];
    uint32_t turn;
    struct {
        uint32_t name; /* of a set */
        uint32_t turn;
    } partial_turns[CONFIG_DYNSEL_MAX_RESOURCES];
} model;

enum { ANYWHERE, LEFT_ONLY, RIGHT_ONLY };

static bool model_may_use(const model *m, uint32_t index, uint32_t kind)
{
    return !m->is_out[index] && (kind == ANYWHERE || (kind == LEFT_ONLY) == m->is_left[index]);
}

/* Where tasks that may use only some take turns: with those that may use the same, as long as there
 * are places. */
static uint32_t *model_partial_turn(model *m, const uint32_t *candidates, uint32_t count)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < count; i++) {
        set = (set ^ set >> 15 ^ (candidates[i] + 1)) * 0x9e3779b1u;
    }
    const uint32_t name = (set | 1) & 0xfff;
    const uint32_t first = (uint32_t)(((uint64_t)set * CONFIG_DYNSEL_MAX_RESOURCES) >> 32);
    uint32_t at = first;
    do {
        if (m->partial_turns[at].name == 0) {
            m->partial_turns[at].name = name;
        }
        if (m->partial_turns[at].name == name) {
            return &m->partial_turns[at].turn;
        }
        at = at + 1 < CONFIG_DYNSEL_MAX_RESOURCES ? at + 1 : 0;
    } while (at != first);
    return &m->partial_turns[first].turn;
}

/* The next index, or -1 when there is none. All take turns together. */
static int model_round_robin(model *m, uint32_t kind)
{
    uint32_t candidates[CONFIG_DYNSEL_MAX_RESOURCES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (model_may_use(m, i, kind)) {
            candidates[count++] = i;
        }
    }
    if (count <= 1) {
        return count == 0 ? -1 : (int)candidates[0];
    }
    uint32_t *turn = count == m->count ? &m->turn : model_partial_turn(m, candidates, count);
    return (int)candidates[(*turn)++ % count];
}

static dynsel_status model_refusal(const model *m, uint32_t first, uint32_t end, uint32_t kind)
{
    for (uint32_t i = first; i < end; i++) {
        if (kind == ANYWHERE || (kind == LEFT_ONLY) == m->is_left[i]) {
            return DYNSEL_E_OUT_OF_SERVICE;
        }
    }
    return DYNSEL_E_UNSUPPORTED;
}

static bool device_is_lost;

static dynsel_status start_unless_lost(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    if (device_is_lost) {
        return DYNSEL_E_OUT_OF_SERVICE;
    }
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static void set_out(dynsel_policy *policy, uint32_t index, bool out)
{
    if (!out) {
        put_in_service(policy, index);
        return;
    }
    dynsel_selection selection = {.policy = policy, .index = index};
    device_is_lost = true;
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(do_nothing, NULL), NULL));
    device_is_lost = false;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(policy, index));
}

static void check_one(dynsel_round_robin_policy *round_robin, dynsel_fixed_resource_policy *fixed,
                      model *m, test_random *random)
{
    const dynsel_task_form forms[] = {{&left, do_nothing}, {&right, do_nothing}};
    const uint32_t kind = test_random_below(random, 3);
    const dynsel_task task = kind == ANYWHERE ? (dynsel_task){.function = do_nothing}
                             : kind == LEFT_ONLY
                                 ? (dynsel_task){.forms = &forms[0], .form_count = 1}
                                 : (dynsel_task){.forms = &forms[1], .form_count = 1};
    dynsel_selection selection = {0};
    const int expected = model_round_robin(m, kind);
    const dynsel_status status = dynsel_select(&round_robin->policy, &task, &selection);
    assert_status(expected >= 0 ? DYNSEL_OK : model_refusal(m, 0, m->count, kind), status);
    if (expected >= 0) {
        assert_int_equal(selection.index, expected);
    }
    const bool may = model_may_use(m, fixed->index, kind);
    assert_status(may ? DYNSEL_OK : model_refusal(m, fixed->index, fixed->index + 1, kind),
                  dynsel_select(&fixed->policy, &task, &selection));
    for (uint32_t i = 0; i < m->count; i++) {
        assert_int_equal(dynsel_policy_may_use(&round_robin->policy, i, &task),
                         model_may_use(m, i, kind));
    }
}

static void run_model(test_random *random)
{
    model m = {.count = 1 + test_random_below(random, CONFIG_DYNSEL_MAX_RESOURCES)};
    dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    for (uint32_t i = 0; i < m.count; i++) {
        m.is_left[i] = test_random_below(random, 2) == 0;
        resources[i] = (dynsel_resource){m.is_left[i] ? &left : &right, NULL};
    }
    const dynsel_options options = {.resources = resources, .count = m.count};
    dynsel_round_robin_policy round_robin = {0};
    dynsel_fixed_resource_policy fixed = {0};
    m.turn = test_random_below(random, m.count);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&round_robin, &options, m.turn));
    assert_status(DYNSEL_OK,
                  dynsel_fixed_resource_init(&fixed, &options, test_random_below(random, m.count)));
    for (int step = 0; step < 50; step++) {
        if (test_random_below(random, 4) == 0) {
            const uint32_t index = test_random_below(random, m.count);
            m.is_out[index] = !m.is_out[index];
            set_out(&round_robin.policy, index, m.is_out[index]);
            set_out(&fixed.policy, index, m.is_out[index]);
        }
        check_one(&round_robin, &fixed, &m, random);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&round_robin.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
}

static void selections_agree_with_second_implementation(void **state)
{
    (void)state;
    static const dynsel_backend_ops ops = {.name = "may be lost", .start = start_unless_lost};
    left.ops = &ops;
    right.ops = &ops;
    test_random random = {test_seed()};
    for (int i = 0; i < 2000; i++) {
        run_model(&random);
    }
}

static void count_choices(dynsel_policy *policy, const dynsel_task *task, unsigned *counts)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(policy, task, &selection));
    counts[selection.index]++;
}

/* Two kinds of work that come by turns each reach all of their resources. */
static void alternating_kinds_reach_all_their_resources(void **state)
{
    (void)state;
    enum { ROUNDS = 100, COUNT = CONFIG_DYNSEL_MAX_RESOURCES < 4 ? 2 : 4 };
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= COUNT);
    left.ops = dynsel_inline_backend.ops;
    right.ops = dynsel_inline_backend.ops;
    dynsel_resource resources[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        resources[i] = (dynsel_resource){i < COUNT / 2 ? &left : &right, NULL};
    }
    const dynsel_options options = {.resources = resources, .count = COUNT};
    const dynsel_task_form forms[] = {{&left, do_nothing}, {&right, do_nothing}};
    const dynsel_task kinds[] = {{.forms = &forms[0], .form_count = 1},
                                 {.forms = &forms[1], .form_count = 1},
                                 {.forms = forms, .form_count = 2}};
    dynsel_round_robin_policy policy = {0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    unsigned counts[3][COUNT] = {{0}};
    for (int i = 0; i < ROUNDS * COUNT; i++) {
        for (unsigned kind = 0; kind < 3; kind++) {
            count_choices(&policy.policy, &kinds[kind], counts[kind]);
        }
    }
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(counts[2][i], ROUNDS);
        assert_int_equal(counts[0][i], i < COUNT / 2 ? ROUNDS * COUNT / (COUNT / 2) : 0);
        assert_int_equal(counts[1][i], i >= COUNT / 2 ? ROUNDS * COUNT / (COUNT - COUNT / 2) : 0);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_resource_always_selects_its_offset),
        cmocka_unit_test(offset_beyond_count_is_refused),
        cmocka_unit_test(round_robin_begins_at_offset_and_rotates),
        cmocka_unit_test(round_robin_order_survives_counter_wrap),
        cmocka_unit_test(alternating_kinds_reach_all_their_resources),
        cmocka_unit_test(selections_agree_with_second_implementation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
