/* SPDX-License-Identifier: Apache-2.0 */
/* Files and command lines that dynsel-replay refuses, each in one line. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reader itself, because a process for each torn file would take long. */
#include "../../tools/dynsel-replay/log.c"
#include "../../tools/dynsel-replay/trace_file.c"
#include "base/checksum.h"

#include "test.h"
#include "tools/replayed_trace.h"

enum { DIFFERENT = EXIT_DIFFERENT, WRONG = EXIT_WRONG, PIECES = 400 };

static char path[64];
static char text_path[64];

static dynsel_simulated_device devices[2];

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    dynsel_simulated_spend(where->handle == &devices[0] ? 50000 : 45000);
    return DYNSEL_OK;
}

/* A run of auto_tune. before: how many pieces come before the trace; removes: one of its resources
 * is removed at the end. */
static void record_with(uint32_t before, uint32_t pieces, bool removes)
{
    static dynsel_auto_tune_policy policy;
    dynsel_resource resources[2];
    dynsel_simulated_restart();
    for (uint32_t i = 0; i < 2; i++) {
        devices[i] = (dynsel_simulated_device){
            .name = i == 0 ? "first" : "second", .kind = DYNSEL_SIMULATED_THREAD, .submit_ns = 100};
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    dynsel_options options = {.resources = resources, .count = 2};
#if CONFIG_DYNSEL_RESOURCE_SETS
    options.may_change = removes;
#endif
    (void)memset(&policy, 0, sizeof policy);
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&policy, &options, DYNSEL_NEVER_RESAMPLE));
    for (uint32_t i = 0; i < before + pieces; i++) {
        if (i == before) {
            replayed_trace_begin();
        }
        const dynsel_task task = {.function = run, .id = 1};
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
    }
#if CONFIG_DYNSEL_RESOURCE_SETS
    assert_status(DYNSEL_OK,
                  removes ? dynsel_policy_remove_resource(&policy.policy, 0, 0) : DYNSEL_OK);
#else
    (void)removes;
#endif
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    replayed_trace_write(path);
}

static void record(uint32_t before, uint32_t pieces)
{
    record_with(before, pieces, false);
}

static unsigned char *read_file(const char *from, size_t *count)
{
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    assert_int_equal(0, fseek(file, 0, SEEK_END));
    *count = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = calloc(*count + 1, 1);
    assert_non_null(bytes);
    assert_int_equal(*count, fread(bytes, 1, *count, file));
    assert_int_equal(0, fclose(file));
    return bytes;
}

static void write_file(const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(count, fwrite(bytes, 1, count, file));
    assert_int_equal(0, fclose(file));
}

/* Whether the tool takes the bytes. */
static bool is_taken(const unsigned char *bytes, size_t count)
{
    trace_file file;
    unsigned char *copy = malloc(count + 1);
    assert_non_null(copy);
    (void)memcpy(copy, bytes, count);
    const int status = trace_file_take("it", copy, count, &file);
    if (status == 0) {
        trace_file_free(&file);
    }
    return status == 0;
}

/* Ends the errors of this process, which are many. */
static FILE *silence(void)
{
    FILE *kept = fdopen(dup(STDERR_FILENO), "w");
    assert_non_null(freopen("/dev/null", "w", stderr));
    return kept;
}

static void speak(FILE *kept)
{
    (void)fflush(stderr);
    assert_true(dup2(fileno(kept), STDERR_FILENO) >= 0);
    (void)fclose(kept);
}

static void test_torn_and_damaged(void **state)
{
    size_t count = 0;
    uint32_t wrong = 0;
    (void)state;
    record(0, 20);
    unsigned char *bytes = read_file(path, &count);
    assert_true(is_taken(bytes, count));
    FILE *kept = silence();
    for (size_t i = 0; i < count; i++) {
        wrong += is_taken(bytes, i) ? 1 : 0;
        bytes[i] ^= 0x10;
        wrong += is_taken(bytes, count) ? 1 : 0;
        bytes[i] ^= 0x10;
    }
    wrong += is_taken(bytes, count + 1) ? 1 : 0;
    speak(kept);
    free(bytes);
    assert_int_equal(0, wrong);
}

/* The exit status, one line of error, and a part of what is said. */
static void assert_said(int status, const char *arguments, const char *part)
{
    char words[512];
    size_t count = 0;
    (void)snprintf(words, sizeof words, "%s > %s 2>&1", arguments, text_path);
    const int actual = replayed_trace_replay(words);
    char *text = (char *)read_file(text_path, &count);
    if (actual != status || strstr(text, part) == NULL) {
        print_error("dynsel-replay %s: status %d, not %d with '%s':\n%s\n", arguments, actual,
                    status, part, text);
    }
    assert_int_equal(status, actual);
    assert_non_null(strstr(text, part));
    if (status == WRONG) {
        assert_ptr_equal(strchr(text, '\n'), text + count - 1);
    }
    free(text);
}

static void assert_of_file(int status, const char *format, const char *part)
{
    char words[256];
    (void)snprintf(words, sizeof words, format, path);
    assert_said(status, words, part);
}

static void test_command_lines(void **state)
{
    (void)state;
    record(0, 20);
    assert_said(0, "--help", "Usage:");
    assert_said(WRONG, "", "say `check` or `what-if`");
    assert_said(WRONG, "chek", "say `check` or `what-if`");
    assert_said(WRONG, "check", "needs a file");
    assert_said(WRONG, "what-if --policy auto_tune", "needs a file");
    assert_said(WRONG, "check /nowhere/file", "No such file");
    assert_said(WRONG, "check /tmp", "irectory");
    assert_said(WRONG, "check /dev/null", "the file is empty");
    assert_of_file(WRONG, "check %s more", "more is another");
    assert_of_file(WRONG, "check %s --polcy 1", "no such option");
    assert_of_file(WRONG, "check %s --policy", "value is missing");
    assert_of_file(WRONG, "check %s --policy -1", "the number of a policy");
    assert_of_file(WRONG, "check %s --policy 7", "under this number");
    assert_of_file(WRONG, "what-if %s --recorded 7", "with this number");
    assert_of_file(WRONG, "what-if %s --recorded x", "the number of a policy");
    assert_of_file(WRONG, "what-if %s --speed", "value is missing");
    assert_of_file(WRONG, "what-if %s --speed third=2", "the recorded ones are first, second");
    assert_of_file(WRONG, "what-if %s --speed first", "give RESOURCE=FACTOR");
    assert_of_file(WRONG, "what-if %s --speed first=", "give RESOURCE=FACTOR");
    assert_of_file(WRONG, "what-if %s --speed first=-2", "give RESOURCE=FACTOR");
    assert_of_file(WRONG, "what-if %s --speed first=nan", "give RESOURCE=FACTOR");
    assert_of_file(WRONG, "what-if %s --speed first=0", "give RESOURCE=FACTOR");
    assert_of_file(WRONG, "what-if %s --add first=1.5", "give RESOURCE=COUNT");
    assert_of_file(WRONG, "what-if %s --latency first=1e9", "give RESOURCE=NANOSECONDS");
    assert_of_file(WRONG, "what-if %s --without first --without second", "no resource is left");
    assert_of_file(WRONG, "what-if %s --policy fastest", "give fixed_resource");
    assert_of_file(WRONG, "what-if %s --policy fixed_resource:third", "the recorded ones are");
    assert_of_file(DIFFERENT, "what-if %s --csv /dev/full", "No space left");
    assert_of_file(DIFFERENT, "what-if %s --policy auto_tune --trace /nowhere/file",
                   "No such file");
    assert_of_file(DIFFERENT, "what-if %s --policy auto_tune --trace /dev/full", "/dev/full");
}

static void test_full_output(void **state)
{
    char words[256];
    (void)state;
    record(0, 20);
    (void)snprintf(words, sizeof words, "check %s > /dev/full 2> %s", path, text_path);
    assert_int_equal(DIFFERENT, replayed_trace_replay(words));
    (void)snprintf(words, sizeof words, "what-if %s > /dev/full 2> %s", path, text_path);
    assert_int_equal(DIFFERENT, replayed_trace_replay(words));
}

/* Puts right the checksums of a file that was changed. */
static void seal(unsigned char *bytes, size_t count)
{
    size_t at = FILE_HEAD;
    uint32_t crc = dynsel_crc32(0, bytes, FILE_HEAD - 4);
    (void)memcpy(bytes + FILE_HEAD - 4, &crc, sizeof crc);
    while (at < count) {
        uint64_t records = 0;
        (void)memcpy(&records, bytes + at + 16, sizeof records);
        const size_t length = (size_t)records * sizeof(dynsel_trace_record);
        crc = dynsel_crc32(0, bytes + at + RING_HEAD, length);
        (void)memcpy(bytes + at + 24, &crc, sizeof crc);
        crc = dynsel_crc32(0, bytes + at, RING_HEAD - 4);
        (void)memcpy(bytes + at + RING_HEAD - 4, &crc, sizeof crc);
        at += RING_HEAD + length;
    }
}

/* Changes the n-th record of this event, of reports those of times, and writes the file. */
static void change(dynsel_trace_event event, uint32_t nth, size_t offset, unsigned char with)
{
    size_t count = 0;
    unsigned char *bytes = read_file(path, &count);
    bool changed = false;
    for (size_t at = FILE_HEAD; at + sizeof(dynsel_trace_record) <= count && !changed; at += 32) {
        dynsel_trace_record record_here;
        (void)memcpy(&record_here, bytes + at, sizeof record_here);
        const bool is_other_report = record_here.event == DYNSEL_TRACE_REPORT &&
                                     (record_here.words[2] & 0xff) != DYNSEL_TASK_TIME;
        if (record_here.event == event && !is_other_report && record_here.piece != 0x01020304 &&
            nth-- == 0) {
            bytes[at + offset] = (unsigned char)(bytes[at + offset] ^ with);
            changed = true;
        }
    }
    assert_true(changed);
    seal(bytes, count);
    write_file(bytes, count);
    free(bytes);
}

/* One byte of a recorded time. */
static void test_changed_time(void **state)
{
    (void)state;
    record(0, PIECES);
    assert_of_file(0, "check %s", "400 choices are the same");
    uint32_t differ = 0;
    for (uint32_t nth = 0; nth < 10; nth++) { /* the policy takes medians */
        record(0, PIECES);
        change(DYNSEL_TRACE_REPORT, nth, 18, 0x40); /* 4 ms more */
        char words[256];
        (void)snprintf(words, sizeof words, "check %s > %s", path, text_path);
        differ += replayed_trace_replay(words) == DIFFERENT ? 1 : 0;
    }
    assert_true(differ >= 3);
    record(0, PIECES);
    change(DYNSEL_TRACE_CHOICE, 7, 13, 1); /* another resource */
    assert_of_file(DIFFERENT, "check %s", "choice 8 differs: piece 8 of kind id 1: recorded ");
}

static void test_unfit(void **state)
{
    size_t count = 0;
    (void)state;
    record(3, 20);
    assert_of_file(WRONG, "check %s", "before the trace began");
    assert_of_file(0, "what-if %s", "placed as recorded");
#if CONFIG_DYNSEL_RESOURCE_SETS
    record_with(0, 20, true);
    assert_of_file(WRONG, "check %s", "resources were added to policy 1 (auto_tune)");
    assert_of_file(0, "what-if %s", "placed as recorded");
#endif
    record(0, 20);
    change(DYNSEL_TRACE_POLICY, 0, 8, 1);
    assert_of_file(WRONG, "check %s", "another configuration");
    record(0, 20);
    change(DYNSEL_TRACE_POLICY, 0, 12, 0x80);
    assert_of_file(WRONG, "check %s", "an older library");
    record(0, 20);
    change(DYNSEL_TRACE_RESOURCE, 1, 12, 0x80);
    assert_of_file(WRONG, "check %s", "are not all in it");
    assert_of_file(WRONG, "what-if %s", "are not all in it");
    record(0, 20);
    change(DYNSEL_TRACE_KIND, 0, 12, 0x80);
    assert_of_file(WRONG, "check %s", "the kind of piece 1 is not in it");
    record(0, 20);
    change(DYNSEL_TRACE_CHOICE, 0, 11, 0x80);
    assert_of_file(WRONG, "check %s", "it is damaged");
    record(0, 20);
    change(DYNSEL_TRACE_CHOICE, 3, 12, 0x80);
    assert_of_file(WRONG, "check %s", "not its choice");
    record(0, 20);
    unsigned char *bytes = read_file(path, &count);
    bytes[12] = 2; /* version */
    seal(bytes, count);
    write_file(bytes, count);
    assert_of_file(WRONG, "check %s", "version 2");
    bytes[12] = 1;
    bytes[FILE_HEAD + RING_HEAD - 24]++; /* of the names, one more was written */
    seal(bytes, count);
    write_file(bytes, count);
    assert_of_file(WRONG, "check %s", "are lost");
    assert_of_file(WRONG, "what-if %s", "are lost");
    free(bytes);
}

int main(void)
{
    (void)snprintf(path, sizeof path, "/tmp/dynsel-replay-files-%ld", (long)getpid());
    (void)snprintf(text_path, sizeof text_path, "/tmp/dynsel-replay-files-%ld.txt", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torn_and_damaged),
        cmocka_unit_test(test_command_lines),
        cmocka_unit_test(test_full_output),
        cmocka_unit_test(test_changed_time),
        cmocka_unit_test(test_unfit),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)remove(path);
    (void)remove(text_path);
    return failed;
}
