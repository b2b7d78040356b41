/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands between the library and OpenCL, whether that is a driver of this machine or the fake: the
 * linker leads every call of the program through it (ld's --wrap). It counts the calls of each
 * function, fails those that the test names, and knows which objects are still held and which
 * commands the driver has not ended.
 *
 * A call that fails does not reach OpenCL, but for releases, which happen all the same. It can also
 * let a call succeed, and have the command end badly, late or never. One thread only; drivers may
 * have theirs.
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

/* What goes wrong with the end of a command. */
typedef enum fault_ending {
    FAULT_NO_END,     /* nothing: a call fails */
    FAULT_END_FAILS,  /* the command does not run, and ends with the code */
    FAULT_END_LATE,   /* after some looks, or when it is waited for */
    FAULT_END_EARLY,  /* the driver says at once that it is complete; it runs as a late one */
    FAULT_END_NEVER,  /* the queue hangs until fault_let_go() */
    FAULT_TOLD_TWICE, /* its callback comes twice */
    FAULT_TOLD_LATE,  /* when the library has released the event */
    FAULT_TOLD_NEVER
} fault_ending;

typedef struct fault_point {
    fault_function function;
    uint32_t call; /* the first that fails, from 1 on; 0: none */
    cl_int code;   /* where a function returns an address it is NULL */
    bool for_good; /* all later calls of the function fail too */
    /* Not FAULT_NO_END: `call` counts the commands that the library has events of; for
     * FAULT_END_NEVER all commands, for callbacks the calls of clSetEventCallback(). */
    fault_ending end;
    cl_command_queue queue; /* for ends: only commands of this queue; NULL: all */
    const void *context;    /* only what belongs to it, and nothing else is counted; NULL: all */
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

/* Whether a call of clGetEventInfo() was made to fail that asks for something else than the state:
 * it says nothing about the device, and is not tried again. */
bool fault_hit_query(void);

/* DYNSEL_TEST_DISGUISE: the devices are GPUs with memory of their own, and NVIDIA's. */
bool fault_is_disguised(void);

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

/* Only commands of this queue end badly; they are counted from here on. */
void fault_aim(cl_command_queue queue);

/* Only what belongs to this context fails; calls are counted from here on. */
void fault_aim_at_context(const void *context);

/* Ends a hang, or any other delay. */
void fault_let_go(void);
bool fault_is_holding(void);

/* How often the library waited in a call of OpenCL's for a queue that hangs; the hang ended then,
 * so that the test goes on. */
uint32_t fault_blocked(void);

/* Commands with an event that the driver has not ended, whatever the library was told. Without
 * markers: they touch no memory, and the one that shows whether a device answers may end late. */
uint32_t fault_running(void);

#endif
