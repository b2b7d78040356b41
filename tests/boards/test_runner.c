/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small runner itself: what it finds wrong, what it prints, and what it returns. It has its own
 * main(), because a runner that cannot fail would pass every test that it runs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runner/output.h"
#include "runner/runner.h"

static char said[8192];
static size_t said_length;

void runner_write(const char *text, size_t length)
{
    if (said_length + length < sizeof said) {
        memcpy(said + said_length, text, length);
        said_length += length;
        said[said_length] = '\0';
    }
}

static unsigned mistakes;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (void)fprintf(stderr, "line %d: %s\nit said:\n%s", __LINE__, #condition, said);        \
            mistakes++;                                                                            \
        }                                                                                          \
    } while (0)

static int steps; /* one digit for each function, in the order in which they were called */

static int set_up(void **state)
{
    static int something;
    *state = &something;
    steps = 10 * steps + 1;
    return 0;
}

static int set_up_badly(void **state)
{
    (void)state;
    return -1;
}

static int tear_down(void **state)
{
    assert_non_null(*state);
    steps = 10 * steps + 3;
    return 0;
}

static void passes(void **state)
{
    assert_non_null(*state);
    assert_int_equal(-1, -1);
    assert_int_not_equal(1, 2);
    assert_string_equal("abc", "abc");
    assert_memory_equal("abc", "abd", 2);
    assert_in_range(3, 3, 4);
    assert_ptr_equal(*state, *state);
    steps = 10 * steps + 2;
}

static void is_skipped(void **state)
{
    (void)state;
    steps = 10 * steps + 4;
    skip();
}

#define FAILS(name, statement)                                                                     \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        statement;                                                                                 \
        print_message("%s went on\n", #name);                                                      \
    }

FAILS(numbers, assert_int_equal(1, 2))
FAILS(same_numbers, assert_int_not_equal(7, 7))
FAILS(conditions, assert_true(1 > 2))
FAILS(negations, assert_false(1 < 2))
FAILS(pointers, assert_null(state))
FAILS(nothing, assert_non_null(NULL))
FAILS(texts, assert_string_equal("abc", "abd"))
FAILS(longer_texts, assert_string_equal("abc", "abcd"))
FAILS(bytes, assert_memory_equal("abc", "abd", 3))
FAILS(ranges, assert_in_range(5, 1, 4))
FAILS(itself, fail())
FAILS(messages, fail_msg("%d apples", 3))

static bool has(const char *part)
{
    return strstr(said, part) != NULL;
}

static int run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup)
{
    said_length = 0;
    said[0] = '\0';
    steps = 0;
    return runner_run(tests, count, setup, NULL);
}

static void test_order(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(passes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(is_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers, set_up, tear_down),
        cmocka_unit_test_setup(passes, set_up_badly),
    };
    EXPECT(run(tests, 4, NULL) == 2);
    EXPECT(steps == 12314313);
    EXPECT(has("[       OK ] passes") && has("[  SKIPPED ] is_skipped"));
    EXPECT(has("--- 0x1 != 0x2\n") && has("[  FAILED  ] numbers\n"));
    EXPECT(has("the set-up failed: passes"));
    EXPECT(has("[==========] 4 test(s) run.\n[  PASSED  ] 1 test(s).\n[  SKIPPED ] 1 test(s).\n"
               "[  FAILED  ] 2 test(s), listed below:\n"));
}

static void test_each_assertion_fails(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),   cmocka_unit_test(same_numbers), cmocka_unit_test(conditions),
        cmocka_unit_test(negations), cmocka_unit_test(pointers),     cmocka_unit_test(nothing),
        cmocka_unit_test(texts),     cmocka_unit_test(longer_texts), cmocka_unit_test(bytes),
        cmocka_unit_test(ranges),    cmocka_unit_test(itself),       cmocka_unit_test(messages),
    };
    enum { COUNT = sizeof tests / sizeof tests[0] };
    EXPECT(run(tests, COUNT, NULL) == COUNT);
    EXPECT(!has("went on"));
    EXPECT(has("3 apples\n") && has("test_runner.c:") && has("error: Failure!"));
    EXPECT(run(tests, COUNT, set_up_badly) == COUNT && !has("RUN"));
    EXPECT(run(tests, 0, NULL) == 1);
}

static void test_what_is_printed(void)
{
    said_length = 0;
    print_message("%d|%5d|%-5d|%05d|%u|%lu|%llu|%x|%02x|%c|%s|%8s|%-4s|%zu|%%|%ju\n", -7, 42, 42,
                  42, 7u, 8ul, 18446744073709551615ull, 0xbeefu, 5u, 'c', "text", "right", "l",
                  (size_t)9, (uintmax_t)10);
    EXPECT(strcmp(said, "-7|   42|42   |00042|7|8|18446744073709551615|beef|05|c|text|   right|l   "
                        "|9|%|10\n") == 0);
}

int main(void)
{
    test_order();
    test_each_assertion_fails();
    test_what_is_printed();
    return mistakes == 0 ? 0 : 1;
}
