/* SPDX-License-Identifier: Apache-2.0 */
/* The example of ranges in doc/passed-directly.md, on the host and on OpenCL devices. */
#include <dynsel/dynsel.h>

#include "test.h"

/* clang-format off: as in the guide */
#define SHARED(AS)                                                                                 \
    AS(DYNSEL_HOST_ITERATOR(inputs, float); DYNSEL_HOST_ITERATOR(places, int);                     \
       DYNSEL_PERMUTATION_ITERATOR(picked, inputs, places); static inline float square(float x) {  \
           return x * x;                                                                           \
       } DYNSEL_TRANSFORM_ITERATOR(squares, picked, square, float);)

SHARED(DYNSEL_AS_C)

static const char source[] = DYNSEL_OPENCL_ITERATORS SHARED(
    DYNSEL_AS_TEXT) "kernel void read(global float *data, global int *map, global float *results)\n"
                    "{\n"
                    "    const squares in = squares_make(picked_make(inputs_make(data), "
                    "places_make(map), 0));\n"
                    "    const size_t i = get_global_id(0);\n"
                    "    results[i] = squares_read(in, i);\n"
                    "}\n";
/* clang-format on */

typedef struct job {
    float *data;
    int *map;
    size_t length; /* of the data */
    float *results;
    size_t count; /* of the map, and the results */
} job;

static dynsel_status read_on_host(const dynsel_launch *launch)
{
    const squares in = squares_make(picked_make(inputs_make(launch->arguments[0].value),
                                                places_make(launch->arguments[1].value), 0));
    const inputs results = inputs_make(launch->arguments[2].value);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        inputs_write(results, i, squares_read(in, i));
    }
    return DYNSEL_OK;
}

static const dynsel_kernel read_squares = {
    .name = "read", .function = read_on_host, .source = source};

static dynsel_status read_all(dynsel_handler *handler, void *args)
{
    const job *work = args;
    const picked in = picked_make(inputs_make(work->data), places_make(work->map), work->length);
    dynsel_status status =
        dynsel_set_range(handler, 0, squares, squares_make(in), work->count, DYNSEL_ACCESS_READ);
    if (status == DYNSEL_OK) {
        status = dynsel_set_range(handler, 2, inputs, inputs_make(work->results), work->count,
                                  DYNSEL_ACCESS_DISCARD_WRITE);
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &read_squares, DYNSEL_RANGE(work->count), NULL, NULL)
               : status;
}

static void read_with(const dynsel_resource *resource)
{
    float data[] = {0, 1, 2, 3, 4};
    int map[] = {4, 0, 2};
    float results[3] = {-1, -1, -1};
    job work = {data, map, 5, results, 3};
    dynsel_fixed_resource_policy policy = {0};
    const dynsel_options options = {.resources = resource, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, read_all, &work));
    assert_true((int)results[0] == 16 && (int)results[1] == 0 && (int)results[2] == 4);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void guide_range_example_runs_on_host(void **state)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    (void)state;
    read_with(&host);
}

#if CONFIG_DYNSEL_BACKEND_OPENCL
static void guide_range_example_runs_on_each_device(void **state)
{
    static dynsel_resource devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    size_t count = 0;
    (void)state;
    if (dynsel_opencl_select("all", devices, CONFIG_DYNSEL_OPENCL_MAX_DEVICES, &count) !=
        DYNSEL_OK) {
        skip();
        return;
    }
    for (size_t i = 0; i < count; i++) {
        read_with(&devices[i]);
    }
    assert_status(DYNSEL_OK, dynsel_opencl_close());
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guide_range_example_runs_on_host),
#if CONFIG_DYNSEL_BACKEND_OPENCL
        cmocka_unit_test(guide_range_example_runs_on_each_device),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
