/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "log.h"

enum {
    OPERAND = 1,      /* getopt_long()'s answer for what is no option */
    LONGEST_NAME = 16 /* with its '\0' */
};

static const struct option known[] = {
    {"device", required_argument, NULL, 'd'},
    {"json", no_argument, NULL, OPTIONS_JSON},
    {"emit-target", no_argument, NULL, OPTIONS_EMIT_TARGET},
    {"check", no_argument, NULL, OPTIONS_CHECK},
    {"trace", required_argument, NULL, 't'},
    {"help", no_argument, NULL, OPTIONS_HELP},
    {"version", no_argument, NULL, OPTIONS_VERSION},
    {NULL, 0, NULL, 0},
};

void options_help(void)
{
    (void)fputs(
        "Usage: dynsel-info [--device SELECTOR] [[--json] [--trace FILE] | --emit-target | "
        "--check]\n"
        "Lists the devices for programs built with this configuration of dynsel: this host and "
        "all\n"
        "OpenCL devices. Shows the device target of each, and its aspects: those that its target\n"
        "promises, further ones (extra), and promised ones that the device does not have "
        "(broken).\n"
        "\n"
        "  -d, --device SELECTOR  the OpenCL devices to list; default: the selector in the\n"
        "                         environment variable DYNSEL_OPENCL, else all.\n"
        "                           all, cpu, gpu, accelerator, 0   a type, or a number of the "
        "list\n"
        "                           name=TEXT, platform=TEXT, vendor=TEXT, type=TYPE, index=N\n"
        "                                                           terms, joined by ',';\n"
        "                         ';' stands between alternatives\n"
        "  -j, --json             print one JSON document; tools/dynsel-info/json.h describes its\n"
        "                         fields\n"
        "  -e, --emit-target      print an entry for boards/targets.yaml for each chosen OpenCL\n"
        "                         device\n"
        "  -c, --check            print only findings: one line for each chosen device, and for "
        "the\n"
        "                         host, that breaks a promise of its target, or that no target of\n"
        "                         this build recognizes\n"
        "  -t, --trace FILE       after the list, give each chosen device 16 empty pieces of work\n"
        "                         one by one and 16 together, and write a trace: `dynsel-trace\n"
        "                         summary FILE` shows what each costs, and the devices' times\n"
        "  -V, --version          print the configuration that this program was built with\n"
        "  -h, --help             print this\n"
        "\n"
        "Short options can be joined: -jd0 is --json --device 0.\n"
        "\n"
        "Exit status: 0 success; 1 failure, also of a device in the trial of --trace, a finding "
        "of\n"
        "--check or nothing to check, or no device for --emit-target; 2 wrong usage.\n"
        "The list is as wide as the terminal, and 100 columns in a file or pipe. NO_COLOR "
        "switches\n"
        "colours off, as output into a file or pipe does.\n",
        stdout);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/** How many letters must be put in, taken out or changed to make `b` of the first letters of `a`.
 */
static unsigned distance(const char *a, size_t length, const char *b)
{
    unsigned row[LONGEST_NAME];
    size_t columns = strlen(b);

    for (size_t j = 0; j <= columns; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= columns; j++) {
            unsigned changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[columns];
}

/** The name of the option that was meant, or NULL. */
static const char *nearest(const char *text)
{
    const size_t dashes = least((unsigned)strspn(text, "-"), 2);
    const size_t length = strcspn(text + dashes, "=");
    unsigned best = 4;
    const char *found = NULL;

    for (const struct option *o = known; length < 64 && o->name != NULL; o++) {
        const unsigned d = distance(text + dashes, length, o->name) + 2 - (unsigned)dashes;
        if (d < best) {
            best = d;
            found = o->name;
        }
    }
    return found;
}

/** `typed`: an argument, or a letter and the argument that it stands in. */
static int unknown(const char *typed, int letter)
{
    const char *meant = nearest(typed);
    char which[16] = "";

    if (letter != 0 && typed[2] != '\0') {
        (void)snprintf(which, sizeof which, "'-%c', in ", letter);
    }
    log_error("no option is named %s'%.40s'%s%s%s; see dynsel-info --help", which, typed,
              meant != NULL ? " (did you mean '--" : "", meant != NULL ? meant : "",
              meant != NULL ? "'?)" : "");
    return EXIT_USAGE;
}

static int refuse_operand(const char *text)
{
    log_error("'%.40s': there are only options; to choose devices write --device '%.40s' (see "
              "dynsel-info --help)",
              text, text);
    return EXIT_USAGE;
}

static const char *name_of(int letter)
{
    const struct option *o = known;

    while (o->val != letter) {
        o++;
    }
    return o->name;
}

static int take_form(options *o, options_form form)
{
    if (o->form == OPTIONS_HELP || form == o->form) {
        return 0;
    }
    if (o->form != OPTIONS_TABLE && form != OPTIONS_HELP) {
        log_error("--%s and --%s: take one of them (see dynsel-info --help)", name_of((int)o->form),
                  name_of((int)form));
        return EXIT_USAGE;
    }
    o->form = form;
    return 0;
}

static int take_selector(options *o, const char *value)
{
    if (value == NULL || value[strspn(value, " \t")] == '\0') {
        log_error("--device needs a selector, such as --device gpu (see dynsel-info --help)");
        return EXIT_USAGE;
    }
    if (o->selector != NULL) {
        log_error("--device is there twice; write the alternatives into one, with ';' between "
                  "them (see dynsel-info --help)");
        return EXIT_USAGE;
    }
    o->selector = value;
    return 0;
}

static int take_trace(options *o, const char *value)
{
    if (value == NULL || value[0] == '\0') {
        log_error("--trace needs a file, such as --trace run.trace (see dynsel-info --help)");
        return EXIT_USAGE;
    }
    if (o->trace != NULL) {
        log_error("--trace is there twice (see dynsel-info --help)");
        return EXIT_USAGE;
    }
    o->trace = value;
    return 0;
}

/** The trial follows a list of the devices. */
static int check_together(const options *o)
{
    if (o->trace != NULL && (o->form == OPTIONS_EMIT_TARGET || o->form == OPTIONS_CHECK)) {
        log_error("--%s and --trace: take one of them (see dynsel-info --help)",
                  name_of((int)o->form));
        return EXIT_USAGE;
    }
    return 0;
}

/** answer: of getopt_long() about `typed`. */
static int take(options *o, int answer, const char *typed)
{
    switch (answer) {
    case OPERAND:
        return refuse_operand(typed);
    case 'd':
        return take_selector(o, optarg);
    case 't':
        return take_trace(o, optarg);
    case ':':
        return optopt == 't' ? take_trace(o, NULL) : take_selector(o, NULL);
    case '?':
        if (optopt == 0 || typed[1] != '-') {
            return unknown(typed, optopt);
        }
        log_error("--%s takes no value (see dynsel-info --help)", name_of(optopt));
        return EXIT_USAGE;
    default:
        return take_form(o, (options_form)answer);
    }
}

int options_parse(options *o, int argc, char **argv)
{
    int status = 0;

    *o = (options){0};
    opterr = 0;
    while (status == 0) {
        const char *typed = argv[optind];
        int index = -1;
        const int answer = getopt_long(argc, argv, "-:d:t:jechV", known, &index);
        if (answer == -1) {
            return optind < argc ? refuse_operand(argv[optind]) : check_together(o);
        }
        const bool is_shortened =
            index >= 0 && strcspn(typed + 2, "=") != strlen(known[index].name);
        status = is_shortened ? unknown(typed, 0) : take(o, answer, typed);
    }
    return status;
}
