/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of the library stop the program with CONFIG_DYNSEL_ASSERTIONS; errors of the caller are a
 * status instead. */
#ifndef DYNSEL_PORT_ASSERT_H
#define DYNSEL_PORT_ASSERT_H

#include <dynsel/assert.h>

#if !CONFIG_DYNSEL_ASSERT_HOOK
#define DYNSEL_ASSERT_TELL(condition) ((void)0)
#elif CONFIG_DYNSEL_ERROR_TEXTS
#define DYNSEL_ASSERT_TELL(condition) dynsel_assert_failed(__FILE__, __LINE__, (condition))
#else
#define DYNSEL_ASSERT_TELL(condition) dynsel_assert_failed("", __LINE__, "")
#endif

/* __builtin_trap needs no C library, and a debugger shows the line. */
#define DYNSEL_ASSERT(condition)                                                                   \
    do {                                                                                           \
        if (CONFIG_DYNSEL_ASSERTIONS && !(condition)) {                                            \
            DYNSEL_ASSERT_TELL(#condition);                                                        \
            __builtin_trap();                                                                      \
        }                                                                                          \
    } while (0)

#endif
