/* SPDX-License-Identifier: Apache-2.0 */
/* The buffers and host accessors of random programs. */
#include "groups/play_inside.h"

#include <string.h>

#include "random.h"

enum {
    /* So that what an open host accessor holds up never fills a table: the call that waits for room
     * would wait for ever. */
    MOST_HELD_UP = CONFIG_DYNSEL_MAX_READERS / 2 < CONFIG_DYNSEL_MAX_IN_FLIGHT / 4
                       ? CONFIG_DYNSEL_MAX_READERS / 2
                       : CONFIG_DYNSEL_MAX_IN_FLIGHT / 4,
    ALIGNMENT = CONFIG_DYNSEL_HAS_MUCH_RAM ? 4096 : 16,
    SPACING = CONFIG_DYNSEL_HAS_MUCH_RAM ? 4096 : PROGRAM_BYTES + 16,
};

/* What stays from program to program. */
model play_model;
_Alignas(ALIGNMENT) static unsigned char memory[PROGRAM_BUFFERS][SPACING];
player play_now;
bool play_is_silent;
bool play_is_told(void)
{
    const bool first = !play_now.wrong;
    play_now.wrong = true;
    return first && !play_is_silent;
}

bool play_is_status(dynsel_status expected, dynsel_status status, const char *what, unsigned i)
{
    char text[240] = "";
    if (status != DYNSEL_OK) {
        (void)dynsel_error_text(NULL, text, sizeof text);
    }
    return holds(expected == status, "%s %u: %s instead of %s; last error: %s", what, i,
                 dynsel_status_name(status), dynsel_status_name(expected), text);
}

bool play_may_be(const play_world *world, dynsel_status status)
{
    for (unsigned i = 0; i < sizeof world->allowed / sizeof world->allowed[0]; i++) {
        if (status != DYNSEL_OK && world->follows && world->allowed[i] == status) {
            return true;
        }
    }
    return false;
}

/* Buffers */

static size_t bytes_of(unsigned b)
{
    return shape_bytes(&play_shapes.shapes[b]);
}

void play_compare(const unsigned char *data, unsigned b, const char *when, unsigned i)
{
    const unsigned char *expected = play_model.buffers[b].data;
    for (size_t byte = 0; byte < bytes_of(b); byte++) {
        if (!holds(data[byte] == expected[byte], "%s %u: buffer %u has %x at byte %u, not %x", when,
                   i, b, (unsigned)data[byte], (unsigned)byte, (unsigned)expected[byte])) {
            return;
        }
    }
}

void play_init_buffer(unsigned b)
{
    const program_shape *shape = &play_shapes.shapes[b];
    model_buffer *expected = &play_model.buffers[b];
    unsigned char *data = shape->inside ? NULL : memory[b] + shape->skew;
    if (shape->inside) {
        memset(expected->data, 0, sizeof expected->data);
    } else {
        memcpy(data, expected->data, bytes_of(b));
    }
    expected->causes = 0;
    expected->doubts = 0;
    expected->doubt_causes = 0;
    play_buffers[b].token = 0;
    (void)play_is_status(DYNSEL_OK,
                         dynsel_buffer_init(&play_buffers[b], data, shape->width, shape->range),
                         "init of buffer", b);
}

void play_deinit_buffer(const play_world *world, unsigned b)
{
    const dynsel_status status = dynsel_buffer_deinit(&play_buffers[b]);
    if (play_model.buffers[b].causes != 0) {
        (void)holds(status == DYNSEL_E_DEPENDENCY || play_may_be(world, status),
                    "end of buffer %u, whose contents are lost: %s", b, dynsel_status_name(status));
        return;
    }
    if (play_may_be(world, status) || !play_is_status(DYNSEL_OK, status, "end of buffer", b)) {
        return;
    }
    if (!play_shapes.shapes[b].inside) {
        play_compare(memory[b] + play_shapes.shapes[b].skew, b, "end of buffer", b);
    }
}

static void fill_at_random(unsigned b, test_random *random)
{
    unsigned char *data = play_model.buffers[b].data;
    for (size_t i = 0; i < PROGRAM_BYTES; i++) {
        data[i] = (unsigned char)test_random_next(random);
    }
}

void play_begin(const play_world *world, uint64_t seed)
{
    (void)world;
    test_random random = {seed};
    program_make_shapes(&play_shapes, seed);
    for (unsigned b = 0; b < play_shapes.count; b++) {
        fill_at_random(b, &random);
        play_init_buffer(b);
    }
}

/* Host accessors */

void play_find_out(unsigned b, bool may_be_lost, uint64_t causes, unsigned i)
{
    dynsel_host_accessor seen = {.data = NULL};
    dynsel_status status = dynsel_host_accessor_open(&seen, play_buffers[b], DYNSEL_ACCESS_READ);
    if (play_may_be(play_now.world, status) &&
        status != DYNSEL_E_DEPENDENCY) { /* a fetch may fail once */
        status = dynsel_host_accessor_open(&seen, play_buffers[b], DYNSEL_ACCESS_READ);
    }
    const uint64_t causes_before = play_model.buffers[b].causes;
    if (status == DYNSEL_OK) {
        journal_find(&play_model, b, causes_before);
        (void)holds(causes_before == 0, "buffer %u is not lost after command %u", b, i);
        play_compare(seen.data, b, "after failed command", i);
        (void)play_is_status(DYNSEL_OK, dynsel_host_accessor_close(&seen), "close after command",
                             i);
        return;
    }
    const bool is_lost =
        holds(may_be_lost || causes_before != 0, "buffer %u is lost by command %u: %s", b, i,
              dynsel_status_name(status));
    journal_find(&play_model, b, causes_before != 0 || !is_lost ? causes_before : causes);
}

uint64_t play_open_commands(void)
{
    uint64_t open = 0;
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        open |= play_now.open[i].open ? UINT64_C(1) << play_now.open[i].command : 0;
    }
    return open;
}

static void close_access(open_access *access)
{
    if (access->open) {
        access->open = false;
        (void)play_is_status(DYNSEL_OK, dynsel_host_accessor_close(&access->accessor),
                             "close of host accessor", access->command);
    }
}

void play_close_all(void)
{
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        close_access(&play_now.open[i]);
    }
    play_now.held_up = 0;
}

void play_close_some(unsigned i)
{
    for (unsigned o = 0; o < MOST_OPEN; o++) {
        if (play_now.open[o].closes <= i) {
            close_access(&play_now.open[o]);
        }
    }
    if (play_open_commands() == 0) {
        play_now.held_up = 0;
    } else if (++play_now.held_up > MOST_HELD_UP) {
        play_close_all();
    }
}

static open_access *free_access(void)
{
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        if (!play_now.open[i].open) {
            return &play_now.open[i];
        }
    }
    close_access(&play_now.open[0]);
    return &play_now.open[0];
}

static bool uses_what_is_open(const program_command *c)
{
    bool uses = false;
    for (unsigned o = 0; o < MOST_OPEN; o++) {
        for (unsigned u = 0; u < c->use_count; u++) {
            uses |= play_now.open[o].open && play_now.open[o].buffer == c->uses[u].buffer;
        }
    }
    return uses;
}

void play_let_through(unsigned i, uint64_t before)
{
    bool waits = (before & play_open_commands()) != 0;
    for (unsigned j = 0; j < PROGRAM_COMMANDS; j++) {
        const bool is_in_line = j == i || (before >> j & 1u) != 0;
        waits |= is_in_line && uses_what_is_open(&play_now.program->commands[j]);
    }
    if (waits) {
        play_close_all();
    }
}

static dynsel_status open_it(open_access *access, const program_command *c)
{
    access->accessor = (dynsel_host_accessor){.data = NULL};
    const dynsel_buffer buffer = play_buffers[c->uses[0].buffer];
    const dynsel_access_mode mode = (dynsel_access_mode)c->uses[0].mode;
    return c->salt % 4 == 0 ? dynsel_host_accessor_open_for(&access->accessor, buffer, mode,
                                                            UINT64_C(20) * 1000 * 1000 * 1000)
                            : dynsel_host_accessor_open(&access->accessor, buffer, mode);
}

void play_run_access(unsigned i)
{
    const program_command *c = &play_now.program->commands[i];
    const unsigned b = c->uses[0].buffer;
    const uint64_t before = model_before(&play_model, play_now.program, i);
    const uint64_t surely = model_surely_before(&play_model, play_now.program, i);
    open_access *access = free_access();
    dynsel_status status = DYNSEL_E_BUSY;
    if ((before & play_open_commands()) != 0) { /* this thread would wait for itself */
        status = open_it(access, c);
        (void)((surely & play_open_commands()) == 0 ||
               play_is_status(DYNSEL_E_BUSY, status, "host accessor", i));
    }
    if (status == DYNSEL_E_BUSY) {
        play_let_through(PROGRAM_COMMANDS, before);
        status = open_it(access, c);
    }
    const model_outcome expected = model_foresee(&play_model, play_now.program, &play_shapes, i);
    const bool by_doubt = expected.in_doubt && status == DYNSEL_E_DEPENDENCY;
    if (play_may_be(play_now.world, status) || by_doubt ||
        !play_is_status(expected.status, status, "host accessor", i)) {
        journal_pass_over(&play_model, play_now.program, i, 0);
        if (play_now.world->follows) {
            play_find_out(b, play_now.world->may_lose, UINT64_C(1) << i, i);
        }
        return;
    }
    if (status == DYNSEL_OK) {
        if (!mode_discards(c->uses[0].mode)) {
            play_compare(access->accessor.data, b, "host accessor", i);
        }
        if (mode_writes(c->uses[0].mode)) {
            access_write(access->accessor.data, access->accessor.bytes, c);
        }
        access->open = true;
        access->command = i;
        access->buffer = c->uses[0].buffer;
        access->closes = i + 1 + (play_now.world->follows ? 0 : c->stays);
    }
    journal_run(&play_model, play_now.program, &play_shapes, i);
}

void play_destroy(unsigned b)
{
    bool open = false;
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        open |= play_now.open[i].open && play_now.open[i].buffer == b;
    }
    if (open) {
        (void)play_is_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&play_buffers[b]),
                             "end of open buffer", b);
        return;
    }
    const dynsel_status status = dynsel_buffer_deinit(&play_buffers[b]);
    if (status == DYNSEL_E_BUSY) {
        return;
    }
    const bool in_doubt = play_model.buffers[b].doubts != 0 && play_now.world->devices_fail;
    const bool lost =
        play_model.buffers[b].causes != 0 || (in_doubt && status == DYNSEL_E_DEPENDENCY);
    if (play_may_be(play_now.world, status) && play_buffers[b].token != 0) { /* it is still there */
        return;
    }
    if (!play_may_be(play_now.world, status)) {
        (void)play_is_status(lost ? DYNSEL_E_DEPENDENCY : DYNSEL_OK, status, "end of buffer", b);
    }
    if (status == DYNSEL_OK && !play_shapes.shapes[b].inside) {
        play_compare(memory[b] + play_shapes.shapes[b].skew, b, "end of buffer", b);
    }
    play_init_buffer(b);
    journal_renew(&play_model, b, play_shapes.shapes[b].inside);
}
