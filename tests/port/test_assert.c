/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own dynsel_port_assertion_failed() takes the place of the library's. */
#include <dynsel/port.h>

#include <string.h>

#include "port/assert.h"
#include "test.h"

static jmp_buf back;
static const char *failed_file;
static int failed_line;

void dynsel_port_assertion_failed(const char *file, int line)
{
    failed_file = file;
    failed_line = line;
    longjmp(back, 1);
}

static void a_program_hears_of_a_failed_assertion(void **state)
{
    volatile int expected_line = 0;
    (void)state;
    if (setjmp(back) == 0) {
        DYNSEL_ASSERT(1 + 1 == 2);
        expected_line = __LINE__ + 1;
        DYNSEL_ASSERT(1 + 1 == 3);
        fail();
    }
    assert_int_equal(failed_line, expected_line);
    if (CONFIG_DYNSEL_ERROR_TEXTS) {
        assert_non_null(strstr(failed_file, "test_assert.c"));
    } else {
        assert_null(failed_file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_program_hears_of_a_failed_assertion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
