/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How an iterator is taken apart into arguments of a kernel. Drivers take no structure with a
 * pointer in it as an argument, so an iterator of <dynsel/iterators.h>, or a type of the user's
 * own, becomes one argument for each of its leaves, in the order of its members: numbers by value,
 * and pointers. The kernel puts them together again with the functions `<type>_make`.
 *
 * Each such type has a function `<type>_leaves(sink, place)`, which hands its leaves to a sink, one
 * after the other, those of the iterators inside it included. The macros that declare iterators
 * write it; for a type of your own, write beside it
 *
 *     typedef struct my_pair {
 *         samples first;
 *         strided second;
 *         int32_t shift;
 *     } my_pair;
 *     DYNSEL_PASSED_DIRECTLY(my_pair, dynsel_is_passed_directly_to_device(samples) &&
 *                                         dynsel_is_passed_directly_to_device(strided));
 *     DYNSEL_LEAVES(my_pair, DYNSEL_PART(samples, first) DYNSEL_PART(strided, second)
 *                                DYNSEL_VALUE_PART(shift));
 *
 * What a range of `count` elements needs of a leaf:
 *
 * - DYNSEL_LEAF_VALUE: `bytes` bytes at `offset` in the iterator are the argument.
 * - DYNSEL_LEAF_COUNT: the same, a uint64_t; it says for how many elements the part of the iterator
 *   around it is good, and has to be at least the leaf's extent.
 * - DYNSEL_LEAF_POINTER: at `offset` is a pointer. Where the leaf is `direct`, the pointer is the
 *   argument, and a device reaches what it points to. Where not, it points to memory of the host,
 *   and a copy of [pointer, pointer + extent * element_bytes) has to be the argument. A kernel
 *   never looks outside of that.
 * - DYNSEL_LEAF_HOST_ONLY: no argument; a part of the iterator, called `name`, has no form in
 *   OpenCL C, so a kernel for OpenCL cannot have the iterator at all.
 *
 * The extent is dynsel_leaf_extent(): `count`, or where the iterator is not walked through as it
 * stands (the source of a permutation, the base of a reversed one) a number in the iterator; of an
 * empty range 0. How far a permutation goes into its source only its map knows, but it goes
 * somewhere: of a leaf in there the extent is not 0, unless nothing of the permutation is used,
 * which dynsel_leaf_lacks_elements() tells. No iterator has an alignment or offset inside its copy,
 * and none looks in front of its pointer.
 *
 * DYNSEL_PART and DYNSEL_WHOLE_ITERATOR ask for the trait of a type, so they stand below its mark.
 * In C++ DYNSEL_LEAVES is allowed and says nothing, and DYNSEL_WHOLE_ITERATOR does not compile.
 *
 * Cost: nothing is stored; the functions call `sink->leaf` once a leaf. Context: any.
 */
#ifndef DYNSEL_LEAVES_H
#define DYNSEL_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/config.h>
#include <dynsel/passed_directly.h>

DYNSEL_BEGIN_DECLS

typedef enum dynsel_leaf_kind {
    DYNSEL_LEAF_VALUE,
    DYNSEL_LEAF_COUNT,
    DYNSEL_LEAF_POINTER,
    DYNSEL_LEAF_HOST_ONLY
} dynsel_leaf_kind;

/** As `extent` of a leaf: as many elements as the range has. */
#define DYNSEL_COUNT_OF_RANGE ((size_t)-1)

typedef struct dynsel_leaf {
    const char *name;     /**< of the type that it is a leaf of, or of the function; for people */
    size_t offset;        /**< where in the iterator */
    size_t bytes;         /**< of the value, or of the pointer; 0: no argument */
    size_t element_bytes; /**< of what a pointer points to; else 0 */
    size_t extent;        /**< where in the iterator a uint64_t says how many elements, or
                               DYNSEL_COUNT_OF_RANGE */
    uint8_t kind;         /**< a dynsel_leaf_kind */
    bool direct;          /**< of a pointer: passed as it is */
    bool read_only;       /**< never written, in whatever mode the range is used */
    bool some;            /**< where `around` is not 0, the extent is not either */
    size_t around;        /**< as the extent: of what is around the part that the leaf is in */
} dynsel_leaf;

/** Who gets the leaves: the first member of a structure of the receiver's own. */
typedef struct dynsel_leaf_sink {
    void (*leaf)(struct dynsel_leaf_sink *sink, const dynsel_leaf *leaf);
} dynsel_leaf_sink;

/** What decides whether a pointer is direct. */
typedef enum dynsel_directness {
    DYNSEL_DIRECT_BY_ITSELF, /**< the kind of iterator that it is a leaf of */
    DYNSEL_DIRECT_NO,        /**< a type around it, which says nothing, or 0 */
    DYNSEL_DIRECT_YES        /**< a type around it, which says 1 */
} dynsel_directness;

/** Where a part stands in an iterator. All zero, but for `extent`: the whole one. */
typedef struct dynsel_leaf_place {
    size_t offset;
    size_t extent;  /**< as of a leaf */
    uint8_t direct; /**< a dynsel_directness */
    bool read_only;
    bool some;     /**< as of a leaf */
    size_t around; /**< as of a leaf */
} dynsel_leaf_place;

/** `<type>_leaves`. */
typedef void (*dynsel_leaves_fn)(dynsel_leaf_sink *sink, const dynsel_leaf_place *place);

/** The place of a whole iterator of a type, for `<type>_leaves`. Where the trait of the type is 1,
 * all of its pointers are direct. */
#define DYNSEL_WHOLE_ITERATOR(type)                                                                \
    {                                                                                              \
        0, DYNSEL_COUNT_OF_RANGE,                                                                  \
            dynsel_is_passed_directly_to_device(type) ? DYNSEL_DIRECT_YES                          \
                                                      : DYNSEL_DIRECT_BY_ITSELF,                   \
            false, false, 0                                                                        \
    }

static inline uint64_t dynsel_extent_at(size_t extent, const void *iterator, uint64_t count)
{
    return extent == DYNSEL_COUNT_OF_RANGE || count == 0
               ? count
               : *(const uint64_t *)(const void *)((const char *)iterator + extent);
}

/** For how many elements a leaf must be good. iterator: the whole one. count: of the range; of an
 * empty one nothing is used. */
static inline uint64_t dynsel_leaf_extent(const dynsel_leaf *leaf, const void *iterator,
                                          uint64_t count)
{
    return dynsel_extent_at(leaf->extent, iterator, count);
}

/** Whether the leaf is of the source of a permutation that says that its source has no elements,
 * and is used all the same. */
static inline bool dynsel_leaf_lacks_elements(const dynsel_leaf *leaf, const void *iterator,
                                              uint64_t count)
{
    return leaf->some && dynsel_extent_at(leaf->extent, iterator, count) == 0 &&
           dynsel_extent_at(leaf->around, iterator, count) != 0;
}

/** The value of a leaf of kind DYNSEL_LEAF_COUNT. */
static inline uint64_t dynsel_leaf_count(const dynsel_leaf *leaf, const void *iterator)
{
    return *(const uint64_t *)(const void *)((const char *)iterator + leaf->offset);
}

/** A leaf of kind DYNSEL_LEAF_POINTER. */
static inline void *dynsel_leaf_pointer(const dynsel_leaf *leaf, const void *iterator)
{
    return *(void *const *)(const void *)((const char *)iterator + leaf->offset);
}

/* What follows is for the functions `<type>_leaves`. */

/** The place of the member at `offset`, walked through as what is around it. */
static inline dynsel_leaf_place dynsel_part(const dynsel_leaf_place *place, size_t offset)
{
    dynsel_leaf_place part = *place;
    part.offset += offset;
    return part;
}

/** The place of the member at `offset`, of which so many elements are used as the uint64_t at
 * `count_offset` says. */
static inline dynsel_leaf_place dynsel_counted_part(const dynsel_leaf_place *place, size_t offset,
                                                    size_t count_offset)
{
    dynsel_leaf_place part = dynsel_part(place, offset);
    part.extent = place->offset + count_offset;
    part.some = false;
    return part;
}

/** The same, where that number is not 0 unless nothing of what is around it is used. */
static inline dynsel_leaf_place dynsel_source_part(const dynsel_leaf_place *place, size_t offset,
                                                   size_t count_offset)
{
    dynsel_leaf_place part = dynsel_counted_part(place, offset, count_offset);
    part.some = true;
    part.around = place->extent;
    return part;
}

/** The place of a member that is not written to. */
static inline dynsel_leaf_place dynsel_read_only_part(const dynsel_leaf_place *place, size_t offset)
{
    dynsel_leaf_place part = dynsel_part(place, offset);
    part.read_only = true;
    return part;
}

/** The same place, with a decision, unless a type around it has made one. */
static inline dynsel_leaf_place dynsel_decided(const dynsel_leaf_place *place,
                                               dynsel_directness direct)
{
    dynsel_leaf_place decided = *place;
    if (place->direct == DYNSEL_DIRECT_BY_ITSELF) {
        decided.direct = (uint8_t)direct;
    }
    return decided;
}

/** Hands out a member by value. kind: DYNSEL_LEAF_VALUE, or DYNSEL_LEAF_COUNT. */
static inline void dynsel_give_value(dynsel_leaf_sink *sink, const dynsel_leaf_place *place,
                                     const char *name, dynsel_leaf_kind kind, size_t offset,
                                     size_t bytes)
{
    const dynsel_leaf leaf = {name,          place->offset + offset, bytes, 0,
                              place->extent, (uint8_t)kind,          true,  true,
                              place->some,   place->around};
    sink->leaf(sink, &leaf);
}

/** Hands out a pointer. by_itself: whether it is direct where no type around it decides. */
static inline void dynsel_give_pointer(dynsel_leaf_sink *sink, const dynsel_leaf_place *place,
                                       const char *name, size_t offset, size_t element_bytes,
                                       bool by_itself)
{
    const bool direct =
        place->direct == DYNSEL_DIRECT_BY_ITSELF ? by_itself : place->direct == DYNSEL_DIRECT_YES;
    const dynsel_leaf leaf = {name,          place->offset + offset, sizeof(void *),
                              element_bytes, place->extent,          DYNSEL_LEAF_POINTER,
                              direct,        place->read_only,       place->some,
                              place->around};
    sink->leaf(sink, &leaf);
}

/** Hands out that `name` is there for the host only. */
static inline void dynsel_give_host_only(dynsel_leaf_sink *sink, const dynsel_leaf_place *place,
                                         const char *name)
{
    const dynsel_leaf leaf = {name,  place->offset, 0,     0, place->extent, DYNSEL_LEAF_HOST_ONLY,
                              false, true,          false, 0};
    sink->leaf(sink, &leaf);
}

/** The leaves of a type of your own: DYNSEL_PART() and the others, one after the other, in the
 * order of the kernel's arguments; there may be none. */
#if defined(__cplusplus)
#define DYNSEL_LEAVES(type, parts) struct dynsel_leaves_of_##type
#else
#define DYNSEL_LEAVES(type, parts)                                                                 \
    static inline __attribute__((unused)) void type##_leaves(dynsel_leaf_sink *sink_,              \
                                                             const dynsel_leaf_place *place_)      \
    {                                                                                              \
        typedef type dynsel_self;                                                                  \
        static const char *const name_ = #type;                                                    \
        const dynsel_leaf_place here_ = dynsel_decided(place_, DYNSEL_DIRECT_NO);                  \
        (void)sink_;                                                                               \
        (void)here_;                                                                               \
        (void)name_;                                                                               \
        (void)sizeof(dynsel_self);                                                                 \
        parts                                                                                      \
    }                                                                                              \
    struct dynsel_leaves_of_##type
#endif

/* Those of a part. The trait of its type is asked here, where its mark is known, and not where
 * `<type>_leaves` stands. */
#if defined(__cplusplus)
#define DYNSEL_DIRECTNESS_(type) DYNSEL_DIRECT_BY_ITSELF
#else
#define DYNSEL_DIRECTNESS_(type)                                                                   \
    (dynsel_is_passed_directly_to_device(type) ? DYNSEL_DIRECT_YES : DYNSEL_DIRECT_BY_ITSELF)
#endif
#define DYNSEL_LEAVES_OF_(type, place)                                                             \
    {                                                                                              \
        const dynsel_leaf_place undecided_ = place;                                                \
        const dynsel_leaf_place part_ = dynsel_decided(&undecided_, DYNSEL_DIRECTNESS_(type));     \
        type##_leaves(sink_, &part_);                                                              \
    }

/* What the following are refused for, when compiling. A member is an lvalue that is never
 * evaluated. Arrays and functions are what becomes a pointer in an expression and is none. */
#define DYNSEL_MEMBER_(member) (((dynsel_self *)(void *)sink_)->member)
#define DYNSEL_DECAYS_(value)                                                                      \
    ((__builtin_classify_type(value) == DYNSEL_POINTER_CLASS_) &                                   \
     !DYNSEL_IS_POINTER_(__typeof__(value)))
/* The first element of an array, else the value itself. */
#define DYNSEL_ELEMENT_(value) (*__builtin_choose_expr(DYNSEL_DECAYS_(value), (value), &(value)))
#define DYNSEL_IS_FUNCTION_(value)                                                                 \
    (DYNSEL_DECAYS_(value) &                                                                       \
     __builtin_types_compatible_p(__typeof__(value), __typeof__(DYNSEL_ELEMENT_(value))))
/* A pointer, or an array of up to three dimensions of them. */
#define DYNSEL_HAS_POINTERS_(value)                                                                \
    DYNSEL_IS_POINTER_(__typeof__(DYNSEL_ELEMENT_(DYNSEL_ELEMENT_(DYNSEL_ELEMENT_(value)))))
#define DYNSEL_IS_TO_VOID_(pointer)                                                                \
    _Generic((pointer), void * : 1, const void * : 1, volatile void * : 1,                         \
             const volatile void * : 1, default : 0)
#define DYNSEL_IS_COUNT_(value)                                                                    \
    (_Generic((value), unsigned long : 1, unsigned long long : 1, default : 0) &                   \
     (sizeof(value) == sizeof(uint64_t)))

#define DYNSEL_MEMBER_IS_(type, member)                                                            \
    _Static_assert(__builtin_types_compatible_p(type, __typeof__(DYNSEL_MEMBER_(member))),         \
                   "this member is of another type than its part says");

/** A member that is an iterator itself. */
#define DYNSEL_PART(type, member)                                                                  \
    {                                                                                              \
        DYNSEL_MEMBER_IS_(type, member)                                                            \
        DYNSEL_LEAVES_OF_(type, dynsel_part(&here_, offsetof(dynsel_self, member)))                \
    }

/** The same, where the member `count`, a uint64_t, says how many of its elements are used. */
#define DYNSEL_COUNTED_PART(type, member, count)                                                   \
    {                                                                                              \
        DYNSEL_MEMBER_IS_(type, member)                                                            \
        _Static_assert(DYNSEL_IS_COUNT_(DYNSEL_MEMBER_(count)),                                    \
                       "the count of a part has to be a uint64_t");                                \
        DYNSEL_LEAVES_OF_(type, dynsel_counted_part(&here_, offsetof(dynsel_self, member),         \
                                                    offsetof(dynsel_self, count)))                 \
    }

/** The same, where it is only read. */
#define DYNSEL_READ_ONLY_PART(type, member)                                                        \
    {                                                                                              \
        DYNSEL_MEMBER_IS_(type, member)                                                            \
        DYNSEL_LEAVES_OF_(type, dynsel_read_only_part(&here_, offsetof(dynsel_self, member)))      \
    }

#define DYNSEL_NO_ELEMENTS_                                                                        \
    "void and functions have no size: declare this member as a pointer to the type of its "        \
    "elements"

/** A member that is a pointer: to as many elements as the range has. What a pointer to `const`
 * points to is only read, arrays of `const` elements included. A pointer to void does not compile
 * (how large is an element?), nor one to a function, nor an array. */
#define DYNSEL_POINTER_PART(member)                                                                \
    {                                                                                              \
        _Static_assert(DYNSEL_IS_POINTER_(__typeof__(DYNSEL_MEMBER_(member))),                     \
                       "this member is no pointer: take DYNSEL_VALUE_PART for a number or an "     \
                       "array of numbers, DYNSEL_PART for an iterator");                           \
        _Static_assert(!DYNSEL_IS_TO_VOID_(DYNSEL_MEMBER_(member)), DYNSEL_NO_ELEMENTS_);          \
        _Static_assert(!DYNSEL_IS_FUNCTION_(*DYNSEL_MEMBER_(member)), DYNSEL_NO_ELEMENTS_);        \
        const dynsel_leaf_place part_ = DYNSEL_IS_TO_CONST_(DYNSEL_MEMBER_(member))                \
                                            ? dynsel_read_only_part(&here_, 0)                     \
                                            : here_;                                               \
        dynsel_give_pointer(sink_, &part_, name_, offsetof(dynsel_self, member),                   \
                            sizeof(*DYNSEL_MEMBER_(member)), false);                               \
    }
/* To what is const already, one more const changes nothing. It counts for the elements of an array,
 * too, which are const where their array is not, before C23. */
#define DYNSEL_IS_TO_CONST_(pointer)                                                               \
    __builtin_types_compatible_p(__typeof__(*(pointer)) *, const __typeof__(*(pointer)) *)

/** A member that is passed by value: a number, an array of numbers, or a structure without
 * pointers; a kernel takes an array as a vector or structure of its size. A pointer does not
 * compile, nor an array of them in up to three dimensions; what is inside of a structure nobody
 * sees. */
#define DYNSEL_VALUE_PART(member)                                                                  \
    {                                                                                              \
        _Static_assert(!DYNSEL_HAS_POINTERS_(DYNSEL_MEMBER_(member)),                              \
                       "a device cannot use a pointer that is passed by value: take "              \
                       "DYNSEL_POINTER_PART, with a member of its own for each pointer");          \
        dynsel_give_value(sink_, &here_, name_, DYNSEL_LEAF_VALUE, offsetof(dynsel_self, member),  \
                          sizeof(DYNSEL_MEMBER_(member)));                                         \
    }

DYNSEL_END_DECLS

#endif
