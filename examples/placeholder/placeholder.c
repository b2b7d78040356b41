/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A placeholder is made from a buffer, long before anybody knows which command groups will use it,
 * or where they will run. Two require it, one after the other; then the host looks at the result.
 */
#include <stdio.h>

#include "../common/choice.h"

static dynsel_status store_on_host(const dynsel_launch *launch)
{
    int *numbers = dynsel_launch_data(launch, 0);
    numbers[0] = DYNSEL_LAUNCH_VALUE(launch, 1, int);
    return DYNSEL_OK;
}

static const dynsel_kernel store = {
    .name = "store",
    .function = store_on_host,
    .source = "kernel void store(global int *numbers, int value) { numbers[0] = value; }",
};

typedef struct storing {
    const dynsel_accessor *numbers;
    int value;
} storing;

/* What goes wrong in here is what the submitting call returns: nothing has to be looked at. */
static dynsel_status store_value(dynsel_handler *handler, void *args)
{
    const storing *job = args;
    dynsel_require(handler, job->numbers);
    dynsel_set_arg_accessor(handler, 0, job->numbers);
    dynsel_set_arg_value(handler, 1, &job->value, sizeof job->value);
    return dynsel_single_task(handler, &store);
}

static dynsel_status submit(dynsel_policy *policy, const dynsel_accessor *numbers, int value)
{
    dynsel_submission submission;
    storing job = {numbers, value};
    dynsel_status status = dynsel_submit_command_group(policy, store_value, &job, &submission);
    if (status != DYNSEL_OK) {
        return status;
    }
    choice_say(value == 3 ? "numbers[0] = 3" : "numbers[0] = 2", &submission);
    return dynsel_submission_release(&submission); /* the host accessor will wait for it */
}

/* A placeholder itself cannot be looked into. */
static dynsel_status look(dynsel_buffer buffer, int *seen)
{
    dynsel_host_accessor numbers = {0};
    dynsel_status status = dynsel_host_accessor_open(&numbers, buffer, DYNSEL_ACCESS_READ);
    if (status != DYNSEL_OK) {
        return status;
    }
    *seen = ((const int *)numbers.data)[0];
    (void)printf("%-28s %d\n", "the host reads", *seen);
    return dynsel_host_accessor_close(&numbers);
}

int main(int argc, char **argv)
{
    static int numbers[10];
    dynsel_policy *policy = choice_make(
        argc, argv, "Two command groups use one placeholder; says where each of them ran.");
    int seen = 0;
    dynsel_buffer buffer = {0};
    dynsel_status status =
        dynsel_buffer_init(&buffer, numbers, sizeof numbers[0], DYNSEL_RANGE(10));
    if (status == DYNSEL_OK) {
        const dynsel_accessor placeholder = {
            .name = "numbers", .buffer = buffer, .placeholder = true};
        status = submit(policy, &placeholder, 3);
        status = status == DYNSEL_OK ? submit(policy, &placeholder, 2) : status;
        status = status == DYNSEL_OK ? look(buffer, &seen) : status;
        status = status == DYNSEL_OK ? dynsel_buffer_deinit(&buffer) : status;
    }
    return choice_end(policy, status, seen == 2 && numbers[0] == 2);
}
