/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, WRONG_USAGE = 2 };

/* The tables as getopt_long() wants them, --help behind them. */
typedef struct table {
    struct option known[MOST + 2];
    const argument *rows[MOST];
    int count;
} table;

static const char *program;

static _Noreturn void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void refuse(const char *format, ...)
{
    va_list values;
    (void)fflush(stdout);
    (void)fprintf(stderr, "%s: ", program);
    va_start(values, format);
    (void)vfprintf(stderr, format, values);
    va_end(values);
    (void)fputc('\n', stderr);
    exit(WRONG_USAGE);
}

static void add(table *t, const argument *rows)
{
    for (; rows != NULL && rows->name != NULL && t->count < MOST; rows++) {
        t->rows[t->count] = rows;
        t->known[t->count++] =
            (struct option){.name = rows->name + strlen("--"),
                            .has_arg = rows->value != NULL ? required_argument : no_argument};
    }
}

static _Noreturn void print_help(const arguments *a, const table *t)
{
    printf("Usage: %s [OPTION VALUE]...\n%s\n\n", program, a->about);
    for (int i = 0; i < t->count; i++) {
        const argument *row = t->rows[i];
        char left[40];
        (void)snprintf(left, sizeof left, "%s %s", row->name, row->value != NULL ? row->value : "");
        printf("  %-22s %s", left, row->help);
        if (row->value != NULL && row->number != NULL && row->most != UINT64_MAX) {
            printf(" (%llu to %llu", (unsigned long long)row->least, (unsigned long long)row->most);
            if (*row->number >= row->least) {
                printf(", default %llu", (unsigned long long)*row->number);
            }
            printf(")");
        } else if (row->text != NULL && *row->text != NULL) {
            printf(" (default: %s)", *row->text);
        }
        printf("\n");
    }
    printf("  %-22s print this help\n\n%s", "--help", a->notes);
    exit(EXIT_SUCCESS);
}

static void take(const argument *row, const char *text)
{
    char *end = NULL;
    if (row->value == NULL) {
        *row->number = 1;
        return;
    }
    if (row->number == NULL) {
        *row->text = text;
        return;
    }
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < row->least ||
        number > row->most) {
        refuse("%s: '%s' is not a number from %llu to %llu", row->name, text,
               (unsigned long long)row->least, (unsigned long long)row->most);
    }
    *row->number = number;
}

void arguments_parse(int argc, char **argv, const arguments *a)
{
    table t = {.count = 0};
    program = a->program;
    add(&t, a->own);
    add(&t, a->shared);
    t.known[t.count] = (struct option){.name = "help"};
    opterr = 0;
    while (optind < argc) {
        const char *typed = argv[optind];
        int index = t.count;
        const int answer = getopt_long(argc, argv, "+:", t.known, &index);
        if (answer == ':') {
            refuse("%s needs a value", typed);
        }
        if (answer != 0 || strcspn(typed + 2, "=") != strlen(t.known[index].name)) {
            refuse("unknown option '%s'; --help lists them", typed); /* abbreviations, too */
        }
        if (index == t.count) {
            print_help(a, &t);
        }
        take(t.rows[index], optarg);
    }
}

void arguments_print(FILE *to, const char *program_name, int argc, char **argv)
{
    (void)fprintf(to, "%s", program_name);
    for (int i = 1; i < argc; i++) {
        const char *quote = strpbrk(argv[i], " ;*$'") != NULL ? "\"" : "";
        (void)fprintf(to, " %s%s%s", quote, argv[i], quote);
    }
    (void)fputc('\n', to);
}
