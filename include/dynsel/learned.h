/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What earliest_finish learned, kept for the next run of the program: in a file, flash, EEPROM, or
 * a table in ROM that every device of a product starts with.
 *
 * A table holds the devices of a policy with the speed of each, and the kinds of task with their
 * times on each device. Kinds count whose dynsel_task.id the program gave itself; an id that the
 * library made of addresses, and a kind known by its function, mean nothing in another run and are
 * left out. Ids must mean the same in all programs that share a table.
 *
 * A table belongs to a machine: the host is known by the names of its backend and of its resource
 * alone. doc/learned-tables.md has the format and stores for files, flash and ROM; the tool
 * dynsel-learned shows, compares and merges tables.
 *
 * Source: the design of dynsel; no seed has this.
 */
#ifndef DYNSEL_LEARNED_H
#define DYNSEL_LEARNED_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/earliest_finish.h>

#if CONFIG_DYNSEL_LEARNED_TABLES

DYNSEL_BEGIN_DECLS

/** The largest `align` of a store, in bytes. */
#define DYNSEL_LEARNED_MOST_ALIGN 256

/** No table of this configuration is larger, in bytes: for the size of an area. */
#define DYNSEL_LEARNED_MOST_BYTES                                                                  \
    (2 * (size_t)DYNSEL_LEARNED_MOST_ALIGN + CONFIG_DYNSEL_MAX_RESOURCES * (size_t)240 +           \
     64 * (size_t)32 +                                                                             \
     CONFIG_DYNSEL_EARLIEST_FINISH_KINDS *                                                         \
         (20 + CONFIG_DYNSEL_MAX_KEY_WORDS * (size_t)4 +                                           \
          CONFIG_DYNSEL_MAX_RESOURCES * (12 + CONFIG_DYNSEL_EARLIEST_FINISH_POINTS * (size_t)9)))

/**
 * Where tables are kept: one or two areas of equal size, one behind the other. The program fills it
 * in; the library keeps no reference. The operations return DYNSEL_OK or any failure, and may
 * block; they may submit work, but not save or load.
 */
typedef struct dynsel_learned_store {
    void *context; /**< for the operations */

    /** Copies `count` bytes at `offset` to `bytes`. What was never written may read as anything. */
    dynsel_status (*read)(void *context, size_t offset, void *bytes, size_t count);

    /** Writes `count` bytes at `offset`; both are multiples of `align`. Each place is written once
     * after an erase; without `erase` the begin of the area is written twice, first and last.
     * NULL: the store is only for loading. */
    dynsel_status (*write)(void *context, size_t offset, const void *bytes, size_t count);

    /** Erases an area before it is written: `count` is `area_bytes`. NULL: not necessary. */
    dynsel_status (*erase)(void *context, size_t offset, size_t count);

    /** Returns when all writes so far are durable, such as fsync(). NULL: each is when it returns,
     * or they become durable in their order. */
    dynsel_status (*sync)(void *context);

    size_t area_bytes; /**< the size of an area; a multiple of `align` */
    uint32_t areas;    /**< 1 or 2; see dynsel_earliest_finish_save() */
    size_t align;      /**< in bytes, a power of two up to DYNSEL_LEARNED_MOST_ALIGN */
} dynsel_learned_store;

/** What a save or load did. */
typedef struct dynsel_learned_report {
    uint32_t generation; /**< of the table: each save counts on from the newest one; wraps */
    uint32_t bytes;      /**< of the table */
    uint32_t devices;    /**< of the table; for a load those that are resources of the policy */
    uint32_t remeasured; /**< load: those of them that have another driver now; save: 0 */
    uint32_t kinds;      /**< that were saved or loaded */
    uint32_t left_out;   /**< kinds that were not, because there was no room, or because their key
                              words or aspects are unknown to this configuration */
} dynsel_learned_report;

/**
 * Writes what the policy knows into the store.
 *
 * With two areas it writes the one that holds no valid table, else the older one, and last of all
 * the 40 bytes that make it valid. Power may fail at any byte: then the next load finds the table
 * of before or this one. With one area the only table is destroyed before the new one is written,
 * so that a power failure may leave none; then all is learned anew. A file that is replaced by
 * rename() needs one area.
 *
 * Kinds are written in the order of their last use, latest first, as far as they fit.
 *
 * policy: initialized. It may be in use: a kind of which times are reported while it is being
 *     written does not learn from them.
 * store:  borrowed during the call. Not used by another call at the same time.
 * report: out; NULL: not wanted. Unchanged on failure.
 * Errors: DYNSEL_E_INVALID (a NULL argument or a policy that is none; a store without `read` or
 *     `write`, with areas, area_bytes or align out of the ranges above), DYNSEL_E_UNINITIALIZED,
 *     DYNSEL_E_CONTEXT, DYNSEL_E_FULL (an area has no room for the devices alone: nothing was
 *     written), and what the store's `write`, `erase` and `sync` return. After these the area that
 *     was being written is not valid, the other one is as before.
 * May block: as the store does, and for moments while a thread that reports a time of a kind is
 *     interrupted. Not from interrupts.
 * Context: any thread; task functions. About 2 KiB of stack with 64 resources.
 * Cost: reads each area once and writes the table; beside that quadratic in
 *     CONFIG_DYNSEL_EARLIEST_FINISH_KINDS with a small factor.
 */
DYNSEL_CHECKED dynsel_status dynsel_earliest_finish_save(dynsel_earliest_finish_policy *policy,
                                                         const dynsel_learned_store *store,
                                                         dynsel_learned_report *report);

/**
 * Lets the policy know what the newest valid table of the store says: best called directly after
 * dynsel_earliest_finish_init().
 *
 * Devices are recognized by backend, vendor and name, of several equal ones the first by the first;
 * the order of resources does not matter. Devices that only one side has are ignored. Where also
 * platform and driver are the same, times count as if they had been measured here, and need no
 * trial run; but a device that compiles before a first run (first_start_ns in <dynsel/backend.h>;
 * OpenCL devices) gets its first run of an id as if the time were not known, when the runs have
 * paid for that. The device on which the kind is fastest begins at once where no other resource
 * that need not compile is done before it has compiled; and where it is not on processors of the
 * host, and faster than those by more than an eighth. The table has what first starts on a device
 * took. That counts half, and what is assumed at first (first_start_ns) the other half, because
 * drivers keep what they have compiled. Times from another driver are estimates for the first trial
 * run: the first measured time of a kind on such a device replaces all of them.
 *
 * What the policy has already measured itself stays: times of a kind on a resource, all that is
 * known of resources once a submit took place. Kinds enter as long as the policy has free places,
 * in the order of the table.
 *
 * The whole table is verified before anything changes: its checksums, each count and each bound.
 * Then it is read again; whatever the store returns then, bounds are checked again and times are
 * limited to what the policy accepts.
 *
 * policy, store, report: as for dynsel_earliest_finish_save(); `write`, `erase` and `sync` are not
 *     used.
 * Errors: DYNSEL_E_INVALID (as for a save; or no area holds a valid table: there is none, or it is
 *     damaged or cut short, which the text tells), DYNSEL_E_UNSUPPORTED (the only tables are of
 *     another version of the format), DYNSEL_E_UNINITIALIZED, DYNSEL_E_CONTEXT, and what the
 *     store's `read` returns, if no other area is valid. Nothing was changed, but if the store
 *     fails or changes while it is read again: then a part of the table was entered.
 * May block: as for a save.
 * Context: as for a save.
 * Cost: reads each area once, the devices of the table twice and the table once; describes each
 *     resource once for each device of the table and reading.
 */
DYNSEL_CHECKED dynsel_status dynsel_earliest_finish_load(dynsel_earliest_finish_policy *policy,
                                                         const dynsel_learned_store *store,
                                                         dynsel_learned_report *report);

/**
 * dynsel_earliest_finish_load() from memory: for a table that is linked into the program
 * (`dynsel-learned emit`), or in flash that is mapped into memory.
 *
 * table: `bytes` bytes, borrowed during the call; bytes behind the table are ignored.
 * Errors, context, cost: as dynsel_earliest_finish_load().
 * May block: only while a thread that reports a time of a kind is interrupted.
 */
DYNSEL_CHECKED dynsel_status dynsel_earliest_finish_load_rom(dynsel_earliest_finish_policy *policy,
                                                             const void *table, size_t bytes,
                                                             dynsel_learned_report *report);

DYNSEL_END_DECLS

#endif

#endif
