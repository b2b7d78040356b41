/* SPDX-License-Identifier: Apache-2.0 */
/* Letting others run while this context waits for something that it can only look at. */
#ifndef DYNSEL_PORT_PAUSE_H
#define DYNSEL_PORT_PAUSE_H

#include <stdint.h>

/*
 * round: how often this wait has paused already; the first pauses only give way, later ones sleep
 * for up to 100 us.
 */
void dynsel_pause(uint32_t round);

#endif
