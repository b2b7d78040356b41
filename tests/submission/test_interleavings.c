/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads use one slot, in every order of their atomic operations: src/submission is compiled
 * for this test so that another thread may run before each operation.
 */
#include <dynsel/dynsel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stepping/step.h"
#include "submission/pending.h"
#include "submission/slot.h"
#include "test.h"

/* Last: its short names would hide parameters of the headers above. */
#include "interleavings_work.h"

enum { MOST_RESULTS = 8, NEVER = EVENTS };

/* The library's other sources, whose table is larger, refer to it. */
dynsel_word dynsel_slots_opened;

/* The backend: work on the device ends by an operation of the scenario, or by a wait for it. */

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    if (world.device_lost) {
        return DYNSEL_E_OUT_OF_SERVICE;
    }
    dynsel_work_call(work);
    event *made = work->done.native;
    made->token = work->token;
    if (made->marks_itself && backend->ops->marks_completion) {
        made->state = ENDED;
        (void)dynsel_complete(work->token, made->fails ? DYNSEL_E_DEVICE : DYNSEL_OK, 1);
    }
    return DYNSEL_OK;
}

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    world.attached++;
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    step_before(STEP_WRITES);
    world.attached--;
}

static dynsel_status end_of(const event *which)
{
    expect(which->releases == 0, "an event was used after its release");
    return which->fails ? dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE}) : DYNSEL_OK;
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    const event *which = work->done.native;
    (void)backend;
    step_before(STEP_READS);
    expect(which->releases == 0, "an event was polled after its release");
    return which->state == RUNNING ? DYNSEL_E_AGAIN : end_of(which);
}

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    event *which = work->done.native;
    (void)backend;
    step_before(STEP_WRITES);
    for (event *before = world.events; world.in_order && before < which; before++) {
        before->state = ENDED;
    }
    which->state = ENDED;
    return end_of(which);
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    event *which = work->done.native;
    (void)backend;
    step_before(STEP_WRITES);
    which->releases++;
    expect(which->state == ENDED, "an event was released before its end");
    expect(world.attached > (world.other.self != NULL ? 1 : 0),
           "an event was released after its policy detached from the device");
}

#define BACKEND_OPS                                                                                \
    .name = "stepping", .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,                \
    .outlives_submit = true, .attach = attach, .detach = detach, .start = start,                   \
    .release = release

typedef enum backend_kind { SYNCHRONIZING, POLLING, MARKING, BACKENDS } backend_kind;

static const dynsel_backend_ops backend_ops[BACKENDS] = {
    [SYNCHRONIZING] = {BACKEND_OPS, .poll = poll, .wait = wait, .poll_synchronizes = true},
    [POLLING] = {BACKEND_OPS, .poll = poll, .wait = wait},
    [MARKING] = {BACKEND_OPS, .marks_completion = true},
};

static dynsel_backend backend;

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    event *made = &world.events[world.event_count++];
    made->fails = world.next_fails;
    done->native = made;
    if (args != NULL) {
        handle *const own = args;
        own->of = made;
        made->marks_itself = own->pending || own->awaited;
        made->fails = made->fails || own->fails;
    }
    return DYNSEL_OK;
}

/* Operations of a thread. `which` is a handle or an event. */

static void submit(unsigned which)
{
    const dynsel_status status =
        dynsel_try_submit(&world.policy, &DYNSEL_TASK(enqueue, NULL), NULL);
    (void)which;
    world.full += status == DYNSEL_E_FULL ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_FULL, "submit");
}

static void lose_device(unsigned which)
{
    (void)which;
    world.device_lost = true;
}

static void submit_to_lost_device(unsigned which)
{
    (void)which;
    world.lost++;
    expect(dynsel_try_submit(&world.policy, &DYNSEL_TASK(enqueue, NULL), NULL) ==
               DYNSEL_E_OUT_OF_SERVICE,
           "submit to a lost device");
    expect(dynsel_resource_in_service(&world.policy, 0) == DYNSEL_E_OUT_OF_SERVICE,
           "the lost device is in service");
}

static void submit_with_handle(unsigned which)
{
    handle *own = &world.handles[which];
    const dynsel_status status =
        dynsel_try_submit(&world.policy, &DYNSEL_TASK(enqueue, own), &own->submission);
    own->submitted += status == DYNSEL_OK ? 1 : 0;
    world.full += status == DYNSEL_E_FULL ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_FULL, "submit with a handle");
}

static void wait_for(unsigned which)
{
    handle *own = &world.handles[which];
    if (own->submitted == 0) {
        return;
    }
    const dynsel_status status = dynsel_wait(&own->submission);
    const dynsel_status wanted = own->dependency_failed              ? DYNSEL_E_DEPENDENCY
                                 : own->of != NULL && own->of->fails ? DYNSEL_E_DEVICE
                                                                     : DYNSEL_OK;
    own->collected += status == wanted ? 1 : 0;
    expect(status == wanted || status == DYNSEL_E_STALE, "wait");
}

/* By no handle of the program. */
static void await(unsigned which)
{
    handle *own = &world.handles[which];
    own->awaited = true;
    const dynsel_status status = dynsel_submit_and_wait(&world.policy, &DYNSEL_TASK(enqueue, own));
    const bool as_wanted = status == (own->fails ? DYNSEL_E_DEVICE : DYNSEL_OK);
    own->collected += as_wanted ? 1 : 0;
    own->awaited = false;
    expect(as_wanted, "submit and wait");
}

static void await_failing(unsigned which)
{
    world.handles[which].fails = true;
    await(which);
    world.handles[which].fails = false;
}

static void release_handle(unsigned which)
{
    handle *own = &world.handles[which];
    if (own->submitted == 0) {
        return;
    }
    const dynsel_status status = dynsel_submission_release(&own->submission);
    own->released += status == DYNSEL_OK ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_STALE, "release");
}

static void unwrap(unsigned which)
{
    handle *own = &world.handles[which];
    dynsel_event done = {.native = NULL};
    if (own->submitted != 0) {
        const dynsel_status status = dynsel_submission_unwrap(&own->submission, &done);
        expect((status == DYNSEL_OK && done.native == own->of) || status == DYNSEL_E_STALE ||
                   status == DYNSEL_E_INVALID || (status == DYNSEL_OK && done.native == NULL),
               "unwrap");
    }
}

static void end(unsigned which)
{
    event *ended = &world.events[which];
    step_before(STEP_WRITES);
    if (which < world.event_count && ended->state == RUNNING) {
        ended->state = ENDED;
    }
}

/* As a callback of a driver does. */
static void mark(unsigned which)
{
    end(which);
    if (which < world.event_count) {
        const dynsel_status status = world.events[which].fails ? DYNSEL_E_DEVICE : DYNSEL_OK;
        (void)dynsel_complete(world.events[which].token, status, 1);
    }
}

static void mark_all(unsigned which)
{
    (void)which;
    for (unsigned i = 0; i < world.event_count; i++) {
        mark(i);
    }
}

/* While another thread may read the table of slots. PERHAPS: work may be uncollected. */
static void end_policy(unsigned which)
{
    const dynsel_status status = dynsel_policy_deinit(&world.policy);
    expect(status == DYNSEL_OK || (which == PERHAPS && status == DYNSEL_E_BUSY), "deinit");
    world.policy_ended = status == DYNSEL_OK;
}

static void wait_for_group(unsigned which)
{
    if (world.policy_ended) {
        return;
    }
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&world.policy));
    (void)which;
    world.group_failures += status != DYNSEL_OK ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_DEVICE || status == DYNSEL_E_DEPENDENCY,
           "group wait");
#if CONFIG_DYNSEL_COMMAND_GROUPS
    for (unsigned i = 0; i < HANDLES; i++) {
        expect(!world.handles[i].pending ||
                   dynsel_stage_of(world.handles[i].token) == DYNSEL_STAGE_OVER,
               "the group did not wait for pending work");
    }
#endif
}

static void progress(unsigned which)
{
    (void)which;
    (void)dynsel_progress();
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Pending work: between two atomic operations, no other thread changes it. */

static void start_pending(handle *own)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(own->token));
    own->waits = false;
    dynsel_pending_take(slot);
    if (own->dependency_failed) {
        world.failed_dependents++;
        dynsel_pending_fail(slot, &(const dynsel_error){.status = DYNSEL_E_DEPENDENCY});
    } else {
        expect(dynsel_pending_start(slot) == DYNSEL_OK, "start of pending work");
    }
}

static bool start_all_pending(void)
{
    bool waits = false;
    for (unsigned i = 0; i < HANDLES; i++) {
        handle *own = &world.handles[i];
        const bool free =
            !own->follows || dynsel_stage_of(world.handles[0].token) != DYNSEL_STAGE_ACCEPTED;
        if (free && own->waits && (own->ready || own->dependency_failed)) {
            start_pending(own);
        }
        waits = waits || own->waits;
    }
    return waits;
}

static dynsel_status name_dependency(const dynsel_slot *slot, uint32_t *token)
{
    (void)slot;
    (void)token;
    return DYNSEL_E_AGAIN;
}

/* The order of the events is that of the starts. */
static void note_end(dynsel_slot *slot)
{
    const event *which = slot->work.done.native;
    world.pending_ends++;
    if (which != NULL) {
        const unsigned number = (unsigned)(which - world.events);
        expect(world.newest_end == NEVER || world.newest_end < number, "ends out of order");
        world.newest_end = number;
    }
}

static void leave_nothing(const dynsel_policy *policy)
{
    (void)policy;
}

static void note_move(dynsel_slot *slot)
{
    dynsel_word_store_relaxed(&slot->watchers, 0);
    for (unsigned i = 0; i < HANDLES; i++) {
        handle *own = &world.handles[i];
        own->notified = own->notified || (own->watched && dynsel_slot_number_in(own->token) ==
                                                              (uint32_t)(slot - dynsel_slots) + 1);
    }
}

static void watch(unsigned which)
{
    handle *own = &world.handles[which];
    own->watched = true;
    dynsel_word_store_relaxed(&dynsel_slot_at(dynsel_slot_number_in(own->token))->watchers, 1);
    own->notified = false;
    own->seen = dynsel_stage_of_watched(own->token);
}

static bool holds_nothing(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static void register_pending_ops(void)
{
    static const dynsel_pending_ops pending_ops = {
        .progress = start_all_pending,
        .find_dependency = name_dependency,
        .ended = note_end,
        .holds = holds_nothing,
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
        .is_withdrawn = holds_nothing,
#endif
        .leave = leave_nothing,
        .moved = note_move
    };
    dynsel_pending_register(&pending_ops);
}

/* As a command group does: claims a slot, and chooses the resource. */
static dynsel_slot *accept_pending(handle *own)
{
    static const dynsel_submit_options options = {.function = "accept_pending",
                                                  .deadline_ns = DYNSEL_DO_NOT_WAIT};
    const dynsel_task task = DYNSEL_TASK(enqueue, own);
    const dynsel_request request = {.options = &options, .policy = &world.policy, .task = &task};
    dynsel_slot *slot = NULL;
    register_pending_ops();
    expect(dynsel_pending_claim(&world.policy, &options, &slot) == DYNSEL_OK &&
               dynsel_pending_choose(&request, slot) == DYNSEL_OK,
           "accept");
    own->token = slot->work.token;
    own->pending = true;
    return slot;
}

static void submit_pending(unsigned which)
{
    handle *own = &world.handles[which];
    dynsel_slot *const slot = accept_pending(own);
    own->waits = world.in_order = true;
    own->submitted = 1;
    dynsel_pending_publish(slot, DYNSEL_SLOT_HANDLE, DYNSEL_INITIAL_WAITING);
    dynsel_pending_publish_handle(slot, &own->submission);
}

static void submit_pending_behind(unsigned which)
{
    world.handles[which].follows = true;
    submit_pending(which);
}

/* A command group without a handle that fails while its submit starts it. */
static void submit_failing_start(unsigned which)
{
    dynsel_slot *const slot = accept_pending(&world.handles[which]);
    world.failed_dependents++;
    dynsel_pending_publish(slot, 0, DYNSEL_INITIAL_STARTING);
    dynsel_pending_fail(slot, &(const dynsel_error){.status = DYNSEL_E_DEPENDENCY});
}

static void end_other(unsigned which)
{
    (void)which;
    expect(dynsel_policy_deinit(&world.other) == DYNSEL_OK, "deinit without work");
}

static void take_failure(unsigned which)
{
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&world.policy));
    (void)which;
    world.group_failures += status != DYNSEL_OK ? 1 : 0;
}

static void make_ready(unsigned which)
{
    step_before(STEP_WRITES);
    world.handles[which].ready = true;
}

static void fail_dependency(unsigned which)
{
    step_before(STEP_WRITES);
    world.handles[which].dependency_failed = world.handles[which].waits;
}

#endif

#define WAIT(n)    OPERATION(wait_for, n)
#define AWAIT(n)   OPERATION(await, n)
#define RELEASE(n) OPERATION(release_handle, n)
#define UNWRAP(n)  OPERATION(unwrap, n)
#define END(n)     OPERATION(end, n)
#define MARK(n)    OPERATION(mark, n)
#define MARK_ALL   OPERATION(mark_all, 0)
#define HANDLE(n)  OPERATION(submit_with_handle, n)
#define SUBMIT     OPERATION(submit, 0)
#define GROUP      OPERATION(wait_for_group, 0)
#define PROGRESS   OPERATION(progress, 0)

#define AWAIT_FAILING(n) OPERATION(await_failing, n)

#define END_POLICY(outcome) OPERATION(end_policy, outcome)

#define LOSE           OPERATION(lose_device, 0)
#define SUBMIT_TO_LOST OPERATION(submit_to_lost_device, 0)
#define END_OTHER      OPERATION(end_other, 0)

#define PENDING(n)         OPERATION(submit_pending, n)
#define PENDING_BEHIND(n)  OPERATION(submit_pending_behind, n)
#define READY(n)           OPERATION(make_ready, n)
#define FAIL_DEPENDENCY(n) OPERATION(fail_dependency, n)
#define FAILING_START(n)   OPERATION(submit_failing_start, n)
#define WATCH(n)           OPERATION(watch, n)
#define TAKE_FAILURE       OPERATION(take_failure, 0)

static const program programs[] = {
    {"both wait", {HANDLE(0)}, {{MARK(0), WAIT(0), WAIT(0)}, {WAIT(0), SUBMIT, PROGRESS}}},
    {"wait and release",
     {HANDLE(0)},
     {{WAIT(0), UNWRAP(0), SUBMIT}, {MARK(0), RELEASE(0), WAIT(0)}}},
    {"both release",
     {HANDLE(0)},
     {{RELEASE(0), MARK(0), PROGRESS}, {RELEASE(0), UNWRAP(0), SUBMIT}}},
    {"reap beside release",
     {HANDLE(0)},
     {{MARK(0), PROGRESS, PROGRESS}, {RELEASE(0), PROGRESS, SUBMIT}}},
    {"two marks", {HANDLE(0)}, {{MARK(0), UNWRAP(0), RELEASE(0)}, {MARK(0), PROGRESS, WAIT(0)}}},
    {"mark beside wait",
     {HANDLE(0)},
     {{END(0), MARK(0), MARK(0)}, {WAIT(0), HANDLE(0), RELEASE(0)}}},
    {"submit beside end", {SUBMIT}, {{MARK(0), PROGRESS, PROGRESS}, {SUBMIT, SUBMIT, MARK_ALL}}},
    {"over the last slot", {SUBMIT}, {{HANDLE(0), MARK_ALL, WAIT(0)}, {MARK(0), SUBMIT}}},
    {"append beside reap", {SUBMIT}, {{MARK(0), SUBMIT, MARK(1)}, {PROGRESS, PROGRESS, PROGRESS}}},
    {"both append", {{NULL, 0}}, {{SUBMIT, MARK(0)}, {SUBMIT, PROGRESS}}},
    {"group beside submit", {SUBMIT}, {{SUBMIT, MARK(1)}, {MARK(0), PROGRESS, GROUP}}},
    {"group beside wait", {HANDLE(0)}, {{MARK(0), GROUP, SUBMIT}, {MARK(0), WAIT(0)}}},
    {"group beside release", {HANDLE(0)}, {{MARK(0), GROUP}, {RELEASE(0), UNWRAP(0), PROGRESS}}},
    {"two groups", {SUBMIT}, {{MARK(0), GROUP}, {MARK(0), GROUP}}},
    {"two handles", {HANDLE(0), HANDLE(1)}, {{MARK(0), WAIT(0)}, {MARK_ALL, RELEASE(1)}}},
    {"submit and wait beside reap",
     {{NULL, 0}},
     {{AWAIT(0), PROGRESS, SUBMIT}, {PROGRESS, PROGRESS, PROGRESS}}},
    {"submit and wait beside append", {{NULL, 0}}, {{AWAIT(0), MARK_ALL}, {SUBMIT, MARK_ALL}}},
    {"submit and wait beside group", {{NULL, 0}}, {{AWAIT(0), PROGRESS}, {GROUP, PROGRESS}}},
    {"submit and wait behind work", {SUBMIT}, {{AWAIT(0)}, {MARK(0), PROGRESS}}},
    {"both submit and wait", {{NULL, 0}}, {{AWAIT(0)}, {AWAIT(1)}}},
    {"failure beside reap", {{NULL, 0}}, {{AWAIT_FAILING(0)}, {PROGRESS, GROUP}}},
    {"loss beside loss", {LOSE}, {{SUBMIT_TO_LOST}, {SUBMIT_TO_LOST}}},
    {"reap beside deinit",
     {HANDLE(0)},
     {{PROGRESS, PROGRESS}, {MARK(0), RELEASE(0), END_POLICY(IN_ANY_CASE)}}},
    {"wait beside deinit", {HANDLE(0)}, {{WAIT(0)}, {MARK(0), PROGRESS, END_POLICY(PERHAPS)}}},
#if CONFIG_DYNSEL_COMMAND_GROUPS
    {"failure beside deinit",
     {{NULL, 0}},
     {{FAILING_START(0)}, {TAKE_FAILURE, END_OTHER, TAKE_FAILURE}}},
    {"start beside wait", {PENDING(0)}, {{READY(0), PROGRESS, SUBMIT}, {WAIT(0), UNWRAP(0)}}},
    {"start beside release",
     {PENDING(0)},
     {{READY(0), PROGRESS, UNWRAP(0)}, {RELEASE(0), PROGRESS}}},
    {"group beside start", {PENDING(0)}, {{READY(0), PROGRESS, RELEASE(0)}, {GROUP, WAIT(0)}}},
    {"both wait for a start", {PENDING(0)}, {{READY(0), WAIT(0)}, {WAIT(0), PROGRESS}}},
    {"one behind the other",
     {PENDING(0), PENDING_BEHIND(1)},
     {{READY(0), WAIT(0)}, {READY(1), WAIT(1)}}},
    {"both detached", {PENDING(0), PENDING_BEHIND(1)}, {{READY(0), RELEASE(0)}, {READY(1), GROUP}}},
    {"failed dependency beside wait",
     {PENDING(0)},
     {{FAIL_DEPENDENCY(0), PROGRESS, SUBMIT}, {WAIT(0), UNWRAP(0)}}},
    {"failed dependency beside release",
     {PENDING(0)},
     {{FAIL_DEPENDENCY(0), PROGRESS, UNWRAP(0)}, {RELEASE(0), GROUP}}},
    {"watch beside start", {PENDING(0)}, {{READY(0), PROGRESS, WAIT(0)}, {WATCH(0), WATCH(0)}}},
    {"watch beside failed dependency",
     {PENDING(0)},
     {{FAIL_DEPENDENCY(0), PROGRESS, RELEASE(0)}, {WATCH(0)}}},
    {"watch of detached work", {PENDING(0)}, {{READY(0), RELEASE(0), GROUP}, {WATCH(0), WATCH(0)}}},
#endif
};

enum { PROGRAMS = sizeof programs / sizeof programs[0] };

static const program *chosen;

static void do_operation(operation what)
{
    if (what.run != NULL) {
        what.run(what.which);
    }
}

static void run_thread(unsigned thread)
{
    for (unsigned i = 0; i < OPERATIONS; i++) {
        do_operation(chosen->threads[thread][i]);
    }
}

/* Pieces of work that have used the slots. */
static unsigned count_generations(void)
{
    unsigned generations = 0;
    for (uint32_t i = 1; i <= STEP_SLOTS; i++) {
        generations += dynsel_slot_generation(dynsel_slot_at(i)->word.value);
    }
    return generations;
}

static unsigned generations_before;

static void must(bool good, const char *what)
{
    if (!good) {
        print_error("%s: %s, after %s\n", chosen->name, what, step_path());
        abort(); /* the library is between two steps: no further test can run */
    }
}

/* Ends what still runs, and collects the handles that are left. */
static void clean_up(void)
{
    for (unsigned i = 0; i < HANDLES; i++) {
        world.handles[i].ready = true;
    }
    mark_all(0);
    wait_for_group(0);
    for (unsigned i = 0; i < HANDLES; i++) {
        wait_for(i);
    }
    wait_for_group(0);
}

static void check_handles(void)
{
    for (unsigned i = 0; i < HANDLES; i++) {
        const handle *own = &world.handles[i];
        must(own->submitted == 0 || own->collected + own->released > 0,
             "a handle was neither collected nor released");
        must(own->released <= own->submitted, "a handle was released twice");
    }
}

/* All work has ended. */
static void check_watches(void)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    for (unsigned i = 0; i < HANDLES; i++) {
        const handle *own = &world.handles[i];
        must(!own->watched || own->notified || own->seen == DYNSEL_STAGE_OVER,
             "a change of watched work was not reported");
    }
#endif
}

static void check_events(void)
{
    const unsigned failures =
        world.failed_dependents + count_failing(world.events, world.event_count);
    unsigned collected = 0;
    for (unsigned i = 0; i < world.event_count; i++) {
        must(world.events[i].releases == 1, "an event was not released exactly once");
    }
    for (unsigned i = 0; i < HANDLES; i++) {
        collected += world.handles[i].collected;
    }
    must(failures == 0 || world.policy_ended || world.group_failures + collected > 0,
         "a failure was not reported");
    must(world.group_failures <= failures, "a failure was reported twice, or did not happen");
}

static void check_counts(void)
{
#if CONFIG_DYNSEL_STATISTICS
    dynsel_resource_statistics it = {0};
    must(dynsel_slots_in_use.value == 0 && dynsel_most_in_use.value <= STEP_SLOTS,
         "the slots in use were miscounted");
    must(world.policy_ended || (dynsel_get_statistics(&world.policy, 0, &it) == DYNSEL_OK &&
                                it.submitted == world.event_count && it.completed == it.submitted &&
                                it.failed == count_failing(world.events, world.event_count)),
         "the statistics do not count each piece of work once");
#endif
}

static void check_end(void)
{
    clean_up();
    must(world.mistakes == 0, world.mistake != NULL ? world.mistake : "a mistake");
    for (uint32_t i = 1; i <= STEP_SLOTS; i++) {
        const uint32_t word = dynsel_slot_at(i)->word.value;
        must((word & ((1u << DYNSEL_SLOT_GENERATION_SHIFT) - 1)) == DYNSEL_SLOT_FREE,
             "a slot was not freed");
    }
    const unsigned ended = world.event_count + world.failed_dependents;
    must(count_generations() - generations_before == ended + world.lost,
         "the generations do not count the pieces of work");
    must(world.reported_submissions == ended && world.reported_ends == ended,
         "the policy did not get one report for each piece of work");
    unsigned pending = 0;
    for (unsigned i = 0; i < HANDLES; i++) {
        pending += world.handles[i].pending ? 1 : 0;
    }
    must(world.pending_ends == pending, "ends of pending work were not reported once each");
    check_handles();
    check_watches();
    check_events();
    check_counts();
    must(world.policy_ended || dynsel_resource_in_service(&world.policy, 0) == DYNSEL_OK ||
             dynsel_resource_reinstate(&world.policy, 0) == DYNSEL_OK,
         "the device stays out of service");
    must(world.policy_ended || dynsel_invariants_hold(&world.policy), "a loss was counted twice");
    must(world.other.self == NULL || dynsel_policy_deinit(&world.other) == DYNSEL_OK,
         "the other policy is in use");
    must(world.policy_ended || dynsel_policy_deinit(&world.policy) == DYNSEL_OK,
         "the policy is still in use");
}

static void set_up(backend_kind kind, bool fails)
{
    const dynsel_resource resource = {.backend = &backend, .handle = &backend};
    const dynsel_options options = {.resources = &resource, .count = 1};
    backend.ops = &backend_ops[kind];
    memset(&world, 0, sizeof world);
    world.newest_end = NEVER;
    assert_status(DYNSEL_OK, dynsel_policy_init(&world.policy, &policy_ops, &options));
    assert_status(DYNSEL_OK, dynsel_policy_init(&world.other, &policy_ops, &options));
    generations_before = count_generations();
    for (unsigned i = 0; i < 2; i++) {
        world.next_fails = fails;
        do_operation(chosen->before[i]);
        world.next_fails = false;
    }
}

static step_result step_program(backend_kind kind, bool fails)
{
    const memory_of_counts counts = counts_of(&world.policy);
    const size_t before = (size_t)(counts.begin - (char *)&world);
    const step_piece memory[] = {
        {.memory = &world, .bytes = before},
        {.memory = counts.begin, .bytes = counts.bytes, .counters = true},
        {.memory = counts.begin + counts.bytes, .bytes = sizeof world - before - counts.bytes},
        {.memory = dynsel_slot_at(1), .bytes = STEP_SLOTS * sizeof(dynsel_slot)},
#if CONFIG_DYNSEL_COMMAND_GROUPS
        {.memory = &dynsel_pending_count, .bytes = sizeof(dynsel_word)},
#endif
#if CONFIG_DYNSEL_STATISTICS
        {.memory = &dynsel_slots_in_use, .bytes = sizeof(dynsel_word)},
        {.memory = &dynsel_most_in_use, .bytes = sizeof(dynsel_word)},
#endif
    };
    const step_scenario scenario = {run_thread, check_end, memory,
                                    sizeof memory / sizeof memory[0]};
    set_up(kind, fails);
    const step_result result = step_through(&scenario);
    clean_up();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&world.other));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&world.policy));
    return result;
}

static void step_all(backend_kind kind)
{
    double orders = 0;
    unsigned long states = 0;
    for (unsigned i = 0; i < PROGRAMS; i++) {
        for (int fails = 0; fails < (kind == POLLING ? 2 : 1); fails++) {
            chosen = &programs[i];
            const step_result result = step_program(kind, fails != 0);
            print_message("%-32s %s %9.3g interleavings, %7lu states, %5lu ends, %3u steps, %u "
                          "overslept\n",
                          chosen->name, fails != 0 ? "fails" : "     ", result.orders,
                          result.states, result.ends, result.longest, result.overslept);
            assert_int_equal(result.overslept, 0);
            orders += result.orders;
            states += result.states;
        }
    }
    print_message("%.4g interleavings, %lu states\n", orders, states);
}

static void interleavings_with_synchronizing_poll_hold(void **state)
{
    (void)state;
    step_all(SYNCHRONIZING);
}

static void interleavings_with_synchronizing_wait_hold(void **state)
{
    (void)state;
    step_all(POLLING);
}

static void interleavings_with_marked_completion_hold(void **state)
{
    (void)state;
    step_all(MARKING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interleavings_with_synchronizing_poll_hold),
        cmocka_unit_test(interleavings_with_synchronizing_wait_hold),
        cmocka_unit_test(interleavings_with_marked_completion_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
