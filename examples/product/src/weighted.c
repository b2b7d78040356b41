/* SPDX-License-Identifier: Apache-2.0 */
#include <acme/weighted.h>

#include <stdbool.h>

/* Of each resource, how far it is behind its share, in units of 1/length. */
static void fill_round(acme_weighted_policy *p, const uint8_t *weights)
{
    int32_t behind[CONFIG_DYNSEL_MAX_RESOURCES] = {0};
    for (uint32_t turn = 0; turn < p->length; turn++) {
        uint32_t next = 0;
        for (uint32_t i = 0; i < p->policy.count; i++) {
            behind[i] += weights[i];
            next = behind[i] > behind[next] ? i : next;
        }
        behind[next] -= (int32_t)p->length;
        p->resource_of_turn[turn] = (uint8_t)next;
    }
}

static uint32_t take_turn(acme_weighted_policy *p)
{
#if CONFIG_DYNSEL_CONTEXT_THREADS
    return atomic_fetch_add_explicit(&p->turn, 1, memory_order_relaxed) % p->length;
#else
    return p->turn++ % p->length;
#endif
}

/* A resource that may not be used leaves its turns to those behind it in the round. */
static dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    acme_weighted_policy *p = (acme_weighted_policy *)(void *)policy;
    const uint32_t first = take_turn(p);
    selection->reason = DYNSEL_REASON_TURN;
    for (uint32_t k = 0; k < p->length; k++) {
        selection->index = p->resource_of_turn[(first + k) % p->length];
        if (dynsel_policy_may_use(policy, selection->index, task)) {
            return DYNSEL_OK;
        }
    }
    for (selection->index = 0; selection->index < policy->count; selection->index++) {
        if (dynsel_policy_may_use(policy, selection->index, task)) {
            return DYNSEL_OK; /* its weight is 0 */
        }
    }
    return dynsel_policy_refuse(policy, task);
}

static const dynsel_policy_ops weighted_ops = {.name = "weighted", .try_select = try_select};

dynsel_status acme_weighted_init(acme_weighted_policy *policy, const dynsel_options *options,
                                 const uint8_t *weights)
{
    if (policy == NULL || options == NULL || options->resources == NULL || weights == NULL) {
        return DYNSEL_E_INVALID;
    }
    uint32_t length = 0;
    for (size_t i = 0; i < options->count; i++) {
        length += weights[i];
    }
    if (length == 0 || length > CONFIG_ACME_WEIGHTED_ROUND) {
        return DYNSEL_E_INVALID;
    }
    const dynsel_status status = dynsel_policy_init(&policy->policy, &weighted_ops, options);
    if (status == DYNSEL_OK) {
        policy->turn = 0;
        policy->length = length;
        fill_round(policy, weights);
    }
    return status;
}
