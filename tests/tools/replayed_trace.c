/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/replayed_trace.h"

#include <dynsel/trace.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "test.h"

enum { RECORDS = 1 << 18 };

static dynsel_trace_record records[RECORDS];

void replayed_trace_begin(void)
{
    assert_status(DYNSEL_OK, dynsel_trace_start(records, RECORDS));
}

static dynsel_status append(void *file, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, file) == count ? DYNSEL_OK : DYNSEL_E_FULL;
}

void replayed_trace_write(const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_status(DYNSEL_OK, dynsel_trace_write(append, file));
    assert_int_equal(0, fclose(file));
}

int replayed_trace_replay(const char *arguments)
{
    const char *folder = getenv("DYNSEL_BIN");
    char command[1024];
    (void)snprintf(command, sizeof command, "%s/dynsel-replay %s", folder != NULL ? folder : ".",
                   arguments);
    (void)fflush(stdout);
    const int result = system(command);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}
