/* SPDX-License-Identifier: Apache-2.0 */
/* All policies of the soak over the same resources, and what they say in the end. */
#ifndef SOAK_POLICIES_H
#define SOAK_POLICIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/policy.h>

typedef struct soak_policy {
    const char *name;
    dynsel_policy *policy;
    dynsel_status (*init)(const dynsel_options *options);
} soak_policy;

/* Ends with an entry without a name. The first one counts each report that it gets. */
extern const soak_policy soak_policies[];

size_t soak_policy_count(void);

typedef struct soak_reports {
    uint64_t submissions;
    uint64_t completions;
    uint64_t times; /* work without an end that somebody saw has none */
} soak_reports;

/* What the first policy was told. */
soak_reports soak_told(void);

/* No policy believes that there is unfinished work. */
bool soak_loads_are_zero(void);

#endif
