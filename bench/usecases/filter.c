/* SPDX-License-Identifier: Apache-2.0 */
/* An image filter over a folder of real pictures, with every policy. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "filter_kernel.h"
#include "log.h"
#include "memory.h"
#include "passes.h"
#include "pictures.h"

static const char *const ABOUT =
    "Softens and tones the pictures of a folder (*.ppm; pictures.py makes them of PNG files), one "
    "task "
    "for each\npicture, all of them in flight: from the host's memory to the host's memory. "
    "Every pixel is\nchecked against plain C.";

enum { MOST = CONFIG_DYNSEL_MAX_BUFFERS / 2 < 64 ? CONFIG_DYNSEL_MAX_BUFFERS / 2 : 64 };

static const char *folder;

static struct {
    uint64_t radius;
    uint64_t passes;
} own = {.radius = 3, .passes = 10};

static const argument own_options[] = {
    {.name = "--pictures", .value = "FOLDER", .help = "folder with *.ppm files", .text = &folder},
    {"--radius", "N", "radius of the softening, in pixels", &own.radius, 0, 32, NULL},
    {"--passes", "N", "passes with each policy", &own.passes, 1, 10000, NULL},
    PASSES_OPTIONS,
    {.name = NULL}};

typedef struct job {
    uint8_t *result;
    uint8_t *expected;
    dynsel_accessor read;
    dynsel_accessor written;
} job;

static usecase_options options = {.seed = 1, .workers = 1};
static resources all;
static picture pictures[MOST];
static job jobs[MOST];
static size_t count;

static dynsel_status filter_on_host(const dynsel_launch *launch)
{
    filter_all(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
               DYNSEL_LAUNCH_VALUE(launch, 2, int), DYNSEL_LAUNCH_VALUE(launch, 3, int),
               DYNSEL_LAUNCH_VALUE(launch, 4, int));
    return DYNSEL_OK;
}

static const dynsel_kernel filter = {
    .name = "filter",
    .id = 1,
    .function = filter_on_host,
    .source = FILTER_SOURCE,
};

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const size_t number = *(const size_t *)args;
    const picture *p = &pictures[number];
    const job *j = &jobs[number];
    const int values[] = {(int)p->width, (int)p->height, (int)own.radius};
    dynsel_require(handler, &j->read);
    dynsel_require(handler, &j->written);
    dynsel_set_arg_accessor(handler, 0, &j->read);
    dynsel_set_arg_accessor(handler, 1, &j->written);
    for (uint32_t i = 0; i < 3; i++) {
        dynsel_set_arg_value(handler, 2 + i, &values[i], sizeof values[i]);
    }
    dynsel_set_key(handler, filter.id, (const uint32_t[]){p->width, p->height}, 2);
    return dynsel_parallel_for(handler, &filter, DYNSEL_RANGE_2D(p->height, p->width), NULL, NULL);
}

static dynsel_accessor open_buffer(void *memory, size_t bytes, dynsel_access_mode mode,
                                   const char *name)
{
    dynsel_buffer buffer = {0};
    log_check(dynsel_buffer_init(&buffer, memory, 1, DYNSEL_RANGE(bytes)) == DYNSEL_OK,
              "dynsel_buffer_init");
    return (dynsel_accessor){
        .name = name, .buffer = buffer, .mode = (uint8_t)mode, .placeholder = true};
}

static void open_job(const picture *p, job *j)
{
    const size_t bytes = picture_bytes(p);
    *j = (job){.result = memory_allocate(bytes), .expected = memory_allocate(bytes)};
    filter_all(p->rgb, j->expected, (int)p->width, (int)p->height, (int)own.radius);
    j->read = open_buffer(p->rgb, bytes, DYNSEL_ACCESS_READ, "picture");
    j->written = open_buffer(j->result, bytes, DYNSEL_ACCESS_DISCARD_WRITE, "result");
}

static void touch(dynsel_buffer buffer, dynsel_access_mode mode, bool clears)
{
    dynsel_host_accessor seen = {0};
    log_check(dynsel_host_accessor_open(&seen, buffer, mode) == DYNSEL_OK, "a picture");
    if (clears) {
        (void)memset(seen.data, 0, seen.bytes);
    }
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "a picture");
}

/* Makes the copies on devices out of date, as if the pictures were new. */
static void renew(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < count; i++) {
        touch(jobs[i].read.buffer, DYNSEL_ACCESS_WRITE, false);
        touch(jobs[i].written.buffer, DYNSEL_ACCESS_DISCARD_WRITE, true);
    }
}

static void run(dynsel_policy *policy, void *unused)
{
    (void)unused;
    for (size_t i = 0; i < count; i++) {
        log_check(dynsel_submit_command_group(policy, group, &i, NULL) == DYNSEL_OK,
                  pictures[i].name);
    }
    log_check(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK, "filter");
    for (size_t i = 0; i < count; i++) {
        touch(jobs[i].written.buffer, DYNSEL_ACCESS_READ, false);
    }
}

static void check(const char *policy, void *unused)
{
    (void)unused;
    for (size_t i = 0; i < count; i++) {
        dynsel_host_accessor seen = {0};
        log_check(dynsel_host_accessor_open(&seen, jobs[i].written.buffer, DYNSEL_ACCESS_READ) ==
                      DYNSEL_OK,
                  "a picture");
        if (memcmp(seen.data, jobs[i].expected, seen.bytes) != 0) {
            log_exit(STATUS_FAILED,
                     "a wrong result: filter, %s of %" PRIu32 " x %" PRIu32 " pixels, by %s",
                     pictures[i].name, pictures[i].width, pictures[i].height, policy);
        }
        log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "a picture");
    }
}

static double open_all(void)
{
    double megapixels = 0;
    count = pictures_read(folder, pictures, MOST);
    for (size_t i = 0; i < count; i++) {
        open_job(&pictures[i], &jobs[i]);
        megapixels += (double)pictures[i].width * pictures[i].height / 1e6;
    }
    return megapixels;
}

static void close_all(void)
{
    for (size_t i = 0; i < count; i++) {
        log_check(dynsel_buffer_deinit(&jobs[i].read.buffer) == DYNSEL_OK, "deinit");
        log_check(dynsel_buffer_deinit(&jobs[i].written.buffer) == DYNSEL_OK, "deinit");
        free(pictures[i].rgb);
        free(jobs[i].result);
        free(jobs[i].expected);
    }
}

int main(int argc, char **argv)
{
    usecase_options_parse(argc, argv, ABOUT, own_options, &options);
    resources_find(&all, &options, options.workers == 0, 2);
    const double megapixels = open_all();
    csv_open(&options, argc, argv);
    printf("%zu pictures\n", count);
    passes_measure(&(passes_work){.before = renew,
                                  .run = run,
                                  .after = check,
                                  .name = "filter",
                                  .unit = "Mpixel",
                                  .units = megapixels},
                   &all, (uint32_t)own.passes);
    close_all();
    resources_close();
    csv_close();
    return 0;
}
