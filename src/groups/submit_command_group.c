/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Submits a command group: claims a slot, records the group, chooses a resource, enters the group
 * into the order, publishes it, and starts it if it is ready.
 */
#include "groups/submit_command_group.h"

#include <dynsel/command_group.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "data/coherence_commit.h"
#include "data/external_events.h"
#include "data/readback_time.h"
#include "data/staging.h"
#include "groups/choose_resource.h"
#include "groups/order.h"
#include "groups/pointer_access.h"
#include "groups/recording.h"
#include "groups/run_again.h"
#include "groups/start_pending.h"
#include "groups/watch.h"
#include "groups/weigh_data.h"
#include "policy/policy.h"
#include "policy/traced.h"
#include "port/likely.h"
#include "submission/limits.h"
#include "submission/pending.h"
#include "submission/repeat.h"
#include "submission/request.h"
#include "submission/slot_table.h"

/* The result of one attempt to enter. */
typedef struct entry {
    dynsel_status status; /* DYNSEL_OK: the group is published */
    bool full;            /* a table is full: wait for the work of `token` */
    uint32_t token;
    dynsel_status start;            /* the result of dynsel_group_look() */
    dynsel_buffer_record *copy_out; /* to begin; or NULL */
} entry;

static inline bool is_host_access(const dynsel_handler *group)
{
    return group->command.kind == DYNSEL_COMMAND_HOST_ACCESS;
}

/* Whether the policy may learn the end late: it wants no report of it, or predicts ends and does
 * not time this work. */
static inline bool may_be_told_late(const dynsel_selection *selection)
{
    return selection->wants == 0 || (selection->policy->ops->predicts_ends &&
                                     (selection->wants & (uint32_t)DYNSEL_TASK_TIME) == 0);
}

/* Whether its end may be told later, together with that of others: nobody has a reference, the
 * policy does not need it, no work is pending that might wait for it, no limit counts until the
 * end, and no trace has the time of its run. */
static inline bool may_end_with_others(const dynsel_slot *slot, uint32_t references)
{
    return references == 0 && may_be_told_late(&slot->selection) &&
           dynsel_word_load_relaxed(&dynsel_pending_count) == 0 && !dynsel_limits_concern(slot) &&
           !dynsel_traced_is_on(&slot->selection);
}

static inline void publish(dynsel_handler *group, uint32_t references, bool waits, entry *made)
{
    group->command.may_end_with_others = may_end_with_others(dynsel_slot_of(group), references);
    if (DYNSEL_LIKELY(!waits && dynsel_coherence_start_resident(group->uses))) {
        made->start = DYNSEL_OK;
        dynsel_slot_of(group)->work.quiet = group->uncommon == 0;
    } else {
        made->start = waits ? dynsel_group_look(group, &made->copy_out)
                            : dynsel_group_look_at_data(group, &made->copy_out);
    }
    if (DYNSEL_LIKELY(made->start == DYNSEL_OK)) {
        group->held = is_host_access(group);
        dynsel_pending_publish(dynsel_slot_of(group), references,
                               group->held ? DYNSEL_INITIAL_HELD : DYNSEL_INITIAL_STARTING);
    } else {
        dynsel_pending_publish(dynsel_slot_of(group), references, DYNSEL_INITIAL_WAITING);
        if (made->start == DYNSEL_E_AGAIN) {
            dynsel_watch_obstacle(group, made->copy_out);
        } else {
            dynsel_watch_no_longer(group);
        }
    }
}

static void leave(const dynsel_policy *policy)
{
    dynsel_staging_leave(policy);
    dynsel_readback_leave(policy);
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
static bool is_withdrawn(const dynsel_slot *slot)
{
    return dynsel_uses_go_around(dynsel_group_of(slot)->uses);
}
#endif

static void register_operations(void)
{
    static const dynsel_pending_ops pending_ops = {
        .progress = dynsel_groups_progress,
        .find_dependency = dynsel_order_find_dependency,
        .cancel = dynsel_group_cancel,
        .ended = dynsel_order_ended,
        .holds = dynsel_order_holds,
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
        .is_withdrawn = is_withdrawn,
#endif
        .moved = dynsel_watch_moved,
#if CONFIG_DYNSEL_REPEAT
        .run_again = dynsel_group_run_again,
        .failed_alone = dynsel_group_failed_alone,
        .is_apart = dynsel_group_is_apart,
#endif
        .leave = leave
    };
    dynsel_pending_register(&pending_ops);
}

/* Under the lock, which is held throughout: two groups that are entered at the same time have the
 * same order for all buffers. */
static inline void try_to_enter(dynsel_handler *group, const dynsel_submit_options *options,
                                uint32_t references, entry *made)
{
    /* Here, because other threads read these of the work before until they see that it is over. */
    group->uses->will_fail = false;
    group->uses->undone = false;
#if CONFIG_DYNSEL_REPEAT
    group->uses->repeatable = group->repeatable;
    group->uses->second_run = false;
#endif
    group->held = false;
    group->refused = false;
    group->looked_since = 0;
    group->uses->opener = is_host_access(group) ? dynsel_thread_identity() : 0;
    made->status = dynsel_take_choice(group, dynsel_slot_of(group));
    if (!DYNSEL_LIKELY(made->status == DYNSEL_OK)) {
        return;
    }
    bool waits = false;
    made->status = dynsel_order_enter(group, options->function, &waits, &made->token);
    if (DYNSEL_LIKELY(made->status == DYNSEL_OK)) {
        register_operations();
        if (is_host_access(group)) {
            if (group->uses->each[0].writes) {
                dynsel_weigh_end_period(group->uses->each[0].record);
            }
        } else if (dynsel_slot_of(group)->selection.policy->ops->weighs_data &&
                   !dynsel_group_is_empty(group)) {
            dynsel_weigh_note(group, group->end_ns, dynsel_slot_of(group)->selection.index);
        }
        publish(group, references, waits, made);
    } else {
        made->full = made->status == DYNSEL_E_FULL;
    }
}

/* Waits until the work is over. DYNSEL_OK: try again. */
DYNSEL_RARE static dynsel_status wait_for_room(uint32_t token, const dynsel_submit_options *options)
{
    dynsel_error full = *dynsel_last_error();
    if (options->deadline_ns == DYNSEL_DO_NOT_WAIT || dynsel_this_thread()->task_depth != 0) {
        return full.status;
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool own = dynsel_order_is_own(token);
    dynsel_spinlock_release(&dynsel_memory_lock);
    if (own) {
        return full.status; /* the wait for a host accessor of this thread would never end */
    }
    if (!dynsel_pending_ref(token)) {
        return DYNSEL_OK;
    }
    dynsel_slot *slot = dynsel_slot_of_token(token);
    const dynsel_status status = dynsel_wait_until(slot, options->deadline_ns);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    if (status == DYNSEL_E_BUSY) {
        return dynsel_fail(&full);
    }
    if (status == DYNSEL_E_TIMEOUT) {
        full.status = status; /* the text still names the full table */
        return dynsel_fail(&full);
    }
    return status;
}

/* Starts a published group. A refused start, or one that cannot succeed, is handled by
 * dynsel_pending_progress(). */
static inline void start(dynsel_handler *group, const entry *made)
{
    bool more = made->start != DYNSEL_OK && made->start != DYNSEL_E_AGAIN;
    if (made->start == DYNSEL_OK) {
        more = !is_host_access(group) && !dynsel_group_start(group);
    } else if (made->copy_out != NULL) {
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        dynsel_watch_begin_copy_out(made->copy_out);
        dynsel_spinlock_release(&dynsel_memory_lock);
        more = true;
    }
    if (more) {
        (void)dynsel_pending_progress();
    }
}

/* Not inlined: else its locals would be on the stack of submit() while the policy chooses. */
DYNSEL_ASIDE dynsel_status dynsel_group_enter(dynsel_handler *group,
                                              const dynsel_submit_options *options,
                                              uint32_t references)
{
    for (;;) {
        entry made = {.status = DYNSEL_OK};
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        try_to_enter(group, options, references, &made);
        dynsel_spinlock_release(&dynsel_memory_lock);
        if (DYNSEL_LIKELY(made.status == DYNSEL_OK)) {
            start(group, &made);
            return DYNSEL_OK;
        }
        if (!made.full) {
            return made.status;
        }
        made.status = wait_for_room(made.token, options);
        if (made.status != DYNSEL_OK) {
            return made.status;
        }
    }
}

DYNSEL_RARE static dynsel_status refuse(const dynsel_policy *policy, dynsel_group_fn function,
                                        const dynsel_submit_options *options)
{
    if (!dynsel_policy_is_usable(policy)) {
        return dynsel_policy_refuse_use(policy, options->function);
    }
    return function == NULL ? DYNSEL_FAIL_IN(options->function, DYNSEL_E_INVALID,
                                             "the group function is NULL", 0)
                            : DYNSEL_FAIL_IN(options->function, DYNSEL_E_UNSUPPORTED,
                                             "the policy cannot select: it has no try_select", 0);
}

/* Runs the group function. `recordings` makes functions that wait refuse. */
static inline dynsel_status record(dynsel_handler *group, uint32_t token, dynsel_group_fn function,
                                   void *args)
{
    dynsel_thread *thread = dynsel_this_thread();
    const uint32_t failures_before = thread->failure_count;
    dynsel_order_renew(token);
    dynsel_group_begin(group, token, function);
    thread->recordings++;
    const dynsel_status returned = function(group, args);
    thread->recordings--;
    return dynsel_group_close(group, returned, failures_before);
}

static inline dynsel_status choose_and_enter(dynsel_handler *group, dynsel_policy *policy,
                                             const dynsel_submit_options *options, bool has_handle)
{
    const uint32_t handle = has_handle ? DYNSEL_SLOT_HANDLE : 0u;
    const uint32_t references = handle | (options->awaits ? (uint32_t)DYNSEL_SLOT_REF : 0u);
    dynsel_status status = dynsel_choose_resource(group, policy, options);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = dynsel_group_enter(group, options, references);
        if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
            dynsel_pending_withdraw(dynsel_slot_of(group));
        }
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK || !group->has_pointers)) {
        dynsel_pointers_unref(group, false);
    }
    return status;
}

static dynsel_status submit(dynsel_policy *policy, dynsel_group_fn function, void *args,
                            dynsel_submission *submission, const dynsel_submit_options *options)
{
    if (!DYNSEL_LIKELY(dynsel_policy_is_usable(policy) && function != NULL &&
                       policy->ops->try_select != NULL)) {
        return refuse(policy, function, options);
    }
    dynsel_slot *slot = NULL;
    (void)dynsel_pending_progress();
    dynsel_status status = dynsel_pending_claim(policy, options, &slot);
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        return status;
    }
    dynsel_handler *group = dynsel_group_of(slot);
    status = record(group, slot->work.token, function, args);
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = dynsel_group_arm_repeatable(group, policy, options->function);
    }
    if (DYNSEL_LIKELY(status == DYNSEL_OK)) {
        status = choose_and_enter(group, policy, options, submission != NULL);
    }
    if (!DYNSEL_LIKELY(status == DYNSEL_OK)) {
        dynsel_external_events_release(group->uses);
        dynsel_repeat_unclaim(slot);
    } else if (submission != NULL) {
        dynsel_pending_publish_handle(slot, submission);
    }
    return status;
}

dynsel_status dynsel_submit_command_group(dynsel_policy *policy, dynsel_group_fn group, void *args,
                                          dynsel_submission *submission)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_command_group"), .deadline_ns = DYNSEL_WAIT_FOREVER};
    return submit(policy, group, args, submission, &options);
}

dynsel_status dynsel_try_submit_command_group(dynsel_policy *policy, dynsel_group_fn group,
                                              void *args, dynsel_submission *submission)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_try_submit_command_group"),
        .deadline_ns = DYNSEL_DO_NOT_WAIT};
    return submit(policy, group, args, submission, &options);
}

dynsel_status dynsel_submit_command_group_for(dynsel_policy *policy, dynsel_group_fn group,
                                              void *args, dynsel_submission *submission,
                                              uint64_t timeout_ns)
{
    const dynsel_submit_options options = {.function = DYNSEL_TEXT(__func__),
                                           .deadline_ns = dynsel_deadline_after(timeout_ns)};
    return submit(policy, group, args, submission, &options);
}

/* Releases the submission of a wait that was refused, because no other caller can. (Work that ended
 * with this status has no slot.) A function of its own keeps the error off the stack of the wait.
 * */
DYNSEL_RARE static dynsel_status release_busy(dynsel_submission *submission, const char *function)
{
    dynsel_error busy = *dynsel_last_error();
    busy.function = function;
    const dynsel_status status = dynsel_submission_release(submission);
    (void)status;
    return dynsel_fail(&busy);
}

dynsel_status dynsel_submit_command_group_and_wait(dynsel_policy *policy, dynsel_group_fn group,
                                                   void *args)
{
    static const dynsel_submit_options options = {
        .function = DYNSEL_TEXT("dynsel_submit_command_group_and_wait"),
        .deadline_ns = DYNSEL_WAIT_FOREVER,
        .awaits = true};
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(
            DYNSEL_TEXT(__func__), "submit without waiting, or wait outside of the task function");
    }
    dynsel_submission submission;
    dynsel_status status = submit(policy, group, args, &submission, &options);
    if (status == DYNSEL_OK) {
        const uint32_t slot = dynsel_word_load_relaxed(&submission.slot);
        status = dynsel_wait(&submission);
        if (status == DYNSEL_E_BUSY) {
            status = release_busy(&submission, options.function);
        }
        dynsel_in_flight_unref(slot);
    }
    return status;
}
