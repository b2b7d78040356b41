/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex for slow paths, such as device discovery: waiters sleep. A submission never takes it. */
#ifndef DYNSEL_PORT_LOCK_H
#define DYNSEL_PORT_LOCK_H

#include <dynsel/config.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS
#include "port/lock_threads.h"
#else
#include "port/lock_plain.h"
#endif

#endif
