/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <dynsel/error.h>

#define BAR_CELLS   30
#define COLUMNS     80 /* where the terminal does not tell */
#define INTERVAL_NS 50000000u

static struct {
    bool enabled;
    const char *what, *unit;
    uint64_t total, drawn_ns;
} bar;

static volatile sig_atomic_t bar_visible;
static const char *name = "example";
static bool is_silent;

uint64_t log_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void log_prepare(const char *program)
{
    name = program;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* As useless as when it is closed; its number is the lowest that is free. */
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

void log_silence(bool silent)
{
    is_silent = silent;
}

const char *log_program(void)
{
    return name;
}

void log_error(const char *format, ...)
{
    static char line[8192], clean[8192]; /* a name of a file may take 4096 */
    va_list arguments;

    if (is_silent) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    log_progress_erase();
    fprintf(stderr, "%s: %s\n", name, dynsel_printable(line, clean, sizeof clean));
}

void log_dynsel_error(const char *what)
{
    char text[512];

    dynsel_error_text(NULL, text, sizeof text);
    log_error("%s: %s", what, text);
}

void log_progress_enable(void)
{
    const char *terminal = getenv("TERM");

    bar.enabled = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void log_progress_begin(const char *what, const char *unit, uint64_t total)
{
    bar.what = what;
    bar.unit = unit;
    bar.total = total;
    bar.drawn_ns = log_now_ns();
}

/** How many characters fit into one line of the terminal without reaching its end. */
static size_t line_length(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col - 1u
                                                                           : COLUMNS - 1;
}

static void draw(uint64_t done)
{
    char numbers[96], line[160];
    size_t room = line_length();
    int used = snprintf(numbers, sizeof numbers, "%3u %%  %llu of %llu %s",
                        (unsigned)(done * 100 / bar.total), (unsigned long long)done,
                        (unsigned long long)bar.total, bar.unit);
    size_t start = (size_t)snprintf(line, sizeof line, "%-9s [", bar.what);
    size_t fixed = start + strlen("] ") + (size_t)used;

    if (fixed < room) {
        size_t cells = room - fixed < BAR_CELLS ? room - fixed : BAR_CELLS;
        memset(line + start, '.', cells);
        memset(line + start, '#', (size_t)(done * cells / bar.total));
        snprintf(line + start + cells, sizeof line - start - cells, "] %s", numbers);
    } else {
        snprintf(line, sizeof line, "%s", numbers);
    }
    bar_visible = 1;
    fprintf(stderr, "\r%.*s\033[K", (int)room, line);
    fflush(stderr);
}

void log_progress(uint64_t done)
{
    if (!bar.enabled) {
        return;
    }
    uint64_t now = log_now_ns();
    if (now - bar.drawn_ns >= INTERVAL_NS && bar.total > 0) {
        bar.drawn_ns = now;
        draw(done);
    }
}

void log_progress_end(void)
{
    log_progress_erase();
}

void log_progress_erase(void)
{
    if (bar_visible) {
        bar_visible = 0;
        (void)!write(STDERR_FILENO, "\r\033[K", 4);
    }
}
