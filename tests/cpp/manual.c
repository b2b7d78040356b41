/* SPDX-License-Identifier: Apache-2.0 */
#include "manual.h"

#include "../fakes/manual_backend.h"

static manual_backend backend;

void manual_reset(void)
{
    manual_backend_reset(&backend, true);
}

dynsel_resource manual_queue_of(unsigned number)
{
    return manual_resource(&backend, number);
}

void *manual_running(const dynsel_resource *where)
{
    return manual_event_new(&backend, where);
}

void manual_ends(unsigned event)
{
    manual_complete(&backend, event);
}

void manual_fails(unsigned event)
{
    manual_fail(&backend, event);
}

void manual_let_waits_complete(bool complete)
{
    atomic_store(&backend.wait_completes, complete);
}

unsigned manual_waits(void)
{
    return atomic_load(&backend.waits);
}

void manual_refuse(unsigned queue, bool refuses)
{
    atomic_store(&backend.queues[queue].refuses, refuses);
}

void manual_check(void)
{
    manual_assert_clean(&backend);
}
