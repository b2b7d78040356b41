/* SPDX-License-Identifier: Apache-2.0 */
/* dynsel-replay repeats the choices of recorded runs, bit for bit. */
#include <dynsel/dynsel.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "random.h"
#include "test.h"
#include "tools/replayed_program.h"
#include "tools/replayed_trace.h"

enum { PROGRAMS = 200 };

static char path[64];

/* The choices of the program of a seed are the same, bit for bit. */
static void check_program(unsigned long long seed)
{
    char arguments[256];
    replayed_program_record(path, seed);
    (void)snprintf(arguments, sizeof arguments, "check %s > %s.txt 2>&1", path, path);
    const int status = replayed_trace_replay(arguments);
    if (status != 0) {
        char show[128];
        (void)snprintf(show, sizeof show, "cat %s.txt >&2", path);
        assert_int_equal(0, system(show));
        print_error("DYNSEL_TEST_SEED=%llu is the program\n", seed);
    }
    assert_int_equal(0, status);
}

static void test_random_programs(void **state)
{
    (void)state;
    const uint64_t seed = test_seed();
    const char *programs = getenv("DYNSEL_TEST_PROGRAMS");
    const uint32_t count = programs != NULL ? (uint32_t)strtoul(programs, NULL, 10) : PROGRAMS;
    for (uint32_t i = 0; i < count; i++) {
        check_program(seed + i);
    }
}

/* A policy that was initialized twice, a group that a lost device refused, and a window of work in
 * which a resource was drained. */
static void test_programs_that_went_wrong(void **state)
{
    static const unsigned long long seeds[] = {501897, 1795642478, 1795913021};
    (void)state;
    for (uint32_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++) {
        check_program(seeds[i]);
    }
}

int main(void)
{
    (void)snprintf(path, sizeof path, "/tmp/dynsel-replay-%ld", (long)getpid());
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs_that_went_wrong),
                                       cmocka_unit_test(test_random_programs)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char text[80];
    (void)snprintf(text, sizeof text, "%s.txt", path);
    (void)remove(path);
    (void)remove(text);
    return failed;
}
