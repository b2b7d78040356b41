/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The OpenCL backend: every device of every platform that the ICD loader knows, as resources.
 *
 * Devices are found once, at the first use. A context and an in-order queue are made when a device
 * gets its first work (or is asked for them), never for a device that is not used. Devices have a
 * context each; the CPU devices of one platform share one. No platform, or a platform without
 * devices, is not an error: there are simply no resources then.
 *
 * OpenCL 1.2 is needed, of the device and of its platform: older drivers lack functions that the
 * library calls. Of an older device, or one whose driver does not tell its version, nothing is
 * asked but what it is. It is left out of the default resources and of what a selector chooses; a
 * policy that is given it fails with DYNSEL_E_UNSUPPORTED, and so does all else that would open it.
 *
 * Selectors. A text chooses devices over all platforms, such as these:
 *
 * - `gpu`: every GPU;
 * - `platform=nvidia,index=1`: the second device of the platforms that have "nvidia" in their name;
 * - `name=H200; type=cpu`: those named so, and the CPUs;
 * - `1`: the second device of all.
 *
 * It is a list of alternatives (`;`), each a list of terms that must all hold (`,`), with at most
 * 32 terms together. A term is `platform=`, `vendor=`, `name=` (a part of the text, in upper or
 * lower case), `type=` (cpu, gpu, accelerator, custom), `index=` (counts from 0 the devices that
 * the alternative's other terms leave), or one word alone: a type, a number (an index), `all`,
 * `emulator`, or a part of the device's name. Blanks around words do not count.
 *
 * The same physical device seen through two platforms counts once: on the first platform that the
 * alternative allows. Emulators are left out, and are not counted by an index, unless the
 * alternative has the term `emulator`, which holds for them alone: `all;emulator` is everything.
 * Devices that are lost, not available or too old are left out, but keep their place for an index.
 * An empty
 * selector means the default one, and `all` where none is set.
 *
 * Several threads may submit to one device, as OpenCL allows. Where its driver does not bear that
 * (PoCL 3.1's device `basic` deadlocks), let the task function enqueue and flush under a lock of
 * its own, or submit from one thread.
 *
 * Failures. What a code means depends on the call that answers it:
 *
 * - CL_DEVICE_NOT_AVAILABLE, CL_INVALID_COMMAND_QUEUE, -9999 (NVIDIA's) of any call on a queue or a
 *   program, and as the status of an event: the device is lost. CL_OUT_OF_RESOURCES: likewise, but
 *   not of clWaitForEvents() and clGetEventInfo().
 * - Any other code of clWaitForEvents() and clGetEventInfo(): it says nothing about the work, which
 *   may still run. It is looked at again, until its end is known; where nothing can be learned for
 *   as long as dynsel_opencl_options.patience_ms, the device is lost. Of clFlush(): likewise, and
 *   the next look flushes again.
 * - CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST of clWaitForEvents(): the event ended as its own
 *   status says; where that says success, or cannot be read, the work failed.
 * - Any other status of an event below 0: the work failed, DYNSEL_E_DEVICE; with -14 it did not run
 *   because what it came after failed, DYNSEL_E_DEPENDENCY.
 * - Any code of clCreateContext() and clCreateCommandQueue(): the resource is out of service. The
 *   next use tries again: for policies that is after dynsel_resource_reinstate().
 * - Any code of clCreateBuffer(), and CL_MEM_OBJECT_ALLOCATION_FAILURE of what enqueues: the memory
 *   is full. Copies that are not needed are given up, else the work ends with DYNSEL_E_FULL.
 * - CL_INVALID_ARG_..., CL_INVALID_WORK_..., CL_INVALID_GLOBAL_... and CL_INVALID_KERNEL_ARGS of a
 *   launch: the program's mistake, DYNSEL_E_INVALID.
 * - What another build of a kernel would end with again: DYNSEL_E_TASK, with the compiler's log. It
 *   is remembered.
 * - Anything else: DYNSEL_E_DEVICE for that work, and nothing is remembered: the next work asks, or
 *   builds, again. So many of these in a row take the resource out of service
 *   (CONFIG_DYNSEL_MAX_FAILURES).
 *
 * On a lost device's context nothing is called any more, until dynsel_opencl_close(): drivers hang
 * there. Work that is on it ends with DYNSEL_E_DEVICE, and what OpenCL has for it is never given
 * back. Such work may go on all the same: the host's memory that it uses (buffers that share it,
 * what is being read back, what a task function gave) may still be written until the process ends.
 *
 * Kernels of command groups. dynsel's ranges name the dimension whose elements lie side by side in
 * memory last, OpenCL numbers it 0: of DYNSEL_RANGE_3D(slices, rows, columns) get_global_id(0) is
 * the column, (1) the row, (2) the slice; of DYNSEL_RANGE_2D(rows, columns) (0) is the column and
 * (1) the row. Neighbouring work items so touch neighbouring elements, as devices want it, and
 * kernels written for x and y need no change. Where no work group is given, its size in each
 * dimension divides the range: a power of two up to 64 work items in all if one of 32 or more does,
 * else the largest number that does; so ranges with a prime number of columns are slow.
 *
 * Source: seed 002, "Backends".
 */
#ifndef DYNSEL_OPENCL_H
#define DYNSEL_OPENCL_H

#include <stddef.h>
#include <stdint.h>

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <dynsel/backend.h>

DYNSEL_BEGIN_DECLS

/**
 * What it reports. When work ended is told by the driver, in a thread of its own; where the library
 * is not for several threads (CONFIG_DYNSEL_CONTEXT_THREADS) it is when a call of the library sees
 * it.
 */
#define DYNSEL_OPENCL_REPORTS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/**
 * Its default resources are the devices that the selector of dynsel_opencl_configure() chooses,
 * else that of the environment variable DYNSEL_OPENCL, else all; in the order of the platforms and
 * of their devices. A resource's handle is the library's own; use the functions below to get at
 * OpenCL's objects.
 */
extern dynsel_backend dynsel_opencl_backend;

/** All zero: the defaults. */
typedef struct dynsel_opencl_options {
    const char *selector; /**< borrowed until dynsel_opencl_close(); NULL: the environment's */
    cl_command_queue_properties queue_properties; /**< for the queues the library makes, such as
                               CL_QUEUE_PROFILING_ENABLE; out of order is not allowed */
    uint32_t patience_ms; /**< for how many milliseconds looks at work may fail, one after the other
                             and 16 at least, before its device is given up; 0: 1000; at most an
                             hour */
} dynsel_opencl_options;

/**
 * Sets the defaults of the backend, before its first use.
 *
 * options: copied, the selector's text borrowed. NULL: all zero.
 * Errors: DYNSEL_E_INVALID (a selector that does not parse: the text says where; out-of-order
 *     queues), DYNSEL_E_BUSY (the backend is in use already: dynsel_opencl_close() first).
 * May block: no.
 * Context: any thread.
 * Cost: linear in the selector.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_configure(const dynsel_opencl_options *options);

/**
 * The devices that a selector chooses, as resources for dynsel_options.
 *
 * selector: NULL or blank: as for the default resources.
 * resources, capacity: out, in the order of platforms and devices, each device once. NULL only with
 *     0, to have them counted.
 * count: out, how many were chosen, also when it is more than fit.
 * Errors: DYNSEL_E_INVALID (NULL pointers; a selector that does not parse: the text says where and
 *     what is allowed), DYNSEL_E_NO_RESOURCE (nothing fits; the text says how many devices there
 *     are), DYNSEL_E_FULL (more than `capacity`, or more devices than
 *     CONFIG_DYNSEL_OPENCL_MAX_DEVICES or platforms than CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS).
 * May block: yes, at the first use, while drivers are loaded.
 * Context: any thread; not task functions.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_select(const char *selector, dynsel_resource *resources,
                                                  size_t capacity, size_t *count);

/** Why a device is among the chosen or not. */
typedef enum dynsel_opencl_verdict {
    DYNSEL_OPENCL_CHOSEN,       /**< with a word in `reason` where the driver has no compiler */
    DYNSEL_OPENCL_NOT_SELECTED, /**< the selector does not fit */
    DYNSEL_OPENCL_DUPLICATE,    /**< the same physical device is there through another platform */
    DYNSEL_OPENCL_EMULATOR,     /**< an emulator, and the selector does not ask for it */
    DYNSEL_OPENCL_UNAVAILABLE,  /**< its driver says so, or it could not be opened the last time:
                                   who has the resource tries again by using it */
    DYNSEL_OPENCL_LOST,         /**< it failed so that nothing more can be asked of it */
    DYNSEL_OPENCL_NO_DEVICE,    /**< no device at all: a platform that has none, or does not list
                                   them */
    DYNSEL_OPENCL_TOO_OLD       /**< its OpenCL, or its platform's, is older than 1.2, or unknown */
} dynsel_opencl_verdict;

/** One device as the drivers describe it, with anything in the texts; dynsel_resource_name() gives
 * a name for people. No text is NULL; they live until dynsel_opencl_close().
 */
typedef struct dynsel_opencl_device_info {
    const char *name; /**< without blanks around it */
    const char *vendor;
    const char *platform;
    const char *driver_version;
    const char *version; /**< of OpenCL, as "OpenCL 3.0 PoCL"; "unknown", "none" */
    const char *type;    /**< "cpu", "gpu", "accelerator", "custom", "unknown"; "none" */
    cl_device_id device; /**< NULL only for DYNSEL_OPENCL_NO_DEVICE */
    cl_uint compute_units;
    uint64_t memory_bytes;
    uint32_t memory_domain;   /**< devices with the same number share a context, so that nothing is
                                 moved between them; 0: none */
    dynsel_resource resource; /**< for dynsel_resource_describe() and for policies, chosen or not;
                                 backend NULL only for DYNSEL_OPENCL_NO_DEVICE */
    dynsel_opencl_verdict verdict;
    const char
        *reason; /**< the verdict, one clause that can be printed; dies with this structure */
} dynsel_opencl_device_info;

typedef void (*dynsel_opencl_visitor)(const dynsel_opencl_device_info *info, void *context);

/**
 * Tells about every device of every platform, in order, with the verdict of a selector: for lists,
 * and to see why a device is not among the chosen. A platform without devices is told about too.
 *
 * selector: as in dynsel_opencl_select().
 * visitor: called in this thread with no lock held, `info` dies when it returns.
 * Errors: as dynsel_opencl_select(), without DYNSEL_E_NO_RESOURCE; with DYNSEL_E_FULL those that
 *     fit were told about.
 * May block: yes, at the first use.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_visit_devices(const char *selector,
                                                         dynsel_opencl_visitor visitor,
                                                         void *context);

/**
 * OpenCL's objects behind a resource: made at the first call if need be.
 *
 * where: a resource of this backend.
 * Returns: borrowed from the library (from the user, for a queue of the user's), valid until
 *     dynsel_opencl_close(). NULL with dynsel_last_error() set: DYNSEL_E_INVALID (not a resource of
 *     this backend), DYNSEL_E_OUT_OF_SERVICE (the device is lost, or could not be opened: function
 *     and code of what failed; the next call tries again; not from dynsel_opencl_device(), which
 *     opens nothing), DYNSEL_E_UNSUPPORTED (its OpenCL is too old; not from dynsel_opencl_device()
 *     either).
 * May block: the first call for a device, while its driver makes a context.
 * Context: any thread; task functions.
 * Cost: constant afterwards, no lock.
 */
cl_command_queue dynsel_opencl_queue(const dynsel_resource *where);
cl_context dynsel_opencl_context(const dynsel_resource *where);
cl_device_id dynsel_opencl_device(const dynsel_resource *where);

/**
 * Makes a queue of the user's usable as a resource: give it as `adapt` in dynsel_options, with
 * resources of the form `{&dynsel_opencl_backend, queue}`. The task function then gets the queue
 * itself as where->handle.
 *
 * queue: a cl_command_queue; retained until dynsel_opencl_close(). The same queue twice gives the
 *     same.
 * Returns: NULL with dynsel_last_error() set: DYNSEL_E_INVALID (NULL, or what OpenCL says of it),
 *     DYNSEL_E_UNSUPPORTED (its device's OpenCL is too old, and nothing was retained),
 *     DYNSEL_E_FULL (CONFIG_DYNSEL_OPENCL_MAX_DEVICES counts found devices and such queues
 *     together).
 * May block: at the first use of the backend.
 * Context: any thread.
 */
void *dynsel_opencl_adopt(void *queue);

/**
 * OpenCL C for the front of programs: the macros of seed 003 and dynsel_all_devices_have(),
 * dynsel_any_device_has(), as in <dynsel/aspect_traits.h>. Static text; after it, line numbers
 * begin at 1, except in the complaints of NVIDIA's compiler, which counts the prelude's lines all
 * the same.
 */
extern const char dynsel_opencl_prelude[];

/**
 * A program for one device, with the prelude in front of the source. It is not built yet.
 *
 * where: a resource of this backend, opened if need be.
 * source: OpenCL C; borrowed during the call.
 * Returns: the caller's, to be released with clReleaseProgram(). NULL with dynsel_last_error() set:
 *     DYNSEL_E_INVALID (NULL, not a resource of this backend), DYNSEL_E_OUT_OF_SERVICE or
 *     DYNSEL_E_UNSUPPORTED (as dynsel_opencl_queue()), DYNSEL_E_DEVICE (what
 *     clCreateProgramWithSource() returned).
 * May block: the first call for a device.
 * Context: any thread; task functions.
 * Cost: that of clCreateProgramWithSource().
 */
cl_program dynsel_opencl_program(const dynsel_resource *where, const char *source);

/**
 * Turns what an OpenCL call returned into a status, with the details left for dynsel_last_error():
 * for task functions, as in `return dynsel_opencl_check("clEnqueueNDRangeKernel",
 * clEnqueueNDRangeKernel(..., &done->opencl));`
 *
 * function: static text.
 * Returns: DYNSEL_OK for CL_SUCCESS, else DYNSEL_E_DEVICE.
 * Context: any thread.
 * Cost: constant.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_check(const char *function, cl_int code);

/** The name of an OpenCL code, such as "CL_OUT_OF_RESOURCES"; "unknown OpenCL code" for others.
 * Static text. */
const char *dynsel_opencl_code_name(cl_int code);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/**
 * A store of the program's own for what drivers made of kernels, so that the next run need not
 * compile them again. The three functions are called one at a time, and must not call the library.
 */
typedef struct dynsel_opencl_kernel_store {
    /** Mixes one more part into a key: it is called for each of the source, the options, the names
     * and versions of the device, its driver and its platform. NULL: the library's own (FNV-1a of
     * 64 bits). */
    uint64_t (*key)(uint64_t key, const void *part, size_t bytes, void *context);

    /** Copies what was saved under a key. Returns how many bytes that is; 0, or more than
     * `capacity`: nothing that can be used. What is not whole is noticed. */
    size_t (*load)(uint64_t key, void *to, size_t capacity, void *context);

    /** Saves something under a key, in the place of what was there. It may fail silently. */
    void (*save)(uint64_t key, const void *data, size_t bytes, void *context);

    void *context;        /**< handed to the functions */
    void *scratch;        /**< what is loaded and saved passes through it; what does not fit is not
                               saved. Some hundred KiB are enough for most */
    size_t scratch_bytes; /**< more than 32 */
} dynsel_opencl_kernel_store;

/**
 * Sets the store for kernels that are built after this, by dynsel_kernel_prepare() or a launch.
 * What the driver does not take of it is compiled from SPIR-V or the source, and saved again.
 *
 * store: copied; its scratch memory is the library's until dynsel_opencl_close(), or until another
 *     is set. NULL: none.
 * Errors: DYNSEL_E_INVALID (`load`, `save` or the scratch memory is missing).
 * May block: while a kernel is loaded or saved.
 * Context: any thread.
 */
DYNSEL_CHECKED dynsel_status
dynsel_opencl_set_kernel_store(const dynsel_opencl_kernel_store *store);
#endif

/**
 * Releases every queue and context of the library, and forgets the devices and what was configured;
 * the next use looks for them again. What belongs to a lost device is left alone, because drivers
 * hang there.
 *
 * Errors: DYNSEL_E_BUSY (a policy still uses a resource of this backend, or a buffer has a copy on
 *     one of its devices; nothing was changed).
 * May block: yes, until the drivers are done.
 * Context: any thread, not beside other calls of this backend.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_close(void);

DYNSEL_END_DECLS

#endif
