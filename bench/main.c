/* SPDX-License-Identifier: Apache-2.0 */
/* What a submit costs; `scons bench` runs this. */
#include <dynsel/config.h>

#include "opencl.h"
#include "options.h"
#include "report.h"
#include "submits.h"

static bool print_times(const bench_options *options)
{
    if (!report_open(options->csv, options->label)) {
        return false;
    }
#if CONFIG_DYNSEL_BACKEND_INLINE
    bench_submits(options->repetitions, options->times);
#endif
    bench_opencl(options->repetitions);
    return report_close();
}

int main(int argc, char **argv)
{
    bench_options options;
    if (!bench_options_parse(argc, argv, &options)) {
        return 2;
    }
    if (options.help) {
        return 0;
    }
    if (options.mode == BENCH_TIMES) {
        return print_times(&options) ? 0 : 1;
    }
    if (options.mode == BENCH_CALLS) {
        bench_opencl_calls(options.batches);
    } else {
        bench_opencl_phases(options.batches);
    }
    return 0;
}
