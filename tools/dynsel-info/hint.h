/* SPDX-License-Identifier: Apache-2.0 */
/** Remedies for a refused device, or one that could be used better. */
#ifndef HINT_H
#define HINT_H

#include "info.h"

/** Whether the host has more processors than this build can have workers. */
bool hint_has_idle_processors(const info_entry *entry);

/** One clause; empty if there is none. */
void hint_for(const info_entry *entry, char *to, size_t bytes);

/** "fp16, fp64": the names of a set of aspects. */
void hint_names(dynsel_aspect_set set, char *to, size_t bytes);

#endif
