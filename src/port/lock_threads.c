/* SPDX-License-Identifier: Apache-2.0 */
#include "port/lock.h"

#include "port/cancel.h"

/* Locking a mutex of the default kind that this thread does not hold cannot fail. */
void dynsel_lock_acquire(dynsel_lock *lock)
{
    const int before = dynsel_cancel_defer();
    (void)pthread_mutex_lock(&lock->mutex);
    lock->cancelling = before;
}

void dynsel_lock_release(dynsel_lock *lock)
{
    const int before = lock->cancelling;
    (void)pthread_mutex_unlock(&lock->mutex);
    dynsel_cancel_allow(before);
}
