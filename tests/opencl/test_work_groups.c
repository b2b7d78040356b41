/* SPDX-License-Identifier: Apache-2.0 */
/* The work-group sizes that the OpenCL backend chooses, on devices of each kind. */
#include "fixture.h"

#include <dynsel/memory.h>

#include "random.h"

static const fake_device devices[] = {
    {.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
    {.name = "cpu", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
    {.name = "accelerator", .vendor = "V", .type = CL_DEVICE_TYPE_ACCELERATOR},
};
static const fake_platform machine[] = {{.name = "P", .count = COUNT(devices), .devices = devices}};

enum { GPU, CPU, ACCELERATOR, DEVICES, MANY = 1 << 20, RANDOM_RANGES = 100 };

static dynsel_resource resources[DEVICES];
static uint32_t host[64];

static const dynsel_memory_ops *ops(void)
{
    return dynsel_opencl_backend.ops->memory;
}

static int set_up_devices(void **state)
{
    size_t count = 0;
    (void)state;
    (void)unsetenv("DYNSEL_OPENCL");
    /* what the backend does with memory is only in programs that use command groups */
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(NULL, NULL, 0, NULL, NULL));
    show(machine, 1);
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", resources, COUNT(resources), &count));
    assert_int_equal(count, DEVICES);
    for (int i = 0; i < DEVICES; i++) {
        assert_non_null(dynsel_opencl_queue(&resources[i]));
    }
    return 0;
}

/* local: 0 dimensions: none given. */
static dynsel_status launch(int device, const dynsel_kernel *kernel, dynsel_range global,
                            dynsel_range local)
{
    void *const own = resources[device].handle;
    uint32_t value = 0;
    dynsel_event done = {.native = NULL};
    dynsel_memory memory = {.host = host, .bytes = sizeof(host)};
    assert_status(DYNSEL_OK, ops()->allocate(&dynsel_opencl_backend, own, &memory));
    const dynsel_argument arguments[] = {
        {.kind = DYNSEL_ARGUMENT_DATA, .memory = &memory, .value = host, .bytes = sizeof(host)},
        {.kind = DYNSEL_ARGUMENT_VALUE, .value = &value, .bytes = sizeof(value)}};
    const dynsel_command command = {
        .kind = DYNSEL_COMMAND_KERNEL,
        .kernel = kernel,
        .launch = {.global = global, .local = local, .arguments = arguments, .argument_count = 2}};
    const dynsel_status status = ops()->launch(&dynsel_opencl_backend, own, &command, &done);
    dynsel_work work = {.own = own, .done = done};
    if (done.native != NULL) {
        assert_int_equal(clFlush(dynsel_opencl_queue(&resources[device])), CL_SUCCESS);
        dynsel_opencl_backend.ops->release(&dynsel_opencl_backend, &work);
    }
    ops()->release(&dynsel_opencl_backend, own, &memory);
    return status;
}

static const dynsel_kernel kernel = {.name = "k", .source = "kernel void k(...)"};

/* Sizes in OpenCL's order of dimensions. */
typedef struct expectation {
    dynsel_range global;
    size_t local[DEVICES][3];
} expectation;

static void sizes_suit_kind_of_device(void **state)
{
    const expectation cases[] = {
        {DYNSEL_RANGE(1), {{1}, {1}, {1}}},
        {DYNSEL_RANGE(64), {{64}, {64}, {64}}},
        {DYNSEL_RANGE(4096), {{256}, {64}, {64}}},
        {DYNSEL_RANGE(MANY), {{256}, {256}, {64}}},
        {DYNSEL_RANGE(96), {{32}, {32}, {32}}},
        {DYNSEL_RANGE(1000), {{250}, {50}, {50}}},
        {DYNSEL_RANGE(127), {{127}, {1}, {1}}},
        {DYNSEL_RANGE(257), {{1}, {1}, {1}}},
        {DYNSEL_RANGE_2D(1080, 1920), {{128, 2}, {128, 2}, {64, 1}}},
        {DYNSEL_RANGE_2D(6, 128), {{128, 2}, {64, 1}, {64, 1}}},
        {DYNSEL_RANGE_2D(100, 7), {{7, 25}, {7, 5}, {7, 5}}},
        {DYNSEL_RANGE_3D(64, 8, 8), {{8, 8, 4}, {8, 8, 1}, {8, 8, 1}}},
        {DYNSEL_RANGE_3D(4096, 1, 1), {{1, 1, 64}, {1, 1, 64}, {1, 1, 64}}},
        {DYNSEL_RANGE_3D(4, 8, 3), {{3, 8, 4}, {3, 8, 2}, {3, 8, 2}}},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const dynsel_range *const global = &cases[i].global;
        for (int device = 0; device < DEVICES; device++) {
            assert_status(DYNSEL_OK, launch(device, &kernel, *global, (dynsel_range){0}));
            const fake_launch seen = fake_opencl_last_launch();
            assert_int_equal(seen.dimensions, global->dimensions);
            for (uint32_t d = 0; d < global->dimensions; d++) {
                assert_int_equal(seen.local[d], cases[i].local[device][d]);
            }
        }
    }
}

static bool is_power_of_two(size_t x)
{
    return (x & (x - 1)) == 0;
}

/* What the header promises of one dimension, found by trying all sizes. */
static size_t size_by_promise(size_t count, size_t most)
{
    size_t largest = 1;
    size_t power = 1;
    for (size_t size = 1; size <= most && size <= count; size++) {
        if (count % size == 0) {
            largest = size;
            power = is_power_of_two(size) ? size : power;
        }
    }
    return power >= 32 ? power : largest;
}

static size_t most_by_promise(int device, size_t items, size_t kernel_most)
{
    const size_t most = device == GPU ? 256 : device == CPU && items >= MANY ? 1024 : 64;
    return kernel_most != 0 && kernel_most < most ? kernel_most : most;
}

static size_t some_size(test_random *random)
{
    const uint32_t kind = test_random_below(random, 3);
    return kind == 0   ? (size_t)1 << test_random_below(random, 8)
           : kind == 1 ? 1 + test_random_below(random, 300)
                       : 12 * (1 + (size_t)test_random_below(random, 40));
}

static void launch_random_range(test_random *random, size_t kernel_most)
{
    const int device = (int)test_random_below(random, DEVICES);
    const uint32_t dimensions = 1 + test_random_below(random, 3);
    dynsel_range global = {.dimensions = dimensions};
    size_t items = 1;
    for (uint32_t d = 0; d < dimensions; d++) {
        global.size[d] = some_size(random);
        items *= global.size[d];
    }
    assert_status(DYNSEL_OK, launch(device, &kernel, global, (dynsel_range){0}));
    const fake_launch seen = fake_opencl_last_launch();
    size_t room = most_by_promise(device, items, kernel_most);
    for (uint32_t d = 0; d < dimensions; d++) {
        const size_t most = d == 2 && room > 64 ? 64 : room;
        const size_t expected = size_by_promise(global.size[dimensions - 1 - d], most);
        assert_int_equal(seen.local[d], expected);
        room /= expected;
    }
}

/* In ranges of random sizes, with kernels of different limits. */
static void sizes_are_as_promised(void **state)
{
    static const size_t limits[] = {0, 1, 7, 48, 64, 100, 128, 256, 1024};
    static const size_t not_demanded[3] = {0};
    test_random random = {.state = test_seed()};
    for (size_t k = 0; k < COUNT(limits); k++) {
        fake_opencl_set_work_groups(limits[k], not_demanded);
        for (int i = 0; i < RANDOM_RANGES; i++) {
            launch_random_range(&random, limits[k]);
        }
        (void)tear_down(state); /* so that the kernel is built again */
        (void)set_up_devices(state);
    }
}

static void demanded_size_is_used(void **state)
{
    static const size_t demanded[3] = {16, 4, 1};
    const dynsel_kernel tiled = kernel;
    (void)state;
    fake_opencl_set_work_groups(1024, demanded);
    for (int device = 0; device < DEVICES; device++) {
        assert_status(DYNSEL_OK,
                      launch(device, &tiled, DYNSEL_RANGE_2D(64, 64), (dynsel_range){0}));
        const fake_launch seen = fake_opencl_last_launch();
        assert_int_equal(seen.local[0], 16);
        assert_int_equal(seen.local[1], 4);
    }
}

/* What the program gives is checked before the driver sees it, and what the driver refuses is the
 * program's mistake, not a loss of the device. */
static void sizes_that_cannot_be_are_refused(void **state)
{
    static const size_t not_demanded[3] = {0};
    const dynsel_kernel small = kernel;
    (void)state;
    fake_opencl_set_work_groups(100, not_demanded);
    const uint32_t before = fake_opencl_calls("clEnqueueNDRangeKernel");
    assert_status(DYNSEL_E_INVALID, launch(GPU, &small, DYNSEL_RANGE(1024), DYNSEL_RANGE(128)));
    assert_contains(error_line(), "at most 100 work items");
    assert_int_equal(fake_opencl_calls("clEnqueueNDRangeKernel"), before);
    assert_status(DYNSEL_OK, launch(GPU, &small, DYNSEL_RANGE(1024), DYNSEL_RANGE(64)));
    assert_int_equal(fake_opencl_last_launch().local[0], 64);

    const cl_int refusals[] = {CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE};
    for (size_t i = 0; i < COUNT(refusals); i++) {
        fake_opencl_break("gpu", "clEnqueueNDRangeKernel", refusals[i]);
        assert_status(DYNSEL_E_INVALID, launch(GPU, &small, DYNSEL_RANGE(1024), DYNSEL_RANGE(64)));
        assert_contains(error_line(), dynsel_opencl_code_name(refusals[i]));
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
        assert_status(DYNSEL_OK, launch(GPU, &small, DYNSEL_RANGE(1024), DYNSEL_RANGE(64)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sizes_suit_kind_of_device, set_up_devices, tear_down),
        cmocka_unit_test_setup_teardown(sizes_are_as_promised, set_up_devices, tear_down),
        cmocka_unit_test_setup_teardown(demanded_size_is_used, set_up_devices, tear_down),
        cmocka_unit_test_setup_teardown(sizes_that_cannot_be_are_refused, set_up_devices,
                                        tear_down),
    };
    return RUN(tests);
}
