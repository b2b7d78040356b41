/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Questions about types for the headers of C, where they are read by C++: the trait of
 * <dynsel/passed_directly.h>, and the compile-time checks of <dynsel/leaves.h>. C++11; includes
 * nothing, because C headers are also included inside `extern "C"`.
 *
 * Source: seed 000.
 */
#ifndef DYNSEL_LANGUAGE_HPP
#define DYNSEL_LANGUAGE_HPP

extern "C++" {

namespace dynsel {
namespace detail {

/** As std::integral_constant<bool, yes>. */
template <bool yes> struct answer {
    static constexpr bool value = yes;
    using value_type = bool;
    using type = answer;
    constexpr operator bool() const noexcept
    {
        return yes;
    }
};
template <bool yes> constexpr bool answer<yes>::value; // NOLINT: C++11 needs it

template <class T> struct remove_cv {
    using type = T;
};
template <class T> struct remove_cv<const T> {
    using type = T;
};
template <class T> struct remove_cv<volatile T> {
    using type = T;
};
template <class T> struct remove_cv<const volatile T> {
    using type = T;
};
template <class T> struct remove_cv<T *__restrict> {
    using type = T *;
};
template <class T> struct remove_cv<T *const __restrict> {
    using type = T *;
};

/** Without references, const and volatile. */
template <class T> struct plain : remove_cv<T> {
};
template <class T> struct plain<T &> : remove_cv<T> {
};
template <class T> struct plain<T &&> : remove_cv<T> {
};

template <class A, class B> struct is_same_plainly : answer<false> {
};
template <class A> struct is_same_plainly<A, A> : answer<true> {
};
/** Whether two types are the same but for const and volatile. */
template <class A, class B>
struct is_same : is_same_plainly<typename remove_cv<A>::type, typename remove_cv<B>::type> {
};

template <class T> struct pointee_of {
    using type = int;
    static constexpr bool found = false;
};
template <class T> struct pointee_of<T *> {
    using type = T;
    static constexpr bool found = true;
};
template <class T> struct pointee : pointee_of<typename remove_cv<T>::type> {
};

template <class T> struct is_pointer : answer<pointee<T>::found> {
};

template <class T> struct element_of {
    using type = T;
};
template <class T, decltype(sizeof 0) count> struct element_of<T[count]> : element_of<T> {
};
template <class T> struct element_of<T[]> : element_of<T> {
};

/** A pointer, or an array of them. */
template <class T> struct has_pointers : is_pointer<typename element_of<T>::type> {
};

template <class T> struct is_const : answer<false> {
};
template <class T> struct is_const<const T> : answer<true> {
};
template <class T>
struct is_to_const : is_const<typename element_of<typename pointee<T>::type>::type> {
};

template <class T> struct is_to_void : is_same<typename pointee<T>::type, void> {
};

/* Const has no effect on functions and references; of the two only functions can be pointed to. */
template <class T>
struct is_to_function : answer<!is_const<const typename pointee<T>::type>::value> {
};

template <class T>
struct is_count
    : answer<(is_same<T, unsigned long>::value || is_same<T, unsigned long long>::value) &&
             sizeof(T) == 8> {
};

/* Which mark a type has. Each test() is tried in the order of the ranks, the highest first. */
template <int value> struct rank : rank<value - 1> {
};
template <> struct rank<0> {
};

template <class T> T &&some() noexcept;

template <class T> struct mark {
    /* A function beside the type, which argument-dependent lookup finds. */
    template <class U>
    static auto test(rank<3>)
        -> answer<decltype(is_passed_directly_in_dynsel_device_policies(some<const U &>()))::value>;
    /* A mark between the members of the type. */
    template <class U>
    static auto test(rank<2>)
        -> answer<decltype(some<U &>().is_passed_directly_in_dynsel_device_policies(
            some<const U &>()))::value>;
    /* `using is_passed_directly = std::true_type` in the type. */
    template <class U> static auto test(rank<1>) -> answer<U::is_passed_directly::value>;
    template <class U> static is_pointer<U> test(rank<0>);

    static constexpr bool value = decltype(test<T>(rank<3>()))::value;
};

} // namespace detail

/**
 * Whether devices use a type unchanged, or its memory has to be copied for them: has the
 * characteristics of std::true_type or std::false_type. True of pointers; of another type what its
 * mark says, and false without one. A mark is a function beside the type or a friend of it, with or
 * without a body, that is never called:
 *
 *     std::true_type is_passed_directly_in_dynsel_device_policies(const my_iterator &);
 *
 * or a line DYNSEL_PASSED_DIRECTLY() of a header for C, beside the type or between its members; or
 * `using is_passed_directly = std::true_type;` in it. The first of these that there is decides. A
 * derived type without a mark of its own has that of its base. Where two bases have one, the type
 * needs its own: without, it is false.
 */
template <class T>
struct is_passed_directly_to_device
    : detail::answer<detail::mark<typename detail::plain<T>::type>::value> {
};

} // namespace dynsel

} // extern "C++"

#endif
