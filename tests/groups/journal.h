/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the interpreter did in a program, so that work can be undone that it took for done: a
 * command that is cancelled before it starts, and those that were submitted behind it, which have
 * to fail then. Without much memory nothing is recorded, and nothing can be undone.
 */
#ifndef DYNSEL_TESTS_MEMORY_JOURNAL_H
#define DYNSEL_TESTS_MEMORY_JOURNAL_H

#include "groups/model.h"

#define JOURNAL_UNDOES CONFIG_DYNSEL_HAS_MUCH_RAM

/* A new program begins. */
void journal_begin(model *m);

/* model_run() and model_pass_over(), recorded. */
void journal_run(model *m, const program *p, const program_shapes *shapes, unsigned i);
void journal_pass_over(model *m, const program *p, unsigned i, uint64_t causes);

/* Command i, which is not entered yet, names these, as bits, as what it depends on. */
void journal_depend(model *m, unsigned i, uint64_t commands);

/* These commands, which did not begin, are over: who reads the buffer finds what was there. */
void journal_settle(model *m, unsigned buffer, uint64_t commands);

/* What is known of a buffer now; causes: 0: it is well. */
void journal_find(model *m, unsigned buffer, uint64_t causes);

/* The buffer begins anew. zeroes: its contents too. */
void journal_renew(model *m, unsigned buffer, bool zeroes);

#if JOURNAL_UNDOES
/* Command i, which was run or passed over, turns out not to have begun, because of `causes`, and is
 * not over yet: all that was entered behind it and reads what it was to write fails, and `expect`
 * hears of each. */
void journal_undo(model *m, const program *p, const program_shapes *shapes, unsigned i,
                  uint64_t causes, void (*expect)(unsigned command, model_outcome outcome));
#endif

#endif
