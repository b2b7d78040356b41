/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the devices when it is built, for each aspect of <dynsel/aspects.def>: the
 * traits exist, are constants, and say what the macros of seed 003 say. Other lists of targets,
 * other languages and `#if` are in tests/build/test_aspects.py.
 */
#include <dynsel/aspects.h>

#include <string.h>

#include "test.h"

/* Each is there for each aspect, or this does not compile. */
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    _Static_assert(dynsel_all_devices_have(name) == 0 || dynsel_all_devices_have(name) == 1, "");  \
    _Static_assert(dynsel_any_device_has(name) == 0 || dynsel_any_device_has(name) == 1, "");      \
    _Static_assert(dynsel_all_devices_have(name) <= dynsel_any_device_has(name), "");
#include <dynsel/aspects.def>

/* "1" where a macro is defined so, its name where it is not. */
#define TEXT_OF(macro)  TEXT_OF_(macro)
#define TEXT_OF_(macro) #macro

#if defined(__DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__)
enum { ANY_ASPECT = 1 };
#else
enum { ANY_ASPECT = 0 };
#endif

typedef struct row {
    const char *name, *text, *seed_all, *seed_any;
    int all, any;
} row;

static const row rows[] = {
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    {#name,                                                                                        \
     text,                                                                                         \
     TEXT_OF(__DYNSEL_ALL_DEVICES_HAVE_##name##__),                                                \
     TEXT_OF(__DYNSEL_ANY_DEVICE_HAS_##name##__),                                                  \
     dynsel_all_devices_have(name),                                                                \
     dynsel_any_device_has(name)},
#include <dynsel/aspects.def>
    {NULL, NULL, NULL, NULL, 0, 0}, /* a list may be empty */
};

enum { COUNT = sizeof(rows) / sizeof(rows[0]) - 1 };

static void aspect_count_equals_list(void **state)
{
    (void)state;
    assert_int_equal(DYNSEL_ASPECT_COUNT, COUNT);
    assert_int_equal(DYNSEL_ASPECT_END_, COUNT);
}

static void traits_agree_with_specified_macros(void **state)
{
    (void)state;
    for (size_t i = 0; i != COUNT; i++) {
        assert_int_equal(rows[i].all, strcmp(rows[i].seed_all, "1") == 0);
        assert_int_equal(rows[i].any, ANY_ASPECT || strcmp(rows[i].seed_any, "1") == 0);
    }
}

static void any_aspect_macro_replaces_single_ones(void **state)
{
    (void)state;
    unsigned any = 0;
    for (size_t i = 0; i != COUNT; i++) {
        any += strcmp(rows[i].seed_any, "1") == 0;
    }
    if (ANY_ASPECT) {
        assert_int_equal(any, 0);
    } else {
        assert_in_range(any, 0, COUNT - 1);
    }
}

static void each_aspect_has_text(void **state)
{
    (void)state;
    for (size_t i = 0; i != COUNT; i++) {
        assert_true(strlen(rows[i].text) > 5);
        assert_null(strchr(rows[i].text, '\n'));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aspect_count_equals_list),
        cmocka_unit_test(traits_agree_with_specified_macros),
        cmocka_unit_test(any_aspect_macro_replaces_single_ones),
        cmocka_unit_test(each_aspect_has_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
