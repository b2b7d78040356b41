/* SPDX-License-Identifier: Apache-2.0 */
/** sepia: tones a photograph, each tile on the device that a policy of dynsel picks for it. */
#include <stdio.h>
#include <stdlib.h>

#include "../common/log.h"
#include "../common/output.h"
#include "../common/picture.h"
#include "device.h"
#include "options.h"
#include "policies.h"
#include "reference.h"
#include "report.h"
#include "resources.h"
#include "sepia.h"
#include "tiles.h"
#include "tone.h"
#include "work.h"

static sepia_job job; /* large, and of fixed size: not on the stack */
static picture source, result;

static dynsel_policy *start_policy(const options *o, const resources *r)
{
    dynsel_options table = {.resources = r->table, .count = r->count};

    if (o->offset >= r->count) {
        log_error("--policy %s:%zu: the highest index is %zu; see sepia --list",
                  policies_name((size_t)o->policy), o->offset, r->count - 1);
        return NULL;
    }
    dynsel_policy *policy = policies_start(o->policy, &table, o->offset);
    if (policy == NULL) {
        log_dynsel_error("the policy cannot be initialized");
        return NULL;
    }
    job.resources = dynsel_get_resources(policy, &job.resource_count);
    return policy;
}

static bool read_input(const options *o)
{
    if (!picture_read(&source, o->input)) {
        return false;
    }
    job.width = source.width;
    job.height = source.height;
    if (!tiles_cut(&job, o->tile_width, o->tile_height, o->input) ||
        !picture_like(&result, &source)) {
        return false;
    }
    job.source = source.pixels;
    job.result = result.pixels;
    return true;
}

static bool is_right(reference_difference found)
{
    const sepia_tile *tile = tiles_at(&job, found.x, found.y);

    if (found.largest <= TONE_TOLERANCE) {
        return true;
    }
    log_error("a wrong result, nothing is written: pixel %u,%u differs by %d of 255 from the "
              "reference; it comes from %s, leave that out with --device",
              found.x, found.y, found.largest,
              dynsel_resource_name(&job.resources[tile->resource]));
    return false;
}

static void report(const options *o, const resources *r, reference_difference found)
{
    static char name[4096];

    printf("Picture  %s, %u x %u pixels\n", dynsel_printable(o->input, name, sizeof name),
           job.width, job.height);
    printf("Tiles    %u of %u x %u", job.tile_count, job.tile_width, job.tile_height);
    if (o->repeat > 1) {
        printf(", %u times", o->repeat);
    }
    printf(", placed by %s\n", policies_name((size_t)o->policy));
    if (r->note != NULL) {
        printf("%s\n", r->note);
    }
    printf("\n");
    report_table(&job);
    printf("\nLargest difference from the reference: %d of 255.\nWritten: %s\n", found.largest,
           dynsel_printable(o->output, name, sizeof name));
}

static bool tone(const options *o, const resources *r, dynsel_policy *policy, FILE *file)
{
    if (!device_prepare(&job) || !work_run(&job, policy, o->repeat)) {
        return false;
    }
    reference_difference found = reference_compare(&source, &result);
    if (!is_right(found) || !picture_write(&result, file, o->output) || !output_commit()) {
        return false;
    }
    if (!o->quiet) {
        report(o, r, found);
    }
    return true;
}

/* A device that was lost in the middle of its work may still write to them. */
static bool keep_pictures;

static bool stop_policy(dynsel_policy *policy)
{
    bool in_service[CONFIG_DYNSEL_MAX_RESOURCES] = {false};

    for (size_t i = 0; i < job.resource_count; i++) {
        in_service[i] = dynsel_resource_in_service(policy, i) == DYNSEL_OK;
    }
    device_release(&job, in_service);
    for (size_t i = 0; i < job.resource_count; i++) {
        keep_pictures = keep_pictures || !in_service[i];
    }
    if (dynsel_policy_deinit(policy) != DYNSEL_OK) {
        log_dynsel_error("the policy cannot be ended");
        return false;
    }
    return true;
}

static int run(const options *o)
{
    resources r;
    int status = resources_choose(&r, o);
    dynsel_policy *policy = status == 0 ? start_policy(o, &r) : NULL;

    if (policy == NULL) {
        return status == 0 ? EXIT_FAILURE : status;
    }
    FILE *file = read_input(o) ? output_open(o->output) : NULL;
    bool toned = file != NULL && tone(o, &r, policy, file);
    output_discard();
    bool stopped = stop_policy(policy);
    return toned && stopped ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_or_list(const options *o)
{
    int status = trace_file_begin(log_program(), o->trace, o->trace_records);

    if (status == 0) {
        status = o->list ? resources_list(o) : run(o);
    }
    if (!resources_close() && status == 0) {
        status = EXIT_FAILURE;
    }
    if (trace_file_end() != EXIT_SUCCESS && status == 0) {
        status = EXIT_FAILURE;
    }
    if (!keep_pictures) {
        picture_free(&source);
        picture_free(&result);
    }
    return status;
}

int main(int argc, char **argv)
{
    static options o;

    log_prepare("sepia");
    int status = options_parse(&o, argc, argv);

    if (status != 0) {
        return status;
    }
    if (!o.quiet) {
        log_progress_enable();
    }
    if (o.help) {
        options_help();
    } else {
        status = run_or_list(&o);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
