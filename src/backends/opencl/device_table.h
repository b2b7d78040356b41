/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the OpenCL backend: the platforms, and the entries of devices and adopted queues.
 *
 * dynsel_opencl_lock guards all members except `state`, `users`, `sharing`, `unflushed`,
 * `failed_polls`, `domain`, `timing` and `transfers` of an entry, and `known` of the table. These
 * are read without the lock, so that work on an open device never waits for the driver of another
 * device. All other members that such a reader needs are written before `state`, `known`,
 * `timing.source` or `transfers` is stored.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_DEVICE_TABLE_H
#define DYNSEL_BACKENDS_OPENCL_DEVICE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/opencl.h>
#include <dynsel/word.h>

#include "port/lock.h"

enum {
    DYNSEL_OPENCL_NAME_BYTES = 128,
    DYNSEL_OPENCL_TEXT_BYTES = 64,
    DYNSEL_OPENCL_WHY_BYTES = 176,
    DYNSEL_OPENCL_UUID_BYTES = 16
};

/* Sets of devices are bits of one integer. */
_Static_assert(CONFIG_DYNSEL_OPENCL_MAX_DEVICES <= 64, "more devices than bits in a set of them");

typedef enum dynsel_opencl_state {
    DYNSEL_OPENCL_CLOSED, /* no context, no queue yet */
    DYNSEL_OPENCL_OPEN,
    DYNSEL_OPENCL_FAILED, /* the last attempt to open it failed; it has no context and no queue */
    DYNSEL_OPENCL_DEAD    /* lost: its context and queue are never used again */
} dynsel_opencl_state;

/* How the times of work on a device are measured; see timing.h and profiling.h. */
typedef struct dynsel_opencl_times {
    dynsel_word source;     /* a dynsel_opencl_source */
    dynsel_word failures;   /* successive profiles that cannot be true, or did not come in time */
    dynsel_word gap_ns;     /* between the end of a gate and the command behind it */
    cl_command_queue queue; /* with profiling; NULL: there is none */
    cl_mem gate;            /* what gates write to */
    const char *reason;     /* why there are no profiles, a clause; static text */
} dynsel_opencl_times;

/* The queues for large transfers; see transfer_queues.h. */
typedef enum dynsel_opencl_transfers {
    DYNSEL_OPENCL_TRANSFERS_NOT_YET, /* no large transfer yet */
    DYNSEL_OPENCL_TRANSFERS_BESIDE,  /* on queues of their own */
    DYNSEL_OPENCL_TRANSFERS_REFUSED  /* the driver has no more queues: on the device's queue */
} dynsel_opencl_transfers;

typedef struct dynsel_opencl_platform {
    cl_platform_id id;
    cl_context cpu_context; /* shared by its open CPU devices; NULL: no CPU device is open */
    cl_uint device_count;   /* includes devices that do not fit into the table */
    cl_int code;            /* the result of listing its devices */
    char name[DYNSEL_OPENCL_NAME_BYTES];
    char version[DYNSEL_OPENCL_TEXT_BYTES];
} dynsel_opencl_platform;

/* The identity of the hardware: recognizes the same device in another platform. */
typedef struct dynsel_opencl_hardware {
    bool has_uuid;
    bool has_pci;
    uint8_t uuid[DYNSEL_OPENCL_UUID_BYTES];
    cl_uint pci[4]; /* domain, bus, device, function */
} dynsel_opencl_hardware;

/* The type of clSetKernelArgSVMPointer, which the headers of OpenCL 1.2 lack. */
typedef cl_int(CL_API_CALL *dynsel_opencl_set_pointer_fn)(cl_kernel kernel, cl_uint index,
                                                          const void *pointer);

/* Which launches share an event, see launch_batches.h. */
typedef struct dynsel_opencl_batching {
    struct dynsel_opencl_batch *open; /* the next launch joins it; or NULL */
    uint32_t apart;                   /* so many launches have events of their own first */
    uint32_t last_apart;              /* so many after the last marker; 0: there was none */
    uint32_t since;                   /* launches since then that could share one */
} dynsel_opencl_batching;

typedef struct dynsel_opencl_entry {
    dynsel_word state;        /* a dynsel_opencl_state */
    dynsel_word users;        /* number of entries in tables of policies */
    dynsel_word sharing;      /* see svm_capability.c; 0: the driver was not asked yet */
    dynsel_word unflushed;    /* not 0: a poll must flush the queue first, see events.h */
    dynsel_word failed_polls; /* successive failures, see events.c */
    dynsel_word domain;       /* the number of its memory domain; 0: computed on each request */
    cl_command_queue queue;
    cl_context context;
    cl_device_id device;
    bool adopted;      /* the queue belongs to the program */
    bool out_of_order; /* only queues of the program are */
    bool available;
    bool has_compiler;
    bool emulator;
    bool begins_unflushed; /* its driver begins work that nobody flushed */
    bool has_dear_events;  /* its driver launches faster without an event */
    bool hangs_on_events;  /* its driver deadlocks on wait lists with events of other devices */
    bool runs_in_caller;   /* what waits for nothing is complete when its enqueue returns */
    bool pins_memory;      /* memory of its own, to and from which its driver moves pinned memory of
                              the host's faster than other memory, and beside kernels */
    dynsel_opencl_times timing;
    const char *failed_function; /* the reason for FAILED or DEAD */
    cl_int failed_code;
    uint32_t platform; /* an index; platform_count: the platform of an adopted queue is unknown */
    uint64_t twins;    /* bits of entries: the same physical device in other platforms */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_opencl_set_pointer_fn set_pointer; /* NULL: the device has no shared virtual memory */
    dynsel_opencl_batching batching;
    dynsel_word transfers;     /* a dynsel_opencl_transfers */
    cl_command_queue queue_in; /* these two only with DYNSEL_OPENCL_TRANSFERS_BESIDE */
    cl_command_queue queue_out;
#endif
#if CONFIG_DYNSEL_SVM
    void *shared;       /* SVM of its context, if it was allocated through this entry, else NULL */
    bool shared_in_use; /* src/data uses it */
#endif
    cl_device_type type;
    cl_uint vendor_id;
    cl_uint compute_units;
    cl_ulong memory_bytes;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects;
#endif
    dynsel_opencl_hardware hardware;
    char name[DYNSEL_OPENCL_NAME_BYTES];  /* as the driver reports it */
    char label[DYNSEL_OPENCL_NAME_BYTES]; /* the name for display: printable */
    char vendor[DYNSEL_OPENCL_TEXT_BYTES];
    char driver_version[DYNSEL_OPENCL_TEXT_BYTES];
    char version[DYNSEL_OPENCL_TEXT_BYTES];
    char too_old
        [DYNSEL_OPENCL_WHY_BYTES]; /* why its OpenCL is refused, a clause; empty: it is not */
} dynsel_opencl_entry;

typedef struct dynsel_opencl_table {
    bool discovered;
    cl_uint platforms_present; /* includes platforms that do not fit into the table */
    cl_uint devices_present;   /* includes devices that do not fit into the table */
    uint32_t platform_count;
    uint32_t found;    /* number of devices; the entries after them are adopted queues */
    dynsel_word known; /* number of entries in use */
    dynsel_opencl_options options;
    dynsel_opencl_platform platforms[CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS];
    dynsel_opencl_entry entries[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
} dynsel_opencl_table;

extern dynsel_opencl_table dynsel_opencl_known;
extern dynsel_lock dynsel_opencl_lock;

/* The entry at the address `own`; NULL for any other address. Needs no lock. */
dynsel_opencl_entry *dynsel_opencl_entry_at(const void *own);

/* The name and the version text of the entry's platform; empty if the platform is unknown. */
const char *dynsel_opencl_platform_name(const dynsel_opencl_entry *entry);
const char *dynsel_opencl_platform_version(const dynsel_opencl_entry *entry);

/* Fails with DYNSEL_E_INVALID: a handle belongs to no entry. */
dynsel_status dynsel_opencl_refuse_handle(void);

/* The entry of an adopted queue; NULL for any other handle. Needs no lock. */
dynsel_opencl_entry *dynsel_opencl_entry_of_queue(const void *queue);

/* The first entry with this context in this state, open or dead; NULL: none. Needs no lock. */
dynsel_opencl_entry *dynsel_opencl_entry_in(cl_context context, dynsel_opencl_state state);

/* The entry of a resource's handle: the address of an entry, or an adopted queue. Needs no lock. */
dynsel_opencl_entry *dynsel_opencl_entry_of_handle(const void *handle);

#endif
