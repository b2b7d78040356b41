/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex for slow paths, such as device discovery: waiters sleep. A submission never takes it.
 * Without threads it does nothing. */
#ifndef DYNSEL_PORT_LOCK_H
#define DYNSEL_PORT_LOCK_H

#include <dynsel/config.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS

#include <pthread.h>

typedef pthread_mutex_t dynsel_lock;

#define DYNSEL_LOCK_INITIALIZER PTHREAD_MUTEX_INITIALIZER

/* Locking a mutex of the default kind that this thread does not hold cannot fail. */
static inline void dynsel_lock_acquire(dynsel_lock *lock)
{
    (void)pthread_mutex_lock(lock);
}

static inline void dynsel_lock_release(dynsel_lock *lock)
{
    (void)pthread_mutex_unlock(lock);
}

#else

typedef struct dynsel_lock {
    char unused;
} dynsel_lock;

#define DYNSEL_LOCK_INITIALIZER                                                                    \
    {                                                                                              \
        0                                                                                          \
    }

static inline void dynsel_lock_acquire(dynsel_lock *lock)
{
    (void)lock;
}

static inline void dynsel_lock_release(dynsel_lock *lock)
{
    (void)lock;
}

#endif

#endif
