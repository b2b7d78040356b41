/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without threads: there is nobody to give way to. */
#ifndef DYNSEL_TESTS_POSIX_SCHED_H
#define DYNSEL_TESTS_POSIX_SCHED_H

static inline int sched_yield(void)
{
    return 0;
}

#endif
