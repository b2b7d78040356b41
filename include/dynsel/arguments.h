/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arguments of kernels by their types, and ranges of iterators, for group functions.
 *
 *     status = dynsel_set_range(handler, 0, picked, in, count, DYNSEL_ACCESS_READ);
 *     status = dynsel_set_range(handler, 2, outputs, out, count, DYNSEL_ACCESS_DISCARD_WRITE);
 *     status = dynsel_set_arg(handler, 3, factor);
 *
 * A range is an iterator (<dynsel/iterators.h>, or a type of your own with DYNSEL_LEAVES()) and a
 * count. The kernel gets one argument for each leaf, and reassembles the iterator; its form for the
 * host does the same, with dynsel_launch_data() for pointers and DYNSEL_LAUNCH_VALUE() for
 * numbers.
 *
 * Its pointers are passed directly if the type is marked so
 * (<dynsel/passed_directly.h>): the pointer itself is the argument, as of dynsel_set_arg_pointer().
 * Everything else is staged: a device works on a copy, made when the work is started, and its
 * results are copied back before the work is reported complete. Resources that work in the host's
 * memory use that memory, and nothing is copied.
 *
 * While work with a range is in flight:
 *
 * - The memory must stay valid; no other code writes it, nor reads the parts that the work writes.
 * - The library does not detect that two ranges are the same memory, and does not order them. A
 *   program that writes through a range and uses that memory in other work waits in between, unless
 *   a buffer orders the two.
 * - Pointers of one command group to the same memory have a copy each on a device; at most one of
 *   them writes.
 * - After a failure, the contents of written memory are undefined. Memory that is only read is
 *   unchanged, and so is all memory if the work was never started.
 *
 * In C++ dynsel_set_arg() is a set of overloaded functions (<dynsel/arguments.hpp>).
 *
 * Source: seed 000.
 */
#ifndef DYNSEL_ARGUMENTS_H
#define DYNSEL_ARGUMENTS_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/accessor.h>
#include <dynsel/command_group.h>
#include <dynsel/leaves.h>

DYNSEL_BEGIN_DECLS

/** Memory for each work group, as a value for dynsel_set_arg(). */
typedef struct dynsel_local_memory {
    size_t bytes;
} dynsel_local_memory;

/** A number of bytes for each work-group: `dynsel_set_arg(handler, 1, DYNSEL_LOCAL(256))`. */
#define DYNSEL_LOCAL(bytes_) DYNSEL_VALUE_OF_(dynsel_local_memory, (bytes_))

/* dynsel_set_arg() of each kind; value: where it stands, bytes: its size. */
dynsel_status dynsel_set_arg_of_accessor(dynsel_handler *handler, uint32_t index, const void *value,
                                         size_t bytes);
dynsel_status dynsel_set_arg_at_accessor(dynsel_handler *handler, uint32_t index, const void *value,
                                         size_t bytes);
dynsel_status dynsel_set_arg_of_local(dynsel_handler *handler, uint32_t index, const void *value,
                                      size_t bytes);
dynsel_status dynsel_set_arg_of_pointer(dynsel_handler *handler, uint32_t index, const void *value,
                                        size_t bytes);

#if defined(__has_attribute)
#if __has_attribute(error)
__attribute__((error("a buffer is no argument: give an accessor to it")))
#endif
#endif
dynsel_status
dynsel_set_arg_of_buffer(dynsel_handler *handler, uint32_t index, const void *value, size_t bytes);

#if !defined(__cplusplus)

/**
 * Sets an argument of the kernel, by the type of `value`:
 *
 * - `dynsel_accessor *`, or a dynsel_accessor: dynsel_set_arg_accessor(). A placeholder without a
 *   buffer of its own is known by its address, so it needs the first form.
 * - `DYNSEL_LOCAL(bytes)`: dynsel_set_arg_local().
 * - any other pointer: dynsel_set_arg_pointer(). An array is a pointer to its first element.
 * - everything else by value, dynsel_set_arg_value(): numbers, OpenCL's vector types, structures,
 *   of the kernel's own type and size: a literal such as 1 is an `int`. Structures have no pointers
 *   in them (drivers refuse that); for those there is dynsel_set_range().
 *
 * value: evaluated once; may have commas in it, as `(complex_float){1, 2}`.
 * Returns: as the function of its kind.
 */
#define dynsel_set_arg(handler, index, ...) DYNSEL_SET_ARG_((handler), (index), (__VA_ARGS__))
#define DYNSEL_SET_ARG_(handler, index, value)                                                     \
    DYNSEL_SET_ARG_OF_(value)                                                                      \
    (handler, index, (const __typeof__(((void)0, value))[]){value},                                \
     sizeof(__typeof__(((void)0, value))))

#define DYNSEL_SET_ARG_OF_(value)                                                                  \
    _Generic((value), dynsel_accessor                                                              \
             : dynsel_set_arg_of_accessor, dynsel_accessor *                                       \
             : dynsel_set_arg_at_accessor, const dynsel_accessor *                                 \
             : dynsel_set_arg_at_accessor, dynsel_local_memory                                     \
             : dynsel_set_arg_of_local, dynsel_buffer                                              \
             : dynsel_set_arg_of_buffer, dynsel_buffer *                                           \
             : dynsel_set_arg_of_buffer, const dynsel_buffer *                                     \
             : dynsel_set_arg_of_buffer, default                                                   \
             : __builtin_choose_expr(__builtin_classify_type(value) == DYNSEL_POINTER_CLASS_,      \
                                     dynsel_set_arg_of_pointer, dynsel_set_arg_value))

/**
 * Sets arguments of the kernel: a range of an iterator, one argument for each of its leaves, from
 * `index` on. Setting `index` again replaces the whole range, also with fewer arguments; setting
 * another of its arguments replaces that one alone.
 *
 * type: of the iterator, one word; has a function `type_leaves`.
 * iterator: a value of it, copied; what it points to is used until the work is complete. In
 *     parentheses where it has commas, as `((my_pair){first, second})`.
 * count: how many elements the range has. 0 is allowed, and moves nothing.
 * mode: what the kernel does to the elements. Reading: nothing is copied back; discarding: nothing
 *     is copied in, and elements that are not written are undefined. Parts that are never written,
 *     such as the map of a permutation, are always copied in, and never back.
 * Errors: DYNSEL_E_INVALID (as above; no mode; a pointer that is NULL although it points to
 *     elements; a part of the iterator whose own count is smaller than the range needs; a
 *     permutation with the count 0 in a range that is not empty; more bytes than an
 *     object can have), DYNSEL_E_FULL (CONFIG_DYNSEL_MAX_STAGED, _MAX_ARGUMENTS, _ARGUMENT_BYTES).
 *     Of the submission, where no resource of the host could do the work: DYNSEL_E_FULL
 *     (CONFIG_DYNSEL_STAGING_BYTES, or _STAGING_COUNT: larger than could ever be staged),
 *     DYNSEL_E_UNSUPPORTED (a DYNSEL_HOST_TRANSFORM_ITERATOR, whose function has no form in OpenCL
 *     C: the subject is its name; a backend that cannot stage). Where staging memory is in use by
 *     other work, this waits for its start.
 * Cost: on devices the copies; each staged pointer one or two commands more.
 */
#define dynsel_set_range(handler, index, type, iterator, count, mode)                              \
    dynsel_set_range_leaves((handler), (index), type##_leaves,                                     \
                            &(const dynsel_leaf_place)DYNSEL_WHOLE_ITERATOR(type),                 \
                            (const type[]){(iterator)}, (count), (mode))

#else
#define dynsel_set_range(handler, index, type, iterator, count, mode)                              \
    ::dynsel::detail::set_range<type>((handler), (index), type##_leaves,                           \
                                      DYNSEL_WHOLE_ITERATOR(type), (iterator), (count), (mode))
#endif

/** dynsel_set_range() for an iterator whose type is given only by its function. place: of a whole
 * iterator of the type, DYNSEL_WHOLE_ITERATOR(type). */
dynsel_status dynsel_set_range_leaves(dynsel_handler *handler, uint32_t index,
                                      dynsel_leaves_fn leaves, const dynsel_leaf_place *place,
                                      const void *iterator, uint64_t count,
                                      dynsel_access_mode mode);

DYNSEL_END_DECLS

#if defined(__cplusplus)
#include <dynsel/arguments.hpp>
#endif

#endif
