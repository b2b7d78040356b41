/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <stdio.h>
#include <string.h>

#include "../common/log.h"
#include "../common/output.h"
#include "reference.h"

#define LOOK_NS 200000 /* so often it looks which pieces are complete */

/** A piece of work in flight, and the memory of its result. */
typedef struct piece {
    bool is_in_flight;
    uint64_t number; /* in the stream */
    pictures_entry *entry;
    filter_kind filter;
    picture result; /* the memory stays from piece to piece */
    picture memory;
    dynsel_buffer buffer;
    dynsel_submission submission;
} piece;

static struct {
    dynsel_policy *policy;
    const dynsel_resource *resources;
    const stream_options *options;
    stream_result *result;
    piece pieces[STREAM_MAX_IN_FLIGHT];
    uint32_t in_flight;
    uint32_t queued[CONFIG_DYNSEL_MAX_RESOURCES]; /* pieces in flight */
    uint64_t since_ns[CONFIG_DYNSEL_MAX_RESOURCES];
    bool has_failed;
} stream;

static bool failed(const piece *p, const char *what)
{
    char text[600];

    if (!stream.has_failed) { /* the first is the cause */
        snprintf(text, sizeof text, "%s: %s: %s", p->entry->path, filters[p->filter].name, what);
        log_dynsel_error(text);
    }
    stream.has_failed = true;
    return false;
}

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const piece *p = args;
    const picture *source = &p->entry->source;
    const int32_t sides[] = {(int32_t)source->width, (int32_t)source->height};
    dynsel_accessor in;
    dynsel_accessor out;

    dynsel_get_access(handler, p->entry->buffer, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &in);
    dynsel_get_access(handler, p->buffer, DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &out);
    dynsel_set_arg_accessor(handler, 0, &in);
    dynsel_set_arg_accessor(handler, 1, &out);
    dynsel_set_arg_value(handler, 2, &sides[0], sizeof sides[0]);
    dynsel_set_arg_value(handler, 3, &sides[1], sizeof sides[1]);
    dynsel_set_key(handler, filters[p->filter].id, NULL, 0); /* as dynsel-learned shows it */
    return dynsel_parallel_for(handler, &filters[p->filter],
                               DYNSEL_RANGE_2D(source->height, source->width), NULL, NULL);
}

static dynsel_status open_buffer(dynsel_buffer *buffer, const picture *p)
{
    return dynsel_buffer_init(buffer, p->pixels, PICTURE_CHANNELS,
                              DYNSEL_RANGE_2D(p->height, p->width));
}

/** A picture has one buffer, however many filters work on it. */
static dynsel_status open_buffers(piece *p)
{
    const dynsel_status status =
        p->entry->users == 0 ? open_buffer(&p->entry->buffer, &p->entry->source) : DYNSEL_OK;

    p->entry->users++;
    return status == DYNSEL_OK ? open_buffer(&p->buffer, &p->result) : status;
}

/** The result is in the host's memory afterwards. */
static bool close_buffers(piece *p)
{
    dynsel_status status = DYNSEL_OK;

    if (p->buffer.token != 0) {
        status = dynsel_buffer_deinit(&p->buffer);
    }
    if (status != DYNSEL_OK) {
        (void)failed(p, "its result does not come back");
    }
    p->entry->users--;
    if (p->entry->users == 0 && p->entry->buffer.token != 0 &&
        dynsel_buffer_deinit(&p->entry->buffer) != DYNSEL_OK) {
        return failed(p, "its buffer cannot be ended");
    }
    return status == DYNSEL_OK;
}

static stream_part *part_of(const piece *p)
{
    return p->number / FILTER_COUNT < STREAM_FIRST_PICTURES ? &stream.result->first
                                                            : &stream.result->rest;
}

/** Counts a piece that was submitted: where, and why there. */
static void count_piece(const piece *p, uint64_t began_ns)
{
    const uint32_t where = p->submission.index;
    const dynsel_reason reason = dynsel_submission_reason(&p->submission);
    stream_share *share = &stream.result->shares[where];
    const uint64_t pixels = (uint64_t)p->result.width * p->result.height;
    const bool is_trial = reason == DYNSEL_REASON_PROFILING || reason == DYNSEL_REASON_EXPLORING;

    share->pieces[p->filter]++;
    share->pixels += pixels;
    share->trials += is_trial ? 1 : 0;
    part_of(p)->pieces++;
    part_of(p)->pixels += pixels;
    part_of(p)->trials += is_trial ? 1 : 0;
    if (stream.queued[where]++ == 0) {
        stream.since_ns[where] = began_ns;
    }
}

static bool begin(piece *p, pictures_entry *entry, filter_kind filter, uint64_t number)
{
    const uint64_t began_ns = log_now_ns();

    p->entry = entry;
    p->filter = filter;
    p->number = number;
    p->result = entry->source;
    p->result.pixels = p->memory.pixels;
    p->result.pixels[0] ^= UINT8_MAX; /* a filter that does nothing shall not pass as right */
    p->submission = (dynsel_submission){0};
    if (open_buffers(p) != DYNSEL_OK) {
        (void)failed(p, "no buffer for it");
        (void)close_buffers(p);
        return false;
    }
    if (dynsel_submit_command_group(stream.policy, group, p, &p->submission) != DYNSEL_OK) {
        (void)failed(p, "it cannot be submitted");
        (void)close_buffers(p);
        return false;
    }
    p->is_in_flight = true;
    count_piece(p, began_ns);
    return true;
}

static bool is_right(const piece *p)
{
    picture wanted = {0};

    if (reference_sum(&p->result) == p->entry->expected[p->filter]) {
        return true;
    }
    if (!stream.has_failed && picture_like(&wanted, &p->entry->source)) {
        reference_make(&p->entry->source, p->filter, &wanted);
        const size_t pixel = reference_first_difference(&p->result, &wanted);
        log_error("%s: a wrong result of %s: pixel %zu,%zu differs from the reference; it comes "
                  "from %s, try the others with --only",
                  p->entry->path, filters[p->filter].name, pixel % wanted.width,
                  pixel / wanted.width,
                  dynsel_resource_name(&stream.resources[p->submission.index]));
        picture_free(&wanted);
    }
    stream.has_failed = true;
    return false;
}

/** FOLDER/NAME-FILTER.png */
static bool write_result(const piece *p)
{
    char path[4096];
    const char *slash = strrchr(p->entry->path, '/');
    const char *name = slash == NULL ? p->entry->path : slash + 1;
    const size_t length = strlen(name);
    const bool has_suffix = length > 4 && strcmp(name + length - 4, ".png") == 0;
    const int wanted =
        snprintf(path, sizeof path, "%s/%.*s-%s.png", stream.options->folder,
                 (int)(has_suffix ? length - 4 : length), name, filters[p->filter].name);

    if ((size_t)wanted >= sizeof path) {
        log_error("%s: the name of its result is too long", p->entry->path);
        return false;
    }
    FILE *file = output_open(path);
    if (file == NULL) {
        return false;
    }
    if (picture_write(&p->result, file, path) && output_commit()) {
        return true;
    }
    output_discard();
    return false;
}

/** Takes the result of a piece that was waited for. status: what the wait returned. */
static bool collect(piece *p, uint32_t where, dynsel_status status)
{
    p->submission.index = where;
    p->is_in_flight = false;
    if (--stream.queued[where] == 0) {
        stream.result->shares[where].busy_ns += log_now_ns() - stream.since_ns[where];
    }
    if (status != DYNSEL_OK) {
        (void)failed(p, dynsel_resource_name(&stream.resources[where]));
    }
    const bool is_good = close_buffers(p) && status == DYNSEL_OK && is_right(p);
    if (is_good && stream.options->folder != NULL && !stream.has_failed) {
        stream.has_failed = !write_result(p);
    }
    return is_good && !stream.has_failed;
}

/** Takes what is complete; waits a moment for the oldest piece, if nothing is. */
static bool collect_some(void)
{
    piece *oldest = NULL;
    bool is_good = true;
    bool has_some = false;

    for (uint32_t i = 0; i < stream.in_flight; i++) {
        piece *p = &stream.pieces[i];
        const uint32_t where = p->submission.index;
        if (p->is_in_flight && dynsel_submission_poll(&p->submission) == DYNSEL_OK) {
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

static piece *free_piece(void)
{
    for (uint32_t i = 0; i < stream.in_flight; i++) {
        if (!stream.pieces[i].is_in_flight) {
            return &stream.pieces[i];
        }
    }
    return NULL;
}

static bool any_in_flight(void)
{
    for (uint32_t i = 0; i < stream.in_flight; i++) {
        if (stream.pieces[i].is_in_flight) {
            return true;
        }
    }
    return false;
}

/** Begins all pieces, each as soon as there is a place for it. */
static bool flow(pictures *p, uint64_t count, uint64_t began_ns)
{
    bool is_good = true;

    for (uint64_t number = 0; is_good && number < count; number++) {
        const uint64_t position = number / FILTER_COUNT;
        piece *place = free_piece();
        while (place == NULL && is_good) {
            is_good = collect_some();
            place = free_piece();
        }
        if (position == STREAM_FIRST_PICTURES && number % FILTER_COUNT == 0) {
            stream.result->first.ns = log_now_ns() - began_ns;
        }
        is_good = is_good && begin(place, &p->entries[position % p->count],
                                   (filter_kind)(number % FILTER_COUNT), number);
        log_progress(number);
    }
    return is_good;
}

bool stream_open(const pictures *p, uint32_t in_flight)
{
    stream.in_flight = in_flight;
    for (uint32_t i = 0; i < in_flight; i++) {
        if (!picture_like(&stream.pieces[i].memory, &p->entries[p->largest].source)) {
            return false;
        }
    }
    return true;
}

bool stream_run(dynsel_policy *policy, pictures *p, const stream_options *options,
                stream_result *result)
{
    const uint64_t count = (uint64_t)p->count * options->repeat * FILTER_COUNT;
    const uint64_t began_ns = log_now_ns();
    size_t resources = 0;

    stream.policy = policy;
    stream.resources = dynsel_get_resources(policy, &resources);
    stream.options = options;
    stream.result = result;
    stream.has_failed = false;
    *result = (stream_result){0};
    log_progress_begin("Filtering", "results", count);
    bool is_good = flow(p, count, began_ns);
    while (any_in_flight()) {
        is_good = collect_some() && is_good;
    }
    log_progress_end();
    result->wall_ns = log_now_ns() - began_ns;
    if (result->rest.pieces == 0) {
        result->first.ns = result->wall_ns;
    }
    result->rest.ns = result->wall_ns - result->first.ns;
    return is_good;
}

void stream_close(void)
{
    for (uint32_t i = 0; i < STREAM_MAX_IN_FLIGHT; i++) {
        picture_free(&stream.pieces[i].memory);
    }
}
