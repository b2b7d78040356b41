/* SPDX-License-Identifier: Apache-2.0 */
#include "port/wake.h"

/* A single context cannot sleep: it polls again. */
uint32_t dynsel_wake_ticket(void)
{
    return 0;
}

void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns)
{
    (void)ticket;
    (void)longest_ns;
}

void dynsel_wake_all(void)
{
}
