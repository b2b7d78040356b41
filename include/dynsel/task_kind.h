/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What identifies a kind of task in the tables of policies that learn; only the library looks
 * inside.
 */
#ifndef DYNSEL_TASK_KIND_H
#define DYNSEL_TASK_KIND_H

#include <dynsel/config.h>
#include <dynsel/word.h>

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE || CONFIG_DYNSEL_POLICY_EARLIEST_FINISH

/** What a policy learns for; only the library looks inside. */
typedef struct dynsel_task_kind {
    dynsel_word name[2]; /* the id, or the function's address */
    dynsel_word shape;   /* how many key words, and whether it needs aspects */
    dynsel_word key_words[CONFIG_DYNSEL_MAX_KEY_WORDS > 0 ? CONFIG_DYNSEL_MAX_KEY_WORDS : 1];
#if CONFIG_DYNSEL_ASPECTS
    dynsel_word aspects[2];
#endif
} dynsel_task_kind;

#endif

#endif
