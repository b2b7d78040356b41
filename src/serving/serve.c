/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynsel_mpi_serve(): a loop that takes messages, looks at all operations, and rests where nothing
 * happens.
 *
 * Messages are taken in their order. One that cannot begin now (a table is full, a copy is in use)
 * stays at the head of the line, while everything else goes on.
 */
#include <string.h>

#include <dynsel/backend.h>
#include <dynsel/mpi.h>
#include <dynsel/submission.h>

#include "backends/mpi/state.h"
#include "backends/mpi/transport.h"
#include "base/fail.h"
#include "port/pause.h"
#include "serving/operations.h"
#include "serving/reader.h"
#include "serving/work.h"
#if CONFIG_DYNSEL_COMMAND_GROUPS
#include "serving/boxes.h"
#include "serving/commands.h"
#include "serving/copies.h"
#endif

enum {
    MOST_MESSAGES = 32,   /* that are taken between two looks at the operations */
    MOST_LOOKS = 64,      /* at operations, between two looks at messages */
    ROUNDS_OF_CLOCK = 8,  /* rounds without news between two looks at the clock */
    PATIENCE_OF_DATA = 16 /* while data move: a piece has no news until it has ended */
};

/* After this time without news the clock is read in each round: rounds are slower then. */
#define IDLE_NS UINT64_C(10000)

static uint64_t round_ns; /* the time, as it was read last at the begin of a round */
static uint64_t heard_ns; /* when rank 0 was heard last */
static uint64_t moved_ns; /* the end of the last round in which something happened */
static bool has_moved;    /* that was the last one */
static uint32_t rounds;
static bool is_ending; /* no more work comes */
static bool said_bye;
static bool may_leave; /* all other ranks have said it, too, or are lost */
static bool has_losses;
static bool is_given_up; /* this rank is lost for rank 0 */
static bool owes_pong;
static uint32_t look_next; /* the number + 1 of the operation to look at first; 0: the oldest */

static dynsel_status refuse(dynsel_status status, const char *detail)
{
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), status, detail, 0);
}

/* NULL: there is no such number. */
static dynsel_served *find(const dynsel_mpi_header *header)
{
    return header->operation < DYNSEL_MPI_OPERATIONS ? dynsel_served_at(header->operation) : NULL;
}

/* Begins an operation that is answered. */
static dynsel_status begin(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    if (dynsel_served_at(header->operation)->state != (uint8_t)DYNSEL_SERVED_NOTHING) {
        return refuse(DYNSEL_E_INVALID, DYNSEL_TEXT("the number of an operation is in use"));
    }
    switch (header->kind) {
    case DYNSEL_MPI_TASK:
        return dynsel_serving_task(header, body);
#if CONFIG_DYNSEL_COMMAND_GROUPS
    case DYNSEL_MPI_LAUNCH:
        return dynsel_serving_launch(header, body);
    case DYNSEL_MPI_COPY:
        return dynsel_serving_copy(header, body);
    case DYNSEL_MPI_FILL:
        return dynsel_serving_fill(header, body);
    case DYNSEL_MPI_BRING:
        return dynsel_served_copy_bring(header, body);
    case DYNSEL_MPI_FETCH:
        return dynsel_served_copy_fetch(header, body);
    case DYNSEL_MPI_PREPARE:
        return dynsel_serving_prepare(header, body);
#endif
    default:
        return refuse(DYNSEL_E_INVALID, DYNSEL_TEXT("a message of an unknown kind"));
    }
}

/* True: the message is done with. */
static bool begin_or_answer(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    if (find(header) == NULL) {
        return true;
    }
    const dynsel_status status = begin(header, body);
    if (status == DYNSEL_OK || status == DYNSEL_E_AGAIN) {
        return status == DYNSEL_OK;
    }
    const dynsel_error error = *dynsel_last_error();
    return dynsel_served_answer(header->operation, &error, NULL);
}

/* True: the message is done with; false: it stays at the head of the line. */
static bool take(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    switch (header->kind) {
    case DYNSEL_MPI_PING:
        owes_pong = true;
        return true;
    case DYNSEL_MPI_END:
        is_ending = true;
        may_leave = header->operation != (uint32_t)DYNSEL_MPI_NO_MORE;
        has_losses = has_losses || header->operation == (uint32_t)DYNSEL_MPI_END_LOSSES;
        return true;
    case DYNSEL_MPI_LOST:
        is_given_up = is_given_up || header->operation == dynsel_mpi.rank;
        has_losses = true;
#if CONFIG_DYNSEL_COMMAND_GROUPS
        dynsel_served_copy_lose_rank(header->operation);
#endif
        return true;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    case DYNSEL_MPI_RELEASE:
        return dynsel_served_copy_release(header->operation);
    case DYNSEL_MPI_ABANDON:
        if (find(header) != NULL) {
            dynsel_served_copy_abandon_turn(header);
        }
        return true;
#endif
    default:
        return begin_or_answer(header, body);
    }
}

/* True: a message was taken; false: there is none, or the first one stays. */
static bool take_message(void)
{
    uint32_t rank = 0;
    size_t body_bytes = 0;
    const dynsel_mpi_message *const message = dynsel_mpi_next_message(&rank, &body_bytes);
    if (message == NULL) {
        return false;
    }
    if (rank == 0) {
        heard_ns = round_ns;
        const dynsel_mpi_header header = message->header;
        if (!take(&header, dynsel_served_reader_of(message, body_bytes))) {
            return false;
        }
    }
    dynsel_mpi_took_message();
    return true;
}

/* True: at least one was taken. */
static bool take_messages(void)
{
    uint32_t taken = 0;
    while (taken < (uint32_t)MOST_MESSAGES && take_message()) {
        taken++;
    }
    return taken != 0;
}

static bool look_at(dynsel_served *operation)
{
    if (operation->state == (uint8_t)DYNSEL_SERVED_RUNNING) {
        return dynsel_serving_look(operation);
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    if (operation->state == (uint8_t)DYNSEL_SERVED_OPENING ||
        operation->state == (uint8_t)DYNSEL_SERVED_MOVING) {
        return dynsel_served_copy_look(operation);
    }
#endif
    return false;
}

/* Looks at the operations in the order of their begin; where they are many, at some of them each
 * time. True: one has changed. */
static bool look_at_operations(void)
{
    bool changed = false;
    dynsel_served *next = dynsel_served_first();
    if (next == NULL) {
        return false;
    }
    dynsel_progress();
    if (look_next != 0 &&
        dynsel_served_at(look_next - 1)->state != (uint8_t)DYNSEL_SERVED_NOTHING) {
        next = dynsel_served_at(look_next - 1);
    }
    for (uint32_t i = 0; i < (uint32_t)MOST_LOOKS && next != NULL; i++) {
        dynsel_served *const operation = next;
        next = dynsel_served_after(operation);
        changed = look_at(operation) || changed;
    }
    look_next = next != NULL ? dynsel_served_number(next) + 1 : 0;
    return changed;
}

static bool send_pong(void)
{
    static const dynsel_mpi_message pong = {.header = {.kind = (uint8_t)DYNSEL_MPI_PONG}};
    if (owes_pong && dynsel_mpi_send(0, &pong, 0, DYNSEL_MPI_TAG_PING)) {
        owes_pong = false;
    }
    return !owes_pong;
}

/* To read the clock takes a quarter of a round in which nothing happens. */
static void look_at_clock(void)
{
    if (has_moved || round_ns - moved_ns > IDLE_NS || ++rounds % ROUNDS_OF_CLOCK == 0) {
        round_ns = dynsel_now_ns();
        moved_ns = has_moved ? round_ns : moved_ns;
    }
}

/* One round of the loop. */
static void go_round(void)
{
    look_at_clock();
    has_moved = dynsel_mpi_pump();
    has_moved = take_messages() || has_moved;
    has_moved = look_at_operations() || has_moved;
    (void)send_pong();
    (void)dynsel_served_send_answers();
    if (!has_moved) {
        const uint64_t idle_ns = round_ns - moved_ns;
        dynsel_pause_while_idle(dynsel_mpi_is_moving() ? idle_ns / PATIENCE_OF_DATA : idle_ns);
    }
}

static bool is_rank_0_lost(void)
{
    const uint64_t idle_ns = dynsel_mpi.options.idle_ns;
    return dynsel_mpi_failure_of(0) != 0 ||
           (idle_ns != DYNSEL_NO_TIME_LIMIT && round_ns - heard_ns >= idle_ns);
}

static void say_bye(void)
{
    static const dynsel_mpi_message bye = {.header = {.kind = (uint8_t)DYNSEL_MPI_BYE}};
    if (is_ending && !said_bye && dynsel_served_count() == 0 && send_pong()) {
        said_bye = dynsel_mpi_send(0, &bye, 0, DYNSEL_MPI_TAG_MESSAGE);
    }
}

/* True: rank 0 has ended it. */
static bool serve_until_end(void)
{
    while (!is_rank_0_lost() && !is_given_up && !(said_bye && may_leave)) {
        go_round();
        say_bye();
    }
    return said_bye && may_leave;
}

/* Rank 0 is lost, or this rank is for it: takes back what can be taken back. */
static void cancel_all(void)
{
    dynsel_served *next = dynsel_served_first();
    while (next != NULL) {
        dynsel_served *const operation = next;
        next = dynsel_served_after(operation);
#if CONFIG_DYNSEL_COMMAND_GROUPS
        dynsel_served_copy_abandon(operation);
#endif
        dynsel_serving_cancel(operation);
    }
}

static bool has_work(void)
{
    for (const dynsel_served *operation = dynsel_served_first(); operation != NULL;
         operation = dynsel_served_after(operation)) {
        if (operation->state != (uint8_t)DYNSEL_SERVED_ENDED) {
            return true;
        }
    }
    return false;
}

/* Waits for work that goes on, as long as a rank may be silent; then leaves it. */
static void wait_for_work(void)
{
    const uint64_t begin_ns = dynsel_now_ns();
    while (has_work() && dynsel_now_ns() - begin_ns < dynsel_mpi.options.silence_ns) {
        if (!look_at_operations()) {
            dynsel_pause_while_idle(dynsel_now_ns() - begin_ns);
        }
    }
    for (dynsel_served *operation = dynsel_served_first(); operation != NULL;
         operation = dynsel_served_after(operation)) {
        dynsel_serving_leave(operation);
    }
}

static void begin_serving(void)
{
    dynsel_served_reset();
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_served_copy_reset();
    dynsel_serving_reset_commands();
#endif
    round_ns = dynsel_now_ns();
    heard_ns = round_ns;
    moved_ns = round_ns;
    has_moved = false;
    rounds = 0;
    is_ending = false;
    said_bye = false;
    may_leave = false;
    has_losses = false;
    is_given_up = false;
    owes_pong = false;
    look_next = 0;
}

/* What work that was given up may still use stays. */
static void end_serving(void)
{
#if CONFIG_DYNSEL_COMMAND_GROUPS
    (void)dynsel_served_copy_end_all();
    dynsel_serving_end_commands();
#endif
    (void)dynsel_serving_deinit();
}

static const char *why_it_ended(int code)
{
    if (is_given_up) {
        return DYNSEL_TEXT("rank 0 has given this rank up, because it was silent for too long");
    }
    return code != 0 ? DYNSEL_TEXT("MPI failed with rank 0")
                     : DYNSEL_TEXT("rank 0 was silent for the time that it may be");
}

static dynsel_status serve(void)
{
    const dynsel_status status = dynsel_serving_init();
    if (status != DYNSEL_OK) {
        const dynsel_error error = *dynsel_last_error();
        dynsel_mpi_end(false);
        return dynsel_fail(&error);
    }
    begin_serving();
    if (serve_until_end()) {
        end_serving();
        dynsel_mpi_end(!has_losses);
        return DYNSEL_OK;
    }
    const int code = dynsel_mpi_failure_of(0);
    cancel_all();
    wait_for_work();
    end_serving();
    dynsel_mpi_end(false);
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_OUT_OF_SERVICE,
                                             .code = code,
                                             .function = DYNSEL_TEXT("dynsel_mpi_serve"),
                                             .detail = why_it_ended(code)});
}

dynsel_status dynsel_mpi_serve(void)
{
    return dynsel_mpi.rank_count == 0 || dynsel_mpi.rank == 0
               ? DYNSEL_FAIL(DYNSEL_E_INVALID, "ranks other than 0 serve, after dynsel_mpi_open()")
               : dynsel_mpi_call(serve);
}
