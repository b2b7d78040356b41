/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

static const char *const USAGE =
    "Usage: dynsel-bench [options]\n"
    "What a submit costs: over the backend inline beside its floor, on OpenCL devices beside the\n"
    "same calls by hand. Asserts nothing: missed budgets are marked, and the exit status is 0.\n"
    "\n"
    "  --csv FILE        the rows of the tables as CSV too\n"
    "  --repetitions N   samples of each loop, the median counts (1 to 64, default 15)\n"
    "  --times N         turns of a loop in a sample (default 50000)\n"
    "  --label TEXT      what was built, for the first lines\n"
    "  --calls N         only count OpenCL calls, in N batches; needs the layer in OPENCL_LAYERS\n"
    "  --phases N        only run OpenCL submits, N batches each, for callgrind\n"
    "  --help            this text\n"
    "\n"
    "Which OpenCL devices: DYNSEL_OPENCL, such as DYNSEL_OPENCL=gpu. On one that is slow to "
    "answer\n"
    "in turn, take fewer repetitions.\n";

static bool parse_number(const char *option, const char *text, unsigned long most,
                         unsigned long *number)
{
    char *end = NULL;
    *number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || *number == 0 || *number > most) {
        (void)fprintf(stderr, "dynsel-bench: %s: '%s' is not a number from 1 to %lu\n", option,
                      text, most);
        return false;
    }
    return true;
}

static bool take_number(const char *name, const char *value, bench_options *options)
{
    unsigned long number = 0;
    const bool is_repetitions = strcmp(name, "--repetitions") == 0;
    if (!parse_number(name, value, is_repetitions ? MEASURE_MAX_SAMPLES : 100000000, &number)) {
        return false;
    }
    if (is_repetitions) {
        options->repetitions = (unsigned)number;
    } else if (strcmp(name, "--times") == 0) {
        options->times = (uint32_t)number;
    } else {
        options->mode = strcmp(name, "--calls") == 0 ? BENCH_CALLS : BENCH_PHASES;
        options->batches = (unsigned)number;
    }
    return true;
}

static bool take(const char *name, const char *value, bench_options *options)
{
    static const char *const numbers[] = {"--repetitions", "--times", "--calls", "--phases"};
    const bool is_csv = strcmp(name, "--csv") == 0;
    bool is_number = false;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        is_number = is_number || strcmp(name, numbers[i]) == 0;
    }
    if (!is_csv && !is_number && strcmp(name, "--label") != 0) {
        (void)fprintf(stderr, "dynsel-bench: unknown option '%s'; --help lists them\n", name);
        return false;
    }
    if (value == NULL) {
        (void)fprintf(stderr, "dynsel-bench: %s needs a value\n", name);
        return false;
    }
    if (is_number) {
        return take_number(name, value, options);
    }
    *(is_csv ? &options->csv : &options->label) = value;
    return true;
}

bool bench_options_parse(int argc, char **argv, bench_options *options)
{
    *options = (bench_options){.repetitions = 15, .times = 50000};
    for (int i = 1; i < argc; i += 2) {
        if (strcmp(argv[i], "--help") == 0) {
            options->help = true;
            (void)fputs(USAGE, stdout);
            return true;
        }
        if (!take(argv[i], i + 1 < argc ? argv[i + 1] : NULL, options)) {
            return false;
        }
    }
    return true;
}
