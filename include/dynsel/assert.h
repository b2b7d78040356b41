/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The reaction of a program to an inconsistent internal state of the library: a bug in dynsel, or
 * overwritten memory. Errors of a caller are a status instead.
 *
 * With CONFIG_DYNSEL_ASSERTIONS the library checks; the reaction is CONFIG_DYNSEL_ASSERT_TRAP, or
 * with CONFIG_DYNSEL_ASSERT_HOOK the function here, which the program defines.
 */
#ifndef DYNSEL_ASSERT_H
#define DYNSEL_ASSERT_H

#include <dynsel/config.h>

DYNSEL_BEGIN_DECLS

/**
 * Called with CONFIG_DYNSEL_ASSERT_HOOK with the place of a failed assertion; for example to store
 * the place in memory that survives a reset, and to reset. If a program does not define it, the
 * library's own version does nothing. In other configurations it is never called.
 *
 * file: the source in dynsel's tree, such as "src/submission/slot.c", the same for every build
 *     folder; empty without CONFIG_DYNSEL_ERROR_TEXTS.
 * line: in that file, from 1 on.
 * condition: the condition, as written there; empty without CONFIG_DYNSEL_ERROR_TEXTS.
 * Ownership: both texts are static and stay.
 * Returns: preferably not. It may end the program, reset the machine, or in a test leave with
 *     longjmp(), after which dynsel must not be used any more. When it returns, the library stops
 *     the program with a trap.
 * Context: wherever the library is called from, interrupts too, perhaps with a lock of the library
 *     held or interrupts masked; from several threads at once. It must call nothing of dynsel.
 * Cost: none while all assertions hold, except that of the checks.
 */
void dynsel_assert_failed(const char *file, unsigned line, const char *condition);

DYNSEL_END_DECLS

#endif
