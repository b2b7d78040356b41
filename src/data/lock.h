/* SPDX-License-Identifier: Apache-2.0 */
/* One lock for all buffers, domains and waiting command groups, held for short moments: never while
 * work is started or polled, nor while a user's function or a driver's call that may block runs. */
#ifndef DYNSEL_DATA_LOCK_H
#define DYNSEL_DATA_LOCK_H

#include "port/brief_lock.h"

extern dynsel_brief_lock dynsel_memory_lock;

#endif
