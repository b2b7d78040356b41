/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs over the host and OpenCL devices; DYNSEL_TEST_PROGRAMS says how many. */
#include "groups/play.h"
#include "groups/random_opencl.h"
#include "test.h"

enum { PROGRAMS = CONFIG_DYNSEL_SANITIZE ? 1000 : 2500 };

static void random_programs_on_opencl_agree_with_interpreter(void **state)
{
    (void)state;
    random_opencl_play(play_count(PROGRAMS), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_on_opencl_agree_with_interpreter),
    };
    return cmocka_run_group_tests(tests, random_opencl_begin, random_opencl_end);
}
