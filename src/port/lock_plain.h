/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_PORT_LOCK_PLAIN_H
#define DYNSEL_PORT_LOCK_PLAIN_H

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
