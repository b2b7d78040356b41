/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_TRACE_EVENTS_H
#define BENCH_TRACE_EVENTS_H

#include <stdint.h>

/* What an event of the trace takes, beside reading its clock. */
void bench_trace_events(unsigned repetitions, uint32_t times);

#endif
