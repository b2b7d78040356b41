/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own hook hears the place of a broken assumption, and need not return. */
#include "port/assert.h"

#include <setjmp.h>
#include <string.h>

#include <dynsel/policy.h>

#include "test.h"

static jmp_buf leave;
static struct {
    const char *file;
    unsigned line;
    const char *condition;
    unsigned times;
} heard;

void dynsel_assert_failed(const char *file, unsigned line, const char *condition)
{
    heard.file = file;
    heard.line = line;
    heard.condition = condition;
    heard.times++;
    longjmp(leave, 1);
}

static const char *if_texts(const char *text)
{
    return CONFIG_DYNSEL_ERROR_TEXTS ? text : "";
}

static void assert_hook_gets_file_line_and_condition(void **state)
{
    (void)state;
    static unsigned line;
    heard.times = 0;
    if (setjmp(leave) == 0) {
        line = __LINE__ + 1;
        DYNSEL_ASSERT(heard.times == 1);
        fail();
    }
    assert_int_equal(heard.times, 1);
    assert_int_equal(heard.line, line);
    assert_string_equal(heard.file, if_texts(__FILE__));
    assert_string_equal(heard.condition, if_texts("heard.times == 1"));
}

static void assert_hook_gets_assertions_of_library(void **state)
{
    (void)state;
    static dynsel_policy none;
    heard.times = 0;
    if (setjmp(leave) == 0) {
        (void)dynsel_policy_may_use(&none, 0, NULL);
        fail();
    }
    assert_int_equal(heard.times, 1);
    assert_in_range(heard.line, 1, CONFIG_DYNSEL_ONE_FILE ? 100000 : 800);
    assert_string_equal(heard.file, if_texts("src/policy/candidates.c"));
    assert_true(!CONFIG_DYNSEL_ERROR_TEXTS ||
                strstr(heard.condition, "dynsel_policy_is_usable(policy)") == heard.condition);
}

static void assert_hook_is_not_called_for_true_assertion(void **state)
{
    (void)state;
    heard.times = 0;
    if (setjmp(leave) == 0) {
        DYNSEL_ASSERT(heard.times == 0);
    }
    assert_int_equal(heard.times, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assert_hook_gets_file_line_and_condition),
        cmocka_unit_test(assert_hook_gets_assertions_of_library),
        cmocka_unit_test(assert_hook_is_not_called_for_true_assertion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
