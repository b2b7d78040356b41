/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the OpenCL backend knows: one table of platforms, one of devices and adopted queues.
 *
 * The lock guards everything here but an entry's `state`, `users`, `sharing`, `unflushed`, `unseen`
 * and `domain` and the table's `known`: those are read without it, so that work on an open device
 * never waits for another device's driver. What else such a reader needs was written before `state`
 * or `known` was stored.
 */
#ifndef DYNSEL_BACKENDS_OPENCL_TABLE_H
#define DYNSEL_BACKENDS_OPENCL_TABLE_H

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

/* Sets of devices are bits of one word. */
_Static_assert(CONFIG_DYNSEL_OPENCL_MAX_DEVICES <= 64, "more devices than bits in a set of them");

typedef enum dynsel_opencl_state {
    DYNSEL_OPENCL_CLOSED, /* no context, no queue yet */
    DYNSEL_OPENCL_OPEN,
    DYNSEL_OPENCL_FAILED, /* could not be opened the last time; nothing is held */
    DYNSEL_OPENCL_DEAD    /* lost: what is held is never touched again */
} dynsel_opencl_state;

typedef struct dynsel_opencl_platform {
    cl_platform_id id;
    cl_context cpu_context; /* of its open CPU devices; NULL: none is open */
    cl_uint device_count;   /* also those that did not fit into the table */
    cl_int code;            /* why its devices could not be listed */
    char name[DYNSEL_OPENCL_NAME_BYTES];
    char version[DYNSEL_OPENCL_TEXT_BYTES];
} dynsel_opencl_platform;

/* Where a device sits in the machine, to recognize it through another platform. */
typedef struct dynsel_opencl_place {
    bool has_uuid;
    bool has_pci;
    uint8_t uuid[DYNSEL_OPENCL_UUID_BYTES];
    cl_uint pci[4]; /* domain, bus, device, function */
} dynsel_opencl_place;

/* clSetKernelArgSVMPointer, which OpenCL 1.2 does not have. */
typedef cl_int(CL_API_CALL *dynsel_opencl_set_pointer_fn)(cl_kernel kernel, cl_uint index,
                                                          const void *pointer);

typedef struct dynsel_opencl_entry {
    dynsel_word state;     /* a dynsel_opencl_state */
    dynsel_word users;     /* entries of policies' tables */
    dynsel_word sharing;   /* what src/backends/opencl/svm.c has asked for; 0: nothing yet */
    dynsel_word unflushed; /* 1: the queue could not be flushed, and has to be */
    dynsel_word unseen;    /* a trace of looks that failed, see src/backends/opencl/events.c */
    cl_command_queue queue;
    cl_context context;
    cl_device_id device;
    const char *failed_function; /* why it is FAILED or DEAD */
    cl_int failed_code;
    uint32_t platform;  /* its index; past the table where that of an adopted queue is not known */
    dynsel_word domain; /* the number of its memory domain; 0: it has to be looked for */
    bool adopted;       /* the queue is the user's */
    bool out_of_order;  /* the user's queue is */
    bool available;
    bool has_compiler;
    bool emulator;
    bool hangs_on_events; /* its driver deadlocks on wait lists with events of other devices */
    uint64_t twins;       /* the same physical device through other platforms, as bits by index */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_opencl_set_pointer_fn set_pointer; /* for kernels; where it shares something */
#endif
#if CONFIG_DYNSEL_SVM
    void *shared;       /* memory of its context; NULL: not made through this entry */
    bool shared_in_use; /* the library has it */
#endif
    cl_device_type type;
    cl_uint vendor_id;
    cl_uint compute_units;
    cl_ulong memory_bytes;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects; /* asked for once */
#endif
    dynsel_opencl_place place;
    char name[DYNSEL_OPENCL_NAME_BYTES];  /* as the driver says it */
    char label[DYNSEL_OPENCL_NAME_BYTES]; /* the same for display */
    char vendor[DYNSEL_OPENCL_TEXT_BYTES];
    char driver_version[DYNSEL_OPENCL_TEXT_BYTES];
    char version[DYNSEL_OPENCL_TEXT_BYTES];
    char too_old[DYNSEL_OPENCL_WHY_BYTES]; /* why no work is given to it, a clause; empty: it is */
} dynsel_opencl_entry;

typedef struct dynsel_opencl_table {
    bool discovered;
    cl_uint platforms_there; /* also those that did not fit */
    cl_uint devices_there;   /* likewise */
    uint32_t platform_count;
    uint32_t found;    /* devices; the entries behind them are adopted queues */
    dynsel_word known; /* entries in use */
    dynsel_opencl_options options;
    dynsel_opencl_platform platforms[CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS];
    dynsel_opencl_entry entries[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
} dynsel_opencl_table;

extern dynsel_opencl_table dynsel_opencl_known;
extern dynsel_lock dynsel_opencl_lock;

/* The entry that `own` is the address of; NULL for anything else. No lock needed. */
dynsel_opencl_entry *dynsel_opencl_entry_at(const void *own);

/* The name of the platform that the device belongs to; empty where it is not known. */
const char *dynsel_opencl_platform_name(const dynsel_opencl_entry *entry);

/* The same for what it says of its OpenCL. */
const char *dynsel_opencl_platform_version(const dynsel_opencl_entry *entry);

/* DYNSEL_E_INVALID, because a handle is not the library's. */
dynsel_status dynsel_opencl_refuse_handle(void);

/* The entry of an adopted queue; NULL for anything else. No lock needed. */
dynsel_opencl_entry *dynsel_opencl_entry_of_queue(const void *queue);

/* The entry that either of these finds: as the library or as programs know it. */
dynsel_opencl_entry *dynsel_opencl_entry_known_as(const void *own);

#endif
