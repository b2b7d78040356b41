/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of a submit; `scons bench` runs this. */
#include <stdio.h>

#include <dynsel/config.h>

#include "groups.h"
#include "learned_times.h"
#include "opencl.h"
#include "options.h"
#include "ranges.h"
#include "report.h"
#include "submits.h"
#include "trace_events.h"

#define HAS_GROUPS                                                                                 \
    (CONFIG_DYNSEL_COMMAND_GROUPS && CONFIG_DYNSEL_BACKEND_OPENCL &&                               \
     CONFIG_DYNSEL_POLICY_FIXED_RESOURCE)
#if HAS_GROUPS
#include "transfers.h"
#include "work_groups.h"
#endif

/* Three ranges lie in shared memory at the same time, and one is staged. */
#define LARGE_RANGE (64 << 20)
#if HAS_GROUPS && CONFIG_DYNSEL_SVM
#define HAS_RANGES                                                                                 \
    (CONFIG_DYNSEL_SVM_POOL_BYTES / 4 >= LARGE_RANGE &&                                            \
     CONFIG_DYNSEL_STAGING_BYTES >= LARGE_RANGE && CONFIG_DYNSEL_SVM_BLOCKS >= 3)
#else
#define HAS_RANGES 0
#endif

#define HAS_LEARNED_TIMES                                                                          \
    (CONFIG_DYNSEL_CUSTOM_POLICIES && CONFIG_DYNSEL_BACKEND_OPENCL &&                              \
     CONFIG_DYNSEL_POLICY_FIXED_RESOURCE)

#define HAS_TRACE                                                                                  \
    (CONFIG_DYNSEL_TRACE_TO_RINGS && CONFIG_DYNSEL_POLICY_FIXED_RESOURCE &&                        \
     CONFIG_DYNSEL_BACKEND_INLINE)

static bool print_times(const bench_options *options)
{
    if (!report_open(options->csv, options->label)) {
        return false;
    }
#if CONFIG_DYNSEL_BACKEND_INLINE
    bench_submits(options->repetitions, options->times);
#endif
#if HAS_TRACE
    bench_trace_events(options->repetitions, options->times);
#endif
    bench_opencl(options->repetitions);
#if HAS_GROUPS
    bench_groups(options->repetitions);
    bench_movement();
#endif
#if HAS_RANGES
    bench_ranges(options->repetitions);
#endif
    return report_close();
}

static bool print_work_groups(const bench_options *options)
{
#if HAS_GROUPS
    if (!report_open(options->csv, options->label)) {
        return false;
    }
    bench_work_groups(options->items, options->repetitions);
    return report_close();
#else
    (void)options;
    (void)fputs("bench: --work-groups needs DYNSEL_COMMAND_GROUPS, DYNSEL_BACKEND_OPENCL and "
                "DYNSEL_POLICY_FIXED_RESOURCE\n",
                stderr);
    return false;
#endif
}

static bool print_learned_times(const bench_options *options)
{
#if HAS_LEARNED_TIMES
    if (!report_open(options->csv, options->label)) {
        return false;
    }
    bench_learned_times(options->one_in, options->repetitions);
    return report_close();
#else
    (void)options;
    (void)fputs("bench: --learned-times needs DYNSEL_CUSTOM_POLICIES, DYNSEL_BACKEND_OPENCL and "
                "DYNSEL_POLICY_FIXED_RESOURCE\n",
                stderr);
    return false;
#endif
}

static bool print_transfers(const bench_options *options)
{
#if HAS_GROUPS
    if (!report_open(options->csv, options->label)) {
        return false;
    }
    bench_transfers(options->mib, options->repetitions);
    return report_close();
#else
    (void)options;
    (void)fputs("bench: --transfers needs DYNSEL_COMMAND_GROUPS, DYNSEL_BACKEND_OPENCL and "
                "DYNSEL_POLICY_FIXED_RESOURCE\n",
                stderr);
    return false;
#endif
}

int main(int argc, char **argv)
{
    const bench_options options = bench_options_parse(argc, argv);
    if (options.mode == BENCH_TIMES) {
        return print_times(&options) ? 0 : 1;
    }
    if (options.mode == BENCH_WORK_GROUPS) {
        return print_work_groups(&options) ? 0 : 1;
    }
    if (options.mode == BENCH_LEARNED_TIMES) {
        return print_learned_times(&options) ? 0 : 1;
    }
    if (options.mode == BENCH_TRANSFERS) {
        return print_transfers(&options) ? 0 : 1;
    }
    if (options.mode == BENCH_CALLS) {
        bench_opencl_calls(options.batches);
    } else {
        bench_opencl_phases(options.batches);
#if HAS_GROUPS
        bench_groups_phases(options.batches);
#endif
    }
    return 0;
}
