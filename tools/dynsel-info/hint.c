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

bool hint_has_idle_processors(const info_entry *entry)
{
    return entry->kind == INFO_WORKERS && entry->compute_units > entry->workers;
}

#if CONFIG_DYNSEL_BACKEND_THREADS
static void hint_at_workers(const info_entry *entry, char *to, size_t bytes)
{
    enum { MOST = 64 }; /* the range of the option */
    const unsigned wanted = entry->compute_units < MOST ? entry->compute_units : MOST;

    if (CONFIG_DYNSEL_THREADS_WORKERS == MOST) {
        (void)snprintf(to, bytes, "%u processors have no worker: no build has more than %d",
                       entry->compute_units - entry->workers, MOST);
        return;
    }
    (void)snprintf(to, bytes, "%u processors have no worker: CONFIG_DYNSEL_THREADS_WORKERS=%u%s",
                   entry->compute_units - entry->workers, wanted,
                   entry->compute_units > MOST ? " is the most" : "");
}
#endif

void hint_for(const info_entry *entry, char *to, size_t bytes)
{
    char option[128];

    to[0] = '\0';
#if CONFIG_DYNSEL_BACKEND_THREADS
    if (hint_has_idle_processors(entry)) {
        hint_at_workers(entry, to, bytes);
        return;
    }
#endif
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
