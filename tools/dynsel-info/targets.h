/* SPDX-License-Identifier: Apache-2.0 */
/** The targets of boards/targets.yaml, in this build or not. */
#ifndef TARGETS_H
#define TARGETS_H

#include "info.h"

/** All targets of the table, with the aspects that this configuration has. */
const dynsel_target *targets_of_table(size_t *count);

/** Whether a target of this name is in this build. */
bool targets_in_build(const char *name);

/** Fills in the verifications of a described entry, and the target that describes it better. */
void targets_prove(info_entry *entry);

/** The target of the table that promises most of a device's aspects, and no missing one; NULL: only
 * targets that recognize every device. */
const dynsel_target *targets_closest(const dynsel_device *device);

/** The verification to show: against this build's targets, else against the whole table. */
const dynsel_proof *targets_shown(const info_entry *entry);

/** Whether policies of this build accept the device. */
bool targets_accept(const info_entry *entry);

/** The option that adds a target to the build, such as CONFIG_DYNSEL_TARGET_HOST. */
void targets_option(char *to, size_t bytes, const dynsel_target *target);

/** "host, unknown": the targets of this build. */
void targets_list(char *to, size_t bytes);

#endif
