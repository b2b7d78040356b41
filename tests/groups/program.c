/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/program.h"

#include <string.h>

#include "random.h"
#include "test.h"

enum { MEMORIES = 64 }; /* that a KIND_IN can copy */

/* Shapes */

static const dynsel_range ranges[] = {
    {{16}, 1}, {{64}, 1}, {{7}, 1},     {{4, 6}, 2},    {{5, 7}, 2},
    {{1}, 1},  {{32}, 1}, {{6, 10}, 2}, {{2, 4, 6}, 3}, {{3, 3, 5}, 3},
};
static const uint8_t widths[] = {1, 2, 3, 4, 4, 4, 8, 8};

void program_make_shapes(program_shapes *shapes, uint64_t seed)
{
    test_random random = {seed};
    memset(shapes, 0, sizeof *shapes);
    shapes->count = PROGRAM_BUFFERS <= 2 ? PROGRAM_BUFFERS
                                         : 2 + test_random_below(&random, PROGRAM_BUFFERS - 1);
    for (unsigned i = 0; i < shapes->count; i++) {
        program_shape *shape = &shapes->shapes[i];
        shape->range = ranges[test_random_below(&random, sizeof ranges / sizeof ranges[0])];
        shape->width = widths[test_random_below(&random, sizeof widths)];
        shape->inside = shape_bytes(shape) <= CONFIG_DYNSEL_BUFFER_INSIDE_BYTES &&
                        test_random_below(&random, 2) == 0;
        shape->skew =
            (uint8_t)(test_random_below(&random, 3) == 0 ? test_random_below(&random, 16) : 0);
    }
    if (shapes->count > 1 && test_random_below(&random, 2) == 0) { /* so that copies are likely */
        shapes->shapes[1].range = shapes->shapes[0].range;
        shapes->shapes[1].width = shapes->shapes[0].width;
        shapes->shapes[1].inside = false;
    }
}

size_t shape_bytes(const program_shape *shape)
{
    return dynsel_range_count(&shape->range) * shape->width;
}

dynsel_range use_range(const program_use *use, const program_shape *shape)
{
    return use->part ? use->range : shape->range;
}

size_t use_bytes(const program_use *use, const program_shape *shape)
{
    const dynsel_range range = use_range(use, shape);
    return dynsel_range_count(&range) * shape->width;
}

bool use_is_whole(const program_use *use, const program_shape *shape)
{
    const dynsel_range range = use_range(use, shape);
    return dynsel_range_count(&range) == dynsel_range_count(&shape->range);
}

const unsigned char *program_memory(const program_command *command)
{
    static unsigned char memory[PROGRAM_BYTES + MEMORIES];
    static bool is_filled;
    for (unsigned i = 0; !is_filled && i < sizeof memory; i++) {
        memory[i] = (unsigned char)(1 + i * 73);
    }
    is_filled = true;
    return memory + command->salt % MEMORIES;
}

job_words program_job(const program_shapes *shapes, const program_command *command, unsigned index)
{
    job_words job = {{0}};
    for (unsigned i = 0; i < command->use_count; i++) {
        const program_shape *shape = &shapes->shapes[command->uses[i].buffer];
        job.words[JOB_WIDTHS + i] = shape->width;
        job.words[JOB_COUNTS + i] = (uint32_t)dynsel_range_count(&shape->range);
    }
    const dynsel_range *first = &shapes->shapes[command->uses[0].buffer].range;
    job.words[JOB_ROWS] = first->dimensions > 1 ? (uint32_t)first->size[1] : 1;
    job.words[JOB_COLUMNS] = first->dimensions > 2 ? (uint32_t)first->size[2] : 1;
    job.words[JOB_SALT] = command->salt;
    job.words[JOB_CODE] = index + 1;
    const dynsel_range range =
        use_range(&command->uses[0], &shapes->shapes[command->uses[0].buffer]);
    for (unsigned d = 0; d < range.dimensions; d++) {
        job.words[JOB_RANGE + d] = (uint32_t)range.size[d];
        job.words[JOB_OFFSET + d] =
            command->uses[0].part ? (uint32_t)command->uses[0].offset.size[d] : 0;
    }
    return job;
}

/* Commands */

typedef struct maker {
    test_random random;
    const program_shapes *shapes;
    const program_limits *limits;
} maker;

static uint8_t below(maker *m, uint32_t end)
{
    return (uint8_t)test_random_below(&m->random, end);
}

static bool one_in(maker *m, uint32_t n)
{
    return test_random_below(&m->random, n) == 0;
}

/* A box inside a range; now and then the whole. */
static void choose_part(maker *m, program_use *use)
{
    const dynsel_range *whole = &m->shapes->shapes[use->buffer].range;
    use->part = true;
    use->range = *whole;
    use->offset = (dynsel_range){.dimensions = whole->dimensions};
    if (one_in(m, 6)) {
        return;
    }
    for (uint32_t d = 0; d < whole->dimensions; d++) {
        use->range.size[d] = 1 + below(m, (uint32_t)whole->size[d]);
        use->offset.size[d] = below(m, (uint32_t)(whole->size[d] - use->range.size[d] + 1));
    }
}

static program_use *add_use(maker *m, program_command *c, uint8_t buffer, dynsel_access_mode mode)
{
    program_use *use = &c->uses[c->use_count++];
    *use = (program_use){.buffer = buffer, .mode = (uint8_t)mode, .binding = below(m, BINDINGS)};
    if (one_in(m, 6)) { /* the whole, but said */
        use->part = true;
        use->range = m->shapes->shapes[buffer].range;
        use->offset = (dynsel_range){.dimensions = use->range.dimensions};
        use->binding = use->binding == BIND_NORMAL ? BIND_FROM : use->binding;
    }
    return use;
}

/* A normal accessor has no range of its own. */
static void choose_box(maker *m, program_use *use)
{
    if (one_in(m, 3)) {
        choose_part(m, use);
        use->binding = use->binding == BIND_NORMAL ? BIND_FROM : use->binding;
    }
}

static uint8_t any_buffer(maker *m)
{
    return below(m, m->shapes->count);
}

/* A buffer that is not `other`; the same where there is no choice. */
static uint8_t another_buffer(maker *m, uint8_t other)
{
    const uint8_t buffer = any_buffer(m);
    if (buffer != other) {
        return buffer;
    }
    return (uint8_t)((buffer + 1u) % m->shapes->count);
}

static const dynsel_access_mode changing[] = {DYNSEL_ACCESS_READ_WRITE, DYNSEL_ACCESS_READ_WRITE,
                                              DYNSEL_ACCESS_ATOMIC};
static const dynsel_access_mode writing[] = {DYNSEL_ACCESS_WRITE, DYNSEL_ACCESS_DISCARD_WRITE,
                                             DYNSEL_ACCESS_READ_WRITE,
                                             DYNSEL_ACCESS_DISCARD_READ_WRITE};

static void make_churn(maker *m, program_command *c, kernel_number kernel)
{
    c->kernel = (uint8_t)kernel;
    choose_box(m, add_use(m, c, any_buffer(m), changing[below(m, 3)]));
}

static void make_refill(maker *m, program_command *c)
{
    c->kernel = REFILL;
    choose_box(m,
               add_use(m, c, any_buffer(m),
                       one_in(m, 4) ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_DISCARD_READ_WRITE));
}

static void make_combine(maker *m, program_command *c, kernel_number kernel)
{
    c->kernel = (uint8_t)kernel;
    choose_box(m, add_use(m, c, any_buffer(m), writing[below(m, 4)]));
    (void)add_use(m, c, any_buffer(m), DYNSEL_ACCESS_READ);
    program_use *b = add_use(m, c, any_buffer(m), DYNSEL_ACCESS_READ);
    if (kernel == COMBINE_CONSTANT) {
        b->target = DYNSEL_MEMORY_CONSTANT;
        b->buffer = another_buffer(m, c->uses[0].buffer);
        if (m->shapes->count == 1) {
            b->target = DYNSEL_MEMORY_GLOBAL;
            c->kernel = COMBINE;
        }
        b->part = false;
    }
}

static void make_stencil(maker *m, program_command *c)
{
    const uint8_t to = any_buffer(m);
    const uint8_t from = another_buffer(m, to);
    if (to == from) {
        make_churn(m, c, CHURN);
        return;
    }
    c->kernel = STENCIL;
    choose_box(m, add_use(m, c, to, writing[below(m, 4)]));
    (void)add_use(m, c, from, DYNSEL_ACCESS_READ);
}

static void make_digest(maker *m, program_command *c)
{
    const uint8_t to = any_buffer(m);
    const uint8_t from = another_buffer(m, to);
    if (to == from) {
        make_churn(m, c, CHURN);
        return;
    }
    c->kind = KIND_SINGLE;
    c->kernel = DIGEST;
    /* one element is written, the rest stays */
    (void)add_use(m, c, to, one_in(m, 2) ? DYNSEL_ACCESS_WRITE : DYNSEL_ACCESS_READ_WRITE);
    (void)add_use(m, c, from, DYNSEL_ACCESS_READ);
}

static void make_count(maker *m, program_command *c)
{
    const uint8_t to = any_buffer(m);
    const uint8_t from = another_buffer(m, to);
    if (to == from || m->shapes->shapes[to].width != sizeof(uint32_t)) {
        make_churn(m, c, CHURN);
        return;
    }
    c->kernel = COUNT;
    (void)add_use(m, c, to, DYNSEL_ACCESS_ATOMIC);
    (void)add_use(m, c, from, DYNSEL_ACCESS_READ);
}

static void make_mirror(maker *m, program_command *c)
{
    const uint8_t buffer = any_buffer(m);
    const dynsel_range *range = &m->shapes->shapes[buffer].range;
    if (range->dimensions != 1 || range->size[0] % MIRROR_GROUP != 0) {
        make_churn(m, c, CHURN);
        return;
    }
    c->kernel = MIRROR;
    c->local = MIRROR_GROUP;
    (void)add_use(m, c, buffer, DYNSEL_ACCESS_READ_WRITE);
}

static void make_fill(maker *m, program_command *c)
{
    const uint8_t buffer = any_buffer(m);
    if (m->shapes->shapes[buffer].width == 3) { /* no power of two */
        make_churn(m, c, CHURN);
        return;
    }
    c->kind = KIND_FILL;
    choose_box(m, add_use(m, c, buffer, writing[below(m, 4)]));
}

/* Of the smaller extents of two ranges, a box that fits both. */
static void choose_boxes(maker *m, program_use *to, program_use *from)
{
    choose_part(m, to);
    choose_part(m, from);
    const dynsel_range *whole[] = {&m->shapes->shapes[to->buffer].range,
                                   &m->shapes->shapes[from->buffer].range};
    for (uint32_t d = 0; d < whole[0]->dimensions; d++) {
        const size_t most =
            whole[0]->size[d] < whole[1]->size[d] ? whole[0]->size[d] : whole[1]->size[d];
        const size_t size = one_in(m, 3) ? most : (size_t)below(m, (uint32_t)most) + 1;
        to->range.size[d] = size;
        from->range.size[d] = size;
        to->offset.size[d] = below(m, (uint32_t)(whole[0]->size[d] - size + 1));
        from->offset.size[d] = below(m, (uint32_t)(whole[1]->size[d] - size + 1));
    }
}

static bool overlap(const program_use *a, const program_use *b)
{
    for (uint32_t d = 0; d < a->range.dimensions; d++) {
        if (a->offset.size[d] >= b->offset.size[d] + b->range.size[d] ||
            b->offset.size[d] >= a->offset.size[d] + a->range.size[d]) {
            return false;
        }
    }
    return true;
}

static void make_copy(maker *m, program_command *c)
{
    const uint8_t to = any_buffer(m);
    const uint8_t from = any_buffer(m);
    const program_shape *shapes = m->shapes->shapes;
    if (shapes[to].width != shapes[from].width ||
        shapes[to].range.dimensions != shapes[from].range.dimensions) {
        make_fill(m, c);
        return;
    }
    c->kind = KIND_COPY;
    program_use *target = add_use(m, c, to, writing[below(m, 4)]);
    program_use *source = add_use(m, c, from, DYNSEL_ACCESS_READ);
    choose_boxes(m, target, source);
    if (to == from && overlap(target, source)) {
        *c = (program_command){.place = c->place, .manner = c->manner, .salt = c->salt};
        make_churn(m, c, CHURN);
    }
    for (unsigned i = 0; i < c->use_count; i++) {
        program_use *use = &c->uses[i];
        use->binding = use->binding == BIND_NORMAL && use->part ? BIND_FROM : use->binding;
    }
}

static void make_transfer(maker *m, program_command *c, command_kind kind)
{
    const bool is_out = kind == KIND_OUT && PROGRAM_OUTS == PROGRAM_COMMANDS;
    c->kind = is_out ? KIND_OUT : KIND_IN;
    const dynsel_access_mode out = one_in(m, 4) ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ;
    choose_box(m, add_use(m, c, any_buffer(m), is_out ? out : writing[below(m, 4)]));
}

static void make_empty(maker *m, program_command *c)
{
    c->kind = KIND_EMPTY;
    choose_box(m, add_use(m, c, any_buffer(m), (dynsel_access_mode)below(m, 5)));
    if (one_in(m, 2)) {
        (void)add_use(m, c, any_buffer(m), DYNSEL_ACCESS_READ);
    }
}

static void make_access(maker *m, program_command *c)
{
    c->kind = KIND_ACCESS;
    c->use_count = 1;
    c->uses[0] = (program_use){.buffer = any_buffer(m),
                               .mode = one_in(m, 2) ? DYNSEL_ACCESS_READ : below(m, 5)};
    c->stays = one_in(m, 2) ? below(m, 6) : 0;
}

static void make_broken(maker *m, program_command *c)
{
    c->kernel = BROKEN;
    choose_box(m, add_use(m, c, any_buffer(m), writing[below(m, 4)]));
    if (one_in(m, 2)) {
        (void)add_use(m, c, any_buffer(m), DYNSEL_ACCESS_READ);
    }
}

static void make_refused(maker *m, program_command *c)
{
    c->kernel = REFUSED;
    choose_box(m, add_use(m, c, any_buffer(m), writing[below(m, 4)]));
}

static void make_failing(maker *m, program_command *c, uint32_t what)
{
    if (what < 79 && m->limits->fails) {
        make_broken(m, c);
    } else if (what >= 79 && m->limits->fails && m->limits->refuses) {
        make_refused(m, c);
    } else {
        make_churn(m, c, CHURN);
    }
}

/* Weights out of 100, from 72 on. */
static void make_seldom(maker *m, program_command *c, uint32_t what)
{
    if (what < 74) {
        make_churn(m, c, ONLY_C);
    } else if (what < 76) {
        make_churn(m, c, m->limits->only_devices ? ONLY_DEVICES : CHURN);
    } else if (what < 83) {
        make_failing(m, c, what);
    } else if (what < 89) {
        make_transfer(m, c, what < 86 ? KIND_IN : KIND_OUT);
    } else if (what < 91) {
        make_empty(m, c);
    } else {
        make_churn(m, c, CHURN);
    }
}

/* Weights out of 100. */
static void make_what(maker *m, program_command *c)
{
    const uint32_t what = below(m, 100);
    if (what < 16) {
        make_combine(m, c, what < 4 ? COMBINE_CONSTANT : COMBINE);
    } else if (what < 26) {
        make_stencil(m, c);
    } else if (what < 36) {
        make_copy(m, c);
    } else if (what < 43) {
        make_refill(m, c);
    } else if (what < 49) {
        make_digest(m, c);
    } else if (what < 53) {
        make_count(m, c);
    } else if (what < 58) {
        make_mirror(m, c);
    } else if (what < 64) {
        make_fill(m, c);
    } else if (what < 72) {
        make_access(m, c);
    } else {
        make_seldom(m, c, what);
    }
}

static void make_manner(maker *m, program_command *c)
{
    static const uint8_t manners[] = {MANNER_KEPT,     MANNER_KEPT,     MANNER_DETACHED,
                                      MANNER_DETACHED, MANNER_DETACHED, MANNER_DETACHED,
                                      MANNER_WAITED,   MANNER_TRIED,    MANNER_TIMED};
    c->manner = manners[below(m, sizeof manners)];
}

static void make_then(maker *m, program_command *c, unsigned i)
{
    static const uint8_t thens[] = {THEN_PROGRESS, THEN_WAIT,  THEN_WAIT,    THEN_WAIT,
                                    THEN_RELEASE,  THEN_GROUP, THEN_DESTROY, THEN_CANCEL,
                                    THEN_CANCEL,   THEN_DRAIN, THEN_RETIRE,  THEN_RETIRE,
                                    THEN_REINSTATE};
    c->then = one_in(m, 3) ? thens[below(m, sizeof thens)] : THEN_NOTHING;
    c->which = below(m, PROGRAM_COMMANDS);
    if (c->then == THEN_CANCEL) { /* one of the last few, which may not have begun */
        const uint8_t back = below(m, 4);
        c->which = i < back ? 0 : (uint8_t)(i - back);
    }
    c->limited = one_in(m, 8);
    c->behind = one_in(m, 6) && c->kind != KIND_ACCESS ? 1 + below(m, i < 8 ? i + 1 : 8) : 0;
    c->behind = c->behind <= i ? c->behind : 0;
}

static void make_command(maker *m, program_command *c, unsigned i)
{
    c->place = below(m, m->limits->places);
    c->salt = test_random_below(&m->random, 1000);
    make_what(m, c);
    if (c->kind == KIND_KERNEL && c->kernel <= STENCIL && one_in(m, 12)) {
        c->kind = KIND_HOST;
    }
    if (c->kind == KIND_KERNEL && c->local == 0) {
        c->local = c->kernel == CHURN && !c->uses[0].part && one_in(m, 4) ? 0 : 1;
    }
    make_manner(m, c);
    make_then(m, c, i);
}

void program_make(program *p, const program_shapes *shapes, const program_limits *limits,
                  uint64_t seed)
{
    maker m = {.random = {seed}, .shapes = shapes, .limits = limits};
    program_limits own = *limits;
    own.fails = limits->fails && one_in(&m, 4);
    m.limits = &own;
    memset(p, 0, sizeof *p);
    p->seed = seed;
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        make_command(&m, &p->commands[i], i);
    }
}

/* Printed */

static const char *const kernel_names[KERNELS] = {
    "churn", "refill", "combine", "combine_constant", "stencil", "digest",
    "count", "mirror", "only C",  "only devices",     "broken",  "refused",
};
static const char *const kind_names[] = {"kernel",         "single task",  "host task",
                                         "copy",           "fill",         "copy from memory",
                                         "copy to memory", "empty launch", "host accessor"};
static const char *const mode_names[] = {"read_write",         "read",  "write", "discard_write",
                                         "discard_read_write", "atomic"};
static const char *const manner_names[MANNERS] = {"kept", "detached", "waited", "tried", "timed"};
static const char *const then_names[THENS] = {"",
                                              "progress",
                                              "wait for",
                                              "release",
                                              "wait for all of policy",
                                              "destroy buffer",
                                              "cancel",
                                              "drain a resource of policy",
                                              "retire a resource of policy",
                                              "reinstate a resource of policy"};

static void print_range(const char *before, const dynsel_range *range)
{
    print_message("%s", before);
    for (uint32_t d = 0; d < range->dimensions; d++) {
        print_message("%s%u", d > 0 ? "x" : "", (unsigned)range->size[d]);
    }
}

static void print_use(const program_use *use)
{
    print_message(", buffer %u %s", (unsigned)use->buffer, mode_names[use->mode]);
    if (use->part) {
        print_range(" ", &use->range);
        print_range(" from ", &use->offset);
    }
    if (use->target == DYNSEL_MEMORY_CONSTANT) {
        print_message(" constant");
    }
    print_message(" (binding %u)", (unsigned)use->binding);
}

static void print_command(const program_command *c, unsigned i)
{
    const bool has_kernel = c->kind <= KIND_HOST;
    print_message("  %2u: %s %s", i, kind_names[c->kind],
                  has_kernel ? kernel_names[c->kernel] : "");
    for (unsigned u = 0; u < c->use_count; u++) {
        print_use(&c->uses[u]);
    }
    if (c->kind == KIND_ACCESS) {
        print_message(", stays open for %u", (unsigned)c->stays);
    } else {
        print_message(", salt %u, policy %u, %s", (unsigned)c->salt, (unsigned)c->place,
                      manner_names[c->manner]);
        print_message("%s", c->limited ? ", with a time limit" : "");
        if (c->behind != 0) {
            print_message(", behind %u", i - c->behind);
        }
    }
    if (c->then != THEN_NOTHING) {
        print_message("; then %s %u", then_names[c->then], (unsigned)c->which);
    }
    print_message("\n");
}

void program_print(const program *p, const program_shapes *shapes)
{
    for (unsigned i = 0; i < shapes->count; i++) {
        const program_shape *shape = &shapes->shapes[i];
        print_message("  buffer %u: ", i);
        print_range("", &shape->range);
        print_message(" elements of %u bytes%s, skew %u\n", (unsigned)shape->width,
                      shape->inside ? ", inside" : "", (unsigned)shape->skew);
    }
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        if (program_has(p, i)) {
            print_command(&p->commands[i], i);
        }
    }
}
