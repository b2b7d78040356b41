/* SPDX-License-Identifier: Apache-2.0 */
/* Shared virtual memory as drivers give it: coarse and fine grain, none, failures at
 * each call, and lost devices. */
#include "fixture.h"

#include <dynsel/memory.h>

enum { SVM_CAPABILITIES = 0x1053 };

static const cl_bitfield coarse = 1;
static const cl_bitfield fine = 3;
static const cl_bitfield all = 7;
static const fake_answer coarse_answers[] = {
    {.what = SVM_CAPABILITIES, .value = &coarse, .bytes = sizeof(coarse)}};
static const fake_answer fine_answers[] = {
    {.what = SVM_CAPABILITIES, .value = &fine, .bytes = sizeof(fine)}};
static const fake_answer all_answers[] = {
    {.what = SVM_CAPABILITIES, .value = &all, .bytes = sizeof(all)}};
static const fake_device devices[] = {
    {.name = "coarse",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_GPU,
     .answers = coarse_answers,
     .answer_count = 1},
    {.name = "fine",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_GPU,
     .answers = fine_answers,
     .answer_count = 1},
    {.name = "all",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_GPU,
     .answers = all_answers,
     .answer_count = 1},
    {.name = "none", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
};
static const fake_platform machine[] = {{.name = "P", .count = COUNT(devices), .devices = devices}};

enum { COARSE, FINE, ALL, NONE, MOST_CALLS = 200 };

static dynsel_resource resources[COUNT(devices)];
static dynsel_fixed_resource_policy policy;

static int set_up_machine(void **state)
{
    size_t count = 0;
    (void)state;
    (void)unsetenv("DYNSEL_OPENCL");
    show(machine, 1);
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", resources, COUNT(resources), &count));
    assert_int_equal(count, COUNT(devices));
    return 0;
}

static void use(int device)
{
    const dynsel_options options = {.resources = &resources[device], .count = 1};
    policy = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
}

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void *block(int device, size_t bytes)
{
    void *memory = NULL;
    assert_status(DYNSEL_OK, dynsel_svm_alloc(&resources[device], bytes, 0, &memory));
    return memory;
}

/* The fake's kernels have two arguments. */
static dynsel_status give_pointer(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "k", .source = "kernel void k() {}"};
    (void)dynsel_set_arg_pointer(handler, 0, args);
    (void)dynsel_set_arg_pointer(handler, 1, NULL);
    return dynsel_single_task(handler, &kernel);
}

static dynsel_status run(void *pointer)
{
    return dynsel_submit_command_group_and_wait(&policy.policy, give_pointer, pointer);
}

static void coarse_grain_svm_is_mapped(void **state)
{
    (void)state;
    unsigned char *const memory = block(COARSE, 64);
    use(COARSE);
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_DISCARD_WRITE));
    memset(memory, 1, 64);
    assert_status(DYNSEL_E_BUSY, run(memory));
    assert_status(DYNSEL_OK, dynsel_svm_unmap(memory));
    assert_status(DYNSEL_OK, run(memory));
    assert_status(DYNSEL_OK, run(memory));
    assert_int_equal(1, fake_opencl_calls("clSetKernelArgSVMPointer")); /* it is remembered */
    assert_status(DYNSEL_OK, run(memory + 8));
    assert_int_equal(2, fake_opencl_calls("clSetKernelArgSVMPointer"));
    assert_int_equal(1, fake_opencl_calls("clEnqueueSVMMap"));
    assert_int_equal(1, fake_opencl_calls("clEnqueueSVMUnmap"));
    end();
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_non_null(strstr(dynsel_last_error()->detail, "dynsel_svm_free() first"));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static void fine_grain_svm_is_not_mapped(void **state)
{
    (void)state;
    use(FINE);
    unsigned char *const memory = block(FINE, 64);
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, run(memory));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
    assert_int_equal(0, fake_opencl_calls("clEnqueueSVMMap"));
    end();
}

static void svm_pool_is_allocated_once(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        void *const first = block(FINE, 64);
        void *const second = block(FINE, 64);
        assert_status(DYNSEL_OK, dynsel_svm_free(first));
        assert_status(DYNSEL_OK, dynsel_svm_free(second));
    }
    assert_int_equal(1, fake_opencl_calls("clSVMAlloc"));
    assert_int_equal(1, fake_opencl_fine_memories());
    for (int i = 0; i < 2; i++) {
        void *const other = block(COARSE, 64);
        assert_int_equal(2, fake_opencl_calls("clSVMAlloc"));
        assert_status(DYNSEL_OK, dynsel_svm_free(other));
    }
    assert_int_equal(1, fake_opencl_fine_memories());
    void *const last = block(FINE, 64);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_status(DYNSEL_OK, dynsel_svm_free(last));
}

static void system_svm_device_accepts_any_pointer(void **state)
{
    static int own;
    (void)state;
    fake_opencl_let_pointers_be_any();
    use(ALL);
    assert_status(DYNSEL_OK, run(&own));
    end();
    use(FINE);
    assert_status(DYNSEL_E_INVALID, run(&own));
    end();
}

static void device_without_svm_accepts_null_only(void **state)
{
    static int own;
    void *memory = NULL;
    (void)state;
    use(NONE);
    assert_status(DYNSEL_E_INVALID, run(&own));
    assert_status(DYNSEL_OK, run(NULL));
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_svm_alloc(&resources[NONE], 8, 0, &memory));
    memory = block(FINE, 8);
    assert_status(DYNSEL_E_UNSUPPORTED, run(memory));
    assert_non_null(strstr(dynsel_last_error()->detail, "shares none"));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
    end();
}

static void failed_svm_alloc_of_driver_returns_full(void **state)
{
    void *memory = NULL;
    (void)state;
    fake_opencl_break("fine", "clSVMAlloc", CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&resources[FINE], 8, 0, &memory));
    assert_non_null(strstr(dynsel_last_error()->detail, "CONFIG_DYNSEL_SVM_POOL_BYTES"));
    assert_null(memory);
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_svm_free(block(FINE, 8)));
}

/* As much of a life as goes; always gives all back. */
static void live(void)
{
    void *memory = NULL;
    if (dynsel_svm_alloc(&resources[COARSE], 64, 0, &memory) != DYNSEL_OK) {
        return;
    }
    if (dynsel_svm_map(memory, DYNSEL_ACCESS_WRITE) == DYNSEL_OK) {
        const dynsel_status status = dynsel_svm_unmap(memory);
        (void)status;
    }
    for (int i = 0; i < 2; i++) {
        const dynsel_status status = run(memory);
        assert_true(status == DYNSEL_OK || fake_opencl_has_failed());
    }
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
}

static void fault_in_each_call_leaks_nothing(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_INVALID_OPERATION, -9999};
    (void)state;
    for (size_t c = 0; c < 2 * COUNT(codes); c++) {
        for (uint32_t call = 1; call < MOST_CALLS; call++) {
            assert_int_equal(0, set_up_machine(state));
            fake_opencl_set_new_events(c % 2 == 0 ? CL_COMPLETE : CL_RUNNING);
            use(COARSE);
            fake_opencl_fail_at(call, codes[c / 2]);
            live();
            const bool failed = fake_opencl_has_failed();
            const char *const function = failed ? fake_opencl_failed_function() : "nothing";
            fake_opencl_fail_at(0, CL_SUCCESS);
            end();
            assert_status(DYNSEL_OK, dynsel_opencl_close());
            if (fake_opencl_leaks() != 0 || fake_opencl_violations() != 0) {
                fail_msg("call %u, %s: %u leaks, %u violations", (unsigned)call, function,
                         (unsigned)fake_opencl_leaks(), (unsigned)fake_opencl_violations());
            }
            if (!failed) {
                break;
            }
            assert_true(call + 1 < MOST_CALLS);
        }
    }
    assert_int_equal(0, set_up_machine(state));
}

static void lost_device_gets_no_further_svm_calls(void **state)
{
    (void)state;
    use(COARSE);
    void *const memory = block(COARSE, 64);
    assert_status(DYNSEL_OK, dynsel_svm_map(memory, DYNSEL_ACCESS_WRITE));
    fake_opencl_break("coarse", "clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_OK, dynsel_svm_unmap(memory));
    const dynsel_status status = run(memory);
    assert_true(status != DYNSEL_OK);
    assert_status(DYNSEL_E_DEVICE, dynsel_svm_map(memory, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_svm_free(memory));
    void *again = NULL;
    assert_status(DYNSEL_E_OUT_OF_SERVICE, dynsel_svm_alloc(&resources[COARSE], 8, 0, &again));
    end();
}

int main(void)
{
#define MACHINE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_machine, tear_down)
    const struct CMUnitTest tests[] = {
        MACHINE_TEST(coarse_grain_svm_is_mapped),
        MACHINE_TEST(fine_grain_svm_is_not_mapped),
        MACHINE_TEST(svm_pool_is_allocated_once),
        MACHINE_TEST(system_svm_device_accepts_any_pointer),
        MACHINE_TEST(device_without_svm_accepts_null_only),
        MACHINE_TEST(failed_svm_alloc_of_driver_returns_full),
        MACHINE_TEST(fault_in_each_call_leaks_nothing),
        MACHINE_TEST(lost_device_gets_no_further_svm_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
