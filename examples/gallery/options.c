/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "stream.h"

#define MOST_REPEATS    100000
#define USUAL_IN_FLIGHT (STREAM_MAX_IN_FLIGHT < 8 ? STREAM_MAX_IN_FLIGHT : 8)

static const struct option long_options[] = {
    {"repeat", required_argument, NULL, 'r'},  {"in-flight", required_argument, NULL, 'i'},
    {"learned", required_argument, NULL, 'l'}, {"output", required_argument, NULL, 'o'},
    {"only", required_argument, NULL, 'n'},    {"compare", no_argument, NULL, 'c'},
    {"trace", required_argument, NULL, 't'},   {"trace-records", required_argument, NULL, 'T'},
    {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
};

void options_help(void)
{
    printf(
        "Usage: gallery [OPTION]... PICTURE.png|FOLDER...\n"
        "Runs three filters of unequal cost over each picture, several pieces of work in flight,\n"
        "and lets dynsel's policy earliest_finish choose where each runs: on this host, one of "
        "its\n"
        "workers, or an OpenCL device. Each result is compared with a reference. At the end a "
        "table\n"
        "says who did what.\n"
        "\n"
        "  --repeat N       show the pictures N times, 1 to %d; default: 1\n"
        "  --in-flight N    pieces of work in flight, 1 to %d; default: %d\n"
        "  --learned FILE   begin with what an earlier run learned, and keep what this one "
        "learns;\n"
        "                   FILE is made if it is not there, and dynsel-learned shows it\n"
        "  --only NAME      only this resource: its number or name in the table, or a part of it\n"
        "  --compare        first each resource alone, then all together\n"
        "  --output FOLDER  write each result to FOLDER/PICTURE-FILTER.png, in a further pass "
        "that\n"
        "                   is not measured; files there are overwritten, each when it is "
        "complete\n"
        "  --trace FILE     write what dynsel did, when and why; dynsel-trace shows it\n"
        "  --trace-records N  room for so many events of 32 bytes; default: %d\n"
        "  --help           print this\n"
        "\n"
        "The environment variable DYNSEL_OPENCL may hold a selector for the OpenCL devices.\n"
        "\n"
        "Exit status: 0 success, also where a damaged table was ignored, 1 failure (also when a\n"
        "result differs from the reference), 2 wrong usage.\n",
        MOST_REPEATS, STREAM_MAX_IN_FLIGHT, USUAL_IN_FLIGHT, TRACE_FILE_RECORDS);
}

static int parse_repeat(options *o, const char *text)
{
    return arguments_number(text, strlen(text), 1, MOST_REPEATS, &o->repeat)
               ? 0
               : arguments_wrong("--repeat %s: give a number from 1 to %d", text, MOST_REPEATS);
}

static int parse_in_flight(options *o, const char *text)
{
    if (arguments_number(text, strlen(text), 1, STREAM_MAX_IN_FLIGHT, &o->in_flight)) {
        return 0;
    }
    if (STREAM_MAX_BY_BUFFERS < CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        return arguments_wrong("--in-flight %s: give a number from 1 to %d, or build dynsel with "
                               "more than %d CONFIG_DYNSEL_MAX_BUFFERS: two for each",
                               text, STREAM_MAX_IN_FLIGHT, CONFIG_DYNSEL_MAX_BUFFERS);
    }
    return arguments_wrong("--in-flight %s: give a number from 1 to %d, or build dynsel with more "
                           "CONFIG_DYNSEL_MAX_IN_FLIGHT",
                           text, STREAM_MAX_IN_FLIGHT);
}

static int parse_text(const char **out, const char *option, const char *text)
{
    *out = text;
    return text[0] != '\0' ? 0 : arguments_wrong("%s: the name is empty", option);
}

static int parse_option(options *o, int answer, char *const *argv)
{
    switch (answer) {
    case 'r':
        return parse_repeat(o, optarg);
    case 'i':
        return parse_in_flight(o, optarg);
    case 'l':
        return parse_text(&o->learned, "--learned", optarg);
    case 'o':
        return parse_text(&o->output, "--output", optarg);
    case 'n':
        return parse_text(&o->only, "--only", optarg);
    case 'c':
        o->compare = true;
        return 0;
    case 't':
        return parse_text(&o->trace, "--trace", optarg);
    case 'T':
        return arguments_trace_records(optarg, &o->trace_records);
    case 'h':
        o->help = true;
        return 0;
    default:
        return arguments_refuse_option(answer, argv);
    }
}

static int parse_operands(options *o, int count, char *const *operands)
{
    if (count == 0) {
        return arguments_wrong("pictures are missing: gallery [OPTION]... PICTURE.png|FOLDER...");
    }
    for (int i = 0; i < count; i++) {
        if (operands[i][0] == '\0') {
            return arguments_wrong("the name of a picture is empty");
        }
    }
    if (o->only != NULL && o->compare) {
        return arguments_wrong("--compare runs each resource alone, and --only just one: give one "
                               "of them");
    }
    if (o->only != NULL && o->learned != NULL) {
        return arguments_wrong("--learned keeps what is known of all resources, and --only uses "
                               "just one: give one of them");
    }
    o->operands = operands;
    o->operand_count = count;
    return 0;
}

int options_parse(options *o, int argc, char **argv)
{
    int answer;

    *o = (options){.repeat = 1, .in_flight = USUAL_IN_FLIGHT, .trace_records = TRACE_FILE_RECORDS};
    opterr = 0;
    while ((answer = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        const int status = parse_option(o, answer, argv);
        if (status != 0 || o->help) {
            return status;
        }
    }
    return parse_operands(o, argc - optind, argv + optind);
}
