/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork(): the child has none of the library's threads, and locks that they held stay locked. In
 * the child the policies of the parent become unusable, and the tables of the library are empty, so
 * that the child can initialize policies of its own.
 *
 * The rooms above each fill in one of the variables below: a function that runs in the child, while
 * it has one thread.
 */
#ifndef DYNSEL_POLICY_AFTER_FORK_H
#define DYNSEL_POLICY_AFTER_FORK_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS && CONFIG_DYNSEL_IN_FLIGHT

/* Prepares for a fork(); only the first call does anything. Before the first thread is started,
 * driver called, or policy initialized. Where the system has no memory for it, a child may hang. */
void dynsel_fork_watch(void);

/* Policies whose work may outlive a submit: between these two, a child is refused their use. */
void dynsel_fork_enter(dynsel_policy *policy);
void dynsel_fork_leave(const dynsel_policy *policy);

/* Counts the forks from the process that called dynsel_fork_watch() down to this one. */
uint32_t dynsel_fork_depth(void);

extern void (*const dynsel_fork_slots)(void);
extern void (*const dynsel_fork_states)(void);
extern void (*const dynsel_fork_workers)(void);
extern void (*const dynsel_fork_opencl)(void);
extern void (*const dynsel_fork_opencl_memory)(void);
extern void (*const dynsel_fork_svm)(void);
extern void (*const dynsel_fork_mpi)(void);
extern void (*const dynsel_fork_groups)(void);
extern void (*const dynsel_fork_ends_of_buffers)(void);
extern void (*const dynsel_fork_progress_thread)(void);

#else

static inline void dynsel_fork_watch(void)
{
}

static inline void dynsel_fork_enter(dynsel_policy *policy)
{
    (void)policy;
}

static inline void dynsel_fork_leave(const dynsel_policy *policy)
{
    (void)policy;
}

static inline uint32_t dynsel_fork_depth(void)
{
    return 0;
}

#endif

static inline bool dynsel_fork_is_child(void)
{
    return dynsel_fork_depth() != 0;
}

#endif
