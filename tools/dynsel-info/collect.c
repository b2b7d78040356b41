/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE

#include "collect.h"

#include <stdio.h>
#include <unistd.h>

#include "ranks.h"
#include "targets.h"

info_entry *collect_entry(info_list *list, info_kind kind)
{
    if (list->count == INFO_MOST) {
        return NULL;
    }
    info_entry *entry = &list->entries[list->count++];
    *entry = (info_entry){.kind = kind, .index = -1, .driver_version = ""};
    return entry;
}

bool collect_describe(info_entry *entry, const dynsel_resource *resource)
{
    if (dynsel_resource_describe(resource, &entry->device) != DYNSEL_OK) {
        return false;
    }
    targets_prove(entry);
    return true;
}

void collect_keep_problem(info_list *list, const char *what)
{
    char text[512];

    (void)dynsel_error_text(NULL, text, sizeof text);
    (void)snprintf(list->problem, sizeof list->problem, "%s: %s", what, text);
}

#if CONFIG_DYNSEL_BACKEND_INLINE || CONFIG_DYNSEL_BACKEND_THREADS

static uint64_t positive(long value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static bool add_host(info_list *list, info_kind kind, const dynsel_resource *resource,
                     unsigned workers)
{
    info_entry *entry = collect_entry(list, kind);

    if (entry == NULL || !collect_describe(entry, resource)) {
        return false;
    }
    entry->chosen = true;
    entry->verdict = "chosen";
    entry->workers = workers;
    entry->resource = *resource;
    entry->compute_units = (uint32_t)positive(sysconf(_SC_NPROCESSORS_ONLN));
    entry->memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
    entry->facts.shares_host_memory = true;
    return true;
}

#endif

static void add_inline(info_list *list)
{
#if CONFIG_DYNSEL_BACKEND_INLINE
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    if (!add_host(list, INFO_HOST, &host, 0)) {
        collect_keep_problem(list, "the host cannot be described");
    }
#else
    (void)list;
#endif
}

static void add_workers(info_list *list)
{
#if CONFIG_DYNSEL_BACKEND_THREADS
    dynsel_resource workers[CONFIG_DYNSEL_THREADS_WORKERS];
    size_t count = 0;
    dynsel_status status = dynsel_threads_resources(workers, CONFIG_DYNSEL_THREADS_WORKERS, &count);
    if (status != DYNSEL_OK || !add_host(list, INFO_WORKERS, &workers[0], (unsigned)count)) {
        collect_keep_problem(list, "the worker threads cannot be started");
    }
#else
    (void)list;
#endif
}

int collect(info_list *list, const char *selector)
{
    *list = (info_list){.count = 0};
    add_inline(list);
    add_workers(list);
    const int status = opencl_collect(list, selector);
    if (status == 0) {
        ranks_collect(list);
    }
    return status;
}

bool collect_chose_any(const info_list *list, info_kind kind)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].kind == kind && list->entries[i].chosen) {
            return true;
        }
    }
    return false;
}

bool collect_close(void)
{
    bool closed = opencl_close();

#if CONFIG_DYNSEL_BACKEND_THREADS
    closed = dynsel_threads_stop() == DYNSEL_OK && closed;
#endif
    return closed;
}
