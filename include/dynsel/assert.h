/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a program can do when the library finds itself in a state that it believes impossible: a bug
 * in dynsel, or memory that somebody wrote over. A caller's mistakes are a status instead.
 *
 * With CONFIG_DYNSEL_ASSERTIONS the library checks; what follows is CONFIG_DYNSEL_ASSERT_TRAP, or
 * with CONFIG_DYNSEL_ASSERT_HOOK the function here, which the program defines.
 */
#ifndef DYNSEL_ASSERT_H
#define DYNSEL_ASSERT_H

#include <dynsel/config.h>

DYNSEL_BEGIN_DECLS

/**
 * Hears with CONFIG_DYNSEL_ASSERT_HOOK where an assumption did not hold; for example to store that
 * in memory which survives a reset, and to reset. A program that does not define it gets the
 * library's, which does nothing. In other configurations nobody calls it.
 *
 * file: the source in dynsel's tree, such as "src/submission/slot.c", the same wherever it was built;
 *     empty without CONFIG_DYNSEL_ERROR_TEXTS.
 * line: in that file, from 1 on.
 * condition: what was to hold, as written there; empty without CONFIG_DYNSEL_ERROR_TEXTS.
 * Ownership: both texts are static and stay.
 * Returns: better not. It may end the program, reset the machine, or in a test leave with
 *     longjmp(), after which dynsel must not be used any more. When it returns, the library stops
 *     the program with a trap.
 * Context: wherever the library is called from, interrupts too, perhaps with a lock of the library
 *     held or interrupts masked; from several threads at once. It must call nothing of dynsel.
 * Cost: none while all assumptions hold, beside that of the checks.
 */
void dynsel_assert_failed(const char *file, unsigned line, const char *condition);

DYNSEL_END_DECLS

#endif
