/* SPDX-License-Identifier: Apache-2.0 */
/** Stands in for trial.c where dynsel is built without traces or round_robin. */
#include "log.h"
#include "options.h"
#include "trial.h"

int trial_begin(const char *path)
{
    (void)path;
    log_error("--trace needs a build with CONFIG_DYNSEL_TRACE_TO_RINGS and "
              "CONFIG_DYNSEL_POLICY_ROUND_ROBIN");
    return EXIT_USAGE;
}

int trial_run(const info_list *list)
{
    (void)list;
    return 0;
}

int trial_end(void)
{
    return 0;
}
