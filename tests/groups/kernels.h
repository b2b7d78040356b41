/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the random programs, each as C and as OpenCL C. They take elements of 1 to 8
 * bytes, compute in 64 bits, and depend on the element's number and on what was there before, so
 * that work in a wrong order shows.
 */
#ifndef DYNSEL_TESTS_MEMORY_KERNELS_H
#define DYNSEL_TESTS_MEMORY_KERNELS_H

#include <dynsel/kernel.h>
#include <dynsel/status.h>

/* What a kernel gets as its last argument. */
enum {
    JOB_WIDTHS,     /* bytes of an element, by the number of the use: three words */
    JOB_COUNTS = 3, /* elements of the buffer, likewise */
    JOB_ROWS = 6, /* of the first buffer: elements from one number of the first dimension to the */
    JOB_COLUMNS,  /* next are the product of these two */
    JOB_SALT,
    JOB_CODE,        /* of a failure */
    JOB_RANGE,       /* for host tasks, which have none: three words, 0 where there is none */
    JOB_OFFSET = 13, /* likewise */
    JOB_WORDS = 16
};

typedef struct job_words {
    uint32_t words[JOB_WORDS];
} job_words;

typedef enum kernel_number {
    CHURN,            /* x = x * 3 + number + salt */
    REFILL,           /* writes x first, then reads it */
    COMBINE,          /* x = a * 5 + b + number * salt; a may be x's own buffer */
    COMBINE_CONSTANT, /* the same with b in constant memory */
    STENCIL,          /* of three neighbours in a */
    DIGEST,           /* one work item: all of a makes one element */
    COUNT,            /* adds to elements of 4 bytes with atomic instructions */
    MIRROR,           /* turns around each work group's elements, through local memory */
    ONLY_C,           /* CHURN without a form for devices of OpenCL */
    ONLY_DEVICES,     /* CHURN without a form for the host, where devices do not run C */
    BROKEN,           /* spoils x, and fails; only C */
    REFUSED,          /* CHURN that no device starts */
    KERNELS
} kernel_number;

/* What those two end with. */
static inline dynsel_status kernel_failure(kernel_number kernel)
{
    return (dynsel_status)((int)DYNSEL_E_USER - (kernel == REFUSED ? 2 : 1));
}

enum { MIRROR_GROUP = 4 };

/* By kernel_number. */
extern const dynsel_kernel program_kernels[KERNELS];

/* What each does, for the interpreter; also where the kernel has no form for the host. */
extern const dynsel_kernel_fn program_functions[KERNELS];

#endif
