/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The C++ forms of dynsel_set_arg() and dynsel_set_range(); <dynsel/arguments.h> includes them.
 *
 * Source: seed 000.
 */
#ifndef DYNSEL_ARGUMENTS_HPP
#define DYNSEL_ARGUMENTS_HPP

#include <dynsel/arguments.h>

extern "C++" {

/**
 * Sets an argument of the kernel by its type, as dynsel_set_arg() of C does: accessors, local
 * memory, pointers (an array is a pointer to its first element), everything else by value. A value
 * is trivially copyable, and has the kernel's own type and size.
 *
 * Returns: as the function of its kind.
 */
inline dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index,
                                    const dynsel_accessor *accessor)
{
    return dynsel_set_arg_accessor(handler, index, accessor);
}

inline dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index,
                                    const dynsel_accessor &accessor)
{
    return dynsel_set_arg_accessor(handler, index, &accessor);
}

inline dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index,
                                    const dynsel_local_memory &memory)
{
    return dynsel_set_arg_local(handler, index, memory.bytes);
}

inline dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index, decltype(nullptr))
{
    return dynsel_set_arg_pointer(handler, index, nullptr);
}

/* A buffer is no argument: give an accessor to it. */
dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index,
                             const dynsel_buffer &buffer) = delete;
dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index,
                             const dynsel_buffer *buffer) = delete;

namespace dynsel {
namespace detail {

template <bool is_pointer> struct argument {
    template <class T>
    static dynsel_status set(dynsel_handler *handler, uint32_t index, const T &value)
    {
        static_assert(__is_trivially_copyable(T), "a device gets a copy of the bytes: an argument "
                                                  "has to be trivially copyable");
        return dynsel_set_arg_value(handler, index, &value, sizeof value);
    }
};

template <> struct argument<true> {
    static dynsel_status set(dynsel_handler *handler, uint32_t index, const void *pointer)
    {
        return dynsel_set_arg_pointer(handler, index, pointer);
    }
};

template <class T, class Iterator>
dynsel_status set_range(dynsel_handler *handler, uint32_t index, dynsel_leaves_fn leaves,
                        const dynsel_leaf_place &place, const Iterator &iterator, uint64_t count,
                        dynsel_access_mode mode)
{
    static_assert(is_same<T, Iterator>::value, "the iterator is of another type than is said");
    return dynsel_set_range_leaves(handler, index, leaves, &place, &iterator, count, mode);
}

} // namespace detail
} // namespace dynsel

template <class T>
dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index, const T &value)
{
    return dynsel::detail::argument<dynsel::detail::is_pointer<T>::value>::set(handler, index,
                                                                               value);
}

template <class T, size_t count>
dynsel_status dynsel_set_arg(dynsel_handler *handler, uint32_t index, T (&array)[count])
{
    return dynsel_set_arg_pointer(handler, index, array);
}

} // extern "C++"

#endif
