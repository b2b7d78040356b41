/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are copied as printable ASCII in double quotes: other characters in names are not allowed
 * in the table, and a part of a text is enough to recognize a device. */
#include "emit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "aspects.h"
#include "target_name.h"
#include "targets.h"
#include "text.h"

#define WIDTH 100

/** The entries printed so far. */
typedef struct emitted {
    const info_entry *entries[INFO_MOST];
    char names[INFO_MOST][TARGET_NAME_BYTES];
    unsigned count;
} emitted;

static void put_quoted(const char *text)
{
    for (; *text != '\0'; text++) {
        printf("%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    }
}

/** Prints a member of `recognize`, if the text is not empty. */
static void put_way(const char *key, const char *text)
{
    char part[256];

    text_plain_part(part, sizeof part, text);
    if (part[0] != '\0') {
        printf("      %s: \"", key);
        put_quoted(part);
        printf("\"\n");
    }
}

static void put_recognize(const dynsel_device *device)
{
    printf("  recognize:\n    - backend: opencl\n");
    put_way("platform", device->platform);
    put_way("vendor", device->vendor);
    if (strcmp(device->type, "unknown") != 0) {
        printf("      type: %s\n", device->type);
    }
    put_way("name", device->name);
}

static void put_texts(const info_entry *entry)
{
    const dynsel_device *device = &entry->device;
    char name[256], platform[256], version[256], date[32] = "an unknown day";
    const time_t now = time(NULL);
    const struct tm *day = gmtime(&now);

    text_plain_part(name, sizeof name, device->name);
    text_plain_part(platform, sizeof platform, device->platform);
    if (name[0] == '\0') {
        (void)snprintf(name, sizeof name, "a device without a name");
    }
    text_plain_part(version, sizeof version, entry->driver_version);
    if (day != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d", day);
    }
    printf("  text: \"");
    put_quoted(name);
    printf(" through ");
    put_quoted(platform);
    printf("\"\n  source: \"measured with dynsel-info on ");
    put_quoted(name);
    printf(", driver ");
    put_quoted(version);
    printf(", %s\"\n", date);
}

static void put_aspects(dynsel_aspect_set set)
{
    int column = printf("  aspects: [");
    const char *separator = "";

    for (const char *name = aspects_next(&set); name != NULL; name = aspects_next(&set)) {
        if (column + 2 + (int)strlen(name) + 1 > WIDTH) {
            printf("%s\n", *separator == '\0' ? "" : ",");
            column = printf("            ");
            separator = "";
        }
        column += printf("%s%s", separator, name);
        separator = ", ";
    }
    printf("]\n");
}

static void put_sub_group_sizes(const info_facts *facts)
{
    printf("  sub_group_sizes: [");
    for (size_t i = 0; i < facts->sub_group_size_count; i++) {
        printf("%s%u", i == 0 ? "" : ", ", (unsigned)facts->sub_group_sizes[i]);
    }
    printf("]\n");
}

static void put_comment(const info_entry *entry)
{
    const dynsel_target *closest = targets_closest(&entry->device);
    const dynsel_target *first = entry->table_proof.target;

    if (closest != NULL) {
        printf("# The target %s recognizes this device already, and what it promises is true.\n",
               closest->name);
    } else if (first != NULL && !dynsel_target_is_open(first)) {
        printf(
            "# The target %s recognizes this device already, but promises aspects that it lacks.\n",
            first->name);
    }
}

static bool is_taken(const emitted *before, const char *name)
{
    size_t count = 0;
    const dynsel_target *table = targets_of_table(&count);

    for (size_t i = 0; i < count; i++) {
        if (strcmp(table[i].name, name) == 0) {
            return true;
        }
    }
    for (unsigned i = 0; i < before->count; i++) {
        if (strcmp(before->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_equal(const dynsel_device *a, const dynsel_device *b)
{
    return a->aspects == b->aspects && strcmp(a->platform, b->platform) == 0 &&
           strcmp(a->vendor, b->vendor) == 0 && strcmp(a->type, b->type) == 0 &&
           strcmp(a->name, b->name) == 0;
}

/** Whether an equal device was printed before; says so. */
static bool is_repeated(const emitted *before, const info_entry *entry)
{
    for (unsigned i = 0; i < before->count; i++) {
        if (is_equal(&before->entries[i]->device, &entry->device)) {
            printf("# OpenCL device %d is equal to device %d: see %s.\n", entry->index,
                   before->entries[i]->index, before->names[i]);
            return true;
        }
    }
    return false;
}

static void put_entry(const info_entry *entry, emitted *before)
{
    char *name = before->names[before->count];

    if (is_repeated(before, entry)) {
        return;
    }
    unsigned number = 1;
    do {
        target_name(name, &entry->device, number++);
    } while (is_taken(before, name));
    before->entries[before->count++] = entry;
    put_comment(entry);
    printf("%s:\n", name);
    put_texts(entry);
    put_recognize(&entry->device);
    printf("  added_by: []\n");
    put_aspects(entry->device.aspects);
    printf("  # Measured on one device: others that this recognizes may have more. If some have "
           "less, take\n"
           "  # out what they lack, or recognize fewer.\n"
           "  may_support_other_aspects: true\n");
    put_sub_group_sizes(&entry->facts);
}

unsigned emit_print(const info_list *list)
{
    static emitted before;
    unsigned devices = 0;

    for (size_t i = 0; i < list->count; i++) {
        const info_entry *entry = &list->entries[i];
        if (entry->kind == INFO_OPENCL && entry->chosen) {
            printf("%s", devices == 0 ? "" : "\n");
            put_entry(entry, &before);
            devices++;
        }
    }
    return devices;
}
