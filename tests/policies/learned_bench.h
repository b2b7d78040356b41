/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices with given names, and a store in memory whose power can be cut, for tests of learned
 * tables.
 */
#ifndef DYNSEL_TESTS_LEARNED_BENCH_H
#define DYNSEL_TESTS_LEARNED_BENCH_H

#include <dynsel/learned.h>

#include <string.h>

#include "base/checksum.h"
#include "policies/learned_table_parts.h"
#include "random.h"
#include "test.h"

enum { BENCH_MOST_DEVICES = 4, BENCH_AREA_BYTES = 4096, BENCH_KIND = 7 };

/* Amounts as large as to have a point each. */
#define BENCH_AMOUNT ((uint64_t)1 << 26)

typedef struct bench_device {
    const char *vendor;
    const char *name;
    const char *driver;
    bool is_host;
} bench_device;

/* Its power fails after `cut` bytes are written or erased; SIZE_MAX: never. */
typedef struct bench_store {
    unsigned char bytes[2 * BENCH_AREA_BYTES];
    size_t cut;
    uint32_t align;
    uint32_t misaligned; /* writes that were */
} bench_store;

static dynsel_earliest_finish_policy policy;
static bench_store bench;
static uint64_t bench_now_ns;

uint64_t dynsel_now_ns(void)
{
    return bench_now_ns += 1000;
}

static inline dynsel_status bench_start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static inline dynsel_status bench_look(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_OK;
}

static inline void bench_release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
}

static inline dynsel_status bench_describe(dynsel_backend *backend, const void *handle,
                                           dynsel_device *device)
{
    const bench_device *it = handle;
    (void)backend;
    device->vendor = it->vendor;
    device->name = it->name;
    device->driver = it->driver;
#if CONFIG_DYNSEL_ASPECT_GPU && CONFIG_DYNSEL_ASPECT_HOST
    device->aspects = it->is_host ? DYNSEL_ASPECT_BIT(host) : DYNSEL_ASPECT_BIT(gpu);
#endif
    return DYNSEL_OK;
}

static const dynsel_backend_ops bench_ops = {.name = "bench",
                                             .reports = DYNSEL_TASK_SUBMISSION |
                                                        DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
                                             .outlives_submit = true,
                                             .describe = bench_describe,
                                             .start = bench_start,
                                             .poll = bench_look,
                                             .wait = bench_look,
                                             .release = bench_release};
static dynsel_backend bench_backend = {.ops = &bench_ops};

static bench_device bench_gpu = {"Maker", "GPU 1", "1.0", false};
static bench_device bench_host = {"", "host", "", true};

static inline void bench_open(bench_device *const *devices, size_t count)
{
    dynsel_resource resources[BENCH_MOST_DEVICES];
    for (size_t i = 0; i < count; i++) {
        resources[i] = (dynsel_resource){&bench_backend, devices[i]};
    }
    const dynsel_options options = {.resources = resources, .count = count};
    (void)memset(&policy, 0, sizeof policy);
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&policy, &options));
}

static inline dynsel_status bench_read(void *context, size_t offset, void *bytes, size_t count)
{
    const bench_store *store = context;
    assert_true(offset + count <= sizeof store->bytes);
    (void)memcpy(bytes, store->bytes + offset, count);
    return DYNSEL_OK;
}

static inline dynsel_status bench_write(void *context, size_t offset, const void *bytes,
                                        size_t count)
{
    bench_store *store = context;
    const size_t now = count < store->cut ? count : store->cut;
    assert_true(offset + count <= sizeof store->bytes);
    store->misaligned += offset % store->align != 0 || count % store->align != 0 ? 1 : 0;
    (void)memcpy(store->bytes + offset, bytes, now);
    store->cut -= store->cut != SIZE_MAX ? now : 0;
    return now == count ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

static inline dynsel_status bench_erase(void *context, size_t offset, size_t count)
{
    bench_store *store = context;
    const size_t now = count < store->cut ? count : store->cut;
    assert_int_equal(count, BENCH_AREA_BYTES);
    (void)memset(store->bytes + offset, 0xff, now);
    store->cut -= store->cut != SIZE_MAX ? now : 0;
    return now == count ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

static inline dynsel_learned_store bench_store_of(uint32_t areas, uint32_t align, bool erases)
{
    bench.align = align;
    bench.cut = SIZE_MAX;
    bench.misaligned = 0;
    return (dynsel_learned_store){.context = &bench,
                                  .read = bench_read,
                                  .write = bench_write,
                                  .erase = erases ? bench_erase : NULL,
                                  .area_bytes = BENCH_AREA_BYTES,
                                  .areas = areas,
                                  .align = align};
}

static inline dynsel_status bench_work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static inline dynsel_task bench_task(uint32_t id, uint64_t amount)
{
    return (dynsel_task){.function = bench_work, .id = id, .amount = amount};
}

/* Times of a kind on a resource, as often as to be trusted. */
static inline void bench_learn(const dynsel_task *task, uint32_t index, uint64_t time_ns)
{
    const dynsel_finish_kinds kinds = dynsel_finish_find(&policy, task);
    assert_non_null(kinds.own);
    for (uint32_t i = 0; i < 5; i++) {
        dynsel_finish_learn(&kinds.own->resources[index], dynsel_finish_amount(task->amount),
                            time_ns);
        if (kinds.root != kinds.own) {
            dynsel_finish_learn(&kinds.root->resources[index], dynsel_finish_amount(task->amount),
                                time_ns);
        }
    }
    policy.clock.value++;
    kinds.own->used.value = policy.clock.value;
    kinds.root->used.value = policy.clock.value;
}

/* What the policy predicts; 0: it does not know. */
static inline uint64_t bench_known(const dynsel_task *task, uint32_t index)
{
    const dynsel_finish_kinds kinds = dynsel_finish_find(&policy, task);
    return kinds.own != NULL && kinds.own->resources[index].samples.value >= 2
               ? dynsel_finish_predict(&kinds.own->resources[index],
                                       dynsel_finish_amount(task->amount), 1)
               : 0;
}

/* Selects, and reports a run of that time. Returns the selection. */
static inline dynsel_selection bench_run(const dynsel_task *task, uint64_t time_ns)
{
    dynsel_selection selection = {.policy = NULL};
    assert_status(DYNSEL_OK, dynsel_select(&policy.policy, task, &selection));
    assert_true(selection.index < policy.policy.count);
    const dynsel_selection chosen = selection;
    if (dynsel_selection_needs(&selection, DYNSEL_TASK_SUBMISSION)) {
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_SUBMISSION));
    }
    bench_now_ns += time_ns;
    if (dynsel_selection_needs(&selection, DYNSEL_TASK_TIME)) {
        assert_status(DYNSEL_OK, dynsel_report_value(&selection, DYNSEL_TASK_TIME, time_ns));
    }
    if (dynsel_selection_needs(&selection, DYNSEL_TASK_COMPLETION)) {
        assert_status(DYNSEL_OK, dynsel_report(&selection, DYNSEL_TASK_COMPLETION));
    }
    return chosen;
}

/* A policy on a GPU and the host that knows a kind, and one of its sizes as a kind of its own. */
static inline void bench_open_learned(uint32_t gpu_ns)
{
    static const uint32_t key_words[2] = {640, 480};
    bench_device *devices[] = {&bench_gpu, &bench_host};
    bench_open(devices, 2);
    dynsel_task task = bench_task(BENCH_KIND, BENCH_AMOUNT);
    for (uint32_t i = 0; i < 3; i++) {
        bench_learn(&task, 0, (uint64_t)gpu_ns << i);
        bench_learn(&task, 1, (uint64_t)gpu_ns * 10 << i);
        task.amount *= 2;
    }
#if CONFIG_DYNSEL_MAX_KEY_WORDS >= 2
    task = bench_task(BENCH_KIND + 1, 500);
    task.key_words = key_words;
    task.key_word_count = 2;
    bench_learn(&task, 0, (uint64_t)gpu_ns * 3);
#else
    (void)key_words;
#endif
}

#endif
