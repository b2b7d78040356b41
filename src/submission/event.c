/* SPDX-License-Identifier: Apache-2.0 */
/* What a task function left, for who waits for its work. */
#include "submission/work.h"

dynsel_event dynsel_event_retained(const dynsel_work *work)
{
    dynsel_backend *backend = work->where->backend;
    dynsel_event left = dynsel_event_after_release(work);
    if (left.native != work->done.native && backend->ops->retain != NULL &&
        backend->ops->retain(backend, work)) {
        left.native = work->done.native;
    }
    return left;
}

dynsel_event dynsel_event_after_release(const dynsel_work *work)
{
    dynsel_event left = work->done;
    if (work->where->backend->ops->release != NULL) {
        left.native = NULL;
    }
    return left;
}
