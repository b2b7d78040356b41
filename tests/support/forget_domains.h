/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_TESTS_FORGET_DOMAINS_H
#define DYNSEL_TESTS_FORGET_DOMAINS_H

#include "data/domains.h"

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS

/* The library forgets which domains share the host's memory, and between which nothing passes: to
 * be called while there are no buffers. */
static inline void forget_domains(void)
{
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        dynsel_domains[i].shares = false;
        dynsel_domains[i].apart = 0;
    }
}

#endif

#endif
