/* SPDX-License-Identifier: Apache-2.0 */
/* Asking drivers what they are. Answers are not trusted: names come with blanks around them or
 * empty, and unknown questions are answered with anything. */
#include "backends/opencl/describe.h"

#include <string.h>

#include <dynsel/error.h>

#include "backends/opencl/version.h"
#include "base/text_slice.h"

/* cl_khr_device_uuid and cl_khr_pci_bus_info: newer than the headers of some systems. */
enum { QUERY_UUID = 0x106A, QUERY_PCI_BUS_INFO = 0x410F };

/* Longer than any text seen, lists of extensions included; a driver refuses to fill in a part. */
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

/* Asked without a look at the list of extensions: who does not know the question refuses it. All
 * zero is what drivers fill in that have no answer. */
static void read_place(cl_device_id device, dynsel_opencl_place *place)
{
    place->has_uuid =
        dynsel_opencl_read_value(device, QUERY_UUID, place->uuid, sizeof(place->uuid)) &&
        any_byte(place->uuid, sizeof(place->uuid));
    place->has_pci =
        dynsel_opencl_read_value(device, QUERY_PCI_BUS_INFO, place->pci, sizeof(place->pci)) &&
        any_byte(place->pci, sizeof(place->pci));
}

void dynsel_opencl_describe_device(dynsel_opencl_entry *entry)
{
    const cl_device_id device = entry->device;
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
    dynsel_opencl_judge_version(entry);
    read_place(device, &entry->place);
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
