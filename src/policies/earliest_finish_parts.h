/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of earliest_finish: the table of kinds of task (earliest_finish_table.c), the run times
 * of one kind (earliest_finish_times.c), the speed of the resources (earliest_finish_speed.c), what
 * a choice sees (earliest_finish_sight.c), trial runs (earliest_finish_trials.c), the work expected
 * of data (earliest_finish_expected.c), the ways to share work
 * (earliest_finish_ways.c), and the choice (earliest_finish_choice.c).
 *
 * The choice reads only words, without a lock; a time that changes meanwhile makes it worse, never
 * wrong. Reports change times under the lock of the kind, and counts, credit and speeds without it:
 * when two threads report at once, one of their changes may be lost.
 *
 * A kind with key words has a root: the kind of the same id without key words. The root learns from
 * all its kinds, so that it knows the time of a size that is new. It counts their trial runs, which
 * each kind pays from its own credit, and their timed runs in flight, which each kind counts, too:
 * they are taken back from the root when the kind loses its entry. The root of other kinds is the
 * kind itself.
 */
#ifndef DYNSEL_POLICIES_EARLIEST_FINISH_PARTS_H
#define DYNSEL_POLICIES_EARLIEST_FINISH_PARTS_H

#include <dynsel/earliest_finish.h>

#include "policies/compact_number.h"
#include "policies/task_kind.h"
#include "policy/policy.h"
#include "port/atomic.h"
#include "port/likely.h"

enum {
    DYNSEL_FINISH_TICK_SHIFT = 8, /* a tick is 256 ns */
    DYNSEL_FINISH_WINDOW = 3,     /* the newest times of a point */
    DYNSEL_FINISH_MOST_SAMPLES = 255,
    DYNSEL_FINISH_TIMED_BITS = 4,     /* one run in 16 is timed */
    DYNSEL_FINISH_ALONE_RARITY = 2,   /* one in 64, where one resource gets all work */
    DYNSEL_FINISH_EARNED_SHARE = 20,  /* the 20th part of a run's time: 5 percent */
    DYNSEL_FINISH_ONE_BY_ONE = 4,     /* submits in a row that found nothing in flight */
    DYNSEL_FINISH_ENOUGH_SAMPLES = 2, /* the first may contain a compilation */
    DYNSEL_FINISH_ROBUST = 4,         /* the median is of three that count */
    DYNSEL_FINISH_GROUP_ITEMS = 64,   /* of a work-group, which one processor does */
    DYNSEL_FINISH_SHORTEST_NS = 4000  /* a run on a device where none is known yet */
};

/* Longer times count as this. Several of them fit into 64 bits together. */
#define DYNSEL_FINISH_LONGEST_NS ((uint64_t)1 << 46)

/* The speed of the program is measured in units of 16 ns. No run counts as longer than 1 s. */
enum { DYNSEL_FINISH_UNIT_SHIFT = 4 };
#define DYNSEL_FINISH_LONGEST_UNITS_NS ((uint64_t)1 << 30)

/* The longest time in ticks, of what may be compared on a clock that wraps. */
#define DYNSEL_FINISH_MOST_TICKS ((uint32_t)1 << 30)

/* notes[0]: 1 + the number of the kind's entry, 0: none; what kind of run it is; which part of the
 * predicted time the copies are; the entry's life. notes[1]: the amount, as in points. notes[2]:
 * the predicted time in the queue, in ticks. */
enum {
    DYNSEL_FINISH_NOTE_ENTRY = 0x7ff,
    DYNSEL_FINISH_NOTE_TRIAL = 1 << 11, /* the predicted run was taken from the credit */
    DYNSEL_FINISH_NOTE_ALONE = 1 << 12, /* nothing else was in flight: the latency can be learned */
    DYNSEL_FINISH_NOTE_TICK = 1 << 13,  /* one timed run of many; with TRIAL: a first trial run */
    DYNSEL_FINISH_NOTE_FIRST_TRIAL = DYNSEL_FINISH_NOTE_TRIAL | DYNSEL_FINISH_NOTE_TICK,
    DYNSEL_FINISH_NOTE_COPIES_SHIFT = 14,
    DYNSEL_FINISH_NOTE_COPIES = 0xff, /* in 256ths */
    DYNSEL_FINISH_NOTE_LIFE_SHIFT = 22
};

_Static_assert(CONFIG_DYNSEL_EARLIEST_FINISH_KINDS < DYNSEL_FINISH_NOTE_ENTRY,
               "a note has no room for so many entries: lower "
               "CONFIG_DYNSEL_EARLIEST_FINISH_KINDS");

/* A bit for each resource. */
typedef uint64_t dynsel_finish_set;

_Static_assert(CONFIG_DYNSEL_MAX_RESOURCES <= 64, "a set of resources has a bit for each");

static inline bool dynsel_finish_is_in(dynsel_finish_set set, uint32_t index)
{
    return (set >> index & 1u) != 0;
}

/* Takes the first resource out of a set that is not empty. */
static inline uint32_t dynsel_finish_take_first(dynsel_finish_set *set)
{
    const uint32_t first = (uint32_t)__builtin_ctzll(*set);
    *set &= *set - 1;
    return first;
}

static inline dynsel_finish_set dynsel_finish_set_of(const dynsel_word *words)
{
    dynsel_finish_set set = dynsel_word_load_relaxed(&words[0]);
    if (CONFIG_DYNSEL_MAX_RESOURCES > 32) {
        set |= (dynsel_finish_set)dynsel_word_load_relaxed(&words[1]) << 32;
    }
    return set;
}

/* Of a root: the resources that only a learned table knows, and that may have to compile. */
static inline dynsel_finish_set dynsel_finish_cold(const dynsel_finish_kind *root)
{
#if CONFIG_DYNSEL_LEARNED_TABLES
    return dynsel_finish_set_of(root->cold);
#else
    (void)root;
    return 0;
#endif
}

/* Something of the id runs on a resource; also if that is withdrawn: then the next run there may
 * compile although nothing has paid for it. */
static inline void dynsel_finish_warm_up(dynsel_finish_kind *root, uint32_t index)
{
#if CONFIG_DYNSEL_LEARNED_TABLES
    const uint32_t cold = dynsel_word_load_relaxed(&root->cold[index / 32]);
    if (!DYNSEL_LIKELY(cold == 0)) {
        dynsel_word_store_relaxed(&root->cold[index / 32], cold & ~(1u << index % 32));
    }
#else
    (void)root;
    (void)index;
#endif
}

/* The resources whose work is complete when the submit returns. */
static inline dynsel_finish_set dynsel_finish_blocking(const dynsel_earliest_finish_policy *policy)
{
    return dynsel_finish_set_of(policy->blocking);
}

/* The threads of this host beside the program's own. */
static inline dynsel_finish_set dynsel_finish_workers(const dynsel_earliest_finish_policy *policy)
{
    return dynsel_finish_set_of(policy->workers);
}

/* The devices on all processors of the host. */
static inline dynsel_finish_set dynsel_finish_on_all(const dynsel_earliest_finish_policy *policy)
{
    return dynsel_finish_set_of(policy->on_all);
}

/* Those that work beside the program although such devices do not. */
static inline dynsel_finish_set dynsel_finish_beside(const dynsel_earliest_finish_policy *policy)
{
    return ~(dynsel_finish_on_all(policy) | dynsel_finish_blocking(policy));
}

/* The threads of this host, if several have a processor beside the program: they share data. */
static inline dynsel_finish_set dynsel_finish_sharing(const dynsel_earliest_finish_policy *policy)
{
    return dynsel_word_load_relaxed(&policy->sharers) > 1 ? dynsel_finish_workers(policy) : 0;
}

/* What a resource computes on. */
typedef enum dynsel_finish_place {
    DYNSEL_FINISH_APART,      /* on its own */
    DYNSEL_FINISH_PROCESSORS, /* on all processors of the host */
    DYNSEL_FINISH_THREAD      /* on one of them */
} dynsel_finish_place;

/* Shares of the host's processors are in 65536ths. */
#define DYNSEL_FINISH_ALL_PROCESSORS ((uint32_t)UINT16_MAX + 1)

/* More than this, or not known: all of the host's. */
#define DYNSEL_FINISH_MOST_PROCESSORS ((uint32_t)1 << 10)

/* Whether the program has one piece of work in flight at a time. */
static inline bool dynsel_finish_is_one_by_one(const dynsel_earliest_finish_policy *policy)
{
    return dynsel_word_load_relaxed(&policy->one_by_one) >= DYNSEL_FINISH_ONE_BY_ONE;
}

/* True for one run in 2^bits. Multiples of the golden ratio are spread evenly and in step with no
 * period: programs often repeat pieces of unequal amounts. */
static inline bool dynsel_finish_is_turn(uint32_t runs, uint32_t bits)
{
    return runs * 0x9e3779b1u >> (32 - bits) == 0;
}

/* Whether a choice, counted by the policy's clock, may be a first trial run although one resource
 * gets all work: one in 16, where resources have not run all kinds yet; more rarely after choices
 * that found none, because a look at everything takes 5 us after a driver has used the caches. */
static inline bool dynsel_finish_may_try(const dynsel_earliest_finish_policy *policy,
                                         uint32_t clock)
{
    const uint32_t strangers = dynsel_word_load_relaxed(&policy->strangers);
    return strangers != 0 && dynsel_finish_is_turn(clock, 3 + strangers);
}

/* Ways to share work, see earliest_finish_ways.c; of the others, way i gives all to resource
 * i - 1. */
enum {
    DYNSEL_FINISH_TOGETHER = 0,
    DYNSEL_FINISH_WITHOUT_PROCESSORS = CONFIG_DYNSEL_MAX_RESOURCES + 1
};

static inline bool dynsel_finish_is_one_alone(uint32_t way)
{
    return way != DYNSEL_FINISH_TOGETHER && way != DYNSEL_FINISH_WITHOUT_PROCESSORS;
}

/* The way in which work is shared now. */
static inline uint32_t dynsel_finish_way_now(const dynsel_earliest_finish_policy *policy)
{
    return dynsel_finish_is_one_by_one(policy) ? DYNSEL_FINISH_TOGETHER
                                               : dynsel_word_load_relaxed(&policy->way);
}

static inline bool dynsel_finish_is_at(const dynsel_finish_resource *resource,
                                       dynsel_finish_place place)
{
    return dynsel_word_load_relaxed(&resource->is.place) == place;
}

static inline bool dynsel_finish_is_thread(const dynsel_earliest_finish_policy *policy,
                                           uint32_t index)
{
    return dynsel_finish_is_at(&policy->states[index], DYNSEL_FINISH_THREAD);
}

/* Of the processors of the host, how many a resource keeps busy while it works; 0: none. */
static inline uint32_t dynsel_finish_processors(const dynsel_finish_resource *resource,
                                                uint32_t of_host)
{
    const uint32_t its = dynsel_word_load_relaxed(&resource->is.processors);
    return its < of_host ? its : of_host;
}

/* What a trial run is charged for each tick that it loses, by how many times are known: the more of
 * them show that the resource has lost, the rarer are its trial runs. */
static inline uint32_t dynsel_finish_price(uint32_t samples)
{
    return samples <= 2 ? 1 : samples < DYNSEL_FINISH_ROBUST ? 4 : 32;
}

/* What a kind earned less what a resource has spent, in ticks. A price is spent as often as there
 * are resources, so this divided by their number is what is left of the resource's equal share.
 * First trial runs may use all that the kind earned, further ones only that share: otherwise the
 * resource that loses least would use up what others wait for. */
static inline uint32_t dynsel_finish_unspent(const dynsel_finish_kind *kind, uint32_t index)
{
    return dynsel_word_load_relaxed(&kind->earned) -
           dynsel_word_load_relaxed(&kind->resources[index].spent);
}

/* At least 1. */
static inline uint32_t dynsel_finish_ticks(uint64_t ns)
{
    const uint64_t half = (uint64_t)1 << (DYNSEL_FINISH_TICK_SHIFT - 1);
    const uint64_t ticks =
        ns < UINT64_MAX - half ? (ns + half) >> DYNSEL_FINISH_TICK_SHIFT : DYNSEL_FINISH_MOST_TICKS;
    const uint64_t least = ticks != 0 ? ticks : 1;
    return least < DYNSEL_FINISH_MOST_TICKS ? (uint32_t)least : DYNSEL_FINISH_MOST_TICKS;
}

static inline uint64_t dynsel_finish_ns(uint32_t ticks)
{
    return (uint64_t)ticks << DYNSEL_FINISH_TICK_SHIFT;
}

/* Of the predicted time of a selection: the copies, in ticks. */
static inline uint32_t dynsel_finish_copies_in(const dynsel_selection *selection)
{
    const uint32_t part =
        selection->notes[0] >> DYNSEL_FINISH_NOTE_COPIES_SHIFT & DYNSEL_FINISH_NOTE_COPIES;
    return (uint32_t)((uint64_t)selection->notes[2] * part >> 8);
}

/* How many runs the timed run of a selection stands for. */
static inline uint32_t dynsel_finish_stands_for(const dynsel_selection *selection)
{
    const uint32_t what = selection->notes[0] & DYNSEL_FINISH_NOTE_FIRST_TRIAL;
    const uint32_t rarity =
        selection->reason == DYNSEL_REASON_FASTEST_ALONE ? DYNSEL_FINISH_ALONE_RARITY : 0u;
    return what == DYNSEL_FINISH_NOTE_TICK ? 1u << (DYNSEL_FINISH_TIMED_BITS + rarity) : 1u;
}

/* An amount as in points: compact and 1 more. */
static inline uint32_t dynsel_finish_amount(uint64_t amount)
{
    return dynsel_compact(amount) + 1;
}

/* How far two amounts are apart, in 256ths of a power of two; 0 is one power below 1. */
static inline uint32_t dynsel_finish_apart(uint32_t a, uint32_t b)
{
    const int32_t apart =
        dynsel_log2(dynsel_expand(a - 1) + 1) - dynsel_log2(dynsel_expand(b - 1) + 1);
    return (uint32_t)(apart < 0 ? -apart : apart);
}

static inline uint64_t dynsel_finish_lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* At most what a word holds: a few pieces of minutes each are more ticks than that. */
static inline uint32_t dynsel_finish_sum(uint32_t a, uint32_t b)
{
    const uint32_t sum = a + b;
    return sum >= a ? sum : UINT32_MAX;
}

/* Which kind a task is of. */
typedef struct dynsel_finish_kinds {
    dynsel_finish_kind *own;  /* NULL: it has no entry */
    dynsel_finish_kind *root; /* may be `own`; NULL as `own` */
} dynsel_finish_kinds;

/*
 * The table.
 */

/* Finds the entries of a task's kind, or makes them where there is room. */
dynsel_finish_kinds dynsel_finish_find(dynsel_earliest_finish_policy *policy,
                                       const dynsel_task *task);

#if CONFIG_DYNSEL_LEARNED_TABLES
/* The entry of a task's kind alone. NULL: there is none, and no free place for it. */
dynsel_finish_kind *dynsel_finish_add(dynsel_earliest_finish_policy *policy,
                                      const dynsel_task *task);
#endif

/* The root of an entry; the entry itself where that has none (any more). */
dynsel_finish_kind *dynsel_finish_root_of(dynsel_earliest_finish_policy *policy,
                                          dynsel_finish_kind *kind);

/* False: taken. Not from interrupts. */
bool dynsel_finish_try_lock(dynsel_finish_kind *kind);
void dynsel_finish_unlock(dynsel_finish_kind *kind);

/*
 * Run times. What changes them is called under the kind's lock.
 */

/* The time at a point of just this amount; 0: there is none. */
static inline uint64_t dynsel_finish_time_at(const dynsel_finish_times *times, uint32_t amount)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_EARLIEST_FINISH_POINTS; i++) {
        const uint32_t time = dynsel_word_load_relaxed(&times->points[i].time);
        if (dynsel_word_load_relaxed(&times->points[i].amount) == amount && time != 0) {
            return dynsel_expand(time);
        }
    }
    return 0;
}

/* The predicted time of a run; 0: no time is known. shortest_ns: no run is shorter. */
uint64_t dynsel_finish_predict(const dynsel_finish_times *times, uint32_t amount,
                               uint64_t shortest_ns);

/* Whether the amount is between those of which times are known, or not far from them. */
bool dynsel_finish_reaches(const dynsel_finish_times *times, uint32_t amount);

/* Learns how long a run took. */
void dynsel_finish_learn(dynsel_finish_times *times, uint32_t amount, uint64_t time_ns);

/* Learns how long it took to copy results of a run back. */
void dynsel_finish_learn_readback(dynsel_finish_times *times, uint64_t readback_ns);

/* In a latency: it has faded since it was learned. */
#define DYNSEL_FINISH_FADED ((uint32_t)1 << 31)

/* In ticks; 0: not known. */
static inline uint32_t dynsel_finish_latency(const dynsel_finish_resource *resource)
{
    return dynsel_word_load_relaxed(&resource->is.latency) & ~DYNSEL_FINISH_FADED;
}

static inline bool dynsel_finish_has_faded(const dynsel_finish_resource *resource)
{
    return (dynsel_word_load_relaxed(&resource->is.latency) & DYNSEL_FINISH_FADED) != 0;
}

/* What a program spends on a run beside it: on its submit, until it sees the end, and on copies of
 * results back. */
static inline uint64_t dynsel_finish_beside_ns(const dynsel_earliest_finish_policy *policy,
                                               const dynsel_finish_kind *kind, uint32_t index)
{
    const dynsel_finish_resource *resource = &policy->states[index];
    return dynsel_finish_ns(dynsel_word_load_relaxed(&resource->is.submit)) +
           dynsel_finish_ns(dynsel_finish_latency(resource)) +
           dynsel_expand(dynsel_word_load_relaxed(&kind->resources[index].readback));
}

/* What the start of work on a resource usually takes of the program's time, in which it starts
 * nothing else; 0: not known. */
static inline uint64_t dynsel_finish_start_ns(const dynsel_earliest_finish_policy *policy,
                                              uint32_t index)
{
    return dynsel_word_load_relaxed(&policy->states[index].is.start_ns);
}

/* What a run usually takes of the program's time: beside_ns, of dynsel_finish_beside_ns(), is the
 * least, and contains what the program does between two submits. */
static inline uint64_t dynsel_finish_usually_beside_ns(const dynsel_earliest_finish_policy *policy,
                                                       uint32_t index, uint64_t beside_ns)
{
    const uint64_t start_ns = dynsel_finish_start_ns(policy, index);
    const uint64_t submit_ns =
        dynsel_finish_ns(dynsel_word_load_relaxed(&policy->states[index].is.submit));
    return start_ns != 0 && beside_ns >= submit_ns ? beside_ns - submit_ns + start_ns : beside_ns;
}

static inline uint64_t dynsel_finish_program_ns(const dynsel_earliest_finish_policy *policy,
                                                const dynsel_finish_kind *kind, uint32_t index)
{
    return dynsel_finish_usually_beside_ns(policy, index,
                                           dynsel_finish_beside_ns(policy, kind, index));
}

/* No run on a resource is predicted to be shorter. Where none is known yet, one of a few
 * microseconds is possible. */
static inline uint64_t dynsel_finish_shortest_ns(const dynsel_finish_resource *resource)
{
    return dynsel_finish_lower(dynsel_word_load_relaxed(&resource->is.shortest_ns),
                               DYNSEL_FINISH_SHORTEST_NS);
}

/*
 * The speed of resources.
 */

/* What is assumed of the resources when the policy is initialized. */
DYNSEL_RARE void dynsel_finish_assume(dynsel_earliest_finish_policy *policy, uint32_t index);

/* Learns from the first resources how many processors the host has, and who uses them. */
DYNSEL_RARE void dynsel_finish_count_processors(dynsel_earliest_finish_policy *policy,
                                                uint32_t count);

/* How long work of which nothing is known may take on a resource, compared with others: long work,
 * because that costs most; where it varies with the kind of work, the worst counts. In 256ths of a
 * power of two. */
int32_t dynsel_finish_slowness(const dynsel_earliest_finish_policy *policy, uint32_t index);

/* Estimates the time on one resource from a time on another, rather too long than too short. items:
 * of the work; 0: not known. */
uint64_t dynsel_finish_guess(const dynsel_earliest_finish_policy *policy, uint32_t index,
                             uint32_t known_index, uint64_t known_ns, uint64_t items);

/* Learns from the times of one kind on two resources. */
void dynsel_finish_learn_speed(dynsel_earliest_finish_policy *policy, uint32_t index,
                               uint64_t time_ns, uint32_t other, uint64_t other_ns);

/* The predicted time to copy data to a resource. */
uint64_t dynsel_finish_copy_ns(const dynsel_finish_resource *resource, uint64_t bytes);

/* Learns that copies which were predicted to take one time took another. */
void dynsel_finish_learn_copy(dynsel_finish_resource *resource, uint64_t predicted_ns,
                              uint64_t took_ns);

/* Learns how long a copy of results back took, and returns that. A copy that could not be timed (0)
 * counts as a short one: it takes the caller's time, too. */
uint64_t dynsel_finish_copy_back_ns(dynsel_finish_resource *resource, uint64_t took_ns);

/* Learns from the time between two submits, of which the first was to the resource, that a submit
 * there takes no longer. */
void dynsel_finish_learn_submit(dynsel_finish_resource *resource, uint32_t ticks);

/* Learns how long a start on the resource took of the program's time. */
void dynsel_finish_learn_start(dynsel_finish_resource *resource, uint64_t took_ns);

/* Learns how long the first start of a kind of task on a resource took. */
void dynsel_finish_learn_first_start(dynsel_earliest_finish_policy *policy, uint32_t index,
                                     uint64_t took_ns);

/* Learns how much later than its run a program sees the end of work that it waits for. */
void dynsel_finish_learn_latency(dynsel_finish_resource *resource, uint32_t ticks);

/* The learned latencies of all resources that were not used since the last time become a bit less.
 * now: in ticks. */
void dynsel_finish_fade_latencies(dynsel_earliest_finish_policy *policy, uint32_t now);

/*
 * The choice.
 */

/* Chooses the resource and fills in the selection. Where the selection claims, the run is in the
 * queue of the resource then. */
dynsel_status dynsel_finish_choose(dynsel_earliest_finish_policy *policy, const dynsel_task *task,
                                   const dynsel_finish_kinds *kinds, dynsel_selection *selection);

#if CONFIG_DYNSEL_RESOURCE_SETS
/* A resource came or went: how fast the work was says nothing any more. */
void dynsel_finish_forget_ways(dynsel_earliest_finish_policy *policy);
#endif

/* Counts a copy of results back in the window in which the speed of the program is measured. */
void dynsel_finish_measure_readback(dynsel_earliest_finish_policy *policy, uint64_t readback_ns);

/* Enters a run into the queue of its resource, where the choice did not. speed: that of the
 * resource for the kind, compared with the fastest: not more than 0, in 256ths of a power of two.
 */
void dynsel_finish_enter(dynsel_earliest_finish_policy *policy, const dynsel_selection *selection,
                         int32_t speed);

#endif
