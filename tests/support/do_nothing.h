/* SPDX-License-Identifier: Apache-2.0 */
/* A task function and the C form of a kernel for tests in which the work itself does nothing. */
#ifndef DYNSEL_TESTS_DO_NOTHING_H
#define DYNSEL_TESTS_DO_NOTHING_H

#include <dynsel/dynsel.h>

static inline dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
static inline dynsel_status launch_nothing(const dynsel_launch *launch)
{
    (void)launch;
    return DYNSEL_OK;
}
#endif

#endif
