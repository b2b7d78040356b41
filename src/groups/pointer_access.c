/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/pointer_access.h"

#include <dynsel/memory.h>

#include "base/fail.h"
#include "data/svm.h"

/* Why a resource cannot access a pointer, from the worst reason to the mildest. */
typedef enum obstacle {
    NOTHING,
    NOT_REACHED,       /* host memory that the device does not access */
    NOT_SHARED,        /* shared memory, but the device shares none */
    OF_ANOTHER,        /* shared memory of another domain */
    NOT_MAPPED,        /* the host accesses mapped memory only */
    MAPPED_OR_CHANGING /* the device accesses unmapped memory only */
} obstacle;

typedef struct finding {
    obstacle what;
    uint32_t argument;
} finding;

static bool is_pointer(const dynsel_argument *argument)
{
    return argument->kind == DYNSEL_ARGUMENT_POINTER && argument->value != NULL;
}

void dynsel_pointers_ref(dynsel_handler *group)
{
    for (uint32_t i = 0; i < group->argument_count; i++) {
        if (is_pointer(&group->arguments[i])) {
            group->arguments[i].block = dynsel_svm_ref(group->arguments[i].value);
        }
    }
}

void dynsel_pointers_unref(dynsel_handler *group, bool given_up)
{
    for (uint32_t i = 0; i < group->argument_count; i++) {
        if (is_pointer(&group->arguments[i]) && group->arguments[i].block != 0) {
            dynsel_svm_unref(group->arguments[i].block, given_up);
            group->arguments[i].block = 0;
        }
    }
}

static obstacle to_device(dynsel_backend *backend, void *own, uint16_t block)
{
    const dynsel_memory_ops *const memory = backend->ops->memory;
    const dynsel_sharing sharing =
        memory->sharing != NULL ? memory->sharing(backend, own) : DYNSEL_SHARES_NOTHING;
    const dynsel_svm_owner owner = dynsel_svm_owner_of(block);
    if (owner.backend == backend && owner.domain == memory->domain(backend, own).number) {
        return owner.to_device ? NOTHING : MAPPED_OR_CHANGING;
    }
    if (sharing == DYNSEL_SHARES_ALL) {
        return owner.to_host ? NOTHING : NOT_MAPPED;
    }
    if (block == 0) {
        return NOT_REACHED;
    }
    return sharing == DYNSEL_SHARES_NOTHING ? NOT_SHARED : OF_ANOTHER;
}

static obstacle to_host(uint16_t block)
{
    return dynsel_svm_owner_of(block).to_host ? NOTHING : NOT_MAPPED;
}

/* The first pointer that the resource cannot access. */
static finding look_at(const dynsel_handler *group, const dynsel_policy *policy, uint32_t index)
{
    dynsel_backend *const backend = policy->resources[index].backend;
    finding found = {.what = NOTHING};
    for (uint32_t i = 0; i < group->argument_count && found.what == NOTHING; i++) {
        const dynsel_argument *const argument = &group->arguments[i];
        if (is_pointer(argument)) {
            found.argument = i;
            found.what = backend->ops->memory == NULL
                             ? to_host(argument->block)
                             : to_device(backend, policy->queues[index].own, argument->block);
        }
    }
    return found;
}

bool dynsel_pointers_exclude(const dynsel_handler *group, const dynsel_policy *policy,
                             uint32_t *excluded)
{
    bool any = false;
    for (uint32_t i = 0; i < DYNSEL_EXCLUDED_WORDS; i++) {
        excluded[i] = 0;
    }
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        if (look_at(group, policy, i).what != NOTHING) {
            excluded[i / 32] |= 1u << i % 32;
            any = true;
        }
    }
    return any;
}

#if CONFIG_DYNSEL_SVM
static dynsel_status refuse(const finding *found, const char *function)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    switch (found->what) {
    case NOT_SHARED:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "argument {} points to shared memory, and the device shares none "
                              "with the host: pass the data in a buffer or as a range of a "
                              "DYNSEL_HOST_ITERATOR",
                              found->argument);
    case OF_ANOTHER:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_UNSUPPORTED,
                              "argument {} points to shared memory of another memory domain: give "
                              "dynsel_svm_alloc() a resource that does the work",
                              found->argument);
    case NOT_MAPPED:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                              "argument {} points to memory that a device has: call "
                              "dynsel_svm_map() before work of the host uses it",
                              found->argument);
    case MAPPED_OR_CHANGING:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_BUSY,
                              "argument {} points to memory that is mapped for the host: call "
                              "dynsel_svm_unmap() before a device uses it",
                              found->argument);
    case NOTHING:
    case NOT_REACHED:
    default:
        return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                              "argument {} points to memory that no resource with a form reaches: "
                              "take it from dynsel_svm_alloc(), pass the data in a buffer or as a "
                              "range of a DYNSEL_HOST_ITERATOR, or let a resource of the host do "
                              "the work",
                              found->argument);
    }
}
#else
static dynsel_status refuse(const finding *found, const char *function)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(function, DYNSEL_E_INVALID,
                          "argument {} points to memory that no resource with a form reaches: pass "
                          "the data in a buffer or as a range of a DYNSEL_HOST_ITERATOR, let a "
                          "resource of the host do the work, or set CONFIG_DYNSEL_SVM",
                          found->argument);
}
#endif

dynsel_status dynsel_pointers_refuse(const dynsel_handler *group, const dynsel_policy *policy,
                                     const char *function)
{
    finding worst = {.what = NOTHING};
    for (uint32_t i = 0; i < dynsel_policy_count(policy); i++) {
        const finding found = look_at(group, policy, i);
        worst = found.what > worst.what ? found : worst;
    }
    return refuse(&worst, function);
}
