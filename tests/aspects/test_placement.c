/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that need aspects, with each policy: they go only where these are, the reasons say why, and
 * a task that can go nowhere leaves nothing behind.
 */
#include <dynsel/dynsel.h>

#include <string.h>

#include "fakes/described_backend.h"
#include "policy/policy.h"
#include "random.h"
#include "room.h"
#include "support/put_in_service.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { DEVICES = 5, MOST_ASPECTS = 4, PROGRAMS = 300, STEPS = 120, KINDS_OF_TASK = 8 };

#define NEEDS_ROOM()                                                                               \
    NEEDS(DYNSEL_ASPECT_COUNT >= MOST_ASPECTS && CONFIG_DYNSEL_MAX_RESOURCES >= DEVICES &&         \
          CONFIG_DYNSEL_MAX_IN_FLIGHT >= 8)

static described_device devices[DEVICES];

static const dynsel_resource *ran; /* where the last piece of work ran */
static unsigned runs;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    ran = where;
    runs++;
    return DYNSEL_OK;
}

/* Any of the policies. */
static union {
    dynsel_policy policy;
    dynsel_fixed_resource_policy fixed_resource;
    dynsel_round_robin_policy round_robin;
    dynsel_dynamic_load_policy dynamic_load;
    dynsel_auto_tune_policy auto_tune;
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    dynsel_earliest_finish_policy earliest_finish;
#endif
} any;

#define POLICY (&any.policy)

/* A custom policy that takes the last one that it may use. */
static dynsel_status choose_last(dynsel_policy *policy, const dynsel_task *task,
                                 dynsel_selection *selection)
{
    for (uint32_t i = policy->count; i > 0; i--) {
        if (dynsel_policy_may_use(policy, i - 1, task)) {
            selection->index = i - 1;
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(policy, task);
}

/* A custom policy that does not ask, and counts what it placed. */
static uint32_t blind_choice;
static int blind_load;

static dynsel_status choose_blindly(dynsel_policy *policy, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = blind_choice;
    return DYNSEL_OK;
}

static void count_load(dynsel_policy *policy, const dynsel_selection *selection,
                       dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    blind_load += info == DYNSEL_TASK_SUBMISSION ? 1 : -1;
}

static const dynsel_policy_ops last_ops = {.name = "last", .try_select = choose_last};
static const dynsel_policy_ops blind_ops = {.name = "blind",
                                            .needs =
                                                DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                            .try_select = choose_blindly,
                                            .report = count_load};

static dynsel_status init_last(const dynsel_options *options)
{
    return dynsel_policy_init(POLICY, &last_ops, options);
}

static dynsel_status init_fixed(const dynsel_options *options)
{
    return dynsel_fixed_resource_init(&any.fixed_resource, options, 1);
}

static dynsel_status init_round_robin(const dynsel_options *options)
{
    return dynsel_round_robin_init(&any.round_robin, options, 2);
}

static dynsel_status init_dynamic_load(const dynsel_options *options)
{
    return dynsel_dynamic_load_init(&any.dynamic_load, options);
}

static dynsel_status init_auto_tune(const dynsel_options *options)
{
    return dynsel_auto_tune_init(&any.auto_tune, options, DYNSEL_NEVER_RESAMPLE);
}

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_status init_earliest_finish(const dynsel_options *options)
{
    return dynsel_earliest_finish_init(&any.earliest_finish, options);
}
#endif

typedef struct kind {
    const char *name;
    dynsel_status (*init)(const dynsel_options *options);
    bool is_fixed;     /* always chooses index 1 */
    bool gives_reason; /* why one is the only one */
} kind;

static const kind kinds[] = {
    {"last", init_last, false, false},
    {"fixed_resource", init_fixed, true, false},
    {"round_robin", init_round_robin, false, true},
    {"dynamic_load", init_dynamic_load, false, true},
    {"auto_tune", init_auto_tune, false, true},
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    {"earliest_finish", init_earliest_finish, false, true},
#endif
};

static const kind *chosen_kind;

/* later: from this index on work ends when the test says so. */
static void begin(const kind *k, uint32_t count, uint32_t later)
{
    dynsel_resource resources[DEVICES];
    for (uint32_t i = 0; i < count; i++) {
        resources[i] = (dynsel_resource){i < later ? &described_backend : &described_later_backend,
                                         &devices[i]};
    }
    chosen_kind = k;
    memset(&any, 0, sizeof(any));
    assert_status(DYNSEL_OK, k->init(&(dynsel_options){.resources = resources, .count = count}));
}

static void finish_all(void)
{
    (void)described_finish(DYNSEL_OK);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(POLICY)));
}

static void end(void)
{
    finish_all();
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
    for (uint32_t i = 0; i < POLICY->count; i++) {
        if (chosen_kind->init == init_dynamic_load) {
            assert_int_equal(any.dynamic_load.loads[i].value, 0);
        } else if (chosen_kind->init == init_auto_tune) {
            assert_int_equal(any.auto_tune.loads[i].value, 0);
        }
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
        if (chosen_kind->init == init_earliest_finish) {
            assert_int_equal(any.earliest_finish.states[i].is.unfinished.value, 0);
        }
#endif
    }
    assert_true(dynsel_invariants_hold(POLICY));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(POLICY));
}

static int set_up(void **state)
{
    static const char *const names[] = {"first", "second", "third", "fourth", "fifth"};
    (void)state;
    memset(devices, 0, sizeof(devices));
    for (size_t i = 0; i < DEVICES; i++) {
        devices[i].name = names[i];
    }
    described_targets(NULL, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (POLICY->self != NULL) { /* the test failed */
        finish_all();
        memset(&any, 0, sizeof(any));
    }
    return 0;
}

static dynsel_task needing(dynsel_aspect_set aspects)
{
    return (dynsel_task){.function = run, .aspects = aspects};
}

/* Only device 1 has the second aspect, only device 2 both. */
static void give_aspects(void)
{
    devices[0].aspects = BIT(0);
    devices[1].aspects = BIT(0) | BIT(1);
    devices[2].aspects = BIT(0) | BIT(1) | BIT(2);
}

static void tasks_run_only_on_devices_with_needed_aspects(void **state)
{
    (void)state;
    NEEDS_ROOM();
    give_aspects();
    for (const kind *k = kinds; k < kinds + COUNT(kinds); k++) {
        begin(k, 3, 3);
        for (int round = 0; round < 40; round++) {
            dynsel_task task = needing(BIT(0) | BIT(1));
            assert_status(DYNSEL_OK, dynsel_submit_and_wait(POLICY, &task));
            assert_ptr_not_equal(ran->handle, &devices[0]);
            task = needing(k->is_fixed ? BIT(1) : BIT(2));
            assert_status(DYNSEL_OK, dynsel_submit_and_wait(POLICY, &task));
            assert_ptr_equal(ran->handle, &devices[k->is_fixed ? 1 : 2]);
            dynsel_selection selection;
            assert_status(DYNSEL_OK, dynsel_select(POLICY, &task, &selection));
            assert_int_equal(selection.index, k->is_fixed ? 1 : 2);
            assert_status(DYNSEL_OK, dynsel_submit_selection_and_wait(&selection, &task));
            assert_ptr_equal(ran->handle, &devices[k->is_fixed ? 1 : 2]);
        }
        end();
    }
}

static dynsel_status ask(unsigned how, const dynsel_task *task)
{
    dynsel_submission submission;
    dynsel_selection selection;
    switch (how) {
    case 0:
        return dynsel_submit(POLICY, task, NULL);
    case 1:
        return dynsel_try_submit(POLICY, task, NULL);
    case 2:
        return dynsel_submit_for(POLICY, task, &submission, 1000000);
    case 3:
        return dynsel_submit_and_wait(POLICY, task);
    default:
        return dynsel_select(POLICY, task, &selection);
    }
}

/* Far more often than there are slots, over both kinds of backend. */
static void task_without_suitable_device_leaves_no_trace(void **state)
{
    (void)state;
    NEEDS_ROOM();
    give_aspects();
    for (const kind *k = kinds; k < kinds + COUNT(kinds); k++) {
        for (uint32_t later = 0; later <= 3; later += 3) {
            begin(k, 3, later);
            const unsigned before = runs;
            const dynsel_task task = needing(BIT(1) | BIT(3));
            for (unsigned i = 0; i < 5 * (CONFIG_DYNSEL_MAX_IN_FLIGHT + 1u); i++) {
                assert_status(DYNSEL_E_ASPECT, ask(i % 5, &task));
                /* the first in the list that is lacked by the first that might do */
                assert_error_says(dynsel_aspect_name(ASPECT(k->is_fixed ? 3 : 1)));
                assert_error_says(POLICY->ops->name);
            }
            assert_int_equal(runs, before);
            assert_int_equal(dynsel_get_in_flight_statistics().in_use, 0);
            for (size_t i = 0; i < 3 && CONFIG_DYNSEL_STATISTICS; i++) {
                dynsel_resource_statistics counts;
                assert_status(DYNSEL_OK, dynsel_get_statistics(POLICY, i, &counts));
                assert_int_equal(counts.submitted, 0);
            }
            end();
        }
    }
}

/* A choice made for another task, or by a policy that does not ask. */
static void selection_without_needed_aspect_is_refused_and_withdrawn(void **state)
{
    (void)state;
    NEEDS_ROOM();
    give_aspects();
    for (uint32_t later = 0; later <= 3; later += 3) {
        dynsel_resource resources[3];
        for (uint32_t i = 0; i < 3; i++) {
            resources[i] = (dynsel_resource){
                later == 0 ? &described_later_backend : &described_backend, &devices[i]};
        }
        const dynsel_options options = {.resources = resources, .count = 3};
        memset(&any, 0, sizeof(any));
        chosen_kind = &kinds[0];
        assert_status(DYNSEL_OK, dynsel_policy_init(POLICY, &blind_ops, &options));
        const dynsel_task task = needing(BIT(2));
        for (blind_choice = 0; blind_choice < 2; blind_choice++) {
            for (unsigned how = 0; how < 4; how++) {
                assert_status(DYNSEL_E_ASPECT, ask(how, &task));
                assert_error_says(dynsel_aspect_name(ASPECT(2)));
                assert_int_equal(blind_load, 0);
            }
            dynsel_selection selection;
            assert_status(DYNSEL_OK, dynsel_select(POLICY, &task, &selection));
            assert_status(DYNSEL_E_ASPECT, dynsel_submit_selection(&selection, &task, NULL));
            assert_status(DYNSEL_E_ASPECT, dynsel_submit_selection_and_wait(&selection, &task));
            assert_int_equal(blind_load, 0);
            const dynsel_task simple = needing(0); /* the selection was not consumed */
            assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &simple, NULL));
            assert_status(DYNSEL_E_STALE, dynsel_submit_selection(&selection, &simple, NULL));
            finish_all();
        }
        end();
        assert_int_equal(blind_load, 0);
    }
}

/* The policy that only calls has a way of its own through the core. */
#if CONFIG_DYNSEL_BACKEND_INLINE
static void host_without_needed_aspect_is_refused(void **state)
{
    (void)state;
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    const dynsel_resource three[] = {host, host, host};
    const dynsel_aspect_set has = dynsel_resource_aspects(&host);
    NEEDS(DYNSEL_ASPECT_COUNT >= MOST_ASPECTS && CONFIG_DYNSEL_MAX_RESOURCES >= 3);
    for (const kind *k = kinds; k < kinds + COUNT(kinds); k++) {
        memset(&any, 0, sizeof(any));
        chosen_kind = k;
        assert_status(DYNSEL_OK, k->init(&(dynsel_options){.resources = three, .count = 3}));
        for (unsigned i = 0; i != DYNSEL_ASPECT_COUNT; i++) {
            const dynsel_task task = needing(BIT(i));
            const dynsel_status expected = (has >> i & 1) != 0 ? DYNSEL_OK : DYNSEL_E_ASPECT;
            for (unsigned how = 0; how < 5; how++) {
                assert_status(expected, ask(how, &task));
            }
        }
        end();
    }
}

/* The straight way of a submit, which calls the function itself, looks too. */
static void direct_submit_to_host_without_aspect_is_refused(void **state)
{
    (void)state;
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    const dynsel_options options = {.resources = &host, .count = 1};
    const dynsel_aspect_set has = dynsel_resource_aspects(&host);
    NEEDS(DYNSEL_ASPECT_COUNT >= MOST_ASPECTS);
    memset(&any, 0, sizeof(any));
    chosen_kind = &kinds[0];
    blind_choice = 0;
    assert_status(DYNSEL_OK, dynsel_policy_init(POLICY, &blind_ops, &options));
    for (unsigned i = 0; i != DYNSEL_ASPECT_COUNT; i++) {
        const dynsel_task task = needing(BIT(i));
        const bool is_there = (has >> i & 1) != 0;
        const unsigned before = runs;
        for (unsigned how = 0; how < 4; how++) {
            assert_status(is_there ? DYNSEL_OK : DYNSEL_E_ASPECT, ask(how, &task));
            assert_int_equal(blind_load, 0);
        }
        assert_int_equal(runs, before + (is_there ? 4 : 0));
    }
    end();
}
#endif

static void retire(uint32_t index)
{
    dynsel_health_retire(POLICY, index, DYNSEL_E_DEVICE);
}

static void refusal_error_ranks_form_aspect_and_service(void **state)
{
    (void)state;
    NEEDS_ROOM();
    give_aspects();
    const dynsel_task_form other[] = {{&described_later_backend, run}};
    for (const kind *k = kinds; k < kinds + COUNT(kinds); k++) {
        if (k->is_fixed) {
            continue;
        }
        begin(k, 3, 3);
        for (unsigned how = 0; how < 5; how++) {
            /* no form anywhere, whatever it needs */
            dynsel_task task = {.forms = other, .form_count = 1, .aspects = BIT(3)};
            assert_status(DYNSEL_E_UNSUPPORTED, ask(how, &task));
            task.aspects = 0;
            assert_status(DYNSEL_E_UNSUPPORTED, ask(how, &task));
            /* a form, and no aspects: of those out of service nobody would do either */
            task = needing(BIT(2) | BIT(3));
            retire(0);
            assert_status(DYNSEL_E_ASPECT, ask(how, &task));
            /* the one that would do is out of service */
            task = needing(BIT(2));
            assert_status(DYNSEL_OK, ask(how, &task));
            retire(2);
            assert_status(DYNSEL_E_OUT_OF_SERVICE, ask(how, &task));
            assert_error_says("third");
            for (size_t i = 0; i < 3; i++) {
                put_in_service(POLICY, i);
            }
        }
        end();
    }
}

static void assert_reason(dynsel_reason expected, const dynsel_task *task)
{
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(POLICY, task, &selection));
    if (selection.reason != (uint8_t)expected) {
        fail_msg("%s: %s, expected: %s", POLICY->ops->name,
                 dynsel_reason_text((dynsel_reason)selection.reason), dynsel_reason_text(expected));
    }
}

/* The same three devices: what else stands between the task and the other two? */
static void selection_reason_tells_why_others_are_excluded(void **state)
{
    (void)state;
    NEEDS_ROOM();
    give_aspects();
    for (const kind *k = kinds; k < kinds + COUNT(kinds); k++) {
        if (!k->gives_reason ||
            (k->init == init_auto_tune && CONFIG_DYNSEL_MAX_TUNED_TASKS < KINDS_OF_TASK)) {
            continue;
        }
        begin(k, 3, 2);
        const dynsel_task_form late[] = {{&described_later_backend, run}};
        const dynsel_task_form early[] = {{&described_backend, run}};
        dynsel_task task = {.forms = late, .form_count = 1, .id = 1};
        assert_reason(DYNSEL_REASON_ONLY_CANDIDATE, &task);
        task.aspects = BIT(2); /* the form alone decides */
        assert_reason(DYNSEL_REASON_ONLY_CANDIDATE, &task);
        task = (dynsel_task){.function = run, .id = 2, .aspects = BIT(2)};
        assert_reason(DYNSEL_REASON_ONLY_WITH_ASPECTS, &task);
        task = (dynsel_task){.forms = early, .form_count = 1, .id = 3, .aspects = BIT(1)};
        assert_reason(DYNSEL_REASON_ONLY_WITH_ASPECTS, &task);
        retire(2); /* has no form, so its service does not matter */
        assert_reason(DYNSEL_REASON_ONLY_WITH_ASPECTS, &task);
        task = (dynsel_task){.function = run, .id = 4, .aspects = BIT(1)};
        assert_reason(DYNSEL_REASON_ONLY_IN_SERVICE, &task);
        retire(0); /* out of service and without the aspect: the third still stands out */
        assert_reason(DYNSEL_REASON_ONLY_IN_SERVICE, &task);
        task = (dynsel_task){.function = run, .id = 5};
        assert_reason(DYNSEL_REASON_ONLY_IN_SERVICE, &task);
        for (size_t i = 0; i < 3; i++) {
            put_in_service(POLICY, i);
        }
        end();
    }
}

static void round_robin_rotates_over_suitable_devices(void **state)
{
    (void)state;
    NEEDS_ROOM();
    for (uint32_t i = 0; i < DEVICES; i++) {
        devices[i].aspects = i % 2 == 0 ? BIT(0) | BIT(3) : BIT(1);
    }
    begin(&kinds[2], DEVICES, DEVICES);
    const dynsel_task even = needing(BIT(0) | BIT(3));
    const dynsel_task odd = needing(BIT(1));
    const dynsel_task all = needing(0);
    unsigned counts[3][DEVICES] = {{0}};
    dynsel_selection selection;
    for (int i = 0; i < 300; i++) {
        const dynsel_task *const tasks[] = {&even, &odd, &all};
        for (size_t t = 0; t < 3; t++) {
            assert_status(DYNSEL_OK, dynsel_select(POLICY, tasks[t], &selection));
            counts[t][selection.index]++;
        }
    }
    for (uint32_t i = 0; i < DEVICES; i++) {
        assert_int_equal(counts[0][i], i % 2 == 0 ? 100 : 0);
        assert_int_equal(counts[1][i], i % 2 == 0 ? 0 : 150);
        assert_int_equal(counts[2][i], 60);
    }
    end();
}

/* Two kinds of work that come by turns, and share their first device: none of the others starves.
 */
static void round_robin_with_overlapping_sets_starves_no_device(void **state)
{
    (void)state;
    NEEDS_ROOM();
    devices[0].aspects = BIT(0) | BIT(1);
    devices[1].aspects = BIT(0);
    devices[2].aspects = BIT(1);
    begin(&kinds[2], 3, 3);
    const dynsel_task one = needing(BIT(0));
    const dynsel_task other = needing(BIT(1));
    unsigned counts[2][3] = {{0}};
    for (int i = 0; i < 100; i++) {
        dynsel_selection selection;
        assert_status(DYNSEL_OK, dynsel_select(POLICY, &one, &selection));
        counts[0][selection.index]++;
        assert_status(DYNSEL_OK, dynsel_select(POLICY, &other, &selection));
        counts[1][selection.index]++;
    }
    assert_int_equal(counts[0][0], 50);
    assert_int_equal(counts[0][1], 50);
    assert_int_equal(counts[1][0], 50);
    assert_int_equal(counts[1][2], 50);
    end();
}

static dynsel_word *only_set(void)
{
    dynsel_word *found = NULL;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        dynsel_word *word = &any.round_robin.partial_turns[i];
        if (word->value != 0) {
            assert_null(found);
            found = word;
        }
    }
    assert_non_null(found);
    return found;
}

/* The count of a set that is not all of them starts anew before it reaches the set's name. */
static void round_robin_turns_of_subset_survive_counter_wrap(void **state)
{
    (void)state;
    NEEDS_ROOM();
    for (uint32_t i = 0; i < 3; i++) {
        devices[i].aspects = BIT(0);
    }
    begin(&kinds[2], 5, 5);
    const dynsel_task task = needing(BIT(0));
    dynsel_selection selection;
    for (uint32_t i = 0; i < 60; i++) {
        assert_status(DYNSEL_OK, dynsel_select(POLICY, &task, &selection));
        assert_int_equal(selection.index, i % 3);
        if (i == 29) { /* as if it had run for long: 2^19 is the most, less a remainder */
            only_set()->value += (1u << 19) - (1u << 19) % 3 - 30 - 15;
        }
    }
    assert_int_equal(only_set()->value % (1u << 20), 15);
    end();
}

static void dynamic_load_selects_least_loaded_suitable_device(void **state)
{
    (void)state;
    NEEDS_ROOM();
    give_aspects();
    begin(&kinds[3], 3, 0);
    const dynsel_task task = needing(BIT(1));
    for (uint32_t i = 0; i < 6; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(POLICY, &task, NULL));
    }
    assert_int_equal(any.dynamic_load.loads[0].value, 0);
    assert_int_equal(any.dynamic_load.loads[1].value, 3);
    assert_int_equal(any.dynamic_load.loads[2].value, 3);
    const dynsel_task nowhere = needing(BIT(1) | BIT(3));
    assert_status(DYNSEL_E_ASPECT, dynsel_submit(POLICY, &nowhere, NULL));
    assert_int_equal(any.dynamic_load.loads[1].value + any.dynamic_load.loads[2].value, 6);
    end();
}

/* Random programs, against what the headers say. */
typedef struct model {
    const kind *kind;
    uint32_t count;
    uint32_t later;
    bool is_out[DEVICES];
    unsigned placed[DEVICES];
} model;

static const dynsel_task_form early_form[] = {{&described_backend, run}};
static const dynsel_task_form later_form[] = {{&described_later_backend, run}};

/* forms: 0: one function; 1, 2: for one of the backends. */
static bool has_form(const model *m, uint32_t index, uint32_t forms)
{
    return forms == 0 || (forms == 1) == (index < m->later);
}

static bool may_choose(const model *m, uint32_t index)
{
    return !m->kind->is_fixed || index == 1;
}

typedef struct outlook {
    uint32_t fit;     /* could run it now */
    uint32_t out;     /* would do, but are out of service */
    uint32_t lacking; /* have a form, and lack aspects */
    uint32_t without; /* have no form */
    uint32_t only;    /* the last that fits */
} outlook;

static outlook look(const model *m, dynsel_aspect_set aspects, uint32_t forms)
{
    outlook o = {.fit = 0};
    for (uint32_t i = 0; i < m->count; i++) {
        if (!may_choose(m, i)) {
            continue;
        }
        if (!has_form(m, i, forms)) {
            o.without++;
        } else if ((aspects & ~devices[i].aspects) != 0) {
            o.lacking++;
        } else if (m->is_out[i]) {
            o.out++;
        } else {
            o.fit++;
            o.only = i;
        }
    }
    return o;
}

static dynsel_status status_of(const outlook *o)
{
    if (o->fit != 0) {
        return DYNSEL_OK;
    }
    if (o->out != 0) {
        return DYNSEL_E_OUT_OF_SERVICE;
    }
    return o->lacking != 0 ? DYNSEL_E_ASPECT : DYNSEL_E_UNSUPPORTED;
}

static dynsel_reason reason_of(const outlook *o)
{
    if (o->out != 0) {
        return DYNSEL_REASON_ONLY_IN_SERVICE;
    }
    return o->lacking != 0 ? DYNSEL_REASON_ONLY_WITH_ASPECTS : DYNSEL_REASON_ONLY_CANDIDATE;
}

static void check_choice(const model *m, const dynsel_selection *selection, const outlook *o,
                         const dynsel_task *task, uint32_t forms)
{
    const uint32_t index = selection->index;
    assert_true(index < m->count && may_choose(m, index) && !m->is_out[index]);
    assert_true(has_form(m, index, forms));
    assert_int_equal(task->aspects & ~devices[index].aspects, 0);
    if (o->fit == 1) {
        assert_int_equal(index, o->only);
        if (m->kind->gives_reason && selection->reason != DYNSEL_REASON_BEST_KNOWN &&
            selection->reason != DYNSEL_REASON_UNTRACKED) {
            assert_int_equal(selection->reason, reason_of(o));
        }
    }
}

static void place(model *m, test_random *random)
{
    const uint32_t forms = test_random_below(random, 4) % 3;
    dynsel_task task = {.function = forms == 0 ? run : NULL,
                        .forms = forms == 1 ? early_form : later_form,
                        .form_count = forms != 0,
                        .id = 1 + forms,
                        .aspects = test_random_few_bits(random) & 15};
    const outlook o = look(m, task.aspects, forms);
    dynsel_selection selection;
    const unsigned before = runs;
    const uint32_t how = test_random_below(random, 4);
    if (how == 0) {
        assert_status(status_of(&o), dynsel_select(POLICY, &task, &selection));
        if (o.fit != 0) {
            check_choice(m, &selection, &o, &task, forms);
            assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, NULL));
        }
    } else {
        assert_status(status_of(&o), how == 1 ? dynsel_submit(POLICY, &task, NULL)
                                              : dynsel_try_submit(POLICY, &task, NULL));
    }
    assert_int_equal(runs, before + (o.fit != 0 ? 1 : 0));
    if (o.fit != 0) {
        const uint32_t index = (uint32_t)(ran - POLICY->resources);
        selection = (dynsel_selection){.index = index, .reason = DYNSEL_REASON_BEST_KNOWN};
        check_choice(m, &selection, &o, &task, forms);
        m->placed[index]++;
    } else if (o.lacking != 0 && o.out == 0) {
        assert_error_says("needs ");
    }
}

/* Such a resource takes one piece of work at a time, which the model does not know. */
static bool one_is_on_probation(const model *m)
{
    uint32_t out = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        out += m->is_out[i] ? 1 : 0;
    }
    return dynsel_policy_impairment(POLICY) != out;
}

static void step(model *m, test_random *random)
{
    const uint32_t what = test_random_below(random, 10);
    const uint32_t index = test_random_below(random, m->count);
    if (what < 7) {
        place(m, random);
    } else if (what == 7) {
        retire(index);
        m->is_out[index] = true;
    } else {
        put_in_service(POLICY, index);
        m->is_out[index] = false;
    }
    if (dynsel_get_in_flight_statistics().in_use > CONFIG_DYNSEL_MAX_IN_FLIGHT / 2 || what == 9 ||
        one_is_on_probation(m)) {
        finish_all();
    }
}

static void random_tasks_run_only_on_permitted_devices(void **state)
{
    (void)state;
    NEEDS_ROOM();
    test_random random = {test_seed()};
    for (int program = 0; program < PROGRAMS; program++) {
        model m = {.kind = &kinds[test_random_below(&random, COUNT(kinds))],
                   .count = 3 + test_random_below(&random, DEVICES - 2)};
        m.later = test_random_below(&random, m.count + 1);
        for (uint32_t i = 0; i < m.count; i++) {
            devices[i].aspects = test_random_next(&random) & 15;
        }
        begin(m.kind, m.count, m.later);
        for (int i = 0; i < STEPS; i++) {
            step(&m, &random);
        }
        finish_all();
        for (uint32_t i = 0; i < m.count && CONFIG_DYNSEL_STATISTICS; i++) {
            dynsel_resource_statistics counts;
            assert_status(DYNSEL_OK, dynsel_get_statistics(POLICY, i, &counts));
            assert_int_equal(counts.submitted, m.placed[i]);
            assert_int_equal(counts.completed, m.placed[i]);
        }
        end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tasks_run_only_on_devices_with_needed_aspects),
        TEST(task_without_suitable_device_leaves_no_trace),
        TEST(selection_without_needed_aspect_is_refused_and_withdrawn),
#if CONFIG_DYNSEL_BACKEND_INLINE
        TEST(host_without_needed_aspect_is_refused),
        TEST(direct_submit_to_host_without_aspect_is_refused),
#endif
        TEST(refusal_error_ranks_form_aspect_and_service),
        TEST(selection_reason_tells_why_others_are_excluded),
        TEST(round_robin_rotates_over_suitable_devices),
        TEST(round_robin_with_overlapping_sets_starves_no_device),
        TEST(round_robin_turns_of_subset_survive_counter_wrap),
        TEST(dynamic_load_selects_least_loaded_suitable_device),
        TEST(random_tasks_run_only_on_permitted_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
