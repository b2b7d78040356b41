/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command group: what its group function registered, and then what it waits for. There is one for
 * each slot; it belongs to who claimed the slot, and from its publication on what is marked below
 * is changed only under the lock of src/data/buffers.h.
 */
#ifndef DYNSEL_GROUPS_GROUP_H
#define DYNSEL_GROUPS_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/command_group.h>
#include <dynsel/memory.h>
#include <dynsel/statistics.h>

#include "data/buffers.h"
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
    const dynsel_accessor *accessor; /* its address, never looked behind; NULL: a normal one */
    const char *name;
    uint32_t buffer; /* the token of its buffer, its own or the one it was required with; 0: none */
    uint32_t look;   /* a number made of mode, target, range and offset: tells others from copies */
    uint32_t use;    /* in `uses`, or DYNSEL_NO_USE */
} dynsel_bound;

/* One buffer, as all accessors of the command group together use it. */
typedef struct dynsel_use {
    struct dynsel_buffer_record *record;
    /* Of its handle: until the order is entered another thread may end the buffer. */
    uint32_t token;
    /* Under the lock: the number of entry of the last work that writes it before this; 0: none. */
    uint32_t source;
    /* Under the lock: token + 1 of work ahead on the same resource that brings what it reads, where
     * nothing but the order there makes it come after that; 0: none. */
    uint32_t relies_on;
    const char *name; /* of the first accessor */
    bool reads;       /* the old contents are needed */
    bool writes;
    /* What was decided for the start, under the lock; then it is who starts it that reads it. */
    bool allocate;    /* there is no copy in the domain yet */
    bool bring;       /* something has to be handed to the device, or is new there */
    bool contents;    /* namely the data */
    bool may_share;   /* what is allocated may be the host's memory */
    bool brought;     /* that was started */
    bool fetch_ended; /* at the last look */
    bool fetched;     /* data were brought to the host's memory for it */
    bool was_valid;   /* to take the decision back: the copy in the domain, */
    bool host_was_valid;
    uint32_t others_valid; /* and those in other domains, as bits by place in the table */
} dynsel_use;

/* Nothing was decided yet. */
static inline void dynsel_use_reset(dynsel_use *use)
{
    use->allocate = false;
    use->bring = false;
    use->contents = false;
    use->may_share = false;
    use->brought = false;
    use->relies_on = 0;
}

/* Numbers one use of a buffer by one slot. */
#if CONFIG_DYNSEL_MAX_IN_FLIGHT * CONFIG_DYNSEL_MAX_REQUIREMENTS < 65536
typedef uint16_t dynsel_use_number;
#else
typedef uint32_t dynsel_use_number;
#endif

/* That others have taken its place in a buffer before it was over; see src/data/users.h. */
typedef struct dynsel_former_use {
    dynsel_use_number next; /* of the same buffer; 0: none */
    dynsel_use_number previous;
    uint16_t buffer; /* its place in the table + 1; 0: there is none */
} dynsel_former_use;

/* A pointer in a range, to the host's memory. */
typedef struct dynsel_staged {
    dynsel_memory memory; /* host, bytes: what it points to; native: of the staging memory that was
                             taken for it */
    uint16_t place;       /* of that in the table, under the lock */
    bool in;              /* the contents are needed */
    bool out;             /* and written */
    bool fresh;           /* allocated for this start */
    bool came;            /* was copied in */
    bool went;            /* was copied back */
} dynsel_staged;

struct dynsel_handler {
    /* The first failure of a handler function; then, of work that ends without a start, why. */
    dynsel_error error;
    dynsel_group_fn function;
    dynsel_kernel_fn host_task;
    /* The ends of a copy are arguments[0] (from) and [1] (to), that of a fill is arguments[0]. */
    dynsel_command command;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects;
#endif
    uint32_t token; /* of the slot, + 1 */
    uint32_t id;
    uint32_t key_words[DYNSEL_GROUP_KEY_WORDS];
    uint32_t key_word_count;
    uint32_t bound_count;
    uint32_t use_count;
    uint32_t argument_count;
    uint32_t value_bytes; /* taken of `values` */
    uint32_t staged_count;
    const char
        *only_on_host;     /* a function of a range that has no other form; NULL: there is none */
    uint64_t direct_bytes; /* that ranges have devices reach as they are; added up at the end */
    uint16_t host_range_count; /* ranges with such a function */
    bool open;                 /* the group function runs */
    bool unsettled;    /* an argument was left out, or an accessor used that was not required */
    bool has_pointers; /* an argument is one, or was */

    /* Under the lock. */
    bool in_order;             /* its resource runs work in the order in which it was started */
    bool doomed;               /* it will not be started; `error` says why */
    bool at_hand;              /* the start was decided, and nothing has to be moved for it */
    bool held;                 /* a host accessor that is open */
    bool untold;               /* it has failed on the host, and its end was not told yet */
    bool undone;               /* its start failed: its command changes nothing, as is entered */
    bool ran;                  /* it has failed after its command had begun, */
    bool unrun;                /* or on the host before that */
    bool refused;              /* its resource took no more work when it was to be started last */
    bool for_start;            /* it waits for the start of `waits_for`, not for its end */
    bool wants_staging;        /* it is the first in its domain that waits for staging memory */
    uint32_t order;            /* the number of its entry, counted round */
    uint32_t opener;           /* of a host accessor: the thread that asked for it; else 0 */
    const dynsel_lane *lane;   /* where it will run: what its slot says is not for others to read */
    dynsel_word *watches;      /* src/groups/watch.h: the list of watchers that it is in; or NULL */
    uint32_t decided;          /* `token` once it was decided to start it */
    uint32_t obstacle;         /* token + 1 of work whose end its data wait for; 0: none */
    uint32_t relies_on;        /* that of its uses; `token` where they differ */
    uint32_t domain;           /* where it runs: DYNSEL_HOST_DOMAIN or a place in the table + 1 */
    uint32_t waits_for;        /* token + 1 of what its order made it wait for; 0: none */
    uint32_t looked_since;     /* token + 1 of an obstacle after whose start it was looked at */
    uint32_t replaced;         /* of a host accessor that writes: the writer before it */
    uint32_t dependency_count; /* of those that were not over when it was last looked at */
    uint32_t after_count;      /* work to come after by its event; set when the start was decided */
    uint32_t former_user;      /* token + 1 of who `former` is of; 0: nothing is in it */
    dynsel_word line;          /* those who wait until it is tried no more; src/groups/watch.h */
    uint16_t next;             /* in that list: slot numbers, DYNSEL_NO_SLOT at the ends */
    uint16_t previous;
    dynsel_range_bytes bytes; /* of its ranges, so far */

    uint32_t dependencies[CONFIG_DYNSEL_MAX_DEPENDENCIES];                           /* tokens */
    uint32_t after[CONFIG_DYNSEL_MAX_DEPENDENCIES + CONFIG_DYNSEL_MAX_REQUIREMENTS]; /* tokens */
    dynsel_bound bound[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_use uses[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_former_use former[CONFIG_DYNSEL_MAX_REQUIREMENTS];
    dynsel_staged staged[CONFIG_DYNSEL_MAX_STAGED];
    dynsel_argument arguments[CONFIG_DYNSEL_MAX_ARGUMENTS];
    _Alignas(16) unsigned char values[CONFIG_DYNSEL_ARGUMENT_BYTES];
};

extern dynsel_handler dynsel_groups[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* Of the command groups that were entered, counted round; never 0, which is nobody's. Tests set it,
 * because they cannot enter as many as that takes. */
extern uint32_t dynsel_order_entries;

static inline dynsel_handler *dynsel_group_of(const dynsel_slot *slot)
{
    return &dynsel_groups[dynsel_slot_number(slot) - 1];
}

/* While the stage of a token is not DYNSEL_STAGE_OVER, and under the lock, what is the lock's in
 * this group belongs to that work. */
static inline dynsel_handler *dynsel_group_in(uint32_t token)
{
    return &dynsel_groups[dynsel_slot_number_in(token) - 1];
}

/* Of a group that is in use. */
static inline dynsel_slot *dynsel_slot_of(const dynsel_handler *group)
{
    return dynsel_slot_at(dynsel_slot_number_in(group->token - 1));
}

/* What tells this kind of command group from others. Never 0. */
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

/* Makes the group of a claimed slot ready for its group function: counts and flags only. */
void dynsel_group_begin(dynsel_handler *group, uint32_t token, dynsel_group_fn function);

/*
 * After the group function: checks what it left, resolves accessors of arguments to buffers.
 * returned: what it returned. DYNSEL_OK, or the status of the submission with the last error set.
 */
dynsel_status dynsel_group_close(dynsel_handler *group, dynsel_status returned,
                                 uint32_t failures_before);

#endif
