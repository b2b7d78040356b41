/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "port/wake.h"

#include <pthread.h>
#include <time.h>

#include "port/atomic.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static dynsel_word wakes;
static dynsel_word sleepers;

enum { NS_PER_S = 1000000000 };

uint32_t dynsel_wake_ticket(void)
{
    return dynsel_word_load_acquire(&wakes);
}

static struct timespec later_by(uint64_t ns)
{
    struct timespec then;
    (void)clock_gettime(CLOCK_REALTIME, &then); /* the clock of pthread_cond_timedwait() */
    const uint64_t total = (uint64_t)then.tv_nsec + ns % NS_PER_S;
    then.tv_sec += (time_t)(ns / NS_PER_S + total / NS_PER_S);
    then.tv_nsec = (long)(total % NS_PER_S);
    return then;
}

void dynsel_wake_sleep(uint32_t ticket, uint64_t longest_ns)
{
    const struct timespec then = later_by(longest_ns);
    (void)pthread_mutex_lock(&lock);
    (void)dynsel_word_add_synchronized(&sleepers, 1);
    if (dynsel_word_add_synchronized(&wakes, 0) == ticket) {
        (void)pthread_cond_timedwait(&woken, &lock, &then);
    }
    (void)dynsel_word_add_synchronized(&sleepers, (uint32_t)-1);
    (void)pthread_mutex_unlock(&lock);
}

/*
 * The counter is raised before the sleepers are looked at, and a sleeper counts itself before it
 * looks at the counter: one of the two sees the other. The lock is only taken when somebody sleeps.
 */
void dynsel_wake_all(void)
{
    (void)dynsel_word_add_synchronized(&wakes, 1);
    if (dynsel_word_add_synchronized(&sleepers, 0) != 0) {
        (void)pthread_mutex_lock(&lock);
        (void)pthread_cond_broadcast(&woken);
        (void)pthread_mutex_unlock(&lock);
    }
}
