/* SPDX-License-Identifier: Apache-2.0 */
/* Counts from which several threads take more than they gave are 0 at the end. */
#include <pthread.h>

#include "port/atomic.h"
#include "test.h"

enum { THREADS = 3, TURNS = SLOW_HERE ? 20000 : 200000 };

static dynsel_word count;

static void *take_more_than_given(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < TURNS; i++) {
        (void)dynsel_word_add_relaxed(&count, 1);
        (void)dynsel_word_subtract(&count, 1);
        (void)dynsel_word_subtract(&count, 1);
    }
    return NULL;
}

static void counts_of_threads_end_at_0(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, take_more_than_given, NULL));
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
    }
    assert_int_equal(0, dynsel_word_load_relaxed(&count));
}

static void counts_become_less(void **state)
{
    (void)state;
    dynsel_word_store_relaxed(&count, 2);
    assert_int_equal(1, dynsel_word_subtract(&count, 1));
    assert_int_equal(0, dynsel_word_subtract(&count, 3));
    assert_int_equal(0, dynsel_word_load_relaxed(&count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_of_threads_end_at_0),
        cmocka_unit_test(counts_become_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
