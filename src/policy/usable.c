/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/usable.h"

#include "base/fail.h"

dynsel_status dynsel_policy_refuse_use(const dynsel_policy *policy, const char *function)
{
    if (policy == NULL) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID, "the policy is NULL", 0);
    }
#if CONFIG_DYNSEL_CONTEXT_THREADS && CONFIG_DYNSEL_IN_FLIGHT
    if (policy->self == NULL && (policy->submit_flags & DYNSEL_SUBMIT_BY_PARENT) != 0) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_CONTEXT,
                              "this process is a child of the one that initialized the policy: "
                              "initialize policies after fork()",
                              0);
    }
#endif
    if (policy->self == NULL) {
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNINITIALIZED,
                              "call one of the *_init functions first", 0);
    }
    if (CONFIG_DYNSEL_CONTEXT_INTERRUPTS && policy->self == policy) {
        return DYNSEL_E_CONTEXT; /* nothing else is wrong; the last error is the program's */
    }
    return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                          "the policy is a copy: pass a pointer to the one initialized", 0);
}

uint32_t dynsel_policy_life(dynsel_policy *policy)
{
    static dynsel_word lives; /* even, so that the next is never 0 */
    uint32_t life = dynsel_word_load_relaxed(&policy->life);
    if (life == 0) {
        const uint32_t next = dynsel_word_add_relaxed(&lives, 2) + 1;
        if (dynsel_word_swap(&policy->life, &life, next)) {
            life = next;
        }
    }
    return life;
}
