/* SPDX-License-Identifier: Apache-2.0 */
/* Two buffers of one number each, beside the queues. */
#ifndef DYNSEL_TESTS_TWO_NUMBERS_H
#define DYNSEL_TESTS_TWO_NUMBERS_H

#include "groups/queues.h"

static uint32_t numbers[2];
static dynsel_buffer a;
static dynsel_buffer b;

static void begin(bool in_order)
{
    queues_begin(in_order);
    numbers[0] = 7;
    numbers[1] = 8;
    a = new_number(&numbers[0]);
    b = new_number(&numbers[1]);
}

static int set_up(void **state)
{
    (void)state;
    begin(false);
    return 0;
}

#endif
