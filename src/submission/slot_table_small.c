/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/slot_table_small.h"

#include <dynsel/port.h>

#include "policy/policy.h"
#include "policy/report.h"
#include "submission/finish.h"
#include "submission/slot_table.h"
#include "submission/start.h"

#define LATER ((uint32_t)1 << 30) /* a distance of tokens that goes backwards */

dynsel_slot dynsel_slots[CONFIG_DYNSEL_MAX_IN_FLIGHT];
dynsel_in_flight_state dynsel_in_flight;

dynsel_status dynsel_complete(uint32_t token, dynsel_status status, uint64_t end_ns)
{
    const uint32_t before = dynsel_critical_begin(); /* another interrupt may end the same work */
    dynsel_slot *slot = dynsel_slot_of(token);
    dynsel_status result = DYNSEL_E_STALE;
    if (slot->work.token == token && dynsel_word_load_relaxed(&slot->open) != 0) {
        const dynsel_policy_ops *ops = slot->selection.policy->ops;
        if (slot->work.error.status == DYNSEL_OK) { /* what the function returned comes first */
            slot->work.error.status = status;
        }
        if (ops->note_end != NULL) {
            ops->note_end(slot, end_ns);
        }
        dynsel_word_store_release(&slot->open, 0);
        dynsel_word_store_relaxed(&dynsel_in_flight.ended, 1);
        result = DYNSEL_OK;
    }
    dynsel_critical_end(before);
    return result;
}

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE

/*
 * The run time of the work: from the later of its ready time and the end of the previous work on
 * the resource. Work that was started before an unknown end may have waited for it.
 */
void dynsel_note_time(dynsel_slot *slot, uint64_t end_ns)
{
    dynsel_queue *queue = &slot->selection.policy->queues[slot->selection.index];
    uint64_t begin_ns = slot->work.ready_ns;
    bool known = end_ns != 0;
    if (!slot->work.began && queue->last_end_ns > begin_ns) {
        begin_ns = queue->last_end_ns;
    }
    if (!slot->work.began && queue->last_end_ns == 0 &&
        queue->last_token - slot->work.token < LATER) {
        known = false;
    }
    queue->last_end_ns = end_ns;
    queue->last_token = dynsel_in_flight.last_token;
    if (known) {
        slot->took_ns = end_ns > begin_ns ? end_ns - begin_ns : 1;
    }
}

static uint64_t time_of(dynsel_slot *slot)
{
    if (!slot->work.where->backend->ops->marks_completion) {
        slot->took_ns = dynsel_direct_time(&slot->work);
    }
    return slot->took_ns;
}

#else

static uint64_t time_of(const dynsel_slot *slot)
{
    (void)slot;
    return 0;
}

#endif

void dynsel_tell_step(dynsel_slot *slot)
{
    if (slot->state == DYNSEL_SLOT_FREE) {
        dynsel_tell_submission(&slot->selection);
        if ((slot->work.wants & DYNSEL_TASK_TIME) != 0) {
            slot->work.ready_ns = dynsel_now_ns();
        }
        return;
    }
    if (slot->state == DYNSEL_SLOT_STARTING) {
        dynsel_tell_withdrawal(&slot->selection);
        return;
    }
    if (slot->selection.wants != 0) {
        dynsel_tell_end(&slot->selection, slot->work.error.status, time_of(slot));
    }
}

void dynsel_slot_note_step(dynsel_slot *slot)
{
    const dynsel_policy_ops *ops = slot->selection.policy->ops;
    if (ops->note_step != NULL) {
        ops->note_step(slot);
    }
}

void dynsel_slot_free(dynsel_slot *slot)
{
    dynsel_backend *backend = slot->work.where->backend;
    if (slot->work.done.native != NULL && backend->ops->release != NULL) {
        backend->ops->release(backend, &slot->work);
        slot->work.done.native = NULL;
    }
    slot->asked = false;
    dynsel_slot_end_use(slot);
}

void dynsel_slot_let_go(dynsel_slot *slot)
{
    slot->asked = false;
    if (slot->state == DYNSEL_SLOT_FINISHED) {
        if (slot->work.error.status != DYNSEL_OK) {
            dynsel_submission_group_note_failure(slot->selection.policy, &slot->work.error);
        }
        dynsel_slot_free(slot);
    }
}

static void finish(dynsel_slot *slot)
{
    slot->state = DYNSEL_SLOT_FINISHED;
    dynsel_in_flight.running--;
    dynsel_finish_counted(slot->selection.policy, &slot->selection, slot->work.error.status);
    dynsel_slot_note_step(slot);
    if (!slot->asked) {
        dynsel_slot_let_go(slot);
    }
}

/* An end that is marked meanwhile is seen now or by the next call. */
dynsel_status dynsel_slots_reap(void)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_word_load_relaxed(&dynsel_in_flight.ended) == 0) {
        return DYNSEL_OK;
    }
    dynsel_word_store_release(&dynsel_in_flight.ended, 0);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        dynsel_slot *slot = &dynsel_slots[i];
        if (slot->state == DYNSEL_SLOT_RUNNING && dynsel_word_load_acquire(&slot->open) == 0) {
            finish(slot);
        }
    }
    return DYNSEL_OK;
}

void dynsel_in_flight_reap(void)
{
    (void)dynsel_slots_reap();
}

void dynsel_in_flight_look(dynsel_policy *policy)
{
    (void)policy;
    (void)dynsel_slots_reap();
}

/* An end that is marked after the comparison stays pending, and that ends the sleep. */
__attribute__((always_inline)) static inline void sleep(uint64_t longest_ns)
{
    const uint32_t before = dynsel_critical_begin();
    if (dynsel_word_load_relaxed(&dynsel_in_flight.ended) == 0) {
        dynsel_port_wait_for_event(longest_ns);
    }
    dynsel_critical_end(before);
}

static bool backoff(const dynsel_wait_policy *wait_policy)
{
    (void)wait_policy;
    sleep(DYNSEL_LONGEST_SLEEP_NS);
    return true;
}

const dynsel_wait_policy dynsel_unbounded_wait = {.backoff = backoff};

bool dynsel_backoff_until(const dynsel_wait_policy *wait_policy)
{
    const uint64_t deadline_ns = ((const dynsel_bounded_wait *)wait_policy)->deadline_ns;
    const uint64_t now = dynsel_now_ns();
    if (now >= deadline_ns) {
        return false;
    }
    const uint64_t left_ns = deadline_ns - now;
    sleep(left_ns < DYNSEL_LONGEST_SLEEP_NS ? left_ns : DYNSEL_LONGEST_SLEEP_NS);
    return true;
}

/* Whether work of the policy, or of the backend, goes on. */
static bool goes_on(const dynsel_policy *policy, const dynsel_backend *backend)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        const dynsel_slot *slot = &dynsel_slots[i];
        if (slot->state == DYNSEL_SLOT_RUNNING &&
            (slot->selection.policy == policy || slot->work.where->backend == backend)) {
            return true;
        }
    }
    return false;
}

static dynsel_status wait_for(const dynsel_policy *policy, const dynsel_backend *backend,
                              uint64_t deadline_ns)
{
    const dynsel_bounded_wait bounded = {.wait_policy = {.backoff = dynsel_backoff_until},
                                         .deadline_ns = deadline_ns};
    (void)dynsel_slots_reap();
    while (goes_on(policy, backend)) {
        const bool in_time = CONFIG_DYNSEL_SUBMISSION_CONTROL
                                 ? dynsel_backoff_until(&bounded.wait_policy)
                                 : backoff(&dynsel_unbounded_wait); /* there are no deadlines */
        if (!in_time) {
            return DYNSEL_E_TIMEOUT;
        }
        (void)dynsel_slots_reap();
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_in_flight_wait(dynsel_policy *policy, uint64_t deadline_ns)
{
    return wait_for(policy, NULL, deadline_ns);
}

dynsel_status dynsel_in_flight_wait_backend(const dynsel_backend *backend, uint64_t deadline_ns)
{
    return wait_for(NULL, backend, deadline_ns);
}

uint32_t dynsel_in_flight_retire(dynsel_policy *policy)
{
    uint32_t held = 0;
    (void)dynsel_slots_reap();
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        const dynsel_slot *slot = &dynsel_slots[i];
        held += slot->state != DYNSEL_SLOT_FREE && slot->selection.policy == policy ? 1 : 0;
    }
    return held;
}

dynsel_in_flight_statistics dynsel_in_flight_look_at_table(void)
{
    dynsel_in_flight_statistics found = {.capacity = CONFIG_DYNSEL_MAX_IN_FLIGHT};
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        found.in_use += dynsel_slots[i].state != DYNSEL_SLOT_FREE ? 1 : 0;
    }
#if CONFIG_DYNSEL_STATISTICS
    found.most_in_use = dynsel_in_flight.most_in_use;
    found.refusals = dynsel_in_flight.refusals;
#endif
    return found;
}

/* A free slot is closed and has no handle; a slot in use is where its token says. */
static bool is_whole(const dynsel_slot *slot)
{
    if (slot->state == DYNSEL_SLOT_FREE) {
        return dynsel_word_load_relaxed(&slot->open) == 0 && !slot->asked;
    }
    return slot->state <= DYNSEL_SLOT_FINISHED && dynsel_slot_of(slot->work.token) == slot &&
           dynsel_policy_is_initialized(slot->selection.policy) &&
           (slot->state != DYNSEL_SLOT_FINISHED || slot->asked);
}

bool dynsel_in_flight_table_is_whole(void)
{
    uint32_t running = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        if (!is_whole(&dynsel_slots[i])) {
            return false;
        }
        running += dynsel_slots[i].state == DYNSEL_SLOT_RUNNING ? 1 : 0;
    }
    return running == dynsel_in_flight.running;
}
