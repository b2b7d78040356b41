/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/progress_thread.h>

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/fail.h"
#include "policy/after_fork.h"
#include "port/atomic.h"
#include "port/cancel.h"
#include "port/lock.h"
#include "port/wake.h"
#include "submission/pending.h"
#include "submission/queue.h"
#include "submission/request.h"

enum {
    LONGEST_SLEEP_NS = 100000000,
    LONGEST_HELP_NS = 10000000 /* between two checks of `ends` */
};

static dynsel_lock lock = DYNSEL_LOCK_INITIALIZER; /* of the variables below except `ends` */
static pthread_t thread;
static bool runs;
static dynsel_word ends;

/* Takes the ticket before it looks for work, so that no wake is missed. */
static void *live(void *unused)
{
    (void)unused;
    (void)dynsel_cancel_defer(); /* for ever */
    for (uint32_t round = 0;;) {
        const uint32_t ticket = dynsel_wake_ticket();
        if (dynsel_word_load_acquire(&ends) != 0) {
            return NULL;
        }
        if (dynsel_pending_help(dynsel_deadline_after(LONGEST_HELP_NS), round)) {
            round++;
        } else {
            round = 0;
            dynsel_queue_look_around();
            dynsel_wake_sleep(ticket,
                              dynsel_limits_exist() ? DYNSEL_LIMITS_SLEEP_NS : LONGEST_SLEEP_NS);
        }
    }
}

/* The child of a fork() has no such thread. */
static void forget(void)
{
    dynsel_lock_renew(&lock);
    runs = false;
}

void (*const dynsel_fork_progress_thread)(void) = forget;

/* Blocks all signals in the new thread: they are for the program's threads. */
static int create(void)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&thread, NULL, live, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

dynsel_status dynsel_progress_thread_start(void)
{
    dynsel_fork_watch();
    dynsel_lock_acquire(&lock);
    dynsel_word_store_relaxed(&ends, 0);
    const int code = runs ? 0 : create();
    runs = code == 0;
    dynsel_lock_release(&lock);
    if (code == 0) {
        return DYNSEL_OK;
    }
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_DEVICE,
        .code = code,
        .function = DYNSEL_TEXT(__func__),
        .detail = DYNSEL_TEXT("the system gives no more threads"),
    });
}

dynsel_status dynsel_progress_thread_stop(void)
{
    if (dynsel_must_not_wait()) {
        return DYNSEL_REFUSE_TO_WAIT(DYNSEL_TEXT(__func__),
                                     "the task function may run in that thread");
    }
    dynsel_lock_acquire(&lock);
    if (runs) {
        dynsel_word_store_release(&ends, 1);
        dynsel_wake_all();
        (void)pthread_join(thread, NULL);
        runs = false;
    }
    dynsel_lock_release(&lock);
    return DYNSEL_OK;
}
