/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/kept.h"

#include <stddef.h>

#include "port/atomic.h"

static const dynsel_kept_blocks ALL = UINT32_MAX >> (32 - CONFIG_DYNSEL_KEPT_COUNT);

static _Alignas(
    max_align_t) unsigned char memory[CONFIG_DYNSEL_KEPT_COUNT][CONFIG_DYNSEL_KEPT_BYTES];
static dynsel_word in_use;

static dynsel_kept_blocks without_lowest(dynsel_kept_blocks blocks)
{
    return blocks & (blocks - 1);
}

bool dynsel_kept_take(uint32_t count, dynsel_kept_blocks *blocks)
{
    uint32_t used = dynsel_word_load_relaxed(&in_use);
    dynsel_kept_blocks left = 0;
    do {
        left = ALL & ~used;
        for (uint32_t i = 0; i < count; i++) {
            if (left == 0) {
                return false;
            }
            left = without_lowest(left);
        }
        *blocks = ALL & ~used & ~left;
    } while (!dynsel_word_swap(&in_use, &used, used | *blocks));
    return true;
}

void dynsel_kept_give_back(dynsel_kept_blocks blocks)
{
    (void)dynsel_word_add_synchronized(&in_use, ~blocks + 1); /* minus */
}

void *dynsel_kept_memory(dynsel_kept_blocks blocks, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        blocks = without_lowest(blocks);
    }
    uint32_t place = 0;
    while ((blocks >> place & 1u) == 0) {
        place++;
    }
    return memory[place];
}

void dynsel_kept_forget(void)
{
    dynsel_word_store_relaxed(&in_use, 0);
}
