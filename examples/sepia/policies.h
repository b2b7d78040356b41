/* SPDX-License-Identifier: Apache-2.0 */
/** The policies that the library was built with, by name. */
#ifndef SEPIA_POLICIES_H
#define SEPIA_POLICIES_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/dynsel.h>

/** Index of the policy with this name (`-` counts as `_`), or -1. */
int policies_find(const char *name, size_t length);

/** NULL past the last. The first is what is used when the user names none. */
const char *policies_name(size_t index);

/** Whether the policy begins at a resource that the user may name. */
bool policies_takes_offset(int index);

/** Says on stderr that no policy has this name, and which there are. Returns EXIT_USAGE. */
int policies_unknown(const char *name, size_t length);

/** Initializes a policy, which lives until dynsel_policy_deinit(); one at a time. NULL with
 * dynsel_last_error() set. */
dynsel_policy *policies_start(int index, const dynsel_options *options, size_t offset);

#endif
