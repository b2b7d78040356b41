/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdio.h>

#include "aspects.h"
#include "hint.h"
#include "json_writer.h"
#include "targets.h"

static void print_names(json_writer *w, const char *name, dynsel_aspect_set set)
{
    json_open_line(w, name);
    for (const char *next = aspects_next(&set); next != NULL; next = aspects_next(&set)) {
        json_text(w, NULL, next);
    }
    json_close_line(w);
}

static void print_targets(json_writer *w)
{
    size_t count = 0;
    const dynsel_target *table = targets_of_table(&count);

    json_open(w, "targets", '[');
    for (size_t i = 0; i < count; i++) {
        json_open(w, NULL, '{');
        json_text(w, "name", table[i].name);
        json_bool(w, "in_build", targets_in_build(table[i].name));
        print_names(w, "aspects", table[i].aspects);
        json_bool(w, "may_support_other_aspects", table[i].may_support_other_aspects);
        json_close(w, '}');
    }
    json_close(w, ']');
}

static void print_target(json_writer *w, const info_entry *entry)
{
    const dynsel_target *target = targets_shown(entry)->target;

    if (target == NULL) {
        json_null(w, "target");
    } else {
        json_open(w, "target", '{');
        json_text(w, "name", target->name);
        json_bool(w, "in_build", entry->proof.target != NULL);
        json_close(w, '}');
    }
    json_text(w, "nearer_target", entry->nearer != NULL ? entry->nearer->name : NULL);
}

static void print_aspects(json_writer *w, const info_entry *entry)
{
    const dynsel_proof *shown = targets_shown(entry);
    const dynsel_aspect_set there = entry->device.aspects;

    json_open(w, "aspects", '{');
    print_names(w, "all", there);
    print_names(w, "promised", there & ~shown->extra);
    print_names(w, "extra", shown->extra);
    print_names(w, "broken", shown->broken);
    print_names(w, "hidden", aspects_hidden(&entry->device));
    json_close(w, '}');
}

static void print_texts(json_writer *w, const info_entry *entry)
{
    json_text(w, "backend", entry->device.backend);
    json_text(w, "platform", entry->device.platform);
    json_text(w, "vendor", entry->device.vendor);
    json_text(w, "type", entry->device.type);
    json_text(w, "name", entry->device.name);
    json_text(w, "driver_version", entry->driver_version);
    json_text(w, "opencl_version", entry->facts.version);
    json_text(w, "opencl_c_version", entry->facts.c_version);
}

static void print_memory(json_writer *w, const info_entry *entry)
{
    char domain[16];

    (void)snprintf(domain, sizeof domain, "%u", (unsigned)entry->memory_domain);
    json_open(w, "memory", '{');
    if (entry->kind == INFO_HOST || entry->kind == INFO_WORKERS) {
        json_text(w, "domain", "host");
    } else {
        json_text(w, "domain", entry->memory_domain != 0 ? domain : NULL);
    }
    json_bool(w, "shares_host_memory", entry->facts.shares_host_memory);
    json_number(w, "size", entry->memory_bytes);
    json_number(w, "max_allocation", entry->facts.max_allocation_bytes);
    json_number(w, "local", entry->facts.local_memory_bytes);
    json_close(w, '}');
}

static void print_queue(json_writer *w, const info_facts *facts)
{
    json_open(w, "queue", '{');
    json_bool(w, "in_order", true); /* every OpenCL device has those, and the host is one */
    json_bool(w, "out_of_order", facts->out_of_order);
    json_bool(w, "profiling", facts->profiling);
    json_close(w, '}');
    json_open(w, "svm", '{');
    json_bool(w, "coarse_grain_buffer", (facts->svm & INFO_SVM_COARSE_GRAIN_BUFFER) != 0);
    json_bool(w, "fine_grain_buffer", (facts->svm & INFO_SVM_FINE_GRAIN_BUFFER) != 0);
    json_bool(w, "fine_grain_system", (facts->svm & INFO_SVM_FINE_GRAIN_SYSTEM) != 0);
    json_bool(w, "atomics", (facts->svm & INFO_SVM_ATOMICS) != 0);
    json_close(w, '}');
    json_open_line(w, "sub_group_sizes");
    for (size_t i = 0; i < facts->sub_group_size_count; i++) {
        json_number(w, NULL, facts->sub_group_sizes[i]);
    }
    json_close_line(w);
}

static void print_times(json_writer *w, const info_entry *entry)
{
    if (entry->kind != INFO_OPENCL || !entry->chosen) {
        json_null(w, "times");
        return;
    }
    json_open(w, "times", '{');
    json_text(w, "by", entry->times);
    json_text(w, "reason", entry->times_reason);
    json_close(w, '}');
}

static const char *kind_name(info_kind kind)
{
    if (kind == INFO_HOST) {
        return "host";
    }
    if (kind == INFO_RANK) {
        return "rank";
    }
    return kind == INFO_WORKERS ? "workers" : "opencl";
}

static void print_resource(json_writer *w, const info_entry *entry)
{
    char hint[512];

    hint_for(entry, hint, sizeof hint);
    json_open(w, NULL, '{');
    json_text(w, "kind", kind_name(entry->kind));
    if (entry->index >= 0) {
        json_number(w, "index", (uint64_t)entry->index);
    } else {
        json_null(w, "index");
    }
    json_number(w, "rank", entry->rank);
    json_bool(w, "chosen", entry->chosen);
    json_text(w, "verdict", entry->verdict);
    json_text(w, "reason", entry->reason);
    json_bool(w, "accepted", targets_accept(entry));
    print_target(w, entry);
    json_text(w, "hint", hint);
    print_aspects(w, entry);
    print_texts(w, entry);
    json_number(w, "workers", entry->workers);
    json_number(w, "compute_units", entry->compute_units);
    print_memory(w, entry);
    print_queue(w, &entry->facts);
    print_times(w, entry);
    json_close(w, '}');
}

static void print_empty_platforms(json_writer *w, const info_list *list)
{
    json_open(w, "empty_platforms", '[');
    for (size_t i = 0; i < list->count; i++) {
        const info_entry *entry = &list->entries[i];
        if (entry->kind == INFO_NO_DEVICE) {
            json_open(w, NULL, '{');
            json_text(w, "name", entry->device.platform);
            json_text(w, "reason", entry->reason);
            json_close(w, '}');
        }
    }
    json_close(w, ']');
}

void json_print(const info_list *list)
{
    json_writer w = {0};

    json_open(&w, NULL, '{');
    json_number(&w, "format", 1);
    json_text(&w, "configuration", DYNSEL_CONFIG_HASH_TEXT);
    json_text(&w, "selector", list->selector);
    json_text(&w, "selector_from", list->selector_from);
    print_names(&w, "aspects", (dynsel_aspect_set)-1);
    print_targets(&w);
    json_open(&w, "resources", '[');
    for (size_t i = 0; i < list->count; i++) {
        if (list->entries[i].kind != INFO_NO_DEVICE) {
            print_resource(&w, &list->entries[i]);
        }
    }
    json_close(&w, ']');
    print_empty_platforms(&w, list);
    json_text(&w, "note", list->note[0] != '\0' ? list->note : NULL);
    json_text(&w, "problem", list->problem[0] != '\0' ? list->problem : NULL);
    json_close(&w, '}');
    printf("\n");
}
