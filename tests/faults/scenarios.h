/* SPDX-License-Identifier: Apache-2.0 */
/* What the fault tests play. */
#ifndef DYNSEL_TESTS_FAULTS_SCENARIOS_H
#define DYNSEL_TESTS_FAULTS_SCENARIOS_H

#include "faults/sweep.h"

extern const fault_scenario fault_chain;  /* groups over all devices, on memory of their own */
extern const fault_scenario fault_shared; /* on memory of the host's, where they can */
extern const fault_scenario fault_timed; /* by a policy that hears of ends and times, by callback */
extern const fault_scenario fault_profiled;    /* the same, by the devices' profiles */
extern const fault_scenario fault_proving;     /* the first work that is timed so */
extern const fault_scenario fault_beside;      /* beside a device that works */
extern const fault_scenario fault_fill;        /* a square, and a column of it */
extern const fault_scenario fault_ranges;      /* kernels with staged ranges */
extern const fault_scenario fault_svm;         /* shared virtual memory */
extern const fault_scenario fault_opening;     /* a device's first work */
extern const fault_scenario fault_reinstating; /* a device that could not be opened */
extern const fault_scenario fault_sharing;     /* the first shared virtual memory */
extern const fault_scenario fault_closing;     /* the end of all */
extern const fault_scenario fault_finding;     /* the list of devices */
extern const fault_scenario fault_copies;      /* copies of buffers and of parts of them */
extern const fault_scenario fault_stored;      /* kernels with a store */
extern const fault_scenario fault_adopting;    /* a queue of the program's */
extern const fault_scenario fault_pinned;      /* pinned memory, and transfers beside the queue */
extern const fault_scenario fault_memory;      /* a buffer over memory of the program's */
extern const fault_scenario fault_events;      /* events of the program's, and for it */
extern const fault_scenario fault_flushed;     /* an event of work that is not flushed at once */
extern const fault_scenario fault_batched;     /* launches that share an event */
extern const fault_scenario fault_log;         /* the log of a build that succeeds */

#endif
