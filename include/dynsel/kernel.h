/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels: one object with a form for each kind of device, so that one command group can go to any
 * of them.
 *
 *     static dynsel_status scale_on_host(const dynsel_launch *launch)
 *     {
 *         float *data = dynsel_launch_data(launch, 0);
 *         const float factor = DYNSEL_LAUNCH_VALUE(launch, 1, float);
 *         const size_t first = launch->offset.size[0];
 *         for (size_t i = first; i < first + launch->global.size[0]; i++) {
 *             data[i] *= factor;
 *         }
 *         return DYNSEL_OK;
 *     }
 *
 *     static const dynsel_kernel scale = {
 *         .name = "scale",
 *         .function = scale_on_host,
 *         .source = "kernel void scale(global float *data, float factor)"
 *                   "{ data[get_global_id(0)] *= factor; }",
 *     };
 *
 * In two and three dimensions, OpenCL's get_global_id(0) counts along the last dimension of the
 * range, whose elements lie side by side: with DYNSEL_RANGE_2D(rows, columns) it is the column, and
 * get_global_id(1) the row. The host's form finds the rows in global.size[0], the columns in
 * global.size[1]; so `data[row * columns + column]` is the same element in both.
 *
 * Every policy excludes the resources of a backend for which a kernel has no form. The object can
 * be const and in ROM. The backend keeps the built kernel, one for each resource, safe for several
 * threads.
 *
 * The backend identifies a kernel by the fields that drivers are given: `name`, `source`,
 * `options`, `il`, `il_bytes`, `binaries` and `binary_count`, and by `any_group_size`, each by its
 * value, without comparing the memory behind pointers. So objects that agree in all of these are
 * the same kernel, at any address; and objects that differ in one of them are different kernels,
 * each built separately, also at the same address. The memory behind the pointers must not change
 * from the first use until dynsel_opencl_close(): another text needs another address.
 */
#ifndef DYNSEL_KERNEL_H
#define DYNSEL_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/aspects.h>
#include <dynsel/policy.h>
#include <dynsel/range.h>
#include <dynsel/resource.h>
#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/** The kind of a kernel's argument. */
typedef enum dynsel_argument_kind {
    DYNSEL_ARGUMENT_UNSET,
    DYNSEL_ARGUMENT_VALUE,  /**< `bytes` bytes at `value` */
    DYNSEL_ARGUMENT_DATA,   /**< a buffer: on a device `memory`, on the host `value` */
    DYNSEL_ARGUMENT_LOCAL,  /**< `bytes` of memory for each work-group; none on the host */
    DYNSEL_ARGUMENT_POINTER /**< `value`, a pointer, is the argument itself; `bytes` of a pointer */
} dynsel_argument_kind;

struct dynsel_memory;

/** An argument of a launched kernel. */
typedef struct dynsel_argument {
    void *value;                  /**< a value, the host's memory of a buffer, or a pointer */
    struct dynsel_memory *memory; /**< the copy in the domain of the resource; NULL on the host */
    size_t bytes;                 /**< of the value, the buffer or the local memory */
    uint8_t kind;                 /**< a dynsel_argument_kind */
    uint8_t use;                  /**< the library's own */
    uint16_t block;               /**< likewise */
#if CONFIG_DYNSEL_BACKEND_MPI
    uint8_t access; /**< of DATA, on a device: DYNSEL_ACCESS_READ, _READ_WRITE or _DISCARD_WRITE */
#endif
} dynsel_argument;

/** The parameter of the host's form of a kernel, called once for the whole range. */
typedef struct dynsel_launch {
    const dynsel_resource *where;
    dynsel_range global; /**< how many work items */
    dynsel_range local;  /**< the size of a work-group; not given: chosen by the device */
    dynsel_range offset; /**< the number of the first work-item; all zero if not given */
    const dynsel_argument *arguments;
    size_t argument_count;
} dynsel_launch;

/** The host's form: DYNSEL_OK, or any failure, which a wait for the work returns. The rules of task
 * functions apply. */
typedef dynsel_status (*dynsel_kernel_fn)(const dynsel_launch *launch);

/** The data that are argument `index`: of a buffer its first element, or the pointer that was set;
 * NULL for other arguments and past the last. So one host form serves both. Context: host forms.
 * Cost: constant. */
static inline void *dynsel_launch_data(const dynsel_launch *launch, size_t index)
{
    return index < launch->argument_count &&
                   (launch->arguments[index].kind == DYNSEL_ARGUMENT_DATA ||
                    launch->arguments[index].kind == DYNSEL_ARGUMENT_POINTER)
               ? launch->arguments[index].value
               : (void *)0;
}

/** Argument `index`, which was set as a value of this type. */
#define DYNSEL_LAUNCH_VALUE(launch, index, type)                                                   \
    (*(const type *)(const void *)(launch)->arguments[index].value)

/** A kernel that was compiled before, for devices of one name. */
typedef struct dynsel_kernel_binary {
    const char *device; /**< as dynsel_resource_name() returns it */
    const void *data;
    size_t bytes;
} dynsel_kernel_binary;

/** A kernel with its forms; unused fields are zero. */
typedef struct dynsel_kernel {
    const char *name;          /**< of the function in the source; error texts keep it, too */
    dynsel_kernel_fn function; /**< for the host and its workers; NULL: none */
    const char *source;        /**< OpenCL C; dynsel_opencl_prelude stands before it. NULL: none */
    const char *options;       /**< for the compiler of OpenCL C; NULL: none */
    const void *il;            /**< SPIR-V, for devices that take it; NULL: none */
    size_t il_bytes;
    const dynsel_kernel_binary *binaries; /**< searched first, by the device's name */
    size_t binary_count;
    uint32_t id; /**< the kind of work, for policies that learn; 0: identified by its address */
    /** It uses local memory, and gives the same results with work-groups of any size up to 1,024:
     * so a GPU may measure which is fastest, see "Trials" of <dynsel/opencl.h>. */
    bool any_group_size;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_aspect_set aspects; /**< only for devices that have all of these */
#endif
} dynsel_kernel;

/** Reports progress: called after each kernel on each resource. status: DYNSEL_OK, or the reason
 * why it cannot run there. done, total: the number prepared, and of all; fewer are prepared if
 * resources are removed meanwhile. */
typedef void (*dynsel_prepared_fn)(const dynsel_kernel *kernel, const dynsel_resource *where,
                                   dynsel_status status, size_t done, size_t total, void *context);

/**
 * Builds kernels for all resources of a policy ahead of their first use, which would otherwise take
 * the build time: 0.1 to 1 s where a driver compiles.
 *
 * kernels, count: the kernels; borrowed during the call.
 * prepared: called in this thread with no lock held; NULL: no reports.
 * Returns: DYNSEL_OK when each kernel can run on each resource whose backend it has a form for.
 *     Else the first failure, after all have been tried: DYNSEL_E_TASK (it does not compile: the
 *     compiler's log is the detail of dynsel_last_error(), which lives until the next build for
 *     that device), DYNSEL_E_DEVICE, DYNSEL_E_FULL (CONFIG_DYNSEL_OPENCL_MAX_KERNELS),
 *     DYNSEL_E_OUT_OF_SERVICE. Of the call itself: DYNSEL_E_INVALID (NULL, a kernel without any
 *     form or without a name), DYNSEL_E_UNINITIALIZED, DYNSEL_E_IN_TASK.
 * May block: yes, while drivers compile.
 * Context: any thread.
 */
DYNSEL_CHECKED dynsel_status dynsel_kernel_prepare(dynsel_policy *policy,
                                                   const dynsel_kernel *const *kernels,
                                                   size_t count, dynsel_prepared_fn prepared,
                                                   void *context);

DYNSEL_END_DECLS

#endif
