/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of drivers are not trusted: names are empty or have blanks around them, and some drivers
 * answer unknown queries with arbitrary values. */
#include "backends/opencl/device_info.h"

#include <string.h>

#include "base/fail.h"
#include "base/text_slice.h"
#include "port/likely.h"

enum { NEEDED_VERSION = 1 << 16 | 2 }; /* major and minor number in one */

/* cl_khr_device_uuid and cl_khr_pci_bus_info: missing in the headers of some systems. */
enum { QUERY_UUID = 0x106A, QUERY_PCI_BUS_INFO = 0x410F };

/* Longer than all known texts, lists of extensions included: a driver never fills in a part. */
static char answer[4096];

static void keep_answer(char *to, size_t bytes, cl_int code, const char *unknown)
{
    dynsel_text_slice text = {answer, 0};
    if (code == CL_SUCCESS) {
        answer[sizeof(answer) - 1] = '\0';
        text = dynsel_text_trim(dynsel_text_slice_of(answer));
    }
    if (text.length == 0) {
        text = dynsel_text_slice_of(unknown);
    }
    dynsel_text_copy(to, bytes, text);
}

static void read_platform(cl_platform_id platform, cl_platform_info what, char *to, size_t bytes,
                          const char *unknown)
{
    answer[0] = '\0';
    keep_answer(to, bytes, clGetPlatformInfo(platform, what, sizeof(answer), answer, NULL),
                unknown);
}

void dynsel_opencl_describe_platform(dynsel_opencl_platform *platform)
{
    read_platform(platform->id, CL_PLATFORM_NAME, platform->name, sizeof(platform->name),
                  "unnamed platform");
    read_platform(platform->id, CL_PLATFORM_VERSION, platform->version, sizeof(platform->version),
                  "unknown");
}

static cl_int ask(cl_device_id device, cl_device_info what)
{
    answer[0] = '\0';
    return clGetDeviceInfo(device, what, sizeof(answer), answer, NULL);
}

static void read_text(cl_device_id device, cl_device_info what, char *to, size_t bytes,
                      const char *unknown)
{
    keep_answer(to, bytes, ask(device, what), unknown);
}

const char *dynsel_opencl_read_answer(cl_device_id device, cl_device_info what)
{
    if (ask(device, what) != CL_SUCCESS) {
        answer[0] = '\0';
    }
    answer[sizeof(answer) - 1] = '\0';
    return answer;
}

char *dynsel_opencl_room_for_answer(size_t *bytes)
{
    *bytes = sizeof(answer);
    return answer;
}

bool dynsel_opencl_read_value(cl_device_id device, cl_device_info what, void *to, size_t bytes)
{
    size_t answered = bytes;
    (void)memset(to, 0, bytes);
    const cl_int code = clGetDeviceInfo(device, what, bytes, to, &answered);
    if (code != CL_SUCCESS || answered != bytes) {
        (void)memset(to, 0, bytes);
        return false;
    }
    return true;
}

static bool any_byte(const void *bytes, size_t count)
{
    const unsigned char *const from = bytes;
    for (size_t i = 0; i < count; i++) {
        if (from[i] != 0) {
            return true;
        }
    }
    return false;
}

/* Queried without a check of the extension list: drivers that lack the extension refuse the query,
 * or answer with zeros only. */
static void read_hardware(cl_device_id device, dynsel_opencl_hardware *hardware)
{
    hardware->has_uuid =
        dynsel_opencl_read_value(device, QUERY_UUID, hardware->uuid, sizeof(hardware->uuid)) &&
        any_byte(hardware->uuid, sizeof(hardware->uuid));
    hardware->has_pci = dynsel_opencl_read_value(device, QUERY_PCI_BUS_INFO, hardware->pci,
                                                 sizeof(hardware->pci)) &&
                        any_byte(hardware->pci, sizeof(hardware->pci));
}

/* Reads one to three digits; returns the text after them, or NULL. */
static const char *read_number(const char *text, uint32_t *number)
{
    uint32_t digits = 0;
    *number = 0;
    while (digits <= 3 && text[digits] >= '0' && text[digits] <= '9') {
        *number = *number * 10 + (uint32_t)(text[digits++] - '0');
    }
    return digits >= 1 && digits <= 3 ? text + digits : NULL;
}

/* Parses "OpenCL <major>.<minor>[ <vendor's text>]", see NEEDED_VERSION; 0: another text. */
static uint32_t version_of(const char *text)
{
    static const char front[] = "OpenCL ";
    uint32_t major = 0;
    uint32_t minor = 0;
    if (strncmp(text, front, sizeof(front) - 1) != 0) {
        return 0;
    }
    text = read_number(text + sizeof(front) - 1, &major);
    if (text == NULL || *text != '.') {
        return 0;
    }
    text = read_number(text + 1, &minor);
    return text != NULL && (*text == ' ' || *text == '\0') ? major << 16 | minor : 0;
}

static void append_reason(dynsel_opencl_entry *entry, const char *text)
{
    dynsel_text_append(entry->too_old, sizeof(entry->too_old), dynsel_text_slice_of(text));
}

/* Functions belong to the platform and operate on the device, so both versions count; without a
 * version of the platform, the device's counts alone. Writes `too_old`. */
static void check_version(dynsel_opencl_entry *entry)
{
    const char *const platform_text = dynsel_opencl_platform_version(entry);
    const uint32_t platform = version_of(platform_text);
    const uint32_t device = version_of(entry->version);
    entry->too_old[0] = '\0';
    if (device >= NEEDED_VERSION && (platform >= NEEDED_VERSION || platform == 0)) {
        return;
    }
    if (device == 0) {
        append_reason(entry, "its driver does not tell which OpenCL it has (");
        append_reason(entry, entry->version);
    } else if (device < NEEDED_VERSION) {
        append_reason(entry, "its OpenCL is too old (");
        append_reason(entry, entry->version);
    } else {
        append_reason(entry, "its platform's OpenCL is too old (");
        append_reason(entry, platform_text);
    }
    append_reason(entry, "), and 1.2 is needed: update the driver");
    /* In the detail of an error `{}` is a placeholder. */
    for (char *c = entry->too_old; *c != '\0'; c++) {
        if (*c == '{') {
            *c = '(';
        }
    }
}

bool dynsel_opencl_is_unified(cl_device_id device)
{
    cl_bool unified = CL_FALSE;
    (void)dynsel_opencl_read_value(device, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified,
                                   sizeof(unified));
    return unified != CL_FALSE;
}

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

DYNSEL_RARE void dynsel_opencl_describe_device(dynsel_opencl_entry *entry)
{
    const cl_device_id device = entry->device;
    const char *const platform = dynsel_opencl_platform_name(entry);
    cl_bool available = CL_FALSE;
    cl_bool compiler = CL_FALSE;
    const bool known =
        dynsel_opencl_read_value(device, CL_DEVICE_TYPE, &entry->type, sizeof(entry->type)) &&
        dynsel_opencl_read_value(device, CL_DEVICE_AVAILABLE, &available, sizeof(available));
    entry->available = known && available != CL_FALSE;
    (void)dynsel_opencl_read_value(device, CL_DEVICE_COMPILER_AVAILABLE, &compiler,
                                   sizeof(compiler));
    entry->has_compiler = compiler != CL_FALSE;
    (void)dynsel_opencl_read_value(device, CL_DEVICE_VENDOR_ID, &entry->vendor_id,
                                   sizeof(entry->vendor_id));
    (void)dynsel_opencl_read_value(device, CL_DEVICE_MAX_COMPUTE_UNITS, &entry->compute_units,
                                   sizeof(entry->compute_units));
    (void)dynsel_opencl_read_value(device, CL_DEVICE_GLOBAL_MEM_SIZE, &entry->memory_bytes,
                                   sizeof(entry->memory_bytes));
    read_text(device, CL_DEVICE_NAME, entry->name, sizeof(entry->name), "unnamed device");
    (void)dynsel_printable(entry->name, entry->label, sizeof(entry->label));
    read_text(device, CL_DEVICE_VENDOR, entry->vendor, sizeof(entry->vendor), "unknown vendor");
    read_text(device, CL_DRIVER_VERSION, entry->driver_version, sizeof(entry->driver_version),
              "unknown");
    read_text(device, CL_DEVICE_VERSION, entry->version, sizeof(entry->version), "unknown");
    check_version(entry);
    read_hardware(device, &entry->hardware);
    entry->emulator = is_emulator(entry->name) || is_emulator(platform);
    const bool is_nvidia = strcmp(platform, "NVIDIA CUDA") == 0;
    const bool is_pocl = strcmp(platform, "Portable Computing Language") == 0;
    /* Driver 580 on an H200 completes a kernel 20 us after its enqueue, without a flush. PoCL gives
     * a command to the processors, or runs it, when it is enqueued or its last dependency ends. */
    entry->begins_unflushed = is_nvidia || (is_pocl && (entry->type & CL_DEVICE_TYPE_CPU) != 0);
    entry->has_dear_events = is_nvidia; /* 1.5 of 5.5 us on an H200 */
    entry->pins_memory =
        is_nvidia && (entry->type & CL_DEVICE_TYPE_GPU) != 0 && !dynsel_opencl_is_unified(device);
    const bool is_basic = is_pocl && strncmp(entry->name, "basic", strlen("basic")) == 0;
    /* the name of `basic` since PoCL 4 */
    const bool is_minimal =
        is_pocl && strncmp(entry->name, "cpu-minimal", strlen("cpu-minimal")) == 0;
    entry->runs_in_caller = is_basic || is_minimal;
    /* PoCL 3.1 runs a command in the thread that completed its last dependency, and this thread
     * holds a lock that the command needs. */
    entry->hangs_on_events = is_basic;
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

const char *dynsel_opencl_type_name(cl_device_type type)
{
    static const struct {
        cl_device_type bit;
        const char *name;
    } names[] = {
        {CL_DEVICE_TYPE_GPU, "gpu"},
        {CL_DEVICE_TYPE_CPU, "cpu"},
        {CL_DEVICE_TYPE_ACCELERATOR, "accelerator"},
        {CL_DEVICE_TYPE_CUSTOM, "custom"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((type & names[i].bit) != 0) {
            return names[i].name;
        }
    }
    return "unknown";
}
