/* SPDX-License-Identifier: Apache-2.0 */
/** The recorded program: what each of its threads did, and how long it computed in between. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"

typedef enum program_what {
    PROGRAM_NOTHING, /**< the library worked for the thread, as it will again */
    PROGRAM_SUBMIT,
    PROGRAM_WAIT,     /**< for the piece */
    PROGRAM_WAIT_ALL, /**< for all pieces */
    PROGRAM_ACCESS,   /**< a host accessor was opened, and closed at once */
    PROGRAM_END       /**< of a buffer: `piece` is its place in program.buffers */
} program_what;

/** A call of the library. */
typedef struct program_call {
    program_what what;
    uint32_t piece;
    uint64_t begin_ns;
    uint64_t end_ns;
} program_call;

typedef struct program_thread {
    size_t count;
    size_t room;
    program_call *calls;
} program_thread;

typedef struct program_use {
    uint32_t buffer; /**< its place in program.buffers */
    uint32_t how;    /**< bits: 1 it needs the contents, 2 it writes */
} program_use;

/** A piece of work, or a host accessor. */
typedef struct program_piece {
    bool is_played; /**< it ran on a resource of the played policy, or is a host accessor */
    bool is_waited; /**< by its number */
    bool is_group;  /**< with data: a command group */
    bool has_limits;
    uint8_t resource;
    uint32_t kind;
    uint64_t amount;
    uint64_t items;
    uint64_t allowed;         /**< resources that can run it, a bit each; with has_limits */
    uint64_t run_ns;          /**< 0: not known */
    uint32_t trust;           /**< in run_ns: of which event it is */
    uint64_t device_begin_ns; /**< 0: not known */
    uint64_t device_end_ns;   /**< the same */
    uint64_t started_ns;
    uint64_t seen_ns;   /**< its end */
    uint64_t waited_ns; /**< since when the program waited for it; 0: it did not */
    uint64_t submit_ns; /**< what the backend took of the caller's time; UINT64_MAX: not known */
    size_t first_use;
    uint32_t use_count;
} program_piece;

typedef struct program_buffer {
    uint32_t token;
    uint64_t bytes;
} program_buffer;

/** Of a resource in the recorded run. */
typedef struct program_totals {
    uint32_t pieces;
    uint64_t busy_ns;
} program_totals;

typedef struct program {
    const recording *all;
    uint32_t policy_number;
    const recorded_policy *policy; /**< the one that is played */
    program_piece *pieces;
    program_thread *threads; /**< of each ring */
    size_t use_count;
    size_t use_room;
    program_use *uses;
    size_t buffer_count;
    program_buffer *buffers;
    uint64_t begin_ns;
    uint64_t end_ns;
    uint64_t bytes; /**< that were moved */
    program_totals totals[RECORDING_MOST_RESOURCES];
} program;

/** policy: the number of the played one. Returns 0, or EXIT_WRONG after one line. */
int program_find(const recording *all, uint32_t policy, program *it);

void program_free(program *it);

#endif
