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

enum { EVENTS = 8, HANDLES = 2, OPERATIONS = 3, MOST_RESULTS = 8, NEVER = EVENTS };

typedef struct event {
    uint32_t state; /* of the device; an event_state */
    uint32_t token;
    uint32_t releases;
    bool fails;
    bool marks_itself; /* it ends while it is started, where ends are marked */
} event;

typedef enum event_state { RUNNING, ENDED } event_state;

typedef struct handle {
    dynsel_submission submission;
    unsigned submitted;
    unsigned collected; /* waits that gave the status of the work */
    unsigned released;
    event *of;
    /* Of pending work. */
    uint32_t token;
    bool deferred;
    bool waits;
    bool ready;
    bool doomed;
    bool follows; /* it may start when the work of handle 0 is started: the device runs in order */
    bool watched;
    bool told;     /* of a change since then */
    unsigned seen; /* the dynsel_stage when it was watched */
} handle;

/* All that the threads change, beside the table of slots. */
static struct world {
    dynsel_policy policy;
    dynsel_policy other; /* on the same device; it is there to be ended */
    handle handles[HANDLES];
    event events[EVENTS];
    unsigned event_count;
    unsigned refused; /* submits, because the table was full */
    unsigned vain;    /* submits that the device refused */
    unsigned told_submissions;
    unsigned told_ends;
    unsigned group_failures;
    unsigned doomed; /* ended without a start */
    unsigned hooks;  /* calls for ends of pending work */
    unsigned newest_end;
    unsigned attached; /* queues */
    bool in_order;     /* the device ends work in its order */
    unsigned mistakes;
    const char *mistake;
    bool next_fails;
    bool lost; /* the device takes no work any more */
    bool over; /* the policy was ended */
} world;

static void expect(bool good, const char *what)
{
    if (!good) {
        world.mistakes++;
        world.mistake = what;
    }
}

/* The policy: one resource, and it wants to hear of everything. */

static dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    selection->index = 0;
    return dynsel_policy_may_use(policy, 0, task) ? DYNSEL_OK : dynsel_policy_refuse(policy, task);
}

static void report(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    world.told_submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    world.told_submissions -= info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
    world.told_ends += info == DYNSEL_TASK_COMPLETION ? 1 : 0;
}

static const dynsel_policy_ops policy_ops = {
    .name = "counting",
    .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
    .try_select = try_select,
    .report = report,
};

/* The backend: a device whose work ends when an operation of the scenario says so, or when it is
 * waited for. */

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    if (world.lost) {
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
           "an event was released when its policy had left the device");
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
        ((handle *)args)->of = made;
        made->marks_itself = ((handle *)args)->deferred;
    }
    return DYNSEL_OK;
}

/* What a thread can do. `which` is a handle or an event. */

static void submit(unsigned which)
{
    const dynsel_status status =
        dynsel_try_submit(&world.policy, &DYNSEL_TASK(enqueue, NULL), NULL);
    (void)which;
    world.refused += status == DYNSEL_E_FULL ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_FULL, "submit");
}

static void lose_device(unsigned which)
{
    (void)which;
    world.lost = true;
}

static void submit_in_vain(unsigned which)
{
    (void)which;
    world.vain++;
    expect(dynsel_try_submit(&world.policy, &DYNSEL_TASK(enqueue, NULL), NULL) ==
               DYNSEL_E_OUT_OF_SERVICE,
           "submit to what is lost");
    expect(dynsel_resource_in_service(&world.policy, 0) == DYNSEL_E_OUT_OF_SERVICE,
           "what is lost is in service");
}

static void submit_with_handle(unsigned which)
{
    handle *own = &world.handles[which];
    const dynsel_status status =
        dynsel_try_submit(&world.policy, &DYNSEL_TASK(enqueue, own), &own->submission);
    own->submitted += status == DYNSEL_OK ? 1 : 0;
    world.refused += status == DYNSEL_E_FULL ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_FULL, "submit with a handle");
}

static void wait_for(unsigned which)
{
    handle *own = &world.handles[which];
    if (own->submitted == 0) {
        return;
    }
    const dynsel_status status = dynsel_wait(&own->submission);
    const dynsel_status wanted = own->doomed                         ? DYNSEL_E_DEPENDENCY
                                 : own->of != NULL && own->of->fails ? DYNSEL_E_DEVICE
                                                                     : DYNSEL_OK;
    own->collected += status == wanted ? 1 : 0;
    expect(status == wanted || status == DYNSEL_E_STALE, "wait");
}

static void let_go(unsigned which)
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

typedef enum outcome { IN_ANY_CASE, PERHAPS } outcome;

/* Another thread may still be looking at the table of slots. PERHAPS: it may have to collect its
 * work first. */
static void end_policy(unsigned which)
{
    const dynsel_status status = dynsel_policy_deinit(&world.policy);
    expect(status == DYNSEL_OK || (which == PERHAPS && status == DYNSEL_E_BUSY), "deinit");
    world.over = status == DYNSEL_OK;
}

static void wait_for_group(unsigned which)
{
    if (world.over) {
        return;
    }
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(&world.policy));
    (void)which;
    world.group_failures += status != DYNSEL_OK ? 1 : 0;
    expect(status == DYNSEL_OK || status == DYNSEL_E_DEVICE || status == DYNSEL_E_DEPENDENCY,
           "group wait");
#if CONFIG_DYNSEL_COMMAND_GROUPS
    for (unsigned i = 0; i < HANDLES; i++) {
        expect(!world.handles[i].deferred ||
                   dynsel_stage_of(world.handles[i].token) == DYNSEL_STAGE_OVER,
               "the group did not wait for deferred work");
    }
#endif
}

static void progress(unsigned which)
{
    (void)which;
    (void)dynsel_progress();
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Pending work: what a thread has read of it here stays so until its next atomic operation. */

static void start_pending(handle *own)
{
    dynsel_slot *slot = dynsel_slot_at(dynsel_slot_number_in(own->token));
    own->waits = false;
    dynsel_pending_take(slot);
    if (own->doomed) {
        world.doomed++;
        dynsel_pending_fail(slot, &(const dynsel_error){.status = DYNSEL_E_DEPENDENCY});
    } else {
        expect(dynsel_pending_start(slot) == DYNSEL_OK, "start of deferred work");
    }
}

static void start_all_pending(void)
{
    for (unsigned i = 0; i < HANDLES; i++) {
        handle *own = &world.handles[i];
        const bool free =
            !own->follows || dynsel_stage_of(world.handles[0].token) != DYNSEL_STAGE_ACCEPTED;
        if (free && own->waits && (own->ready || own->doomed)) {
            start_pending(own);
        }
    }
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
    world.hooks++;
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
        own->told = own->told || (own->watched && dynsel_slot_number_in(own->token) ==
                                                      (uint32_t)(slot - dynsel_slots) + 1);
    }
}

static void watch(unsigned which)
{
    handle *own = &world.handles[which];
    own->watched = true;
    dynsel_word_store_relaxed(&dynsel_slot_at(dynsel_slot_number_in(own->token))->watchers, 1);
    own->told = false;
    own->seen = dynsel_stage_of_watched(own->token);
}

static bool holds_nothing(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static void register_pending_ops(void)
{
    static const dynsel_pending_ops pending_ops = {.progress = start_all_pending,
                                                   .find_dependency = name_dependency,
                                                   .ended = note_end,
                                                   .holds = holds_nothing,
                                                   .leave = leave_nothing,
                                                   .moved = note_move};
    dynsel_pending_register(&pending_ops);
}

static void defer(unsigned which)
{
    static const dynsel_submit_options options = {.function = "defer",
                                                  .deadline_ns = DYNSEL_DO_NOT_WAIT};
    handle *own = &world.handles[which];
    const dynsel_task task = DYNSEL_TASK(enqueue, own);
    const dynsel_request request = {.options = &options, .policy = &world.policy, .task = &task};
    dynsel_slot *slot = NULL;
    register_pending_ops();
    expect(dynsel_pending_claim(&world.policy, &options, &slot) == DYNSEL_OK &&
               dynsel_pending_choose(&request, slot) == DYNSEL_OK,
           "accept");
    own->token = slot->work.token;
    own->deferred = own->waits = world.in_order = true;
    own->submitted = 1;
    dynsel_pending_publish(slot, DYNSEL_SLOT_HANDLE, DYNSEL_INITIAL_WAITING);
    dynsel_pending_publish_handle(slot, &own->submission);
}

static void defer_behind(unsigned which)
{
    world.handles[which].follows = true;
    defer(which);
}

/* As a command group without a handle that is started at once, and fails in the caller. */
static void start_in_vain(unsigned which)
{
    static const dynsel_submit_options options = {.function = "start",
                                                  .deadline_ns = DYNSEL_DO_NOT_WAIT};
    handle *own = &world.handles[which];
    const dynsel_task task = DYNSEL_TASK(enqueue, own);
    const dynsel_request request = {.options = &options, .policy = &world.policy, .task = &task};
    dynsel_slot *slot = NULL;
    register_pending_ops();
    expect(dynsel_pending_claim(&world.policy, &options, &slot) == DYNSEL_OK &&
               dynsel_pending_choose(&request, slot) == DYNSEL_OK,
           "accept");
    own->token = slot->work.token;
    own->deferred = true;
    world.doomed++;
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

static void get_ready(unsigned which)
{
    step_before(STEP_WRITES);
    world.handles[which].ready = true;
}

static void doom(unsigned which)
{
    step_before(STEP_WRITES);
    world.handles[which].doomed = world.handles[which].waits;
}

#endif

typedef struct operation {
    void (*run)(unsigned which);
    unsigned which;
} operation;

typedef struct program {
    const char *name;
    operation before[2]; /* done before the threads begin */
    operation threads[STEP_THREADS][OPERATIONS];
} program;

/* clang-format off */
#define OPERATION(run, which) {run, which}
/* clang-format on */
#define WAIT(n)    OPERATION(wait_for, n)
#define RELEASE(n) OPERATION(let_go, n)
#define UNWRAP(n)  OPERATION(unwrap, n)
#define END(n)     OPERATION(end, n)
#define MARK(n)    OPERATION(mark, n)
#define MARK_ALL   OPERATION(mark_all, 0)
#define HANDLE(n)  OPERATION(submit_with_handle, n)
#define SUBMIT     OPERATION(submit, 0)
#define GROUP      OPERATION(wait_for_group, 0)
#define PROGRESS   OPERATION(progress, 0)

#define END_POLICY(outcome) OPERATION(end_policy, outcome)

#define LOSE           OPERATION(lose_device, 0)
#define SUBMIT_IN_VAIN OPERATION(submit_in_vain, 0)
#define END_OTHER      OPERATION(end_other, 0)

#define DEFER(n)         OPERATION(defer, n)
#define DEFER_BEHIND(n)  OPERATION(defer_behind, n)
#define READY(n)         OPERATION(get_ready, n)
#define DOOM(n)          OPERATION(doom, n)
#define START_IN_VAIN(n) OPERATION(start_in_vain, n)
#define WATCH(n)         OPERATION(watch, n)
#define TAKE_FAILURE     OPERATION(take_failure, 0)

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
    {"loss beside loss", {LOSE}, {{SUBMIT_IN_VAIN}, {SUBMIT_IN_VAIN}}},
    {"reap beside deinit",
     {HANDLE(0)},
     {{PROGRESS, PROGRESS}, {MARK(0), RELEASE(0), END_POLICY(IN_ANY_CASE)}}},
    {"wait beside deinit", {HANDLE(0)}, {{WAIT(0)}, {MARK(0), PROGRESS, END_POLICY(PERHAPS)}}},
#if CONFIG_DYNSEL_COMMAND_GROUPS
    {"failure beside deinit",
     {{NULL, 0}},
     {{START_IN_VAIN(0)}, {TAKE_FAILURE, END_OTHER, TAKE_FAILURE}}},
    {"start beside wait", {DEFER(0)}, {{READY(0), PROGRESS, SUBMIT}, {WAIT(0), UNWRAP(0)}}},
    {"start beside release", {DEFER(0)}, {{READY(0), PROGRESS, UNWRAP(0)}, {RELEASE(0), PROGRESS}}},
    {"group beside start", {DEFER(0)}, {{READY(0), PROGRESS, RELEASE(0)}, {GROUP, WAIT(0)}}},
    {"both wait for a start", {DEFER(0)}, {{READY(0), WAIT(0)}, {WAIT(0), PROGRESS}}},
    {"one behind the other",
     {DEFER(0), DEFER_BEHIND(1)},
     {{READY(0), WAIT(0)}, {READY(1), WAIT(1)}}},
    {"both detached", {DEFER(0), DEFER_BEHIND(1)}, {{READY(0), RELEASE(0)}, {READY(1), GROUP}}},
    {"doom beside wait", {DEFER(0)}, {{DOOM(0), PROGRESS, SUBMIT}, {WAIT(0), UNWRAP(0)}}},
    {"doom beside release", {DEFER(0)}, {{DOOM(0), PROGRESS, UNWRAP(0)}, {RELEASE(0), GROUP}}},
    {"watch beside start", {DEFER(0)}, {{READY(0), PROGRESS, WAIT(0)}, {WATCH(0), WATCH(0)}}},
    {"watch beside doom", {DEFER(0)}, {{DOOM(0), PROGRESS, RELEASE(0)}, {WATCH(0)}}},
    {"watch a detached one", {DEFER(0)}, {{READY(0), RELEASE(0), GROUP}, {WATCH(0), WATCH(0)}}},
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

/* How often the slots went from free to free. */
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
        abort(); /* cmocka could not go on: the library's state is somewhere in between */
    }
}

/* Ends what still runs, and collects what nobody has collected. */
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
        must(own->submitted == 0 || own->collected + own->released > 0, "a handle's end got lost");
        must(own->released <= own->submitted, "a handle was released twice");
    }
}

/* It is over by now. */
static void check_watches(void)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    for (unsigned i = 0; i < HANDLES; i++) {
        const handle *own = &world.handles[i];
        must(!own->watched || own->told || own->seen == DYNSEL_STAGE_OVER,
             "who watched was not told of the change");
    }
#endif
}

static void check_events(void)
{
    unsigned failures = world.doomed;
    unsigned collected = 0;
    for (unsigned i = 0; i < world.event_count; i++) {
        must(world.events[i].releases == 1, "an event was not released exactly once");
        failures += world.events[i].fails ? 1 : 0;
    }
    for (unsigned i = 0; i < HANDLES; i++) {
        collected += world.handles[i].collected;
    }
    must(failures == 0 || world.over || world.group_failures + collected > 0,
         "nobody was told of the failure");
    must(world.group_failures <= failures, "a failure that was none, or told twice");
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
    const unsigned ended = world.event_count + world.doomed;
    must(count_generations() - generations_before == ended + world.vain,
         "a slot's generation did not go on by one for each piece of work");
    must(world.told_submissions == ended && world.told_ends == ended,
         "the policy did not hear of each piece of work once");
    unsigned deferred = 0;
    for (unsigned i = 0; i < HANDLES; i++) {
        deferred += world.handles[i].deferred ? 1 : 0;
    }
    must(world.hooks == deferred, "who deferred the work did not hear of each end once");
    check_handles();
    check_watches();
    check_events();
    must(world.over || dynsel_resource_reinstate(&world.policy, 0) == DYNSEL_OK,
         "the device stays out of service");
    must(world.policy.impaired.value == 0, "a loss was counted twice");
    must(world.other.self == NULL || dynsel_policy_deinit(&world.other) == DYNSEL_OK,
         "the other policy is in use");
    must(world.over || dynsel_policy_deinit(&world.policy) == DYNSEL_OK,
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
#if CONFIG_DYNSEL_COMMAND_GROUPS
    void *const memory[] = {&world, dynsel_slot_at(1), &dynsel_pending_count};
#else
    void *const memory[] = {&world, dynsel_slot_at(1)};
#endif
    const size_t bytes[] = {sizeof world, STEP_SLOTS * sizeof(dynsel_slot), sizeof(dynsel_word)};
    const size_t pieces = sizeof memory / sizeof memory[0];
    const step_scenario scenario = {run_thread, check_end, memory, bytes, pieces};
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
            print_message("%-22s %s %9.3g interleavings, %7lu states, %5lu ends, %3u steps, %u "
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
