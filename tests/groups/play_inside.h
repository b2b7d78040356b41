/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of play.h share. */
#ifndef DYNSEL_TESTS_MEMORY_PLAY_INSIDE_H
#define DYNSEL_TESTS_MEMORY_PLAY_INSIDE_H

#include "groups/journal.h"
#include "groups/play.h"
#include "groups/play_group.h"
#include "test.h"

#define PLAY_STATES (JOURNAL_UNDOES && CONFIG_DYNSEL_RESOURCE_STATES)

enum { MOST_OPEN = 2 }; /* host accessors */

/* What a command is while the program runs. */
typedef struct piece {
    bool kept; /* its submission is owed a wait or a release */
    dynsel_submission submission;
    bool may_depend; /* it may end with DYNSEL_E_DEPENDENCY in place of DYNSEL_E_CANCELLED */
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
    uint64_t unseen;                      /* commands that end without being asked, as bits */
    uint64_t undone;              /* commands that the library ended before they began, as bits */
    uint32_t out[PROGRAM_PLACES]; /* resources that are draining or out of service, as bits, */
    uint32_t drains[PROGRAM_PLACES]; /* and those of them that may be draining */
    bool wrong;
} player;

/* What stays from program to program. */
extern model play_model;
extern player play_now;
extern bool play_is_silent; /* while a smaller program is looked for */

/* Only the first thing that goes wrong in a program is told. */
bool play_is_told(void);

/* The condition; where it does not hold, the rest is told. */
#define holds(condition, ...)                                                                      \
    ((condition) || (play_is_told() && (print_error(__VA_ARGS__), print_error("\n"), false)))

bool play_is_status(dynsel_status expected, dynsel_status status, const char *what, unsigned i);

/* Whether a failure that nobody foresaw is one of those that can happen in this world. */
bool play_may_be(const play_world *world, dynsel_status status);

/* Buffers */

void play_init_buffer(unsigned b);
void play_deinit_buffer(const play_world *world, unsigned b);
void play_compare(const unsigned char *data, unsigned b, const char *when, unsigned i);

/* Looks at what a buffer has now, when nothing is under way. After failures it either is as the
 * interpreter has it, or may be lost. */
void play_find_out(unsigned b, bool may_be_lost, uint64_t causes, unsigned i);

/* The end of a buffer in the middle of a program. One that a host accessor is open on cannot end;
 * any other may once its work is over. */
void play_destroy(unsigned b);

/* Host accessors */

/* The commands that opened those that are open, as bits. */
uint64_t play_open_commands(void);

void play_run_access(unsigned i);
void play_close_all(void);

/* Those whose time has come; all, when too much waits for them. */
void play_close_some(unsigned i);

/* Makes sure that a call which waits for command i (PROGRAM_COMMANDS: for none), or for what comes
 * before it, comes back. Also what only reads, as the host does, may wait for the host, where they
 * share the memory and cannot have it at the same time. */
void play_let_through(unsigned i, uint64_t before);

/* Submissions */

/* Waits for a submission that is kept, and compares how it ended. */
void play_collect(unsigned i);

void play_check_end(unsigned i, dynsel_status status);

/* The same for all work of a policy. */
void play_wait_for_group(unsigned place);

/* What comes after a command. */
void play_run_then(unsigned i);

/* Commands that are kept and cannot have begun, as bits: this thread has a host accessor open that
 * they wait for, and nothing in between fails, so that they might end early. */
uint64_t play_held_up(void);

/* As play_collect(), after the only resource that can run the command has left. must: it was not
 * started before. */
void play_collect_stuck(unsigned i, bool must);

/* States of resources */

/* What a submit returns where no resource of the policy may run the command; else DYNSEL_OK. */
dynsel_status play_refusal(const program_command *c);

/* Whether resources of a policy are on probation, which get one piece of work at a time. Only this
 * thread puts them there. */
bool play_may_be_taken(unsigned place);

#if PLAY_STATES
void play_change_state(const program_command *c);

/* At the end of a program, when all its work is over. */
void play_reinstate_all(void);
#endif

#endif
