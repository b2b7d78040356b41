/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/log.h"

#include <string.h>

#include "backends/opencl/describe.h"
#include "backends/opencl/kernels.h"
#include "base/text_slice.h"
#include "port/lock.h"

typedef struct kept_log {
    dynsel_opencl_identity whose; /* all zero: nobody's */
    char text[CONFIG_DYNSEL_OPENCL_BUILD_LOG_BYTES];
} kept_log;

static kept_log logs[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
static dynsel_lock logs_lock = DYNSEL_LOCK_INITIALIZER;

static kept_log *log_at(const dynsel_opencl_entry *entry)
{
    return &logs[entry - dynsel_opencl_known.entries];
}

/* Of what does not fit the first lines are kept: later complaints often follow from the first. */
static void cut(char *text, size_t bytes)
{
    static const char more[] = "\n...";
    const size_t length = strlen(text);
    if (length + 1 < bytes) {
        return;
    }
    size_t end = bytes > sizeof(more) ? bytes - sizeof(more) : 0;
    while (end > 0 && text[end] != '\n') {
        end--;
    }
    if (end > 0) {
        (void)memcpy(text + end, more, sizeof(more));
    }
}

/* In an error's detail `{}` stands for a number. */
static void part_braces(char *text, size_t bytes)
{
    for (char *at = strstr(text, "{}"); at != NULL; at = strstr(at, "{}")) {
        const size_t rest = strlen(at); /* the closing brace, and what follows, with its end */
        if ((size_t)(at - text) + rest + 2 > bytes) {
            at[1] = '\0';
            return;
        }
        (void)memmove(at + 2, at + 1, rest);
        at[1] = ' ';
    }
}

/* Into a place for drivers' texts: drivers refuse to tell a part. False: it is longer even than
 * that. */
static bool read_log(const dynsel_opencl_entry *entry, cl_program program, kept_log *log)
{
    size_t room = 0;
    dynsel_lock_acquire(&dynsel_opencl_lock);
    char *const answer = dynsel_opencl_room_for_answer(&room);
    answer[0] = '\0';
    const cl_int code =
        clGetProgramBuildInfo(program, entry->device, CL_PROGRAM_BUILD_LOG, room - 1, answer, NULL);
    answer[room - 1] = '\0';
    if (code == CL_SUCCESS) {
        dynsel_text_copy(log->text, sizeof(log->text),
                         dynsel_text_trim(dynsel_text_slice_of(answer)));
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return code == CL_SUCCESS;
}

void dynsel_opencl_keep_log(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel,
                            cl_program program)
{
    static const char too_long[] = "the compiler's log is too long to be kept";
    kept_log *const log = log_at(entry);
    dynsel_lock_acquire(&logs_lock);
    log->whose = dynsel_opencl_identity_of(kernel);
    log->text[0] = '\0';
    if (!read_log(entry, program, log)) {
        dynsel_text_copy(log->text, sizeof(log->text), dynsel_text_slice_of(too_long));
    }
    cut(log->text, sizeof(log->text));
    part_braces(log->text, sizeof(log->text));
    dynsel_lock_release(&logs_lock);
}

const char *dynsel_opencl_log_of(const dynsel_opencl_entry *entry, const dynsel_kernel *kernel)
{
    const kept_log *const log = log_at(entry);
    dynsel_lock_acquire(&logs_lock);
    const bool is_kept = dynsel_opencl_is_identity(&log->whose, kernel) && log->text[0] != '\0';
    dynsel_lock_release(&logs_lock);
    return is_kept ? log->text : NULL;
}

void dynsel_opencl_forget_logs(void)
{
    (void)memset(logs, 0, sizeof(logs));
}
