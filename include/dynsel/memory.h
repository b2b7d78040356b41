/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The memory operations of a backend, for command groups. Only authors of backends need this
 * header. A backend without these operations works in the host's memory, and runs the host's form
 * of kernels.
 *
 * A backend with memory operations has memory domains: its devices of one domain see the same
 * copies. The backend allocates a copy of a buffer in a domain, moves data between the copy and the
 * host's memory, and launches commands on the copy. A bare-metal accelerator that shares the memory
 * but not the cache allocates nothing; it cleans and invalidates the cache instead of moving data.
 *
 * The library never calls `allocate`, `release`, `bring` and `fetch` concurrently for one copy.
 *
 * Ranges of iterators (<dynsel/arguments.h>) are staged: the library copies them into memory of the
 * device for one command, and back if the command writes. Staging memory is allocated like a copy
 * of a buffer, with `host` NULL and without `shared`, and the library keeps it. Afterwards `host`
 * and `bytes` describe the range that is staged in it. They differ from command to command, and
 * `bytes` never exceeds the allocated size. Memory that a command copies from or to
 * (dynsel_copy_from_memory()) is staged in the same way.
 *
 * A buffer without elements has no copies. Arguments of a kernel that stand for it have a memory
 * with `native` NULL and 0 `bytes`; other commands have none.
 */
#ifndef DYNSEL_MEMORY_H
#define DYNSEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/accessor.h>
#include <dynsel/buffer.h>
#include <dynsel/kernel.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>
#include <dynsel/task.h>

DYNSEL_BEGIN_DECLS

/** The host's access to memory that it shares with a domain. */
typedef enum dynsel_mapping {
    DYNSEL_UNMAPPED, /**< none: the memory belongs to the device */
    DYNSEL_MAPPED_TO_READ,
    DYNSEL_MAPPED_TO_WRITE
} dynsel_mapping;

/** Whether the host's memory of a copy is pinned (page-locked), so that a device reads and writes
 * it itself, and the host's processor does not copy it first. */
typedef enum dynsel_pinning {
    DYNSEL_PINS_NOTHING, /**< nor will be: the backend pins none, or none of this */
    DYNSEL_NOT_PINNED,   /**< not yet: it may be at a later transfer */
    DYNSEL_PINNED,
    DYNSEL_PIN_REFUSED /**< by the driver: transfers use the memory as it is; not tried again */
} dynsel_pinning;

/** The copy of one buffer in one domain. */
typedef struct dynsel_memory {
    void *native; /**< for the backend; NULL: not allocated */
    void *host;   /**< the buffer's memory on the host, or the staged range */
    size_t bytes; /**< of the whole buffer, or of the staged range */
    /** Before `allocate`: the copy may be the host's memory itself. After `allocate`: it is, so
     * `bring` and `fetch` only change whether host or device may access it. */
    bool shared;
    uint8_t mapping; /**< a dynsel_mapping, for shared memory; the backend updates it */
    /** A dynsel_pinning: 0 before `allocate`; the backend updates it in `allocate`, and in `bring`
     * and `fetch` before the transfer, and undoes it in `release`. The library counts transfers
     * with DYNSEL_PINNED and changes to DYNSEL_PIN_REFUSED in dynsel_movement. */
    uint8_t pinning;
    uint8_t transfers; /**< for the backend, as `pin`: 0 before `allocate` */
    void *pin;         /**< for the backend: NULL before `allocate` */
} dynsel_memory;

#if CONFIG_DYNSEL_COMMAND_GROUPS
/** The largest `after_count`. */
enum {
    DYNSEL_MOST_AFTER = CONFIG_DYNSEL_MAX_DEPENDENCIES + 2 * CONFIG_DYNSEL_MAX_REQUIREMENTS +
                        CONFIG_DYNSEL_MAX_STAGED + CONFIG_DYNSEL_EXTERNAL_EVENTS
};
#endif

/** The number of attempts to copy data to the host before the access that needs the data fails. */
enum { DYNSEL_FETCH_ATTEMPTS = 3 };

/** The kind of a command. */
typedef enum dynsel_command_kind {
    DYNSEL_COMMAND_NONE,
    DYNSEL_COMMAND_KERNEL,
    DYNSEL_COMMAND_COPY,
    DYNSEL_COMMAND_FILL,
    DYNSEL_COMMAND_HOST_TASK,
    DYNSEL_COMMAND_HOST_ACCESS /**< internal to the library */
} dynsel_command_kind;

/** A box of bytes in a buffer's memory: rows of `size[2]` bytes, `size[1]` of them in a slice, and
 * `size[0]` slices. */
typedef struct dynsel_box {
    size_t first; /**< offset in the buffer of the first byte */
    size_t size[DYNSEL_MAX_DIMENSIONS];
    size_t row_pitch;   /**< bytes from one row to the next */
    size_t slice_pitch; /**< bytes from one slice to the next */
} dynsel_box;

/** One command with all resolved parameters. Valid until the work is complete; after its resource
 * was given up, what `memory` of the arguments points to may be that of other copies. */
typedef struct dynsel_command {
    uint8_t kind; /**< a dynsel_command_kind */
    /** The end may be told later than it is, together with that of later commands: the program has
     * no handle, the policy does not need it (dynsel_policy_ops.predicts_ends), no work is pending
     * that might wait for it, and there is neither a time limit nor a trace. */
    bool may_end_with_others;
    const dynsel_kernel *kernel;
    dynsel_launch launch;        /**< of a kernel: range and arguments */
    const dynsel_argument *from; /**< of a copy */
    const dynsel_argument *to;   /**< of a copy or fill */
    const void *element;         /**< of a fill */
    size_t element_bytes;
    const dynsel_event *after; /**< events in the same domain that the command depends on; valid
                                    until `launch` returns */
    size_t after_count;
    dynsel_box from_box; /**< of a copy */
    dynsel_box to_box;   /**< of a copy or fill */
} dynsel_command;

/** The memory domain of a resource. */
typedef struct dynsel_domain {
    uint32_t number; /**< unique among the domains of the backend; 0: the host's memory */
    bool in_order;   /**< work on this resource runs in the order in which it was started */
    uint32_t
        beside_bytes; /**< copies of so many bytes or more move to the host beside the work that
                                is queued here; 0: all copies come behind it */
} dynsel_domain;

/** The memory that the host and a resource both reach through the same pointers. Each kind includes
 * the kinds before it. */
typedef enum dynsel_sharing {
    DYNSEL_SHARES_NOTHING,
    DYNSEL_SHARES_MAPPED,    /**< memory allocated for sharing; the host uses it while mapped */
    DYNSEL_SHARES_ALLOCATED, /**< memory allocated for sharing */
    DYNSEL_SHARES_ALL        /**< all of the host's memory */
} dynsel_sharing;

/** The memory operations of a backend: a static table. */
typedef struct dynsel_memory_ops {
#if CONFIG_DYNSEL_BACKEND_MPI
    /** The backend whose domains these are, where several have the same; NULL: its own. */
    dynsel_backend *domains_of;
#endif

    /** The domain of a resource; the same in every call. own: as in `attach`, or any other value:
     * the domain of a handle that the backend does not know is 0. Never blocks. */
    dynsel_domain (*domain)(dynsel_backend *backend, void *own);

    /** Sets memory->native, for a domain through one of its resources. Shared memory contains the
     * host's current data, unless `mapping` says that the host has it: then `bring` hands it to the
     * device. DYNSEL_E_AGAIN if the device has no room: the library releases copies that are not
     * needed, and tries again; when there are none, the work ends with DYNSEL_E_FULL. Any other
     * failure ends the work: DYNSEL_E_FULL if releasing copies would not help. */
    dynsel_status (*allocate)(dynsel_backend *backend, void *own, dynsel_memory *memory);

    /** Frees a copy, through the resource that it was allocated with. No work uses it any more, so
     * it is not called for memory of work that was given up, unless `is_lost`. The
     * library has called `fetch` before, if shared memory contains results that the program wants.
     * May block. */
    void (*release)(dynsel_backend *backend, void *own, dynsel_memory *memory);

    /**
     * Copies the host's data into the copy, for work that is started on `own` afterwards; hands
     * shared memory to the device instead. contents: false if old contents are not needed; then
     * only shared memory must be handed over, and new memory of other kinds be made usable. Starts
     * the transfer after the events of `after`, and does not wait. Called once after `allocate`
     * (unless memory is shared and there is nothing to hand over), then whenever data are needed.
     * done: receives an event, also on a resource that works in order, unless the transfer is
     * complete on return. The command runs after the event, and the host's memory does not change
     * until then. The library releases the event with the backend's `release`. DYNSEL_E_AGAIN as
     * from `allocate`, for drivers that allocate this late; `launch` may return it, too.
     */
    dynsel_status (*bring)(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done);

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    /**
     * Copies the data of `from`, a copy of the same buffer in another domain of this backend, into
     * the copy, in place of `fetch` and `bring`: when work in a domain needs contents that are not
     * valid in the host's memory, and are in `from`. Where they are valid in the host's memory too,
     * `bring` is called. Neither copy is shared; where there was no copy yet, `allocate` was not
     * offered the host's memory, unless the domain's last copy shared it: then nothing is passed.
     * Nor for work that preserves its inputs, for its second run, for ranges, and at the end of a
     * buffer.
     *
     * own, memory, after, done, DYNSEL_E_AGAIN: as of `bring`, with room in the domain of `own`.
     * from_own: the resource through which `from` was allocated. All work that wrote `from`, and
     * all that moved data there, is complete. The library writes, releases and evicts it only when
     * the work has ended; meanwhile others may read it, run, `fetch` and `pass` it. Use only
     * from->native, from->bytes and from->pin: `fetch` in another thread may change the rest.
     *
     * DYNSEL_E_UNSUPPORTED: not between these two domains. The data go through the host's memory,
     * for this work and all later work. The library may have called `allocate`, and `pass` for
     * other buffers of the work, and waits for these. After any other failure of the call it asks
     * is_lost(from_own): if so, the work looks for another copy, or fails as it does when `fetch`
     * fails on a lost device; otherwise the start of the work fails. A failed event: as of `bring`.
     *
     * May be NULL: data go through the host's memory. So they do with `marks_completion`.
     */
    dynsel_status (*pass)(dynsel_backend *backend, void *own, dynsel_memory *memory, void *from_own,
                          const dynsel_memory *from, const dynsel_event *after, size_t after_count,
                          dynsel_event *done);
#endif

    /** Copies the data of the copy into the host's memory; hands shared memory to the host instead,
     * to read or also to write. contents: as above. Starts the transfer and does not wait.
     * done->native is for the backend's `poll`, `wait` and `release`; NULL if the transfer is
     * complete. All work that wrote the copy is complete. After a failure of the call or of its
     * event the copy is still valid, and shared memory still belongs to the device. The library
     * then tries again, unless `is_lost`: DYNSEL_FETCH_ATTEMPTS times in all after DYNSEL_E_AGAIN
     * and after a failed event, and at the next access after any failure. */
    dynsel_status (*fetch)(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done);

    /** Copies memory->bytes bytes of staging memory to memory->host, after the events of `after`.
     * Starts the transfer and does not wait; done: as of a task function. May be NULL: nothing can
     * be staged, and no command group with such a range runs here. */
    dynsel_status (*write_back)(dynsel_backend *backend, void *own, const dynsel_memory *memory,
                                const dynsel_event *after, size_t after_count, dynsel_event *done);

    /** Starts a command of kind KERNEL, COPY or FILL, from within `start`. done: as of a task
     * function. An event that fails with DYNSEL_E_DEPENDENCY: the command did not run, because a
     * dependency failed. */
    dynsel_status (*launch)(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done);

    /** True: `launch` only starts commands. If it fails without an event, the command has changed
     * nothing, and the buffers that it would have written keep their contents. False: the command
     * may have begun, and the contents of those buffers are lost. */
    bool launch_is_asynchronous;

    /** Whether the device is lost for good, and its memory with it. While it is not lost, a failure
     * says nothing about the contents of its memory. own: as in `allocate`. Never blocks. May be
     * NULL: devices are never lost. */
    bool (*is_lost)(dynsel_backend *backend, void *own);

    /** Whether the kernel has a form for this backend. Never blocks. */
    bool (*has_form)(const dynsel_kernel *kernel);

    /** Builds a kernel ahead of its first use; see dynsel_kernel_prepare(). May be NULL. */
    dynsel_status (*prepare)(dynsel_backend *backend, void *own, const dynsel_kernel *kernel);

    /** The memory that a resource shares with the host: whether its work can use pointers
     * (arguments of kind DYNSEL_ARGUMENT_POINTER that are not NULL). own: as in `domain`. Never
     * blocks. May be NULL: DYNSEL_SHARES_NOTHING. */
    dynsel_sharing (*sharing)(dynsel_backend *backend, void *own);

#if CONFIG_DYNSEL_SVM
    /** Allocates `bytes` bytes that the resource's domain shares with the host, aligned for all
     * types; see <dynsel/svm.h>. The library holds at most one allocation of a domain, and frees it
     * with `return_shared` and the same `own`. DYNSEL_E_FULL if there is no room. May block. These
     * four may be NULL together: the resource shares the host's memory, or nothing. */
    dynsel_status (*take_shared)(dynsel_backend *backend, void *own, size_t bytes, void **memory);
    void (*return_shared)(dynsel_backend *backend, void *own, void *memory);

    /** For DYNSEL_SHARES_MAPPED: map_shared hands a part of that memory to the host, and
     * unmap_shared hands it back to the domain's devices. No work uses the part. Both return when
     * the part is handed over. */
    dynsel_status (*map_shared)(dynsel_backend *backend, void *own, void *part, size_t bytes,
                                dynsel_access_mode mode);
    dynsel_status (*unmap_shared)(dynsel_backend *backend, void *own, void *part);
#endif
} dynsel_memory_ops;

#if CONFIG_DYNSEL_COMMAND_GROUPS
#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0
struct dynsel_external_event;
struct dynsel_handler;

/** How the library handles events of one kind. The functions never block, and do not call the
 * library but for dynsel_fail(). Any thread, one at a time for one event. */
typedef struct dynsel_external_event_ops {
    /** Takes a reference to event->event. A failure, with details, is that of the submission. */
    dynsel_status (*take)(struct dynsel_external_event *event);

    /** Looks once: DYNSEL_E_AGAIN (it is not complete, or its state cannot be read now), DYNSEL_OK,
     * or DYNSEL_E_DEPENDENCY with details (what it stands for failed, or its state can never be
     * read). */
    dynsel_status (*poll)(struct dynsel_external_event *event);

    /** Whether a command on the resource can wait for the event itself, among `after`; the failure
     * of the event must make that of the command DYNSEL_E_DEPENDENCY. NULL: never. Then the command
     * group is pending until `poll` reports the end. own: as in `launch`. */
    bool (*joins)(const struct dynsel_external_event *event, dynsel_backend *backend, void *own);

    /** Called once after a successful `take`, when the command group has ended or its submission
     * fails. */
    void (*release)(struct dynsel_external_event *event);
} dynsel_external_event_ops;

/** An event that is not of the library's work. */
typedef struct dynsel_external_event {
    const dynsel_external_event_ops *ops; /**< static */
    dynsel_event event;
    void *own;       /**< for the operations */
    uint32_t record; /**< for the operations; 0 at first */
    bool joined;     /**< the library's own */
} dynsel_external_event;

/**
 * Called by a group function: the command group starts after this event, too. For functions of
 * backends such as dynsel_opencl_depend_on(), which has the rules for programs.
 *
 * ops: static.
 * Errors: as of the functions in <dynsel/command_group.h>; DYNSEL_E_INVALID (operations are
 *     missing), DYNSEL_E_FULL (CONFIG_DYNSEL_EXTERNAL_EVENTS), and what `take` returns.
 * May block: no.
 */
dynsel_status dynsel_depend_on_external(struct dynsel_handler *handler,
                                        const dynsel_external_event_ops *ops, dynsel_event event);
#endif
#endif

#if CONFIG_DYNSEL_COMMAND_GROUPS && CONFIG_DYNSEL_DEVICE_BUFFERS
/** What command groups may do with a buffer over memory of the program. */
typedef enum dynsel_kernel_access {
    DYNSEL_KERNELS_READ_AND_WRITE,
    DYNSEL_KERNELS_READ, /**< only DYNSEL_ACCESS_READ */
    DYNSEL_KERNELS_WRITE /**< only DYNSEL_ACCESS_WRITE and DYNSEL_ACCESS_DISCARD_WRITE */
} dynsel_kernel_access;

/** Memory on a device that the program allocated. */
typedef struct dynsel_device_memory {
    dynsel_backend *backend; /**< with memory operations */
    void *own;               /**< the resource through which the memory is copied, as in `attach` */
    /** As after `allocate`, with `native` set and not `shared`. `host`: memory of as many bytes on
     * the host, or NULL: inside the library. `bytes` is not read. */
    dynsel_memory memory;
    dynsel_kernel_access access;
} dynsel_device_memory;

/**
 * Makes a buffer whose elements begin and end in memory on a device: for functions of backends such
 * as dynsel_opencl_buffer_init(), which has the rules for programs.
 *
 * At the end, dynsel_buffer_deinit() makes the contents valid in that memory with `bring`, and then
 * calls `release` for it. A device that has no room for copies never releases it earlier, except
 * when `is_lost`.
 *
 * buffer, element_bytes, range: as of dynsel_buffer_init().
 * Errors: those of dynsel_buffer_init(); DYNSEL_E_INVALID (`there`, or a member that is needed, is
 *     NULL; the resource works in the host's memory), DYNSEL_E_BUSY (a buffer over this memory
 *     exists), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_DOMAINS). Without effect then.
 * May block: no.
 * Context: any thread; task functions. Not interrupts.
 * Cost: two checks of each entry of the table.
 */
DYNSEL_CHECKED dynsel_status dynsel_buffer_init_over(dynsel_buffer *buffer,
                                                     const dynsel_device_memory *there,
                                                     size_t element_bytes, dynsel_range range);
#endif

DYNSEL_END_DECLS

#endif
