/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real kernels on the devices of this machine and on the host together, compared with plain C.
 *
 * DYNSEL_EXPECT_DEVICES says how many OpenCL devices there must be; unset: any number.
 */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "test.h"

enum {
    WORDS = 4096,
    LOCAL = 64,
    JOBS = 96,
    HANDLES = CONFIG_DYNSEL_MAX_IN_FLIGHT < 48 ? CONFIG_DYNSEL_MAX_IN_FLIGHT : 48,
    THREADS = 2
};

static const char source[] = "__kernel void churn(__global uint *words, uint salt)\n"
                             "{\n"
                             "    const uint i = get_global_id(0);\n"
                             "    uint word = words[i] + salt;\n"
                             "    for (int round = 0; round < 16; round++) {\n"
                             "        word = word * 1664525u + 1013904223u;\n"
                             "        word ^= word >> 13;\n"
                             "    }\n"
                             "    words[i] = word;\n"
                             "}\n";

static uint32_t churn(uint32_t word, uint32_t salt)
{
    word += salt;
    for (int round = 0; round < 16; round++) {
        word = word * 1664525u + 1013904223u;
        word ^= word >> 13;
    }
    return word;
}

/* The program for each resource of a policy, by the resource's address. */
typedef struct station {
    const dynsel_resource *where;
    cl_program program;
} station;

static station stations[CONFIG_DYNSEL_MAX_RESOURCES];
static size_t station_count;

typedef struct job {
    uint32_t salt;
    uint32_t words[WORDS];
} job;

static void fill(job *j, uint32_t salt)
{
    j->salt = salt;
    for (uint32_t i = 0; i < WORDS; i++) {
        j->words[i] = i * 2654435761u;
    }
}

static void assert_churned(const job *j)
{
    for (uint32_t i = 0; i < WORDS; i++) {
        if (j->words[i] != churn(i * 2654435761u, j->salt)) {
            fail_msg("word %u of job %u is wrong", (unsigned)i, (unsigned)j->salt);
        }
    }
}

static dynsel_status churn_on_host(const dynsel_resource *where, void *args, dynsel_event *done)
{
    job *const j = args;
    (void)where;
    (void)done;
    for (uint32_t i = 0; i < WORDS; i++) {
        j->words[i] = churn(j->words[i], j->salt);
    }
    return DYNSEL_OK;
}

static cl_program program_of(const dynsel_resource *where)
{
    for (size_t i = 0; i < station_count; i++) {
        if (stations[i].where == where) {
            return stations[i].program;
        }
    }
    return NULL;
}

static cl_int launch(cl_command_queue queue, cl_kernel kernel, cl_mem words, job *j,
                     cl_event *event)
{
    const size_t global = WORDS;
    const size_t local = LOCAL;
    cl_int code = clSetKernelArg(kernel, 0, sizeof(words), &words);
    code = code != CL_SUCCESS ? code : clSetKernelArg(kernel, 1, sizeof(j->salt), &j->salt);
    if (code == CL_SUCCESS) {
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    }
    if (code == CL_SUCCESS) {
        code = clEnqueueReadBuffer(queue, words, CL_FALSE, 0, sizeof(j->words), j->words, 0, NULL,
                                   event);
    }
    return code;
}

static dynsel_status churn_on_device(const dynsel_resource *where, void *args, dynsel_event *done)
{
    job *const j = args;
    cl_int code = CL_SUCCESS;
    const cl_mem words =
        clCreateBuffer(dynsel_opencl_context(where), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                       sizeof(j->words), j->words, &code);
    if (code != CL_SUCCESS) {
        return dynsel_opencl_check("clCreateBuffer", code);
    }
    const cl_kernel kernel = clCreateKernel(program_of(where), "churn", &code);
    if (code == CL_SUCCESS) {
        code = launch(dynsel_opencl_queue(where), kernel, words, j, &done->opencl);
        (void)clReleaseKernel(kernel);
    }
    (void)clReleaseMemObject(words);
    return dynsel_opencl_check("launch", code);
}

static const dynsel_task_form forms[] = {
    {&dynsel_inline_backend, churn_on_host},
    {&dynsel_opencl_backend, churn_on_device},
};

static dynsel_task task_of(job *j)
{
    return (dynsel_task){.forms = forms, .form_count = 2, .args = j};
}

static dynsel_round_robin_policy policy;

static void build_program(const dynsel_resource *where)
{
    const char *text = source;
    cl_int code = CL_SUCCESS;
    const cl_context context = dynsel_opencl_context(where);
    const cl_device_id device = dynsel_opencl_device(where);
    assert_non_null(context);
    const cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    stations[station_count++] = (station){where, program};
}

static const dynsel_options all = {.defaults = DYNSEL_HOST_AND_DEVICES};

static int set_up(void **state)
{
    size_t count = 0;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &all, 0));
    const dynsel_resource *const resources = dynsel_get_resources(&policy.policy, &count);
    for (size_t i = 0; i < count; i++) {
        if (resources[i].backend == &dynsel_opencl_backend) {
            build_program(&resources[i]);
        }
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    while (station_count > 0) {
        (void)clReleaseProgram(stations[--station_count].program);
    }
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    return 0;
}

static void device_count_equals_expected(void **state)
{
    const char *const expected = getenv("DYNSEL_EXPECT_DEVICES");
    (void)state;
    for (size_t i = 0; i < station_count; i++) {
        print_message("device: %s\n", dynsel_resource_name(stations[i].where));
    }
    if (expected != NULL) {
        assert_int_equal(station_count, atoi(expected));
    }
}

static void waits_for_handles_give_results(void **state)
{
    static job jobs[HANDLES];
    dynsel_submission submissions[HANDLES];
    (void)state;
    for (uint32_t i = 0; i < HANDLES; i++) {
        const dynsel_task task = task_of(&jobs[i]);
        fill(&jobs[i], i);
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &submissions[i]));
    }
    for (uint32_t i = HANDLES; i > 0; i--) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i - 1]));
        assert_churned(&jobs[i - 1]);
    }
}

static void group_wait_gives_results(void **state)
{
    static job jobs[JOBS];
    (void)state;
    for (uint32_t i = 0; i < JOBS; i++) {
        const dynsel_task task = task_of(&jobs[i]);
        fill(&jobs[i], i);
        assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    for (uint32_t i = 0; i < JOBS; i++) {
        assert_churned(&jobs[i]);
    }
}

/* cmocka's assertions are for its own thread, so this one counts. */
static void *submit_many(void *context)
{
    job *const jobs = context;
    uintptr_t failures = 0;
    for (uint32_t i = 0; i < JOBS; i++) {
        const dynsel_task task = task_of(&jobs[i]);
        fill(&jobs[i], i);
        failures += dynsel_submit_and_wait(&policy.policy, &task) != DYNSEL_OK;
    }
    return (void *)failures;
}

/*
 * Whether several threads may use dynsel here. PoCL's device `basic` deadlocks when two threads
 * enqueue on one queue, with plain OpenCL too.
 */
static bool bears_threads(void)
{
    if (!CONFIG_DYNSEL_CONTEXT_THREADS || CONFIG_DYNSEL_MAX_IN_FLIGHT < THREADS) {
        return false;
    }
    for (size_t i = 0; i < station_count; i++) {
        if (strncmp(dynsel_resource_name(stations[i].where), "basic-", 6) == 0) {
            return false;
        }
    }
    return true;
}

static void threads_submit_to_shared_policy(void **state)
{
    static job jobs[THREADS][JOBS];
    pthread_t threads[THREADS];
    (void)state;
    if (!bears_threads()) {
        skip();
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, submit_many, jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failures = NULL;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
        for (int k = 0; k < JOBS; k++) {
            assert_churned(&jobs[i][k]);
        }
    }
}

static void *open_device(void *context)
{
    return dynsel_opencl_queue(context);
}

/* The first use from several threads at once opens each device once. */
static void concurrent_first_use_opens_device_once(void **state)
{
    (void)state;
    if (!CONFIG_DYNSEL_CONTEXT_THREADS) {
        skip();
    }
    (void)tear_down(state);
    dynsel_resource resources[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
    size_t count = 0;
    if (dynsel_opencl_select(NULL, resources, CONFIG_DYNSEL_OPENCL_MAX_DEVICES, &count) ==
        DYNSEL_OK) {
        pthread_t threads[THREADS];
        void *queues[THREADS] = {NULL};
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, open_device, &resources[count - 1]),
                             0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], &queues[i]), 0);
            assert_non_null(queues[i]);
            assert_ptr_equal(queues[i], queues[0]);
        }
    }
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    (void)set_up(state);
}

static void adopted_queue_runs_kernel(void **state)
{
    static job j;
    (void)state;
    if (station_count == 0 || station_count == CONFIG_DYNSEL_OPENCL_MAX_DEVICES) {
        skip();
    }
    cl_int code = CL_SUCCESS;
    const dynsel_resource *const where = stations[0].where;
    const cl_command_queue queue =
        clCreateCommandQueue(dynsel_opencl_context(where), dynsel_opencl_device(where), 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    const dynsel_resource mine = {&dynsel_opencl_backend, queue};
    const dynsel_options options = {.resources = &mine, .count = 1, .adapt = dynsel_opencl_adopt};
    dynsel_fixed_resource_policy fixed = {0};
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &options, 0));
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    stations[station_count++] =
        (station){dynsel_get_resources(&fixed.policy, &count), stations[0].program};
    const dynsel_task task = task_of(&j);
    fill(&j, 5);
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&fixed.policy, &task));
    assert_churned(&j);
    station_count--;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
}

/* A wrong kernel argument: OpenCL's own failure arrives at the wait. */
static dynsel_status misuse(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const size_t none = 0;
    (void)args;
    return dynsel_opencl_check("clEnqueueReadBuffer",
                               clEnqueueReadBuffer(dynsel_opencl_queue(where), NULL, CL_FALSE, 0,
                                                   none, NULL, 0, NULL, &done->opencl));
}

static void opencl_failure_reaches_wait(void **state)
{
    static const dynsel_task_form only[] = {{&dynsel_opencl_backend, misuse}};
    const dynsel_task task = {.forms = only, .form_count = 1};
    (void)state;
    if (station_count == 0) {
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_submit_and_wait(&policy.policy, &task));
        return;
    }
    assert_status(DYNSEL_E_DEVICE, dynsel_submit_and_wait(&policy.policy, &task));
    assert_int_equal(dynsel_last_error()->code, CL_INVALID_MEM_OBJECT);
    assert_error_says("clEnqueueReadBuffer");
    assert_error_says("CL_INVALID_MEM_OBJECT");
}

/* Whether the host and the expected devices fit into this build's tables. */
static bool has_room(void)
{
    const char *const expected = getenv("DYNSEL_EXPECT_DEVICES");
    const int devices = expected != NULL ? atoi(expected) : 0;
    return devices <= CONFIG_DYNSEL_OPENCL_MAX_DEVICES && devices < CONFIG_DYNSEL_MAX_RESOURCES;
}

static void small_device_table_error_names_option(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_FULL, dynsel_round_robin_init(&policy, &all, 0));
    assert_error_says("CONFIG_DYNSEL_");
    assert_status(DYNSEL_OK, dynsel_opencl_close());
}

int main(void)
{
    const struct CMUnitTest too_small[] = {
        cmocka_unit_test(small_device_table_error_names_option),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(waits_for_handles_give_results),
        cmocka_unit_test(group_wait_gives_results),
        cmocka_unit_test(threads_submit_to_shared_policy),
        cmocka_unit_test(concurrent_first_use_opens_device_once),
        cmocka_unit_test(adopted_queue_runs_kernel),
        cmocka_unit_test(opencl_failure_reaches_wait),
    };
    return has_room() ? cmocka_run_group_tests(tests, set_up, tear_down)
                      : cmocka_run_group_tests(too_small, NULL, NULL);
}
