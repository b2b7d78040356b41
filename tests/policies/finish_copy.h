/* SPDX-License-Identifier: Apache-2.0 */
/*
 * earliest_finish, compiled into the test with a table of as many kinds as the test asks for:
 * define COPY_KINDS first. The archive's own is not linked then. Files that use the same name for
 * functions of their own get others here.
 */
#ifndef DYNSEL_TESTS_FINISH_COPY_H
#define DYNSEL_TESTS_FINISH_COPY_H

#include <dynsel/config.h>

#undef CONFIG_DYNSEL_EARLIEST_FINISH_KINDS
#define CONFIG_DYNSEL_EARLIEST_FINISH_KINDS COPY_KINDS
#undef CONFIG_DYNSEL_EARLIEST_FINISH_POINTS
#define CONFIG_DYNSEL_EARLIEST_FINISH_POINTS 4

#include "policies/earliest_finish.c"
#include "policies/earliest_finish_expected.c"
#include "policies/earliest_finish_sight.c"
#include "policies/earliest_finish_speed.c"
#include "policies/earliest_finish_times.c"
#include "policies/earliest_finish_trials.c"

#include "policies/earliest_finish_choice.c"

#define fill_in fill_in_kind
#define find    find_kind
#include "policies/earliest_finish_table.c"
#undef fill_in
#undef find

#endif
