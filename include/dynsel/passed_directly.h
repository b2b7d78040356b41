/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which types devices can use as they are: memory that a device already reaches is not copied.
 *
 * `dynsel_is_passed_directly_to_device(type)` is 1 or 0, an integer constant expression: for
 * `_Static_assert`, array sizes, case labels, initializers; not for `#if`. It is what its mark says
 * for a type that has one. Without one it is 1 for every pointer type, whatever it points to: who
 * passes a bare pointer promises that the device reaches that memory; and 0 for every other type.
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
 * The mark is evaluated where it stands, by the compiler: no code is called, nothing is put into
 * the program, and types nest as deep as they like. The types that it asks about are marked before
 * it, which is so where they are declared before.
 *
 * A second mark of a type is an error of the compiler, whatever it says (`redeclaration of 'enum
 * dynsel_passed_directly_my_pair'`): what a type says, it says once.
 *
 * Limits:
 *
 * - A mark is found by the type's name. `my_pair` and `struct my_pair` are the same name, and
 *   `const` and `volatile` do not count. Another name (`typedef my_pair alias;`) is another type
 *   that says nothing, so 0, until it has a mark of its own:
 *   `DYNSEL_PASSED_DIRECTLY(alias, dynsel_is_passed_directly_to_device(my_pair));`. A typedef of a
 *   pointer is a pointer, and can be marked 0. A type of a block that has the name of a marked one
 *   is what that mark says, unless the block marks it, too (-Wshadow warns). Of `_Atomic`
 *   structures nothing is known.
 * - Types that begin with a word of the language, and those of <stddef.h> and <stdint.h>, are 0 and
 *   cannot be marked: give them a name with a typedef, and mark that.
 * - `__typeof__(x)` is no name and does not compile: write the type.
 * - Arrays and functions are 0, unless a typedef of them is marked. An array type written out over
 *   an unmarked typedef name, as `my_plain[4]` or `my_plain (*)[4]`, does not compile ("incomplete
 *   element type"): give the array a name with a typedef. The same for a structure whose members
 *   are written out in place.
 * - A structure type has to be complete; pointers to incomplete ones are pointers.
 * - No comma outside of parentheses in a type.
 * - In the parameters of a function, as `int a[1 + dynsel_is_...(my_plain)]`, compilers warn of an
 *   enumeration that nobody else sees, and GCC takes none in the first part of a `for`, unless the
 *   trait of that type was asked for before.
 * - C11 with the extensions of GCC and Clang. In C++ a mark is allowed and says nothing, and the
 *   trait does not compile; in OpenCL C both are of no meaning, and marks are allowed.
 *
 * Cost: none in the program. Source: seed 000; doc/passed-directly.md has its other forms.
 */
#ifndef DYNSEL_PASSED_DIRECTLY_H
#define DYNSEL_PASSED_DIRECTLY_H

#if defined(__cplusplus)

#define DYNSEL_PASSED_DIRECTLY(type, value)       struct dynsel_passed_directly
#define dynsel_is_passed_directly_to_device(type) DYNSEL_PASSED_DIRECTLY_IS_KNOWN_IN_C_ONLY

#elif defined(__OPENCL_C_VERSION__) || defined(__OPENCL_VERSION__)

/* To the letter as in <dynsel/iterators.h>, so that a source can have both. Clang warns of such a
 * structure between the members of another. */
#if defined(__clang__)
#define DYNSEL_MARK_IN_OPENCL_ _Static_assert(1, "a mark")
#else
#define DYNSEL_MARK_IN_OPENCL_ struct dynsel_passed_directly
#endif
#define DYNSEL_PASSED_DIRECTLY(type, value) DYNSEL_MARK_IN_OPENCL_

#else

/* How it works. A mark completes an enumeration that is named after the type, and whose underlying
 * integer type is the answer: unsigned for yes, int for no. A type without a mark has an incomplete
 * enumeration, which both compilers know as an extension, and which is compatible with no integer
 * type. What follows the name in a type, such as `*`, makes another type, which is neither. */

/** Marks a type: whether it is passed directly. type: its name, with `struct` or without. value: an
 * integer constant expression, such as 1, or one of the trait of other types. Stands at file scope,
 * between the members of a structure, or in a block, where it counts for that block. */
#define DYNSEL_PASSED_DIRECTLY(type, value) DYNSEL_MARK_(DYNSEL_NAME_OF_(type), value)
#define DYNSEL_MARK_(name, value)           DYNSEL_MARK__(name, value)
#define DYNSEL_MARK__(name, value)                                                                 \
    _Static_assert(                                                                                \
        sizeof(enum dynsel_passed_directly_##name{dynsel_passed_directly_value_##name =            \
                                                      -0x7fffffffLL + 0xfffffffeLL * !!(value)}) * \
                DYNSEL_SECOND(DYNSEL_NO_NAME_##name, 1, ~) !=                                      \
            0,                                                                                     \
        "this type cannot be marked: give it a name with a typedef, and mark that")

/** The trait: 1 or 0. type: any complete object type, pointers to any type. */
#define dynsel_is_passed_directly_to_device(type)                                                  \
    ((DYNSEL_IS_POINTER_(type) && !DYNSEL_SAYS_(DYNSEL_NAME_OF_(type), int)) ||                    \
     DYNSEL_SAYS_(DYNSEL_NAME_OF_(type), unsigned))

/* An lvalue of the type, never evaluated; void has none. */
#define DYNSEL_SOME_(type)                                                                         \
    (*_Generic((__typeof__(type) *)0, void *                                                       \
               : (char *)0, const void *                                                           \
               : (char *)0, volatile void *                                                        \
               : (char *)0, const volatile void *                                                  \
               : (char *)0, default                                                                \
               : (__typeof__(type) *)0))

/* With `&` and `|`, for these stand in functions of <dynsel/leaves.h> that would look complex else.
 * Arrays and functions become pointers in an expression, and have another type there. For Clang so
 * have atomic pointers; GCC takes `_Atomic` for a qualifier, which does not count. */
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

/* A type without the words in front that do not belong to its name. */
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

/* Types that begin with a word of the language have no mark. */
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

/* Nor have those of <stddef.h> and <stdint.h>, which so can be in arrays. */
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
