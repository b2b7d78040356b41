/* SPDX-License-Identifier: Apache-2.0 */
#include "learned.h"

#include "../common/log.h"
#include "filters.h"

static bool tell_error(const learned *l)
{
    log_error("--learned %s: %s", l->path, l->file.error);
    return false;
}

bool learned_open(learned *l, const char *path)
{
    *l = (learned){.path = path};
    return learned_file_open(&l->file, path) || tell_error(l);
}

void learned_load(learned *l, dynsel_earliest_finish_policy *policy)
{
    size_t count = 0;

    if (!learned_file_load(&l->file, policy, &l->loaded)) {
        (void)tell_error(l);
    }
    (void)dynsel_get_resources(&policy->policy, &count);
    l->is_settled =
        l->loaded.kinds == FILTER_COUNT && l->loaded.devices == count && l->loaded.remeasured == 0;
}

bool learned_save(learned *l, dynsel_earliest_finish_policy *policy, dynsel_learned_report *report)
{
    return learned_file_save(&l->file, policy, report) || tell_error(l);
}

void learned_close(learned *l)
{
    learned_file_close(&l->file);
}
