/* SPDX-License-Identifier: Apache-2.0 */
/* Counts that several threads decrease do not stay below 0. */
#include <pthread.h>

#include "port/atomic.h"
#include "test.h"

enum { THREADS = 3, TURNS = SLOW_HERE ? 20000 : 200000 };

static dynsel_word count;

static void *decrease(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < TURNS; i++) {
        dynsel_word_decrease(&count);
    }
    return NULL;
}

static void counts_do_not_stay_below_0(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, decrease, NULL));
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
    dynsel_word_decrease(&count);
    assert_int_equal(1, dynsel_word_load_relaxed(&count));
    dynsel_word_decrease(&count);
    assert_int_equal(0, dynsel_word_load_relaxed(&count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_do_not_stay_below_0),
        cmocka_unit_test(counts_become_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
