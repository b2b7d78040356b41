/* SPDX-License-Identifier: Apache-2.0 */
/* Without CONFIG_DYNSEL_ASPECTS: the structures are as small as if there were no aspects, and what
 * is known when a program is built is there all the same. */
#include <dynsel/dynsel.h>

#include "test.h"

#if CONFIG_DYNSEL_COMMAND_GROUPS
enum { END = offsetof(dynsel_task, requirements) };
#else
enum { END = sizeof(dynsel_task) };
#endif

#if CONFIG_DYNSEL_TIME_LIMITS
enum { BEFORE_END = offsetof(dynsel_task, limit_ns) + sizeof(uint64_t) };
#else
enum { BEFORE_END = offsetof(dynsel_task, key_word_count) + sizeof(size_t) };
#endif

static void tasks_and_policies_have_no_aspect_fields(void **state)
{
    (void)state;
    assert_int_equal(END, BEFORE_END);
    assert_in_range(offsetof(dynsel_task, key_words) - offsetof(dynsel_task, id), sizeof(uint32_t),
                    sizeof(void *));
    assert_in_range(offsetof(dynsel_policy, resources) - offsetof(dynsel_policy, failure),
                    sizeof(dynsel_kept_error), sizeof(dynsel_kept_error) + sizeof(void *) - 1);
}

static void aspect_traits_exist_without_aspects_option(void **state)
{
    (void)state;
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    assert_true(dynsel_all_devices_have(name) <= dynsel_any_device_has(name));                     \
    assert_true(DYNSEL_ASPECT_BIT(name) != 0);
#include <dynsel/aspects.def>
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_and_policies_have_no_aspect_fields),
        cmocka_unit_test(aspect_traits_exist_without_aspects_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
