/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The OpenCL backend: every device of every platform that the ICD loader knows, as resources.
 *
 * Devices are discovered once, at the first use. A context and an in-order queue are created when a
 * device gets its first work (or the program requests them), never for a device that is not used.
 * Each device has its own context; the CPU devices of one platform share a context. No platform, or
 * a platform without
 * devices, is not an error: there are simply no resources then.
 *
 * OpenCL 1.2 is needed, of the device and of its platform: older drivers lack functions that the
 * library calls. An older device, or a device whose driver does not report its version, is only
 * identified. It is excluded from the default resources and from selections; initializing a policy
 * with it fails with DYNSEL_E_UNSUPPORTED, and so does any other call that would open it.
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
 * `emulator`, or a part of the device's name. Blanks around words are ignored.
 *
 * The same physical device seen through two platforms counts once: on the first platform that the
 * alternative allows. Emulators are excluded, and are not counted by an index, unless the
 * alternative has the term `emulator`, which holds for them alone: `all;emulator` is everything.
 * Devices that are lost, not available or too old are excluded, but keep their index. An empty
 * selector means the default one, and `all` if none is set.
 *
 * Several threads may submit to one device, as OpenCL allows. Where its driver does not support
 * that (PoCL 3.1's device `basic` deadlocks), let the task function enqueue and flush under a lock
 * of its own, or submit from one thread.
 *
 * Failures. The meaning of a code depends on the call that returns it:
 *
 * - CL_DEVICE_NOT_AVAILABLE, -9999 (NVIDIA's) of any call on a queue or a program, and as the
 *   status of an event: the device is lost. CL_INVALID_COMMAND_QUEUE, CL_OUT_OF_RESOURCES: likewise
 *   if the device does not answer a trivial command then (doc/faults.md), which takes at most
 *   100 ms; else that call or command failed. CL_OUT_OF_RESOURCES not of clWaitForEvents() and
 *   clGetEventInfo().
 * - Any other code of clWaitForEvents() and clGetEventInfo(): it does not tell the state of the
 *   work, which may still run. The library polls it again, until its end is known; if polls fail
 *   for as long as dynsel_opencl_options.patience_ms, the device is lost. Of clFlush(): likewise,
 *   and the next poll flushes again.
 * - CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST of clWaitForEvents(): the event's own status
 *   decides; if that is success, or cannot be read, the work failed.
 * - Any other status of an event below 0: the work failed, DYNSEL_E_DEVICE; with -14 it did not run
 *   because a dependency failed, DYNSEL_E_DEPENDENCY.
 * - Any code of clCreateContext() and clCreateCommandQueue(): the resource is out of service. The
 *   next use tries again: for policies that is after dynsel_resource_reinstate().
 * - Any code of clCreateBuffer(), and CL_MEM_OBJECT_ALLOCATION_FAILURE of an enqueue: the memory is
 *   full. Copies that are not needed are evicted, else the work ends with DYNSEL_E_FULL.
 * - CL_INVALID_ARG_..., CL_INVALID_WORK_..., CL_INVALID_GLOBAL_... and CL_INVALID_KERNEL_ARGS of a
 *   launch: an error of the program, DYNSEL_E_INVALID.
 * - A build failure that a repetition would not change: DYNSEL_E_TASK, with the compiler's log. It
 *   is remembered.
 * - Anything else: DYNSEL_E_DEVICE for that work, and nothing is remembered: the next work queries,
 *   or builds, again. CONFIG_DYNSEL_MAX_FAILURES of these in a row take the resource out of
 *   service.
 *
 * The library makes no further calls on a lost device's context, until dynsel_opencl_close():
 * drivers hang there. Its work ends with DYNSEL_E_DEVICE, or DYNSEL_E_GIVEN_UP where the device was
 * given up (see <dynsel/resource_states.h>), and its OpenCL objects are never released. Such work
 * may still be running: the host's memory that it uses (buffers that share it, the target of a read
 * back, memory that a task function passed) may be read and written until the process ends. Where
 * the device was given up, dynsel_buffer_deinit() tells that.
 *
 * Started work is flushed, so that the driver begins it. NVIDIA's driver and PoCL's processors
 * begin work by themselves: there a flush follows each 64th piece of work since the last wait, and
 * a poll that finds work that has not ended.
 *
 * Events. On NVIDIA's driver the event of a kernel takes 1.5 us of the 5.5 of its launch. There up
 * to 16 launches of command groups share one (a quarter of CONFIG_DYNSEL_MAX_IN_FLIGHT, if that is
 * less), where nobody needs the end of each: without a handle, a time limit, a trace, reports that
 * the policy wants (but earliest_finish needs only those of times), without other commands that
 * they wait for, and while no command group is pending. Their ends are told with that of the last
 * of them, and so is a failure: all of them fail if one does (after a kernel that fails, that
 * driver tells no state of any command of the context). Who needs an end earlier (another device, a
 * host accessor) waits for all that is enqueued on the device then, and the next 32 launches have
 * events of their own; up to 256 if that happens again soon. That takes 32 bytes of RAM for each
 * submission that can be in flight, in programs that use command groups.
 *
 * Times. Work whose time a policy wants (a sample, once the policy knows enough) is measured by the
 * device's own clock: it goes to a second queue with profiling, between markers that keep its place
 * in the order of the device's queue, so that other work does not pay for profiling. On an H100
 * with driver 580 a timed kernel in a stream takes 14 us longer, and its time is off by less than a
 * microsecond; an event callback comes 66 us after the end there. At the first timed work on a
 * device the library compares the two clocks, and the driver's profiles with what is possible,
 * which takes about 0.3 ms, and some milliseconds where other work delays the thread. If they
 * differ by more than an eighth, or if the driver reports no profiles, or an end before its start,
 * the driver calls back at the end of timed work instead; so it does for queues of the program, and
 * on PoCL's device `basic`, which may hang where queues wait for each other. (Without
 * CONFIG_DYNSEL_CONTEXT_THREADS the time ends when a call of the library detects the end.) Behind
 * work that nobody times a callback gives no time, because it does not tell the begin. A profile
 * that is longer than the time since the submit is dropped; after 8 in a row the device's profiles
 * are not used any more.
 *
 * The time of a command group is from the begin of its first command, or transfer, to the end of
 * its last; measured by the device's own clock without transfers to the device where the policy
 * wants that, as earliest_finish does, which predicts them (DYNSEL_TASK_WITHOUT_COPIES). The time
 * of a task function is from its call of dynsel_opencl_queue(), or from when the device has done
 * what was enqueued before, to the end of done->opencl; but if the device was idle, and the command
 * of done->opencl was enqueued at once and took most of the time, from the begin of that, because
 * the device waited for the host. A task function that uses a queue from an earlier call is timed
 * by callback.
 *
 * Transfers. GPUs with memory of their own and NVIDIA's driver move pinned (page-locked) memory of
 * the host's several times as fast as other memory (on an H100 53 instead of 7 GB/s), and without
 * blocking the caller. There the library pins the memory of a buffer in place: at the buffer's
 * first transfer if it has 1 MiB or more, at the second if it has 128 KiB, until its copy on the
 * device is released; that release then waits for the commands that the device runs. Memory that a
 * driver does not pin moves as it is; dynsel_movement counts both. A program that uses the same
 * memory for many buffers, or for small ones, has it pinned by dynsel_opencl_pin_memory(). On such
 * a device transfers to it of 1 MiB or more, and to the host of 16 KiB or more, run on two queues
 * of their own, so that the next data move while a kernel runs; ranges, and transfers of work whose
 * time is measured, do not. Later commands on the device's queue, also the program's own, come
 * after transfers to the device.
 *
 * Kernels of command groups. dynsel's ranges name the dimension that is contiguous in memory last,
 * OpenCL numbers it 0: of DYNSEL_RANGE_3D(slices, rows, columns) get_global_id(0) is
 * the column, (1) the row, (2) the slice; of DYNSEL_RANGE_2D(rows, columns) (0) is the column and
 * (1) the row. So neighbouring work-items access neighbouring elements, which devices need for
 * speed, and kernels written for x and y need no change.
 *
 * If no work-group size is given, and the kernel demands none (reqd_work_group_size), the chosen
 * size divides the range in each dimension: columns first, a power of two if one of 32 or more
 * does, else the largest number that does; so ranges with a prime number of columns are slow. It
 * has at most 256 work-items on a GPU, 64 elsewhere, 1,024 on a CPU for ranges from 2^20 on of
 * kernels without local memory; never more than the kernel can have on that device. A kernel whose
 * local memory is declared for a certain size has to demand that size, or to be launched with it.
 *
 * Trials (CONFIG_DYNSEL_OPENCL_WORK_GROUP_TRIALS). On a GPU whose times come from its own clock
 * (see "Times"), the size of a kernel without local memory, or with dynsel_kernel.any_group_size,
 * is measured: after 32 launches one in 8 over the same range, up to 24 in all, uses one of up to
 * eight sizes, of up to 1,024 work-items. Each such launch does its work as the others do; it
 * takes about 14 us longer on an H100, and a size that does not suit the kernel up to four times
 * as long. Then all launches over ranges of as many dimensions use the fastest, if it is 2.5 %
 * faster than the usual one. Kernels that the device runs in less than 20 us keep the usual size.
 * A kernel whose results depend on the size of its work-groups (sums of floating-point numbers by
 * group, say) is launched with a size, or the program chooses DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE.
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
#include <dynsel/submission.h>
#if CONFIG_DYNSEL_COMMAND_GROUPS
#include <dynsel/command_group.h>
#endif

DYNSEL_BEGIN_DECLS

/** The reports of backend opencl; see "Times" above. */
#define DYNSEL_OPENCL_REPORTS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/**
 * Its default resources are the devices that the selector of dynsel_opencl_configure() chooses,
 * else that of the environment variable DYNSEL_OPENCL, else all; in the order of the platforms and
 * of their devices. A resource's handle is internal; use the functions below to get OpenCL's
 * objects.
 */
extern dynsel_backend dynsel_opencl_backend;

/** How the time of work is measured (DYNSEL_TASK_TIME). */
typedef enum dynsel_opencl_timing {
    DYNSEL_OPENCL_TIMES_DEFAULT,     /**< see "Times" above */
    DYNSEL_OPENCL_TIMES_BY_CALLBACK, /**< the driver calls back at the end */
    DYNSEL_OPENCL_TIMES_BY_PROFILE   /**< the device's own clock, unless it fails the check */
} dynsel_opencl_timing;

/** How the size of a work-group is chosen where the program gives none. */
typedef enum dynsel_opencl_work_groups {
    DYNSEL_OPENCL_WORK_GROUPS_DEFAULT, /**< see "Kernels of command groups" above */
    DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE /**< always the same for the same range */
} dynsel_opencl_work_groups;

/** All zero: the defaults. */
typedef struct dynsel_opencl_options {
    const char *selector; /**< borrowed until dynsel_opencl_close(); NULL: the environment's */
    cl_command_queue_properties queue_properties; /**< for the queues the library makes, such as
                               CL_QUEUE_PROFILING_ENABLE; out of order is not allowed */
    uint32_t patience_ms; /**< for how many milliseconds consecutive polls of work may fail, 16
                             polls at least, before its device is given up; 0: 1000; at most an
                             hour */
    dynsel_opencl_timing timing; /**< of all devices of the library's own */
    dynsel_opencl_work_groups work_groups;
} dynsel_opencl_options;

/**
 * Sets the defaults of the backend, before its first use.
 *
 * options: copied, the selector's text borrowed. NULL: all zero.
 * Errors: DYNSEL_E_INVALID (a selector that does not parse: the text has the position; out-of-order
 *     queues; another value of `timing` or `work_groups`; `patience_ms` of more than an hour),
 *     DYNSEL_E_BUSY (the backend is in use already: dynsel_opencl_close() first).
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
 * count: out, the number of chosen devices, even if that exceeds `capacity`.
 * Errors: DYNSEL_E_INVALID (NULL pointers; a selector that does not parse: the text has the
 *     position and the allowed words), DYNSEL_E_NO_RESOURCE (no device matches; the text has the
 *     number of devices), DYNSEL_E_FULL (more than `capacity`, or more devices than
 *     CONFIG_DYNSEL_OPENCL_MAX_DEVICES or platforms than CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS).
 * May block: yes, at the first use, while drivers are loaded.
 * Context: any thread; not task functions.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_select(const char *selector, dynsel_resource *resources,
                                                  size_t capacity, size_t *count);

/** The reason why a device is chosen or not. */
typedef enum dynsel_opencl_verdict {
    DYNSEL_OPENCL_CHOSEN,       /**< with a note in `reason` if the driver has no compiler */
    DYNSEL_OPENCL_NOT_SELECTED, /**< the selector does not match */
    DYNSEL_OPENCL_DUPLICATE,    /**< the same physical device is there through another platform */
    DYNSEL_OPENCL_EMULATOR,     /**< an emulator, and the selector does not request it */
    DYNSEL_OPENCL_UNAVAILABLE,  /**< its driver reports so, or the last open failed: using the
                                   resource tries again */
    DYNSEL_OPENCL_LOST,         /**< it failed, and the library makes no more calls to it */
    DYNSEL_OPENCL_NO_DEVICE,    /**< no device at all: a platform that has none, or does not list
                                   them */
    DYNSEL_OPENCL_TOO_OLD       /**< its OpenCL, or its platform's, is older than 1.2, or unknown */
} dynsel_opencl_verdict;

/** One device as the drivers describe it; the texts may contain any bytes; dynsel_resource_name()
 * returns a display name. No text is NULL; they live until dynsel_opencl_close().
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
                                 copied between them; 0: none */
    dynsel_resource resource; /**< for dynsel_resource_describe() and for policies, chosen or not;
                                 backend NULL only for DYNSEL_OPENCL_NO_DEVICE */
    dynsel_opencl_verdict verdict;
    const char *reason; /**< the verdict, one printable clause; valid as long as this structure */
} dynsel_opencl_device_info;

/** Gets each device; context: of dynsel_opencl_visit_devices(). */
typedef void (*dynsel_opencl_visitor)(const dynsel_opencl_device_info *info, void *context);

/**
 * Calls the visitor for every device of every platform, in order, with the verdict of a selector:
 * for lists, and to see why a device is not chosen. A platform without devices is visited too.
 *
 * selector: as in dynsel_opencl_select().
 * visitor: called in this thread with no lock held; `info` is valid until it returns.
 * Errors: as dynsel_opencl_select(), without DYNSEL_E_NO_RESOURCE; with DYNSEL_E_FULL the devices
 *     within the limit were visited.
 * May block: yes, at the first use.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_visit_devices(const char *selector,
                                                         dynsel_opencl_visitor visitor,
                                                         void *context);

/**
 * OpenCL's objects behind a resource: created at the first call if necessary.
 *
 * In a task function dynsel_opencl_queue() is the queue of that piece of work, which is another one
 * for timed work: ask for it in each call, and do not keep it.
 *
 * where: a resource of this backend.
 * Returns: borrowed from the library (from the user, for a queue of the user's), valid until
 *     dynsel_opencl_close(). NULL with dynsel_last_error() set: DYNSEL_E_INVALID (not a resource of
 *     this backend), DYNSEL_E_OUT_OF_SERVICE (the device is lost, or could not be opened: function
 *     and code of the failed call; the next call tries again; not from dynsel_opencl_device(),
 *     which opens nothing), DYNSEL_E_UNSUPPORTED (its OpenCL is too old; not from
 *     dynsel_opencl_device() either).
 * May block: the first call for a device, while its driver makes a context.
 * Context: any thread; task functions.
 * Cost: constant afterwards, no lock.
 */
cl_command_queue dynsel_opencl_queue(const dynsel_resource *where);
/** The context of a resource's device; as dynsel_opencl_queue(). */
cl_context dynsel_opencl_context(const dynsel_resource *where);
/** The device of a resource; as dynsel_opencl_queue(), but opens nothing. */
cl_device_id dynsel_opencl_device(const dynsel_resource *where);

/**
 * How the times of a device's work are measured, and why (see "Times" above). If no work was timed
 * yet, this opens the device and finds out.
 *
 * where: a resource of this backend.
 * timing: out, DYNSEL_OPENCL_TIMES_BY_PROFILE or _BY_CALLBACK.
 * reason: out, a clause such as "its profiles agree with the host's clock"; static text.
 * Errors: DYNSEL_E_INVALID (not a resource of this backend, or NULL), DYNSEL_E_AGAIN (the device
 *     did not answer within 100 ms, or another thread is finding out; ask again),
 *     DYNSEL_E_OUT_OF_SERVICE and DYNSEL_E_UNSUPPORTED as from dynsel_opencl_queue(),
 *     DYNSEL_E_CONTEXT (in an interrupt).
 * May block: the first call for a device, for about 0.3 ms while it compares the clocks, for up to
 *     40 where they do not agree at first, and for 100 ms where the device does not answer.
 * Context: any thread.
 * Cost: constant afterwards, no lock.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_find_timing(const dynsel_resource *where,
                                                       dynsel_opencl_timing *timing,
                                                       const char **reason);

/**
 * The event of a submission, for the program's own commands: in a wait list of theirs, or in
 * clWaitForEvents(). It is complete when all of the work is, also where that is several commands.
 *
 * The event fails if a command of the work fails. A command group that is only ordered behind
 * another one by an in-order queue runs although that one failed: then its event is complete, and
 * dynsel_wait() returns DYNSEL_E_DEPENDENCY. Of work that may be repeated (<dynsel/repeat.h>) it is
 * the event of the first run.
 *
 * submission: of work on a resource of this backend, not waited for or released yet.
 * event: out, retained: the caller releases it with clReleaseEvent(), before or after it waits for
 *     the submission. NULL after a failure.
 * Errors: DYNSEL_E_AGAIN (a command group that waits for its dependencies has no event yet: call
 *     dynsel_progress() until it is started, or dynsel_wait(); or the driver could not flush the
 *     queue now; no event), DYNSEL_E_UNSUPPORTED (the work is on the host or on another backend, or
 *     it left no event: the task function set none, or the work was not started), DYNSEL_E_STALE
 *     (it was waited for or released), DYNSEL_E_INVALID (NULL, never submitted), DYNSEL_E_DEVICE
 *     (the device is lost, or clRetainEvent() failed), DYNSEL_E_CONTEXT (in an interrupt).
 * May block: no, but flushes the device's queue if necessary.
 * Context: any thread; task functions.
 * Cost: one clRetainEvent(). Nothing where it is not called.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_submission_event(const dynsel_submission *submission,
                                                            cl_event *event);

#if CONFIG_DYNSEL_COMMAND_GROUPS
#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0
/**
 * Called by a group function: the command group starts when this event of the program is complete.
 *
 * If the event is of the context of the resource that the policy selects, the command waits for it
 * on the device; so do later commands in the same in-order queue. Otherwise, and for a user event,
 * which only the program can complete, the command group is pending until then, and each call that
 * makes progress polls the event once: other work on the resource runs before. A repeatable command
 * group (dynsel_set_repeatable()) is always pending. A time limit counts from the start, so also
 * while the device waits.
 *
 * If the event fails, the command group does not run, its buffers keep their contents, and its
 * submission ends with DYNSEL_E_DEPENDENCY, with the event's status as code. So it does if the
 * event cannot be polled for as long as dynsel_opencl_options.patience_ms.
 *
 * handler: of the running group function.
 * event: retained until the command group has ended. Its queue is flushed. Each call adds one
 *     event.
 * Errors: as of the functions in <dynsel/command_group.h>; DYNSEL_E_INVALID (NULL, no event),
 *     DYNSEL_E_FULL (CONFIG_DYNSEL_EXTERNAL_EVENTS), DYNSEL_E_DEVICE (what an OpenCL call
 *     returned).
 * May block: no.
 * Cost: three queries of the event, and a flush; one query for each look at the command group until
 *     it starts. Nothing for command groups without such events.
 */
dynsel_status dynsel_opencl_depend_on(dynsel_handler *handler, cl_event event);
#endif
#endif

/**
 * Makes a queue of the program usable as a resource: set it as `adapt` in dynsel_options, with
 * resources of the form `{&dynsel_opencl_backend, queue}`. The task function then gets the queue
 * itself as where->handle.
 *
 * queue: a cl_command_queue; retained until dynsel_opencl_close(). The same queue twice gives the
 *     same handle.
 * Returns: NULL with dynsel_last_error() set: DYNSEL_E_INVALID (NULL, or OpenCL refuses it),
 *     DYNSEL_E_UNSUPPORTED (its device's OpenCL is too old, and nothing was retained),
 *     DYNSEL_E_FULL (CONFIG_DYNSEL_OPENCL_MAX_DEVICES counts found devices and such queues
 *     together).
 * May block: at the first use of the backend.
 * Context: any thread.
 */
void *dynsel_opencl_adopt(void *queue);

/**
 * OpenCL C that precedes the source of programs: the macros of seed 003 and
 * dynsel_all_devices_have(),
 * dynsel_any_device_has(), as in <dynsel/aspect_traits.h>. Static text; after it, line numbers
 * begin at 1, except in the messages of NVIDIA's compiler, which counts the prelude's lines too.
 */
extern const char dynsel_opencl_prelude[];

/**
 * Creates a program for one device, with the prelude before the source. It is not built yet.
 *
 * where: a resource of this backend, opened if necessary.
 * source: OpenCL C; borrowed during the call.
 * Returns: owned by the caller, who releases it with clReleaseProgram(). NULL with
 * dynsel_last_error() set:
 *     DYNSEL_E_INVALID (NULL, not a resource of this backend), DYNSEL_E_OUT_OF_SERVICE or
 *     DYNSEL_E_UNSUPPORTED (as dynsel_opencl_queue()), DYNSEL_E_DEVICE (what
 *     clCreateProgramWithSource() returned).
 * May block: the first call for a device.
 * Context: any thread; task functions.
 * Cost: that of clCreateProgramWithSource().
 */
cl_program dynsel_opencl_program(const dynsel_resource *where, const char *source);

/**
 * Converts the code of an OpenCL call into a status, with the details in dynsel_last_error():
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
 * A store that the program provides for built kernels, so that the next run need not compile them
 * again. The library calls the three functions one at a time; they must not call the library.
 */
typedef struct dynsel_opencl_kernel_store {
    /** Mixes one more part into a key: it is called for each of the source, the options, the names
     * and versions of the device, its driver and its platform. NULL: the library's own (FNV-1a of
     * 64 bits). */
    uint64_t (*key)(uint64_t key, const void *part, size_t bytes, void *context);

    /** Copies the data saved under a key. Returns their number of bytes; 0, or more than
     * `capacity`: no usable data. The library detects incomplete data. */
    size_t (*load)(uint64_t key, void *to, size_t capacity, void *context);

    /** Saves data under a key, replacing earlier data. It may fail silently. */
    void (*save)(uint64_t key, const void *data, size_t bytes, void *context);

    void *context;        /**< passed to the functions */
    void *scratch;        /**< buffer for loading and saving; larger kernels are not saved. Some
                               hundred KiB are enough for most */
    size_t scratch_bytes; /**< more than 32 */
} dynsel_opencl_kernel_store;

/**
 * Sets the store for kernels that are built after this, by dynsel_kernel_prepare() or a launch.
 * A stored kernel that the driver refuses is compiled from SPIR-V or the source, and saved again.
 *
 * store: copied; the library uses its scratch memory until dynsel_opencl_close(), or until another
 *     store is set. NULL: none.
 * Errors: DYNSEL_E_INVALID (`load`, `save` or the scratch memory is missing).
 * May block: while a kernel is loaded or saved.
 * Context: any thread.
 */
DYNSEL_CHECKED dynsel_status
dynsel_opencl_set_kernel_store(const dynsel_opencl_kernel_store *store);

/**
 * The compiler's log of a kernel on a device, such as its warnings. Builds the kernel if it is not
 * built there yet. The library keeps no log of a successful build: this asks the driver. A kernel
 * that was loaded from a binary or from the kernel store has the log that its driver has for it,
 * which is mostly empty.
 *
 * where: a resource of this backend.
 * kernel: with a form for OpenCL devices.
 * text, bytes: out, the log as the driver has it, ending in '\0'; dynsel_printable() makes it safe
 *     for a terminal. NULL only with 0 bytes, to have the log measured.
 * length: out, of the log in bytes, without the '\0'; 0: it is empty.
 * Errors: DYNSEL_E_TASK (the kernel does not build: `text` has what is kept of the log,
 *     CONFIG_DYNSEL_OPENCL_BUILD_LOG_BYTES at most and cut to `bytes`), DYNSEL_E_FULL (`length` + 1
 *     exceeds `bytes`, so that the text is empty; or CONFIG_DYNSEL_OPENCL_MAX_KERNELS: then
 *     `length` is 0), DYNSEL_E_INVALID (NULL, not a resource of this backend, a kernel without such
 *     a form), DYNSEL_E_DEVICE (what an OpenCL call returned), DYNSEL_E_OUT_OF_SERVICE and
 *     DYNSEL_E_UNSUPPORTED as from dynsel_opencl_queue(), DYNSEL_E_CONTEXT (in an interrupt).
 * May block: while the kernel is built.
 * Context: any thread; task functions.
 * Cost: two calls of the driver after the build. Nothing where it is not called.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_build_log(const dynsel_resource *where,
                                                     const dynsel_kernel *kernel, char *text,
                                                     size_t bytes, size_t *length);

/**
 * Reads OpenCL C from a file into memory of the program, for `source` of a dynsel_kernel.
 *
 * path: of a regular file.
 * text, bytes: the memory; it gets the file and a '\0', and stays with the kernel until
 *     dynsel_opencl_close(). Empty after a failure.
 * Errors: DYNSEL_E_INVALID (NULL; the file cannot be opened, for example because it is missing:
 *     `code` is errno; it is no regular file), DYNSEL_E_FULL (it needs more than `bytes`; the text
 *     has the number), DYNSEL_E_TASK (it is empty, or has a zero byte as no source has),
 *     DYNSEL_E_AGAIN (it changed while it was read), DYNSEL_E_DEVICE (it cannot be read: `code` is
 *     errno), DYNSEL_E_CONTEXT (in an interrupt). The error does not name the path.
 * May block: as the file system does.
 * Context: any thread; task functions.
 * Cost: the file is read once.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_read_source(const char *path, char *text, size_t bytes);

/**
 * The same for `il` of a dynsel_kernel (SPIR-V), or `data` of a dynsel_kernel_binary: without a
 * '\0' behind it.
 *
 * length: out, of the file, for `il_bytes` or `bytes`; 0 after a failure.
 * Errors: those of dynsel_opencl_read_source(), but DYNSEL_E_TASK where the file is empty, or
 *     begins as SPIR-V and does not end as a whole module. Whether another binary is whole, its
 *     driver finds out: the kernel is then built from its next form.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_read_binary(const char *path, void *memory, size_t bytes,
                                                       size_t *length);

/**
 * Has an array of the program pinned (page-locked) on each device for which that makes transfers
 * faster (see "Transfers" above), when a transfer from or to the array is first started there. Then
 * each buffer and each range of a command group that lies within the array moves at full speed from
 * its first transfer on, whatever its size, and without pinning of its own. Elsewhere this has no
 * effect. If a driver refuses, transfers there are those of ordinary memory.
 *
 * memory, bytes: static or allocated memory of any alignment, which must stay mapped and writable
 *     until dynsel_opencl_unpin_memory(); the library keeps the address, and writes nothing. Pinned
 *     memory is not swapped out: RLIMIT_MEMLOCK and the machine's memory limit it.
 * Errors: DYNSEL_E_INVALID (NULL, 0 bytes, more than the address space has, an overlap with memory
 *     that is pinned by this function), DYNSEL_E_FULL (CONFIG_DYNSEL_OPENCL_PINNED_REGIONS arrays
 *     are), DYNSEL_E_CONTEXT (in an interrupt). Without effect then.
 * May block: no. The first transfer on each device does, for the pinning: on an H100 80 us for
 *     1 MiB, 3.4 ms for 64 MiB.
 * Context: any thread; task functions. Not interrupts.
 * Cost: a check of each pinned array. Later each transfer of a range, and each of a buffer until
 *     its memory is pinned, makes such a check.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_pin_memory(void *memory, size_t bytes);

/**
 * Ends that. Not necessary before dynsel_opencl_close(), after which the array stays listed, and is
 * pinned again when it is used again.
 *
 * memory: as given to dynsel_opencl_pin_memory().
 * Errors: DYNSEL_E_INVALID (NULL, no such array begins there), DYNSEL_E_BUSY (buffers in it have
 *     copies on devices: dynsel_buffer_deinit() first; or a transfer pins it just now),
 *     DYNSEL_E_CONTEXT (in an interrupt). Without effect then. Command groups with ranges in it
 *     must be complete: the library does not check that.
 * May block: until the devices where it is pinned have completed the commands that they run.
 * Context: any thread, not beside dynsel_opencl_close().
 * Cost: a check of each pinned array, and a call of the driver for each device.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_unpin_memory(void *memory);
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS && CONFIG_DYNSEL_DEVICE_BUFFERS
/**
 * Makes a buffer over a memory object of the program. Its contents are valid from the start: work
 * in the object's context uses the object itself, and other resources get copies, as of every
 * buffer. dynsel_buffer_deinit() leaves the results in the object; if other resources wrote them,
 * it copies them there and waits.
 *
 * Until then the program must not use the object, except in commands that its own queues run before
 * dynsel_opencl_buffer_init() or after the buffer's end, or that are ordered by events:
 * dynsel_opencl_depend_on() has command groups wait for the program's commands, and
 * dynsel_opencl_submission_event() the program's commands for a command group whose resource is in
 * this context.
 *
 * buffer: out; all zero before.
 * memory: of clCreateBuffer(), in the context of a queue that was adopted with
 *     dynsel_opencl_adopt(), or in dynsel_opencl_context(). The library retains it until the end of
 *     the buffer; the program may release its own reference at any time. Of an object made with
 *     CL_MEM_READ_ONLY, command groups can only have accessors that read; with CL_MEM_WRITE_ONLY,
 *     only such that write. Host accessors may do both.
 * data: memory on the host of as many bytes as the elements have, through which the contents move
 *     to other contexts and host accessors; as of dynsel_buffer_init(), but neither the first nor
 *     the last contents are there. NULL: memory inside the library,
 *     CONFIG_DYNSEL_BUFFER_INSIDE_BYTES long. It must not be the object's own memory
 *     (CL_MEM_USE_HOST_PTR).
 * element_bytes, range: as of dynsel_buffer_init(); the elements are at the begin of the object,
 *     the rest of which stays as it is. A range of 0 dimensions: as many elements as the object
 *     has, in 1 dimension; its bytes must be a multiple of element_bytes then.
 * Errors: DYNSEL_E_INVALID (NULL; no memory object; a handle that is not all zero; elements that
 *     are larger than the object, or do not divide it; data within the object's own memory),
 *     DYNSEL_E_UNSUPPORTED (an image, a pipe, a sub-buffer; an object that the host cannot both
 *     read and write: CL_MEM_HOST_NO_ACCESS, ..._READ_ONLY, ..._WRITE_ONLY), DYNSEL_E_NO_RESOURCE
 *     (no open device and no adopted queue has the object's context), DYNSEL_E_BUSY (a buffer over
 *     this object exists), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_BUFFERS, CONFIG_DYNSEL_MAX_DOMAINS,
 *     CONFIG_DYNSEL_BUFFER_INSIDE_BYTES), DYNSEL_E_DEVICE (what an OpenCL call returned),
 *     DYNSEL_E_CONTEXT (in an interrupt). Without effect then.
 *
 *     At the end, dynsel_buffer_deinit() returns DYNSEL_E_DEVICE and leaves the buffer as it is
 *     where the results could not be copied to the object (DYNSEL_E_FULL, where its device has no
 *     memory left for it); where the object's device is lost the
 *     buffer is gone, and the results are in `data` if they were valid outside of the device.
 * May block: no.
 * Context: any thread; task functions.
 * Cost: six queries of the object; nothing is copied or allocated.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_buffer_init(dynsel_buffer *buffer, cl_mem memory,
                                                       void *data, size_t element_bytes,
                                                       dynsel_range range);
#endif

/**
 * Releases every queue and context of the library, and discards the list of devices and the
 * configuration; the next use discovers devices again. Objects of a lost device are not released,
 * because drivers hang there.
 *
 * Errors: DYNSEL_E_BUSY (a policy still uses a resource of this backend, or a buffer has a copy on
 *     one of its devices; nothing was changed).
 * May block: yes, until the drivers have finished.
 * Context: any thread, not beside other calls of this backend.
 */
DYNSEL_CHECKED dynsel_status dynsel_opencl_close(void);

DYNSEL_END_DECLS

#endif
