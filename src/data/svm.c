/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory: pools that drivers allocate, and blocks in them. */
#include <dynsel/svm.h>

#include <string.h>

#include <dynsel/memory.h>
#include <dynsel/policy.h>
#include <dynsel/submission.h>

#include "backends/default_memory.h"
#include "base/fail.h"
#include "data/svm.h"
#include "policy/after_fork.h"
#include "port/context.h"
#include "port/likely.h"
#include "port/lock.h"
#include "submission/request.h"

DYNSEL_TAKE_DEFAULT_MEMORY(svm);

enum {
    HOST_POOL = 0, /* pools of devices follow */
    POOLS = 1 + CONFIG_DYNSEL_MAX_DOMAINS,
    NONE = 0, /* no block: their numbers begin with 1 */
    LARGEST_TYPE = 128
};

typedef enum stage {
    FREE,
    UNMAPPED,
    MAPPED,
    CHANGING, /* a thread maps or unmaps it, without the lock */
    KEPT      /* freed, but its memory is not used again */
} stage;

/* Beside the count in `refs` of a block: a resource that was given up may use it for ever. */
#define GIVEN_UP (1u << 31)

typedef struct pool {
    dynsel_backend *backend; /* NULL: the pool does not exist, or is the host's */
    void *own;               /* the resource with which it was allocated */
    uint32_t domain;
    uint16_t first; /* the block with the lowest address */
    bool maps;      /* the host uses it only while it is mapped */
    unsigned char *memory;
    size_t bytes;
} pool;

typedef struct block {
    unsigned char *begin;
    size_t bytes;
    uint32_t refs;
    uint16_t next; /* in the order of addresses */
    uint8_t pool;
    uint8_t stage;
} block;

_Static_assert(CONFIG_DYNSEL_SVM_BLOCKS < UINT16_MAX, "blocks are counted in 16 bits");

/* Held while a driver allocates a pool. Submissions never take it. */
static dynsel_lock pools_lock = DYNSEL_LOCK_INITIALIZER;
static pool pools[POOLS];

/* Acquired after `pools_lock`, for short times. */
static dynsel_lock blocks_lock = DYNSEL_LOCK_INITIALIZER;
static block blocks[CONFIG_DYNSEL_SVM_BLOCKS];
static uint32_t block_count; /* blocks behind these are free */

#if CONFIG_DYNSEL_SVM_HOST_BYTES > 0
static _Alignas(64) unsigned char host_memory[CONFIG_DYNSEL_SVM_HOST_BYTES];
#endif

#if CONFIG_DYNSEL_CONTEXT_THREADS
/* In the child of a fork() there are no blocks; the memory is the parent's, or its drivers'. */
static void forget(void)
{
    dynsel_lock_renew(&pools_lock);
    dynsel_lock_renew(&blocks_lock);
    (void)memset(pools, 0, sizeof(pools));
    (void)memset(blocks, 0, sizeof(blocks));
    block_count = 0;
}

void (*const dynsel_fork_svm)(void) = forget;
#endif

static block *block_at(uint16_t number)
{
    return &blocks[number - 1];
}

/* Under the lock: the block that begins there or, with `anywhere`, that contains the byte. */
static block *find_block(const void *memory, bool anywhere)
{
    for (uint32_t i = 0; i < block_count; i++) {
        const uintptr_t offset = (uintptr_t)memory - (uintptr_t)blocks[i].begin;
        if (blocks[i].stage != FREE && blocks[i].stage != KEPT && offset < blocks[i].bytes &&
            (anywhere || offset == 0)) {
            return &blocks[i];
        }
    }
    return NULL;
}

uint16_t dynsel_svm_ref(const void *pointer)
{
    dynsel_lock_acquire(&blocks_lock);
    block *const found = find_block(pointer, true);
    if (found != NULL) {
        found->refs++;
    }
    dynsel_lock_release(&blocks_lock);
    return found != NULL ? (uint16_t)(found - blocks + 1) : NONE;
}

void dynsel_svm_unref(uint16_t number, bool given_up)
{
    dynsel_lock_acquire(&blocks_lock);
    block_at(number)->refs--;
    block_at(number)->refs |= given_up ? GIVEN_UP : 0u;
    dynsel_lock_release(&blocks_lock);
}

dynsel_svm_owner dynsel_svm_owner_of(uint16_t number)
{
    if (number == NONE) {
        return (dynsel_svm_owner){.to_host = true};
    }
    dynsel_lock_acquire(&blocks_lock);
    const block *const found = block_at(number);
    const pool *const from = &pools[found->pool];
    const dynsel_svm_owner owner = {.backend = from->backend,
                                    .domain = from->domain,
                                    .to_host = !from->maps || found->stage == MAPPED,
                                    .to_device = !from->maps || found->stage == UNMAPPED};
    dynsel_lock_release(&blocks_lock);
    return owner;
}

/* The place for a block between `last` (NONE: the begin of the pool) and the next block; NULL: the
 * gap is too small. */
static unsigned char *gap_behind(const pool *from, uint16_t last, size_t bytes, size_t alignment)
{
    const uint16_t next = last == NONE ? from->first : block_at(last)->next;
    unsigned char *const begin =
        last == NONE ? from->memory : block_at(last)->begin + block_at(last)->bytes;
    const unsigned char *const end =
        next == NONE ? from->memory + from->bytes : block_at(next)->begin;
    const size_t room = (size_t)(end - begin);
    const uintptr_t aligned = ((uintptr_t)begin + (alignment - 1)) & ~(uintptr_t)(alignment - 1);
    const size_t skipped = (size_t)(aligned - (uintptr_t)begin);
    return skipped <= room && bytes <= room - skipped ? begin + skipped : NULL;
}

static uint16_t find_free(void)
{
    for (uint32_t i = 0; i < block_count; i++) {
        if (blocks[i].stage == FREE) {
            return (uint16_t)(i + 1);
        }
    }
    return block_count < CONFIG_DYNSEL_SVM_BLOCKS ? (uint16_t)++block_count : NONE;
}

/* Under both locks: enters a block in the first gap that is large enough. NULL: none. */
static unsigned char *enter(pool *from, uint16_t number, size_t bytes, size_t alignment)
{
    uint16_t last = NONE;
    unsigned char *begin = gap_behind(from, last, bytes, alignment);
    for (uint16_t i = from->first; begin == NULL && i != NONE; i = block_at(i)->next) {
        last = i;
        begin = gap_behind(from, last, bytes, alignment);
    }
    if (begin != NULL) {
        *block_at(number) = (block){
            .begin = begin, .bytes = bytes, .pool = (uint8_t)(from - pools), .stage = UNMAPPED};
        uint16_t *const link = last == NONE ? &from->first : &block_at(last)->next;
        block_at(number)->next = *link;
        *link = number;
    }
    return begin;
}

static dynsel_status refuse_bytes(const pool *from, size_t bytes)
{
    static const char function[] = "dynsel_svm_alloc";
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return from == &pools[HOST_POOL]
               ? DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                                DYNSEL_OPTION(SVM_HOST_BYTES,
                                              "and no gap of {} bytes is left there: free blocks, "
                                              "or set it so much higher"),
                                bytes)
               : DYNSEL_FAIL_IN(function, DYNSEL_E_FULL,
                                DYNSEL_OPTION(SVM_POOL_BYTES,
                                              "and no gap of {} bytes is left there: free blocks, "
                                              "or set it so much higher"),
                                bytes);
}

static dynsel_status take_from(pool *from, size_t bytes, size_t alignment, void **memory)
{
    unsigned char *begin = NULL;
    dynsel_lock_acquire(&blocks_lock);
    const uint16_t number = find_free();
    if (number != NONE) {
        begin = enter(from, number, bytes, alignment);
    }
    dynsel_lock_release(&blocks_lock);
    if (number == NONE) {
        return DYNSEL_FAIL_IN(
            DYNSEL_TEXT("dynsel_svm_alloc"), DYNSEL_E_FULL,
            DYNSEL_OPTION(SVM_BLOCKS,
                          "and as many blocks exist: free some, or set it to {} or more"),
            CONFIG_DYNSEL_SVM_BLOCKS + 1);
    }
    if (begin == NULL) {
        return refuse_bytes(from, bytes);
    }
    *memory = begin;
    return DYNSEL_OK;
}

/* Under `pools_lock`: the pool of a domain, or an unused one; NULL: none. */
static pool *find_pool(const dynsel_backend *backend, uint32_t domain)
{
    pool *unused = NULL;
    for (uint32_t i = HOST_POOL + 1; i < POOLS; i++) {
        if (pools[i].backend == backend && pools[i].domain == domain) {
            return &pools[i];
        }
        if (pools[i].backend == NULL) {
            unused = &pools[i];
        }
    }
    return unused;
}

static dynsel_status make_pool(const dynsel_resource *where, uint32_t domain, pool *made)
{
    const dynsel_memory_ops *const ops = where->backend->ops->memory;
    void *memory = NULL;
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const dynsel_status status =
        ops->take_shared(where->backend, where->handle, CONFIG_DYNSEL_SVM_POOL_BYTES, &memory);
    if (status != DYNSEL_OK) {
        return dynsel_this_thread()->failure_count != failures_before
                   ? status
                   : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_svm_alloc"), status, "the backend refused",
                                    0);
    }
    dynsel_lock_acquire(&blocks_lock); /* dynsel_svm_owner_of() reads it under this lock */
    *made = (pool){.backend = where->backend,
                   .own = where->handle,
                   .domain = domain,
                   .maps = ops->sharing(where->backend, where->handle) == DYNSEL_SHARES_MAPPED,
                   .memory = memory,
                   .bytes = CONFIG_DYNSEL_SVM_POOL_BYTES};
    dynsel_lock_release(&blocks_lock);
    return DYNSEL_OK;
}

/* Under `pools_lock`: frees the pool of a device if it has no blocks. */
static void end_pool_if_empty(pool *from)
{
    if (from->first == NONE && from->backend != NULL) {
        from->backend->ops->memory->return_shared(from->backend, from->own, from->memory);
        from->backend = NULL;
    }
}

static pool *pool_of_host(void)
{
#if CONFIG_DYNSEL_SVM_HOST_BYTES > 0
    pools[HOST_POOL].memory = host_memory;
    pools[HOST_POOL].bytes = CONFIG_DYNSEL_SVM_HOST_BYTES;
#endif
    return &pools[HOST_POOL];
}

static dynsel_sharing sharing_of(const dynsel_resource *where)
{
    const dynsel_memory_ops *const ops = where->backend->ops->memory;
    if (ops == NULL) {
        return DYNSEL_SHARES_ALL;
    }
    return ops->sharing != NULL ? ops->sharing(where->backend, where->handle)
                                : DYNSEL_SHARES_NOTHING;
}

/* Whether nothing reaches the memory of a device's pool any more. */
static bool is_lost(const pool *from)
{
    const dynsel_memory_ops *const ops = from->backend->ops->memory;
    return ops->is_lost != NULL && ops->is_lost(from->backend, from->own);
}

static dynsel_status refuse_lost(const pool *from)
{
    const dynsel_resource where = {.backend = from->backend, .handle = from->own};
    (void)where; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_OUT_OF_SERVICE,
        .function = DYNSEL_TEXT("dynsel_svm_alloc"),
        .subject = DYNSEL_TEXT(dynsel_resource_name(&where)),
        .detail = DYNSEL_TEXT("the device was lost or given up, with the pool of its context")});
}

/* Under `pools_lock`: the pool of a device's domain, allocated if necessary. NULL: failed. */
static dynsel_status pool_of_device(const dynsel_resource *where, pool **from)
{
    const uint32_t domain =
        where->backend->ops->memory->domain(where->backend, where->handle).number;
    pool *const found = find_pool(where->backend, domain);
    if (found == NULL) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_svm_alloc"), DYNSEL_E_FULL,
                              DYNSEL_OPTION(MAX_DOMAINS,
                                            "and as many memory domains have a pool: free "
                                            "the blocks of one, or set it to {} or more"),
                              CONFIG_DYNSEL_MAX_DOMAINS + 1);
    }
    dynsel_status status = DYNSEL_OK;
    if (found->backend == NULL) {
        status = make_pool(where, domain, found);
    } else if (is_lost(found)) {
        status = refuse_lost(found);
    } else {
        /* it is there */
    }
    *from = status == DYNSEL_OK ? found : NULL;
    return status;
}

/* The same for any resource. */
static dynsel_status pool_of(const dynsel_resource *where, pool **from)
{
    const dynsel_memory_ops *const ops = where->backend->ops->memory;
    const dynsel_sharing sharing = sharing_of(where);
    if (sharing == DYNSEL_SHARES_ALL && (ops == NULL || ops->take_shared == NULL)) {
        *from = pool_of_host();
        return DYNSEL_OK;
    }
    if (sharing == DYNSEL_SHARES_NOTHING || ops->take_shared == NULL) {
        return dynsel_fail(&(const dynsel_error){
            .status = DYNSEL_E_UNSUPPORTED,
            .function = DYNSEL_TEXT("dynsel_svm_alloc"),
            .subject = DYNSEL_TEXT(dynsel_resource_name(where)),
            .detail = DYNSEL_TEXT("the device shares no memory with the host: use a buffer")});
    }
    return pool_of_device(where, from);
}

dynsel_status dynsel_svm_alloc(const dynsel_resource *where, size_t bytes, size_t alignment,
                               void **memory)
{
    const size_t aligned_to = alignment != 0 ? alignment : LARGEST_TYPE;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (where == NULL || where->backend == NULL || memory == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the resource, its backend or memory is NULL");
    }
    if (bytes == 0 || (aligned_to & (aligned_to - 1)) != 0) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID,
                           "a block has at least 1 byte, and its alignment is a power of two");
    }
    dynsel_lock_acquire(&pools_lock);
    pool *from = NULL;
    dynsel_status status = pool_of(where, &from);
    if (from != NULL) {
        status = take_from(from, bytes, aligned_to, memory);
        end_pool_if_empty(from);
    }
    dynsel_lock_release(&pools_lock);
    return status;
}

/* A request of a function for exclusive use of a block. */
typedef struct turn {
    const char *function;
    stage from; /* the stage that the block must have; FREE: any */
} turn;

static dynsel_status refuse_turn(const turn *wanted, bool found, bool busy, bool given_up)
{
    if (!found) {
        return DYNSEL_FAIL_IN(wanted->function, DYNSEL_E_INVALID,
                              "no block begins there: pass what dynsel_svm_alloc() gave", 0);
    }
    if (busy) {
        return DYNSEL_FAIL_IN(wanted->function, DYNSEL_E_BUSY,
                              "work that is not complete uses the block: wait for that first", 0);
    }
    if (given_up) {
        return DYNSEL_FAIL_IN(wanted->function, DYNSEL_E_GIVEN_UP,
                              "a resource that was given up may still use the block: free it", 0);
    }
    return wanted->from == MAPPED
               ? DYNSEL_FAIL_IN(wanted->function, DYNSEL_E_INVALID,
                                "the block is not mapped: call dynsel_svm_map() first", 0)
               : DYNSEL_FAIL_IN(wanted->function, DYNSEL_E_BUSY,
                                "the block is mapped: call dynsel_svm_unmap() first", 0);
}

/* Gives the caller exclusive use of a block, until end_turn(). was: out, the stage before. NULL:
 * refused (last error set). */
static block *begin_turn(const void *memory, const turn *wanted, stage *was)
{
    dynsel_lock_acquire(&blocks_lock);
    block *const found = find_block(memory, false);
    const block seen = found != NULL ? *found : (block){.stage = FREE};
    const bool busy = (seen.refs & ~GIVEN_UP) != 0 || seen.stage == CHANGING;
    const bool given_up = wanted->from != FREE && (seen.refs & GIVEN_UP) != 0;
    const bool fits = wanted->from == FREE || (seen.stage == wanted->from && !given_up);
    if (found != NULL && !busy && fits) {
        found->stage = CHANGING;
    }
    dynsel_lock_release(&blocks_lock);
    *was = (stage)seen.stage;
    if (found != NULL && !busy && fits) {
        return found;
    }
    (void)refuse_turn(wanted, found != NULL, busy, given_up);
    return NULL;
}

/* The same; if the block is in use, polls work that may have ended, and tries again. */
static block *begin_turn_after_poll(const void *memory, const turn *wanted, stage *was)
{
    block *found = begin_turn(memory, wanted, was);
    if (found == NULL && dynsel_this_thread()->last_error.status == DYNSEL_E_BUSY) {
        dynsel_progress();
        found = begin_turn(memory, wanted, was);
    }
    return found;
}

static void end_turn(block *which, stage now)
{
    dynsel_lock_acquire(&blocks_lock);
    which->stage = (uint8_t)now;
    dynsel_lock_release(&blocks_lock);
}

/* Without the lock. */
static dynsel_status unmap(const block *which)
{
    const pool *const from = &pools[which->pool];
    return from->maps
               ? from->backend->ops->memory->unmap_shared(from->backend, from->own, which->begin)
               : DYNSEL_OK;
}

static dynsel_status map(const block *which, dynsel_access_mode mode)
{
    const pool *const from = &pools[which->pool];
    return from->maps ? from->backend->ops->memory->map_shared(from->backend, from->own,
                                                               which->begin, which->bytes, mode)
                      : DYNSEL_OK;
}

/* Under `pools_lock`: frees the place of a block. */
static void leave(pool *from, block *which)
{
    dynsel_lock_acquire(&blocks_lock);
    uint16_t *link = &from->first;
    while (block_at(*link) != which) {
        link = &block_at(*link)->next;
    }
    *link = which->next;
    which->stage = FREE;
    dynsel_lock_release(&blocks_lock);
}

DYNSEL_RARE dynsel_status dynsel_svm_free(void *memory)
{
    static const turn any = {.function = DYNSEL_TEXT("dynsel_svm_free"), .from = FREE};
    stage was = FREE;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    block *const found = begin_turn_after_poll(memory, &any, &was);
    if (found == NULL) {
        return dynsel_this_thread()->last_error.status;
    }
    const bool given_up = (found->refs & GIVEN_UP) != 0; /* nobody changes it in this turn */
    if (was == MAPPED && !given_up) {
        (void)unmap(found); /* a failure has no effect on the other blocks */
    }
    dynsel_lock_acquire(&pools_lock);
    pool *const from = &pools[found->pool];
    if (given_up && (from->backend == NULL || !is_lost(from))) {
        end_turn(found, KEPT);
    } else {
        leave(from, found);
        end_pool_if_empty(from);
    }
    dynsel_lock_release(&pools_lock);
    return DYNSEL_OK;
}

dynsel_status dynsel_svm_map(void *memory, dynsel_access_mode mode)
{
    static const turn unmapped = {.function = DYNSEL_TEXT("dynsel_svm_map"), .from = UNMAPPED};
    stage was = FREE;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(DYNSEL_TEXT(__func__), "map it outside of the task function");
    }
    if (mode >= DYNSEL_ACCESS_ATOMIC) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the host reads or writes: another mode");
    }
    block *const found = begin_turn_after_poll(memory, &unmapped, &was);
    if (found == NULL) {
        return dynsel_this_thread()->last_error.status;
    }
    const dynsel_status status = map(found, mode);
    end_turn(found, status == DYNSEL_OK ? MAPPED : UNMAPPED);
    return status;
}

dynsel_status dynsel_svm_unmap(void *memory)
{
    static const turn mapped = {.function = DYNSEL_TEXT("dynsel_svm_unmap"), .from = MAPPED};
    stage was = FREE;
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(DYNSEL_TEXT(__func__),
                                     "unmap it outside of the task function");
    }
    block *const found = begin_turn_after_poll(memory, &mapped, &was);
    if (found == NULL) {
        return dynsel_this_thread()->last_error.status;
    }
    const dynsel_status status = unmap(found);
    end_turn(found, status == DYNSEL_OK ? UNMAPPED : MAPPED);
    return status;
}
