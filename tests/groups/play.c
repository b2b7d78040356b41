/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/play.h"
#include "groups/play_group.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "test.h"

enum {
    MOST_OPEN = 2,
    /* So that what an open host accessor holds up never fills a table: the call that waits for room
     * would wait for ever. */
    MOST_HELD_UP = CONFIG_DYNSEL_MAX_READERS / 2 < CONFIG_DYNSEL_MAX_IN_FLIGHT / 4
                       ? CONFIG_DYNSEL_MAX_READERS / 2
                       : CONFIG_DYNSEL_MAX_IN_FLIGHT / 4,
    MOST_KEPT = CONFIG_DYNSEL_MAX_IN_FLIGHT / 2 - 1,
    ALIGNMENT = CONFIG_DYNSEL_HAS_MUCH_RAM ? 4096 : 16,
    SPACING = CONFIG_DYNSEL_HAS_MUCH_RAM ? 4096 : PROGRAM_BYTES + 16,
};

/* What a command is while the program runs. */
typedef struct piece {
    bool kept; /* its submission is owed a wait or a release */
    dynsel_submission submission;
    model_outcome expected;
    dynsel_policy *policy;
} piece;

typedef struct open_access {
    bool open;
    unsigned command;
    unsigned closes; /* before this command */
    uint8_t buffer;
    dynsel_host_accessor accessor;
} open_access;

typedef struct player {
    const play_world *world;
    const program *program;
    piece pieces[PROGRAM_COMMANDS];
    open_access open[MOST_OPEN];
    unsigned held_up;                     /* commands since the first of these was opened */
    unsigned kept;                        /* submissions */
    unsigned failures_of[PROGRAM_PLACES]; /* that its group has to tell */
    bool wrong;
} player;

/* What stays from program to program. */
static model model_now;
_Alignas(ALIGNMENT) static unsigned char memory[PROGRAM_BUFFERS][SPACING];
static player play;
static bool is_silent; /* while a smaller program is looked for */

/* Only the first thing that goes wrong in a program is told. */
static bool is_told(void)
{
    const bool first = !play.wrong;
    play.wrong = true;
    return first && !is_silent;
}

/* The condition; where it does not hold, the rest is told. */
#define holds(condition, ...)                                                                      \
    ((condition) || (is_told() && (print_error(__VA_ARGS__), print_error("\n"), false)))

static bool is_status(dynsel_status expected, dynsel_status status, const char *what, unsigned i)
{
    char text[240] = "";
    if (status != DYNSEL_OK) {
        (void)dynsel_error_text(NULL, text, sizeof text);
    }
    return holds(expected == status, "%s %u: %s instead of %s; last error: %s", what, i,
                 dynsel_status_name(status), dynsel_status_name(expected), text);
}

/* Whether a failure that nobody foresaw is one of those that can happen in this world. */
static bool may_be(const play_world *world, dynsel_status status)
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

static void compare(const unsigned char *data, unsigned b, const char *when, unsigned i)
{
    const unsigned char *expected = model_now.buffers[b].data;
    for (size_t byte = 0; byte < bytes_of(b); byte++) {
        if (!holds(data[byte] == expected[byte], "%s %u: buffer %u has %x at byte %u, not %x", when,
                   i, b, (unsigned)data[byte], (unsigned)byte, (unsigned)expected[byte])) {
            return;
        }
    }
}

static void init_buffer(unsigned b)
{
    const program_shape *shape = &play_shapes.shapes[b];
    model_buffer *expected = &model_now.buffers[b];
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
    (void)is_status(DYNSEL_OK,
                    dynsel_buffer_init(&play_buffers[b], data, shape->width, shape->range),
                    "init of buffer", b);
}

static void deinit_buffer(const play_world *world, unsigned b)
{
    const dynsel_status status = dynsel_buffer_deinit(&play_buffers[b]);
    if (model_now.buffers[b].causes != 0) {
        (void)holds(status == DYNSEL_E_DEPENDENCY || may_be(world, status),
                    "end of buffer %u, whose contents are lost: %s", b, dynsel_status_name(status));
        return;
    }
    if (may_be(world, status) || !is_status(DYNSEL_OK, status, "end of buffer", b)) {
        return;
    }
    if (!play_shapes.shapes[b].inside) {
        compare(memory[b] + play_shapes.shapes[b].skew, b, "end of buffer", b);
    }
}

static void fill_at_random(unsigned b, test_random *random)
{
    unsigned char *data = model_now.buffers[b].data;
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
        init_buffer(b);
    }
}

/* Host accessors */

/* Looks at what a buffer has now, when nothing is under way. After failures it either is as the
 * interpreter has it, or may be lost. */
static void find_out(unsigned b, bool may_be_lost, uint64_t causes, unsigned i)
{
    dynsel_host_accessor seen = {.data = NULL};
    dynsel_status status = dynsel_host_accessor_open(&seen, play_buffers[b], DYNSEL_ACCESS_READ);
    if (may_be(play.world, status) && status != DYNSEL_E_DEPENDENCY) { /* a fetch may fail once */
        status = dynsel_host_accessor_open(&seen, play_buffers[b], DYNSEL_ACCESS_READ);
    }
    model_buffer *const buffer = &model_now.buffers[b];
    buffer->doubts = 0;
    buffer->doubt_causes = 0;
    if (status == DYNSEL_OK) {
        (void)holds(buffer->causes == 0, "buffer %u is not lost after command %u", b, i);
        compare(seen.data, b, "after failed command", i);
        (void)is_status(DYNSEL_OK, dynsel_host_accessor_close(&seen), "close after command", i);
        return;
    }
    if (holds(may_be_lost || buffer->causes != 0, "buffer %u is lost by command %u: %s", b, i,
              dynsel_status_name(status))) {
        buffer->causes = buffer->causes != 0 ? buffer->causes : causes;
    }
}

static uint64_t open_commands(void)
{
    uint64_t open = 0;
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        open |= play.open[i].open ? UINT64_C(1) << play.open[i].command : 0;
    }
    return open;
}

static void close_access(open_access *access)
{
    if (access->open) {
        access->open = false;
        (void)is_status(DYNSEL_OK, dynsel_host_accessor_close(&access->accessor),
                        "close of host accessor", access->command);
    }
}

static void close_all(void)
{
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        close_access(&play.open[i]);
    }
    play.held_up = 0;
}

/* Those whose time has come; all, when too much waits for them. */
static void close_some(unsigned i)
{
    for (unsigned o = 0; o < MOST_OPEN; o++) {
        if (play.open[o].closes <= i) {
            close_access(&play.open[o]);
        }
    }
    if (open_commands() == 0) {
        play.held_up = 0;
    } else if (++play.held_up > MOST_HELD_UP) {
        close_all();
    }
}

static open_access *free_access(void)
{
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        if (!play.open[i].open) {
            return &play.open[i];
        }
    }
    close_access(&play.open[0]);
    return &play.open[0];
}

static bool uses_what_is_open(const program_command *c)
{
    bool uses = false;
    for (unsigned o = 0; o < MOST_OPEN; o++) {
        for (unsigned u = 0; u < c->use_count; u++) {
            uses |= play.open[o].open && play.open[o].buffer == c->uses[u].buffer;
        }
    }
    return uses;
}

/* Makes sure that a call which waits for command i (PROGRAM_COMMANDS: for none), or for what comes
 * before it, comes back. Also what only reads, as the host does, may wait for the host, where they
 * share the memory and cannot have it at the same time. */
static void let_through(unsigned i, uint64_t before)
{
    bool waits = (before & open_commands()) != 0;
    for (unsigned j = 0; j < PROGRAM_COMMANDS; j++) {
        const bool is_in_line = j == i || (before >> j & 1u) != 0;
        waits |= is_in_line && uses_what_is_open(&play.program->commands[j]);
    }
    if (waits) {
        close_all();
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

static void run_access(unsigned i)
{
    const program_command *c = &play.program->commands[i];
    const unsigned b = c->uses[0].buffer;
    const uint64_t before = model_before(&model_now, play.program, i);
    open_access *access = free_access();
    if ((before & open_commands()) != 0) { /* this thread would wait for itself */
        (void)is_status(DYNSEL_E_BUSY, open_it(access, c), "host accessor", i);
    }
    let_through(PROGRAM_COMMANDS, before);
    const model_outcome expected = model_foresee(&model_now, play.program, &play_shapes, i);
    const dynsel_status status = open_it(access, c);
    const bool by_doubt = expected.in_doubt && status == DYNSEL_E_DEPENDENCY;
    if (may_be(play.world, status) || by_doubt ||
        !is_status(expected.status, status, "host accessor", i)) {
        model_pass_over(&model_now, play.program, i, 0);
        if (play.world->follows) {
            find_out(b, play.world->may_lose, UINT64_C(1) << i, i);
        }
        return;
    }
    if (status == DYNSEL_OK) {
        if (!mode_discards(c->uses[0].mode)) {
            compare(access->accessor.data, b, "host accessor", i);
        }
        if (mode_writes(c->uses[0].mode)) {
            access_write(access->accessor.data, access->accessor.bytes, c);
        }
        access->open = true;
        access->command = i;
        access->buffer = c->uses[0].buffer;
        access->closes = i + 1 + (play.world->follows ? 0 : c->stays);
    }
    model_run(&model_now, play.program, &play_shapes, i);
}

/* Submissions */

static void check_cause(unsigned i, model_outcome expected)
{
    const int32_t code = dynsel_last_error()->code;
    if (expected.status == DYNSEL_E_DEPENDENCY && code < 0) {
        return; /* the device knew before the library did, and has a word of its own for it */
    }
    (void)holds(code >= 1 && code <= PROGRAM_COMMANDS && (expected.causes >> (code - 1) & 1u) != 0,
                "command %u: the failure tells of code %d, which is not of what it depends on", i,
                (int)code);
}

static void check_end(unsigned i, dynsel_status status)
{
    const model_outcome expected = play.pieces[i].expected;
    if (is_status(expected.status, status, "command", i) && status != DYNSEL_OK &&
        !play.world->follows) {
        check_cause(i, expected);
    }
}

static void collect(unsigned i)
{
    if (play.pieces[i].kept) {
        let_through(i, model_now.before[i]);
        play.pieces[i].kept = false;
        play.kept--;
        check_end(i, dynsel_wait(&play.pieces[i].submission));
    }
}

static void let_go(unsigned i)
{
    piece *p = &play.pieces[i];
    if (p->kept) {
        p->kept = false;
        play.kept--;
        (void)is_status(DYNSEL_OK, dynsel_submission_release(&p->submission), "release of", i);
        play.failures_of[play.program->commands[i].place] +=
            p->expected.status != DYNSEL_OK ? 1 : 0;
    }
}

static void collect_oldest(void)
{
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        if (play.pieces[i].kept) {
            collect(i);
            return;
        }
    }
}

/* Whether one of the policy's resources can do this. */
static bool is_possible(const play_place *place, const program_command *c)
{
    if (c->kind == KIND_HOST) {
        return place->is_host;
    }
    if (c->kind > KIND_HOST) {
        return true;
    }
    if (c->kernel == BROKEN && !play.world->devices_fail) {
        return place->is_host;
    }
    const dynsel_kernel *kernel = &program_kernels[c->kernel];
    return (kernel->function != NULL && place->runs_c) ||
           (kernel->source != NULL && place->takes_source);
}

static dynsel_status submit(unsigned i, play_job *job, program_manner manner)
{
    dynsel_policy *policy = play.pieces[i].policy;
    dynsel_submission *submission = &play.pieces[i].submission;
    switch (manner) {
    case MANNER_DETACHED:
        return dynsel_submit_command_group(policy, play_record, job, NULL);
    case MANNER_WAITED:
        return dynsel_submit_command_group_and_wait(policy, play_record, job);
    case MANNER_TRIED:
        return dynsel_try_submit_command_group(policy, play_record, job, submission);
    case MANNER_TIMED:
        return dynsel_submit_command_group_for(policy, play_record, job, submission,
                                               UINT64_C(20) * 1000 * 1000 * 1000);
    case MANNER_KEPT:
    case MANNERS:
    default:
        return dynsel_submit_command_group(policy, play_record, job, submission);
    }
}

static void wait_for_group(unsigned place)
{
    close_all();
    dynsel_policy *policy = play.world->places[place].policy;
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(policy));
    (void)holds((status != DYNSEL_OK) == (play.failures_of[place] > 0),
                "policy %u: %s for %u failures that nobody asked for", place,
                dynsel_status_name(status), play.failures_of[place]);
    play.failures_of[place] = 0;
}

/* With each end known before the next begins: what fails by the test's own hand is told apart. */
static void run_and_follow(unsigned i, play_job *job)
{
    const dynsel_status status = submit(i, job, MANNER_WAITED);
    if (!may_be(play.world, status)) {
        check_end(i, status);
        model_run(&model_now, play.program, &play_shapes, i);
        return;
    }
    model_pass_over(&model_now, play.program, i, UINT64_C(1) << i);
    for (unsigned b = 0; b < play_shapes.count; b++) {
        if (model_writes(&play.program->commands[i], b)) {
            find_out(b, play.world->may_lose, UINT64_C(1) << i, i);
        }
    }
}

/* Waits for those that may not be known yet to have failed: then what they were to write is as it
 * was, unless devices were to write it, which may have begun. */
static void settle_doubts(unsigned i)
{
    const program_command *c = &play.program->commands[i];
    for (unsigned u = 0; u < c->use_count; u++) {
        const unsigned b = c->uses[u].buffer;
        const uint64_t doubts = model_now.buffers[b].doubts;
        const uint64_t causes = model_now.buffers[b].doubt_causes;
        for (unsigned j = 0; j < PROGRAM_COMMANDS; j++) {
            if ((doubts >> j & 1u) != 0 && play.pieces[j].kept) {
                collect(j);
            } else if ((doubts >> j & 1u) != 0) {
                wait_for_group(play.program->commands[j].place);
            }
        }
        if (doubts != 0 && play.world->devices_fail) {
            let_through(PROGRAM_COMMANDS, model_before(&model_now, play.program, i));
            find_out(b, true, causes, i);
        }
        model_now.buffers[b].doubts = 0;
        model_now.buffers[b].doubt_causes = 0;
    }
}

/* It may have been entered behind what fails, or after that was known. */
static void run_in_doubt(unsigned i, play_job *job)
{
    const model_outcome expected = play.pieces[i].expected;
    let_through(i, model_before(&model_now, play.program, i));
    const dynsel_status status = submit(i, job, MANNER_WAITED);
    if (status == DYNSEL_E_DEPENDENCY) {
        play.pieces[i].expected.status = status;
        check_cause(i, play.pieces[i].expected);
        model_pass_over(&model_now, play.program, i, expected.causes);
    } else {
        check_end(i, status);
        model_run(&model_now, play.program, &play_shapes, i);
    }
}

static void run_group(unsigned i)
{
    const program_command *c = &play.program->commands[i];
    const play_place *place = &play.world->places[c->place];
    play_job job = {.command = c, .index = i};
    piece *p = &play.pieces[i];
    p->policy = place->policy;
    p->expected = model_foresee(&model_now, play.program, &play_shapes, i);
    if (c->kernel == REFUSED && c->kind == KIND_KERNEL && (place->is_host || !place->runs_c)) {
        return; /* the host would run it */
    }
    if (!is_possible(place, c)) {
        (void)is_status(DYNSEL_E_UNSUPPORTED, submit(i, &job, MANNER_KEPT), "command", i);
        return;
    }
    if (play.world->follows) {
        run_and_follow(i, &job);
        return;
    }
    while (play.kept >= MOST_KEPT) {
        collect_oldest();
    }
    if (p->expected.in_doubt && c->salt % 2 == 0) {
        settle_doubts(i);
        p->expected = model_foresee(&model_now, play.program, &play_shapes, i);
    }
    if (p->expected.in_doubt) {
        run_in_doubt(i, &job);
        return;
    }
    const program_manner manner = (program_manner)c->manner;
    if (manner == MANNER_WAITED) {
        let_through(i, model_before(&model_now, play.program, i));
    }
    dynsel_status status = submit(i, &job, manner);
    if (manner == MANNER_TRIED && status == DYNSEL_E_FULL) {
        close_all();
        status = submit(i, &job, MANNER_KEPT);
    }
    model_run(&model_now, play.program, &play_shapes, i);
    if (manner == MANNER_WAITED) {
        check_end(i, status);
    } else if (is_status(DYNSEL_OK, status, "submission of command", i)) {
        p->kept = manner != MANNER_DETACHED;
        play.kept += p->kept ? 1 : 0;
        play.failures_of[c->place] += !p->kept && p->expected.status != DYNSEL_OK ? 1 : 0;
    }
}

/* A buffer that a host accessor is open on cannot end; any other may once its work is over. */
static void destroy(unsigned b)
{
    bool open = false;
    for (unsigned i = 0; i < MOST_OPEN; i++) {
        open |= play.open[i].open && play.open[i].buffer == b;
    }
    if (open) {
        (void)is_status(DYNSEL_E_BUSY, dynsel_buffer_deinit(&play_buffers[b]), "end of open buffer",
                        b);
        return;
    }
    const dynsel_status status = dynsel_buffer_deinit(&play_buffers[b]);
    if (status == DYNSEL_E_BUSY) {
        return;
    }
    const bool in_doubt = model_now.buffers[b].doubts != 0 && play.world->devices_fail;
    const bool lost =
        model_now.buffers[b].causes != 0 || (in_doubt && status == DYNSEL_E_DEPENDENCY);
    if (may_be(play.world, status) && play_buffers[b].token != 0) { /* it is still there */
        return;
    }
    if (!may_be(play.world, status)) {
        (void)is_status(lost ? DYNSEL_E_DEPENDENCY : DYNSEL_OK, status, "end of buffer", b);
    }
    if (status == DYNSEL_OK && !play_shapes.shapes[b].inside) {
        compare(memory[b] + play_shapes.shapes[b].skew, b, "end of buffer", b);
    }
    init_buffer(b);
    model_now.buffers[b].writer = 0;
    model_now.buffers[b].readers = 0;
}

static void run_then(unsigned i)
{
    const program_command *c = &play.program->commands[i];
    switch (c->then) {
    case THEN_PROGRESS:
        dynsel_progress();
        break;
    case THEN_WAIT:
        collect(c->which);
        break;
    case THEN_RELEASE:
        let_go(c->which);
        break;
    case THEN_GROUP:
        wait_for_group(c->which % play.world->count);
        break;
    case THEN_DESTROY:
        destroy(c->which % play_shapes.count);
        break;
    default:
        break;
    }
}

static void compare_all(void)
{
    for (unsigned b = 0; b < play_shapes.count; b++) {
        dynsel_host_accessor seen = {.data = NULL};
        const dynsel_status status =
            dynsel_host_accessor_open(&seen, play_buffers[b], DYNSEL_ACCESS_READ);
        if (model_now.buffers[b].causes != 0) {
            (void)holds(status == DYNSEL_E_DEPENDENCY || may_be(play.world, status),
                        "buffer %u, whose contents are lost: %s", b, dynsel_status_name(status));
        } else if (may_be(play.world, status) ||
                   (model_now.buffers[b].doubts != 0 && play.world->devices_fail &&
                    status == DYNSEL_E_DEPENDENCY)) {
            (void)holds(play.world->may_lose || play.world->devices_fail,
                        "buffer %u is lost at last: %s", b, dynsel_status_name(status));
            model_now.buffers[b].causes = 1;
        } else if (is_status(DYNSEL_OK, status, "last look at buffer", b)) {
            compare(seen.data, b, "last look", b);
        }
        if (status == DYNSEL_OK) {
            (void)is_status(DYNSEL_OK, dynsel_host_accessor_close(&seen), "close of buffer", b);
        }
    }
}

/* Lost data do not reach the next program; a smaller number of buffers is made anew by chance. */
static void renew_buffers(void)
{
    for (unsigned b = 0; b < play_shapes.count; b++) {
        if (model_now.buffers[b].causes != 0) {
            deinit_buffer(play.world, b);
            init_buffer(b);
        }
    }
}

/* True: all went as the interpreter said. */
static bool run(const play_world *world, const program *p)
{
    memset(&play, 0, sizeof play);
    play.world = world;
    play.program = p;
    model_begin(&model_now);
    if (world->before != NULL) {
        world->before(p->seed);
    }
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        close_some(i);
        if (program_has(p, i)) {
            if (p->commands[i].kind == KIND_ACCESS) {
                run_access(i);
            } else {
                run_group(i);
            }
            run_then(i);
        }
    }
    close_all();
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        collect(i);
    }
    for (unsigned i = 0; i < world->count; i++) {
        wait_for_group(i);
    }
    if (world->after != NULL) {
        (void)holds(world->after(), "the backend saw what must not be");
    }
    compare_all();
    renew_buffers();
    return !play.wrong;
}

/* Smaller programs */

/* Plays a program on new buffers with the contents of `begin`, several times, because threads and
 * devices may be in time by chance. */
static bool goes_wrong(const play_world *world, const program *p, const model *begin)
{
    bool wrong = false;
    for (unsigned i = 0; i < 5 && !wrong; i++) {
        for (unsigned b = 0; b < play_shapes.count; b++) {
            deinit_buffer(world, b);
        }
        model_now = *begin;
        for (unsigned b = 0; b < play_shapes.count; b++) {
            init_buffer(b);
        }
        wrong = !run(world, p);
    }
    return wrong;
}

static void make_smaller(const play_world *world, program *p, const model *begin)
{
    for (unsigned count = PROGRAM_COMMANDS / 2; count > 0; count /= 2) {
        for (unsigned i = 0; i + count <= PROGRAM_COMMANDS; i += count) {
            const uint64_t before = p->left_out;
            p->left_out |= ((UINT64_C(1) << count) - 1) << i;
            if (p->left_out != before && !goes_wrong(world, p, begin)) {
                p->left_out = before;
            }
        }
    }
}

bool play_program(const play_world *world, uint64_t seed, bool may_fail)
{
    static program p;
    static model begin;
    const program_limits limits = {.places = world->count,
                                   .only_devices = world->places[0].takes_source,
                                   .fails = may_fail,
                                   .refuses = world->refuses};
    program_make(&p, &play_shapes, &limits, seed);
    begin = model_now;
    if (run(world, &p)) {
        return true;
    }
    print_error("so went wrong program %u; smaller it goes wrong so, or nothing is told:\n",
                (unsigned)seed);
    is_silent = true;
    make_smaller(world, &p, &begin);
    is_silent = false;
    (void)goes_wrong(world, &p, &begin);
    program_print(&p, &play_shapes);
    if (world->describe != NULL) {
        world->describe();
    }
    return false;
}

bool play_end(const play_world *world)
{
    memset(&play, 0, sizeof play);
    play.world = world;
    for (unsigned b = 0; b < play_shapes.count; b++) {
        deinit_buffer(world, b);
    }
    return !play.wrong;
}

unsigned play_count(unsigned otherwise)
{
    const char *given = getenv("DYNSEL_TEST_PROGRAMS");
    return given != NULL ? (unsigned)strtoull(given, NULL, 10) : otherwise;
}
