/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL without a driver, linked in the place of the loader: any set of platforms and devices,
 * events that end when and how the test says, calls that fail, devices that die. It counts every
 * call and every object, so that a test sees what was done too often, too early or not at all.
 *
 * One thread only.
 */
#ifndef FAKE_OPENCL_H
#define FAKE_OPENCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* What a device answers to a question, whatever else is said of it. */
typedef struct fake_answer {
    cl_device_info what;
    cl_int code; /* not CL_SUCCESS: it refuses, and leaves the value there all the same */
    const void *value;
    size_t bytes;
} fake_answer;

typedef struct fake_device {
    const char *name;
    const char *vendor;
    const char *version; /* NULL: "OpenCL 1.2 fake"; "": it does not tell */
    cl_device_type type;
    cl_uint vendor_id;
    uint8_t uuid; /* every byte of its UUID; 0: it has none */
    uint8_t bus;  /* of its PCI address; 0: it has none */
    bool not_available;
    bool no_compiler;
    bool no_profiling;
    bool is_hidden; /* it is there, but clGetDeviceIDs() does not list it, as a part of a device */
    bool begins_unflushed;
    const fake_answer *answers;
    size_t answer_count;
} fake_device;

typedef struct fake_platform {
    const char *name;
    const char *version; /* as of a device */
    bool is_hidden; /* it is there, but clGetPlatformIDs() does not list it: only the last ones */
    cl_int code;    /* what its clGetDeviceIDs answers; CL_SUCCESS: the devices */
    cl_uint count;
    const fake_device *devices;
} fake_platform;

/* Forgets all that was, and shows these platforms. code: of clGetPlatformIDs. */
void fake_opencl_show(const fake_platform *platforms, cl_uint count, cl_int code);

/* The call with this number, counted from here on, fails; 0: none. */
void fake_opencl_fail_at(uint32_t call, cl_int code);

/* Whether that call has come. */
bool fake_opencl_has_failed(void);

/* The function that failed so. */
const char *fake_opencl_failed_function(void);

/* From now on `function` answers `code` for this device; "event": its events end with it; "looks":
 * each wait for an event, and each question about one, fails with it. Once the library has been
 * told a code that means the loss of the device, every further call on the same context counts as a
 * violation. NULL: everything works again. */
void fake_opencl_break(const char *device, const char *function, cl_int code);

/* What status new events have, such as CL_RUNNING: those are complete when somebody waits. */
void fake_opencl_set_new_events(cl_int status);

/* Until the next fake_opencl_show(), a marker that is alone in its queue ends at once: where the
 * library looks whether a device is lost, it would wait for that. */
void fake_opencl_end_markers(void);

/* Events that are not complete end with CL_COMPLETE when they are looked at so often, successfully
 * or not. */
void fake_opencl_end_events_after(uint32_t looks);

/* Every further call on the contexts of this device counts as a violation, as after a loss. */
void fake_opencl_give_up(const char *device);

/* Gives all events that are not complete this status. */
void fake_opencl_finish_events(cl_int status);

/* The same for one of them: the one that was made last is 1, the one before it 2. */
void fake_opencl_finish_event(uint32_t from_the_last, cl_int status);

/* What profiles are from now on. */
typedef enum fake_profiles {
    FAKE_PROFILES_TRUE,
    FAKE_PROFILES_REFUSED,
    FAKE_PROFILES_ZERO,
    FAKE_PROFILES_REVERSED,   /* the end comes before the start */
    FAKE_PROFILES_SEEN_LATE,  /* a look at every second event takes 8 ms */
    FAKE_PROFILES_OTHER_CLOCK /* which goes three times as fast as the host's */
} fake_profiles;
void fake_opencl_set_profiles(fake_profiles profiles);

/* The profile of one event: the one that was made last is 1, the one before it 2. */
void fake_opencl_set_profile(uint32_t from_the_last, cl_ulong queued_ns, cl_ulong start_ns,
                             cl_ulong end_ns);

/* How often `function` was called since fake_opencl_show(); NULL: all of them together. */
uint32_t fake_opencl_calls(const char *function);

/* The device of this name, listed or not; it must be there. */
cl_device_id fake_opencl_device(const char *name);

/* A queue on the device of this name, in a context of its own, as a program would make it; both are
 * to be released by the test. */
cl_command_queue fake_opencl_new_queue(const char *device);

/* The source of the program that was made last: all its texts together. */
const char *fake_opencl_last_source(void);

/* A command that was enqueued. */
typedef struct fake_command {
    const char *function;
    cl_command_queue queue;
    cl_uint after_count;          /* the events that it waits for */
    const char *after;            /* the function that made the first of these */
    cl_command_queue after_queue; /* and its queue */
} fake_command;

/* The command that was enqueued last is 1, the one before it 2. */
fake_command fake_opencl_command(uint32_t from_the_last);

/* How a kernel was launched last. */
typedef struct fake_launch {
    cl_uint dimensions;
    bool has_offset;
    size_t offset[3];
    size_t global[3];
    size_t local[3];
} fake_launch;

fake_launch fake_opencl_last_launch(void);

/* The most work-items that a work-group of any kernel can have from now on, and the size that
 * kernels demand; 0 each: none. Until then 256 and none. */
void fake_opencl_set_work_groups(size_t most, const size_t demanded[3]);

/* How much local memory kernels use from now on. Until then none. */
void fake_opencl_set_local_memory(cl_ulong bytes);

/* Where memory is mapped from now on, against the rules; NULL: where it is the host's. */
void fake_opencl_map_to(void *place);

/* From now on kernels take pointers to anything, as where all of the host's memory is shared. */
void fake_opencl_let_pointers_be_any(void);

/* Memory objects over memory of the host's that are still held. */
uint32_t fake_opencl_host_memories(void);

/* How much of the shared memory that was made is fine grain. */
uint32_t fake_opencl_fine_memories(void);

/* How many queues were ever made for this device. */
uint32_t fake_opencl_queues_of(const char *device);

/* How many devices the last context was made for. */
cl_uint fake_opencl_devices_of_last_context(void);

/* Waits for an event that had not ended. */
uint32_t fake_opencl_blocked_waits(void);

/* Objects that are still held; those on contexts of lost devices do not count. */
uint32_t fake_opencl_leaks(void);

/* Objects that are still held on contexts of lost devices. */
uint32_t fake_opencl_given_up(void);

/* Calls on dead objects and on objects of lost devices. */
uint32_t fake_opencl_violations(void);

#endif
