/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policy that chooses the resource which is predicted to finish first: for programs with
 * several pieces of work in flight on unequal devices.
 *
 * The predicted end of a piece of work on a resource is the later of two times, the end of what is
 * queued there and the end of the work that it depends on, and then the copies of data that it
 * needs there, its run time, and the copy of its results back to the host, as far as the program
 * usually reads them. All of that is learned:
 *
 * - Run times are kept for each kind of task (as in <dynsel/auto_tune.h>: id or function, key words
 *   and aspects) and resource, at some amounts of work (dynsel_task.amount), as the median of the
 *   newest three. Between and beyond these amounts they are interpolated, so that a new size needs
 *   no trial run.
 * - What a resource has never run is first estimated from what other kinds that take about as long
 *   needed there, compared with another resource; without any, from what the device is: GPUs are
 *   assumed to be the fastest, then other devices, OpenCL devices that are processors, and threads
 *   of the host (512 times slower than a GPU). An OpenCL device that says on how many processors it
 *   is, n, is assumed to be n times as fast as a thread, but at least twice; others 16 times. A
 *   kernel with few work-items leaves most of a GPU idle, so such OpenCL devices are assumed to be
 *   at most n / 512 + 1 times slower for n work-items, and threads at most n / 32 + 1 times.
 *   Threads are assumed to be at most n / 64 + 1 times slower than an OpenCL device that is
 *   processors. That is of what a run takes more than the shortest run on its device so far, up to
 *   8 us of which count on GPUs: small kernels take 3 to 6 us there.
 * - Work that depends on work of another resource begins later there by the time until the library
 *   sees that end: as learned, and at least 25 us. So kinds that have not run where the work before
 *   them runs are tried there, however short or large they are.
 * - A time says nothing of amounts that are more than 16 times as large, or less than a 16th of it,
 *   unless there are times on both sides.
 * - The time of copies is learned for each resource, from programs that wait for each piece, and
 *   where a backend's times contain copies (times_runs_alone in <dynsel/backend.h>); a copy is
 *   assumed to take 10 us, and 100 us for a MiB. Data that are used again are worth moving once: a
 *   choice counts the uses that are expected before the program writes the data anew. Each use
 *   counts as the run, or as what the program spends on its start where that is longer.
 * - The processors of the host are shared: OpenCL devices that are processors use as many as they
 *   have compute units, and threads and the inline host one each (dynsel_device.processors). No
 *   predicted end there is earlier than that of all that is queued on the processors and of the
 *   work itself, spread over all of them, nor, of work that waits for nothing, than that of the
 *   busiest thread, which gets less than a processor while a device on all of them works. So a
 *   thread gets work beside a busy device only where it does more with its one processor than the
 *   device would, on a host of many processors nearly twice as much. Times are learned as if
 *   nothing else had run on the processors: those of workers are without what other threads took
 *   (<dynsel/threads.h>). For devices, what else ran meanwhile is known roughly, because the
 *   program may see ends late: where the new time allows that, what was known before stays, and
 *   changes by an eighth of the difference to what is likely.
 * - A run on all processors of the host shares one of them with the program: both take longer, and
 *   devices apart from the processors get less to do meanwhile. Beside such devices it counts half
 *   as long again.
 * - Data that other work uses next on another resource wait for a hand-over there, so that short
 *   work stays where they are used. Where uses take on average less than half of a hand-over and a
 *   copy, and pieces read what others wrote, all data stay on one resource: where uses take the
 *   least time on average, starts by the program included where these are longer than the runs, and
 *   until they take less than seven eighths of that elsewhere. A resource becomes this home only by
 *   a kind whose run there is known. Worker threads of a host of more than two processors share
 *   data: all of them may use what stays on one, and uses of less than 25 us count there divided by
 *   the number of threads that have a processor beside the program. Work that takes more than twice
 *   of what uses do there on average is followed by shorter work of other kinds, which stays there:
 *   so only the hand-over back counts against other resources for it.
 * - Data that work updates in place (reads and writes) keep the resource that has them busy as
 *   often as they are updated. Where they wait for their turn there, a choice compares when each
 *   resource will be done with its queue and with all updates that are expected of the data there:
 *   so data move once to a resource that will have less to do, and not to and fro with the order of
 *   the submits.
 *
 * A resource that is much slower for a kind of task than for the other kinds it gets takes that
 * kind only while it has nothing else to do: its time is worth more to the others. How slow it is
 * follows from all that a piece takes there of the program's time, its submit and the copy of its
 * results back, too: work that a GPU does in 2 us, and the program then copies for 40 us, is not
 * faster there than in 20 us on the host.
 *
 * A start may take much longer than the work, where a driver copies, or the system gives the
 * processor of the program to the run. So the starts of one run in four are timed, with two reads
 * of the clock. Where starts, and copies of results back, take longer on average than the fastest
 * resource needs for all of the work, a resource gets it only if it is over by so much sooner
 * there: meanwhile the program gives nothing to others.
 *
 * Of a program that has one piece in flight at a time, the policy learns how late it sees the end
 * of a run. Of a thread only where that has just run something else: to wake it takes 50 us, but it
 * stays awake while it gets work. So other threads count as 40 us later than the one that had the
 * piece before: among equal threads work stays on one, also runs of less than 40 us that only the
 * others have done. Each of these is compared with that one in turn, until its runs would have
 * taken longer in all; where they would have taken 40 us less in all, it counts as awake, too.
 * What it learned of resources that are not used fades, to a half in 1,400 choices: so one that was
 * late by chance, as where the system took the program's processor, is used again, and if it is
 * late, its next run or two say so.
 *
 * Where work takes a few microseconds, costs decide that nobody predicts: what a driver takes of
 * the program's processor, how long the system lets its threads wait for one, and how much a
 * device on all processors of the host slows down the threads beside it. So the policy measures
 * how fast the program is, in windows of at least 32 pieces of work, or 8 that take 1 ms, and
 * where windows differ much, of up to 32 times as many. A window ends where the program has waited
 * for all its work and done something else for 4 us; of a program that has not paused for 4,096
 * pieces, or while not all resources get work for twice as many as in a window before, after 256
 * pieces and 2 ms, and of any after 2 s. Work counts as what was first known of its kind, in
 * proportion to its amount; what only one resource can run does not count. Windows with runs of
 * more than a second (2^30 ns) are not measured: such work is always shared.
 *
 * A resource whose known runs of all work of a window, and starts, are less than seven eighths of
 * the time that the window took gets all work of the next one (DYNSEL_REASON_FASTEST_ALONE), and
 * keeps it if that is faster by a twentieth. Where it gets nearly all work anyway, it keeps all if
 * that is not slower by a thirty-second: then data need not be weighed, nor devices be asked for
 * ends. While a resource that was faster than all together has all work, another one is tried only
 * if its known runs are less than half of the time. A window that is less than half as fast as
 * usual counts only if the next one is, too: a kernel may have been compiled in it.
 *
 * In the same way, devices on all processors of the host get no work in a window where at least
 * two others work beside the program, and need less than an eighth of its time for what such
 * devices did in the last window with all resources; and get none while that is faster by a
 * twentieth, until a resource goes out of service. Threads of such a device may wait actively after
 * its last work, so where the first window without it is not faster, a second one decides. What no
 * other resource can run, or has run yet, still runs there.
 *
 * All resources together are tried again after 8 windows, then 16, 32 and so on up to 512, and so
 * is a resource that was slower; later if the try before lost more than a 32nd of the windows in
 * between. All together are tried again at once where the resource that got all work for the first
 * time is slower than they were by an eighth. There is a free choice again for kinds that the
 * resource has never run, after the first run of a kind on another one, or the second one of a
 * thread (one choice in 16 may still be a first trial run, or one in 128 after looks that found
 * none: a look at everything takes 5 us after a driver has used the caches), for a program that has
 * one piece in flight at a time, and when a resource is added or removed.
 *
 * Work of a kind that no resource has run yet goes to the resource that is assumed to be the
 * fastest. But where that is an OpenCL device on processors of the host, it goes to a worker that
 * is done with the kernel's work-items (at most 65,536 of them) before the device has compiled it:
 * at 25 ns for each, times how many times as long the worker may take, n for a device on n
 * processors. After each 16 runs there that have told no time, that is multiplied once more. Every
 * other resource gets one trial run at a time, of the smallest amounts, and only while the
 * estimated loss fits into what the kind has earned, which is 5 percent of the time of its runs; or
 * into what these would have taken less on a resource that is guessed to be faster. Where something
 * is compiled before a first run (first_start_ns in <dynsel/backend.h>; OpenCL devices), the kind
 * must have earned or missed that, too: 2 ms, so 40 ms of its runs, or 4 ms if the resource is
 * twice as fast; and later half of that and half of what the newest first start there took, which
 * is little where the program has prepared its kernels (dynsel_kernel_prepare()), or in a learned
 * table (<dynsel/learned.h>). The first run of a thread is longer than others, because it slept: a
 * thread whose first time is longer than the best by less than 40 us, and less than four times as
 * long, gets a second trial run like a first one. A resource that has lost gets further trial runs
 * from its share of what the kind earns, which is equal for all resources: from all of it, from a
 * quarter, later from a 32nd, so that the policy notices when it becomes faster.
 *
 * The host of backend inline blocks the caller while it works. It is chosen where it is predicted
 * to finish first and where the caller loses nothing: the program has one piece of work in flight
 * at a time and waits for each, or all other resources have work for as long, or the run is shorter
 * than a submit.
 *
 * Source: the design of dynsel; no seed has this policy.
 */
#ifndef DYNSEL_EARLIEST_FINISH_H
#define DYNSEL_EARLIEST_FINISH_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>
#include <dynsel/task_kind.h>

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH /* its tables have no sizes otherwise */

DYNSEL_BEGIN_DECLS

/** The reports that a backend must provide for earliest_finish. */
#define DYNSEL_EARLIEST_FINISH_NEEDS                                                               \
    (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/** The run time of a kind of task on a resource at one amount of work; only the library looks
 * inside. Amounts and times are compact numbers: see src/policies/compact_number.h. */
typedef struct dynsel_finish_point {
    dynsel_word amount; /* and 1; 0: the point is free */
    dynsel_word time;   /* the estimate, in ns; 0: none */
    uint32_t window[3]; /* the newest times, in turn */
    uint32_t samples;   /* times so far; beyond 255 counted round */
} dynsel_finish_point;

/** What is known of a kind of task on a resource; only the library looks inside. */
typedef struct dynsel_finish_times {
    dynsel_word samples;    /* times so far, up to 255; the first may contain a compilation */
    dynsel_word runs;       /* submitted, counted round */
    dynsel_word unfinished; /* of those, timed; of a root also those of its kinds */
    dynsel_word trials;     /* in a row that brought no time */
    dynsel_word spent;      /* prices of trial runs, times the number of resources; as `earned` */
    dynsel_word error;      /* the mean error of predictions, in 256ths of a power of two */
    dynsel_word readback;   /* the time for each run to copy results back; a compact number */
    uint32_t readback_from; /* `runs` when `readback_ns` began */
    uint64_t readback_ns;   /* the sum of the times */
    dynsel_finish_point points[CONFIG_DYNSEL_EARLIEST_FINISH_POINTS];
} dynsel_finish_times;

/** What is known of a kind of task; only the library looks inside. */
typedef struct dynsel_finish_kind {
    dynsel_word tag;  /* 0: this entry is free */
    dynsel_word life; /* how many kinds had this entry; odd: being filled in */
    dynsel_task_kind kind;
    dynsel_word lock;        /* of what is not a word, and of all changes of points */
    dynsel_word used;        /* when it was used last, by the policy's count of selections */
    dynsel_word credit;      /* what trial runs may cost, in ticks; signed */
    dynsel_word smallest;    /* the smallest amount so far, as in points */
    dynsel_word earned;      /* what runs added to that, in ticks; counted round */
    dynsel_word runs;        /* submitted to any resource, counted round */
    dynsel_word root;        /* 1 + the entry of the same kind without key words; 0: this one */
    dynsel_word work;        /* the run that was known first, in units of 16 ns, and 1; 0: none */
    dynsel_word work_amount; /* its amount, as in points */
#if CONFIG_DYNSEL_LEARNED_TABLES
    dynsel_word cold[2]; /* a bit for each resource whose times are from a learned table, and where
                            nothing of the id has run: what runs first may be compiled */
#endif
    dynsel_finish_times resources[CONFIG_DYNSEL_MAX_RESOURCES];
} dynsel_finish_kind;

/** The state of one resource, in a cache line of its own where threads share it; only the library
 * looks inside. Times in ticks of 256 ns. */
typedef union dynsel_finish_resource {
    struct {
        dynsel_word free_at;     /* the predicted end of what is queued, on the clock in ticks */
        dynsel_word unfinished;  /* the predicted times of what is not reported complete */
        dynsel_word expected;    /* what further updates of data there are expected to take */
        dynsel_word latency;     /* from a submit to the end seen by a waiting program, without the
                                   run; bit 31: it has faded */
        dynsel_word submit;      /* what a submit to it takes of the caller's time */
        dynsel_word submits;     /* how many were measured for the next value of `submit` */
        dynsel_word next_submit; /* the least time of these */
        dynsel_word shortest_ns; /* the least time of any work so far */
        dynsel_word copy_rate;   /* of copies to it, in ns for a MiB */
        dynsel_word worth;       /* the best speed lately that kinds have on it, compared with their
                                    fastest resource; as slowness, and not more than 0 */
        dynsel_word usual_ns;    /* the mean run, or submit, of work whose data are used again; 0:
                                   none yet */
        dynsel_word place;       /* what it computes on: a dynsel_finish_place */
        dynsel_word short_readback; /* a short copy of results back from it, in ns; 0: not known */
        dynsel_word processors;     /* of the host, that it computes on; 0: on none */
        dynsel_word drained_at;     /* when the last of several was reported, in ticks; 0: never */
        dynsel_word start_ns;       /* the mean time that starts of work on it take; 0: not known */
    } is;
    unsigned char apart[CONFIG_DYNSEL_CONTEXT_THREADS ? 64 : 32];
} dynsel_finish_resource;

/** How fast a resource is for work of one scale: short, longer, long; only the library looks
 * inside. */
typedef struct dynsel_finish_speed {
    dynsel_word slowness; /* compared with other resources, in 256ths of a power of two */
    dynsel_word spread;   /* the mean deviation of that */
    dynsel_word measured; /* how many kinds that is from, up to 255 */
} dynsel_finish_speed;

#define DYNSEL_FINISH_SCALES 3

/** A way to share the work, among all resources, among some, or with all of it on one: how fast it
 * was; only the library looks inside. Times in units of 16 ns. */
typedef struct dynsel_finish_way {
    dynsel_word rate;  /* of work in a time, in 1024ths; 0: not measured */
    dynsel_word rest;  /* windows until it is tried again */
    dynsel_word pause; /* how many these were last time, at least */
    dynsel_word could; /* of one resource: the rate if its known runs were all that work takes; of
                          some: the greatest rate, or 0 if it is not tried */
    dynsel_word needs; /* these runs, of all work of the window; of some: what they need for the
                          work of the others */
    dynsel_word given; /* what of that work it got */
} dynsel_finish_way;

/** Work that follows each other, whose speed is measured; only the library looks inside. Times in
 * units of 16 ns. */
typedef struct dynsel_finish_window {
    dynsel_word pieces;
    dynsel_word learns;     /* 1: some are first runs or first trial runs of their kind, or long */
    dynsel_word work;       /* what they are */
    dynsel_word took;       /* up to `began` */
    dynsel_word ticks;      /* the predicted runs of its work, in ticks */
    dynsel_word backlog;    /* what was in flight when the window began; likewise */
    dynsel_word began;      /* when the first of those now in flight was submitted, on the clock */
    dynsel_word drained_at; /* when the last of several was reported */
    dynsel_word lead;       /* pieces that do not count before the next window */
    dynsel_word flow;       /* pieces since the program paused */
    dynsel_word usual;      /* pieces of the last window with all resources */
    dynsel_word width;      /* windows have 2^width times as many pieces as usual */
    dynsel_word tries;      /* first trial runs in it */
    dynsel_word doubts;     /* 1: of some of its kinds a resource has only a first time in doubt */
    dynsel_word strays;     /* pieces on resources that get none */
    dynsel_word impaired;   /* at the end of the one before: resources not simply in service */
    dynsel_word learned;    /* windows in a row in which not all resources were known */
    dynsel_word doubted;    /* 1: the window before was so slow that this one decides */
} dynsel_finish_window;

/** The policy with its table of kinds; only the library looks inside. With the tables of hosts
 * 290 KiB: it belongs in static memory rather than on a stack. */
typedef struct dynsel_earliest_finish_policy {
    dynsel_policy policy;
    dynsel_word clock;          /* counts selections of kinds that look closely */
    dynsel_word replacing;      /* lock: an entry is given to another kind */
    dynsel_word untracked;      /* work that found no entry */
    dynsel_word one_by_one;     /* how many submits in a row found no unfinished work, up to 255 */
    dynsel_word data_home;      /* where uses of data take the least time, and 1; 0: none yet */
    dynsel_word gathers;        /* 1: data that exchange results stay together there */
    dynsel_word submitted_at;   /* the last submit, in ticks */
    dynsel_word submitted_to;   /* its resource, and 1; 0: none yet */
    dynsel_word rival;          /* a worker that may be faster than the one there, and 1; 0: none */
    dynsel_word rival_saves_ns; /* what its runs would have been shorter by */
    dynsel_word faded_at;       /* when latencies faded for the last time, in ticks */
    dynsel_word processors;     /* of the host */
    dynsel_word host_share;     /* one of them, in 65536ths of all */
    dynsel_word feeds_devices;  /* 1: there are devices apart from these processors */
    dynsel_word sharers;        /* threads that have a processor beside the program; at least 1 */
    dynsel_word workers[2];     /* a bit for each thread of the host, without the program's own */
    dynsel_word on_all[2];      /* a bit for each resource on all processors of the host */
    dynsel_word blocking[2];    /* a bit for each resource: its work is complete when the submit
                                returns */
    dynsel_word way;            /* of `ways`, how work is shared now */
    dynsel_word tries_from;     /* 0: no way is tried; else the one before, and 1 */
    dynsel_word mostly;         /* the resource that gets most work anyway, and 1; 0: none */
    dynsel_word strangers;      /* not 0: some resources have not run all kinds; the larger, the
                                   more rarely one is looked for to be tried */
    dynsel_finish_window window;
    dynsel_finish_way ways[CONFIG_DYNSEL_MAX_RESOURCES + 2]; /* 0: among all; i: all work on
                                                                 resource i - 1; the last: among
                                                                 those that do not use all
                                                                 processors of the host */
    dynsel_finish_resource states[CONFIG_DYNSEL_MAX_RESOURCES];
    dynsel_word first_starts[CONFIG_DYNSEL_MAX_RESOURCES]; /* what first starts of kinds take, in
                                                              ns */
    dynsel_finish_speed speeds[CONFIG_DYNSEL_MAX_RESOURCES][DYNSEL_FINISH_SCALES];
    dynsel_finish_kind kinds[CONFIG_DYNSEL_EARLIEST_FINISH_KINDS];
} dynsel_earliest_finish_policy;

/**
 * Selects for each task the resource of the table in `options` that is predicted to finish it
 * first, as described above.
 *
 * Its own set of default resources is DYNSEL_HOST_AND_DEVICES.
 *
 * The choice reads the state of each resource and what is known of the kind of task, and the clock
 * once. Inside a submit it then adds the predicted run to the queue of the resource with one
 * compare-and-swap, and looks again where another thread was faster; it takes no lock. Where a
 * command group has buffers, the library looks under its lock of buffers where they are. Reports of
 * times take a spin lock of their kind of task for about a hundred instructions; a report that
 * finds it taken is dropped.
 *
 * Until three times of a kind are known on a resource, its runs there are timed, eight of them at a
 * time, and then about one in 16; short work on devices where timing takes long (timing_ns in
 * <dynsel/backend.h>) more rarely, so that timing takes 1 percent of its time, but at least one run
 * in 256. A task with more than CONFIG_DYNSEL_MAX_KEY_WORDS key words is
 * DYNSEL_E_INVALID. Where the table has no entry for a kind, its work goes to devices that are no
 * processors, else to OpenCL devices that are, else to threads, of equal ones to the one with the
 * shortest queue; see dynsel_earliest_finish_untracked().
 *
 * What the policy does not know, it assumes: that a resource does one piece of work after the
 * other; that a device which does not say how many processors of the host it uses, uses all of
 * them; that the host has as many processors as the largest such device has compute units, or one
 * more than there are threads; and that work on other resources does not slow down each other.
 *
 * Measuring the program's speed costs about 40 instructions for each piece and resource; where one
 * resource gets all work, the look at the others and at data is saved.
 *
 * Bounds: trial runs of a kind cost at most 5 percent of the time of its runs, 128 us, and the
 * errors of the last estimates of a run and of a compilation. Times beyond 2^46 ns (19 hours) count
 * as that; queues beyond 4 minutes count as 4 minutes.
 *
 * Errors: those of dynsel_policy_init().
 * Ownership, context and blocking: as dynsel_policy_init().
 * Cost: linear in the size of the table. A choice is linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_earliest_finish_init(dynsel_earliest_finish_policy *policy,
                                                         const dynsel_options *options)
    DYNSEL_TAGGED("dynsel_earliest_finish_init");

/**
 * How often a selection found no entry in the table for its kind of task, or for that without key
 * words.
 *
 * Returns: 0 for NULL; wraps after 2^32.
 * Context: any thread.
 * Cost: constant.
 */
uint32_t dynsel_earliest_finish_untracked(const dynsel_earliest_finish_policy *policy);

DYNSEL_END_DECLS

#endif

#endif
