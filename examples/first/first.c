/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/dynsel.h>
#include <stdio.h>

static dynsel_status say(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done; /* work that goes on afterwards leaves its event here: done->opencl */
    printf("task %d runs on %s\n", *(int *)args, dynsel_resource_name(where));
    return DYNSEL_OK;
}

int main(void)
{
    static dynsel_round_robin_policy policy; /* zeroed: not initialized yet */
    static int tasks[] = {0, 1, 2, 3};
    dynsel_status status = dynsel_round_robin_init(&policy, NULL, 0); /* host and OpenCL devices */
    for (int i = 0; i < 4 && status == DYNSEL_OK; i++) {
        status = dynsel_submit(&policy.policy, &DYNSEL_TASK(say, &tasks[i]), NULL);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
    }
    if (status != DYNSEL_OK) {
        char text[400];
        dynsel_error_text(NULL, text, sizeof text); /* what went wrong last */
        fprintf(stderr, "first: %s\n", text);
    }
    return status == DYNSEL_OK ? 0 : 1;
}
