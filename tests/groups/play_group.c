/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/play_group.h"

program_shapes play_shapes;
dynsel_buffer play_buffers[PROGRAM_BUFFERS];

unsigned char *play_memory(const program_command *command, unsigned index)
{
    static unsigned char memory[PROGRAM_OUTS][PLAY_MARGIN + PROGRAM_BYTES + PLAY_MARGIN];
    return memory[index % PROGRAM_OUTS] + command->salt % PLAY_MARGIN;
}

static dynsel_accessor placeholder_of(const program_use *use, bool with_buffer)
{
    dynsel_accessor accessor = {.name = "a use", .placeholder = true};
    accessor.mode = use->mode;
    accessor.target = use->target;
    if (with_buffer) {
        accessor.buffer = play_buffers[use->buffer];
    }
    if (use->part) {
        accessor.range = use->range;
        accessor.offset = use->offset;
    }
    return accessor;
}

static dynsel_status bind(dynsel_handler *handler, const program_use *use,
                          dynsel_accessor *accessor, dynsel_accessor *another)
{
    const dynsel_buffer buffer = play_buffers[use->buffer];
    dynsel_status status = DYNSEL_OK;
    switch (use->binding) {
    case BIND_NORMAL:
        return dynsel_get_access(handler, buffer, (dynsel_access_mode)use->mode,
                                 (dynsel_access_target)use->target, accessor);
    case BIND_FROM:
        *another = *accessor;
        return dynsel_accessor_get_access(handler, another, accessor);
    case BIND_LATE:
    case BIND_ARGUMENT:
        return dynsel_require_buffer(handler, buffer, accessor);
    case BIND_TWICE:
        status = dynsel_require_buffer(handler, buffer, accessor);
        return status == DYNSEL_OK ? dynsel_require(handler, accessor) : status;
    case BIND_ANOTHER:
        status = dynsel_require_buffer(handler, buffer, another);
        return status == DYNSEL_OK ? dynsel_require(handler, accessor) : status;
    default:
        return dynsel_require(handler, accessor);
    }
}

static bool has_own_buffer(const program_use *use)
{
    return use->binding != BIND_LATE && use->binding != BIND_ARGUMENT;
}

static dynsel_status bind_all(dynsel_handler *handler, play_job *job, bool has_arguments)
{
    dynsel_status status = DYNSEL_OK;
    for (unsigned u = 0; u < job->command->use_count && status == DYNSEL_OK; u++) {
        const program_use *use = &job->command->uses[u];
        const bool early = use->binding == BIND_ARGUMENT && has_arguments;
        job->accessors[u] = placeholder_of(use, has_own_buffer(use));
        if (early) {
            status = dynsel_set_arg_accessor(handler, u, &job->accessors[u]);
        }
        job->others[u] = (dynsel_accessor){
            .name = "another use", .placeholder = true, .mode = DYNSEL_ACCESS_READ};
        if (status == DYNSEL_OK) {
            status = bind(handler, use, &job->accessors[u], &job->others[u]);
        }
        if (!early && has_arguments && status == DYNSEL_OK) {
            status = dynsel_set_arg_accessor(handler, u, &job->accessors[u]);
        }
    }
    return status;
}

static dynsel_status set_values(dynsel_handler *handler, const play_job *job)
{
    const program_command *c = job->command;
    const job_words words = program_job(&play_shapes, c, job->index);
    uint32_t next = c->use_count;
    dynsel_status status = DYNSEL_OK;
    if (c->kernel == MIRROR && c->salt % 2 == 0) {
        status = dynsel_set_arg_local(handler, next++, MIRROR_GROUP * sizeof(uint64_t));
    } else if (c->kernel == MIRROR) {
        const dynsel_accessor local = {.target = DYNSEL_MEMORY_LOCAL,
                                       .element_bytes = sizeof(uint64_t),
                                       .range = {{MIRROR_GROUP}, 1}};
        status = dynsel_set_arg_accessor(handler, next++, &local);
    }
    return status == DYNSEL_OK ? dynsel_set_arg_value(handler, next, &words, sizeof words) : status;
}

static dynsel_status start_kernel(dynsel_handler *handler, const program_command *c)
{
    const dynsel_kernel *kernel = &program_kernels[c->kernel];
    const program_use *use = &c->uses[0];
    if (c->kind == KIND_SINGLE) {
        return dynsel_single_task(handler, kernel);
    }
    if (c->kind == KIND_HOST) {
        return dynsel_host_task(handler, kernel->function);
    }
    const dynsel_range global = use_range(use, &play_shapes.shapes[use->buffer]);
    dynsel_range local = {.dimensions = global.dimensions};
    for (uint32_t d = 0; d < global.dimensions; d++) {
        local.size[d] = c->local;
    }
    return dynsel_parallel_for(handler, kernel, global, c->local != 0 ? &local : NULL,
                               use->part ? &use->offset : NULL);
}

static dynsel_status fill(dynsel_handler *handler, const play_job *job)
{
    const program_command *c = job->command;
    unsigned char element[8];
    const uint32_t width = play_shapes.shapes[c->uses[0].buffer].width;
    for (uint32_t b = 0; b < width; b++) {
        element[b] = (unsigned char)(c->salt + b * 37);
    }
    return dynsel_fill(handler, &job->accessors[0], element, width);
}

static dynsel_status launch(dynsel_handler *handler, const play_job *job)
{
    const program_command *c = job->command;
    const program_use *first = &c->uses[0];
    const size_t bytes = use_bytes(first, &play_shapes.shapes[first->buffer]);
    switch (c->kind) {
    case KIND_COPY:
        return dynsel_copy(handler, &job->accessors[1], &job->accessors[0]);
    case KIND_FILL:
        return fill(handler, job);
    case KIND_IN:
        return dynsel_copy_from_memory(handler, job->source, bytes, &job->accessors[0]);
    case KIND_OUT:
        return dynsel_copy_to_memory(handler, &job->accessors[0], play_memory(c, job->index),
                                     bytes);
    case KIND_EMPTY:
        return dynsel_parallel_for(handler, &program_kernels[CHURN], DYNSEL_RANGE(0), NULL, NULL);
    default:
        return start_kernel(handler, c);
    }
}

dynsel_status play_record(dynsel_handler *handler, void *args)
{
    play_job *job = args;
    const program_command *c = job->command;
    const bool is_kernel = c->kind <= KIND_HOST;
    dynsel_status status = bind_all(handler, job, is_kernel);
    if (status == DYNSEL_OK && is_kernel) {
        status = set_values(handler, job);
    }
#if CONFIG_DYNSEL_TIME_LIMITS
    if (status == DYNSEL_OK && c->limited) {
        status = dynsel_set_time_limit(handler, UINT64_C(3600) * 1000 * 1000 * 1000);
    }
#endif
    if (status == DYNSEL_OK && job->behind != NULL) {
        status = dynsel_depends_on(handler, job->behind);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    return launch(handler, job);
}
