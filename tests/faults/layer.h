/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands between the library and OpenCL, whether that is a driver of this machine or the fake: the
 * linker leads every call of the program through it (ld's --wrap). It counts the calls of each
 * function, fails those that the test names, and knows which objects are still held and which
 * commands the driver has not ended.
 *
 * A call that fails does not reach OpenCL, but for releases, which happen all the same. One thread
 * only; drivers may have theirs.
 */
#ifndef DYNSEL_TESTS_FAULTS_LAYER_H
#define DYNSEL_TESTS_FAULTS_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "faults/functions.h"

typedef enum fault_function {
#define FAULT_ENTRY(name) FAULT_##name,
    FAULT_FUNCTIONS(FAULT_ENTRY) FAULT_FOUND_FUNCTIONS(FAULT_ENTRY)
#undef FAULT_ENTRY
        FAULT_FUNCTION_COUNT
} fault_function;

typedef struct fault_point {
    fault_function function;
    uint32_t call; /* the first that fails, from 1 on; 0: none */
    cl_int code;   /* where a function returns an address it is NULL */
    bool for_good; /* all later calls of the function fail too */
} fault_point;

/* "clFlush". */
const char *fault_name(fault_function function);

/* Counts calls from here on, and fails none. What the library holds stays known. */
void fault_begin(void);

/* Calls are counted from fault_begin() on, whether they fail or not. */
void fault_set(const fault_point *point);

/* Nothing fails any more; calls are still counted. */
void fault_clear(void);

/* How many calls the function had, and how many of all calls were made to fail. */
uint32_t fault_calls(fault_function function);
uint32_t fault_failures(void);

/* While it is true, calls are neither counted nor failed: for what the test itself asks. */
void fault_suspend(bool suspended);

/* What belongs to this device's contexts is not looked at any more: the device was given up. */
void fault_give_up(cl_device_id device);

/* References to objects that the library has not released. made_by: out, the function that made the
 * newest. */
uint32_t fault_held(const char **made_by);

/* Releases of what was not held any more. */
uint32_t fault_misuses(void);

/* Releases what the library left. */
void fault_end(void);

/* Commands with an event that the driver has not ended, whatever the library was told. */
uint32_t fault_running(void);

#endif
