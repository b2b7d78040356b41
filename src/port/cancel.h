/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that pthread_cancel() ends must hold no lock and no slot. So the library defers the
 * request while it sleeps, waits in a driver, or holds a lock: it takes effect after the call.
 */
#ifndef DYNSEL_PORT_CANCEL_H
#define DYNSEL_PORT_CANCEL_H

#include <dynsel/config.h>

#if CONFIG_DYNSEL_CONTEXT_THREADS

#include <pthread.h>

/* Returns the state for dynsel_cancel_allow(). Pairs may be nested. */
static inline int dynsel_cancel_defer(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static inline void dynsel_cancel_allow(int before)
{
    int unused = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(before, &unused);
}

#else

static inline int dynsel_cancel_defer(void)
{
    return 0;
}

static inline void dynsel_cancel_allow(int before)
{
    (void)before;
}

#endif

#endif
