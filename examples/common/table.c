/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE

#include "table.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int table_columns(int otherwise)
{
    struct winsize size;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return otherwise;
}

void table_fit(char *out, size_t size, const char *name, int width)
{
    size_t length = strlen(name);
    size_t kept = (size_t)width;

    if (length <= kept) {
        snprintf(out, size, "%s", name);
        return;
    }
    int head = (width - 2) * 2 / 3;
    int tail = width - 2 - head;
    snprintf(out, size, "%.*s..%s", head, name, name + length - (size_t)tail);
}

double table_percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

double table_speed(uint64_t pixels, uint64_t ns)
{
    return ns == 0 ? 0.0 : (double)pixels * 1e3 / (double)ns;
}
