/* SPDX-License-Identifier: Apache-2.0 */
/* A mutex for slow paths, such as device discovery: waiters sleep, and the holder is not cancelled.
 * A submission never takes it. Without threads it does nothing. */
#ifndef DYNSEL_PORT_LOCK_H
#define DYNSEL_PORT_LOCK_H

#include <dynsel/config.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS

#include <pthread.h>

typedef struct dynsel_lock {
    pthread_mutex_t mutex;
    int cancelling; /* of the holder, before it took the lock */
} dynsel_lock;

#define DYNSEL_LOCK_INITIALIZER                                                                    \
    {                                                                                              \
        PTHREAD_MUTEX_INITIALIZER, 0                                                               \
    }

/* Locks are released in the reverse order. */
void dynsel_lock_acquire(dynsel_lock *lock);
void dynsel_lock_release(dynsel_lock *lock);

/* In the child of a fork(): its holder, if any, is a thread of the parent. */
static inline void dynsel_lock_renew(dynsel_lock *lock)
{
    static const dynsel_lock fresh = DYNSEL_LOCK_INITIALIZER;
    *lock = fresh;
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
