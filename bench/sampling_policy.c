/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling_policy.h"

#include "report.h"

static sampling_policy *outer(dynsel_policy *policy)
{
    return (sampling_policy *)(void *)policy;
}

/* selection->wants has the bits of `needs` here. */
static dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    sampling_policy *const p = outer(policy);
    if (!dynsel_policy_may_use(policy, 0, task)) {
        return dynsel_policy_refuse(policy, task);
    }
    const unsigned one_in = atomic_load_explicit(&p->one_in, memory_order_relaxed);
    selection->index = 0;
    selection->wants = 0;
    if (one_in != 0 && selection->claims != 0 &&
        atomic_fetch_add_explicit(&p->submissions, 1, memory_order_relaxed) % one_in ==
            one_in - 1) {
        selection->wants = DYNSEL_TASK_TIME;
        atomic_fetch_add_explicit(&p->requests, 1, memory_order_relaxed);
    }
    return DYNSEL_OK;
}

static void report(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    sampling_policy *const p = outer(policy);
    (void)selection;
    if (info == DYNSEL_TASK_TIME) {
        const unsigned i = atomic_fetch_add(&p->count, 1);
        if (i < SAMPLING_MOST_VALUES) {
            atomic_store(&p->ns[i], value);
        }
    }
}

static const dynsel_policy_ops ops = {
    .name = "sampling",
    .needs = DYNSEL_TASK_TIME,
    .try_select = try_select,
    .report = report,
};

void sampling_init(sampling_policy *policy, const dynsel_resource *where)
{
    const dynsel_options options = {.resources = where, .count = 1};
    report_check(dynsel_policy_init(&policy->policy, &ops, &options) == DYNSEL_OK,
                 "dynsel_policy_init");
}

void sampling_deinit(sampling_policy *policy)
{
    report_check(dynsel_policy_deinit(&policy->policy) == DYNSEL_OK, "deinit");
}

void sampling_set_interval(sampling_policy *policy, unsigned one_in)
{
    atomic_store(&policy->one_in, one_in);
}

unsigned sampling_requests(const sampling_policy *policy)
{
    return atomic_load(&policy->requests);
}

size_t sampling_values(const sampling_policy *policy, double *ns)
{
    const unsigned reported = atomic_load(&policy->count);
    size_t count = 0;
    for (unsigned i = 0; i < reported && i < SAMPLING_MOST_VALUES; i++) {
        const unsigned long long value = atomic_load(&policy->ns[i]);
        if (value != 0) {
            ns[count++] = (double)value;
        }
    }
    return count;
}

void sampling_clear(sampling_policy *policy)
{
    const unsigned reported = atomic_load(&policy->count);
    for (unsigned i = 0; i < reported && i < SAMPLING_MOST_VALUES; i++) {
        atomic_store(&policy->ns[i], 0);
    }
    atomic_store(&policy->count, 0);
    atomic_store(&policy->requests, 0);
    atomic_store(&policy->submissions, 0);
}
