/* SPDX-License-Identifier: Apache-2.0 */
/** What a trace says: its policies, resources and kinds of work, and all events in their order. */
#ifndef RECORDING_H
#define RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/device.h>

#include "trace_file.h"

enum {
    RECORDING_NAME_BYTES = 49,     /**< with the 0 at the end */
    RECORDING_MOST_RESOURCES = 64, /**< of one policy */
    RECORDING_MOST_KEY_WORDS = 256
};

/** Two words that are one number. */
static inline uint64_t recording_number(const dynsel_trace_record *record, uint32_t first)
{
    return record->words[first] | (uint64_t)record->words[first + 1] << 32;
}

typedef struct recorded_resource {
    char name[RECORDING_NAME_BYTES];
    char backend[RECORDING_NAME_BYTES];
    bool is_known; /**< its nature was recorded */
    uint32_t nature;
    uint32_t processors; /**< as in dynsel_device */
    uint32_t timing_ns;
    uint32_t first_start_ns;
    bool times_runs_alone;
    uint64_t aspects;
} recorded_resource;

typedef struct recorded_policy {
    char name[RECORDING_NAME_BYTES];
    bool is_known; /**< its DYNSEL_TRACE_POLICY is there */
    bool was_used; /**< before the trace */
    bool changed;  /**< its set of resources: some were added or removed */
    uint32_t config_hash;
    uint64_t option;
    uint64_t address;
    uint32_t count; /**< of resources */
    recorded_resource resources[RECORDING_MOST_RESOURCES];
} recorded_policy;

typedef struct recorded_kind {
    uint32_t kind;
    bool is_known; /**< more than its name */
    char name[RECORDING_NAME_BYTES];
    uint64_t identity;
    uint32_t flags;
    uint64_t needs;
    uint32_t key_word_count;
    uint32_t *key_words;
} recorded_kind;

/** An event of the rings of threads. */
typedef struct recorded_event {
    const dynsel_trace_record *record;
    uint32_t ring;
} recorded_event;

typedef struct recording {
    const char *path;
    trace_file file;
    uint32_t policy_count;
    recorded_policy *policies; /**< policy N is policies[N - 1] */
    size_t kind_room;
    size_t kind_count;
    recorded_kind *kinds; /**< a hash table */
    size_t event_count;
    recorded_event *events;
    uint32_t piece_count;  /**< the largest number of a piece, and 1 */
    uint32_t thread_count; /**< threads in which policies chose or heard reports */
} recording;

/** Reads a file. Returns 0, or EXIT_WRONG after one line. */
int recording_read(const char *path, recording *all);

void recording_free(recording *all);

/** NULL: the trace has no such policy. */
const recorded_policy *recording_policy(const recording *all, uint32_t number);

/** NULL: it has no record of this kind. */
const recorded_kind *recording_kind(const recording *all, uint32_t kind);

/** Fails if records are lost. Returns 0, or EXIT_WRONG after one line. */
int recording_require_all(const recording *all);

#endif
