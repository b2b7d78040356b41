/* SPDX-License-Identifier: Apache-2.0 */
/* The default hook. Weak, so that the program's own definition wins even if the linker takes in the
 * whole archive. */
#include <dynsel/assert.h>

__attribute__((weak)) void dynsel_assert_failed(const char *file, unsigned line,
                                                const char *condition)
{
    (void)file;
    (void)line;
    (void)condition;
}
