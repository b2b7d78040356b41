/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/error.h>
#include <dynsel/selection.h>

#include <string.h>

#include "test.h"

#if CONFIG_DYNSEL_STATUS_NAMES

static void every_status_has_a_name_and_a_text(void **state)
{
    (void)state;
#define CHECK(name, value, text_)                                                                  \
    assert_int_equal(name, value);                                                                 \
    assert_string_equal(dynsel_status_name(name), #name);                                          \
    assert_string_equal(dynsel_status_text(name), text_);
    DYNSEL_STATUS_LIST(CHECK)
#undef CHECK
}

static void statuses_that_are_not_the_librarys_are_named_as_such(void **state)
{
    (void)state;
    assert_string_equal(dynsel_status_name(DYNSEL_E_USER), "DYNSEL_E_USER");
    assert_string_equal(dynsel_status_name((dynsel_status)(DYNSEL_E_USER - 7)), "DYNSEL_E_USER");
    assert_string_equal(dynsel_status_name((dynsel_status)5), "unknown status");
    assert_string_equal(dynsel_status_text((dynsel_status)-999), "unknown status");
}

static void every_reason_has_a_text(void **state)
{
    (void)state;
#define CHECK(name, text) assert_string_equal(dynsel_reason_text(name), text);
    DYNSEL_REASON_LIST(CHECK)
#undef CHECK
    assert_string_equal(dynsel_reason_text((dynsel_reason)99), "unknown reason");
}

static void an_error_becomes_one_line(void **state)
{
    (void)state;
    char text[256];
    const dynsel_error error = {.status = DYNSEL_E_FULL,
                                .function = "dynsel_submit",
                                .subject = "GPU 0",
                                .detail = "{} of a kind, {",
                                .number = 4294967295u,
                                .code = -5};
    const char *expected =
        "dynsel_submit: a table of fixed size is full: 4294967295 of a kind, { [GPU 0], code -5";
    assert_int_equal(dynsel_error_text(&error, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    const dynsel_error bare = {.status = (dynsel_status)-1234, .code = INT32_MIN};
    (void)dynsel_error_text(&bare, text, sizeof text);
    assert_string_equal(text, "the application's own status -1234, code -2147483648");
    const dynsel_error first = {.status = DYNSEL_E_USER};
    (void)dynsel_error_text(&first, text, sizeof text);
    assert_string_equal(text, "the application's own status -1000");
}

static void a_line_that_does_not_fit_is_cut_off_and_ended(void **state)
{
    (void)state;
    const dynsel_error error = {.status = DYNSEL_E_BUSY, .function = "f"};
    char whole[64];
    const size_t length = dynsel_error_text(&error, whole, sizeof whole);
    for (size_t bytes = 0; bytes <= length + 1; bytes++) {
        char text[64];
        memset(text, 'x', sizeof text);
        assert_int_equal(dynsel_error_text(&error, text, bytes), length);
        if (bytes > 0) {
            assert_int_equal(strlen(text), bytes - 1 < length ? bytes - 1 : length);
            assert_memory_equal(text, whole, strlen(text));
        }
        assert_int_equal(text[bytes], 'x');
    }
    assert_int_equal(dynsel_error_text(&error, NULL, 10), length);
}

#else

static void all_texts_are_empty(void **state)
{
    (void)state;
    char text[4] = "old";
    assert_string_equal(dynsel_status_name(DYNSEL_E_FULL), "");
    assert_string_equal(dynsel_status_text(DYNSEL_E_USER), "");
    assert_string_equal(dynsel_reason_text(DYNSEL_REASON_FIXED), "");
    assert_int_equal(dynsel_error_text(NULL, NULL, 0), 0);
    assert_int_equal(dynsel_error_text(NULL, text, 0), 0);
    assert_string_equal(text, "old");
    assert_int_equal(dynsel_error_text(NULL, text, 1), 0);
    assert_string_equal(text, "");
}

#endif

static void the_last_error_stays_until_the_next(void **state)
{
    (void)state;
    const dynsel_error error = {.status = DYNSEL_E_TASK, .code = 3, .function = "here"};
    assert_status(DYNSEL_E_TASK, dynsel_fail(&error));
    assert_error_code(3);
#if CONFIG_DYNSEL_ERROR_DETAILS
    assert_string_equal(dynsel_last_error()->function, "here");
#else
    assert_null(dynsel_last_error()->function);
#endif
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_TASK);
    assert_status(DYNSEL_E_INVALID, dynsel_fail(NULL));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_error_code(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if CONFIG_DYNSEL_STATUS_NAMES
        cmocka_unit_test(every_status_has_a_name_and_a_text),
        cmocka_unit_test(statuses_that_are_not_the_librarys_are_named_as_such),
        cmocka_unit_test(every_reason_has_a_text),
        cmocka_unit_test(an_error_becomes_one_line),
        cmocka_unit_test(a_line_that_does_not_fit_is_cut_off_and_ended),
#else
        cmocka_unit_test(all_texts_are_empty),
#endif
        cmocka_unit_test(the_last_error_stays_until_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
