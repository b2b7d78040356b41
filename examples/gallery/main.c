/* SPDX-License-Identifier: Apache-2.0 */
/** gallery: filters a stream of pictures on everything in the machine, and remembers for the next
 * run what is fast where. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../common/build_progress.h"
#include "../common/log.h"
#include "learned.h"
#include "options.h"
#include "pictures.h"
#include "report.h"
#include "resources.h"
#include "stream.h"

static dynsel_earliest_finish_policy policy; /* never moves once it is initialized */
static pictures all_pictures;
static stream_result result;
static uint64_t alone_ns[CONFIG_DYNSEL_MAX_RESOURCES];

/** The compilers of the devices run here, and not in the time that is measured. */
static bool prepare_filters(void)
{
    const dynsel_kernel *kernels[FILTER_COUNT];
    uint64_t since_ns = dynsel_now_ns();

    for (int i = 0; i < FILTER_COUNT; i++) {
        kernels[i] = &filters[i];
    }
    if (dynsel_kernel_prepare(&policy.policy, kernels, FILTER_COUNT, build_progress, &since_ns) ==
        DYNSEL_OK) {
        return true;
    }
    log_dynsel_error("a device cannot run the filters; leave it out with DYNSEL_OPENCL or --only");
    return false;
}

static bool start_policy(const dynsel_resource *table, size_t count)
{
    const dynsel_options chosen = {.resources = table, .count = count};

    if (dynsel_earliest_finish_init(&policy, &chosen) != DYNSEL_OK) {
        log_dynsel_error("the policy cannot be initialized");
        return false;
    }
    return true;
}

static bool stop_policy(void)
{
    if (dynsel_policy_deinit(&policy.policy) == DYNSEL_OK) {
        return true;
    }
    log_dynsel_error("the policy cannot be ended");
    return false;
}

static stream_options stream_options_of(const options *o)
{
    return (stream_options){.repeat = o->repeat};
}

/** Runs the stream on each resource alone. */
static bool run_alone(const options *o, const resources *r)
{
    const stream_options how = stream_options_of(o);
    bool is_good = true;

    for (size_t i = 0; i < r->count && is_good; i++) {
        trace_file_mark("alone", (uint32_t)i);
        is_good = start_policy(&r->table[i], 1);
        if (is_good) {
            is_good = prepare_filters() && stream_run(&policy.policy, &all_pictures, &how, &result);
            is_good = stop_policy() && is_good;
            alone_ns[i] = result.wall_ns;
        }
    }
    return is_good;
}

static void report_head(const options *o, const resources *r, const learned *l)
{
    char name[4096];

    printf("Pictures  %u, %.1f Mpixel, shown %u time%s, %u results in flight\n", all_pictures.count,
           (double)all_pictures.pixels / 1e6, o->repeat, o->repeat == 1 ? "" : "s", o->in_flight);
    if (o->learned != NULL && l->loaded.kinds == 0) {
        printf("Learned   %s: nothing known yet\n",
               dynsel_printable(o->learned, name, sizeof name));
    } else if (o->learned != NULL) {
        printf("Learned   table loaded from %s: %u kinds; %s\n",
               dynsel_printable(o->learned, name, sizeof name), l->loaded.kinds,
               l->is_settled ? "settled" : "some devices or filters are new");
    }
    printf("%s%s\n", r->note != NULL ? r->note : "", r->note != NULL ? "\n" : "");
}

static void report(const options *o, const resources *r, const learned *l)
{
    report_head(o, r, l);
    if (o->compare) {
        report_comparison(r, alone_ns, result.wall_ns, result.first.pixels + result.rest.pixels);
    }
    report_shares(r, &result);
    report_parts(&result);
    printf("\nAll results are equal to the reference.\n");
}

static bool write_results(const options *o)
{
    static stream_result unused;
    char name[4096];
    stream_options how = stream_options_of(o);

    how.repeat = 1;
    how.folder = o->output;
    if (!stream_run(&policy.policy, &all_pictures, &how, &unused)) {
        return false;
    }
    printf("Written: %u pictures to %s\n", all_pictures.count * FILTER_COUNT,
           dynsel_printable(o->output, name, sizeof name));
    return true;
}

static bool save(const options *o, learned *l)
{
    dynsel_learned_report saved;
    char name[4096];

    if (o->learned == NULL) {
        return true;
    }
    if (!learned_save(l, &policy, &saved)) {
        return false;
    }
    printf("Learned: %u kinds on %u devices, kept in %s\n", saved.kinds, saved.devices,
           dynsel_printable(o->learned, name, sizeof name));
    return true;
}

/** The stream on all resources, and what comes of it. */
static bool run_together(const options *o, const resources *r, learned *l)
{
    const stream_options how = stream_options_of(o);

    trace_file_mark("together", 0);
    if (!prepare_filters()) {
        return false;
    }
    if (o->learned != NULL) {
        learned_load(l, &policy);
    }
    if (!stream_run(&policy.policy, &all_pictures, &how, &result)) {
        return false;
    }
    report(o, r, l);
    return save(o, l) && (o->output == NULL || write_results(o));
}

static bool is_folder(const char *path)
{
    struct stat about;

    if (path == NULL || (stat(path, &about) == 0 && S_ISDIR(about.st_mode))) {
        return true;
    }
    log_error("--output %s: there is no such folder; make it first", path);
    return false;
}

static bool run(const options *o, const resources *r, learned *l)
{
    if (!is_folder(o->output) || !pictures_read(&all_pictures, o->operands, o->operand_count) ||
        (o->learned != NULL && !learned_open(l, o->learned)) ||
        !stream_open(&all_pictures, o->in_flight) || (o->compare && !run_alone(o, r)) ||
        !start_policy(r->table, r->count)) {
        return false;
    }
    const bool is_good = run_together(o, r, l);
    return stop_policy() && is_good;
}

static int run_and_close(const options *o)
{
    static resources r;
    learned l = {.file = {.descriptor = -1}};
    int status = resources_find(&r) ? EXIT_SUCCESS : EXIT_FAILURE;

    if (status == EXIT_SUCCESS && o->only != NULL) {
        status = resources_choose(&r, o->only);
    }
    if (status == EXIT_SUCCESS) {
        status = run(o, &r, &l) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    learned_close(&l);
    if (!resources_close() && status == EXIT_SUCCESS) {
        status = EXIT_FAILURE;
    }
    if (status == EXIT_SUCCESS) { /* else a device that was lost may still write to them */
        stream_close();
        pictures_free(&all_pictures);
    }
    return status;
}

static int run_traced(const options *o)
{
    int status = trace_file_begin(log_program(), o->trace, o->trace_records);

    if (status == EXIT_SUCCESS) {
        status = run_and_close(o);
        if (trace_file_end() != EXIT_SUCCESS && status == EXIT_SUCCESS) {
            status = EXIT_FAILURE;
        }
    }
    return status;
}

int main(int argc, char **argv)
{
    static options o;

    log_prepare("gallery");
    int status = options_parse(&o, argc, argv);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    log_progress_enable();
    if (o.help) {
        options_help();
    } else {
        status = run_traced(&o);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
