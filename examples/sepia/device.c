/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <stdio.h>
#include <string.h>

#include "../common/log.h"
#include "tone.h"

#define LOCAL_SIZE 64 /* given explicitly: some drivers compile a kernel anew for each size */

/* What one device works with. Its queue runs in order, so one pair of buffers serves all tiles: a
 * tile's write waits for the read of the tile before. Only one thread submits, so the kernel needs
 * no lock. */
typedef struct station {
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem in, out;
    size_t local_size;
} station;

static station stations[CONFIG_DYNSEL_MAX_RESOURCES];

/* The commands of one tile, for as long as they are being enqueued. */
typedef struct commands {
    const sepia_tile *tile;
    const station *at;
    cl_event events[3];
    size_t count;
} commands;

static size_t bytes_of(const sepia_tile *tile)
{
    return (size_t)tile->width * PICTURE_CHANNELS;
}

static dynsel_status note(commands *c, const char *function, cl_int code)
{
    c->count += code == CL_SUCCESS ? 1 : 0;
    return dynsel_opencl_check(function, code);
}

static dynsel_status write_tile(commands *c)
{
    const sepia_tile *tile = c->tile;
    size_t row = bytes_of(tile);
    const size_t buffer_origin[] = {0, 0, 0};
    const size_t origin[] = {(size_t)tile->x * PICTURE_CHANNELS, tile->y, 0};
    const size_t region[] = {row, tile->height, 1};
    cl_int code = clEnqueueWriteBufferRect(c->at->queue, c->at->in, CL_FALSE, buffer_origin, origin,
                                           region, row, 0, sepia_stride(tile->job), 0,
                                           tile->job->source, 0, NULL, &c->events[c->count]);

    return note(c, "clEnqueueWriteBufferRect", code);
}

static dynsel_status run_kernel(commands *c)
{
    cl_uint pixels = c->tile->width * c->tile->height;
    size_t local = c->at->local_size;
    size_t global = (pixels + local - 1) / local * local;
    cl_int code = clSetKernelArg(c->at->kernel, 2, sizeof pixels, &pixels);

    if (code != CL_SUCCESS) {
        return dynsel_opencl_check("clSetKernelArg", code);
    }
    code = clEnqueueNDRangeKernel(c->at->queue, c->at->kernel, 1, NULL, &global, &local, 0, NULL,
                                  &c->events[c->count]);
    return note(c, "clEnqueueNDRangeKernel", code);
}

static dynsel_status read_tile(commands *c)
{
    const sepia_tile *tile = c->tile;
    size_t row = bytes_of(tile);
    const size_t buffer_origin[] = {0, 0, 0};
    const size_t origin[] = {(size_t)tile->x * PICTURE_CHANNELS, tile->y, 0};
    const size_t region[] = {row, tile->height, 1};
    cl_int code = clEnqueueReadBufferRect(c->at->queue, c->at->out, CL_FALSE, buffer_origin, origin,
                                          region, row, 0, sepia_stride(tile->job), 0,
                                          tile->job->result, 0, NULL, &c->events[c->count]);

    return note(c, "clEnqueueReadBufferRect", code);
}

/** The first and the last event for device_look(): both or none. */
static dynsel_status keep_ends(const commands *c, sepia_tile *tile)
{
    cl_event first = c->events[0], last = c->events[c->count - 1];
    cl_int code = clRetainEvent(first);

    if (code != CL_SUCCESS) {
        return dynsel_opencl_check("clRetainEvent", code);
    }
    code = clRetainEvent(last);
    if (code != CL_SUCCESS) {
        clReleaseEvent(first);
        return dynsel_opencl_check("clRetainEvent", code);
    }
    tile->first = first;
    tile->last = last;
    return DYNSEL_OK;
}

/** Gives the last event to the library, which waits for it whatever is returned. status: of the
 * commands. Returns the first failure. */
static dynsel_status hand_over(commands *c, sepia_tile *tile, dynsel_event *done,
                               dynsel_status status)
{
    if (c->count == 0) {
        return status;
    }
    if (status == DYNSEL_OK) {
        status = keep_ends(c, tile);
    }
    done->opencl = c->events[c->count - 1];
    for (size_t i = 0; i + 1 < c->count; i++) {
        clReleaseEvent(c->events[i]);
    }
    return status;
}

dynsel_status device_form(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sepia_tile *tile = args;
    commands c = {.tile = tile};

    tile->resource = sepia_index_of(tile->job, where);
    c.at = &stations[tile->resource];
    dynsel_status status = write_tile(&c);
    if (status == DYNSEL_OK) {
        status = run_kernel(&c);
    }
    if (status == DYNSEL_OK) {
        status = read_tile(&c);
    }
    status = hand_over(&c, tile, done, status); /* what was enqueued is waited for */
    tile->state = status == DYNSEL_OK ? SEPIA_RUNNING : SEPIA_FAILED;
    return status;
}

static void let_go(sepia_tile *tile)
{
    if (tile->first != NULL) {
        clReleaseEvent(tile->first);
        clReleaseEvent(tile->last);
    }
    tile->first = tile->last = NULL;
}

static void take_time(sepia_tile *tile)
{
    cl_ulong start = 0;
    cl_ulong end = 0;
    cl_int code = clGetEventProfilingInfo(tile->first, CL_PROFILING_COMMAND_START, sizeof start,
                                          &start, NULL);

    if (code == CL_SUCCESS) {
        code =
            clGetEventProfilingInfo(tile->last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    }
    tile->timed = code == CL_SUCCESS && end >= start;
    tile->busy_ns = tile->timed ? end - start : 0;
}

void device_look(sepia_tile *tile)
{
    cl_int progress = CL_QUEUED;

    if (tile->state == SEPIA_RUNNING) {
        cl_int code = clGetEventInfo(tile->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof progress,
                                     &progress, NULL);
        if (code != CL_SUCCESS || progress < 0) {
            tile->state = SEPIA_FAILED;
        } else if (progress == CL_COMPLETE) {
            tile->state = SEPIA_DONE;
            take_time(tile);
        }
    }
    if (tile->state != SEPIA_RUNNING) {
        let_go(tile);
    }
}

static bool failed(const dynsel_resource *where, const char *function, cl_int code)
{
    char what[160];

    if (dynsel_opencl_check(function, code) == DYNSEL_OK) {
        return false;
    }
    snprintf(what, sizeof what, "%s: cannot be prepared, leave it out with --device",
             dynsel_resource_name(where));
    log_dynsel_error(what);
    return true;
}

static void print_build_log(cl_program program, cl_device_id device)
{
    static char log[16384];
    size_t bytes = 0;

    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, &bytes) ==
        CL_SUCCESS) {
        log[bytes < sizeof log ? bytes : sizeof log - 1] = '\0';
        for (char *line = strtok(log, "\n"); line != NULL; line = strtok(NULL, "\n")) {
            char clean[512];
            fprintf(stderr, "%s\n", dynsel_printable(line, clean, sizeof clean));
        }
    }
}

static bool build_kernel(const dynsel_resource *where, station *s)
{
    const char *source = tone_source;
    cl_device_id device = dynsel_opencl_device(where);
    cl_int code;

    s->program = clCreateProgramWithSource(dynsel_opencl_context(where), 1, &source, NULL, &code);
    if (failed(where, "clCreateProgramWithSource", code)) {
        return false;
    }
    code = clBuildProgram(s->program, 1, &device, "", NULL, NULL);
    if (failed(where, "clBuildProgram", code)) {
        print_build_log(s->program, device);
        return false;
    }
    s->kernel = clCreateKernel(s->program, "sepia", &code);
    if (failed(where, "clCreateKernel", code)) {
        return false;
    }
    code = clGetKernelWorkGroupInfo(s->kernel, device, CL_KERNEL_WORK_GROUP_SIZE,
                                    sizeof s->local_size, &s->local_size, NULL);
    s->local_size = s->local_size < LOCAL_SIZE ? s->local_size : LOCAL_SIZE;
    return !failed(where, "clGetKernelWorkGroupInfo", code);
}

static bool make_buffers(const dynsel_resource *where, station *s, size_t bytes)
{
    cl_context context = dynsel_opencl_context(where);
    cl_int code;

    s->in = clCreateBuffer(context, CL_MEM_READ_ONLY, bytes, NULL, &code);
    if (failed(where, "clCreateBuffer", code)) {
        return false;
    }
    s->out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, bytes, NULL, &code);
    if (failed(where, "clCreateBuffer", code)) {
        return false;
    }
    code = clSetKernelArg(s->kernel, 0, sizeof(cl_mem), &s->in);
    if (code == CL_SUCCESS) {
        code = clSetKernelArg(s->kernel, 1, sizeof(cl_mem), &s->out);
    }
    return !failed(where, "clSetKernelArg", code);
}

/** Runs the kernel over no pixels: some drivers compile only when a kernel is first run. */
static bool warm_up(const dynsel_resource *where, const station *s)
{
    const cl_uint pixels = 0;
    cl_int code = clSetKernelArg(s->kernel, 2, sizeof pixels, &pixels);

    if (failed(where, "clSetKernelArg", code)) {
        return false;
    }
    code = clEnqueueNDRangeKernel(s->queue, s->kernel, 1, NULL, &s->local_size, &s->local_size, 0,
                                  NULL, NULL);
    if (failed(where, "clEnqueueNDRangeKernel", code)) {
        return false;
    }
    return !failed(where, "clFinish", clFinish(s->queue));
}

static bool prepare(const dynsel_resource *where, station *s, size_t tile_bytes)
{
    s->queue = dynsel_opencl_queue(where);
    if (s->queue == NULL) {
        log_dynsel_error("a device cannot be used, leave it out with --device");
        return false;
    }
    return build_kernel(where, s) && make_buffers(where, s, tile_bytes) && warm_up(where, s);
}

bool device_prepare(const sepia_job *job)
{
    size_t bytes = (size_t)job->tile_width * job->tile_height * PICTURE_CHANNELS;

    for (size_t i = 0; i < job->resource_count; i++) {
        const dynsel_resource *where = &job->resources[i];
        if (where->backend == &dynsel_opencl_backend && !prepare(where, &stations[i], bytes)) {
            return false;
        }
    }
    return true;
}

static void release(station *s)
{
    if (s->in != NULL) {
        clReleaseMemObject(s->in);
    }
    if (s->out != NULL) {
        clReleaseMemObject(s->out);
    }
    if (s->kernel != NULL) {
        clReleaseKernel(s->kernel);
    }
    if (s->program != NULL) {
        clReleaseProgram(s->program);
    }
    *s = (station){0};
}

void device_release(const sepia_job *job, const bool *in_service)
{
    for (size_t i = 0; i < job->resource_count; i++) {
        if (in_service[i]) {
            release(&stations[i]);
        }
    }
}
