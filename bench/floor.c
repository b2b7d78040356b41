/* SPDX-License-Identifier: Apache-2.0 */
#include "floor.h"

#include <stdatomic.h>

#include <dynsel/backend.h>

enum { MOST_RESOURCES = 64, TIMED_ONE_IN = 16 };

typedef struct floor_thread {
    uint32_t turn;
    uint32_t chosen;
} floor_thread;

typedef struct floor_ops {
    void (*choose)(floor_thread *thread);
    void (*start)(floor_thread *thread, const dynsel_task *task);
} floor_ops;

static struct {
    const floor_ops *_Atomic ops; /* atomic, so that no compiler sees through the calls */
    uint32_t resources;
    dynsel_task task;
    _Alignas(64) atomic_uint words[MOST_RESOURCES];
    _Alignas(64) atomic_uint ends[MOST_RESOURCES]; /* of the queues */
} shared;

static void call(const dynsel_task *task)
{
    dynsel_event done = {.native = NULL};
    (void)task->function(NULL, task->args, &done);
}

static void choose_the_same(floor_thread *thread)
{
    thread->chosen = 0;
}

static void choose_by_counter(floor_thread *thread)
{
    thread->chosen = atomic_fetch_add_explicit(&shared.words[0], 1, memory_order_relaxed);
}

static void choose_and_claim(floor_thread *thread)
{
    thread->chosen = thread->chosen + 1 < shared.resources ? thread->chosen + 1 : 0;
    (void)atomic_fetch_add_explicit(&shared.words[thread->chosen], 1, memory_order_relaxed);
}

static void choose_shortest_queue(floor_thread *thread)
{
    const uint32_t now = (uint32_t)dynsel_now_ns();
    uint32_t least = UINT32_MAX;
    uint32_t end = 0;
    for (uint32_t i = 0; i < shared.resources; i++) {
        const uint32_t ends = atomic_load_explicit(&shared.ends[i], memory_order_relaxed);
        const uint32_t unfinished = atomic_load_explicit(&shared.words[i], memory_order_relaxed);
        const uint32_t queue = unfinished != 0 ? ends - now : 0;
        if (queue < least) {
            least = queue;
            end = ends;
            thread->chosen = i;
        }
    }
    while (!atomic_compare_exchange_weak(&shared.ends[thread->chosen], &end, now + 1)) {
    }
    (void)atomic_fetch_add_explicit(&shared.words[thread->chosen], 1, memory_order_relaxed);
}

static void start(floor_thread *thread, const dynsel_task *task)
{
    (void)thread;
    call(task);
}

static void start_and_unclaim(floor_thread *thread, const dynsel_task *task)
{
    call(task);
    (void)atomic_fetch_sub_explicit(&shared.words[thread->chosen], 1, memory_order_relaxed);
}

static void start_with_clock(floor_thread *thread, const dynsel_task *task)
{
    if (thread->turn++ % TIMED_ONE_IN != 0) {
        call(task);
        return;
    }
    const uint64_t began = dynsel_now_ns();
    call(task);
    thread->chosen = dynsel_now_ns() < began ? 1 : 0;
}

static const floor_ops floors[] = {
    [FLOOR_NOTHING_SHARED] = {choose_the_same, start},
    [FLOOR_ONE_COUNTER] = {choose_by_counter, start},
    [FLOOR_LOADS] = {choose_and_claim, start_and_unclaim},
    [FLOOR_SAMPLED_CLOCK] = {choose_the_same, start_with_clock},
    [FLOOR_QUEUES] = {choose_shortest_queue, start_and_unclaim},
};

void floor_prepare(floor_kind kind, uint32_t resources, const dynsel_task *task)
{
    atomic_store(&shared.ops, &floors[kind]);
    shared.resources = resources < MOST_RESOURCES ? resources : MOST_RESOURCES;
    shared.task = *task;
}

void floor_run(void *unused, unsigned thread, uint32_t times)
{
    floor_thread self = {.chosen = thread};
    (void)unused;
    for (uint32_t i = 0; i < times; i++) {
        const floor_ops *ops = atomic_load_explicit(&shared.ops, memory_order_relaxed);
        ops->choose(&self);
        ops->start(&self, &shared.task);
    }
}
