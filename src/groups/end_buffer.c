/* SPDX-License-Identifier: Apache-2.0 */
/* Ending a buffer: from its last use until the results are in the host's memory. */
#include <dynsel/submission.h>

#include "base/fail.h"
#include "data/buffer_uses.h"
#include "data/buffers.h"
#include "data/coherence.h"
#include "data/evict.h"
#include "data/readback_time.h"
#include "data/validity.h"
#include "groups/failures.h"
#include "groups/watch.h"
#include "port/atomic.h"
#include "port/context.h"
#include "port/lock.h"
#include "port/pause.h"
#include "submission/pending.h"
#include "submission/request.h"

/* The host's use (domain 0) of the buffer that is being deinitialized; one at a time. */
static dynsel_uses home;
static dynsel_lock home_lock = DYNSEL_LOCK_INITIALIZER;

/* From here on no handle finds the buffer. DYNSEL_E_BUSY: it is in use. */
static dynsel_status close_off(dynsel_buffer buffer, dynsel_buffer_record **found)
{
    dynsel_status status = DYNSEL_OK;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_buffer_record *record = dynsel_buffer_find(buffer);
    if (record == NULL) {
        status = DYNSEL_E_STALE;
    } else if (dynsel_buffer_in_use(record)) {
        status = DYNSEL_E_BUSY;
    } else {
        dynsel_buffer_hide(record);
        *found = record;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return status;
}

/* Work may have ended that was not polled yet. */
static dynsel_status close_off_when_over(dynsel_buffer buffer, dynsel_buffer_record **found)
{
    dynsel_status status = close_off(buffer, found);
    if (status == DYNSEL_E_BUSY) {
        dynsel_progress();
        status = close_off(buffer, found);
    }
    return status;
}

/* Lets the lock of the memory go while something is moved. */
static void wait_for(dynsel_buffer_record *copy_out, uint32_t round)
{
    if (copy_out != NULL) {
        dynsel_watch_begin_copy_out(copy_out);
        return;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_pause(round);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
}

/* Under both locks. Nothing uses the buffer any more, so there is nothing else to wait for. */
static dynsel_error copy_home(dynsel_buffer_record *record)
{
    dynsel_error error = {.status = DYNSEL_OK};
    home.count = 1;
    home.each[0] = (dynsel_use){
        .record = record,
        .token = dynsel_word_load_relaxed(&record->token),
        .reads = true,
    };
    dynsel_outlook outlook = dynsel_coherence_look(&home, &error);
    for (uint32_t round = 0; outlook.status == DYNSEL_E_AGAIN; round++) {
        dynsel_watch_looked_at(&home);
        wait_for(outlook.copy_out, round);
        outlook = dynsel_coherence_look(&home, &error);
    }
    dynsel_watch_looked_at(&home);
    if (error.status != DYNSEL_OK && error.code == 0) {
        error.function = DYNSEL_TEXT("dynsel_buffer_deinit");
    }
    return error;
}

/* True: the contents are in the host's memory, or lost for good. False: they could not be brought,
 * and the buffer is as before. */
static bool copy_out_the_rest(dynsel_buffer_record *record, dynsel_buffer handle,
                              dynsel_error *error)
{
    dynsel_lock_acquire(&home_lock);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    *error = copy_home(record);
    const bool lost = dynsel_failure_at_end(record, error);
    const bool ends = lost || error->status == DYNSEL_OK ||
                      dynsel_first_valid_copy(&record->validity) == DYNSEL_HOST_DOMAIN;
    if (!ends) {
        dynsel_word_store_release(&record->token, handle.token);
    }
    if (error->status != DYNSEL_OK) {
        error->buffer = handle.token;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_lock_release(&home_lock);
    return ends;
}

static void end(dynsel_buffer_record *record)
{
    dynsel_copies_end(record);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    dynsel_word_store_release(&record->token, 0);
    dynsel_spinlock_release(&dynsel_memory_lock);
}

dynsel_status dynsel_buffer_deinit(dynsel_buffer *buffer)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (buffer == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the buffer is NULL");
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(DYNSEL_TEXT(__func__),
                                     "end buffers outside of task functions");
    }
    dynsel_buffer_record *record = NULL;
    const dynsel_status status = close_off_when_over(*buffer, &record);
    if (status == DYNSEL_E_BUSY) {
        return DYNSEL_FAIL(DYNSEL_E_BUSY, "a command group that is not complete or an open host "
                                          "accessor uses the buffer: wait for it first");
    }
    if (status != DYNSEL_OK) {
        return dynsel_buffer_refuse(DYNSEL_TEXT(__func__), NULL, *buffer);
    }
    dynsel_error error;
    const bool ends = copy_out_the_rest(record, *buffer, &error);
    dynsel_readback_tell();
    if (ends) {
        end(record);
        buffer->token = 0;
    }
    return error.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail(&error);
}
