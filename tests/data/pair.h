/* SPDX-License-Identifier: Apache-2.0 */
/* Two buffers of numbers, for the tests of where their copies are. */
#ifndef DYNSEL_TESTS_MEMORY_PAIR_H
#define DYNSEL_TESTS_MEMORY_PAIR_H

#include "support/places.h"

static int32_t numbers[ELEMENTS];
static int32_t others[ELEMENTS];
static dynsel_buffer a;
static dynsel_buffer b;

static inline void begin(bool waits_deliver)
{
    places_begin(waits_deliver);
    for (int32_t i = 0; i < ELEMENTS; i++) {
        numbers[i] = i;
        others[i] = -i;
    }
    a = new_buffer(numbers);
    b = new_buffer(others);
}

static inline int set_up(void **state)
{
    (void)state;
    begin(false);
    return 0;
}

/* What is fetched is there only when the backend's `wait` was called. */
static inline int set_up_with_waits(void **state)
{
    (void)state;
    begin(true);
    return 0;
}

/* a is first, first + step, ...; b is its own affair. */
static inline void finish_with(int32_t first, int32_t step)
{
    places_hurry();
    end_buffer(&a, numbers, first, step);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
}

static inline void run_on(unsigned place, job what)
{
    assert_status(DYNSEL_OK, run_job(place, &what));
}

static inline void send_to(unsigned place, job what, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK, send_job(place, &what, submission));
}

#endif
