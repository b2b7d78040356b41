/* SPDX-License-Identifier: Apache-2.0 */
#include "port/wake.h"

#include <dynsel/port.h>

#include "port/atomic.h"

static dynsel_word wakes;

uint32_t dynsel_wake_ticket(void)
{
    return dynsel_word_load_acquire(&wakes);
}

/* An interrupt after the comparison stays pending, and ends the sleep. */
void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns)
{
    const uint32_t state = dynsel_critical_begin();
    if (dynsel_word_load_relaxed(&wakes) == ticket) {
        dynsel_port_wait_for_event(longest_ns);
    }
    dynsel_critical_end(state);
}

void dynsel_wake_all(void)
{
    (void)dynsel_marked_add(&wakes, 1);
}
