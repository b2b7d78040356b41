/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread that starts command groups as soon as their dependencies are complete, so that they do
 * not wait for the program's next call of the library. With CONFIG_DYNSEL_PROGRESS_THREAD.
 *
 * It sleeps while nothing is pending. Pending work of the backend inline runs in it, and not in a
 * thread of the program.
 */
#ifndef DYNSEL_PROGRESS_THREAD_H
#define DYNSEL_PROGRESS_THREAD_H

#include <dynsel/status.h>

DYNSEL_BEGIN_DECLS

/**
 * Starts the thread; all signals are blocked in it.
 *
 * Errors: DYNSEL_E_DEVICE (the system gives no more threads; the code is its error number).
 *     DYNSEL_OK when it runs already.
 * May block: while the thread is created.
 * Context: any thread; not task functions.
 * Cost: a stack of the C library's default size.
 */
DYNSEL_CHECKED dynsel_status dynsel_progress_thread_start(void);

/**
 * Ends the thread, and waits until it has ended. Calls of the program start the work that is still
 * pending.
 *
 * Errors: DYNSEL_E_IN_TASK (inside a task function, which may run in that thread, or a group
 *     function). DYNSEL_OK when it does not run.
 * May block: until the task function or driver call that it executes returns, at least as long as
 *     one sleep of the port takes.
 * Context: any thread.
 */
DYNSEL_CHECKED dynsel_status dynsel_progress_thread_stop(void);

DYNSEL_END_DECLS

#endif
