/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user's own header: a pair of iterators, whose elements are the products of theirs. Nothing of
 * dynsel knows of it. One declaration says when it is passed directly: when both of them are.
 */
#ifndef ITERATORS_PAIR_H
#define ITERATORS_PAIR_H

#include <dynsel/iterators.h>

/* PAIR(DYNSEL_AS_C, name, first_type, second_type) declares one; with DYNSEL_AS_TEXT it is the same
 * for a kernel. Both types have elements of type int. */
#define PAIR(AS, name, first_type, second_type)                                                    \
    AS(typedef struct name name;)                                                                  \
    AS(struct name {                                                                               \
        first_type first;                                                                          \
        second_type second;                                                                        \
    };)                                                                                            \
    AS(DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(first_type) &&             \
                                        dynsel_is_passed_directly_to_device(second_type));)        \
    AS(DYNSEL_LEAVES(name, DYNSEL_PART(first_type, first) DYNSEL_PART(second_type, second));)      \
    AS(static inline name name##_make(first_type first, second_type second) {                      \
        const name it = {first, second};                                                           \
        return it;                                                                                 \
    })                                                                                             \
    AS(static inline int name##_read(name it, size_t i) {                                          \
        return first_type##_read(it.first, i) * second_type##_read(it.second, i);                  \
    })

#endif
