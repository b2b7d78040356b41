/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

enum {
    RECORDS = 1 << 14, /* the estimates of the last choices are enough */
    UNIT_NS = 16,
    COST = 3, /* words of DYNSEL_TRACE_ESTIMATE */
    RUN = 2,
    SHIFT = 8
};

static dynsel_trace_record records[RECORDS];

void difference_begin(void)
{
    const dynsel_status status = dynsel_trace_start(records, RECORDS);
    (void)status; /* without it, a difference is told without estimates */
}

void difference_begin_thread(void)
{
    dynsel_trace_mark("repeats"); /* the first event of a thread resets state that policies use */
}

typedef struct output {
    unsigned char *bytes;
    size_t count;
} output;

static dynsel_status append(void *context, const void *bytes, size_t count)
{
    output *to = context;
    unsigned char *more = realloc(to->bytes, to->count + count);
    if (more == NULL) {
        return DYNSEL_E_FULL;
    }
    memcpy(more + to->count, bytes, count);
    *to = (output){.bytes = more, .count = to->count + count};
    return DYNSEL_OK;
}

/* The estimates that the repeated choice made. */
static void find_estimates(uint32_t piece, call_inputs *repeated)
{
    output made = {.bytes = NULL};
    trace_file file;
    *repeated = (call_inputs){.piece = piece};
    if (dynsel_trace_stop() != DYNSEL_OK || dynsel_trace_write(append, &made) != DYNSEL_OK) {
        free(made.bytes);
        return;
    }
    if (trace_file_take("the repeated choices", made.bytes, made.count, &file) != 0) {
        return;
    }
    for (uint32_t ring = 1; ring < file.ring_count; ring++) {
        for (size_t i = 0; i < file.rings[ring].count; i++) {
            if (file.rings[ring].records[i].piece == piece) {
                repeat_take(repeated, &file.rings[ring].records[i]);
            }
        }
    }
    trace_file_free(&file);
}

static void print_estimate(const char *which, const call_inputs *in, uint32_t index)
{
    if ((in->estimated >> index & 1) != 0) {
        const uint32_t *words = in->estimates[index].words;
        printf(" %s: cost %llu ns, run %llu ns;", which, (unsigned long long)words[COST] * UNIT_NS,
               (unsigned long long)words[RUN] * UNIT_NS);
    } else {
        printf(" %s: none;", which);
    }
}

static void print_estimates(const repeated_policy *policy, const call_inputs *recorded,
                            const call_inputs *repeated, uint32_t index)
{
    printf("  estimate of %s:", policy->recorded->resources[index].name);
    print_estimate("recorded", recorded, index);
    print_estimate("repeated", repeated, index);
    printf("\n");
}

static void print_kind(const recording *all, const dynsel_trace_record *record)
{
    const recorded_kind *kind = recording_kind(all, record->words[0]);
    if (kind != NULL && kind->name[0] != '\0') {
        printf("%s", kind->name);
    } else if (kind != NULL && (kind->flags & DYNSEL_TRACE_HAS_ID) != 0) {
        printf("id %u", (unsigned)kind->identity);
    } else {
        printf("function %#llx", kind != NULL ? (unsigned long long)kind->identity : 0);
    }
}

static const char *name_of(const repeated_policy *policy, uint32_t index)
{
    return index < policy->recorded->count ? policy->recorded->resources[index].name : "nothing";
}

static void print_choice(const repeated_policy *policy, uint32_t index, uint32_t reason,
                         uint32_t wants)
{
    printf("%s (%s%s)", name_of(policy, index), dynsel_reason_text((dynsel_reason)reason),
           (wants & DYNSEL_TASK_TIME) != 0 ? ", timed" : "");
}

void difference_print(const recording *all, const repeated_policy *policy, const call_inputs *in,
                      const dynsel_trace_record *record, const answer *made)
{
    call_inputs repeated;
    printf("policy %u, %s: choice %llu differs: piece %u of kind ", (unsigned)policy->number,
           policy->recorded->name, (unsigned long long)policy->choices, (unsigned)record->piece);
    print_kind(all, record);
    printf(": recorded ");
    if (record->event == DYNSEL_TRACE_NO_CHOICE) {
        printf("no choice");
    } else {
        print_choice(policy, record->resource, record->words[1] & 0xffu,
                     record->words[1] >> SHIFT & 0xffu);
    }
    printf(", repeated ");
    if (made->status != DYNSEL_OK) {
        printf("no choice");
    } else {
        print_choice(policy, made->selection.index, made->selection.reason, made->selection.wants);
    }
    printf("%s\n", made->read_the_same ? "" : "; it read the clock more or less often");
    find_estimates(record->piece, &repeated);
    if (record->resource < policy->recorded->count && in->estimated != 0) {
        print_estimates(policy, in, &repeated, record->resource);
        if (made->selection.index != record->resource) {
            print_estimates(policy, in, &repeated, made->selection.index);
        }
    }
}

void difference_print_report(const repeated_policy *policy, const dynsel_trace_record *record)
{
    printf("policy %u, %s: a report about piece %u differs, after %llu choices: it read the clock "
           "more or less often\n",
           (unsigned)policy->number, policy->recorded->name, (unsigned)record->piece,
           (unsigned long long)policy->choices);
}
