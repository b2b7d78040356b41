/* SPDX-License-Identifier: Apache-2.0 */
/* What waiting work waits for, and whether that is the very thread that asks. */
#include "base/fail.h"
#include "data/coherence.h"
#include "data/lock.h"
#include "groups/order.h"
#include "submission/deferred.h"

static bool is_held(const dynsel_handler *group)
{
    return group->held && group->opener == dynsel_thread_identity();
}

bool dynsel_order_is_own(uint32_t token)
{
    return dynsel_stage_of(token) != DYNSEL_STAGE_OVER && is_held(dynsel_group_in(token));
}

/* What one step of the way to the first cause found. */
typedef struct step {
    uint32_t token;             /* of work that was started */
    bool found;                 /* there is such */
    bool own;                   /* this thread has something open that it waits for */
    const dynsel_handler *next; /* something that waits itself; or NULL */
} step;

static void look_at(step *seen, uint32_t token, dynsel_stage stage)
{
    if (stage == DYNSEL_STAGE_ACCEPTED) {
        seen->own = seen->own || is_held(dynsel_group_in(token));
        seen->next = dynsel_group_in(token);
    } else if (stage == DYNSEL_STAGE_STARTED) {
        seen->token = token;
        seen->found = true;
    }
}

static void look_behind(step *seen, const dynsel_handler *group)
{
    seen->next = NULL;
    for (uint32_t i = 0; i < group->dependency_count && !seen->found; i++) {
        const dynsel_stage stage = dynsel_stage_of(group->dependencies[i]);
        if (stage != DYNSEL_STAGE_OVER) {
            look_at(seen, group->dependencies[i], stage);
        }
    }
    uint32_t token = 0;
    if (!seen->found && seen->next == NULL && dynsel_coherence_blocker(group, &token)) {
        look_at(seen, token, dynsel_stage_of(token));
    }
}

/* Each step leads to work that was entered before, or decided to be started; unless that was taken
 * back, hence the bound. */
static dynsel_status find_blocker(const dynsel_handler *group, uint32_t *token)
{
    step seen = {.next = group, .own = is_held(group)};
    for (uint32_t steps = 0; steps < CONFIG_DYNSEL_MAX_IN_FLIGHT; steps++) {
        if (seen.next == NULL || seen.found) {
            break;
        }
        look_behind(&seen, seen.next);
    }
    *token = seen.token;
    if (seen.found) {
        return DYNSEL_OK;
    }
    return seen.own ? DYNSEL_E_BUSY : DYNSEL_E_AGAIN;
}

dynsel_status dynsel_order_blocker(const dynsel_slot *slot, uint32_t *token)
{
    dynsel_brief_lock_acquire(&dynsel_memory_lock);
    const dynsel_status status = find_blocker(dynsel_group_of(slot), token);
    dynsel_brief_lock_release(&dynsel_memory_lock);
    return status != DYNSEL_E_BUSY
               ? status
               : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_wait"), DYNSEL_E_BUSY,
                                "it waits for a host accessor that this thread has open: close "
                                "that first",
                                0);
}
