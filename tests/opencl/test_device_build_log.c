/* SPDX-License-Identifier: Apache-2.0 */
/* The logs of compilers, also where they succeed, on the devices of this machine. */
#include "device_fixture.h"

static const dynsel_kernel warned = {.name = "warned",
                                     .source = "#warning remarkable\n"
                                               "kernel void warned(global int *to) { *to = 1; }\n"};
static const dynsel_kernel quiet = {.name = "quiet",
                                    .source = "kernel void quiet(global int *to) { *to = 2; }\n"};
static const dynsel_kernel broken = {.name = "broken",
                                     .source = "kernel void broken(global int *to) { oops }\n"};

static char text[8192];

/* Not all compilers have a log of what they accept; PoCL's has. */
static bool is_pocl(size_t index)
{
    char name[128] = "";
    cl_platform_id platform = NULL;
    const cl_device_id device = dynsel_opencl_device(&resources[index]);
    assert_int_equal(
        clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL),
        CL_SUCCESS);
    (void)clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL);
    return strcmp(name, "Portable Computing Language") == 0;
}

static void log_of_accepted_kernel_has_its_warnings(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    for (size_t i = 0; i < resource_count; i++) {
        size_t length = SIZE_MAX;
        size_t measured = 0;
        assert_status(DYNSEL_OK,
                      dynsel_opencl_build_log(&resources[i], &warned, text, sizeof(text), &length));
        assert_int_equal(strlen(text), length);
        if (is_pocl(i)) {
            assert_non_null(strstr(text, "remarkable"));
        }
        assert_status(DYNSEL_OK,
                      dynsel_opencl_build_log(&resources[i], &warned, NULL, 0, &measured));
        assert_int_equal(measured, length);
        assert_status(DYNSEL_OK,
                      dynsel_opencl_build_log(&resources[i], &warned, text, length + 1, &measured));
        assert_int_equal(strlen(text), length);
        for (size_t bytes = 1; bytes <= length; bytes++) {
            text[0] = 'x';
            text[bytes] = 'y';
            assert_status(DYNSEL_E_FULL,
                          dynsel_opencl_build_log(&resources[i], &warned, text, bytes, &measured));
            assert_int_equal(measured, length);
            assert_int_equal(dynsel_last_error()->number, length + 1);
            assert_string_equal(text, "");
            assert_int_equal(text[bytes], 'y');
        }
    }
}

static void log_without_warnings_says_nothing_of_them(void **state)
{
    size_t length = SIZE_MAX;
    (void)state;
    skip_unless(resource_count > 0);
    assert_status(DYNSEL_OK,
                  dynsel_opencl_build_log(&resources[0], &quiet, text, sizeof(text), &length));
    assert_int_equal(strlen(text), length);
    assert_null(strstr(text, "remarkable"));
}

static void log_of_refused_kernel_is_what_is_kept(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    for (int again = 0; again < 2; again++) {
        size_t length = 0;
        assert_status(DYNSEL_E_TASK,
                      dynsel_opencl_build_log(&resources[0], &broken, text, sizeof(text), &length));
        assert_int_equal(strlen(text), length);
        assert_non_null(strstr(text, "oops"));
        assert_status(DYNSEL_E_TASK,
                      dynsel_opencl_build_log(&resources[0], &broken, text, 4, &length));
        assert_true(strlen(text) < 4);
        assert_status(DYNSEL_E_TASK,
                      dynsel_opencl_build_log(&resources[0], &broken, NULL, 0, &length));
    }
}

static void wrong_arguments_are_refused(void **state)
{
    static const dynsel_kernel nameless = {.source = "kernel void quiet() {}"};
    static const dynsel_kernel formless = {.name = "formless"};
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    size_t length = 0;
    (void)state;
    skip_unless(resource_count > 0);
    const dynsel_resource *const where = &resources[0];
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(NULL, &quiet, text, 8, &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(&host, &quiet, text, 8, &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(where, NULL, text, 8, &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(where, &quiet, NULL, 8, &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(where, &quiet, text, 8, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(where, &nameless, text, 8, &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_build_log(where, &formless, text, 8, &length));
    assert_error_says("no form for OpenCL devices");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(log_of_accepted_kernel_has_its_warnings),
        cmocka_unit_test(log_without_warnings_says_nothing_of_them),
        cmocka_unit_test(log_of_refused_kernel_is_what_is_kept),
        cmocka_unit_test(wrong_arguments_are_refused),
    };
    return has_room() ? cmocka_run_group_tests(tests, open_devices, close_devices) : 0;
}
