/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/dynsel.h>
#include <stdio.h>

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    printf("on %s\n", dynsel_resource_name(where));
    return DYNSEL_OK;
}

int main(void)
{
    static dynsel_round_robin_policy policy;
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &host, .count = 1, .may_change = true};
    dynsel_resource worker;
    size_t count = 0;
    size_t index = 0;
    dynsel_status status = dynsel_round_robin_init(&policy, &options, 0);
    if (status == DYNSEL_OK) {
        status = dynsel_threads_start(1);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_threads_resources(&worker, 1, &count);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_policy_add_resource(&policy.policy, &worker, &index);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_policy_remove_resource(&policy.policy, 0, 1000000000); /* within a second */
    }
    if (status == DYNSEL_OK) {
        status = dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(work, NULL));
    }
    if (status == DYNSEL_OK) {
        status = dynsel_policy_deinit(&policy.policy);
    }
    return status == DYNSEL_OK && dynsel_threads_stop() == DYNSEL_OK ? 0 : 1;
}
