/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y = a * x + y, block after block, on whichever device has the least to do, with dynsel.
 * original.cpp is the same program with SYCL and oneDPL.
 */
#include <dynsel/dynsel.h>
#include <stdio.h>

enum { BLOCKS = 6, ELEMENTS = 1 << 16 };

static float x[BLOCKS][ELEMENTS];
static float y[BLOCKS][ELEMENTS];

typedef struct block {
    dynsel_accessor in; /* placeholders: made before the device is known */
    dynsel_accessor out;
    float factor;
} block;

static dynsel_status saxpy_on_host(const dynsel_launch *launch)
{
    float *out = dynsel_launch_data(launch, 0);
    const float *in = dynsel_launch_data(launch, 1);
    const float factor = DYNSEL_LAUNCH_VALUE(launch, 2, float);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        out[i] += factor * in[i];
    }
    return DYNSEL_OK;
}

static const dynsel_kernel saxpy = {
    .name = "saxpy",
    .function = saxpy_on_host,
    .source = "kernel void saxpy(global float *out, global const float *in, float factor)\n"
              "{ const size_t i = get_global_id(0); out[i] += factor * in[i]; }\n",
};

static dynsel_status update(dynsel_handler *handler, void *args)
{
    const block *own = args;
    dynsel_require(handler, &own->in);
    dynsel_require(handler, &own->out);
    dynsel_set_arg(handler, 0, &own->out);
    dynsel_set_arg(handler, 1, &own->in);
    dynsel_set_arg(handler, 2, own->factor);
    return dynsel_parallel_for(handler, &saxpy, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static dynsel_status make_block(block *own, size_t b)
{
    *own = (block){
        .in = {.name = "in", .mode = DYNSEL_ACCESS_READ, .placeholder = true},
        .out = {.name = "out", .mode = DYNSEL_ACCESS_READ_WRITE, .placeholder = true},
        .factor = 2.0F,
    };
    for (size_t i = 0; i < ELEMENTS; i++) {
        x[b][i] = (float)(i % 100);
        y[b][i] = (float)b;
    }
    dynsel_status status =
        dynsel_buffer_init(&own->in.buffer, x[b], sizeof(float), DYNSEL_RANGE(ELEMENTS));
    if (status == DYNSEL_OK) {
        status = dynsel_buffer_init(&own->out.buffer, y[b], sizeof(float), DYNSEL_RANGE(ELEMENTS));
    }
    return status;
}

static dynsel_status run(void)
{
    static dynsel_dynamic_load_policy policy;
    static block all[BLOCKS];
    dynsel_status status = dynsel_dynamic_load_init(&policy, NULL);
    for (size_t b = 0; b < BLOCKS && status == DYNSEL_OK; b++) {
        status = make_block(&all[b], b);
        if (status == DYNSEL_OK) {
            status = dynsel_submit_command_group(&policy.policy, update, &all[b], NULL);
        }
    }
    if (status == DYNSEL_OK) {
        status = dynsel_wait_group(dynsel_get_submission_group(&policy.policy));
    }
    for (size_t b = 0; b < BLOCKS && status == DYNSEL_OK; b++) {
        status = dynsel_buffer_deinit(&all[b].in.buffer);
        if (status == DYNSEL_OK) {
            status = dynsel_buffer_deinit(&all[b].out.buffer); /* writes the results back */
        }
    }
    return status;
}

int main(void)
{
    if (run() != DYNSEL_OK) {
        char text[1024];
        dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "saxpy: %s\n", text);
        return 1;
    }
    double sum = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        for (size_t i = 0; i < ELEMENTS; i++) {
            sum += y[b][i];
        }
    }
    (void)printf("sum %.0f\n", sum);
    return fflush(stdout) == 0 ? 0 : 1;
}
