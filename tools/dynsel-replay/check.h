/* SPDX-License-Identifier: Apache-2.0 */
/** Whether the policies choose again as they did. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>

#include "recording.h"

/** policy: the number of the one that is compared; 0: all. Returns the exit status. */
int check(const recording *all, uint32_t policy);

#endif
