/* SPDX-License-Identifier: Apache-2.0 */
/* Of buffers, command groups, shared memory and devices, too, an interrupt may call nothing. */
#define _POSIX_C_SOURCE 200809L /* sigaction() */

#include <dynsel/dynsel.h>

#if CONFIG_DYNSEL_BACKEND_OPENCL
#include <dynsel/opencl.h>
#endif

#include "interrupted.h"
#include "support/do_nothing.h"
#include "test.h"

enum { ELEMENTS = 4, MOST = 40 };

static dynsel_fixed_resource_policy policy;
static dynsel_submission submission;
static dynsel_buffer buffer;
static int data[ELEMENTS];
static dynsel_handler *recorded;
static int groups;

static dynsel_status statuses[MOST];
static int calls;

static void note(dynsel_status status)
{
    statuses[calls++] = status;
}

/* Also looks at the last error, which stays the program's own. */
static void assert_all_refused(void)
{
    for (int i = 0; i < calls; i++) {
        if (statuses[i] != DYNSEL_E_CONTEXT) {
            print_message("call %d: ", i);
        }
        assert_int_equal(statuses[i], DYNSEL_E_CONTEXT);
    }
    assert_true(calls > 0);
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
    calls = 0;
}

static dynsel_status count_group(dynsel_handler *handler, void *args)
{
    (void)args;
    groups++;
    return dynsel_host_task(handler, launch_nothing);
}

static void use_buffers(void)
{
    static dynsel_buffer mine;
    static dynsel_host_accessor accessor;
    static dynsel_movement movement;
    const dynsel_resource *where = &policy.policy.resources[0];
    note(dynsel_buffer_init(&mine, data, sizeof data[0], DYNSEL_RANGE(ELEMENTS)));
    note(dynsel_buffer_deinit(&buffer));
    note(dynsel_buffer_movement(buffer, &movement));
    note(dynsel_domain_movement(where, &movement));
    note(dynsel_host_accessor_open(&accessor, buffer, DYNSEL_ACCESS_READ));
    note(dynsel_host_accessor_open_for(&accessor, buffer, DYNSEL_ACCESS_READ, 1));
    note(accessor.data == NULL && mine.token == 0 ? DYNSEL_E_CONTEXT : DYNSEL_OK);
}

static void submit_groups(void)
{
    static dynsel_submission mine;
    static dynsel_range_bytes bytes;
    note(dynsel_submit_command_group(&policy.policy, count_group, NULL, &mine));
    note(dynsel_try_submit_command_group(&policy.policy, count_group, NULL, NULL));
    note(dynsel_submit_command_group_for(&policy.policy, count_group, NULL, NULL, 1));
    note(dynsel_submit_command_group_and_wait(&policy.policy, count_group, NULL));
    note(dynsel_submission_range_bytes(&submission, &bytes));
    note(dynsel_get_range_statistics(&policy.policy, &bytes));
    note(dynsel_kernel_prepare(&policy.policy, NULL, 0, NULL, NULL));
}

static dynsel_host_accessor opened;

static void close_accessor(void)
{
    note(dynsel_host_accessor_close(&opened));
}

static void set_up_all(void)
{
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    calls = 0;
    groups = 0;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, data, sizeof data[0], DYNSEL_RANGE(ELEMENTS)));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL));
}

static void end_all(void)
{
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void buffer_and_group_calls_in_interrupt_are_refused(void **state)
{
    (void)state;
    set_up_all();
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&policy.policy, count_group, NULL, &submission));
    interrupt(use_buffers);
    assert_all_refused();
    interrupt(submit_groups);
    assert_all_refused();
    assert_int_equal(groups, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    end_all();
}

static void host_accessor_close_in_interrupt_is_refused(void **state)
{
    (void)state;
    set_up_all();
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&opened, buffer, DYNSEL_ACCESS_READ));
    interrupt(close_accessor);
    assert_all_refused();
    assert_ptr_equal(opened.data, data);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&opened));
    end_all();
}

static void record(void)
{
    static const dynsel_kernel kernel = {.function = launch_nothing};
    static dynsel_accessor accessor;
    note(dynsel_require_buffer(recorded, buffer, &accessor));
    note(dynsel_get_access(recorded, buffer, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &accessor));
    note(dynsel_set_arg_value(recorded, 0, data, sizeof data[0]));
    note(dynsel_set_arg_local(recorded, 0, 4));
    note(dynsel_set_arg_pointer(recorded, 0, data));
    note(dynsel_single_task(recorded, &kernel));
    note(dynsel_host_task(recorded, launch_nothing));
    note(dynsel_set_key(recorded, 1, NULL, 0));
}

static dynsel_status record_interrupted(dynsel_handler *handler, void *args)
{
    (void)args;
    recorded = handler;
    interrupt(record);
    assert_all_refused();
    return dynsel_host_task(handler, launch_nothing);
}

static void interrupt_of_group_function_records_nothing(void **state)
{
    (void)state;
    set_up_all();
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&policy.policy, record_interrupted, NULL));
    end_all();
}

#if CONFIG_DYNSEL_SVM
static void *block;

static void use_shared_memory(void)
{
    void *memory = NULL;
    note(dynsel_svm_alloc(&policy.policy.resources[0], 16, 0, &memory));
    note(dynsel_svm_free(block));
    note(dynsel_svm_map(block, DYNSEL_ACCESS_READ));
    note(dynsel_svm_unmap(block));
}

static void svm_calls_in_interrupt_are_refused(void **state)
{
    (void)state;
    set_up_all();
    assert_status(DYNSEL_OK, dynsel_svm_alloc(&policy.policy.resources[0], 16, 0, &block));
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL));
    interrupt(use_shared_memory);
    assert_all_refused();
    assert_status(DYNSEL_OK, dynsel_svm_free(block));
    end_all();
}
#endif

#if CONFIG_DYNSEL_BACKEND_OPENCL
static void visit(const dynsel_opencl_device_info *info, void *context)
{
    (void)info;
    (void)context;
}

static void use_opencl(void)
{
    dynsel_resource resource;
    size_t count = 0;
    note(dynsel_opencl_configure(NULL));
    note(dynsel_opencl_select(NULL, &resource, 1, &count));
    note(dynsel_opencl_visit_devices(NULL, visit, NULL));
    note(dynsel_opencl_close());
}

static void opencl_calls_in_interrupt_are_refused(void **state)
{
    (void)state;
    calls = 0;
    assert_status(DYNSEL_E_INVALID, dynsel_wait(NULL));
    interrupt(use_opencl);
    assert_all_refused();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffer_and_group_calls_in_interrupt_are_refused),
        cmocka_unit_test(host_accessor_close_in_interrupt_is_refused),
        cmocka_unit_test(interrupt_of_group_function_records_nothing),
#if CONFIG_DYNSEL_SVM
        cmocka_unit_test(svm_calls_in_interrupt_are_refused),
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
        cmocka_unit_test(opencl_calls_in_interrupt_are_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
