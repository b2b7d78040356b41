/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/runner.h"

#include <stdbool.h>

typedef enum outcome { PASSED, FAILED, SKIPPED } outcome;

static jmp_buf end_of_test;
static volatile bool in_test;
static bool skipped;

void _fail(const char *file, int line)
{
    print_error("[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
    skipped = false;
    if (!in_test) {
        for (;;) { /* nobody is there to hear of it: the test hangs, and that is seen */
        }
    }
    longjmp(end_of_test, 1);
}

void _skip(const char *file, int line)
{
    (void)file;
    (void)line;
    skipped = true;
    longjmp(end_of_test, 1);
}

/* Both kinds of function, one of them NULL. */
static outcome call(CMUnitTestFunction test, CMFixtureFunction fixture, void **state)
{
    volatile outcome result = FAILED;
    in_test = true;
    if (setjmp(end_of_test) == 0) {
        if (test != NULL) {
            test(state);
            result = PASSED;
        } else if (fixture != NULL) {
            result = fixture(state) == 0 ? PASSED : FAILED;
        }
    } else {
        result = skipped ? SKIPPED : FAILED;
    }
    in_test = false;
    return result;
}

static outcome run_fixture(CMFixtureFunction fixture, const char *name, const char *what,
                           void **state)
{
    const outcome result = fixture == NULL ? PASSED : call(NULL, fixture, state);
    if (result == FAILED) {
        print_error("[  ERROR   ] %s failed: %s\n", what, name);
    }
    return result;
}

/* As on the host a test that was skipped is torn down, one that was not set up is not. */
static outcome run_test(const struct CMUnitTest *test, void *state)
{
    outcome result = run_fixture(test->setup_func, test->name, "the set-up", &state);
    if (result != PASSED) {
        return result;
    }
    result = call(test->test_func, NULL, &state);
    if (run_fixture(test->teardown_func, test->name, "the tear-down", &state) == FAILED) {
        return FAILED;
    }
    return result;
}

static void list_failed(const struct CMUnitTest *tests, const outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (outcomes[i] == FAILED) {
            print_message("[  FAILED  ] %s\n", tests[i].name);
        }
    }
}

enum { MOST_TESTS = 200 };

static int run_all(const struct CMUnitTest *tests, size_t count, void *state)
{
    static const char *const words[] = {"[       OK ]", "[  FAILED  ]", "[  SKIPPED ]"};
    static outcome outcomes[MOST_TESTS];
    unsigned totals[3] = {0};
    for (size_t i = 0; i < count; i++) {
        print_message("[ RUN      ] %s\n", tests[i].name);
        outcomes[i] = run_test(&tests[i], state);
        totals[outcomes[i]]++;
        print_message("%s %s\n", words[outcomes[i]], tests[i].name);
    }
    print_message("[==========] %u test(s) run.\n[  PASSED  ] %u test(s).\n", (unsigned)count,
                  totals[PASSED]);
    if (totals[SKIPPED] != 0) {
        print_message("[  SKIPPED ] %u test(s).\n", totals[SKIPPED]);
    }
    if (totals[FAILED] != 0) {
        print_message("[  FAILED  ] %u test(s), listed below:\n", totals[FAILED]);
        list_failed(tests, outcomes, count);
    }
    return (int)totals[FAILED];
}

int runner_run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
               CMFixtureFunction teardown)
{
    void *state = NULL;
    if (count == 0 || count > MOST_TESTS) {
        print_error("a group has 1 to %d tests, not %u\n", (int)MOST_TESTS, (unsigned)count);
        return 1;
    }
    print_message("[==========] Running %u test(s).\n", (unsigned)count);
    if (run_fixture(setup, "all", "the set-up", &state) == FAILED) {
        return (int)count;
    }
    int failed = run_all(tests, count, state);
    failed += run_fixture(teardown, "all", "the tear-down", &state) == FAILED ? 1 : 0;
    return failed;
}

void runner_compare(int holds, uintmax_t left, const char *sign, uintmax_t right, const char *file,
                    int line)
{
    if (!holds) {
        print_error("[  ERROR   ] --- 0x%jx %s 0x%jx\n", left, sign, right);
        _fail(file, line);
    }
}

void runner_in_range(uintmax_t value, uintmax_t least, uintmax_t most, const char *file, int line)
{
    if (value < least || value > most) {
        print_error("[  ERROR   ] --- %ju is not within the range %ju-%ju\n", value, least, most);
        _fail(file, line);
    }
}

void runner_is(int holds, const char *what, const char *file, int line)
{
    if (!holds) {
        print_error("[  ERROR   ] --- %s\n", what);
        _fail(file, line);
    }
}

void runner_compare_texts(const char *left, const char *right, const char *file, int line)
{
    size_t i = 0;
    while (left[i] != '\0' && left[i] == right[i]) {
        i++;
    }
    if (left[i] != right[i]) {
        print_error("[  ERROR   ] --- \"%s\" != \"%s\"\n", left, right);
        _fail(file, line);
    }
}

void runner_compare_bytes(const void *left, const void *right, size_t count, const char *file,
                          int line)
{
    const unsigned char *a = left;
    const unsigned char *b = right;
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            print_error("[  ERROR   ] --- difference at offset %u: 0x%02x 0x%02x\n", (unsigned)i,
                        a[i], b[i]);
            _fail(file, line);
        }
    }
}
