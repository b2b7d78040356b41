/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Accessors: how a command group uses a buffer; and placeholders, which describe the use before the
 * command group, or even the buffer, is known.
 *
 * An accessor is a plain structure, filled in with designated initializers; it can be a member of a
 * structure of the program, and be used in several command groups in turn and in several threads at
 * once: the library never writes into it. Fields left zero have a meaning:
 *
 *     dynsel_accessor in = {.name = "in", .mode = DYNSEL_ACCESS_READ, .buffer = prices,
 *                           .placeholder = true};
 *     dynsel_accessor out = {.name = "out", .mode = DYNSEL_ACCESS_DISCARD_WRITE,
 *                            .placeholder = true};            no buffer yet
 *
 * Inside the command group, dynsel_require(handler, &in) registers the first and
 * dynsel_require_buffer(handler, results, &out) the second, with a buffer for this command group
 * only. The library identifies a placeholder by its address until the group function returns; a
 * copy of a placeholder with a buffer is equivalent to the original.
 *
 * Source: seed 001.
 */
#ifndef DYNSEL_ACCESSOR_H
#define DYNSEL_ACCESSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/buffer.h>

DYNSEL_BEGIN_DECLS

/** The kind of access. Discarding means that the old contents are not needed: nothing is copied in.
 * Where only a part of the buffer is accessed, the rest is still kept. */
typedef enum dynsel_access_mode {
    DYNSEL_ACCESS_READ_WRITE = 0,
    DYNSEL_ACCESS_READ,
    DYNSEL_ACCESS_WRITE, /**< elements that are not written keep their value */
    DYNSEL_ACCESS_DISCARD_WRITE,
    DYNSEL_ACCESS_DISCARD_READ_WRITE,
    DYNSEL_ACCESS_ATOMIC /**< with the device's atomic instructions; ordered like READ_WRITE */
} dynsel_access_mode;

/** The memory of the device. */
typedef enum dynsel_access_target {
    DYNSEL_MEMORY_GLOBAL = 0,
    DYNSEL_MEMORY_CONSTANT, /**< only with DYNSEL_ACCESS_READ */
    DYNSEL_MEMORY_LOCAL,    /**< memory of a work group; it has no buffer and is no placeholder:
                                 `range` and `element_bytes` give its size, mode and offset are
                                 ignored */
    DYNSEL_MEMORY_HOST      /**< only for dynsel_host_accessor; no command group takes it */
} dynsel_access_target;

/** How a command group uses a buffer, or memory of a work-group. */
typedef struct dynsel_accessor {
    const char *name;     /**< for error texts, which keep it: static; NULL: "an accessor" */
    dynsel_buffer buffer; /**< all zero: none */
    uint8_t mode;         /**< a dynsel_access_mode */
    uint8_t target;       /**< a dynsel_access_target */
    /** False: made by dynsel_get_access() or dynsel_accessor_get_access(), or for local memory. */
    bool placeholder;
    uint32_t group;         /**< internal: the command group of a normal accessor */
    uint32_t element_bytes; /**< only for local memory; a buffer has its own element size */
    dynsel_range range;     /**< the elements that are accessed; all zero: all. A size may be 0 */
    /** The first element, only with a range; all zero: 0. Kernels get the beginning of
     * the buffer, and index from there. */
    dynsel_range offset;
} dynsel_accessor;

/** Whether it is a placeholder; false for NULL. Context: any. Cost: constant. */
static inline bool dynsel_accessor_is_placeholder(const dynsel_accessor *accessor)
{
    return accessor != NULL && accessor->placeholder;
}

/** Whether it has a buffer of its own (which may have been ended since); false for NULL. A buffer
 * bound by dynsel_require_buffer() does not count. Context: any. Cost: constant. */
static inline bool dynsel_accessor_has_buffer(const dynsel_accessor *accessor)
{
    return accessor != NULL && accessor->buffer.token != 0;
}

/** A placeholder that work will use, with the buffer that it will be bound to; for tasks. */
typedef struct dynsel_requirement {
    const dynsel_accessor *accessor;
    dynsel_buffer buffer; /**< all zero: the accessor's own */
} dynsel_requirement;

DYNSEL_END_DECLS

#endif
