/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stdio.h>
#include <string.h>

#include "say.h"

#define LONGEST_OPTION 16 /* with its '\0' */

static const struct {
    const char *name;
    char letter;
    options_form form;
} forms[] = {
    {"--json", 'j', OPTIONS_JSON},       {"--emit-target", 'e', OPTIONS_EMIT_TARGET},
    {"--check", 'c', OPTIONS_CHECK},     {"--help", 'h', OPTIONS_HELP},
    {"--version", 'V', OPTIONS_VERSION},
};

#define FORM_COUNT (sizeof forms / sizeof *forms)

static const char *const DEVICE = "--device";

void options_help(void)
{
    (void)fputs(
        "Usage: dynsel-info [--device SELECTOR] [--json | --emit-target | --check]\n"
        "Lists what programs built with this configuration of dynsel can run work on: this host "
        "and\n"
        "all OpenCL devices, the device target that each one is, and its aspects - those that its\n"
        "target promises, those that it has besides (extra), and those that it lacks (broken).\n"
        "\n"
        "  -d, --device SELECTOR  which OpenCL devices are chosen; default: those that the\n"
        "                         environment variable DYNSEL_OPENCL selects, else all.\n"
        "                           all, cpu, gpu, accelerator, 0   a type, or a number of the "
        "list\n"
        "                           name=TEXT, platform=TEXT, vendor=TEXT, type=TYPE, index=N\n"
        "                                                           terms, joined by ',';\n"
        "                         ';' stands between alternatives\n"
        "  -j, --json             everything as one JSON document; tools/dynsel-info/json.h "
        "explains\n"
        "                         its fields\n"
        "  -e, --emit-target      an entry for boards/targets.yaml for each chosen OpenCL device,\n"
        "                         ready to be pasted\n"
        "  -c, --check            nothing but a line for each chosen device, and for the host, "
        "that\n"
        "                         breaks what its target promises, or that no target of this "
        "build\n"
        "                         recognizes\n"
        "  -V, --version          the configuration that this program was built with\n"
        "  -h, --help             print this\n"
        "\n"
        "Letters can be joined: -jd0 is --json --device 0.\n"
        "\n"
        "Exit status: 0 success; 1 failure, a finding of --check or nothing to check, or no device "
        "for\n"
        "--emit-target; 2 wrong usage.\n"
        "The list is as wide as the terminal, and 100 columns in a file or pipe. NO_COLOR "
        "switches\n"
        "colours off, as output into a file or pipe does.\n",
        stdout);
}

const char *options_form_name(options_form form)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (forms[i].form == form) {
            return forms[i].name;
        }
    }
    return "";
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/** How many letters must be put in, taken out or changed to make `b` of the first letters of `a`.
 */
static unsigned distance(const char *a, size_t length, const char *b)
{
    unsigned row[LONGEST_OPTION];
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

/** The option that was meant, or NULL. */
static const char *nearest(const char *text, size_t length)
{
    unsigned best = distance(text, length, DEVICE);
    const char *found = DEVICE;

    for (size_t i = 0; i < FORM_COUNT; i++) {
        unsigned d = distance(text, length, forms[i].name);
        if (d < best) {
            best = d;
            found = forms[i].name;
        }
    }
    return best <= 3 ? found : NULL;
}

static int unknown(const char *text)
{
    size_t length = strcspn(text, "=");
    const char *meant = length < 64 ? nearest(text, length) : NULL;

    if (text[0] != '-' || text[1] == '\0') {
        say_error("'%.40s': there are only options; to choose devices write --device '%.40s' (see "
                  "dynsel-info --help)",
                  text, text);
    } else if (meant != NULL) {
        say_error("no option is named '%.40s' (did you mean '%s'?); see dynsel-info --help", text,
                  meant);
    } else {
        say_error("no option is named '%.40s'; see dynsel-info --help", text);
    }
    return EXIT_USAGE;
}

static int take_form(options *o, options_form form)
{
    if (o->form == OPTIONS_HELP || form == o->form) {
        return 0;
    }
    if (o->form != OPTIONS_PEOPLE && form != OPTIONS_HELP) {
        say_error("%s and %s: take one of them (see dynsel-info --help)",
                  options_form_name(o->form), options_form_name(form));
        return EXIT_USAGE;
    }
    o->form = form;
    return 0;
}

/** Whether `text` is the option --device, with its value in `*value` or NULL. */
static bool is_device(const char *text, const char **value)
{
    size_t length = strlen(DEVICE);

    if (strncmp(text, DEVICE, length) == 0 && (text[length] == '=' || text[length] == '\0')) {
        *value = text[length] == '=' ? text + length + 1 : NULL;
        return true;
    }
    return false;
}

static int take_selector(options *o, const char *value)
{
    if (value == NULL || value[strspn(value, " \t")] == '\0') {
        say_error("--device needs a selector, such as --device gpu (see dynsel-info --help)");
        return EXIT_USAGE;
    }
    if (o->selector != NULL) {
        say_error("--device is there twice; write the alternatives into one, with ';' between "
                  "them (see dynsel-info --help)");
        return EXIT_USAGE;
    }
    o->selector = value;
    return 0;
}

static int take_form_name(options *o, const char *text)
{
    for (size_t i = 0; i < FORM_COUNT; i++) {
        size_t length = strlen(forms[i].name);
        if (strcmp(text, forms[i].name) == 0) {
            return take_form(o, forms[i].form);
        }
        if (strncmp(text, forms[i].name, length) == 0 && text[length] == '=') {
            say_error("%s takes no value (see dynsel-info --help)", forms[i].name);
            return EXIT_USAGE;
        }
    }
    return unknown(text);
}

/** The place of a form's letter in `forms`, or FORM_COUNT. */
static size_t find_letter(char letter)
{
    size_t found = 0;

    while (found < FORM_COUNT && forms[found].letter != letter) {
        found++;
    }
    return found;
}

static int unknown_letter(const char *text, char letter)
{
    const size_t length = strlen(text);
    const char *meant = length < 64 ? nearest(text, length) : NULL;

    if (text[2] == '\0') {
        return unknown(text);
    }
    say_error("no option is named '-%c', in '%.40s'%s%s%s; see dynsel-info --help", letter, text,
              meant != NULL ? " (did you mean '" : "", meant != NULL ? meant : "",
              meant != NULL ? "'?)" : "");
    return EXIT_USAGE;
}

/** "-jd0": letters, of which `d` takes what is behind it, or `next`; *used: whether that. */
static int take_letters(options *o, const char *text, const char *next, bool *used)
{
    const size_t before_value = strcspn(text, "d");

    for (size_t i = 1; i < before_value && text[i] != '\0'; i++) {
        if (find_letter(text[i]) == FORM_COUNT) { /* before any of them is taken */
            return unknown_letter(text, text[i]);
        }
    }
    for (size_t i = 1; i < before_value && text[i] != '\0'; i++) {
        int status = take_form(o, forms[find_letter(text[i])].form);
        if (status != 0) {
            return status;
        }
    }
    if (text[before_value] == '\0') {
        return 0;
    }
    *used = text[before_value + 1] == '\0';
    return take_selector(o, *used ? next : text + before_value + 1);
}

/** Takes an option that `next` (or NULL) follows; *used: whether that is its value. */
static int take(options *o, const char *text, const char *next, bool *used)
{
    const char *value = NULL;

    if (is_device(text, &value)) {
        *used = value == NULL;
        return take_selector(o, *used ? next : value);
    }
    if (text[0] == '-' && text[1] != '-' && text[1] != '\0') {
        return take_letters(o, text, next, used);
    }
    return take_form_name(o, text);
}

int options_parse(options *o, int argc, char **argv)
{
    int status = 0;

    *o = (options){0};
    for (int i = 1; i < argc && status == 0; i++) {
        bool used = false;
        status = take(o, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used);
        i += used ? 1 : 0;
    }
    return status;
}
