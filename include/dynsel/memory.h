/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What a backend does with memory, for command groups. Programs that only use the library do not
 * need this header. A backend without these operations works in the host's memory, and runs the
 * host's form of kernels.
 *
 * A backend with them has memory domains: its devices of one domain see the same copies. It
 * allocates a copy of a buffer in a domain, moves data between it and the host's memory, and
 * launches commands on it. A bare-metal accelerator that shares the memory but not the cache
 * allocates nothing, and cleans and invalidates the cache where others move.
 *
 * The library calls `allocate`, `release`, `bring` and `fetch` for one copy one at a time.
 *
 * Ranges of iterators (<dynsel/arguments.h>) are staged: they are copied into memory of the device
 * for one command, and back where it writes. That memory is allocated like any other, with `host`
 * NULL and not `shared`, and kept; from then on `host` and `bytes` say what is staged in it, which
 * differs from command to command and is never longer than what was allocated.
 */
#ifndef DYNSEL_MEMORY_H
#define DYNSEL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/accessor.h>
#include <dynsel/kernel.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>
#include <dynsel/task.h>

DYNSEL_BEGIN_DECLS

/** How the host may touch memory that it shares with a domain. */
typedef enum dynsel_mapping {
    DYNSEL_UNMAPPED, /**< not at all: the device has it */
    DYNSEL_MAPPED_TO_READ,
    DYNSEL_MAPPED_TO_WRITE
} dynsel_mapping;

/** The copy of one buffer in one domain. */
typedef struct dynsel_memory {
    void *native; /**< the backend's own; NULL: not allocated */
    void *host;   /**< the buffer's memory of the host, or what is staged */
    size_t bytes; /**< of the whole buffer, or of what is staged */
    /** Before `allocate`: the copy may be the host's memory itself; after it: it is, so that
     * `bring` and `fetch` only hand it over. */
    bool shared;
    uint8_t mapping; /**< a dynsel_mapping, of shared memory; kept by the backend */
} dynsel_memory;

#if CONFIG_DYNSEL_COMMAND_GROUPS
/** What `after_count` is at most. */
enum {
    DYNSEL_MOST_AFTER = CONFIG_DYNSEL_MAX_DEPENDENCIES + 2 * CONFIG_DYNSEL_MAX_REQUIREMENTS +
                        CONFIG_DYNSEL_MAX_STAGED
};
#endif

/** How often the library tries to bring data to the host before the access fails that needs them.
 */
enum { DYNSEL_FETCH_ATTEMPTS = 3 };

/** What a command does. */
typedef enum dynsel_command_kind {
    DYNSEL_COMMAND_NONE,
    DYNSEL_COMMAND_KERNEL,
    DYNSEL_COMMAND_COPY,
    DYNSEL_COMMAND_FILL,
    DYNSEL_COMMAND_HOST_TASK,
    DYNSEL_COMMAND_HOST_ACCESS /**< the library's own */
} dynsel_command_kind;

/** A box of bytes in a buffer's memory: rows of `size[2]` bytes, `size[1]` of them in a slice, and
 * `size[0]` slices. */
typedef struct dynsel_box {
    size_t first; /**< byte of the buffer where it begins */
    size_t size[DYNSEL_MAX_DIMENSIONS];
    size_t row_pitch;   /**< bytes from one row to the next */
    size_t slice_pitch; /**< bytes from one slice to the next */
} dynsel_box;

/** One command, with everything found for it. Lives until the work is complete. */
typedef struct dynsel_command {
    uint8_t kind; /**< a dynsel_command_kind */
    const dynsel_kernel *kernel;
    dynsel_launch launch;        /**< of a kernel: range and arguments */
    const dynsel_argument *from; /**< of a copy */
    const dynsel_argument *to;   /**< of a copy or fill */
    dynsel_box from_box;
    dynsel_box to_box;
    const void *element; /**< of a fill */
    size_t element_bytes;
    const dynsel_event *after; /**< events in the same domain that this must come after; only until
                                    `launch` returns */
    size_t after_count;
} dynsel_command;

/** Where a resource works. */
typedef struct dynsel_domain {
    uint32_t number; /**< of the domain among those of its backend, not 0; 0: the host's memory */
    bool in_order;   /**< work on this resource runs in the order in which it was started */
} dynsel_domain;

/** What the host and a resource both reach through the same pointers. Each kind has what the ones
 * before it have. */
typedef enum dynsel_sharing {
    DYNSEL_SHARES_NOTHING,
    DYNSEL_SHARES_MAPPED,    /**< memory made for it, which the host uses only while it is mapped */
    DYNSEL_SHARES_ALLOCATED, /**< memory made for it */
    DYNSEL_SHARES_ALL        /**< all of the host's memory */
} dynsel_sharing;

typedef struct dynsel_memory_ops {
    /** The domain of a resource; the same each time. own: as in `attach`, or anything: that of what
     * the backend does not know is 0. Never blocks. */
    dynsel_domain (*domain)(dynsel_backend *backend, void *own);

    /** Makes memory->native, for a domain through one of its resources. Shared memory shows the
     * host's data as they are now, unless it says so with a `mapping`: then `bring` hands it over.
     * DYNSEL_E_AGAIN where the device has no room: the library gives up copies that are not needed,
     * and tries again; when there are none, the work ends with DYNSEL_E_FULL. Any other failure is
     * the end of the work: DYNSEL_E_FULL where no copy that is given up would help. */
    dynsel_status (*allocate)(dynsel_backend *backend, void *own, dynsel_memory *memory);

    /** Gives it back, through the resource that it was made with. No work uses it any more. Results
     * of shared memory are in the host's memory before, by a `fetch`. May block. */
    void (*release)(dynsel_backend *backend, void *own, dynsel_memory *memory);

    /**
     * Lets work that is started on `own` after this find the host's data in the copy; for shared
     * memory, hands it to the device. contents: false where old contents are not needed, so that
     * only shared memory has to be handed over, and other memory be made ready when it is new.
     * Starts it, after the events of `after`, and does not wait. Called once after `allocate`
     * (unless memory is shared and there is nothing to hand over), then whenever data are needed.
     * done: gets an event, also where work on the resource is in order, unless nothing goes on
     * after the return: the command comes after it, and the host's memory stays as it is until
     * then. The library releases it with the backend's `release`. DYNSEL_E_AGAIN as from
     * `allocate`, where a driver looks for room only now; also from `launch`.
     */
    dynsel_status (*bring)(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done);

    /** Brings the copy's data into the host's memory; for shared memory, hands it to the host, to
     * be read or also written. contents: as above. Starts it and does not wait; done->native is for
     * the backend's `poll`, `wait` and `release`, or NULL when it is done already. All work that
     * wrote the copy is complete. A failure, of the call or of its event, leaves the copy valid,
     * and shared memory the device's: the library tries again DYNSEL_FETCH_ATTEMPTS times in all
     * after DYNSEL_E_AGAIN and after a failed event, and at the next access after any failure;
     * unless `is_lost`. */
    dynsel_status (*fetch)(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done);

    /** Copies memory->bytes bytes of staging memory to memory->host, after the events of `after`.
     * Starts it and does not wait; done: as of a task function. NULL: nothing can be staged, and
     * no command group with such a range runs here. */
    dynsel_status (*write_back)(dynsel_backend *backend, void *own, const dynsel_memory *memory,
                                const dynsel_event *after, size_t after_count, dynsel_event *done);

    /** Starts a command of kind KERNEL, COPY or FILL, from within `start`. done: as of a task
     * function. DYNSEL_E_DEPENDENCY, of its event: the command did not run, because what it comes
     * after failed. */
    dynsel_status (*launch)(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done);

    /** `launch` only starts commands: where it fails and leaves no event, the command has changed
     * nothing, and the buffers that it was to write keep their contents. False: it may have begun,
     * and what it was to write is lost. */
    bool launch_is_asynchronous;

    /** Whether the device is lost for good, and its memory with it. Until then a failure says
     * nothing about what its memory holds. own: that of `allocate`. Never blocks. May be NULL:
     * devices are never lost. */
    bool (*is_lost)(dynsel_backend *backend, void *own);

    /** Whether there is a form of this kernel for this backend. Never blocks. */
    bool (*has_form)(const dynsel_kernel *kernel);

    /** Builds a kernel ahead of its first use; see dynsel_kernel_prepare(). May be NULL. */
    dynsel_status (*prepare)(dynsel_backend *backend, void *own, const dynsel_kernel *kernel);

    /** What a resource shares with the host: whether it can be given pointers (arguments of kind
     * DYNSEL_ARGUMENT_POINTER that are not NULL). own: as in `domain`. Never blocks. May be NULL:
     * nothing. */
    dynsel_sharing (*sharing)(dynsel_backend *backend, void *own);

#if CONFIG_DYNSEL_SVM
    /** Memory that the resource's domain shares with the host, of this many bytes, aligned for all
     * types; see <dynsel/svm.h>. At most one for a domain until `return_shared`, with the same
     * `own`. DYNSEL_E_FULL where there is no room. May block. These four may be NULL together: what
     * is shared is the host's memory, or nothing. */
    dynsel_status (*take_shared)(dynsel_backend *backend, void *own, size_t bytes, void **memory);
    void (*return_shared)(dynsel_backend *backend, void *own, void *memory);

    /** Where it is DYNSEL_SHARES_MAPPED: gives a part of it to the host, and back to the domain's
     * devices. No work uses it. Return when it is done. */
    dynsel_status (*map_shared)(dynsel_backend *backend, void *own, void *part, size_t bytes,
                                dynsel_access_mode mode);
    dynsel_status (*unmap_shared)(dynsel_backend *backend, void *own, void *part);
#endif
} dynsel_memory_ops;

DYNSEL_END_DECLS

#endif
