/* SPDX-License-Identifier: Apache-2.0 */
#include "policies.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../common/arguments.h"

#define LONGEST_NAME 24

/* A policy never moves once it is initialized, so the memory is static. */
static union {
    dynsel_policy policy;
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    dynsel_round_robin_policy round_robin;
#endif
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    dynsel_fixed_resource_policy fixed_resource;
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    dynsel_dynamic_load_policy dynamic_load;
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    dynsel_auto_tune_policy auto_tune;
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    dynsel_earliest_finish_policy earliest_finish;
#endif
} memory;

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
static dynsel_status round_robin(const dynsel_options *options, size_t offset)
{
    return dynsel_round_robin_init(&memory.round_robin, options, offset);
}
#endif

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
static dynsel_status fixed_resource(const dynsel_options *options, size_t offset)
{
    return dynsel_fixed_resource_init(&memory.fixed_resource, options, offset);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static dynsel_status dynamic_load(const dynsel_options *options, size_t offset)
{
    (void)offset;
    return dynsel_dynamic_load_init(&memory.dynamic_load, options);
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static dynsel_status auto_tune(const dynsel_options *options, size_t offset)
{
    (void)offset;
    return dynsel_auto_tune_init(&memory.auto_tune, options, DYNSEL_NEVER_RESAMPLE);
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_status earliest_finish(const dynsel_options *options, size_t offset)
{
    (void)offset;
    return dynsel_earliest_finish_init(&memory.earliest_finish, options);
}
#endif

static const struct {
    const char *name;
    dynsel_status (*init)(const dynsel_options *options, size_t offset);
    bool takes_offset;
} policies[] = {
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    {"round_robin", round_robin, true},
#endif
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    {"fixed_resource", fixed_resource, true},
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    {"dynamic_load", dynamic_load, false},
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    {"auto_tune", auto_tune, false},
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    {"earliest_finish", earliest_finish, false},
#endif
};

#define COUNT (sizeof policies / sizeof *policies)

static bool same(const char *name, const char *typed, size_t length)
{
    size_t i = 0;

    while (i < length && name[i] != '\0' && name[i] == (typed[i] == '-' ? '_' : typed[i])) {
        i++;
    }
    return i == length && name[i] == '\0';
}

int policies_find(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (same(policies[i].name, name, length)) {
            return (int)i;
        }
    }
    return -1;
}

const char *policies_name(size_t index)
{
    return index < COUNT ? policies[index].name : NULL;
}

bool policies_takes_offset(int index)
{
    return policies[index].takes_offset;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;

    return least < c ? least : c;
}

/** How many letters have to be put in, taken out or replaced. */
static size_t distance(const char *name, const char *typed, size_t length)
{
    size_t row[LONGEST_NAME + 1];

    for (size_t i = 0; i <= length; i++) {
        row[i] = i;
    }
    for (size_t n = 0; name[n] != '\0'; n++) {
        size_t diagonal = row[0];
        row[0] = n + 1;
        for (size_t i = 1; i <= length; i++) {
            size_t replaced = diagonal + (name[n] == typed[i - 1] ? 0 : 1);
            diagonal = row[i];
            row[i] = smallest(row[i] + 1, row[i - 1] + 1, replaced);
        }
    }
    return row[length];
}

/** The name that is most like `name`; NULL when none is. */
static const char *nearest_to(const char *name, size_t length)
{
    const char *nearest = NULL;
    size_t best = length * 2 / 3; /* so many letters have to be the same */

    for (size_t i = 0; i < COUNT && length <= LONGEST_NAME; i++) {
        size_t longer = strlen(policies[i].name);
        longer = longer > length ? longer : length;
        size_t common = longer - distance(policies[i].name, name, length);
        if (common > best) {
            best = common;
            nearest = policies[i].name;
        }
    }
    return nearest;
}

int policies_unknown(const char *name, size_t length)
{
    char known[256] = "";
    const char *nearest = nearest_to(name, length);

    for (size_t i = 0; i < COUNT; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ", policies[i].name);
    }
    int shown = length < 40 ? (int)length : 40;
    return arguments_wrong("no policy is named '%.*s'%s%s%s; there are: %s", shown, name,
                           nearest == NULL ? "" : " (did you mean '",
                           nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?)", known);
}

dynsel_policy *policies_start(int index, const dynsel_options *options, size_t offset)
{
    return policies[index].init(options, offset) == DYNSEL_OK ? &memory.policy : NULL;
}
