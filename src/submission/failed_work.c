/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/failed_work.h"

#include <stddef.h>
#include <string.h>

#include "port/spinlock.h"

/* The last failure in a slot. */
typedef struct record {
    uint32_t token; /* + 1; 0: none */
    dynsel_cause cause;
} record;

static dynsel_spinlock lock; /* no other is taken under it */
static record failed[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* All that ever followed work: what a former one followed matches nothing, or sets a cause that
 * nobody reads. */
static dynsel_followed *followers;

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_failed_work_forget_all(void)
{
    (void)memset(failed, 0, sizeof(failed));
    followers = NULL;
    dynsel_spinlock_release(&lock);
}
#endif

bool dynsel_followed_has(const dynsel_followed *followed, uint32_t token)
{
    for (uint32_t i = 0; i < followed->count; i++) {
        if (followed->tokens[i] == token) {
            return true;
        }
    }
    return false;
}

/* The first cause stays. */
static void set_cause(dynsel_followed *followed, const dynsel_cause *cause)
{
    if (followed->cause.status == DYNSEL_OK) {
        followed->cause = *cause;
    }
}

void dynsel_failed_work_note(uint32_t slot, uint32_t token, const dynsel_kept_error *error)
{
    const record it = {.token = token + 1, .cause = dynsel_cause_of(error)};
    dynsel_spinlock_acquire(&lock);
    failed[slot - 1] = it;
    for (dynsel_followed *each = followers; each != NULL; each = each->next) {
        if (dynsel_followed_has(each, token)) {
            set_cause(each, &it.cause);
        }
    }
    dynsel_spinlock_release(&lock);
}

void dynsel_followed_begin(dynsel_followed *followed)
{
    dynsel_spinlock_acquire(&lock);
    followed->count = 0;
    followed->task_count = 0;
    followed->cause.status = DYNSEL_OK;
    if (!followed->listed) {
        followed->listed = true;
        followed->next = followers;
        followers = followed;
    }
    dynsel_spinlock_release(&lock);
}

/* It may have failed meanwhile, and then its record is still there. */
void dynsel_followed_add(dynsel_followed *followed, uint32_t slot, uint32_t token, bool is_task)
{
    dynsel_spinlock_acquire(&lock);
    uint32_t place = followed->count;
    followed->count++;
    if (is_task) {
        followed->tokens[place] = followed->tokens[followed->task_count];
        place = followed->task_count;
        followed->task_count++;
    }
    followed->tokens[place] = token;
    if (failed[slot - 1].token == token + 1) {
        set_cause(followed, &failed[slot - 1].cause);
    }
    dynsel_spinlock_release(&lock);
}

void dynsel_followed_fail(dynsel_followed *followed, const dynsel_kept_error *error)
{
    const dynsel_cause cause = dynsel_cause_of(error);
    dynsel_spinlock_acquire(&lock);
    set_cause(followed, &cause);
    dynsel_spinlock_release(&lock);
}

bool dynsel_followed_has_failed(const dynsel_followed *followed)
{
    dynsel_spinlock_acquire(&lock);
    const bool has_failed = followed->cause.status != DYNSEL_OK;
    dynsel_spinlock_release(&lock);
    return has_failed;
}
