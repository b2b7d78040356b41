/* SPDX-License-Identifier: Apache-2.0 */
/* Tests adapt to the sizes that the configuration gives the tables. */
#ifndef DYNSEL_TESTS_ROOM_H
#define DYNSEL_TESTS_ROOM_H

#include <dynsel/config.h>

#include "test.h"

/* As many resources as the test is made for, if a policy has room for them. */
#define RESOURCES_UP_TO(wanted)                                                                    \
    (CONFIG_DYNSEL_MAX_RESOURCES < (wanted) ? CONFIG_DYNSEL_MAX_RESOURCES : (wanted))

/* As many workers as the test is made for, if there can be so many and a policy has room for them.
 */
#define WORKERS_UP_TO(wanted)                                                                      \
    RESOURCES_UP_TO(CONFIG_DYNSEL_THREADS_WORKERS < (wanted) ? CONFIG_DYNSEL_THREADS_WORKERS       \
                                                             : (wanted))

/* The first line of a test that shows nothing in a smaller configuration. */
#define NEEDS(enough)                                                                              \
    do {                                                                                           \
        if (!(enough)) {                                                                           \
            skip();                                                                                \
        }                                                                                          \
    } while (0)

#endif
