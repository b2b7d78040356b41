/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "backends/threads/worker.h"

#include <signal.h>

#include "policy/traced.h"
#include "port/atomic.h"
#include "port/cancel.h"
#include "port/run_time.h"
#include "port/yield.h"
#include "submission/call_task.h"
#include "submission/slot.h"

static dynsel_kept_error event_refused(void)
{
    return DYNSEL_KEPT_ERROR(DYNSEL_E_INVALID, "the task function",
                             "it left an event with a worker, which waits for none");
}

/* Work that was started without a slot is not traced. */
static dynsel_traced_run begin_traced(uint32_t token)
{
    const uint32_t number = dynsel_slot_number_in(token);
    static const dynsel_selection none; /* of no piece */
    const bool has_slot = number != DYNSEL_NO_SLOT && number <= CONFIG_DYNSEL_MAX_IN_FLIGHT;
    return dynsel_traced_run_begin(has_slot ? &dynsel_slot_at(number)->selection : &none);
}

/* The mark comes last: after it another thread may reuse the work. Work that was given up meanwhile
 * has its result already. */
static void run(dynsel_work *work)
{
    const uint32_t token = work->token;
    const uint32_t failures_before = dynsel_this_thread()->failure_count;
    const bool timed = (work->wants & DYNSEL_TASK_TIME) != 0;
    const dynsel_run_begin begin = timed ? dynsel_run_begins() : (dynsel_run_begin){.at_ns = 0};
    dynsel_event done = {.native = NULL};
    const dynsel_traced_run traced = begin_traced(token);
    const dynsel_status status =
        dynsel_call_function(work->function, work->where, work->args, &done);
    dynsel_traced_run_end(&traced);
    const uint64_t end_ns = timed ? dynsel_now_ns() : 0;
    const uint64_t run_ns = timed ? dynsel_run_ns(&begin, end_ns) : 0;
    if (dynsel_slot_enter_result(token)) {
        work->done.value = done.value;
        if (timed) {
            work->ready_ns = end_ns - run_ns;
            work->began = true;
        }
        if (done.native != NULL) {
            work->error = event_refused();
        }
        if (status != DYNSEL_OK) {
            dynsel_note_failure(work, status, failures_before);
        }
        dynsel_slot_mark(token, DYNSEL_OK, end_ns);
    } else {
        (void)dynsel_complete(token, DYNSEL_OK, end_ns);
    }
}

static void set_waiting(dynsel_worker *worker, uint32_t count)
{
    worker->waiting = count;
    dynsel_word_store_relaxed(&worker->has_work, count != 0);
}

/* Sleeps until there is work; NULL: the worker ends. */
static dynsel_work *take(dynsel_worker *worker)
{
    dynsel_work *work = NULL;
    (void)dynsel_yield_while(&worker->has_work, 0); /* short work often follows at once */
    (void)pthread_mutex_lock(&worker->lock);
    while (worker->waiting == 0 && !worker->ends) {
        (void)pthread_cond_wait(&worker->changed, &worker->lock);
    }
    if (worker->waiting > 0) {
        work = worker->queue[worker->oldest];
        worker->oldest = (worker->oldest + 1) % CONFIG_DYNSEL_THREADS_QUEUE;
        set_waiting(worker, worker->waiting - 1);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return work;
}

static void *live(void *argument)
{
    dynsel_worker *worker = argument;
    (void)dynsel_cancel_defer(); /* for ever: a cancelled worker would leave work undone */
    for (dynsel_work *work = take(worker); work != NULL; work = take(worker)) {
        run(work);
    }
    return NULL;
}

bool dynsel_worker_give(dynsel_worker *worker, dynsel_work *work)
{
    (void)pthread_mutex_lock(&worker->lock);
    const bool fits = worker->waiting < CONFIG_DYNSEL_THREADS_QUEUE;
    if (fits) {
        worker->queue[(worker->oldest + worker->waiting) % CONFIG_DYNSEL_THREADS_QUEUE] = work;
        set_waiting(worker, worker->waiting + 1);
    }
    (void)pthread_mutex_unlock(&worker->lock);
    if (fits) {
        (void)pthread_cond_signal(&worker->changed);
    }
    return fits;
}

bool dynsel_worker_take_back(dynsel_worker *worker, const dynsel_work *work)
{
    (void)pthread_mutex_lock(&worker->lock);
    uint32_t ahead = 0;
    while (ahead < worker->waiting &&
           worker->queue[(worker->oldest + ahead) % CONFIG_DYNSEL_THREADS_QUEUE] != work) {
        ahead++;
    }
    const bool found = ahead < worker->waiting;
    if (found) {
        set_waiting(worker, worker->waiting - 1);
        for (uint32_t i = ahead; i < worker->waiting; i++) {
            const uint32_t place = worker->oldest + i;
            worker->queue[place % CONFIG_DYNSEL_THREADS_QUEUE] =
                worker->queue[(place + 1) % CONFIG_DYNSEL_THREADS_QUEUE];
        }
    }
    (void)pthread_mutex_unlock(&worker->lock);
    return found;
}

/* Blocks all signals in the worker, so that only the program's own threads handle them. */
static int create(dynsel_worker *worker)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&worker->thread, NULL, live, worker);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

static void destroy(dynsel_worker *worker)
{
    (void)pthread_cond_destroy(&worker->changed);
    (void)pthread_mutex_destroy(&worker->lock);
}

int dynsel_worker_start(dynsel_worker *worker)
{
    worker->ends = false;
    worker->oldest = 0;
    set_waiting(worker, 0); /* after a fork() it may hold work of the parent */
    int code = pthread_mutex_init(&worker->lock, NULL);
    if (code != 0) {
        return code;
    }
    code = pthread_cond_init(&worker->changed, NULL);
    if (code != 0) {
        (void)pthread_mutex_destroy(&worker->lock);
        return code;
    }
    code = create(worker);
    if (code != 0) {
        destroy(worker);
    }
    return code;
}

void dynsel_worker_stop(dynsel_worker *worker)
{
    (void)pthread_mutex_lock(&worker->lock);
    worker->ends = true;
    dynsel_word_store_relaxed(&worker->has_work, 1);
    (void)pthread_cond_signal(&worker->changed);
    (void)pthread_mutex_unlock(&worker->lock);
    (void)pthread_join(worker->thread, NULL);
    destroy(worker);
}
