/* SPDX-License-Identifier: Apache-2.0 */
/** Lists the OpenCL devices, as the library chooses among them. */
#include <dynsel/opencl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "facts.h"
#include "log.h"
#include "options.h"

/** What a visit of all devices goes along with. */
typedef struct tour {
    info_list *list;
    size_t first; /**< the list's first entry of OpenCL's */
    size_t at;
    int index;
} tour;

static const char *verdict_word(dynsel_opencl_verdict verdict)
{
    switch (verdict) {
    case DYNSEL_OPENCL_CHOSEN:
        return "chosen";
    case DYNSEL_OPENCL_NOT_SELECTED:
        return "not_selected";
    case DYNSEL_OPENCL_DUPLICATE:
        return "duplicate";
    case DYNSEL_OPENCL_EMULATOR:
        return "emulator";
    case DYNSEL_OPENCL_UNAVAILABLE:
        return "unavailable";
    case DYNSEL_OPENCL_LOST:
        return "lost";
    case DYNSEL_OPENCL_TOO_OLD:
        return "too_old";
    case DYNSEL_OPENCL_NO_DEVICE:
        break;
    }
    return "no_device";
}

static void describe(info_entry *entry, const dynsel_opencl_device_info *info, info_list *list)
{
    entry->driver_version = info->driver_version;
    entry->compute_units = info->compute_units;
    entry->memory_bytes = info->memory_bytes;
    entry->memory_domain = info->memory_domain;
    list->devices++;
    if (!collect_describe(entry, &info->resource)) {
        char text[512];
        (void)dynsel_error_text(NULL, text, sizeof text);
        (void)snprintf(list->problem, sizeof list->problem, "%s cannot be described: %s",
                       info->name, text);
        return;
    }
    if (info->verdict != DYNSEL_OPENCL_LOST) {
        facts_read(&entry->facts, info->device);
    }
}

/** The first visit, with the selector `all`: what there is, and the numbers that choose it. */
static void add(const dynsel_opencl_device_info *info, void *context)
{
    tour *t = context;
    const bool is_device = info->verdict != DYNSEL_OPENCL_NO_DEVICE;
    info_entry *entry = collect_entry(t->list, is_device ? INFO_OPENCL : INFO_NO_DEVICE);

    if (entry == NULL) {
        return; /* never: there is room for each device and platform that the library knows */
    }
    entry->device = (dynsel_device){.backend = "opencl",
                                    .platform = info->platform,
                                    .vendor = info->vendor,
                                    .type = info->type,
                                    .name = info->name};
    if (!is_device) {
        return;
    }
    describe(entry, info, t->list);
    if (info->verdict != DYNSEL_OPENCL_EMULATOR && info->verdict != DYNSEL_OPENCL_DUPLICATE) {
        entry->index = t->index++; /* as the library counts for the term `index` */
    }
}

/** How work on a chosen device is timed: the library opens the device to find out. */
static void find_times(info_entry *entry, const dynsel_resource *resource)
{
    dynsel_opencl_timing timing;
    const char *reason = NULL;

    if (dynsel_opencl_find_timing(resource, &timing, &reason) == DYNSEL_OK) {
        entry->has_profiles = timing == DYNSEL_OPENCL_TIMES_BY_PROFILE;
        entry->times = entry->has_profiles ? "profile" : "callback";
        (void)snprintf(entry->times_reason, sizeof entry->times_reason, "%s", reason);
    } else {
        (void)dynsel_error_text(NULL, entry->times_reason, sizeof entry->times_reason);
    }
}

/** The second visit, in the same order: what the selector says of each. */
static void judge(const dynsel_opencl_device_info *info, void *context)
{
    tour *t = context;
    info_entry *entry = &t->list->entries[t->at];

    if (t->at == t->list->count) {
        return;
    }
    t->at++;
    entry->chosen = info->verdict == DYNSEL_OPENCL_CHOSEN;
    entry->verdict = verdict_word(info->verdict);
    (void)snprintf(entry->reason, sizeof entry->reason, "%s", info->reason);
    if (entry->chosen) {
        entry->resource = info->resource;
        find_times(entry, &info->resource);
    }
}

/** The selector as the library takes it: blank ones do not count. */
static void find_selector(info_list *list, const char *selector)
{
    const char *usual = getenv("DYNSEL_OPENCL");

    if (selector != NULL) {
        list->selector = selector;
        list->selector_from = "--device";
    } else if (usual != NULL && usual[strspn(usual, " \t")] != '\0') {
        list->selector = usual;
        list->selector_from = "DYNSEL_OPENCL";
    }
}

static int fail(info_list *list, dynsel_status status)
{
    dynsel_error error = *dynsel_last_error();
    char text[512];

    error.function = NULL; /* who uses this program does not know it */
    (void)dynsel_error_text(&error, text, sizeof text);
    if (status != DYNSEL_E_INVALID) {
        (void)snprintf(list->problem, sizeof list->problem, "not all OpenCL devices are listed: %s",
                       text);
        return 0;
    }
    log_error("%s '%s': %s (see dynsel-info --help)", list->selector_from, list->selector, text);
    return EXIT_USAGE;
}

static void note_nothing(info_list *list, bool platforms)
{
    const char *folder = getenv("OCL_ICD_VENDORS");

    if (list->devices > 0) {
        return;
    }
    (void)snprintf(list->note, sizeof list->note,
                   platforms ? "No OpenCL device: a driver is installed, but finds none; are you "
                               "allowed to use the device, and is it visible in this container?"
                             : "No OpenCL device: no driver is registered in %s; install one, such "
                               "as pocl-opencl-icd for CPUs or the one of your GPU's vendor",
                   folder != NULL && *folder != '\0' ? folder : "/etc/OpenCL/vendors");
}

int opencl_collect(info_list *list, const char *selector)
{
    find_selector(list, selector);
    tour t = {.list = list, .first = list->count, .at = list->count};
    dynsel_status status = dynsel_opencl_visit_devices("all", add, &t);
    dynsel_status judged = dynsel_opencl_visit_devices(selector, judge, &t);

    if (judged != DYNSEL_OK) {
        return fail(list, judged);
    }
    note_nothing(list, list->count > t.first);
    return status == DYNSEL_OK ? 0 : fail(list, status);
}

bool opencl_close(void)
{
    return dynsel_opencl_close() == DYNSEL_OK;
}
