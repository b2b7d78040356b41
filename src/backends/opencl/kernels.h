/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What drivers made of kernels: for each kernel and each device one, built at the first use.
 *
 * A kernel is found by what drivers are given of it, see dynsel_opencl_identity. What was built of
 * it is used under its own lock, from the first argument to the enqueue, and while it is built, so
 * that others go on.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_KERNELS_H
#define DYNSEL_BACKENDS_OPENCL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/kernel.h>
#include <dynsel/memory.h>

#include "backends/opencl/table.h"

enum { DYNSEL_OPENCL_REMEMBERED_BYTES = 16 }; /* of an argument; longer ones are set each time */

typedef enum dynsel_opencl_stage {
    DYNSEL_OPENCL_NOT_BUILT,
    DYNSEL_OPENCL_COMPILED, /* program and kernel are there; what it needs is not known yet */
    DYNSEL_OPENCL_BUILT,
    DYNSEL_OPENCL_REFUSED /* it does not compile: it is not tried again */
} dynsel_opencl_stage;

/* An argument as it was set last. */
typedef struct dynsel_opencl_set {
    size_t bytes; /* 0: not known */
    uint8_t kind; /* a dynsel_argument_kind */
    unsigned char value[DYNSEL_OPENCL_REMEMBERED_BYTES];
} dynsel_opencl_set;

/* How it was launched last: the same range gets the same work groups. */
typedef struct dynsel_opencl_shape {
    cl_uint dimensions;
    size_t global[DYNSEL_MAX_DIMENSIONS];
    size_t local[DYNSEL_MAX_DIMENSIONS];
} dynsel_opencl_shape;

/* A kernel on one device. All of it under its lock. */
typedef struct dynsel_opencl_kernel {
    dynsel_word lock;
    uint8_t stage; /* a dynsel_opencl_stage */
    cl_program program;
    cl_kernel kernel;
    cl_uint argument_count;
    size_t most_items;                      /* in a work group; 0: the driver does not know */
    size_t demanded[DYNSEL_MAX_DIMENSIONS]; /* work groups that the source asks for; 0: none */
    cl_ulong local_bytes;                   /* of local memory, for arguments; 0: not known */
    uint32_t releases;                      /* dynsel_opencl_releases when arguments were set */
    dynsel_opencl_shape shape;
    dynsel_opencl_set set[CONFIG_DYNSEL_MAX_ARGUMENTS];
    dynsel_error error; /* of REFUSED, without subject and detail */
} dynsel_opencl_kernel;

/* Who a kernel is: all that it is built from, by address; what stands there does not change (see
 * <dynsel/kernel.h>). Its own address says nothing: another kernel may come to stand there. */
typedef struct dynsel_opencl_identity {
    const char *name;
    const char *source;
    const char *options;
    const void *il;
    const dynsel_kernel_binary *binaries;
    size_t il_bytes;
    size_t binary_count;
} dynsel_opencl_identity;

static inline dynsel_opencl_identity dynsel_opencl_identity_of(const dynsel_kernel *kernel)
{
    return (dynsel_opencl_identity){.name = kernel->name,
                                    .source = kernel->source,
                                    .options = kernel->options,
                                    .il = kernel->il,
                                    .binaries = kernel->binaries,
                                    .il_bytes = kernel->il_bytes,
                                    .binary_count = kernel->binary_count};
}

/* Names differ most. */
static inline bool dynsel_opencl_is_identity(const dynsel_opencl_identity *known,
                                             const dynsel_kernel *kernel)
{
    return known->name == kernel->name && known->source == kernel->source &&
           known->options == kernel->options && known->il == kernel->il &&
           known->binaries == kernel->binaries && known->il_bytes == kernel->il_bytes &&
           known->binary_count == kernel->binary_count;
}

/*
 * The place of a kernel on a device, locked. It is entered into the table if need be.
 *
 * Errors: DYNSEL_E_FULL (CONFIG_DYNSEL_OPENCL_MAX_KERNELS).
 */
dynsel_status dynsel_opencl_take_kernel(dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                                        dynsel_opencl_kernel **taken);
void dynsel_opencl_return_kernel(dynsel_opencl_kernel *taken);

/* How often memory was given back: arguments of kernels that were set before may be gone, and
 * something else in their place. */
extern dynsel_word dynsel_opencl_releases;

/* Under the backend's lock, when nobody uses them: gives all back but those of lost devices. */
void dynsel_opencl_release_kernels(void);

#endif
