/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdio.h>
#include <string.h>

#include "aspects.h"
#include "hint.h"
#include "targets.h"
#include "text.h"
#include "wrap.h"

#define INDENT       12
#define LONGEST_NAME 44 /* up to which the column after names is aligned */
#define LONGEST_LINE 1024

#define BOLD      "1"
#define RED       "31"
#define GREEN     "32"
#define YELLOW    "33"
#define NO_COLOUR NULL

static void name_of(const info_entry *entry, char *to, size_t bytes)
{
    if (entry->kind == INFO_HOST) {
        (void)snprintf(to, bytes, "C functions in the calling thread");
    } else if (entry->kind == INFO_WORKERS) {
        (void)snprintf(to, bytes, "C functions in %u worker thread%s", entry->workers,
                       entry->workers == 1 ? "" : "s");
    } else {
        const bool none = entry->kind == INFO_NO_DEVICE;
        (void)dynsel_printable(none ? entry->device.platform : entry->device.name, to, bytes);
    }
}

static void label_of(const info_entry *entry, char *to, size_t bytes)
{
    if (entry->kind == INFO_HOST || entry->kind == INFO_WORKERS) {
        (void)snprintf(to, bytes, "%s", entry->kind == INFO_HOST ? "host" : "workers");
    } else if (entry->kind == INFO_RANK) {
        (void)snprintf(to, bytes, "rank %u", (unsigned)entry->rank);
    } else if (entry->index >= 0) {
        (void)snprintf(to, bytes, "opencl %d", entry->index);
    } else {
        (void)snprintf(to, bytes, "opencl -");
    }
}

static int column_of_states(const info_list *list)
{
    size_t longest = 0;

    for (size_t i = 0; i < list->count; i++) {
        char name[256];
        name_of(&list->entries[i], name, sizeof name);
        size_t columns = text_columns(name);
        longest = columns > longest && columns <= LONGEST_NAME ? columns : longest;
    }
    return INDENT + (int)longest + 2;
}

static void print_state(wrap *w, const info_entry *entry)
{
    const dynsel_target *target = entry->proof.target;
    char reason[512];

    if (!entry->chosen) {
        (void)dynsel_printable(entry->reason, reason, sizeof reason);
        wrap_coloured(w, YELLOW, "excluded:");
        wrap_words(w, reason);
    } else if (target == NULL) {
        wrap_coloured(w, RED, "refused:");
        wrap_words(w, "no target of this build recognizes it");
    } else {
        const bool broken = entry->proof.broken != 0;
        wrap_coloured(w, broken ? RED : GREEN, broken ? "refused:" : "usable:");
        wrap_words(w, broken ? "breaks what is promised by target" : "target");
        wrap_words(w, target->name);
        wrap_words(w, target->aspects == 0 ? "(promises nothing)" : "");
    }
}

static void print_headline(wrap *w, const info_entry *entry, int state_column)
{
    char label[32], name[256];

    label_of(entry, label, sizeof label);
    name_of(entry, name, sizeof name);
    wrap_begin(w, label);
    wrap_coloured(w, BOLD, name);
    wrap_to(w, state_column, (int)strlen("refused: target"));
    print_state(w, entry);
    wrap_end(w);
}

static void print_line(wrap *w, const char *label, const char *text)
{
    wrap_begin(w, label);
    wrap_words(w, text);
    wrap_end(w);
}

/** A line of aspects; `remark` goes before them, and may be empty. */
static void print_aspects(wrap *w, const char *label, const char *remark, dynsel_aspect_set set,
                          const char *colour)
{
    if (set == 0) {
        return;
    }
    wrap_begin(w, label);
    wrap_words(w, remark);
    for (const char *name = aspects_next(&set); name != NULL; name = aspects_next(&set)) {
        wrap_coloured(w, colour, name);
    }
    wrap_end(w);
}

/** How a device compares with its target. */
static void compare(wrap *w, const info_entry *entry)
{
    const dynsel_target *target = entry->proof.target;
    const dynsel_aspect_set hidden = aspects_hidden(&entry->device);

    print_aspects(w, "  broken", "", entry->proof.broken, RED);
    print_aspects(w, "  promised", "", target->aspects & entry->device.aspects, NO_COLOUR);
    print_aspects(w, "  extra", "", entry->proof.extra & ~hidden, NO_COLOUR);
    print_aspects(w, "  hidden", "(extra, but no target of this build may have it)", hidden,
                  YELLOW);
}

/** The same for a target that is not in this build and so promises nothing. */
static void compare_with_all_targets(wrap *w, const info_entry *entry)
{
    const dynsel_proof *proof = &entry->table_proof;
    char remark[256];

    if (proof->target == NULL || proof->target->aspects == 0) {
        print_aspects(w, "  aspects", "", entry->device.aspects, NO_COLOUR);
        return;
    }
    (void)snprintf(remark, sizeof remark,
                   "promised by target %s, which is not in this build:", proof->target->name);
    print_aspects(w, "  would be", "broken:", proof->broken, NO_COLOUR);
    print_aspects(w, "  would be", remark, proof->target->aspects & entry->device.aspects,
                  NO_COLOUR);
    print_aspects(w, "  would be", "extra:", proof->extra, NO_COLOUR);
}

/** "OpenCL 3.0" of "OpenCL 3.0 PoCL HSTR: ...": the text after the number is the vendor's. */
static int version_length(const char *version)
{
    const char *number = strchr(version, ' ');

    return (int)(number == NULL ? strlen(version)
                                : (size_t)(number - version) + 1 + strcspn(number + 1, " "));
}

static void print_device(wrap *w, const info_entry *entry)
{
    const dynsel_device *device = &entry->device;
    const char *version = entry->facts.version[0] != '\0' ? entry->facts.version : "OpenCL unknown";
    char line[LONGEST_LINE], clean[LONGEST_LINE];

    (void)snprintf(line, sizeof line, "%s of %s; %s, driver %s, %.*s; %u compute unit%s",
                   device->type, device->vendor, device->platform, entry->driver_version,
                   version_length(version), version, entry->compute_units,
                   entry->compute_units == 1 ? "" : "s");
    (void)dynsel_printable(line, clean, sizeof clean);
    print_line(w, "  device", clean);
}

/** The other devices with the same memory domain. */
static void partners(const info_list *list, const info_entry *entry, char *to, size_t bytes)
{
    size_t used = 0;

    to[0] = '\0';
    for (size_t i = 0; i < list->count && used < bytes; i++) {
        const info_entry *other = &list->entries[i];
        if (other != entry && other->kind == INFO_OPENCL && other->index >= 0 &&
            other->memory_domain == entry->memory_domain && entry->memory_domain != 0) {
            used += (size_t)snprintf(to + used, bytes - used, "%s%d",
                                     used == 0 ? ", the same as of opencl " : ", ", other->index);
        }
    }
}

static void print_memory(wrap *w, const info_list *list, const info_entry *entry)
{
    char line[LONGEST_LINE], others[256], size[64] = "of unknown size";
    const double bytes = (double)entry->memory_bytes;

    partners(list, entry, others, sizeof others);
    if (bytes > 0) {
        const bool large = bytes >= 1024.0 * 1024.0 * 1024.0;
        (void)snprintf(size, sizeof size, "%.1f %s",
                       bytes / (large ? 1024.0 * 1024.0 * 1024.0 : 1024.0 * 1024.0),
                       large ? "GiB" : "MiB");
    }
    if (entry->kind != INFO_OPENCL) {
        (void)snprintf(line, sizeof line, "%s; domain host; %u processor%s", size,
                       entry->compute_units, entry->compute_units == 1 ? "" : "s");
    } else {
        (void)snprintf(line, sizeof line, "%s%s; domain %u%s", size,
                       entry->facts.shares_host_memory ? ", the host's own" : "",
                       (unsigned)entry->memory_domain, others);
    }
    print_line(w, "  memory", line);
}

static void add(char *line, const char *separator, const char *text)
{
    size_t used = strlen(line);

    (void)snprintf(line + used, LONGEST_LINE - used, "%s%s", separator, text);
}

static void print_queues(wrap *w, const info_entry *entry)
{
    const info_facts *facts = &entry->facts;
    static const struct {
        uint64_t bit;
        const char *name;
    } kinds[] = {{INFO_SVM_COARSE_GRAIN_BUFFER, "coarse-grain"},
                 {INFO_SVM_FINE_GRAIN_BUFFER, "fine-grain"},
                 {INFO_SVM_FINE_GRAIN_SYSTEM, "system"},
                 {INFO_SVM_ATOMICS, "atomics"}};
    char line[LONGEST_LINE] = "in order";
    const char *separator = "; SVM: ";

    add(line, facts->out_of_order ? ", " : "", facts->out_of_order ? "out of order" : "");
    add(line, facts->profiling ? ", " : "", facts->profiling ? "profiling" : "");
    add(line, "", entry->has_profiles ? " (times work)" : "");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if ((facts->svm & kinds[i].bit) != 0) {
            add(line, separator, kinds[i].name);
            separator = ", ";
        }
    }
    add(line, facts->svm == 0 ? "; no SVM" : "", "");
    for (size_t i = 0; i < facts->sub_group_size_count; i++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%u", (unsigned)facts->sub_group_sizes[i]);
        add(line, i == 0 ? "; sub-groups of " : ", ", number);
    }
    print_line(w, "  queues", line);
}

/** Where work is not timed by profiles, as it is wherever they are true. */
static void print_times(wrap *w, const info_entry *entry)
{
    char line[LONGEST_LINE];

    (void)snprintf(line, sizeof line, "%s%s: %s", entry->times != NULL ? "by " : "not known",
                   entry->times != NULL ? entry->times : "", entry->times_reason);
    if (!entry->has_profiles) {
        print_line(w, "  times", line);
    }
}

static void print_notes(wrap *w, const info_entry *entry)
{
    const char *more = strchr(entry->reason, ';');
    char text[LONGEST_LINE];

    if (more != NULL) {
        (void)dynsel_printable(more + 2, text, sizeof text);
        print_line(w, "  note", text);
    }
    hint_for(entry, text, sizeof text);
    if (text[0] != '\0') {
        print_line(w, "  hint", text);
    }
}

/** A device of another rank: what that has told of it. */
static void print_remote_device(wrap *w, const info_entry *entry)
{
    const dynsel_device *device = &entry->device;
    char line[LONGEST_LINE], clean[LONGEST_LINE];

    (void)snprintf(line, sizeof line, "%s%s%s%s%s", device->type,
                   device->vendor[0] != '\0' ? " of " : "", device->vendor,
                   device->platform[0] != '\0' ? "; " : "", device->platform);
    (void)dynsel_printable(line, clean, sizeof clean);
    print_line(w, "  device", clean);
}

static void print_details(wrap *w, const info_list *list, const info_entry *entry)
{
    if (entry->kind == INFO_RANK) {
        print_remote_device(w, entry);
    }
    if (entry->kind == INFO_OPENCL) {
        print_device(w, entry);
    }
    if (entry->proof.target != NULL) {
        compare(w, entry);
    } else {
        compare_with_all_targets(w, entry);
    }
    if (entry->kind != INFO_RANK) {
        print_memory(w, list, entry);
    }
    if (entry->kind == INFO_OPENCL) {
        print_queues(w, entry);
        print_times(w, entry);
    }
}

/** The lines below the headline; the remedy comes first if the device is refused. */
static void print_block(wrap *w, const info_list *list, const info_entry *entry)
{
    const bool accepted = targets_accept(entry);

    if (!accepted) {
        print_notes(w, entry);
    }
    print_details(w, list, entry);
    if (accepted) {
        print_notes(w, entry);
    }
}

static bool is_of_host(const info_entry *entry)
{
    return entry->kind == INFO_WORKERS ||
           (entry->kind == INFO_RANK && strcmp(entry->device.type, "host") == 0);
}

/** Whether the headline is enough: for excluded devices, and for workers and other ranks' hosts
 * like the host above, of which nothing is idle. */
static bool is_short(const info_list *list, const info_entry *entry)
{
    const bool first = entry == list->entries;

    return !entry->chosen || (is_of_host(entry) && !first && targets_accept(entry) &&
                              !hint_has_idle_processors(entry) &&
                              entry->device.aspects == list->entries[0].device.aspects);
}

/** Prints the targets and the selector of the list. */
static void print_heading(const info_list *list)
{
    wrap w = wrap_stdout(0);
    char targets[LONGEST_LINE], text[2 * LONGEST_LINE], clean[2 * LONGEST_LINE];

    targets_list(targets, sizeof targets);
    (void)snprintf(text, sizeof text,
                   "Built for the device targets %s (configuration " DYNSEL_CONFIG_HASH_TEXT
                   ")%s%s %s",
                   targets, list->selector != NULL ? "; OpenCL devices by " : "",
                   list->selector != NULL ? list->selector_from : "",
                   list->selector != NULL ? list->selector : "");
    (void)dynsel_printable(text, clean, sizeof clean);
    wrap_words(&w, clean);
    wrap_end(&w);
}

static void print_note(const info_list *list)
{
    wrap w = wrap_stdout(0);
    char clean[LONGEST_LINE];

    if (list->note[0] != '\0') {
        (void)dynsel_printable(list->note, clean, sizeof clean);
        printf("\n");
        wrap_words(&w, clean);
        wrap_end(&w);
    }
}

void table_print(const info_list *list)
{
    wrap w = wrap_stdout(INDENT);
    const int state_column = column_of_states(list);
    bool was_short = false;

    print_heading(list);
    for (size_t i = 0; i < list->count; i++) {
        const info_entry *entry = &list->entries[i];
        const bool now_short = is_short(list, entry);
        const bool joined = now_short && (was_short || entry->kind == INFO_WORKERS);
        printf("%s", joined ? "" : "\n");
        print_headline(&w, entry, state_column);
        if (!now_short) {
            print_block(&w, list, entry);
        }
        was_short = now_short;
    }
    print_note(list);
}
