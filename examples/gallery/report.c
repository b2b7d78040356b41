/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "../common/table.h"

#define COUNT_DIGITS 5  /* of pieces, at least */
#define FIXED        62 /* columns of a line without the name, with so many digits */
#define WIDE         120
#define LEAST_NAME   12
#define LONGEST_NAME 48

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

static int name_width(const resources *r, int fixed)
{
    int width = LEAST_NAME;

    for (size_t i = 0; i < r->count; i++) {
        const int length = (int)strlen(dynsel_resource_name(&r->table[i]));
        width = length > width ? length : width;
    }
    const int room = table_columns(WIDE) - fixed;
    return least_of(least_of(width, LONGEST_NAME), room < LEAST_NAME ? LEAST_NAME : room);
}

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static stream_share total_of(const resources *r, const stream_result *result)
{
    stream_share total = {.busy_ns = result->wall_ns};

    for (size_t i = 0; i < r->count; i++) {
        const stream_share *share = &result->shares[i];
        for (int filter = 0; filter < FILTER_COUNT; filter++) {
            total.pieces[filter] += share->pieces[filter];
        }
        total.pixels += share->pixels;
        total.trials += share->trials;
    }
    return total;
}

static void print_share(const char *number, const char *name, int name_columns, int digits,
                        const stream_share *share, uint64_t pixels)
{
    char fitted[LONGEST_NAME + 8];

    table_fit(fitted, sizeof fitted, name, name_columns);
    printf("%2s  %-*s", number, name_columns, fitted);
    for (int filter = 0; filter < FILTER_COUNT; filter++) {
        printf("  %*llu", digits, (unsigned long long)share->pieces[filter]);
    }
    printf("  %6llu  %8.1f  %5.1f %%  %8.1f\n", (unsigned long long)share->trials,
           milliseconds(share->busy_ns), table_percent(share->pixels, pixels),
           table_speed(share->pixels, share->busy_ns));
}

void report_shares(const resources *r, const stream_result *result)
{
    const stream_share total = total_of(r, result);
    const int used = snprintf(NULL, 0, "%llu", (unsigned long long)total.pieces[0]);
    const int digits = used < COUNT_DIGITS ? COUNT_DIGITS : used;
    const int name_columns = name_width(r, FIXED + FILTER_COUNT * (digits - COUNT_DIGITS));
    char number[24];

    printf("%2s  %-*s", "#", name_columns, "Resource");
    for (int filter = 0; filter < FILTER_COUNT; filter++) {
        printf("  %*s", digits, filters[filter].name);
    }
    printf("  %6s  %8s  %7s  %8s\n", "Trials", "Busy ms", "Share", "Mpixel/s");
    for (size_t i = 0; i < r->count; i++) {
        snprintf(number, sizeof number, "%zu", r->numbers[i]);
        print_share(number, dynsel_resource_name(&r->table[i]), name_columns, digits,
                    &result->shares[i], total.pixels);
    }
    print_share("", "total", name_columns, digits, &total, total.pixels);
}

static void print_part(const char *name, const stream_part *part)
{
    printf("%-18s  %6llu  %6llu  %8.1f  %8.1f\n", name, (unsigned long long)part->pieces,
           (unsigned long long)part->trials, milliseconds(part->ns),
           table_speed(part->pixels, part->ns));
}

void report_parts(const stream_result *result)
{
    char name[32];

    printf("\n%-18s  %6s  %6s  %8s  %8s\n", "", "Pieces", "Trials", "Time ms", "Mpixel/s");
    snprintf(name, sizeof name, "First %d pictures", STREAM_FIRST_PICTURES);
    print_part(name, &result->first);
    if (result->rest.pieces > 0) {
        print_part("The rest", &result->rest);
    }
}

void report_comparison(const resources *r, const uint64_t *alone_ns, uint64_t together_ns,
                       uint64_t pixels)
{
    const int name_columns = name_width(r, FIXED);
    uint64_t best_ns = alone_ns[0];
    char fitted[LONGEST_NAME + 8];

    printf("%2s  %-*s  %8s  %8s\n", "#", name_columns, "Alone", "Time ms", "Mpixel/s");
    for (size_t i = 0; i < r->count; i++) {
        best_ns = alone_ns[i] < best_ns ? alone_ns[i] : best_ns;
        table_fit(fitted, sizeof fitted, dynsel_resource_name(&r->table[i]), name_columns);
        printf("%2zu  %-*s  %8.1f  %8.1f\n", r->numbers[i], name_columns, fitted,
               milliseconds(alone_ns[i]), table_speed(pixels, alone_ns[i]));
    }
    printf("    %-*s  %8.1f  %8.1f  %.2f times the best alone\n\n", name_columns, "all together",
           milliseconds(together_ns), table_speed(pixels, together_ns),
           (double)best_ns / (double)together_ns);
}
