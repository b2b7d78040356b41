/* SPDX-License-Identifier: Apache-2.0 */
/* What random programs do after a command. */
#include "groups/play_inside.h"

#define PLAY_CANCELS (JOURNAL_UNDOES && CONFIG_DYNSEL_SUBMISSION_CONTROL)

static void let_go(unsigned i)
{
    piece *p = &play_now.pieces[i];
    if (p->kept) {
        p->kept = false;
        play_now.kept--;
        play_now.unseen |= UINT64_C(1) << i;
        (void)play_is_status(DYNSEL_OK, dynsel_submission_release(&p->submission), "release of", i);
        play_now.failures_of[play_now.program->commands[i].place] +=
            p->expected.status != DYNSEL_OK ? 1 : 0;
    }
}

#if JOURNAL_UNDOES

/* What was submitted behind a command that does not begin: it fails, too. */
static void expect(unsigned i, model_outcome outcome)
{
    piece *p = &play_now.pieces[i];
    const bool was_well = p->expected.status == DYNSEL_OK;
    if ((play_now.undone >> i & 1u) != 0) {
        p->may_depend = true;
        p->expected.causes |= outcome.causes;
        return;
    }
    p->expected = outcome;
    if (was_well && !p->kept) { /* detached, or released, and not over */
        play_now.failures_of[play_now.program->commands[i].place]++;
    }
}

/* It ends without having begun, with this status, or as what it depends on failed. */
static void undo(unsigned i, dynsel_status status)
{
    piece *p = &play_now.pieces[i];
    p->may_depend = p->expected.status == DYNSEL_E_DEPENDENCY;
    const uint64_t causes = (p->may_depend ? p->expected.causes : 0) | UINT64_C(1) << i;
    p->expected = (model_outcome){.status = status, .causes = causes};
    play_now.undone |= UINT64_C(1) << i;
    journal_undo(&play_model, play_now.program, &play_shapes, i, causes, expect);
}

static bool is_held_up(unsigned i)
{
    const uint64_t before = play_model.before[i];
    bool is_held = (before & play_open_commands()) != 0;
    for (unsigned j = 0; j < PROGRAM_COMMANDS; j++) {
        is_held =
            is_held && ((before >> j & 1u) == 0 || play_now.pieces[j].expected.status == DYNSEL_OK);
    }
    return is_held && play_now.pieces[i].expected.status == DYNSEL_OK;
}

uint64_t play_held_up(void)
{
    uint64_t held = 0;
    for (unsigned i = 0; i < PROGRAM_COMMANDS; i++) {
        held |= play_now.pieces[i].kept && is_held_up(i) ? UINT64_C(1) << i : 0;
    }
    return held;
}

void play_collect_stuck(unsigned i, bool must)
{
    piece *p = &play_now.pieces[i];
    play_let_through(i, play_model.before[i]);
    p->kept = false;
    play_now.kept--;
    const dynsel_status status = dynsel_wait(&p->submission);
    if (status == DYNSEL_E_OUT_OF_SERVICE && p->expected.status != DYNSEL_E_CANCELLED &&
        p->expected.status != DYNSEL_E_DEPENDENCY) {
        undo(i, status);
    } else if (holds(!must || p->expected.status != DYNSEL_OK,
                     "command %u, which no resource may run: %s", i, dynsel_status_name(status))) {
        play_check_end(i, status);
    }
}

#endif

#if PLAY_CANCELS

static void cancel(unsigned i)
{
    piece *p = &play_now.pieces[i];
    if (!p->kept) {
        return;
    }
    const bool must = is_held_up(i);
    const dynsel_status status = dynsel_cancel(&p->submission);
    if ((play_now.undone >> i & 1u) != 0) {
        (void)holds(status == DYNSEL_E_STALE || (p->may_depend && status == DYNSEL_E_BUSY),
                    "command %u, which was cancelled before, is cancelled: %s", i,
                    dynsel_status_name(status));
    } else if (status == DYNSEL_OK) {
        undo(i, DYNSEL_E_CANCELLED);
    } else {
        (void)holds(!must && (status == DYNSEL_E_BUSY ||
                              (status == DYNSEL_E_STALE && p->expected.status != DYNSEL_OK)),
                    "command %u%s is not cancelled: %s", i,
                    must ? ", which cannot have begun," : "", dynsel_status_name(status));
    }
}

#endif

void play_run_then(unsigned i)
{
    const program_command *c = &play_now.program->commands[i];
    switch (c->then) {
    case THEN_PROGRESS:
        dynsel_progress();
        break;
    case THEN_WAIT:
        play_collect(c->which);
        break;
    case THEN_RELEASE:
        let_go(c->which);
        break;
    case THEN_GROUP:
        play_wait_for_group(c->which % play_now.world->count);
        break;
    case THEN_DESTROY:
        play_destroy(c->which % play_shapes.count);
        break;
#if PLAY_CANCELS
    case THEN_CANCEL:
        cancel(c->which);
        break;
#endif
#if PLAY_STATES
    case THEN_DRAIN:
    case THEN_RETIRE:
    case THEN_REINSTATE:
        play_change_state(c);
        break;
#endif
    default:
        break;
    }
}
