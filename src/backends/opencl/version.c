/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/version.h"

#include "base/fail.h"
#include "base/text_slice.h"

enum { NEEDED = 1 << 16 | 2 }; /* the major version above the minor one */

/* A number of one to three digits; where the text goes on behind it, or NULL. */
static const char *read_number(const char *text, uint32_t *number)
{
    uint32_t digits = 0;
    *number = 0;
    while (digits <= 3 && text[digits] >= '0' && text[digits] <= '9') {
        *number = *number * 10 + (uint32_t)(text[digits++] - '0');
    }
    return digits >= 1 && digits <= 3 ? text + digits : NULL;
}

/* Of "OpenCL <major>.<minor> <vendor's own>", as in NEEDED; 0: the text is another one. */
static uint32_t version_of(const char *text)
{
    static const char front[] = "OpenCL ";
    uint32_t major = 0;
    uint32_t minor = 0;
    for (size_t i = 0; i < sizeof(front) - 1; i++) {
        if (text[i] != front[i]) {
            return 0;
        }
    }
    text = read_number(text + sizeof(front) - 1, &major);
    if (text == NULL || *text != '.') {
        return 0;
    }
    text = read_number(text + 1, &minor);
    return text != NULL && (*text == ' ' || *text == '\0') ? major << 16 | minor : 0;
}

static void append(dynsel_opencl_entry *entry, const char *text)
{
    dynsel_text_append(entry->too_old, sizeof(entry->too_old), dynsel_text_slice_of(text));
}

/* In an error's detail braces have a meaning. */
static void part_braces(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '{') {
            *text = '(';
        }
    }
}

void dynsel_opencl_judge_version(dynsel_opencl_entry *entry)
{
    const char *const of_platform = dynsel_opencl_platform_version(entry);
    const uint32_t platform = version_of(of_platform);
    const uint32_t device = version_of(entry->version);
    entry->too_old[0] = '\0';
    if (device >= NEEDED && (platform >= NEEDED || platform == 0)) {
        return;
    }
    if (device == 0) {
        append(entry, "its driver does not tell which OpenCL it has (");
        append(entry, entry->version);
    } else {
        append(entry,
               device < NEEDED ? "its OpenCL is too old (" : "its platform's OpenCL is too old (");
        append(entry, device < NEEDED ? entry->version : of_platform);
    }
    append(entry, "), and 1.2 is needed: update the driver");
    part_braces(entry->too_old);
}

dynsel_status dynsel_opencl_refuse_old(const dynsel_opencl_entry *entry, const char *function)
{
    (void)entry; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)function;
    return dynsel_fail(&(const dynsel_error){
        .status = DYNSEL_E_UNSUPPORTED,
        .function = DYNSEL_TEXT(function),
        .subject = DYNSEL_TEXT(entry->name),
        .detail = DYNSEL_TEXT(entry->too_old),
    });
}
