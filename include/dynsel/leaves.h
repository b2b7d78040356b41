/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The leaves of an iterator: its scalar members, each of which becomes one argument of a kernel.
 * Drivers accept no structure that contains a pointer as an argument. So an iterator of
 * <dynsel/iterators.h>, or of a type that the program declares, becomes one argument for each of
 * its leaves, in the order of its members: numbers by value, and pointers. The kernel rebuilds the
 * iterator with the functions `<type>_make`.
 *
 * Each such type has a function `<type>_leaves(sink, place)`, which passes its leaves to a sink one
 * by one, including the leaves of nested iterators. The macros that declare iterators define that
 * function. For a type of your own, write beside its declaration
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
 * The argument that each kind of leaf becomes, for a range of `count` elements:
 *
 * - DYNSEL_LEAF_VALUE: the `bytes` bytes at `offset` in the iterator.
 * - DYNSEL_LEAF_COUNT: the same, a uint64_t. It is the number of elements in the part of the
 *   iterator around it, and must be at least the leaf's extent.
 * - DYNSEL_LEAF_POINTER: the pointer at `offset`. If the leaf is `direct`, the argument is that
 *   pointer, and a device reaches the memory behind it. Otherwise the pointer leads to memory of
 *   the host, and the argument must be a copy of [pointer, pointer + extent * element_bytes). A
 *   kernel accesses nothing outside of that.
 * - DYNSEL_LEAF_HOST_ONLY: no argument. A part of the iterator, called `name`, has no form in
 *   OpenCL C, so no kernel for OpenCL can have the iterator.
 *
 * dynsel_leaf_extent() is the extent: `count` or, for the source of a permutation and the base of a
 * reversed iterator, a number in the iterator. For an empty range it is 0. Only the map of a
 * permutation determines which elements of the source are accessed, but some are: the extent of a
 * leaf in the source must not be 0, unless no element of the permutation is used;
 * dynsel_leaf_lacks_elements() checks that. No iterator has an alignment or offset inside its copy,
 * and none accesses memory below its pointer.
 *
 * DYNSEL_PART and DYNSEL_WHOLE_ITERATOR use the trait of a type, so they must stand below its mark.
 * In C++ DYNSEL_LEAVES stands beside its type in the same namespace, not inside `extern "C"`.
 *
 * Cost: nothing is stored; the functions call `sink->leaf` once per leaf. Context: any.
 */
#ifndef DYNSEL_LEAVES_H
#define DYNSEL_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/config.h>
#include <dynsel/language.h>
#include <dynsel/passed_directly.h>

DYNSEL_BEGIN_DECLS

typedef enum dynsel_leaf_kind {
    DYNSEL_LEAF_VALUE,
    DYNSEL_LEAF_COUNT,
    DYNSEL_LEAF_POINTER,
    DYNSEL_LEAF_HOST_ONLY
} dynsel_leaf_kind;

/** The `extent` of a leaf that has as many elements as the range. */
#define DYNSEL_COUNT_OF_RANGE ((size_t)-1)

typedef struct dynsel_leaf {
    const char *name;     /**< display name: of the type that has the leaf, or of the function */
    size_t offset;        /**< in the iterator */
    size_t bytes;         /**< of the value, or of the pointer; 0: no argument */
    size_t element_bytes; /**< size of one element behind a pointer; else 0 */
    size_t extent;        /**< offset in the iterator of a uint64_t, the number of elements; or
                               DYNSEL_COUNT_OF_RANGE */
    uint8_t kind;         /**< a dynsel_leaf_kind */
    bool direct;          /**< of a pointer: passed unchanged */
    bool read_only;       /**< never written, whatever the access mode of the range */
    bool some;            /**< if `around` is not 0, the extent must not be 0 */
    size_t around;        /**< like `extent`, of the part around the part that has the leaf */
} dynsel_leaf;

/** The receiver of leaves: the first member of a structure that the receiver defines. */
typedef struct dynsel_leaf_sink {
    void (*leaf)(struct dynsel_leaf_sink *sink, const dynsel_leaf *leaf);
} dynsel_leaf_sink;

/** The source of the decision whether a pointer is direct. */
typedef enum dynsel_directness {
    DYNSEL_DIRECT_BY_ITSELF, /**< the kind of iterator that has the leaf */
    DYNSEL_DIRECT_NO,        /**< an enclosing type without a mark, or whose trait is 0 */
    DYNSEL_DIRECT_YES        /**< an enclosing type whose trait is 1 */
} dynsel_directness;

/** The place of a part in an iterator. All zero except `extent`: the whole iterator. */
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

/** The place of a whole iterator of a type, for `<type>_leaves`. If the trait of the type is 1, all
 * of its pointers are direct. */
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

/** The number of elements that a leaf must have. iterator: the whole iterator. count: of the range;
 * an empty range uses no element. */
static inline uint64_t dynsel_leaf_extent(const dynsel_leaf *leaf, const void *iterator,
                                          uint64_t count)
{
    return dynsel_extent_at(leaf->extent, iterator, count);
}

/** Whether the leaf belongs to the source of a permutation that is used although its source has no
 * elements. */
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

/** The pointer of a leaf of kind DYNSEL_LEAF_POINTER. */
static inline void *dynsel_leaf_pointer(const dynsel_leaf *leaf, const void *iterator)
{
    return *(void *const *)(const void *)((const char *)iterator + leaf->offset);
}

/* For the functions `<type>_leaves`. */

/** The place of the member at `offset`, which is iterated like the part around it. */
static inline dynsel_leaf_place dynsel_part(const dynsel_leaf_place *place, size_t offset)
{
    dynsel_leaf_place part = *place;
    part.offset += offset;
    return part;
}

/** The place of the member at `offset`; the uint64_t at `count_offset` is the number of its
 * elements that are used. */
static inline dynsel_leaf_place dynsel_counted_part(const dynsel_leaf_place *place, size_t offset,
                                                    size_t count_offset)
{
    dynsel_leaf_place part = dynsel_part(place, offset);
    part.extent = place->offset + count_offset;
    part.some = false;
    return part;
}

/** The same, where that number must not be 0 unless no element of the part around it is used. */
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

/** The same place with a decision, unless an enclosing type has decided already. */
static inline dynsel_leaf_place dynsel_decided(const dynsel_leaf_place *place,
                                               dynsel_directness direct)
{
    dynsel_leaf_place decided = *place;
    if (place->direct == DYNSEL_DIRECT_BY_ITSELF) {
        decided.direct = (uint8_t)direct;
    }
    return decided;
}

/** Passes a member by value to the sink. kind: DYNSEL_LEAF_VALUE, or DYNSEL_LEAF_COUNT. */
static inline void dynsel_give_value(dynsel_leaf_sink *sink, const dynsel_leaf_place *place,
                                     const char *name, dynsel_leaf_kind kind, size_t offset,
                                     size_t bytes)
{
    const dynsel_leaf leaf = {name,          place->offset + offset, bytes, 0,
                              place->extent, (uint8_t)kind,          true,  true,
                              place->some,   place->around};
    sink->leaf(sink, &leaf);
}

/** Passes a pointer to the sink. by_itself: whether it is direct if no enclosing type decides. */
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

/** Tells the sink that `name` exists on the host only. */
static inline void dynsel_give_host_only(dynsel_leaf_sink *sink, const dynsel_leaf_place *place,
                                         const char *name)
{
    const dynsel_leaf leaf = {name,  place->offset, 0,     0, place->extent, DYNSEL_LEAF_HOST_ONLY,
                              false, true,          false, 0};
    sink->leaf(sink, &leaf);
}

/* Lets templates of C++ find the leaves of a type by argument-dependent lookup. */
#if defined(__cplusplus)
#define DYNSEL_LEAVES_BY_TYPE_(type)                                                               \
    static inline __attribute__((unused)) dynsel_leaves_fn dynsel_leaves_of(const type *)          \
    {                                                                                              \
        return type##_leaves;                                                                      \
    }
#else
#define DYNSEL_LEAVES_BY_TYPE_(type)
#endif

/** Defines the leaves of a type of your own. parts: DYNSEL_PART() and the others, one after the
 * other, in the order of the kernel's arguments; may be empty. */
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
    DYNSEL_LEAVES_BY_TYPE_(type)                                                                   \
    struct dynsel_leaves_of_##type

/* The leaves of a part. The trait of its type is evaluated here, where its mark is visible, and not
 * in `<type>_leaves`. */
#define DYNSEL_DIRECTNESS_(type)                                                                   \
    (dynsel_is_passed_directly_to_device(type) ? DYNSEL_DIRECT_YES : DYNSEL_DIRECT_BY_ITSELF)
#define DYNSEL_LEAVES_OF_(type, place)                                                             \
    {                                                                                              \
        const dynsel_leaf_place undecided_ = place;                                                \
        const dynsel_leaf_place part_ = dynsel_decided(&undecided_, DYNSEL_DIRECTNESS_(type));     \
        type##_leaves(sink_, &part_);                                                              \
    }

/* The compile-time checks of the macros below. A member is an lvalue that is never evaluated.
 * Arrays and functions are recognized: they become pointers in an expression and are none. */
#define DYNSEL_MEMBER_(member) (((dynsel_self *)(void *)sink_)->member)
#if defined(__cplusplus)
#define DYNSEL_ASK_(question, member)                                                              \
    ::dynsel::detail::question<decltype(dynsel_self::member)>::value
#define DYNSEL_IS_OF_TYPE_(type, member)                                                           \
    ::dynsel::detail::is_same<decltype(dynsel_self::member), type>::value
#define DYNSEL_IS_COUNT_(member)       DYNSEL_ASK_(is_count, member)
#define DYNSEL_IS_A_POINTER_(member)   DYNSEL_ASK_(is_pointer, member)
#define DYNSEL_IS_TO_VOID_(member)     DYNSEL_ASK_(is_to_void, member)
#define DYNSEL_IS_TO_FUNCTION_(member) DYNSEL_ASK_(is_to_function, member)
#define DYNSEL_IS_TO_CONST_(member)    DYNSEL_ASK_(is_to_const, member)
#define DYNSEL_HAS_POINTERS_(member)   DYNSEL_ASK_(has_pointers, member)
#else
#define DYNSEL_DECAYS_(value)                                                                      \
    ((__builtin_classify_type(value) == DYNSEL_POINTER_CLASS_) &                                   \
     !DYNSEL_IS_POINTER_(__typeof__(value)))
/* The first element of an array; of any other type the value itself. */
#define DYNSEL_ELEMENT_(value) (*__builtin_choose_expr(DYNSEL_DECAYS_(value), (value), &(value)))
#define DYNSEL_IS_FUNCTION_(value)                                                                 \
    (DYNSEL_DECAYS_(value) &                                                                       \
     __builtin_types_compatible_p(__typeof__(value), __typeof__(DYNSEL_ELEMENT_(value))))
#define DYNSEL_IS_OF_TYPE_(type, member)                                                           \
    __builtin_types_compatible_p(type, __typeof__(DYNSEL_MEMBER_(member)))
#define DYNSEL_IS_COUNT_(member)                                                                   \
    (_Generic(DYNSEL_MEMBER_(member), unsigned long : 1, unsigned long long : 1, default : 0) &    \
     (sizeof(DYNSEL_MEMBER_(member)) == sizeof(uint64_t)))
#define DYNSEL_IS_A_POINTER_(member) DYNSEL_IS_POINTER_(__typeof__(DYNSEL_MEMBER_(member)))
#define DYNSEL_IS_TO_VOID_(member)                                                                 \
    _Generic(DYNSEL_MEMBER_(member), void * : 1, const void * : 1, volatile void * : 1,            \
             const volatile void * : 1, default : 0)
#define DYNSEL_IS_TO_FUNCTION_(member) DYNSEL_IS_FUNCTION_(*DYNSEL_MEMBER_(member))
/* Adding const to a const type does not change it. The comparison holds for arrays, too: before C23
 * their elements are const, and the array is not. */
#define DYNSEL_IS_TO_CONST_(member)                                                                \
    __builtin_types_compatible_p(__typeof__(*DYNSEL_MEMBER_(member)) *,                            \
                                 const __typeof__(*DYNSEL_MEMBER_(member)) *)
/* A pointer, or an array of up to three dimensions of them. */
#define DYNSEL_HAS_POINTERS_(member)                                                               \
    DYNSEL_IS_POINTER_(                                                                            \
        __typeof__(DYNSEL_ELEMENT_(DYNSEL_ELEMENT_(DYNSEL_ELEMENT_(DYNSEL_MEMBER_(member))))))
#endif

#define DYNSEL_MEMBER_IS_(type, member)                                                            \
    DYNSEL_STATIC_ASSERT_(DYNSEL_IS_OF_TYPE_(type, member),                                        \
                          "this member is of another type than its part says");

/** A member that is an iterator itself. */
#define DYNSEL_PART(type, member)                                                                  \
    {                                                                                              \
        DYNSEL_MEMBER_IS_(type, member)                                                            \
        DYNSEL_LEAVES_OF_(type, dynsel_part(&here_, offsetof(dynsel_self, member)))                \
    }

/** The same, where the member `count`, a uint64_t, is the number of its elements that are used. */
#define DYNSEL_COUNTED_PART(type, member, count)                                                   \
    {                                                                                              \
        DYNSEL_MEMBER_IS_(type, member)                                                            \
        DYNSEL_STATIC_ASSERT_(DYNSEL_IS_COUNT_(count),                                             \
                              "the count of a part has to be a uint64_t");                         \
        DYNSEL_LEAVES_OF_(type, dynsel_counted_part(&here_, offsetof(dynsel_self, member),         \
                                                    offsetof(dynsel_self, count)))                 \
    }

/** The same, for a member that is only read. */
#define DYNSEL_READ_ONLY_PART(type, member)                                                        \
    {                                                                                              \
        DYNSEL_MEMBER_IS_(type, member)                                                            \
        DYNSEL_LEAVES_OF_(type, dynsel_read_only_part(&here_, offsetof(dynsel_self, member)))      \
    }

#define DYNSEL_NO_ELEMENTS_                                                                        \
    "void and functions have no size: declare this member as a pointer to the type of its "        \
    "elements"

/** A member that is a pointer to as many elements as the range has. Memory behind a pointer to
 * `const` is only read, arrays of `const` elements included. Pointers to void and to functions do
 * not compile, because their elements have no size; arrays do not compile either. */
#define DYNSEL_POINTER_PART(member)                                                                \
    {                                                                                              \
        DYNSEL_STATIC_ASSERT_(DYNSEL_IS_A_POINTER_(member),                                        \
                              "this member is no pointer: take DYNSEL_VALUE_PART for a number or " \
                              "an array of numbers, DYNSEL_PART for an iterator");                 \
        DYNSEL_STATIC_ASSERT_(!DYNSEL_IS_TO_VOID_(member), DYNSEL_NO_ELEMENTS_);                   \
        DYNSEL_STATIC_ASSERT_(!DYNSEL_IS_TO_FUNCTION_(member), DYNSEL_NO_ELEMENTS_);               \
        const dynsel_leaf_place part_ =                                                            \
            DYNSEL_IS_TO_CONST_(member) ? dynsel_read_only_part(&here_, 0) : here_;                \
        dynsel_give_pointer(sink_, &part_, name_, offsetof(dynsel_self, member),                   \
                            sizeof(*DYNSEL_MEMBER_(member)), false);                               \
    }

/** A member that is passed by value: a number, an array of numbers, or a structure without
 * pointers. A kernel takes an array as a vector or structure of the same size. A pointer does not
 * compile, nor does an array of pointers in up to three dimensions. Pointers inside a structure are
 * not detected. */
#define DYNSEL_VALUE_PART(member)                                                                  \
    {                                                                                              \
        DYNSEL_STATIC_ASSERT_(!DYNSEL_HAS_POINTERS_(member),                                       \
                              "a device cannot use a pointer that is passed by value: take "       \
                              "DYNSEL_POINTER_PART, with a member of its own for each pointer");   \
        dynsel_give_value(sink_, &here_, name_, DYNSEL_LEAF_VALUE, offsetof(dynsel_self, member),  \
                          sizeof(DYNSEL_MEMBER_(member)));                                         \
    }

DYNSEL_END_DECLS

#endif
