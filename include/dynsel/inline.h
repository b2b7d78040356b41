/* SPDX-License-Identifier: Apache-2.0 */
/** The backend that runs work in the thread that submits it. Freestanding; the host as a resource
 * like any other. */
#ifndef DYNSEL_INLINE_H
#define DYNSEL_INLINE_H

#include <dynsel/backend.h>

DYNSEL_BEGIN_DECLS

/** The reports of backend inline. */
#define DYNSEL_INLINE_REPORTS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/**
 * One default resource, named "host". Any handle is allowed in a resource of this backend, and it
 * only reaches the task function: use different handles to distinguish several resources. Work is
 * complete when the submitting call returns; a task function that sets done->native to something
 * else than NULL fails with DYNSEL_E_INVALID, because no call would wait for that event.
 */
extern dynsel_backend dynsel_inline_backend;

DYNSEL_END_DECLS

#endif
