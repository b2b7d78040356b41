/* SPDX-License-Identifier: Apache-2.0 */
/* Finding devices, opening and closing them, on machines of every kind. */
#include "fixture.h"

#define GPU(name_, bus_)                                                                           \
    {                                                                                              \
        .name = (name_), .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .bus = (bus_)  \
    }
#define CPU(name_)                                                                                 \
    {                                                                                              \
        .name = (name_), .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .vendor_id = 1                 \
    }

static const fake_device two_gpus[] = {GPU("G0", 1), GPU("G1", 2)};
static const fake_device two_cpus[] = {CPU("C0"), CPU("C1")};
static const fake_platform mixed[] = {{.name = "G", .count = 2, .devices = two_gpus},
                                      {.name = "C", .count = 2, .devices = two_cpus}};

/* The resource of one device. */
static dynsel_resource resource(const char *selector)
{
    dynsel_resource found = {0};
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_opencl_select(selector, &found, 1, &count));
    assert_int_equal(count, 1);
    return found;
}

static void missing_platforms_give_empty_selection(void **state)
{
    static const cl_int codes[] = {CL_SUCCESS, -1001, CL_INVALID_VALUE, CL_DEVICE_NOT_FOUND};
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        dynsel_round_robin_policy policy = {0};
        const dynsel_options only = {.backend = &dynsel_opencl_backend};
        size_t count = 7;
        fake_opencl_show(NULL, 0, codes[i]);
        assert_status(DYNSEL_E_NO_RESOURCE, dynsel_opencl_select(NULL, NULL, 0, &count));
        assert_int_equal(count, 0);
        assert_contains(error_line(), "there is no OpenCL platform: install a driver");
        assert_status(DYNSEL_E_NO_RESOURCE, dynsel_round_robin_init(&policy, &only, 0));
        assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, NULL, 0));
        assert_ptr_not_equal(dynsel_get_resources(&policy.policy, &count), NULL);
        assert_int_equal(count, 1); /* the host */
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
        assert_status(DYNSEL_OK, dynsel_opencl_close());
    }
}

static void discovery_is_repeated_after_failure(void **state)
{
    size_t count;
    (void)state;
    fake_opencl_show(universe, COUNT(universe), CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_DEVICE, dynsel_opencl_select(NULL, NULL, 0, &count));
    assert_string_equal(dynsel_last_error()->function, "clGetPlatformIDs");
    assert_int_equal(dynsel_last_error()->code, CL_OUT_OF_HOST_MEMORY);
    show(universe, COUNT(universe));
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select(NULL, NULL, 0, &count));
    assert_int_equal(count, 2);
    const uint32_t calls = fake_opencl_calls(NULL);
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select("gpu", NULL, 0, &count));
    assert_int_equal(fake_opencl_calls(NULL), calls); /* once is enough */
}

static void note_line(const dynsel_opencl_device_info *info, void *context)
{
    char *const list = context;
    (void)strcat(list, info->platform);
    (void)strcat(list, "/");
    (void)strcat(list, info->name);
    (void)strcat(list, "/");
    (void)strcat(list, info->reason);
    (void)strcat(list, "\n");
    assert_int_equal(info->device == NULL, info->verdict == DYNSEL_OPENCL_NO_DEVICE);
}

static void failing_platforms_are_skipped(void **state)
{
    static const fake_platform machine[] = {
        {.name = "empty"},
        {.name = "broken", .code = CL_OUT_OF_HOST_MEMORY, .count = 2, .devices = two_cpus},
        {.name = "good", .count = 2, .devices = two_gpus},
        {.name = "", .code = CL_DEVICE_NOT_FOUND},
    };
    char list[512] = "";
    (void)state;
    show(machine, COUNT(machine));
    assert_string_equal(chosen_by("all"), "G0|G1");
    assert_status(DYNSEL_OK, dynsel_opencl_visit_devices("0", note_line, list));
    assert_string_equal(list, "empty/no device/the platform has no device\n"
                              "broken/no device/the platform does not list its devices: "
                              "clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY\n"
                              "good/G0/the selector fits\n"
                              "good/G1/the selector does not fit\n"
                              "unnamed platform/no device/the platform has no device\n");
}

static void device_texts_are_trimmed_and_truncated(void **state)
{
    static char name[300];
    static const fake_device devices[] = {
        {.name = "\t QUALCOMM  Adreno \n", .vendor = " ", .type = CL_DEVICE_TYPE_GPU},
        {.name = "  ", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
        {.name = name, .vendor = "V", .type = CL_DEVICE_TYPE_CUSTOM},
    };
    static const fake_platform machine[] = {{.name = " P ", .count = 3, .devices = devices}};
    (void)state;
    memset(name, 'x', sizeof(name) - 1);
    name[126] = '\xc3'; /* a letter of two bytes, of which one would fit */
    name[127] = '\xa9';
    show(machine, COUNT(machine));
    assert_string_equal(chosen_by("gpu"), "QUALCOMM  Adreno");
    assert_string_equal(chosen_by("cpu"), "unnamed device");
    assert_string_equal(chosen_by("vendor=unknown"), "QUALCOMM  Adreno");
    assert_int_equal(strlen(chosen_by("custom")), 126);
}

static void unusable_devices_are_excluded(void **state)
{
    static const fake_device devices[] = {
        {.name = "off", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .bus = 1, .not_available = true},
        {.name = "binary",
         .vendor = "V",
         .type = CL_DEVICE_TYPE_GPU,
         .bus = 2,
         .no_compiler = true},
    };
    static const fake_device again[] = {GPU("off through B", 1)};
    static const fake_platform machine[] = {{.name = "A", .count = 2, .devices = devices},
                                            {.name = "B", .count = 1, .devices = again}};
    char list[512] = "";
    (void)state;
    show(machine, COUNT(machine));
    assert_string_equal(chosen_by("all"), "binary|off through B");
    assert_string_equal(chosen_by("1"), "binary"); /* what is off keeps its place */
    assert_string_equal(chosen_by("name=off,platform=A"), "DYNSEL_E_NO_RESOURCE");
    assert_contains(error_line(), "lost or not available");
    assert_status(DYNSEL_OK, dynsel_opencl_visit_devices("platform=A", note_line, list));
    assert_string_equal(list, "A/off/its driver says that it is not available\n"
                              "A/binary/the selector fits; it has no compiler, only binaries run\n"
                              "B/off through B/the selector does not fit\n");
}

static void full_device_table_errors_name_their_option(void **state)
{
    static fake_device devices[CONFIG_DYNSEL_OPENCL_MAX_DEVICES + 1];
    static fake_platform platforms[CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS + 1];
    char list[8192] = "";
    size_t count = 7;
    (void)state;
    for (size_t i = 0; i < COUNT(devices); i++) {
        devices[i] = (fake_device)GPU("G", (uint8_t)(i + 1));
    }
    for (size_t i = 0; i < COUNT(platforms); i++) {
        platforms[i] = (fake_platform){.name = "P"};
    }
    platforms[0] = (fake_platform){.name = "P", .count = COUNT(devices), .devices = devices};
    show(platforms, 1);
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select(NULL, NULL, 0, &count));
    assert_int_equal(count, 0);
    assert_contains(error_line(), "CONFIG_DYNSEL_OPENCL_MAX_DEVICES is");
    assert_int_equal(dynsel_last_error()->number, CONFIG_DYNSEL_OPENCL_MAX_DEVICES + 1);
    assert_status(DYNSEL_E_FULL, dynsel_opencl_visit_devices("all", note_line, list));
    assert_contains(list, "P/G/the selector fits\n");
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    show(platforms, COUNT(platforms));
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select(NULL, NULL, 0, &count));
    assert_contains(error_line(), "CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS is");
}

static void only_used_devices_are_opened(void **state)
{
    (void)state;
    show(mixed, COUNT(mixed));
    const dynsel_resource g1 = resource("name=G1");
    const dynsel_resource g0 = resource("name=G0");
    assert_non_null(dynsel_opencl_device(&g0));
    assert_int_equal(fake_opencl_calls("clCreateContext"), 0);
    const cl_command_queue queue = dynsel_opencl_queue(&g1);
    assert_non_null(queue);
    assert_ptr_equal(dynsel_opencl_queue(&g1), queue);
    assert_non_null(dynsel_opencl_context(&g1));
    assert_int_equal(fake_opencl_queues_of("G1"), 1);
    assert_int_equal(fake_opencl_queues_of("G0"), 0);
    assert_int_equal(fake_opencl_calls("clCreateContext"), 1);
    assert_int_equal(fake_opencl_devices_of_last_context(), 1);
}

static void cpus_of_one_platform_share_context(void **state)
{
    (void)state;
    show(mixed, COUNT(mixed));
    const dynsel_resource c0 = resource("name=C0");
    const dynsel_resource c1 = resource("name=C1");
    const dynsel_resource g0 = resource("name=G0");
    const dynsel_resource g1 = resource("name=G1");
    assert_non_null(dynsel_opencl_context(&c1));
    assert_int_equal(fake_opencl_devices_of_last_context(), 2);
    assert_ptr_equal(dynsel_opencl_context(&c0), dynsel_opencl_context(&c1));
    assert_ptr_not_equal(dynsel_opencl_queue(&c0), dynsel_opencl_queue(&c1));
    assert_ptr_not_equal(dynsel_opencl_context(&g0), dynsel_opencl_context(&g1));
    assert_int_equal(fake_opencl_calls("clCreateContext"), 3);
}

/* A context with one that is off would fail for all. */
static void unavailable_cpu_is_excluded_from_shared_context(void **state)
{
    static const fake_device devices[] = {
        CPU("C0"),
        {.name = "C1", .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .not_available = true}};
    static const fake_platform platform[] = {{.name = "C", .count = 2, .devices = devices}};
    (void)state;
    show(platform, 1);
    const dynsel_resource c0 = resource("name=C0");
    assert_non_null(dynsel_opencl_queue(&c0));
    assert_int_equal(fake_opencl_devices_of_last_context(), 1);
}

static void failed_device_open_is_retried(void **state)
{
    (void)state;
    show(mixed, COUNT(mixed));
    const dynsel_resource g0 = resource("name=G0");
    fake_opencl_break("G0", "clCreateContext", CL_OUT_OF_HOST_MEMORY);
    assert_null(dynsel_opencl_queue(&g0));
    assert_contains(error_line(), "clCreateContext");
    assert_contains(error_line(), "CL_OUT_OF_HOST_MEMORY [G0], code -6");
    assert_null(dynsel_opencl_context(&g0));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_OUT_OF_SERVICE);
    char list[512] = "";
    assert_status(DYNSEL_OK, dynsel_opencl_visit_devices("gpu", note_line, list));
    assert_contains(list, "G/G0/it could not be opened: clCreateContext: CL_OUT_OF_HOST_MEMORY\n"
                          "G/G1/the selector fits\n");
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_non_null(dynsel_opencl_queue(&g0));
    const dynsel_resource anew = resource("name=G0");
    assert_non_null(dynsel_opencl_queue(&anew));
}

static void queue_properties_follow_options(void **state)
{
    static const fake_device devices[] = {
        {.name = "dumb", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .no_profiling = true},
        GPU("good", 1)};
    static const fake_platform machine[] = {{.name = "P", .count = 2, .devices = devices}};
    (void)state;
    show(machine, COUNT(machine));
    const dynsel_opencl_options profiling = {.queue_properties = CL_QUEUE_PROFILING_ENABLE};
    const dynsel_opencl_options disorder = {.queue_properties =
                                                CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
    const dynsel_opencl_options wrong = {.selector = "type=gpuu"};
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_configure(&disorder));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_configure(&wrong));
    assert_contains(error_line(), "meaning \"gpu\"?");
    const dynsel_opencl_options patient = {.patience_ms = UINT32_MAX};
    const dynsel_opencl_options strange = {.work_groups = (dynsel_opencl_work_groups)2};
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_configure(&patient));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_configure(&strange));
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&profiling));
    const dynsel_resource good = resource("good");
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_configure(NULL));
    const dynsel_resource dumb = resource("dumb");
    cl_command_queue_properties properties = 0;
    assert_int_equal(clGetCommandQueueInfo(dynsel_opencl_queue(&good), CL_QUEUE_PROPERTIES,
                                           sizeof(properties), &properties, NULL),
                     CL_SUCCESS);
    assert_int_equal(properties, CL_QUEUE_PROFILING_ENABLE);
    assert_null(dynsel_opencl_queue(&dumb));
    assert_contains(error_line(), "refuses the queue properties given to dynsel_opencl_configure");
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_status(DYNSEL_OK, dynsel_opencl_configure(NULL));
    const dynsel_resource plain = resource("dumb");
    assert_non_null(dynsel_opencl_queue(&plain));
}

static void foreign_handles_are_refused(void **state)
{
    dynsel_fixed_resource_policy policy = {0};
    const dynsel_resource gpu = resource("gpu");
    const dynsel_resource wrong[] = {
        {&dynsel_opencl_backend, NULL},
        {&dynsel_opencl_backend, &policy},
        {&dynsel_opencl_backend, (char *)gpu.handle + 8},
        {&dynsel_opencl_backend, (char *)gpu.handle + ((size_t)1 << 20)},
        {&dynsel_opencl_backend, (char *)gpu.handle - ((size_t)1 << 20)},
        {&dynsel_inline_backend, gpu.handle},
        {NULL, gpu.handle},
    };
    (void)state;
    assert_null(dynsel_opencl_queue(NULL));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_null(dynsel_opencl_queue(&wrong[i]));
        assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
        assert_null(dynsel_opencl_context(&wrong[i]));
        assert_null(dynsel_opencl_device(&wrong[i]));
        assert_string_equal(dynsel_last_error()->function, "dynsel_opencl_device");
        if (wrong[i].backend == &dynsel_opencl_backend) {
            const dynsel_options options = {.resources = &wrong[i], .count = 1};
            assert_string_equal(dynsel_resource_name(&wrong[i]), "opencl");
            assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&policy, &options, 0));
            assert_contains(error_line(), "adapt = dynsel_opencl_adopt");
        }
    }
}

/* A policy that knows no times has the devices alone, and the host where there is none. */
static void policies_without_times_get_devices_without_host(void **state)
{
    size_t count = 0;
    dynsel_round_robin_policy policy = {0};
    dynsel_fixed_resource_policy fixed = {0};
    static const dynsel_options all = {.defaults = DYNSEL_HOST_AND_DEVICES};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, NULL, 0));
    const dynsel_resource *resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(resources[0].backend, &dynsel_opencl_backend);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &all, 0));
    resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 3);
    assert_ptr_equal(resources[0].backend, &dynsel_inline_backend);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, NULL, 0));
    resources = dynsel_get_resources(&fixed.policy, &count);
    assert_int_equal(count, 3);
    assert_ptr_equal(resources[0].backend, &dynsel_inline_backend);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
}

static void opencl_close_with_policies_in_use_is_busy(void **state)
{
    dynsel_round_robin_policy policy = {0};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_close()); /* nothing was used yet */
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, NULL, 0));
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_contains(error_line(), "policies still use 2 resources");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    const dynsel_resource gpu = resource("gpu");
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_null(dynsel_opencl_queue(&gpu)); /* of the time before */
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
}

static void opencl_codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(dynsel_opencl_code_name(CL_SUCCESS), "CL_SUCCESS");
    assert_string_equal(dynsel_opencl_code_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
    assert_string_equal(dynsel_opencl_code_name(-68), "CL_INVALID_DEVICE_PARTITION_COUNT");
    assert_string_equal(dynsel_opencl_code_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
    assert_string_equal(dynsel_opencl_code_name(-12345), "unknown OpenCL code");
    assert_status(DYNSEL_OK, dynsel_opencl_check("clFinish", CL_SUCCESS));
    assert_status(DYNSEL_E_DEVICE, dynsel_opencl_check("clFinish", CL_INVALID_KERNEL_ARGS));
    assert_contains(error_line(), "clFinish: ");
    assert_contains(error_line(), ": CL_INVALID_KERNEL_ARGS, code -52");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(missing_platforms_give_empty_selection),
        TEST(discovery_is_repeated_after_failure),
        TEST(failing_platforms_are_skipped),
        TEST(device_texts_are_trimmed_and_truncated),
        TEST(unusable_devices_are_excluded),
        TEST(only_used_devices_are_opened),
        TEST(cpus_of_one_platform_share_context),
        TEST(unavailable_cpu_is_excluded_from_shared_context),
        TEST(failed_device_open_is_retried),
        TEST(queue_properties_follow_options),
        TEST(foreign_handles_are_refused),
        TEST(policies_without_times_get_devices_without_host),
        TEST(opencl_close_with_policies_in_use_is_busy),
        TEST(opencl_codes_have_names),
    };
    const struct CMUnitTest of_any_size[] = {
        TEST(full_device_table_errors_name_their_option),
    };
    return cmocka_run_group_tests(of_any_size, NULL, NULL) + RUN(tests);
}
