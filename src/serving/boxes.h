/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills of boxes of bytes: by the library's own commands where they are contiguous, else
 * by kernels of this file. */
#ifndef DYNSEL_SERVING_BOXES_H
#define DYNSEL_SERVING_BOXES_H

#include <dynsel/status.h>

#include "serving/reader.h"

/* The messages of these kinds. DYNSEL_E_AGAIN: not now. Any other failure is to be answered. */
dynsel_status dynsel_serving_copy(const dynsel_mpi_header *header, dynsel_served_reader body);
dynsel_status dynsel_serving_fill(const dynsel_mpi_header *header, dynsel_served_reader body);

#endif
