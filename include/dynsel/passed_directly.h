/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The types that devices use unchanged: memory that a device already reaches is not copied.
 *
 * The trait `dynsel_is_passed_directly_to_device(type)` is an integer constant expression of value
 * 1 or 0. It can stand in `_Static_assert`, array sizes, case labels and initializers, but not in
 * `#if`. A mark of the type sets the value. Without a mark the value is 1 for every pointer type,
 * and 0 for every other type. A program that passes a bare pointer promises that the device reaches
 * the memory behind it.
 *
 * A type is marked with one line beside its declaration, in the user's own header:
 *
 *     typedef struct my_pair {
 *         my_iterator first;
 *         samples second;
 *     } my_pair;
 *     DYNSEL_PASSED_DIRECTLY(my_pair, dynsel_is_passed_directly_to_device(my_iterator) &&
 *                                         dynsel_is_passed_directly_to_device(samples));
 *
 * The compiler evaluates the mark where the mark stands. A mark calls no code and adds nothing to
 * the program. Types nest to any depth. A mark that uses the trait of another type must stand below
 * that type's mark, as it does where each mark stands beside its type.
 *
 * A second mark of a type is a compile error, also with the same value (`redeclaration of 'enum
 * dynsel_passed_directly_my_pair'`).
 *
 * Limits:
 *
 * - The trait finds a mark by the type's name. `my_pair` and `struct my_pair` are the same name;
 *   `const` and `volatile` are ignored. Another name (`typedef my_pair alias;`) has no mark, so its
 *   trait is 0 until the name gets a mark of its own:
 *   `DYNSEL_PASSED_DIRECTLY(alias, dynsel_is_passed_directly_to_device(my_pair));`. A typedef of a
 *   pointer is a pointer, and can be marked 0. A type declared in a block with the name of a marked
 *   type has the value of that mark, unless the block contains a mark of its own (-Wshadow warns).
 *   The value for `_Atomic` structures is unspecified.
 * - The trait is 0 for types that begin with a keyword, and for those of <stddef.h> and <stdint.h>.
 *   They cannot be marked: declare a typedef, and mark the typedef.
 * - `__typeof__(x)` is not a name and does not compile: write the type.
 * - The trait is 0 for arrays and functions, unless a typedef of them is marked. An array type
 *   written out over an unmarked typedef name, such as `my_plain[4]` or `my_plain (*)[4]`, does not
 *   compile ("incomplete element type"): declare a typedef of the array. The same holds for a
 *   structure whose members are written out in place.
 * - A structure type must be complete. Pointers to incomplete types are pointers.
 * - A type must not contain a comma outside of parentheses.
 * - In the parameters of a function, such as `int a[1 + dynsel_is_...(my_plain)]`, compilers warn
 *   of an enumeration that is visible in the parameter list only. GCC accepts no such enumeration
 *   in the first part of a `for`. Neither happens if the trait of that type was used before.
 * - The language is C11 with the extensions of GCC and Clang. In OpenCL C marks are allowed;
 *   neither mark nor trait has a meaning there.
 * - In C++ a mark is a function that argument-dependent lookup finds, and the trait is
 *   dynsel::is_passed_directly_to_device (<dynsel/language.hpp>), which goes by the type and not by
 *   its name. There a mark stands below a declaration of its type, in the same namespace or between
 *   its members: not in a block, and not inside `extern "C"`.
 *
 * Cost: none in the program. Source: seed 000; doc/passed-directly.md describes its other forms.
 */
#ifndef DYNSEL_PASSED_DIRECTLY_H
#define DYNSEL_PASSED_DIRECTLY_H

#if defined(__cplusplus)

#include <dynsel/language.hpp>

#define DYNSEL_PASSED_DIRECTLY(type, value)                                                        \
    __attribute__((unused)) inline ::dynsel::detail::answer<((value) != 0)>                        \
    is_passed_directly_in_dynsel_device_policies(const type &)                                     \
    {                                                                                              \
        return {};                                                                                 \
    }                                                                                              \
    struct dynsel_passed_directly
#define dynsel_is_passed_directly_to_device(type)                                                  \
    (::dynsel::is_passed_directly_to_device<type>::value)

#elif defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)

/* Must be identical to the definition in <dynsel/iterators.h>, so that a source can include both.
 * Clang warns of such a structure between the members of another. */
#if defined(__clang__)
#define DYNSEL_MARK_IN_OPENCL_ _Static_assert(1, "a mark")
#else
#define DYNSEL_MARK_IN_OPENCL_ struct dynsel_passed_directly
#endif
#define DYNSEL_PASSED_DIRECTLY(type, value) DYNSEL_MARK_IN_OPENCL_

#else

/* Implementation: a mark completes an enumeration that is named after the type. The underlying
 * integer type of the enumeration is the value: unsigned for 1, int for 0. Without a mark the
 * enumeration stays incomplete, which both compilers accept as an extension, and is compatible with
 * no integer type. A suffix of the name, such as `*`, makes another type, which is compatible with
 * neither. */

/** Marks a type as passed directly or not. type: its name, with or without `struct`. value: an
 * integer constant expression, such as 1, or an expression over the trait of other types. A mark
 * stands at file scope, between the members of a structure, or in a block, where it holds for that
 * block. */
#define DYNSEL_PASSED_DIRECTLY(type, value) DYNSEL_MARK_(DYNSEL_NAME_OF_(type), value)
#define DYNSEL_MARK_(name, value)           DYNSEL_MARK__(name, value)
#define DYNSEL_MARK__(name, value)                                                                 \
    _Static_assert(                                                                                \
        sizeof(enum dynsel_passed_directly_##name{dynsel_passed_directly_value_##name =            \
                                                      -0x7fffffffLL + 0xfffffffeLL * !!(value)}) * \
                DYNSEL_SECOND(DYNSEL_NO_NAME_##name, 1, ~) !=                                      \
            0,                                                                                     \
        "this type cannot be marked: give it a name with a typedef, and mark that")

/** The trait: 1 or 0. type: any complete object type, or a pointer to any type. */
#define dynsel_is_passed_directly_to_device(type)                                                  \
    ((DYNSEL_IS_POINTER_(type) && !DYNSEL_SAYS_(DYNSEL_NAME_OF_(type), int)) ||                    \
     DYNSEL_SAYS_(DYNSEL_NAME_OF_(type), unsigned))

/* An lvalue of the type, never evaluated; char stands in for void. */
#define DYNSEL_SOME_(type)                                                                         \
    (*_Generic((__typeof__(type) *)0, void *                                                       \
               : (char *)0, const void *                                                           \
               : (char *)0, volatile void *                                                        \
               : (char *)0, const volatile void *                                                  \
               : (char *)0, default                                                                \
               : (__typeof__(type) *)0))

/* `&` and `|` instead of `&&` and `||`: these macros expand in functions of <dynsel/leaves.h> whose
 * measured complexity would rise otherwise. Arrays and functions become pointers in an expression,
 * so their type changes there. In Clang the type of an atomic pointer changes, too; GCC treats
 * `_Atomic` as a qualifier, which is ignored. */
#define DYNSEL_POINTER_CLASS_ 5
#define DYNSEL_IS_POINTER_(type)                                                                   \
    ((__builtin_classify_type(DYNSEL_SOME_(type)) == DYNSEL_POINTER_CLASS_) &                      \
     DYNSEL_IS_SAME_(__typeof__(type), __typeof__(((void)0, DYNSEL_SOME_(type)))))
#if defined(__clang__)
#define DYNSEL_IS_SAME_(type, value)                                                               \
    (__builtin_types_compatible_p(type, value) | __builtin_types_compatible_p(type, _Atomic(value)))
#else
#define DYNSEL_IS_SAME_(type, value) __builtin_types_compatible_p(type, value)
#endif

#define DYNSEL_SECOND_(first, second, ...) second
#define DYNSEL_SECOND(...)                 DYNSEL_SECOND_(__VA_ARGS__)

/* The type without the leading keywords that are not part of its name. */
#define DYNSEL_NAME_OF_(type)              DYNSEL_BARE_(DYNSEL_BARE_(DYNSEL_BARE_(type)))
#define DYNSEL_BARE_(type)                 DYNSEL_BARE__(type)
#define DYNSEL_BARE__(type)                DYNSEL_SECOND(DYNSEL_WORD_##type, type, ~)
#define DYNSEL_WORD_const                  ~,
#define DYNSEL_WORD_volatile               ~,
#define DYNSEL_WORD_struct                 ~,
#define DYNSEL_WORD_union                  ~,
#define DYNSEL_WORD_enum                   ~,

#define DYNSEL_SAYS_(type, answer) DYNSEL_SAYS__(type, answer)
#define DYNSEL_SAYS__(type, answer)                                                                \
    DYNSEL_SECOND(DYNSEL_NO_NAME_##type, DYNSEL_MARK_IS_(type, answer), ~)
#define DYNSEL_MARK_IS_(type, answer)                                                              \
    (__extension__ __builtin_types_compatible_p(__typeof__(enum dynsel_passed_directly_##type),    \
                                                answer))

/* Types that begin with a keyword cannot have a mark. */
#define DYNSEL_NO_NAME_void           ~, 0,
#define DYNSEL_NO_NAME_char           ~, 0,
#define DYNSEL_NO_NAME_short          ~, 0,
#define DYNSEL_NO_NAME_int            ~, 0,
#define DYNSEL_NO_NAME_long           ~, 0,
#define DYNSEL_NO_NAME_float          ~, 0,
#define DYNSEL_NO_NAME_double         ~, 0,
#define DYNSEL_NO_NAME_signed         ~, 0,
#define DYNSEL_NO_NAME_unsigned       ~, 0,
#define DYNSEL_NO_NAME_bool           ~, 0,
#define DYNSEL_NO_NAME__Bool          ~, 0,
#define DYNSEL_NO_NAME__Complex       ~, 0,
#define DYNSEL_NO_NAME__Atomic        ~, 0,
#define DYNSEL_NO_NAME___int128       ~, 0,
#define DYNSEL_NO_NAME__Float16       ~, 0,
#define DYNSEL_NO_NAME__Float32       ~, 0,
#define DYNSEL_NO_NAME__Float64       ~, 0,
#define DYNSEL_NO_NAME__Float32x      ~, 0,
#define DYNSEL_NO_NAME__Float64x      ~, 0,
#define DYNSEL_NO_NAME__Float128      ~, 0,
#define DYNSEL_NO_NAME___fp16         ~, 0,
#define DYNSEL_NO_NAME___float128     ~, 0,
#define DYNSEL_NO_NAME__Decimal32     ~, 0,
#define DYNSEL_NO_NAME__Decimal64     ~, 0,
#define DYNSEL_NO_NAME__Decimal128    ~, 0,
#define DYNSEL_NO_NAME__BitInt        ~, 0,

/* Nor can those of <stddef.h> and <stdint.h>; so arrays of them compile. */
#define DYNSEL_NO_NAME_int8_t         ~, 0,
#define DYNSEL_NO_NAME_int16_t        ~, 0,
#define DYNSEL_NO_NAME_int32_t        ~, 0,
#define DYNSEL_NO_NAME_int64_t        ~, 0,
#define DYNSEL_NO_NAME_int_least8_t   ~, 0,
#define DYNSEL_NO_NAME_int_least16_t  ~, 0,
#define DYNSEL_NO_NAME_int_least32_t  ~, 0,
#define DYNSEL_NO_NAME_int_least64_t  ~, 0,
#define DYNSEL_NO_NAME_int_fast8_t    ~, 0,
#define DYNSEL_NO_NAME_int_fast16_t   ~, 0,
#define DYNSEL_NO_NAME_int_fast32_t   ~, 0,
#define DYNSEL_NO_NAME_int_fast64_t   ~, 0,
#define DYNSEL_NO_NAME_intptr_t       ~, 0,
#define DYNSEL_NO_NAME_intmax_t       ~, 0,
#define DYNSEL_NO_NAME_uint8_t        ~, 0,
#define DYNSEL_NO_NAME_uint16_t       ~, 0,
#define DYNSEL_NO_NAME_uint32_t       ~, 0,
#define DYNSEL_NO_NAME_uint64_t       ~, 0,
#define DYNSEL_NO_NAME_uint_least8_t  ~, 0,
#define DYNSEL_NO_NAME_uint_least16_t ~, 0,
#define DYNSEL_NO_NAME_uint_least32_t ~, 0,
#define DYNSEL_NO_NAME_uint_least64_t ~, 0,
#define DYNSEL_NO_NAME_uint_fast8_t   ~, 0,
#define DYNSEL_NO_NAME_uint_fast16_t  ~, 0,
#define DYNSEL_NO_NAME_uint_fast32_t  ~, 0,
#define DYNSEL_NO_NAME_uint_fast64_t  ~, 0,
#define DYNSEL_NO_NAME_uintptr_t      ~, 0,
#define DYNSEL_NO_NAME_uintmax_t      ~, 0,
#define DYNSEL_NO_NAME_size_t         ~, 0,
#define DYNSEL_NO_NAME_ptrdiff_t      ~, 0,
#define DYNSEL_NO_NAME_wchar_t        ~, 0,
#define DYNSEL_NO_NAME_max_align_t    ~, 0,

#endif

#endif
