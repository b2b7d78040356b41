/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without threads: one is run at once, to its end. Tests that need two at a time ask for
 * CONFIG_DYNSEL_CONTEXT_THREADS. */
#ifndef DYNSEL_TESTS_POSIX_PTHREAD_H
#define DYNSEL_TESTS_POSIX_PTHREAD_H

#include <stddef.h>

typedef struct test_thread {
    void *result;
} pthread_t;

static inline int pthread_create(pthread_t *thread, const void *attributes, void *(*body)(void *),
                                 void *argument)
{
    (void)attributes;
    thread->result = body(argument);
    return 0;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    if (result != NULL) {
        *result = thread.result;
    }
    return 0;
}

#endif
