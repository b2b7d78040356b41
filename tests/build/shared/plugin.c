/* SPDX-License-Identifier: Apache-2.0 */
/* What a program loads: it has a dynsel of its own, of another configuration than the program's. */
#include <dynsel/dynsel.h>

__attribute__((visibility("default"))) const char *plugin_configuration(void);
__attribute__((visibility("default"))) unsigned plugin_run(unsigned wanted);

static dynsel_status count_one(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    ++*(unsigned *)args;
    return DYNSEL_OK;
}

const char *plugin_configuration(void)
{
    return DYNSEL_CONFIG_HASH_TEXT;
}

unsigned plugin_run(unsigned wanted)
{
    static dynsel_fixed_resource_policy policy;
    static const dynsel_resource here = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &here, .count = 1};
    unsigned ran = 0;
    dynsel_status status = dynsel_fixed_resource_init(&policy, &options, 0);
    for (unsigned i = 0; i < wanted && status == DYNSEL_OK; i++) {
        status = dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(count_one, &ran));
    }
    return status == DYNSEL_OK && dynsel_policy_deinit(&policy.policy) == DYNSEL_OK ? ran : 0;
}
