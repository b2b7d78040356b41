/* SPDX-License-Identifier: Apache-2.0 */
/** What helps a device that is refused, or that could be used better. */
#ifndef HINT_H
#define HINT_H

#include "info.h"

/** One clause; empty where nothing is to be done. */
void hint_for(const info_entry *entry, char *to, size_t bytes);

/** "fp16, fp64": the names of a set of aspects. */
void hint_names(dynsel_aspect_set set, char *to, size_t bytes);

#endif
