/* SPDX-License-Identifier: Apache-2.0 */
#include "estimates.h"

#include <stdlib.h>
#include <string.h>

#include "log.h"

#define MIB ((double)(1 << 20))

enum { UNKNOWN_NS = 1000, BYTES_BITS = 40 };

static int compare_numbers(double a, double b)
{
    return (a > b) - (a < b);
}

static int compare_points(const void *first, const void *second)
{
    const estimates_point *a = first;
    const estimates_point *b = second;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->resource != b->resource) {
        return a->resource < b->resource ? -1 : 1;
    }
    if (a->amount != b->amount) {
        return a->amount < b->amount ? -1 : 1;
    }
    return compare_numbers(a->run_ns, b->run_ns);
}

static bool is_same_amount(const estimates_point *a, const estimates_point *b)
{
    return a->kind == b->kind && a->resource == b->resource && a->amount == b->amount;
}

/* Of each amount one point remains. */
static void take_medians(estimates *it)
{
    size_t kept = 0;
    for (size_t i = 0; i < it->count;) {
        size_t end = i;
        while (end < it->count && is_same_amount(&it->points[i], &it->points[end])) {
            end++;
        }
        it->points[kept++] = it->points[i + (end - i - 1) / 2];
        i = end;
    }
    it->count = kept;
}

/* The points of a kind on a resource: from `first` to before `end`. */
static bool find(const estimates *it, uint32_t kind, uint32_t resource, size_t *first, size_t *end)
{
    size_t low = 0;
    size_t high = it->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const estimates_point *point = &it->points[middle];
        if (point->kind < kind || (point->kind == kind && point->resource < resource)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *first = low;
    while (low < it->count && it->points[low].kind == kind &&
           it->points[low].resource == resource) {
        low++;
    }
    *end = low;
    return *end != *first;
}

/* The nearest amount, or on the line between two. 0: the kind never ran there. */
static double time_at(const estimates *it, uint32_t kind, uint32_t resource, uint64_t amount)
{
    size_t first = 0;
    size_t end = 0;
    if (!find(it, kind, resource, &first, &end)) {
        return 0;
    }
    size_t above = first;
    while (above < end && it->points[above].amount < amount) {
        above++;
    }
    if (above == end) {
        return it->points[end - 1].run_ns;
    }
    const estimates_point *upper = &it->points[above];
    if (above == first || upper->amount == amount) {
        return upper->run_ns;
    }
    const estimates_point *lower = upper - 1;
    const double share = (double)(amount - lower->amount) / (double)(upper->amount - lower->amount);
    return lower->run_ns + share * (upper->run_ns - lower->run_ns);
}

static int compare_ratios(const void *first, const void *second)
{
    return compare_numbers(*(const double *)first, *(const double *)second);
}

/* The medians of kinds that ran on both. found: room for as many as there are points. */
static void find_ratios(estimates *it, uint32_t resources, double *found)
{
    for (uint32_t a = 0; a < resources; a++) {
        for (uint32_t b = 0; b < resources; b++) {
            size_t count = 0;
            for (size_t i = 0; i < it->count; i++) {
                const estimates_point *point = &it->points[i];
                const double other =
                    point->resource == a ? time_at(it, point->kind, b, point->amount) : 0;
                if (other > 0) {
                    found[count++] = point->run_ns / other;
                }
            }
            qsort(found, count, sizeof *found, compare_ratios);
            it->ratios[a][b] = count != 0 ? found[(count - 1) / 2] : 0;
        }
    }
}

double estimates_run_ns(const estimates *it, const program_piece *piece, uint32_t resource,
                        bool *guessed)
{
    *guessed = false;
    if (piece->resource == resource && piece->run_ns != 0) {
        return (double)piece->run_ns;
    }
    const double known_ns = time_at(it, piece->kind, resource, piece->amount);
    if (known_ns > 0) {
        return known_ns;
    }
    *guessed = true;
    double best_ns = 0;
    double any_ns = (double)piece->run_ns;
    for (uint32_t i = 0; i < RECORDING_MOST_RESOURCES; i++) {
        const double there_ns = time_at(it, piece->kind, i, piece->amount);
        any_ns = any_ns > 0 ? any_ns : there_ns;
        if (there_ns > 0 && it->ratios[resource][i] > 0 && best_ns <= 0) {
            best_ns = there_ns * it->ratios[resource][i];
        }
    }
    if (best_ns > 0) {
        return best_ns;
    }
    if (any_ns > 0) {
        return any_ns;
    }
    const bool was_seen = piece->started_ns != 0 && piece->seen_ns > piece->started_ns;
    return was_seen ? (double)(piece->seen_ns - piece->started_ns) : UNKNOWN_NS;
}

static int compare_ns(const void *first, const void *second)
{
    const uint64_t a = *(const uint64_t *)first;
    const uint64_t b = *(const uint64_t *)second;
    return (a > b) - (a < b);
}

static uint64_t median_of(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_ns);
    return count != 0 ? values[(count - 1) / 2] : 0;
}

/* From ends that the program waited for until it saw them; if there are none, the shortest. */
static uint64_t find_latency(const program *of, uint32_t resource, uint64_t *values)
{
    size_t count = 0;
    uint64_t shortest_ns = UINT64_MAX;
    for (uint32_t i = 0; i < of->all->piece_count; i++) {
        const program_piece *piece = &of->pieces[i];
        if (!piece->is_played || piece->resource != resource || piece->device_end_ns == 0 ||
            piece->seen_ns <= piece->device_end_ns) {
            continue;
        }
        const uint64_t latency_ns = piece->seen_ns - piece->device_end_ns;
        shortest_ns = latency_ns < shortest_ns ? latency_ns : shortest_ns;
        if (piece->waited_ns != 0 && piece->waited_ns < piece->device_end_ns) {
            values[count++] = latency_ns;
        }
    }
    if (count != 0) {
        return median_of(values, count);
    }
    return shortest_ns != UINT64_MAX ? shortest_ns : 0;
}

static int compare_starts(const void *first, const void *second)
{
    const program_piece *a = *(const program_piece *const *)first;
    const program_piece *b = *(const program_piece *const *)second;
    return (a->started_ns > b->started_ns) - (a->started_ns < b->started_ns);
}

/* From pieces that came when those before were over. */
static uint64_t find_begin(const program *of, uint32_t resource, uint64_t *values,
                           const program_piece **pieces)
{
    size_t count = 0;
    size_t found = 0;
    uint64_t busy_until_ns = 0;
    for (uint32_t i = 0; i < of->all->piece_count; i++) {
        const program_piece *piece = &of->pieces[i];
        if (piece->is_played && piece->resource == resource && piece->submit_ns != UINT64_MAX &&
            piece->device_begin_ns != 0) {
            pieces[count++] = piece;
        }
    }
    qsort(pieces, count, sizeof(const program_piece *), compare_starts);
    for (size_t i = 0; i < count; i++) {
        if (pieces[i]->started_ns > busy_until_ns) {
            values[found++] = pieces[i]->device_begin_ns > pieces[i]->started_ns
                                  ? pieces[i]->device_begin_ns - pieces[i]->started_ns
                                  : 0;
        }
        if (pieces[i]->device_end_ns > busy_until_ns) {
            busy_until_ns = pieces[i]->device_end_ns;
        }
    }
    return median_of(values, found);
}

static void find_device(const program *of, uint32_t resource, uint64_t *values,
                        const program_piece **pieces, estimates_device *device)
{
    size_t count = 0;
    for (uint32_t i = 0; i < of->all->piece_count; i++) {
        const program_piece *piece = &of->pieces[i];
        if (piece->is_played && piece->resource == resource && piece->submit_ns != UINT64_MAX) {
            values[count++] = piece->submit_ns;
        }
    }
    device->submit_ns = median_of(values, count);
    device->latency_ns = find_latency(of, resource, values);
    device->begin_ns = find_begin(of, resource, values, pieces);
}

/* Transfers to a resource: a line through their times. Those that were only enqueued are short. */
static void find_transfers(const program *of, uint32_t resource, estimates_device *device)
{
    double n = 0;
    double sum_x = 0;
    double sum_y = 0;
    double sum_xx = 0;
    double sum_xy = 0;
    for (size_t i = 0; i < of->all->event_count; i++) {
        const dynsel_trace_record *record = of->all->events[i].record;
        if (record->event == DYNSEL_TRACE_COPY && record->policy == of->policy_number &&
            record->resource == resource) {
            const uint64_t bytes = recording_number(record, 2) & (((uint64_t)1 << BYTES_BITS) - 1);
            const double x = (double)bytes / MIB;
            const double y = (double)(trace_file_ns(&of->all->file, record->ticks) -
                                      trace_file_ns(&of->all->file, recording_number(record, 0)));
            n++;
            sum_x += x;
            sum_y += y;
            sum_xx += x * x;
            sum_xy += x * y;
        }
    }
    const double spread = n * sum_xx - sum_x * sum_x;
    const double slope = n > 1 && spread > 1e-9 ? (n * sum_xy - sum_x * sum_y) / spread : 0;
    const double mib_ns = slope > 0 ? slope : 0;
    const double rest = n > 0 ? (sum_y - mib_ns * sum_x) / n : 0;
    device->mib_ns = (uint64_t)mib_ns;
    device->transfer_ns = rest > 0 ? (uint64_t)rest : 0;
}

int estimates_find(const program *of, estimates *it)
{
    *it = (estimates){.count = 0};
    const size_t pieces = (size_t)of->all->piece_count + 1;
    it->points = calloc(pieces, sizeof *it->points);
    uint64_t *values = calloc(pieces, sizeof *values);
    double *ratios = calloc(pieces, sizeof *ratios);
    const program_piece **sorted = calloc(pieces, sizeof(const program_piece *));
    if (it->points == NULL || values == NULL || ratios == NULL || sorted == NULL) {
        free(values);
        free(sorted);
        free(ratios);
        estimates_free(it);
        return log_wrong("%s: there is not enough memory for it", of->all->path);
    }
    for (uint32_t i = 0; i < of->all->piece_count; i++) {
        const program_piece *piece = &of->pieces[i];
        if (piece->is_played && piece->run_ns != 0 && piece->resource < RECORDING_MOST_RESOURCES) {
            it->points[it->count++] = (estimates_point){.kind = piece->kind,
                                                        .resource = piece->resource,
                                                        .amount = piece->amount,
                                                        .run_ns = (double)piece->run_ns};
        }
    }
    qsort(it->points, it->count, sizeof *it->points, compare_points);
    take_medians(it);
    find_ratios(it, of->policy->count, ratios);
    for (uint32_t i = 0; i < of->policy->count; i++) {
        find_device(of, i, values, sorted, &it->devices[i]);
        find_transfers(of, i, &it->devices[i]);
    }
    free(values);
    free(ratios);
    free(sorted);
    return 0;
}

void estimates_free(estimates *it)
{
    free(it->points);
    *it = (estimates){.count = 0};
}
