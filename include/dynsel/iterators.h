/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Iterators as plain structures, the same for the host's C and for OpenCL C 1.2. A macro declares
 * each type, at file scope, in a header that both languages include:
 *
 *     DYNSEL_POINTER_ITERATOR(samples, float);            memory that a device reaches
 *     DYNSEL_HOST_ITERATOR(inputs, float);                the host's memory, copied for a device
 *     DYNSEL_COUNTING_ITERATOR(numbers, int);             first, first + 1, first + 2, ...
 *     DYNSEL_DISCARD_ITERATOR(nowhere, float);            discards written elements
 *     DYNSEL_TRANSFORM_ITERATOR(squares, inputs, square, float);         square(inputs[i])
 *     DYNSEL_HOST_TRANSFORM_ITERATOR(logs, inputs, log_of, float);       only the host has log_of
 *     DYNSEL_PERMUTATION_ITERATOR(picked, samples, numbers);             samples[numbers[i]]
 *     DYNSEL_REVERSE_ITERATOR(backwards, samples);                       samples[count - 1 - i]
 *     DYNSEL_ZIP2_ITERATOR(pairs, samples, numbers);      and ZIP3, ZIP4: all of them at i
 *
 * The types that a macro takes are iterators declared above it, so iterators nest to any depth. An
 * element type is one that both languages have: one word or a typedef, not const. For each type
 * `name` the macro declares
 *
 * - `name`, a structure with the members that `name_make` takes, in that order: `data` (a
 *   pointer), `first` (a number), `source`, `map`, `base`, `count` (a uint64_t); of a zip `first`
 *   to `fourth`;
 * - `name_value`, the type of its elements; of a zip a structure with `first` to `fourth`;
 * - `name name_make(...)`: makes the iterator from its parts. In a kernel the arguments are its
 *   leaves in the same order, with pointers to `global`:
 *
 *       kernel void sum(global float *data, int first, ulong count, global float *result)
 *       {
 *           picked in = picked_make(samples_make(data), numbers_make(first), count);
 *
 *   The count of a permutation is not an argument: a kernel passes 0. Only the host needs it, which
 *   must know how many elements the source has. A range of a permutation with count 0 is refused,
 *   unless the range is empty. The count of a reversed iterator is an argument.
 * - `name_value name_read(name iterator, size_t i)`, for i below the number of elements;
 * - `void name_write(name iterator, size_t i, name_value value)`, for types that can be written.
 *   Counting and transform iterators cannot be written, nor can iterators that contain one in a
 *   part that would be written (the map of a permutation is only read).
 *
 * Passed directly (<dynsel/passed_directly.h>): pointer, counting and discard iterators always are,
 * host iterators never. A transform iterator is if its source is, a permutation if its source and
 * its map are, a reverse iterator if its base is, a zip if all of its parts are.
 *
 * A type of your own can be an iterator in these macros if it has all of the following: a mark,
 * `name_value`, `name_read`, `name_write` (or DYNSEL_NOT_WRITABLE(name), for types that cannot be
 * written), and DYNSEL_LEAVES() (<dynsel/leaves.h>). Only a kernel with such an iterator needs
 * `name_make`.
 *
 * A DYNSEL_POINTER_ITERATOR is a promise, like a bare pointer: its memory is SVM or USM, or every
 * device has usm_system_allocations, or the work runs on the host.
 *
 * A kernel includes these declarations as text: the string literal DYNSEL_OPENCL_ITERATORS at the
 * beginning of its source. It must be the first of the adjacent literals: the `__extension__` in
 * front of it silences -Wpedantic about the length of the concatenated literal.
 * Code that both languages share is written once, as a macro that takes the language's form:
 *
 *     #define SHARED(AS)                                                      \
 *         AS(static inline float square(float x) { return x * x; }            \
 *            DYNSEL_HOST_ITERATOR(inputs, float);                             \
 *            DYNSEL_TRANSFORM_ITERATOR(squares, inputs, square, float);)
 *
 *     SHARED(DYNSEL_AS_C)
 *
 *     static const dynsel_kernel kernel = {
 *         .source = DYNSEL_OPENCL_ITERATORS SHARED(DYNSEL_AS_TEXT) "kernel void ...",
 *
 * Cost: only declared types cost anything; the functions are inline. Context: any. Errors: none;
 * nothing is checked. Source: seed 000.
 */
#ifndef DYNSEL_ITERATORS_H
#define DYNSEL_ITERATORS_H

#define DYNSEL_INLINE static inline __attribute__((unused))

#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#define DYNSEL_GLOBAL                       global
#define DYNSEL_COUNT_TYPE                   ulong
#define DYNSEL_PASSED_DIRECTLY(type, value) DYNSEL_MARK_IN_OPENCL_
#define DYNSEL_LEAVES(type, parts)          struct dynsel_leaves_of_##type
#define DYNSEL_LEAVES_FUNCTION_(name, leaves)
#else
#include <dynsel/leaves.h>
#include <dynsel/opencl_iterators.h>

#define DYNSEL_GLOBAL
#define DYNSEL_COUNT_TYPE   uint64_t

/** Expand code that both languages share: as C, and as text. */
#define DYNSEL_AS_C(...)    __VA_ARGS__
#define DYNSEL_AS_TEXT(...) #__VA_ARGS__ "\n"

#define DYNSEL_LEAVES_FUNCTION_(name, leaves)                                                      \
    DYNSEL_INLINE void name##_leaves(dynsel_leaf_sink *sink_, const dynsel_leaf_place *place_){    \
        leaves} DYNSEL_LEAVES_BY_TYPE_(name)
#endif

/* Must be identical to the definition in <dynsel/passed_directly.h>. */
#if defined(__clang__)
#define DYNSEL_MARK_IN_OPENCL_ _Static_assert(1, "a mark")
#else
#define DYNSEL_MARK_IN_OPENCL_ struct dynsel_passed_directly
#endif

#if defined(__cplusplus)
#define DYNSEL_ZEROES_                                                                             \
    {                                                                                              \
    }
#else
#define DYNSEL_ZEROES_                                                                             \
    {                                                                                              \
        0                                                                                          \
    }
#endif

/* For functions that must not be called: a call does not compile. */
#if defined(__has_attribute)
#if __has_attribute(error)
#define DYNSEL_NOBODY_CALLS(text) __attribute__((error(text)))
#endif
#endif
#if !defined(DYNSEL_NOBODY_CALLS)
#define DYNSEL_NOBODY_CALLS(text)
#endif

/* NOLINTBEGIN(bugprone-macro-parentheses): types, members and declarations have no parentheses. */

/** Declares the `name_write` of a type that cannot be written: a call does not compile. */
#define DYNSEL_NOT_WRITABLE(name)                                                                  \
    DYNSEL_NOBODY_CALLS("an iterator of this type cannot be written")                              \
    void name##_write(name it_, size_t i_, name##_value value_)

/** `name_make(data)`. data: memory that a device reaches. */
#define DYNSEL_POINTER_ITERATOR(name, element) DYNSEL_ARRAY_ITERATOR_(name, element, 1)
/** `name_make(data)`. data: memory of the host. */
#define DYNSEL_HOST_ITERATOR(name, element) DYNSEL_ARRAY_ITERATOR_(name, element, 0)

#define DYNSEL_ARRAY_ITERATOR_(name, element, direct)                                              \
    typedef element name##_value;                                                                  \
    typedef struct name {                                                                          \
        DYNSEL_GLOBAL name##_value *data;                                                          \
    } name;                                                                                        \
    DYNSEL_INLINE name name##_make(DYNSEL_GLOBAL name##_value *data_)                              \
    {                                                                                              \
        const name it_ = {data_};                                                                  \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        return it_.data[i_];                                                                       \
    }                                                                                              \
    DYNSEL_INLINE void name##_write(name it_, size_t i_, name##_value value_)                      \
    {                                                                                              \
        it_.data[i_] = value_;                                                                     \
    }                                                                                              \
    DYNSEL_LEAVES_FUNCTION_(name, dynsel_give_pointer(sink_, place_, #name, offsetof(name, data),  \
                                                      sizeof(name##_value), (direct) != 0);)       \
    DYNSEL_PASSED_DIRECTLY(name, direct)

/** `name_make(first)`. integer: the type of the numbers. */
#define DYNSEL_COUNTING_ITERATOR(name, integer)                                                    \
    typedef integer name##_value;                                                                  \
    typedef struct name {                                                                          \
        name##_value first;                                                                        \
    } name;                                                                                        \
    DYNSEL_INLINE name name##_make(name##_value first_)                                            \
    {                                                                                              \
        const name it_ = {first_};                                                                 \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        return (name##_value)(it_.first + (name##_value)i_);                                       \
    }                                                                                              \
    DYNSEL_NOT_WRITABLE(name);                                                                     \
    DYNSEL_LEAVES_FUNCTION_(name, dynsel_give_value(sink_, place_, #name, DYNSEL_LEAF_VALUE,       \
                                                    offsetof(name, first), sizeof(name##_value));) \
    DYNSEL_PASSED_DIRECTLY(name, 1)

/** `name_make()`. Reading returns 0. The iterator becomes no argument of a kernel. */
#define DYNSEL_DISCARD_ITERATOR(name, element)                                                     \
    typedef element name##_value;                                                                  \
    typedef struct name {                                                                          \
        char nothing;                                                                              \
    } name;                                                                                        \
    DYNSEL_INLINE name name##_make(void)                                                           \
    {                                                                                              \
        const name it_ = {0};                                                                      \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        const struct {                                                                             \
            char first;                                                                            \
            name##_value rest;                                                                     \
        } none_ = DYNSEL_ZEROES_; /* also zeroes vectors */                                        \
        (void)it_;                                                                                 \
        (void)i_;                                                                                  \
        return none_.rest;                                                                         \
    }                                                                                              \
    DYNSEL_INLINE void name##_write(name it_, size_t i_, name##_value value_)                      \
    {                                                                                              \
        (void)it_;                                                                                 \
        (void)i_;                                                                                  \
        (void)value_;                                                                              \
    }                                                                                              \
    DYNSEL_LEAVES_FUNCTION_(name, (void)sink_; (void)place_;)                                      \
    DYNSEL_PASSED_DIRECTLY(name, 1)

/** `name_make(source)`. function: a function or macro that both languages have, which takes a
 * `source_value` and returns a `result`. */
#define DYNSEL_TRANSFORM_ITERATOR(name, source_type, function, result)                             \
    DYNSEL_TRANSFORM_TYPE_(name, source_type, result)                                              \
    DYNSEL_TRANSFORM_READ_(name, source_type, function)                                            \
    DYNSEL_LEAVES_FUNCTION_(                                                                       \
        name,                                                                                      \
        DYNSEL_LEAVES_OF_(source_type, dynsel_read_only_part(place_, offsetof(name, source))))     \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(source_type))

/** The same with a function that only the host has: a range of it cannot go to OpenCL devices. The
 * source of a kernel may declare it, also as a part of others, if the kernel does not read it. */
#if defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)
#define DYNSEL_HOST_TRANSFORM_ITERATOR(name, source_type, function, result)                        \
    DYNSEL_TRANSFORM_TYPE_(name, source_type, result)                                              \
    DYNSEL_NOBODY_CALLS("only the host has the function of an iterator that is read")              \
    name##_value name##_read(name it_, size_t i_)
#else
#define DYNSEL_HOST_TRANSFORM_ITERATOR(name, source_type, function, result)                        \
    DYNSEL_TRANSFORM_TYPE_(name, source_type, result)                                              \
    DYNSEL_TRANSFORM_READ_(name, source_type, function)                                            \
    DYNSEL_LEAVES_FUNCTION_(                                                                       \
        name, dynsel_give_host_only(sink_, place_, #function);                                     \
        DYNSEL_LEAVES_OF_(source_type, dynsel_read_only_part(place_, offsetof(name, source))))     \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(source_type))
#endif

#define DYNSEL_TRANSFORM_TYPE_(name, source_type, result)                                          \
    typedef result name##_value;                                                                   \
    typedef struct name {                                                                          \
        source_type source;                                                                        \
    } name;                                                                                        \
    DYNSEL_INLINE name name##_make(source_type source_)                                            \
    {                                                                                              \
        const name it_ = {source_};                                                                \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_NOT_WRITABLE(name);

#define DYNSEL_TRANSFORM_READ_(name, source_type, function)                                        \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        return function(source_type##_read(it_.source, i_));                                       \
    }

/** `name_make(source, map, count)`. count: the number of elements of the source, 1 or more; the
 * elements of the map are below count. */
#define DYNSEL_PERMUTATION_ITERATOR(name, source_type, map_type)                                   \
    typedef source_type##_value name##_value;                                                      \
    typedef struct name {                                                                          \
        source_type source;                                                                        \
        map_type map;                                                                              \
        DYNSEL_COUNT_TYPE count;                                                                   \
    } name;                                                                                        \
    DYNSEL_INLINE name name##_make(source_type source_, map_type map_, DYNSEL_COUNT_TYPE count_)   \
    {                                                                                              \
        const name it_ = {source_, map_, count_};                                                  \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        return source_type##_read(it_.source, (size_t)map_type##_read(it_.map, i_));               \
    }                                                                                              \
    DYNSEL_INLINE void name##_write(name it_, size_t i_, name##_value value_)                      \
    {                                                                                              \
        source_type##_write(it_.source, (size_t)map_type##_read(it_.map, i_), value_);             \
    }                                                                                              \
    DYNSEL_LEAVES_FUNCTION_(                                                                       \
        name, DYNSEL_LEAVES_OF_(source_type, dynsel_source_part(place_, offsetof(name, source),    \
                                                                offsetof(name, count)))            \
                  DYNSEL_LEAVES_OF_(map_type, dynsel_read_only_part(place_, offsetof(name, map)))) \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(source_type) &&               \
                                     dynsel_is_passed_directly_to_device(map_type))

/** `name_make(base, count)`. base: in forward order; count: its number of elements. */
#define DYNSEL_REVERSE_ITERATOR(name, base_type)                                                   \
    typedef base_type##_value name##_value;                                                        \
    typedef struct name {                                                                          \
        base_type base;                                                                            \
        DYNSEL_COUNT_TYPE count;                                                                   \
    } name;                                                                                        \
    DYNSEL_INLINE name name##_make(base_type base_, DYNSEL_COUNT_TYPE count_)                      \
    {                                                                                              \
        const name it_ = {base_, count_};                                                          \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        return base_type##_read(it_.base, (size_t)(it_.count - 1 - i_));                           \
    }                                                                                              \
    DYNSEL_INLINE void name##_write(name it_, size_t i_, name##_value value_)                      \
    {                                                                                              \
        base_type##_write(it_.base, (size_t)(it_.count - 1 - i_), value_);                         \
    }                                                                                              \
    DYNSEL_LEAVES_FUNCTION_(                                                                       \
        name, DYNSEL_LEAVES_OF_(base_type, dynsel_counted_part(place_, offsetof(name, base),       \
                                                               offsetof(name, count)))             \
                  dynsel_give_value(sink_, place_, #name, DYNSEL_LEAF_COUNT,                       \
                                    offsetof(name, count), sizeof(DYNSEL_COUNT_TYPE));)            \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(base_type))

/* A zip. Each argument but the first expands once per part. */
#define DYNSEL_ZIP_(name, value_members, members, reads, writes, leaves)                           \
    typedef struct name##_value {                                                                  \
        value_members                                                                              \
    } name##_value;                                                                                \
    typedef struct name {                                                                          \
        members                                                                                    \
    } name;                                                                                        \
    DYNSEL_INLINE name##_value name##_read(name it_, size_t i_)                                    \
    {                                                                                              \
        name##_value value_;                                                                       \
        reads return value_;                                                                       \
    }                                                                                              \
    DYNSEL_INLINE void name##_write(name it_, size_t i_, name##_value value_){                     \
        writes} DYNSEL_LEAVES_FUNCTION_(name, leaves)

#define DYNSEL_ZIP_VALUE_(name, type, member)  type##_value member;
#define DYNSEL_ZIP_MEMBER_(name, type, member) type member;
#define DYNSEL_ZIP_READ_(name, type, member)   value_.member = type##_read(it_.member, i_);
#define DYNSEL_ZIP_WRITE_(name, type, member)  type##_write(it_.member, i_, value_.member);
#define DYNSEL_ZIP_LEAVES_(name, type, member)                                                     \
    DYNSEL_LEAVES_OF_(type, dynsel_part(place_, offsetof(name, member)))

#define DYNSEL_ZIP2_PARTS_(DO, name, a, b)    DO(name, a, first) DO(name, b, second)
#define DYNSEL_ZIP3_PARTS_(DO, name, a, b, c) DYNSEL_ZIP2_PARTS_(DO, name, a, b) DO(name, c, third)
#define DYNSEL_ZIP4_PARTS_(DO, name, a, b, c, d)                                                   \
    DYNSEL_ZIP3_PARTS_(DO, name, a, b, c) DO(name, d, fourth)

/** `name_make(first, second)`. */
#define DYNSEL_ZIP2_ITERATOR(name, a, b)                                                           \
    DYNSEL_ZIP_(name, DYNSEL_ZIP2_PARTS_(DYNSEL_ZIP_VALUE_, name, a, b),                           \
                DYNSEL_ZIP2_PARTS_(DYNSEL_ZIP_MEMBER_, name, a, b),                                \
                DYNSEL_ZIP2_PARTS_(DYNSEL_ZIP_READ_, name, a, b),                                  \
                DYNSEL_ZIP2_PARTS_(DYNSEL_ZIP_WRITE_, name, a, b),                                 \
                DYNSEL_ZIP2_PARTS_(DYNSEL_ZIP_LEAVES_, name, a, b))                                \
    DYNSEL_INLINE name name##_make(a first_, b second_)                                            \
    {                                                                                              \
        const name it_ = {first_, second_};                                                        \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(a) &&                         \
                                     dynsel_is_passed_directly_to_device(b))

/** `name_make(first, second, third)`. */
#define DYNSEL_ZIP3_ITERATOR(name, a, b, c)                                                        \
    DYNSEL_ZIP_(name, DYNSEL_ZIP3_PARTS_(DYNSEL_ZIP_VALUE_, name, a, b, c),                        \
                DYNSEL_ZIP3_PARTS_(DYNSEL_ZIP_MEMBER_, name, a, b, c),                             \
                DYNSEL_ZIP3_PARTS_(DYNSEL_ZIP_READ_, name, a, b, c),                               \
                DYNSEL_ZIP3_PARTS_(DYNSEL_ZIP_WRITE_, name, a, b, c),                              \
                DYNSEL_ZIP3_PARTS_(DYNSEL_ZIP_LEAVES_, name, a, b, c))                             \
    DYNSEL_INLINE name name##_make(a first_, b second_, c third_)                                  \
    {                                                                                              \
        const name it_ = {first_, second_, third_};                                                \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(a) &&                         \
                                     dynsel_is_passed_directly_to_device(b) &&                     \
                                     dynsel_is_passed_directly_to_device(c))

/** `name_make(first, second, third, fourth)`. */
#define DYNSEL_ZIP4_ITERATOR(name, a, b, c, d)                                                     \
    DYNSEL_ZIP_(name, DYNSEL_ZIP4_PARTS_(DYNSEL_ZIP_VALUE_, name, a, b, c, d),                     \
                DYNSEL_ZIP4_PARTS_(DYNSEL_ZIP_MEMBER_, name, a, b, c, d),                          \
                DYNSEL_ZIP4_PARTS_(DYNSEL_ZIP_READ_, name, a, b, c, d),                            \
                DYNSEL_ZIP4_PARTS_(DYNSEL_ZIP_WRITE_, name, a, b, c, d),                           \
                DYNSEL_ZIP4_PARTS_(DYNSEL_ZIP_LEAVES_, name, a, b, c, d))                          \
    DYNSEL_INLINE name name##_make(a first_, b second_, c third_, d fourth_)                       \
    {                                                                                              \
        const name it_ = {first_, second_, third_, fourth_};                                       \
        return it_;                                                                                \
    }                                                                                              \
    DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(a) &&                         \
                                     dynsel_is_passed_directly_to_device(b) &&                     \
                                     dynsel_is_passed_directly_to_device(c) &&                     \
                                     dynsel_is_passed_directly_to_device(d))

/* NOLINTEND(bugprone-macro-parentheses) */

#endif
