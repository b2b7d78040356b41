/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that begin at the same time. Needs _POSIX_C_SOURCE. */
#ifndef DYNSEL_TESTS_TOGETHER_H
#define DYNSEL_TESTS_TOGETHER_H

#include <pthread.h>
#include <stdint.h>

#include "test.h"

enum { TOGETHER_MOST = 16 };

static pthread_barrier_t together_begin;
static void (*together_body)(uint32_t number);

static inline void *together_run(void *number)
{
    (void)pthread_barrier_wait(&together_begin);
    together_body(*(const uint32_t *)number);
    return NULL;
}

/* Runs body(0), body(1), ... in threads of their own, and waits for their ends. */
static inline void run_together(uint32_t count, void (*body)(uint32_t number))
{
    pthread_t threads[TOGETHER_MOST];
    uint32_t numbers[TOGETHER_MOST];
    assert_true(count <= TOGETHER_MOST);
    together_body = body;
    assert_int_equal(pthread_barrier_init(&together_begin, NULL, count), 0);
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, together_run, &numbers[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    (void)pthread_barrier_destroy(&together_begin);
}

#endif
