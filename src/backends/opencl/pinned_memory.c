/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/pinned_memory.h"

#include "backends/opencl/device_state.h"
#include "base/fail.h"
#include "port/context.h"
#include "port/likely.h"
#include "port/spinlock.h"

/* The figures are in the header. */
enum { PIN_FIRST_BYTES = 1 << 20, PIN_SECOND_BYTES = 128 << 10 };

/* The memory object that pins a region for the context of one device. */
typedef struct region_pin {
    cl_mem memory;
    uint8_t state; /* a dynsel_pinning; PINS_NOTHING while a thread pins it */
} region_pin;

typedef struct region {
    unsigned char *first; /* NULL: free */
    size_t bytes;         /* 0: it is being removed */
    uint32_t copies;      /* copies of buffers that rely on its pins */
    uint32_t pinning;     /* threads that pin it now, or remove it */
    region_pin pins[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
} region;

/* Held for short times: never during a call of a driver. */
static dynsel_spinlock regions_lock;
static region regions[CONFIG_DYNSEL_OPENCL_PINNED_REGIONS];
static dynsel_word region_count; /* also read without the lock */

static void reset_pins(region *r)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        r->pins[i] = (region_pin){.state = DYNSEL_NOT_PINNED};
    }
}

/* NULL: the driver refuses, for whatever reason. As of any allocation, the code says nothing about
 * the device: if it is lost, the transfer shows that. */
static cl_mem pin(const dynsel_opencl_entry *entry, void *first, size_t bytes)
{
    cl_int code = CL_SUCCESS;
    const cl_mem made = clCreateBuffer(entry->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                       bytes, first, &code);
    return code == CL_SUCCESS ? made : NULL;
}

/* Under the lock. The region that contains all of the memory; NULL: none. */
static region *find_around(const unsigned char *memory, size_t bytes)
{
    const uintptr_t first = (uintptr_t)memory;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        region *const r = &regions[i];
        const uintptr_t start = (uintptr_t)r->first;
        if (r->first != NULL && first >= start && first - start <= r->bytes &&
            bytes <= r->bytes - (first - start)) {
            return r;
        }
    }
    return NULL;
}

/* Under the lock, which it releases meanwhile; the region stays, because `pinning` is not 0. */
static void pin_region(const dynsel_opencl_entry *entry, region *r, region_pin *its)
{
    its->state = DYNSEL_PINS_NOTHING;
    r->pinning++;
    dynsel_spinlock_release(&regions_lock);
    const cl_mem made = pin(entry, r->first, r->bytes);
    dynsel_spinlock_acquire(&regions_lock);
    its->memory = made;
    its->state = made != NULL ? DYNSEL_PINNED : DYNSEL_PIN_REFUSED;
    r->pinning--;
}

/* Pins the region around the memory on the device, if that was not done yet. copies: added to those
 * that rely on it, if it is pinned. DYNSEL_NOT_PINNED: there is no such region;
 * DYNSEL_PINS_NOTHING: another thread pins it just now. */
static dynsel_pinning use_region(const dynsel_opencl_entry *entry, const void *memory, size_t bytes,
                                 uint32_t copies)
{
    if (dynsel_word_load_acquire(&region_count) == 0) {
        return DYNSEL_NOT_PINNED;
    }
    dynsel_pinning pinning = DYNSEL_NOT_PINNED;
    dynsel_spinlock_acquire(&regions_lock);
    region *const r = find_around(memory, bytes);
    if (r != NULL) {
        region_pin *const its = &r->pins[entry - dynsel_opencl_known.entries];
        if (its->state == DYNSEL_NOT_PINNED) {
            pin_region(entry, r, its);
        }
        pinning = (dynsel_pinning)its->state;
        r->copies += pinning == DYNSEL_PINNED ? copies : 0;
    }
    dynsel_spinlock_release(&regions_lock);
    return pinning;
}

void dynsel_opencl_may_pin(const dynsel_opencl_entry *entry, dynsel_memory *memory)
{
    memory->pin = NULL;
    memory->transfers = 0;
    memory->pinning = entry->pins_memory && memory->host != NULL && !memory->shared
                          ? DYNSEL_NOT_PINNED
                          : DYNSEL_PINS_NOTHING;
}

static bool is_worth_it(dynsel_memory *memory)
{
    const bool again = memory->transfers != 0;
    memory->transfers = 1;
    return memory->bytes >= PIN_FIRST_BYTES || (again && memory->bytes >= PIN_SECOND_BYTES);
}

/* A copy in a region has no memory object of its own. */
static void pin_copy(const dynsel_opencl_entry *entry, dynsel_memory *memory)
{
    const dynsel_pinning around = use_region(entry, memory->host, memory->bytes, 1);
    if (around == DYNSEL_PINNED) {
        memory->pinning = DYNSEL_PINNED;
    } else if (around != DYNSEL_PINS_NOTHING && is_worth_it(memory)) {
        memory->pin = pin(entry, memory->host, memory->bytes);
        memory->pinning = memory->pin != NULL ? DYNSEL_PINNED : DYNSEL_PIN_REFUSED;
    }
}

void dynsel_opencl_pin_range(dynsel_opencl_entry *entry, const dynsel_memory *memory)
{
    if (entry->pins_memory) {
        (void)use_region(entry, memory->host, memory->bytes, 0);
    }
}

void dynsel_opencl_pin(dynsel_opencl_entry *entry, dynsel_memory *memory)
{
    if (memory->pinning == DYNSEL_NOT_PINNED) {
        pin_copy(entry, memory);
    } else if (memory->pinning == DYNSEL_PINS_NOTHING) {
        dynsel_opencl_pin_range(entry, memory);
    }
}

/* Regions do not overlap, so the one around the copy is still the one that it counts in. */
static void leave_region(const dynsel_memory *memory)
{
    dynsel_spinlock_acquire(&regions_lock);
    region *const r = find_around(memory->host, memory->bytes);
    if (r != NULL) {
        r->copies--;
    }
    dynsel_spinlock_release(&regions_lock);
}

void dynsel_opencl_unpin(const dynsel_opencl_entry *entry, dynsel_memory *memory)
{
    if (memory->pinning == DYNSEL_PINNED && memory->pin == NULL) {
        leave_region(memory);
    } else if (memory->pin != NULL && !dynsel_opencl_is_lost(entry)) {
        (void)clReleaseMemObject(memory->pin);
    }
    memory->pin = NULL;
    memory->pinning = DYNSEL_PINS_NOTHING;
}

/* Unpins a region on all devices; it keeps its place. */
static void release_pins(region *r)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        dynsel_spinlock_acquire(&regions_lock);
        const cl_mem memory = r->pins[i].memory;
        r->pins[i] = (region_pin){.state = DYNSEL_NOT_PINNED};
        dynsel_spinlock_release(&regions_lock);
        if (memory != NULL && !dynsel_opencl_is_lost(&dynsel_opencl_known.entries[i])) {
            (void)clReleaseMemObject(memory);
        }
    }
}

void dynsel_opencl_unpin_regions(void)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        release_pins(&regions[i]);
    }
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_opencl_regions_forget(void)
{
    uint32_t count = 0;
    dynsel_spinlock_release(&regions_lock);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        region *const r = &regions[i];
        const bool stays = r->first != NULL && r->bytes != 0;
        *r = stays ? (region){.first = r->first, .bytes = r->bytes} : (region){.first = NULL};
        reset_pins(r);
        count += stays ? 1 : 0;
    }
    dynsel_word_store_relaxed(&region_count, count);
}
#endif

/* Under the lock. Whether the two share a byte. */
static bool overlaps(const region *r, const unsigned char *first, size_t bytes)
{
    const uintptr_t a = (uintptr_t)r->first;
    const uintptr_t b = (uintptr_t)first;
    return r->first != NULL && (a <= b ? b - a < r->bytes : a - b < bytes);
}

/* Under the lock. */
static dynsel_status enter(unsigned char *first, size_t bytes)
{
    region *place = NULL;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        if (overlaps(&regions[i], first, bytes)) {
            return DYNSEL_E_INVALID;
        }
        place = regions[i].first == NULL ? &regions[i] : place;
    }
    if (place == NULL) {
        return DYNSEL_E_FULL;
    }
    *place = (region){.first = first, .bytes = bytes};
    reset_pins(place);
    (void)dynsel_word_add_synchronized(&region_count, 1);
    return DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_opencl_pin_memory(void *memory, size_t bytes)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (memory == NULL || bytes == 0 || bytes > UINTPTR_MAX - (uintptr_t)memory) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the memory is NULL, or no array has so many bytes");
    }
    dynsel_spinlock_acquire(&regions_lock);
    const dynsel_status status = enter(memory, bytes);
    dynsel_spinlock_release(&regions_lock);
    if (status == DYNSEL_E_INVALID) {
        return DYNSEL_FAIL(status, "the memory overlaps memory that is pinned already");
    }
    return status == DYNSEL_OK
               ? status
               : DYNSEL_FAIL_NUMBER(
                     status,
                     DYNSEL_OPTION(OPENCL_PINNED_REGIONS,
                                   "and as many regions are pinned: set it to {} or more"),
                     CONFIG_DYNSEL_OPENCL_PINNED_REGIONS + 1);
}

/* Under the lock. The region that begins there; NULL: none. */
static region *find_at(const void *first)
{
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        if (regions[i].first == first) {
            return &regions[i];
        }
    }
    return NULL;
}

DYNSEL_RARE dynsel_status dynsel_opencl_unpin_memory(void *memory)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    dynsel_spinlock_acquire(&regions_lock);
    region *const r = memory != NULL ? find_at(memory) : NULL;
    const uint32_t users = r != NULL ? r->copies + r->pinning : 0;
    if (r != NULL && users == 0) {
        r->bytes = 0; /* nothing is in it any more */
        r->pinning = 1;
    }
    dynsel_spinlock_release(&regions_lock);
    if (r == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "no pinned memory begins there");
    }
    if (users != 0) {
        return DYNSEL_FAIL_NUMBER(
            DYNSEL_E_BUSY, "{} copies of buffers rely on it: dynsel_buffer_deinit() first", users);
    }
    release_pins(r);
    dynsel_spinlock_acquire(&regions_lock);
    *r = (region){.first = NULL};
    dynsel_spinlock_release(&regions_lock);
    (void)dynsel_word_add_synchronized(&region_count, (uint32_t)-1);
    return DYNSEL_OK;
}
