/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "say.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sepia.h"

#define BAR_CELLS   30
#define INTERVAL_NS 50000000u

static struct {
    bool enabled;
    const char *what, *unit;
    uint64_t total, drawn_ns;
} bar;

static volatile sig_atomic_t bar_visible;

uint64_t sepia_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void say_error(const char *format, ...)
{
    va_list arguments;

    say_progress_erase();
    fputs("sepia: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void say_dynsel_error(const char *what)
{
    char text[512];

    dynsel_error_text(NULL, text, sizeof text);
    say_error("%s: %s", what, text);
}

void say_progress_enable(void)
{
    const char *terminal = getenv("TERM");

    bar.enabled = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}

void say_progress_begin(const char *what, const char *unit, uint64_t total)
{
    bar.what = what;
    bar.unit = unit;
    bar.total = total;
    bar.drawn_ns = sepia_now_ns();
}

static void draw(uint64_t done)
{
    char cells[BAR_CELLS + 1];
    size_t full = (size_t)(done * BAR_CELLS / bar.total);

    memset(cells, '.', BAR_CELLS);
    memset(cells, '#', full);
    cells[BAR_CELLS] = '\0';
    bar_visible = 1;
    fprintf(stderr, "\r%-9s [%s] %3u %%  %llu of %llu %s\033[K", bar.what, cells,
            (unsigned)(done * 100 / bar.total), (unsigned long long)done,
            (unsigned long long)bar.total, bar.unit);
    fflush(stderr);
}

void say_progress(uint64_t done)
{
    if (!bar.enabled) {
        return;
    }
    uint64_t now = sepia_now_ns();
    if (now - bar.drawn_ns >= INTERVAL_NS && bar.total > 0) {
        bar.drawn_ns = now;
        draw(done);
    }
}

void say_progress_end(void)
{
    say_progress_erase();
}

void say_progress_erase(void)
{
    if (bar_visible) {
        bar_visible = 0;
        (void)!write(STDERR_FILENO, "\r\033[K", 4);
    }
}
