/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rank 0 has asked for and was not answered yet, by the numbers that it gave, and the answers.
 *
 * One thread uses this room, that of dynsel_mpi_serve(): nothing here is locked.
 */
#ifndef DYNSEL_SERVING_OPERATIONS_H
#define DYNSEL_SERVING_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/error.h>
#include <dynsel/submission.h>
#if CONFIG_DYNSEL_COMMAND_GROUPS
#include <dynsel/host_accessor.h>
#endif

#include "backends/mpi/protocol.h"
#include "backends/mpi/transport.h"

typedef enum dynsel_served_state {
    DYNSEL_SERVED_NOTHING, /* the number is free */
    DYNSEL_SERVED_OPENING, /* data that wait for their copy: it is in use, or not written yet */
    DYNSEL_SERVED_MOVING,  /* data between this rank and another */
    DYNSEL_SERVED_RUNNING, /* work that the library has accepted */
    DYNSEL_SERVED_ENDED    /* the answer could not be sent yet */
} dynsel_served_state;

/* Transfers that one operation may follow while they go on. With more it does not begin yet. */
enum { DYNSEL_SERVED_AWAITS = 8 };

/* What an answer says beside the error. */
typedef struct dynsel_served_result {
    const void *back; /* of a task's arguments that come back */
    uint32_t back_bytes;
    uint64_t took_ns;
} dynsel_served_result;

/* One operation. */
typedef struct dynsel_served {
    uint8_t state; /* a dynsel_served_state */
    uint8_t kind;
    uint8_t resource;
    uint32_t turn; /* of the message that began it */
    uint8_t awaits_count;
    bool failed;            /* the last one of this number, also when it was answered */
    bool dependency_failed; /* what it follows has failed, so it must not succeed */
    uint32_t awaits[DYNSEL_SERVED_AWAITS]; /* numbers of operations that go on */
    uint32_t next;     /* in the list of those in use, in the order of their begin; the last: 0 */
    uint32_t previous; /* both are numbers + 1 */
    uint32_t place;    /* of a task's arguments, or the number of a copy */
    uint64_t since_ns; /* when it began, or could have begun for all that it follows */
    dynsel_served_result result;
    dynsel_error error;
    union {
        dynsel_submission submission; /* of work */
#if CONFIG_DYNSEL_COMMAND_GROUPS
        struct {
            dynsel_mpi_transfer transfer;
            dynsel_host_accessor accessor;
            uint32_t peer;
            bool sends;
        } data;
#endif
    } of;
} dynsel_served;

/* Forgets everything. */
void dynsel_served_reset(void);

/* Below DYNSEL_MPI_OPERATIONS only. */
dynsel_served *dynsel_served_at(uint32_t number);
uint32_t dynsel_served_number(const dynsel_served *operation);

/* How many are in use. */
uint32_t dynsel_served_count(void);

/* The oldest in use, and the one after another; NULL: none. */
dynsel_served *dynsel_served_first(void);
dynsel_served *dynsel_served_after(const dynsel_served *operation);

/* Takes a free number into use. since_ns: when it began. */
dynsel_served *dynsel_served_begin(const dynsel_mpi_header *header, dynsel_served_state state,
                                   uint64_t since_ns);

/* Adds what it follows; the caller knows that there is room. */
void dynsel_served_await(dynsel_served *operation, uint32_t number);

/* Ends an operation: sends its answer, now or in dynsel_served_send_answers(). Those that await it
 * are cancelled where it failed. error: NULL: it succeeded; copied, with texts that last. */
void dynsel_served_end(dynsel_served *operation, const dynsel_error *error);

/* Sends what could not be sent. True: all is sent. */
bool dynsel_served_send_answers(void);

/* Answers a message without an entry in the table: its operation does not begin, or is over.
 * result: NULL: none. False: not now. */
bool dynsel_served_answer(uint32_t number, const dynsel_error *error,
                          const dynsel_served_result *result);

/* Whether the end of another operation may make room in a full table of the library. */
bool dynsel_served_may_make_room(dynsel_status status);

#endif
