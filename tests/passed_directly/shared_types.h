/* SPDX-License-Identifier: Apache-2.0 */
/* Iterators that host and OpenCL C share, in the tests of both. */
#ifndef DYNSEL_TESTS_SHARED_TYPES_H
#define DYNSEL_TESTS_SHARED_TYPES_H

#include <dynsel/iterators.h>

#define SHARED(AS)                                                                                 \
    AS(                                                                                            \
        DYNSEL_POINTER_ITERATOR(samples, float); DYNSEL_HOST_ITERATOR(inputs, float);              \
        DYNSEL_HOST_ITERATOR(places, int); DYNSEL_HOST_ITERATOR(small, short);                     \
        DYNSEL_COUNTING_ITERATOR(numbers, int); DYNSEL_COUNTING_ITERATOR(large, long);             \
        DYNSEL_DISCARD_ITERATOR(nowhere, float);                                                   \
                                                                                                   \
        static inline float square(float x) {                                                      \
            return x * x;                                                                          \
        } DYNSEL_TRANSFORM_ITERATOR(squares, inputs, square, float);                               \
        DYNSEL_TRANSFORM_ITERATOR(fourths, squares, square, float);                                \
        DYNSEL_PERMUTATION_ITERATOR(picked, inputs, places);                                       \
        DYNSEL_PERMUTATION_ITERATOR(shifted, samples, numbers);                                    \
        DYNSEL_PERMUTATION_ITERATOR(twice_picked, picked, places);                                 \
        DYNSEL_REVERSE_ITERATOR(backwards, inputs); DYNSEL_REVERSE_ITERATOR(forwards, backwards);  \
        DYNSEL_REVERSE_ITERATOR(picked_back, picked);                                              \
        DYNSEL_ZIP2_ITERATOR(pairs, inputs, numbers); DYNSEL_ZIP2_ITERATOR(kept, inputs, nowhere); \
        DYNSEL_DISCARD_ITERATOR(no_pairs, pairs_value);                                            \
        DYNSEL_ZIP3_ITERATOR(triples, samples, backwards, places);                                 \
        DYNSEL_ZIP4_ITERATOR(fours, numbers, squares, picked, forwards);                           \
                                                                                                   \
        static inline float sum_of(pairs_value x) {                                                \
            return x.first + (float)x.second;                                                      \
        } DYNSEL_TRANSFORM_ITERATOR(deep_1, pairs, sum_of, float);                                 \
        DYNSEL_REVERSE_ITERATOR(deep_2, deep_1);                                                   \
        DYNSEL_PERMUTATION_ITERATOR(deep_3, deep_2, places);                                       \
        DYNSEL_ZIP2_ITERATOR(deep_4, deep_3, numbers); static inline float less(deep_4_value x) {  \
            return x.first - (float)x.second;                                                      \
        } DYNSEL_TRANSFORM_ITERATOR(deep_5, deep_4, less, float);                                  \
        DYNSEL_PERMUTATION_ITERATOR(deep_6, deep_5, numbers);                                      \
        DYNSEL_REVERSE_ITERATOR(deep_7, deep_6);                                                   \
                                                                                                   \
        typedef struct mine {                                                                      \
            squares first;                                                                         \
            picked second;                                                                         \
            int weight;                                                                            \
        } mine;                                                                                    \
        DYNSEL_PASSED_DIRECTLY(mine, dynsel_is_passed_directly_to_device(squares) &&               \
                                         dynsel_is_passed_directly_to_device(picked));             \
        DYNSEL_LEAVES(mine, DYNSEL_PART(squares, first) DYNSEL_PART(picked, second)                \
                                DYNSEL_VALUE_PART(weight));                                        \
        static inline float mine_read(mine it, size_t i) {                                         \
            return squares_read(it.first, i) + (float)it.weight * picked_read(it.second, i);       \
        } typedef float mine_value;)

SHARED(DYNSEL_AS_C)

#endif
