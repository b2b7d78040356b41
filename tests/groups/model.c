/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/model.h"

#include <string.h>

void model_begin(model *m)
{
    memset(m->before, 0, sizeof m->before);
    memset(m->surely, 0, sizeof m->surely);
    memset(m->behind, 0, sizeof m->behind);
    memset(m->failed, 0, sizeof m->failed);
    for (unsigned i = 0; i < PROGRAM_BUFFERS; i++) {
        m->buffers[i].writer = 0;
        m->buffers[i].readers = 0;
        m->buffers[i].doubts = 0;
        m->buffers[i].doubt_causes = 0;
    }
}

static bool writes(const program_use *use)
{
    return mode_writes(use->mode);
}

bool use_reads(const program_use *use, const program_shape *shape)
{
    return use->binding == BIND_ANOTHER || !mode_discards(use->mode) || !use_is_whole(use, shape);
}

bool model_writes(const program_command *c, unsigned buffer)
{
    bool does = false;
    for (unsigned u = 0; u < c->use_count && c->kind != KIND_EMPTY; u++) {
        does |= c->uses[u].buffer == buffer && writes(&c->uses[u]);
    }
    return does;
}

/* Order */

static uint64_t all_before(const model *m, uint64_t direct)
{
    uint64_t all = direct;
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        all |= direct >> i & 1u ? m->before[i] : 0;
    }
    return all;
}

static uint64_t directly_before(const model *m, const program *p, unsigned i)
{
    const program_command *c = &p->commands[i];
    uint64_t direct = m->behind[i];
    for (unsigned u = 0; u < c->use_count; u++) {
        const model_buffer *buffer = &m->buffers[c->uses[u].buffer];
        direct |= buffer->writer | (writes(&c->uses[u]) ? buffer->readers : 0);
    }
    return direct;
}

uint64_t model_before(const model *m, const program *p, unsigned i)
{
    return all_before(m, directly_before(m, p, i));
}

static bool may_end_early(const model *m, const program *p, unsigned i)
{
    bool changes = false;
    for (unsigned b = 0; b < PROGRAM_BUFFERS; b++) {
        changes |= model_writes(&p->commands[i], b);
    }
    return m->failed[i] != 0 && !changes;
}

uint64_t model_surely_before(const model *m, const program *p, unsigned i)
{
    const uint64_t direct = directly_before(m, p, i);
    uint64_t all = 0;
    for (unsigned j = 0; j < i; j++) {
        if ((direct >> j & 1u) != 0 && !may_end_early(m, p, j)) {
            all |= UINT64_C(1) << j | m->surely[j];
        }
    }
    return all;
}

static void enter(model *m, const program *p, unsigned i)
{
    const program_command *c = &p->commands[i];
    m->before[i] = model_before(m, p, i);
    m->surely[i] = model_surely_before(m, p, i);
    for (unsigned u = 0; u < c->use_count; u++) {
        m->buffers[c->uses[u].buffer].readers |= UINT64_C(1) << i;
    }
    for (unsigned u = 0; u < c->use_count; u++) {
        if (model_writes(c, c->uses[u].buffer)) {
            m->buffers[c->uses[u].buffer].writer = UINT64_C(1) << i;
            m->buffers[c->uses[u].buffer].readers = 0;
        }
    }
}

/* Failures */

model_outcome model_foresee(const model *m, const program *p, const program_shapes *shapes,
                            unsigned i)
{
    const program_command *c = &p->commands[i];
    model_outcome outcome = {.status = DYNSEL_OK};
    uint64_t doubts = 0;
    for (unsigned j = 0; j < i; j++) {
        outcome.causes |= (m->behind[i] >> j & 1u) != 0 ? m->failed[j] : 0;
    }
    for (unsigned u = 0; u < c->use_count; u++) {
        const program_use *use = &c->uses[u];
        if (use_reads(use, &shapes->shapes[use->buffer])) {
            outcome.causes |= m->buffers[use->buffer].causes;
            doubts |= m->buffers[use->buffer].doubt_causes;
        }
    }
    if (outcome.causes != 0) {
        outcome.status = DYNSEL_E_DEPENDENCY;
        outcome.causes |= doubts;
        return outcome;
    }
    if (c->kind == KIND_KERNEL && c->kernel >= BROKEN) {
        outcome = (model_outcome){.status = kernel_failure((kernel_number)c->kernel),
                                  .causes = UINT64_C(1) << i};
    }
    outcome.in_doubt = doubts != 0;
    outcome.causes |= doubts;
    return outcome;
}

/* Whatever was wrong with what it writes is so no longer. */
static void renew(model *m, const program_command *c, uint64_t causes)
{
    for (unsigned b = 0; b < PROGRAM_BUFFERS; b++) {
        if (model_writes(c, b)) {
            m->buffers[b].causes = causes;
            m->buffers[b].doubts = 0;
            m->buffers[b].doubt_causes = 0;
        }
    }
}

/* It is found as it was before those that did not begin. */
static void trust(model *m, const program_command *c, const program_shapes *shapes)
{
    for (unsigned u = 0; u < c->use_count; u++) {
        const program_use *use = &c->uses[u];
        if (use_reads(use, &shapes->shapes[use->buffer])) {
            m->buffers[use->buffer].doubts = 0;
            m->buffers[use->buffer].doubt_causes = 0;
        }
    }
}

static void pass_over(model *m, const program_command *c, unsigned i, uint64_t causes)
{
    for (unsigned b = 0; b < PROGRAM_BUFFERS && c->kind != KIND_ACCESS; b++) {
        if (model_writes(c, b)) {
            m->buffers[b].doubts |= UINT64_C(1) << i;
            m->buffers[b].doubt_causes |= causes;
        }
    }
}

/* Data */

static void run_kernel(model *m, const program_shapes *shapes, const program_command *c, unsigned i)
{
    job_words job = program_job(shapes, c, i);
    dynsel_argument arguments[PROGRAM_USES + 2];
    size_t count = 0;
    for (unsigned u = 0; u < c->use_count; u++) {
        const program_use *use = &c->uses[u];
        arguments[count++] = (dynsel_argument){.kind = DYNSEL_ARGUMENT_DATA,
                                               .value = m->buffers[use->buffer].data,
                                               .bytes = shape_bytes(&shapes->shapes[use->buffer])};
    }
    if (c->kernel == MIRROR) {
        arguments[count++] = (dynsel_argument){.kind = DYNSEL_ARGUMENT_LOCAL};
    }
    arguments[count++] =
        (dynsel_argument){.kind = DYNSEL_ARGUMENT_VALUE, .value = &job, .bytes = sizeof job};
    dynsel_launch launch = {.arguments = arguments, .argument_count = count};
    launch.global = use_range(&c->uses[0], &shapes->shapes[c->uses[0].buffer]);
    launch.offset = c->uses[0].offset;
    (void)program_functions[c->kernel](&launch);
}

static size_t byte_of(const program_use *use, const program_shape *shape, size_t x, size_t y,
                      size_t z)
{
    const dynsel_range *range = &shape->range;
    const size_t rows = range->dimensions > 1 ? range->size[1] : 1;
    const size_t columns = range->dimensions > 2 ? range->size[2] : 1;
    if (use->part) {
        x += use->offset.size[0];
        y += range->dimensions > 1 ? use->offset.size[1] : 0;
        z += range->dimensions > 2 ? use->offset.size[2] : 0;
    }
    return ((x * rows + y) * columns + z) * shape->width;
}

unsigned model_source(const model *m, const program *p, const program_shapes *shapes, unsigned i)
{
    const program_use *const to = &p->commands[i].uses[0];
    for (unsigned j = 0; j < i; j++) {
        const program_use *const from = &p->commands[j].uses[0];
        if ((m->behind[i] >> j & 1u) != 0 && p->commands[j].kind == KIND_OUT &&
            use_bytes(from, &shapes->shapes[from->buffer]) >=
                use_bytes(to, &shapes->shapes[to->buffer])) {
            return j;
        }
    }
    return PROGRAM_COMMANDS;
}

/* A command that copies or fills, and the memory that it copies from or to. */
typedef struct mover {
    const program_command *command;
    const program_shapes *shapes;
    const unsigned char *in;
    unsigned char *out;
} mover;

/* number: of the element, in its box. */
static void move_element(model *m, const mover *it, size_t number, size_t x, size_t y, size_t z)
{
    const program_use *to = &it->command->uses[0];
    const program_use *from = &it->command->uses[1];
    const program_shape *shapes = it->shapes->shapes;
    const uint32_t width = shapes[to->buffer].width;
    unsigned char *const element =
        m->buffers[to->buffer].data + byte_of(to, &shapes[to->buffer], x, y, z);
    switch (it->command->kind) {
    case KIND_COPY:
        memcpy(element,
               m->buffers[from->buffer].data + byte_of(from, &shapes[from->buffer], x, y, z),
               width);
        break;
    case KIND_IN:
        memcpy(element, it->in + number * width, width);
        break;
    case KIND_OUT:
        memcpy(it->out + number * width, element, width);
        break;
    default:
        for (uint32_t b = 0; b < width; b++) {
            element[b] = (unsigned char)(it->command->salt + b * 37);
        }
        break;
    }
}

static void move_elements(model *m, const program *p, const program_shapes *shapes, unsigned i)
{
    const program_command *c = &p->commands[i];
    const unsigned source = model_source(m, p, shapes, i);
    const mover it = {.command = c,
                      .shapes = shapes,
                      .in = source < PROGRAM_COMMANDS ? m->out[source % PROGRAM_OUTS]
                                                      : program_memory(c),
                      .out = m->out[i % PROGRAM_OUTS]};
    const dynsel_range range = use_range(&c->uses[0], &shapes->shapes[c->uses[0].buffer]);
    const size_t rows = range.dimensions > 1 ? range.size[1] : 1;
    const size_t columns = range.dimensions > 2 ? range.size[2] : 1;
    for (size_t x = 0; x < range.size[0]; x++) {
        for (size_t y = 0; y < rows; y++) {
            for (size_t z = 0; z < columns; z++) {
                move_element(m, &it, (x * rows + y) * columns + z, x, y, z);
            }
        }
    }
}

void access_write(unsigned char *data, size_t bytes, const program_command *c)
{
    const bool discards = mode_discards(c->uses[0].mode);
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)((discards ? 0 : data[i] * 3u) + i + c->salt);
    }
}

void model_pass_over(model *m, const program *p, unsigned i, uint64_t causes)
{
    enter(m, p, i);
    m->failed[i] = causes;
    pass_over(m, &p->commands[i], i, causes);
}

static void work(model *m, const program *p, const program_shapes *shapes, unsigned i)
{
    const program_command *c = &p->commands[i];
    if (c->kind == KIND_ACCESS) {
        model_buffer *buffer = &m->buffers[c->uses[0].buffer];
        if (writes(&c->uses[0])) {
            access_write(buffer->data, shape_bytes(&shapes->shapes[c->uses[0].buffer]), c);
        }
    } else if (c->kind <= KIND_HOST) {
        run_kernel(m, shapes, c, i);
    } else if (c->kind != KIND_EMPTY) {
        move_elements(m, p, shapes, i);
    }
}

void model_run(model *m, const program *p, const program_shapes *shapes, unsigned i)
{
    const program_command *c = &p->commands[i];
    const model_outcome outcome = model_foresee(m, p, shapes, i);
    enter(m, p, i);
    m->failed[i] = outcome.status != DYNSEL_OK ? outcome.causes : 0;
    if (outcome.status == DYNSEL_E_DEPENDENCY) {
        pass_over(m, c, i, outcome.causes);
        return;
    }
    trust(m, c, shapes);
    if (outcome.status == DYNSEL_OK) {
        work(m, p, shapes, i);
        renew(m, c, 0);
    } else if (c->kernel == REFUSED) {
        pass_over(m, c, i, UINT64_C(1) << i);
    } else {
        renew(m, c, UINT64_C(1) << i);
    }
}
