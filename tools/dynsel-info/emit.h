/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EMIT_H
#define EMIT_H

#include "info.h"

/** Prints an entry for boards/targets.yaml for each chosen OpenCL device; returns how many devices
 * there were. */
unsigned emit_print(const info_list *list);

#endif
