/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/wait_until.h"

#include "policy/policy.h"
#include "policy/traced.h"
#include "port/likely.h"
#include "port/pause.h"
#include "port/wake.h"
#include "submission/pending_ops.h"
#include "submission/queue.h"
#include "submission/request.h"
#include "submission/work_by_token.h"

static uint32_t state_of(const dynsel_slot *slot)
{
    return dynsel_slot_state(dynsel_word_load_acquire(&slot->word));
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

/*
 * In a queue that runs in order, ends are reported in that order. The work itself must be complete
 * before the queue is reaped: otherwise it could end in between, before the work ahead of it was
 * completed. Behind work that is still running there is no order to keep.
 */
static bool poll_in_order(dynsel_slot *slot)
{
    if (state_of(slot) != DYNSEL_SLOT_FINISHED && !dynsel_slot_goes_on(slot) &&
        dynsel_queue_reap_to_running(dynsel_queue_of(slot), slot)) {
        (void)dynsel_slot_poll(slot);
    }
    return state_of(slot) == DYNSEL_SLOT_FINISHED;
}

/* Whether work is pending that this wait has to start as soon as it is ready; a wait for a
 * dependency is for `own` of it. */
static uint32_t count_others(uint32_t own)
{
    const uint32_t count = dynsel_word_load_acquire(&dynsel_pending_count);
    return count > own ? count - own : 0;
}

/* Returns whether only another look tells of the next change: no mark will. */
static bool help_others(void)
{
    const bool goes_on = dynsel_queue_reap_all();
    return dynsel_pending_progress() || goes_on;
}

#else

static bool poll_in_order(dynsel_slot *slot)
{
    return dynsel_slot_poll(slot);
}

static uint32_t count_others(uint32_t own)
{
    (void)own;
    return 0;
}

static bool help_others(void)
{
    return false;
}

#endif

/* Only a mark wakes a sleeper, so work that is marked or being completed is polled again at
 * once. */
static void sleep_or_pause(const dynsel_slot *slot, uint32_t ticket, uint64_t longest_ns,
                           uint32_t round)
{
    const uint32_t word = dynsel_word_load_acquire(&slot->word);
    const bool marked = (word & (DYNSEL_SLOT_MARKING | DYNSEL_SLOT_MARKED)) != 0;
    if (dynsel_slot_state(word) == DYNSEL_SLOT_RUNNING && !marked &&
        slot->work.where->backend->ops->marks_completion) {
        const uint64_t left_ns = dynsel_wake_look(ticket, longest_ns);
        if (left_ns != 0) {
            dynsel_wake_sleep(ticket, left_ns);
        }
    } else {
        dynsel_pause(round);
    }
}

/* 0: the deadline has passed. */
static uint64_t longest_sleep_ns(uint64_t deadline_ns)
{
    const uint64_t most =
        dynsel_limits_exist() ? DYNSEL_LIMITS_SLEEP_NS : (uint64_t)DYNSEL_LONGEST_SLEEP_NS;
    if (deadline_ns == DYNSEL_WAIT_FOREVER) {
        return most;
    }
    const uint64_t now = dynsel_now_ns();
    const uint64_t left = now < deadline_ns ? deadline_ns - now : 0;
    return left < most ? left : most;
}

/* The result of a wait for a run of work. */
typedef enum run_end { RUN_IS_OVER, RUN_IS_REPEATED, RUN_GOES_ON } run_end;

/* While other work is pending, it is started as soon as it is ready: a backend's wait, which has no
 * bound, would look at the end of this work alone. own: as in count_others(). */
static void help_while_it_runs(dynsel_slot *slot, uint64_t deadline_ns, uint32_t own)
{
    for (uint32_t round = 0; count_others(own) != 0 && state_of(slot) == DYNSEL_SLOT_RUNNING &&
                             !dynsel_slot_runs_second(slot);
         round++) {
        const uint32_t ticket = dynsel_wake_ticket();
        const bool looks = help_others();
        const uint64_t longest = longest_sleep_ns(deadline_ns);
        if (longest == 0) {
            return;
        }
        if (looks) {
            dynsel_pause_for_copy(round);
        } else {
            sleep_or_pause(slot, ticket, longest, round);
        }
    }
}

/*
 * The loop that waits for started work. A backend's own wait has no bound, so with a deadline, or
 * while work has time limits, this polls with a growing backoff. After the backend's wait, at most
 * another thread is still completing the work or reaping the queue. RUN_GOES_ON: the deadline has
 * passed. own: as in count_others().
 */
static run_end wait_for_run(dynsel_slot *slot, uint64_t deadline_ns, uint32_t own)
{
    const bool in_order = dynsel_slot_can_be_pending(slot);
    help_while_it_runs(slot, deadline_ns, own);
    if (deadline_ns == DYNSEL_WAIT_FOREVER && !dynsel_limits_exist() &&
        state_of(slot) == DYNSEL_SLOT_RUNNING) {
        dynsel_slot_wait_in_backend(slot);
    }
    for (uint32_t round = 0;; round++) {
        const uint32_t ticket = dynsel_wake_ticket();
        if (in_order ? poll_in_order(slot) : dynsel_slot_poll(slot)) {
            return RUN_IS_OVER;
        }
        dynsel_queue_look_around();
        if (dynsel_slot_runs_second(slot)) {
            return RUN_IS_REPEATED;
        }
        const uint64_t longest = longest_sleep_ns(deadline_ns);
        if (longest == 0) {
            return RUN_GOES_ON;
        }
        sleep_or_pause(slot, ticket, longest, round);
    }
}

/* False: the deadline has passed. own: as in count_others(). */
static bool wait_until_finished(dynsel_slot *slot, uint64_t deadline_ns, uint32_t own)
{
    run_end end = wait_for_run(slot, deadline_ns, own);
    for (uint32_t round = 0; CONFIG_DYNSEL_REPEAT && end == RUN_IS_REPEATED; round++) {
        dynsel_slot *const second = dynsel_slot_ref_second(slot);
        if (second != NULL) {
            (void)wait_for_run(second, deadline_ns, own);
            dynsel_slot_unref(second, DYNSEL_SLOT_REF);
        } else {
            dynsel_pause(round); /* another thread is starting or ending it */
        }
        end = state_of(slot) != DYNSEL_SLOT_FINISHED && dynsel_deadline_passed(deadline_ns)
                  ? RUN_GOES_ON
                  : wait_for_run(slot, deadline_ns, own);
    }
    return end == RUN_IS_OVER;
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

DYNSEL_RARE dynsel_status dynsel_wait_for_dependency(const dynsel_slot *slot, uint64_t deadline_ns,
                                                     uint32_t round)
{
    uint32_t token = 0;
    const dynsel_status status = dynsel_pending_operations->find_dependency(slot, &token);
    if (status != DYNSEL_OK && status != DYNSEL_E_AGAIN) {
        return status;
    }
    if (status == DYNSEL_E_AGAIN || !dynsel_pending_ref(token)) {
        /* a resource may be full until the ends of its work are seen */
        (void)dynsel_queue_reap_all();
        dynsel_pause_for_copy(round);
        return DYNSEL_OK;
    }
    dynsel_slot *dependency = dynsel_slot_at(dynsel_slot_number_in(token));
    (void)wait_until_finished(dependency, deadline_ns, 1);
    dynsel_slot_unref(dependency, DYNSEL_SLOT_REF);
    return DYNSEL_OK;
}

/* DYNSEL_OK: it is started, or over. A bounded wait may end before it waits for a dependency, so
 * it looks at the ends of all work once: repeated often enough, it comes to an end. */
DYNSEL_RARE static dynsel_status drive(const dynsel_slot *slot, uint64_t deadline_ns)
{
    if (deadline_ns != DYNSEL_WAIT_FOREVER) {
        (void)dynsel_queue_reap_all();
    }
    for (uint32_t round = 0;; round++) {
        (void)dynsel_pending_progress();
        dynsel_queue_look_around();
        const uint32_t word = dynsel_word_load_acquire(&slot->word);
        if (!dynsel_slot_is_pending(word) || dynsel_slot_runs_second(slot)) {
            return DYNSEL_OK;
        }
        if (dynsel_deadline_passed(deadline_ns)) {
            return DYNSEL_E_TIMEOUT;
        }
        if (dynsel_slot_state(word) != DYNSEL_SLOT_WAITING) {
            dynsel_pause(round); /* another thread is starting or ending it */
            continue;
        }
        const dynsel_status status = dynsel_wait_for_dependency(slot, deadline_ns, round);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
}

bool dynsel_pending_is_stuck(dynsel_slot *slot)
{
    if (!dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word)) ||
        !dynsel_slot_ref(slot, 0)) {
        return false;
    }
    uint32_t token = 0;
    const bool stuck = dynsel_slot_can_be_pending(slot) &&
                       dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word)) &&
                       dynsel_pending_operations->find_dependency(slot, &token) == DYNSEL_E_BUSY;
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return stuck;
}

static bool is_for(const dynsel_slot *slot, const dynsel_policy *policy,
                   const dynsel_backend *backend)
{
    if (!dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        return false;
    }
    if (policy != NULL) {
        return slot->selection.policy == policy;
    }
    const uint32_t index = dynsel_choice_index(dynsel_word_load_relaxed(&slot->choice));
    return slot->selection.policy->resources[index].backend == backend;
}

dynsel_status dynsel_pending_wait(const dynsel_policy *policy, const dynsel_backend *backend,
                                  uint64_t deadline_ns)
{
    if (dynsel_word_load_acquire(&dynsel_pending_count) == 0) {
        return DYNSEL_OK;
    }
    dynsel_status status = DYNSEL_OK;
    const uint32_t open = dynsel_slots_open();
    for (uint32_t number = 1; status == DYNSEL_OK && number <= open; number++) {
        dynsel_slot *slot = dynsel_slot_at(number);
        if (!dynsel_slot_ref(slot, 0)) {
            continue;
        }
        if (is_for(slot, policy, backend)) {
            status = drive(slot, deadline_ns);
        }
        dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    }
    return status;
}

#else

/* All work is started when it is accepted. */
static dynsel_status drive(const dynsel_slot *slot, uint64_t deadline_ns)
{
    (void)slot;
    (void)deadline_ns;
    return DYNSEL_OK;
}

#endif

/* For the trace, where a look that does not wait is no event. */
static inline uint64_t wait_begin(uint64_t deadline_ns)
{
    return dynsel_traced_is_running() && !dynsel_deadline_passed(deadline_ns) ? dynsel_traced_now()
                                                                              : 0;
}

dynsel_status dynsel_wait_until(dynsel_slot *slot, uint64_t deadline_ns)
{
    const uint64_t since = wait_begin(deadline_ns);
    dynsel_status status = DYNSEL_OK;
    if (dynsel_slot_is_pending(dynsel_word_load_acquire(&slot->word))) {
        status = drive(slot, deadline_ns);
    }
    if (status == DYNSEL_OK) {
        status = wait_until_finished(slot, deadline_ns, 0) ? DYNSEL_OK : DYNSEL_E_TIMEOUT;
    }
    dynsel_traced_wait(&slot->selection, since);
    return status;
}
