/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/pointers.h"

#include <dynsel/memory.h>

#include "core/fail.h"

enum { ALL_TAKEN = CONFIG_DYNSEL_MAX_ARGUMENTS };

static bool takes(const dynsel_policy *policy, uint32_t index, const void *pointer)
{
    dynsel_backend *const backend = policy->resources[index].backend;
    const dynsel_memory_ops *const memory = backend->ops->memory;
    if (pointer == NULL || memory == NULL) {
        return true;
    }
    return memory->sharing != NULL &&
           memory->sharing(backend, policy->lanes[index].own) == DYNSEL_SHARES_ALL;
}

/* The first argument that is a pointer which the resource does not take. */
static uint32_t not_taken(const dynsel_handler *group, const dynsel_policy *policy, uint32_t index)
{
    for (uint32_t i = 0; i < group->argument_count; i++) {
        const dynsel_argument *const argument = &group->arguments[i];
        if (argument->kind == DYNSEL_ARGUMENT_POINTER && !takes(policy, index, argument->value)) {
            return i;
        }
    }
    return ALL_TAKEN;
}

bool dynsel_pointers_pass_over(const dynsel_handler *group, const dynsel_policy *policy,
                               uint32_t *passed_over)
{
    bool any = false;
    for (uint32_t i = 0; i < DYNSEL_PASSED_OVER_WORDS; i++) {
        passed_over[i] = 0;
    }
    for (uint32_t i = 0; i < policy->count; i++) {
        if (not_taken(group, policy, i) != ALL_TAKEN) {
            passed_over[i / 32] |= 1u << i % 32;
            any = true;
        }
    }
    return any;
}

dynsel_status dynsel_pointers_refuse(const dynsel_handler *group, const dynsel_policy *policy,
                                     const char *function)
{
    uint32_t argument = ALL_TAKEN;
    for (uint32_t i = 0; i < policy->count && argument == ALL_TAKEN; i++) {
        argument = not_taken(group, policy, i);
    }
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                          "argument {} points to memory that no resource with a form reaches: pass "
                          "the data in a buffer, or let a resource of the host do the work",
                          argument);
}
