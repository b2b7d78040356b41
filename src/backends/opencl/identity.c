/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/identity.h"

#include <string.h>

#include "base/text_slice.h"

typedef dynsel_opencl_entry entry;
typedef bool (*likeness)(const entry *a, const entry *b);

static bool is_emulator(const char *name)
{
    static const char *const parts[] = {"emulat", "simulat", "oclgrind"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (dynsel_text_contains(name, dynsel_text_slice_of(parts[i]))) {
            return true;
        }
    }
    return false;
}

static bool same_uuid(const entry *a, const entry *b)
{
    return a->place.has_uuid && b->place.has_uuid &&
           memcmp(a->place.uuid, b->place.uuid, sizeof(a->place.uuid)) == 0;
}

static bool same_pci(const entry *a, const entry *b)
{
    return a->place.has_pci && b->place.has_pci &&
           memcmp(a->place.pci, b->place.pci, sizeof(a->place.pci)) == 0;
}

static bool same_name(const entry *a, const entry *b)
{
    return a->vendor_id == b->vendor_id && strcmp(a->name, b->name) == 0;
}

/* How many devices before it, on its own platform, are alike. Tiles and partitions of a GPU share
 * an address, equal cards a name: then the first is the first there, the second the second. */
static uint32_t rank(const dynsel_opencl_table *table, const entry *device, likeness alike)
{
    uint32_t before = 0;
    for (const entry *other = table->entries; other != device; other++) {
        if (other->platform == device->platform && alike(other, device)) {
            before++;
        }
    }
    return before;
}

static bool matches(const dynsel_opencl_table *table, const entry *a, const entry *b,
                    likeness alike)
{
    return alike(a, b) && rank(table, a, alike) == rank(table, b, alike);
}

static bool is_same_device(const dynsel_opencl_table *table, const entry *a, const entry *b)
{
    /* Two devices of one platform are two, whatever they say; an emulator is no hardware. */
    if (a->platform == b->platform || a->emulator || b->emulator) {
        return false;
    }
    /* Every CPU device is the host's processors, and each driver makes up its own UUID for them. */
    if ((a->type & b->type & CL_DEVICE_TYPE_CPU) != 0) {
        return true;
    }
    if (matches(table, a, b, same_uuid)) {
        return true;
    }
    if (a->place.has_pci && b->place.has_pci) {
        return matches(table, a, b, same_pci);
    }
    if (a->place.has_uuid && b->place.has_uuid) {
        return false;
    }
    return matches(table, a, b, same_name);
}

void dynsel_opencl_note_kind(dynsel_opencl_entry *device)
{
    const char *const platform = dynsel_opencl_platform_name(device);
    device->emulator = is_emulator(device->name) || is_emulator(platform);
    /* PoCL 3.1 runs what waited in the thread that ended what it waited for, under a lock that it
     * then needs. */
    device->hangs_on_events = strcmp(platform, "Portable Computing Language") == 0 &&
                              strncmp(device->name, "basic", strlen("basic")) == 0;
}

void dynsel_opencl_identify(dynsel_opencl_table *table)
{
    for (uint32_t i = 0; i < table->found; i++) {
        dynsel_opencl_note_kind(&table->entries[i]);
    }
    for (uint32_t i = 0; i < table->found; i++) {
        for (uint32_t j = 0; j < table->found; j++) {
            if (is_same_device(table, &table->entries[i], &table->entries[j])) {
                table->entries[i].twins |= UINT64_C(1) << j;
            }
        }
    }
}
