/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of memory for inputs that repeatable work overwrites. Any thread. */
#ifndef DYNSEL_SUBMISSION_KEPT_H
#define DYNSEL_SUBMISSION_KEPT_H

#include <stdbool.h>
#include <stdint.h>

/* A set of blocks: a bit for each. */
typedef uint32_t dynsel_kept_blocks;

/* Takes `count` blocks. False: fewer are free. */
bool dynsel_kept_take(uint32_t count, dynsel_kept_blocks *blocks);

void dynsel_kept_give_back(dynsel_kept_blocks blocks);

/* CONFIG_DYNSEL_KEPT_BYTES of a block of the set, which has more than `index`. */
void *dynsel_kept_memory(dynsel_kept_blocks blocks, uint32_t index);

/* In the child of a fork() no block is in use. */
void dynsel_kept_forget(void);

#endif
