/* SPDX-License-Identifier: Apache-2.0 */
#include "resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/log.h"

static void add_host(resources *r)
{
    r->table[r->count++] = (dynsel_resource){.backend = &dynsel_inline_backend};
}

#if CONFIG_DYNSEL_BACKEND_OPENCL

/* How wide the columns of the list are, and what stands in them. */
typedef struct listing {
    bool measuring; /* first the devices are only measured, then printed */
    int name, platform;
    unsigned index;
    unsigned devices;
    bool with_devices;
} listing;

/** Why policies would not take the device; NULL when they would. Until the next call. */
static const char *refusal_of(const dynsel_resource *resource)
{
#if CONFIG_DYNSEL_ASPECTS
    static char text[512];

    if (dynsel_resource_prove(resource) != DYNSEL_OK) {
        dynsel_error error = *dynsel_last_error();
        error.function = NULL; /* the list says it in its own words */
        error.subject = NULL;
        dynsel_error_text(&error, text, sizeof text);
        return text;
    }
#else
    (void)resource;
#endif
    return NULL;
}

/** NULL: the library's default, which the environment may set. */
static const char *selector_of(const options *o)
{
    return o->devices_given ? o->selector : NULL;
}

static void count_devices(const dynsel_opencl_device_info *info, void *context)
{
    *(unsigned *)context += info->device != NULL ? 1 : 0;
}

static unsigned number_of_devices(void)
{
    unsigned devices = 0;

    return dynsel_opencl_visit_devices("all", count_devices, &devices) == DYNSEL_OK ? devices : 0;
}

/** Where the choice comes from that `o` and the environment made. */
static void describe_choice(const options *o, char *origin, size_t size)
{
    const char *variable = getenv("DYNSEL_OPENCL");

    if (o->devices_given) {
        snprintf(origin, size, "--device '%s'", o->selector);
    } else if (variable != NULL && variable[strspn(variable, " \t")] != '\0') {
        snprintf(origin, size, "the environment variable DYNSEL_OPENCL");
    } else {
        snprintf(origin, size, "the OpenCL devices");
    }
}

static int fail_selector(const options *o, dynsel_status status)
{
    dynsel_error error = *dynsel_last_error();
    char origin[1100];
    char text[512];

    describe_choice(o, origin, sizeof origin);
    error.function = NULL; /* who uses this program does not know it */
    dynsel_error_text(&error, text, sizeof text);
    if (status == DYNSEL_E_INVALID) {
        log_error("%s: %s (see sepia --help)", origin, text);
        return EXIT_USAGE;
    }
    bool all_known = number_of_devices() > 0;
    if (status == DYNSEL_E_NO_RESOURCE && all_known) {
        log_error("%s: it fits none of the OpenCL devices; see sepia --list", origin);
    } else if (status == DYNSEL_E_FULL && all_known) {
        log_error("%s: too many for %d resources; choose fewer with --device, or raise "
                  "CONFIG_DYNSEL_MAX_RESOURCES",
                  origin, CONFIG_DYNSEL_MAX_RESOURCES);
    } else {
        log_error("%s: %s; see sepia --list", origin, text);
    }
    return EXIT_FAILURE;
}

static void count_unselected(const dynsel_opencl_device_info *info, void *context)
{
    *(unsigned *)context += info->verdict == DYNSEL_OPENCL_NOT_SELECTED ? 1 : 0;
}

/** Whether nothing is there at all, in contrast to nothing that the environment's selector fits. */
static bool nothing_to_select(void)
{
    unsigned unselected = 0;

    return dynsel_opencl_visit_devices(NULL, count_unselected, &unselected) == DYNSEL_OK &&
           unselected == 0;
}

/** Devices that are not what this build was told stay out, unless they were asked for by name. */
static void leave_refused_out(resources *r, size_t first, size_t found)
{
    for (size_t i = first; i < first + found; i++) {
        if (refusal_of(&r->table[i]) == NULL) {
            r->table[r->count++] = r->table[i];
        } else {
            r->note = "A device was left out; sepia --list says why.";
        }
    }
}

static int add_devices(resources *r, const options *o)
{
    size_t found = 0;
    dynsel_status status = dynsel_opencl_select(selector_of(o), r->table + r->count,
                                                CONFIG_DYNSEL_MAX_RESOURCES - r->count, &found);

    if (status == DYNSEL_E_NO_RESOURCE && !o->devices_given && nothing_to_select()) {
        r->note = "No OpenCL device was found: the host does all the work.";
        return 0;
    }
    if (status != DYNSEL_OK) {
        return fail_selector(o, status);
    }
    if (o->devices_given) {
        r->count += found;
    } else {
        leave_refused_out(r, r->count, found);
    }
    return 0;
}

static int configure(void)
{
    dynsel_opencl_options with_times = {.queue_properties = CL_QUEUE_PROFILING_ENABLE};

    if (dynsel_opencl_configure(&with_times) == DYNSEL_OK) {
        return 0;
    }
    log_dynsel_error("the OpenCL backend cannot be configured");
    return EXIT_FAILURE;
}

int resources_choose(resources *r, const options *o)
{
    *r = (resources){0};
    if (o->host || !o->devices_given) {
        add_host(r);
    }
    if (o->devices_given && !o->opencl) {
        return 0;
    }
    int status = configure();
    return status == 0 ? add_devices(r, o) : status;
}

static int wider(int width, const char *text)
{
    int length = (int)strlen(text);

    return length > width ? length : width;
}

static void print_row(const listing *l, const char *index, const char *name, const char *type,
                      const char *platform, const char *reason)
{
    printf("%3s  %-*s  %-11s  %-*s  %s\n", index, l->name, name, type, l->platform, platform,
           reason);
}

static void list_device(const dynsel_opencl_device_info *info, void *context)
{
    listing *l = context;
    char index[16] = "-";

    l->devices++;
    if (l->measuring) {
        l->name = wider(l->name, info->name);
        l->platform = wider(l->platform, info->platform);
        return;
    }
    char name[128], platform[128];
    bool fits = info->verdict == DYNSEL_OPENCL_CHOSEN;
    const char *reason = fits && l->with_devices ? refusal_of(&info->resource) : NULL;
    bool chosen = fits && l->with_devices && reason == NULL;
    if (chosen) {
        snprintf(index, sizeof index, "%u", l->index++);
    }
    if (reason == NULL && fits) {
        reason = chosen ? "chosen" : "not chosen: --device asks for the host only";
    } else if (reason == NULL) {
        reason = info->reason;
    }
    print_row(l, index, dynsel_printable(info->name, name, sizeof name), info->type,
              dynsel_printable(info->platform, platform, sizeof platform), reason);
}

int resources_list(const options *o)
{
    bool host = o->host || !o->devices_given;
    listing l = {.measuring = true,
                 .with_devices = !o->devices_given || o->opencl,
                 .name = 6,
                 .platform = 8,
                 .index = host ? 1 : 0};
    const char *selector = l.with_devices ? selector_of(o) : NULL;

    if (dynsel_opencl_visit_devices(selector, list_device, &l) != DYNSEL_OK) {
        return fail_selector(o, dynsel_last_error()->status);
    }
    unsigned devices = l.devices;
    l.measuring = false;
    print_row(&l, "#", "Device", "Type", "Platform", "Verdict");
    print_row(&l, host ? "0" : "-", "host", "cpu", "-",
              host ? "chosen" : "not chosen: --device does not name it");
    if (dynsel_opencl_visit_devices(selector, list_device, &l) != DYNSEL_OK) {
        return fail_selector(o, dynsel_last_error()->status);
    }
    if (devices == 0) {
        printf("No OpenCL device was found.\n");
    }
    return 0;
}

bool resources_close(void)
{
    if (dynsel_opencl_close() == DYNSEL_OK) {
        return true;
    }
    log_dynsel_error("the devices cannot be given back");
    return false;
}

#else /* no OpenCL backend */

#define NO_OPENCL "dynsel is built without its OpenCL backend"

int resources_choose(resources *r, const options *o)
{
    *r = (resources){.note = o->devices_given ? NULL : NO_OPENCL ": the host does all the work."};
    add_host(r);
    if (o->opencl) {
        log_error("--device: " NO_OPENCL "; only host is there");
        return EXIT_FAILURE;
    }
    return 0;
}

int resources_list(const options *o)
{
    (void)o;
    printf("  #  Device\n  0  host\n" NO_OPENCL ".\n");
    return 0;
}

bool resources_close(void)
{
    return true;
}

#endif
