/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "../common/table.h"

#define FIXED        57 /* columns of a line without the name */
#define WIDE         120
#define LEAST_NAME   12
#define LONGEST_NAME 48

/* What stands in a line; texts, because some cells are empty. */
typedef struct line {
    const char *rank, *name;
    const strips_share *share;
    const char *in, *back;
} line;

/* The names of other ranks' resources begin with the rank, which has a column of its own. */
static const char *name_of(const dynsel_resource *where)
{
    const char *const name = dynsel_resource_name(where);
    const char *const colon = dynsel_mpi_rank_of(where) != 0 ? strstr(name, ": ") : NULL;

    return colon != NULL ? colon + 2 : name;
}

static int name_width(const dynsel_resource *resources, size_t count)
{
    int width = LEAST_NAME;

    for (size_t i = 0; i < count; i++) {
        const int length = (int)strlen(name_of(&resources[i]));
        width = length > width ? length : width;
    }
    const int room = table_columns(WIDE) - FIXED;
    const int most = room < LEAST_NAME ? LEAST_NAME : room < LONGEST_NAME ? room : LONGEST_NAME;
    return width < most ? width : most;
}

static void print_line(const line *l, int width, const strips_result *result)
{
    char fitted[LONGEST_NAME + 8];

    table_fit(fitted, sizeof fitted, l->name, width);
    printf("%6s  %-*s  %7llu  %5.1f %%  %8.1f", l->rank, width, fitted,
           (unsigned long long)l->share->strips, table_percent(l->share->strips, result->strips),
           (double)l->share->busy_ns / 1e6);
    if (l->in[0] != '\0') {
        printf("  %8s  %8s", l->in, l->back);
    }
    printf("\n");
}

static void put_mib(char *text, size_t size, uint64_t bytes)
{
    snprintf(text, size, "%.1f", (double)bytes / 1048576.0);
}

/* The lines of one rank. A rank has one memory, whatever devices it has: its bytes stand in the
 * first line. Adds what went there, and came back. */
static void print_rank(const dynsel_policy *policy, const strips_result *result, uint32_t rank,
                       int width, dynsel_movement *total)
{
    size_t count = 0;
    const dynsel_resource *const resources = dynsel_get_resources(policy, &count);
    bool is_first = true;

    for (size_t i = 0; i < count; i++) {
        dynsel_movement moved = {0};
        char text[3][24] = {"", "", ""};
        if (dynsel_mpi_rank_of(&resources[i]) != rank) {
            continue;
        }
        if (is_first) {
            snprintf(text[0], sizeof text[0], "%u%s", rank,
                     dynsel_mpi_rank_is_lost(rank) ? " lost" : "");
        }
        if ((is_first || rank == 0) && dynsel_domain_movement(&resources[i], &moved) == DYNSEL_OK) {
            put_mib(text[1], sizeof text[1], moved.bytes_in);
            put_mib(text[2], sizeof text[2], moved.bytes_out);
        }
        print_line(&(line){text[0], name_of(&resources[i]), &result->shares[i], text[1], text[2]},
                   width, result);
        total->bytes_in += moved.bytes_in;
        total->bytes_out += moved.bytes_out;
        is_first = false;
    }
}

void report_shares(const dynsel_policy *policy, const strips_result *result)
{
    size_t count = 0;
    const dynsel_resource *const resources = dynsel_get_resources(policy, &count);
    const int width = name_width(resources, count);
    const strips_share all = {.strips = result->strips, .busy_ns = result->wall_ns};
    dynsel_movement total = {0};
    char in[24];
    char back[24];

    printf("%6s  %-*s  %7s  %7s  %8s  %8s  %8s\n", "Rank", width, "Resource", "Strips", "Share",
           "Busy ms", "MiB in", "MiB out");
    for (uint32_t rank = 0; rank < dynsel_mpi_rank_count(); rank++) {
        print_rank(policy, result, rank, width, &total);
    }
    put_mib(in, sizeof in, total.bytes_in);
    put_mib(back, sizeof back, total.bytes_out);
    print_line(&(line){"", "total", &all, in, back}, width, result);
    printf("\n%.1f Mpixel/s\n", table_speed(result->pixels, result->wall_ns));
}

bool report_lost(const strips_result *result)
{
    uint64_t again = result->again;
    bool any_lost = false;

    for (uint32_t rank = 1; rank < dynsel_mpi_rank_count(); rank++) {
        if (dynsel_mpi_rank_is_lost(rank)) {
            printf("Rank %u was lost.\n", rank);
            any_lost = true;
        }
    }
#if CONFIG_DYNSEL_REPEAT
    again += dynsel_get_repeat_statistics().repeated;
#endif
    if (any_lost || again > 0) {
        printf("%llu strips were done again, elsewhere.\n", (unsigned long long)again);
    }
    return any_lost;
}
