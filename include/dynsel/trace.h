/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trace: what the library did with each piece of work, when, and why.
 *
 * Each event is a record of 32 bytes with a time. Each thread writes into a ring of its own without
 * a lock, in memory that the program gives; a full ring loses its oldest records. The names of
 * policies, resources and kinds of work stand apart, and are not lost. With
 * CONFIG_DYNSEL_TRACE_TO_HOOK each record goes to a function of the program instead, such as the
 * tracer of an RTOS.
 *
 *     static dynsel_trace_record records[4096];
 *     dynsel_trace_start(records, 4096);
 *     ...                                          // work
 *     dynsel_trace_stop();
 *     dynsel_trace_write(write_to_file, file);     // dynsel-trace reads the file
 *
 * doc/trace.md has the format of the file, and what the tool dynsel-trace shows.
 *
 * Source: the design of dynsel; no seed has this.
 */
#ifndef DYNSEL_TRACE_H
#define DYNSEL_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/config.h>
#include <dynsel/status.h>
#include <dynsel/task.h>

#if CONFIG_DYNSEL_TRACE

DYNSEL_BEGIN_DECLS

/**
 * What a record is about. `piece` numbers the piece of work, from 1 on, unless said otherwise; 64
 * bits stand in two words, the lower half first; times without "ns" are in ticks of
 * dynsel_trace_ticks().
 */
typedef enum dynsel_trace_event {
    /* Names: 16 bytes of UTF-8 in `words`, the unused ones 0; `resource` counts the parts of one
     * name, from 0 on, up to three. */
    DYNSEL_TRACE_POLICY_NAME = 1,   /**< of the policy `policy`; piece: 0 */
    DYNSEL_TRACE_RESOURCE_NAME = 2, /**< piece: the resource's index in the policy */
    DYNSEL_TRACE_BACKEND_NAME = 3,  /**< the same, of the resource's backend */
    DYNSEL_TRACE_KIND_NAME = 4,     /**< piece: the kind, as in DYNSEL_TRACE_CHOICE */
    DYNSEL_TRACE_RESOURCE = 5,      /**< piece: the index; words: 0 bits of dynsel_trace_nature, and
                                    from bit 16 on the processors of the host that it computes on,
                                    at most 65534, or 65535 for those of another host
                                    (dynsel_device.processors); 1 timing_ns of the backend; 2, 3
                                    the aspects */
    DYNSEL_TRACE_KIND = 6,   /**< first use of a kind; piece: the kind; words: 0, 1 the task's id
                                    or its function's address; 2 bits of dynsel_trace_identity; 3
                                    how many key words */
    DYNSEL_TRACE_POLICY = 7, /**< first use of the policy `policy`; piece:
                                    DYNSEL_CONFIG_HASH; resource bits: 1 it had chosen or learned
                                    before the trace; words: 0, 1 what its init function got beside
                                    the resources; 2, 3 its address */
    DYNSEL_TRACE_KEY = 8,    /**< piece: the kind; resource: which of its key words is the first
                                    one here; words: up to four of them */
    DYNSEL_TRACE_NEEDS = 9,  /**< piece: the kind; words: 0, 1 the aspects that it needs */
    DYNSEL_TRACE_COSTS = 10, /**< of a resource's backend, if any of it is not 0; piece: the
                                    index; words: 0 first_start_ns; 1 times_runs_alone */

    /** A choice. words: 0 the kind; 1 the dynsel_reason, and from bit 8 on what the policy wants to
     * hear, and how, from bit 16 on 1 if the submit follows at once; 2, 3 the amount of work */
    DYNSEL_TRACE_CHOICE = 16,
    /** What the policy saw before it chose. words: 0, 1 its clock in ns; 2 the resources that could
     * be chosen, a bit each (of the first 32); 3 how often the data are expected to be used. */
    DYNSEL_TRACE_SIGHT = 17,
    /** Of command groups that depend on others, unless the policy was settled. words: 0, 1 when
     * they can begin, in ns; 2 the resource of the work before them; 3 the work-items, at most
     * 2^32 - 1. */
    DYNSEL_TRACE_READY = 18,
    /** Bytes to copy to the resources `resource` and the next one. words: 64 bits each. */
    DYNSEL_TRACE_BYTES_IN = 19,
    /** What was predicted of `resource`, one record for each that was compared, before the choice.
     * words, in units of 16 ns, at most 2^32 - 1: 0 until it can begin; 1 copies in; 2 the run; 3
     * all that the policy compares. */
    DYNSEL_TRACE_ESTIMATE = 20,
    /** The backend has accepted the work. words: 0, 1 when the submit to the backend began. */
    DYNSEL_TRACE_START = 21,
    /** The work ran in this thread, and is over. words: 0, 1 when it began. */
    DYNSEL_TRACE_RAN = 22,
    /** The device's own times of the work. words: 0, 1 its begin in ns on the clock of
     * dynsel_now_ns(); 2 its length in units of 16 ns; 3 in ns by how much the begin may be wrong,
     * at most. */
    DYNSEL_TRACE_DEVICE = 23,
    /** The library has seen the end. words: 0, 1 what it took, in ns, as the policy learns it, or
     * 0; 2 the dynsel_status. */
    DYNSEL_TRACE_END = 24,
    /** The resource refused the work that had been chosen for it, or it was chosen for anew: the
     * piece is not run. */
    DYNSEL_TRACE_REFUSED = 25,
    /** It depends on the work of another piece. words: 0 that piece. */
    DYNSEL_TRACE_DEPENDS = 26,
    /** A transfer between the host's memory and a device, or between two devices, was enqueued, or
     * made, until now. piece: of the work that needs it, on `resource`; 0: the program does. words:
     * 0, 1 since when; 2, 3 from bit 0 on the bytes, from 40 on the buffer's number (0: a range),
     * from 56 on the number of the device's memory, in bit 63 whether it is to the host. With bit
     * 62 it is from the memory of another device, whose number less 1 begins at bit 51. */
    DYNSEL_TRACE_COPY = 27,
    /** The copy of results to the host, as the policy learns it. words: 0, 1 in ns. */
    DYNSEL_TRACE_READBACK = 28,
    /** The program waited for the piece, until now, or found it over; for a host accessor until it
     * was open. words: 0, 1 since when. */
    DYNSEL_TRACE_WAIT = 29,
    /** The state of a resource has changed, or it was added (6, removed, before) or removed (6
     * after). words: 0, 1 the dynsel_resource_state before and after; 2 the dynsel_status that
     * caused it. */
    DYNSEL_TRACE_HEALTH = 30,
    /** A kernel was built, until now. words: 0, 1 since when; 2, 3 the first 8 bytes of its name */
    DYNSEL_TRACE_BUILD = 31,
    /** dynsel_trace_mark(). words: the text, as a name. */
    DYNSEL_TRACE_MARK = 32,

    /* With the following ones dynsel-replay repeats each choice. What a policy reads while it
     * chooses or hears a report stands in front of the record of that, in the same ring. */

    /** A choice failed. words: 0 the kind; 1 the dynsel_status, and from bit 16 on 1 if a submit
     * would have followed at once; 2, 3 the amount of work. */
    DYNSEL_TRACE_NO_CHOICE = 33,
    /** The policy has heard a report. words: 0, 1 its value; 2 the dynsel_execution_info, and from
     * bit 8 on those that it had heard of the piece before. */
    DYNSEL_TRACE_REPORT = 34,
    /** The policy has read the clock. words: 0, 1 in ns. */
    DYNSEL_TRACE_CLOCK = 35,
    /** Before a choice for which not simply all resources can be used. A bit for each resource:
     * words: 0, 1 those that can be; 2, 3 those that the task has a form for. */
    DYNSEL_TRACE_CANDIDATES = 36,
    /** What the backend of `resource` predicted. words: 0, 1 in ns. */
    DYNSEL_TRACE_PREDICTED = 37,
    /** A use of a buffer by a command group or a host accessor, after the choice. words: 0 the
     * buffer; 1 bits: 1 it needs the contents, 2 it writes; 2, 3 bytes of the buffer. */
    DYNSEL_TRACE_USE = 38,
    /** The program waited for all work of the policy, or of a backend, until now; waits for single
     * pieces in the meantime are part of it. piece: 0. words: 0, 1 since when. */
    DYNSEL_TRACE_WAIT_ALL = 39,
    /** The same, for a place among the work in flight. */
    DYNSEL_TRACE_WAIT_SLOT = 40,
    /** The program ended a buffer, until now. piece: 0. words: 0, 1 since when; 2 the buffer. */
    DYNSEL_TRACE_END_BUFFER = 41,
    /** What the policy saw of the data, behind DYNSEL_TRACE_READY, if any of it is not 0; for
     * dynsel-replay. words: 0, 1 `expected_ns` of dynsel_data_outlook; 2 `updates_ahead`; 3
     * `expected_on`, at most 2^30 - 1, in bit 30 `follows`, and in bit 31 `comes_behind`. */
    DYNSEL_TRACE_EXPECTED = 42,
    /** The policy has read how many resources are not simply in service, if any, before the choice;
     * for dynsel-replay. words: 0 the number. */
    DYNSEL_TRACE_IMPAIRED = 43
} dynsel_trace_event;

/** What a resource is. */
typedef enum dynsel_trace_nature {
    DYNSEL_TRACE_IN_CALLER = 1, /**< the submitting thread runs the work */
    DYNSEL_TRACE_IN_ORDER = 2,
    DYNSEL_TRACE_IS_GPU = 4,
    DYNSEL_TRACE_IS_CPU = 8,
    DYNSEL_TRACE_IS_OTHER = 16,   /**< neither of the two */
    DYNSEL_TRACE_HAS_MEMORY = 32, /**< of its own */
    DYNSEL_TRACE_ONLY_CALLS = 64, /**< its backend does nothing but call the task function */
    DYNSEL_TRACE_PREDICTS = 128   /**< its backend predicts runs */
} dynsel_trace_nature;

/** What identifies a kind of task. */
typedef enum dynsel_trace_identity {
    DYNSEL_TRACE_HAS_ID = 1,           /**< an id; else the function's address */
    DYNSEL_TRACE_HAS_ID_OF_ADDRESS = 2 /**< which means nothing in another run */
} dynsel_trace_identity;

/** One event. */
typedef struct dynsel_trace_record {
    uint64_t ticks;    /**< when it was written, from dynsel_trace_ticks() */
    uint32_t piece;    /**< see the events */
    uint8_t event;     /**< a dynsel_trace_event */
    uint8_t resource;  /**< its index in the policy */
    uint16_t policy;   /**< its number in this trace, from 1 on; 0: of none */
    uint32_t words[4]; /**< see the events */
} dynsel_trace_record;

/**
 * The clock of the trace: a counter that is cheaper to read than dynsel_now_ns(), such as the time
 * stamp counter of a processor; the file relates it to that clock. The library contains it on
 * hosts, and elsewhere one that calls dynsel_now_ns(); a program may define its own.
 *
 * Context: any. Cost: on x86-64 and 64-bit Arm one instruction.
 */
uint64_t dynsel_trace_ticks(void);

#if CONFIG_DYNSEL_TRACE_TO_HOOK
/**
 * Receives each record. Defined by the program; the library's own version does nothing.
 *
 * record: borrowed.
 * Context: the thread in which the event takes place, with locks of the library held: it must not
 *     block, nor call the library.
 */
void dynsel_trace_hook(const dynsel_trace_record *record);
#endif

#if CONFIG_DYNSEL_TRACE_TO_RINGS
/** The fewest records that a trace can do with. */
#define DYNSEL_TRACE_LEAST_RECORDS (16 * (CONFIG_DYNSEL_TRACE_THREADS + 1))
#endif

/**
 * Begins a trace. Pieces of work are counted anew.
 *
 * records: the memory for it; the library's until the trace is written or another one begins. One
 *     eighth is for names, the rest for CONFIG_DYNSEL_TRACE_THREADS rings of equal size.
 *     With CONFIG_DYNSEL_TRACE_TO_HOOK: NULL.
 * count: of records, at least DYNSEL_TRACE_LEAST_RECORDS. With the hook: 0.
 * Errors: DYNSEL_E_INVALID (too few records, or none), DYNSEL_E_BUSY (a trace is running),
 *     DYNSEL_E_CONTEXT (called from an interrupt). Nothing was changed then.
 * May block: no.
 * Context: any thread; not beside dynsel_trace_stop() or dynsel_trace_write(). Where another
 *     thread was inside of the library when a trace before was stopped, it may still write one
 *     record into the memory of that trace, within the moment that it takes to go on. One that is
 *     interrupted for as long as the next trace and the begin of the one after that could write
 *     into the latter: while threads work, a trace or what is between two lasts some ms.
 * Cost: constant. While a trace runs, each event takes 12 to 16 ns on a host.
 */
DYNSEL_CHECKED dynsel_status dynsel_trace_start(dynsel_trace_record *records, size_t count);

/**
 * Ends the trace. Later events are not recorded.
 *
 * Errors: DYNSEL_E_INVALID (no trace is running), DYNSEL_E_CONTEXT.
 * May block: no.
 * Context, cost: as dynsel_trace_start().
 */
DYNSEL_CHECKED dynsel_status dynsel_trace_stop(void);

#if !CONFIG_DYNSEL_TRACE_TO_HOOK
/**
 * Writes the trace that was stopped last, in the format of doc/trace.md; as often as wanted.
 *
 * write: called several times, with `context`; appends `count` bytes to the file, and returns
 *     DYNSEL_OK or any failure, which ends the call.
 * Errors: DYNSEL_E_INVALID (write is NULL; no trace was stopped, or one is running),
 *     DYNSEL_E_CONTEXT, and what `write` returns.
 * May block: as `write` does.
 * Context: any thread; not beside the other two. The last record of a thread that was inside of the
 *     library when the trace was stopped may be torn.
 * Cost: linear in the records. 200 bytes of stack.
 */
DYNSEL_CHECKED dynsel_status dynsel_trace_write(
    dynsel_status (*write)(void *context, const void *bytes, size_t count), void *context);

/**
 * How many records of the trace that was stopped last were lost because a ring was full: the oldest
 * of each thread, and the newest names.
 *
 * Errors: none; 0 where no trace was stopped, or one is running.
 * May block: no. Context: as dynsel_trace_write(). Cost: constant.
 */
uint64_t dynsel_trace_lost(void);
#endif

/**
 * Names the kind of a task in the trace that is running. Kernels need no name.
 *
 * task: its id, function, forms and key words count; borrowed during the call.
 * name: UTF-8, cut after 48 bytes; borrowed during the call.
 * Errors: none; without effect for NULL, or where no trace is running.
 * Context: any thread. Cost: linear in the name.
 */
void dynsel_trace_name(const dynsel_task *task, const char *name);

/**
 * Records a mark, such as the begin of a pass: it tells parts of the program apart.
 *
 * text: UTF-8, cut after 16 bytes; borrowed during the call.
 * Errors: none; without effect for NULL, or where no trace is running.
 * Context: any thread. Cost: that of an event.
 */
void dynsel_trace_mark(const char *text);

DYNSEL_END_DECLS

#endif

#endif
