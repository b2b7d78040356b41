/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/weigh_data.h"

#include "data/coherence.h"
#include "data/domains.h"
#include "submission/pending.h"
#include "submission/pending_ops.h"

/* The memory of a resource. */
typedef struct destination {
    uint32_t domain;
    bool is_host; /* false with DYNSEL_HOST_DOMAIN: a domain that has no copies yet */
} destination;

static destination destination_of(const dynsel_policy *policy, uint32_t index)
{
    const uint32_t number =
        dynsel_domain_ask(policy->resources[index].backend, policy->queues[index].own).number;
    return (destination){.domain = dynsel_domain_find(policy->resources[index].backend, number),
                         .is_host = number == 0};
}

/* number: token + 1, or 0. */
static bool is_pending(uint32_t number)
{
    return number != 0 && dynsel_stage_of(number - 1) == DYNSEL_STAGE_ACCEPTED;
}

/* Whether a domain's copies are the host's memory. */
static bool is_in_host_memory(uint32_t domain)
{
    return domain == DYNSEL_HOST_DOMAIN || dynsel_domains[domain - 1].shares;
}

static bool is_same_memory(uint32_t a, const destination *there)
{
    return (a == there->domain && (a != DYNSEL_HOST_DOMAIN || there->is_host)) ||
           (is_in_host_memory(a) && (there->is_host || (there->domain != DYNSEL_HOST_DOMAIN &&
                                                        is_in_host_memory(there->domain))));
}

/* Whether the data will have to be moved, once all work before has had its effect. any_pending:
 * some of it may have had none yet. */
static bool will_move(const dynsel_buffer_record *record, const destination *there,
                      bool any_pending)
{
    if (!any_pending) {
        return dynsel_coherence_would_move(record, there->domain, there->is_host);
    }
    for (uint32_t i = 0; i < record->reader_count; i++) {
        if (is_pending(record->readers[i]) &&
            is_same_memory(dynsel_uses_in(record->readers[i] - 1)->domain, there)) {
            return false;
        }
    }
    return is_pending(record->writer)
               ? !is_same_memory(dynsel_uses_in(record->writer - 1)->domain, there)
               : dynsel_coherence_would_move(record, there->domain, there->is_host);
}

/* The record of a use; NULL: the buffer was ended meanwhile. */
static const dynsel_buffer_record *record_of(const dynsel_use *use)
{
    return dynsel_buffer_is(use->record, use->token) ? use->record : NULL;
}

static uint64_t bytes_to(const dynsel_handler *group, const destination *there, bool any_pending)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < group->uses->count; i++) {
        const dynsel_use *use = &group->uses->each[i];
        const dynsel_buffer_record *record = record_of(use);
        if (use->reads && record != NULL && will_move(record, there, any_pending)) {
            bytes += record->bytes;
        }
    }
    for (uint32_t i = 0; !there->is_host && i < group->uses->staged_count; i++) {
        const dynsel_staged *staged = &group->uses->staged[i];
        bytes += (staged->in ? staged->memory.bytes : 0) + (staged->out ? staged->memory.bytes : 0);
    }
    return bytes;
}

static bool has_unfinished_reader(const dynsel_buffer_record *record)
{
    for (uint32_t i = 0; i < record->reader_count; i++) {
        if (dynsel_stage_of(record->readers[i] - 1) != DYNSEL_STAGE_OVER) {
            return true;
        }
    }
    return false;
}

static void note_end(dynsel_data_outlook *outlook, uint64_t end_ns, uint32_t on)
{
    outlook->ready_ns = end_ns;
    outlook->ready_on = on;
}

/* Looks first whether an end is later than what is known: that costs least. */
static void look_at_order(const dynsel_use *use, const dynsel_buffer_record *record,
                          dynsel_data_outlook *outlook)
{
    const dynsel_buffer_forecast *forecast = &record->forecast;
    if (forecast->writer_end_ns > outlook->ready_ns && record->writer != 0 &&
        dynsel_stage_of(record->writer - 1) != DYNSEL_STAGE_OVER) {
        note_end(outlook, forecast->writer_end_ns, forecast->writer_on);
    }
    if (use->writes && forecast->readers_end_ns > outlook->ready_ns &&
        has_unfinished_reader(record)) {
        note_end(outlook, forecast->readers_end_ns, forecast->reader_on);
    }
}

/* As often as in earlier periods; in the first one as often as so far. */
static uint32_t uses_ahead(const dynsel_buffer_record *record)
{
    const dynsel_buffer_forecast *forecast = &record->forecast;
    if (forecast->usual_uses == 0) {
        return forecast->uses;
    }
    return forecast->usual_uses > forecast->uses ? forecast->usual_uses - forecast->uses : 1;
}

/* Whether the data are changed where they are, and not replaced. */
static bool is_update(const dynsel_use *use)
{
    return use->reads && use->writes;
}

/* The same of updates, without that of this use. */
static uint32_t updates_ahead(const dynsel_use *use, const dynsel_buffer_record *record)
{
    const dynsel_buffer_forecast *forecast = &record->forecast;
    if (forecast->usual_updates == 0) {
        return forecast->updates;
    }
    const uint32_t so_far = forecast->updates + (is_update(use) ? 1 : 0);
    return forecast->usual_updates > so_far ? forecast->usual_updates - so_far : 0;
}

/* Whether the data will be in the memory of a device alone, and come from there only behind what is
 * queued on it. */
static bool comes_behind(const dynsel_buffer_record *record)
{
    const bool is_on_host = dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN);
    const uint32_t valid_in =
        is_on_host ? (uint32_t)DYNSEL_HOST_DOMAIN : dynsel_first_valid_copy(&record->validity);
    const uint32_t domain =
        is_pending(record->writer) ? dynsel_uses_in(record->writer - 1)->domain : valid_in;
    return !is_in_host_memory(domain) &&
           (uint64_t)record->bytes >> dynsel_domains[domain - 1].beside_power == 0;
}

/* Whether work has ever written the data. */
static bool is_written(const dynsel_buffer_record *record)
{
    return record->forecast.writer_end_ns != 0;
}

static void look_at_uses(const dynsel_handler *group, dynsel_data_outlook *outlook)
{
    uint32_t least = UINT32_MAX;
    outlook->ready_ns = 0;
    outlook->ready_on = UINT32_MAX;
    outlook->comes_behind = false;
    outlook->follows = false;
    outlook->updates_ahead = 0;
    outlook->expected_ns = 0;
    outlook->expected_on = UINT32_MAX;
    for (uint32_t i = 0; i < group->uses->count; i++) {
        const dynsel_use *use = &group->uses->each[i];
        const dynsel_buffer_record *record = record_of(use);
        if (record == NULL) {
            continue;
        }
        look_at_order(use, record, outlook);
        const uint32_t ahead = uses_ahead(record);
        least = use->reads && ahead < least ? ahead : least;
        outlook->comes_behind = outlook->comes_behind || (use->reads && comes_behind(record));
        outlook->follows = outlook->follows || (use->reads && !use->writes && is_written(record));
        if (use->writes && outlook->expected_on == UINT32_MAX) {
            outlook->updates_ahead = updates_ahead(use, record);
            outlook->expected_ns = record->forecast.expected_ns;
            outlook->expected_on = record->forecast.writer_on;
        }
    }
    outlook->uses_ahead = least != UINT32_MAX && least != 0 ? least : 1;
}

void dynsel_weigh_data(const dynsel_handler *group, const dynsel_policy *policy,
                       dynsel_data_outlook *outlook)
{
    destination last = {.domain = DYNSEL_HOST_DOMAIN};
    uint64_t bytes = 0;
    outlook->end_ns = 0;
    outlook->work_items = group->command.kind == DYNSEL_COMMAND_KERNEL
                              ? dynsel_range_count(&group->command.launch.global)
                              : 0;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    look_at_uses(group, outlook);
    const bool any_pending = dynsel_word_load_acquire(&dynsel_pending_count) != 0;
    const uint32_t resources = dynsel_policy_count(policy);
#if CONFIG_DYNSEL_RESOURCE_SETS
    outlook->resources = resources;
#endif
    for (uint32_t i = 0; i < resources; i++) {
        const destination there = destination_of(policy, i);
        if (i == 0 || there.domain != last.domain || there.is_host != last.is_host) {
            bytes = bytes_to(group, &there, any_pending);
        }
        outlook->bytes_in[i] = bytes;
        last = there;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
}

void dynsel_weigh_note(const dynsel_handler *group, uint64_t end_ns, uint32_t on)
{
    uint64_t expected_ns = group->expected_ns;
    for (uint32_t i = 0; i < group->uses->count; i++) {
        const dynsel_use *use = &group->uses->each[i];
        dynsel_buffer_forecast *forecast = &use->record->forecast;
        forecast->uses += forecast->uses != UINT32_MAX ? 1 : 0;
        forecast->updates += is_update(use) && forecast->updates != UINT32_MAX ? 1 : 0;
        if (use->writes) {
            forecast->expected_ns = expected_ns; /* of the first, as in look_at_uses() */
            expected_ns = 0;
            forecast->writer_end_ns = end_ns;
            forecast->writer_on = on;
            forecast->readers_end_ns = 0;
        } else if (end_ns > forecast->readers_end_ns) {
            forecast->readers_end_ns = end_ns;
            forecast->reader_on = on;
        }
    }
}

/* A mean of which the new number is a quarter; 0: there is none before. */
static uint32_t mean_with(uint32_t mean, uint32_t number)
{
    const uint64_t before = mean != 0 ? mean : number;
    return (uint32_t)((3 * before + number + 2) / 4);
}

void dynsel_weigh_end_period(dynsel_buffer_record *record)
{
    dynsel_buffer_forecast *forecast = &record->forecast;
    if (forecast->uses != 0) {
        forecast->usual_uses = mean_with(forecast->usual_uses, forecast->uses);
        forecast->usual_updates = mean_with(forecast->usual_updates, forecast->updates);
        forecast->uses = 0;
        forecast->updates = 0;
    }
}
