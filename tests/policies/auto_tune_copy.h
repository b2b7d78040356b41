/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto_tune, compiled into the test with the exploration that the test asks for: define
 * COPY_EXPLORE_PERCENT first, and COPY_SHORT_TIMES for times of 32 bits. The archive's own is not
 * linked then.
 */
#ifndef DYNSEL_TESTS_AUTO_TUNE_COPY_H
#define DYNSEL_TESTS_AUTO_TUNE_COPY_H

#include <dynsel/config.h>

#undef CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT
#define CONFIG_DYNSEL_AUTO_TUNE_EXPLORE_PERCENT COPY_EXPLORE_PERCENT

#if COPY_EXPLORE_PERCENT == 0 /* as in the menu: a sum of times needs more bits */
#undef CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES
#define CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES 0
#elif defined COPY_SHORT_TIMES
#undef CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES
#define CONFIG_DYNSEL_AUTO_TUNE_SHORT_TIMES 1
#endif

#if CONFIG_DYNSEL_AUTO_TUNE_SMALL && COPY_EXPLORE_PERCENT == 0
#include "policies/auto_tune_small.c"
#else
#include "policies/auto_tune.c"
#include "policies/auto_tune_choice.c"
#if CONFIG_DYNSEL_COMMAND_GROUPS
#include "policies/auto_tune_readback.c"
#endif
#include "policies/auto_tune_table.c"
#include "policies/auto_tune_times.c"
#endif

#endif
