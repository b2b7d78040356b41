/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that a selector chooses, and the errors of wrong selectors. */
#include "fixture.h"

static const fake_device nvidia[] = {
    {.name = "NVIDIA H200",
     .vendor = "NVIDIA Corporation",
     .type = CL_DEVICE_TYPE_GPU,
     .vendor_id = 0x10de,
     .bus = 1},
    {.name = "NVIDIA H200",
     .vendor = "NVIDIA Corporation",
     .type = CL_DEVICE_TYPE_GPU,
     .vendor_id = 0x10de,
     .bus = 2},
    {.name = "NVIDIA T4",
     .vendor = "NVIDIA Corporation",
     .type = CL_DEVICE_TYPE_GPU,
     .vendor_id = 0x10de,
     .bus = 3},
};
static const fake_device pocl[] = {
    {.name = "pthread-AMD EPYC",
     .vendor = "AuthenticAMD",
     .type = CL_DEVICE_TYPE_CPU,
     .vendor_id = 1},
    {.name = "basic-AMD EPYC",
     .vendor = "AuthenticAMD",
     .type = CL_DEVICE_TYPE_CPU,
     .vendor_id = 1},
    {.name = "NVIDIA T4",
     .vendor = "NVIDIA Corporation",
     .type = CL_DEVICE_TYPE_GPU,
     .vendor_id = 0x10de,
     .bus = 3},
};
static const fake_device others[] = {
    {.name = "Oclgrind 21",
     .vendor = "University of Bristol",
     .type = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU,
     .vendor_id = 9},
    {.name = "Alveo U50", .vendor = "Xilinx", .type = CL_DEVICE_TYPE_ACCELERATOR, .vendor_id = 8},
    {.name = "QUALCOMM DSP", .vendor = "QUALCOMM", .type = CL_DEVICE_TYPE_CUSTOM, .vendor_id = 5},
};
static const fake_platform machine[] = {
    {.name = "NVIDIA CUDA", .count = 3, .devices = nvidia},
    {.name = "Portable Computing Language", .count = 3, .devices = pocl},
    {.name = "Assorted", .count = 3, .devices = others},
};

#define EVERYTHING                                                                                 \
    "NVIDIA H200|NVIDIA H200|NVIDIA T4|pthread-AMD EPYC|basic-AMD EPYC|Alveo U50|QUALCOMM DSP"

static void selector_chooses_expected_devices(void **state)
{
    static const struct {
        const char *selector;
        const char *chosen;
    } table[] = {
        {"", EVERYTHING},
        {" \t ", EVERYTHING},
        {"all", EVERYTHING},
        {"ALL", EVERYTHING},
        {"gpu", "NVIDIA H200|NVIDIA H200|NVIDIA T4"},
        {"type=GPU", "NVIDIA H200|NVIDIA H200|NVIDIA T4"},
        {" Type = gpu ", "NVIDIA H200|NVIDIA H200|NVIDIA T4"},
        {"cpu", "pthread-AMD EPYC|basic-AMD EPYC"},
        {"accelerator", "Alveo U50"},
        {"custom", "QUALCOMM DSP"},
        {"platform=nvidia", "NVIDIA H200|NVIDIA H200|NVIDIA T4"},
        {"platform=portable", "pthread-AMD EPYC|basic-AMD EPYC|NVIDIA T4"},
        {"vendor=amd", "pthread-AMD EPYC|basic-AMD EPYC"},
        {"name=h200", "NVIDIA H200|NVIDIA H200"},
        {"h200", "NVIDIA H200|NVIDIA H200"},
        {"AMD EPYC", "pthread-AMD EPYC|basic-AMD EPYC"},
        {"0", "NVIDIA H200"},
        {"2", "NVIDIA T4"},
        {"3", "pthread-AMD EPYC"},
        {"6", "QUALCOMM DSP"},
        {"7", "DYNSEL_E_NO_RESOURCE"},
        {"index=18446744073709551617", "DYNSEL_E_NO_RESOURCE"}, /* 2^64 + 1 */
        {"platform=portable,index=2", "NVIDIA T4"},
        {"platform=portable,gpu,index=0", "NVIDIA T4"},
        {"cpu,1", "basic-AMD EPYC"},
        {"h200,name=t4", "DYNSEL_E_NO_RESOURCE"},
        {"h200,h200", "NVIDIA H200|NVIDIA H200"},
        {"cpu;gpu", "NVIDIA H200|NVIDIA H200|NVIDIA T4|pthread-AMD EPYC|basic-AMD EPYC"},
        {"platform=portable ; platform=cuda",
         "NVIDIA H200|NVIDIA H200|NVIDIA T4|pthread-AMD EPYC|basic-AMD EPYC"},
        {"0;0;h200,0", "NVIDIA H200"},
        {"1;0", "NVIDIA H200|NVIDIA H200"},
        {"name=oclgrind", "DYNSEL_E_NO_RESOURCE"},
        {"emulator", "Oclgrind 21"},
        {"emulator,gpu,index=0", "Oclgrind 21"},
        {"all;emulator", "NVIDIA H200|NVIDIA H200|NVIDIA T4|pthread-AMD EPYC|basic-AMD EPYC|"
                         "Oclgrind 21|Alveo U50|QUALCOMM DSP"},
        {"name=a=b", "DYNSEL_E_NO_RESOURCE"},
        {"nonsense", "DYNSEL_E_NO_RESOURCE"},
    };
    (void)state;
    show(machine, COUNT(machine));
    for (size_t i = 0; i < COUNT(table); i++) {
        const char *const chosen = chosen_by(table[i].selector);
        if (strcmp(chosen, table[i].chosen) != 0) {
            fail_msg("\"%s\" chooses %s, not %s", table[i].selector, chosen, table[i].chosen);
        }
    }
}

static void wrong_selector_is_refused_with_position(void **state)
{
    static const struct {
        const char *selector;
        uint32_t position;
        const char *said; /* the subject: the wrong word, and what may have been meant */
    } table[] = {
        {",", 1, "\"\""},
        {"gpu,,cpu", 5, "\"\""},
        {"gpu, ;cpu", 6, "\"\""},
        {"gpu;", 5, "\"\""},
        {";gpu", 1, "\"\""},
        {"nmae=H200", 1, "\"nmae\", meaning \"name\"?"},
        {"cpu; platfrom = x", 6, "\"platfrom\", meaning \"platform\"?"},
        {"colour=red", 1, "\"colour\""},
        {"=gpu", 1, "\"\""},
        {"type=gpuu", 6, "\"gpuu\", meaning \"gpu\"?"},
        {"type=fpga", 6, "\"fpga\""},
        {"type=quantum", 6, "\"quantum\""},
        {"type=", 5, "\"=\""},
        {"name= ,cpu", 5, "\"=\""},
        {"index=-1", 7, "\"-1\""},
        {"index=first", 7, "\"first\""},
        {"index=1x", 7, "\"1x\""},
        {"cpu,gpu", 5, "\"gpu\""},
        {"cpu,type=cpu", 5, "\"type=cpu\""},
        {"0,1", 3, "\"1\""},
        {"a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;a;b", 65, "\"b\""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        size_t count = 7;
        dynsel_resource resources[4];
        const dynsel_status status =
            dynsel_opencl_select(table[i].selector, resources, COUNT(resources), &count);
        const dynsel_error *const error = dynsel_last_error();
        if (status != DYNSEL_E_INVALID || count != 0 || error->number != table[i].position) {
            fail_msg("\"%s\": %s at %u", table[i].selector, dynsel_status_name(status),
                     (unsigned)error->number);
        }
        assert_string_equal(error->subject, table[i].said);
        assert_string_equal(error->function, "dynsel_opencl_select");
        assert_contains(error->detail, "character {}");
    }
    assert_int_equal(fake_opencl_calls(NULL), 0); /* drivers are not loaded for nothing */
}

/* A word longer than any buffer is cut off, and the line still ends as it should. */
static void overlong_selector_word_is_truncated(void **state)
{
    char selector[4096];
    size_t count;
    (void)state;
    memset(selector, 'x', sizeof(selector));
    memcpy(&selector[sizeof(selector) - 3], "=1", 3);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_select(selector, NULL, 0, &count));
    assert_true(strlen(dynsel_last_error()->subject) < 100);
    assert_contains(error_line(), "x\"]");
    memcpy(&selector[sizeof(selector) - 3], "xx", 3);
    assert_status(DYNSEL_E_NO_RESOURCE, dynsel_opencl_select(selector, NULL, 0, &count));
}

static void duplicate_devices_of_platforms_count_once(void **state)
{
    (void)state;
    assert_string_equal(chosen_by("all"), "GeForce RTX 3060|pthread-AMD Ryzen");
    assert_string_equal(chosen_by("gpu"), "GeForce RTX 3060");
    assert_string_equal(chosen_by("platform=rusticl"), "NVIDIA GeForce RTX 3060");
    assert_string_equal(chosen_by("vendor=mesa"), "NVIDIA GeForce RTX 3060");
    assert_string_equal(chosen_by("platform=rusticl;platform=cuda"), "GeForce RTX 3060");
    assert_string_equal(chosen_by("1"), "pthread-AMD Ryzen");
}

/* The same device: by UUID, by address, all CPUs, and at last the k-th of that name. */
static void duplicates_are_recognized_by_uuid_address_or_rank(void **state)
{
    static const fake_device a[] = {
        {.name = "X", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .bus = 4},
        {.name = "X", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .bus = 5},
        {.name = "N", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1},
        {.name = "N", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1},
        {.name = "C1", .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .vendor_id = 1, .uuid = 1},
        {.name = "U", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .uuid = 2},
    };
    static const fake_device b[] = {
        {.name = "Y", .vendor = "W", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .bus = 5},
        {.name = "X", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .bus = 6},
        {.name = " N", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1},
        {.name = "N", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 2},
        {.name = "C2", .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .vendor_id = 1, .uuid = 3},
        {.name = "C3", .vendor = "V", .type = CL_DEVICE_TYPE_CPU, .vendor_id = 1, .uuid = 4},
        {.name = "U", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .vendor_id = 1, .uuid = 5},
    };
    static const fake_platform both[] = {{.name = "A", .count = COUNT(a), .devices = a},
                                         {.name = "B", .count = COUNT(b), .devices = b}};
    (void)state;
    show(both, COUNT(both));
    assert_string_equal(chosen_by("all"), "X|X|N|N|C1|U|X|N|U");
    assert_string_equal(chosen_by("platform=B"), "Y|X|N|N|C2|C3|U");
}

/* Equal UUIDs of two tiles: the second is not the first one of the other platform. */
static void tiles_with_equal_uuid_are_distinct(void **state)
{
    static const fake_device tiles[] = {
        {.name = "T", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .uuid = 9, .bus = 1},
        {.name = "T", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .uuid = 9, .bus = 1},
    };
    static const fake_platform both[] = {{.name = "A", .count = 1, .devices = tiles},
                                         {.name = "B", .count = 2, .devices = tiles}};
    (void)state;
    show(both, COUNT(both));
    assert_string_equal(chosen_by("all"), "T|T");
}

static void default_selector_comes_from_environment(void **state)
{
    size_t count;
    dynsel_resource resources[4];
    (void)state;
    assert_int_equal(setenv("DYNSEL_OPENCL", "cpu", 1), 0);
    assert_string_equal(chosen_by(NULL), "pthread-AMD Ryzen");
    assert_string_equal(chosen_by("gpu"), "GeForce RTX 3060");
    assert_int_equal(setenv("DYNSEL_OPENCL", "tpye=cpu", 1), 0);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_select("", resources, 4, &count));
    assert_contains(error_line(), "[DYNSEL_OPENCL: \"tpye\", meaning \"type\"?]");
    dynsel_round_robin_policy policy = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_round_robin_init(&policy, NULL, 0));
    assert_contains(error_line(), "\"tpye\"");
}

static void configured_selector_overrides_environment(void **state)
{
    size_t count = 0;
    (void)state;
    assert_int_equal(setenv("DYNSEL_OPENCL", "cpu", 1), 0);
    assert_status(DYNSEL_OK, dynsel_opencl_configure(&(dynsel_opencl_options){.selector = "gpu"}));
    dynsel_fixed_resource_policy policy = {0};
    const dynsel_options options = {.backend = &dynsel_opencl_backend};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    const dynsel_resource *const resources = dynsel_get_resources(&policy.policy, &count);
    assert_int_equal(count, 1);
    assert_string_equal(dynsel_resource_name(&resources[0]), "GeForce RTX 3060");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void selection_beyond_table_returns_needed_count(void **state)
{
    dynsel_resource resources[2] = {{0}};
    size_t count = 0;
    (void)state;
    show(machine, COUNT(machine));
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select("gpu", resources, 2, &count));
    assert_int_equal(count, 3);
    assert_string_equal(dynsel_resource_name(&resources[1]), "NVIDIA H200");
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select("gpu", NULL, 0, &count));
    assert_int_equal(count, 3);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_select("gpu", NULL, 1, &count));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_select("gpu", resources, 2, NULL));
}

static void note_verdict(const dynsel_opencl_device_info *info, void *context)
{
    char *const list = context;
    (void)strcat(list, info->name);
    (void)strcat(list, ": ");
    (void)strcat(list, info->reason);
    (void)strcat(list, "\n");
    size_t count; /* the visitor may call the backend */
    assert_status(DYNSEL_E_FULL, dynsel_opencl_select("all", NULL, 0, &count));
}

static void visitor_gets_verdict_for_each_device(void **state)
{
    char list[1024] = "";
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_visit_devices("all,index=0", note_verdict, list));
    assert_string_equal(
        list, "GeForce RTX 3060: the selector fits\n"
              "NVIDIA GeForce RTX 3060: the same physical device counts through platform NVIDIA "
              "CUDA\n"
              "Intel(R) FPGA Emulation Device: it is an emulator, and the selector has no term "
              "`emulator`\n"
              "pthread-AMD Ryzen: the selector does not fit\n");
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_visit_devices("all", NULL, list));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_visit_devices("a=b", note_verdict, list));
}

static void empty_selection_error_has_reason(void **state)
{
    (void)state;
    assert_string_equal(chosen_by("accelerator"), "DYNSEL_E_NO_RESOURCE");
    assert_contains(error_line(), "emulators: add the term `emulator`");
    assert_string_equal(chosen_by("custom"), "DYNSEL_E_NO_RESOURCE");
    assert_contains(error_line(), "fits none of the 4 OpenCL devices");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(selector_chooses_expected_devices),
        TEST(wrong_selector_is_refused_with_position),
        TEST(overlong_selector_word_is_truncated),
        TEST(duplicate_devices_of_platforms_count_once),
        TEST(duplicates_are_recognized_by_uuid_address_or_rank),
        TEST(tiles_with_equal_uuid_are_distinct),
        TEST(default_selector_comes_from_environment),
        TEST(configured_selector_overrides_environment),
        TEST(selection_beyond_table_returns_needed_count),
        TEST(visitor_gets_verdict_for_each_device),
        TEST(empty_selection_error_has_reason),
    };
    return RUN(tests);
}
