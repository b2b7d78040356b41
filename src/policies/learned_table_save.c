/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a learned table. The head, which makes it valid, is written last; where the store is not
 * erased, the old head is overwritten first.
 */
#include "base/checksum.h"
#include "base/fail.h"
#include "policies/learned_table_parts.h"

enum { KINDS = CONFIG_DYNSEL_EARLIEST_FINISH_KINDS };

/* A save in progress. */
typedef struct saving {
    dynsel_earliest_finish_policy *policy;
    dynsel_learned_head head;
    dynsel_aspect_set aspects; /* that the table names */
    uint32_t left_out;
    dynsel_learned_writer writer;
    unsigned char done[(KINDS + 7) / 8]; /* entries, a bit each */
} saving;

static bool is_done(const saving *s, uint32_t at)
{
    return (s->done[at / 8] >> at % 8 & 1) != 0;
}

static bool can_be_kept(const dynsel_finish_kind *entry)
{
    const uint32_t life = dynsel_word_load_acquire(&entry->life);
    return life != 0 && life % 2 == 0 &&
           dynsel_word_load_relaxed(&entry->kind.name[1]) == DYNSEL_KIND_HAS_ID;
}

static dynsel_aspect_set aspects_of(const dynsel_finish_kind *entry)
{
#if CONFIG_DYNSEL_ASPECTS
    return (dynsel_aspect_set)(dynsel_word_load_relaxed(&entry->kind.aspects[0]) |
                               (uint64_t)dynsel_word_load_relaxed(&entry->kind.aspects[1]) << 32);
#else
    (void)entry;
    return 0;
#endif
}

/* Those that some kind needs. */
static dynsel_aspect_set all_aspects(const dynsel_earliest_finish_policy *policy)
{
    dynsel_aspect_set all = 0;
    for (uint32_t i = 0; i < KINDS; i++) {
        all |= can_be_kept(&policy->kinds[i]) ? aspects_of(&policy->kinds[i]) : 0;
    }
    return all;
}

static uint32_t count_of(dynsel_aspect_set set)
{
    return (uint32_t)__builtin_popcountll(set);
}

/* A set of this configuration's aspects as one of the table's. */
static uint64_t in_table(dynsel_aspect_set set, dynsel_aspect_set table)
{
    uint64_t result = 0;
    uint32_t number = 0;
    for (uint32_t i = 0; i != DYNSEL_ASPECT_COUNT; i++) {
        if ((table >> i & 1) != 0) {
            result |= (uint64_t)(set >> i & 1) << number;
            number++;
        }
    }
    return result;
}

static void put_aspects(saving *s)
{
#if CONFIG_DYNSEL_ASPECTS
    for (uint32_t i = 0; i != DYNSEL_ASPECT_COUNT; i++) {
        if ((s->aspects >> i & 1) != 0) {
            char name[DYNSEL_LEARNED_ASPECT_BYTES] = {0};
            const char *from = dynsel_aspect_name((dynsel_aspect)i);
            for (uint32_t k = 0; k < sizeof name - 1 && from[k] != '\0'; k++) {
                name[k] = from[k];
            }
            dynsel_learned_put_bytes(&s->writer, name, sizeof name);
        }
    }
#else
    (void)s;
#endif
}

/* Estimates from another driver, which have no samples, are not kept. */
static uint32_t count_points(const dynsel_finish_times *times)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_POINTS; i++) {
        count += times->points[i].samples != 0 && times->points[i].amount.value != 0 ? 1 : 0;
    }
    return times->samples.value != 0 ? count : 0;
}

static void put_times(saving *s, const dynsel_finish_times *times, uint32_t index)
{
    dynsel_learned_times record = {.device = index,
                                   .samples = dynsel_word_load_relaxed(&times->samples),
                                   .error = dynsel_word_load_relaxed(&times->error),
                                   .readback = dynsel_word_load_relaxed(&times->readback)};
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_POINTS; i++) {
        const dynsel_finish_point *point = &times->points[i];
        if (point->samples != 0 && dynsel_word_load_relaxed(&point->amount) != 0) {
            record.points[record.count++] =
                (dynsel_learned_point){.amount = dynsel_word_load_relaxed(&point->amount),
                                       .time = dynsel_word_load_relaxed(&point->time),
                                       .samples = point->samples};
        }
    }
    dynsel_learned_put_times(&s->writer, &record);
}

/* Under the kind's lock. Returns the size of its records; 0: no time of it is known. */
static size_t size_of(const saving *s, const dynsel_finish_kind *entry, dynsel_learned_kind *kind)
{
    const uint32_t shape = dynsel_word_load_relaxed(&entry->kind.shape);
    *kind = (dynsel_learned_kind){.id = dynsel_word_load_relaxed(&entry->kind.name[0]),
                                  .key_word_count = shape & (UINT32_MAX >> 1),
                                  .smallest = dynsel_word_load_relaxed(&entry->smallest)};
    const dynsel_aspect_set aspects = aspects_of(entry);
    kind->aspects = in_table(aspects, s->aspects);
    size_t size = DYNSEL_LEARNED_KIND_BYTES + kind->key_word_count * DYNSEL_LEARNED_KEY_WORD_BYTES;
    for (uint32_t i = 0; i < kind->key_word_count; i++) {
        kind->key_words[i] = dynsel_word_load_relaxed(&entry->kind.key_words[i]);
    }
    for (uint32_t i = 0; i < s->head.devices; i++) {
        const uint32_t points = count_points(&entry->resources[i]);
        if (points != 0) {
            kind->times++;
            size += DYNSEL_LEARNED_TIMES_BYTES + points * DYNSEL_LEARNED_POINT_BYTES;
        }
    }
    if ((aspects & ~s->aspects) != 0) {
        return SIZE_MAX; /* it came after its aspects were written */
    }
    return kind->times != 0 ? size : 0;
}

/* Under the kind's lock, while the store writes: reports of the kind are dropped meanwhile. */
static void put_kind(saving *s, const dynsel_finish_kind *entry)
{
    dynsel_learned_kind kind;
    const size_t size = size_of(s, entry, &kind);
    if (size > dynsel_learned_room(&s->writer)) {
        s->left_out++;
        return;
    }
    if (size == 0) {
        return;
    }
    dynsel_learned_put_kind(&s->writer, &kind);
    for (uint32_t i = 0; i < s->head.devices; i++) {
        if (count_points(&entry->resources[i]) != 0) {
            put_times(s, &entry->resources[i], i);
        }
    }
    s->head.kinds++;
    s->head.bytes += (uint32_t)size;
}

/* The entry that was used last, of those that are not done; KINDS: all are. */
static uint32_t used_last(const saving *s)
{
    const uint32_t now = dynsel_word_load_relaxed(&s->policy->clock);
    uint32_t found = KINDS;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < KINDS; i++) {
        const dynsel_finish_kind *entry = &s->policy->kinds[i];
        const uint32_t ago = now - dynsel_word_load_relaxed(&entry->used);
        if (!is_done(s, i) && can_be_kept(entry) && (found == KINDS || ago < least)) {
            found = i;
            least = ago;
        }
    }
    return found;
}

static void put_kinds(saving *s)
{
    for (uint32_t at = used_last(s); at < KINDS && s->writer.status == DYNSEL_OK;
         at = used_last(s)) {
        dynsel_finish_kind *entry = &s->policy->kinds[at];
        s->done[at / 8] |= (unsigned char)(1u << at % 8);
        if (!dynsel_learned_lock(entry)) {
            s->left_out++;
            continue;
        }
        if (can_be_kept(entry)) {
            put_kind(s, entry);
        }
        dynsel_finish_unlock(entry);
    }
}

static void put_devices(saving *s)
{
    for (uint32_t i = 0; i < s->head.devices; i++) {
        dynsel_learned_device device;
        dynsel_learned_describe(s->policy, i, &device);
        dynsel_learned_put_device(&s->writer, &device);
    }
}

static dynsel_status sync_store(const dynsel_learned_store *store)
{
    return store->sync != NULL ? store->sync(store->context) : DYNSEL_OK;
}

/* Writes a head, or zeros in its place; the bytes up to the body are zeros. */
static dynsel_status write_head(saving *s, size_t area_at, bool is_valid)
{
    const dynsel_learned_store *store = s->writer.store;
    (void)__builtin_memset(s->writer.bytes, 0, s->head.body_at);
    if (is_valid) {
        dynsel_learned_pack_head(&s->head, s->writer.bytes);
    }
    const dynsel_status status =
        store->write(store->context, area_at, s->writer.bytes, s->head.body_at);
    return status == DYNSEL_OK ? sync_store(store) : status;
}

static dynsel_status write_table(saving *s, size_t area_at)
{
    const dynsel_learned_store *store = s->writer.store;
    const dynsel_status erased = store->erase != NULL
                                     ? store->erase(store->context, area_at, store->area_bytes)
                                     : write_head(s, area_at, false);
    if (erased != DYNSEL_OK) {
        return erased;
    }
    const unsigned char zeros[8] = {0};
    for (uint32_t at = DYNSEL_LEARNED_HEAD_BYTES; at < s->head.body_at; at += sizeof zeros) {
        s->writer.crc = dynsel_crc32(s->writer.crc, zeros, sizeof zeros);
    }
    put_devices(s);
    put_aspects(s);
    put_kinds(s);
    s->head.body_crc = s->writer.crc;
    dynsel_learned_flush(&s->writer);
    const dynsel_status status =
        s->writer.status == DYNSEL_OK ? sync_store(store) : s->writer.status;
    return status == DYNSEL_OK ? write_head(s, area_at, true) : status;
}

/* The area to write, and the generation of what is written. The only area that is left where a
 * store cannot be read may be the one with the newest table. */
static uint32_t choose_area(const dynsel_learned_store *store, dynsel_learned_head *head)
{
    dynsel_learned_survey survey;
    dynsel_learned_look(store, &survey);
    const uint32_t newest = dynsel_learned_newest(store, &survey);
    if (newest < store->areas) {
        head->generation = survey.heads[newest].generation + 1;
        return store->areas == 2 ? 1 - newest : 0;
    }
    head->generation = 1;
    return store->areas == 2 && survey.faults[0].status != DYNSEL_E_INVALID &&
                   survey.faults[1].status == DYNSEL_E_INVALID
               ? 1
               : 0;
}

static void prepare(saving *s, dynsel_earliest_finish_policy *policy,
                    const dynsel_learned_store *store)
{
    const size_t align = store->align;
    (void)__builtin_memset(s->done, 0, sizeof s->done);
    s->policy = policy;
    s->left_out = 0;
    s->aspects = all_aspects(policy);
    s->head = (dynsel_learned_head){
        .body_at = (uint32_t)((DYNSEL_LEARNED_HEAD_BYTES + align - 1) / align * align),
        .devices = dynsel_policy_count(&policy->policy),
        .aspects = count_of(s->aspects)};
    s->head.bytes = s->head.body_at + s->head.devices * DYNSEL_LEARNED_DEVICE_BYTES +
                    s->head.aspects * DYNSEL_LEARNED_ASPECT_BYTES;
    s->writer.store = store;
    s->writer.crc = 0;
    s->writer.filled = 0;
    s->writer.status = DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_earliest_finish_save(dynsel_earliest_finish_policy *policy,
                                                      const dynsel_learned_store *store,
                                                      dynsel_learned_report *report)
{
    dynsel_status status = dynsel_learned_accept(policy, store, true, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
    saving s;
    prepare(&s, policy, store);
    if (s.head.bytes > store->area_bytes) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_FULL, "an area is too small: the devices alone need {} bytes", s.head.bytes);
    }
    const size_t area_at = choose_area(store, &s.head) * store->area_bytes;
    s.writer.at = area_at + s.head.body_at;
    s.writer.end = area_at + store->area_bytes;
    status = write_table(&s, area_at);
    if (status != DYNSEL_OK) {
        return DYNSEL_FAIL(status, "the store failed while it was written");
    }
    if (report != NULL) {
        *report = (dynsel_learned_report){.generation = s.head.generation,
                                          .bytes = s.head.bytes,
                                          .devices = s.head.devices,
                                          .kinds = s.head.kinds,
                                          .left_out = s.left_out};
    }
    return DYNSEL_OK;
}
