/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays random programs on the library and compares each with the interpreter, and makes a program
 * that fails smaller. Nothing here asserts: what went wrong is a text, so that the program can be
 * played to its end and again.
 */
#ifndef DYNSEL_TESTS_MEMORY_PLAY_H
#define DYNSEL_TESTS_MEMORY_PLAY_H

#include <dynsel/dynsel.h>

#include "groups/model.h"

/* One policy, and what it chooses from. */
typedef struct play_place {
    dynsel_policy *policy;
    bool runs_c;       /* at least one resource takes kernels in C */
    bool is_host;      /* at least one works in the host's memory */
    bool takes_source; /* at least one takes OpenCL C */
    size_t only;       /* the only resource that it chooses, its index plus 1; 0: any */
} play_place;

/* Where programs are played. */
typedef struct play_world {
    play_place places[PROGRAM_PLACES];
    unsigned count;
    bool devices_fail; /* BROKEN runs there too; else only in the host's memory */
    bool refuses;      /* devices refuse REFUSED */
    bool may_lose;     /* what fails though the interpreter does not know it may have begun */
    /* Commands may fail with the statuses of `allowed` though the interpreter does not know it:
     * each is waited for before the next. */
    bool follows;
    dynsel_status allowed[4];
    void (*before)(uint64_t seed); /* each program; NULL: nothing to do */
    bool (*after)(void);           /* false: something was wrong */
    void (*describe)(void);        /* itself, for who reads what went wrong; NULL: nothing to say */
} play_world;

/* Makes new buffers for the programs that follow. */
void play_begin(const play_world *world, uint64_t seed);

/* Plays the program of this seed. False: it went wrong; all is printed, also a smaller program. */
bool play_program(const play_world *world, uint64_t seed, bool may_fail);

/* Ends the buffers, and compares them once more. */
bool play_end(const play_world *world);

/* How many programs a test plays: DYNSEL_TEST_PROGRAMS, else as given. */
unsigned play_count(unsigned otherwise);

#endif
