/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "../common/table.h"

#define BAR_CELLS    10
#define NARROW       48 /* columns of a line without name and bar, with 5 digits of tiles */
#define WIDE         (NARROW + BAR_CELLS + 1)
#define LONGEST_NAME 48

/* How wide the columns are that depend on what stands in them. */
typedef struct layout {
    int name, tiles;
    bool bar; /* there is room for it */
} layout;

static int longest_name(const sepia_job *job)
{
    size_t width = strlen("host, for failed");

    for (size_t i = 0; i < job->resource_count; i++) {
        size_t length = strlen(dynsel_resource_name(&job->resources[i]));
        width = length > width ? length : width;
    }
    return width < LONGEST_NAME ? (int)width : LONGEST_NAME;
}

static layout layout_for(const sepia_job *job, uint64_t tiles)
{
    int digits = snprintf(NULL, 0, "%llu", (unsigned long long)tiles);
    layout l = {.name = longest_name(job), .tiles = digits < 5 ? 5 : digits};
    int room = table_columns(WIDE + LONGEST_NAME + 20) - (l.tiles - 5);

    l.bar = room >= WIDE + l.name;
    if (room < NARROW + l.name) {
        l.name = room - NARROW < 16 ? 16 : room - NARROW;
    }
    return l;
}

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void print_bar(double load)
{
    char cells[BAR_CELLS + 1] = "..........";
    int full = (int)(load * BAR_CELLS / 100.0 + 0.5);

    memset(cells, '#', (size_t)(full < BAR_CELLS ? full : BAR_CELLS));
    printf(" %s", cells);
}

static void print_row(const layout *l, const char *index, const char *name,
                      const sepia_share *share, uint64_t tiles, uint64_t wall_ns)
{
    char fitted[LONGEST_NAME + 8];
    double load = table_percent(share->busy_ns, wall_ns);

    table_fit(fitted, sizeof fitted, name, l->name);
    printf("%2s  %-*s  %*llu  %5.1f %%", index, l->name, fitted, l->tiles,
           (unsigned long long)share->tiles, table_percent(share->tiles, tiles));
    if (share->untimed) {
        printf("  %9s  %8s  %5s\n", "-", "-", "-");
        return;
    }
    printf("  %9.2f  %8.0f  %3.0f %%", milliseconds(share->busy_ns),
           table_speed(share->pixels, share->busy_ns), load);
    if (l->bar) {
        print_bar(load);
    }
    printf("\n");
}

static uint64_t all_tiles(const sepia_job *job)
{
    uint64_t tiles = job->redone.tiles;

    for (size_t i = 0; i < job->resource_count; i++) {
        tiles += job->shares[i].tiles;
    }
    return tiles;
}

static void print_total(const sepia_job *job, const layout *l, uint64_t tiles)
{
    uint64_t pixels = job->redone.pixels;

    for (size_t i = 0; i < job->resource_count; i++) {
        pixels += job->shares[i].pixels;
    }
    printf("    %-*s  %*llu  100.0 %%  %9.2f  %8.0f\n", l->name, "total", l->tiles,
           (unsigned long long)tiles, milliseconds(job->wall_ns),
           table_speed(pixels, job->wall_ns));
}

void report_table(const sepia_job *job)
{
    uint64_t tiles = all_tiles(job);
    layout l = layout_for(job, tiles);
    char index[24];

    printf("%2s  %-*s  %*s  %7s  %9s  %8s  %5s\n", "#", l.name, "Resource", l.tiles, "Tiles",
           "Share", "Time ms", "Mpixel/s", "Busy");
    for (size_t i = 0; i < job->resource_count; i++) {
        snprintf(index, sizeof index, "%zu", i);
        print_row(&l, index, dynsel_resource_name(&job->resources[i]), &job->shares[i], tiles,
                  job->wall_ns);
    }
    if (job->redone.tiles > 0) {
        print_row(&l, "", "host, for failed", &job->redone, tiles, job->wall_ns);
    }
    print_total(job, &l, tiles);
}
