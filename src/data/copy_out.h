/* SPDX-License-Identifier: Apache-2.0 */
/* Copying data out, into the host's memory. Under the lock. */
#ifndef DYNSEL_DATA_COPY_OUT_H
#define DYNSEL_DATA_COPY_OUT_H

#include "data/buffers.h"

/* Looks at a copy to the host that runs, and ends it if it is complete. True: it has ended, and
 * those who wait for it are to be told. */
bool dynsel_copy_out_look(dynsel_buffer_record *record);

/* Begins the copy to the host that dynsel_coherence_look() asked for, or gives a lost copy up. Lets
 * the lock go meanwhile. When it returns the copy to the host runs or has ended, and those who wait
 * for it are to be told. */
void dynsel_copy_out_begin(dynsel_buffer_record *record);

#endif
