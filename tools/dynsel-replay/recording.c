/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { MOST_PARTS = 3, PART_BYTES = 16, FIRST_KINDS = 64 };

const recorded_policy *recording_policy(const recording *all, uint32_t number)
{
    return number != 0 && number <= all->policy_count ? &all->policies[number - 1] : NULL;
}

static recorded_kind *place_of(recorded_kind *kinds, size_t room, uint32_t kind)
{
    size_t at = (size_t)(uint32_t)(kind * 0x9e3779b1u) % room;
    while (kinds[at].kind != 0 && kinds[at].kind != kind) {
        at = (at + 1) % room;
    }
    return &kinds[at];
}

const recorded_kind *recording_kind(const recording *all, uint32_t kind)
{
    const recorded_kind *found = place_of(all->kinds, all->kind_room, kind);
    return found->kind == kind && kind != 0 ? found : NULL;
}

/* A kind that is new gets an entry. NULL: there is not enough memory. */
static recorded_kind *enter_kind(recording *all, uint32_t kind)
{
    if (2 * all->kind_count >= all->kind_room) {
        const size_t room = all->kind_room == 0 ? FIRST_KINDS : 2 * all->kind_room;
        recorded_kind *kinds = calloc(room, sizeof *kinds);
        if (kinds == NULL) {
            return NULL;
        }
        for (size_t i = 0; i < all->kind_room; i++) {
            if (all->kinds[i].kind != 0) {
                *place_of(kinds, room, all->kinds[i].kind) = all->kinds[i];
            }
        }
        free(all->kinds);
        all->kinds = kinds;
        all->kind_room = room;
    }
    recorded_kind *found = place_of(all->kinds, all->kind_room, kind);
    all->kind_count += found->kind == 0 ? 1 : 0;
    found->kind = kind;
    return found;
}

static void put_part(char *name, const dynsel_trace_record *record)
{
    if (record->resource < MOST_PARTS) {
        memcpy(name + (size_t)record->resource * PART_BYTES, record->words, PART_BYTES);
    }
}

static void take_kind(recorded_kind *kind, const dynsel_trace_record *record)
{
    switch (record->event) {
    case DYNSEL_TRACE_KIND_NAME:
        put_part(kind->name, record);
        break;
    case DYNSEL_TRACE_NEEDS:
        kind->needs = recording_number(record, 0);
        break;
    case DYNSEL_TRACE_KIND:
        kind->is_known = true;
        kind->identity = recording_number(record, 0);
        kind->flags = record->words[2];
        if (kind->key_words == NULL && record->words[3] <= RECORDING_MOST_KEY_WORDS) {
            kind->key_word_count = record->words[3];
            kind->key_words = calloc(kind->key_word_count + 4u, sizeof *kind->key_words);
        }
        break;
    default: /* DYNSEL_TRACE_KEY */
        if (kind->key_words != NULL && record->resource < kind->key_word_count) {
            memcpy(kind->key_words + record->resource, record->words, sizeof record->words);
        }
        break;
    }
}

static void take_resource(recorded_policy *policy, const dynsel_trace_record *record)
{
    if (record->piece >= RECORDING_MOST_RESOURCES) {
        return;
    }
    recorded_resource *resource = &policy->resources[record->piece];
    policy->count = policy->count > record->piece ? policy->count : record->piece + 1;
    if (record->event == DYNSEL_TRACE_RESOURCE_NAME) {
        put_part(resource->name, record);
    } else if (record->event == DYNSEL_TRACE_BACKEND_NAME) {
        put_part(resource->backend, record);
    } else if (record->event == DYNSEL_TRACE_RESOURCE) {
        resource->is_known = true;
        resource->nature = record->words[0] & UINT16_MAX;
        const uint32_t processors = record->words[0] >> 16;
        resource->processors = processors == UINT16_MAX ? DYNSEL_PROCESSORS_ELSEWHERE : processors;
        resource->timing_ns = record->words[1];
        resource->aspects = recording_number(record, 2);
    } else if (record->event == DYNSEL_TRACE_COSTS) {
        resource->first_start_ns = record->words[0];
        resource->times_runs_alone = record->words[1] != 0;
    }
}

static void take_policy(recorded_policy *policy, const dynsel_trace_record *record)
{
    if (record->event == DYNSEL_TRACE_POLICY_NAME) {
        put_part(policy->name, record);
    } else if (record->event == DYNSEL_TRACE_POLICY) {
        policy->is_known = true;
        policy->was_used = (record->resource & 1u) != 0;
        policy->config_hash = record->piece;
        policy->option = recording_number(record, 0);
        policy->address = recording_number(record, 2);
    } else {
        take_resource(policy, record);
    }
}

static bool take_names(recording *all)
{
    const trace_ring *names = &all->file.rings[0];
    for (size_t i = 0; i < names->count; i++) {
        const uint16_t number = names->records[i].policy;
        all->policy_count = number > all->policy_count ? number : all->policy_count;
    }
    all->policies = calloc((size_t)all->policy_count + 1, sizeof *all->policies);
    if (all->policies == NULL || enter_kind(all, 1) == NULL) {
        return false;
    }
    for (size_t i = 0; i < names->count; i++) {
        const dynsel_trace_record *record = &names->records[i];
        const bool is_of_kind =
            record->event == DYNSEL_TRACE_KIND || record->event == DYNSEL_TRACE_KIND_NAME ||
            record->event == DYNSEL_TRACE_KEY || record->event == DYNSEL_TRACE_NEEDS;
        if (is_of_kind && record->piece != 0) {
            recorded_kind *kind = enter_kind(all, record->piece);
            if (kind == NULL) {
                return false;
            }
            take_kind(kind, record);
        } else if (!is_of_kind && record->policy != 0) {
            take_policy(&all->policies[record->policy - 1], record);
        }
    }
    return true;
}

/* The ring whose next record is the earliest; of equal ones the first. 0: there are none left. */
static uint32_t earliest(const trace_file *file, const size_t *at)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < file->ring_count; i++) {
        if (at[i] < file->rings[i].count &&
            (found == 0 ||
             file->rings[i].records[at[i]].ticks < file->rings[found].records[at[found]].ticks)) {
            found = i;
        }
    }
    return found;
}

static bool names_a_piece(const dynsel_trace_record *record)
{
    return record->event >= DYNSEL_TRACE_CHOICE && record->event != DYNSEL_TRACE_HEALTH &&
           record->event != DYNSEL_TRACE_BUILD && record->event != DYNSEL_TRACE_MARK;
}

static bool calls_policies(const trace_ring *ring)
{
    for (size_t i = 0; i < ring->count; i++) {
        if (ring->records[i].event == DYNSEL_TRACE_CHOICE ||
            ring->records[i].event == DYNSEL_TRACE_REPORT) {
            return true;
        }
    }
    return false;
}

static void note_change_of_set(recording *all, const dynsel_trace_record *record)
{
    enum { REMOVED = 6 }; /* as dynsel_resource_state */
    if (record->event == DYNSEL_TRACE_HEALTH && record->policy != 0 &&
        record->policy <= all->policy_count &&
        (record->words[0] == REMOVED || record->words[1] == REMOVED)) {
        all->policies[record->policy - 1].changed = true;
    }
}

/* All events by time; those of one ring stay in their order. */
static bool merge(recording *all)
{
    const trace_file *file = &all->file;
    size_t count = 0;
    for (uint32_t i = 1; i < file->ring_count; i++) {
        count += file->rings[i].count;
        all->thread_count += calls_policies(&file->rings[i]) ? 1 : 0;
    }
    size_t *at = calloc(file->ring_count, sizeof *at);
    all->events = calloc(count + 1, sizeof *all->events);
    if (at == NULL || all->events == NULL) {
        free(at);
        return false;
    }
    uint32_t most = 0;
    for (uint32_t ring = earliest(file, at); ring != 0; ring = earliest(file, at)) {
        const dynsel_trace_record *record = &file->rings[ring].records[at[ring]++];
        all->events[all->event_count++] = (recorded_event){.record = record, .ring = ring};
        note_change_of_set(all, record);
        most = names_a_piece(record) && record->piece > most ? record->piece : most;
    }
    free(at);
    all->piece_count = most < UINT32_MAX ? most + 1 : most;
    return true;
}

/* Each piece has a choice, so larger numbers than there are events are none. */
static int check_pieces(const recording *all)
{
    const uint64_t written = all->event_count;
    uint64_t most = written + 1;
    for (uint32_t i = 1; i < all->file.ring_count; i++) {
        most += all->file.rings[i].written;
    }
    return all->piece_count > most
               ? log_wrong("%s: it names piece %u, and has %zu events only: it is damaged",
                           all->path, (unsigned)all->piece_count - 1, all->event_count)
               : 0;
}

int recording_read(const char *path, recording *all)
{
    *all = (recording){.path = path};
    const int status = trace_file_read(path, &all->file);
    if (status != 0) {
        return status;
    }
    if (!take_names(all) || !merge(all)) {
        recording_free(all);
        return log_wrong("%s: there is not enough memory for it", path);
    }
    const int result = check_pieces(all);
    if (result != 0) {
        recording_free(all);
    }
    return result;
}

void recording_free(recording *all)
{
    for (size_t i = 0; i < all->kind_room; i++) {
        free(all->kinds[i].key_words);
    }
    free(all->kinds);
    free(all->policies);
    free(all->events);
    trace_file_free(&all->file);
    *all = (recording){.path = NULL};
}

int recording_require_all(const recording *all)
{
    for (uint32_t i = 0; i < all->file.ring_count; i++) {
        const trace_ring *ring = &all->file.rings[i];
        if (ring->written > ring->count) {
            return log_wrong("%s: %llu records of %s are lost: record it with more memory",
                             all->path, (unsigned long long)(ring->written - ring->count),
                             i == 0 ? "names" : "a thread");
        }
    }
    return 0;
}
