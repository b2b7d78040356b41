/* SPDX-License-Identifier: Apache-2.0 */
/* What a stub of a system shows to the program. */
#ifndef TESTS_RTOS_SYSTEM_H
#define TESTS_RTOS_SYSTEM_H

#include <stdbool.h>

/* How often a thread slept. */
unsigned system_sleeps(void);

/* No lock is held, and no interrupt runs. */
bool system_is_as_before(void);

#endif
