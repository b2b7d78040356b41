/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/rank_memory.h"

#include <dynsel/config.h>

#include "backends/mpi/ranks.h"

enum {
    COPIES = CONFIG_DYNSEL_MPI_COPIES,
    ALIGNMENT = 256, /* drivers use aligned memory of the host in place */
    PAGE = 4096      /* those of large copies want whole pages */
};

/* Of one rank: lists by place + 1, 0 is the end. */
static struct division {
    dynsel_mpi_copy copies[COPIES];
    uint32_t lowest; /* in the order of their offsets */
    uint32_t free;   /* entries that were used before */
    uint32_t used;   /* entries that were ever used */
} divisions[CONFIG_DYNSEL_MPI_RANKS];

void dynsel_mpi_memory_begin(void)
{
    for (uint32_t rank = 0; rank < CONFIG_DYNSEL_MPI_RANKS; rank++) {
        struct division *const its = &divisions[rank];
        for (uint32_t entry = its->lowest; entry != 0; entry = its->copies[entry - 1].next) {
            its->copies[entry - 1].is_past = true;
            its->copies[entry - 1].named = false;
        }
        its->lowest = 0;
    }
}

uint32_t dynsel_mpi_buffers_on(uint32_t rank)
{
    const struct division *const its = &divisions[rank];
    uint32_t count = 0;
    for (uint32_t entry = its->lowest; entry != 0; entry = its->copies[entry - 1].next) {
        count += its->copies[entry - 1].is_buffers ? 1 : 0;
    }
    return count;
}

uint32_t dynsel_mpi_copy_number(uint32_t rank, const dynsel_mpi_copy *copy)
{
    return (uint32_t)(copy - divisions[rank].copies);
}

static uint32_t take_entry(struct division *its)
{
    if (its->free != 0) {
        const uint32_t entry = its->free;
        its->free = its->copies[entry - 1].next;
        return entry;
    }
    return its->used < COPIES ? ++its->used : 0;
}

static uint64_t rounded(uint64_t bytes)
{
    const uint64_t alignment = bytes < PAGE ? ALIGNMENT : PAGE;
    return (bytes + alignment - 1) / alignment * alignment;
}

static uint64_t aligned(uint64_t offset, uint64_t bytes)
{
    const uint64_t alignment = bytes < PAGE ? ALIGNMENT : PAGE;
    return (offset + alignment - 1) / alignment * alignment;
}

dynsel_mpi_copy *dynsel_mpi_copy_take(uint32_t rank, size_t bytes, bool is_buffers)
{
    struct division *const its = &divisions[rank];
    const uint64_t wanted = rounded(bytes);
    uint64_t offset = 0;
    uint32_t *link = &its->lowest;
    while (*link != 0 && its->copies[*link - 1].offset < aligned(offset, wanted) + wanted) {
        const dynsel_mpi_copy *const in_the_way = &its->copies[*link - 1];
        offset = in_the_way->offset + in_the_way->bytes;
        link = &its->copies[*link - 1].next;
    }
    offset = aligned(offset, wanted);
    const uint64_t all = dynsel_mpi_ranks[rank].memory_bytes;
    if (wanted > all || offset > all - wanted) {
        return NULL;
    }
    const uint32_t behind = *link;
    const uint32_t entry = take_entry(its);
    if (entry == 0) {
        return NULL;
    }
    its->copies[entry - 1] = (dynsel_mpi_copy){
        .offset = offset, .bytes = wanted, .next = behind, .is_buffers = is_buffers};
    *link = entry;
    return &its->copies[entry - 1];
}

void dynsel_mpi_copy_give_back(uint32_t rank, dynsel_mpi_copy *copy)
{
    struct division *const its = &divisions[rank];
    const uint32_t entry = dynsel_mpi_copy_number(rank, copy) + 1;
    if (!copy->is_past) {
        uint32_t *link = &its->lowest;
        while (*link != entry) {
            link = &its->copies[*link - 1].next;
        }
        *link = copy->next;
    }
    copy->next = its->free;
    its->free = entry;
}
