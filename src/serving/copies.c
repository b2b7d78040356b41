/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/copies.h"

#include <string.h>

#include <dynsel/backend.h>
#include <dynsel/host_accessor.h>

#include "backends/mpi/state.h"
#include "base/fail.h"

/* All zero: there is none. */
typedef struct copy {
    uint64_t offset;
    uint64_t bytes;
    dynsel_buffer buffer;
    uint32_t opening_to_send; /* how many operations wait for its data */
    uint32_t brought_by; /* the number + 1 of the operation that brings its data, or waits to */
    bool opening_to_receive;
} copy;

static copy copies[CONFIG_DYNSEL_MPI_COPIES];
static bool lost[CONFIG_DYNSEL_MPI_RANKS];
/* The turns of transfers that were abandoned before they came, by operation; 0: none. */
static uint32_t abandoned[DYNSEL_MPI_OPERATIONS];

static dynsel_status refuse(dynsel_status status, const char *detail, uint32_t number)
{
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_serve"), status, detail, number);
}

void dynsel_served_copy_reset(void)
{
    (void)memset(copies, 0, sizeof(copies));
    (void)memset(lost, 0, sizeof(lost));
    (void)memset(abandoned, 0, sizeof(abandoned));
}

bool dynsel_served_copy_is_held(uint32_t number, bool writes)
{
    const copy *const used = &copies[number];
    return used->opening_to_receive || (writes && used->opening_to_send != 0);
}

uint32_t dynsel_served_copy_brought_by(uint32_t number)
{
    return copies[number].brought_by;
}

static bool is_inside(const dynsel_mpi_place *place)
{
    const uint64_t memory_bytes =
        dynsel_mpi.options.memory != NULL ? dynsel_mpi.options.memory_bytes : 0;
    return place->offset <= memory_bytes && place->bytes <= memory_bytes - place->offset;
}

/* True: there is none any more. False: it is in use. */
static bool end_copy(copy *ended)
{
    if (ended->buffer.token == 0) {
        return true;
    }
    if (ended->opening_to_receive || ended->opening_to_send != 0 ||
        dynsel_buffer_discard(&ended->buffer) == DYNSEL_E_BUSY) {
        return false;
    }
    (void)memset(ended, 0, sizeof(*ended));
    return true;
}

dynsel_status dynsel_served_copy_get(const dynsel_mpi_place *place, dynsel_buffer *buffer)
{
    if (place->copy >= CONFIG_DYNSEL_MPI_COPIES || !is_inside(place)) {
        return refuse(DYNSEL_E_INVALID,
                      DYNSEL_TEXT("copy {} does not lie in the memory of this rank"), place->copy);
    }
    copy *const its = &copies[place->copy];
    if (its->buffer.token == 0 || its->offset != place->offset || its->bytes != place->bytes) {
        static unsigned char nothing; /* where the program gave no memory */
        unsigned char *const memory = dynsel_mpi.options.memory;
        if (!end_copy(its)) {
            return DYNSEL_E_AGAIN;
        }
        const dynsel_status status =
            dynsel_buffer_init(&its->buffer, memory != NULL ? &memory[place->offset] : &nothing, 1,
                               DYNSEL_RANGE((size_t)place->bytes));
        if (status != DYNSEL_OK) {
            return status;
        }
        its->offset = place->offset;
        its->bytes = place->bytes;
    }
    *buffer = its->buffer;
    return DYNSEL_OK;
}

static dynsel_status read_data(dynsel_served_reader *body, dynsel_mpi_data_body *data)
{
    return dynsel_served_reader_take(body, data, sizeof(*data)) &&
                   data->place.copy < CONFIG_DYNSEL_MPI_COPIES
               ? DYNSEL_OK
               : refuse(DYNSEL_E_INVALID, DYNSEL_TEXT("the message about a copy is torn"), 0);
}

static dynsel_status check_peer(uint32_t peer)
{
    if (peer >= dynsel_mpi.rank_count || peer == dynsel_mpi.rank ||
        peer >= CONFIG_DYNSEL_MPI_RANKS) {
        return refuse(DYNSEL_E_INVALID, DYNSEL_TEXT("there is no other rank {}"), peer);
    }
    return lost[peer] ? refuse(DYNSEL_E_OUT_OF_SERVICE, DYNSEL_TEXT("rank {} was lost"), peer)
                      : DYNSEL_OK;
}

/* A turn that has passed is forgotten. */
static dynsel_status check_abandoned(const dynsel_mpi_header *header)
{
    const uint32_t turn = abandoned[header->operation];
    abandoned[header->operation] = turn == header->turn ? turn : 0;
    return turn != 0 && turn == header->turn
               ? refuse(DYNSEL_E_OUT_OF_SERVICE,
                        DYNSEL_TEXT("the other side of transfer {} has failed"), header->operation)
               : DYNSEL_OK;
}

/* Begins a transfer in the state DYNSEL_SERVED_OPENING. */
static dynsel_status begin(const dynsel_mpi_header *header, dynsel_served_reader body, bool sends)
{
    dynsel_served_order order = {.ignores_failures = !sends};
    dynsel_mpi_data_body data = {.peer = 0};
    dynsel_buffer buffer;
    dynsel_status status = read_data(&body, &data);
    status = status == DYNSEL_OK ? check_peer(data.peer) : status;
    status = status == DYNSEL_OK ? check_abandoned(header) : status;
    if (status == DYNSEL_OK && dynsel_served_copy_is_held(data.place.copy, !sends)) {
        return DYNSEL_E_AGAIN;
    }
    status = status == DYNSEL_OK ? dynsel_served_order_read(&order, header, body, true) : status;
    status = status == DYNSEL_OK ? dynsel_served_copy_get(&data.place, &buffer) : status;
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_served *const operation =
        dynsel_served_begin(header, DYNSEL_SERVED_OPENING, dynsel_now_ns());
    dynsel_served_order_keep(&order, operation);
    operation->place = data.place.copy;
    (void)memset(&operation->of.data, 0, sizeof(operation->of.data));
    operation->of.data.peer = data.peer;
    operation->of.data.sends = sends;
    if (sends) {
        copies[data.place.copy].opening_to_send++;
    } else {
        copies[data.place.copy].opening_to_receive = true;
    }
    (void)dynsel_served_copy_look(operation);
    return DYNSEL_OK;
}

dynsel_status dynsel_served_copy_bring(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    return begin(header, body, false);
}

dynsel_status dynsel_served_copy_fetch(const dynsel_mpi_header *header, dynsel_served_reader body)
{
    return begin(header, body, true);
}

bool dynsel_served_copy_release(uint32_t number)
{
    return number >= CONFIG_DYNSEL_MPI_COPIES || end_copy(&copies[number]);
}

static void leave_opening(const dynsel_served *operation)
{
    copy *const used = &copies[operation->place];
    if (operation->of.data.sends) {
        used->opening_to_send--;
    } else {
        used->opening_to_receive = false;
    }
}

/* error: NULL: it succeeded. Work that awaits failed data is cancelled before they are released. */
static void end(dynsel_served *operation, const dynsel_error *error)
{
    copy *const used = &copies[operation->place];
    dynsel_host_accessor accessor = operation->of.data.accessor;
    if (used->brought_by == dynsel_served_number(operation) + 1) {
        used->brought_by = 0;
    }
    operation->result.took_ns = dynsel_now_ns() - operation->since_ns;
    dynsel_served_end(operation, error);
    if (accessor.data != NULL) {
        const dynsel_status status = dynsel_host_accessor_close(&accessor);
        (void)status; /* it is open */
    }
}

/* The data can be read or written when the host accessor opens. */
static bool open(dynsel_served *operation)
{
    copy *const used = &copies[operation->place];
    dynsel_host_accessor *const accessor = &operation->of.data.accessor;
    const bool sends = operation->of.data.sends;
    if (operation->awaits_count != 0) {
        return false;
    }
    const dynsel_status status =
        operation->dependency_failed && sends
            ? dynsel_served_order_fail(dynsel_served_number(operation))
            : dynsel_host_accessor_open_for(
                  accessor, used->buffer, sends ? DYNSEL_ACCESS_READ : DYNSEL_ACCESS_DISCARD_WRITE,
                  0);
    if (status == DYNSEL_E_TIMEOUT || status == DYNSEL_E_BUSY ||
        (status == DYNSEL_E_FULL && dynsel_served_count() > 1)) {
        return false;
    }
    leave_opening(operation);
    if (status != DYNSEL_OK) {
        const dynsel_error error = *dynsel_last_error();
        end(operation, &error);
        return true;
    }
    operation->since_ns = dynsel_now_ns();
    operation->state = (uint8_t)DYNSEL_SERVED_MOVING;
    if (!sends) {
        used->brought_by = dynsel_served_number(operation) + 1;
    }
    dynsel_mpi_transfer_begin(
        &operation->of.data.transfer, operation->of.data.peer,
        dynsel_mpi_data_number(dynsel_served_number(operation), operation->turn), accessor->data,
        used->bytes, sends);
    return true;
}

bool dynsel_served_copy_look(dynsel_served *operation)
{
    if (operation->state == (uint8_t)DYNSEL_SERVED_OPENING) {
        return open(operation);
    }
    const dynsel_status status = dynsel_mpi_transfer_state(&operation->of.data.transfer);
    if (status == DYNSEL_E_AGAIN) {
        return false;
    }
    if (status == DYNSEL_OK) {
        end(operation, NULL);
        return true;
    }
    const dynsel_error error = {.status = status,
                                .code = operation->of.data.transfer.code,
                                .number = operation->of.data.peer,
                                .function = DYNSEL_TEXT("dynsel_mpi_serve"),
                                .detail = DYNSEL_TEXT("data between this rank and rank {}")};
    end(operation, &error);
    return true;
}

static bool is_transfer(const dynsel_served *operation)
{
    return operation->kind == (uint8_t)DYNSEL_MPI_BRING ||
           operation->kind == (uint8_t)DYNSEL_MPI_FETCH;
}

void dynsel_served_copy_abandon(dynsel_served *operation)
{
    if (!is_transfer(operation)) {
        return;
    }
    const dynsel_error error = {.status = DYNSEL_E_OUT_OF_SERVICE,
                                .number = operation->of.data.peer,
                                .function = DYNSEL_TEXT("dynsel_mpi_serve"),
                                .detail = DYNSEL_TEXT("rank {} was lost, or its side failed")};
    if (operation->state == (uint8_t)DYNSEL_SERVED_OPENING) {
        leave_opening(operation);
        end(operation, &error);
    } else if (operation->state == (uint8_t)DYNSEL_SERVED_MOVING) {
        dynsel_mpi_transfer_abandon(&operation->of.data.transfer);
        end(operation, &error);
    }
}

void dynsel_served_copy_abandon_turn(const dynsel_mpi_header *header)
{
    dynsel_served *const operation = dynsel_served_at(header->operation);
    if (operation->state != (uint8_t)DYNSEL_SERVED_NOTHING && operation->turn == header->turn) {
        dynsel_served_copy_abandon(operation);
    } else {
        abandoned[header->operation] = header->turn;
    }
}

void dynsel_served_copy_lose_rank(uint32_t rank)
{
    if (rank >= CONFIG_DYNSEL_MPI_RANKS) {
        return;
    }
    lost[rank] = true;
    dynsel_served *next = dynsel_served_first();
    while (next != NULL) {
        dynsel_served *const operation = next;
        next = dynsel_served_after(operation);
        if (is_transfer(operation) && operation->of.data.peer == rank) {
            dynsel_served_copy_abandon(operation);
        }
    }
}

bool dynsel_served_copy_end_all(void)
{
    bool all = true;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MPI_COPIES; i++) {
        if (copies[i].buffer.token != 0) {
            all = dynsel_buffer_discard(&copies[i].buffer) == DYNSEL_OK && all;
        }
    }
    return all;
}
