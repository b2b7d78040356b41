/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program, outside dynsel's tree: 100 pieces of work on one resource. */
#include <dynsel/dynsel.h>

static dynsel_status count(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    ++*(unsigned *)args;
    return DYNSEL_OK;
}

int main(void)
{
    static dynsel_fixed_resource_policy policy;
    static const dynsel_resource here = {.backend = &dynsel_inline_backend};
    static unsigned counted;
    const dynsel_options options = {.resources = &here, .count = 1};
    dynsel_status status = dynsel_fixed_resource_init(&policy, &options, 0);
    for (int i = 0; i < 100 && status == DYNSEL_OK; i++) {
        status = dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(count, &counted));
    }
    return status == DYNSEL_OK && counted == 100 ? 0 : 1;
}
