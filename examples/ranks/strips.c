/* SPDX-License-Identifier: Apache-2.0 */
#include "strips.h"

#include <stdio.h>

#include "../common/log.h"
#include "../common/trace_file.h"
#include "../sepia/tone.h"

#define LOOK_NS        200000                      /* so often it looks which strips are complete */
#define EACH_IN_FLIGHT 4                           /* strips for each resource */
#define ATTEMPTS       CONFIG_DYNSEL_MAX_RESOURCES /* for a strip, then it has failed */

/** A strip in flight. */
typedef struct piece {
    bool is_in_flight;
    uint32_t strip;
    uint32_t attempts;
    uint32_t queued_on; /* the resource that `queued` counts it for */
    uint64_t number;    /* the oldest has the smallest */
    dynsel_buffer result;
    dynsel_submission submission;
} piece;

static struct {
    dynsel_policy *policy;
    const dynsel_resource *resources;
    size_t resource_count;
    const picture *source;
    picture *result;
    uint32_t rows, count;
    dynsel_buffer sources[STRIPS_MAX];
    piece pieces[STRIPS_MAX_IN_FLIGHT];
    uint32_t in_flight;
    uint64_t begun;
    uint32_t queued[CONFIG_DYNSEL_MAX_RESOURCES]; /* strips in flight */
    uint64_t since_ns[CONFIG_DYNSEL_MAX_RESOURCES];
    strips_result *out;
    bool has_failed;
} work;

static dynsel_status tone_strip(const dynsel_launch *launch)
{
    tone_pixels(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
                DYNSEL_LAUNCH_VALUE(launch, 2, uint32_t));
    return DYNSEL_OK;
}

const dynsel_kernel strips_kernel = {
    .name = "sepia", .function = tone_strip, .source = tone_source, .id = 1};

uint32_t strips_count(const picture *source, uint32_t *rows)
{
    const uint32_t needed = (source->height + STRIPS_MAX - 1) / STRIPS_MAX;

    if (*rows == 0) {
        *rows = needed > STRIPS_ROWS ? needed : STRIPS_ROWS;
    }
    if (*rows < needed) {
        log_error("--rows %u: %u rows are more than %d strips; use --rows %u or more, or build "
                  "dynsel with more CONFIG_DYNSEL_MAX_BUFFERS",
                  *rows, source->height, STRIPS_MAX, needed);
        return 0;
    }
    return (source->height + *rows - 1) / *rows;
}

/* Only the first failure is told: it is the cause. */
static bool failed(uint32_t strip, const char *what)
{
    if (!work.has_failed) {
        char text[100];
        snprintf(text, sizeof text, "strip %u: %s", strip, what);
        log_dynsel_error(text);
    }
    work.has_failed = true;
    return false;
}

static uint32_t rows_of(uint32_t strip)
{
    const uint32_t rest = work.source->height - strip * work.rows;

    return rest < work.rows ? rest : work.rows;
}

static uint32_t pixels_of(uint32_t strip)
{
    return rows_of(strip) * work.source->width;
}

static uint8_t *strip_of(const picture *p, uint32_t strip)
{
    return p->pixels + (size_t)strip * work.rows * p->width * PICTURE_CHANNELS;
}

static dynsel_status open_buffer(dynsel_buffer *buffer, const picture *p, uint32_t strip)
{
    return dynsel_buffer_init(buffer, strip_of(p, strip), PICTURE_CHANNELS,
                              DYNSEL_RANGE(pixels_of(strip)));
}

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const piece *p = args;
    const uint32_t pixels = pixels_of(p->strip);
    dynsel_accessor in;
    dynsel_accessor out;

    dynsel_get_access(handler, work.sources[p->strip], DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL,
                      &in);
    dynsel_get_access(handler, p->result, DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &out);
    dynsel_set_arg_accessor(handler, 0, &in);
    dynsel_set_arg_accessor(handler, 1, &out);
    dynsel_set_arg_value(handler, 2, &pixels, sizeof pixels);
#if CONFIG_DYNSEL_REPEAT
    dynsel_set_repeatable(handler); /* where its device fails, the library tries another one */
#endif
    return dynsel_parallel_for(handler, &strips_kernel, DYNSEL_RANGE(pixels), NULL, NULL);
}

/* Whether another attempt may succeed: the device failed, or its rank with the result. */
static bool may_try_again(dynsel_status status)
{
    return status == DYNSEL_E_DEVICE || status == DYNSEL_E_OUT_OF_SERVICE ||
           status == DYNSEL_E_GIVEN_UP || status == DYNSEL_E_DEPENDENCY;
}

/* Fails where a device that was given up may still use the memory. */
static void end_buffer(dynsel_buffer *buffer)
{
    if (buffer->token != 0 && dynsel_buffer_discard(buffer) != DYNSEL_OK) {
        work.out->is_memory_used = true;
    }
}

static dynsel_status submit(piece *p)
{
    dynsel_status status = DYNSEL_OK;

    p->submission = (dynsel_submission){0};
    strip_of(work.result, p->strip)[0] ^= UINT8_MAX; /* work that does nothing shall not pass */
    status = open_buffer(&p->result, work.result, p->strip);
    if (status == DYNSEL_OK) {
        status = dynsel_submit_command_group(work.policy, group, p, &p->submission);
    }
    if (status != DYNSEL_OK) {
        end_buffer(&p->result);
    }
    return status;
}

/* Submits a strip, again if its device fails at once. */
static bool begin(piece *p)
{
    const uint64_t began_ns = log_now_ns();
    dynsel_status status = submit(p);

    while (may_try_again(status) && ++p->attempts < ATTEMPTS) {
        work.out->again++;
        status = submit(p);
    }
    if (status != DYNSEL_OK) {
        return failed(p->strip, "it cannot be submitted");
    }
    p->is_in_flight = true;
    p->queued_on = p->submission.index;
    if (work.queued[p->queued_on]++ == 0) {
        work.since_ns[p->queued_on] = began_ns;
    }
    return true;
}

/* Takes the result of a strip that is complete. where: the resource that did it. */
static bool collect(piece *p, uint32_t where, dynsel_status status)
{
    p->is_in_flight = false;
    if (--work.queued[p->queued_on] == 0) {
        work.out->shares[p->queued_on].busy_ns += log_now_ns() - work.since_ns[p->queued_on];
    }
    if (status == DYNSEL_OK) {
        status = dynsel_buffer_deinit(&p->result); /* copies it back */
    }
    end_buffer(&p->result);
    if (status == DYNSEL_OK) {
        work.out->shares[where].strips++;
        work.out->strips++;
        work.out->pixels += pixels_of(p->strip);
        return true;
    }
    if (may_try_again(status) && !work.has_failed && ++p->attempts < ATTEMPTS) {
        work.out->again++;
        return begin(p);
    }
    return failed(p->strip, dynsel_resource_name(&work.resources[where]));
}

/** Takes what is complete; waits a moment for the oldest strip, if nothing is. */
static bool collect_some(void)
{
    piece *oldest = NULL;
    bool is_good = true;
    bool has_some = false;

    for (uint32_t i = 0; i < work.in_flight; i++) {
        piece *p = &work.pieces[i];
        if (p->is_in_flight && dynsel_submission_poll(&p->submission) == DYNSEL_OK) {
            const uint32_t where = p->submission.index;
            is_good = collect(p, where, dynsel_wait(&p->submission)) && is_good;
            has_some = true;
        } else if (p->is_in_flight && (oldest == NULL || p->number < oldest->number)) {
            oldest = p;
        }
    }
    if (!has_some && oldest != NULL) {
        const uint32_t where = oldest->submission.index;
        const dynsel_status status = dynsel_wait_for(&oldest->submission, LOOK_NS);
        is_good = status == DYNSEL_E_TIMEOUT || collect(oldest, where, status);
    }
    return is_good;
}

/* NULL: all are in flight. */
static piece *find_piece(bool is_in_flight)
{
    for (uint32_t i = 0; i < work.in_flight; i++) {
        if (work.pieces[i].is_in_flight == is_in_flight) {
            return &work.pieces[i];
        }
    }
    return NULL;
}

/* A pass ends before the next begins, which writes the same memory. */
static bool run_pass(uint64_t done_before)
{
    bool is_good = true;

    for (uint32_t strip = 0; strip < work.count && is_good; strip++) {
        piece *p = find_piece(false);
        while (p == NULL && is_good) {
            is_good = collect_some();
            p = find_piece(false);
        }
        if (is_good) {
            *p = (piece){.strip = strip, .number = work.begun++};
            is_good = begin(p);
        }
        log_progress(done_before + strip);
    }
    while (find_piece(true) != NULL) {
        is_good = collect_some() && is_good;
    }
    return is_good;
}

static bool open_sources(void)
{
    for (uint32_t strip = 0; strip < work.count; strip++) {
        if (open_buffer(&work.sources[strip], work.source, strip) != DYNSEL_OK) {
            return failed(strip, "no buffer for it");
        }
    }
    return true;
}

bool strips_run(dynsel_policy *policy, const picture *source, picture *result, uint32_t rows,
                uint32_t passes, strips_result *out)
{
    work.policy = policy;
    work.resources = dynsel_get_resources(policy, &work.resource_count);
    work.source = source;
    work.result = result;
    work.rows = rows;
    work.count = (source->height + rows - 1) / rows;
    work.in_flight = EACH_IN_FLIGHT * (uint32_t)work.resource_count;
    if (work.in_flight > STRIPS_MAX_IN_FLIGHT) {
        work.in_flight = STRIPS_MAX_IN_FLIGHT;
    }
    work.out = out;
    *out = (strips_result){0};
    log_progress_begin("Toning", "strips", (uint64_t)work.count * passes);
    bool is_good = open_sources();
    const uint64_t began_ns = log_now_ns();
    for (uint32_t i = 0; i < passes && is_good; i++) {
        trace_file_mark("pass", i + 1);
        is_good = run_pass((uint64_t)i * work.count);
    }
    out->wall_ns = log_now_ns() - began_ns;
    log_progress_end();
    for (uint32_t strip = 0; strip < work.count; strip++) {
        end_buffer(&work.sources[strip]);
    }
    return is_good;
}
