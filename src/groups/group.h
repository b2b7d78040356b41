/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command group: its recorded requirements and command, then its dependencies. One per slot,
 * owned by the thread that claimed the slot; after publication the parts marked below are changed
 * only under the lock of src/data/buffers.h.
 */
#ifndef DYNSEL_GROUPS_GROUP_H
#define DYNSEL_GROUPS_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/command_group.h>
#include <dynsel/memory.h>
#include <dynsel/statistics.h>

#include "data/buffer_uses.h"
#include "submission/slot.h"

enum { DYNSEL_GROUP_KEY_WORDS = 8 };

enum {
    DYNSEL_NO_USE = 0xffff, /* of an accessor that was used and is not yet required */
    DYNSEL_NOT_YET = 0x80,  /* beside its place in `bound`, where an argument names the use */
    DYNSEL_IS_STAGED = 0x40 /* beside its place in `staged`, where an argument has no use */
};

/* While the group function runs, in `block` of an argument of a range: */
enum {
    DYNSEL_BEHIND_FIRST = 0xff, /* how many arguments in front of it the range begins */
    DYNSEL_ONLY_ON_HOST = 0x100 /* in the first: it keeps the work on the host */
};

_Static_assert(CONFIG_DYNSEL_MAX_ARGUMENTS <= DYNSEL_BEHIND_FIRST,
               "ranges may have more arguments than are counted");
_Static_assert(CONFIG_DYNSEL_MAX_REQUIREMENTS <= DYNSEL_IS_STAGED &&
                   CONFIG_DYNSEL_MAX_STAGED <= DYNSEL_IS_STAGED,
               "an argument has no room for so many uses");

/* A placeholder that the group function required or used, or a normal accessor that it got. Only
 * while the group function runs. */
typedef struct dynsel_bound {
    const dynsel_accessor *accessor; /* its address, never dereferenced; NULL: a normal accessor */
    const char *name;
    uint32_t buffer; /* the token of its buffer, its own or the one it was required with; 0: none */
    uint32_t look;   /* a number made of mode, target, range and offset: tells others from copies */
    uint32_t use;    /* in `uses`, or DYNSEL_NO_USE */
} dynsel_bound;

struct dynsel_handler {
    dynsel_uses *uses; /* of the same slot; written once */
    /* The first failure of a handler function; then, of work that ends without a start, why. */
    dynsel_error error;
    dynsel_group_fn function;
    dynsel_kernel_fn host_task;
    /* The ends of a copy are arguments[0] (from) and [1] (to), that of a fill is arguments[0]. */
    dynsel_command command;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects;
#endif
    uint32_t id;
    uint32_t key_words[DYNSEL_GROUP_KEY_WORDS];
    uint32_t key_word_count;
    uint32_t bound_count;
    uint32_t argument_count;
    uint32_t value_bytes; /* taken of `values` */
    const char
        *only_on_host;     /* a function of a range that has no other form; NULL: there is none */
    uint64_t direct_bytes; /* that ranges have devices reach as they are; added up at the end */
    uint16_t host_range_count; /* ranges with such a function */
    bool open;                 /* the group function runs */
    bool unresolved;   /* an argument was left out, or an accessor used that was not required */
    bool has_pointers; /* an argument is one, or was */

    /* Under the lock. */
    bool held;                 /* a host accessor that is open */
    bool untold;               /* it has failed on the host, and its end is not reported yet */
    bool ran;                  /* it has failed after its command had begun, */
    bool unrun;                /* or on the host before that */
    bool refused;              /* its resource refused its last start */
    bool for_start;            /* it waits for the start of `waits_for`, not for its end */
    dynsel_word *watches;      /* src/groups/watch.h: the list of watchers that it is in; or NULL */
    uint32_t waits_for;        /* token + 1 of the dependency that it waits for; 0: none */
    uint32_t looked_since;     /* token + 1 of an obstacle after whose start it was looked at */
    uint32_t replaced;         /* of a host accessor that writes: the writer before it */
    uint32_t dependency_count; /* not over at the last look */
    dynsel_word line;          /* groups that wait until it is not tried any more;
                                  src/groups/watch.h */
    uint16_t next;             /* in that list: slot numbers, DYNSEL_NO_SLOT at the ends */
    uint16_t previous;
    dynsel_range_bytes bytes; /* of its ranges, so far */

    uint32_t dependencies[CONFIG_DYNSEL_MAX_DEPENDENCIES]; /* tokens */
    dynsel_bound bound[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_argument arguments[CONFIG_DYNSEL_MAX_ARGUMENTS];
    _Alignas(16) unsigned char values[CONFIG_DYNSEL_ARGUMENT_BYTES];
};

extern dynsel_handler dynsel_groups[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* The count of entered command groups; wraps, skipping 0. Tests set it, because they cannot enter
 * that many. */
extern uint32_t dynsel_order_entries;

static inline dynsel_handler *dynsel_group_of(const dynsel_slot *slot)
{
    return &dynsel_groups[dynsel_slot_number(slot) - 1];
}

/* Likewise dynsel_uses_in(). */
static inline dynsel_handler *dynsel_group_in(uint32_t token)
{
    return &dynsel_groups[dynsel_slot_number_in(token) - 1];
}

/* Of a group that is in use. */
static inline dynsel_slot *dynsel_slot_of(const dynsel_handler *group)
{
    return dynsel_uses_slot(group->uses);
}

/* Identifies this kind of command group. Never 0. */
static inline uint32_t dynsel_group_id(const dynsel_handler *group)
{
    if (group->id != 0) {
        return group->id;
    }
    uint32_t kernel_id = 0;
    if (group->command.kind == DYNSEL_COMMAND_KERNEL) {
        const dynsel_kernel *kernel = group->command.kernel;
        kernel_id = kernel->id != 0 ? kernel->id : (uint32_t)((uintptr_t)kernel >> 2);
    }
    const uint32_t id =
        ((uint32_t)((uintptr_t)group->function >> 1) * 0x9e3779b1u) ^ (kernel_id * 0x85ebca6bu);
    return id != 0 ? id : 1;
}

#endif
