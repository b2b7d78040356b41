/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs over the host and Oclgrind, which looks at each call of OpenCL and at each access
 * to memory, and tells on the standard error output what is wrong: nothing may be. What it says
 * while devices are found does not count, because the library asks for what not each driver has.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "groups/play.h"
#include "groups/random_opencl.h"
#include "test.h"

enum { PROGRAMS = 800, MOST_LINES = 4000 };

static FILE *said;
static int error_output;

static int begin(void **state)
{
    if (random_opencl_begin(state) != 0) {
        return 1;
    }
    said = tmpfile();
    error_output = dup(STDERR_FILENO);
    return said == NULL || dup2(fileno(said), STDERR_FILENO) < 0;
}

static bool said_nothing(void)
{
    static long heard;
    const long before = heard;
    (void)fflush(stderr);
    heard = lseek(STDERR_FILENO, 0, SEEK_CUR);
    return heard == before;
}

static void random_programs_on_oclgrind_agree_with_interpreter(void **state)
{
    (void)state;
    random_opencl_play(play_count(PROGRAMS), said_nothing);
}

static int end(void **state)
{
    char line[200];
    int lines = 0;
    (void)fflush(stderr);
    (void)dup2(error_output, STDERR_FILENO);
    rewind(said);
    for (; lines < MOST_LINES && fgets(line, sizeof line, said) != NULL; lines++) {
        print_error("%s", line);
    }
    (void)fclose(said);
    return random_opencl_end(state) != 0 || lines > 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_on_oclgrind_agree_with_interpreter),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
