/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenCL resources tell of their devices, whose queue they are of, and that drivers are asked
 * only when devices are found or queues adopted; programs with the prelude in front.
 */
#include "opencl/fixture.h"

#define NEEDS_ASPECTS(count)                                                                       \
    if (DYNSEL_ASPECT_COUNT < (count)) {                                                           \
        skip();                                                                                    \
    }

/* Two platforms; one that is not listed; devices that are a part of another one. */
static const cl_bool yes = CL_TRUE;
static const char extensions[] = "cl_khr_fp64 cl_khr_fp16";
static const fake_answer rich[] = {
    {.what = CL_DEVICE_IMAGE_SUPPORT, .value = &yes, .bytes = sizeof(yes)},
    {.what = CL_DEVICE_EXTENSIONS, .value = extensions, .bytes = sizeof(extensions)},
};
static const fake_device on_one[] = {
    {.name = "big", .vendor = "  Maker One ", .type = CL_DEVICE_TYPE_GPU},
    {.name = "half of big",
     .vendor = "Maker One",
     .type = CL_DEVICE_TYPE_GPU,
     .is_hidden = true,
     .answers = rich,
     .answer_count = COUNT(rich)},
};
static const fake_device on_two[] = {
    {.name = "small",
     .vendor = "Maker Two",
     .type = CL_DEVICE_TYPE_ACCELERATOR,
     .answers = rich,
     .answer_count = 1},
};
static const fake_device on_three[] = {
    {.name = "Simulated", .vendor = "Maker Three", .type = CL_DEVICE_TYPE_GPU},
    {.name = "secret",
     .vendor = "Maker Three",
     .type = CL_DEVICE_TYPE_CPU,
     .answers = rich,
     .answer_count = COUNT(rich)},
};
static const fake_platform machine[] = {
    {.name = " Platform One", .count = 2, .devices = on_one},
    {.name = "Platform Two", .count = 1, .devices = on_two},
    {.name = "Platform Three", .is_hidden = true, .count = 2, .devices = on_three},
};

static int set_up_machine(void **state)
{
    (void)set_up(state);
    show(machine, COUNT(machine));
    return 0;
}

static dynsel_resource resource_of(const char *selector)
{
    dynsel_resource resource = {NULL, NULL};
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_opencl_select(selector, &resource, 1, &count));
    return resource;
}

static dynsel_device described(const dynsel_resource *resource)
{
    dynsel_device device = {.name = NULL};
    assert_status(DYNSEL_OK, dynsel_resource_describe(resource, &device));
    assert_string_equal(device.backend, "opencl");
    assert_string_equal(device.name, dynsel_resource_name(resource));
    assert_int_equal(device.aspects, dynsel_resource_aspects(resource));
    return device;
}

static void found_devices_are_described(void **state)
{
    (void)state;
    const dynsel_resource big = resource_of("big");
    dynsel_device device = described(&big);
    assert_string_equal(device.name, "big");
    assert_string_equal(device.platform, "Platform One");
    assert_string_equal(device.vendor, "Maker One");
    assert_string_equal(device.type, "gpu");
    assert_int_equal(0, device.processors);
    const dynsel_resource small = resource_of("small");
    device = described(&small);
    assert_string_equal(device.platform, "Platform Two");
    assert_string_equal(device.type, "accelerator");
#if CONFIG_DYNSEL_ASPECT_IMAGE && CONFIG_DYNSEL_ASPECT_GPU && CONFIG_DYNSEL_ASPECT_ACCELERATOR
    assert_true(dynsel_resource_has(&small, DYNSEL_ASPECT_image));
    assert_true(dynsel_resource_has(&small, DYNSEL_ASPECT_accelerator));
    assert_false(dynsel_resource_has(&big, DYNSEL_ASPECT_image));
    assert_true(dynsel_resource_has(&big, DYNSEL_ASPECT_gpu));
#endif
    assert_false(dynsel_resource_has(&big, DYNSEL_ASPECT_END_));
}

static void drop(cl_command_queue queue)
{
    cl_context context = NULL;
    assert_int_equal(
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, NULL),
        CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    (void)clReleaseCommandQueue(queue);
    (void)clReleaseContext(context);
}

/* Both the queue, as the task function sees it, and what adopt() made of it. */
static dynsel_device adopted(cl_command_queue queue)
{
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_resource own = {&dynsel_opencl_backend, dynsel_opencl_adopt(queue)};
    assert_non_null(own.handle);
    const dynsel_device device = described(&mine);
    const dynsel_device same = described(&own);
    assert_string_equal(device.platform, same.platform);
    assert_string_equal(device.vendor, same.vendor);
    assert_int_equal(device.aspects, same.aspects);
    return device;
}

static void queue_of_found_device_is_described_like_it(void **state)
{
    (void)state;
    const dynsel_resource small = resource_of("small");
    const dynsel_device found = described(&small);
    const cl_command_queue queue = fake_opencl_new_queue("small");
    const dynsel_device device = adopted(queue);
    assert_string_equal(device.platform, found.platform);
    assert_string_equal(device.vendor, found.vendor);
    assert_string_equal(device.type, found.type);
    assert_string_equal(device.name, found.name);
    assert_int_equal(device.aspects, found.aspects);
    drop(queue);
}

/* What the part can do is its own, not that of the whole. */
static void queue_of_subdevice_is_described(void **state)
{
    (void)state;
    const cl_command_queue queue = fake_opencl_new_queue("half of big");
    const dynsel_device device = adopted(queue);
    assert_string_equal(device.name, "half of big");
    assert_string_equal(device.platform, "Platform One");
    assert_string_equal(device.vendor, "Maker One");
    assert_string_equal(device.type, "gpu");
#if CONFIG_DYNSEL_ASPECT_FP16 && CONFIG_DYNSEL_ASPECT_FP64
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_resource big = resource_of("big");
    assert_true(dynsel_resource_has(&mine, DYNSEL_ASPECT_fp16));
    assert_true(dynsel_resource_has(&mine, DYNSEL_ASPECT_fp64));
    assert_false(dynsel_resource_has(&big, DYNSEL_ASPECT_fp16));
#endif
    drop(queue);
}

static void queue_of_unlisted_platform_is_described(void **state)
{
    (void)state;
    const cl_command_queue queue = fake_opencl_new_queue("secret");
    const dynsel_device device = adopted(queue);
    assert_string_equal(device.name, "secret");
    assert_string_equal(device.platform, "");
    assert_string_equal(device.vendor, "Maker Three");
    assert_string_equal(device.type, "cpu");
    assert_int_equal(4, device.processors); /* its compute units */
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_options options = {.resources = &mine, .count = 1, .adapt = dynsel_opencl_adopt};
    dynsel_fixed_resource_policy policy = {.index = 0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    drop(queue);
}

static void queue_of_emulator_has_aspect_emulated(void **state)
{
    (void)state;
    const cl_command_queue queue = fake_opencl_new_queue("Simulated");
    const dynsel_device device = adopted(queue);
    assert_string_equal(device.type, "gpu");
#if CONFIG_DYNSEL_ASPECT_EMULATED
    assert_true((device.aspects & DYNSEL_ASPECT_BIT(emulated)) != 0);
#endif
    drop(queue);
}

static void describe_of_foreign_handle_is_refused(void **state)
{
    int nobody = 0;
    (void)state;
    const dynsel_resource big = resource_of("big");
    const cl_command_queue queue = fake_opencl_new_queue("big"); /* not adopted */
    void *const handles[] = {NULL, &nobody, (char *)big.handle + 1, (char *)big.handle - 8, queue};
    for (size_t i = 0; i < COUNT(handles); i++) {
        const dynsel_resource resource = {&dynsel_opencl_backend, handles[i]};
        dynsel_device device = {.aspects = 1};
        assert_status(DYNSEL_E_INVALID, dynsel_resource_describe(&resource, &device));
        assert_error_says("dynsel_opencl_backend: ");
        assert_int_equal(device.aspects, 1);
        assert_int_equal(dynsel_resource_aspects(&resource), 0);
    }
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_int_equal(dynsel_resource_aspects(&big), 0); /* from before the close */
    drop(queue);
}

static uint32_t questions(void)
{
    return fake_opencl_calls("clGetDeviceInfo") + fake_opencl_calls("clGetPlatformInfo") +
           fake_opencl_calls("clGetDeviceIDs") + fake_opencl_calls("clGetPlatformIDs");
}

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    return dynsel_opencl_check(
        "clEnqueueMarkerWithWaitList",
        clEnqueueMarkerWithWaitList(dynsel_opencl_queue(where), 0, NULL, &done->opencl));
}

/* However often a program asks, and whatever its tasks need. */
static void driver_is_queried_only_during_discovery(void **state)
{
    (void)state;
    NEEDS_ASPECTS(3)
    const dynsel_options options = {.backend = &dynsel_opencl_backend};
    dynsel_round_robin_policy policy = {.turn = {0}};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    const uint32_t before = questions();
    assert_true(before > 0);
    size_t count = 0;
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 2);
    for (unsigned i = 0; i < 50; i++) {
        dynsel_selection selection;
        const dynsel_task task = {.function = nothing,
                                  .aspects = dynsel_resource_aspects(&resources[i % 2]) &
                                             ~dynsel_resource_aspects(&resources[1 - i % 2])};
        (void)dynsel_resource_has(&resources[i % 2], (dynsel_aspect)(i % 40));
        assert_status(DYNSEL_OK, dynsel_select(&policy.policy, &task, &selection));
        assert_int_equal(selection.index, i % 2);
        assert_status(DYNSEL_OK, dynsel_submit_selection(&selection, &task, NULL));
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
    }
    dynsel_round_robin_policy second = {.turn = {0}};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&second, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&second.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_int_equal(questions(), before);
}

static void adopted_queue_is_queried_once(void **state)
{
    (void)state;
    const cl_command_queue queue = fake_opencl_new_queue("half of big");
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_options options = {.resources = &mine, .count = 1, .adapt = dynsel_opencl_adopt};
    assert_non_null(dynsel_opencl_adopt(queue));
    const uint32_t before = questions();
    for (int i = 0; i < 5; i++) {
        dynsel_fixed_resource_policy policy = {.index = 0};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
        const dynsel_task task = {.function = nothing, .aspects = dynsel_resource_aspects(&mine)};
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &task));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    }
    assert_int_equal(questions(), before);
    drop(queue);
}

/* The aspects of the entry that was there before must not stay with the next one. */
static void driver_is_queried_again_after_close(void **state)
{
    (void)state;
    dynsel_resource first = resource_of("small");
    const dynsel_aspect_set before = dynsel_resource_aspects(&first);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    static const fake_device plain[] = {
        {.name = "small", .vendor = "Maker Two", .type = CL_DEVICE_TYPE_GPU, .no_compiler = true}};
    static const fake_platform other[] = {{.name = "Other", .count = 1, .devices = plain}};
    show(other, 1);
    first = resource_of("small");
    const dynsel_device device = described(&first);
    assert_string_equal(device.platform, "Other");
    assert_string_equal(device.type, "gpu");
#if CONFIG_DYNSEL_ASPECT_GPU && CONFIG_DYNSEL_ASPECT_ACCELERATOR
    assert_int_equal(device.aspects, DYNSEL_ASPECT_BIT(gpu));
    assert_int_not_equal(device.aspects, before);
#else
    (void)before;
#endif
}

static void opencl_program_prepends_prelude(void **state)
{
    static const char source[] = "__kernel void nothing(void) {}\n";
    (void)state;
    const dynsel_resource big = resource_of("big");
    const cl_program program = dynsel_opencl_program(&big, source);
    assert_non_null(program);
    const char *text = fake_opencl_last_source();
    const size_t prelude = strlen(dynsel_opencl_prelude);
    assert_memory_equal(text, dynsel_opencl_prelude, prelude);
    assert_string_equal(text + prelude, source);
    assert_true(prelude > 8);
    assert_memory_equal(dynsel_opencl_prelude + prelude - 8, "#line 1\n", 8);
    assert_int_equal(clReleaseProgram(program), CL_SUCCESS);
}

static void opencl_program_failure_has_reason(void **state)
{
    int nobody = 0;
    const dynsel_resource resources[] = {
        {&dynsel_opencl_backend, &nobody}, {&dynsel_inline_backend, NULL}, {NULL, NULL}};
    (void)state;
    const dynsel_resource big = resource_of("big");
    assert_null(dynsel_opencl_program(&big, NULL));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_error_says("dynsel_opencl_program: ");
    for (size_t i = 0; i < COUNT(resources); i++) {
        assert_null(dynsel_opencl_program(&resources[i], ""));
        assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    }
    assert_null(dynsel_opencl_program(NULL, ""));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    assert_non_null(dynsel_opencl_context(&big));
    fake_opencl_fail_at(1, CL_OUT_OF_HOST_MEMORY);
    assert_null(dynsel_opencl_program(&big, ""));
    assert_string_equal(fake_opencl_failed_function(), "clCreateProgramWithSource");
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_DEVICE);
    assert_int_equal(dynsel_last_error()->code, CL_OUT_OF_HOST_MEMORY);
    fake_opencl_break("small", "clCreateContext", CL_OUT_OF_RESOURCES);
    const dynsel_resource small = resource_of("small");
    assert_null(dynsel_opencl_program(&small, ""));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_OUT_OF_SERVICE);
}

/* Devices that fail in every way while they are found: what they did not say they have not. */
static void failed_driver_query_means_absent_aspect(void **state)
{
    (void)state;
    const uint32_t calls_before = fake_opencl_calls(NULL);
    const dynsel_resource small = resource_of("small");
    const dynsel_aspect_set all = dynsel_resource_aspects(&small);
    const uint32_t calls = fake_opencl_calls(NULL) - calls_before;
    for (uint32_t call = 1; call <= calls; call++) {
        assert_status(DYNSEL_OK, dynsel_opencl_close());
        show(machine, COUNT(machine));
        fake_opencl_fail_at(call, CL_OUT_OF_RESOURCES);
        dynsel_resource resource;
        size_t count = 0;
        if (dynsel_opencl_select("small", &resource, 1, &count) == DYNSEL_OK) {
            assert_int_equal(dynsel_resource_aspects(&resource) & ~all, 0);
        }
        assert_true(fake_opencl_has_failed());
    }
}

#define MACHINE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_machine, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MACHINE_TEST(found_devices_are_described),
        MACHINE_TEST(queue_of_found_device_is_described_like_it),
        MACHINE_TEST(queue_of_subdevice_is_described),
        MACHINE_TEST(queue_of_unlisted_platform_is_described),
        MACHINE_TEST(queue_of_emulator_has_aspect_emulated),
        MACHINE_TEST(describe_of_foreign_handle_is_refused),
        MACHINE_TEST(driver_is_queried_only_during_discovery),
        MACHINE_TEST(adopted_queue_is_queried_once),
        MACHINE_TEST(driver_is_queried_again_after_close),
        MACHINE_TEST(opencl_program_prepends_prelude),
        MACHINE_TEST(opencl_program_failure_has_reason),
        MACHINE_TEST(failed_driver_query_means_absent_aspect),
    };
    return RUN(tests);
}
