/* SPDX-License-Identifier: Apache-2.0 */
/* Our own mistakes stop the program, where CONFIG_DYNSEL_ASSERTIONS is on; a caller's mistakes are
 * a status instead. */
#ifndef DYNSEL_PORT_ASSERT_H
#define DYNSEL_PORT_ASSERT_H

#include <dynsel/config.h>

/* __builtin_trap needs no C library, and a debugger shows the line. */
#define DYNSEL_ASSERT(condition)                                                                   \
    do {                                                                                           \
        if (CONFIG_DYNSEL_ASSERTIONS && !(condition)) {                                            \
            __builtin_trap();                                                                      \
        }                                                                                          \
    } while (0)

#endif
