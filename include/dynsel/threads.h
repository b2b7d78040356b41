/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The backend that runs work on threads of the library: a fixed number of workers, each with a
 * queue of fixed length. It makes the host's other processors resources like any other.
 *
 * A task function runs in the worker and not in the thread that submits, so its data must be safe
 * to use there; the rules of every task function apply (waiting is DYNSEL_E_IN_TASK, a submit
 * does not wait). One worker runs its work in the order in which it was given, one piece at a time.
 * A worker without work sleeps. On hosts it looks for work for 50 us before, and yields its
 * processor meanwhile; so does a wait for work whose end a backend marks. To wake a thread takes as
 * long, so short work would take longer to hand over than to run.
 *
 * Source: seed 002, "Backends".
 */
#ifndef DYNSEL_THREADS_H
#define DYNSEL_THREADS_H

#include <stddef.h>

#include <dynsel/backend.h>

DYNSEL_BEGIN_DECLS

/** The reports of backend threads. */
#define DYNSEL_THREADS_REPORTS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/**
 * Its default resources are the workers, "worker 0" and on, started at the first use if necessary,
 * as by dynsel_threads_start(0): `{.backend = &dynsel_threads_backend}` in dynsel_options. Because
 * they run functions in other threads, a policy without options has them only in programs that
 * called dynsel_threads_start(); `{.defaults = DYNSEL_WORKERS_AND_DEVICES}` has them and the OpenCL
 * devices.
 *
 * Where a worker's queue is full, the resource refuses work with DYNSEL_E_AGAIN: dynsel_submit()
 * waits and chooses again, dynsel_submit_selection() waits, their try_ forms return it. A task
 * function that sets done->native to something else than NULL fails with DYNSEL_E_INVALID, because
 * no call would wait for that event. Work takes a mutex of its worker for some tens of instructions
 * when it is queued, and when it is dequeued.
 *
 * Reports submission, completion and time; the time is the task function's own. On hosts it is
 * without what other threads took of the worker's processor meanwhile, unless the function slept:
 * then it is the time on the clock. Asking for that costs timed work two system calls, 0.3 us.
 */
extern dynsel_backend dynsel_threads_backend;

/**
 * Starts the workers, before their first use, and makes them part of the default resources of every
 * policy that is initialized from then on, after the host and before OpenCL devices.
 *
 * workers: how many; 0: one for each processor that is online, at most
 *     CONFIG_DYNSEL_THREADS_WORKERS: where dynsel_threads_processors() is more, the others get
 *     none, and DYNSEL_OK does not tell. A program that wants them all gives that number instead:
 *     then it has them, or DYNSEL_E_FULL with the value that the option would need.
 * Errors: DYNSEL_E_FULL (more than CONFIG_DYNSEL_THREADS_WORKERS), DYNSEL_E_BUSY (they run already,
 *     in another number: dynsel_threads_stop() first), DYNSEL_E_DEVICE (the system gives no more
 *     threads; the code is its error number, and none was started). With the same number again, or
 *     0: DYNSEL_OK.
 * May block: yes, while threads are made.
 * Context: any thread; not task functions.
 * Cost: linear in the workers; the C library maps a stack of its default size for each.
 */
DYNSEL_CHECKED dynsel_status dynsel_threads_start(size_t workers);

/**
 * The processors of the host that are online, at least 1: how many workers
 * dynsel_threads_start(0) and a start on demand wish for. `dynsel-info` says where they start
 * fewer.
 *
 * Errors: none; 1 where the system does not tell.
 * May block: no.
 * Context: any thread; task functions.
 * Cost: what the C library takes to ask the system, some microseconds; not for each submit.
 */
size_t dynsel_threads_processors(void);

/**
 * Ends the workers after all their accepted work, and waits until they have ended. The next use
 * starts them again.
 *
 * Errors: DYNSEL_E_BUSY (a policy still uses a worker; nothing was changed). DYNSEL_OK when none
 *     runs.
 * May block: yes, until the threads have ended.
 * Context: any thread; not task functions.
 */
DYNSEL_CHECKED dynsel_status dynsel_threads_stop(void);

/**
 * The workers, as resources for dynsel_options; starts them if necessary.
 *
 * resources, capacity: out; NULL only with 0, to have them counted.
 * count: out, the number of running workers, even if that exceeds `capacity`; 0 on other failures.
 * Errors: DYNSEL_E_INVALID (NULL pointers), DYNSEL_E_FULL (more than `capacity`, which is not 0),
 *     DYNSEL_E_DEVICE (as dynsel_threads_start()).
 * May block: at the first use.
 * Context: any thread; not task functions.
 * Cost: linear in the workers. A resource stays valid until dynsel_threads_stop(), and after a new
 *     start with at least as many workers.
 */
DYNSEL_CHECKED dynsel_status dynsel_threads_resources(dynsel_resource *resources, size_t capacity,
                                                      size_t *count);

DYNSEL_END_DECLS

#endif
