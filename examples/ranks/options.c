/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "../common/picture.h"
#include "../sepia/policies.h"
#include "../sepia/tone.h"
#include "strips.h"

#define MOST_REPEATS    100000
#define MOST_SILENCE_S  3600
#define USUAL_SILENCE_S 10
#define USUAL_POLICY    "earliest_finish"

static const struct option long_options[] = {
    {"policy", required_argument, NULL, 'p'}, {"repeat", required_argument, NULL, 'r'},
    {"rows", required_argument, NULL, 'R'},   {"workers", required_argument, NULL, 'w'},
    {"output", required_argument, NULL, 'o'}, {"silence", required_argument, NULL, 's'},
    {"trace", required_argument, NULL, 't'},  {"trace-records", required_argument, NULL, 'T'},
    {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
};

static int usual_policy(void)
{
    const int found = policies_find(USUAL_POLICY, strlen(USUAL_POLICY));

    return found >= 0 ? found : 0;
}

void options_help(void)
{
    printf(
        "Usage: ranks [OPTION]... [PICTURE.png]\n"
        "       mpirun -n N ranks [OPTION]... [PICTURE.png]\n"
        "Tones a picture in sepia, over several machines. The picture is cut into strips, and a "
        "policy\n"
        "of dynsel picks where each is worked on: this host, or a worker or OpenCL device of any "
        "rank.\n"
        "Each result is compared with a reference. At the end a table says who did what. Without\n"
        "PICTURE it makes one.\n"
        "\n"
        "  --policy NAME    how to pick; default: %s. There are\n"
        "                  ",
        policies_name((size_t)usual_policy()));
    for (size_t i = 0; policies_name(i) != NULL; i++) {
        printf("%s %s", i == 0 ? "" : ",", policies_name(i));
    }
    printf(
        "\n"
        "  --repeat N       tone the picture N times, 1 to %d; default: 1\n"
        "  --rows N         rows of a strip, 1 to %d; default: %d, or more where a picture needs\n"
        "                   over %d strips\n"
        "  --workers N      threads that each rank starts for the work, 0 to %d; default: 1;\n"
        "                   0: the threads of main() work\n"
        "  --output FILE    write the result; FILE appears when it is complete\n"
        "  --silence N      seconds after which a rank that does not answer is lost, 1 to %d;\n"
        "                   default: %d\n"
        "  --trace FILE     write what rank 0 did, when and why; dynsel-trace shows it\n"
        "  --trace-records N  room for so many events of 32 bytes; default: %d\n"
        "  --help           print this\n"
        "\n"
        "The environment variable DYNSEL_OPENCL of a rank may hold a selector for its OpenCL "
        "devices.\n"
        "\n"
        "Exit status: 0 success, also where a rank was lost, 1 failure (also when the result "
        "differs\n"
        "from the reference by more than %d of 255), 2 wrong usage.\n",
        MOST_REPEATS, PICTURE_MAX_SIDE, STRIPS_ROWS, STRIPS_MAX, CONFIG_DYNSEL_THREADS_WORKERS,
        MOST_SILENCE_S, USUAL_SILENCE_S, TRACE_FILE_RECORDS, TONE_TOLERANCE);
}

static int parse_number(const char *option, const char *text, uint32_t least, uint32_t most,
                        uint32_t *out)
{
    return arguments_number(text, strlen(text), least, most, out)
               ? 0
               : arguments_wrong("%s %s: give a number from %u to %u", option, text, least, most);
}

static int parse_text(const char **out, const char *option, const char *text)
{
    *out = text;
    return text[0] != '\0' ? 0 : arguments_wrong("%s: the name is empty", option);
}

static int parse_policy(options *o, const char *text)
{
    o->policy = policies_find(text, strlen(text));
    return o->policy >= 0 ? 0 : policies_unknown(text, strlen(text));
}

static int parse_option(options *o, int answer, char *const *argv)
{
    switch (answer) {
    case 'p':
        return parse_policy(o, optarg);
    case 'r':
        return parse_number("--repeat", optarg, 1, MOST_REPEATS, &o->repeat);
    case 'R':
        return parse_number("--rows", optarg, 1, PICTURE_MAX_SIDE, &o->rows);
    case 'w':
        return parse_number("--workers", optarg, 0, CONFIG_DYNSEL_THREADS_WORKERS, &o->workers);
    case 'o':
        return parse_text(&o->output, "--output", optarg);
    case 's':
        return parse_number("--silence", optarg, 1, MOST_SILENCE_S, &o->silence_s);
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
    if (count > 1) {
        return arguments_wrong("one picture at a time: '%s' is too many", operands[1]);
    }
    return count == 0 ? 0 : parse_text(&o->input, "PICTURE", operands[0]);
}

int options_parse(options *o, int argc, char **argv)
{
    int answer;

    *o = (options){.policy = usual_policy(),
                   .repeat = 1,
                   .workers = 1,
                   .silence_s = USUAL_SILENCE_S,
                   .trace_records = TRACE_FILE_RECORDS};
    opterr = 0;
    while ((answer = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        const int status = parse_option(o, answer, argv);
        if (status != 0 || o->help) {
            return status;
        }
    }
    return parse_operands(o, argc - optind, argv + optind);
}
