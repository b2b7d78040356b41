/* SPDX-License-Identifier: Apache-2.0 */
#include "resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/arguments.h"
#include "../common/log.h"

static dynsel_earliest_finish_policy scout; /* of the default set, to know what that is */

static const char *note_of(const resources *r, size_t refused)
{
#if CONFIG_DYNSEL_BACKEND_OPENCL
    for (size_t i = 0; i < r->count; i++) {
        if (r->table[i].backend == &dynsel_opencl_backend) {
            return refused > 0 ? "A device was left out; dynsel-info says why." : NULL;
        }
    }
    if (refused > 0) {
        return "All OpenCL devices were left out; dynsel-info says why.";
    }
    return getenv("DYNSEL_OPENCL") != NULL
               ? "No OpenCL device fits DYNSEL_OPENCL: the host does all the work."
               : "No OpenCL device was found: the host does all the work.";
#else
    (void)r;
    (void)refused;
    return "dynsel is built without its OpenCL backend: the host does all the work.";
#endif
}

bool resources_find(resources *r)
{
    const dynsel_options options = {.defaults = DYNSEL_WORKERS_AND_DEVICES};
    size_t found = 0;
    size_t refused = 0;

    *r = (resources){0};
    r->table[r->count++] = (dynsel_resource){.backend = &dynsel_inline_backend};
    if (dynsel_earliest_finish_init(&scout, &options) != DYNSEL_OK) {
        log_dynsel_error("the resources cannot be found; see dynsel-info");
        return false;
    }
    const dynsel_resource *table = dynsel_get_resources(&scout.policy, &found);
    for (size_t i = 0; i < found && r->count < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        r->numbers[r->count] = r->count;
        r->table[r->count++] = table[i];
    }
#if CONFIG_DYNSEL_ASPECTS
    refused = dynsel_refused_count(&scout.policy);
#endif
    r->note = note_of(r, refused);
    if (dynsel_policy_deinit(&scout.policy) != DYNSEL_OK) {
        log_dynsel_error("the resources cannot be given back");
        return false;
    }
    return true;
}

/** "0 host, 1 worker 0" */
static void list(const resources *r, char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < r->count && used < size; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%zu %s", i == 0 ? "" : ", ", i,
                                 dynsel_resource_name(&r->table[i]));
    }
}

/* Whether the table shows the name so: its begin and its end, with two dots between them. */
static bool is_shown_as(const char *name, const char *shown)
{
    const char *dots = strstr(shown, "..");
    if (dots == NULL) {
        return false;
    }
    const size_t length = strlen(name);
    const size_t head = (size_t)(dots - shown);
    const size_t tail = strlen(dots + 2);
    return head + tail < length && strncmp(name, shown, head) == 0 &&
           strcmp(name + length - tail, dots + 2) == 0;
}

static size_t count_fitting(const resources *r, const char *only, bool in_part, size_t *found)
{
    size_t fitting = 0;

    for (size_t i = 0; i < r->count; i++) {
        const char *name = dynsel_resource_name(&r->table[i]);
        if (in_part ? strstr(name, only) != NULL || is_shown_as(name, only)
                    : strcmp(name, only) == 0) {
            *found = i;
            fitting++;
        }
    }
    return fitting;
}

int resources_choose(resources *r, const char *only)
{
    char all[2000];
    uint32_t number = 0;
    size_t found = 0;
    size_t fitting = 1;

    if (arguments_number(only, strlen(only), 0, (uint32_t)r->count - 1, &number)) {
        found = number;
    } else {
        fitting = count_fitting(r, only, false, &found);
        fitting = fitting > 0 ? fitting : count_fitting(r, only, true, &found);
    }
    if (fitting != 1) {
        list(r, all, sizeof all);
        return arguments_wrong("--only %.100s: %s; give a number or name of: %.300s", only,
                               fitting == 0 ? "no such resource" : "several resources are named so",
                               all);
    }
    r->table[0] = r->table[found];
    r->numbers[0] = found;
    r->count = 1;
    r->note = NULL;
    return EXIT_SUCCESS;
}

bool resources_close(void)
{
    bool is_closed = dynsel_threads_stop() == DYNSEL_OK;

#if CONFIG_DYNSEL_BACKEND_OPENCL
    is_closed = dynsel_opencl_close() == DYNSEL_OK && is_closed;
#endif
    if (!is_closed) {
        log_dynsel_error("the devices cannot be given back");
    }
    return is_closed;
}
