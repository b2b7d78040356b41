/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of fixed size at their limits, and the names that a misspelt one was meant to be. */
#include <string.h>

#include "base/text_slice.h"
#include "test.h"

static void copy_never_splits_character(void **state)
{
    static const struct {
        const char *from;
        size_t bytes;
        const char *copied;
    } cases[] = {
        {"abc", 4, "abc"},
        {"abcd", 4, "abc"},
        {"ab\xC3\xA4", 4, "ab"},   /* a-umlaut, of two bytes */
        {"a\xE2\x82\xAC", 4, "a"}, /* the euro sign, of three */
        {"\xE2\x82\xAC", 4, "\xE2\x82\xAC"},
        {"\xE2\x82\xAC", 3, ""},
        {"\x82\x82\x82\x82", 4, ""}, /* no character begins here */
        {"a", 1, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char to[8] = "xxxxxxx";
        dynsel_text_copy(to, cases[i].bytes, dynsel_text_slice_of(cases[i].from));
        assert_string_equal(cases[i].copied, to);
    }
}

static void append_stops_at_end_of_room(void **state)
{
    char to[6] = "ab";
    (void)state;
    dynsel_text_append(to, sizeof to, dynsel_text_slice_of("cde"));
    assert_string_equal("abcde", to);
    dynsel_text_append(to, sizeof to, dynsel_text_slice_of("f"));
    assert_string_equal("abcde", to);
    char small[4] = "abc";
    dynsel_text_append(small, 3, dynsel_text_slice_of("d")); /* longer than the room by now */
    assert_string_equal("abc", small);
}

static void nearest_name_shares_at_least_one_letter(void **state)
{
    static const char *const names[] = {"q", "gpu", "cpu"};
    (void)state;
    assert_string_equal("cpu", dynsel_text_nearest(dynsel_text_slice_of("cpi"), names, 3));
    assert_string_equal("gpu", dynsel_text_nearest(dynsel_text_slice_of("GPUS"), names, 3));
    assert_string_equal("q", dynsel_text_nearest(dynsel_text_slice_of("Q"), names, 3));
    assert_null(dynsel_text_nearest(dynsel_text_slice_of("z"), names, 1));
    assert_null(dynsel_text_nearest(dynsel_text_slice_of("accelerator"), names, 3));
    assert_null(dynsel_text_nearest(dynsel_text_slice_of("acceleratorsofall"), names, 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_never_splits_character),
        cmocka_unit_test(append_stops_at_end_of_room),
        cmocka_unit_test(nearest_name_shares_at_least_one_letter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
