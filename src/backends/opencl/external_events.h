/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the program that command groups depend on. */
#ifndef DYNSEL_BACKENDS_OPENCL_EXTERNAL_EVENTS_H
#define DYNSEL_BACKENDS_OPENCL_EXTERNAL_EVENTS_H

#include <dynsel/memory.h>

extern const dynsel_external_event_ops dynsel_opencl_external_events;

#endif
