/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of built kernels: one for each kernel and each device, built at the first use.
 *
 * The key is everything that drivers build the kernel from, see dynsel_opencl_identity. Each built
 * kernel has its own lock, held while it is built, and from its first argument to the enqueue.
 * Other kernels and devices do not wait for it.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_KERNEL_CACHE_H
#define DYNSEL_BACKENDS_OPENCL_KERNEL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/kernel.h>
#include <dynsel/memory.h>

#include "backends/opencl/device_table.h"
#include "port/atomic.h"
#include "port/cache_line.h"

enum {
    DYNSEL_OPENCL_REMEMBERED_BYTES = 16
}; /* of an argument; a longer one is set again for each launch */

typedef enum dynsel_opencl_stage {
    DYNSEL_OPENCL_NOT_BUILT,
    DYNSEL_OPENCL_COMPILED, /* program and kernel exist; their properties are not queried yet */
    DYNSEL_OPENCL_BUILT,
    DYNSEL_OPENCL_REFUSED /* it does not compile, and is not built again */
} dynsel_opencl_stage;

/* The latest value of an argument. */
typedef struct dynsel_opencl_set {
    size_t bytes; /* 0: unknown */
    uint8_t kind; /* a dynsel_argument_kind */
    unsigned char value[DYNSEL_OPENCL_REMEMBERED_BYTES];
} dynsel_opencl_set;

/* The latest global range and its work-groups; the same range uses the same work-groups. */
typedef struct dynsel_opencl_shape {
    cl_uint dimensions;
    size_t global[DYNSEL_MAX_DIMENSIONS];
    size_t local[DYNSEL_MAX_DIMENSIONS];
} dynsel_opencl_shape;

/* The most work-items in a work-group: in dimension 0, in dimension 1, and in all. 0: as many as
 * suit the device. */
typedef struct dynsel_opencl_caps {
    uint16_t x;
    uint16_t y;
    uint16_t all;
} dynsel_opencl_caps;

#if CONFIG_DYNSEL_OPENCL_WORK_GROUP_TRIALS
enum { DYNSEL_OPENCL_MOST_TRIED = 8 };

/* The trials of work-group sizes; see work_group_trials.h. */
typedef struct dynsel_opencl_trials {
    uint8_t stage;    /* a dynsel_opencl_trial_stage */
    uint8_t left_out; /* launches until the next trial */
    uint8_t tried;    /* the size of the latest trial */
    uint8_t round;
    uint8_t others;            /* successive launches over other ranges */
    cl_event event;            /* of the latest trial, until its time is known */
    dynsel_opencl_shape shape; /* the range of all trials; `local` is that of the latest one */
    uint32_t least_ns[DYNSEL_OPENCL_MOST_TRIED]; /* UINT32_MAX: not known */
} dynsel_opencl_trials;
#endif

/* A kernel on one device. Its own lock guards all members, which are in the order of their use by
 * launches. */
typedef struct dynsel_opencl_kernel {
    _Alignas(DYNSEL_LINE_BYTES) dynsel_word lock;
    uint8_t stage; /* a dynsel_opencl_stage */
    cl_kernel kernel;
    cl_uint argument_count;
    uint32_t releases;    /* dynsel_opencl_releases at the latest launch */
    cl_ulong local_bytes; /* local memory left for arguments; 0: unknown */
#if CONFIG_DYNSEL_OPENCL_WORK_GROUP_TRIALS
    dynsel_opencl_trials trials;
#endif
    dynsel_opencl_shape shape;
    dynsel_opencl_set set[CONFIG_DYNSEL_MAX_ARGUMENTS];
    size_t most_items;                      /* in a work-group; 0: unknown */
    size_t demanded[DYNSEL_MAX_DIMENSIONS]; /* the work-group size of the source; 0: none */
    cl_uint measured_dimensions; /* of ranges for which `fastest` was measured; 0: none */
    dynsel_opencl_caps fastest;
    cl_program program;
    dynsel_error error; /* if REFUSED; without subject and detail */
} dynsel_opencl_kernel;

/* The key of a kernel: the addresses of everything it is built from, whose contents do not change,
 * (see <dynsel/kernel.h>). The address of the dynsel_kernel is no key: it can be reused. */
typedef struct dynsel_opencl_identity {
    const char *name;
    const char *source;
    const char *options;
    const void *il;
    const dynsel_kernel_binary *binaries;
    size_t il_bytes;
    size_t binary_count;
    bool any_group_size;
} dynsel_opencl_identity;

static inline dynsel_opencl_identity dynsel_opencl_identity_of(const dynsel_kernel *kernel)
{
    return (dynsel_opencl_identity){.name = kernel->name,
                                    .source = kernel->source,
                                    .options = kernel->options,
                                    .il = kernel->il,
                                    .binaries = kernel->binaries,
                                    .il_bytes = kernel->il_bytes,
                                    .binary_count = kernel->binary_count,
                                    .any_group_size = kernel->any_group_size};
}

/* Compares the name first, because it differs most often. */
static inline bool dynsel_opencl_is_identity(const dynsel_opencl_identity *known,
                                             const dynsel_kernel *kernel)
{
    return known->name == kernel->name && known->source == kernel->source &&
           known->options == kernel->options && known->il == kernel->il &&
           known->binaries == kernel->binaries && known->il_bytes == kernel->il_bytes &&
           known->binary_count == kernel->binary_count &&
           known->any_group_size == kernel->any_group_size;
}

/*
 * Finds or adds the kernel, and locks its place for the device; dynsel_opencl_return_kernel()
 * unlocks it.
 *
 * Errors: DYNSEL_E_FULL (CONFIG_DYNSEL_OPENCL_MAX_KERNELS).
 */
dynsel_status dynsel_opencl_take_kernel(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                        dynsel_opencl_kernel **taken);

static inline void dynsel_opencl_return_kernel(dynsel_opencl_kernel *taken)
{
    dynsel_word_store_release(&taken->lock, 0);
}

/* Counts releases of device memory: a cl_mem that was set as an argument before a release may be
 * the handle of other memory now. */
extern dynsel_word dynsel_opencl_releases;

/* Under the backend's lock, while no kernel is in use: releases all kernels but those of lost
 * devices. */
void dynsel_opencl_release_kernels(void);

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork(): releases nothing. */
void dynsel_opencl_kernels_forget(void);
#endif

#endif
