/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <stdio.h>

#include "hint.h"
#include "targets.h"

static void print_finding(const info_entry *entry)
{
    char name[256], more[1024];

    (void)dynsel_printable(entry->device.name, name, sizeof name);
    if (entry->kind == INFO_OPENCL) {
        printf("opencl %d, ", entry->index);
    }
    if (entry->kind == INFO_RANK) {
        printf("rank %u, ", (unsigned)entry->rank);
    }
    if (entry->proof.target == NULL) {
        hint_for(entry, more, sizeof more);
        printf("%s: no target of this build recognizes it%s%s\n", name, *more == '\0' ? "" : "; ",
               more);
    } else {
        hint_names(entry->proof.broken, more, sizeof more);
        printf("%s: target %s promises aspects that it lacks: %s\n", name,
               entry->proof.target->name, more);
    }
}

unsigned check_print(const info_list *list)
{
    unsigned findings = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].chosen && !targets_accept(&list->entries[i])) {
            print_finding(&list->entries[i]);
            findings++;
        }
    }
    return findings;
}
