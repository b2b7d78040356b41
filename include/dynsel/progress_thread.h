/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread that starts command groups as soon as what they depend on allows, so that they do not
 * wait for the program's next call of the library. With CONFIG_DYNSEL_PROGRESS_THREAD.
 *
 * It sleeps while nothing waits. Work for the backend inline that had to wait runs in it, and not
 * in a thread of the program's.
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
 * May block: while it is made.
 * Context: any thread; not task functions.
 * Cost: a stack of the C library's default size.
 */
DYNSEL_CHECKED dynsel_status dynsel_progress_thread_start(void);

/**
 * Ends the thread, and waits until it is gone. What still waits is the program's calls' to start.
 *
 * Errors: DYNSEL_E_IN_TASK (inside a task function, which may run in that thread, or a group
 *     function). DYNSEL_OK when it does not run.
 * May block: until the task function or driver's call that it is in returns, at least as long as
 *     one sleep of the port takes.
 * Context: any thread.
 */
DYNSEL_CHECKED dynsel_status dynsel_progress_thread_stop(void);

DYNSEL_END_DECLS

#endif
