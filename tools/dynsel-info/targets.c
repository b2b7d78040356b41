/* SPDX-License-Identifier: Apache-2.0 */
#include "targets.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "generated/all_targets.inc"

const dynsel_target *targets_of_table(size_t *count)
{
    *count = sizeof targets / sizeof *targets;
    return targets;
}

bool targets_in_build(const char *name)
{
    size_t count = 0;
    const dynsel_target *chosen = dynsel_get_targets(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(chosen[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static unsigned size_of(dynsel_aspect_set set)
{
    unsigned size = 0;

    for (; set != 0; set &= set - 1) {
        size++;
    }
    return size;
}

const dynsel_target *targets_closest(const dynsel_device *device)
{
    const dynsel_target *found = NULL;

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const dynsel_target *target = &targets[i];
        const bool kept = (target->aspects & ~device->aspects) == 0;
        if (kept && !dynsel_target_is_open(target) && dynsel_target_recognizes(target, device) &&
            (found == NULL || size_of(target->aspects) > size_of(found->aspects))) {
            found = target;
        }
    }
    return found;
}

static bool says_more(const dynsel_target *target, const dynsel_target *than)
{
    return target != NULL && (target->aspects & ~than->aspects) != 0;
}

void targets_prove(info_entry *entry)
{
    size_t count = 0;
    const dynsel_target *chosen = dynsel_get_targets(&count);

    entry->proof = dynsel_prove(chosen, count, &entry->device);
    entry->table_proof = dynsel_prove(targets, sizeof targets / sizeof *targets, &entry->device);
    /* Else it is of a target of this build, which need not be the one that says most. */
    if (entry->proof.target == NULL || dynsel_target_is_open(entry->proof.target)) {
        const dynsel_target *closest = targets_closest(&entry->device);
        if (entry->proof.target == NULL || says_more(closest, entry->proof.target)) {
            entry->nearer = closest;
        }
    }
}

const dynsel_proof *targets_shown(const info_entry *entry)
{
    return entry->proof.target != NULL ? &entry->proof : &entry->table_proof;
}

bool targets_accept(const info_entry *entry)
{
    return entry->proof.target != NULL && entry->proof.broken == 0;
}

void targets_option(char *to, size_t bytes, const dynsel_target *target)
{
    (void)snprintf(to, bytes, "CONFIG_DYNSEL_TARGET_%s", target->name);
    for (char *c = to; *c != '\0'; c++) {
        *c = (char)toupper((unsigned char)*c);
    }
}

void targets_list(char *to, size_t bytes)
{
    size_t count = 0, used = 0;
    const dynsel_target *chosen = dynsel_get_targets(&count);

    to[0] = '\0';
    for (size_t i = 0; i < count && used < bytes; i++) {
        used +=
            (size_t)snprintf(to + used, bytes - used, "%s%s", i == 0 ? "" : ", ", chosen[i].name);
    }
}
