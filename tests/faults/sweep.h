/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a scenario again and again: for each OpenCL function, for each call k of it, and for each
 * code that the function may answer with, once so that only that call fails, and once so that all
 * calls from then on do. Then the scenario is played again without a fault. What has to hold:
 *
 * - it ends;
 * - where something fails, at least one failure tells the function and the code that were made to
 *   fail, and what did not fail is right;
 * - no command still runs when all work is said to be over, but on devices that were given up;
 * - every object is released once, but for those of such devices;
 * - without the fault everything works again, unless a device was lost.
 */
#ifndef DYNSEL_TESTS_FAULTS_SWEEP_H
#define DYNSEL_TESTS_FAULTS_SWEEP_H

#include <stddef.h>

#include <dynsel/dynsel.h>

#include "faults/layer.h"

/* The devices of the machine, lost ones too; set when a scenario is played. */
enum { FAULT_MOST_DEVICES = 4 };
extern dynsel_resource fault_devices[FAULT_MOST_DEVICES];
extern size_t fault_device_count;

typedef struct fault_scenario {
    const char *name;
    void (*play)(void); /* from policies' initialization to their end */
    bool is_cold;       /* what devices, contexts and kernels are there is forgotten before */
    bool finds_devices; /* it looks for the devices itself; implies is_cold */
    dynsel_opencl_timing timing; /* what devices are configured with */
    const fault_function *only;  /* functions that are made to fail; NULL: all that it calls */
    size_t only_count;
    const fault_function *subset; /* the same, in what is less than the whole matrix; NULL: only */
    size_t subset_count;
} fault_scenario;

/* For scenarios: notes what a call of the library's returned. True: DYNSEL_OK. */
bool fault_saw(dynsel_status status);

/* For scenarios: notes what went wrong when the condition does not hold. */
void fault_must(bool condition, const char *what);

/* For scenarios: a driver says that work is over that is not, so data may be old. */
bool fault_is_lied_to(void);

/* For scenarios: all work is over now. */
void fault_nothing_runs(void);

/* How often something went wrong; each is printed. */
uint32_t fault_sweep(const fault_scenario *scenario);

/* The same with all ends of commands and all callbacks. */
uint32_t fault_sweep_ends(const fault_scenario *scenario);

/* The same with a hang at each command of the queue that it names with fault_aim(). */
uint32_t fault_sweep_hangs(const fault_scenario *scenario);

#endif
