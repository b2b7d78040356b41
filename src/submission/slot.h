/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One slot of the table of submissions in flight: its states, and the steps between them.
 *
 * The state of a slot is one 32-bit word, changed only by compare-and-swap, or by an addition of
 * the only thread that may take the next step:
 *
 *     FREE -> CLAIMED -> RUNNING -> COMPLETING -> FINISHED -> LEAVING -> FREE, in its next
 * generation
 *
 * and for pending work (see submission/pending_ops.h) between CLAIMED and RUNNING
 *
 *     WAITING <-> STARTING, and from there also to COMPLETING, when it ends without running on
 *
 * The thread that turns RUNNING into COMPLETING writes the result and turns it into FINISHED. The
 * word also holds the references to the slot: the handle, the list of its queue, and those of
 * threads. The thread that removes the last reference from a finished slot releases the event and
 * frees the slot. An interrupt or a callback may mark a slot as ended while it is claimed or
 * running; the next poll completes it.
 */
#ifndef DYNSEL_SUBMISSION_SLOT_H
#define DYNSEL_SUBMISSION_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/policy.h>

#include "port/assert.h"
#include "port/atomic.h"
#include "port/cache_line.h"
#include "port/likely.h"
#include "submission/pending_ops.h"
#include "submission/repeat_table.h"

enum {
    DYNSEL_SLOT_FREE = 0,
    DYNSEL_SLOT_CLAIMED = 1,
    DYNSEL_SLOT_WAITING = 2,  /* accepted, to be started later */
    DYNSEL_SLOT_STARTING = 3, /* accepted, and one thread is starting it, or ending it */
    DYNSEL_SLOT_RUNNING = 4,
    DYNSEL_SLOT_COMPLETING = 5,
    DYNSEL_SLOT_FINISHED = 6,
    DYNSEL_SLOT_LEAVING = 7,
    DYNSEL_SLOT_STATE = 7,       /* the bits of the state */
    DYNSEL_SLOT_HANDLE = 1 << 3, /* a handle refers to it */
    DYNSEL_SLOT_LISTED = 1 << 4, /* it is in the list of its queue */
    DYNSEL_SLOT_POLLED =
        1 << 5, /* finished, but the backend has to wait once before results can be seen */
    DYNSEL_SLOT_REF = 1 << 6,
    DYNSEL_SLOT_REFS = 31 << 6,
    DYNSEL_SLOT_MARKING = 1 << 11, /* status and time of the end are being written */
    DYNSEL_SLOT_MARKED = 1 << 12,  /* they are written */
    /* both, on finished work: its backend still uses the slot; without MARKED: no longer */
    DYNSEL_SLOT_ABANDONED = DYNSEL_SLOT_MARKING | DYNSEL_SLOT_MARKED,
    DYNSEL_SLOT_GENERATION_SHIFT = 13
};

/* In the order of their use: the end of work that succeeded needs the first two cache lines. */
typedef struct dynsel_slot {
    _Alignas(DYNSEL_LINE_BYTES) dynsel_word word;
    dynsel_word next; /* in its queue's list: a slot's number, DYNSEL_NO_SLOT at the end */
    dynsel_selection selection;
    dynsel_status marked; /* how the work ended, as it was marked */
    bool overtaken;       /* other work was appended between its start and its own append */
    bool queued;          /* it was put behind other work of its queue */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    bool can_be_pending;  /* it may wait before it is started; see submission/pending_ops.h */
    bool counted;         /* counted as pending; for the thread that owns it, or has it in
                             STARTING */
    dynsel_word choice;   /* of pending work: index and reason, for threads that do not start it */
    dynsel_word watchers; /* of the owner of pending work: not 0 if dynsel_pending_ops.moved is to
                             be called */
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
    uint64_t limit_ns; /* 0: none; see submission/limits.h */
#endif
    dynsel_work work;
#if CONFIG_DYNSEL_TIME_LIMITS
    uint64_t limited_from_ns; /* the reaper's, from the append on */
#endif
} dynsel_slot;

_Static_assert(sizeof(dynsel_slot) <= 192 + (CONFIG_DYNSEL_TRACE ? 64 : 0),
               "a slot outgrew three cache lines: shrink dynsel_work, or raise this limit and "
               "the bytes in the help of DYNSEL_MAX_IN_FLIGHT");

enum {
    DYNSEL_NO_SLOT = 0 /* slots count from 1, so that zeroed memory is an empty list */
};

extern dynsel_slot dynsel_slots[CONFIG_DYNSEL_MAX_IN_FLIGHT];

static inline dynsel_slot *dynsel_slot_at(uint32_t number)
{
    DYNSEL_ASSERT(number >= 1 && number <= CONFIG_DYNSEL_MAX_IN_FLIGHT);
    return &dynsel_slots[number - 1];
}

/* The number of the slot that a token stands for. */
static inline uint32_t dynsel_slot_number_in(uint32_t token)
{
    return (token & ((1u << DYNSEL_SLOT_GENERATION_SHIFT) - 1)) + 1;
}

/* Of a slot that is in use. */
static inline uint32_t dynsel_slot_number(const dynsel_slot *slot)
{
    return dynsel_slot_number_in(slot->work.token);
}

static inline uint32_t dynsel_slot_state(uint32_t word)
{
    return word & DYNSEL_SLOT_STATE;
}

static inline uint32_t dynsel_slot_generation(uint32_t word)
{
    return word >> DYNSEL_SLOT_GENERATION_SHIFT;
}

/* Whether the slot is that of work that can be pending. The caller holds a reference or owns the
 * slot. */
static inline bool dynsel_slot_can_be_pending(const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return slot->can_be_pending;
#else
    (void)slot;
    return false;
#endif
}

/* It waits, or a thread is starting it, or ending it outside of a queue, or it is between two runs
 * or in its second: other threads must not read its choice, and no queue reports it. */
static inline bool dynsel_slot_is_pending(uint32_t word)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    const uint32_t state = dynsel_slot_state(word);
    return state == DYNSEL_SLOT_WAITING || state == DYNSEL_SLOT_STARTING ||
           (state == DYNSEL_SLOT_COMPLETING && (word & DYNSEL_SLOT_LISTED) == 0);
#elif CONFIG_DYNSEL_REPEAT
    return dynsel_slot_state(word) == DYNSEL_SLOT_COMPLETING && (word & DYNSEL_SLOT_LISTED) == 0;
#else
    (void)word;
    return false;
#endif
}

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* dynsel_slot.choice: the index of the resource, and the reason above it. */
enum { DYNSEL_CHOICE_REASON_SHIFT = 16 };

_Static_assert(CONFIG_DYNSEL_MAX_RESOURCES <= 1 << DYNSEL_CHOICE_REASON_SHIFT,
               "a choice fits into one word");

static inline uint32_t dynsel_choice(uint32_t index, uint32_t reason)
{
    return reason << DYNSEL_CHOICE_REASON_SHIFT | index;
}

static inline uint32_t dynsel_choice_index(uint32_t choice)
{
    return choice & ((1u << DYNSEL_CHOICE_REASON_SHIFT) - 1);
}

static inline uint32_t dynsel_choice_reason(uint32_t choice)
{
    return choice >> DYNSEL_CHOICE_REASON_SHIFT;
}

#endif

/* Pending work has ended, and its end is not visible yet. */
#if CONFIG_DYNSEL_COMMAND_GROUPS
static inline bool dynsel_pending_ends_quietly(const dynsel_slot *slot)
{
    return slot->work.quiet && slot->work.error.status == DYNSEL_OK &&
           dynsel_word_load_acquire(&dynsel_pending_alarms) == 0;
}

static inline void dynsel_pending_end(dynsel_slot *slot)
{
    if (!DYNSEL_LIKELY(dynsel_pending_ends_quietly(slot))) {
        dynsel_pending_tell_end(slot);
    }
}
#else
static inline void dynsel_pending_end(dynsel_slot *slot)
{
    (void)slot;
}
#endif

/* After each change of the stage. */
#if CONFIG_DYNSEL_COMMAND_GROUPS
static inline void dynsel_pending_moved(dynsel_slot *slot)
{
    if (!DYNSEL_LIKELY(dynsel_word_load_relaxed(&slot->watchers) == 0)) {
        dynsel_pending_tell_watchers(slot);
    }
}

#else
static inline void dynsel_pending_moved(dynsel_slot *slot)
{
    (void)slot;
}

#endif

#if CONFIG_DYNSEL_RESERVED_SLOTS
/* For each slot, the life (see policy/usable.h) of the policy that it is reserved for; 0: it is for
 * all. Set while the slot is claimed, so that its generation tells a change. */
extern dynsel_word dynsel_slot_owners[CONFIG_DYNSEL_MAX_IN_FLIGHT];

/* Whether the slot of this index is reserved for another policy. policy: NULL is any other. */
static inline bool dynsel_slot_is_anothers(uint32_t index, const dynsel_policy *policy)
{
    const uint32_t owner = dynsel_word_load_relaxed(&dynsel_slot_owners[index]);
    return !DYNSEL_LIKELY(owner == 0) &&
           (policy == NULL || dynsel_word_load_relaxed(&policy->life) != owner);
}

/* Gives back `count` of the slots that are reserved for a policy of this life. */
void dynsel_slots_unreserve(uint32_t life, uint32_t count);
#else
static inline bool dynsel_slot_is_anothers(uint32_t index, const dynsel_policy *policy)
{
    (void)index;
    (void)policy;
    return false;
}
#endif

/*
 * The slots of a large table are opened as they are needed: work takes the first ones in turn, and
 * more are opened when these are all in use. So looks at all slots cost no more than the work that
 * a program ever has in flight, and the slots stay in the cache. No slot behind the open ones was
 * ever in use.
 */
#define DYNSEL_OPEN_AT_FIRST    64
#define DYNSEL_OPENS_MORE_SLOTS (CONFIG_DYNSEL_MAX_IN_FLIGHT > DYNSEL_OPEN_AT_FIRST)

#if DYNSEL_OPENS_MORE_SLOTS
extern dynsel_word dynsel_slots_opened; /* beyond the first */
#endif

static inline uint32_t dynsel_slots_open(void)
{
#if DYNSEL_OPENS_MORE_SLOTS
    return DYNSEL_OPEN_AT_FIRST + dynsel_word_load_relaxed(&dynsel_slots_opened);
#else
    return CONFIG_DYNSEL_MAX_IN_FLIGHT;
#endif
}

/* Claims a free slot for a policy and sets work.token; NULL: none is free. policy: NULL takes none
 * that is reserved. Looks at each slot once at most. */
dynsel_slot *dynsel_slot_claim(const dynsel_policy *policy);

/* The same, but opens no more slots. */
dynsel_slot *dynsel_slot_claim_open(const dynsel_policy *policy);

/* Gives back a slot that was claimed and not published. */
void dynsel_slot_unclaim(dynsel_slot *slot);

/* Releases the event of work that is over, if it left one, before the slot is given back. */
void dynsel_slot_release_event(dynsel_slot *slot);

/* Publishes a claimed slot, in the state and with the flags of `bits`. An addition, because the
 * slot may be marked at the same time. */
static inline void dynsel_slot_publish(dynsel_slot *slot, uint32_t bits)
{
    (void)dynsel_marked_add(&slot->word, bits - DYNSEL_SLOT_CLAIMED);
}

/* The same before a backend knows the token: no end can be marked, and nobody has a reference. */
static inline void dynsel_slot_publish_unstarted(dynsel_slot *slot, uint32_t bits)
{
    const uint32_t word = dynsel_word_load_relaxed(&slot->word);
    dynsel_word_store_release(&slot->word, word + (bits - DYNSEL_SLOT_CLAIMED));
}

/* Takes a reference, if `needed` (HANDLE or LISTED; 0: nothing) is set in the slot. False: it is
 * not set. */
bool dynsel_slot_ref(dynsel_slot *slot, uint32_t needed);

/* The same for a slot with a handle, in one generation only. */
bool dynsel_slot_ref_handle(dynsel_slot *slot, uint32_t generation);

/* Removes references (REF, LISTED, or HANDLE and REF), which must be there. Frees the slot with the
 * last one. */
void dynsel_slot_unref(dynsel_slot *slot, uint32_t what);

/* Removes the handle's reference; the caller holds one of its own. False: another thread removed
 * it. */
bool dynsel_slot_take_handle(dynsel_slot *slot);

/* Detaches the handle: a failure goes to the group. The caller holds a reference. False: another
 * thread removed the handle. */
bool dynsel_slot_detach(dynsel_slot *slot);

/* Polls once. True: the slot is finished. The caller holds a reference or is the reaper of the
 * slot's queue. */
bool dynsel_slot_poll(dynsel_slot *slot);

/* Waits in the backend, where it can wait, until the work of a running slot is over. The caller
 * holds a reference. */
void dynsel_slot_wait_in_backend(dynsel_slot *slot);

#if CONFIG_DYNSEL_REPEAT

/* The stage of repeatable work; of other work UNARMED. */
static inline uint32_t dynsel_slot_repeat_stage(const dynsel_slot *slot)
{
    return DYNSEL_LIKELY(slot->work.run != DYNSEL_FIRST_RUN)
               ? (uint32_t)DYNSEL_REPEAT_UNARMED
               : dynsel_repeat_stage(dynsel_slot_number(slot));
}

/* Before the first run starts, or when it has ended for good: gives back what was claimed for the
 * second. */
DYNSEL_RARE void dynsel_slot_disarm(dynsel_slot *first);

static inline void dynsel_slot_run_once(dynsel_slot *slot)
{
    if (dynsel_slot_repeat_stage(slot) == DYNSEL_REPEAT_ARMED) {
        dynsel_slot_disarm(slot);
    }
}

static inline bool dynsel_slot_failed_alone(const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    return slot->work.error.status == DYNSEL_E_DEPENDENCY && slot->can_be_pending &&
           dynsel_pending_operations->failed_alone(slot);
#else
    (void)slot;
    return false;
#endif
}

/* Whether the results of its first run are to be compared. */
static inline bool dynsel_slot_is_checked(const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_SHADOW_CHECK
    return slot->work.error.status == DYNSEL_OK &&
           dynsel_repeats[dynsel_slot_number(slot) - 1].checked;
#else
    (void)slot;
    return false;
#endif
}

/* Whether another run follows the one that has ended as slot->work.error says. */
static inline bool dynsel_slot_runs_again(const dynsel_slot *slot)
{
    return dynsel_slot_repeat_stage(slot) == DYNSEL_REPEAT_ARMED &&
           (dynsel_repeat_is_for(slot->work.error.status) || dynsel_slot_failed_alone(slot) ||
            dynsel_slot_is_checked(slot));
}

/* Its first run has failed or is checked, another follows, and it is in its queue still. */
static inline bool dynsel_slot_has_failed(const dynsel_slot *slot)
{
    return dynsel_slot_repeat_stage(slot) == DYNSEL_REPEAT_FAILED;
}

/* Whether its second run goes on. */
static inline bool dynsel_slot_runs_second(const dynsel_slot *slot)
{
    return dynsel_slot_repeat_stage(slot) == DYNSEL_REPEAT_STARTED;
}

/* A reference to the slot of the second run; NULL: it is over, or about to start. The caller holds
 * one to the first. */
dynsel_slot *dynsel_slot_ref_second(const dynsel_slot *first);

/* Of finished work: whether its first run failed. */
static inline bool dynsel_slot_is_repeated(const dynsel_slot *slot)
{
    return dynsel_slot_repeat_stage(slot) == DYNSEL_REPEAT_OVER;
}

/* Of finished work: the index of the resource that ended it. */
static inline uint32_t dynsel_slot_last_index(const dynsel_slot *slot)
{
    return dynsel_slot_is_repeated(slot) ? dynsel_repeats[dynsel_slot_number(slot) - 1].index
                                         : slot->selection.index;
}

/* Reaper only: takes a slot that has failed out of its list, to be run again. */
void dynsel_slot_leave_failed(dynsel_slot *slot);

/* The work ends as its first run did, because it can run nowhere else. */
void dynsel_slot_end_nowhere(dynsel_slot *first);

/* The second run has ended, and its results can be seen: so ends the first, or a third decides. */
DYNSEL_RARE void dynsel_slot_end_second(dynsel_slot *second);

#else

static inline void dynsel_slot_run_once(dynsel_slot *slot)
{
    (void)slot;
}

static inline bool dynsel_slot_runs_again(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static inline bool dynsel_slot_has_failed(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static inline bool dynsel_slot_is_repeated(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static inline bool dynsel_slot_runs_second(const dynsel_slot *slot)
{
    (void)slot;
    return false;
}

static inline dynsel_slot *dynsel_slot_ref_second(const dynsel_slot *first)
{
    (void)first;
    return NULL;
}

static inline uint32_t dynsel_slot_last_index(const dynsel_slot *slot)
{
    return slot->selection.index;
}

static inline void dynsel_slot_leave_failed(dynsel_slot *slot)
{
    (void)slot;
}

#endif

#if CONFIG_DYNSEL_TIME_LIMITS
/* The pieces of work with a time limit that are in queues. */
extern dynsel_word dynsel_limited_count;

/* How many slots backends still use, or used until just now, after their work was abandoned. */
extern dynsel_word dynsel_slots_abandoned;
#endif

/* Whether a resource that hangs uses no memory that a second run of this work would use. */
static inline bool dynsel_slot_is_apart(const dynsel_slot *slot)
{
#if CONFIG_DYNSEL_REPEAT && CONFIG_DYNSEL_COMMAND_GROUPS
    return dynsel_slot_can_be_pending(slot) &&
           dynsel_slot_repeat_stage(slot) == DYNSEL_REPEAT_ARMED &&
           dynsel_pending_operations->is_apart(slot);
#else
    (void)slot;
    return false;
#endif
}

/* The second half of a completion, for the thread that turned RUNNING into COMPLETING and wrote the
 * result. flags: of the slot from now on. False: another run follows. */
bool dynsel_slot_finish_completion(dynsel_slot *slot, uint32_t flags);

/* The two halves of dynsel_complete(), for a thread of the backend that writes the result of work
 * in between: nobody else ends the work then. False: it was abandoned or marked. */
#if CONFIG_DYNSEL_BACKEND_THREADS
bool dynsel_slot_enter_result(uint32_t token);
void dynsel_slot_mark(uint32_t token, dynsel_status status, uint64_t end_ns);
#endif

/* Whether the work was abandoned, and its slot is not given back yet. */
static inline bool dynsel_slot_is_abandoned(uint32_t word)
{
    return CONFIG_DYNSEL_TIME_LIMITS && dynsel_slot_state(word) == DYNSEL_SLOT_FINISHED &&
           (word & DYNSEL_SLOT_MARKING) != 0;
}

/*
 * Makes the results of a finished slot visible, where it was only polled. The caller is the reaper,
 * or holds a reference that it took while the slot had a handle: with any other reference the
 * reaper may already have moved the event away.
 */
void dynsel_slot_synchronize(dynsel_slot *slot);

/* The highest use of the table. Counted at each claim with CONFIG_DYNSEL_STATISTICS; without, only
 * when the table is full and when statistics are read. */

/* The slots that are counted as in use. Behind a claim and before a slot becomes free, so that it
 * is never more than there are. */
extern dynsel_word dynsel_slots_in_use;

extern dynsel_word dynsel_most_in_use;

void dynsel_slot_raise_most(uint32_t in_use);

static inline void dynsel_slot_note_claim(void)
{
#if CONFIG_DYNSEL_STATISTICS
    const uint32_t in_use = dynsel_word_add_relaxed(&dynsel_slots_in_use, 1) + 1;
    if (!DYNSEL_LIKELY(in_use <= dynsel_word_load_relaxed(&dynsel_most_in_use))) {
        dynsel_slot_raise_most(in_use);
    }
#endif
}

static inline void dynsel_slot_note_free(void)
{
#if CONFIG_DYNSEL_STATISTICS
    (void)dynsel_word_add_relaxed(&dynsel_slots_in_use, UINT32_MAX);
#endif
}

/* The number of submits that got no slot. */
extern dynsel_word dynsel_slot_refusals;

/* Slots that are in use now. */
uint32_t dynsel_slot_count_in_use(void);

#if CONFIG_DYNSEL_COMMAND_GROUPS

/* Takes a reference to the slot in one generation, from its publication on. */
bool dynsel_slot_ref_generation(dynsel_slot *slot, uint32_t generation);

/* The same under a lock that waiting threads may need: uses a reserved reference, so it never waits
 * for them. One caller at a time. */
bool dynsel_slot_ref_reserved(dynsel_slot *slot, uint32_t generation);

/* Completes it where its end is marked and its backend does not have to be asked. The caller holds
 * a reference. */
void dynsel_slot_finish_if_marked(dynsel_slot *slot);

/* Whether it is running, and polling it now would not find it finished; completes nothing. */
bool dynsel_slot_goes_on(dynsel_slot *slot);

/* Completes running work that succeeded, and whose results are visible. Reaper only. True: the slot
 * is finished; else another thread is completing it, or another run follows. */
bool dynsel_slot_complete_ended(dynsel_slot *slot);

/* The word of work to which nobody has a reference but those in `bits`. */
static inline uint32_t dynsel_slot_word_alone(const dynsel_slot *slot, uint32_t bits)
{
    return (slot->work.token & UINT32_MAX << DYNSEL_SLOT_GENERATION_SHIFT) | bits;
}

/* Of work in a queue that succeeded: whether its end is the reaper's affair only, because nobody
 * else has a reference, and `ended` need not be called. Others may take references at any time. */
static inline bool dynsel_slot_is_alone(const dynsel_slot *slot)
{
    return dynsel_word_load_acquire(&slot->word) ==
               dynsel_slot_word_alone(slot, DYNSEL_SLOT_RUNNING | DYNSEL_SLOT_LISTED) &&
           slot->can_be_pending && dynsel_pending_ends_quietly(slot);
}

/* From STARTING, or from RUNNING and LISTED, to LEAVING, for the reaper, after the work is out of
 * its list. bits: these. False: somebody has a reference. True: the slot is the caller's until
 * dynsel_slot_free(). */
static inline bool dynsel_slot_leave_alone(dynsel_slot *slot, uint32_t bits)
{
    uint32_t word = dynsel_slot_word_alone(slot, bits);
    return dynsel_marked_swap(&slot->word, &word,
                              dynsel_slot_word_alone(slot, DYNSEL_SLOT_LEAVING));
}

/* From STARTING to COMPLETING, for the thread that writes the result: no end can be marked any
 * more. */
void dynsel_slot_begin_end(dynsel_slot *slot);

/* From STARTING or COMPLETING to FINISHED. True: nobody needs the slot, which is the caller's alone
 * until dynsel_slot_free(). */
bool dynsel_slot_end(dynsel_slot *slot);
void dynsel_slot_free(dynsel_slot *slot);

#endif

#endif
