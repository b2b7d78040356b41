/* SPDX-License-Identifier: Apache-2.0 */
/* The default hook. Weak, as that of assertions: programs that do not define it lose the trace. */
#include <dynsel/trace.h>

__attribute__((weak)) void dynsel_trace_hook(const dynsel_trace_record *record)
{
    (void)record;
}
