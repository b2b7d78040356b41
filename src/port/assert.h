/* SPDX-License-Identifier: Apache-2.0 */
/* Our own mistakes stop the program, where CONFIG_DYNSEL_ASSERTIONS is on; a caller's mistakes are
 * a status instead. */
#ifndef DYNSEL_PORT_ASSERT_H
#define DYNSEL_PORT_ASSERT_H

#include <dynsel/config.h>
#include <dynsel/port.h>

#if CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_ASSERT_FILE __FILE__
#else
#define DYNSEL_ASSERT_FILE NULL
#endif

#define DYNSEL_ASSERT(condition)                                                                   \
    do {                                                                                           \
        if (CONFIG_DYNSEL_ASSERTIONS && !(condition)) {                                            \
            dynsel_port_assertion_failed(DYNSEL_ASSERT_FILE, __LINE__);                            \
        }                                                                                          \
    } while (0)

#endif
