/* SPDX-License-Identifier: Apache-2.0 */
/* The child of a process that has used OpenCL is refused its devices, and works without them. */
#include <dynsel/dynsel.h>

#include "process/child.h"
#include "support/do_nothing.h"

static dynsel_fixed_resource_policy on_device;

static void use_devices(void)
{
    size_t count = 0;
    dynsel_resource device;
    dynsel_fixed_resource_policy own = {0};
    const dynsel_task task = DYNSEL_TASK(do_nothing, NULL);
    child_expects_status(DYNSEL_E_CONTEXT, dynsel_submit(&on_device.policy, &task, NULL));
    child_expects_status(DYNSEL_E_NO_RESOURCE, dynsel_opencl_select("cpu", &device, 1, &count));
    child_expects_text("do not survive fork()");
    child_expects_status(
        DYNSEL_OK,
        dynsel_fixed_resource_init(&own, &(dynsel_options){.backend = &dynsel_inline_backend}, 0));
    child_expects_status(DYNSEL_OK, dynsel_submit_and_wait(&own.policy, &task));
    child_expects_status(DYNSEL_OK, dynsel_policy_deinit(&own.policy));
}

static void devices_of_parent_in_child_are_refused(void **state)
{
    (void)state;
    size_t count = 0;
    dynsel_resource device;
    if (dynsel_opencl_select("cpu", &device, 1, &count) != DYNSEL_OK || count == 0) {
        skip();
    }
    assert_status(DYNSEL_OK,
                  dynsel_fixed_resource_init(
                      &on_device, &(dynsel_options){.resources = &device, .count = 1}, 0));
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&on_device.policy, &DYNSEL_TASK(do_nothing, NULL)));
    assert_child_succeeds(use_devices);
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&on_device.policy, &DYNSEL_TASK(do_nothing, NULL)));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_device.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(devices_of_parent_in_child_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
