/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kind a task is of, for the tables of policies that learn. What identifies a kind stands in
 * words, because an entry may be given to another kind while another thread compares without a
 * lock.
 */
#ifndef DYNSEL_POLICIES_TASK_KIND_H
#define DYNSEL_POLICIES_TASK_KIND_H

#include <dynsel/task_kind.h>

#include "policy/policy.h"
#include "port/atomic.h"

/* The upper half of a number that may have 64 bits. */
static inline uint32_t dynsel_upper_half(uint64_t number)
{
    return (uint32_t)(number >> 32);
}

/* What tells a kind of task beside its key words. */
typedef struct dynsel_task_key {
    uint32_t name[2]; /* the task's id and a DYNSEL_KIND_HAS_*, or its function's address */
    dynsel_aspect_set aspects;
} dynsel_task_key;

/* No function stands in the last 8 GiB of 64 bits that a program has. */
#define DYNSEL_KIND_HAS_ID     UINT32_MAX
#define DYNSEL_KIND_HAS_RUN_ID (UINT32_MAX - 1) /* an id that means nothing in another run */

/* Of a task with one form that needs no aspects. */
static inline dynsel_task_key dynsel_task_key_of_simple(const dynsel_task *task)
{
    const uintptr_t address = (uintptr_t)task->function;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    const uint32_t has_id = task->id_of_address ? DYNSEL_KIND_HAS_RUN_ID : DYNSEL_KIND_HAS_ID;
#else
    const uint32_t has_id = DYNSEL_KIND_HAS_ID;
#endif
    return task->id != 0
               ? (dynsel_task_key){.name = {task->id, has_id}}
               : (dynsel_task_key){.name = {(uint32_t)address, dynsel_upper_half(address)}};
}

static inline dynsel_task_key dynsel_task_key_of(const dynsel_task *task)
{
    dynsel_task named = *task;
    if (task->form_count != 0 && task->forms[0].function != NULL) {
        named.function = task->forms[0].function;
    }
    dynsel_task_key key = dynsel_task_key_of_simple(&named);
    key.aspects = dynsel_needed_aspects(task);
    return key;
}

static inline uint32_t dynsel_task_key_hash(const dynsel_task *task, dynsel_task_key key)
{
    uint32_t hash = key.name[0] ^ key.name[1] ^ (uint32_t)key.aspects * 0x85ebca6bu ^
                    dynsel_upper_half(key.aspects) * 0xc2b2ae35u;
    for (size_t i = 0; i < task->key_word_count; i++) {
        hash = (hash ^ (hash >> 15)) * 0x85ebca6bu ^ task->key_words[i];
    }
    return hash * 0x9e3779b1u;
}

#define DYNSEL_SHAPE_HAS_ASPECTS ((uint32_t)1 << 31)

/* In a word of its entry: how many key words a kind has, and whether aspects too. */
static inline uint32_t dynsel_task_shape(const dynsel_task *task, dynsel_task_key key)
{
    return (uint32_t)task->key_word_count | (key.aspects != 0 ? DYNSEL_SHAPE_HAS_ASPECTS : 0);
}

static inline bool dynsel_kind_has_aspects(const dynsel_task_kind *kind, dynsel_aspect_set aspects)
{
#if CONFIG_DYNSEL_ASPECTS
    return dynsel_word_load_relaxed(&kind->aspects[0]) == (uint32_t)aspects &&
           dynsel_word_load_relaxed(&kind->aspects[1]) == dynsel_upper_half(aspects);
#else
    (void)kind;
    (void)aspects;
    return true;
#endif
}

/* For kinds that are filled in. */
static inline bool dynsel_kind_is(const dynsel_task_kind *kind, const dynsel_task *task,
                                  dynsel_task_key key)
{
    if (dynsel_word_load_relaxed(&kind->name[0]) != key.name[0] ||
        dynsel_word_load_relaxed(&kind->name[1]) != key.name[1] ||
        dynsel_word_load_relaxed(&kind->shape) != dynsel_task_shape(task, key) ||
        (key.aspects != 0 && !dynsel_kind_has_aspects(kind, key.aspects))) {
        return false;
    }
    for (size_t i = 0; i < task->key_word_count; i++) {
        if (dynsel_word_load_relaxed(&kind->key_words[i]) != task->key_words[i]) {
            return false;
        }
    }
    return true;
}

/* Whether an entry is that of the same tasks without key words. */
static inline bool dynsel_kind_is_root(const dynsel_task_kind *root, const dynsel_task_kind *of)
{
#if CONFIG_DYNSEL_ASPECTS
    if (dynsel_word_load_relaxed(&root->aspects[0]) != dynsel_word_load_relaxed(&of->aspects[0]) ||
        dynsel_word_load_relaxed(&root->aspects[1]) != dynsel_word_load_relaxed(&of->aspects[1])) {
        return false;
    }
#endif
    const uint32_t shape = dynsel_word_load_relaxed(&of->shape) & DYNSEL_SHAPE_HAS_ASPECTS;
    return dynsel_word_load_relaxed(&root->name[0]) == dynsel_word_load_relaxed(&of->name[0]) &&
           dynsel_word_load_relaxed(&root->name[1]) == dynsel_word_load_relaxed(&of->name[1]) &&
           dynsel_word_load_relaxed(&root->shape) == shape;
}

static inline void dynsel_kind_fill_in(dynsel_task_kind *kind, const dynsel_task *task,
                                       dynsel_task_key key)
{
    dynsel_word_store_relaxed(&kind->name[0], key.name[0]);
    dynsel_word_store_relaxed(&kind->name[1], key.name[1]);
    dynsel_word_store_relaxed(&kind->shape, dynsel_task_shape(task, key));
#if CONFIG_DYNSEL_ASPECTS
    dynsel_word_store_relaxed(&kind->aspects[0], (uint32_t)key.aspects);
    dynsel_word_store_relaxed(&kind->aspects[1], dynsel_upper_half(key.aspects));
#endif
    for (size_t i = 0; i < task->key_word_count; i++) {
        dynsel_word_store_relaxed(&kind->key_words[i], task->key_words[i]);
    }
}

#endif
