/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, command groups and their failures on the resources of other ranks. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "mpi/add_on_host.h"
#include "mpi/served.h"
#include "test.h"

enum { WORDS = 300000, MOST_RESOURCES = 32, STEPS = 24, MANY = 200 };

typedef struct sum {
    uint32_t from;
    uint32_t to;
    uint64_t result;
    uint32_t rank;
} sum;

static dynsel_status add_up(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sum *const s = args;
    (void)where;
    (void)done;
    s->result = 0;
    for (uint32_t i = s->from; i < s->to; i++) {
        s->result += i;
    }
    s->rank = dynsel_mpi_rank();
    return s->from <= s->to
               ? DYNSEL_OK
               : dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_USER,
                                                   .code = 77,
                                                   .function = "add_up",
                                                   .detail = "it ends before it begins"});
}

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static dynsel_status unlisted(const dynsel_resource *where, void *args, dynsel_event *done)
{
    return nothing(where, args, done);
}

static const dynsel_kernel add = {
    .name = "add",
    .function = add_on_host,
    .source = "kernel void add(global uint *words, uint value)"
              "{ words[get_global_id(0)] += value; }",
};

static const dynsel_kernel add_on_devices = {
    .name = "add_here",
    .source = "kernel void add_here(global uint *words, uint value)"
              "{ words[get_global_id(0)] += value; }",
};

static const dynsel_kernel broken = {
    .name = "broken",
    .source = "kernel void broken(global uint *words, uint value) { no such words; }",
};

static dynsel_status fail_on_host(const dynsel_launch *launch)
{
    (void)launch;
    return (dynsel_status)((int)DYNSEL_E_USER - 5);
}

static const dynsel_kernel failing = {.name = "failing", .function = fail_on_host};
static const dynsel_kernel not_listed = {.name = "not_listed", .function = add_on_host};

static dynsel_resource resources[MOST_RESOURCES];
static size_t resource_count;
static uint32_t words[WORDS];

static dynsel_resource first_of(const dynsel_backend *backend)
{
    for (size_t i = 0; i < resource_count; i++) {
        if (resources[i].backend == backend) {
            return resources[i];
        }
    }
    return (dynsel_resource){.backend = NULL};
}

static int set_up(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, resources, MOST_RESOURCES, &resource_count));
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return 0;
}

static void each_rank_has_resources_with_its_name(void **state)
{
    (void)state;
    size_t all = 0;
    for (uint32_t rank = 1; rank < dynsel_mpi_rank_count(); rank++) {
        dynsel_resource its[MOST_RESOURCES];
        size_t count = 0;
        char begins[32];
        (void)snprintf(begins, sizeof begins, "rank %u: ", (unsigned)rank);
        assert_status(DYNSEL_OK, dynsel_mpi_resources(rank, its, MOST_RESOURCES, &count));
        assert_true(count >= 1);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(dynsel_mpi_rank_of(&its[i]), rank);
            assert_memory_equal(dynsel_resource_name(&its[i]), begins, strlen(begins));
        }
        all += count;
    }
    assert_int_equal(all, resource_count);
    assert_int_equal(dynsel_mpi_rank_of(NULL), 0);
}

static void questions_about_ranks_are_checked(void **state)
{
    (void)state;
    size_t count = 7;
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_resources(0, NULL, 0, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_resources(0, NULL, 1, &count));
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_resources(dynsel_mpi_rank_count(), NULL, 0, &count));
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, NULL, 0, &count));
    assert_int_equal(count, resource_count);
    assert_status(DYNSEL_E_FULL, dynsel_mpi_resources(0, resources, count - 1, &count));
    assert_int_equal(count, resource_count);
    assert_status(DYNSEL_E_BUSY, dynsel_mpi_open(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
}

#if CONFIG_DYNSEL_ASPECTS
static void resources_have_the_aspects_of_their_rank(void **state)
{
    (void)state;
    dynsel_device there;
    dynsel_device here;
    const dynsel_resource host = first_of(&dynsel_mpi_backend);
    const dynsel_resource own = {.backend = &dynsel_inline_backend};
    assert_status(DYNSEL_OK, dynsel_resource_describe(&host, &there));
    assert_status(DYNSEL_OK, dynsel_resource_describe(&own, &here));
    assert_string_equal(there.type, "host");
    assert_true(there.aspects == here.aspects);
    assert_int_equal(DYNSEL_PROCESSORS_ELSEWHERE, there.processors); /* none of rank 0's */
    assert_int_equal(1, here.processors);
    const dynsel_resource wrong = {.backend = &dynsel_mpi_backend, .handle = &here};
    assert_status(DYNSEL_E_INVALID, dynsel_resource_describe(&wrong, &there));
}
#endif

static void tasks_run_on_every_rank_and_come_back(void **state)
{
    (void)state;
    static dynsel_round_robin_policy policy;
    static sum sums[MANY];
    uint32_t seen = 0;
    const dynsel_options options = {.resources = resources, .count = resource_count};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    for (uint32_t i = 0; i < MANY; i++) {
        sums[i] = (sum){.from = i, .to = 1000 + i};
        assert_status(DYNSEL_OK,
                      dynsel_submit(&policy.policy, &DYNSEL_TASK(add_up, &sums[i]), NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(sums[i].result == 499500u + (uint64_t)i * 1000u);
        assert_in_range(sums[i].rank, 1, dynsel_mpi_rank_count() - 1);
        seen |= 1u << sums[i].rank;
    }
    assert_int_equal(seen, (1u << dynsel_mpi_rank_count()) - 2);
    assert_status(DYNSEL_E_BUSY, dynsel_mpi_close());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void failure_of_a_task_comes_with_its_cause(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy policy;
    sum wrong = {.from = 5, .to = 4, .result = 9};
    const dynsel_options options = {.resources = resources, .count = resource_count};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_E_USER,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(add_up, &wrong)));
    assert_int_equal(dynsel_last_error()->code, 77);
    assert_error_says("it ends before it begins");
    assert_int_equal(wrong.result, 9); /* what failed does not come back */
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(nothing, NULL)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void task_that_is_not_listed_is_refused(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy policy;
    const dynsel_options options = {.resources = resources, .count = resource_count};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit(&policy.policy, &DYNSEL_TASK(unlisted, NULL), NULL));
    assert_error_says("not in the list of tasks");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

typedef struct job {
    dynsel_buffer buffer;
    const dynsel_kernel *kernel;
    uint32_t value;
    size_t first;
    size_t count;
} job;

static dynsel_status launch_job(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    const dynsel_range offset = DYNSEL_RANGE(j->first);
    (void)dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL,
                            &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    (void)dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    return dynsel_parallel_for(handler, j->kernel, DYNSEL_RANGE(j->count), NULL, &offset);
}

/* On every resource in turn, so that the data move from rank to rank. */
static void buffer_goes_from_rank_to_rank(void **state)
{
    (void)state;
    static dynsel_round_robin_policy policy;
    const dynsel_options options = {.resources = resources, .count = resource_count};
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words, sizeof(words[0]), DYNSEL_RANGE(WORDS)));
    for (uint32_t i = 0; i < STEPS; i++) {
        job j = {
            .buffer = buffer, .kernel = &add, .value = 1u << i, .first = i, .count = WORDS - i};
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&policy.policy, launch_job, &j, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    for (uint32_t i = 0; i < WORDS; i++) {
        const uint32_t steps = i < STEPS ? i + 1 : STEPS;
        assert_int_equal(words[i], i + (1u << steps) - 1);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void data_stay_where_they_are(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy policy;
    const dynsel_options options = {.resources = resources, .count = resource_count};
    dynsel_buffer buffer = {0};
    dynsel_movement movement;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, resource_count - 1));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words, sizeof(words[0]), DYNSEL_RANGE(WORDS)));
    for (uint32_t i = 0; i < STEPS; i++) {
        job j = {.buffer = buffer, .kernel = &add, .value = 1, .count = WORDS};
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&policy.policy, launch_job, &j, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffer, &movement));
    assert_int_equal(movement.copies_in, 1);
    assert_int_equal(movement.copies_out, 0);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(words[WORDS - 1], WORDS - 1 + STEPS);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static dynsel_status submit(dynsel_policy *policy, const dynsel_kernel *kernel)
{
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words, sizeof(words[0]), DYNSEL_RANGE(WORDS)));
    job j = {.buffer = buffer, .kernel = kernel, .value = 1, .count = WORDS};
    const dynsel_status status = dynsel_submit_command_group_and_wait(policy, launch_job, &j);
    const dynsel_error error = *dynsel_last_error();
    assert_status(DYNSEL_OK, dynsel_buffer_discard(&buffer));
    return status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail(&error);
}

/* A policy excludes the resources of other ranks for which a kernel has no form. */
static void forms_decide_which_resources_of_a_rank_are_chosen(void **state)
{
    (void)state;
    static dynsel_round_robin_policy policy;
    const dynsel_options options = {.resources = resources, .count = resource_count};
    const bool has_devices = first_of(&dynsel_mpi_device_backend).backend != NULL;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    for (unsigned i = 0; i < 2 * resource_count; i++) {
        assert_status(has_devices ? DYNSEL_OK : DYNSEL_E_UNSUPPORTED,
                      submit(&policy.policy, &add_on_devices));
        assert_status((dynsel_status)((int)DYNSEL_E_USER - 5), submit(&policy.policy, &failing));
    }
    assert_status(DYNSEL_E_UNSUPPORTED, submit(&policy.policy, &not_listed));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void kernel_that_does_not_compile_fails_with_the_log(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy policy;
    const dynsel_resource device = first_of(&dynsel_mpi_device_backend);
    const dynsel_options options = {.resources = &device, .count = 1};
    if (device.backend == NULL) {
        skip();
    }
    const dynsel_kernel *const kernels[] = {&broken, &add};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_E_TASK, dynsel_kernel_prepare(&policy.policy, kernels, 2, NULL, NULL));
    assert_status(DYNSEL_E_TASK, submit(&policy.policy, &broken));
    assert_error_says("undeclared identifier");
    assert_status(DYNSEL_OK, submit(&policy.policy, &add));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void buffer_larger_than_the_memory_of_a_rank_is_refused(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy policy;
    static unsigned char large[SERVED_MEMORY + 1];
    const dynsel_options options = {.resources = resources, .count = resource_count};
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, large, 1, DYNSEL_RANGE(sizeof large)));
    job j = {.buffer = buffer, .kernel = &add, .value = 1, .count = 1};
    assert_status(DYNSEL_E_FULL,
                  dynsel_submit_command_group_and_wait(&policy.policy, launch_job, &j));
    assert_error_says("larger than the memory that rank 1 gave");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* Each is half of the memory of a rank, so that older ones have to leave. */
static void copies_leave_a_rank_when_it_is_full(void **state)
{
    (void)state;
    enum { BUFFERS = 5, ELEMENTS = SERVED_MEMORY / 2 / sizeof(uint32_t) };
    static dynsel_fixed_resource_policy policy;
    static uint32_t data[BUFFERS][ELEMENTS];
    const dynsel_options options = {.resources = resources, .count = resource_count};
    dynsel_buffer buffers[BUFFERS] = {{0}};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], data[i], sizeof(uint32_t),
                                                    DYNSEL_RANGE(ELEMENTS)));
    }
    for (uint32_t i = 0; i < 2 * BUFFERS; i++) {
        job j = {.buffer = buffers[i % BUFFERS], .kernel = &add, .value = i, .count = ELEMENTS};
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&policy.policy, launch_job, &j));
        dynsel_host_accessor seen = {0};
        assert_status(DYNSEL_OK,
                      dynsel_host_accessor_open(&seen, buffers[i % BUFFERS], DYNSEL_ACCESS_READ));
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
        assert_int_equal(data[i][0], 2 * i + BUFFERS);
        assert_int_equal(data[i][ELEMENTS - 1], 2 * i + BUFFERS);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void all_ranks_end(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_close());
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_close());
    assert_int_equal(dynsel_mpi_rank_count(), 0);
}

int main(void)
{
    static const dynsel_kernel *const kernels[] = {&add, &add_on_devices, &broken, &failing};
    static const dynsel_mpi_task tasks[] = {
        {.function = add_up, .name = "add_up", .bytes = sizeof(sum), .comes_back = true},
        {.function = nothing, .name = "nothing"}};
    dynsel_mpi_options options = served_options();
    options.kernels = kernels;
    options.kernel_count = sizeof kernels / sizeof kernels[0];
    options.tasks = tasks;
    options.task_count = sizeof tasks / sizeof tasks[0];
    served_begin(options);
    const struct CMUnitTest tests[] = {
        TEST(each_rank_has_resources_with_its_name),
        TEST(questions_about_ranks_are_checked),
#if CONFIG_DYNSEL_ASPECTS
        TEST(resources_have_the_aspects_of_their_rank),
#endif
        TEST(tasks_run_on_every_rank_and_come_back),
        TEST(failure_of_a_task_comes_with_its_cause),
        TEST(task_that_is_not_listed_is_refused),
        TEST(buffer_goes_from_rank_to_rank),
        TEST(data_stay_where_they_are),
        TEST(forms_decide_which_resources_of_a_rank_are_chosen),
        TEST(kernel_that_does_not_compile_fails_with_the_log),
        TEST(buffer_larger_than_the_memory_of_a_rank_is_refused),
        TEST(copies_leave_a_rank_when_it_is_full),
        TEST(all_ranks_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
