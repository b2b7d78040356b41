/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a mix for dynsel: each maps every element of one array to one of another, with a
 * given number of operations. Arguments: in, out, elements (a power of two), operations. */
#ifndef USECASES_KERNELS_H
#define USECASES_KERNELS_H

#include <dynsel/kernel.h>

#include "mix_kind.h"

extern const dynsel_kernel usecase_kernels[MIX_KERNELS];

#endif
