/* SPDX-License-Identifier: Apache-2.0 */
/* exit() while a kernel runs. It has run before: PoCL compiles a kernel in a thread of its own at
 * the first launch, and an exit() during that crashes or hangs in LLVM. */
#include <dynsel/dynsel.h>

#include "process/child.h"

enum { STATUS = 7, ROUNDS = 50, CHILDREN = 4 };

static const dynsel_kernel slow = {
    .name = "slow",
    .source = "kernel void slow(global volatile uint *word, uint rounds)\n"
              "{ for (uint i = 0; i < rounds * 1000000; i++) { word[0] = word[0] + i; } }\n"};

static dynsel_fixed_resource_policy on_device;
static uint32_t word;
static dynsel_buffer buffer;

static dynsel_status record(dynsel_handler *handler, void *args)
{
    const uint32_t *rounds = args;
    dynsel_accessor data;
    dynsel_status status =
        dynsel_get_access(handler, buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, rounds, sizeof *rounds);
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &slow, DYNSEL_RANGE(1), NULL, NULL)
                               : status;
}

static void exit_while_kernel_runs(void)
{
    size_t count = 0;
    dynsel_resource device;
    if (dynsel_opencl_select("cpu", &device, 1, &count) != DYNSEL_OK || count == 0) {
        exit(STATUS);
    }
    child_expects_status(DYNSEL_OK,
                         dynsel_fixed_resource_init(
                             &on_device, &(dynsel_options){.resources = &device, .count = 1}, 0));
    child_expects_status(DYNSEL_OK,
                         dynsel_buffer_init(&buffer, &word, sizeof word, DYNSEL_RANGE(1)));
    static uint32_t rounds[] = {0, ROUNDS};
    dynsel_policy *const policy = &on_device.policy;
    child_expects_status(DYNSEL_OK,
                         dynsel_submit_command_group_and_wait(policy, record, &rounds[0]));
    child_expects_status(DYNSEL_OK, dynsel_submit_command_group(policy, record, &rounds[1], NULL));
    exit(STATUS);
}

static void exit_while_kernel_runs_ends_the_process(void **state)
{
    (void)state;
    for (int i = 0; i < CHILDREN; i++) {
        const int status = status_of_child(exit_while_kernel_runs);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), STATUS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exit_while_kernel_runs_ends_the_process)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
