/* SPDX-License-Identifier: Apache-2.0 */
/* The same work by hand: threads that take pieces from one queue, and put back what has failed. */
#ifndef USECASES_TROUBLE_POOL_H
#define USECASES_TROUBLE_POOL_H

#include "trouble_device.h"

/* threads: the first one is the device that gets into trouble. A thread that hangs keeps its piece
 * until the trouble ends. */
outcome pool_play(uint32_t threads, trouble_kind kind);

#endif
