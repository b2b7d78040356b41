/* SPDX-License-Identifier: Apache-2.0 */
/* What SYCL's conformance tests ask of placeholder accessors, in C: on the host, and on each OpenCL
 * device that there is. Kernels count the bytes of elements, so that one serves all sizes. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "test.h"

enum {
    COUNT = 24, /* elements of each buffer, in all dimensions together */
    LARGEST = 64,
    SKEW = 4, /* bytes off the alignment at which devices share the host's memory */
    ROOM = COUNT * LARGEST + SKEW,
    MOST_PLACES = CONFIG_DYNSEL_MAX_RESOURCES + 1
};

/* Kernels */

typedef struct shape {
    uint32_t bytes; /* of an element */
    uint32_t rows;
    uint32_t columns;
} shape;

/* Calls `each` with the first byte of each element of the launch, as numbered in the buffer. */
static dynsel_status for_each(const dynsel_launch *launch, size_t argument,
                              void (*each)(const dynsel_launch *launch, size_t byte))
{
    const shape whole = DYNSEL_LAUNCH_VALUE(launch, argument, shape);
    size_t count[3] = {1, 1, 1};
    size_t first[3] = {0, 0, 0};
    const uint32_t lacking = 3 - launch->global.dimensions;
    for (uint32_t i = lacking; i < 3; i++) {
        count[i] = launch->global.size[i - lacking];
        first[i] = launch->offset.dimensions != 0 ? launch->offset.size[i - lacking] : 0;
    }
    for (size_t s = first[0]; s < first[0] + count[0]; s++) {
        for (size_t r = first[1]; r < first[1] + count[1]; r++) {
            for (size_t c = first[2]; c < first[2] + count[2]; c++) {
                for (size_t b = 0; b < whole.bytes; b++) {
                    each(launch, ((s * whole.rows + r) * whole.columns + c) * whole.bytes + b);
                }
            }
        }
    }
    return DYNSEL_OK;
}

static void put_byte(const dynsel_launch *launch, size_t byte)
{
    unsigned char *const data = dynsel_launch_data(launch, 0);
    data[byte] = (unsigned char)(byte * 5 + 1);
}

static void change_byte(const dynsel_launch *launch, size_t byte)
{
    unsigned char *const data = dynsel_launch_data(launch, 0);
    data[byte] = (unsigned char)(data[byte] * 3 + 1);
}

static void look_at_byte(const dynsel_launch *launch, size_t byte)
{
    const unsigned char *const in = dynsel_launch_data(launch, 0);
    unsigned char *const out = dynsel_launch_data(launch, 1);
    out[byte] = (unsigned char)(in[byte] ^ 0x55);
}

#define HOST_FORM(form, shape_argument, each)                                                      \
    static dynsel_status form(const dynsel_launch *launch)                                         \
    {                                                                                              \
        return for_each(launch, (shape_argument), (each));                                         \
    }
HOST_FORM(put_on_host, 1, put_byte)
HOST_FORM(change_on_host, 1, change_byte)
HOST_FORM(look_on_host, 2, look_at_byte)

static dynsel_status count_on_host(const dynsel_launch *launch)
{
    uint32_t *const counter = dynsel_launch_data(launch, 0);
    *counter += (uint32_t)dynsel_range_count(&launch->global);
    return DYNSEL_OK;
}

#define SHAPED                                                                                     \
    "typedef struct shape { uint bytes, rows, columns; } shape;\n"                                 \
    "#define FIRST(s) (((get_global_id(2) * s.rows + get_global_id(1)) * s.columns"                \
    " + get_global_id(0)) * s.bytes)\n"                                                            \
    "#define EACH(s) for (size_t b = FIRST(s), end = b + s.bytes; b < end; b++)\n"

static const dynsel_kernel put = {.name = "put",
                                  .function = put_on_host,
                                  .source = SHAPED "kernel void put(global uchar *data, shape s)\n"
                                                   "{ EACH(s) data[b] = (uchar)(b * 5 + 1); }\n"};

static const dynsel_kernel change = {.name = "change",
                                     .function = change_on_host,
                                     .source = SHAPED
                                     "kernel void change(global uchar *data, shape s)\n"
                                     "{ EACH(s) data[b] = (uchar)(data[b] * 3 + 1); }\n"};

static const dynsel_kernel look = {
    .name = "look",
    .function = look_on_host,
    .source = SHAPED "kernel void look(global const uchar *in, global uchar *out, shape s)\n"
                     "{ EACH(s) out[b] = in[b] ^ 0x55; }\n"};

static const dynsel_kernel look_constant = {
    .name = "look_constant",
    .function = look_on_host,
    .source = SHAPED "kernel void look_constant(constant uchar *in, global uchar *out, shape s)\n"
                     "{ EACH(s) out[b] = in[b] ^ 0x55; }\n"};

static const dynsel_kernel count_items = {
    .name = "count_items",
    .function = count_on_host,
    .source = "kernel void count_items(volatile global uint *counter) { atomic_inc(counter); }\n"};

/* Where it runs: the host, and each device, with a policy of its own */

static dynsel_resource places[MOST_PLACES];
static dynsel_fixed_resource_policy policies[MOST_PLACES];
static size_t place_count;

static int begin(void **state)
{
    (void)state;
    places[0] = (dynsel_resource){.backend = &dynsel_inline_backend};
    place_count = 1;
#if CONFIG_DYNSEL_BACKEND_OPENCL
    size_t devices = 0;
    if (dynsel_opencl_select("all", places + 1, MOST_PLACES - 1, &devices) == DYNSEL_OK) {
        place_count += devices;
    }
#endif
    for (size_t i = 0; i < place_count; i++) {
        const dynsel_options options = {.resources = &places[i], .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policies[i], &options, 0));
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (size_t i = 0; i < place_count; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policies[i].policy));
    }
#if CONFIG_DYNSEL_BACKEND_OPENCL
    assert_status(DYNSEL_OK, dynsel_opencl_close());
#endif
    return 0;
}

static dynsel_status run(size_t place, dynsel_group_fn group, void *args)
{
    return dynsel_submit_command_group_and_wait(&policies[place].policy, group, args);
}

/* Data */

static _Alignas(4096) unsigned char data_room[ROOM];
static _Alignas(4096) unsigned char out_room[ROOM];

static dynsel_buffer make(void *data, size_t element_bytes, dynsel_range range)
{
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, data, element_bytes, range));
    return buffer;
}

static void finish(dynsel_buffer *buffer)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(buffer));
}

/* Every size, number of dimensions, part, mode, target, and way to a buffer */

typedef enum way {
    OWN,   /* a placeholder with a buffer, required */
    LATE,  /* one without, required with a buffer */
    TAKEN, /* a normal accessor out of a placeholder that was not required */
    PLAIN, /* no placeholder at all: only for whole buffers */
    WAYS
} way;

typedef struct use {
    dynsel_access_mode mode;
    dynsel_access_target target;
    const dynsel_kernel *kernel;
} use;

static const use uses[] = {
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &look},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_CONSTANT, &look_constant},
    {DYNSEL_ACCESS_WRITE, DYNSEL_MEMORY_GLOBAL, &put},
    {DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &change},
    {DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &put},
    {DYNSEL_ACCESS_DISCARD_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &put},
    {DYNSEL_ACCESS_ATOMIC, DYNSEL_MEMORY_GLOBAL, &change},
};

/* char, short, int, long, three floats, and a structure */
static const uint32_t sizes[] = {1, 2, 4, 8, 12, LARGEST};

typedef struct area {
    dynsel_range whole;
    dynsel_range range; /* nothing said: all */
    dynsel_range offset;
    dynsel_range single; /* a work group of one item */
} area;

#define R(dimensions, ...)                                                                         \
    {                                                                                              \
        {__VA_ARGS__}, (dimensions)                                                                \
    }

static const area areas[] = {
    {R(1, 24), {{0}, 0}, {{0}, 0}, R(1, 1)},
    {R(1, 24), R(1, 7), R(1, 5), R(1, 1)},
    {R(1, 24), R(1, 1), R(1, 23), R(1, 1)},
    {R(1, 24), R(1, 11), {{0}, 0}, R(1, 1)},
    {R(2, 4, 6), {{0}, 0}, {{0}, 0}, R(2, 1, 1)},
    {R(2, 4, 6), R(2, 2, 3), R(2, 1, 2), R(2, 1, 1)},
    {R(2, 4, 6), R(2, 4, 1), R(2, 0, 5), R(2, 1, 1)},
    {R(3, 2, 3, 4), {{0}, 0}, {{0}, 0}, R(3, 1, 1, 1)},
    {R(3, 2, 3, 4), R(3, 1, 2, 3), R(3, 1, 1, 1), R(3, 1, 1, 1)},
    {R(3, 2, 3, 4), R(3, 2, 1, 4), R(3, 0, 2, 0), R(3, 1, 1, 1)},
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

typedef struct trial {
    const use *use;
    const area *area;
    way way;
    shape shape;
    dynsel_buffer data;
    dynsel_buffer out;
} trial;

static dynsel_accessor placeholder_of(const trial *t)
{
    return (dynsel_accessor){.name = "tried",
                             .placeholder = true,
                             .buffer = t->way == LATE ? (dynsel_buffer){0} : t->data,
                             .mode = (uint8_t)t->use->mode,
                             .target = (uint8_t)t->use->target,
                             .range = t->area->range,
                             .offset = t->area->offset};
}

/* Makes accessor 0, in the way that is tried. */
static void set_tried(dynsel_handler *handler, const trial *t)
{
    const dynsel_accessor placeholder = placeholder_of(t);
    dynsel_accessor normal;
    assert_true(dynsel_accessor_has_buffer(&placeholder) == (t->way != LATE));
    if (t->way == OWN) {
        assert_status(DYNSEL_OK, dynsel_require(handler, &placeholder));
    } else if (t->way == LATE) {
        assert_status(DYNSEL_OK, dynsel_require_buffer(handler, t->data, &placeholder));
    } else if (t->way == TAKEN) {
        assert_status(DYNSEL_OK, dynsel_accessor_get_access(handler, &placeholder, &normal));
    } else {
        assert_status(DYNSEL_OK,
                      dynsel_get_access(handler, t->data, t->use->mode, t->use->target, &normal));
    }
    const bool by_itself = t->way == OWN || t->way == LATE;
    assert_true(by_itself || !dynsel_accessor_is_placeholder(&normal));
    assert_status(DYNSEL_OK,
                  dynsel_set_arg_accessor(handler, 0, by_itself ? &placeholder : &normal));
}

static dynsel_status try_it(dynsel_handler *handler, void *args)
{
    const trial *const t = args;
    uint32_t next = 1;
    set_tried(handler, t);
    if (t->use->mode == DYNSEL_ACCESS_READ) {
        const dynsel_accessor out = {.name = "out", .placeholder = true, .buffer = t->out};
        dynsel_require(handler, &out);
        dynsel_set_arg_accessor(handler, next++, &out);
    }
    dynsel_set_arg_value(handler, next, &t->shape, sizeof t->shape);
    const bool all = t->area->range.dimensions == 0;
    return dynsel_parallel_for(handler, t->use->kernel, all ? t->area->whole : t->area->range,
                               &t->area->single, &t->area->offset);
}

/* Whether an element, by its number, is in the area. */
static bool is_in(const area *a, size_t element)
{
    bool within = true;
    for (uint32_t i = a->whole.dimensions; i-- > 0;) {
        const size_t at = element % a->whole.size[i];
        const size_t first = a->offset.dimensions != 0 ? a->offset.size[i] : 0;
        element /= a->whole.size[i];
        within =
            within && (a->range.dimensions == 0 || (at >= first && at < first + a->range.size[i]));
    }
    return within;
}

static unsigned char expected_byte(const trial *t, size_t byte, bool of_out)
{
    const unsigned char before = of_out ? 0 : (unsigned char)(byte * 7 + 3);
    const bool reads_only = t->use->mode == DYNSEL_ACCESS_READ;
    if (of_out != reads_only || !is_in(t->area, byte / t->shape.bytes)) {
        return before;
    }
    if (of_out) {
        return (unsigned char)((byte * 7 + 3) ^ 0x55);
    }
    return (unsigned char)(t->use->kernel == &put ? byte * 5 + 1 : (size_t)before * 3 + 1);
}

static void check_bytes(const trial *t, const unsigned char *bytes, bool of_out, size_t place)
{
    for (size_t i = 0; i < (size_t)COUNT * t->shape.bytes; i++) {
        if (bytes[i] != expected_byte(t, i, of_out)) {
            print_error("place %zu, %s, mode %d, way %d, area %zu, %u bytes: byte %zu of %s\n",
                        place, t->use->kernel->name, (int)t->use->mode, (int)t->way,
                        (size_t)(t->area - areas), (unsigned)t->shape.bytes, i,
                        of_out ? "out" : "data");
            assert_int_equal(bytes[i], expected_byte(t, i, of_out));
        }
    }
}

static void check_on_host(const trial *t, size_t place)
{
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, t->data, DYNSEL_ACCESS_READ));
    assert_int_equal(seen.bytes, (size_t)COUNT * t->shape.bytes);
    check_bytes(t, seen.data, false, place);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
}

static void try_at(trial t, size_t place, size_t skew)
{
    const dynsel_range *const whole = &t.area->whole;
    unsigned char *const data = data_room + skew;
    unsigned char *const out = out_room + skew;
    t.shape.columns = (uint32_t)whole->size[whole->dimensions - 1];
    t.shape.rows = whole->dimensions > 1 ? (uint32_t)whole->size[whole->dimensions - 2] : 1;
    for (size_t i = 0; i < (size_t)COUNT * t.shape.bytes; i++) {
        data[i] = (unsigned char)(i * 7 + 3);
    }
    (void)memset(out, 0, (size_t)COUNT * t.shape.bytes);
    t.data = make(data, t.shape.bytes, *whole);
    t.out = make(out, t.shape.bytes, *whole);
    assert_status(DYNSEL_OK, run(place, try_it, &t));
    check_on_host(&t, place);
    finish(&t.data);
    finish(&t.out);
    check_bytes(&t, data, false, place);
    check_bytes(&t, out, true, place);
}

static void try_all_at(size_t place, size_t skew, uint32_t bytes)
{
    for (size_t u = 0; u < LENGTH(uses); u++) {
        for (size_t a = 0; a < LENGTH(areas); a++) {
            const bool all = areas[a].range.dimensions == 0;
            for (way w = OWN; w < (all ? WAYS : PLAIN); w++) {
                try_at(
                    (trial){
                        .use = &uses[u], .area = &areas[a], .way = w, .shape = {.bytes = bytes}},
                    place, skew);
            }
        }
    }
}

static void each_mode_size_and_part_is_accessed(void **state)
{
    (void)state;
    for (size_t place = 0; place < place_count; place++) {
        for (size_t s = 0; s < LENGTH(sizes); s++) {
            try_all_at(place, 0, sizes[s]);
            try_all_at(place, SKEW, sizes[s]);
        }
    }
}

/* What goes wrong, and what does not */

static dynsel_buffer some;    /* of 4 words, 1 to 4 */
static dynsel_buffer another; /* of 4 words, all 0 */
static dynsel_buffer ended;
static dynsel_accessor of_before; /* a normal one, of a command group that is over */
static uint32_t some_words[4];
static uint32_t other_words[4];

static const shape words_shape = {.bytes = 4, .rows = 1, .columns = 4};
static const dynsel_accessor of_none = {.name = "tried", .placeholder = true};

static dynsel_accessor of_some(dynsel_access_mode mode)
{
    return (dynsel_accessor){
        .name = "tried", .placeholder = true, .buffer = some, .mode = (uint8_t)mode};
}

/* Launches a change of the accessor's buffer. */
static dynsel_status change_it(dynsel_handler *handler, const dynsel_accessor *accessor)
{
    dynsel_set_arg_accessor(handler, 0, accessor);
    dynsel_set_arg_value(handler, 1, &words_shape, sizeof words_shape);
    return dynsel_parallel_for(handler, &change, DYNSEL_RANGE(4), NULL, NULL);
}

/* The accessors of an attempt. */
typedef enum which {
    NO_STEP,
    DEFAULT,      /* of no buffer */
    DEFAULT_COPY, /* a copy of that */
    BOUND,        /* of `some` */
    BOUND_COPY,
    READER, /* of `some` too */
    DEAD,   /* of a buffer that was ended */
    ON_HOST,
    LOCAL,
    NORMAL, /* what is got or taken */
    BEFORE, /* a normal one of a command group that is over */
    MISSING,
    WHICHES
} which;

typedef enum verb { REQUIRE, WITH_SOME, WITH_ANOTHER, WITH_NONE, TAKE, GET, GET_DEAD } verb;

/* So what is required may depend: the kernel may use what was. */
typedef struct attempt {
    struct {
        verb verb;
        which which;
    } steps[3];
    which used; /* by the kernel, which changes its buffer */
    dynsel_status expected;
    const char *says; /* where it is refused */
} attempt;

static const attempt attempts[] = {
    {{{REQUIRE, BOUND}}, BOUND, DYNSEL_OK, NULL},
    {{{REQUIRE, BOUND}, {REQUIRE, BOUND}, {WITH_SOME, BOUND}}, BOUND, DYNSEL_OK, NULL},
    {{{REQUIRE, BOUND}}, BOUND_COPY, DYNSEL_OK, NULL},
    {{{REQUIRE, BOUND}, {REQUIRE, READER}}, BOUND, DYNSEL_OK, NULL},
    {{{WITH_SOME, DEFAULT}}, DEFAULT, DYNSEL_OK, NULL},
    {{{GET, NORMAL}}, NORMAL, DYNSEL_OK, NULL},
    {{{TAKE, BOUND}}, NORMAL, DYNSEL_OK, NULL},
    {{{WITH_SOME, DEFAULT}, {TAKE, DEFAULT}}, NORMAL, DYNSEL_OK, NULL},
    {{{REQUIRE, NO_STEP}}, DEFAULT, DYNSEL_E_INVALID, "has no buffer"},
    {{{REQUIRE, DEFAULT}}, DEFAULT, DYNSEL_E_INVALID, "has no buffer"},
    {{{WITH_NONE, DEFAULT}}, DEFAULT, DYNSEL_E_INVALID, "has no buffer"},
    {{{TAKE, DEFAULT}}, NORMAL, DYNSEL_E_INVALID, "tried"},
    {{{WITH_SOME, DEFAULT}}, DEFAULT_COPY, DYNSEL_E_INVALID, "not with a copy"},
    {{{REQUIRE, NO_STEP}}, BOUND, DYNSEL_E_INVALID, "was not required"},
    {{{REQUIRE, READER}}, BOUND, DYNSEL_E_INVALID, "was not required"},
    {{{REQUIRE, DEFAULT}, {WITH_SOME, DEFAULT}}, DEFAULT, DYNSEL_E_INVALID, "has no buffer"},
    {{{WITH_SOME, DEFAULT}, {WITH_ANOTHER, DEFAULT}}, DEFAULT, DYNSEL_E_INVALID, "another buffer"},
    {{{WITH_ANOTHER, BOUND}}, BOUND, DYNSEL_E_INVALID, "use a placeholder that has none"},
    {{{REQUIRE, DEAD}}, DEAD, DYNSEL_E_STALE, "tried"},
    {{{REQUIRE, BOUND}, {GET_DEAD, NORMAL}}, BOUND, DYNSEL_E_STALE, ""},
    {{{REQUIRE, ON_HOST}}, BOUND, DYNSEL_E_INVALID, "dynsel_host_accessor_open()"},
    {{{REQUIRE, LOCAL}}, BOUND, DYNSEL_E_INVALID, "local memory"},
    {{{GET, NORMAL}, {REQUIRE, NORMAL}}, NORMAL, DYNSEL_E_INVALID, "no placeholder"},
    {{{GET, NORMAL}}, BEFORE, DYNSEL_E_INVALID, "another command group"},
    {{{REQUIRE, BOUND}, {REQUIRE, MISSING}}, BOUND, DYNSEL_E_INVALID, "NULL"},
};

static void do_step(dynsel_handler *handler, verb what, const dynsel_accessor *accessor,
                    dynsel_accessor *normal)
{
    const dynsel_buffer with[] = {[WITH_SOME] = some, [WITH_ANOTHER] = another, [WITH_NONE] = {0}};
    if (what == REQUIRE) {
        dynsel_require(handler, accessor);
    } else if (what == TAKE) {
        dynsel_accessor_get_access(handler, accessor, normal);
    } else if (what == GET || what == GET_DEAD) {
        dynsel_get_access(handler, what == GET ? some : ended, DYNSEL_ACCESS_READ_WRITE,
                          DYNSEL_MEMORY_GLOBAL, normal);
    } else {
        dynsel_require_buffer(handler, with[what], accessor);
    }
}

static dynsel_status do_attempt(dynsel_handler *handler, void *args)
{
    const attempt *const a = args;
    dynsel_accessor those[WHICHES] = {
        [DEFAULT] = of_none, [BOUND] = of_some(DYNSEL_ACCESS_READ_WRITE), [BEFORE] = of_before};
    those[DEFAULT_COPY] = those[DEFAULT];
    those[BOUND_COPY] = those[DEAD] = those[ON_HOST] = those[LOCAL] = those[BOUND];
    those[READER] = of_some(DYNSEL_ACCESS_READ);
    those[DEAD].buffer = ended;
    those[ON_HOST].target = DYNSEL_MEMORY_HOST;
    those[LOCAL].target = DYNSEL_MEMORY_LOCAL;
    for (size_t i = 0; i < LENGTH(a->steps) && a->steps[i].which != NO_STEP; i++) {
        const which w = a->steps[i].which;
        do_step(handler, a->steps[i].verb, w != MISSING ? &those[w] : NULL, &those[NORMAL]);
    }
    return change_it(handler, &those[a->used]);
}

static dynsel_status keep_normal(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_get_access(handler, some, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL, &of_before);
    return change_it(handler, &of_before);
}

static void make_words(void)
{
    for (uint32_t i = 0; i < 4; i++) {
        some_words[i] = i + 1;
        other_words[i] = 0;
    }
    ended = make(other_words, sizeof other_words[0], DYNSEL_RANGE(4));
    dynsel_buffer copy = ended;
    finish(&copy);
    /* One of these has the ended one's place. */
    some = make(some_words, sizeof some_words[0], DYNSEL_RANGE(4));
    another = make(other_words, sizeof other_words[0], DYNSEL_RANGE(4));
}

static void finish_words(void)
{
    finish(&some);
    finish(&another);
}

/* That some_words, in its buffer no more, was changed so often, byte by byte. */
static void check_words(unsigned changes)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t word = i + 1;
        unsigned char bytes[sizeof word];
        (void)memcpy(bytes, &word, sizeof word);
        for (size_t b = 0; b < sizeof word * changes; b++) {
            unsigned char *const byte = &bytes[b % sizeof word];
            *byte = (unsigned char)(*byte * 3 + 1);
        }
        (void)memcpy(&word, bytes, sizeof word);
        assert_int_equal(some_words[i], word);
        assert_int_equal(other_words[i], 0);
    }
}

static void wrong_accessor_use_is_refused_and_starts_nothing(void **state)
{
    (void)state;
    for (size_t place = 0; place < place_count; place++) {
        unsigned changes = 1;
        make_words();
        assert_status(DYNSEL_OK, run(place, keep_normal, NULL));
        for (size_t i = 0; i < LENGTH(attempts); i++) {
            attempt a = attempts[i];
            const dynsel_status status = run(place, do_attempt, &a);
            if (status != attempts[i].expected) {
                print_error("attempt %zu, place %zu\n", i, place);
            }
            assert_status(attempts[i].expected, status);
            if (status != DYNSEL_OK) {
                assert_error_says(attempts[i].says);
            }
            changes += status == DYNSEL_OK;
        }
        finish_words();
        check_words(changes);
    }
}

/* Accessors that cannot be, required and not used */

typedef struct refusal {
    uint8_t mode;
    uint8_t target;
    dynsel_range range;
    dynsel_range offset;
} refusal;

#define NONE                                                                                       \
    {                                                                                              \
        {0}, 0                                                                                     \
    }

static const refusal refusals[] = {
    {DYNSEL_ACCESS_WRITE, DYNSEL_MEMORY_CONSTANT, NONE, NONE},
    {DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_CONSTANT, NONE, NONE},
    {DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_CONSTANT, NONE, NONE},
    {DYNSEL_ACCESS_DISCARD_READ_WRITE, DYNSEL_MEMORY_CONSTANT, NONE, NONE},
    {DYNSEL_ACCESS_ATOMIC, DYNSEL_MEMORY_CONSTANT, NONE, NONE},
    {DYNSEL_ACCESS_ATOMIC + 1, DYNSEL_MEMORY_GLOBAL, NONE, NONE},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_HOST + 1, NONE, NONE},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, 5), NONE},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, 2), R(1, 3)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, 1), R(1, 4)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, 1), R(1, SIZE_MAX)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, SIZE_MAX), R(1, 1)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, 0), R(1, 5)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, NONE, R(1, 1)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(2, 1, 4), NONE},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, R(1, 1), R(2, 0, 0)},
    {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, {{1}, 4}, NONE},
};

static dynsel_status require_refused(dynsel_handler *handler, void *args)
{
    const refusal *const r = args;
    const dynsel_accessor wrong = {.name = "wrong",
                                   .placeholder = true,
                                   .buffer = some,
                                   .mode = r->mode,
                                   .target = r->target,
                                   .range = r->range,
                                   .offset = r->offset};
    const dynsel_accessor right = of_some(DYNSEL_ACCESS_READ_WRITE);
    assert_status(DYNSEL_OK, dynsel_require(handler, &right));
    assert_status(DYNSEL_E_INVALID, dynsel_require(handler, &wrong));
    return change_it(handler, &right);
}

static void impossible_accessors_are_refused(void **state)
{
    (void)state;
    make_words();
    for (size_t i = 0; i < LENGTH(refusals); i++) {
        refusal r = refusals[i];
        assert_status(DYNSEL_E_INVALID, run(i % place_count, require_refused, &r));
        assert_error_says("wrong");
    }
    finish_words();
    check_words(0);
}

/* One const placeholder, in many command groups, everywhere in turn */

typedef struct view {
    const char *name;
    struct {
        dynsel_accessor data;
        shape shape;
    } inner;
} view;

static dynsel_status change_view(dynsel_handler *handler, void *args)
{
    const view copy = *(const view *)args; /* passed around by value */
    dynsel_require(handler, &copy.inner.data);
    dynsel_set_arg_accessor(handler, 0, &copy.inner.data);
    dynsel_set_arg_value(handler, 1, &copy.inner.shape, sizeof copy.inner.shape);
    return dynsel_parallel_for(handler, &change, DYNSEL_RANGE(4), NULL, NULL);
}

static void placeholder_serves_many_command_groups_and_queues(void **state)
{
    enum { ROUNDS = 12 };
    (void)state;
    make_words();
    view v = {.name = "v",
              .inner = {{.name = "v", .placeholder = true, .buffer = some}, words_shape}};
    const dynsel_accessor before = v.inner.data;
    for (size_t i = 0; i < ROUNDS; i++) {
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&policies[i % place_count].policy,
                                                             change_view, &v, NULL));
    }
    for (size_t i = 0; i < place_count; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_wait_group(dynsel_get_submission_group(&policies[i].policy)));
    }
    assert_memory_equal(&before, &v.inner.data, sizeof before);
    finish_words();
    check_words(ROUNDS);
}

/* The same late placeholder, for one buffer and then the other, in one command group each */
static dynsel_status clear_late(dynsel_handler *handler, void *args)
{
    static const uint32_t zero = 0;
    dynsel_require_buffer(handler, *(const dynsel_buffer *)args, &of_none);
    return dynsel_fill(handler, &of_none, &zero, sizeof zero);
}

static void unbound_placeholder_serves_several_buffers_in_turn(void **state)
{
    (void)state;
    for (size_t place = 0; place < place_count; place++) {
        make_words();
        assert_status(DYNSEL_OK, run(place, clear_late, &another));
        assert_status(DYNSEL_OK, run(place, clear_late, &some));
        assert_false(dynsel_accessor_has_buffer(&of_none));
        finish_words();
        for (uint32_t i = 0; i < 4; i++) {
            assert_true(some_words[i] == 0 && other_words[i] == 0);
        }
    }
}

/* Modes on one buffer add up: discarding with one does not lose what the other reads. */
static dynsel_status read_and_write(dynsel_handler *handler, void *args)
{
    const dynsel_accessor in = of_some(DYNSEL_ACCESS_READ);
    const dynsel_accessor out = of_some(*(const dynsel_access_mode *)args);
    dynsel_require(handler, &out);
    dynsel_require(handler, &in);
    dynsel_set_arg_accessor(handler, 0, &in);
    dynsel_set_arg_accessor(handler, 1, &out);
    dynsel_set_arg_value(handler, 2, &words_shape, sizeof words_shape);
    return dynsel_parallel_for(handler, &look, DYNSEL_RANGE(4), NULL, NULL);
}

static void two_placeholders_of_one_buffer_may_differ_in_mode(void **state)
{
    (void)state;
    for (size_t place = 0; place < place_count; place++) {
        for (int m = DYNSEL_ACCESS_READ_WRITE; m <= DYNSEL_ACCESS_ATOMIC; m++) {
            dynsel_access_mode mode = (dynsel_access_mode)m;
            make_words();
            if (mode != DYNSEL_ACCESS_READ) {
                assert_status(DYNSEL_OK, run(place, read_and_write, &mode));
            }
            finish_words();
            for (uint32_t i = 0; i < 4; i++) {
                const uint32_t mask = mode != DYNSEL_ACCESS_READ ? 0x55555555 : 0;
                assert_int_equal(some_words[i], (i + 1) ^ mask);
            }
        }
    }
}

static dynsel_status count_up(dynsel_handler *handler, void *args)
{
    const dynsel_accessor counter = {.name = "counter",
                                     .placeholder = true,
                                     .mode = DYNSEL_ACCESS_ATOMIC,
                                     .buffer = *(const dynsel_buffer *)args};
    dynsel_require(handler, &counter);
    dynsel_set_arg_accessor(handler, 0, &counter);
    return dynsel_parallel_for(handler, &count_items, DYNSEL_RANGE(1000), NULL, NULL);
}

static void atomic_placeholder_counts_on_all_resources(void **state)
{
    uint32_t counter = 0;
    (void)state;
    dynsel_buffer buffer = make(&counter, sizeof counter, DYNSEL_RANGE(1));
    for (size_t i = 0; i < 2 * place_count; i++) {
        assert_status(DYNSEL_OK, run(i % place_count, count_up, &buffer));
    }
    finish(&buffer);
    assert_int_equal(counter, 2000 * place_count);
}

/* Host tasks, and what the host may see meanwhile */

static dynsel_status look_in_host_task(dynsel_handler *handler, void *args)
{
    const dynsel_accessor in = of_some(DYNSEL_ACCESS_READ_WRITE);
    (void)args;
    dynsel_require(handler, &in);
    dynsel_set_arg_accessor(handler, 0, &in);
    return dynsel_host_task(handler, count_on_host);
}

static void host_task_accepts_placeholder(void **state)
{
    dynsel_host_accessor seen = {0};
    (void)state;
    make_words();
    assert_status(DYNSEL_OK, run(0, look_in_host_task, NULL)); /* adds the items, none are said */
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, some, DYNSEL_ACCESS_READ));
    assert_int_equal(((const uint32_t *)seen.data)[3], 4);
    assert_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&some));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    finish_words();
    assert_status(DYNSEL_E_INVALID, dynsel_host_accessor_open(&seen, some, DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_E_STALE, dynsel_host_accessor_open(&seen, ended, DYNSEL_ACCESS_READ));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_mode_size_and_part_is_accessed),
        cmocka_unit_test(wrong_accessor_use_is_refused_and_starts_nothing),
        cmocka_unit_test(impossible_accessors_are_refused),
        cmocka_unit_test(placeholder_serves_many_command_groups_and_queues),
        cmocka_unit_test(unbound_placeholder_serves_several_buffers_in_turn),
        cmocka_unit_test(two_placeholders_of_one_buffer_may_differ_in_mode),
        cmocka_unit_test(atomic_placeholder_counts_on_all_resources),
        cmocka_unit_test(host_task_accepts_placeholder),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
