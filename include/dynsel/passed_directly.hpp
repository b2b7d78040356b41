/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The trait of <dynsel/language.hpp> as a value, and for iterators of the standard library.
 *
 * Source: seed 000.
 */
#ifndef DYNSEL_PASSED_DIRECTLY_HPP
#define DYNSEL_PASSED_DIRECTLY_HPP

#include <iterator>

#include <dynsel/language.hpp>

namespace dynsel {

/** A reversed iterator is passed directly if the iterator in it is. */
template <class Iterator>
struct is_passed_directly_to_device<std::reverse_iterator<Iterator>>
    : detail::answer<is_passed_directly_to_device<Iterator>::value> {
};

/** Whether iterators of a type are passed to devices directly. */
template <class T>
inline constexpr bool is_passed_directly_to_device_v =
    is_passed_directly_to_device<typename detail::plain<T>::type>::value;

} // namespace dynsel

#endif
