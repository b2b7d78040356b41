/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real drivers: what the library says that their devices have, against questions of the test's own;
 * and programs with the prelude in front, as their compilers see them.
 *
 * DYNSEL_EXPECT_DEVICES says how many OpenCL devices there must be; unset: any number.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static dynsel_resource resources[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
static size_t resource_count;

static int set_up(void **state)
{
    (void)state;
    const char *expected = getenv("DYNSEL_EXPECT_DEVICES");
    const dynsel_status status =
        dynsel_opencl_select("all;emulator", resources, COUNT(resources), &resource_count);
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_NO_RESOURCE);
    if (expected != NULL) {
        assert_int_equal(resource_count, atoi(expected));
    }
    return 0;
}

/* Room for any answer, unlike in the library. */
static char text[65536];

static inline bool lists(const dynsel_resource *where, const char *extension)
{
    const size_t length = strlen(extension);
    (void)strcpy(text, " ");
    assert_int_equal(clGetDeviceInfo(dynsel_opencl_device(where), CL_DEVICE_EXTENSIONS,
                                     sizeof(text) - 2, text + 1, NULL),
                     CL_SUCCESS);
    (void)strcat(text, " ");
    for (const char *at = text; (at = strstr(at, extension)) != NULL; at++) {
        if (at[-1] == ' ' && at[length] == ' ') {
            return true;
        }
    }
    return false;
}

static inline bool is_true(const dynsel_resource *where, cl_device_info what)
{
    cl_uint answer = 0;
    return clGetDeviceInfo(dynsel_opencl_device(where), what, sizeof(answer), &answer, NULL) ==
               CL_SUCCESS &&
           answer != 0;
}

static inline bool has_bits(const dynsel_resource *where, cl_device_info what, cl_bitfield bits)
{
    cl_bitfield answer = 0;
    return clGetDeviceInfo(dynsel_opencl_device(where), what, sizeof(answer), &answer, NULL) ==
               CL_SUCCESS &&
           (answer & bits) == bits;
}

#define SAYS(aspect, truth) assert_int_equal(dynsel_resource_has(r, DYNSEL_ASPECT_##aspect), truth)

static void reported_aspects_agree_with_driver(void **state)
{
    (void)state;
    for (const dynsel_resource *r = resources; r < resources + resource_count; r++) {
#if CONFIG_DYNSEL_ASPECT_CPU
        SAYS(cpu, has_bits(r, CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU));
#endif
#if CONFIG_DYNSEL_ASPECT_GPU
        SAYS(gpu, has_bits(r, CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU));
#endif
#if CONFIG_DYNSEL_ASPECT_FP16
        SAYS(fp16, lists(r, "cl_khr_fp16"));
#endif
#if CONFIG_DYNSEL_ASPECT_FP64
        SAYS(fp64, lists(r, "cl_khr_fp64"));
        SAYS(fp64, has_bits(r, CL_DEVICE_DOUBLE_FP_CONFIG, CL_FP_FMA));
#endif
#if CONFIG_DYNSEL_ASPECT_ATOMIC64
        SAYS(atomic64,
             lists(r, "cl_khr_int64_base_atomics") && lists(r, "cl_khr_int64_extended_atomics"));
#endif
#if CONFIG_DYNSEL_ASPECT_IMAGE
        SAYS(image, is_true(r, CL_DEVICE_IMAGE_SUPPORT));
#endif
#if CONFIG_DYNSEL_ASPECT_ONLINE_COMPILER
        SAYS(online_compiler, is_true(r, CL_DEVICE_COMPILER_AVAILABLE));
#endif
#if CONFIG_DYNSEL_ASPECT_ONLINE_LINKER
        SAYS(online_linker, is_true(r, CL_DEVICE_LINKER_AVAILABLE));
#endif
#if CONFIG_DYNSEL_ASPECT_QUEUE_PROFILING
        SAYS(queue_profiling, has_bits(r, CL_DEVICE_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE));
#endif
#if CONFIG_DYNSEL_ASPECT_EXT_OPENCL_OUT_OF_ORDER_QUEUE
        SAYS(ext_opencl_out_of_order_queue,
             has_bits(r, CL_DEVICE_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE));
#endif
#if CONFIG_DYNSEL_ASPECT_EXT_OPENCL_HOST_UNIFIED_MEMORY
        SAYS(ext_opencl_host_unified_memory, is_true(r, CL_DEVICE_HOST_UNIFIED_MEMORY));
#endif
#if CONFIG_DYNSEL_ASPECT_EXT_OPENCL_3D_IMAGE_WRITES
        SAYS(ext_opencl_3d_image_writes, lists(r, "cl_khr_3d_image_writes"));
#endif
#if CONFIG_DYNSEL_ASPECT_EXT_OPENCL_ERROR_CORRECTION
        SAYS(ext_opencl_error_correction, is_true(r, CL_DEVICE_ERROR_CORRECTION_SUPPORT));
#endif
#if CONFIG_DYNSEL_ASPECT_EXT_OPENCL_SVM_COARSE_GRAIN_BUFFER
        SAYS(ext_opencl_svm_coarse_grain_buffer, has_bits(r, 0x1053, 1));
#endif
#if CONFIG_DYNSEL_ASPECT_HOST
        SAYS(host, false);
#endif
    }
}

static const char *info_text(const dynsel_resource *where, cl_device_info what)
{
    assert_int_equal(clGetDeviceInfo(dynsel_opencl_device(where), what, sizeof(text), text, NULL),
                     CL_SUCCESS);
    return text;
}

static void device_texts_come_from_driver(void **state)
{
    (void)state;
    for (const dynsel_resource *r = resources; r < resources + resource_count; r++) {
        dynsel_device device;
        assert_status(DYNSEL_OK, dynsel_resource_describe(r, &device));
        assert_non_null(strstr(info_text(r, CL_DEVICE_VENDOR), device.vendor));
        assert_non_null(strstr(info_text(r, CL_DEVICE_NAME), device.name));
        cl_platform_id platform = NULL;
        assert_int_equal(clGetDeviceInfo(dynsel_opencl_device(r), CL_DEVICE_PLATFORM,
                                         sizeof(platform), &platform, NULL),
                         CL_SUCCESS);
        assert_int_equal(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(text), text, NULL),
                         CL_SUCCESS);
        assert_non_null(strstr(text, device.platform));
        assert_int_not_equal(device.platform[0], '\0');
    }
}

/* CL_SUCCESS or why not; the log is in `text`. */
static cl_int build(const dynsel_resource *where, const char *source, cl_program *program)
{
    cl_device_id device = dynsel_opencl_device(where);
    *program = dynsel_opencl_program(where, source);
    assert_non_null(*program);
    const cl_int code = clBuildProgram(*program, 1, &device, "", NULL, NULL);
    memset(text, 0, sizeof(text));
    (void)clGetProgramBuildInfo(*program, device, CL_PROGRAM_BUILD_LOG, sizeof(text) - 1, text,
                                NULL);
    return code;
}

/* Writes a number for each aspect: what device code sees, in `#if` and in C. */
static const char *source_of_all(void)
{
    static char source[16384];
    size_t used = (size_t)sprintf(source, "__kernel void tell(__global int *out) {\n");
#define DYNSEL_ASPECT(name, words, host, opencl)                                                   \
    used += (size_t)sprintf(source + used,                                                         \
                            "#if dynsel_all_devices_have(%s)\n*out++ = 1;\n#else\n*out++ = 0;\n"   \
                            "#endif\n*out++ = dynsel_any_device_has(%s);\n",                       \
                            #name, #name);
#include <dynsel/aspects.def>
    (void)sprintf(source + used,
                  "#ifdef __DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__\n*out++ = 1;\n#else\n*out++ = 0;\n"
                  "#endif\n}\n");
    return source;
}

static const cl_int traits[] = {
#define DYNSEL_ASPECT(name, words, host, opencl)                                                   \
    dynsel_all_devices_have(name), dynsel_any_device_has(name),
#include <dynsel/aspects.def>
#if defined(__DYNSEL_ANY_DEVICE_HAS_ANY_ASPECT__)
    1
#else
    0
#endif
};

static void run_tell(const dynsel_resource *where, cl_program program, cl_int *out)
{
    const cl_command_queue queue = dynsel_opencl_queue(where);
    const size_t one = 1;
    cl_int code = CL_SUCCESS;
    const cl_mem buffer = clCreateBuffer(dynsel_opencl_context(where), CL_MEM_WRITE_ONLY,
                                         sizeof(traits), NULL, &code);
    const cl_kernel kernel = clCreateKernel(program, "tell", &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(traits), out, 0, NULL, NULL),
        CL_SUCCESS);
    (void)clReleaseKernel(kernel);
    (void)clReleaseMemObject(buffer);
}

static void traits_in_device_code_equal_those_on_host(void **state)
{
    (void)state;
    for (const dynsel_resource *r = resources; r < resources + resource_count; r++) {
        cl_int seen[COUNT(traits)];
        cl_program program = NULL;
        if (build(r, source_of_all(), &program) != CL_SUCCESS) {
            fail_msg("%s", text);
        }
        memset(seen, 0x55, sizeof(seen));
        run_tell(r, program, seen);
        assert_memory_equal(seen, traits, sizeof(traits));
        (void)clReleaseProgram(program);
    }
}

/* Some compilers heed the prelude's `#line` in __LINE__, but count all lines when they complain. */
static bool tells_line(unsigned line)
{
    unsigned before = 0;
    for (const char *c = dynsel_opencl_prelude; *c != '\0'; c++) {
        before += *c == '\n' ? 1 : 0;
    }
    static const char *const forms[] = {":%u:", "line %u", "(%u)"};
    for (size_t i = 0; i < 2 * COUNT(forms); i++) {
        char place[32];
        (void)snprintf(place, sizeof(place), forms[i / 2], i % 2 == 0 ? line : before + line);
        if (strstr(text, place) != NULL) {
            return true;
        }
    }
    return false;
}

/* In C the log has the name in it; of a wrong `#if` some drivers tell the line only. */
static void unknown_aspect_in_device_code_fails_build(void **state)
{
    static const struct {
        const char *source;
        const char *said; /* NULL: only the line, the second */
    } wrong[] = {
        {"__kernel void k(void) {\n#if dynsel_any_device_has(fp65)\n#endif\n}\n", NULL},
        {"__kernel void k(void) {\n#if dynsel_all_devices_have(fp65)\n#endif\n}\n", NULL},
        {"__kernel void k(__global int *out) { *out = dynsel_all_devices_have(fp65); }\n",
         "DYNSEL_NO_SUCH_ASPECT_fp65"},
        {"__kernel void k(__global int *out) { *out = dynsel_any_device_has(fp65); }\n",
         "DYNSEL_NO_SUCH_ASPECT_fp65"},
    };
    (void)state;
    for (size_t i = 0; i < resource_count * COUNT(wrong); i++) {
        const dynsel_resource *where = &resources[i / COUNT(wrong)];
        cl_program program = NULL;
        assert_int_not_equal(build(where, wrong[i % COUNT(wrong)].source, &program), CL_SUCCESS);
        const char *said = wrong[i % COUNT(wrong)].said;
        if (said == NULL ? !tells_line(2) : strstr(text, said) == NULL) {
            fail_msg("the log does not tell %s: %s", said == NULL ? "line 2" : said, text);
        }
        (void)clReleaseProgram(program);
    }
}

/* The third line is wrong, and the driver says the third line. */
static void build_errors_keep_line_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        cl_program program = NULL;
        assert_int_not_equal(
            build(&resources[i], "\n\n__kernel void k(void) { undeclared = 1; }\n", &program),
            CL_SUCCESS);
        if (!tells_line(3)) {
            fail_msg("not in line 3: %s", text);
        }
        (void)clReleaseProgram(program);
    }
}

/* A program that is one line without an end, and one with its own #line. */
static void prelude_leaves_source_unchanged(void **state)
{
    static const char *const sources[] = {
        "__kernel void k(__global int *out) { *out = __LINE__ == 1 ? 1 : 2; }",
        "#line 70\n#if __LINE__ != 70\n#error moved\n#endif\n__kernel void k(void) {}",
        "#ifndef dynsel_any_device_has\n#error no prelude\n#endif\n__kernel void k(void) {}\n",
        "#ifndef dynsel_all_devices_have\n#error no prelude\n#endif\n__kernel void k(void) {}\n",
        "#if __LINE__ != 1\n#error not the first line\n#endif\n__kernel void k(void) {}\n",
    };
    (void)state;
    for (size_t i = 0; i < resource_count * COUNT(sources); i++) {
        cl_program program = NULL;
        if (build(&resources[i / COUNT(sources)], sources[i % COUNT(sources)], &program) !=
            CL_SUCCESS) {
            fail_msg("%s", text);
        }
        (void)clReleaseProgram(program);
    }
}

/* A queue on a part of a device, as programs make them. */
static void subdevices_are_described(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        const cl_device_partition_property halves[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
        cl_device_id part = NULL;
        cl_int code = CL_SUCCESS;
        if (clCreateSubDevices(dynsel_opencl_device(&resources[i]), halves, 1, &part, NULL) !=
                CL_SUCCESS &&
            part == NULL) {
            continue; /* it is too small, or cannot be divided */
        }
        const cl_context context = clCreateContext(NULL, 1, &part, NULL, NULL, &code);
        assert_int_equal(code, CL_SUCCESS);
        const cl_command_queue queue = clCreateCommandQueue(context, part, 0, &code);
        assert_int_equal(code, CL_SUCCESS);
        assert_non_null(dynsel_opencl_adopt(queue));
        const dynsel_resource mine = {&dynsel_opencl_backend, queue};
        dynsel_device device;
        dynsel_device whole;
        assert_status(DYNSEL_OK, dynsel_resource_describe(&mine, &device));
        assert_status(DYNSEL_OK, dynsel_resource_describe(&resources[i], &whole));
        assert_string_equal(device.platform, whole.platform);
        assert_string_equal(device.vendor, whole.vendor);
        assert_int_equal(device.aspects, whole.aspects);
        (void)clReleaseCommandQueue(queue);
        (void)clReleaseContext(context);
        (void)clReleaseDevice(part);
    }
    assert_status(DYNSEL_OK, dynsel_opencl_close());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(reported_aspects_agree_with_driver),
        TEST_SET_UP(device_texts_come_from_driver),
        TEST_SET_UP(traits_in_device_code_equal_those_on_host),
        TEST_SET_UP(unknown_aspect_in_device_code_fails_build),
        TEST_SET_UP(build_errors_keep_line_numbers),
        TEST_SET_UP(prelude_leaves_source_unchanged),
        TEST_SET_UP(subdevices_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
