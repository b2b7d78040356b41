/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace of command groups that depend on each other, and of plain tasks between them, to
 * the file that it is called with. */
#include <dynsel/dynsel.h>
#include <dynsel/trace.h>
#include <stdio.h>

enum { RECORDS = 1 << 17, FLOATS = 1 << 14, PASSES = 2, PIECES = 300 };

static const char source[] = "kernel void scale(global const float *in, global float *out)\n"
                             "{\n"
                             "    size_t i = get_global_id(0);\n"
                             "    out[i] = in[i] * 0.5f + 1.0f;\n"
                             "}\n";

static dynsel_status scale(const dynsel_launch *launch)
{
    const float *in = dynsel_launch_data(launch, 0);
    float *out = dynsel_launch_data(launch, 1);
    for (size_t i = 0; i < FLOATS; i++) {
        out[i] = in[i] * 0.5f + 1.0f;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {.name = "scale", .function = scale, .source = source, .id = 1};

static dynsel_buffer buffers[2];
static float data[2][FLOATS];
static dynsel_trace_record records[RECORDS];

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const unsigned from = *(const unsigned *)args % 2;
    dynsel_accessor in;
    dynsel_accessor out;
    dynsel_get_access(handler, buffers[from], DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &in);
    dynsel_get_access(handler, buffers[1 - from], DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL,
                      &out);
    dynsel_set_arg_accessor(handler, 0, &in);
    dynsel_set_arg_accessor(handler, 1, &out);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(FLOATS), NULL, NULL);
}

static dynsel_status count(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    volatile unsigned *const counted = args;
    for (unsigned i = 0; i < 1000; i++) {
        *counted += i;
    }
    return DYNSEL_OK;
}

static dynsel_status work(dynsel_policy *policy)
{
    dynsel_status status = DYNSEL_OK;
    unsigned counted = 0;
    const dynsel_task task = {.function = count, .args = &counted, .id = 2};
    dynsel_trace_name(&task, "count");
    for (unsigned pass = 0; pass < PASSES; pass++) {
        dynsel_trace_mark(pass == 0 ? "first pass" : "second pass");
        for (unsigned i = 0; i < PIECES && status == DYNSEL_OK; i++) {
            status = dynsel_submit_command_group(policy, group, &i, NULL);
            if (status == DYNSEL_OK && i % 4 == 0) {
                status = dynsel_submit_and_wait(policy, &task);
            }
        }
        if (status == DYNSEL_OK) {
            status = dynsel_wait_group(dynsel_get_submission_group(policy));
        }
    }
    return status;
}

static dynsel_status append(void *file, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, file) == size ? DYNSEL_OK : DYNSEL_E_FULL;
}

static dynsel_status run(const char *path)
{
    static dynsel_earliest_finish_policy policy;
    const dynsel_options options = {.defaults = DYNSEL_HOST_AND_DEVICES};
    dynsel_status status = dynsel_trace_start(records, RECORDS);
    status = status != DYNSEL_OK ? status : dynsel_earliest_finish_init(&policy, &options);
    for (int i = 0; i < 2 && status == DYNSEL_OK; i++) {
        status = dynsel_buffer_init(&buffers[i], data[i], sizeof(float), DYNSEL_RANGE(FLOATS));
    }
    status = status != DYNSEL_OK ? status : work(&policy.policy);
    for (int i = 0; i < 2 && status == DYNSEL_OK; i++) {
        status = dynsel_buffer_deinit(&buffers[i]);
    }
    status = status != DYNSEL_OK ? status : dynsel_trace_stop();
    FILE *const file = status == DYNSEL_OK ? fopen(path, "wb") : NULL;
    if (file == NULL) {
        return status != DYNSEL_OK ? status : DYNSEL_E_INVALID;
    }
    status = dynsel_trace_write(append, file);
    return fclose(file) == 0 ? status : DYNSEL_E_FULL;
}

int main(int argc, char **argv)
{
    const dynsel_status status = argc == 2 ? run(argv[1]) : DYNSEL_E_INVALID;
    if (status != DYNSEL_OK) {
        char text[400];
        dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "%d: %s\n", (int)status, text);
    }
    return status == DYNSEL_OK ? 0 : 1;
}
