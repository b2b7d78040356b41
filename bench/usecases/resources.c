/* SPDX-License-Identifier: Apache-2.0 */
#include "resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../examples/common/build_progress.h"
#include "../../examples/common/trace_file.h"
#include "log.h"

static void add_workers(resources *r, uint64_t workers)
{
    size_t count = 0;
    if (workers != 0) {
        log_check(dynsel_threads_start((size_t)workers) == DYNSEL_OK, "--workers");
        log_check(dynsel_threads_resources(&r->table[r->count], RESOURCES_MOST - r->count,
                                           &count) == DYNSEL_OK,
                  "--workers");
        r->count += count;
    }
}

static void add_devices(resources *r, const char *selector)
{
    size_t count = 0;
    char text[512];
    if (selector != NULL && strcmp(selector, "none") == 0) {
        return;
    }
    const dynsel_status status =
        dynsel_opencl_select(selector, &r->table[r->count], RESOURCES_MOST - r->count, &count);
    if (status == DYNSEL_OK) {
        r->count += count;
        return;
    }
    (void)dynsel_error_text(NULL, text, sizeof text);
    if (status != DYNSEL_E_NO_RESOURCE || selector != NULL) {
        log_exit(STATUS_USAGE, "--devices: %s", text);
    }
}

/* Equal devices have equal names. */
static void name_them(resources *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const char *name = dynsel_resource_name(&r->table[i]);
        size_t before = 0;
        size_t all = 0;
        for (size_t k = 0; k < r->count; k++) {
            const bool equal = strcmp(dynsel_resource_name(&r->table[k]), name) == 0;
            before += equal && k < i ? 1 : 0;
            all += equal ? 1 : 0;
        }
        (void)snprintf(r->names[i], sizeof r->names[i], all > 1 ? "%.60s #%zu" : "%.60s", name,
                       before);
    }
}

void resources_find(resources *r, const usecase_options *options, bool host, size_t least)
{
    *r = (resources){0};
    const int status =
        trace_file_begin(log_program(), options->trace, (uint32_t)options->trace_records);
    if (status != 0) {
        exit(status);
    }
    if (host) {
        r->table[r->count++] = (dynsel_resource){.backend = &dynsel_inline_backend};
    }
    add_workers(r, options->workers);
    r->first_device = r->count;
    add_devices(r, options->devices);
    name_them(r);
    if (r->count == 0) {
        log_exit(STATUS_USAGE,
                 "there is no OpenCL device; give some --workers, or install a driver "
                 "(Debian: pocl-opencl-icd)");
    }
    if (r->count < least) {
        log_exit(STATUS_USAGE,
                 "a policy needs two resources, and there is only %s; add --workers, or "
                 "another OpenCL device",
                 r->names[0]);
    }
}

static void tell_progress(const dynsel_kernel *kernel, const dynsel_resource *where,
                          dynsel_status status, size_t done, size_t total, void *context)
{
    build_progress(kernel, where, status, done, total, context);
    if (status != DYNSEL_OK) {
        char text[512];
        (void)dynsel_error_text(NULL, text, sizeof text);
        log_exit(STATUS_FAILED, "%s cannot be built for %s: %s", kernel->name,
                 dynsel_resource_name(where), text);
    }
}

void resources_prepare(const resources *r, dynsel_fixed_resource_policy *fixed,
                       const dynsel_kernel *const *kernels, size_t count)
{
    const dynsel_options options = {.resources = r->table, .count = r->count};
    uint64_t since_ns = dynsel_now_ns();
    for (size_t i = 0; i < r->count; i++) {
        log_check(dynsel_fixed_resource_init(&fixed[i], &options, i) == DYNSEL_OK,
                  "dynsel_fixed_resource_init");
    }
    log_check(dynsel_kernel_prepare(&fixed[0].policy, kernels, count, tell_progress, &since_ns) ==
                  DYNSEL_OK,
              "dynsel_kernel_prepare");
}

void resources_close(void)
{
    log_check(dynsel_threads_stop() == DYNSEL_OK, "dynsel_threads_stop");
    log_check(dynsel_opencl_close() == DYNSEL_OK, "dynsel_opencl_close");
    if (trace_file_end() != 0) {
        exit(STATUS_FAILED);
    }
}
