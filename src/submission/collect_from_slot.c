/* SPDX-License-Identifier: Apache-2.0 */
/* What the holder of a submission can do while its work has a slot: wait, release and unwrap. */
#include "submission/slot_table.h"

#include "base/fail.h"
#include "policy/after_fork.h"
#include "port/likely.h"
#include "submission/handle.h"
#include "submission/queue.h"
#include "submission/slot.h"
#include "submission/wait_until.h"

DYNSEL_RARE static dynsel_status refuse_in_child(const char *function)
{
    return DYNSEL_FAIL_IN(function, DYNSEL_E_STALE,
                          "the submission was waited for or released before, or belongs to the "
                          "parent of this process",
                          0);
}

dynsel_slot *dynsel_in_flight_ref(const dynsel_submission *submission, const char *function)
{
    const uint32_t number =
        dynsel_word_load_relaxed(&submission->slot) - DYNSEL_SUBMISSION_SLOT_BASE;
    if (number - 1 < CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (dynsel_slot_ref_handle(slot, submission->generation)) {
            return slot;
        }
    }
    (void)(dynsel_fork_is_child() ? refuse_in_child(function) : dynsel_refuse_stale(function));
    return NULL;
}

/* The task function's event and value, without an event that the backend releases; of a second run
 * the value only. */
static dynsel_event after_release(const dynsel_work *work, bool is_repeated)
{
    dynsel_event left = work->done;
    if (work->where->backend->ops->release != NULL || is_repeated) {
        left.native = NULL;
    }
    return left;
}

/* The same with a retained event for the caller, if the backend can retain it. The work is
 * complete, and its event is not released meanwhile. */
DYNSEL_ASIDE static dynsel_event retained(const dynsel_work *work, bool is_repeated)
{
    dynsel_backend *backend = work->where->backend;
    dynsel_event left = after_release(work, is_repeated);
    if (!is_repeated && left.native != work->done.native && backend->ops->retain != NULL &&
        backend->ops->retain(backend, work)) {
        left.native = work->done.native;
    }
    return left;
}

dynsel_status dynsel_in_flight_collect(dynsel_submission *submission, const char *function,
                                       uint64_t deadline_ns, dynsel_event *done)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, function);
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const dynsel_status status = dynsel_wait_until(slot, deadline_ns);
    if (status != DYNSEL_OK) {
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
        return status == DYNSEL_E_TIMEOUT ? dynsel_refuse_unfinished(function) : status;
    }
    dynsel_slot_synchronize(slot);
    const dynsel_kept_error error = slot->work.error;
    if (done != NULL) {
        *done = retained(&slot->work, dynsel_slot_is_repeated(slot));
    }
    if (dynsel_slot_take_handle(slot)) { /* else another waiting thread has it */
        submission->index = dynsel_slot_last_index(slot);
        submission->done = after_release(&slot->work, dynsel_slot_is_repeated(slot));
        dynsel_word_store_release(&submission->slot, DYNSEL_SUBMISSION_COLLECTED);
    }
    dynsel_queue_reap(dynsel_queue_of(slot), slot);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return error.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail_again(&error);
}

/* Of work that is over: the caller's reference and its handle. */
static void leave(dynsel_slot *slot)
{
    dynsel_queue_reap(dynsel_queue_of(slot), slot);
    dynsel_slot_unref(slot, (uint32_t)DYNSEL_SLOT_HANDLE + (uint32_t)DYNSEL_SLOT_REF);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Whether nothing is to be known of the end of a task but that it came, and its backend can wait
 * for that. */
static bool ends_quietly(const dynsel_slot *slot)
{
    const dynsel_work *const work = &slot->work;
    const dynsel_backend_ops *const ops = work->where->backend->ops;
    return ops->wait != NULL && !ops->marks_completion && dynsel_work_runs_once(work) &&
           (work->wants & DYNSEL_TASK_TIME) == 0 && work->error.status == DYNSEL_OK &&
           dynsel_slot_state(dynsel_word_load_acquire(&slot->word)) == DYNSEL_SLOT_RUNNING &&
           !dynsel_limits_exist() && !dynsel_traced_is_running();
}

/* What most tasks need. False: the wait goes on as any other. */
static bool await_quiet_end(dynsel_slot *slot)
{
    const dynsel_work *const work = &slot->work;
    return ends_quietly(slot) &&
           work->where->backend->ops->wait(work->where->backend, work) == DYNSEL_OK &&
           dynsel_queue_end_awaited(dynsel_queue_of(slot), slot);
}
#else
static bool await_quiet_end(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}
#endif

dynsel_status dynsel_in_flight_await(uint32_t submission)
{
    dynsel_slot *const slot = dynsel_slot_at(submission - DYNSEL_SUBMISSION_SLOT_BASE);
    if (DYNSEL_LIKELY(await_quiet_end(slot))) {
        return DYNSEL_OK;
    }
    const dynsel_status status = dynsel_wait_until(slot, DYNSEL_WAIT_FOREVER);
    (void)status; /* tasks wait for no dependency, so nothing ends the wait but their end */
    dynsel_slot_synchronize(slot);
    if (DYNSEL_LIKELY(slot->work.error.status == DYNSEL_OK)) {
        leave(slot);
        return DYNSEL_OK;
    }
    const dynsel_kept_error error = slot->work.error;
    leave(slot);
    return dynsel_fail_again(&error);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
void dynsel_in_flight_unref(uint32_t slot)
{
    if (slot >= DYNSEL_SUBMISSION_IN_SLOT) {
        dynsel_slot_unref(dynsel_slot_at(slot - DYNSEL_SUBMISSION_SLOT_BASE), DYNSEL_SLOT_REF);
    }
}
#endif

/* Makes the results of polled work visible, because no wait follows. */
dynsel_status dynsel_in_flight_release(const dynsel_submission *submission)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, DYNSEL_TEXT("dynsel_submission_release"));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    const bool detached = dynsel_slot_detach(slot);
    if (!dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        dynsel_queue_reap(dynsel_queue_of(slot), slot);
    }
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return detached ? DYNSEL_OK : dynsel_refuse_stale(DYNSEL_TEXT("dynsel_submission_release"));
}

/* With a backend that marks ends, the task function may be writing its event in another thread
 * until the mark. */
bool dynsel_in_flight_has_left_event(const dynsel_slot *slot)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    if (dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED) {
        return !dynsel_slot_is_repeated(slot);
    }
    return !dynsel_slot_is_pending(word) &&
           (!slot->work.where->backend->ops->marks_completion || (word & DYNSEL_SLOT_MARKED) != 0);
}

dynsel_status dynsel_in_flight_unwrap(const dynsel_submission *submission, dynsel_event *done)
{
    dynsel_slot *slot = dynsel_in_flight_ref(submission, DYNSEL_TEXT("dynsel_submission_unwrap"));
    if (slot == NULL) {
        return DYNSEL_E_STALE;
    }
    *done =
        dynsel_in_flight_has_left_event(slot) ? slot->work.done : (dynsel_event){.native = NULL};
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return DYNSEL_OK;
}
