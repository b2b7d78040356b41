/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators for the tests of ranges: for C and for OpenCL C. */
#ifndef DYNSEL_TESTS_MEMORY_RANGE_TYPES_H
#define DYNSEL_TESTS_MEMORY_RANGE_TYPES_H

#include <dynsel/dynsel.h>

/* clang-format off */
#define RANGE_TYPES(AS)                                                                            \
    AS(static inline int square(int x) { return x * x; }                                           \
       DYNSEL_HOST_ITERATOR(inputs, int);                                                          \
       DYNSEL_POINTER_ITERATOR(reached, int);                                                      \
       DYNSEL_COUNTING_ITERATOR(numbers, int);                                                     \
       DYNSEL_DISCARD_ITERATOR(nowhere, int);                                                      \
       DYNSEL_TRANSFORM_ITERATOR(squares, inputs, square, int);                                    \
       DYNSEL_TRANSFORM_ITERATOR(fourths, squares, square, int);                                   \
       DYNSEL_PERMUTATION_ITERATOR(picked, inputs, numbers);                                       \
       DYNSEL_PERMUTATION_ITERATOR(mapped, inputs, inputs);                                        \
       DYNSEL_PERMUTATION_ITERATOR(reached_by, reached, inputs);                                   \
       DYNSEL_REVERSE_ITERATOR(backwards, inputs);                                                 \
       DYNSEL_REVERSE_ITERATOR(mapped_backwards, mapped);                                          \
       DYNSEL_ZIP2_ITERATOR(pairs, inputs, reached);                                               \
       DYNSEL_ZIP3_ITERATOR(triples, squares, backwards, numbers);                                 \
       DYNSEL_ZIP4_ITERATOR(all_four, pairs, mapped_backwards, fourths, nowhere);                  \
       typedef struct own { reached first; inputs second; int shift; } own;                        \
       DYNSEL_LEAVES(own, DYNSEL_PART(reached, first) DYNSEL_PART(inputs, second)                  \
                              DYNSEL_VALUE_PART(shift));                                           \
       typedef struct own_direct { inputs first; inputs second; } own_direct;                      \
       DYNSEL_PASSED_DIRECTLY(own_direct, 1);                                                      \
       DYNSEL_LEAVES(own_direct, DYNSEL_PART(inputs, first) DYNSEL_PART(inputs, second));)
/* clang-format on */

RANGE_TYPES(DYNSEL_AS_C)

#endif
