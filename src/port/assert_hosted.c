/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/port.h>

/* Where a debugger shows the line, and a core dump has it. */
void dynsel_port_assertion_failed(const char *file, int line)
{
    (void)file;
    (void)line;
    __builtin_trap();
}
