/* SPDX-License-Identifier: Apache-2.0 */
/* dynsel-replay repeats what the caller, workers and OpenCL devices did in real time. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "any_policy.h"
#include "test.h"
#include "tools/replayed_trace.h"

enum { PIECES = 200, IN_FLIGHT = 8, BUFFERS = 3, ELEMENTS = 4096, WORKERS = 2, THREADS = 3 };

static char path[64];
static any_policy policy;
static dynsel_buffer buffers[BUFFERS];
static float data[BUFFERS][ELEMENTS];

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    const uint64_t until_ns = dynsel_now_ns() + *(const uint32_t *)args;
    while (dynsel_now_ns() < until_ns) {
    }
    return DYNSEL_OK;
}

/* For resources whose backend runs functions of the host. */
static const dynsel_task_form forms[] = {{&dynsel_inline_backend, run},
                                         {&dynsel_threads_backend, run}};

static dynsel_status scale(const dynsel_launch *launch)
{
    float *x = dynsel_launch_data(launch, 0);
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[i] *= 0.5f;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {
    .name = "scale",
    .function = scale,
    .source = "kernel void scale(global float *x) { x[get_global_id(0)] *= 0.5f; }"};

static dynsel_status record_group(dynsel_handler *handler, void *args)
{
    dynsel_accessor accessor;
    dynsel_get_access(handler, buffers[*(const uint32_t *)args], DYNSEL_ACCESS_READ_WRITE,
                      DYNSEL_MEMORY_GLOBAL, &accessor);
    dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static dynsel_status make_policy(uint32_t number)
{
    const dynsel_options options = {.defaults = DYNSEL_HOST_AND_DEVICES};
    (void)memset(&policy, 0, sizeof policy);
    switch (number) {
    case 0:
        return dynsel_fixed_resource_init(&policy.fixed_resource, &options, 1);
    case 1:
        return dynsel_round_robin_init(&policy.round_robin, &options, 1);
    case 2:
        return dynsel_dynamic_load_init(&policy.dynamic_load, &options);
    case 3:
        return dynsel_auto_tune_init(&policy.auto_tune, &options, 1000000);
    default:
        return dynsel_earliest_finish_init(&policy.earliest_finish, &options);
    }
}

static void submit_tasks(void)
{
    static const uint32_t takes_ns[] = {2000, 20000, 60000};
    dynsel_submission flying[IN_FLIGHT];
    for (uint32_t i = 0; i < PIECES + IN_FLIGHT; i++) {
        if (i >= IN_FLIGHT) {
            assert_status(DYNSEL_OK, dynsel_wait(&flying[i % IN_FLIGHT]));
        }
        if (i < PIECES) {
            const dynsel_task task = {.forms = forms,
                                      .form_count = 2,
                                      .args = (void *)(uintptr_t)&takes_ns[i % 3],
                                      .id = 1 + i % 3};
            flying[i % IN_FLIGHT] = (dynsel_submission){.policy = NULL};
            assert_status(DYNSEL_OK, dynsel_submit(&policy.policy, &task, &flying[i % IN_FLIGHT]));
        }
    }
}

static void submit_groups(void)
{
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], data[i], sizeof data[i][0],
                                                    DYNSEL_RANGE(ELEMENTS)));
    }
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t buffer = i % BUFFERS;
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&policy.policy, record_group, &buffer, NULL));
        if (i % 20 == 19) {
            dynsel_host_accessor accessor = {.data = NULL};
            assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, buffers[buffer],
                                                               DYNSEL_ACCESS_READ));
            assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
        }
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
}

static void end_trace(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    replayed_trace_write(path);
}

static int replay(const char *command)
{
    char words[256];
    (void)snprintf(words, sizeof words, "%s %s >> %s.txt", command, path, path);
    return replayed_trace_replay(words);
}

static void test_tasks(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 5; number++) {
        replayed_trace_begin();
        assert_status(DYNSEL_OK, make_policy(number));
        submit_tasks();
        end_trace();
        assert_int_equal(0, replay("check"));
        assert_int_equal(0, replay("what-if"));
    }
}

static void test_groups(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 5; number++) {
        replayed_trace_begin();
        assert_status(DYNSEL_OK, make_policy(number));
        submit_groups();
        end_trace();
        assert_int_equal(0, replay("check"));
        assert_int_equal(0, replay("what-if"));
    }
}

static void *submit_beside(void *argument)
{
    (void)argument;
    submit_tasks();
    return NULL;
}

/* Choices that raced may differ, and that is said. */
static void test_threads(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 5; number++) {
        pthread_t threads[THREADS];
        replayed_trace_begin();
        assert_status(DYNSEL_OK, make_policy(number));
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(0, pthread_create(&threads[i], NULL, submit_beside, NULL));
        }
        for (uint32_t i = 0; i < THREADS; i++) {
            assert_int_equal(0, pthread_join(threads[i], NULL));
        }
        end_trace();
        const int status = replay("check");
        print_message("policy %u, %d threads: status %d\n", (unsigned)number, THREADS, status);
        assert_true(status == 0 || status == 1);
        assert_int_equal(0, replay("what-if"));
    }
}

int main(void)
{
    (void)snprintf(path, sizeof path, "/tmp/dynsel-replay-devices-%ld", (long)getpid());
    if (dynsel_threads_start(WORKERS) != DYNSEL_OK) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_threads),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char text[80];
    (void)snprintf(text, sizeof text, "%s.txt", path);
    (void)remove(path);
    (void)remove(text);
    return failed;
}
