/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_work.h"

#include <stdlib.h>

#include "memory.h"
#include "random.h"

enum {
    TINY_SIZE = 12, /* as a power of two */
    LOOKED_AT = 4,  /* elements of each result */
    WRONG = -1      /* what these are set to */
};

static void add_kinds(stream_work *work, const stream_options *options)
{
    const bool is_tiny = options->is_tiny != 0;
    const uint32_t counts = is_tiny ? STREAM_MOST_OPERATIONS - 1 : STREAM_MOST_OPERATIONS;
    const uint64_t most = is_tiny ? UINT64_MAX : UINT64_C(1) << options->most_work;
    for (uint32_t size = 0; size < work->size_count; size++) {
        const uint32_t elements = work->sizes[size];
        for (uint32_t i = 0; i < counts; i++) {
            const uint32_t operations = 1u << (4 * i);
            for (uint32_t kernel = 0;
                 kernel < MIX_KERNELS && (uint64_t)elements * operations <= most; kernel++) {
                work->kinds[work->kind_count++] =
                    mix_kind_of(kernel, size, elements, operations, work->input);
            }
        }
    }
}

void stream_work_open(stream_work *work, const stream_options *options, uint64_t seed)
{
    const bool is_tiny = options->is_tiny != 0;
    const uint64_t least = is_tiny ? 0 : STREAM_LEAST_SIZE;
    const uint64_t most = is_tiny ? TINY_SIZE : options->most_size;
    *work = (stream_work){.size_count = 0};
    for (uint64_t bits = least; bits <= most && work->size_count < STREAM_MOST_SIZES;
         bits += STREAM_SIZE_STEP) {
        work->sizes[work->size_count++] = 1u << bits;
    }
    const uint32_t largest = work->sizes[work->size_count - 1];
    work->input = memory_allocate(largest * sizeof *work->input);
    for (uint32_t i = 0; i < largest; i++) {
        work->input[i] = (uint32_t)random_next(&seed);
    }
    add_kinds(work, options);
    work->order = memory_allocate(options->pieces * sizeof *work->order);
    for (uint32_t i = 0; i < options->pieces; i++) {
        work->order[i] = i % work->kind_count;
    }
    random_shuffle(work->order, options->pieces, &seed);
}

size_t stream_work_look(const mix_kind *kind, uint64_t piece, bool at_all, void *results)
{
    uint64_t seed = piece;
    const size_t looks = at_all ? kind->elements : LOOKED_AT;
    const size_t first = at_all ? 0 : (size_t)(random_next(&seed) % kind->elements);
    const size_t step = at_all ? 1 : kind->elements / LOOKED_AT;
    for (size_t k = 0; k < looks && (k == 0 || step > 0); k++) {
        const size_t i = (first + k * step) % kind->elements;
        if (!mix_is_right(kind, results, i)) {
            return i;
        }
        ((int32_t *)results)[i] = WRONG;
    }
    return kind->elements;
}

void stream_work_close(stream_work *work)
{
    for (size_t i = 0; i < work->kind_count; i++) {
        free(work->kinds[i].expected);
    }
    free(work->input);
    free(work->order);
}
