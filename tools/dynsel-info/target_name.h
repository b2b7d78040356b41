/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TARGET_NAME_H
#define TARGET_NAME_H

#include <dynsel/targets.h>

#define TARGET_NAME_BYTES 64

/**
 * A name for the target of a device, made of its vendor, type and name, such as
 * "nvidia_gpu_h200_nvl": lower case letters, digits and '_', a letter first.
 *
 * number: 1 for that name, from 2 on with that number behind it.
 */
void target_name(char to[TARGET_NAME_BYTES], const dynsel_device *device, unsigned number);

#endif
