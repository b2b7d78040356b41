/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the OpenCL backend on the fake OpenCL; to be included first. */
#ifndef DYNSEL_TESTS_OPENCL_FIXTURE_H
#define DYNSEL_TESTS_OPENCL_FIXTURE_H

#define _POSIX_C_SOURCE 200809L /* setenv() */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "fakes/fake_opencl.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A machine as people have it: one GPU with two drivers, an emulator, a CPU. */
static const fake_device universe_a[] = {
    {.name = "  GeForce RTX 3060 ",
     .vendor = "NVIDIA Corporation",
     .type = CL_DEVICE_TYPE_GPU,
     .vendor_id = 0x10de,
     .uuid = 7},
};
static const fake_device universe_b[] = {
    {.name = "NVIDIA GeForce RTX 3060",
     .vendor = "Mesa",
     .type = CL_DEVICE_TYPE_GPU,
     .vendor_id = 0x10de,
     .uuid = 7},
};
static const fake_device universe_c[] = {
    {.name = "Intel(R) FPGA Emulation Device",
     .vendor = "Intel(R) Corporation",
     .type = CL_DEVICE_TYPE_ACCELERATOR,
     .vendor_id = 4466},
};
static const fake_device universe_d[] = {
    {.name = "pthread-AMD Ryzen",
     .vendor = "AuthenticAMD",
     .type = CL_DEVICE_TYPE_CPU,
     .vendor_id = 0x6c6f6370},
};
static const fake_platform universe[] = {
    {.name = "NVIDIA CUDA", .count = 1, .devices = universe_a},
    {.name = "rusticl", .count = 1, .devices = universe_b},
    {.name = "Intel(R) FPGA SDK", .count = 1, .devices = universe_c},
    {.name = "Portable Computing Language", .count = 1, .devices = universe_d},
};

static inline void show(const fake_platform *platforms, size_t count)
{
    fake_opencl_show(platforms, (cl_uint)count, CL_SUCCESS);
}

static inline int set_up(void **state)
{
    (void)state;
    (void)unsetenv("DYNSEL_OPENCL");
    show(universe, COUNT(universe));
    return 0;
}

/* Whatever the test did: nothing leaks, and nothing was done that drivers do not bear. */
static inline int tear_down(void **state)
{
    (void)state;
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    fake_opencl_fail_at(0, CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_int_equal(fake_opencl_leaks(), 0);
    assert_int_equal(fake_opencl_violations(), 0);
    return 0;
}

/* The names of the chosen devices, as "first|second"; the status when there are none. */
static inline const char *chosen_by(const char *selector)
{
    static char list[1024];
    dynsel_resource resources[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    size_t count = 0;
    list[0] = '\0';
    const dynsel_status status =
        dynsel_opencl_select(selector, resources, COUNT(resources), &count);
    if (status != DYNSEL_OK) {
        return dynsel_status_name(status);
    }
    for (size_t i = 0; i < count; i++) {
        (void)strcat(list, i == 0 ? "" : "|");
        (void)strcat(list, dynsel_resource_name(&resources[i]));
    }
    return list;
}

/* Runs the tests, unless this build's tables are too small for the machines in them. */
#define RUN(tests) (has_room() ? cmocka_run_group_tests(tests, NULL, NULL) : 0)

static inline bool has_room(void)
{
    if (CONFIG_DYNSEL_OPENCL_MAX_DEVICES >= 13 && CONFIG_DYNSEL_OPENCL_MAX_PLATFORMS >= 4 &&
        CONFIG_DYNSEL_MAX_RESOURCES >= 8 && CONFIG_DYNSEL_MAX_IN_FLIGHT >= 16) {
        return true;
    }
    print_message("[  SKIPPED ] all: the machines in these tests need room for 13 OpenCL devices, "
                  "4 platforms, 8 resources and 16 submissions in flight\n");
    return false;
}

/* The whole line of the last error. */
static inline const char *error_line(void)
{
    static char line[1024];
    (void)dynsel_error_text(NULL, line, sizeof(line));
    return line;
}

static inline void assert_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", text, part);
    }
}

#endif
