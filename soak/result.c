/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "result.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <dynsel/dynsel.h>

#include "device.h"
#include "policies.h"

void soak_must(bool good, const char *what)
{
    if (!good) {
        char text[256];
        (void)dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "\nsoak: FAILED: %s; the thread's last error: %s\n", what, text);
        exit(1);
    }
}

size_t soak_resident_kib(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const bool good = file != NULL && fscanf(file, "%*s %lu", &pages) == 1; // NOLINT(cert-err34-c)
    if (file != NULL) {
        (void)fclose(file);
    }
    return good ? (size_t)pages * (size_t)sysconf(_SC_PAGESIZE) / 1024 : 0;
}

static bool equal(const char *what, uint64_t is, const char *should, uint64_t wanted)
{
    printf("  %-44s %12llu  %s\n", what, (unsigned long long)is,
           is == wanted ? "" : "WRONG: it should be");
    if (is != wanted) {
        printf("  %-44s %12llu\n", should, (unsigned long long)wanted);
    }
    return is == wanted;
}

/* What the library's own statistics say of one policy. */
static bool statistics_add_up(const soak_policy *subject, uint64_t submitted)
{
    uint64_t started = 0;
    uint64_t completed = 0;
    size_t resources = 0;
    (void)dynsel_get_resources(subject->policy, &resources);
    for (size_t i = 0; i < resources; i++) {
        dynsel_resource_statistics counts;
        if (dynsel_get_statistics(subject->policy, i, &counts) != DYNSEL_OK) {
            printf("  %-44s %12llu  (statistics are off)\n", subject->name,
                   (unsigned long long)submitted);
            return true;
        }
        started += counts.submitted;
        completed += counts.completed;
    }
    printf("  %s\n", subject->name);
    return equal("    submitted, by the statistics", started, "submitted", submitted) &&
           equal("    completed, by the statistics", completed, "submitted", submitted);
}

static bool policies_add_up(const uint64_t *accepted_by)
{
    bool good = true;
    for (size_t i = 0; i < soak_policy_count(); i++) {
        good = statistics_add_up(&soak_policies[i], accepted_by[i]) && good;
        if (!dynsel_invariants_hold(soak_policies[i].policy)) {
            printf("  WRONG: dynsel_invariants_hold(%s) is false\n", soak_policies[i].name);
            good = false;
        }
    }
    const soak_reports told = soak_told();
    good = equal("submissions reported to policy counting", told.submissions, "submitted",
                 accepted_by[0]) &&
           good;
    good = equal("completions reported to policy counting", told.completions, "submitted",
                 accepted_by[0]) &&
           good;
    printf("  %-44s %12llu\n", "times reported to policy counting", (unsigned long long)told.times);
    if (!soak_loads_are_zero()) {
        printf("  WRONG: a policy believes that work is unfinished\n");
        good = false;
    }
    return good;
}

bool soak_counts_add_up(const soak_submitter *submitters, unsigned count)
{
    uint64_t accepted = 0;
    uint64_t refused = 0;
    uint64_t waited = 0;
    uint64_t released = 0;
    uint64_t groups = 0;
    uint64_t accepted_by[SOAK_POLICIES] = {0};
    for (unsigned i = 0; i < count; i++) {
        accepted += submitters[i].accepted;
        refused += submitters[i].refused;
        waited += submitters[i].waited;
        released += submitters[i].released;
        groups += submitters[i].groups;
        for (size_t p = 0; p < SOAK_POLICIES; p++) {
            accepted_by[p] += submitters[i].accepted_by[p];
        }
    }
    const uint64_t at_once = atomic_load(&soak_done_at_once);
    bool good = true;
    printf("  %-44s %12llu\n", "submitted (accepted)", (unsigned long long)accepted);
    printf("  %-44s %12llu\n", "refused, nothing was free", (unsigned long long)refused);
    printf("  %-44s %12llu\n", "waited for", (unsigned long long)waited);
    printf("  %-44s %12llu\n", "released", (unsigned long long)released);
    printf("  %-44s %12llu\n", "group waits", (unsigned long long)groups);
    good = equal("started (task functions called)", atomic_load(&soak_started), "submitted",
                 accepted) &&
           good;
    good = equal("kernels that ran, counted by the devices", soak_count_kernels(), "enqueued",
                 atomic_load(&soak_enqueued)) &&
           good;
    good = equal("completed (on the host and on devices)", at_once + soak_count_kernels(),
                 "submitted", accepted) &&
           good;
    return policies_add_up(accepted_by) && good;
}
