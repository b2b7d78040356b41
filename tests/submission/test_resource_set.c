/* SPDX-License-Identifier: Apache-2.0 */
/* Resources are added to policies in use and removed from them, one after the other and by whole
 * sets; and what a program can do wrong with that. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "test.h"

enum { FOREVER_NS = 1000000000, MOST = CONFIG_DYNSEL_MAX_RESOURCES };

static manual_backend manual;
static union {
    dynsel_policy policy;
    dynsel_round_robin_policy round_robin;
    dynsel_dynamic_load_policy dynamic_load;
    dynsel_auto_tune_policy auto_tune;
    dynsel_fixed_resource_policy fixed;
} any;

static dynsel_policy *const policy = &any.policy;

/* What the hook heard last, and how often. */
static dynsel_resource_change heard;
static unsigned changes;

static bool second_served; /* when the first was removed */

static void hear(const dynsel_resource_change *change)
{
    heard = *change;
    changes++;
    if (change->index == 0 && change->after == DYNSEL_RESOURCE_REMOVED) {
        second_served = dynsel_resource_in_service(change->policy, 1) == DYNSEL_OK;
    }
}

static dynsel_options options_of(const dynsel_resource *resources, size_t count)
{
    return (dynsel_options){
        .resources = resources, .count = count, .resource_changed = hear, .may_change = true};
}

/* Over the first `count` queues. */
static void begin(size_t count)
{
    dynsel_resource resources[MANUAL_QUEUES];
    for (unsigned i = 0; i < count; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    const dynsel_options options = options_of(resources, count);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&any.round_robin, &options, 0));
}

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, true);
    (void)__builtin_memset(&any, 0, sizeof any);
    heard = (dynsel_resource_change){.policy = NULL};
    changes = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (policy->self != NULL) {
        assert_true(dynsel_invariants_hold(policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    }
    for (unsigned i = 0; i < MANUAL_QUEUES; i++) {
        assert_int_equal(0, atomic_load(&manual.queues[i].attached));
    }
    manual_assert_clean(&manual);
    return 0;
}

static dynsel_status add(unsigned queue, size_t *index)
{
    const dynsel_resource resource = manual_resource(&manual, queue);
    return dynsel_policy_add_resource(policy, &resource, index);
}

static dynsel_status remove_now(size_t index)
{
    return dynsel_policy_remove_resource(policy, index, 0);
}

static dynsel_resource_state state_of(size_t index)
{
    dynsel_resource_state seen = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_OK, dynsel_resource_get_state(policy, index, &seen));
    return seen;
}

static dynsel_status run_and_tell(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done;
    *(const dynsel_resource **)args = where;
    return DYNSEL_OK;
}

/* Runs pieces of work one after the other; which queues they came to, as bits. */
static unsigned queues_of(unsigned pieces)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < pieces; i++) {
        const dynsel_resource *where = NULL;
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(policy, &DYNSEL_TASK(run_and_tell, (void *)&where)));
        seen |= 1u << ((const manual_queue *)where->handle - manual.queues);
    }
    return seen;
}

static void added_resource_gets_work_and_is_told(void **state)
{
    (void)state;
    size_t index = 9;
    begin(1);
    assert_int_equal(1, queues_of(4));
    assert_status(DYNSEL_OK, add(2, &index));
    assert_int_equal(1, index);
    assert_int_equal(1, changes);
    assert_int_equal(1, heard.index);
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, heard.before);
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, heard.after);
    assert_int_equal(DYNSEL_OK, heard.cause);
    size_t count = 0;
    assert_ptr_equal(&manual.queues[2], dynsel_get_resources(policy, &count)[1].handle);
    assert_int_equal(2, count);
    assert_int_equal(1, atomic_load(&manual.queues[2].attached));
    assert_int_equal(5, queues_of(4));
    assert_true(dynsel_invariants_hold(policy));
}

static void removed_resource_gets_no_work_and_comes_back_to_its_place(void **state)
{
    (void)state;
    size_t index = 9;
    begin(3);
    assert_int_equal(7, queues_of(6));
    dynsel_resource_statistics before = {0};
    assert_status(CONFIG_DYNSEL_STATISTICS ? DYNSEL_OK : DYNSEL_E_UNSUPPORTED,
                  dynsel_get_statistics(policy, 1, &before));
    assert_status(DYNSEL_OK, remove_now(1));
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, heard.after);
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, state_of(1));
    assert_int_equal(0, atomic_load(&manual.queues[1].attached));
    assert_int_equal(5, queues_of(6));
    size_t count = 0;
    assert_ptr_equal(&manual.queues[1], dynsel_get_resources(policy, &count)[1].handle);
    assert_int_equal(3, count);
    assert_status(DYNSEL_OK, add(1, &index));
    assert_int_equal(1, index);
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state_of(1));
    assert_int_equal(7, queues_of(6));
    dynsel_resource_statistics after = {0};
    if (CONFIG_DYNSEL_STATISTICS) {
        assert_status(DYNSEL_OK, dynsel_get_statistics(policy, 1, &after));
        assert_int_equal(before.completed + 2, after.completed);
    }
    assert_int_equal(1, atomic_load(&manual.queues[1].attached));
}

static dynsel_status start_in_caller(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

/* Backends that take any address for a handle, and whose work is over when the submit returns. */
static const dynsel_backend_ops generic_ops = {
    .name = "generic", .reports = DYNSEL_TASK_SUBMISSION, .start = start_in_caller};
static const dynsel_backend_ops timed_ops = {.name = "timed",
                                             .reports = DYNSEL_TASK_SUBMISSION |
                                                        DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                             .start = start_in_caller};
static dynsel_backend generic = {.ops = &generic_ops};
static dynsel_backend timed = {.ops = &timed_ops};
static char handles[MOST + 1];

static void use_what_is_added_and_not_what_is_removed(dynsel_backend *backend)
{
    const dynsel_resource resources[] = {{backend, &manual.queues[0]},
                                         {backend, &manual.queues[1]}};
    assert_int_equal(1, queues_of(3));
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &resources[1], NULL));
    assert_int_equal(3, queues_of(8));
    assert_status(DYNSEL_OK, remove_now(0));
    assert_int_equal(2, queues_of(8));
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &resources[0], NULL));
    assert_status(DYNSEL_OK, remove_now(1));
    assert_int_equal(1, queues_of(8));
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    (void)__builtin_memset(&any, 0, sizeof any);
}

static void auto_tune_and_round_robin_use_what_is_there(void **state)
{
    (void)state;
    const dynsel_resource first = {&timed, &manual.queues[0]};
    const dynsel_options options = options_of(&first, 1);
    assert_status(DYNSEL_OK,
                  dynsel_auto_tune_init(&any.auto_tune, &options, DYNSEL_NEVER_RESAMPLE));
    use_what_is_added_and_not_what_is_removed(&timed);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&any.round_robin, &options, 0));
    use_what_is_added_and_not_what_is_removed(&timed);
}

static void dynamic_load_counts_what_is_there(void **state)
{
    (void)state;
    const dynsel_resource first = manual_resource(&manual, 0);
    const dynsel_options options = options_of(&first, 1);
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&any.dynamic_load, &options));
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    }
    assert_status(DYNSEL_OK, add(1, NULL));
    assert_int_equal(2, queues_of(4));
    assert_status(DYNSEL_E_TIMEOUT, remove_now(0));
    for (unsigned i = 0; i < 3; i++) {
        manual_complete(&manual, i);
    }
    assert_status(DYNSEL_OK, remove_now(0));
    assert_int_equal(2, queues_of(4));
    assert_status(DYNSEL_OK, add(0, NULL));
    assert_int_equal(1, queues_of(4));
}

static void fixed_resource_refuses_while_its_resource_is_removed(void **state)
{
    (void)state;
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    const dynsel_options options = options_of(resources, 2);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&any.fixed, &options, 1));
    assert_int_equal(2, queues_of(1));
    assert_status(DYNSEL_OK, remove_now(1));
    const dynsel_resource *where = NULL;
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit(policy, &DYNSEL_TASK(run_and_tell, (void *)&where), NULL));
    assert_error_says("dynsel_policy_add_resource");
    assert_status(DYNSEL_OK, add(1, NULL));
    assert_int_equal(2, queues_of(1));
}

static void removal_waits_for_work_and_for_its_submission(void **state)
{
    (void)state;
    begin(2);
    dynsel_submission submission;
    dynsel_selection selection = {.policy = policy, .index = 1};
    assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL),
                                                     &submission));
    assert_status(DYNSEL_E_TIMEOUT, remove_now(1));
    assert_error_says("1 pieces of work");
    assert_int_equal(DYNSEL_RESOURCE_DRAINING, state_of(1));
    assert_int_equal(1, queues_of(4));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_policy_remove_resource(policy, 1, 1000000));
    manual_complete(&manual, 0);
    /* it may be waited for, and its event is the backend's until then */
    assert_status(DYNSEL_E_TIMEOUT, remove_now(1));
    assert_int_equal(1, atomic_load(&manual.queues[1].attached));
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, remove_now(1));
    assert_int_equal(0, atomic_load(&manual.queues[1].attached));
    assert_ptr_equal(&manual.queues[1], dynsel_submission_resource(&submission)->handle);
}

static void removal_that_timed_out_can_be_taken_back(void **state)
{
    (void)state;
    begin(2);
    dynsel_selection selection = {.policy = policy, .index = 1};
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_TIMEOUT, remove_now(1));
    assert_status(DYNSEL_E_INVALID, add(1, NULL));
    assert_error_says("index 1");
    assert_status(DYNSEL_OK, dynsel_resource_reinstate(policy, 1));
    assert_int_equal(3, queues_of(4));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
}

#if CONFIG_DYNSEL_TIME_LIMITS
static void hanging_resource_is_given_up_and_removed(void **state)
{
    (void)state;
    begin(2);
    dynsel_selection selection = {.policy = policy, .index = 1};
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_policy_remove_resource(policy, 1, 1000000));
    assert_status(DYNSEL_OK, dynsel_resource_give_up(policy, 1));
    assert_status(DYNSEL_OK, remove_now(1));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_give_up(policy, 1));
    assert_int_equal(1, queues_of(4));
    assert_status(DYNSEL_E_GIVEN_UP, dynsel_wait_group(dynsel_get_submission_group(policy)));
}
#endif

static void mistakes_change_nothing(void **state)
{
    (void)state;
    const dynsel_resource broken = {.backend = NULL};
    const dynsel_resource refused = manual_resource(&manual, 3);
    begin(2);
    size_t index = 77;
    assert_status(DYNSEL_E_INVALID, dynsel_policy_add_resource(policy, NULL, &index));
    assert_status(DYNSEL_E_INVALID, dynsel_policy_add_resource(NULL, &refused, &index));
    assert_status(DYNSEL_E_INVALID, dynsel_policy_add_resource(policy, &broken, &index));
    assert_error_says("dynsel_policy_add_resource");
    assert_status(DYNSEL_E_INVALID, add(1, &index));
    assert_error_says("index 1");
    manual.queues[3].refuses_attach = true;
    assert_int_not_equal(DYNSEL_OK, add(3, &index));
    assert_status(DYNSEL_E_INVALID, remove_now(2));
    assert_status(DYNSEL_E_INVALID, dynsel_policy_remove_resource(NULL, 0, 0));
    assert_status(DYNSEL_OK, remove_now(1));
    assert_status(DYNSEL_E_STALE, remove_now(1));
    assert_status(DYNSEL_E_NO_RESOURCE, remove_now(0));
    assert_error_says("add another one");
    assert_status(DYNSEL_E_INVALID, dynsel_resource_reinstate(policy, 1));
    assert_error_says("was removed");
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_retire(policy, 1));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_drain(policy, 1));
    assert_int_equal(77, index);
    size_t count = 0;
    (void)dynsel_get_resources(policy, &count);
    assert_int_equal(2, count);
    assert_int_equal(1, queues_of(3));
    any.policy.changing.value = 1; /* as another thread does */
    assert_status(DYNSEL_E_BUSY, add(2, &index));
    assert_status(DYNSEL_E_BUSY, remove_now(0));
    assert_status(DYNSEL_E_BUSY, dynsel_policy_set_resources(policy, NULL, 0));
    any.policy.changing.value = 0;
}

static void policy_without_permission_refuses(void **state)
{
    (void)state;
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    dynsel_options options = options_of(resources, 2);
    options.may_change = false;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&any.round_robin, &options, 0));
    assert_status(DYNSEL_E_UNSUPPORTED, add(2, NULL));
    assert_error_says("may_change");
    assert_status(DYNSEL_E_UNSUPPORTED, remove_now(1));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_policy_set_resources(policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_status(DYNSEL_E_UNINITIALIZED, add(2, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED, remove_now(1));
}

static dynsel_status change_inside(const dynsel_resource *where, void *args, dynsel_event *done)
{
    dynsel_status *const seen = args;
    (void)where;
    (void)done;
    seen[0] = add(2, NULL);
    seen[1] = remove_now(0);
    seen[2] = dynsel_policy_set_resources(policy, NULL, 0);
    return DYNSEL_OK;
}

static void task_function_cannot_change_the_set(void **state)
{
    (void)state;
    dynsel_status seen[3] = {DYNSEL_OK, DYNSEL_OK, DYNSEL_OK};
    begin(2);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(policy, &DYNSEL_TASK(change_inside, seen)));
    assert_status(DYNSEL_E_IN_TASK, seen[0]);
    assert_status(DYNSEL_E_IN_TASK, seen[1]);
    assert_status(DYNSEL_E_IN_TASK, seen[2]);
    assert_status(DYNSEL_OK, add(2, NULL));
}

static void full_table_takes_only_what_it_had(void **state)
{
    (void)state;
    begin(1);
    for (unsigned i = 1; i < MOST; i++) {
        const dynsel_resource more = {&generic, &handles[i]};
        assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &more, NULL));
        assert_status(DYNSEL_OK, remove_now(i));
    }
    const dynsel_resource more = {&generic, &handles[0]};
    const dynsel_resource again = {&generic, &handles[1]};
    assert_status(DYNSEL_E_FULL, dynsel_policy_add_resource(policy, &more, NULL));
    assert_error_says("CONFIG_DYNSEL_MAX_RESOURCES");
    assert_error_number(MOST + 1);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &again, NULL));
}

static void backend_that_reports_too_little_is_refused(void **state)
{
    (void)state;
    const dynsel_resource first = manual_resource(&manual, 0);
    const dynsel_resource silent = {&generic, &handles[0]};
    const dynsel_options options = options_of(&first, 1);
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&any.dynamic_load, &options));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_policy_add_resource(policy, &silent, NULL));
    assert_error_says("does not report");
    assert_error_says("dynsel_policy_add_resource");
}

/* Each handle is one of the next queue's. */
static void *next_queue(void *handle)
{
    return (manual_queue *)handle + 1;
}

static void added_handle_is_adapted(void **state)
{
    (void)state;
    const dynsel_resource first = manual_resource(&manual, 0);
    dynsel_options options = options_of(&first, 1);
    options.adapt = next_queue;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&any.round_robin, &options, 0));
    assert_status(DYNSEL_OK, add(2, NULL));
    assert_int_equal(1, atomic_load(&manual.queues[1].attached));
    assert_int_equal(1, atomic_load(&manual.queues[3].attached));
    assert_status(DYNSEL_OK, remove_now(1));
    assert_int_equal(0, atomic_load(&manual.queues[3].attached));
}

static dynsel_status set_to(const unsigned *queues, size_t count, uint64_t timeout_ns)
{
    dynsel_resource resources[MANUAL_QUEUES];
    for (size_t i = 0; i < count; i++) {
        resources[i] = manual_resource(&manual, queues[i]);
    }
    const dynsel_options options = {.resources = resources, .count = count};
    return dynsel_policy_set_resources(policy, &options, timeout_ns);
}

static void new_set_keeps_adds_and_removes(void **state)
{
    (void)state;
    begin(2);
    assert_status(DYNSEL_OK, set_to((const unsigned[]){1, 2, 3}, 3, 0));
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, state_of(0));
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state_of(1));
    assert_int_equal(5, changes); /* two came; one drained, was out of service, and removed */
    assert_int_equal(14, queues_of(12));
    for (unsigned i = 0; i < MANUAL_QUEUES; i++) {
        assert_int_equal(i == 0 ? 0 : 1, atomic_load(&manual.queues[i].attached));
    }
    assert_true(second_served);
    assert_status(DYNSEL_OK, set_to((const unsigned[]){0}, 1, 0));
    assert_int_equal(1, queues_of(3));
    assert_status(DYNSEL_OK, set_to((const unsigned[]){0}, 1, 0));
    assert_int_equal(1, atomic_load(&manual.queues[0].attached));
    size_t count = 0;
    (void)dynsel_get_resources(policy, &count);
    assert_int_equal(4, count);
    /* none that is to go gets work while another one is removed */
    assert_status(DYNSEL_OK, set_to((const unsigned[]){0, 1}, 2, 0));
    assert_status(DYNSEL_OK, set_to((const unsigned[]){2}, 1, 0));
    assert_false(second_served);
}

static void set_whose_member_fails_changes_nothing(void **state)
{
    (void)state;
    begin(3);
    manual.queues[3].refuses_attach = true;
    assert_int_not_equal(DYNSEL_OK, set_to((const unsigned[]){1, 3}, 2, 0));
    assert_int_equal(0, changes);
    assert_int_equal(7, queues_of(6));
    const dynsel_options both = {.resources = NULL, .count = 1};
    assert_status(DYNSEL_E_INVALID, dynsel_policy_set_resources(policy, &both, 0));
    assert_int_equal(7, queues_of(6));
    assert_status(DYNSEL_OK, dynsel_resource_retire(policy, 1));
    assert_status(DYNSEL_E_NO_RESOURCE, set_to((const unsigned[]){1}, 1, 0));
    assert_int_equal(5, queues_of(4)); /* none of the two was removed */
}

/* What is removed too late is not in the way, and goes with the next call. */
static void set_replaces_a_busy_resource_later(void **state)
{
    (void)state;
    begin(1);
    assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_TIMEOUT, set_to((const unsigned[]){1, 2}, 2, 1000000));
    assert_int_equal(DYNSEL_RESOURCE_DRAINING, state_of(0));
    assert_int_equal(6, queues_of(4));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, set_to((const unsigned[]){1, 2}, 2, FOREVER_NS));
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, state_of(0));
}

static void resource_that_drains_stays_if_the_new_set_has_it(void **state)
{
    (void)state;
    begin(2);
    dynsel_selection selection = {.policy = policy, .index = 1};
    assert_status(DYNSEL_OK,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_status(DYNSEL_E_TIMEOUT, remove_now(1));
    assert_status(DYNSEL_OK, set_to((const unsigned[]){1}, 1, 0));
    assert_int_equal(DYNSEL_RESOURCE_IN_SERVICE, state_of(1));
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, state_of(0));
    manual_complete(&manual, 0);
    assert_int_equal(2, queues_of(2));
}

static void selection_of_removed_resource_is_refused(void **state)
{
    (void)state;
    begin(2);
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(policy, &DYNSEL_TASK(manual_enqueue, NULL), &selection));
    const size_t chosen = selection.index;
    assert_status(DYNSEL_OK, remove_now(chosen));
    assert_status(DYNSEL_E_OUT_OF_SERVICE,
                  dynsel_submit_selection(&selection, &DYNSEL_TASK(manual_enqueue, NULL), NULL));
    assert_int_equal(0, atomic_load(&manual.starts));
}

/* A policy of the program's: it takes two resources at most. */
typedef struct picky {
    dynsel_policy policy;
    unsigned added, came, went;
} picky;

static picky own;

static dynsel_status choose_last(dynsel_policy *base, const dynsel_task *task,
                                 dynsel_selection *selection)
{
    size_t count = 0;
    (void)dynsel_get_resources(base, &count);
    while (count > 0 && !dynsel_policy_may_use(base, (uint32_t)count - 1, task)) {
        count--;
    }
    selection->index = (uint32_t)count - 1;
    return count > 0 ? DYNSEL_OK : dynsel_policy_refuse(base, task);
}

static dynsel_status take_two(dynsel_policy *base, uint32_t index)
{
    ((picky *)base)->added++;
    return index < 2 ? DYNSEL_OK : DYNSEL_E_FULL;
}

static void note_came(dynsel_policy *base, uint32_t index)
{
    assert_true(dynsel_policy_may_use(base, index, &DYNSEL_TASK(manual_enqueue, NULL)));
    ((picky *)base)->came++;
}

static void note_went(dynsel_policy *base, uint32_t index)
{
    assert_false(dynsel_policy_may_use(base, index, &DYNSEL_TASK(manual_enqueue, NULL)));
    ((picky *)base)->went++;
}

static void custom_policy_hears_and_may_refuse(void **state)
{
    (void)state;
    static const dynsel_policy_ops deaf = {.name = "deaf", .try_select = choose_last};
    static const dynsel_policy_ops ops = {.name = "picky",
                                          .try_select = choose_last,
                                          .add_resource = take_two,
                                          .resource_added = note_came,
                                          .resource_removed = note_went};
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1),
                                         manual_resource(&manual, 2)};
    const dynsel_options options = options_of(resources, 1);
    own = (picky){.added = 0};
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_policy_init(&own.policy, &deaf, &options));
    assert_error_says("add_resource");
    assert_status(DYNSEL_OK, dynsel_policy_init(&own.policy, &ops, &options));
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(&own.policy, &resources[1], NULL));
    assert_status(DYNSEL_E_FULL, dynsel_policy_add_resource(&own.policy, &resources[2], NULL));
    assert_error_says("the policy refuses");
    assert_int_equal(0, atomic_load(&manual.queues[2].attached));
    assert_int_equal(2, own.added);
    assert_int_equal(1, own.came);
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(&own.policy, 1, 0));
    assert_int_equal(1, own.went);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(&own.policy, &resources[1], NULL));
    assert_int_equal(2, own.added);
    assert_int_equal(2, own.came);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
}

static unsigned choices;

/* Looks at the two resources one after the other; between the looks the set is replaced, the first
 * time. */
static dynsel_status choose_while_the_set_changes(dynsel_policy *base, const dynsel_task *task,
                                                  dynsel_selection *selection)
{
    const dynsel_resource first = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &first, .count = 1};
    if (dynsel_policy_may_use(base, 0, task)) {
        selection->index = 0;
        return DYNSEL_OK;
    }
    if (choices++ == 0) {
        assert_status(DYNSEL_OK, dynsel_policy_set_resources(base, &options, 0));
    }
    selection->index = 1;
    return dynsel_policy_may_use(base, 1, task) ? DYNSEL_OK : dynsel_policy_refuse(base, task);
}

static void submit_during_a_replacement_finds_the_new_resource(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "slow to look",
                                          .try_select = choose_while_the_set_changes,
                                          .add_resource = take_two};
    const dynsel_resource resources[] = {manual_resource(&manual, 0), manual_resource(&manual, 1)};
    const dynsel_options options = options_of(resources, 2);
    own = (picky){.added = 0};
    choices = 0;
    assert_status(DYNSEL_OK, dynsel_policy_init(&own.policy, &ops, &options));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(&own.policy, 0, 0));
    const dynsel_resource *where = NULL;
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&own.policy, &DYNSEL_TASK(run_and_tell, (void *)&where)));
    assert_ptr_equal(&manual.queues[0], where->handle);
    assert_int_equal(1, choices);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
}

#if CONFIG_DYNSEL_BACKEND_INLINE
/* Work in the caller takes slots from the beginning, so that what comes later can. */
static void policy_of_the_host_gets_a_device(void **state)
{
    (void)state;
    const dynsel_options options = {.backend = &dynsel_inline_backend, .may_change = true};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&any.round_robin, &options, 0));
    assert_status(DYNSEL_OK, add(0, NULL));
    const dynsel_options device = {
        .resources = &(dynsel_resource){&manual.backend, &manual.queues[0]}, .count = 1};
    assert_status(DYNSEL_OK, dynsel_policy_set_resources(policy, &device, 0));
    dynsel_submission submission;
    assert_status(DYNSEL_OK,
                  dynsel_submit(policy, &DYNSEL_TASK(manual_enqueue, NULL), &submission));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    manual_complete(&manual, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    const dynsel_options host = {.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK, dynsel_policy_set_resources(policy, &host, 0));
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, state_of(1));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(added_resource_gets_work_and_is_told),
        TEST(removed_resource_gets_no_work_and_comes_back_to_its_place),
        TEST(auto_tune_and_round_robin_use_what_is_there),
        TEST(dynamic_load_counts_what_is_there),
        TEST(fixed_resource_refuses_while_its_resource_is_removed),
        TEST(removal_waits_for_work_and_for_its_submission),
        TEST(removal_that_timed_out_can_be_taken_back),
#if CONFIG_DYNSEL_TIME_LIMITS
        TEST(hanging_resource_is_given_up_and_removed),
#endif
        TEST(mistakes_change_nothing),
        TEST(policy_without_permission_refuses),
        TEST(task_function_cannot_change_the_set),
        TEST(full_table_takes_only_what_it_had),
        TEST(backend_that_reports_too_little_is_refused),
        TEST(added_handle_is_adapted),
        TEST(new_set_keeps_adds_and_removes),
        TEST(set_whose_member_fails_changes_nothing),
        TEST(set_replaces_a_busy_resource_later),
        TEST(resource_that_drains_stays_if_the_new_set_has_it),
        TEST(selection_of_removed_resource_is_refused),
        TEST(custom_policy_hears_and_may_refuse),
        TEST(submit_during_a_replacement_finds_the_new_resource),
#if CONFIG_DYNSEL_BACKEND_INLINE
        TEST(policy_of_the_host_gets_a_device),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
