/* SPDX-License-Identifier: Apache-2.0 */
/** The targets of boards/targets.yaml, in this build or not. */
#ifndef TARGETS_H
#define TARGETS_H

#include "info.h"

/** All targets of the table, with the aspects that this configuration has. */
const dynsel_target *targets_of_table(size_t *count);

/** Whether a target of this name is in this build. */
bool targets_in_build(const char *name);

/** Fills in the proofs of an entry whose device is described, and the target that says more. */
void targets_prove(info_entry *entry);

/** The target of the table that says most of a device, and nothing wrong; NULL: none but such as
 * recognize every device. */
const dynsel_target *targets_closest(const dynsel_device *device);

/** What the aspects of an entry are to be compared with: this build's, else the whole table's. */
const dynsel_proof *targets_shown(const info_entry *entry);

/** Whether policies of this build take the device. */
bool targets_accept(const info_entry *entry);

/** The option that brings a target into the build, such as CONFIG_DYNSEL_TARGET_HOST. */
void targets_option(char *to, size_t bytes, const dynsel_target *target);

/** "host, unknown": the targets of this build. */
void targets_list(char *to, size_t bytes);

#endif
