/* SPDX-License-Identifier: Apache-2.0 */
/* bench/usecases/filter.c through StarPU. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/filter_kernel.h"
#include "../usecases/log.h"
#include "../usecases/memory.h"
#include "../usecases/pictures.h"
#include "starpu_peer.h"
#include "starpu_report.h"

enum { MOST = 64, READ = 0, WRITTEN = 1, BUFFERS = 2 };

static const char *folder;

static struct {
    uint64_t radius;
    uint64_t passes;
} own = {.radius = 3, .passes = 10};

static const argument own_options[] = {
    {.name = "--pictures", .value = "FOLDER", .help = "folder with *.ppm files", .text = &folder},
    {"--radius", "N", "radius of the softening, in pixels", &own.radius, 0, 32, NULL},
    {"--passes", "N", "of the work", &own.passes, 1, 10000, NULL},
    {.name = NULL}};

typedef struct job {
    uint8_t *result;
    uint8_t *expected;
    starpu_data_handle_t handles[BUFFERS];
    peer_call call;
} job;

static picture pictures[MOST];
static job jobs[MOST];
static size_t count;

static void filter_on_host(void *const data[], const peer_call *call)
{
    filter_all(data[READ], data[WRITTEN], call->values[0].i, call->values[1].i, call->values[2].i);
}

static peer_kernel filter = {
    .name = "filter",
    .source = FILTER_SOURCE,
    .host = filter_on_host,
    .buffers = BUFFERS,
    .values = 3,
    .modes = {STARPU_R, STARPU_W},
};

static void open_job(const picture *p, job *j)
{
    const size_t bytes = picture_bytes(p);
    *j = (job){.result = memory_allocate(bytes),
               .expected = memory_allocate(bytes),
               .call = {.kernel = &filter,
                        .values = {{.i = (int32_t)p->width},
                                   {.i = (int32_t)p->height},
                                   {.i = (int32_t)own.radius}},
                        .global = {p->width, p->height}}};
    filter_all(p->rgb, j->expected, (int)p->width, (int)p->height, (int)own.radius);
    j->handles[READ] = peer_register(p->rgb, bytes, 1);
    j->handles[WRITTEN] = peer_register(j->result, bytes, 1);
}

/* Makes the copies on devices out of date, as if the pictures were new. */
static void renew(void)
{
    for (size_t i = 0; i < count; i++) {
        peer_touch(jobs[i].handles[READ], STARPU_RW);
        peer_acquire(jobs[i].handles[WRITTEN], STARPU_W);
        (void)memset(jobs[i].result, 0, picture_bytes(&pictures[i]));
        starpu_data_release(jobs[i].handles[WRITTEN]);
    }
}

static void filter_pictures(void)
{
    for (size_t i = 0; i < count; i++) {
        peer_submit(&jobs[i].call, jobs[i].handles, 0);
    }
    starpu_task_wait_for_all();
    for (size_t i = 0; i < count; i++) {
        peer_touch(jobs[i].handles[WRITTEN], STARPU_R);
    }
}

static void check(void)
{
    for (size_t i = 0; i < count; i++) {
        peer_acquire(jobs[i].handles[WRITTEN], STARPU_R);
        if (memcmp(jobs[i].result, jobs[i].expected, picture_bytes(&pictures[i])) != 0) {
            log_exit(STATUS_FAILED,
                     "a wrong result: filter, %s of %" PRIu32 " x %" PRIu32 " pixels",
                     pictures[i].name, pictures[i].width, pictures[i].height);
        }
        starpu_data_release(jobs[i].handles[WRITTEN]);
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
    printf("%zu pictures\n", count);
    return megapixels;
}

static void close_all(void)
{
    for (size_t i = 0; i < count; i++) {
        starpu_data_unregister(jobs[i].handles[READ]);
        starpu_data_unregister(jobs[i].handles[WRITTEN]);
        free(pictures[i].rgb);
        free(jobs[i].result);
        free(jobs[i].expected);
    }
}

static void run(const peer_options *options)
{
    (void)options;
    peer_prepare(&filter);
    const double megapixels = open_all();
    peer_measure(&(peer_work){.before = renew,
                              .run = filter_pictures,
                              .after = check,
                              .name = "filter",
                              .unit = "Mpixel",
                              .units = megapixels},
                 own.passes);
    close_all();
    peer_release(&filter);
}

const peer_command peer_filter = {
    .name = "filter",
    .about = "Softens and tones the pictures of a folder, all of them in flight.\nOne task for "
             "each picture, from the host's memory to the host's memory. Every pixel is checked "
             "against\nplain C.",
    .own = own_options,
    .run = run};
