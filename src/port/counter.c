/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/port.h>

/* The hardware is read inside: of two readers, the one that read last is also the one that adds
 * last. */
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
