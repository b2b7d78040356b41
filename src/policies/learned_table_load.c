/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enters a learned table into a policy. It was verified before, but stores may change: each record
 * is checked again as it is taken, and each number is limited to what the policy can have learned.
 */
#include "base/fail.h"
#include "policies/learned_table_parts.h"

enum {
    MOST_LOG2 = 64 * DYNSEL_LOG2_ONE,
    MOST_MEASURED = 255,
    /* Neither the next run is a timed one of many, nor the next choice a trial run. */
    FIRST_RUNS = 2,
    READBACK_RUNS = 16 /* that what is known of copies back counts as */
};

/* A load in progress. */
typedef struct loading {
    dynsel_earliest_finish_policy *policy;
    uint32_t count; /* of its resources */
    dynsel_learned_head head;
    dynsel_learned_match match;
    dynsel_learned_report report;
    uint64_t known_aspects; /* of the table's */
    uint32_t position;      /* of the kind in the table */
    dynsel_learned_reader reader;
    unsigned char numbers[DYNSEL_LEARNED_MOST_ASPECTS]; /* this configuration's, of each aspect */
} loading;

static uint32_t at_most(uint32_t number, uint32_t most)
{
    return number < most ? number : most;
}

static uint32_t at_least_1(uint32_t number)
{
    return number != 0 ? number : 1;
}

static int32_t within(int32_t number, int32_t least, int32_t most)
{
    return number < least ? least : number > most ? most : number;
}

static uint32_t limited_time(uint32_t time)
{
    return at_most(time, dynsel_compact(DYNSEL_FINISH_LONGEST_NS));
}

/* With another driver, the speed is a first estimate, and no run was as short as the shortest. What
 * first starts took counts half beside what is assumed: drivers keep what they have compiled. */
static void enter_device(dynsel_earliest_finish_policy *policy, uint32_t index,
                         const dynsel_learned_device *device, bool same_driver)
{
    dynsel_finish_resource *resource = &policy->states[index];
    for (uint32_t i = 0; i < DYNSEL_FINISH_SCALES; i++) {
        dynsel_finish_speed *speed = &policy->speeds[index][i];
        const int32_t slowness = within(device->speeds[i].slowness, -MOST_LOG2, MOST_LOG2);
        const uint32_t measured = at_most(device->speeds[i].measured, MOST_MEASURED);
        dynsel_word_store_relaxed(&speed->slowness, (uint32_t)slowness);
        dynsel_word_store_relaxed(&speed->spread, at_most(device->speeds[i].spread, MOST_LOG2));
        dynsel_word_store_relaxed(&speed->measured, same_driver ? measured : 0);
    }
    if (dynsel_word_load_relaxed(&policy->first_starts[index]) != 0) {
        dynsel_finish_learn_first_start(policy, index, device->first_start_ns);
    }
    dynsel_word_store_relaxed(&resource->is.copy_rate,
                              at_least_1(at_most(device->copy_rate, UINT32_MAX / 2)));
    dynsel_word_store_relaxed(&resource->is.latency,
                              at_most(device->latency, DYNSEL_FINISH_MOST_TICKS));
    dynsel_word_store_relaxed(&resource->is.submit,
                              at_most(device->submit, DYNSEL_FINISH_MOST_TICKS));
    if (same_driver) {
        dynsel_word_store_relaxed(&resource->is.worth,
                                  (uint32_t)within(device->worth, -MOST_LOG2, 0));
        dynsel_word_store_relaxed(&resource->is.shortest_ns, at_least_1(device->shortest_ns));
    }
}

static void enter_devices(loading *l)
{
    const bool is_new = dynsel_word_load_relaxed(&l->policy->submitted_to) == 0;
    for (uint32_t number = 0; number < l->head.devices; number++) {
        dynsel_learned_device device;
        dynsel_learned_take_device(&l->reader, &device);
        const uint32_t index = dynsel_learned_resource_of(&l->match, number);
        if (!dynsel_learned_is_good(&l->reader)) {
            return;
        }
        if (index < l->count) {
            l->report.devices++;
            l->report.remeasured += l->match.same_driver[index] ? 0 : 1;
            if (is_new) {
                enter_device(l->policy, index, &device, l->match.same_driver[index]);
            }
        }
    }
}

#if CONFIG_DYNSEL_ASPECTS
static bool is_named(const char *name, dynsel_aspect aspect)
{
    return __builtin_strncmp(name, dynsel_aspect_name(aspect), DYNSEL_LEARNED_ASPECT_BYTES - 1) ==
           0;
}
#endif

static void take_aspects(loading *l)
{
    for (uint32_t i = 0; i < l->head.aspects; i++) {
        char name[DYNSEL_LEARNED_ASPECT_BYTES];
        dynsel_learned_take_bytes(&l->reader, name, sizeof name);
#if CONFIG_DYNSEL_ASPECTS
        for (uint32_t k = 0; k != DYNSEL_ASPECT_COUNT; k++) {
            if (is_named(name, (dynsel_aspect)k)) {
                l->numbers[i] = (unsigned char)k;
                l->known_aspects |= (uint64_t)1 << i;
            }
        }
#endif
    }
}

/* Fills in a task of the kind. False: this configuration has no such tasks. */
static bool is_task(const loading *l, const dynsel_learned_kind *kind, dynsel_task *task)
{
    if (kind->key_word_count > CONFIG_DYNSEL_MAX_KEY_WORDS ||
        (kind->aspects & ~l->known_aspects) != 0) {
        return false;
    }
    *task = (dynsel_task){
        .id = kind->id, .key_words = kind->key_words, .key_word_count = kind->key_word_count};
#if CONFIG_DYNSEL_ASPECTS
    for (uint32_t i = 0; i < l->head.aspects; i++) {
        if ((kind->aspects >> i & 1) != 0) {
            task->aspects |= (dynsel_aspect_set)1 << l->numbers[i];
        }
    }
#endif
    return true;
}

/* The lock of the kind's entry is taken. False: the entry is another kind's by now, or stays
 * locked. */
static bool lock(dynsel_finish_kind *entry, const dynsel_task *task)
{
    if (!dynsel_learned_lock(entry)) {
        return false;
    }
    if (dynsel_kind_is(&entry->kind, task, dynsel_task_key_of(task))) {
        return true;
    }
    dynsel_finish_unlock(entry);
    return false;
}

static bool has_amount(const dynsel_finish_times *times, uint32_t count, uint32_t amount)
{
    for (uint32_t i = 0; i < count; i++) {
        if (times->points[i].amount.value == amount) {
            return true;
        }
    }
    return false;
}

/* Under the lock of the kind, of which no time is known on the resource. Choices may be reading, so
 * the count of times comes last. */
static void fill_in(dynsel_finish_times *times, const dynsel_learned_times *from, bool same_driver)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < from->count && count < CONFIG_DYNSEL_EARLIEST_FINISH_POINTS; i++) {
        const dynsel_learned_point *point = &from->points[i];
        if (has_amount(times, count, point->amount)) {
            continue;
        }
        dynsel_finish_point *to = &times->points[count++];
        const uint32_t time = at_least_1(limited_time(point->time));
        for (uint32_t k = 0; k < DYNSEL_FINISH_WINDOW; k++) {
            to->window[k] = time;
        }
        to->samples = same_driver ? at_most(point->samples, DYNSEL_FINISH_MOST_SAMPLES) : 0;
        dynsel_word_store_relaxed(&to->time, time);
        dynsel_word_store_relaxed(&to->amount, point->amount);
    }
    const uint32_t readback = limited_time(from->readback);
    times->readback_ns = READBACK_RUNS * dynsel_expand(readback);
    dynsel_word_store_relaxed(&times->runs, FIRST_RUNS);
    times->readback_from = FIRST_RUNS - (uint32_t)READBACK_RUNS;
    dynsel_word_store_relaxed(&times->readback, readback);
    dynsel_word_store_relaxed(&times->error, at_most(from->error, MOST_LOG2));
    dynsel_word_store_relaxed(&times->samples,
                              same_driver ? at_most(from->samples, DYNSEL_FINISH_MOST_SAMPLES) : 0);
}

/* Whether nothing but an earlier record of the table can have told of these times. */
static bool is_unknown(const dynsel_finish_times *times)
{
    return dynsel_word_load_relaxed(&times->samples) == 0 &&
           dynsel_word_load_relaxed(&times->runs) == 0;
}

static bool is_untouched(const loading *l, const dynsel_finish_kind *entry)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (!is_unknown(&entry->resources[i])) {
            return false;
        }
    }
    return true;
}

/* Whether all resources are in the table with the driver that they have. */
static bool knows_all(const loading *l)
{
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->match.device_of[i] == DYNSEL_LEARNED_NO_DEVICE || !l->match.same_driver[i]) {
            return false;
        }
    }
    return true;
}

/* Trial runs that the table makes unnecessary have no credit either. */
static void begin(const loading *l, dynsel_finish_kind *entry, const dynsel_learned_kind *kind)
{
    dynsel_word_store_relaxed(&entry->smallest, at_least_1(kind->smallest));
    dynsel_word_store_relaxed(&entry->used,
                              dynsel_word_load_relaxed(&l->policy->clock) - l->position - 1);
    if (knows_all(l)) {
        dynsel_word_store_relaxed(&entry->credit, 0);
    }
}

/* Under the lock of the kind: the resource may have to compile before its first run. */
static void cool_down(const loading *l, dynsel_finish_kind *entry, uint32_t index)
{
    dynsel_word *const cold = &entry->cold[index / 32];
    if (dynsel_word_load_relaxed(&l->policy->first_starts[index]) != 0) {
        dynsel_word_store_relaxed(cold, dynsel_word_load_relaxed(cold) | 1u << index % 32);
    }
}

static void enter_times(const loading *l, dynsel_finish_kind *entry, const dynsel_task *task,
                        const dynsel_learned_times *times)
{
    const uint32_t index = dynsel_learned_resource_of(&l->match, times->device);
    if (entry == NULL || index >= l->count || !lock(entry, task)) {
        return;
    }
    if (is_unknown(&entry->resources[index])) {
        fill_in(&entry->resources[index], times, l->match.same_driver[index]);
        cool_down(l, entry, index);
    }
    dynsel_finish_unlock(entry);
}

static void enter_kind(loading *l)
{
    dynsel_learned_kind kind;
    dynsel_task task;
    dynsel_finish_kind *entry = NULL;
    dynsel_learned_take_kind(&l->reader, &l->head, &kind);
    if (dynsel_learned_is_good(&l->reader) && is_task(l, &kind, &task)) {
        entry = dynsel_finish_add(l->policy, &task);
    }
    if (entry != NULL && is_untouched(l, entry)) {
        begin(l, entry, &kind);
    }
    for (uint32_t i = 0; i < kind.times && dynsel_learned_is_good(&l->reader); i++) {
        dynsel_learned_times times;
        dynsel_learned_take_times(&l->reader, &l->head, &times);
        if (dynsel_learned_is_good(&l->reader)) {
            enter_times(l, entry, &task, &times);
        }
    }
    l->report.kinds += entry != NULL ? 1 : 0;
    l->report.left_out += entry != NULL ? 0 : 1;
    l->position++;
}

/* The reason that tells most: another version, then damage, then an area where no table is. */
static const dynsel_learned_fault *worst(const dynsel_learned_store *store,
                                         const dynsel_learned_survey *survey)
{
    const dynsel_learned_fault *first = &survey->faults[0];
    const dynsel_learned_fault *second = &survey->faults[1];
    if (store->areas == 1 || first->status == DYNSEL_E_UNSUPPORTED) {
        return first;
    }
    const bool first_says_more = survey->heads[0].bytes != 0 || survey->heads[1].bytes == 0;
    return second->status == DYNSEL_E_UNSUPPORTED || !first_says_more ? second : first;
}

static dynsel_status fail(const dynsel_learned_fault *fault, const char *function)
{
    (void)fault->detail; /* where texts are left out */
    return DYNSEL_FAIL_IN(function, fault->status, fault->detail, fault->number);
}

DYNSEL_RARE static dynsel_status load(dynsel_earliest_finish_policy *policy,
                                      const dynsel_learned_store *store,
                                      dynsel_learned_report *report, const char *function)
{
    dynsel_learned_survey survey;
    dynsel_learned_look(store, &survey);
    const uint32_t area = dynsel_learned_newest(store, &survey);
    if (area == store->areas) {
        return fail(worst(store, &survey), function);
    }
    loading l = {.policy = policy,
                 .count = dynsel_policy_count(&policy->policy),
                 .head = survey.heads[area]};
    l.report.generation = l.head.generation;
    l.report.bytes = l.head.bytes;
    const dynsel_learned_fault fault =
        dynsel_learned_recognize(policy, store, area, &l.head, &l.match);
    if (fault.status != DYNSEL_OK) {
        return fail(&fault, function);
    }
    dynsel_traced_note_load(&policy->policy);
    dynsel_learned_open(&l.reader, store, area, &l.head);
    enter_devices(&l);
    take_aspects(&l);
    for (uint32_t i = 0; i < l.head.kinds && dynsel_learned_is_good(&l.reader); i++) {
        enter_kind(&l);
    }
    if (!dynsel_learned_is_good(&l.reader)) {
        return fail(&l.reader.fault, function);
    }
    if (report != NULL) {
        *report = l.report;
    }
    return DYNSEL_OK;
}

dynsel_status dynsel_earliest_finish_load(dynsel_earliest_finish_policy *policy,
                                          const dynsel_learned_store *store,
                                          dynsel_learned_report *report)
{
    const dynsel_status status = dynsel_learned_accept(policy, store, false, DYNSEL_TEXT(__func__));
    return status == DYNSEL_OK ? load(policy, store, report, DYNSEL_TEXT(__func__)) : status;
}

/* The library reads only within the area. */
static dynsel_status read_rom(void *context, size_t offset, void *bytes, size_t count)
{
    (void)__builtin_memcpy(bytes, *(const unsigned char *const *)context + offset, count);
    return DYNSEL_OK;
}

dynsel_status dynsel_earliest_finish_load_rom(dynsel_earliest_finish_policy *policy,
                                              const void *table, size_t bytes,
                                              dynsel_learned_report *report)
{
    const dynsel_learned_store store = {.context = &table,
                                        .read = table != NULL ? read_rom : NULL,
                                        .area_bytes = bytes,
                                        .areas = 1,
                                        .align = 1};
    const dynsel_status status =
        dynsel_learned_accept(policy, &store, false, DYNSEL_TEXT(__func__));
    return status == DYNSEL_OK ? load(policy, &store, report, DYNSEL_TEXT(__func__)) : status;
}
