/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a device's own clock times its work: a queue with profiling, and the proof that the
 * driver's profiles are true.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_PROFILING_H
#define DYNSEL_BACKENDS_OPENCL_PROFILING_H

#include "backends/opencl/device_table.h"
#include "port/atomic.h"
#include "port/likely.h"

typedef enum dynsel_opencl_source {
    DYNSEL_OPENCL_SOURCE_UNKNOWN, /* no work was timed yet, or the device did not answer in time */
    DYNSEL_OPENCL_SOURCE_CHECKED, /* a thread is finding out */
    DYNSEL_OPENCL_SOURCE_CALLBACKS,
    DYNSEL_OPENCL_SOURCE_PROFILES
} dynsel_opencl_source;

/* When a command was enqueued, began and ended, in nanoseconds of the device's clock. */
typedef struct dynsel_opencl_profile {
    cl_ulong queued_ns;
    cl_ulong start_ns;
    cl_ulong end_ns;
} dynsel_opencl_profile;

/* Reads the profile of a command that has ended. False: the driver reports none, or one that cannot
 * be true. */
bool dynsel_opencl_read_profile(cl_event event, dynsel_opencl_profile *profile);

/* Decides the source of an open device where it is unknown, which takes about 0.3 ms; 100 ms
 * where the device does not answer. Not under the lock. */
DYNSEL_RARE void dynsel_opencl_find_source(dynsel_opencl_entry *entry);

/* Whether the queue with profiling can be used now. Not under the lock. */
static inline bool dynsel_opencl_has_profiles(dynsel_opencl_entry *entry)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_acquire(&entry->timing.source) !=
                       DYNSEL_OPENCL_SOURCE_UNKNOWN)) {
        dynsel_opencl_find_source(entry);
    }
    return dynsel_word_load_acquire(&entry->timing.source) == DYNSEL_OPENCL_SOURCE_PROFILES;
}

/* Enqueues a write of 4 bytes into the queue with profiling: its end is a time on the device's
 * clock. */
dynsel_status dynsel_opencl_write_gate(dynsel_opencl_entry *entry, cl_event *done);

/* A profile of work was true, or not: after several that were not, profiles are not used any more.
 */
void dynsel_opencl_note_profile(dynsel_opencl_entry *entry, bool is_true);

#endif
