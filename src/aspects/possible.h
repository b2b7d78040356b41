/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_ASPECTS_POSSIBLE_H
#define DYNSEL_ASPECTS_POSSIBLE_H

#include <dynsel/aspects.h>

/* The aspects that dynsel_any_device_has(). What is not among them no resource has, whatever its
 * driver says: the code for it is not in the program. */
dynsel_aspect_set dynsel_possible_aspects(void);

#endif
