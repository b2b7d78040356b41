/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a buffer: copies the results to its home or discards them, and frees the copies. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "data/coherence.h"
#include "data/evict.h"
#include "data/home.h"
#include "data/readback_time.h"
#include "data/validity.h"
#include "groups/failures.h"
#include "groups/watch.h"
#include "policy/after_fork.h"
#include "policy/traced.h"
#include "port/atomic.h"
#include "port/context.h"
#include "port/lock.h"
#include "port/pause.h"
#include "submission/pending.h"
#include "submission/queue.h"
#include "submission/request.h"
#include "submission/wait_until.h"

/* The use of the buffer that is being ended, by the host. One buffer at a time. */
static dynsel_uses last_use;
static dynsel_lock last_use_lock = DYNSEL_LOCK_INITIALIZER;

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(). */
static void forget(void)
{
    dynsel_lock_renew(&last_use_lock);
    last_use = (dynsel_uses){.count = 0};
}

void (*const dynsel_fork_ends_of_buffers)(void) = forget;
#endif

/* Work that uses the buffer, as dynsel_buffer_user() says. */
typedef struct user {
    uint32_t number; /* token + 1 */
    bool has_ended;
} user;

/* Makes the handles of the buffer stale. DYNSEL_E_BUSY: it is in use, by `found_user`. */
static dynsel_status hide(dynsel_buffer buffer, dynsel_buffer_record **found, user *found_user)
{
    dynsel_status status = DYNSEL_OK;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_buffer_record *record = dynsel_buffer_find(buffer);
    if (record == NULL) {
        status = DYNSEL_E_STALE;
    } else {
        found_user->number = dynsel_buffer_user(record, &found_user->has_ended);
        status = found_user->number != 0 ? DYNSEL_E_BUSY : DYNSEL_OK;
    }
    if (status == DYNSEL_OK) {
        dynsel_buffer_hide(record);
        *found = record;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return status;
}

/* Whether the work is over. Who waited for the last users of a buffer need not have looked at those
 * before them: these may be in a queue whose head goes on, another thread may be taking them off,
 * or their device may tell their ends later. What has ended for sure is waited for. */
static bool is_over(const user *which)
{
    const uint32_t token = which->number - 1;
    if (!dynsel_pending_ref(token)) {
        return true;
    }
    dynsel_slot *const slot = dynsel_slot_of_token(token);
    const dynsel_status status =
        dynsel_wait_until(slot, which->has_ended ? DYNSEL_WAIT_FOREVER : DYNSEL_DO_NOT_WAIT);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return status == DYNSEL_OK;
}

/* Under both locks; releases the memory lock meanwhile. Waits only for copies to the host, because
 * no work uses the buffer any more. */
static dynsel_error copy_out(dynsel_buffer_record *record)
{
    dynsel_error error = {.status = DYNSEL_OK};
    last_use.count = 1;
    last_use.each[0] = (dynsel_use){
        .record = record,
        .token = dynsel_word_load_relaxed(&record->token),
        .reads = dynsel_home_needs_host(record),
    };
    dynsel_outlook outlook = dynsel_coherence_look(&last_use, &error);
    for (uint32_t round = 0; outlook.status == DYNSEL_E_AGAIN; round++) {
        dynsel_watch_looked_at(&last_use);
        if (outlook.copy_out != NULL) {
            dynsel_watch_begin_copy_out(outlook.copy_out);
        } else {
            dynsel_spinlock_release(&dynsel_memory_lock);
            dynsel_queue_look_around();
            dynsel_pause_for_copy(round);
            dynsel_spinlock_acquire(&dynsel_memory_lock);
        }
        outlook = dynsel_coherence_look(&last_use, &error);
    }
    dynsel_watch_looked_at(&last_use);
    if (error.status != DYNSEL_OK && error.code == 0) {
        error.function = DYNSEL_TEXT("dynsel_buffer_deinit");
    }
    return error;
}

/* The same without the results: waits for a copy to the host that another use began. */
static void let_copy_out_end(dynsel_buffer_record *record)
{
    dynsel_watch_look_at_copy_out(record);
    for (uint32_t round = 0; record->copy_out.state != DYNSEL_NO_COPY_OUT; round++) {
        dynsel_spinlock_release(&dynsel_memory_lock);
        dynsel_queue_look_around();
        dynsel_pause_for_copy(round);
        dynsel_spinlock_acquire(&dynsel_memory_lock);
        dynsel_watch_look_at_copy_out(record);
    }
    dynsel_readback_forget(record);
}

/* One call that ends a buffer. */
typedef struct ending {
    const char *function;
    bool discards; /* the results */
    dynsel_buffer_record *record;
    dynsel_error error;
    bool held; /* as tell_if_held() */
} ending;

/* Under the lock: whether a resource that was given up may use the host's memory of the buffer.
 * error: in and out, set if it may. */
static bool tell_if_held(const dynsel_buffer_record *record, uint32_t token, dynsel_error *error,
                         const char *function)
{
#if CONFIG_DYNSEL_TIME_LIMITS
    if (dynsel_buffer_is_held(record, token)) {
        if (error->status == DYNSEL_OK) {
            error->function = function;
        }
        error->status = DYNSEL_E_DEPENDENCY;
        error->detail = DYNSEL_TEXT("the buffer was ended, but a resource that was given up may "
                                    "still use its memory: leave that alone until the program "
                                    "ends");
        return true;
    }
#else
    (void)record;
    (void)token;
    (void)error;
    (void)function;
#endif
    return false;
}

/* Under the lock, and last_use_lock if results are kept. True: the contents are in the host's
 * memory, lost, or not wanted. */
static bool bring_contents(ending *e)
{
    if (e->discards) {
        let_copy_out_end(e->record);
        return true;
    }
    e->error = copy_out(e->record);
    return dynsel_failure_at_end(e->record, &e->error) ||
           (e->error.status == DYNSEL_OK &&
            dynsel_home_return(e->record, &e->error) == DYNSEL_OK) ||
           !dynsel_is_valid_anywhere(&e->record->validity) || dynsel_home_is_lost(e->record);
}

/* False: the contents could not be copied, and the buffer is as before. */
static bool finish_contents(ending *e, dynsel_buffer handle)
{
    if (!e->discards) {
        dynsel_lock_acquire(&last_use_lock);
    }
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool ends = bring_contents(e);
    e->held = ends && tell_if_held(e->record, handle.token, &e->error, e->function);
    if (!ends) {
        dynsel_word_store_release(&e->record->token, handle.token);
    }
    if (e->error.status != DYNSEL_OK) {
        e->error.buffer = handle.token;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    if (!e->discards) {
        dynsel_lock_release(&last_use_lock);
    }
    return ends;
}

/* DYNSEL_OK: the handles of the buffer are stale, and no work uses it. */
static dynsel_status take(ending *e, const dynsel_buffer *buffer)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (buffer == NULL) {
        return DYNSEL_FAIL_IN(e->function, DYNSEL_E_INVALID, "the buffer is NULL", 0);
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(e->function, "end buffers outside of task functions");
    }
    user found = {.number = 0};
    dynsel_status status = hide(*buffer, &e->record, &found);
    while (status == DYNSEL_E_BUSY && is_over(&found)) {
        status = hide(*buffer, &e->record, &found);
    }
    if (status == DYNSEL_E_BUSY) {
        return DYNSEL_FAIL_IN(e->function, DYNSEL_E_BUSY,
                              "a command group that is not complete or an open host accessor uses "
                              "the buffer: wait for it first",
                              0);
    }
    return status == DYNSEL_OK ? status : dynsel_buffer_refuse(e->function, NULL, *buffer);
}

static dynsel_status end(ending *e, dynsel_buffer *buffer)
{
    const dynsel_status status = take(e, buffer);
    if (status != DYNSEL_OK || e->record == NULL) {
        return status;
    }
    const uint64_t since = dynsel_traced_now();
    const bool ends = finish_contents(e, *buffer);
    dynsel_readback_tell();
    dynsel_traced_end_of_buffer(buffer->token, since);
    if (ends) {
        dynsel_copies_end(e->record);
        if (!e->held || !dynsel_buffer_is_inside(e->record)) { /* else it is never used again */
            dynsel_buffer_free(e->record);
        }
        buffer->token = 0;
    }
    return e->error.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail(&e->error);
}

dynsel_status dynsel_buffer_deinit(dynsel_buffer *buffer)
{
    ending e = {.function = DYNSEL_TEXT(__func__)};
    return end(&e, buffer);
}

dynsel_status dynsel_buffer_discard(dynsel_buffer *buffer)
{
    ending e = {.function = DYNSEL_TEXT(__func__), .discards = true};
    return end(&e, buffer);
}
