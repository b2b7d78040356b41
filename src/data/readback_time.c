/* SPDX-License-Identifier: Apache-2.0 */
#include "data/readback_time.h"

#include "data/buffers.h"
#include "data/domains.h"
#include "policy/report.h"
#include "port/pause.h"
#include "submission/slot_table.h"

enum {
    LATE_NS = 1000000 /* a copy that was not polled for this long; ten pauses of a waiting thread */
};

typedef struct due_report {
    dynsel_selection selection;
    uint64_t ns;
} due_report;

/* The reports that are due. Reports that do not fit are dropped: later runs are reported. */
static due_report due[CONFIG_DYNSEL_MAX_REQUIREMENTS];
dynsel_word dynsel_readback_due;
static dynsel_word telling; /* how many threads are reporting, without the lock */

static uint32_t count_due(void)
{
    return dynsel_word_load_relaxed(&dynsel_readback_due);
}

static void set_due(uint32_t count)
{
    dynsel_word_store_relaxed(&dynsel_readback_due, count);
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_readback_forget_all(void)
{
    set_due(0);
    dynsel_word_store_relaxed(&telling, 0);
}
#endif

void dynsel_readback_remember(dynsel_buffer_record *record, const dynsel_uses *uses)
{
#if CONFIG_DYNSEL_REPEAT
    if (uses->second_run) { /* the choice is not that of the slot */
        record->wrote.selection.policy = NULL;
        return;
    }
#endif
    record->wrote.selection = dynsel_uses_slot(uses)->selection;
    record->wrote.id = uses->kind;
}

/* Not the copies that exploration causes, in both directions: without it the data would stay. */
bool dynsel_readback_is_wanted(const dynsel_buffer_record *record, const dynsel_uses *uses)
{
    if (record->wrote.selection.policy == NULL) {
        return false;
    }
    if (uses->token == 0 || uses->opener != 0) {
        return true; /* the program ends the buffer, or opens a host accessor */
    }
    const uint8_t reason = dynsel_uses_slot(uses)->selection.reason;
    return reason != DYNSEL_REASON_PROFILING && reason != DYNSEL_REASON_EXPLORING &&
           uses->kind != record->wrote.id;
}

/* A copy behind other work cannot be timed. */
void dynsel_readback_begin(dynsel_copy_out *copy_out)
{
    const dynsel_backend *const backend = dynsel_domains[copy_out->domain - 1].backend;
    const bool alone = copy_out->timed && !dynsel_in_flight_is_busy(backend, copy_out->own);
    copy_out->began_ns = alone ? dynsel_now_ns() : 0;
    copy_out->seen_ns = copy_out->began_ns;
}

void dynsel_readback_goes_on(dynsel_copy_out *copy_out)
{
    if (copy_out->began_ns != 0) {
        copy_out->seen_ns = dynsel_now_ns();
    }
}

static void add_due(const dynsel_selection *selection, uint64_t ns)
{
    const uint32_t count = count_due();
    if (count < CONFIG_DYNSEL_MAX_REQUIREMENTS) {
        due[count] = (due_report){.selection = *selection, .ns = ns};
        set_due(count + 1);
    }
}

/* If the end is seen late, the copy may have ended any time since the last poll, so the time of
 * that poll counts. Copies from one domain are sequential. */
static void add_timed(const dynsel_buffer_record *record, dynsel_domain_record *domain)
{
    const dynsel_copy_out *const copy_out = &record->copy_out;
    const uint64_t before_ns = domain->copied_out_ns;
    const uint64_t now_ns = dynsel_now_ns();
    domain->copied_out_ns = now_ns - copy_out->seen_ns > LATE_NS ? copy_out->seen_ns : now_ns;
    const uint64_t began_ns = before_ns > copy_out->began_ns ? before_ns : copy_out->began_ns;
    if (domain->copied_out_ns > began_ns) {
        add_due(&record->wrote.selection, domain->copied_out_ns - began_ns);
    }
}

void dynsel_readback_end(dynsel_buffer_record *record)
{
    const dynsel_copy_out *const copy_out = &record->copy_out;
    dynsel_domain_record *const domain = &dynsel_domains[copy_out->domain - 1];
    const dynsel_policy *const policy = record->wrote.selection.policy;
    if (copy_out->timed && copy_out->began_ns != 0 && policy != NULL) {
        add_timed(record, domain);
    } else {
        domain->copied_out_ns = dynsel_now_ns();
        if (copy_out->timed && policy != NULL && policy->ops->weighs_data) {
            add_due(&record->wrote.selection, 0);
        }
    }
    dynsel_readback_forget(record);
}

/* Releases the lock meanwhile, because the policy may take it. */
static void tell(const due_report *report)
{
    (void)dynsel_word_add_synchronized(&telling, 1);
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_tell(&report->selection, DYNSEL_TASK_READBACK_TIME, report->ns);
    (void)dynsel_word_add_synchronized(&telling, (uint32_t)-1);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
}

void dynsel_readback_tell_now(void)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t count = count_due(); count != 0; count = count_due()) {
        const due_report report = due[count - 1];
        set_due(count - 1);
        tell(&report);
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
}

static void drop_due(const dynsel_policy *policy)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count_due(); i++) {
        if (due[i].selection.policy != policy) {
            due[kept++] = due[i];
        }
    }
    set_due(kept);
}

void dynsel_readback_leave(const dynsel_policy *policy)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        if (dynsel_buffers[i].wrote.selection.policy == policy) {
            dynsel_readback_forget(&dynsel_buffers[i]);
        }
    }
    drop_due(policy);
    dynsel_spinlock_release(&dynsel_memory_lock);
    for (uint32_t round = 0; dynsel_word_load_acquire(&telling) != 0; round++) {
        dynsel_pause(round);
    }
}
