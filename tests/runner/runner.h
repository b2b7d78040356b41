/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of cmocka that the tests use, by the same names, for boards that have no cmocka. Needs
 * no heap and of the C library only setjmp(); what it prints looks as on the host.
 */
#ifndef DYNSEL_TESTS_RUNNER_H
#define DYNSEL_TESTS_RUNNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction test_func;
    CMFixtureFunction setup_func;
    CMFixtureFunction teardown_func;
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL                                                                          \
    }
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                        \
    {                                                                                              \
#f, f, setup, teardown                                                                     \
    }
#define cmocka_unit_test_setup(f, setup)                                                           \
    {                                                                                              \
#f, f, setup, NULL                                                                         \
    }
#define cmocka_unit_test_teardown(f, teardown)                                                     \
    {                                                                                              \
#f, f, NULL, teardown                                                                      \
    }

/* 0, or how many tests failed: what main() returns. */
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    runner_run((tests), sizeof(tests) / sizeof((tests)[0]), (setup), (teardown))

int runner_run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
               CMFixtureFunction teardown);

/* Where int and long are the same, uint32_t may be either, and %u prints both. */
#if __SIZEOF_LONG__ == __SIZEOF_INT__
#define RUNNER_PRINTS(text)
#else
#define RUNNER_PRINTS(text) __attribute__((format(printf, text, (text) + 1)))
#endif

/* As printf(), with %d %i %u %x %c %s %p %%, the lengths h hh l ll z j t, `-`, `0` and a width;
 * floating point is shown as it was asked for, without its value. */
void print_message(const char *format, ...) RUNNER_PRINTS(1);
void print_error(const char *format, ...) RUNNER_PRINTS(1);

/* Ends the test that runs. */
void _fail(const char *file, int line) __attribute__((noreturn));
void _skip(const char *file, int line) __attribute__((noreturn));
#define fail() _fail(__FILE__, __LINE__)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("[  ERROR   ] --- " __VA_ARGS__);                                              \
        print_error("\n");                                                                         \
        fail();                                                                                    \
    } while (0)
#define skip() _skip(__FILE__, __LINE__)

/* A message, and the end of the test, unless the comparison holds. */
void runner_compare(int holds, uintmax_t left, const char *sign, uintmax_t right, const char *file,
                    int line);
void runner_compare_texts(const char *left, const char *right, const char *file, int line);
void runner_compare_bytes(const void *left, const void *right, size_t count, const char *file,
                          int line);
void runner_is(int holds, const char *what, const char *file, int line);
void runner_in_range(uintmax_t value, uintmax_t least, uintmax_t most, const char *file, int line);

#define RUNNER_NUMBER(value)  ((uintmax_t)(value))
#define RUNNER_ADDRESS(value) ((uintmax_t)(uintptr_t)(value))

#define assert_true(condition) runner_is((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define assert_false(condition)                                                                    \
    runner_is((condition) ? 0 : 1, "!(" #condition ")", __FILE__, __LINE__)
#define assert_null(pointer) runner_is((pointer) == NULL, #pointer " is NULL", __FILE__, __LINE__)
#define assert_non_null(pointer)                                                                   \
    runner_is((pointer) != NULL, #pointer " is not NULL", __FILE__, __LINE__)
#define assert_int_equal(left, right)                                                              \
    runner_numbers_equal(RUNNER_NUMBER(left), RUNNER_NUMBER(right), __FILE__, __LINE__)
#define assert_int_not_equal(left, right)                                                          \
    runner_numbers_differ(RUNNER_NUMBER(left), RUNNER_NUMBER(right), __FILE__, __LINE__)
#define assert_ptr_equal(left, right)                                                              \
    runner_numbers_equal(RUNNER_ADDRESS(left), RUNNER_ADDRESS(right), __FILE__, __LINE__)
#define assert_ptr_not_equal(left, right)                                                          \
    runner_numbers_differ(RUNNER_ADDRESS(left), RUNNER_ADDRESS(right), __FILE__, __LINE__)
#define assert_in_range(value, least, most)                                                        \
    runner_in_range(RUNNER_NUMBER(value), RUNNER_NUMBER(least), RUNNER_NUMBER(most), __FILE__,     \
                    __LINE__)
#define assert_string_equal(left, right) runner_compare_texts((left), (right), __FILE__, __LINE__)
#define assert_memory_equal(left, right, count)                                                    \
    runner_compare_bytes((left), (right), (count), __FILE__, __LINE__)

static inline void runner_numbers_equal(uintmax_t left, uintmax_t right, const char *file, int line)
{
    runner_compare(left == right, left, "!=", right, file, line);
}

static inline void runner_numbers_differ(uintmax_t left, uintmax_t right, const char *file,
                                         int line)
{
    runner_compare(left != right, left, "==", right, file, line);
}

#endif
