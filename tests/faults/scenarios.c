/* SPDX-License-Identifier: Apache-2.0 */
/* What is played while calls and commands fail. */
#include "faults/scenarios.h"

#include "faults/own_queue.h"

enum { WORDS = 64, GROUPS = 4 };

static dynsel_round_robin_policy policy;
static dynsel_policy *on; /* the policy that is played with */

static bool begin(size_t devices)
{
    const dynsel_options options = {.resources = fault_devices, .count = devices};
    policy = (dynsel_round_robin_policy){0};
    on = &policy.policy;
    return fault_saw(dynsel_round_robin_init(&policy, &options, 0));
}

static void end(void)
{
    fault_nothing_runs();
    fault_must(dynsel_invariants_hold(on), "the invariants do not hold");
    fault_must(dynsel_policy_deinit(on) == DYNSEL_OK, "the policy is still in use");
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

static void must_be_right(bool right)
{
    fault_must(right || fault_is_lied_to(), "the data are wrong, and nothing says so");
}

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
    must_be_right(right);
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
        succeeded[i] = fault_saw(dynsel_submit_command_group(on, add_value, &j, &submissions[i]));
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

/* A chain of groups, a look by the host, and the end of the buffer. */
static void use_chain(uint32_t *words)
{
    dynsel_buffer buffer = {0};
    bool succeeded[GROUPS];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
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
    if (begin(fault_device_count)) {
        use_chain(apart);
    }
}

static void play_shared(void)
{
    if (begin(fault_device_count)) {
        use_chain(whole);
    }
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES
static struct {
    uint32_t submissions;
    uint32_t ends;
    uint32_t times;
} heard;

static dynsel_status select_in_turn(dynsel_policy *base, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    for (uint32_t i = 0; i < base->count; i++) {
        selection->index = (heard.submissions + i) % base->count;
        if (dynsel_policy_may_use(base, selection->index, task)) {
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(base, task);
}

static void hear(dynsel_policy *base, const dynsel_selection *selection, dynsel_execution_info info,
                 uint64_t value)
{
    (void)base;
    (void)selection;
    (void)value;
    heard.submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    heard.times += info == DYNSEL_TASK_TIME ? 1 : 0;
    heard.ends += info == DYNSEL_TASK_COMPLETION || info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
}

static const dynsel_policy_ops timing = {.name = "timing",
                                         .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION |
                                                  DYNSEL_TASK_TIME,
                                         .try_select = select_in_turn,
                                         .report = hear};

static const fault_function while_timing[] = {FAULT_clSetEventCallback, FAULT_clGetEventInfo,
                                              FAULT_clWaitForEvents, FAULT_clReleaseEvent};

/* A policy that hears of the ends, and of their times. */
static void play_timed(void)
{
    static dynsel_policy timed;
    const dynsel_options options = {.resources = fault_devices, .count = fault_device_count};
    heard.submissions = 0;
    heard.ends = 0;
    heard.times = 0;
    timed = (dynsel_policy){.count = 0};
    on = &timed;
    if (fault_saw(dynsel_policy_init(&timed, &timing, &options))) {
        use_chain(apart);
        fault_must(heard.ends == heard.submissions && heard.times <= heard.ends,
                   "work is not reported once");
    }
}
#endif

/* What works beside a device that fails. */
static dynsel_round_robin_policy healthy;
static uint32_t beside[WORDS];

static void must_succeed(dynsel_status status)
{
    fault_must(status == DYNSEL_OK, "work on another device fails");
}

static void run_both_chains(dynsel_buffer failing, dynsel_buffer working, bool *succeeded)
{
    dynsel_submission submissions[GROUPS];
    dynsel_submission others[GROUPS];
    for (uint32_t i = 0; i < GROUPS; i++) {
        job j = {.buffer = failing, .value = i};
        succeeded[i] = fault_saw(dynsel_submit_command_group(on, add_value, &j, &submissions[i]));
        j.buffer = working;
        must_succeed(dynsel_submit_command_group(&healthy.policy, add_value, &j, &others[i]));
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        must_succeed(dynsel_wait(&others[i]));
        if (succeeded[i]) {
            succeeded[i] = fault_saw(dynsel_wait(&submissions[i]));
        }
    }
}

static void use_both(void)
{
    dynsel_buffer failing = {0};
    dynsel_buffer working = {0};
    bool succeeded[GROUPS];
    const bool all[GROUPS] = {true, true, true, true};
    for (uint32_t i = 0; i < WORDS; i++) {
        apart[i] = i;
        beside[i] = i;
    }
    must_succeed(dynsel_buffer_init(&working, beside, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    if (fault_saw(dynsel_buffer_init(&failing, apart, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        run_both_chains(failing, working, succeeded);
        read_on_host(failing, succeeded);
        if (end_buffer(&failing, false)) {
            must_be(apart, succeeded);
        }
    }
    must_succeed(dynsel_buffer_deinit(&working));
    must_be(beside, all);
}

/* One device fails, and another has a context of its own. */
static void play_beside(void)
{
    const dynsel_resource other = fault_own_queue(&fault_devices[fault_device_count - 1]);
    const dynsel_options options = {.resources = &other, .count = 1};
    healthy = (dynsel_round_robin_policy){0};
    must_succeed(dynsel_round_robin_init(&healthy, &options, 0));
    if (begin(1)) {
        fault_aim_at_context(&policy); /* nothing, while the device is opened */
        fault_aim_at_context(dynsel_opencl_context(&fault_devices[0]));
        use_both();
        end();
    }
    fault_must(dynsel_resource_in_service(&healthy.policy, 0) == DYNSEL_OK,
               "another device leaves service");
    must_succeed(dynsel_policy_deinit(&healthy.policy));
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
        filled[0] = fault_saw(dynsel_submit_command_group_and_wait(on, fill_all, &j));
        j.value = 7;
        filled[1] = fault_saw(dynsel_submit_command_group_and_wait(on, fill_column, &j));
        if (end_buffer(&buffer, false) && filled[0] && filled[1]) {
            must_be_right(apart[0] == 5 && apart[3] == 7 && apart[8 + 3] == 7 && apart[63] == 5);
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
        if (fault_saw(dynsel_submit_command_group_and_wait(on, double_ranges, NULL))) {
            must_be_right(staged[1][WORDS - 1] == 2 * round * (WORDS - 1));
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
        fault_saw(dynsel_submit_command_group_and_wait(on, add_to_pointer, &j)) &&
        fault_saw(dynsel_svm_map(block, DYNSEL_ACCESS_READ))) {
        must_be_right(block[0] == 4 && block[WORDS - 1] == (WORDS - 1) * 3 + 4);
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
        (void)fault_saw(dynsel_submit_command_group_and_wait(on, add_value, &j));
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
        fault_must((dynsel_resource_in_service(on, 0) == DYNSEL_OK ||
                    dynsel_resource_reinstate(on, 0) == DYNSEL_OK) &&
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

static const fault_function while_finding[] = {FAULT_clGetPlatformIDs, FAULT_clGetDeviceIDs,
                                               FAULT_clGetPlatformInfo};

static void play_closing(void)
{
    if (fault_saw(
            dynsel_opencl_select("all", fault_devices, FAULT_MOST_DEVICES, &fault_device_count))) {
        play_opening();
        (void)fault_saw(dynsel_opencl_close());
    }
}

static const fault_function while_closing[] = {FAULT_clReleaseCommandQueue, FAULT_clReleaseContext,
                                               FAULT_clReleaseKernel, FAULT_clReleaseProgram};

#if CONFIG_DYNSEL_SVM
static const fault_function while_allocating[] = {FAULT_clGetExtensionFunctionAddressForPlatform,
                                                  FAULT_clSVMAlloc, FAULT_clSVMFree,
                                                  FAULT_clSetKernelArgSVMPointer};
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

#define SCENARIO(title, ...)                                                                       \
    const fault_scenario fault_##title = {.name = #title, .play = play_##title, __VA_ARGS__}
#define ONLY(functions)                                                                            \
    .only = (functions), .only_count = sizeof(functions) / sizeof((functions)[0])

#define SUBSET(functions)                                                                          \
    .subset = (functions), .subset_count = sizeof(functions) / sizeof((functions)[0])

/* What the other scenarios do not have. */
static const fault_function of_mapping[] = {FAULT_clEnqueueMapBuffer, FAULT_clEnqueueUnmapMemObject,
                                            FAULT_clReleaseMemObject, FAULT_clCreateBuffer};
static const fault_function of_losing[] = {FAULT_clEnqueueNDRangeKernel, FAULT_clWaitForEvents};
static const fault_function of_opening[] = {FAULT_clBuildProgram, FAULT_clCreateCommandQueue,
                                            FAULT_clCreateContext, FAULT_clCreateKernel,
                                            FAULT_clCreateProgramWithSource};
static const fault_function of_finding[] = {FAULT_clGetPlatformIDs, FAULT_clGetDeviceIDs};
static const fault_function of_closing[] = {FAULT_clReleaseContext, FAULT_clReleaseProgram};

SCENARIO(chain);
SCENARIO(shared, SUBSET(of_mapping));
#if CONFIG_DYNSEL_CUSTOM_POLICIES
SCENARIO(timed, .timing = DYNSEL_OPENCL_TIMES_BY_CALLBACK, ONLY(while_timing));
#endif
SCENARIO(beside, SUBSET(of_losing));
SCENARIO(fill);
SCENARIO(ranges);
#if CONFIG_DYNSEL_SVM
SCENARIO(svm, ONLY(while_sharing));
const fault_scenario fault_sharing = {
    .name = "sharing", .play = play_svm, .is_cold = true, ONLY(while_allocating)};
#endif
SCENARIO(opening, .is_cold = true, ONLY(while_opening), SUBSET(of_opening));
SCENARIO(reinstating, .is_cold = true, ONLY(while_opening));
SCENARIO(closing, .is_cold = true, .finds_devices = true, ONLY(while_closing), SUBSET(of_closing));
SCENARIO(finding, .is_cold = true, .finds_devices = true, ONLY(while_finding), SUBSET(of_finding));
