/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges on their way to a device and back. The staging memory is that of the command group alone
 * until it is over. */
#include "data/staging.h"
#include "groups/running.h"

#include "base/fail.h"
#include "port/likely.h"

static const char *name_of(const dynsel_staged *staged)
{
    (void)staged;
    return DYNSEL_TEXT("a range");
}

static dynsel_status refuse_full(const dynsel_staged *staged, uint32_t failures_before)
{
    return dynsel_running_refuse_full(name_of(staged), staged->memory.bytes, failures_before);
}

static dynsel_status allocate(const dynsel_running *r, dynsel_staged *staged)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_memory *const kept = dynsel_staging_memory(staged);
    dynsel_memory memory;
    dynsel_status status = DYNSEL_OK;
    do {
        memory = (dynsel_memory){.bytes = kept->bytes};
        status = r->ops->allocate(r->backend, r->own, &memory);
    } while (status == DYNSEL_E_AGAIN && dynsel_running_evict(r->group));
    if (status == DYNSEL_OK) {
        kept->native = memory.native; /* others read how large it is, under the lock */
        dynsel_staging_allocated(staged, r->own);
        staged->memory.native = memory.native;
        staged->fresh = true;
    }
    return status != DYNSEL_E_AGAIN ? status : refuse_full(staged, failures_before);
}

dynsel_status dynsel_stage_allocate(const dynsel_running *r)
{
    dynsel_status status = DYNSEL_OK;
    if (r->group->uses->staged_count != 0) {
        dynsel_staging_release(); /* what had to go for this */
    }
    for (uint32_t i = 0; i < r->group->uses->staged_count && status == DYNSEL_OK; i++) {
        dynsel_staged *const staged = &r->group->uses->staged[i];
        staged->fresh = false;
        status = staged->memory.native == NULL ? allocate(r, staged) : DYNSEL_OK;
    }
    return status;
}

static dynsel_status bring(dynsel_running *r, dynsel_staged *staged)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_event done = {.native = NULL};
    dynsel_status status = DYNSEL_OK;
    do {
        status = r->ops->bring(r->backend, r->own, &staged->memory, staged->in, r->events,
                               r->after_count, &done);
    } while (status == DYNSEL_E_AGAIN && dynsel_running_evict(r->group));
    if (status == DYNSEL_E_AGAIN) {
        return refuse_full(staged, failures_before);
    }
    staged->came = status == DYNSEL_OK && staged->in;
    if (status == DYNSEL_OK && done.native != NULL) {
        r->events[r->event_count++] = done;
    }
    return status;
}

dynsel_status dynsel_stage_in(dynsel_running *r)
{
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < r->group->uses->staged_count && status == DYNSEL_OK; i++) {
        dynsel_staged *const staged = &r->group->uses->staged[i];
        status = staged->in || staged->fresh ? bring(r, staged) : DYNSEL_OK;
    }
    return status;
}

/* One after the other, so that the last one's event is that of all, and tells of all failures. */
static dynsel_status write_back(const dynsel_running *r, dynsel_staged *staged, dynsel_event *done)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_event next = {.native = NULL};
    dynsel_status status = DYNSEL_OK;
    do {
        status = r->ops->write_back(r->backend, r->own, &staged->memory, done,
                                    done->native != NULL ? 1 : 0, &next);
    } while (status == DYNSEL_E_AGAIN && dynsel_running_evict(r->group));
    if (status == DYNSEL_E_AGAIN) {
        return refuse_full(staged, failures_before);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    staged->went = true;
    if (done->native != NULL) {
        dynsel_running_release(r, *done);
    }
    done->native = next.native;
    return DYNSEL_OK;
}

dynsel_status dynsel_stage_out(const dynsel_running *r, dynsel_event *done)
{
    dynsel_status status = DYNSEL_OK;
    for (uint32_t i = 0; i < r->group->uses->staged_count && status == DYNSEL_OK; i++) {
        dynsel_staged *const staged = &r->group->uses->staged[i];
        status = staged->out ? write_back(r, staged, done) : DYNSEL_OK;
    }
    return status;
}
