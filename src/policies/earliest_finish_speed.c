/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast resources are, compared with each other, and how long copies to them take.
 *
 * Short work is often fastest where long work is slowest, so what short work tells counts for
 * short work. Times of a kind on two resources move both towards what was measured, the one more of
 * which less is known.
 *
 * What is assumed before anything is known errs on the safe side: a trial run on a processor of the
 * host may take hundreds of times as long as on a GPU, and a GPU is hardly ever that much slower.
 */
#include "policies/device_class.h"
#include "policies/earliest_finish_parts.h"
#include "policy/device.h"

enum {
    GPU_SLOWNESS = 0,
    DEVICE_SLOWNESS = 2 * DYNSEL_LOG2_ONE,    /* 4 times */
    PROCESSOR_SLOWNESS = 5 * DYNSEL_LOG2_ONE, /* 32 times: all cores of the host, by OpenCL */
    HOST_SLOWNESS = 9 * DYNSEL_LOG2_ONE,      /* 512 times: one core */
    LEAST_SPREAD = DYNSEL_LOG2_ONE,           /* twice: after one comparison */
    MOST_MEASURED = 255,
    LEARN_WEIGHT = 4,
    LONGER_NS = 1 << 16, /* the scales */
    LONG_NS = 1 << 20,
    HOST_SHORTEST_NS = 250, /* of what does nothing, while no run is known */
    PROCESSORS_SHORTEST_NS = DYNSEL_FINISH_SHORTEST_NS,
    DEVICE_SHORTEST_NS = 8000, /* so that of short runs little grows with the work */
    COPY_LATENCY_NS = 10000,
    COPY_RATE_NS = 100000, /* for a MiB: 10 GB/s */
    THREAD_ITEMS = 32,     /* that a GPU does while a thread does one */
    PROCESSORS_ITEMS = 512,
    MOST_COPY_FACTOR = 4,
    MOST_COPY_RATE = INT32_MAX, /* half a MiB in a second */
    NET_SHIFT = 4,              /* at least a 16th of a time grows with the work */
    LATENCY_WEIGHT = 8,
    MOST_TIMES_FADED = 8,      /* of a faded latency */
    MOST_FIRST_LATENCY = 4096, /* 1 ms */
    FADING_WEIGHT = 64,        /* at one choice in 32: half of it in 1420 */
    READBACK_SHIFT = 6,
    SUBMITS = 32,
    START_WEIGHT = 8,
    FIRST_START_NS = 16000, /* the first counts no more */
    MOST_START_NS = 1 << 28,
    FIRST_SUBMIT = 4 /* a microsecond */
};

#define MIB ((uint64_t)1 << 20)

static bool has_own_memory(const dynsel_backend *backend)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return backend->ops->memory != NULL;
#else
    (void)backend;
    return false;
#endif
}

static bool blocks_caller(const dynsel_backend *backend)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    return !backend->ops->outlives_submit;
#else
    (void)backend;
    return true;
#endif
}

static dynsel_finish_place place_of(dynsel_device_class class_of_device)
{
    switch (class_of_device) {
    case DYNSEL_CLASS_THREAD:
        return DYNSEL_FINISH_THREAD;
    case DYNSEL_CLASS_PROCESSORS:
        return DYNSEL_FINISH_PROCESSORS;
    case DYNSEL_CLASS_GPU:
    case DYNSEL_CLASS_DEVICE:
    case DYNSEL_CLASSES:
    default:
        return DYNSEL_FINISH_APART;
    }
}

static uint32_t first_start_ns(const dynsel_backend *backend)
{
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    return backend->ops->first_start_ns;
#else
    (void)backend;
    return 0;
#endif
}

static uint32_t shortest_ns(const dynsel_backend *backend, dynsel_device_class class_of_device)
{
    if (!has_own_memory(backend)) {
        return HOST_SHORTEST_NS;
    }
    return place_of(class_of_device) == DYNSEL_FINISH_APART ? DEVICE_SHORTEST_NS
                                                            : PROCESSORS_SHORTEST_NS;
}

/* Of an OpenCL device on so many processors of the host, as if each were as fast as a thread; but
 * faster than one thread, because it makes better use of a processor. */
static uint32_t slowness_of_processors(uint32_t processors)
{
    const uint32_t ratio = (uint32_t)dynsel_log2(processors > 2 ? processors : 2);
    return processors != DYNSEL_FINISH_MOST_PROCESSORS ? HOST_SLOWNESS - ratio : PROCESSOR_SLOWNESS;
}

static uint32_t assumed_slowness(dynsel_device_class class_of_device, uint32_t processors)
{
    static const uint32_t slownesses[DYNSEL_CLASSES] = {
        [DYNSEL_CLASS_GPU] = GPU_SLOWNESS,
        [DYNSEL_CLASS_DEVICE] = DEVICE_SLOWNESS,
        [DYNSEL_CLASS_PROCESSORS] = PROCESSOR_SLOWNESS,
        [DYNSEL_CLASS_THREAD] = HOST_SLOWNESS,
    };
    return class_of_device == DYNSEL_CLASS_PROCESSORS && processors != 0
               ? slowness_of_processors(processors)
               : slownesses[class_of_device];
}

static void note_processors(dynsel_earliest_finish_policy *policy, uint32_t index)
{
    const uint32_t place = dynsel_word_load_relaxed(&policy->states[index].is.place);
    const uint32_t known = dynsel_processors_of(&policy->policy, index);
    const bool is_here = known != DYNSEL_PROCESSORS_ELSEWHERE;
    uint32_t units = is_here && place == DYNSEL_FINISH_THREAD ? 1 : 0;
    if (is_here && place == DYNSEL_FINISH_PROCESSORS) {
        units = known == 0 || known > DYNSEL_FINISH_MOST_PROCESSORS ? DYNSEL_FINISH_MOST_PROCESSORS
                                                                    : known;
    }
    dynsel_word_store_relaxed(&policy->states[index].is.processors, units);
}

/* A device of one processor, such as PoCL's basic, says nothing of the host: then there is one for
 * the program beside those of the threads. */
void dynsel_finish_count_processors(dynsel_earliest_finish_policy *policy, uint32_t count)
{
    uint32_t threads = 0;
    dynsel_finish_set workers = 0;
    dynsel_finish_set on_all = 0;
    uint32_t sharers = 0;
    uint32_t most = 0;
    bool feeds_devices = false;
    for (uint32_t i = 0; i < count; i++) {
        if (dynsel_health_is_removed(&policy->policy.queues[i])) {
            continue;
        }
        const uint32_t its = dynsel_word_load_relaxed(&policy->states[i].is.processors);
        const bool is_thread = dynsel_finish_is_thread(policy, i);
        threads += is_thread ? its : 0;
        if (is_thread && its != 0 && !dynsel_finish_is_in(dynsel_finish_blocking(policy), i)) {
            workers |= (dynsel_finish_set)1 << i;
            sharers++;
        }
        feeds_devices =
            feeds_devices || dynsel_finish_is_at(&policy->states[i], DYNSEL_FINISH_APART);
        most = !is_thread && its > most && its != DYNSEL_FINISH_MOST_PROCESSORS ? its : most;
    }
    const uint32_t of_host = most > 1 ? most : threads + 1;
    for (uint32_t i = 0; i < count; i++) {
        if (dynsel_word_load_relaxed(&policy->states[i].is.processors) >= of_host &&
            dynsel_finish_is_at(&policy->states[i], DYNSEL_FINISH_PROCESSORS) &&
            !dynsel_health_is_removed(&policy->policy.queues[i])) {
            on_all |= (dynsel_finish_set)1 << i;
        }
    }
    const uint32_t beside_program = of_host > 2 ? of_host - 1 : 1;
    dynsel_word_store_relaxed(&policy->processors, of_host);
    dynsel_word_store_relaxed(&policy->host_share, DYNSEL_FINISH_ALL_PROCESSORS / of_host);
    dynsel_word_store_relaxed(&policy->feeds_devices, feeds_devices);
    sharers = sharers < beside_program ? sharers : beside_program;
    dynsel_word_store_relaxed(&policy->sharers, sharers != 0 ? sharers : 1);
    dynsel_word_store_relaxed(&policy->workers[0], (uint32_t)workers);
    dynsel_word_store_relaxed(&policy->workers[1], (uint32_t)(workers >> 32));
    dynsel_word_store_relaxed(&policy->on_all[0], (uint32_t)on_all);
    dynsel_word_store_relaxed(&policy->on_all[1], (uint32_t)(on_all >> 32));
}

void dynsel_finish_assume(dynsel_earliest_finish_policy *policy, uint32_t index)
{
    const dynsel_backend *backend = policy->policy.resources[index].backend;
    dynsel_finish_resource *resource = &policy->states[index];
    const dynsel_device_class is = dynsel_device_class_of(&policy->policy, index);
    dynsel_word_store_relaxed(&resource->is.place, place_of(is));
    note_processors(policy, index);
    if (blocks_caller(backend)) { /* one thread at a time adds resources */
        dynsel_word *const blocking = &policy->blocking[index / 32];
        dynsel_word_store_relaxed(blocking, dynsel_word_load_relaxed(blocking) | 1u << index % 32);
    }
    dynsel_finish_count_processors(policy, index + 1);
    for (uint32_t k = 0; k < DYNSEL_FINISH_SCALES; k++) {
        dynsel_word_store_relaxed(
            &policy->speeds[index][k].slowness,
            assumed_slowness(is, dynsel_word_load_relaxed(&resource->is.processors)));
    }
    dynsel_word_store_relaxed(&resource->is.shortest_ns, shortest_ns(backend, is));
    dynsel_word_store_relaxed(&policy->first_starts[index], first_start_ns(backend));
    dynsel_word_store_relaxed(&resource->is.copy_rate, COPY_RATE_NS);
    dynsel_word_store_relaxed(&resource->is.submit, FIRST_SUBMIT);
}

static uint32_t scale_of(uint64_t time_ns)
{
    return time_ns >= LONG_NS ? 2 : time_ns >= LONGER_NS ? 1 : 0;
}

/* Where nothing was measured: half way from what was assumed to what shorter work tells. */
static int32_t slowness_of(const dynsel_finish_speed *speeds, uint32_t scale)
{
    int32_t slowness = 0;
    for (uint32_t i = 0; i <= scale; i++) {
        const int32_t own = (int32_t)dynsel_word_load_relaxed(&speeds[i].slowness);
        const bool is_known = i == 0 || dynsel_word_load_relaxed(&speeds[i].measured) != 0;
        slowness = is_known ? own : (own + slowness) / 2;
    }
    return slowness;
}

/* What of a time grows with the work: not the cost of a start. */
static uint64_t net_of(const dynsel_finish_resource *resource, uint64_t time_ns)
{
    const uint64_t fixed_ns = dynsel_word_load_relaxed(&resource->is.shortest_ns);
    const uint64_t least_ns = (time_ns >> NET_SHIFT) + 1;
    return time_ns > fixed_ns + least_ns ? time_ns - fixed_ns : least_ns;
}

/* How many times slower than another a resource of the host can be that has no part of it idle:
 * work with few items leaves the most of a GPU idle, and that of one work-group all processors but
 * one. In 256ths of a power of two. items: 0: not known. */
static int32_t most_slowness(const dynsel_finish_resource *resource,
                             const dynsel_finish_resource *known, uint64_t items)
{
    const bool is_thread = dynsel_finish_is_at(resource, DYNSEL_FINISH_THREAD);
    if (items == 0 || dynsel_finish_is_at(resource, DYNSEL_FINISH_APART)) {
        return INT32_MAX;
    }
    if (dynsel_finish_is_at(known, DYNSEL_FINISH_APART)) {
        return dynsel_log2(items / (is_thread ? THREAD_ITEMS : PROCESSORS_ITEMS) + 1);
    }
    return is_thread && dynsel_finish_is_at(known, DYNSEL_FINISH_PROCESSORS)
               ? dynsel_log2(items / DYNSEL_FINISH_GROUP_ITEMS + 1)
               : INT32_MAX;
}

uint64_t dynsel_finish_guess(const dynsel_earliest_finish_policy *policy, uint32_t index,
                             uint32_t known_index, uint64_t known_ns, uint64_t items)
{
    const uint32_t scale = scale_of(known_ns);
    const dynsel_finish_resource *known = &policy->states[known_index];
    const int32_t spread = (int32_t)dynsel_word_load_relaxed(&policy->speeds[index][scale].spread);
    const int32_t ratio = slowness_of(policy->speeds[index], scale) -
                          slowness_of(policy->speeds[known_index], scale) + spread;
    const int32_t most = most_slowness(&policy->states[index], known, items);
    const uint64_t net_ns = dynsel_times_power(net_of(known, known_ns), ratio < most ? ratio : most,
                                               DYNSEL_FINISH_LONGEST_NS);
    const uint64_t shortest_ns = dynsel_word_load_relaxed(&policy->states[index].is.shortest_ns);
    return dynsel_finish_lower(net_ns + shortest_ns, DYNSEL_FINISH_LONGEST_NS);
}

int32_t dynsel_finish_slowness(const dynsel_earliest_finish_policy *policy, uint32_t index)
{
    const dynsel_finish_speed *speeds = policy->speeds[index];
    return slowness_of(speeds, DYNSEL_FINISH_SCALES - 1) +
           2 * (int32_t)dynsel_word_load_relaxed(&speeds[DYNSEL_FINISH_SCALES - 1].spread);
}

static void move(dynsel_finish_speed *speed, int32_t slowness)
{
    const uint32_t measured = dynsel_word_load_relaxed(&speed->measured);
    dynsel_word_store_relaxed(&speed->slowness, (uint32_t)slowness);
    dynsel_word_store_relaxed(&speed->measured, measured < MOST_MEASURED ? measured + 1 : measured);
}

/* Reports of several kinds at once may lose one of their results. */
DYNSEL_RARE void dynsel_finish_learn_speed(dynsel_earliest_finish_policy *policy, uint32_t index,
                                           uint64_t time_ns, uint32_t other, uint64_t other_ns)
{
    const uint32_t scale = scale_of(dynsel_finish_lower(time_ns, other_ns));
    dynsel_finish_speed *it = &policy->speeds[index][scale];
    dynsel_finish_speed *known = &policy->speeds[other][scale];
    const int32_t it_before = slowness_of(policy->speeds[index], scale);
    const int32_t known_before = slowness_of(policy->speeds[other], scale);
    const int32_t error = dynsel_log2(net_of(&policy->states[index], time_ns)) -
                          dynsel_log2(net_of(&policy->states[other], other_ns)) -
                          (it_before - known_before);
    const int32_t it_measured = (int32_t)dynsel_word_load_relaxed(&it->measured);
    const int32_t known_measured = (int32_t)dynsel_word_load_relaxed(&known->measured);
    /* half way to what was measured first, so that one kind of work does not decide for all */
    const int32_t weight = it_measured == 0 ? 2 : LEARN_WEIGHT;
    /* even, so that halves of it leave the mean of both where it is */
    const int32_t step = error / weight / 2 * 2;
    const int32_t own_step = step * (known_measured + 1) / (it_measured + known_measured + 2);
    const int32_t size = error < 0 ? -error : error;
    const int32_t spread = (int32_t)dynsel_word_load_relaxed(&it->spread);
    const int32_t first_spread = size > 2 * LEAST_SPREAD ? size / 2 : LEAST_SPREAD;
    dynsel_word_store_relaxed(
        &it->spread,
        (uint32_t)(it_measured == 0 ? first_spread : spread + (size - spread) / LEARN_WEIGHT));
    move(it, it_before + own_step);
    move(known, known_before + own_step - step);
}

uint64_t dynsel_finish_copy_ns(const dynsel_finish_resource *resource, uint64_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    const uint64_t rate = dynsel_word_load_relaxed(&resource->is.copy_rate);
    return dynsel_finish_lower(COPY_LATENCY_NS +
                                   dynsel_in_proportion(rate, bytes, MIB, DYNSEL_FINISH_LONGEST_NS),
                               DYNSEL_FINISH_LONGEST_NS);
}

void dynsel_finish_learn_copy(dynsel_finish_resource *resource, uint64_t predicted_ns,
                              uint64_t took_ns)
{
    const uint32_t rate = dynsel_word_load_relaxed(&resource->is.copy_rate);
    const uint64_t least_ns = predicted_ns / MOST_COPY_FACTOR + 1;
    const uint64_t most_ns = predicted_ns * MOST_COPY_FACTOR;
    const uint64_t within_ns =
        took_ns < least_ns ? least_ns : dynsel_finish_lower(took_ns, most_ns);
    const uint64_t now = dynsel_in_proportion(rate, within_ns, predicted_ns + 1, MOST_COPY_RATE);
    dynsel_word_store_relaxed(&resource->is.copy_rate,
                              (uint32_t)((3 * (uint64_t)rate + now) / 4) + 1);
}

/* At once down to less, and slowly up to more. */
uint64_t dynsel_finish_copy_back_ns(dynsel_finish_resource *resource, uint64_t took_ns)
{
    const uint32_t before = dynsel_word_load_relaxed(&resource->is.short_readback);
    if (took_ns == 0) {
        return before;
    }
    const uint32_t within = (uint32_t)dynsel_finish_lower(took_ns, INT32_MAX);
    const uint32_t now =
        before == 0 || within < before ? within : before + ((within - before) >> READBACK_SHIFT);
    dynsel_word_store_relaxed(&resource->is.short_readback, now);
    return dynsel_finish_lower(took_ns, DYNSEL_FINISH_LONGEST_NS);
}

/* A program may do other things between two submits, or wait, so the least time of several counts.
 */
void dynsel_finish_learn_submit(dynsel_finish_resource *resource, uint32_t ticks)
{
    const uint32_t submits = dynsel_word_load_relaxed(&resource->is.submits);
    const uint32_t least = dynsel_word_load_relaxed(&resource->is.next_submit);
    const uint32_t now = submits == 0 || ticks < least ? ticks : least;
    if (submits + 1 < SUBMITS) {
        dynsel_word_store_relaxed(&resource->is.submits, submits + 1);
        dynsel_word_store_relaxed(&resource->is.next_submit, now);
    } else {
        dynsel_word_store_relaxed(&resource->is.submits, 0);
        dynsel_word_store_relaxed(&resource->is.submit, now);
    }
}

/* No more than three times of what is known counts: a thread may lose its processor meanwhile. */
void dynsel_finish_learn_start(dynsel_finish_resource *resource, uint64_t took_ns)
{
    const uint32_t before = dynsel_word_load_relaxed(&resource->is.start_ns);
    const uint32_t most = before != 0 ? 3 * before : FIRST_START_NS;
    const uint32_t within = (uint32_t)dynsel_finish_lower(took_ns, most);
    const uint32_t base = before != 0 ? before : within;
    const uint32_t now = base - base / START_WEIGHT + within / START_WEIGHT;
    dynsel_word_store_relaxed(&resource->is.start_ns,
                              now < MOST_START_NS ? now + 1 : MOST_START_NS);
}

void dynsel_finish_learn_first_start(dynsel_earliest_finish_policy *policy, uint32_t index,
                                     uint64_t took_ns)
{
    dynsel_word *const first_start = &policy->first_starts[index];
    const uint32_t before = dynsel_word_load_relaxed(first_start);
    dynsel_word_store_relaxed(first_start,
                              before / 2 + (uint32_t)dynsel_finish_lower(took_ns, INT32_MAX) / 2);
}

/* Half way down to less, and slowly up to more, since the program may lose its processor meanwhile.
 * What has faded is learned anew. */
DYNSEL_RARE void dynsel_finish_learn_latency(dynsel_finish_resource *resource, uint32_t ticks)
{
    const uint32_t before = dynsel_finish_latency(resource);
    uint64_t now = dynsel_finish_lower(ticks, MOST_FIRST_LATENCY);
    if (before != 0) {
        const uint64_t more = ticks > before ? dynsel_finish_lower(ticks - before, before) : 0;
        const uint64_t less = ticks < before ? before - ticks : 0;
        now = dynsel_finish_has_faded(resource)
                  ? dynsel_finish_lower(ticks, (uint64_t)before * MOST_TIMES_FADED)
                  : before - less / 2 + (more + LATENCY_WEIGHT - 1) / LATENCY_WEIGHT;
    }
    dynsel_word_store_relaxed(&resource->is.latency,
                              (uint32_t)dynsel_finish_lower(now, DYNSEL_FINISH_MOST_TICKS));
}

/* So that a resource which was learned to be late, by chance or because it had to be woken, is
 * chosen again in the end. What was used since the last time has a queue that ended later. */
DYNSEL_RARE void dynsel_finish_fade_latencies(dynsel_earliest_finish_policy *policy, uint32_t now)
{
    const uint32_t last = dynsel_word_load_relaxed(&policy->faded_at);
    dynsel_word_store_relaxed(&policy->faded_at, now);
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        dynsel_finish_resource *const resource = &policy->states[i];
        const uint32_t before = dynsel_finish_latency(resource);
        const uint32_t since = dynsel_word_load_relaxed(&resource->is.free_at) - last;
        const bool is_used = (int32_t)since > 0;
        if (!is_used && before != 0) {
            const uint32_t less = before - (before + FADING_WEIGHT - 1) / FADING_WEIGHT;
            dynsel_word_store_relaxed(&resource->is.latency, less | DYNSEL_FINISH_FADED);
        }
    }
}
