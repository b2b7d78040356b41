/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL program that keeps its contexts, queues, memory and kernels (opencl_program.c), and
 * lets dynsel choose the device of each piece of work.
 *
 * First its own kernel runs on the chosen queue, and its own clEnqueueReadBuffer() waits for the
 * event of that work. Then a command group of dynsel works on the program's memory, after the event
 * of a command of the program; the result is in that memory at the end.
 */
#include <dynsel/dynsel.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/program.h"
#include "opencl_program.h"

enum { PIECES = 4 };

static device devices[MOST_DEVICES];
static size_t device_count;
static dynsel_round_robin_policy policy;

/* ---- the program's own kernel, on the queue that the policy chooses ---- */

static const device *device_of(const dynsel_resource *where)
{
    size_t i = 0;
    while (i + 1 < device_count && devices[i].queue != where->handle) {
        i++;
    }
    return &devices[i];
}

static dynsel_status scale(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const cl_uint *const factor = args;
    return dynsel_opencl_check("clEnqueueNDRangeKernel",
                               opencl_program_scale(device_of(where), *factor, &done->opencl));
}

/* Reads with a command of the program, which waits for the work on the device. */
static dynsel_status read_after(const dynsel_submission *submission, cl_uint *numbers)
{
    const device *const on = device_of(dynsel_submission_resource(submission));
    cl_event scaled = NULL;
    dynsel_status status = dynsel_opencl_submission_event(submission, &scaled);
    if (status == DYNSEL_OK) {
        status = dynsel_opencl_check("clEnqueueReadBuffer",
                                     clEnqueueReadBuffer(on->queue, on->numbers, CL_TRUE, 0, BYTES,
                                                         numbers, 1, &scaled, NULL));
        (void)clReleaseEvent(scaled);
    }
    return status;
}

static bool are_multiples(const cl_uint *numbers, cl_uint factor)
{
    for (cl_uint i = 0; i < ELEMENTS; i++) {
        if (numbers[i] != factor * i) {
            return false;
        }
    }
    return true;
}

static void print_line(const char *what, const dynsel_resource *where, bool right)
{
    (void)printf("%-24s on %-40.40s %s\n", what, dynsel_resource_name(where),
                 right ? "right" : "wrong");
}

static dynsel_status run_own_kernel(cl_uint factor, bool *right)
{
    static cl_uint numbers[ELEMENTS];
    char what[32];
    dynsel_submission submission;
    dynsel_status status = dynsel_submit(&policy.policy, &DYNSEL_TASK(scale, &factor), &submission);
    if (status != DYNSEL_OK) {
        return status;
    }
    const dynsel_resource *const where = dynsel_submission_resource(&submission);
    const dynsel_status seen = read_after(&submission, numbers);
    status = dynsel_wait(&submission);
    if (status == DYNSEL_OK && seen == DYNSEL_OK) {
        *right = are_multiples(numbers, factor);
        (void)snprintf(what, sizeof what, "own kernel, factor %u", (unsigned)factor);
        print_line(what, where, *right);
    }
    return status != DYNSEL_OK ? status : seen;
}

/* ---- a command group on the program's memory ---- */

static const dynsel_kernel add_factor = {
    .name = "add_factor",
    .source = "kernel void add_factor(global uint *numbers, uint factor)\n"
              "{ numbers[get_global_id(0)] += factor * get_global_id(0); }\n",
};

typedef struct group {
    dynsel_buffer buffer;
    cl_event written; /* the command of the program that must be complete before */
    cl_uint factor;
} group;

static dynsel_status add(dynsel_handler *handler, void *args)
{
    const group *const g = args;
    dynsel_accessor numbers;
    dynsel_status status = dynsel_opencl_depend_on(handler, g->written);
    if (status == DYNSEL_OK) {
        status = dynsel_get_access(handler, g->buffer, DYNSEL_ACCESS_READ_WRITE,
                                   DYNSEL_MEMORY_GLOBAL, &numbers);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &numbers);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &g->factor, sizeof g->factor);
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &add_factor, DYNSEL_RANGE(ELEMENTS), NULL, NULL)
               : status;
}

/* The policy may choose any device: on another than the memory's, dynsel copies the data there. */
static dynsel_status submit_and_end(group *g, const device *of)
{
    static cl_uint staging[ELEMENTS];
    const dynsel_range all = {.dimensions = 0}; /* as many as the memory object has */
    dynsel_submission submission;
    dynsel_status status =
        dynsel_opencl_buffer_init(&g->buffer, of->numbers, staging, sizeof(cl_uint), all);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = dynsel_submit_command_group(&policy.policy, add, g, &submission);
    if (status == DYNSEL_OK) {
        print_line("command group", dynsel_submission_resource(&submission), true);
        status = dynsel_wait(&submission);
    }
    const dynsel_status ended = dynsel_buffer_deinit(&g->buffer);
    return status != DYNSEL_OK ? status : ended;
}

static dynsel_status run_command_group(const device *of, bool *right)
{
    static cl_uint numbers[ELEMENTS];
    group g = {.factor = 3};
    for (cl_uint i = 0; i < ELEMENTS; i++) {
        numbers[i] = 2 * i;
    }
    dynsel_status status = dynsel_opencl_check(
        "clEnqueueWriteBuffer", clEnqueueWriteBuffer(of->queue, of->numbers, CL_FALSE, 0, BYTES,
                                                     numbers, 0, NULL, &g.written));
    if (status != DYNSEL_OK) {
        return status;
    }
    status = submit_and_end(&g, of);
    (void)clReleaseEvent(g.written);
    const dynsel_status read = dynsel_opencl_check(
        "clEnqueueReadBuffer",
        clEnqueueReadBuffer(of->queue, of->numbers, CL_TRUE, 0, BYTES, numbers, 0, NULL, NULL));
    if (status == DYNSEL_OK && read == DYNSEL_OK) {
        *right = are_multiples(numbers, 2 + g.factor);
        (void)printf("the program's memory has %u * i: %s\n", 2 + (unsigned)g.factor,
                     *right ? "right" : "wrong");
    }
    return status != DYNSEL_OK ? status : read;
}

/* ---- */

static dynsel_status begin_policy(void)
{
    dynsel_resource queues[MOST_DEVICES];
    for (size_t i = 0; i < device_count; i++) {
        queues[i] = (dynsel_resource){&dynsel_opencl_backend, devices[i].queue};
    }
    const dynsel_options options = {
        .resources = queues, .count = device_count, .adapt = dynsel_opencl_adopt};
    return dynsel_round_robin_init(&policy, &options, 0);
}

static dynsel_status run(bool *right)
{
    dynsel_status status = DYNSEL_OK;
    for (cl_uint factor = 1; factor <= PIECES && status == DYNSEL_OK && *right; factor++) {
        status = run_own_kernel(factor, right);
    }
    for (size_t i = 0; i < device_count && status == DYNSEL_OK && *right; i++) {
        status = run_command_group(&devices[i], right);
    }
    return status;
}

static int complain(void)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    program_complain("adopt", "%s", text);
    return EXIT_FAILURE;
}

static int use_devices(void)
{
    bool right = true;
    dynsel_status status = begin_policy();
    if (status != DYNSEL_OK) {
        return complain();
    }
    status = run(&right);
    const int end = status == DYNSEL_OK ? (right ? EXIT_SUCCESS : EXIT_FAILURE) : complain();
    if (dynsel_policy_deinit(&policy.policy) != DYNSEL_OK || dynsel_opencl_close() != DYNSEL_OK) {
        return complain();
    }
    return end;
}

int main(int argc, char **argv)
{
    const char *function = "";
    program_takes_nothing(argc, argv, "adopt",
                          "Usage: adopt\n"
                          "Lets dynsel choose among the queues of an OpenCL program that keeps its "
                          "own\ncontexts, memory and kernels.\n");
    const cl_int code = opencl_program_begin(devices, &device_count, &function);
    int end = EXIT_FAILURE;
    if (code != CL_SUCCESS) {
        program_complain("adopt", "%s: %s", function, dynsel_opencl_code_name(code));
    } else if (device_count == 0) {
        program_complain("adopt", "there is no OpenCL device");
    } else {
        end = use_devices();
    }
    opencl_program_end(devices, device_count);
    return program_end("adopt", end);
}
