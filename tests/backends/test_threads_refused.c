/* SPDX-License-Identifier: Apache-2.0 */
/* Where the system gives no more threads: what was asked for is there as a whole, or not at all.
 * Where it has more processors than there can be workers. */
#define _GNU_SOURCE /* RTLD_NEXT */

#include <dynsel/dynsel.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "room.h"
#include "test.h"

enum { WORKERS = WORKERS_UP_TO(4), NEVER = -1 };

static int left = NEVER; /* threads that the system still gives */
static int created;

/* Instead of the C library's. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*begin)(void *),
                   void *argument)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    void *const found = dlsym(RTLD_NEXT, "pthread_create");
    if (left == 0) {
        return EAGAIN;
    }
    left -= left != NEVER ? 1 : 0;
    created++;
    memcpy(&real, &found, sizeof real);
    return real(thread, attributes, begin, argument);
}

static long online; /* processors; 0: as many as there are */

/* Instead of the C library's. */
long sysconf(int name)
{
    long (*real)(int) = NULL;
    void *found = NULL;
    if (name == _SC_NPROCESSORS_ONLN && online != 0) {
        return online;
    }
    found = dlsym(RTLD_NEXT, "sysconf");
    memcpy(&real, &found, sizeof real);
    return real(name);
}

static void assert_refused(dynsel_status status)
{
    assert_status(DYNSEL_E_DEVICE, status);
#if CONFIG_DYNSEL_ERROR_DETAILS
    assert_int_equal(dynsel_last_error()->code, EAGAIN);
    assert_error_says("start fewer workers");
#endif
    left = NEVER;
}

static void failed_thread_creation_starts_no_worker(void **state)
{
    (void)state;
    for (int given = 0; given < WORKERS; given++) {
        left = given;
        assert_refused(dynsel_threads_start(WORKERS));
        created = 0;
        assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
        assert_int_equal(created, WORKERS); /* no one was there before */
        assert_status(DYNSEL_OK, dynsel_threads_stop());
    }
}

static void init_with_unstartable_workers_is_refused(void **state)
{
    static dynsel_round_robin_policy policy;
    dynsel_resource resources[WORKERS];
    size_t count = 0;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources, WORKERS, &count));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    const dynsel_options given = {.resources = resources, .count = count};
    const dynsel_options by_default = {.backend = &dynsel_threads_backend};
    left = 0;
    assert_refused(dynsel_round_robin_init(&policy, &given, 0));
    left = 0;
    assert_refused(dynsel_round_robin_init(&policy, &by_default, 0));
    left = 0;
    assert_refused(dynsel_threads_resources(resources, WORKERS, &count));
    assert_int_equal(count, 0);
    assert_status(DYNSEL_OK, dynsel_threads_stop()); /* nobody uses any */
}

/* How many workers run if as many are wanted as there are processors. */
static size_t count_usual(long processors)
{
    size_t count = 0;
    online = processors;
    assert_status(DYNSEL_OK, dynsel_threads_start(0));
    assert_status(DYNSEL_OK, dynsel_threads_resources(NULL, 0, &count));
    assert_status(DYNSEL_OK, dynsel_threads_stop());
    return count;
}

static void processors_beyond_table_are_told(void **state)
{
    enum { TABLE = CONFIG_DYNSEL_THREADS_WORKERS };
    (void)state;
    assert_int_equal(count_usual(TABLE), TABLE);
    assert_int_equal(dynsel_threads_processors(), TABLE);
    assert_int_equal(count_usual(TABLE + 1), TABLE);
    assert_int_equal(dynsel_threads_processors(), TABLE + 1);
    assert_status(DYNSEL_E_FULL, dynsel_threads_start(dynsel_threads_processors()));
    assert_error_says("workers are wanted: set it to as many");
    assert_int_equal(count_usual(1), 1);
    assert_int_equal(count_usual(-1), 1); /* the system does not know */
    assert_int_equal(dynsel_threads_processors(), 1);
    online = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failed_thread_creation_starts_no_worker),
        cmocka_unit_test(init_with_unstartable_workers_is_refused),
        cmocka_unit_test(processors_beyond_table_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
