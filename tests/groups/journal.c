/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/journal.h"

#include <string.h>

#include "test.h"

typedef enum entry_kind { RUN, PASSED_OVER, SETTLED, FOUND, RENEWED, ZEROED } entry_kind;

typedef struct entry {
    uint8_t kind;
    uint8_t number; /* of the command or the buffer */
    uint64_t bits;  /* causes, or the commands that are over */
} entry;

#if JOURNAL_UNDOES

/* Each command is entered once, settles the buffers that it uses, may find out about each buffer
 * once, and may renew one. */
enum { MOST_ENTRIES = PROGRAM_COMMANDS * (2 + 2 * PROGRAM_USES + PROGRAM_BUFFERS) };

static model start;
static entry entries[MOST_ENTRIES];
static unsigned count;

static void record(entry_kind kind, unsigned number, uint64_t bits)
{
    assert_true(count < MOST_ENTRIES);
    entries[count++] = (entry){.kind = (uint8_t)kind, .number = (uint8_t)number, .bits = bits};
}

#else

static void record(entry_kind kind, unsigned number, uint64_t bits)
{
    (void)kind;
    (void)number;
    (void)bits;
}

#endif

static void settle(model_buffer *buffer, uint64_t commands)
{
    buffer->doubts &= ~commands;
    buffer->doubt_causes = buffer->doubts != 0 ? buffer->doubt_causes : 0;
}

static void renew(model_buffer *buffer, bool zeroes)
{
    if (zeroes) {
        memset(buffer->data, 0, sizeof buffer->data);
    }
    buffer->causes = 0;
    buffer->doubts = 0;
    buffer->doubt_causes = 0;
    buffer->writer = 0;
    buffer->readers = 0;
}

static void find(model_buffer *buffer, uint64_t causes)
{
    buffer->causes = causes;
    buffer->doubts = 0;
    buffer->doubt_causes = 0;
}

void journal_begin(model *m)
{
    model_begin(m);
#if JOURNAL_UNDOES
    start = *m;
    count = 0;
#endif
}

void journal_run(model *m, const program *p, const program_shapes *shapes, unsigned i)
{
    record(RUN, i, 0);
    model_run(m, p, shapes, i);
}

void journal_pass_over(model *m, const program *p, unsigned i, uint64_t causes)
{
    record(PASSED_OVER, i, causes);
    model_pass_over(m, p, i, causes);
}

void journal_depend(model *m, unsigned i, uint64_t commands)
{
    m->behind[i] = commands;
#if JOURNAL_UNDOES
    start.behind[i] = commands;
#endif
}

void journal_settle(model *m, unsigned buffer, uint64_t commands)
{
    record(SETTLED, buffer, commands);
    settle(&m->buffers[buffer], commands);
}

void journal_find(model *m, unsigned buffer, uint64_t causes)
{
    record(FOUND, buffer, causes);
    find(&m->buffers[buffer], causes);
}

void journal_renew(model *m, unsigned buffer, bool zeroes)
{
    record(zeroes ? ZEROED : RENEWED, buffer, 0);
    renew(&m->buffers[buffer], zeroes);
}

#if JOURNAL_UNDOES

/* Whether a command needs what one of these, which did not begin, was to write. */
static bool is_behind(const model *m, const program *p, const program_shapes *shapes, unsigned i,
                      uint64_t undone)
{
    const program_command *const c = &p->commands[i];
    bool behind = (m->behind[i] & undone) != 0;
    for (unsigned u = 0; u < c->use_count; u++) {
        const program_use *use = &c->uses[u];
        behind |= use_reads(use, &shapes->shapes[use->buffer]) &&
                  (m->buffers[use->buffer].doubts & undone) != 0;
    }
    return behind;
}

/* Does once more what was done with a command. undone: those that turned out not to begin. */
static void enter_again(model *m, const program *p, const program_shapes *shapes, entry *e,
                        uint64_t *undone, void (*expect)(unsigned, model_outcome))
{
    const unsigned i = e->number;
    if (!is_behind(m, p, shapes, i, *undone)) {
        if (e->kind == RUN) {
            model_run(m, p, shapes, i);
        } else {
            model_pass_over(m, p, i, e->bits);
        }
        return;
    }
    model_outcome outcome = model_foresee(m, p, shapes, i);
    outcome.status = DYNSEL_E_DEPENDENCY;
    outcome.in_doubt = false;
    outcome.causes &= ~(UINT64_C(1) << i);
    if (e->kind == PASSED_OVER) {
        outcome.causes |= e->bits;
    }
    *e = (entry){.kind = PASSED_OVER, .number = (uint8_t)i, .bits = outcome.causes};
    *undone |= UINT64_C(1) << i;
    model_pass_over(m, p, i, outcome.causes);
    expect(i, outcome);
}

void journal_undo(model *m, const program *p, const program_shapes *shapes, unsigned i,
                  uint64_t causes, void (*expect)(unsigned command, model_outcome outcome))
{
    uint64_t undone = 0;
    *m = start;
    for (unsigned e = 0; e < count; e++) {
        model_buffer *const buffer = &m->buffers[entries[e].number % PROGRAM_BUFFERS];
        switch (entries[e].kind) {
        case SETTLED:
            settle(buffer, entries[e].bits);
            break;
        case FOUND:
            find(buffer, entries[e].bits);
            break;
        case RENEWED:
        case ZEROED:
            renew(buffer, entries[e].kind == ZEROED);
            break;
        default:
            if (entries[e].number == i) {
                entries[e] = (entry){.kind = PASSED_OVER, .number = (uint8_t)i, .bits = causes};
                undone = UINT64_C(1) << i;
                model_pass_over(m, p, i, causes);
            } else {
                enter_again(m, p, shapes, &entries[e], &undone, expect);
            }
            break;
        }
    }
}

#endif
