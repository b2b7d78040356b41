/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the fake share. */
#ifndef FAKE_OPENCL_STATE_H
#define FAKE_OPENCL_STATE_H

#include "fakes/fake_opencl.h"

enum {
    MOST_PLATFORMS = 40,
    MOST_DEVICES = 80,
    MOST_OBJECTS = 512,
    MOST_FUNCTIONS = 64,
    LONGEST_SOURCE = 32768
};

/* OpenCL's headers leave these to the implementation. */
struct _cl_platform_id {
    const fake_platform *shown;
    cl_uint first_device;
};

struct _cl_device_id {
    const fake_device *shown;
    cl_platform_id platform;
};

struct _cl_context {
    uint32_t references;
    bool lost;
    bool suspected; /* the last code but those of the check may mean that it is lost */
    cl_uint count;
    cl_device_id devices[MOST_DEVICES];
};

struct _cl_command_queue {
    uint32_t references;
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    bool unflushed;
    uint32_t flushes;
};

struct _cl_program {
    uint32_t references;
    cl_context context;
};

struct _cl_kernel {
    uint32_t references;
    cl_program program;
};

struct _cl_mem {
    uint32_t references;
    cl_context context;
    size_t bytes;
    void *host; /* the host's memory that it is; NULL: memory of the device's */
    uint32_t mapped;
    void *place; /* where to */
    bool stuck;  /* it could not be unmapped */
};

struct _cl_event {
    uint32_t references;
    cl_command_queue queue;
    uint32_t flushes;     /* of the queue, when it was enqueued */
    const char *function; /* that made it */
    cl_int status;
    cl_ulong queued_ns; /* and start */
    cl_ulong start_ns;
    cl_ulong end_ns;                                                      /* 0: not yet */
    void(CL_CALLBACK *notify)(cl_event event, cl_int status, void *data); /* NULL: nobody */
    void *data;
};

/* Shared virtual memory; it is no object of OpenCL's. */
typedef struct fake_shared {
    uint32_t references;
    cl_context context;
    unsigned char *memory;
    size_t bytes;
    void *mapped; /* the part of it that is */
    bool fine;
} fake_shared;

typedef struct call_count {
    const char *function;
    uint32_t count;
} call_count;

typedef struct fake_opencl_state {
    cl_int platforms_code;
    cl_uint platform_count;
    cl_uint device_count;
    cl_uint context_count;
    cl_uint queue_count;
    cl_uint event_count;
    cl_uint program_count;
    cl_uint kernel_count;
    cl_uint memory_count;
    cl_int new_events;
    bool markers_end;
    fake_profiles profiles;
    uint32_t looks_left; /* at events, before all end; 0: they do not by themselves */
    uint32_t violations;
    uint32_t blocked_waits;
    uint32_t calls;
    uint32_t fail_at;
    cl_int fail_code;
    const char *failed;
    const char *broken_device;
    const char *broken_function;
    cl_int broken_code;
    call_count counts[MOST_FUNCTIONS];
    struct _cl_platform_id platforms[MOST_PLATFORMS];
    struct _cl_device_id devices[MOST_DEVICES];
    struct _cl_context contexts[MOST_OBJECTS];
    struct _cl_command_queue queues[MOST_OBJECTS];
    struct _cl_event events[MOST_OBJECTS];
    struct _cl_program programs[MOST_OBJECTS];
    struct _cl_kernel kernels[MOST_OBJECTS];
    struct _cl_mem memories[MOST_OBJECTS];
    cl_uint shared_count;
    fake_shared shared[MOST_OBJECTS];
    bool any_pointer;
    void *map_place;
    fake_launch launch;
    uint32_t command_count;
    fake_command commands[MOST_OBJECTS]; /* the last ones */
    size_t most_items;                   /* in a work-group */
    size_t demanded[3];                  /* work-group size */
    cl_ulong local_memory;               /* of a kernel, in bytes */
    char source[LONGEST_SOURCE];
} fake_opencl_state;

extern fake_opencl_state fake_state;

/* For every call; what it has to answer when that is not CL_SUCCESS. */
cl_int fake_enter(const char *function);

/* For calls on a queue or on an event of it. */
cl_int fake_enter_queue(const char *function, cl_command_queue queue);

/* The event ends; keeps the time of the first end. */
void fake_end_event(cl_event event, cl_int status);

/* For calls that enqueue something. */
cl_int fake_enqueue(const char *function, cl_command_queue queue, cl_uint count,
                    const cl_event *before, cl_event *event);

void fake_violate_if(bool condition);

/* Whether the test wants that function to fail for the device. */
bool fake_is_broken(cl_device_id device, const char *function);

/* The library is told this code, and may have to give the device up. */
void fake_tell(cl_int code, cl_context context);

/* Tells the code of a call on the context. */
cl_int fake_lose_if(cl_int code, cl_context context);

/* Answers as OpenCL's queries do: all of it or CL_INVALID_VALUE. */
cl_int fake_reply(const void *from, size_t length, size_t bytes, void *to, size_t *answered);
cl_int fake_reply_text(const char *text, size_t bytes, void *to, size_t *answered);

#endif
