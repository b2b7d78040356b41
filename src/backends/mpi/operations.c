/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/operations.h"

#include <string.h>

#include <dynsel/dynsel.h>

#include "backends/mpi/ranks.h"
#include "backends/mpi/state.h"
#include "base/fail.h"
#include "port/assert.h"
#include "port/likely.h"
#include "port/pause.h"

enum {
    LOOK_EVERY = 64,      /* calls without news between two looks at the clock */
    LOOK_ANYWAY = 4096,   /* calls with news, likewise: other ranks may be silent */
    CALLS_LOCKED = 8,     /* calls of one wait before others may take the lock */
    SPINS = 125,          /* so many times without news before a wait yields: some 50 us */
    SPINS_OF_DATA = 1000, /* and while data move: a piece has no news until it has ended */
    PINGS_OF_SILENCE = 4, /* after this part of the time a rank that owes an answer is pinged */
    PINGS_OF_IDLE = 20    /* and one that does not, so that it goes on serving */
};

static dynsel_mpi_operation operations[DYNSEL_MPI_OPERATIONS];
static uint32_t first_free; /* place + 1; 0: none */
static uint32_t with_data;  /* operations whose data may be on their way */
static uint32_t with_news;  /* calls since the last look at the clock */
static uint32_t without_news;
static uint32_t losses[CONFIG_DYNSEL_MPI_RANKS]; /* ranks, in the order of their loss */
static uint32_t loss_count;
static bool has_untold;    /* something urgent could not be sent yet */
static uint64_t looked_ns; /* when silence was last looked for */

uint32_t dynsel_mpi_number_of(const dynsel_mpi_operation *operation)
{
    return (uint32_t)(operation - operations);
}

static inline bool has_ended(const dynsel_mpi_operation *operation)
{
    return dynsel_word_load_acquire(&operation->ended) != 0;
}

bool dynsel_mpi_has_succeeded(const dynsel_mpi_operation *operation)
{
    return has_ended(operation) && operation->status == DYNSEL_OK;
}

uint32_t dynsel_mpi_first_lost(void)
{
    return loss_count != 0 ? losses[0] : 0;
}

void dynsel_mpi_step_aside(uint32_t round)
{
    dynsel_spinlock_release(&dynsel_mpi_lock);
    dynsel_pause_for_copy(round);
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
}

void dynsel_mpi_operations_begin(void)
{
    first_free = 0;
    for (uint32_t i = DYNSEL_MPI_OPERATIONS; i > 0; i--) {
        operations[i - 1] = (dynsel_mpi_operation){.next_free = first_free};
        first_free = i;
    }
    with_data = 0;
    without_news = 0;
    loss_count = 0;
    has_untold = false;
}

uint32_t dynsel_mpi_operations_used(void)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < DYNSEL_MPI_OPERATIONS; i++) {
        used += operations[i].used ? 1 : 0;
    }
    return used;
}

static void make_free(dynsel_mpi_operation *operation)
{
    with_data -= operation->has_data ? 1 : 0;
    operation->used = false;
    operation->next_free = first_free;
    first_free = dynsel_mpi_number_of(operation) + 1;
}

DYNSEL_RARE static void wait_for_room(uint32_t round)
{
    if (!dynsel_mpi_advance()) {
        dynsel_mpi_step_aside(round);
    }
}

/* Pumps until there is a place. NULL: the rank is lost. */
static dynsel_mpi_operation *take_place(uint32_t rank)
{
    for (uint32_t round = 0; first_free == 0 && !dynsel_mpi_is_lost(rank); round++) {
        wait_for_room(round);
    }
    if (dynsel_mpi_is_lost(rank)) {
        return NULL;
    }
    dynsel_mpi_operation *const operation = &operations[first_free - 1];
    first_free = operation->next_free;
    const uint32_t turn = operation->turn + 1;
    (void)memset(operation, 0, offsetof(dynsel_mpi_operation, transfer)); /* has_data: it is set */
    operation->rank = rank;
    operation->turn = turn != 0 ? turn : 1;
    operation->used = true;
    return operation;
}

/* Pumps until there is a place for a message. NULL: the rank is lost. */
static dynsel_mpi_message *place_message(uint32_t rank)
{
    for (uint32_t round = 0; !dynsel_mpi_is_lost(rank); round++) {
        dynsel_mpi_message *const message = dynsel_mpi_place_message();
        if (DYNSEL_LIKELY(message != NULL)) {
            return message;
        }
        wait_for_room(round);
    }
    return NULL;
}

DYNSEL_ASIDE static bool send(uint32_t rank, const void *message, size_t body_bytes)
{
    dynsel_mpi_message *const placed = place_message(rank);
    if (placed != NULL) {
        (void)memcpy(placed, message, sizeof(dynsel_mpi_header) + body_bytes);
        dynsel_mpi_send_placed(placed, rank, body_bytes, DYNSEL_MPI_TAG_MESSAGE);
    }
    return placed != NULL;
}

static void note_failure(dynsel_mpi_operation *operation, dynsel_status status, int32_t code)
{
    if (operation->status == DYNSEL_OK) {
        operation->status = status;
        operation->code = code;
    }
}

/* The bit of a rank that takes part. */
static uint8_t owed_by(const dynsel_mpi_operation *operation, uint32_t rank)
{
    return rank == operation->rank ? DYNSEL_MPI_OWED_BY_RANK : DYNSEL_MPI_OWED_BY_PEER;
}

static void address(dynsel_mpi_message *message, const dynsel_mpi_operation *operation)
{
    message->header.operation = dynsel_mpi_number_of(operation);
    message->header.turn = operation->turn;
}

static void note_owed(dynsel_mpi_operation *operation, uint32_t rank)
{
    operation->owed |= owed_by(operation, rank);
    dynsel_mpi_ranks[rank].owed++;
}

DYNSEL_ASIDE dynsel_mpi_operation *dynsel_mpi_place_operation(uint32_t rank,
                                                              dynsel_mpi_message **message)
{
    dynsel_mpi_operation *const operation = take_place(rank);
    if (operation == NULL) {
        return NULL;
    }
    *message = place_message(rank);
    if (*message == NULL) {
        make_free(operation);
        return NULL;
    }
    return operation;
}

void dynsel_mpi_send_operation(dynsel_mpi_operation *operation, dynsel_mpi_message *message,
                               size_t body_bytes)
{
    address(message, operation);
    dynsel_mpi_send_placed(message, operation->rank, body_bytes, DYNSEL_MPI_TAG_MESSAGE);
    note_owed(operation, operation->rank);
}

dynsel_mpi_operation *dynsel_mpi_begin_operation(uint32_t rank, const dynsel_mpi_message *message,
                                                 size_t body_bytes, const dynsel_mpi_exchange *with)
{
    dynsel_mpi_message *placed = NULL;
    dynsel_mpi_operation *const operation = dynsel_mpi_place_operation(rank, &placed);
    if (operation == NULL) {
        return NULL;
    }
    operation->back = with->back;
    operation->back_bytes = with->back_bytes;
    (void)memcpy(placed, message, sizeof(dynsel_mpi_header) + body_bytes);
    dynsel_mpi_send_operation(operation, placed, body_bytes);
    if (with->data != NULL) {
        operation->has_data = true;
        with_data++;
        dynsel_mpi_ranks[rank].owed++;
        dynsel_mpi_transfer_begin(
            &operation->transfer, rank,
            dynsel_mpi_data_number(dynsel_mpi_number_of(operation), operation->turn), with->data,
            with->bytes, with->sends);
    }
    return operation;
}

bool dynsel_mpi_join_operation(dynsel_mpi_operation *operation, uint32_t rank,
                               dynsel_mpi_message *message, size_t body_bytes)
{
    operation->peer = rank;
    address(message, operation);
    if (send(rank, message, body_bytes)) {
        note_owed(operation, rank);
        return true;
    }
    note_failure(operation, DYNSEL_E_OUT_OF_SERVICE, 0); /* the other one knows of the loss */
    return false;
}

void dynsel_mpi_tell(uint32_t rank, dynsel_mpi_kind kind, uint32_t operation)
{
    const dynsel_mpi_header header = {.kind = (uint8_t)kind, .operation = operation};
    (void)send(rank, &header, 0);
}

/* Does not wait for room. False: there was none. */
static bool try_urgent(uint32_t rank, dynsel_mpi_kind kind, uint32_t operation, uint32_t turn)
{
    const dynsel_mpi_header header = {.kind = (uint8_t)kind, .operation = operation, .turn = turn};
    return dynsel_mpi_send(rank, &header, 0, DYNSEL_MPI_TAG_PING);
}

static void tell_of_losses(uint32_t rank)
{
    dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
    while (record->losses_told < loss_count &&
           try_urgent(rank, DYNSEL_MPI_LOST, losses[record->losses_told], 0)) {
        record->losses_told++;
    }
    has_untold = has_untold || record->losses_told < loss_count;
}

static void tell_to_abandon(dynsel_mpi_operation *operation)
{
    const uint32_t rank = operation->tell_to_abandon;
    if (rank != 0 &&
        (dynsel_mpi_is_lost(rank) ||
         try_urgent(rank, DYNSEL_MPI_ABANDON, dynsel_mpi_number_of(operation), operation->turn))) {
        operation->tell_to_abandon = 0;
    }
    has_untold = has_untold || operation->tell_to_abandon != 0;
}

/* What there was no room for. */
DYNSEL_RARE static void tell_the_rest(void)
{
    has_untold = false;
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        if (!dynsel_mpi_is_lost(rank)) {
            tell_of_losses(rank);
        }
    }
    for (uint32_t i = 0; i < DYNSEL_MPI_OPERATIONS; i++) {
        if (operations[i].used) {
            tell_to_abandon(&operations[i]);
        }
    }
}

/* The rank itself is told, too, if it only was slow; but nothing waits for room for that. */
static void note_loss(uint32_t rank)
{
    losses[loss_count++] = rank;
    dynsel_mpi_transport_lose(rank);
    (void)try_urgent(rank, DYNSEL_MPI_LOST, rank, 0);
    tell_the_rest();
}

/* Data of a failed operation do not come; those that are late are not waited for. */
static void end_if_over(dynsel_mpi_operation *operation)
{
    if (!operation->used || operation->owed != 0) {
        return;
    }
    if (operation->has_data && !has_ended(operation)) {
        const dynsel_status data = dynsel_mpi_transfer_state(&operation->transfer);
        if (operation->status != DYNSEL_OK) {
            dynsel_mpi_transfer_abandon(&operation->transfer);
        } else if (data == DYNSEL_E_AGAIN) {
            return;
        } else if (data != DYNSEL_OK) {
            operation->status = data;
            operation->code = operation->transfer.code;
        }
    }
    if (!has_ended(operation)) {
        dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[operation->rank];
        record->owed -= operation->has_data && record->owed != 0 ? 1 : 0;
        dynsel_word_store_release(&operation->ended, 1);
    }
    if (operation->released && !(operation->has_data && operation->transfer.listed)) {
        make_free(operation);
    }
}

void dynsel_mpi_release_operation(dynsel_mpi_operation *operation)
{
    operation->released = true;
    if (has_ended(operation) && operation->owed == 0 &&
        !(operation->has_data && operation->transfer.listed)) {
        make_free(operation);
    }
}

/* The text of a failure stays with its rank until that has another one. */
static void keep_text(uint32_t rank, const unsigned char *text, uint32_t bytes)
{
    char *const kept = dynsel_mpi_ranks[rank].failure;
    const size_t fits = bytes < DYNSEL_MPI_ERROR_BYTES ? bytes : DYNSEL_MPI_ERROR_BYTES - 1;
    (void)memcpy(kept, text, fits);
    kept[fits] = '\0';
}

static void take_answer(uint32_t rank, const dynsel_mpi_message *message, size_t body_bytes)
{
    const uint32_t number = message->header.operation;
    dynsel_mpi_done_body done;
    if (number >= DYNSEL_MPI_OPERATIONS || body_bytes < sizeof(done)) {
        return;
    }
    dynsel_mpi_operation *const operation = &operations[number];
    (void)memcpy(&done, message->body, sizeof(done));
    const size_t back_at = DYNSEL_MPI_ROUND(sizeof(done) + (size_t)done.text_bytes);
    const bool fits = done.text_bytes <= DYNSEL_MPI_ERROR_BYTES &&
                      (done.back_bytes == 0 || back_at + (size_t)done.back_bytes <= body_bytes) &&
                      sizeof(done) + (size_t)done.text_bytes <= body_bytes;
    const uint8_t its = owed_by(operation, rank);
    if (!operation->used || !fits || (operation->owed & its) == 0 ||
        (operation->rank != rank && operation->peer != rank)) {
        return;
    }
    operation->owed &= (uint8_t)~its;
    dynsel_mpi_ranks[rank].owed--;
    if (rank == operation->rank) {
        operation->took_ns = done.took_ns;
    }
    if (done.status != DYNSEL_OK) {
        keep_text(rank, message->body + sizeof(done), done.text_bytes);
        note_failure(operation, (dynsel_status)done.status, done.code);
        if (operation->owed != 0) {
            operation->tell_to_abandon =
                rank == operation->rank ? operation->peer : operation->rank;
            tell_to_abandon(operation);
        }
    } else if (operation->back != NULL && done.back_bytes == operation->back_bytes) {
        (void)memcpy(operation->back, message->body + back_at, done.back_bytes);
    }
    end_if_over(operation);
}

static void take_messages(void)
{
    uint32_t rank = 0;
    size_t body_bytes = 0;
    const dynsel_mpi_message *message = dynsel_mpi_next_message(&rank, &body_bytes);
    for (; message != NULL; message = dynsel_mpi_next_message(&rank, &body_bytes)) {
        dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
        if (!dynsel_mpi_is_lost(rank)) { /* one that was thought lost may still speak */
            record->heard = true;
            record->asked_ns = 0;
            record->left = record->left || message->header.kind == DYNSEL_MPI_BYE;
            record->awaits_pong = record->awaits_pong && message->header.kind != DYNSEL_MPI_PONG;
            if (message->header.kind == DYNSEL_MPI_DONE) {
                take_answer(rank, message, body_bytes);
            }
        }
        dynsel_mpi_took_message();
    }
}

/* Data end without a message. */
static void look_at_data(void)
{
    for (uint32_t i = 0; i < DYNSEL_MPI_OPERATIONS; i++) {
        const dynsel_mpi_operation *const operation = &operations[i];
        if (operation->used && operation->has_data &&
            (!has_ended(operation) || operation->released)) {
            end_if_over(&operations[i]);
        }
    }
}

/* Ends what a lost rank takes part in. Data may be owed where answers are not. */
static void fail_operation(dynsel_mpi_operation *operation, uint32_t rank, int code)
{
    const uint8_t its = owed_by(operation, rank);
    const bool owes_data = operation->has_data && !has_ended(operation);
    if (!operation->used || (operation->rank != rank && operation->peer != rank) ||
        ((operation->owed & its) == 0 && !owes_data)) {
        return;
    }
    operation->owed &= (uint8_t)~its;
    note_failure(operation, DYNSEL_E_OUT_OF_SERVICE, code);
    if (operation->has_data) {
        dynsel_mpi_transfer_abandon(&operation->transfer);
    }
    end_if_over(operation);
}

DYNSEL_RARE void dynsel_mpi_lose(uint32_t rank, int code)
{
    dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
    if (dynsel_mpi_is_lost(rank) || record->left) {
        return;
    }
    dynsel_word_store_release(&record->lost, 1);
    for (uint32_t i = 0; i < DYNSEL_MPI_OPERATIONS; i++) {
        fail_operation(&operations[i], rank, code);
    }
    record->owed = 0;
    note_loss(rank);
}

static void look_at_rank(uint32_t rank, uint64_t now_ns, uint64_t ask_ns, uint64_t unseen_ns)
{
    dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
    const int code = dynsel_mpi_failure_of(rank);
    if (dynsel_mpi_is_lost(rank) || record->left) {
        return;
    }
    if (record->heard) {
        record->heard = false;
        record->heard_ns = now_ns;
    }
    record->asked_ns += record->asked_ns != 0 ? unseen_ns : 0;
    if (code != 0 ||
        (record->asked_ns != 0 && now_ns - record->asked_ns > dynsel_mpi.options.silence_ns)) {
        dynsel_mpi_lose(rank, code);
        return;
    }
    const uint64_t since_ns = now_ns - record->heard_ns;
    const uint64_t quiet_ns = now_ns - record->pinged_ns;
    const bool asks =
        record->owed != 0 && record->asked_ns == 0 && since_ns > ask_ns && quiet_ns > ask_ns;
    const bool shows = record->owed == 0 && quiet_ns > dynsel_mpi.options.idle_ns / PINGS_OF_IDLE;
    if ((asks || shows) && (record->awaits_pong || try_urgent(rank, DYNSEL_MPI_PING, 0, 0))) {
        record->awaits_pong = true;
        record->asked_ns = asks ? now_ns : record->asked_ns;
        record->pinged_ns = now_ns;
    }
}

/* Only after a look for messages: what came while nobody looked is no silence. Of a long time in
 * which nobody looked little counts: if this machine stood still, the others may have, too. */
static void look_for_silence(uint64_t now_ns)
{
    const uint64_t ask_ns = dynsel_mpi.options.silence_ns / PINGS_OF_SILENCE;
    const uint64_t since_ns = now_ns - looked_ns;
    const uint64_t unseen_ns = since_ns > ask_ns ? since_ns - ask_ns : 0;
    looked_ns = now_ns;
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        look_at_rank(rank, now_ns, ask_ns, unseen_ns);
    }
}

bool dynsel_mpi_advance(void)
{
    if (has_untold) {
        tell_the_rest();
    }
    if (dynsel_mpi_pump()) {
        without_news = 0;
        take_messages();
        if (with_data != 0) {
            look_at_data();
        }
        if (++with_news % LOOK_ANYWAY == 0) {
            look_for_silence(dynsel_now_ns());
        }
        return true;
    }
    if (++without_news % LOOK_EVERY == 0) {
        take_messages();
        if (with_data != 0) {
            look_at_data();
        }
        look_for_silence(dynsel_now_ns());
    }
    return false;
}

uint32_t dynsel_mpi_advance_operation(const dynsel_mpi_operation *operation, uint32_t most_calls)
{
    uint32_t calls_without_news = 0;
    for (uint32_t call = 0; call < most_calls && !has_ended(operation); call++) {
        calls_without_news = dynsel_mpi_advance() ? 0 : calls_without_news + 1;
    }
    return calls_without_news;
}

dynsel_status dynsel_mpi_fail_lost(uint32_t rank)
{
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_backend"), DYNSEL_E_OUT_OF_SERVICE,
                          "rank {} does not answer, nothing more is asked of it", rank);
}

dynsel_status dynsel_mpi_operation_result(const dynsel_mpi_operation *operation)
{
    if (!has_ended(operation)) {
        return DYNSEL_E_AGAIN;
    }
    if (operation->status == DYNSEL_OK) {
        return DYNSEL_OK;
    }
    const uint32_t rank = operation->rank;
    if (dynsel_mpi_is_lost(rank) || (operation->peer != 0 && dynsel_mpi_is_lost(operation->peer))) {
        return dynsel_mpi_fail_lost(dynsel_mpi_is_lost(rank) ? rank : operation->peer);
    }
    return dynsel_fail(
        &(const dynsel_error){.status = operation->status,
                              .code = operation->code,
                              .number = rank,
                              .function = DYNSEL_TEXT("dynsel_mpi_serve"),
                              .subject = DYNSEL_TEXT("another rank"),
                              .detail = DYNSEL_TEXT(dynsel_mpi_ranks[rank].failure)});
}

dynsel_status dynsel_mpi_wait_for(const dynsel_mpi_operation *operation)
{
    for (uint32_t round = 0; !has_ended(operation);) {
        dynsel_spinlock_acquire(&dynsel_mpi_lock);
        const uint32_t calls_without_news = dynsel_mpi_advance_operation(operation, CALLS_LOCKED);
        const uint32_t spins = dynsel_mpi_is_moving() ? SPINS_OF_DATA : SPINS;
        dynsel_spinlock_release(&dynsel_mpi_lock);
        if (has_ended(operation)) {
            break;
        }
        round = calls_without_news < CALLS_LOCKED ? 0 : round + 1;
        if (round > spins) {
            dynsel_pause_for_copy(round - spins);
        }
    }
    return dynsel_mpi_operation_result(operation);
}
