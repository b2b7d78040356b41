/* SPDX-License-Identifier: Apache-2.0 */
/* The iterators of this example, for C and for the text of kernels. */
#ifndef ITERATORS_RANGES_H
#define ITERATORS_RANGES_H

#include <dynsel/iterators.h>

#include "pair.h"

#define ITERATORS(AS)                                                                              \
    AS(DYNSEL_HOST_ITERATOR(inputs, int);)     /* an array of the host's */                        \
    AS(DYNSEL_POINTER_ITERATOR(samples, int);) /* SVM */                                           \
    AS(DYNSEL_COUNTING_ITERATOR(numbers, int);)                                                    \
    AS(DYNSEL_DISCARD_ITERATOR(nowhere, int);)                                                     \
                                                                                                   \
    AS(static inline int square(int x) { return x * x; })                                          \
    AS(DYNSEL_TRANSFORM_ITERATOR(squared_inputs, inputs, square, int);)                            \
    AS(DYNSEL_TRANSFORM_ITERATOR(squares, samples, square, int);)                                  \
                                                                                                   \
    AS(DYNSEL_PERMUTATION_ITERATOR(picked, inputs, inputs);)                                       \
    AS(DYNSEL_PERMUTATION_ITERATOR(shifted, samples, numbers);)                                    \
    AS(DYNSEL_REVERSE_ITERATOR(last_inputs, inputs);)                                              \
    AS(DYNSEL_REVERSE_ITERATOR(last, samples);)                                                    \
                                                                                                   \
    AS(DYNSEL_ZIP2_ITERATOR(half_shared, samples, inputs);)                                        \
    AS(static inline int sum_of(half_shared_value x) { return x.first + x.second; })               \
    AS(DYNSEL_TRANSFORM_ITERATOR(added, half_shared, sum_of, int);)                                \
    AS(DYNSEL_ZIP2_ITERATOR(numbered, samples, numbers);)                                          \
    AS(static inline int weigh(numbered_value x) { return x.first * x.second; })                   \
    AS(DYNSEL_TRANSFORM_ITERATOR(weighted, numbered, weigh, int);)                                 \
                                                                                                   \
    PAIR(AS, pair, samples, samples)                                                               \
    PAIR(AS, mixed_pair, samples, inputs)

ITERATORS(DYNSEL_AS_C)

/* The same structure under a name that says nothing. */
typedef pair unmarked_pair;
DYNSEL_LEAVES(unmarked_pair, DYNSEL_PART(samples, first) DYNSEL_PART(samples, second));

/* For the front of a kernel's source. */
#define ITERATORS_TEXT DYNSEL_OPENCL_ITERATORS ITERATORS(DYNSEL_AS_TEXT)

#endif
