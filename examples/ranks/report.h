/* SPDX-License-Identifier: Apache-2.0 */
/** The table at the end. */
#ifndef RANKS_REPORT_H
#define RANKS_REPORT_H

#include <dynsel/dynsel.h>

#include "strips.h"

/** Which resource of which rank did what, and what went to the ranks and back. The policy is in
 * use. */
void report_shares(const dynsel_policy *policy, const strips_result *result);

/** The ranks that are known to be lost, a line each. Returns whether there are any. */
bool report_lost(const strips_result *result);

#endif
