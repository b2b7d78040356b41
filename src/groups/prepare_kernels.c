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
    uint32_t before[DYNSEL_EXCLUDED_WORDS]; /* bits: the resources when it began */
    dynsel_error first;                     /* the first failure */
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

/* Whether the policy had the resource when the call began, and still has it. */
static bool is_there(const preparation *p, uint32_t index)
{
    return (p->before[index / 32] >> index % 32 & 1u) != 0 &&
           !dynsel_health_is_removed(&p->policy->queues[index]);
}

/* Others may come while the program is told of the progress: they are not in `total`. */
static void list_resources(preparation *p)
{
    for (uint32_t i = 0; i < dynsel_policy_count(p->policy); i++) {
        if (!dynsel_health_is_removed(&p->policy->queues[i])) {
            p->before[i / 32] |= 1u << i % 32;
        }
    }
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
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        for (size_t k = 0; is_there(p, i) && k < p->count; k++) {
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
    list_resources(&p);
    p.total = count_all(&p);
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        for (size_t k = 0; is_there(&p, i) && k < count; k++) {
            if (can_run(policy, i, kernels[k])) {
                prepare_one(&p, i, kernels[k]);
            }
        }
    }
    return p.first.status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail(&p.first);
}
