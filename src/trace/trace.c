/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace.h"

#include <string.h>

#include "base/fail.h"
#include "port/context.h"

enum {
    MOST_PARTS = 3, /* of a name */
    MOST_PROBES = 8,
    MOST_KEY_WORDS = 256,
};

typedef struct seen_kind {
    dynsel_word life; /* of the trace that has seen the kind */
    dynsel_word kind;
} seen_kind;

static seen_kind seen[CONFIG_DYNSEL_TRACE_KINDS];

#if CONFIG_DYNSEL_TRACE_TO_HOOK
static void keep(const dynsel_trace_record *record)
{
    dynsel_trace_hook(record);
}

void dynsel_trace_put_event(dynsel_trace_place place, uint64_t low, uint64_t high)
{
    dynsel_trace_record record;
    dynsel_trace_fill(&record, place, low, high);
    keep(&record);
}

void dynsel_trace_enter_thread(void)
{
}
#else
void dynsel_trace_enter_thread(void)
{
    const uint32_t life = dynsel_trace_life();
    if (life != 0) {
        dynsel_trace_rings_enter(life);
    }
}

static void keep(const dynsel_trace_record *record)
{
    dynsel_trace_rings_keep(record, dynsel_trace_life());
}
#endif

void dynsel_trace_put_definition(dynsel_trace_place place, uint64_t low, uint64_t high)
{
    dynsel_trace_record record;
    dynsel_trace_fill(&record, place, low, high);
    keep(&record);
}

/* Copies up to 16 bytes of a text into a record; the rest are 0. */
static size_t put_text(dynsel_trace_event event, dynsel_trace_place place, const char *text)
{
    dynsel_trace_record record = {.ticks = dynsel_trace_ticks(),
                                  .piece = place.piece,
                                  .event = (uint8_t)event,
                                  .resource = place.resource,
                                  .policy = place.policy};
    size_t length = 0;
    while (length < sizeof record.words && text[length] != '\0') {
        length++;
    }
    (void)memcpy((char *)record.words, text, length);
    keep(&record);
    return length;
}

void dynsel_trace_put_name(dynsel_trace_event event, dynsel_trace_place place, const char *name)
{
    size_t length = sizeof((dynsel_trace_record *)NULL)->words;
    for (uint8_t part = 0;
         part < MOST_PARTS && length == sizeof((dynsel_trace_record *)NULL)->words; part++) {
        place.resource = part;
        length = put_text(event, place, name);
        name = &name[length];
    }
}

void dynsel_trace_put_build(const char *name, uint64_t since)
{
    uint64_t begin_of_name = 0;
    for (uint32_t i = 0; i < sizeof begin_of_name && name[i] != '\0'; i++) {
        begin_of_name |= (uint64_t)(unsigned char)name[i] << 8 * i;
    }
    dynsel_trace_put(DYNSEL_TRACE_BUILD, (dynsel_trace_place){.resource = DYNSEL_TRACE_NO_RESOURCE},
                     since, begin_of_name);
}

static uint32_t mixed(uint32_t hash, uint32_t word)
{
    return (hash ^ (hash >> 15)) * 0x85ebca6bu ^ word;
}

static uint64_t identity_of(const dynsel_task *task)
{
    const bool has_forms = task->form_count != 0 && task->forms[0].function != NULL;
    return task->id != 0 ? task->id
                         : (uintptr_t)(has_forms ? task->forms[0].function : task->function);
}

static uint32_t flags_of(const dynsel_task *task)
{
    uint32_t flags = task->id != 0 ? DYNSEL_TRACE_HAS_ID : 0;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    flags |= task->id != 0 && task->id_of_address ? DYNSEL_TRACE_HAS_ID_OF_ADDRESS : 0;
#endif
    return flags;
}

/* Enters the kind. Where too many kinds have come, or two threads bring it at once, it stays
 * unnamed or is named twice. */
static bool is_new(uint32_t kind)
{
    const uint32_t life = dynsel_trace_life();
    const uint32_t first = (kind * 0x9e3779b1u) >> 16;
    for (uint32_t i = 0; i < MOST_PROBES; i++) {
        seen_kind *const place = &seen[(first + i) % CONFIG_DYNSEL_TRACE_KINDS];
        if (dynsel_word_load_relaxed(&place->life) != life) {
            dynsel_word_store_relaxed(&place->kind, kind);
            dynsel_word_store_relaxed(&place->life, life);
            return true;
        }
        if (dynsel_word_load_relaxed(&place->kind) == kind) {
            return false;
        }
    }
    return false;
}

static uint64_t needs_of(const dynsel_task *task)
{
#if CONFIG_DYNSEL_ASPECTS
    return task->aspects;
#else
    (void)task;
    return 0;
#endif
}

/* What tells a kind beside its id: without it nobody could make a task of the kind again. */
DYNSEL_RARE static void put_key(const dynsel_task *task, uint32_t kind)
{
    const uint64_t needs = needs_of(task);
    if (needs != 0) {
        dynsel_trace_put(DYNSEL_TRACE_NEEDS, (dynsel_trace_place){.piece = kind}, needs, 0);
    }
    for (size_t i = 0; i < task->key_word_count && i < MOST_KEY_WORDS; i += 4) {
        uint32_t four[4] = {0};
        for (size_t k = 0; k < 4 && i + k < task->key_word_count; k++) {
            four[k] = task->key_words[i + k];
        }
        dynsel_trace_put(DYNSEL_TRACE_KEY,
                         (dynsel_trace_place){.piece = kind, .resource = (uint8_t)i},
                         dynsel_trace_pair(four[0], four[1]), dynsel_trace_pair(four[2], four[3]));
    }
}

uint32_t dynsel_trace_kind(const dynsel_task *task, const char *name)
{
    const uint64_t identity = identity_of(task);
    uint32_t kind = mixed((uint32_t)identity, (uint32_t)(identity >> 32) + flags_of(task));
    for (size_t i = 0; i < task->key_word_count; i++) {
        kind = mixed(kind, task->key_words[i]);
    }
    const uint64_t needs = needs_of(task);
    if (needs != 0) {
        kind = mixed(mixed(kind, (uint32_t)needs), (uint32_t)(needs >> 32));
    }
    if (is_new(kind)) {
        dynsel_trace_put(DYNSEL_TRACE_KIND, (dynsel_trace_place){.piece = kind}, identity,
                         dynsel_trace_pair(flags_of(task), (uint32_t)task->key_word_count));
        put_key(task, kind);
        if (name != NULL) {
            dynsel_trace_put_name(DYNSEL_TRACE_KIND_NAME, (dynsel_trace_place){.piece = kind},
                                  name);
        }
    }
    return kind;
}

void dynsel_trace_name(const dynsel_task *task, const char *name)
{
    if (task != NULL && name != NULL && dynsel_trace_is_on()) {
        dynsel_trace_put_name(DYNSEL_TRACE_KIND_NAME,
                              (dynsel_trace_place){.piece = dynsel_trace_kind(task, NULL)}, name);
    }
}

void dynsel_trace_mark(const char *text)
{
    if (text != NULL && dynsel_trace_is_on()) {
        (void)put_text(DYNSEL_TRACE_MARK, (dynsel_trace_place){.piece = 0}, text);
    }
}

dynsel_status dynsel_trace_start(dynsel_trace_record *records, size_t count)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_trace_is_on()) {
        return DYNSEL_FAIL(DYNSEL_E_BUSY, "a trace is running: call dynsel_trace_stop()");
    }
#if CONFIG_DYNSEL_TRACE_TO_HOOK
    if (records != NULL || count != 0) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "records go to dynsel_trace_hook(), not to memory");
    }
#else
    if (!dynsel_trace_rings_begin(records, count)) {
        const uint32_t least = DYNSEL_TRACE_LEAST_RECORDS;
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_INVALID, "records is NULL, or they are fewer than {}",
                                  least);
    }
#endif
    dynsel_word_store_relaxed(&dynsel_trace.pieces, 0);
    dynsel_word_store_relaxed(&dynsel_trace.policies, 0);
    uint32_t life = dynsel_word_load_relaxed(&dynsel_trace.lives) + 1;
    life = life != 0 ? life : 1;
    dynsel_word_store_relaxed(&dynsel_trace.lives, life);
    dynsel_word_store_release(&dynsel_trace.life, life);
    return DYNSEL_OK;
}

dynsel_status dynsel_trace_stop(void)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (!dynsel_trace_is_on()) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "no trace is running: call dynsel_trace_start()");
    }
    dynsel_word_store_relaxed(&dynsel_trace.life, 0);
#if !CONFIG_DYNSEL_TRACE_TO_HOOK
    dynsel_trace_held.last = dynsel_trace_now();
#endif
    return DYNSEL_OK;
}
