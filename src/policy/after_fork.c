/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/after_fork.h"

#include <pthread.h>
#include <stddef.h>

#include "policy/usable.h"
#include "port/lock.h"

/* NULL in programs that link no such code. */
#pragma weak dynsel_fork_slots
#pragma weak dynsel_fork_states
#pragma weak dynsel_fork_workers
#pragma weak dynsel_fork_opencl
#pragma weak dynsel_fork_opencl_memory
#pragma weak dynsel_fork_svm
#pragma weak dynsel_fork_mpi
#pragma weak dynsel_fork_groups
#pragma weak dynsel_fork_ends_of_buffers
#pragma weak dynsel_fork_progress_thread

static void (*const *const in_child[])(void) = {
    &dynsel_fork_slots,
    &dynsel_fork_states,
    &dynsel_fork_workers,
    &dynsel_fork_opencl,
    &dynsel_fork_opencl_memory,
    &dynsel_fork_svm,
    &dynsel_fork_mpi,
    &dynsel_fork_groups,
    &dynsel_fork_ends_of_buffers,
    &dynsel_fork_progress_thread,
};

/* Guards the two below. fork() takes it, so that the child finds the list whole. */
static dynsel_lock lock = DYNSEL_LOCK_INITIALIZER;
static bool watches;
static dynsel_policy *listed;

static uint32_t depth;

uint32_t dynsel_fork_depth(void)
{
    return depth;
}

static void before_fork(void)
{
    dynsel_lock_acquire(&lock);
}

static void after_fork_in_parent(void)
{
    dynsel_lock_release(&lock);
}

static void refuse_policies(void)
{
    while (listed != NULL) {
        dynsel_policy *const policy = listed;
        listed = policy->next_listed;
        policy->next_listed = NULL;
        if (policy->self == policy) {
            policy->self = NULL;
            policy->submit_flags = DYNSEL_SUBMIT_BY_PARENT;
        }
    }
}

static void after_fork_in_child(void)
{
    depth++;
    refuse_policies();
    for (size_t i = 0; i < sizeof(in_child) / sizeof(in_child[0]); i++) {
        if (in_child[i] != NULL) {
            (*in_child[i])();
        }
    }
    dynsel_lock_release(&lock);
}

static void watch(void)
{
    if (!watches) {
        watches = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
    }
}

void dynsel_fork_watch(void)
{
    dynsel_lock_acquire(&lock);
    watch();
    dynsel_lock_release(&lock);
}

/* The link that leads to the policy, or the end of the list. */
static dynsel_policy **link_to(const dynsel_policy *policy)
{
    dynsel_policy **link = &listed;
    while (*link != NULL && *link != policy) {
        link = &(*link)->next_listed;
    }
    return link;
}

void dynsel_fork_enter(dynsel_policy *policy)
{
    dynsel_lock_acquire(&lock);
    watch();
    /* a policy that was zeroed without dynsel_policy_deinit() is still there */
    if (dynsel_policy_outlives(policy) && *link_to(policy) == NULL) {
        policy->next_listed = listed;
        listed = policy;
    }
    dynsel_lock_release(&lock);
}

void dynsel_fork_leave(const dynsel_policy *policy)
{
    if (dynsel_policy_outlives(policy)) {
        dynsel_lock_acquire(&lock);
        dynsel_policy **const link = link_to(policy);
        if (*link != NULL) {
            *link = policy->next_listed;
        }
        dynsel_lock_release(&lock);
    }
}
