/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory on real devices: kernels that use pointers of the host's, from several
 * command groups and threads. */
#include "device_fixture.h"

#include <pthread.h>

enum { COUNT = 1000, GROUPS = 20, THREADS = 4, ROUNDS = 50, NODES = 40 };

/* Three ways to say the same: a host form, and OpenCL C. */
static dynsel_status add_on_host(const dynsel_launch *launch)
{
    uint32_t *const data = dynsel_launch_data(launch, 0);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        data[i] += DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    }
    return DYNSEL_OK;
}

static const dynsel_kernel add = {
    .name = "add",
    .function = add_on_host,
    .source = "kernel void add(global uint *data, uint value) { data[get_global_id(0)] += value; }",
};

static const dynsel_kernel add_on_devices = {
    .name = "add",
    .source = "kernel void add(global uint *data, uint value) { data[get_global_id(0)] += value; }",
};

static const dynsel_kernel is_null = {
    .name = "is_null",
    .source = "kernel void is_null(global uint *found, global uint *data)"
              "{ *found = data == 0 ? 7 : 9; }",
};

typedef struct node {
    struct node *next;
    uint32_t value;
} node;

static const dynsel_kernel sum_list = {
    .name = "sum_list",
    .source = "typedef struct node { global struct node *next; uint value; } node;\n"
              "kernel void sum_list(global node *first, global uint *sum)\n"
              "{ uint all = 0;\n"
              "  for (global node *i = first; i != 0; i = i->next) { all += i->value; }\n"
              "  *sum = all; }",
};

typedef struct job {
    const dynsel_kernel *kernel;
    void *first;
    void *second;
    uint32_t value;
    size_t count;
} job;

static dynsel_status with_value(dynsel_handler *handler, void *args)
{
    const job *const what = args;
    (void)dynsel_set_arg_pointer(handler, 0, what->first);
    (void)dynsel_set_arg_value(handler, 1, &what->value, sizeof(what->value));
    return dynsel_parallel_for(handler, what->kernel, DYNSEL_RANGE(what->count), NULL, NULL);
}

static dynsel_status with_two(dynsel_handler *handler, void *args)
{
    const job *const what = args;
    (void)dynsel_set_arg_pointer(handler, 0, what->first);
    (void)dynsel_set_arg_pointer(handler, 1, what->second);
    return dynsel_single_task(handler, what->kernel);
}

static dynsel_round_robin_policy policy;

static void use(const dynsel_resource *some, size_t count)
{
    const dynsel_options options = {.resources = some, .count = count};
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
}

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static bool shares(size_t resource)
{
    return memory_ops()->sharing(&dynsel_opencl_backend, resources[resource].handle) !=
           DYNSEL_SHARES_NOTHING;
}

static bool any_shares(void)
{
    return resource_count > 0 && shares(0);
}

static uint32_t *new_data(const dynsel_resource *where, size_t count)
{
    void *memory = NULL;
    assert_status(DYNSEL_OK, dynsel_svm_alloc(where, count * sizeof(uint32_t), 0, &memory));
    assert_int_equal(0, (uintptr_t)memory % 128);
    uint32_t *const data = memory;
    assert_status(DYNSEL_OK, dynsel_svm_map(data, DYNSEL_ACCESS_DISCARD_WRITE));
    for (size_t i = 0; i < count; i++) {
        data[i] = (uint32_t)i;
    }
    assert_status(DYNSEL_OK, dynsel_svm_unmap(data));
    return data;
}

static void check_and_free(uint32_t *data, size_t count, uint32_t more)
{
    assert_status(DYNSEL_OK, dynsel_svm_map(data, DYNSEL_ACCESS_READ));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(i + more, data[i]);
    }
    assert_status(DYNSEL_OK, dynsel_svm_unmap(data));
    assert_status(DYNSEL_OK, dynsel_svm_free(data));
}

static dynsel_status run_group(dynsel_group_fn group, const job *what)
{
    job copy = *what;
    return dynsel_submit_command_group_and_wait(&policy.policy, group, &copy);
}

static void several_command_groups_use_one_svm_block(void **state)
{
    (void)state;
    skip_unless(any_shares());
    use(resources, 1);
    uint32_t *const data = new_data(&resources[0], COUNT);
    for (uint32_t i = 0; i < GROUPS; i++) { /* one queue, in order */
        job what = {.kernel = &add, .first = data, .value = 3, .count = COUNT};
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&policy.policy, with_value, &what, NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
    check_and_free(data, COUNT, 3 * GROUPS);
    end();
}

static void devices_and_host_alternate_on_svm_block(void **state)
{
    dynsel_resource some[MOST_DEVICES + 1] = {{&dynsel_inline_backend, NULL}};
    (void)state;
    skip_unless(any_shares());
    for (size_t i = 0; i < resource_count; i++) {
        some[i + 1] = resources[i];
    }
    use(some, resource_count + 1);
    uint32_t *const data = new_data(&resources[0], COUNT);
    for (uint32_t i = 0; i < GROUPS; i++) {
        const job what = {.kernel = &add, .first = data, .value = i, .count = COUNT};
        assert_status(DYNSEL_OK, run_group(with_value, &what));
    }
    check_and_free(data, COUNT, GROUPS * (GROUPS - 1) / 2);
    end();
}

/* One argument says that the pool is used; the kernel finds the rest of it. */
static void kernel_follows_pointers_inside_svm_pool(void **state)
{
    void *nodes[NODES] = {NULL};
    (void)state;
    skip_unless(any_shares());
    use(resources, 1);
    uint32_t *const sum = new_data(&resources[0], 1);
    for (uint32_t i = 0; i < NODES; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_alloc(&resources[0], sizeof(node), 0, &nodes[i]));
        assert_status(DYNSEL_OK, dynsel_svm_map(nodes[i], DYNSEL_ACCESS_WRITE));
        *(node *)nodes[i] = (node){.next = i > 0 ? nodes[i - 1] : NULL, .value = i};
        assert_status(DYNSEL_OK, dynsel_svm_unmap(nodes[i]));
    }
    const job what = {.kernel = &sum_list, .first = nodes[NODES - 1], .second = sum};
    assert_status(DYNSEL_OK, run_group(with_two, &what));
    check_and_free(sum, 1, NODES * (NODES - 1) / 2);
    for (uint32_t i = 0; i < NODES; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_free(nodes[i]));
    }
    end();
}

static void null_and_inner_svm_pointers_are_accepted(void **state)
{
    (void)state;
    skip_unless(any_shares());
    use(resources, 1);
    uint32_t *const data = new_data(&resources[0], COUNT);
    const job null = {.kernel = &is_null, .first = &data[COUNT / 2], .second = NULL};
    assert_status(DYNSEL_OK, run_group(with_two, &null));
    const job other = {.kernel = &is_null, .first = &data[COUNT - 1], .second = data};
    assert_status(DYNSEL_OK, run_group(with_two, &other));
    assert_status(DYNSEL_OK, run_group(with_two, &null));
    assert_status(DYNSEL_OK, dynsel_svm_map(data, DYNSEL_ACCESS_READ));
    assert_int_equal(7, data[COUNT / 2]);
    assert_int_equal(9, data[COUNT - 1]);
    assert_status(DYNSEL_OK, dynsel_svm_free(data)); /* unmaps it */
    end();
}

static void pointer_out_of_reach_of_all_devices_is_refused(void **state)
{
    static uint32_t own[COUNT];
    (void)state;
    skip_unless(resource_count > 0 &&
                memory_ops()->sharing(&dynsel_opencl_backend, resources[0].handle) !=
                    DYNSEL_SHARES_ALL);
    use(resources, resource_count);
    const job what = {.kernel = &add_on_devices, .first = own, .value = 1, .count = COUNT};
    assert_status(DYNSEL_E_INVALID, run_group(with_value, &what));
    assert_int_equal(0, dynsel_last_error()->number);
    void *of_host = NULL;
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    assert_status(DYNSEL_OK, dynsel_svm_alloc(&host, 64, 0, &of_host));
    const job other = {.kernel = &add_on_devices, .first = of_host, .value = 1, .count = 1};
    assert_status(DYNSEL_E_UNSUPPORTED, run_group(with_value, &other));
    assert_status(DYNSEL_OK, dynsel_svm_free(of_host));
    end();
}

static void svm_alloc_without_device_support_is_unsupported(void **state)
{
    void *memory = &memory;
    (void)state;
    skip_unless(resource_count > 0 && !shares(0));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_svm_alloc(&resources[0], 64, 0, &memory));
    assert_ptr_equal(&memory, memory);
}

static void opencl_close_with_live_svm_block_is_busy(void **state)
{
    (void)state;
    skip_unless(any_shares());
    uint32_t *const data = new_data(&resources[0], COUNT);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    check_and_free(data, COUNT, 0);
}

static void *add_rounds(void *args)
{
    uint32_t *const failures = args;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        void *memory = NULL;
        const size_t count = 1 + i * 7 % COUNT;
        if (dynsel_svm_alloc(&resources[i % resource_count], count * 4, 0, &memory) != DYNSEL_OK ||
            dynsel_svm_map(memory, DYNSEL_ACCESS_DISCARD_WRITE) != DYNSEL_OK) {
            (*failures)++;
            return NULL;
        }
        memset(memory, 0, count * 4);
        *failures += dynsel_svm_unmap(memory) != DYNSEL_OK;
        const job what = {.kernel = &add_on_devices, .first = memory, .value = i, .count = count};
        *failures += run_group(with_value, &what) != DYNSEL_OK;
        *failures += dynsel_svm_map(memory, DYNSEL_ACCESS_READ) != DYNSEL_OK;
        *failures += ((uint32_t *)memory)[count - 1] != i;
        *failures += dynsel_svm_free(memory) != DYNSEL_OK;
    }
    return NULL;
}

static void threads_allocate_and_free_svm_blocks(void **state)
{
    pthread_t threads[THREADS];
    uint32_t failures[THREADS] = {0};
    (void)state;
    skip_unless(CONFIG_DYNSEL_CONTEXT_THREADS && any_shares());
    for (size_t i = 0; i < resource_count; i++) {
        skip_unless(shares(i));
    }
    use(resources, resource_count);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&threads[i], NULL, add_rounds, &failures[i]));
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(threads[i], NULL));
        assert_int_equal(0, failures[i]);
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(sharing_equals_expected),
        cmocka_unit_test(several_command_groups_use_one_svm_block),
        cmocka_unit_test(devices_and_host_alternate_on_svm_block),
        cmocka_unit_test(kernel_follows_pointers_inside_svm_pool),
        cmocka_unit_test(null_and_inner_svm_pointers_are_accepted),
        cmocka_unit_test(pointer_out_of_reach_of_all_devices_is_refused),
        cmocka_unit_test(svm_alloc_without_device_support_is_unsupported),
        cmocka_unit_test(opencl_close_with_live_svm_block_is_busy),
        cmocka_unit_test(threads_allocate_and_free_svm_blocks),
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
