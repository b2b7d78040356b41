/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command group: its recorded requirements and command, then its dependencies. One per slot,
 * owned by the thread that claimed the slot; after publication, members under the lock of
 * src/data/buffers.h are changed only under it.
 */
#ifndef DYNSEL_GROUPS_GROUP_H
#define DYNSEL_GROUPS_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/command_group.h>
#include <dynsel/memory.h>
#include <dynsel/statistics.h>

#include "data/buffer_uses.h"
#include "port/cache_line.h"
#include "port/likely.h"
#include "submission/failed_work.h"
#include "submission/slot.h"

enum { DYNSEL_GROUP_KEY_WORDS = 8 };

enum {
    DYNSEL_NO_USE = 0xffff, /* `use` of an accessor that is not required yet */
    /* Flags in `use` of an argument: */
    DYNSEL_NOT_YET = 0x80,  /* the rest is an index in `bound` */
    DYNSEL_IS_STAGED = 0x40 /* the rest is an index in `staged` */
};

/* In `uncommon` of a group: */
enum {
    DYNSEL_GROUP_IS_EMPTY = 1, /* no work item, no element: it is ordered like others, and no
                                  resource runs it */
    DYNSEL_GROUP_FOLLOWS = 2,  /* submissions that it names; see src/groups/follow.h */
    DYNSEL_GROUP_POINTS = 4    /* as `has_pointers` */
};

/* In `block` of an argument of a range, while the group function runs: */
enum {
    DYNSEL_BEHIND_FIRST = 0xff, /* the distance to the first argument of the range */
    DYNSEL_ONLY_ON_HOST =
        0x100 /* only in the first argument: the range can only be used on the host */
};

_Static_assert(CONFIG_DYNSEL_MAX_ARGUMENTS <= DYNSEL_BEHIND_FIRST,
               "ranges may have more arguments than are counted");
_Static_assert(CONFIG_DYNSEL_MAX_REQUIREMENTS <= DYNSEL_IS_STAGED &&
                   CONFIG_DYNSEL_MAX_STAGED <= DYNSEL_IS_STAGED,
               "an argument has no room for so many uses");

/* A placeholder that the group function required or used, or a normal accessor that it created.
 * Valid while the group function runs. */
typedef struct dynsel_bound {
    const dynsel_accessor *accessor; /* its address, never dereferenced; NULL: a normal accessor */
    const char *name;
    uint32_t
        buffer;    /* the token of its own buffer, or of that with which it was required; 0: none */
    uint32_t look; /* a hash of mode, target, range and offset: copies have the same */
    uint32_t use;  /* the index in `uses`, or DYNSEL_NO_USE */
} dynsel_bound;

/* In the order of their use, by cache lines: what the end of the work needs comes first, and arrays
 * of which few entries are used come last. */
struct dynsel_handler {
    _Alignas(DYNSEL_LINE_BYTES) dynsel_uses *uses; /* of the same slot, which is the next member: */
    dynsel_slot *slot;                             /* both are written once */
    /* The first failure of a handler function; later the failure that prevents the start. */
    dynsel_error error;
    uint8_t uncommon;  /* what follows, as bits: most command groups have none of it */
    bool open;         /* the group function runs */
    bool unresolved;   /* an argument was skipped, or has an accessor that was not required */
    bool has_pointers; /* an argument is or was a pointer */
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    bool has_amount; /* the group function said how much work it is */
#endif
#if CONFIG_DYNSEL_REPEAT
    bool repeatable; /* as the group function said */
#endif
    /* A copy is from arguments[0] to arguments[1]; a fill is to arguments[0]. */
    dynsel_command command;
    dynsel_kernel_fn host_task;
    dynsel_group_fn function;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects;
#endif
    uint32_t id;
    uint32_t key_word_count;
    uint32_t bound_count;
    uint32_t argument_count;
    uint32_t value_bytes;      /* the bytes of `values` in use */
    uint16_t host_range_count; /* ranges with a function for the host only */
    const char *only_on_host;  /* a function of a range without a form for devices; NULL: none */
#if CONFIG_DYNSEL_TIME_LIMITS
    uint64_t limit_ns; /* as of dynsel_task */
#endif
    uint64_t end_ns;       /* as the policy predicted it; 0: it did not */
    uint64_t expected_ns;  /* likewise */
    uint64_t direct_bytes; /* of ranges that devices access directly; set at the end */

    /* Under the lock. */
    bool held;                 /* an open host accessor */
    bool untold;               /* failed on the host; the end is not reported yet */
    bool ran;                  /* failed after the command had begun */
    bool unrun;                /* failed before the command began: on the host, or repeatable */
    bool refused;              /* the resource refused the last start */
    bool for_start;            /* waits for the start of `waits_for`, not for its end */
    uint32_t waits_for;        /* token + 1 of the dependency that it waits for; 0: none */
    uint32_t looked_since;     /* token + 1 of a started obstacle, since whose start the group was
                                  looked at; 0: none */
    uint32_t replaced;         /* token + 1 of the previous writer of a buffer that it writes */
    uint32_t dependency_count; /* unfinished at the last look */
    uint32_t task_count;       /* so many of them, the first, are tasks */
    dynsel_word line;          /* the list of groups in line behind this one, which tries their
                                  resource; see src/groups/watch.h */
    uint16_t next;             /* in the list of watchers: slot numbers; DYNSEL_NO_SLOT: none */
    uint16_t previous;
    dynsel_word *watches;     /* the list of watchers that contains the group; or NULL */
    dynsel_range_bytes bytes; /* of its ranges, so far */
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    uint64_t amount; /* as of dynsel_task, if `has_amount`; here it fills a gap */
#endif

    _Alignas(DYNSEL_LINE_BYTES) dynsel_bound bound[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    _Alignas(DYNSEL_LINE_BYTES) dynsel_argument arguments[CONFIG_DYNSEL_MAX_ARGUMENTS];
    _Alignas(16) unsigned char values[CONFIG_DYNSEL_ARGUMENT_BYTES];
    uint32_t dependencies[CONFIG_DYNSEL_MAX_DEPENDENCIES]; /* tokens */
    dynsel_followed followed;                              /* with DYNSEL_GROUP_FOLLOWS only */
    uint32_t key_words[DYNSEL_GROUP_KEY_WORDS];
};

extern dynsel_handler dynsel_groups[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* The count of command groups that were entered into the order. Wraps, skipping 0; tests set it to
 * reach that. */
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

static inline bool dynsel_group_is_empty(const dynsel_handler *group)
{
    return !DYNSEL_LIKELY((group->uncommon & DYNSEL_GROUP_IS_EMPTY) == 0);
}

static inline bool dynsel_group_follows(const dynsel_handler *group)
{
    return !DYNSEL_LIKELY((group->uncommon & DYNSEL_GROUP_FOLLOWS) == 0);
}

/* The slot of a group that is in use. */
static inline dynsel_slot *dynsel_slot_of(const dynsel_handler *group)
{
    return group->slot;
}

/* The id of the kernel, if it has one of its own. */
static inline uint32_t dynsel_group_kernel_id(const dynsel_handler *group)
{
    return group->command.kind == DYNSEL_COMMAND_KERNEL ? group->command.kernel->id : 0;
}

/* Whether dynsel_group_id() is the same in another run of the program. */
static inline bool dynsel_group_id_is_stable(const dynsel_handler *group)
{
    return group->id != 0 || dynsel_group_kernel_id(group) != 0;
}

/* Identifies this kind of command group. Never 0. */
static inline uint32_t dynsel_group_id(const dynsel_handler *group)
{
    if (group->id != 0) {
        return group->id;
    }
    uint32_t id = dynsel_group_kernel_id(group) * 0x85ebca6bu;
    if (id == 0) {
        const uintptr_t kernel =
            group->command.kind == DYNSEL_COMMAND_KERNEL ? (uintptr_t)group->command.kernel : 0;
        id = ((uint32_t)((uintptr_t)group->function >> 1) * 0x9e3779b1u) ^
             ((uint32_t)(kernel >> 2) * 0x85ebca6bu);
    }
    return id != 0 ? id : 1;
}

#endif
