/* SPDX-License-Identifier: Apache-2.0 */
/* The state of buffers after a failed OpenCL call in a command group. */
#include "fixture.h"

enum { WORDS = 16, BAD_LOCAL = 512 };

static const fake_device devices[] = {{.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU}};
static const fake_platform machine[] = {{.name = "P", .count = 1, .devices = devices}};

static dynsel_fixed_resource_policy policy;
static dynsel_resource gpu;
static uint32_t words[WORDS + 1]; /* no device would use them itself */
static dynsel_buffer buffer;

static const dynsel_kernel good = {.name = "good", .source = "kernel void good(...)"};

typedef struct job {
    const dynsel_kernel *kernel;
    bool discards;
    bool forgets; /* the second argument */
    size_t local; /* 0: the library's choice */
} job;

static dynsel_status launch(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    const uint32_t value = 1;
    dynsel_accessor data;
    (void)dynsel_get_access(handler, buffer,
                            j->discards ? DYNSEL_ACCESS_DISCARD_WRITE : DYNSEL_ACCESS_READ_WRITE,
                            DYNSEL_MEMORY_GLOBAL, &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    if (!j->forgets) {
        (void)dynsel_set_arg_value(handler, 1, &value, sizeof(value));
    }
    const dynsel_range local = DYNSEL_RANGE(j->local);
    return dynsel_parallel_for(handler, j->kernel, DYNSEL_RANGE(1024),
                               j->local != 0 ? &local : NULL, NULL);
}

static dynsel_status run(job what)
{
    return dynsel_submit_command_group_and_wait(&policy.policy, launch, &what);
}

static const job changes = {.kernel = &good};

static int set_up_buffer(void **state)
{
    size_t count = 0;
    (void)state;
    (void)unsetenv("DYNSEL_OPENCL");
    show(machine, 1);
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", &gpu, 1, &count));
    const dynsel_options options = {.resources = &gpu, .count = 1};
    policy = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    buffer = (dynsel_buffer){0};
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    assert_status(DYNSEL_OK, run(changes)); /* the only valid copy is on the device */
    return 0;
}

static int tear_down_buffer(void **state)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return tear_down(state);
}

/* The work failed; what it was to write is as usable as before, and the next one succeeds. */
static void assert_nothing_is_changed(dynsel_status expected, job what)
{
    assert_status(expected, run(what));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    fake_opencl_fail_at(0, CL_SUCCESS);
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_status(DYNSEL_OK, run(changes));
}

static void refused_enqueue_changes_nothing(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                   CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_OPERATION};
    static const dynsel_status statuses[] = {DYNSEL_E_DEVICE, DYNSEL_E_FULL, DYNSEL_E_INVALID,
                                             DYNSEL_E_DEVICE};
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        for (int discards = 0; discards < 2; discards++) {
            const job what = {.kernel = &good, .discards = discards != 0};
            fake_opencl_break("gpu", "clEnqueueNDRangeKernel", codes[i]);
            assert_nothing_is_changed(statuses[i], what);
        }
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void wrong_launch_changes_nothing(void **state)
{
    (void)state;
    assert_nothing_is_changed(DYNSEL_E_INVALID, (job){.kernel = &good, .forgets = true});
    assert_nothing_is_changed(DYNSEL_E_INVALID, (job){.kernel = &good, .local = BAD_LOCAL});
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void failed_kernel_build_changes_nothing(void **state)
{
    static const dynsel_kernel broken = {.name = "broken", .source = "kernel void broken(...)"};
    static const dynsel_kernel missing = {.name = "missing", .source = "kernel void missing(...)"};
    (void)state;
    fake_opencl_break("gpu", "clBuildProgram", CL_BUILD_PROGRAM_FAILURE);
    assert_nothing_is_changed(DYNSEL_E_TASK, (job){.kernel = &broken});
    assert_nothing_is_changed(DYNSEL_E_TASK, (job){.kernel = &broken, .discards = true});
    fake_opencl_break("gpu", "clCreateKernel", CL_INVALID_KERNEL_NAME);
    assert_nothing_is_changed(DYNSEL_E_TASK, (job){.kernel = &missing});
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void full_kernel_table_changes_nothing(void **state)
{
    static dynsel_kernel many[CONFIG_DYNSEL_OPENCL_MAX_KERNELS];
    static char names[CONFIG_DYNSEL_OPENCL_MAX_KERNELS][8];
    (void)state;
    if (COUNT(many) > 200) {
        skip(); /* the fake has no room for so many */
    }
    for (size_t i = 0; i < COUNT(many); i++) {
        names[i][0] = 'k';
        names[i][1] = (char)('a' + i / 26);
        names[i][2] = (char)('a' + i % 26);
        many[i] = (dynsel_kernel){.name = names[i], .source = "kernel void k(...)"};
        if (i + 1 < COUNT(many)) {
            assert_status(DYNSEL_OK, run((job){.kernel = &many[i]}));
        }
    }
    assert_nothing_is_changed(DYNSEL_E_FULL, (job){.kernel = &many[COUNT(many) - 1]});
    assert_contains(error_line(), "CONFIG_DYNSEL_OPENCL_MAX_KERNELS");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

/* Once, it is tried again where that may help; for good, the text says what failed, and when it is
 * over the data are still there. */
static void failed_read_loses_no_data(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE,
                                   CL_INVALID_VALUE};
    dynsel_host_accessor seen = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        const uint32_t before = fake_opencl_calls("clEnqueueReadBuffer");
        fake_opencl_break("gpu", "clEnqueueReadBuffer", codes[i]);
        assert_status(DYNSEL_E_DEVICE,
                      dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
        assert_contains(error_line(), "clEnqueueReadBuffer: ");
        assert_contains(error_line(), "[gpu], code -");
        assert_int_equal(codes[i], dynsel_last_error()->code);
        assert_int_equal(buffer.token, dynsel_last_error()->buffer);
        assert_int_equal(before + (codes[i] == CL_INVALID_VALUE ? 1 : DYNSEL_FETCH_ATTEMPTS),
                         fake_opencl_calls("clEnqueueReadBuffer"));
        assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&buffer));
        assert_int_equal(codes[i], dynsel_last_error()->code);
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
        assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
        assert_status(DYNSEL_OK, run(changes));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void lost_device_error_names_device_and_buffer(void **state)
{
    dynsel_host_accessor seen = {0};
    (void)state;
    fake_opencl_break("gpu", "clEnqueueReadBuffer", CL_DEVICE_NOT_AVAILABLE);
    const uint32_t token = buffer.token;
    assert_status(DYNSEL_E_DEVICE, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    assert_contains(error_line(), "clEnqueueReadBuffer: ");
    assert_contains(error_line(), "the only valid copy was on a device that failed");
    assert_contains(error_line(), "[gpu], code -2, buffer ");
    assert_status(DYNSEL_E_DEVICE, dynsel_buffer_deinit(&buffer));
    assert_int_equal(token, dynsel_last_error()->buffer);
    assert_int_equal(0, buffer.token);
}

/* Two devices of one context, of which the second is used first when the first is lost. */
static void device_of_lost_context_gets_new_memory(void **state)
{
    static const fake_device mates[] = {
        {.name = "cpu0", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
        {.name = "cpu1", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
    };
    static const fake_platform pair[] = {{.name = "P", .count = 2, .devices = mates}};
    dynsel_fixed_resource_policy second = {0};
    dynsel_resource found[2];
    dynsel_host_accessor seen = {0};
    size_t count = 0;
    job what = changes;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    show(pair, 1);
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", found, 2, &count));
    const dynsel_options both = {.resources = found, .count = 2};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &both, 0));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&second, &both, 1));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, words + 1, sizeof(uint32_t), DYNSEL_RANGE(WORDS)));
    assert_status(DYNSEL_OK, run(changes));
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    fake_opencl_break("cpu0", "clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_DEVICE, run(changes));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    for (int i = 0; i < 3; i++) {
        what.discards = i == 2;
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&second.policy, launch, &what));
    }
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&second.policy));
}

int main(void)
{
#define BUFFER_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_buffer, tear_down_buffer)
    const struct CMUnitTest tests[] = {
        BUFFER_TEST(refused_enqueue_changes_nothing),
        BUFFER_TEST(wrong_launch_changes_nothing),
        BUFFER_TEST(failed_kernel_build_changes_nothing),
        BUFFER_TEST(full_kernel_table_changes_nothing),
        BUFFER_TEST(failed_read_loses_no_data),
        BUFFER_TEST(lost_device_error_names_device_and_buffer),
        BUFFER_TEST(device_of_lost_context_gets_new_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
