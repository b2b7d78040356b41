/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/inline.h>

#include "aspects/host.h"
#include "policy/report.h"
#include "submission/call_task.h"

#if CONFIG_DYNSEL_CUSTOM_BACKENDS
static dynsel_status get_default_resources(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count)
{
    if (capacity > 0) {
        resources[0] = (dynsel_resource){.backend = backend};
    }
    *count = 1;
    return DYNSEL_OK;
}
#endif

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    (void)handle;
    return "host";
}

#if !CONFIG_DYNSEL_SUBMITS_IN_CALLER
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_call_inline(work);
    return DYNSEL_OK;
}
#endif

DYNSEL_ASSERT_REPORTS(DYNSEL_INLINE_REPORTS, DYNSEL_NEEDS_OF_POLICIES);

static const dynsel_backend_ops ops = {
    .name = "inline",
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    .reports = DYNSEL_INLINE_REPORTS,
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    .times_runs_alone = true,
#endif
    .only_calls = true,
    .poll_synchronizes = true,
    .get_default_resources = get_default_resources,
#endif
    .resource_name = resource_name,
#if CONFIG_DYNSEL_ASPECTS
    .describe = dynsel_describe_host,
#endif
#if !CONFIG_DYNSEL_SUBMITS_IN_CALLER
    .start = start,
#endif
};

dynsel_backend dynsel_inline_backend = {.ops = &ops};
