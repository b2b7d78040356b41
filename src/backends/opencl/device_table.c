/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/device_table.h"

#include "base/fail.h"
#include "port/atomic.h"

dynsel_opencl_table dynsel_opencl_known;
dynsel_lock dynsel_opencl_lock = DYNSEL_LOCK_INITIALIZER;

dynsel_opencl_entry *dynsel_opencl_entry_at(const void *own)
{
    dynsel_opencl_entry *const entries = dynsel_opencl_known.entries;
    /* Integers: `own` may point anywhere, and only pointers into one array can be subtracted. */
    const uintptr_t offset = (uintptr_t)own - (uintptr_t)entries;
    const uintptr_t index = offset / sizeof(entries[0]);
    if (offset % sizeof(entries[0]) != 0 ||
        index >= dynsel_word_load_acquire(&dynsel_opencl_known.known)) {
        return NULL;
    }
    return &entries[index];
}

dynsel_opencl_entry *dynsel_opencl_entry_of_queue(const void *queue)
{
    const uint32_t known = dynsel_word_load_acquire(&dynsel_opencl_known.known);
    for (uint32_t i = 0; i < known; i++) {
        dynsel_opencl_entry *const entry = &dynsel_opencl_known.entries[i];
        if (entry->adopted && (const void *)entry->queue == queue) {
            return entry;
        }
    }
    return NULL;
}

dynsel_opencl_entry *dynsel_opencl_entry_in(cl_context context, dynsel_opencl_state state)
{
    const uint32_t known = dynsel_word_load_acquire(&dynsel_opencl_known.known);
    for (uint32_t i = 0; i < known; i++) {
        dynsel_opencl_entry *const entry = &dynsel_opencl_known.entries[i];
        if (dynsel_word_load_acquire(&entry->state) == (uint32_t)state &&
            entry->context == context) {
            return entry;
        }
    }
    return NULL;
}

dynsel_opencl_entry *dynsel_opencl_entry_of_handle(const void *handle)
{
    dynsel_opencl_entry *const entry = dynsel_opencl_entry_at(handle);
    return entry != NULL ? entry : dynsel_opencl_entry_of_queue(handle);
}

const char *dynsel_opencl_platform_name(const dynsel_opencl_entry *entry)
{
    return entry->platform < dynsel_opencl_known.platform_count
               ? dynsel_opencl_known.platforms[entry->platform].name
               : "";
}

const char *dynsel_opencl_platform_version(const dynsel_opencl_entry *entry)
{
    return entry->platform < dynsel_opencl_known.platform_count
               ? dynsel_opencl_known.platforms[entry->platform].version
               : "";
}

dynsel_status dynsel_opencl_refuse_handle(void)
{
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_INVALID,
        .function = DYNSEL_TEXT("dynsel_opencl_backend"),
        .detail = DYNSEL_TEXT("the handle is not the library's: take resources from "
                              "dynsel_opencl_select(), or give queues of your own with "
                              "adapt = dynsel_opencl_adopt")});
}
