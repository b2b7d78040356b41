/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU is really lost in the middle of a stream of command groups: the others finish it. Needs a
 * GPU of NVIDIA, whose driver ends a kernel that writes outside of its buffer with -9999; elsewhere
 * such a kernel could harm the process. */
#include <stdio.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "opencl/fill_kernel.h"
#include "test.h"

enum { GROUPS = 96, LOSES_AT = GROUPS / 3, IN_FLIGHT = 8, BUFFERS = 12 };

/* The last one is for the kernel that does harm. */
static uint32_t words[BUFFERS + 1][WORDS];
static dynsel_buffer buffers[BUFFERS + 1];
static dynsel_submission submissions[GROUPS];
static dynsel_status ends[GROUPS];
static dynsel_round_robin_policy policy;

static const dynsel_kernel harm = {
    .name = "harm",
    .source = "kernel void harm(global uint *words, uint number)\n"
              "{ words[get_global_id(0) * 0x400000000ul + 0x4000000000ul] = number; }\n"};

typedef struct job {
    const dynsel_kernel *kernel;
    uint32_t number;
} job;

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status =
        dynsel_get_access(handler, buffers[j->kernel == &harm ? BUFFERS : j->number % BUFFERS],
                          DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->number, sizeof(j->number));
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, j->kernel, DYNSEL_RANGE(WORDS), NULL, NULL)
               : status;
}

static bool find_gpu(dynsel_resource *gpu)
{
    size_t count = 0;
    return dynsel_opencl_select("gpu", gpu, 1, &count) == DYNSEL_OK && count == 1 &&
           strstr(dynsel_resource_name(gpu), "NVIDIA") != NULL;
}

/* On the GPU alone, beside the stream. */
static void lose(const dynsel_resource *gpu)
{
    dynsel_fixed_resource_policy on_gpu = {0};
    job j = {.kernel = &harm, .number = LOSES_AT};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(
                                 &on_gpu, &(dynsel_options){.resources = gpu, .count = 1}, 0));
    assert_status(DYNSEL_E_DEVICE,
                  dynsel_submit_command_group_and_wait(&on_gpu.policy, record, &j));
    char text[256];
    (void)dynsel_error_text(NULL, text, sizeof(text));
    printf("lost: %s\n", text);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_gpu.policy));
}

static void end(uint32_t number)
{
    ends[number] = dynsel_wait(&submissions[number]);
    assert_true(ends[number] == DYNSEL_OK || ends[number] == DYNSEL_E_DEVICE);
}

static uint32_t run_stream(const dynsel_resource *gpu)
{
    uint32_t on_gpu_before = 0;
    for (uint32_t i = 0; i < GROUPS; i++) {
        job j = {.kernel = &fill, .number = i};
        if (i == LOSES_AT) {
            lose(gpu);
        }
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&policy.policy, record, &j, &submissions[i]));
        on_gpu_before += i < LOSES_AT && submissions[i].index == 0 ? 1 : 0;
        if (i >= IN_FLIGHT) {
            end(i - IN_FLIGHT);
        }
    }
    for (uint32_t i = GROUPS - IN_FLIGHT; i < GROUPS; i++) {
        end(i);
    }
    return on_gpu_before;
}

/* Each was written again after the loss. */
static void check_contents(void)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
        for (uint32_t k = 0; k < WORDS; k++) {
            assert_int_equal((GROUPS - BUFFERS + i) * WORDS + k, words[i][k]);
        }
    }
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&buffers[BUFFERS]));
}

static void lost_gpu_costs_its_own_work_only(void **state)
{
    (void)state;
    dynsel_resource resources[3];
    size_t cpus = 0;
    if (!find_gpu(&resources[0])) {
        skip();
    }
    (void)!dynsel_opencl_select("cpu", &resources[1], 1, &cpus);
    resources[1 + cpus] = (dynsel_resource){.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK,
                  dynsel_round_robin_init(
                      &policy, &(dynsel_options){.resources = resources, .count = 2 + cpus}, 0));
    for (uint32_t i = 0; i <= BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], words[i], sizeof(uint32_t),
                                                    DYNSEL_RANGE(WORDS)));
    }
    const uint32_t on_gpu = run_stream(&resources[0]);
    uint32_t failed = 0;
    for (uint32_t i = 0; i < GROUPS; i++) {
        failed += ends[i] != DYNSEL_OK ? 1 : 0;
        assert_true(ends[i] == DYNSEL_OK || submissions[i].index == 0);
    }
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_resource_in_service(&policy.policy, 0));
    check_contents();
    printf("%u groups: %u on the GPU before its loss, of which %u failed\n", (unsigned)GROUPS,
           (unsigned)on_gpu, (unsigned)failed);
    assert_true(on_gpu > 0 && failed <= on_gpu);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_gpu_costs_its_own_work_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
