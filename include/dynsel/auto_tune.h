/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policy that measures where each kind of task is fastest, and sends it there: for unequal
 * devices.
 *
 * A kind of task is identified by dynsel_task.id (0: by its function), its key words and the
 * aspects that it needs. For each kind every resource that may be used gets two turns, the first of
 * which does not count because it may compile; then the fastest gets the work. A table inside the
 * policy stores the learned times.
 *
 * Source: seed 002, `auto_tune_policy`.
 */
#ifndef DYNSEL_AUTO_TUNE_H
#define DYNSEL_AUTO_TUNE_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/task_kind.h>

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE /* its tables have no sizes otherwise */

DYNSEL_BEGIN_DECLS

/** The reports that a backend must provide for auto_tune. */
#define DYNSEL_AUTO_TUNE_NEEDS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/** As resample interval: learned times are never discarded, only updated by later runs. */
#define DYNSEL_NEVER_RESAMPLE 0u

#if CONFIG_DYNSEL_AUTO_TUNE_SMALL

/** What is known of one kind of task on one resource; only the library looks inside. */
typedef struct dynsel_tuned_resource {
    uint32_t sum;  /* of the times that count, in steps of 256 ns */
    uint16_t runs; /* of those */
    uint8_t turns; /* choices of this round while its time was not known */
} dynsel_tuned_resource;

/** What is known of one kind of task; only the library looks inside. */
typedef struct dynsel_tuned_task {
    uint32_t round; /* how often the measuring began, for this kind and for others before */
    uint32_t used;  /* when it was used last, by the policy's clock; 0: not yet */
    uint32_t id;
    uint32_t key_word_count;
    dynsel_task_fn function;
    uint32_t key_words[CONFIG_DYNSEL_MAX_KEY_WORDS > 0 ? CONFIG_DYNSEL_MAX_KEY_WORDS : 1];
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects;
#endif
    uint32_t best;
    uint64_t started_ns; /* when this round began */
    dynsel_tuned_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
} dynsel_tuned_task;

#else

#if CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES
typedef uint32_t dynsel_tuned_time; /* in steps of 16 ns */
#else
typedef uint64_t dynsel_tuned_time; /* in ns */
#endif

/** What is known of one kind of task on one resource; only the library looks inside. */
typedef struct dynsel_tuned_resource {
    /* the newest, in turn; with 0 percent exploration their sum is the first */
    dynsel_tuned_time times[3];
    uint32_t runs;             /* this round; with 0 percent exploration how many were counted */
    uint16_t unfinished;       /* runs that were counted when they began, and are out */
    uint8_t turns;             /* choices of this round while its time was not known */
    uint8_t samples;           /* up to 3 how many times are known, then 3 to 5 in turn */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    uint16_t timed[3];         /* the numbers of the runs that `times` are of, with a mark */
    uint16_t brought_run;      /* the number of the last run whose results were brought back */
    dynsel_tuned_time brought; /* what that took; assumed of runs with the mark */
#endif
} dynsel_tuned_resource;

/** What is known of one kind of task; only the library looks inside. */
typedef struct dynsel_tuned_task {
    dynsel_word tag;  /* 0: this entry is free */
    dynsel_word word; /* what to do, the best resource, the round */
    dynsel_task_kind kind;
    dynsel_word started[2];      /* when this round began */
    dynsel_word keeper;          /* the thread whose runs are timed once settled; 0: none yet */
#if CONFIG_DYNSEL_CUSTOM_BACKENDS && !CONFIG_DYNSEL_IN_FLIGHT_SMALL
    dynsel_word rarity;          /* as a power of two, how many times more rarely than usual */
    dynsel_word unheard;         /* runs that were timed since the last time came */
#endif
    dynsel_busy_word apart;      /* what a settled choice reads from what reports change */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_word timed;           /* runs that were to be timed, counted round */
#endif
    dynsel_word lock;            /* of all that follows */
    dynsel_word used;            /* when it was seen to be used last, by the policy's clock */
    uint32_t born;               /* the round in which it became this kind's */
    uint32_t runs;               /* on all resources in this round */
    dynsel_tuned_time bar;       /* when the best takes longer than this, another may be better */
    dynsel_tuned_time best_time; /* of the best when it was settled */
    uint8_t best;
    uint8_t explored; /* the last that got another try */
    uint8_t wait;     /* timed runs until the next try */
    uint8_t pause;    /* as a power of two, how long that wait is the next time */
    bool tuned;       /* whether this round has come to a result */
    dynsel_tuned_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
} dynsel_tuned_task;

#endif

/** The policy with its table of kinds; only the library looks inside. With the tables of hosts
 * 111 KiB: it belongs in static memory rather than on a stack. */
typedef struct dynsel_auto_tune_policy {
    dynsel_policy policy;
    uint64_t resample_interval_ns;
    dynsel_word untracked;
#if CONFIG_DYNSEL_AUTO_TUNE_SMALL
    uint32_t clock; /* counts runs */
#else
    dynsel_word clock;       /* counts runs of kinds that are not settled */
    dynsel_word replacing;   /* lock: some kind is given up for another */
    dynsel_word may_give_up; /* whether the kind that was used least lately may be */
#endif
    dynsel_word loads[CONFIG_DYNSEL_MAX_RESOURCES]; /* unfinished work that was counted */
    dynsel_tuned_task tasks[CONFIG_DYNSEL_MAX_TUNED_TASKS];
} dynsel_auto_tune_policy;

/**
 * For each kind of task, selects each resource of the table in `options` that the task may use
 * twice, and then selects the fastest one.
 *
 * resample_interval_ns: once it has passed since the profiling began, the next selection of a kind
 *     of task starts the profiling again without known times; but the two turns of each resource
 *     are completed first, so that with an interval shorter than they take all work is profiling.
 *     DYNSEL_NEVER_RESAMPLE is
 *     the seed's default.
 *
 * A turn is taken when the work is submitted: by dynsel_submit(), by dynsel_submit_selection(), or
 * by a program that runs the work itself, with its report of DYNSEL_TASK_SUBMISSION. A selection of
 * dynsel_select() that is dropped takes none: the next selection is the same. Of several selections
 * that were made for the same turn one takes it, and the others are further runs; one that is
 * submitted when a new round has begun takes no turn of that, and its time is dropped.
 *
 * While some times are unknown, the best so far is selected, so that a resource without a time gets
 * its turns and no more. While all are unknown, the resource with the least unfinished work is
 * selected: with 0 percent exploration, or where the build knows none of the aspects gpu, cpu and
 * host, among all; else, so that a burst does not go to a slow device of which nothing is known,
 * only among those that are assumed to be the fastest (GPUs, then other devices, then OpenCL
 * devices that are processors, then threads of the host), and not where all runs so far failed.
 * Then CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT decides. 0: the resource whose counted runs took the
 * least time on average, as in the seed. More: what counts is the median of the last three times;
 * other resources get occasional trial runs, as long as the extra time of all trial runs stays
 * below this share of the time of the best; another resource becomes the best when it is at least 3
 * percent faster. A resource whose first runs fail gets two more turns in a round, then it is
 * excluded from the round. Times over 2^46 ns (19 hours) count as that. With
 * CONFIG_DYNSEL_AUTO_TUNE_SMALL times are distinguished in steps of 256 ns, and those over 2^36 ns
 * (a minute) count as that; with CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES in steps of 16 ns, and those
 * over 2^35 ns (34 seconds) count as that.
 *
 * A time is that of the work alone, however many pieces are in flight: waiting behind other work of
 * the resource does not count (DYNSEL_TASK_TIME). Work elsewhere may slow a run down, though:
 * threads of the host and OpenCL devices that are processors share the processors, so a trial run
 * beside the best may take up to twice its time, on a host with two processors. And a time includes
 * the copies of data to the device. A trial run copies data that would be there if the resource
 * were the best; no choice of auto_tune considers where data are. Where data are used many times on
 * devices with memory of their own, earliest_finish is the policy (<dynsel/earliest_finish.h>).
 *
 * The table has CONFIG_DYNSEL_MAX_TUNED_TASKS kinds; a kind is searched for in at most 32 entries,
 * in all with CONFIG_DYNSEL_AUTO_TUNE_SMALL. Where all are taken, one in 16 runs without an entry
 * makes room: the next selection of a kind without an entry replaces the least recently used kind,
 * whose times are discarded, and whose later reports only count as an end of work. The other runs
 * without an entry go to the resource with the least unfinished work, in turn among equals (with
 * CONFIG_DYNSEL_AUTO_TUNE_SMALL to the lowest index). Once settled, a kind counts as
 * used when a run is timed. A kind that was only selected and never submitted yields its entry to
 * the next kind without one.
 *
 * The time to copy the results of a command group back (DYNSEL_TASK_READBACK_TIME) is added to its
 * time once it is known. Until then the value of the previous run on that resource is assumed; as
 * long as no results are copied back, the assumption decays by a quarter with each timed run.
 * With 0 percent exploration nothing is assumed; with CONFIG_DYNSEL_AUTO_TUNE_SMALL nothing is
 * added.
 *
 * Needs DYNSEL_TASK_SUBMISSION, _COMPLETION and _TIME, but of each selection only the reports that
 * dynsel_selection_needs() requests. Once the best resource is known, it times about one run in 16
 * of one thread at a time (if that thread stops submitting, another replaces it). It times short
 * work more rarely on devices where timing takes long (timing_ns in <dynsel/backend.h>), at least
 * one run in 128. Work that waits behind work whose end the backend does not tell has no time;
 * where several timed runs brought none, two in a row are timed, of which the second has one (not
 * with CONFIG_DYNSEL_IN_FLIGHT_SMALL). Then selecting costs no atomic read-modify-write and no
 * lock; with a resample interval, a read of the clock.
 * Timed runs, and all runs before, take a spin lock of their kind of task for about a hundred
 * instructions for each resource. With CONFIG_DYNSEL_AUTO_TUNE_SMALL all runs are timed, without a
 * lock, and selecting looks at what is known of each resource. Unlike with other policies, a task
 * with more than CONFIG_DYNSEL_MAX_KEY_WORDS key words is DYNSEL_E_INVALID. The seed's constructors
 * are: a zeroed policy (1), options NULL or {0} (2, 4), options with resources (3, 5).
 *
 * Errors: those of dynsel_policy_init().
 * Ownership, context and blocking: as dynsel_policy_init().
 * Cost: linear in the size of the table.
 */
DYNSEL_CHECKED dynsel_status dynsel_auto_tune_init(dynsel_auto_tune_policy *policy,
                                                   const dynsel_options *options,
                                                   uint64_t resample_interval_ns)
    DYNSEL_TAGGED("dynsel_auto_tune_init");

/**
 * The number of runs that had a choice of resources and found no entry in the table for their kind:
 * all with reason DYNSEL_REASON_UNTRACKED, counted when they were submitted, and with
 * CONFIG_DYNSEL_AUTO_TUNE_SMALL each eviction of a kind as well.
 *
 * Returns: 0 for NULL; wraps after 2^32.
 * Context: any thread.
 * Cost: constant.
 */
uint32_t dynsel_auto_tune_untracked(const dynsel_auto_tune_policy *policy);

DYNSEL_END_DECLS

#endif

#endif
