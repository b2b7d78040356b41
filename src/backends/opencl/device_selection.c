/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/device_selection.h"

#include <stdlib.h>

#include "backends/opencl/device_info.h"
#include "backends/opencl/device_state.h"
#include "backends/opencl/discovery.h"
#include "backends/opencl/selector_parser.h"
#include "base/fail.h"
#include "port/atomic.h"
#include "port/context.h"
#include "port/likely.h"

typedef dynsel_opencl_entry entry;

static dynsel_opencl_table *const table = &dynsel_opencl_known;

/* The result of a selector: a verdict for each entry, by index. */
typedef struct choice {
    uint64_t chosen; /* bits of entries */
    dynsel_opencl_verdict verdicts[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
} choice;

/* One alternative of a selector: its terms, and two kinds of terms that are not matched alone. */
typedef struct alternative {
    const dynsel_opencl_term *begin;
    const dynsel_opencl_term *end;
    bool emulators; /* selects emulators */
    bool has_index;
    uint64_t index;
} alternative;

static uint64_t bit(uint32_t index)
{
    return UINT64_C(1) << index;
}

static bool fits(const entry *device, const alternative *terms)
{
    bool holds = true;
    for (const dynsel_opencl_term *term = terms->begin; holds && term != terms->end; term++) {
        switch (term->kind) {
        case DYNSEL_OPENCL_TERM_PLATFORM:
            holds = dynsel_text_contains(table->platforms[device->platform].name, term->text);
            break;
        case DYNSEL_OPENCL_TERM_VENDOR:
            holds = dynsel_text_contains(device->vendor, term->text);
            break;
        case DYNSEL_OPENCL_TERM_NAME:
            holds = dynsel_text_contains(device->name, term->text);
            break;
        case DYNSEL_OPENCL_TERM_TYPE:
            holds = (device->type & term->number) != 0;
            break;
        case DYNSEL_OPENCL_TERM_EMULATOR:
            holds = device->emulator;
            break;
        case DYNSEL_OPENCL_TERM_INDEX: /* counts the devices that fit the other terms */
        case DYNSEL_OPENCL_TERM_ALL:
            break;
        }
    }
    return holds;
}

static alternative next_alternative(const dynsel_opencl_term *begin, const dynsel_opencl_term *end)
{
    alternative terms = {.begin = begin, .end = begin};
    while (terms.end != end && terms.end->alternative == begin->alternative) {
        terms.emulators |= terms.end->kind == DYNSEL_OPENCL_TERM_EMULATOR;
        if (terms.end->kind == DYNSEL_OPENCL_TERM_INDEX) {
            terms.has_index = true;
            terms.index = terms.end->number;
        }
        terms.end++;
    }
    return terms;
}

/* DYNSEL_OPENCL_CHOSEN: the device is usable. */
static dynsel_opencl_verdict condition(const entry *device)
{
    const uint32_t state = dynsel_word_load_acquire(&device->state);
    if (state == DYNSEL_OPENCL_DEAD) {
        return DYNSEL_OPENCL_LOST;
    }
    if (dynsel_opencl_is_too_old(device)) {
        return DYNSEL_OPENCL_TOO_OLD;
    }
    if (!device->available || state == DYNSEL_OPENCL_FAILED) {
        return DYNSEL_OPENCL_UNAVAILABLE;
    }
    return DYNSEL_OPENCL_CHOSEN;
}

/* An unusable device still counts for indexes, so that an index means the same device before and
 * after the loss of another one; but it does not make its twin a duplicate. */
static void match_alternative(const alternative *terms, choice *result)
{
    uint64_t kept = 0;
    uint64_t index = 0;
    for (uint32_t i = 0; i < table->found; i++) {
        const entry *const device = &table->entries[i];
        if (!fits(device, terms)) {
            continue;
        }
        dynsel_opencl_verdict verdict = condition(device);
        if (device->emulator && !terms->emulators) {
            verdict = DYNSEL_OPENCL_EMULATOR;
        } else if ((device->twins & kept) != 0) {
            verdict = DYNSEL_OPENCL_DUPLICATE;
        } else {
            kept |= verdict == DYNSEL_OPENCL_CHOSEN ? bit(i) : 0;
            if (terms->has_index && index != terms->index) {
                verdict = DYNSEL_OPENCL_NOT_SELECTED;
            }
            index++;
        }
        if (verdict == DYNSEL_OPENCL_CHOSEN) {
            result->chosen |= bit(i);
        } else if (verdict != DYNSEL_OPENCL_NOT_SELECTED) {
            result->verdicts[i] = verdict;
        }
    }
}

static void match(const dynsel_opencl_selector *selector, choice *result)
{
    const dynsel_opencl_term *const end = selector->terms + selector->count;
    uint64_t kept = 0;
    result->chosen = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        result->verdicts[i] = DYNSEL_OPENCL_NOT_SELECTED;
    }
    for (const dynsel_opencl_term *begin = selector->terms; begin != end;) {
        const alternative terms = next_alternative(begin, end);
        match_alternative(&terms, result);
        begin = terms.end;
    }
    /* Two alternatives may have chosen the same physical device in two platforms. */
    for (uint32_t i = 0; i < table->found; i++) {
        if ((result->chosen & bit(i)) == 0) {
            continue;
        }
        if ((table->entries[i].twins & kept) != 0) {
            result->verdicts[i] = DYNSEL_OPENCL_DUPLICATE;
        } else {
            result->verdicts[i] = DYNSEL_OPENCL_CHOSEN;
            kept |= bit(i);
        }
    }
}

static bool is_blank(const char *text)
{
    return text == NULL || dynsel_text_trim(dynsel_text_slice_of(text)).length == 0;
}

/* The text of a selector. from: where it was set; NULL: the argument of the call. */
typedef struct source {
    const char *text;
    const char *from;
} source;

/* Under the lock: `text`, else the configured selector, else the environment, else all. */
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

/* Discovers the devices and matches the selector against each. DYNSEL_E_FULL: the choice lacks
 * devices that do not fit into the table. */
static dynsel_status choose(const char *text, const char *function, choice *result)
{
    dynsel_opencl_selector selector;
    *result = (choice){0};
    dynsel_lock_acquire(&dynsel_opencl_lock);
    const source found = find_source(text);
    dynsel_status status = dynsel_opencl_parse(found.text, function, found.from, &selector);
    if (status == DYNSEL_OK) {
        status = dynsel_opencl_discover(function);
        match(&selector, result);
    }
    dynsel_lock_release(&dynsel_opencl_lock);
    return status;
}

/* Copies as many resources as fit, and returns their number. old: includes devices whose OpenCL is
 * too old. */
static size_t list_chosen(const choice *result, bool old, dynsel_resource *resources,
                          size_t capacity)
{
    size_t used = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_OPENCL_MAX_DEVICES; i++) {
        if (result->verdicts[i] == DYNSEL_OPENCL_CHOSEN ||
            (old && result->verdicts[i] == DYNSEL_OPENCL_TOO_OLD)) {
            if (used < capacity) {
                resources[used] = (dynsel_resource){&dynsel_opencl_backend, &table->entries[i]};
            }
            used++;
        }
    }
    return used;
}

#if CONFIG_DYNSEL_ERROR_TEXTS
/* The most likely reason. */
static const char *why_empty(const choice *result)
{
    const char *why = "the selector fits none of the {} OpenCL devices; "
                      "dynsel_opencl_visit_devices() tells why";
    if (table->platforms_present == 0) {
        return "there is no OpenCL platform: install a driver, such as pocl-opencl-icd for CPUs";
    }
    if (table->found == 0) {
        return "the OpenCL platforms have no device";
    }
    for (uint32_t i = 0; i < table->found; i++) {
        switch (result->verdicts[i]) {
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

/* The first failure to list the devices of a platform, or CL_SUCCESS. CL_DEVICE_NOT_FOUND is none:
 * the platform has no devices. */
static cl_int why_not_listed(void)
{
    cl_int code = CL_SUCCESS;
    for (uint32_t i = 0; i < table->platform_count && code == CL_SUCCESS; i++) {
        code =
            table->platforms[i].code != CL_DEVICE_NOT_FOUND ? table->platforms[i].code : CL_SUCCESS;
    }
    return code;
}

DYNSEL_RARE static dynsel_status refuse_empty(const char *text, const char *function,
                                              const choice *result)
{
    dynsel_error error = {
        .status = DYNSEL_E_NO_RESOURCE,
        .number = table->found,
        .function = DYNSEL_TEXT(function),
        .detail = DYNSEL_TEXT(why_empty(result)),
    };
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)result;
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
    choice result;
    const dynsel_status status = choose(NULL, "dynsel_opencl_backend", &result);
    (void)backend;
    *count = 0;
    if (status != DYNSEL_OK) {
        return status;
    }
    /* The policy refuses devices that are too old, and counts them. */
    *count = list_chosen(&result, CONFIG_DYNSEL_ASPECTS, resources, capacity);
    return *count != 0 ? DYNSEL_OK : refuse_empty(NULL, "dynsel_policy_init", &result);
}

DYNSEL_RARE dynsel_status dynsel_opencl_select(const char *selector, dynsel_resource *resources,
                                               size_t capacity, size_t *count)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (count == NULL || (resources == NULL && capacity > 0)) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "resources or count is NULL");
    }
    choice result;
    *count = 0;
    const dynsel_status status = choose(selector, __func__, &result);
    if (status != DYNSEL_OK) {
        return status;
    }
    *count = list_chosen(&result, false, resources, capacity);
    if (*count == 0) {
        return refuse_empty(selector, __func__, &result);
    }
    if (*count > capacity) {
        return DYNSEL_FAIL_NUMBER(DYNSEL_E_FULL, "{} devices are chosen: give more room", *count);
    }
    return DYNSEL_OK;
}

/* The explanation of a verdict, for display on one line. */
typedef struct reason {
    char text[2 * DYNSEL_OPENCL_NAME_BYTES];
} reason;

static void append(reason *why, const char *text)
{
    dynsel_text_append(why->text, sizeof(why->text), dynsel_text_slice_of(text));
}

static void append_failure(reason *why, const char *text, const char *function, cl_int code)
{
    append(why, text);
    append(why, function);
    append(why, ": ");
    append(why, dynsel_opencl_code_name(code));
}

/* The platform in which the same physical device is chosen. */
static const char *platform_of_twin(const entry *device, const choice *result)
{
    for (uint32_t i = 0; i < table->found; i++) {
        if ((device->twins & bit(i)) != 0 && result->verdicts[i] == DYNSEL_OPENCL_CHOSEN) {
            return table->platforms[table->entries[i].platform].name;
        }
    }
    return "another one"; /* the twin fits the alternative, but has another index */
}

static void explain(reason *why, const entry *device, const choice *result)
{
    switch (result->verdicts[device - table->entries]) {
    case DYNSEL_OPENCL_CHOSEN:
        append(why, "the selector fits");
        append(why, device->has_compiler ? "" : "; it has no compiler, only binaries run");
        break;
    case DYNSEL_OPENCL_DUPLICATE:
        append(why, "the same physical device counts through platform ");
        append(why, platform_of_twin(device, result));
        break;
    case DYNSEL_OPENCL_EMULATOR:
        append(why, "it is an emulator, and the selector has no term `emulator`");
        break;
    case DYNSEL_OPENCL_UNAVAILABLE:
        if (device->available) {
            append_failure(why, "it could not be opened: ", device->failed_function,
                           device->failed_code);
        } else {
            append(why, "its driver says that it is not available");
        }
        break;
    case DYNSEL_OPENCL_TOO_OLD:
        append(why, device->too_old);
        break;
    case DYNSEL_OPENCL_LOST:
        append_failure(why, "it was lost: ", device->failed_function, device->failed_code);
        break;
    case DYNSEL_OPENCL_NOT_SELECTED:
    case DYNSEL_OPENCL_NO_DEVICE:
        append(why, "the selector does not fit");
        break;
    }
}

static void visit_device(const entry *device, const choice *result, dynsel_opencl_visitor visitor,
                         void *context)
{
    reason raw = {""};
    reason why;
    explain(&raw, device, result);
    (void)dynsel_printable(raw.text, why.text, sizeof(why.text));
    const dynsel_opencl_device_info info = {
        .name = device->name,
        .vendor = device->vendor,
        .platform = dynsel_opencl_platform_name(device),
        .driver_version = device->driver_version,
        .version = device->version,
        .type = dynsel_opencl_type_name(device->type),
        .device = device->device,
        .compute_units = device->compute_units,
        .memory_bytes = device->memory_bytes,
        .memory_domain = dynsel_opencl_domain_of(device),
        .resource = {&dynsel_opencl_backend, (void *)device},
        .verdict = result->verdicts[device - table->entries],
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
        append_failure(&why, "the platform does not list its devices: ", "clGetDeviceIDs",
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

DYNSEL_RARE dynsel_status dynsel_opencl_visit_devices(const char *selector,
                                                      dynsel_opencl_visitor visitor, void *context)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (visitor == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "visitor is NULL");
    }
    choice result;
    const dynsel_status status = choose(selector, __func__, &result);
    if (status != DYNSEL_OK && status != DYNSEL_E_FULL) {
        return status;
    }
    /* Without the lock, so that the visitor may call this backend; the table changes only at
     * dynsel_opencl_close(). */
    uint32_t next = 0;
    for (uint32_t i = 0; i < table->platform_count; i++) {
        if (table->platforms[i].device_count == 0) {
            visit_empty_platform(&table->platforms[i], visitor, context);
        }
        for (; next < table->found && table->entries[next].platform == i; next++) {
            visit_device(&table->entries[next], &result, visitor, context);
        }
    }
    return status;
}
