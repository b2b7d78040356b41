/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/port.h>

/* Reads the hardware inside the critical section, so that readings are added in their order. */
uint64_t dynsel_counter_total(dynsel_counter *counter)
{
    const uint32_t before = dynsel_port_enter_critical();
    const uint32_t now = counter->read();
    const uint32_t passed = now - counter->seen;
    counter->total += now >= counter->seen ? passed : passed + counter->largest + 1;
    counter->seen = now;
    const uint64_t total = counter->total;
    dynsel_port_leave_critical(before);
    return total;
}
