/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The areas of a store: which hold a valid table, and which is the newest.
 */
#include "base/fail.h"
#include "policies/learned_table_parts.h"

static bool is_power_of_two(size_t number)
{
    return number != 0 && (number & (number - 1)) == 0;
}

dynsel_status dynsel_learned_accept(const dynsel_earliest_finish_policy *policy,
                                    const dynsel_learned_store *store, bool writes,
                                    const char *function)
{
    if (policy == NULL || !dynsel_policy_is_usable(&policy->policy)) {
        return dynsel_policy_refuse_use((const dynsel_policy *)policy, function);
    }
    if (store == NULL || store->read == NULL || (writes && store->write == NULL)) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the store is NULL, or an operation that it needs is", 0);
    }
    if (store->areas != 1 && store->areas != 2) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the store has {} areas: 1 or 2 are possible", store->areas);
    }
    if (!is_power_of_two(store->align) || store->align > DYNSEL_LEARNED_MOST_ALIGN) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "the store's align is {}: a power of two is needed, up to 256",
                              store->align);
    }
    if (store->area_bytes % store->align != 0 || store->area_bytes > SIZE_MAX / 2) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "an area of the store has {} bytes: not a multiple of its align, or "
                              "too many",
                              store->area_bytes);
    }
    return DYNSEL_OK;
}

void dynsel_learned_open(dynsel_learned_reader *reader, const dynsel_learned_store *store,
                         uint32_t area, const dynsel_learned_head *head)
{
    dynsel_learned_read_from(reader, store, area * store->area_bytes + DYNSEL_LEARNED_HEAD_BYTES,
                             head->bytes - DYNSEL_LEARNED_HEAD_BYTES);
    dynsel_learned_skip(reader, head->body_at - DYNSEL_LEARNED_HEAD_BYTES);
}

/* Takes all records, so that each bound is checked. */
static void go_through(dynsel_learned_reader *reader, const dynsel_learned_head *head)
{
    dynsel_learned_skip(reader, (size_t)head->devices * DYNSEL_LEARNED_DEVICE_BYTES +
                                    (size_t)head->aspects * DYNSEL_LEARNED_ASPECT_BYTES);
    for (uint32_t i = 0; i < head->kinds && dynsel_learned_is_good(reader); i++) {
        dynsel_learned_kind kind;
        dynsel_learned_take_kind(reader, head, &kind);
        for (uint32_t k = 0; k < kind.times && dynsel_learned_is_good(reader); k++) {
            dynsel_learned_times times;
            dynsel_learned_take_times(reader, head, &times);
        }
    }
}

static dynsel_learned_fault verify(const dynsel_learned_store *store, uint32_t area,
                                   dynsel_learned_head *head)
{
    unsigned char bytes[DYNSEL_LEARNED_HEAD_BYTES];
    if (store->area_bytes < sizeof bytes) {
        return (dynsel_learned_fault){
            .status = DYNSEL_E_INVALID,
            .number = (uint32_t)store->area_bytes,
            .detail = DYNSEL_TEXT("there is no table in {} bytes: its head alone has 40")};
    }
    const dynsel_status status =
        store->read(store->context, area * store->area_bytes, bytes, sizeof bytes);
    if (status != DYNSEL_OK) {
        return (dynsel_learned_fault){.status = status,
                                      .detail = DYNSEL_TEXT("the store's read operation failed")};
    }
    const dynsel_learned_fault fault = dynsel_learned_unpack_head(bytes, head);
    if (fault.status != DYNSEL_OK) {
        return fault;
    }
    if (head->bytes > store->area_bytes) {
        return (dynsel_learned_fault){.status = DYNSEL_E_INVALID,
                                      .number = head->bytes,
                                      .detail =
                                          DYNSEL_TEXT("the table is cut short: it had {} bytes")};
    }
    dynsel_learned_reader reader;
    dynsel_learned_open(&reader, store, area, head);
    go_through(&reader, head);
    if (reader.left != 0 || reader.taken != reader.fetched) {
        dynsel_learned_is_wrong(&reader, DYNSEL_TEXT("the table has bytes behind its records"));
    } else if (reader.crc != head->body_crc) {
        dynsel_learned_is_wrong(&reader, DYNSEL_TEXT("the table is damaged: its checksum differs"));
    }
    return reader.fault;
}

void dynsel_learned_look(const dynsel_learned_store *store, dynsel_learned_survey *survey)
{
    for (uint32_t area = 0; area < store->areas; area++) {
        survey->heads[area] = (dynsel_learned_head){.bytes = 0};
        survey->faults[area] = verify(store, area, &survey->heads[area]);
    }
}

static bool is_newer(const dynsel_learned_head *head, const dynsel_learned_head *than)
{
    return (int32_t)(head->generation - than->generation) > 0;
}

uint32_t dynsel_learned_newest(const dynsel_learned_store *store,
                               const dynsel_learned_survey *survey)
{
    uint32_t newest = store->areas;
    for (uint32_t area = 0; area < store->areas; area++) {
        if (survey->faults[area].status == DYNSEL_OK &&
            (newest == store->areas || is_newer(&survey->heads[area], &survey->heads[newest]))) {
            newest = area;
        }
    }
    return newest;
}
