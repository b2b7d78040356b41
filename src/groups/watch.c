/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/watch.h"

#include <string.h>

#include "data/copy_out.h"
#include "data/staging.h"
#include "port/assert.h"
#include "submission/pending.h"

/* Flags beside the slot number of the first watcher: other groups wait for the staging memory of
 * the work, or are in line behind it. */
#define HAS_STAGING (1u << 31)
#define HAS_LINE    (1u << 30)
#define FLAGS       (HAS_STAGING | HAS_LINE)

enum { BITS = 32 };

/* A list of watchers is the slot number of the first; DYNSEL_NO_SLOT: none. The watchers of work
 * are listed in its slot, those of a copy to the host in the buffer's record, those of a resource
 * in the group that tries it. */
static dynsel_word of_staging;
static dynsel_word of_nothing;

/* The due groups: a heap by number of entry. */
static uint16_t heap[CONFIG_DYNSEL_MAX_IN_FLIGHT];
static uint32_t heap_count;

/* Buffers whose copies to the host are watched: bits by place in the table, and their count. */
static uint32_t copies_out_watched[(CONFIG_DYNSEL_MAX_BUFFERS + BITS - 1) / BITS];
static uint32_t copies_out_count;

static dynsel_word
    due; /* whether there are due groups, watched copies, or groups that watch nothing */

static uint32_t watcher_count;

uint32_t dynsel_watch_looks;

#if CONFIG_DYNSEL_CONTEXT_THREADS
void dynsel_watch_forget_all(void)
{
    dynsel_word_store_relaxed(&of_staging, DYNSEL_NO_SLOT);
    dynsel_word_store_relaxed(&of_nothing, DYNSEL_NO_SLOT);
    heap_count = 0;
    (void)memset(copies_out_watched, 0, sizeof(copies_out_watched));
    copies_out_count = 0;
    dynsel_word_store_relaxed(&due, 0);
    watcher_count = 0;
}
#endif

static dynsel_handler *group_at(uint32_t number)
{
    return &dynsel_groups[number - 1];
}

static uint32_t number_of(const dynsel_handler *group)
{
    return (uint32_t)(group - dynsel_groups) + 1;
}

static uint32_t order_of(uint32_t number)
{
    return dynsel_all_uses[number - 1].order;
}

/* Numbers of entry wrap. */
static bool comes_before(uint32_t number, uint32_t other)
{
    return (int32_t)(order_of(number) - order_of(other)) < 0;
}

static uint32_t first_in(const dynsel_word *watchers)
{
    return dynsel_word_load_relaxed(watchers) & ~FLAGS;
}

static void set_first(dynsel_word *watchers, uint32_t number)
{
    const uint32_t flags = dynsel_word_load_relaxed(watchers) & FLAGS;
    dynsel_word_store_relaxed(watchers, number | flags);
}

static void note_due(void)
{
    const bool any =
        heap_count != 0 || copies_out_count != 0 || first_in(&of_nothing) != DYNSEL_NO_SLOT;
    dynsel_word_store_relaxed(&due, any ? 1 : 0);
}

bool dynsel_watch_is_due(void)
{
    return dynsel_word_load_relaxed(&due) != 0;
}

/* The first condition always holds with the second, but gcc warns of an index past the heap without
 * it where CONFIG_DYNSEL_MAX_IN_FLIGHT is 1. */
static bool is_in_heap(uint32_t at)
{
    return at < CONFIG_DYNSEL_MAX_IN_FLIGHT && at < heap_count;
}

static void push(uint32_t number)
{
    uint32_t at = heap_count++;
    DYNSEL_ASSERT(heap_count <= CONFIG_DYNSEL_MAX_IN_FLIGHT);
    while (at != 0 && is_in_heap(at)) {
        const uint32_t parent = (at - 1) / 2;
        if (!comes_before(number, heap[parent])) {
            break;
        }
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = (uint16_t)number;
}

static uint32_t earlier_child(uint32_t at)
{
    const uint32_t left = 2 * at + 1;
    return is_in_heap(left + 1) && comes_before(heap[left + 1], heap[left]) ? left + 1 : left;
}

static uint32_t pop(void)
{
    const uint32_t first = heap[0];
    const uint32_t last = heap[--heap_count];
    uint32_t at = 0;
    for (uint32_t child = earlier_child(at); is_in_heap(child) && comes_before(heap[child], last);
         child = earlier_child(at)) {
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = (uint16_t)last;
    return first;
}

static void add_watcher(dynsel_handler *group, dynsel_word *watchers)
{
    const uint32_t first = first_in(watchers);
    DYNSEL_ASSERT(group->watches == NULL);
    watcher_count++;
    group->watches = watchers;
    group->next = (uint16_t)first;
    group->previous = DYNSEL_NO_SLOT;
    if (first != DYNSEL_NO_SLOT) {
        group_at(first)->previous = (uint16_t)number_of(group);
    }
    set_first(watchers, number_of(group));
}

static void remove_watcher(dynsel_handler *group)
{
    if (group->previous != DYNSEL_NO_SLOT) {
        group_at(group->previous)->next = group->next;
    } else {
        set_first(group->watches, group->next);
    }
    if (group->next != DYNSEL_NO_SLOT) {
        group_at(group->next)->previous = group->previous;
    }
    group->watches = NULL;
    watcher_count--;
}

void dynsel_watch_end(dynsel_handler *group)
{
    if (group->watches != NULL) {
        remove_watcher(group);
        push(number_of(group));
        note_due();
    }
}

static void end_all(dynsel_word *watchers)
{
    for (uint32_t first = first_in(watchers); first != DYNSEL_NO_SLOT; first = first_in(watchers)) {
        remove_watcher(group_at(first));
        push(first);
    }
}

static void set_flag(dynsel_slot *slot, uint32_t flag)
{
    const uint32_t word = dynsel_word_load_relaxed(&slot->watchers);
    dynsel_word_store_relaxed(&slot->watchers, word | flag);
}

/* False: the flag was not set. */
static bool clear_flag(dynsel_slot *slot, uint32_t flag)
{
    const uint32_t word = dynsel_word_load_relaxed(&slot->watchers);
    dynsel_word_store_relaxed(&slot->watchers, word & ~flag);
    return (word & flag) != 0;
}

static void end_all_of(dynsel_slot *slot, bool line_too)
{
    end_all(&slot->watchers);
    if (clear_flag(slot, HAS_STAGING)) {
        end_all(&of_staging);
    }
    if (line_too && clear_flag(slot, HAS_LINE)) {
        end_all(&dynsel_groups[slot - dynsel_slots].line);
    }
    note_due();
}

void dynsel_watch_moved(dynsel_slot *slot)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    end_all_of(slot, true);
    dynsel_spinlock_release(&dynsel_memory_lock);
}

void dynsel_watch_changed(const dynsel_handler *group)
{
    end_all_of(dynsel_slot_of(group), !group->refused);
}

void dynsel_watch_no_longer(dynsel_handler *group)
{
    push(number_of(group));
    note_due();
}

void dynsel_watch_nothing(dynsel_handler *group)
{
    add_watcher(group, &of_nothing);
    note_due();
}

/* Watches work until its end or, with `start`, until its start. If the work changed since the look,
 * the group is due in this round. */
static void watch_work(dynsel_handler *group, uint32_t token, bool start)
{
    add_watcher(group, &dynsel_slot_of_token(token)->watchers);
    const dynsel_stage stage = dynsel_stage_of_watched(token);
    if (stage == DYNSEL_STAGE_OVER || (start && stage == DYNSEL_STAGE_STARTED)) {
        dynsel_watch_end(group);
    }
}

/* Watches the work that keeps data from the group. Its start may be enough, but only the next look
 * can tell: so the group is looked at once after the start. */
static void watch_holder(dynsel_handler *group, uint32_t token)
{
    if (dynsel_stage_of(token) == DYNSEL_STAGE_STARTED && group->looked_since != token + 1) {
        group->looked_since = token + 1;
        dynsel_watch_nothing(group);
    } else {
        watch_work(group, token, group->looked_since != token + 1);
    }
}

/* Marks the work that uses staging memory. False: some of it is over by now. */
static bool watch_users_of_staging(void)
{
    bool go_on = true;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        const uint32_t user = dynsel_staging_user(i);
        if (user != 0) {
            set_flag(dynsel_slot_of_token(user - 1), HAS_STAGING);
            go_on = go_on && dynsel_stage_of_watched(user - 1) != DYNSEL_STAGE_OVER;
        }
    }
    return go_on;
}

static uint32_t place_of(const dynsel_buffer_record *record)
{
    return (uint32_t)(record - dynsel_buffers);
}

static bool is_watched(uint32_t place)
{
    return (copies_out_watched[place / BITS] >> place % BITS & 1) != 0;
}

static void watch_copy_out(dynsel_handler *group, dynsel_buffer_record *record)
{
    const uint32_t place = place_of(record);
    if (!is_watched(place)) {
        copies_out_watched[place / BITS] |= 1u << place % BITS;
        copies_out_count++;
    }
    add_watcher(group, &record->watchers);
    note_due();
}

static void copy_out_changed(dynsel_buffer_record *record)
{
    const uint32_t place = place_of(record);
    if (is_watched(place)) {
        copies_out_watched[place / BITS] &= ~(1u << place % BITS);
        copies_out_count--;
        end_all(&record->watchers);
        note_due();
    }
}

void dynsel_watch_look_at_copy_out(dynsel_buffer_record *record)
{
    if (dynsel_copy_out_look(record)) {
        copy_out_changed(record);
    }
}

void dynsel_watch_begin_copy_out(dynsel_buffer_record *record)
{
    dynsel_copy_out_begin(record);
    copy_out_changed(record);
}

void dynsel_watch_looked_at(dynsel_uses *uses)
{
    for (uint32_t i = 0; i < uses->count; i++) {
        if (uses->each[i].copy_out_ended) {
            uses->each[i].copy_out_ended = false;
            copy_out_changed(uses->each[i].record);
        }
    }
}

dynsel_buffer_record *dynsel_watched_copy_out(uint32_t place)
{
    for (uint32_t i = place; copies_out_count != 0 && i < CONFIG_DYNSEL_MAX_BUFFERS;) {
        if (copies_out_watched[i / BITS] >> i % BITS == 0) {
            i = (i / BITS + 1) * BITS; /* no bit is set in the rest of this word */
        } else if (is_watched(i)) {
            return &dynsel_buffers[i];
        } else {
            i++;
        }
    }
    return NULL;
}

/* A buffer of the group with a running copy to the host; NULL: none. */
static dynsel_buffer_record *find_copy_out(const dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->uses->count; i++) {
        if (group->uses->each[i].record->copy_out.state != DYNSEL_NO_COPY_OUT) {
            return group->uses->each[i].record;
        }
    }
    return NULL;
}

void dynsel_watch_obstacle(dynsel_handler *group, dynsel_buffer_record *copy_out)
{
    if (copy_out != NULL) {
        watch_copy_out(group, copy_out);
        return;
    }
    if (group->waits_for != 0) {
        watch_work(group, group->waits_for - 1, group->for_start);
        return;
    }
    dynsel_buffer_record *const record = find_copy_out(group);
    if (group->uses->wants_staging && watch_users_of_staging()) {
        add_watcher(group, &of_staging);
    } else if (group->uses->obstacle != 0) {
        watch_holder(group, group->uses->obstacle - 1);
    } else if (record != NULL) {
        watch_copy_out(group, record);
    } else {
        dynsel_watch_nothing(group);
    }
}

/* The group that tries the resource of this queue in each round; NULL: none. */
static dynsel_handler *find_refused(const dynsel_queue *queue)
{
    uint32_t number = first_in(&of_nothing);
    while (number != DYNSEL_NO_SLOT) {
        dynsel_handler *const group = group_at(number);
        if (group->refused && group->uses->queue == queue) {
            return group;
        }
        number = group->next;
    }
    return NULL;
}

void dynsel_watch_resource(dynsel_handler *group)
{
    group->refused = true;
    if (!dynsel_watch_line(group)) {
        dynsel_watch_nothing(group);
    }
}

bool dynsel_watch_line(dynsel_handler *group)
{
    dynsel_handler *const first = group->refused ? find_refused(group->uses->queue) : NULL;
    if (first != NULL) {
        add_watcher(group, &first->line); /* `first` cannot be started while the lock is held */
        set_flag(dynsel_slot_of(first), HAS_LINE);
    }
    return first != NULL;
}

dynsel_handler *dynsel_watcher_from(uint32_t number)
{
    for (uint32_t i = number; watcher_count != 0 && i <= CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        if (group_at(i)->watches != NULL) {
            return group_at(i);
        }
    }
    return NULL;
}

void dynsel_watch_begin_round(void)
{
    end_all(&of_nothing);
}

dynsel_handler *dynsel_watch_take(uint32_t newest, uint32_t entries)
{
    dynsel_handler *group = NULL;
    if (heap_count != 0 && order_of(heap[0]) - newest - 1 >= entries - newest) {
        group = group_at(pop());
        dynsel_watch_looks++;
    }
    note_due();
    return group;
}
