/* SPDX-License-Identifier: Apache-2.0 */
/* Copying data out, into the host's memory. Under the lock. */
#ifndef DYNSEL_DATA_COPY_OUT_H
#define DYNSEL_DATA_COPY_OUT_H

#include "data/buffers.h"

/* Polls a running copy to the host, and ends it if it is complete. True: it has ended, and its
 * watchers must be notified. */
bool dynsel_copy_out_look(dynsel_buffer_record *record);

/* Begins the copy to the host that dynsel_coherence_look() asked for, or frees a lost copy.
 * Releases the lock meanwhile. When it returns the copy runs or has ended, and its watchers must be
 * notified. */
void dynsel_copy_out_begin(dynsel_buffer_record *record);

#endif
