/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/dynsel.h>
#include <stdio.h>
#include <string.h>

static dynsel_status say(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done; /* work that goes on afterwards leaves its event here: done->opencl */
    printf("task %d runs on %s\n", *(int *)args, dynsel_resource_name(where));
    return DYNSEL_OK;
}

static dynsel_status run_tasks(void)
{
    static dynsel_round_robin_policy policy; /* zeroed: not initialized yet */
    static int tasks[] = {0, 1, 2, 3};
    const dynsel_options options = {.defaults = DYNSEL_HOST_AND_DEVICES}; /* this thread, OpenCL */
    dynsel_status status = dynsel_round_robin_init(&policy, &options, 0);
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
    return status;
}

int main(int argc, char **argv)
{
    const bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
    if (argc > 1) {
        fputs("Usage: first\nRuns four tasks, in turn on all devices.\n", help ? stdout : stderr);
    }
    const bool good = argc > 1 ? help : run_tasks() == DYNSEL_OK;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "first: standard output cannot be written\n");
        return 1;
    }
    return good ? 0 : (argc > 1 ? 2 : 1);
}
