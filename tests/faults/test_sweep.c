/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever call of OpenCL's fails, once or for good: nothing hangs, leaks or is wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "faults/counts.h"
#include "faults/sweep.h"
#include "test.h"

enum { WORDS = 64, GROUPS = 4 };

static dynsel_round_robin_policy policy;

static bool begin(size_t devices)
{
    const dynsel_options options = {.resources = fault_devices, .count = devices};
    policy = (dynsel_round_robin_policy){0};
    return fault_saw(dynsel_round_robin_init(&policy, &options, 0));
}

static void end(void)
{
    fault_nothing_runs();
    fault_must(dynsel_invariants_hold(&policy.policy), "the invariants do not hold");
    fault_must(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "the policy is still in use");
}

static const dynsel_kernel add = {
    .name = "add",
    .source = "kernel void add(global uint *words, uint value)\n"
              "{ words[get_global_id(0)] = words[get_global_id(0)] * 3 + value; }\n"};

/* What the groups of a scenario work on. */
typedef struct job {
    dynsel_buffer buffer;
    uint32_t *pointer;
    uint32_t value;
} job;

static dynsel_status require(dynsel_handler *handler, const job *j, dynsel_access_mode mode,
                             dynsel_accessor *data)
{
    return dynsel_get_access(handler, j->buffer, mode, DYNSEL_MEMORY_GLOBAL, data);
}

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status = require(handler, j, DYNSEL_ACCESS_READ_WRITE, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL)
                               : status;
}

/* The second is where devices would use it themselves, the first is not. */
static _Alignas(4096) uint32_t memory[2 * WORDS + 1024];
static uint32_t *const apart = memory + 1;
static uint32_t *const whole = memory + 1024;

/* What the groups that succeeded made of it. */
static void must_be(const uint32_t *results, const bool *succeeded)
{
    bool right = true;
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t word = i;
        for (uint32_t k = 0; k < GROUPS; k++) {
            word = succeeded[k] ? word * 3 + k : word;
        }
        right = right && results[i] == word;
    }
    fault_must(right, "the data are wrong, and nothing says so");
}

static bool give_up(dynsel_buffer *buffer)
{
    dynsel_host_accessor anything = {0};
    return dynsel_host_accessor_open(&anything, *buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
               DYNSEL_OK &&
           dynsel_host_accessor_close(&anything) == DYNSEL_OK &&
           dynsel_buffer_deinit(buffer) == DYNSEL_OK;
}

/* What cannot be brought home is tried again, and given up then; or when nothing fails any more,
 * where the host cannot have its own memory before. */
static bool end_buffer(dynsel_buffer *buffer, bool is_shared)
{
    bool ended = fault_saw(dynsel_buffer_deinit(buffer));
    if (!ended && buffer->token != 0) {
        ended = fault_saw(dynsel_buffer_deinit(buffer));
    }
    if (buffer->token != 0) {
        if (is_shared) {
            fault_clear();
        }
        fault_must(give_up(buffer), "a buffer cannot be given up");
    }
    return ended;
}

static void run_chain(dynsel_buffer buffer, bool *succeeded)
{
    dynsel_submission submissions[GROUPS];
    for (uint32_t i = 0; i < GROUPS; i++) {
        job j = {.buffer = buffer, .value = i};
        succeeded[i] =
            fault_saw(dynsel_submit_command_group(&policy.policy, add_value, &j, &submissions[i]));
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        if (succeeded[i]) {
            succeeded[i] = fault_saw(dynsel_wait(&submissions[i]));
        }
    }
}

static void read_on_host(dynsel_buffer buffer, const bool *succeeded)
{
    dynsel_host_accessor seen = {0};
    if (fault_saw(dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ))) {
        must_be(seen.data, succeeded);
        (void)fault_saw(dynsel_host_accessor_close(&seen));
    }
}

/* A chain of groups over all devices, a look by the host, and the end of the buffer. */
static void play_chain_on(uint32_t *words)
{
    dynsel_buffer buffer = {0};
    bool succeeded[GROUPS];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    if (!begin(fault_device_count)) {
        return;
    }
    if (fault_saw(dynsel_buffer_init(&buffer, words, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        run_chain(buffer, succeeded);
        read_on_host(buffer, succeeded);
        if (end_buffer(&buffer, words == whole)) {
            must_be(words, succeeded);
        }
    }
    end();
}

static void play_chain(void)
{
    play_chain_on(apart);
}

static void play_shared(void)
{
    play_chain_on(whole);
}

static dynsel_status fill_all(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    const dynsel_status status = require(handler, j, DYNSEL_ACCESS_DISCARD_WRITE, &data);
    return status == DYNSEL_OK ? dynsel_fill(handler, &data, &j->value, sizeof(j->value)) : status;
}

/* A column of a square, so that it takes several commands. */
static dynsel_status fill_column(dynsel_handler *handler, void *args)
{
    static const dynsel_accessor column = {.placeholder = true,
                                           .mode = DYNSEL_ACCESS_READ_WRITE,
                                           .target = DYNSEL_MEMORY_GLOBAL,
                                           .range = DYNSEL_RANGE_2D(8, 1),
                                           .offset = DYNSEL_RANGE_2D(0, 3)};
    const job *const j = args;
    const dynsel_status status = dynsel_require_buffer(handler, j->buffer, &column);
    return status == DYNSEL_OK ? dynsel_fill(handler, &column, &j->value, sizeof(j->value))
                               : status;
}

/* A square that is filled, and a column of it again. */
static void play_fill(void)
{
    dynsel_buffer buffer = {0};
    bool filled[2] = {false, false};
    if (!begin(1)) {
        return;
    }
    if (fault_saw(dynsel_buffer_init(&buffer, apart, sizeof(uint32_t), DYNSEL_RANGE_2D(8, 8)))) {
        job j = {.buffer = buffer, .value = 5};
        filled[0] = fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, fill_all, &j));
        j.value = 7;
        filled[1] =
            fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, fill_column, &j));
        if (end_buffer(&buffer, false) && filled[0] && filled[1]) {
            fault_must(apart[0] == 5 && apart[3] == 7 && apart[8 + 3] == 7 && apart[63] == 5,
                       "the data are wrong, and nothing says so");
        }
    }
    end();
}

DYNSEL_HOST_ITERATOR(numbers, int);

static const dynsel_kernel doubled = {
    .name = "doubled",
    .source = "kernel void doubled(global int *from, global int *to)\n"
              "{ to[get_global_id(0)] = 2 * from[get_global_id(0)]; }\n"};

static int staged[2][WORDS];

static dynsel_status double_ranges(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_status status =
        dynsel_set_range(handler, 0, numbers, numbers_make(staged[0]), WORDS, DYNSEL_ACCESS_READ);
    if (status == DYNSEL_OK) {
        status = dynsel_set_range(handler, 1, numbers, numbers_make(staged[1]), WORDS,
                                  DYNSEL_ACCESS_DISCARD_WRITE);
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &doubled, DYNSEL_RANGE(WORDS), NULL, NULL)
               : status;
}

static void play_ranges(void)
{
    if (!begin(1)) {
        return;
    }
    for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < WORDS; i++) {
            staged[0][i] = round * i;
        }
        if (fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, double_ranges, NULL))) {
            fault_must(staged[1][WORDS - 1] == 2 * round * (WORDS - 1),
                       "the data are wrong, and nothing says so");
        }
        fault_nothing_runs();
    }
    end();
}

#if CONFIG_DYNSEL_SVM
static dynsel_status add_to_pointer(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_status status = dynsel_set_arg_pointer(handler, 0, j->pointer);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL)
                               : status;
}

/* The host writes a block, a device adds to it, and the host reads it. */
static void use_block(uint32_t *block)
{
    job j = {.pointer = block, .value = 4};
    if (!fault_saw(dynsel_svm_map(block, DYNSEL_ACCESS_DISCARD_WRITE))) {
        return;
    }
    for (uint32_t i = 0; i < WORDS; i++) {
        block[i] = i;
    }
    if (fault_saw(dynsel_svm_unmap(block)) &&
        fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, add_to_pointer, &j)) &&
        fault_saw(dynsel_svm_map(block, DYNSEL_ACCESS_READ))) {
        fault_must(block[0] == 4 && block[WORDS - 1] == (WORDS - 1) * 3 + 4,
                   "the data are wrong, and nothing says so");
        (void)fault_saw(dynsel_svm_unmap(block));
    }
}

static void play_svm(void)
{
    void *block = NULL;
    if (!begin(1)) {
        return;
    }
    if (fault_saw(dynsel_svm_alloc(&fault_devices[0], WORDS * sizeof(uint32_t), 0, &block))) {
        use_block(block);
        (void)fault_saw(dynsel_svm_free(block));
    }
    end();
}
#endif

/* From nothing: a context, a queue and a kernel are made. */
static void play_opening(void)
{
    dynsel_buffer buffer = {0};
    if (!begin(1)) {
        return;
    }
    if (fault_saw(dynsel_buffer_init(&buffer, apart, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        job j = {.buffer = buffer};
        (void)fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, add_value, &j));
        (void)end_buffer(&buffer, false);
    }
    end();
}

/* What could not be opened is, once it is reinstated and nothing fails any more. */
static void play_reinstating(void)
{
    if (!begin(1)) {
        return;
    }
    if (dynsel_opencl_queue(&fault_devices[0]) == NULL) {
        (void)fault_saw(dynsel_last_error()->status);
        fault_clear();
        fault_must((dynsel_resource_in_service(&policy.policy, 0) == DYNSEL_OK ||
                    dynsel_resource_reinstate(&policy.policy, 0) == DYNSEL_OK) &&
                       dynsel_opencl_queue(&fault_devices[0]) != NULL,
                   "a device that was reinstated is not opened again");
    }
    end();
}

static const fault_function while_opening[] = {FAULT_clBuildProgram,
                                               FAULT_clCreateCommandQueue,
                                               FAULT_clCreateContext,
                                               FAULT_clCreateKernel,
                                               FAULT_clCreateProgramWithSource,
                                               FAULT_clGetDeviceInfo,
                                               FAULT_clGetKernelInfo,
                                               FAULT_clGetKernelWorkGroupInfo,
                                               FAULT_clGetProgramBuildInfo,
                                               FAULT_clReleaseKernel,
                                               FAULT_clReleaseProgram,
                                               FAULT_clReleaseCommandQueue,
                                               FAULT_clReleaseContext,
                                               FAULT_clSetKernelArg};

/* How a device is found is looked at by play_finding alone. */
static void play_finding(void)
{
    if (fault_saw(
            dynsel_opencl_select("all", fault_devices, FAULT_MOST_DEVICES, &fault_device_count))) {
        play_opening();
    }
}

static const fault_function while_finding[] = {FAULT_clGetPlatformIDs, FAULT_clGetDeviceIDs};

#if CONFIG_DYNSEL_SVM
static const fault_function while_sharing[] = {FAULT_clEnqueueSVMMap,
                                               FAULT_clEnqueueSVMUnmap,
                                               FAULT_clSetKernelArgSVMPointer,
                                               FAULT_clSetKernelArg,
                                               FAULT_clEnqueueNDRangeKernel,
                                               FAULT_clWaitForEvents,
                                               FAULT_clGetEventInfo,
                                               FAULT_clFlush,
                                               FAULT_clReleaseEvent};
#endif

#define ONLY(functions)                                                                            \
    .only = (functions), .only_count = sizeof(functions) / sizeof((functions)[0])
#define SWEEP(...) assert_int_equal(fault_sweep(&(fault_scenario){__VA_ARGS__}), 0)

static void chain_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "chain", .play = play_chain);
}

static void shared_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "shared", .play = play_shared);
}

static void fill_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "fill", .play = play_fill);
}

static void ranges_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "ranges", .play = play_ranges);
}

#if CONFIG_DYNSEL_SVM
static void svm_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "svm", .play = play_svm, ONLY(while_sharing));
}
#endif

static void opening_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "opening", .play = play_opening, .is_cold = true, ONLY(while_opening));
}

static void reinstating_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "reinstating", .play = play_reinstating, .is_cold = true, ONLY(while_opening));
}

static void finding_scenario_survives_each_fault(void **state)
{
    (void)state;
    SWEEP(.name = "finding", .play = play_finding, .is_cold = true, .finds_devices = true,
          ONLY(while_finding));
}

/* DYNSEL_TEST_SCENARIO: only the scenario of this name. */
int main(void)
{
    const char *const scenario = getenv("DYNSEL_TEST_SCENARIO");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_scenario_survives_each_fault),
        cmocka_unit_test(shared_scenario_survives_each_fault),
        cmocka_unit_test(fill_scenario_survives_each_fault),
        cmocka_unit_test(ranges_scenario_survives_each_fault),
#if CONFIG_DYNSEL_SVM
        cmocka_unit_test(svm_scenario_survives_each_fault),
#endif
        cmocka_unit_test(opening_scenario_survives_each_fault),
        cmocka_unit_test(reinstating_scenario_survives_each_fault),
        cmocka_unit_test(finding_scenario_survives_each_fault),
    };
    if (scenario != NULL) {
        static char tests_of_scenario[64];
        (void)snprintf(tests_of_scenario, sizeof tests_of_scenario, "%s_scenario_*", scenario);
        cmocka_set_test_filter(tests_of_scenario);
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fault_print_counts();
    return failed;
}
