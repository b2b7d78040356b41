/* SPDX-License-Identifier: Apache-2.0 */
/* A task function that counts its runs. */
#ifndef DYNSEL_TESTS_COUNT_RUN_H
#define DYNSEL_TESTS_COUNT_RUN_H

#include <stdatomic.h>

#include <dynsel/dynsel.h>

static atomic_uint runs;

static inline dynsel_status count_run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    atomic_fetch_add(&runs, 1);
    return DYNSEL_OK;
}

#endif
