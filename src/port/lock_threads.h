/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_PORT_LOCK_THREADS_H
#define DYNSEL_PORT_LOCK_THREADS_H

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

#endif
