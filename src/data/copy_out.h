/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the data of a buffer from a device to the host's memory. Under the lock. */
#ifndef DYNSEL_DATA_COPY_OUT_H
#define DYNSEL_DATA_COPY_OUT_H

#include "data/buffers.h"

/* Polls a running copy to the host, and ends it if it is complete. True: it has ended, and the
 * caller notifies its watchers. */
bool dynsel_copy_out_look(dynsel_buffer_record *record);

/* Begins the copy to the host that dynsel_coherence_look() requested, or frees a lost copy.
 * Releases the lock meanwhile. Afterwards the copy runs or has ended, and the caller notifies its
 * watchers. */
void dynsel_copy_out_begin(dynsel_buffer_record *record);

#endif
