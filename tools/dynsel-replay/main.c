/* SPDX-License-Identifier: Apache-2.0 */
/* dynsel-replay: repeats the choices of a trace, or asks what would have been. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "log.h"
#include "recording.h"
#include "whatif.h"

static const char help[] =
    "Usage: dynsel-replay check FILE [--policy N]\n"
    "       dynsel-replay what-if FILE [--recorded N] [--csv FILE] [CASE] [-- CASE]...\n"
    "\n"
    "check: lets the policies of a trace choose again, each with the clock, the tasks, the\n"
    "candidates and the reports of the recorded run, and compares each choice.\n"
    "\n"
    "  --policy N      only the policy with this number in the trace\n"
    "\n"
    "what-if: plays the recorded program on simulated devices: as it was placed, which tells how\n"
    "good the model is; with the recorded policy choosing anew; and as each case says.\n"
    "\n"
    "  --recorded N    the policy with this number in the trace; default: what placed the most\n"
    "  --csv FILE      also writes the table as numbers\n"
    "A case, of some of these; `--` or --case begins the next one:\n"
    "  --case NAME     what the table calls it\n"
    "  --policy NAME   fixed_resource:RES, round_robin, dynamic_load, auto_tune, earliest_finish\n"
    "  --speed RES=F   the resource is F times as fast\n"
    "  --without RES   it is gone\n"
    "  --add RES=N     N more like it\n"
    "  --latency RES=NS  from the end of work there until the program sees it\n"
    "  --trace FILE    writes the trace of the simulated run\n"
    "\n"
    "FILE is what dynsel_trace_write() wrote, `-` standard input. It must have lost no records, "
    "and\n"
    "for check the trace must have begun before the policy's first choice. RES is a name as in "
    "the\n"
    "trace.\n"
    "\n"
    "Exit status: 0 success, 1 a choice differs, or an output cannot be written, 2 wrong usage, "
    "or\n"
    "the file is no trace that can be replayed.\n";

static bool parse_number(const char *text, uint32_t *number)
{
    char *end = NULL;
    const unsigned long value = strtoul(text, &end, 10);
    *number = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && value != 0 && value <= UINT16_MAX;
}

static int run_check(int argc, char **argv)
{
    const char *path = NULL;
    uint32_t policy = 0;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--policy") == 0 && i + 1 < argc) {
            if (!parse_number(argv[++i], &policy)) {
                return log_wrong("--policy %s: give the number of a policy, from 1 on", argv[i]);
            }
        } else if (argv[i][0] == '-' && argv[i][1] != '\0') {
            return log_wrong("%s: no such option, or its value is missing (see dynsel-replay "
                             "--help)",
                             argv[i]);
        } else if (path == NULL) {
            path = argv[i];
        } else {
            return log_wrong("check takes one file, and %s is another", argv[i]);
        }
    }
    if (path == NULL) {
        return log_wrong("check needs a file (see dynsel-replay --help)");
    }
    recording all;
    int status = recording_read(path, &all);
    if (status == 0) {
        status = check(&all, policy);
        recording_free(&all);
    }
    return status;
}

int main(int argc, char **argv)
{
    int status = EXIT_WRONG;
    bool wants_help = false;
    for (int i = 1; i < argc; i++) {
        wants_help = wants_help || strcmp(argv[i], "--help") == 0;
    }
    if (wants_help) {
        (void)fputs(help, stdout);
        status = 0;
    } else if (argc >= 2 && strcmp(argv[1], "check") == 0) {
        status = run_check(argc, argv);
    } else if (argc >= 2 && strcmp(argv[1], "what-if") == 0) {
        status = whatif(argc - 2, argv + 2);
    } else {
        (void)log_wrong("say `check` or `what-if` (see dynsel-replay --help)");
    }
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        log_error("standard output cannot be written");
        return EXIT_DIFFERENT;
    }
    return status;
}
