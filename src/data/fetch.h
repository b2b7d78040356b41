/* SPDX-License-Identifier: Apache-2.0 */
/* Bringing data into the host's memory. Under the lock of src/data/lock.h. */
#ifndef DYNSEL_DATA_FETCH_H
#define DYNSEL_DATA_FETCH_H

#include "data/buffers.h"

/* Looks at a fetch that runs, and ends it if it is complete. */
void dynsel_fetch_look(dynsel_buffer_record *record);

#endif
