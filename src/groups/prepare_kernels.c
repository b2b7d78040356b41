/* SPDX-License-Identifier: Apache-2.0 */
/* Builds kernels before their first use. */
#include <dynsel/kernel.h>

#include <dynsel/backend.h>
#include <dynsel/memory.h>

#include "backends/default_memory.h"
#include "base/fail.h"
#include "groups/kernel_forms.h"
#include "policy/policy.h"
#include "submission/request.h"

DYNSEL_TAKE_DEFAULT_MEMORY(prepare_kernels);

/* One call of dynsel_kernel_prepare(). */
typedef struct preparation {
    dynsel_policy *policy;
    const dynsel_kernel *const *kernels;
    size_t count;
    dynsel_prepared_fn prepared;
    void *context;
    size_t done;
    size_t total;
    dynsel_error first; /* the first failure */
} preparation;

static dynsel_status check(const preparation *p, const char *function)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(function, "prepare kernels outside of task functions");
    }
    if (!dynsel_policy_is_usable(p->policy)) {
        return dynsel_policy_refuse_use(p->policy, function);
    }
    if (p->kernels == NULL && p->count > 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID, "the kernels are NULL", 0);
    }
    for (size_t i = 0; i < p->count; i++) {
        const dynsel_kernel *const kernel = p->kernels[i];
        if (kernel == NULL || !dynsel_kernel_has_any_form(kernel) ||
            !dynsel_kernel_has_name(kernel)) {
            return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                                  "kernel {} is NULL, or has no form, or no name", i);
        }
    }
    return DYNSEL_OK;
}

/* Whether the resource can run the kernel at all. */
static bool can_run(const dynsel_policy *policy, uint32_t index, const dynsel_kernel *kernel)
{
#if CONFIG_DYNSEL_ASPECTS
    if ((kernel->aspects & ~policy->aspects[index]) != 0) {
        return false;
    }
#endif
    return dynsel_kernel_has_form_for(kernel, policy->resources[index].backend);
}

static size_t count_all(const preparation *p)
{
    size_t total = 0;
    for (uint32_t i = 0; i < dynsel_policy_count(p->policy); i++) {
        for (size_t k = 0; k < p->count; k++) {
            total += can_run(p->policy, i, p->kernels[k]) ? 1 : 0;
        }
    }
    return total;
}

static void prepare_one(preparation *p, uint32_t index, const dynsel_kernel *kernel)
{
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    dynsel_backend *const backend = p->policy->resources[index].backend;
    const dynsel_memory_ops *const memory = backend->ops->memory;
    const dynsel_status status =
        memory != NULL && memory->prepare != NULL
            ? memory->prepare(backend, p->policy->queues[index].own, kernel)
            : DYNSEL_OK;
    if (status != DYNSEL_OK && p->first.status == DYNSEL_OK) {
        p->first = dynsel_details_of(status, failures_before);
    }
    p->done++;
    if (p->prepared != NULL) {
        p->prepared(kernel, &p->policy->resources[index], status, p->done, p->total, p->context);
    }
}

DYNSEL_RARE dynsel_status dynsel_kernel_prepare(dynsel_policy *policy,
                                                const dynsel_kernel *const *kernels, size_t count,
                                                dynsel_prepared_fn prepared, void *context)
{
    preparation p = {.policy = policy,
                     .kernels = kernels,
                     .count = count,
                     .prepared = prepared,
                     .context = context};
    const dynsel_status status = check(&p, DYNSEL_TEXT(__func__));
    if (status != DYNSEL_OK) {
        return status;
    }
    p.total = count_all(&p);
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        for (size_t k = 0; k < count; k++) {
            if (can_run(policy, i, kernels[k])) {
                prepare_one(&p, i, kernels[k]);
            }
        }
    }
    return p.first.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail(&p.first);
}
