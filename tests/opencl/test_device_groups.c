/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups on real devices: that data are moved only when they must, through whichever queues
 * and contexts. */
#include "device_fixture.h"

#include <pthread.h>

enum { WORDS = 1024, BIG_BYTES = 64 << 20, CHAIN = 24, THREADS = 4, ROUNDS = 30 };

static const dynsel_kernel add = {
    .name = "add",
    .source = "kernel void add(global uint *words, uint value)\n"
              "{ words[get_global_id(0)] = words[get_global_id(0)] * 3 + value; }\n"};

typedef struct job {
    const dynsel_kernel *kernel;
    dynsel_buffer buffer;
    size_t count;
    uint32_t value;
} job;

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status = dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_READ_WRITE,
                                             DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, j->kernel, DYNSEL_RANGE(j->count), NULL, NULL)
               : status;
}

static bool is_cpu(const dynsel_resource *where)
{
    cl_device_type type = 0;
    return clGetDeviceInfo(dynsel_opencl_device(where), CL_DEVICE_TYPE, sizeof(type), &type,
                           NULL) == CL_SUCCESS &&
           (type & CL_DEVICE_TYPE_CPU) != 0;
}

static bool are_cpus(void)
{
    for (size_t i = 0; i < resource_count; i++) {
        if (!is_cpu(&resources[i])) {
            return false;
        }
    }
    return resource_count > 0;
}

static dynsel_round_robin_policy policy;

static void use(const dynsel_options *options)
{
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, options, 0));
}

static void use_all(void)
{
    const dynsel_options options = {.resources = resources, .count = resource_count};
    use(&options);
}

static void submit(const job *j)
{
    job copy = *j;
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&policy.policy, add_value, &copy, NULL));
}

static void wait_for_all(void)
{
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
}

/* The devices of one platform work in the host's memory itself. */
static void cpu_devices_copy_nothing(void **state)
{
    uint32_t *const big = aligned_alloc(4096, BIG_BYTES);
    dynsel_movement movement;
    dynsel_buffer buffer = {0};
    const size_t count = BIG_BYTES / sizeof(uint32_t);
    (void)state;
    if (!are_cpus()) {
        free(big);
        skip();
        return;
    }
    assert_non_null(big);
    for (size_t i = 0; i < count; i++) {
        big[i] = (uint32_t)i;
    }
    use_all();
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, big, sizeof(uint32_t), DYNSEL_RANGE(count)));
    for (uint32_t i = 0; i < 4; i++) {
        submit(&(job){.kernel = &add, .buffer = buffer, .count = count, .value = i});
    }
    wait_for_all();
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffer, &movement));
    assert_int_equal(movement.bytes_in + movement.bytes_out, 0);
    assert_int_equal(movement.copies_in + movement.copies_out, 0);
    assert_int_equal(movement.copies_avoided, 4);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    for (size_t i = 0; i < count; i += 4097) {
        assert_int_equal(big[i], (((uint32_t)i * 3 * 3 + 1) * 3 + 2) * 3 + 3);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    free(big);
}

static uint32_t after_chain(uint32_t word)
{
    for (uint32_t i = 0; i < CHAIN; i++) {
        word = word * 3 + i;
    }
    return word;
}

/* A chain over all queues there are, also over an out-of-order one and one in a context of the
 * program's own. */
static void chain_across_queues_and_contexts_keeps_order(void **state)
{
    static _Alignas(4096) uint32_t words[WORDS + 1];
    cl_int code = CL_SUCCESS;
    (void)state;
    skip_unless(resource_count > 0 && resource_count + 3 <= MOST_DEVICES &&
                resource_count + 3 <= CONFIG_DYNSEL_MAX_RESOURCES);
    (void)close_devices(state);
    (void)open_devices(state);
    const cl_device_id device = dynsel_opencl_device(&resources[0]);
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    dynsel_resource all[MOST_DEVICES + 3];
    const cl_command_queue queues[] = {
        clCreateCommandQueue(dynsel_opencl_context(&resources[0]), device,
                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code),
        clCreateCommandQueue(context, device, 0, &code),
        clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code),
    };
    size_t count = 0;
    for (; count < resource_count; count++) {
        all[count] = resources[count];
    }
    for (int i = 0; i < 3; i++) {
        all[count++] = (dynsel_resource){&dynsel_opencl_backend, queues[i]};
    }
    const dynsel_options plain = {.resources = resources, .count = resource_count};
    const dynsel_options adopted = {
        .resources = all + resource_count, .count = 3, .adapt = dynsel_opencl_adopt};
    dynsel_round_robin_policy others = {0};
    use(&plain);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&others, &adopted, 0));
    for (unsigned misaligned = 0; misaligned < 2; misaligned++) {
        dynsel_buffer buffer = {0};
        uint32_t *const data = words + misaligned;
        for (uint32_t i = 0; i < WORDS; i++) {
            data[i] = i;
        }
        assert_status(DYNSEL_OK,
                      dynsel_buffer_init(&buffer, data, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
        for (uint32_t i = 0; i < CHAIN; i++) {
            job j = {.kernel = &add, .buffer = buffer, .count = WORDS, .value = i};
            dynsel_policy *const chosen = i % 5 < 2 ? &policy.policy : &others.policy;
            assert_status(DYNSEL_OK, dynsel_submit_command_group(chosen, add_value, &j, NULL));
        }
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&others.policy)));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
        for (uint32_t i = 0; i < WORDS; i++) {
            assert_int_equal(data[i], after_chain(i));
        }
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&others.policy));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clReleaseCommandQueue(queues[i]), CL_SUCCESS);
    }
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
}

static void opencl_close_with_live_buffer_is_busy(void **state)
{
    static _Alignas(4096) uint32_t words[WORDS];
    dynsel_buffer buffer = {0};
    (void)state;
    skip_unless(resource_count > 0);
    use_all();
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    submit(&(job){.kernel = &add, .buffer = buffer, .count = WORDS, .value = 1});
    wait_for_all();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_error_says("dynsel_buffer_deinit() first");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(words[5], 1);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    (void)open_devices(state);
}

/* The compiler's words arrive where the work is waited for; what was brought does no harm. */
static void wait_reports_build_error_of_kernel(void **state)
{
    static const dynsel_kernel broken = {
        .name = "broken", .source = "kernel void broken(global uint *words, uint value) { oops }"};
    static uint32_t words[WORDS];
    dynsel_buffer buffer = {0};
    dynsel_submission submission = {0};
    (void)state;
    skip_unless(resource_count > 0);
    use_all();
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    job j = {.kernel = &broken, .buffer = buffer, .count = WORDS};
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, add_value, &j, &submission));
    assert_status(DYNSEL_E_TASK, dynsel_wait(&submission));
    assert_error_says("oops");
    j.kernel = &add;
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, add_value, &j, &submission));
    assert_status(DYNSEL_OK, dynsel_wait(&submission)); /* nothing was changed by that */
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* cmocka's assertions are for its own thread, so this one counts. */
static void *submit_chain(void *context)
{
    static _Alignas(4096) uint32_t data[THREADS][WORDS];
    uint32_t *const words = data[(uintptr_t)context];
    uintptr_t failures = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        dynsel_buffer buffer = {0};
        (void)memset(words, 0, sizeof(data[0]));
        failures +=
            dynsel_buffer_init(&buffer, words, sizeof(uint32_t), DYNSEL_RANGE(WORDS)) != DYNSEL_OK;
        for (uint32_t i = 0; i < CHAIN; i++) {
            job j = {.kernel = &add, .buffer = buffer, .count = WORDS, .value = i};
            failures +=
                dynsel_submit_command_group(&policy.policy, add_value, &j, NULL) != DYNSEL_OK;
        }
        failures += dynsel_wait_group(dynsel_get_submission_group(&policy.policy)) != DYNSEL_OK;
        failures += dynsel_buffer_deinit(&buffer) != DYNSEL_OK;
        for (uint32_t i = 0; i < WORDS; i++) {
            failures += words[i] != after_chain(0);
        }
    }
    return (void *)failures;
}

/* PoCL's `basic` does not bear threads. */
static bool bears_threads(void)
{
    for (size_t i = 0; i < resource_count; i++) {
        if (strncmp(dynsel_resource_name(&resources[i]), "basic-", 6) == 0) {
            return false;
        }
    }
    return CONFIG_DYNSEL_CONTEXT_THREADS && resource_count > 0;
}

static void submit_by_threads(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, submit_chain, (void *)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failures = NULL;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void threads_submit_chains_to_shared_devices(void **state)
{
    (void)state;
    skip_unless(bears_threads());
    use_all();
    submit_by_threads();
}

/* One queue for all: on some devices their launches share events. */
static void threads_submit_chains_to_one_device(void **state)
{
    (void)state;
    skip_unless(bears_threads());
    for (size_t i = 0; i < resource_count; i++) {
        const dynsel_options options = {.resources = &resources[i], .count = 1};
        use(&options);
        submit_by_threads();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(cpu_devices_copy_nothing),
        cmocka_unit_test(chain_across_queues_and_contexts_keeps_order),
        cmocka_unit_test(opencl_close_with_live_buffer_is_busy),
        cmocka_unit_test(wait_reports_build_error_of_kernel),
        cmocka_unit_test(threads_submit_chains_to_shared_devices),
        cmocka_unit_test(threads_submit_chains_to_one_device),
    };
    return has_room() ? cmocka_run_group_tests(tests, open_devices, close_devices) : 0;
}
