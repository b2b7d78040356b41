/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices in virtual time, for tests of earliest_finish: each does its work in the order of the
 * submits, and the program keeps some pieces in flight. The program reports on selections as one
 * does that runs the work itself.
 */
#ifndef DYNSEL_TESTS_FINISH_WORLD_H
#define DYNSEL_TESTS_FINISH_WORLD_H

#include <dynsel/earliest_finish.h>
#include <dynsel/memory.h>

#include <string.h>

#include "random.h"
#include "test.h"

enum { WORLD_GPU, WORLD_PROCESSORS, WORLD_THREAD, WORLD_CALLER, WORLD_CLASSES };
enum { WORLD_MOST_KINDS = 64, WORLD_MOST_IN_FLIGHT = 64, WORLD_MOST_DEVICES = 4 };

typedef struct world_device {
    uint32_t what;        /* a WORLD_* */
    uint64_t submit_ns;   /* the caller's time for a submit */
    uint64_t latency_ns;  /* from the end until a waiting program sees it */
    uint64_t compile_ns;  /* added to the first run of each kind */
    uint64_t wake_ns;     /* before a run, if it has had nothing to do for as long */
    uint64_t readback_ns; /* the program copies the results of each run back, which takes so long */
    uint32_t processors;  /* of the host, of an OpenCL device on them; 0: it does not say */
    bool fails;           /* its runs: they take their time, and report none */
} world_device;

/* The time of a kind on a device. */
typedef struct world_time {
    uint64_t fixed_ns;
    uint64_t each_ps; /* for each unit of the amount */
} world_time;

typedef struct world_piece {
    dynsel_selection selection;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t amount;
    uint32_t kind;
    bool is_first; /* of its kind on the device */
    bool exists;
} world_piece;

typedef struct world {
    world_device devices[WORLD_MOST_DEVICES];
    uint32_t count;
    world_time times[WORLD_MOST_KINDS][WORLD_MOST_DEVICES];
    uint32_t jitter_percent;
    uint32_t spike_percent; /* of the runs take spike_factor times as long */
    uint32_t spike_factor;
    uint32_t in_flight; /* pieces at most */
    test_random random;
    uint32_t results;                            /* buffers that each piece writes */
    uint64_t work_items;                         /* of each piece; 0: it launches no kernel */
    uint64_t clock_ns;                           /* what the clock shows; 0: the time */
    void (*submitted)(const world_piece *piece); /* hears of each that the policy placed; or NULL */
    /* what happened */
    uint64_t now_ns;
    uint64_t free_ns[WORLD_MOST_DEVICES];
    uint32_t runs[WORLD_MOST_KINDS][WORLD_MOST_DEVICES];
    uint32_t reasons[16];
    uint32_t begun; /* pieces */
    uint32_t ended;
    world_piece pieces[WORLD_MOST_IN_FLIGHT];
    int32_t always; /* a device that gets all work, without the policy; -1: none */
} world;

static dynsel_earliest_finish_policy finisher;
static world w;

uint64_t dynsel_now_ns(void)
{
    return w.clock_ns != 0 ? w.clock_ns : w.now_ns + 1;
}

static inline dynsel_status world_nothing(const dynsel_resource *where, void *args,
                                          dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static inline dynsel_status world_start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static inline dynsel_status world_wait(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_OK;
}

static inline void world_release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
}

static inline dynsel_domain world_domain(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    return (dynsel_domain){.number = 0, .in_order = true};
}

static const dynsel_memory_ops world_memory = {.domain = world_domain};

static inline dynsel_status world_describe_gpu(dynsel_backend *backend, const void *handle,
                                               dynsel_device *device)
{
    (void)backend;
    (void)handle;
    device->aspects = DYNSEL_ASPECT_BIT(gpu);
    return DYNSEL_OK;
}

static inline dynsel_status world_describe_processors(dynsel_backend *backend, const void *handle,
                                                      dynsel_device *device)
{
    (void)backend;
    device->aspects = DYNSEL_ASPECT_BIT(cpu);
    device->processors = ((const world_device *)handle)->processors;
    return DYNSEL_OK;
}

static inline dynsel_status world_describe_host(dynsel_backend *backend, const void *handle,
                                                dynsel_device *device)
{
    (void)backend;
    (void)handle;
    device->aspects = DYNSEL_ASPECT_BIT(host);
    return DYNSEL_OK;
}

enum { WORLD_REPORTS = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME };

static const dynsel_backend_ops world_ops[WORLD_CLASSES] = {
    {.name = "gpu",
     .reports = WORLD_REPORTS,
     .outlives_submit = true,
     .describe = world_describe_gpu,
     .start = world_start,
     .poll = world_wait,
     .wait = world_wait,
     .release = world_release,
     .memory = &world_memory},
    {.name = "processors",
     .reports = WORLD_REPORTS,
     .outlives_submit = true,
     .describe = world_describe_processors,
     .start = world_start,
     .poll = world_wait,
     .wait = world_wait,
     .release = world_release,
     .memory = &world_memory},
    {.name = "thread",
     .reports = WORLD_REPORTS,
     .outlives_submit = true,
     .describe = world_describe_host,
     .start = world_start,
     .poll = world_wait,
     .wait = world_wait,
     .release = world_release},
    {.name = "caller",
     .reports = WORLD_REPORTS,
     .only_calls = true,
     .describe = world_describe_host,
     .start = world_start},
};

static dynsel_backend world_backends[WORLD_CLASSES] = {
    {.ops = &world_ops[0]}, {.ops = &world_ops[1]}, {.ops = &world_ops[2]}, {.ops = &world_ops[3]}};

static inline void world_open(void)
{
    dynsel_resource resources[WORLD_MOST_DEVICES];
    for (uint32_t i = 0; i < w.count; i++) {
        resources[i] = (dynsel_resource){&world_backends[w.devices[i].what], &w.devices[i]};
    }
    const dynsel_options options = {.resources = resources, .count = w.count};
    (void)memset(&finisher.policy, 0, sizeof finisher.policy); /* whatever the test before left */
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &options));
}

static inline void world_close(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&finisher.policy));
}

static inline uint64_t world_true_ns(uint32_t kind, uint32_t device, uint64_t amount)
{
    const uint64_t most = (uint64_t)1 << 40; /* more takes no longer: the product has 64 bits */
    return w.times[kind][device].fixed_ns +
           w.times[kind][device].each_ps * (amount < most ? amount : most) / 1000;
}

static inline uint64_t world_run_ns(uint32_t kind, uint32_t device, uint64_t amount)
{
    uint64_t ns = world_true_ns(kind, device, amount);
    if (w.jitter_percent != 0) {
        ns = ns *
             (1000 - 10 * w.jitter_percent + test_random_below(&w.random, 20 * w.jitter_percent)) /
             1000;
    }
    if (w.spike_percent != 0 && test_random_below(&w.random, 100) < w.spike_percent) {
        ns *= w.spike_factor;
    }
    return ns + (w.runs[kind][device] == 0 ? w.devices[device].compile_ns : 0) + 1;
}

static inline void world_tell(dynsel_selection *selection, dynsel_execution_info info,
                              uint64_t value)
{
    if (dynsel_selection_needs(selection, info)) {
        assert_status(DYNSEL_OK, info == DYNSEL_TASK_TIME
                                     ? dynsel_report_value(selection, info, value)
                                     : dynsel_report(selection, info));
    }
}

/* The program waits for the piece. */
static inline void world_end(world_piece *piece)
{
    const world_device *device = &w.devices[piece->selection.index];
    if (piece->end_ns + device->latency_ns > w.now_ns) {
        w.now_ns = piece->end_ns + device->latency_ns;
    }
    if (w.always < 0) {
        if (!device->fails) {
            world_tell(&piece->selection, DYNSEL_TASK_TIME, piece->end_ns - piece->begin_ns);
        }
        world_tell(&piece->selection, DYNSEL_TASK_COMPLETION, 0);
    }
    w.now_ns += device->readback_ns;
    /* as the library does for command groups: dynsel_report_value() wants the run's time first */
    if (w.always < 0 && device->readback_ns != 0 &&
        dynsel_selection_needs(&piece->selection, DYNSEL_TASK_READBACK_TIME)) {
        finisher.policy.ops->report(&finisher.policy, &piece->selection, DYNSEL_TASK_READBACK_TIME,
                                    device->readback_ns);
    }
    piece->exists = false;
    w.ended++;
}

/* Ends the piece that ends first, and waits for it. False: there is none. */
static inline bool world_end_first(void)
{
    world_piece *first = NULL;
    for (uint32_t i = 0; i < w.in_flight; i++) {
        world_piece *piece = &w.pieces[i];
        if (piece->exists && (first == NULL || piece->end_ns < first->end_ns)) {
            first = piece;
        }
    }
    if (first != NULL) {
        world_end(first);
    }
    return first != NULL;
}

/* What the program can see the end of by now is reported when the program makes a call. */
static inline void world_notice(void)
{
    for (uint32_t i = 0; i < w.in_flight; i++) {
        const world_piece *piece = &w.pieces[i];
        if (piece->exists &&
            piece->end_ns + w.devices[piece->selection.index].latency_ns <= w.now_ns) {
            world_end(&w.pieces[i]);
        }
    }
}

static inline world_piece *world_place_free(void)
{
    for (;;) {
        for (uint32_t i = 0; i < w.in_flight; i++) {
            if (!w.pieces[i].exists) {
                return &w.pieces[i];
            }
        }
        (void)world_end_first();
    }
}

/* Its requirements are only counted: the library looks at their number, and no backend asks. */
static inline dynsel_task world_task(uint32_t kind, uint64_t amount)
{
    dynsel_task task = {.function = world_nothing, .id = kind + 1, .amount = amount};
#if CONFIG_DYNSEL_COMMAND_GROUPS
    static dynsel_data_outlook kernel;
    kernel = (dynsel_data_outlook){.ready_on = UINT32_MAX,
                                   .expected_on = UINT32_MAX,
                                   .uses_ahead = 1,
                                   .work_items = w.work_items};
#if CONFIG_DYNSEL_RESOURCE_SETS
    kernel.resources = w.count;
#endif
    task.data = w.work_items != 0 ? &kernel : NULL;
    task.requirement_count = w.results;
#endif
    return task;
}

/* Submits a piece of work. Returns the device. */
static inline uint32_t world_submit(uint32_t kind, uint64_t amount)
{
    const dynsel_task task = world_task(kind, amount);
    world_piece *piece = world_place_free();
    world_notice();
    *piece = (world_piece){.exists = true, .kind = kind, .amount = amount};
    if (w.always < 0) {
        assert_status(DYNSEL_OK, dynsel_select(&finisher.policy, &task, &piece->selection));
        world_tell(&piece->selection, DYNSEL_TASK_SUBMISSION, 0);
        w.reasons[piece->selection.reason]++;
    } else {
        piece->selection.index = (uint32_t)w.always;
    }
    const uint32_t device = piece->selection.index;
    const uint64_t run_ns = world_run_ns(kind, device, amount);
    w.begun++;
    piece->is_first = w.runs[kind][device]++ == 0;
    w.now_ns += w.devices[device].submit_ns;
    piece->begin_ns = w.free_ns[device] > w.now_ns ? w.free_ns[device] : w.now_ns;
    if (piece->begin_ns - w.free_ns[device] > w.devices[device].wake_ns) {
        piece->begin_ns += w.devices[device].wake_ns;
    }
    piece->end_ns = piece->begin_ns + run_ns;
    w.free_ns[device] = piece->end_ns;
    if (w.submitted != NULL && w.always < 0) {
        w.submitted(piece);
    }
    if (w.devices[device].what == WORLD_CALLER) {
        world_end(piece);
    }
    return device;
}

static inline void world_drain(void)
{
    while (world_end_first()) {
    }
}

/* All work has ended, and the policy knows that. */
static inline void world_assert_idle(void)
{
    for (uint32_t i = 0; i < w.count; i++) {
        assert_int_equal(finisher.states[i].is.unfinished.value, 0);
        for (uint32_t k = 0; k < CONFIG_DYNSEL_EARLIEST_FINISH_KINDS; k++) {
            assert_int_equal(finisher.kinds[k].resources[i].unfinished.value, 0);
        }
    }
    assert_int_equal(w.ended, w.begun);
}

/* Forgets what happened, for another run of the same world. */
static inline void world_begin(int32_t always)
{
    (void)memset(w.free_ns, 0, sizeof w.free_ns);
    (void)memset(w.runs, 0, sizeof w.runs);
    (void)memset(w.reasons, 0, sizeof w.reasons);
    w.begun = 0;
    w.ended = 0;
    w.now_ns = (uint64_t)1 << 40;
    w.always = always;
}

#endif
