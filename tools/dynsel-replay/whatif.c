/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "log.h"

enum { NAME_COLUMNS = 30, RESOURCE_COLUMNS = 18 };

#define MIB ((double)(1 << 20))

/* A line of the table: copies of a resource together. */
typedef struct row {
    const char *name;
    uint64_t time_ns;
    uint64_t bytes;
    uint32_t guesses;
    uint32_t failed;
    uint32_t counts[RECORDING_MOST_RESOURCES]; /* of resources */
    uint64_t pieces[RECORDING_MOST_RESOURCES];
    uint64_t busy_ns[RECORDING_MOST_RESOURCES];
} row;

static row row_of_recorded(const program *it)
{
    row made = {.name = "recorded", .time_ns = it->end_ns - it->begin_ns, .bytes = it->bytes};
    for (uint32_t i = 0; i < it->policy->count; i++) {
        made.counts[i] = 1;
        made.pieces[i] = it->totals[i].pieces;
        made.busy_ns[i] = it->totals[i].busy_ns;
    }
    return made;
}

static row row_of(const play_case *how, const play_result *result)
{
    row made = {.name = how->name,
                .time_ns = result->time_ns,
                .bytes = result->bytes,
                .guesses = result->guesses,
                .failed = result->failed};
    for (uint32_t i = 0; i < how->count; i++) {
        const uint32_t like = how->resources[i].like;
        made.counts[like]++;
        made.pieces[like] += result->pieces[i];
        made.busy_ns[like] += result->busy_ns[i];
    }
    return made;
}

static double use_of(const row *it, uint32_t resource)
{
    const double available = (double)it->time_ns * it->counts[resource];
    return available > 0 ? 100 * (double)it->busy_ns[resource] / available : 0;
}

static void print_head(const program *it)
{
    printf("%-*s %12s %8s %10s", NAME_COLUMNS, "", "Time ms", "Speedup", "MiB moved");
    for (uint32_t i = 0; i < it->policy->count; i++) {
        printf("  %*.*s", RESOURCE_COLUMNS, RESOURCE_COLUMNS, it->policy->resources[i].name);
    }
    printf("\n");
}

static void print_row(const program *it, const row *made, uint64_t recorded_ns)
{
    printf("%-*.*s %12.3f %8.2f %10.1f", NAME_COLUMNS, NAME_COLUMNS, made->name,
           (double)made->time_ns / 1e6,
           made->time_ns != 0 ? (double)recorded_ns / (double)made->time_ns : 0,
           (double)made->bytes / MIB);
    for (uint32_t i = 0; i < it->policy->count; i++) {
        if (made->counts[i] == 0) {
            printf("  %*s", RESOURCE_COLUMNS, "gone");
        } else {
            printf("  %*llu %5.1f %%", RESOURCE_COLUMNS - 8, (unsigned long long)made->pieces[i],
                   use_of(made, i));
        }
    }
    printf("\n");
}

static void print_notes(const row *made)
{
    if (made->guesses != 0) {
        printf("%s: the run times of %u pieces are guesses, because their kinds never ran there\n",
               made->name, (unsigned)made->guesses);
    }
    if (made->failed != 0) {
        printf("%s: %u pieces, or accesses of the host, could not be done\n", made->name,
               (unsigned)made->failed);
    }
}

static void put_name(FILE *file, const char *name)
{
    (void)fputc('"', file);
    for (; *name != '\0'; name++) {
        if (*name == '"') {
            (void)fputc('"', file);
        }
        (void)fputc(*name, file);
    }
    (void)fputc('"', file);
}

static int write_csv(const char *path, const program *it, const row *rows, uint32_t count)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        log_error("%s: %s", path, strerror(errno));
        return EXIT_DIFFERENT;
    }
    (void)fputs("case,time_ns,bytes,guesses,failed,resource,count,pieces,busy_ns\n", file);
    for (uint32_t r = 0; r < count; r++) {
        for (uint32_t i = 0; i < it->policy->count; i++) {
            put_name(file, rows[r].name);
            (void)fprintf(file, ",%llu,%llu,%u,%u,", (unsigned long long)rows[r].time_ns,
                          (unsigned long long)rows[r].bytes, (unsigned)rows[r].guesses,
                          (unsigned)rows[r].failed);
            put_name(file, it->policy->resources[i].name);
            (void)fprintf(file, ",%u,%llu,%llu\n", (unsigned)rows[r].counts[i],
                          (unsigned long long)rows[r].pieces[i],
                          (unsigned long long)rows[r].busy_ns[i]);
        }
    }
    errno = 0;
    const bool failed = ferror(file) != 0;
    if (fclose(file) != 0 || failed) {
        log_error("%s: %s", path, errno != 0 ? strerror(errno) : "it cannot be written");
        return EXIT_DIFFERENT;
    }
    return 0;
}

static int play_cases(const program *it, const cases *all)
{
    static row rows[CASES_MOST + 1];
    estimates times;
    int status = estimates_find(it, &times);
    if (status != 0) {
        return status;
    }
    rows[0] = row_of_recorded(it);
    for (uint32_t i = 0; i < all->count && status == 0; i++) {
        const play_result result = play(it, &times, &all->list[i]);
        status = result.status;
        rows[i + 1] = row_of(&all->list[i], &result);
    }
    estimates_free(&times);
    if (status != 0) {
        return status;
    }
    printf("policy %u, %s\n\n", (unsigned)it->policy_number, it->policy->name);
    print_head(it);
    for (uint32_t i = 0; i <= all->count; i++) {
        print_row(it, &rows[i], rows[0].time_ns);
    }
    const double recorded = (double)rows[0].time_ns;
    const double error = ((double)rows[1 + CASE_AS_RECORDED].time_ns - recorded) / recorded;
    printf("\nThe model is off by %+.1f %%: placed as recorded, against the recorded run.\n",
           100 * (error < 0 && error > -0.0005 ? 0 : error));
    for (uint32_t i = 1; i <= all->count; i++) {
        print_notes(&rows[i]);
    }
    return all->csv_path != NULL ? write_csv(all->csv_path, it, rows, all->count + 1) : 0;
}

/* The policy that is played: the wanted one, or that of the library which placed the most. */
static int find_policy(const recording *all, cases *it)
{
    if (it->policy == 0) {
        size_t most = 0;
        for (uint32_t number = 1; number <= all->policy_count; number++) {
            size_t count = 0;
            for (size_t i = 0; i < all->event_count; i++) {
                const dynsel_trace_record *record = all->events[i].record;
                count += record->event == DYNSEL_TRACE_CHOICE && record->policy == number ? 1 : 0;
            }
            if (count > most && machine_kind_of(all->policies[number - 1].name) != POLICY_KINDS) {
                most = count;
                it->policy = number;
            }
        }
    }
    const recorded_policy *policy = recording_policy(all, it->policy);
    if (policy == NULL || machine_kind_of(policy->name) == POLICY_KINDS) {
        return log_wrong("%s: it has no policy of the library%s", all->path,
                         policy == NULL && it->policy == 0 ? "" : " with this number");
    }
    for (uint32_t i = 0; i < policy->count; i++) {
        if (!policy->resources[i].is_known) {
            return log_wrong("%s: the resources of policy %u (%s) are not all in it", all->path,
                             (unsigned)it->policy, policy->name);
        }
    }
    return policy->count != 0 && policy->count <= CONFIG_DYNSEL_MAX_RESOURCES
               ? 0
               : log_wrong("%s: policy %u (%s) has %u resources, and this dynsel-replay was built "
                           "for up to %d",
                           all->path, (unsigned)it->policy, policy->name, (unsigned)policy->count,
                           CONFIG_DYNSEL_MAX_RESOURCES);
}

int whatif(int count, char **words)
{
    static cases all_cases;
    recording all;
    program it;
    int status = cases_begin(count, words, &all_cases);
    if (status == 0) {
        status = recording_read(all_cases.file, &all);
    }
    if (status != 0) {
        return status;
    }
    status = recording_require_all(&all);
    if (status == 0) {
        status = find_policy(&all, &all_cases);
    }
    if (status == 0) {
        status = cases_take(count, words, recording_policy(&all, all_cases.policy), &all_cases);
    }
    if (status == 0) {
        status = program_find(&all, all_cases.policy, &it);
        if (status == 0) {
            status = play_cases(&it, &all_cases);
            program_free(&it);
        }
    }
    recording_free(&all);
    return status;
}
