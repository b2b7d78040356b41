/* SPDX-License-Identifier: Apache-2.0 */
/*
 * External events of a command group: of commands that are not the library's. A command in the same
 * context gets the event in its wait list; otherwise the group is pending, and each round polls the
 * event.
 */
#ifndef DYNSEL_DATA_EXTERNAL_EVENTS_H
#define DYNSEL_DATA_EXTERNAL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "data/buffer_uses.h"
#include "port/likely.h"

#if CONFIG_DYNSEL_EXTERNAL_EVENTS > 0

static inline bool dynsel_external_events_exist(const dynsel_uses *uses)
{
    return uses->external_count != 0;
}

/* Under the lock, before the data are looked at: decides which events the command waits for itself.
 * DYNSEL_E_AGAIN: another one is not complete; another failure (`error` set): one has failed. */
dynsel_status dynsel_external_events_look(dynsel_uses *uses, dynsel_error *error);

/* Writes the events that the command waits for itself; returns their number. */
uint32_t dynsel_external_events_list(const dynsel_uses *uses, dynsel_event *events);

/* The work has failed: if that is because of an external event, gives the cause. error: in and out.
 */
void dynsel_external_events_explain(dynsel_uses *uses, dynsel_kept_error *error);

void dynsel_external_events_release_now(dynsel_uses *uses);

/* The work has ended, or will not be submitted. */
static inline void dynsel_external_events_release(dynsel_uses *uses)
{
    if (!DYNSEL_LIKELY(uses->external_count == 0)) {
        dynsel_external_events_release_now(uses);
    }
}

#else

static inline bool dynsel_external_events_exist(const dynsel_uses *uses)
{
    (void)uses;
    return false;
}

static inline dynsel_status dynsel_external_events_look(const dynsel_uses *uses,
                                                        const dynsel_error *error)
{
    (void)uses;
    (void)error;
    return DYNSEL_OK;
}

static inline uint32_t dynsel_external_events_list(const dynsel_uses *uses,
                                                   const dynsel_event *events)
{
    (void)uses;
    (void)events;
    return 0;
}

static inline void dynsel_external_events_explain(const dynsel_uses *uses,
                                                  const dynsel_kept_error *error)
{
    (void)uses;
    (void)error;
}

static inline void dynsel_external_events_release(const dynsel_uses *uses)
{
    (void)uses;
}

#endif

#endif
