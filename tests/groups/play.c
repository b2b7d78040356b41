/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/play_inside.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_KEPT = CONFIG_DYNSEL_MAX_IN_FLIGHT / 2 - 1,
    UNTOUCHED = 0xa5 /* memory that nothing was copied to */
};

/* Submissions */

static void check_cause(unsigned i, model_outcome expected)
{
    const int32_t code = dynsel_last_error()->code;
    if (expected.status == DYNSEL_E_DEPENDENCY && code < 0) {
        return; /* the device knew before the library did, and has a word of its own for it */
    }
    if (code == 0 && (expected.causes & play_now.undone) != 0) {
        return; /* the library ended it, and has no code */
    }
    (void)holds(code >= 1 && code <= PROGRAM_COMMANDS && (expected.causes >> (code - 1) & 1u) != 0,
                "command %u: the failure tells of code %d, which is not of what it depends on", i,
                (int)code);
}

/* What a KIND_OUT copied that is known to be over, and nothing beside it. */
static void compare_out(unsigned i)
{
    const program_command *c = &play_now.program->commands[i];
    if (c->kind != KIND_OUT) {
        return;
    }
    const unsigned char *const found = play_memory(c, i);
    const size_t bytes = use_bytes(&c->uses[0], &play_shapes.shapes[c->uses[0].buffer]);
    for (size_t byte = 0; byte < bytes + PLAY_MARGIN - c->salt % PLAY_MARGIN; byte++) {
        const unsigned expected = byte < bytes ? play_model.out[i][byte] : UNTOUCHED;
        if (!holds(found[byte] == expected, "command %u copied %x to byte %u of memory, not %x", i,
                   (unsigned)found[byte], (unsigned)byte, expected)) {
            return;
        }
    }
}

void play_check_end(unsigned i, dynsel_status status)
{
    const model_outcome expected = play_now.pieces[i].expected;
    if (play_now.pieces[i].may_depend && status == DYNSEL_E_DEPENDENCY) {
        return;
    }
    if (!play_is_status(expected.status, status, "command", i)) {
        return;
    }
    if (status == DYNSEL_OK) {
        compare_out(i);
    } else if (!play_now.world->follows) {
        check_cause(i, expected);
    }
}

void play_collect(unsigned i)
{
    if (play_now.pieces[i].kept) {
        play_let_through(i, play_model.before[i]);
        play_now.pieces[i].kept = false;
        play_now.kept--;
        play_check_end(i, dynsel_wait(&play_now.pieces[i].submission));
    }
}

static void collect_oldest(void)
{
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        if (play_now.pieces[i].kept) {
            play_collect(i);
            return;
        }
    }
}

static dynsel_status submit(unsigned i, play_job *job, program_manner manner)
{
    dynsel_policy *policy = play_now.pieces[i].policy;
    dynsel_submission *submission = &play_now.pieces[i].submission;
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

void play_wait_for_group(unsigned place)
{
    play_close_all();
    dynsel_policy *policy = play_now.world->places[place].policy;
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(policy));
    (void)holds((status != DYNSEL_OK) == (play_now.failures_of[place] > 0),
                "policy %u: %s for %u failures that nobody asked for", place,
                dynsel_status_name(status), play_now.failures_of[place]);
    play_now.failures_of[place] = 0;
}

/* With each end known before the next begins: what fails by the test's own hand is told apart. */
static void run_and_follow(unsigned i, play_job *job)
{
    const dynsel_status status = submit(i, job, MANNER_WAITED);
    if (!play_may_be(play_now.world, status)) {
        journal_run(&play_model, play_now.program, &play_shapes, i);
        if (play_now.program->commands[i].kind != KIND_EMPTY || status != DYNSEL_OK) {
            play_check_end(i, status); /* what needs no data need not see that they are lost */
        }
        return;
    }
    journal_pass_over(&play_model, play_now.program, i, UINT64_C(1) << i);
    for (unsigned b = 0; b < play_shapes.count; b++) {
        if (model_writes(&play_now.program->commands[i], b)) {
            play_find_out(b, play_now.world->may_lose, UINT64_C(1) << i, i);
        }
    }
}

/* Waits for those that may not be known yet to have failed: then what they were to write is as it
 * was, unless devices were to write it, which may have begun. */
static void settle_doubts(unsigned i)
{
    const program_command *c = &play_now.program->commands[i];
    for (unsigned u = 0; u < c->use_count; u++) {
        const unsigned b = c->uses[u].buffer;
        const uint64_t doubts = play_model.buffers[b].doubts;
        const uint64_t causes = play_model.buffers[b].doubt_causes;
        for (unsigned j = 0; j < PROGRAM_COMMANDS; j++) {
            if ((doubts >> j & 1u) != 0 && play_now.pieces[j].kept) {
                play_collect(j);
            } else if ((doubts >> j & 1u) != 0) {
                play_wait_for_group(play_now.program->commands[j].place);
            }
        }
        if (doubts != 0 && play_now.world->devices_fail) {
            play_let_through(PROGRAM_COMMANDS, model_before(&play_model, play_now.program, i));
            play_find_out(b, true, causes, i);
        }
        journal_settle(&play_model, b, doubts);
    }
}

/* It may have been entered behind what fails, or after that was known. */
static void run_in_doubt(unsigned i, play_job *job)
{
    const model_outcome expected = play_now.pieces[i].expected;
    play_let_through(i, model_before(&play_model, play_now.program, i));
    const dynsel_status status = submit(i, job, MANNER_WAITED);
    if (status == DYNSEL_E_DEPENDENCY) {
        play_now.pieces[i].expected.status = status;
        check_cause(i, play_now.pieces[i].expected);
        journal_pass_over(&play_model, play_now.program, i, expected.causes);
    } else {
        journal_run(&play_model, play_now.program, &play_shapes, i);
        play_check_end(i, status);
    }
}

/* Only what is kept can be named. */
static void name_dependency(unsigned i, play_job *job)
{
    const program *p = play_now.program;
    const unsigned back = p->commands[i].behind;
    const bool is_named = back != 0 && play_now.pieces[i - back].kept;
    journal_depend(&play_model, i, is_named ? UINT64_C(1) << (i - back) : 0);
    job->behind = is_named ? &play_now.pieces[i - back].submission : NULL;
    const unsigned source = model_source(&play_model, p, &play_shapes, i);
    job->source = source < PROGRAM_COMMANDS ? play_memory(&p->commands[source], source)
                                            : program_memory(job->command);
}

/* It ends as the interpreter says, or that is not known yet. may_be_taken: as its resource says. */
static void run_and_enter(unsigned i, play_job *job, bool may_be_taken)
{
    const program_command *c = job->command;
    piece *p = &play_now.pieces[i];
    const program_manner manner = (program_manner)c->manner;
    if (manner == MANNER_WAITED) {
        play_let_through(i, model_before(&play_model, play_now.program, i));
    }
    dynsel_status status = submit(i, job, manner);
    if (manner == MANNER_TRIED &&
        (status == DYNSEL_E_FULL || (status == DYNSEL_E_AGAIN && may_be_taken))) {
        play_close_all();
        status = submit(i, job, MANNER_KEPT);
    }
    journal_run(&play_model, play_now.program, &play_shapes, i);
    if (manner == MANNER_WAITED) {
        play_check_end(i, status);
    } else if (play_is_status(DYNSEL_OK, status, "submission of command", i)) {
        p->kept = manner != MANNER_DETACHED;
        play_now.unseen |= p->kept ? 0 : UINT64_C(1) << i;
        play_now.kept += p->kept ? 1 : 0;
        play_now.failures_of[c->place] += !p->kept && p->expected.status != DYNSEL_OK ? 1 : 0;
    }
}

static void run_group(unsigned i)
{
    const program_command *c = &play_now.program->commands[i];
    const play_place *place = &play_now.world->places[c->place];
    play_job job = {.command = c, .index = i, .source = program_memory(c)};
    piece *p = &play_now.pieces[i];
    p->policy = place->policy;
    if (c->kind == KIND_OUT) {
        memset(play_memory(c, i), UNTOUCHED, PROGRAM_BYTES + PLAY_MARGIN);
    }
    p->expected = model_foresee(&play_model, play_now.program, &play_shapes, i);
    if (c->kernel == REFUSED && c->kind == KIND_KERNEL && (place->is_host || !place->runs_c)) {
        return; /* the host would run it */
    }
    const dynsel_status refusal = play_refusal(c);
    if (refusal != DYNSEL_OK) {
        (void)play_is_status(refusal, submit(i, &job, MANNER_KEPT), "command", i);
        p->policy = NULL;
        return;
    }
    const bool may_be_taken = play_may_be_taken(c->place);
    if (may_be_taken) { /* what waits for the host may have it */
        play_close_all();
    }
    if (play_now.world->follows) {
        run_and_follow(i, &job);
        return;
    }
    while (play_now.kept >= MOST_KEPT) {
        collect_oldest();
    }
    if (p->expected.in_doubt && c->salt % 2 == 0) {
        settle_doubts(i);
    }
    name_dependency(i, &job);
    p->expected = model_foresee(&play_model, play_now.program, &play_shapes, i);
    if (p->expected.in_doubt) {
        run_in_doubt(i, &job);
    } else {
        run_and_enter(i, &job, may_be_taken);
    }
}

static void compare_all(void)
{
    for (unsigned b = 0; b < play_shapes.count; b++) {
        dynsel_host_accessor seen = {.data = NULL};
        const dynsel_status status =
            dynsel_host_accessor_open(&seen, play_buffers[b], DYNSEL_ACCESS_READ);
        if (play_model.buffers[b].causes != 0) {
            (void)holds(status == DYNSEL_E_DEPENDENCY || play_may_be(play_now.world, status),
                        "buffer %u, whose contents are lost: %s", b, dynsel_status_name(status));
        } else if (play_may_be(play_now.world, status) ||
                   (play_model.buffers[b].doubts != 0 && play_now.world->devices_fail &&
                    status == DYNSEL_E_DEPENDENCY)) {
            (void)holds(play_now.world->may_lose || play_now.world->devices_fail,
                        "buffer %u is lost at last: %s", b, dynsel_status_name(status));
            play_model.buffers[b].causes = 1;
        } else if (play_is_status(DYNSEL_OK, status, "last look at buffer", b)) {
            play_compare(seen.data, b, "last look", b);
        }
        if (status == DYNSEL_OK) {
            (void)play_is_status(DYNSEL_OK, dynsel_host_accessor_close(&seen), "close of buffer",
                                 b);
        }
    }
}

/* Lost data do not reach the next program; a smaller number of buffers is made anew by chance. */
static void renew_buffers(void)
{
    for (unsigned b = 0; b < play_shapes.count; b++) {
        if (play_model.buffers[b].causes != 0) {
            play_deinit_buffer(play_now.world, b);
            play_init_buffer(b);
        }
    }
}

/* True: all went as the interpreter said. */
static bool run(const play_world *world, const program *p)
{
    memset(&play_now, 0, sizeof play_now);
    play_now.world = world;
    play_now.program = p;
    journal_begin(&play_model);
    if (world->before != NULL) {
        world->before(p->seed);
    }
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        play_close_some(i);
        if (program_has(p, i)) {
            if (p->commands[i].kind == KIND_ACCESS) {
                play_run_access(i);
            } else {
                run_group(i);
            }
            play_run_then(i);
        }
    }
    play_close_all();
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        play_collect(i);
    }
    for (unsigned i = 0; i < world->count; i++) {
        play_wait_for_group(i);
    }
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        if ((play_now.unseen >> i & 1u) != 0 && play_now.pieces[i].expected.status == DYNSEL_OK) {
            compare_out(i);
        }
    }
#if PLAY_STATES
    play_reinstate_all();
#endif
    if (world->after != NULL) {
        (void)holds(world->after(), "the backend saw what must not be");
    }
    compare_all();
    renew_buffers();
    return !play_now.wrong;
}

/* Smaller programs */

/* Plays a program on new buffers with the contents of `begin`, several times, because threads and
 * devices may be in time by chance. */
static bool goes_wrong(const play_world *world, const program *p, const model *begin)
{
    bool wrong = false;
    for (unsigned i = 0; i < 5 && !wrong; i++) {
        for (unsigned b = 0; b < play_shapes.count; b++) {
            play_deinit_buffer(world, b);
        }
        play_model = *begin;
        for (unsigned b = 0; b < play_shapes.count; b++) {
            play_init_buffer(b);
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
    begin = play_model;
    if (run(world, &p)) {
        return true;
    }
    print_error("so went wrong program %u; smaller it goes wrong so, or nothing is told:\n",
                (unsigned)seed);
    play_is_silent = true;
    make_smaller(world, &p, &begin);
    play_is_silent = false;
    (void)goes_wrong(world, &p, &begin);
    program_print(&p, &play_shapes);
    if (world->describe != NULL) {
        world->describe();
    }
    return false;
}

bool play_end(const play_world *world)
{
    memset(&play_now, 0, sizeof play_now);
    play_now.world = world;
    for (unsigned b = 0; b < play_shapes.count; b++) {
        play_deinit_buffer(world, b);
    }
    return !play_now.wrong;
}

unsigned play_count(unsigned otherwise)
{
    const char *given = getenv("DYNSEL_TEST_PROGRAMS");
    return given != NULL ? (unsigned)strtoull(given, NULL, 10) : otherwise;
}
