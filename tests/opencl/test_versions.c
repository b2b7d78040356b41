/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers that are older than what the library calls, or do not tell how old they are; and what is
 * said when nothing is left. */
#include "fixture.h"

#define GPU(name_, version_)                                                                       \
    {                                                                                              \
        .name = (name_), .version = (version_), .vendor = "V", .type = CL_DEVICE_TYPE_GPU,         \
        .vendor_id = 1                                                                             \
    }

static const fake_device generations[] = {GPU("G10", "OpenCL 1.0 V 7"), GPU("G11", "OpenCL 1.1"),
                                          GPU("G12", "OpenCL 1.2 V"), GPU("G30", "OpenCL 3.0 V")};
static const fake_platform machine[] = {
    {.name = "P", .version = "OpenCL 3.0 V", .count = 4, .devices = generations}};

/* What visiting tells about one device. */
typedef struct told {
    const char *name;
    dynsel_resource resource;
    dynsel_opencl_verdict verdict;
    char version[64];
    char reason[256];
} told;

static void tell(const dynsel_opencl_device_info *info, void *context)
{
    told *const about = context;
    if (strcmp(info->name, about->name) != 0) {
        return;
    }
    about->resource = info->resource;
    about->verdict = info->verdict;
    (void)strncpy(about->version, info->version, sizeof(about->version) - 1);
    (void)strncpy(about->reason, info->reason, sizeof(about->reason) - 1);
}

static told ask_about(const char *name)
{
    told about = {.name = name};
    assert_status(DYNSEL_OK, dynsel_opencl_visit_devices("all", tell, &about));
    return about;
}

static void assert_nothing_was_asked(void)
{
    static const char *const functions[] = {"clCreateContext", "clCreateCommandQueue",
                                            "clRetainCommandQueue"};
    for (size_t i = 0; i < COUNT(functions); i++) {
        assert_int_equal(fake_opencl_calls(functions[i]), 0);
    }
}

static void old_devices_are_excluded_and_keep_their_index(void **state)
{
    dynsel_round_robin_policy policy = {0};
    const dynsel_options only = {.backend = &dynsel_opencl_backend};
    size_t count = 0;
    (void)state;
    show(machine, 1);
    assert_string_equal(chosen_by("all"), "G12|G30");
    assert_string_equal(chosen_by("2"), "G12"); /* they keep their places */
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &only, 0));
    const dynsel_resource *const resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 2);
    assert_string_equal(dynsel_resource_name(&resources[0]), "G12");
    assert_string_equal(dynsel_resource_name(&resources[1]), "G30");
#if CONFIG_DYNSEL_ASPECTS
    assert_int_equal(dynsel_refused_count(&policy.policy), 2);
#endif
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void verdict_reason_contains_version(void **state)
{
    (void)state;
    show(machine, 1);
    const told old = ask_about("G11");
    assert_int_equal(old.verdict, DYNSEL_OPENCL_TOO_OLD);
    assert_string_equal(old.version, "OpenCL 1.1");
    assert_string_equal(old.reason,
                        "its OpenCL is too old (OpenCL 1.1), and 1.2 is needed: update the driver");
    const told young = ask_about("G30");
    assert_int_equal(young.verdict, DYNSEL_OPENCL_CHOSEN);
    assert_string_equal(young.version, "OpenCL 3.0 V");
}

static void given_old_device_is_unsupported(void **state)
{
    (void)state;
    show(machine, 1);
    const told old = ask_about("G10");
    const dynsel_options given = {.resources = &old.resource, .count = 1};
    dynsel_round_robin_policy policy = {0};
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_round_robin_init(&policy, &given, 0));
    assert_contains(error_line(), "G10");
    assert_contains(error_line(), "its OpenCL is too old (OpenCL 1.0 V 7), and 1.2 is needed");
    assert_null(dynsel_opencl_queue(&old.resource));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_UNSUPPORTED);
    assert_null(dynsel_opencl_context(&old.resource));
    assert_null(dynsel_opencl_program(&old.resource, "kernel void f(void) {}"));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_UNSUPPORTED);
    assert_non_null(dynsel_opencl_device(&old.resource));
    assert_nothing_was_asked();
}

static void adopted_queue_on_old_device_is_refused(void **state)
{
    (void)state;
    show(machine, 1);
    const cl_command_queue queue = fake_opencl_new_queue("G11");
    const uint32_t before = fake_opencl_calls("clRetainCommandQueue");
    assert_null(dynsel_opencl_adopt(queue));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_UNSUPPORTED);
    assert_contains(error_line(), "OpenCL 1.1");
    assert_int_equal(fake_opencl_calls("clRetainCommandQueue"), before);
    cl_context context = NULL;
    assert_int_equal(
        clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL),
        CL_SUCCESS);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

static void only_old_devices_give_no_resource_error(void **state)
{
    static const fake_platform old[] = {{.name = "P", .count = 2, .devices = generations}};
    const dynsel_options only = {.backend = &dynsel_opencl_backend};
    dynsel_round_robin_policy policy = {0};
    size_t count = 7;
    (void)state;
    show(old, 1);
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_opencl_select(NULL, NULL, 0, &count));
    assert_int_equal(count, 0);
    assert_contains(error_line(), "of the 2 OpenCL devices the selector fits only such as have an "
                                  "OpenCL that is older than 1.2");
    assert_int_not_equal(DYNSEL_OK, dynsel_round_robin_init(&policy, &only, 0));
    assert_contains(error_line(), CONFIG_DYNSEL_ASPECTS ? "OpenCL is too old" : "older than 1.2");
    assert_nothing_was_asked();
}

static void host_is_default_where_all_devices_are_old(void **state)
{
    static const fake_platform old[] = {{.name = "P", .count = 2, .devices = generations}};
    dynsel_round_robin_policy policy = {0};
    size_t count = 0;
    (void)state;
    show(old, 1);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, NULL, 0));
    const dynsel_resource *const resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 1);
    assert_ptr_equal(resources[0].backend, &dynsel_inline_backend);
#if CONFIG_DYNSEL_ASPECTS
    assert_int_equal(dynsel_refused_count(&policy.policy), 2);
#endif
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* What a driver says of its version, and whether it is enough. */
static void version_texts_are_parsed(void **state)
{
    static const struct {
        const char *text;
        bool enough;
    } cases[] = {
        {"OpenCL 1.2", true},
        {"OpenCL 1.2 ", true},
        {"OpenCL 1.2 CUDA 12.4.89", true},
        {"OpenCL 1.10 V", true},
        {"OpenCL 2.0", true},
        {"OpenCL 10.0 V", true},
        {"  OpenCL 3.0 V", true}, /* blanks around texts never count */
        {"OpenCL 1.1 V 9.9", false},
        {"OpenCL 0.9", false},
        {"", false}, /* no answer */
        {"OpenCL", false},
        {"OpenCL ", false},
        {"OpenCL 2", false},
        {"OpenCL 2.", false},
        {"OpenCL 2.x", false},
        {"OpenCL 2.0beta", false},
        {"OpenCL -2.0", false},
        {"OpenCL 4294967297.2 V", false},
        {"OpenCL 1.4294967298 V", false},
        {"OpenCL C 2.0", false},
        {"3.0", false},
        {"V says {} and {aspect} \x1b[31m", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const fake_device device[] = {GPU("G", cases[i].text)};
        const fake_platform one[] = {{.name = "P", .count = 1, .devices = device}};
        show(one, 1);
        const told about = ask_about("G");
        if (about.verdict != (cases[i].enough ? DYNSEL_OPENCL_CHOSEN : DYNSEL_OPENCL_TOO_OLD)) {
            fail_msg("\"%s\" is %d: %s", cases[i].text, (int)about.verdict, about.reason);
        }
        assert_status(DYNSEL_OK, dynsel_opencl_close());
    }
}

static void invalid_version_text_is_quoted(void **state)
{
    static const fake_device device[] = {GPU("G", "version {} of {aspect}")};
    static const fake_platform one[] = {{.name = "P", .count = 1, .devices = device}};
    (void)state;
    show(one, 1);
    const told about = ask_about("G");
    assert_null(dynsel_opencl_queue(&about.resource));
    assert_contains(error_line(), "its driver does not tell which OpenCL it has (version (} of "
                                  "(aspect}), and 1.2 is needed");
}

/* The functions are the platform's. */
static void old_platform_makes_its_devices_old(void **state)
{
    static const fake_device young[] = {GPU("young", "OpenCL 1.2")};
    static const fake_device old[] = {GPU("old", "OpenCL 1.1")};
    static const fake_device unsure[] = {GPU("unsure", "OpenCL 1.2")};
    static const fake_platform platforms[] = {
        {.name = "A", .version = "OpenCL 1.1 A", .count = 1, .devices = young},
        {.name = "B", .version = "OpenCL 1.2 B", .count = 1, .devices = old},
        {.name = "C", .version = "", .count = 1, .devices = unsure},
    };
    (void)state;
    show(platforms, COUNT(platforms));
    assert_string_equal(chosen_by("all"), "unsure");
    assert_string_equal(ask_about("young").reason,
                        "its platform's OpenCL is too old (OpenCL 1.1 A), and 1.2 is needed: "
                        "update the driver");
    assert_string_equal(ask_about("old").reason,
                        "its OpenCL is too old (OpenCL 1.1), and 1.2 is needed: update the driver");
    assert_nothing_was_asked();
}

static void old_cpu_is_excluded_from_shared_context(void **state)
{
    static const fake_device cpus[] = {
        {.name = "C11", .version = "OpenCL 1.1", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
        {.name = "C12", .version = "OpenCL 1.2", .vendor = "V", .type = CL_DEVICE_TYPE_CPU}};
    static const fake_platform one[] = {{.name = "P", .count = 2, .devices = cpus}};
    (void)state;
    show(one, 1);
    const told young = ask_about("C12");
    assert_non_null(dynsel_opencl_context(&young.resource));
    assert_int_equal(fake_opencl_devices_of_last_context(), 1);
}

static void device_duplicate_with_newer_driver_is_chosen(void **state)
{
    static const fake_device old[] = {{.name = "G through A",
                                       .version = "OpenCL 1.1",
                                       .vendor = "V",
                                       .type = CL_DEVICE_TYPE_GPU,
                                       .uuid = 3}};
    static const fake_device young[] = {
        {.name = "G through B", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .uuid = 3}};
    static const fake_platform platforms[] = {{.name = "A", .count = 1, .devices = old},
                                              {.name = "B", .count = 1, .devices = young}};
    (void)state;
    show(platforms, 2);
    assert_string_equal(chosen_by("all"), "G through B");
}

/* Who chose so that nothing is left, and why nothing is. */
static void empty_default_set_error_names_selector(void **state)
{
    const dynsel_options only = {.backend = &dynsel_opencl_backend};
    const dynsel_opencl_options configured = {.selector = " name=nobody "};
    dynsel_round_robin_policy policy = {0};
    size_t count = 0;
    (void)state;
    assert_int_equal(setenv("DYNSEL_OPENCL", "custom", 1), 0);
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_round_robin_init(&policy, &only, 0));
    assert_contains(error_line(), "the selector fits none of the 4 OpenCL devices");
    assert_contains(error_line(), "[DYNSEL_OPENCL: \"custom\"]");
    assert_int_equal(setenv("DYNSEL_OPENCL", "accelerator", 1), 0);
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_round_robin_init(&policy, &only, 0));
    assert_contains(error_line(), "only emulators: add the term `emulator`");
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&configured));
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_round_robin_init(&policy, &only, 0));
    assert_contains(error_line(), "[dynsel_opencl_options.selector: \" name=nobody \"]");
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_opencl_select("fpga", NULL, 0, &count));
    assert_contains(error_line(), "[\"fpga\"]");
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, NULL, 0)); /* the host is there */
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_devices_are_excluded_and_keep_their_index),
        TEST(verdict_reason_contains_version),
        TEST(given_old_device_is_unsupported),
        TEST(adopted_queue_on_old_device_is_refused),
        TEST(only_old_devices_give_no_resource_error),
        TEST(host_is_default_where_all_devices_are_old),
        TEST(version_texts_are_parsed),
        TEST(invalid_version_text_is_quoted),
        TEST(old_platform_makes_its_devices_old),
        TEST(old_cpu_is_excluded_from_shared_context),
        TEST(device_duplicate_with_newer_driver_is_chosen),
        TEST(empty_default_set_error_names_selector),
    };
    return RUN(tests);
}
