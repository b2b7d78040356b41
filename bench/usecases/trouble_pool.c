/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "trouble_pool.h"

#include <pthread.h>
#include <stddef.h>

#include <dynsel/dynsel.h>

#include "../measure.h"
#include "log.h"

enum { MOST_THREADS = CONFIG_DYNSEL_MAX_RESOURCES };

/* A piece of work, and when it was first tried. */
typedef struct entry {
    uint32_t number; /* 0: none is left */
    uint64_t since_ns;
} entry;

static struct {
    pthread_mutex_t lock; /* of all members */
    trouble_kind kind;
    uint32_t next;
    entry failed[MOST_THREADS]; /* at most one for each thread */
    uint32_t failed_count;
    outcome result;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Failed pieces first, so that at most one for each thread waits. */
static entry take(bool first)
{
    entry taken = {0};
    (void)pthread_mutex_lock(&pool.lock);
    if (pool.failed_count != 0) {
        taken = pool.failed[--pool.failed_count];
    } else if (pool.next < trouble.pieces) {
        taken = (entry){++pool.next, measure_now_ns()};
    }
    outcome *o = &pool.result;
    if (first && taken.number != 0) {
        o->sent += device_get() != TROUBLES ? 1 : 0;
        o->back_ns = o->ended_ns != 0 && o->back_ns == 0 ? measure_now_ns() : o->back_ns;
    }
    (void)pthread_mutex_unlock(&pool.lock);
    return taken;
}

static void put_back(const entry *e, const job *j, bool good)
{
    (void)pthread_mutex_lock(&pool.lock);
    if (good) {
        outcome_count(&pool.result, j, e->since_ns);
    } else {
        pool.result.failed++;
        pool.failed[pool.failed_count++] = *e;
    }
    outcome_advance(&pool.result, pool.kind);
    (void)pthread_mutex_unlock(&pool.lock);
}

static void *work(void *first)
{
    const bool hit = first != NULL;
    for (entry e = take(hit); e.number != 0; e = take(hit)) {
        job j;
        job_prepare(&j, e.number);
        const bool good = device_run(hit, &j);
        put_back(&e, &j, good);
    }
    return NULL;
}

outcome pool_play(uint32_t threads, trouble_kind kind)
{
    pthread_t all[MOST_THREADS];
    pool.kind = kind;
    pool.next = 0;
    pool.failed_count = 0;
    pool.result = (outcome){.began_ns = measure_now_ns()};
    device_set(TROUBLES);
    for (uint32_t i = 0; i < threads; i++) {
        log_check(pthread_create(&all[i], NULL, work, i == 0 ? &pool : NULL) == 0, "a thread");
    }
    for (uint32_t i = 0; i < threads; i++) {
        (void)pthread_join(all[i], NULL);
    }
    pool.result.seconds = (double)(measure_now_ns() - pool.result.began_ns) / 1e9;
    return pool.result;
}
