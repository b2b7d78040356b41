/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/error.h>
#include <dynsel/selection.h>

#include <string.h>

#include "test.h"

#if CONFIG_DYNSEL_STATUS_NAMES

static void each_status_has_name_and_text(void **state)
{
    (void)state;
#define CHECK(name, value, text_)                                                                  \
    assert_int_equal(name, value);                                                                 \
    assert_string_equal(dynsel_status_name(name), #name);                                          \
    assert_string_equal(dynsel_status_text(name), text_);
    DYNSEL_STATUS_LIST(CHECK)
#undef CHECK
}

static void foreign_statuses_are_named_user_or_unknown(void **state)
{
    (void)state;
    assert_string_equal(dynsel_status_name(DYNSEL_E_USER), "DYNSEL_E_USER");
    assert_string_equal(dynsel_status_name((dynsel_status)(DYNSEL_E_USER - 7)), "DYNSEL_E_USER");
    assert_string_equal(dynsel_status_name((dynsel_status)5), "unknown status");
    assert_string_equal(dynsel_status_text((dynsel_status)-999), "unknown status");
}

static void each_reason_has_text(void **state)
{
    (void)state;
#define CHECK(name, text) assert_string_equal(dynsel_reason_text(name), text);
    DYNSEL_REASON_LIST(CHECK)
#undef CHECK
    assert_string_equal(dynsel_reason_text((dynsel_reason)99), "unknown reason");
}

static void error_text_is_one_line(void **state)
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

static void error_text_beyond_buffer_is_truncated_and_terminated(void **state)
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

static void error_text_has_no_control_characters(void **state)
{
    (void)state;
    const dynsel_error error = {.status = DYNSEL_E_TASK,
                                .function = "f\n\x1b[2J",
                                .subject = "G\xc2\x9b\x9b\t\xc3\xbc\xe2\x80\x8b!",
                                .detail = "line 1:\tx\nline {}\x07"};
    char text[128];
    (void)dynsel_error_text(&error, text, sizeof text);
    assert_string_equal(text, "f??[2J: the task failed: line 1:\tx\nline 0? [G???\xc3\xbc?!]");
}

static void unprintable_bytes_become_question_marks(void **state)
{
    static const struct {
        const char *text;
        const char *printable;
    } cases[] = {
        {"", ""},
        {NULL, ""},
        {"plain ~", "plain ~"},
        {"\x1b]0;x\x07\r\n\x7f", "?]0;x????"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\x80\xc1\x81\xff", "????"}, /* begin nothing */
        {"\xc3", "?"},                /* end too soon */
        {"\xe2\x82", "??"},
        {"\xc3(", "?("},
        {"\xe0\x80\x80", "???"},                     /* too long for what they say */
        {"\xed\xa0\x80\xf4\x90\x80\x80", "???????"}, /* no characters */
        {"\xc2\x85\xc2\xad\xe2\x80\x8b\xef\xbb\xbf", "????"},
    };
    char buffer[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_ptr_equal(dynsel_printable(cases[i].text, buffer, sizeof buffer), buffer);
        assert_string_equal(buffer, cases[i].printable);
    }
    assert_string_equal(dynsel_printable("ab\xc3\xa4", buffer, 4), "ab"); /* not a half */
    assert_string_equal(dynsel_printable("ab\xc3\xa4", buffer, 5), "ab\xc3\xa4");
    assert_string_equal(dynsel_printable("ab", buffer, 1), "");
    assert_string_equal(dynsel_printable("ab", buffer, 0), "");
    assert_string_equal(dynsel_printable("ab", NULL, 9), "");
}

#else

static void texts_without_error_texts_are_empty(void **state)
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

static void last_error_stays_until_next_error(void **state)
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
        cmocka_unit_test(each_status_has_name_and_text),
        cmocka_unit_test(foreign_statuses_are_named_user_or_unknown),
        cmocka_unit_test(each_reason_has_text),
        cmocka_unit_test(error_text_is_one_line),
        cmocka_unit_test(error_text_beyond_buffer_is_truncated_and_terminated),
        cmocka_unit_test(error_text_has_no_control_characters),
        cmocka_unit_test(unprintable_bytes_become_question_marks),
#else
        cmocka_unit_test(texts_without_error_texts_are_empty),
#endif
        cmocka_unit_test(last_error_stays_until_next_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
