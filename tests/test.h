/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every test includes: the test runner (cmocka on hosts, tests/runner where there is none) and
 * a few assertions that tell what went wrong.
 */
#ifndef DYNSEL_TESTS_TEST_H
#define DYNSEL_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/error.h>

/* The runners know nothing of C++. */
DYNSEL_BEGIN_DECLS
#if DYNSEL_TESTS_SMALL_RUNNER
#include "runner/runner.h"
#else
#include <cmocka.h>
#endif
DYNSEL_END_DECLS

/* In sanitizers and emulators, where programs run some ten times as long: what a test repeats to
 * find rare cases, or for the sake of a mean, it repeats less there. Other variants repeat it in
 * full, and how well a policy chooses is the same in all of them. */
#define SLOW_HERE                                                                                  \
    (CONFIG_DYNSEL_SANITIZE || CONFIG_DYNSEL_SANITIZE_THREAD || !CONFIG_DYNSEL_HAS_FULL_SPEED)

/* Entries of a list of tests, with the functions set_up() and tear_down() of their file. */
#define TEST(test)        cmocka_unit_test_setup_teardown(test, set_up, tear_down)
#define TEST_SET_UP(test) cmocka_unit_test_setup(test, set_up)

/* Compares two statuses and shows their names, and the details of the last failure. */
#define assert_status(expected, actual)                                                            \
    check_status((expected), (actual), #actual, __FILE__, __LINE__)

/* What the last failure of this thread tells beside its status, where such is kept. */
#define assert_error_number(expected)                                                              \
    assert_int_equal(dynsel_last_error()->number, CONFIG_DYNSEL_ERROR_DETAILS ? (expected) : 0)
#define assert_error_code(expected)                                                                \
    assert_int_equal(dynsel_last_error()->code, CONFIG_DYNSEL_ERROR_DETAILS ? (expected) : 0)

/* The last failure of this thread mentions `part` in its text. */
#define assert_error_says(part) check_error_says((part), __FILE__, __LINE__)

static inline void check_status(dynsel_status expected, dynsel_status actual, const char *call,
                                const char *file, int line)
{
    if (expected != actual) {
        char text[512];
        (void)dynsel_error_text(NULL, text, sizeof text);
        print_error("%s is %s (%d), expected %s; last error: %s\n", call,
                    dynsel_status_name(actual), (int)actual, dynsel_status_name(expected), text);
        _fail(file, line);
    }
}

static inline int text_contains(const char *text, const char *part)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && text[i] == part[i]) {
            i++;
        }
        if (part[i] == '\0') {
            return 1;
        }
    }
    return *part == '\0' ? 1 : 0;
}

static inline void check_error_says(const char *part, const char *file, int line)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    if (CONFIG_DYNSEL_ERROR_TEXTS && !text_contains(text, part)) {
        print_error("the last error does not mention \"%s\": %s\n", part, text);
        _fail(file, line);
    }
}

#endif
