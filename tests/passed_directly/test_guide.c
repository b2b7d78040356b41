/* SPDX-License-Identifier: Apache-2.0 */
/* The example of iterators in doc/passed-directly.md, on the host; with OpenCL see
 * test_opencl_iterators.c. */
#include <dynsel/iterators.h>

#include <string.h>

#include "test.h"

/* One line of code a line: clang-format takes them for the arguments of a macro. */
/* clang-format off */
#define SHARED(AS)                                                                                 \
    AS(DYNSEL_HOST_ITERATOR(inputs, float); DYNSEL_HOST_ITERATOR(places, int);                     \
       DYNSEL_PERMUTATION_ITERATOR(picked, inputs, places);                                        \
       static inline float square(float x) { return x * x; }                                       \
       DYNSEL_TRANSFORM_ITERATOR(squares, picked, square, float);)

SHARED(DYNSEL_AS_C)

static const char source[] = DYNSEL_OPENCL_ITERATORS SHARED(DYNSEL_AS_TEXT)
    "kernel void read(global float *data, global int *map, global float *results)\n"
    "{\n"
    "    const squares in = squares_make(picked_make(inputs_make(data), places_make(map), 0));\n"
    "    const size_t i = get_global_id(0);\n"
    "    results[i] = squares_read(in, i);\n"
    "}\n";
/* clang-format on */

static void guide_example_reads_squares(void **state)
{
    (void)state;
    float data[3] = {2, 3, 5};
    int map[2] = {2, 0};
    const squares in = squares_make(picked_make(inputs_make(data), places_make(map), 3));
    assert_int_equal((int)squares_read(in, 0), 25);
    assert_int_equal((int)squares_read(in, 1), 4);
}

static void guide_example_declares_opencl_source(void **state)
{
    (void)state;
    const char *const shared = strstr(source, "DYNSEL_TRANSFORM_ITERATOR(squares, picked");
    assert_non_null(shared);
    assert_non_null(strstr(shared, "kernel void read("));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guide_example_reads_squares),
        cmocka_unit_test(guide_example_declares_opencl_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
