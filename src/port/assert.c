/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that do not define it themselves. Weak, so that theirs counts also where the linker
 * takes in the whole archive. */
#include <dynsel/assert.h>

__attribute__((weak)) void dynsel_assert_failed(const char *file, unsigned line,
                                                const char *condition)
{
    (void)file;
    (void)line;
    (void)condition;
}
