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

static void tasks_and_policies_carry_no_aspects(void **state)
{
    (void)state;
    assert_int_equal(END, offsetof(dynsel_task, key_word_count) + sizeof(size_t));
    assert_in_range(offsetof(dynsel_policy, resources) - offsetof(dynsel_policy, failure),
                    sizeof(dynsel_kept_error), sizeof(dynsel_kept_error) + sizeof(void *) - 1);
}

static void the_traits_are_there(void **state)
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
        cmocka_unit_test(tasks_and_policies_carry_no_aspects),
        cmocka_unit_test(the_traits_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
