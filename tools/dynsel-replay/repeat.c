/* SPDX-License-Identifier: Apache-2.0 */
#include "repeat.h"

#include <string.h>

enum { SHIFT = 8, CLAIMS = 1 << 16, NO_RESOURCE = UINT8_MAX };

static void read_clock(call_inputs *in, const dynsel_trace_record *record)
{
    if (in->read.clock_count < INPUTS_MOST) {
        in->read.clock_ns[in->read.clock_count++] = recording_number(record, 0);
    }
}

/* Another piece: what was said of the one before belongs to a choice that a failure of the library
 * ended. */
static void begin_piece(call_inputs *in, const dynsel_trace_record *record)
{
    if (in->piece != record->piece) {
        const inputs read = in->read;
        const uint32_t policy = in->policy;
        *in = (call_inputs){.piece = record->piece, .policy = policy};
        if (policy == record->policy) {
            in->read = read;
        }
    }
}

static void take_bytes(call_inputs *in, const dynsel_trace_record *record)
{
    for (uint32_t i = 0; i < 2; i++) {
        if (record->resource + i < CONFIG_DYNSEL_MAX_RESOURCES) {
            in->data.bytes_in[record->resource + i] = recording_number(record, 2 * i);
        }
    }
}

static void take_sight(call_inputs *in, const dynsel_trace_record *record)
{
    if (in->read.clock_count == 0) { /* it may look several times, and reads the clock once */
        read_clock(in, record);
    }
    in->uses_ahead = record->words[3];
    in->estimated = 0;
}

void repeat_take(call_inputs *in, const dynsel_trace_record *record)
{
    switch (record->event) {
    case DYNSEL_TRACE_CLOCK:
        if (in->policy != record->policy) {
            in->read = (inputs){.clock_count = 0};
            in->policy = record->policy;
        }
        read_clock(in, record);
        return;
    case DYNSEL_TRACE_SIGHT:
    case DYNSEL_TRACE_READY:
    case DYNSEL_TRACE_EXPECTED:
    case DYNSEL_TRACE_BYTES_IN:
    case DYNSEL_TRACE_ESTIMATE:
    case DYNSEL_TRACE_CANDIDATES:
    case DYNSEL_TRACE_PREDICTED:
    case DYNSEL_TRACE_IMPAIRED:
        begin_piece(in, record);
        break;
    default:
        return;
    }
    if (record->event == DYNSEL_TRACE_SIGHT) {
        take_sight(in, record);
    } else if (record->event == DYNSEL_TRACE_READY) {
        in->has_data = true;
        in->data.ready_ns = recording_number(record, 0);
        in->data.ready_on = record->words[2];
        in->data.work_items = record->words[3];
    } else if (record->event == DYNSEL_TRACE_EXPECTED) {
        in->data.expected_ns = recording_number(record, 0);
        in->data.updates_ahead = record->words[2];
        in->data.expected_on = record->words[3] & (INT32_MAX >> 1);
        in->data.follows = (record->words[3] >> 30 & 1u) != 0;
        in->data.comes_behind = record->words[3] >> 31 != 0;
    } else if (record->event == DYNSEL_TRACE_BYTES_IN) {
        take_bytes(in, record);
    } else if (record->event == DYNSEL_TRACE_CANDIDATES) {
        in->has_candidates = true;
        in->candidates = recording_number(record, 0);
        in->forms = recording_number(record, 2);
    } else if (record->event == DYNSEL_TRACE_IMPAIRED) {
        in->impaired = record->words[0];
    } else if (record->event == DYNSEL_TRACE_PREDICTED) {
        if (in->read.prediction_count < INPUTS_MOST) {
            in->read.predicted_ns[in->read.prediction_count++] = recording_number(record, 0);
        }
    } else if (record->resource < RECORDING_MOST_RESOURCES) {
        in->estimated |= (uint64_t)1 << record->resource;
        in->estimates[record->resource] = *record;
    }
}

void repeat_end(call_inputs *in)
{
    *in = (call_inputs){.policy = in->policy};
}

static dynsel_status never_runs(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_UNSUPPORTED;
}

/* A task of the kind. Functions are compared, and never called. */
static dynsel_task task_of(const recorded_kind *kind, uint64_t amount)
{
    dynsel_task task = {.function = never_runs,
                        .key_words = kind->key_words,
                        .key_word_count = kind->key_word_count,
                        .aspects = (dynsel_aspect_set)kind->needs,
                        .amount = amount,
                        .id_of_address = (kind->flags & DYNSEL_TRACE_HAS_ID_OF_ADDRESS) != 0};
    if ((kind->flags & DYNSEL_TRACE_HAS_ID) != 0) {
        task.id = (uint32_t)kind->identity;
    } else {
        const uintptr_t address = (uintptr_t)kind->identity;
        memcpy(&task.function, &address, sizeof address);
    }
    return task;
}

/* What of the task says which resources can be used. */
typedef struct limits {
    dynsel_task_form forms[RECORDING_MOST_RESOURCES + 1];
    uint32_t excluded[2];
} limits;

/* Whatever kept the task from other resources, it is excluded from them here. Each resource has a
 * backend of its own. */
static void limit(dynsel_task *task, const call_inputs *in, const dynsel_policy *policy, limits *to)
{
    size_t count = 0;
    for (uint32_t i = 0; i < policy->count; i++) {
        if ((in->forms >> i & 1) == 0) {
            to->forms[count++] = (dynsel_task_form){.backend = policy->resources[i].backend};
        }
    }
    to->forms[count++] = (dynsel_task_form){.function = task->function};
    to->excluded[0] = (uint32_t)~in->candidates;
    to->excluded[1] = (uint32_t)(~in->candidates >> 32);
    task->forms = to->forms;
    task->form_count = count;
    task->excluded = to->excluded;
}

answer repeat_choice(const recording *all, repeated_policy *policy, const call_inputs *in,
                     const dynsel_trace_record *record)
{
    static const dynsel_requirement some_requirement;
    dynsel_policy *chooser = &policy->policy->policy;
    dynsel_task task = task_of(recording_kind(all, record->words[0]), recording_number(record, 2));
    limits limited;
    dynsel_data_outlook data = in->data;
    const bool is_choice = record->event == DYNSEL_TRACE_CHOICE;
    if (in->has_candidates && in->piece == record->piece) {
        limit(&task, in, chooser, &limited);
    }
    if (in->has_data && in->piece == record->piece) {
        data.uses_ahead = in->uses_ahead;
#if CONFIG_DYNSEL_RESOURCE_SETS
        data.resources = policy->recorded->count; /* traces of sets that changed are refused */
#endif
        task.data = &data;
    }
    if (is_choice && (record->words[1] >> SHIFT & DYNSEL_TASK_READBACK_TIME) != 0) {
        task.requirements = &some_requirement;
        task.requirement_count = 1;
    }
    answer made = {.selection = {.policy = chooser,
                                 .wants = (uint8_t)chooser->ops->needs,
                                 .claims = (record->words[1] & CLAIMS) != 0,
                                 .piece = record->piece}};
#if CONFIG_DYNSEL_LOSES_RESOURCES
    chooser->impaired.value = in->piece == record->piece ? in->impaired : 0;
#endif
    inputs_begin(&in->read);
    made.status = chooser->ops->try_select(chooser, &task, &made.selection);
    made.read_the_same = inputs_end();
    policy->choices++;
    return made;
}

bool repeat_report(repeated_policy *policy, const call_inputs *in, dynsel_selection *selection,
                   const dynsel_trace_record *record)
{
    static const inputs nothing;
    const dynsel_execution_info info = (dynsel_execution_info)(record->words[2] & 0xffu);
    selection->reported = (uint8_t)(record->words[2] >> SHIFT);
    policy->reports++;
    inputs_begin(in->policy == record->policy ? &in->read : &nothing);
    selection->policy->ops->report(selection->policy, selection, info, recording_number(record, 0));
    return inputs_end();
}

/* The resources that a task cannot use are excluded here for one reason, whatever it was. */
static uint32_t without_cause(uint32_t reason)
{
    return reason == DYNSEL_REASON_ONLY_WITH_ASPECTS || reason == DYNSEL_REASON_ONLY_IN_SERVICE
               ? (uint32_t)DYNSEL_REASON_ONLY_CANDIDATE
               : reason;
}

bool repeat_is_same(const dynsel_trace_record *record, const answer *made)
{
    if (record->event == DYNSEL_TRACE_NO_CHOICE) {
        return made->status != DYNSEL_OK && made->read_the_same;
    }
    const uint32_t reason = record->words[1] & 0xffu;
    const uint32_t wants = record->words[1] >> SHIFT & 0xffu;
    return made->status == DYNSEL_OK && made->read_the_same &&
           made->selection.index == record->resource && made->selection.wants == wants &&
           without_cause(made->selection.reason) == without_cause(reason);
}
