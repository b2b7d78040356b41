/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "trace_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dynsel/error.h>

static const char *program;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    static char line[8192], clean[8192]; /* a name of a file may take 4096 */
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: %s\n", program, dynsel_printable(line, clean, sizeof clean));
}

#if CONFIG_DYNSEL_TRACE_TO_RINGS

enum { MARK_BYTES = 16 };

static struct {
    const char *path; /* NULL: no trace is wanted */
    FILE *file;
    dynsel_trace_record *records;
} trace;

static int fail(const char *why)
{
    struct stat about;
    say("--trace %s: %s", trace.path, why);
    if (trace.file != NULL) {
        (void)fclose(trace.file);
        if (stat(trace.path, &about) == 0 && S_ISREG(about.st_mode)) {
            (void)unlink(trace.path); /* a part of a trace is of no use */
        }
    }
    free(trace.records);
    trace.path = NULL;
    trace.file = NULL;
    trace.records = NULL;
    return EXIT_FAILURE;
}

/* The devices tell when work ran. Too late where the program has used the backend already. */
static void profile_devices(void)
{
#if CONFIG_DYNSEL_BACKEND_OPENCL
    static const dynsel_opencl_options with_times = {.queue_properties = CL_QUEUE_PROFILING_ENABLE};
    const dynsel_status status = dynsel_opencl_configure(&with_times);
    (void)status;
#endif
}

int trace_file_begin(const char *program_name, const char *path, uint32_t records)
{
    const size_t bytes = records * sizeof(dynsel_trace_record);
    program = program_name;
    trace.path = path;
    if (path == NULL) {
        return EXIT_SUCCESS;
    }
    trace.file = fopen(path, "wb");
    if (trace.file == NULL) {
        return fail(strerror(errno));
    }
    trace.records = malloc(bytes);
    if (trace.records == NULL) {
        return fail("the host has no memory for so many records");
    }
    (void)memset(trace.records, 0, bytes); /* so that no event waits for a page */
    profile_devices();
    if (dynsel_trace_start(trace.records, records) != DYNSEL_OK) {
        char text[512];
        (void)dynsel_error_text(NULL, text, sizeof text);
        return fail(text);
    }
    return EXIT_SUCCESS;
}

static dynsel_status append(void *file, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, file) == count ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

int trace_file_end(void)
{
    if (trace.path == NULL) {
        return EXIT_SUCCESS;
    }
    if (dynsel_trace_stop() != DYNSEL_OK || dynsel_trace_write(append, trace.file) != DYNSEL_OK) {
        return fail(strerror(errno));
    }
    const int status = fclose(trace.file);
    trace.file = NULL;
    if (status != 0) {
        return fail(strerror(errno));
    }
    const uint64_t lost = dynsel_trace_lost();
    if (lost != 0) {
        say("--trace %s: %llu records were lost, the oldest of each thread; --trace-records makes "
            "more room",
            trace.path, (unsigned long long)lost);
    }
    free(trace.records);
    trace.path = NULL;
    return EXIT_SUCCESS;
}

void trace_file_mark(const char *name, uint32_t number)
{
    char digits[12];
    char text[MARK_BYTES + 1];
    const int length = snprintf(digits, sizeof digits, " %u", (unsigned)number);
    (void)snprintf(text, sizeof text, "%.*s%s", MARK_BYTES - length, name, digits);
    dynsel_trace_mark(text);
}

void trace_file_name(const dynsel_task *task, const char *name)
{
    dynsel_trace_name(task, name);
}

#else

int trace_file_begin(const char *program_name, const char *path, uint32_t records)
{
    (void)records;
    program = program_name;
    if (path != NULL) {
        say("--trace needs a build with CONFIG_DYNSEL_TRACE; `scons CONF=trace` makes one");
        return TRACE_FILE_WRONG_USAGE;
    }
    return EXIT_SUCCESS;
}

int trace_file_end(void)
{
    return EXIT_SUCCESS;
}

void trace_file_mark(const char *name, uint32_t number)
{
    (void)name;
    (void)number;
}

void trace_file_name(const dynsel_task *task, const char *name)
{
    (void)task;
    (void)name;
}

#endif
