/* SPDX-License-Identifier: Apache-2.0 */
/* Millions of submissions over everything that there is; `scons soak` runs this. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "options.h"
#include "policies.h"
#include "result.h"
#include "submitter.h"
#include "work.h"

enum {
    WARM_PERCENT = 20, /* until then drivers may still take memory */
    MOST_GROWTH_KIB = 1024,
    LOOK_NS = 200000000,
    LOOKS_PER_LINE = 25 /* where no terminal shows one line that changes */
};

static soak_submitter submitters[SOAK_MOST_THREADS];

static uint64_t accepted_so_far(unsigned threads)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < threads; i++) {
        total += atomic_load_explicit(&submitters[i].accepted, memory_order_relaxed);
    }
    return total;
}

static void show(uint64_t done, uint64_t count, unsigned look)
{
    const uint64_t percent = count != 0 ? done * 100 / count : 100;
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    if (terminal || look % LOOKS_PER_LINE == 0 || done >= count) {
        printf("%s%12llu of %llu (%llu %%), %zu KiB resident%s", terminal ? "\r" : "",
               (unsigned long long)done, (unsigned long long)count, (unsigned long long)percent,
               soak_resident_kib(), terminal && done < count ? "" : "\n");
        (void)fflush(stdout);
    }
}

/* Returns the resident memory when the first part was done. */
static size_t watch(const soak_options *options)
{
    size_t warm = 0;
    for (unsigned look = 1;; look++) {
        const uint64_t done = accepted_so_far(options->threads);
        if (warm == 0 && done * 100 >= options->count * WARM_PERCENT) {
            warm = soak_resident_kib();
        }
        show(done, options->count, look);
        if (done >= options->count) {
            return warm;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    }
}

static size_t run(const soak_options *options)
{
    pthread_t threads[SOAK_MOST_THREADS];
    for (unsigned i = 0; i < options->threads; i++) {
        const uint64_t share = options->count / options->threads;
        submitters[i].seed = options->seed * SOAK_MOST_THREADS + i;
        submitters[i].wanted = i != 0 ? share : options->count - share * (options->threads - 1);
        soak_must(pthread_create(&threads[i], NULL, soak_submit, &submitters[i]) == 0,
                  "no thread can be started");
    }
    const size_t warm = watch(options);
    for (unsigned i = 0; i < options->threads; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < soak_policy_count(); i++) {
        const dynsel_submission_group group = dynsel_get_submission_group(soak_policies[i].policy);
        if (dynsel_wait_group(group) != DYNSEL_OK) {
            soak_must(dynsel_wait_group(group) == DYNSEL_OK, "a failure was told twice");
        }
    }
    return warm;
}

static void set_up(const soak_options *options)
{
    static dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    const dynsel_options all = {.resources = resources,
                                .count =
                                    soak_make_resources(resources, CONFIG_DYNSEL_MAX_RESOURCES)};
    printf("%llu submissions from %u threads, --seed %llu, over:",
           (unsigned long long)options->count, options->threads, (unsigned long long)options->seed);
    for (size_t i = 0; i < all.count; i++) {
        printf("%s %s", i != 0 ? "," : "", dynsel_resource_name(&resources[i]));
    }
    printf("\n");
    for (size_t i = 0; i < soak_policy_count(); i++) {
        soak_must(soak_policies[i].init(&all) == DYNSEL_OK, soak_policies[i].name);
    }
}

static void tear_down(void)
{
    for (size_t i = 0; i < soak_policy_count(); i++) {
        soak_must(dynsel_policy_deinit(soak_policies[i].policy) == DYNSEL_OK, "deinit");
    }
#if CONFIG_DYNSEL_BACKEND_THREADS
    soak_must(dynsel_threads_stop() == DYNSEL_OK, "dynsel_threads_stop");
#endif
    soak_must(soak_close_devices(), "dynsel_opencl_close");
}

static bool memory_is_the_same(size_t warm, size_t in_the_end)
{
    const bool good = in_the_end <= warm + MOST_GROWTH_KIB;
    printf("  %-44s %12zu\n  %-44s %12zu  %s\n", "resident KiB after a fifth of the work", warm,
           "resident KiB in the end", in_the_end, good ? "" : "WRONG: it grew");
    return good;
}

int main(int argc, char **argv)
{
    soak_options options = soak_options_parse(argc, argv);
    if (options.count < options.threads) {
        options.count = options.threads;
    }
    set_up(&options);
    const uint64_t began = dynsel_now_ns();
    const size_t warm = run(&options);
    const double seconds = (double)(dynsel_now_ns() - began) / 1e9;
    bool good = soak_counts_add_up(submitters, options.threads);
    good = memory_is_the_same(warm, soak_resident_kib()) && good;
    tear_down();
    printf("%s, %.1f s, %.0f submissions a second\n", good ? "all counts add up" : "FAILED",
           seconds, (double)options.count / seconds);
    return good ? 0 : 1;
}
