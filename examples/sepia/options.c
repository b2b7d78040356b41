/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policies.h"
#include "sepia.h"
#include "tone.h"

#define MOST_REPEATS 100000

static const struct option long_options[] = {
    {"policy", required_argument, NULL, 'p'},
    {"device", required_argument, NULL, 'd'},
    {"repeat", required_argument, NULL, 'r'},
    {"tile", required_argument, NULL, 't'},
    {"list", no_argument, NULL, 'l'},
    {"output", required_argument, NULL, 'o'},
    {"quiet", no_argument, NULL, 'q'},
    {"trace", required_argument, NULL, 'T'},
    {"trace-records", required_argument, NULL, 'R'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

void options_help(void)
{
    printf(
        "Usage: sepia [OPTION]... INPUT.png\n"
        "Tones a photograph in sepia. The picture is cut into tiles, and a policy of dynsel picks\n"
        "the device that each tile is worked on: this host, or an OpenCL device.\n"
        "\n"
        "  -p, --policy NAME[:OFFSET]  how to pick; default: %s. There are\n"
        "                             ",
        policies_name(0));
    for (size_t i = 0; policies_name(i) != NULL; i++) {
        printf("%s %s", i == 0 ? "" : ",", policies_name(i));
    }
    printf(
        "\n"
        "                              OFFSET: the resource to begin with, as in --list, where "
        "the\n"
        "                              policy does not choose it itself\n"
        "  -d, --device SELECTOR       what to pick from; default: host and all OpenCL devices.\n"
        "                              Alternatives are separated by ';' or by another --device:\n"
        "                                host                       this host\n"
        "                                all, cpu, gpu, accelerator OpenCL devices of that type\n"
        "                                name=TEXT, platform=TEXT, vendor=TEXT, index=N\n"
        "                                                           terms, joined by ','\n"
        "  -t, --tile N or WxH         size of the tiles in pixels, 1 to %d; default: %d,\n"
        "                              or more where a picture needs over %d tiles\n"
        "  -r, --repeat N              tone the picture N times, 1 to %d, for longer measurements\n"
        "  -l, --list                  show the devices, which of them are chosen, and why\n"
        "  -o, --output FILE           default: INPUT-sepia.png in the current directory;\n"
        "                              FILE appears when it is complete, and may be INPUT\n"
        "  -q, --quiet                 print nothing but errors\n"
        "      --trace FILE            write what dynsel did, when and why; dynsel-trace shows it\n"
        "      --trace-records N       room for so many events of 32 bytes; default: %d\n"
        "  -h, --help                  print this\n"
        "\n"
        "The environment variable DYNSEL_OPENCL may hold a selector for the OpenCL devices that\n"
        "are used without --device.\n"
        "\n"
        "Exit status: 0 success, 1 failure (also when a result differs from the reference by more\n"
        "than %d of 255), 2 wrong usage.\n",
        PICTURE_MAX_SIDE, SEPIA_TILE, SEPIA_MAX_TILES, MOST_REPEATS, TRACE_FILE_RECORDS,
        TONE_TOLERANCE);
}

static int parse_policy(options *o, const char *text)
{
    size_t length = strcspn(text, ":");
    uint32_t offset = 0;

    o->policy = policies_find(text, length);
    if (o->policy < 0) {
        return policies_unknown(text, length);
    }
    if (text[length] == ':' && !policies_takes_offset(o->policy)) {
        return arguments_wrong(
            "--policy %s: %s chooses by itself where to begin, leave out what follows ':'", text,
            policies_name((size_t)o->policy));
    }
    if (text[length] == ':' && !arguments_number(text + length + 1, strlen(text + length + 1), 0,
                                                 CONFIG_DYNSEL_MAX_RESOURCES - 1, &offset)) {
        return arguments_wrong("--policy %s: after ':' goes the index of a resource, 0 to %d", text,
                               CONFIG_DYNSEL_MAX_RESOURCES - 1);
    }
    o->offset = offset;
    return 0;
}

static int parse_tile(options *o, const char *text)
{
    size_t width = strcspn(text, "xX");
    const char *height = text[width] == '\0' ? text : text + width + 1;

    if (!arguments_number(text, width, 1, PICTURE_MAX_SIDE, &o->tile_width) ||
        !arguments_number(height, strlen(height), 1, PICTURE_MAX_SIDE, &o->tile_height)) {
        return arguments_wrong(
            "--tile %s: give a number of pixels from 1 to %d, or two such as 256x64", text,
            PICTURE_MAX_SIDE);
    }
    return 0;
}

static int parse_repeat(options *o, const char *text)
{
    if (!arguments_number(text, strlen(text), 1, MOST_REPEATS, &o->repeat)) {
        return arguments_wrong("--repeat %s: give a number from 1 to %d", text, MOST_REPEATS);
    }
    return 0;
}

static size_t trimmed(const char *text, size_t length)
{
    while (length > 0 && strchr(" \t", text[length - 1]) != NULL) {
        length--;
    }
    return length;
}

static bool is_host(const char *text, size_t length)
{
    return trimmed(text, length) == strlen("host") &&
           strncasecmp(text, "host", strlen("host")) == 0;
}

/** Whether the host is one of several terms that are joined by ','. */
static bool joins_host(const char *text, size_t length)
{
    for (size_t start = 0, end = 0; start < length; start = end + 1) {
        start += strspn(text + start, " \t");
        end = start + strcspn(text + start, ",;");
        if (is_host(text + start, end - start) && (start > 0 || end < length)) {
            return true;
        }
    }
    return false;
}

/** One alternative of --device: the host, or a part of the OpenCL selector. */
static bool add_alternative(options *o, const char *text, size_t length)
{
    size_t used = strlen(o->selector);

    length = trimmed(text, length);
    if (is_host(text, length)) {
        o->host = true;
        return true;
    }
    o->opencl |= length > 0;
    int wanted = length == 0 ? 0
                             : snprintf(o->selector + used, sizeof o->selector - used, "%s%.*s",
                                        used == 0 ? "" : ";", (int)length, text);
    return (size_t)wanted < sizeof o->selector - used;
}

static int parse_device(options *o, const char *text)
{
    o->devices_given = true;
    for (const char *rest = text; *rest != '\0';) {
        rest += strspn(rest, "; \t");
        size_t length = strcspn(rest, ";");
        if (joins_host(rest, length)) {
            return arguments_wrong("--device '%s': host stands alone; put ';' around it", text);
        }
        if (length > INT16_MAX || !add_alternative(o, rest, length)) {
            return arguments_wrong(
                "--device: all selectors together are longer than %zu characters",
                sizeof o->selector - 1);
        }
        rest += length;
    }
    if (!o->host && !o->opencl) {
        return arguments_wrong("--device '%s': give 'host', 'all', 'gpu' or another selector",
                               text);
    }
    return 0;
}

static int set_output(options *o, const char *text)
{
    if (text[0] == '\0' || strcmp(text, "-") == 0) {
        return arguments_wrong("--output '%s': give the name of a file", text);
    }
    int length = snprintf(o->output, sizeof o->output, "%s", text);
    return (size_t)length < sizeof o->output ? 0
                                             : arguments_wrong("--output: the name is too long");
}

/** INPUT-sepia.png in the current directory. */
static int derive_output(options *o)
{
    const char *slash = strrchr(o->input, '/');
    const char *name = slash == NULL ? o->input : slash + 1;
    size_t length = strlen(name);

    if (length > 4 && strcmp(name + length - 4, ".png") == 0) {
        length -= 4;
    }
    int wanted = snprintf(o->output, sizeof o->output, "%.*s-sepia.png", (int)length, name);
    return (size_t)wanted < sizeof o->output
               ? 0
               : arguments_wrong("the name of the picture is too long");
}

static int parse_option(options *o, int answer, char *const *argv)
{
    switch (answer) {
    case 'p':
        return parse_policy(o, optarg);
    case 'd':
        return parse_device(o, optarg);
    case 'r':
        return parse_repeat(o, optarg);
    case 't':
        return parse_tile(o, optarg);
    case 'o':
        return set_output(o, optarg);
    case 'l':
        o->list = true;
        return 0;
    case 'q':
        o->quiet = true;
        return 0;
    case 'T':
        o->trace = optarg;
        return optarg[0] != '\0' ? 0 : arguments_wrong("--trace: the name is empty");
    case 'R':
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
    if (o->list || o->help) {
        return count == 0 ? 0 : arguments_wrong("--list takes no picture: '%s'", operands[0]);
    }
    if (count == 0) {
        return arguments_wrong("a picture is missing: sepia [OPTION]... INPUT.png");
    }
    if (count > 1) {
        return arguments_wrong("one picture at a time: '%s' is too many", operands[1]);
    }
    o->input = operands[0];
    return o->output[0] == '\0' ? derive_output(o) : 0;
}

int options_parse(options *o, int argc, char **argv)
{
    int answer;

    *o = (options){.repeat = 1, .trace_records = TRACE_FILE_RECORDS};
    opterr = 0;
    while ((answer = getopt_long(argc, argv, ":p:d:r:t:o:lqh", long_options, NULL)) != -1) {
        int status = parse_option(o, answer, argv);
        if (status != 0 || o->help) {
            return status;
        }
    }
    return parse_operands(o, argc - optind, argv + optind);
}
