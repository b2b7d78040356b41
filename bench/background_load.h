/* SPDX-License-Identifier: Apache-2.0 */
/* What else the machine does while the bench measures a device. */
#ifndef BENCH_BACKGROUND_LOAD_H
#define BENCH_BACKGROUND_LOAD_H

#include <dynsel/dynsel.h>

typedef enum background_load {
    LOAD_NONE,
    LOAD_PROCESSORS, /* on each processor, a thread that spins */
    LOAD_OTHER_WORK, /* a stream of work through dynsel on another OpenCL device, else on workers */
    LOADS
} background_load;

const char *background_load_name(background_load load);

/* Starts a load. measured: the device that gets none of it. Returns what runs, static until the
 * next call; NULL: this build or machine has no such load, and nothing was started. */
const char *background_load_start(background_load load, const dynsel_resource *measured);
void background_load_stop(void);

#endif
