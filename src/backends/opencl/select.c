/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing devices, and telling about the choice. */
#include "backends/opencl/select.h"

#include <stdlib.h>

#include "backends/opencl/choose.h"
#include "backends/opencl/describe.h"
#include "backends/opencl/device.h"
#include "backends/opencl/discovery.h"
#include "base/fail.h"
#include "port/context.h"

static dynsel_opencl_table *const table = &dynsel_opencl_known;

static bool is_blank(const char *text)
{
    return text == NULL || dynsel_text_trim(dynsel_text_slice_of(text)).length == 0;
}

/* A selector's text and its origin; NULL: the caller. */
typedef struct source {
    const char *text;
    const char *from;
} source;

/* `text`, else what was configured, else the environment's, else all. Under the lock. */
static source find_source(const char *text)
{
    if (!is_blank(text)) {
        return (source){text, NULL};
    }
    if (!is_blank(table->options.selector)) {
        return (source){table->options.selector, "dynsel_opencl_options.selector"};
    }
    text = getenv("DYNSEL_OPENCL");
    return is_blank(text) ? (source){"", NULL} : (source){text, "DYNSEL_OPENCL"};
}

/* Finds the devices and asks the selector about each; DYNSEL_E_FULL when some of them are not in
 * the table, and the choice is among the others then. */
static dynsel_status choose(const char *text, const char *function, dynsel_opencl_choice *choice)
{
    dynsel_opencl_selector selector;
    *choice = (dynsel_opencl_choice){0};
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const source found = find_source(text);
    dynsel_status status = dynsel_opencl_parse(found.text, function, found.from, &selector);
    if (status == DYNSEL_OK) {
        status = dynsel_opencl_discover(function);
        dynsel_opencl_choose(table, &selector, choice);
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return status;
}

/* old: also those that are too old. Returns how many there are. */
static size_t hand_out(const dynsel_opencl_choice *choice, bool old, dynsel_resource *resources,
                       size_t capacity)
{
    size_t used = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        if (choice->verdicts[i] == DYNSEL_OPENCL_CHOSEN ||
            (old && choice->verdicts[i] == DYNSEL_OPENCL_TOO_OLD)) {
            if (used < capacity) {
                resources[used] = (dynsel_resource){&dynsel_opencl_backend, &table->entries[i]};
            }
            used++;
        }
    }
    return used;
}

#if CONFIG_DYNSEL_ERROR_TEXTS
/* The most likely reason first. */
static const char *why_empty(const dynsel_opencl_choice *choice)
{
    const char *why = "the selector fits none of the {} OpenCL devices; "
                      "dynsel_opencl_visit_devices() tells why";
    if (table->platforms_there == 0) {
        return "there is no OpenCL platform: install a driver, such as pocl-opencl-icd for CPUs";
    }
    if (table->found == 0) {
        return "the OpenCL platforms have no device";
    }
    for (uint32_t i = 0; i < table->found; i++) {
        switch (choice->verdicts[i]) {
        case DYNSEL_OPENCL_NOT_SELECTED:
            break;
        case DYNSEL_OPENCL_EMULATOR:
            why = "of the {} OpenCL devices the selector fits only emulators: add the term "
                  "`emulator`";
            break;
        case DYNSEL_OPENCL_TOO_OLD:
            return "of the {} OpenCL devices the selector fits only such as have an OpenCL that is "
                   "older than 1.2, or not known: update their drivers";
        case DYNSEL_OPENCL_CHOSEN:
        case DYNSEL_OPENCL_DUPLICATE:
        case DYNSEL_OPENCL_UNAVAILABLE:
        case DYNSEL_OPENCL_LOST:
        case DYNSEL_OPENCL_NO_DEVICE:
            return "of the {} OpenCL devices the selector fits only such as are lost or not "
                   "available";
        }
    }
    return why;
}
#endif

/* What kept the devices of a platform from being listed; drivers without any say so too. */
static cl_int why_not_listed(void)
{
    cl_int code = CL_SUCCESS;
    for (uint32_t i = 0; i < table->platform_count && code == CL_SUCCESS; i++) {
        code =
            table->platforms[i].code != CL_DEVICE_NOT_FOUND ? table->platforms[i].code : CL_SUCCESS;
    }
    return code;
}

static dynsel_status refuse_empty(const char *text, const char *function,
                                  const dynsel_opencl_choice *choice)
{
    dynsel_error error = {
        .status = DYNSEL_E_NO_RESOURCE,
        .number = table->found,
        .function = DYNSEL_TEXT(function),
        .detail = DYNSEL_TEXT(why_empty(choice)),
    };
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)choice;
    (void)text;
    if (table->found == 0 && why_not_listed() != CL_SUCCESS) {
        error.code = why_not_listed();
        error.function = DYNSEL_TEXT("clGetDeviceIDs");
    }
#if CONFIG_DYNSEL_ERROR_TEXTS
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const source found = find_source(text);
    if (found.text[0] != '\0') {
        error.subject = dynsel_opencl_quote(found.from, dynsel_text_slice_of(found.text), NULL);
    }
    dynsel_lock_release(&dynsel_opencl_lock);
#endif
    return dynsel_fail(&error);
}

dynsel_status dynsel_opencl_select_defaults(dynsel_backend *backend, dynsel_resource *resources,
                                            size_t capacity, size_t *count)
{
    dynsel_opencl_choice choice;
    const dynsel_status status = choose(NULL, "dynsel_opencl_backend", &choice);
    (void)backend;
    *count = 0;
    if (status != DYNSEL_OK) {
        return status;
    }
    /* What is too old is refused later, so that it is counted. */
    *count = hand_out(&choice, CONFIG_DYNSEL_ASPECTS, resources, capacity);
    return *count != 0 ? DYNSEL_OK : refuse_empty(NULL, "dynsel_policy_init", &choice);
}

dynsel_status dynsel_opencl_select(const char *selector, dynsel_resource *resources,
                                   size_t capacity, size_t *count)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (count == NULL || (resources == NULL && capacity > 0)) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "resources or count is NULL");
    }
    dynsel_opencl_choice choice;
    *count = 0;
    const dynsel_status status = choose(selector, __func__, &choice);
    if (status != DYNSEL_OK) {
        return status;
    }
    *count = hand_out(&choice, false, resources, capacity);
    if (*count == 0) {
        return refuse_empty(selector, __func__, &choice);
    }
    if (*count > capacity) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "{} devices are chosen: give more room", *count);
    }
    return DYNSEL_OK;
}

/* The verdict for display, on one line. */
typedef struct reason {
    char text[2 * DYNSEL_OPENCL_NAME_BYTES];
} reason;

static void append(reason *why, const char *text)
{
    dynsel_text_append(why->text, sizeof(why->text), dynsel_text_slice_of(text));
}

static void say_failure(reason *why, const char *text, const char *function, cl_int code)
{
    append(why, text);
    append(why, function);
    append(why, ": ");
    append(why, dynsel_opencl_code_name(code));
}

/* The platform through which the same physical device is chosen. */
static const char *platform_of_twin(const dynsel_opencl_entry *entry,
                                    const dynsel_opencl_choice *choice)
{
    for (uint32_t i = 0; i < table->found; i++) {
        if ((entry->twins >> i & 1) != 0 && choice->verdicts[i] == DYNSEL_OPENCL_CHOSEN) {
            return table->platforms[table->entries[i].platform].name;
        }
    }
    return "another one"; /* chosen among the alternative's, but not by its index */
}

static void explain(reason *why, const dynsel_opencl_entry *entry,
                    const dynsel_opencl_choice *choice)
{
    switch (choice->verdicts[entry - table->entries]) {
    case DYNSEL_OPENCL_CHOSEN:
        append(why, "the selector fits");
        append(why, entry->has_compiler ? "" : "; it has no compiler, only binaries run");
        break;
    case DYNSEL_OPENCL_DUPLICATE:
        append(why, "the same physical device counts through platform ");
        append(why, platform_of_twin(entry, choice));
        break;
    case DYNSEL_OPENCL_EMULATOR:
        append(why, "it is an emulator, and the selector has no term `emulator`");
        break;
    case DYNSEL_OPENCL_UNAVAILABLE:
        if (entry->available) {
            say_failure(why, "it could not be opened: ", entry->failed_function,
                        entry->failed_code);
        } else {
            append(why, "its driver says that it is not available");
        }
        break;
    case DYNSEL_OPENCL_TOO_OLD:
        append(why, entry->too_old);
        break;
    case DYNSEL_OPENCL_LOST:
        say_failure(why, "it was lost: ", entry->failed_function, entry->failed_code);
        break;
    case DYNSEL_OPENCL_NOT_SELECTED:
    case DYNSEL_OPENCL_NO_DEVICE:
        append(why, "the selector does not fit");
        break;
    }
}

static void visit_device(const dynsel_opencl_entry *entry, const dynsel_opencl_choice *choice,
                         dynsel_opencl_visitor visitor, void *context)
{
    reason raw = {""};
    reason why;
    explain(&raw, entry, choice);
    (void)dynsel_printable(raw.text, why.text, sizeof(why.text));
    const dynsel_opencl_device_info info = {
        .name = entry->name,
        .vendor = entry->vendor,
        .platform = dynsel_opencl_platform_name(entry),
        .driver_version = entry->driver_version,
        .version = entry->version,
        .type = dynsel_opencl_type_name(entry->type),
        .device = entry->device,
        .compute_units = entry->compute_units,
        .memory_bytes = entry->memory_bytes,
        .memory_domain = dynsel_opencl_domain_of(entry),
        .resource = {&dynsel_opencl_backend, (void *)entry},
        .verdict = choice->verdicts[entry - table->entries],
        .reason = why.text,
    };
    visitor(&info, context);
}

static void visit_empty_platform(const dynsel_opencl_platform *platform,
                                 dynsel_opencl_visitor visitor, void *context)
{
    reason why = {""};
    if (platform->code == CL_SUCCESS || platform->code == CL_DEVICE_NOT_FOUND) {
        append(&why, "the platform has no device");
    } else {
        say_failure(&why, "the platform does not list its devices: ", "clGetDeviceIDs",
                    platform->code);
    }
    const dynsel_opencl_device_info info = {
        .name = "no device",
        .vendor = "none",
        .platform = platform->name,
        .driver_version = "none",
        .version = "none",
        .type = "none",
        .verdict = DYNSEL_OPENCL_NO_DEVICE,
        .reason = why.text,
    };
    visitor(&info, context);
}

dynsel_status dynsel_opencl_visit_devices(const char *selector, dynsel_opencl_visitor visitor,
                                          void *context)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (visitor == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "visitor is NULL");
    }
    dynsel_opencl_choice choice;
    const dynsel_status status = choose(selector, __func__, &choice);
    if (status != DYNSEL_OK && status != DYNSEL_E_FULL) {
        return status;
    }
    /* Without the lock, so that the visitor may call this backend; nothing changes before a close.
     */
    uint32_t next = 0;
    for (uint32_t i = 0; i < table->platform_count; i++) {
        if (table->platforms[i].device_count == 0) {
            visit_empty_platform(&table->platforms[i], visitor, context);
        }
        for (; next < table->found && table->entries[next].platform == i; next++) {
            visit_device(&table->entries[next], &choice, visitor, context);
        }
    }
    return status;
}
