/* SPDX-License-Identifier: Apache-2.0 */
#include "hint.h"

#include <stdio.h>

#include "aspects.h"
#include "targets.h"

void hint_names(dynsel_aspect_set set, char *to, size_t bytes)
{
    size_t used = 0;

    to[0] = '\0';
    for (const char *name = aspects_next(&set); name != NULL && used < bytes;
         name = aspects_next(&set)) {
        used += (size_t)snprintf(to + used, bytes - used, "%s%s", used == 0 ? "" : ", ", name);
    }
}

void hint_for(const info_entry *entry, char *to, size_t bytes)
{
    char option[128];

    to[0] = '\0';
    if (entry->proof.broken != 0) {
        (void)snprintf(to, bytes,
                       "leave %s out of the configuration, or correct it in boards/targets.yaml",
                       entry->proof.target->name);
    } else if (entry->proof.target != NULL && aspects_hidden(&entry->device) != 0) {
        (void)snprintf(to, bytes,
                       "the entry of %s in boards/targets.yaml says may_support_other_aspects: "
                       "false, though this device has more",
                       entry->proof.target->name);
    } else if (entry->nearer != NULL) {
        targets_option(option, sizeof option, entry->nearer);
        (void)snprintf(to, bytes, "target %s %s: %s=y", entry->nearer->name,
                       entry->proof.target == NULL ? "fits" : "fits and promises more", option);
    } else if (entry->proof.target == NULL && entry->index >= 0) {
        (void)snprintf(to, bytes,
                       "add what `dynsel-info --device %d --emit-target` prints to the table",
                       entry->index);
    }
}
