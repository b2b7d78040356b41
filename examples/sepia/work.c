/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include "../common/log.h"
#include "../common/trace_file.h"
#include "device.h"
#include "host.h"
#include "tiles.h"

static const dynsel_task_form forms[] = {
    {&dynsel_inline_backend, host_form},
#if CONFIG_DYNSEL_BACKEND_OPENCL
    {&dynsel_opencl_backend, device_form},
#endif
};

/* One pass over the picture. */
typedef struct pass {
    sepia_job *job;
    dynsel_policy *policy;
    uint32_t seen;        /* tiles before this one are known to be complete */
    uint64_t done_before; /* tiles of earlier passes */
} pass;

/** Whether a failure to submit concerns devices only, so that the host can step in. */
static bool host_can_help(dynsel_status status)
{
    return status == DYNSEL_E_DEVICE || status == DYNSEL_E_OUT_OF_SERVICE;
}

static void count(sepia_job *job, const sepia_tile *tile)
{
    sepia_share *share = &job->shares[tile->resource];

    if (tile->state == SEPIA_DONE) {
        share->tiles++;
        share->pixels += (uint64_t)tile->width * tile->height;
        share->busy_ns += tile->busy_ns;
        share->untimed |= !tile->timed;
    } else if (tile->state == SEPIA_FAILED) {
        share->failures++;
    }
}

/** Nothing more is asked of a device that is out of service: the drivers of lost ones hang. */
static void look_at(const pass *p, sepia_tile *tile)
{
    if (tile->state == SEPIA_RUNNING &&
        dynsel_resource_in_service(p->policy, tile->resource) != DYNSEL_OK) {
        tile->state = SEPIA_FAILED;
        tile->first = tile->last = NULL;
    }
    device_look(tile);
}

/** Takes note of what is complete among the first `submitted` tiles, in order, without waiting. */
static void look(pass *p, uint32_t submitted)
{
    while (p->seen < submitted) {
        sepia_tile *tile = &p->job->tiles[p->seen];
        look_at(p, tile);
        if (tile->state == SEPIA_RUNNING) {
            return;
        }
        count(p->job, tile);
        p->seen++;
    }
}

/** After the wait for all work: tiles that are not marked complete have failed. */
static void look_at_rest(pass *p)
{
    look(p, p->job->tile_count);
    while (p->seen < p->job->tile_count) {
        p->job->tiles[p->seen].state = SEPIA_FAILED;
        look(p, p->job->tile_count);
    }
}

static bool submit_all(pass *p)
{
    sepia_job *job = p->job;
    dynsel_task task = {.forms = forms, .form_count = sizeof forms / sizeof *forms};

    for (uint32_t i = 0; i < job->tile_count; i++) {
        task.args = &job->tiles[i];
        dynsel_status status = dynsel_submit(p->policy, &task, NULL);
        if (status != DYNSEL_OK && !host_can_help(status)) {
            log_dynsel_error("a tile cannot be submitted");
            return false;
        }
        look(p, i + 1);
        log_progress(p->done_before + p->seen);
    }
    return true;
}

/** Does on the host what no device did. Returns how many tiles that were. */
static uint32_t redo(sepia_job *job)
{
    uint32_t redone = 0;

    for (uint32_t i = 0; i < job->tile_count; i++) {
        sepia_tile *tile = &job->tiles[i];
        if (tile->state != SEPIA_DONE) {
            job->redone.busy_ns += host_tone(tile);
            job->redone.pixels += (uint64_t)tile->width * tile->height;
            tile->state = SEPIA_DONE;
            redone++;
        }
    }
    job->redone.tiles += redone;
    return redone;
}

static bool run_pass(pass *p)
{
    char cause[400];
    bool submitted = submit_all(p);
    dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(p->policy));
    bool first_failure = p->job->redone.tiles == 0;

    dynsel_error_text(NULL, cause, sizeof cause);
    look_at_rest(p);
    if (!submitted) {
        return false;
    }
    uint32_t redone = redo(p->job);
    if (redone > 0 && first_failure) {
        log_error("%u tiles failed and are done again on the host: %s", redone, cause);
    } else if (redone == 0 && status != DYNSEL_OK) {
        log_error("waiting for the tiles failed: %s", cause);
        return false;
    }
    return true;
}

bool work_run(sepia_job *job, dynsel_policy *policy, uint32_t passes)
{
    bool complete = true;
    uint64_t start = log_now_ns();

    trace_file_name(&(dynsel_task){.forms = forms, .form_count = sizeof forms / sizeof *forms},
                    "tone a tile");
    log_progress_begin("Toning", "tiles", (uint64_t)job->tile_count * passes);
    for (uint32_t i = 0; i < passes && complete; i++) {
        pass p = {.job = job, .policy = policy, .done_before = (uint64_t)i * job->tile_count};
        tiles_reset(job);
        trace_file_mark("pass", i + 1);
        complete = run_pass(&p);
    }
    job->wall_ns = log_now_ns() - start;
    log_progress_end();
    return complete;
}
