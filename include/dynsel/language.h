/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What C and C++ write differently. The other headers use these names, so that most of their lines
 * are read by both languages; <dynsel/language.hpp> has the questions about types that C answers
 * with _Generic. Internal, except for DYNSEL_BEGIN_DECLS and DYNSEL_END_DECLS.
 */
#ifndef DYNSEL_LANGUAGE_H
#define DYNSEL_LANGUAGE_H

#if defined(__cplusplus)
/** Around declarations with the linkage of C. */
#define DYNSEL_BEGIN_DECLS extern "C" {
#define DYNSEL_END_DECLS   }

#define DYNSEL_STATIC_ASSERT_(condition, text) static_assert(condition, text)
/* A value of a structure, with these members. */
#define DYNSEL_VALUE_OF_(type, ...) (type{__VA_ARGS__})
#if __cplusplus >= 201402L
#define DYNSEL_CONSTEXPR_ constexpr
#else
#define DYNSEL_CONSTEXPR_
#endif

#else
#define DYNSEL_BEGIN_DECLS
#define DYNSEL_END_DECLS
#define DYNSEL_STATIC_ASSERT_(condition, text) _Static_assert(condition, text)
#define DYNSEL_VALUE_OF_(type, ...)            ((type){__VA_ARGS__})
#endif

#endif
