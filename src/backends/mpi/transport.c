/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "backends/mpi/transport.h"

#include <pthread.h>
#include <string.h>

#include "port/assert.h"
#include "port/likely.h"

enum {
    LEAVING = 64,  /* messages that MPI has not taken yet */
    ARRIVING = 32, /* messages that may arrive between two pumps */
    GO_ON = 8,     /* data that MPI sends at once; the others follow in their order. What is to be
                       received MPI knows at once: so no two ranks wait for each other. */
    PINGS_EVERY = 32, /* pumps between two looks for pings: each look takes as long as the pump */
#if CONFIG_DYNSEL_COMMAND_GROUPS
    PIECE_BYTES = CONFIG_DYNSEL_MPI_PIECE_KIB * 1024
#else
    PIECE_BYTES = 1024 * 1024
#endif
};

/* Messages are contiguous bytes, from the header to the last used one of the body. */
_Static_assert(offsetof(dynsel_mpi_message, body) == sizeof(dynsel_mpi_header),
               "the body of a message follows its header without a gap");

/* Both begin with what is small, so that it shares a cache line with the message's header. */
typedef struct leaving {
    size_t bytes;
    MPI_Request request;
    uint32_t rank;
    int tag;
    bool used;
    bool sent;    /* MPI has it: `request` */
    bool dropped; /* its rank was lost since */
    dynsel_mpi_message message;
} leaving;

typedef struct arriving {
    MPI_Request request;
    uint32_t rank;
    uint32_t body_bytes;
    bool here;
    dynsel_mpi_message message;
} arriving;

dynsel_spinlock dynsel_mpi_lock;

static MPI_Comm comm = MPI_COMM_NULL;
static bool anybody;      /* may call MPI */
static pthread_t the_one; /* else only this thread */
static int failures[CONFIG_DYNSEL_MPI_RANKS];
static bool lost[CONFIG_DYNSEL_MPI_RANKS];
static uint32_t data_tags; /* how many there are: a multiple of the operations */

static leaving leaves[LEAVING];
static uint32_t order[LEAVING]; /* places in `leaves` of those that MPI does not have, a ring */
static uint32_t first_queued;
static uint32_t queued;
static uint32_t unsent; /* messages that MPI has and has not sent */

static arriving arrives[ARRIVING]; /* a ring, in the order in which MPI fills it */
static uint32_t oldest;
static uint32_t here;  /* from the oldest on */
static uint32_t taken; /* before the oldest: MPI does not have them yet */
static arriving ping;
static uint32_t pumps;

static dynsel_mpi_transfer *transfers; /* that go on, oldest first */

bool dynsel_mpi_may_call(void)
{
    return anybody || pthread_equal(the_one, pthread_self()) != 0;
}

int dynsel_mpi_failure_of(uint32_t rank)
{
    return failures[rank];
}

static bool note(int code, uint32_t rank)
{
    if (code != MPI_SUCCESS && failures[rank] == 0) {
        failures[rank] = code;
    }
    return code == MPI_SUCCESS;
}

/* Of messages that are shorter than a header, which this program does not send: nobody has asked
 * for, or waits for, an operation of this number. */
static const dynsel_mpi_header of_nothing = {.kind = (uint8_t)DYNSEL_MPI_DONE,
                                             .operation = UINT32_MAX};

DYNSEL_ASIDE static int expect(arriving *next, int tag)
{
    next->here = false;
    next->message.header = of_nothing;
    return MPI_Irecv(&next->message, sizeof(next->message), MPI_BYTE, MPI_ANY_SOURCE, tag, comm,
                     &next->request);
}

/* MPI promises 32767 at least. */
static uint32_t count_data_tags(void)
{
    int is_there = 0;
    int *highest = NULL;
    (void)MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &highest, &is_there);
    const uint32_t tags = (uint32_t)(is_there != 0 ? *highest : 32767) - DYNSEL_MPI_TAG_DATA;
    return tags - tags % DYNSEL_MPI_OPERATIONS;
}

DYNSEL_RARE int dynsel_mpi_transport_open(MPI_Comm communicator, bool anybody_calls)
{
    comm = communicator;
    anybody = anybody_calls;
    the_one = pthread_self();
    data_tags = count_data_tags();
    (void)memset(failures, 0, sizeof(failures));
    (void)memset(lost, 0, sizeof(lost));
    (void)memset(leaves, 0, sizeof(leaves));
    first_queued = queued = unsent = 0;
    oldest = here = taken = pumps = 0;
    transfers = NULL;
    int code = expect(&ping, DYNSEL_MPI_TAG_PING);
    for (uint32_t i = 0; i < ARRIVING; i++) {
        arrives[i].request = MPI_REQUEST_NULL;
        code = code == MPI_SUCCESS ? expect(&arrives[i], DYNSEL_MPI_TAG_MESSAGE) : code;
    }
    return code;
}

static void take_back(MPI_Request *request)
{
    if (*request != MPI_REQUEST_NULL) {
        (void)MPI_Cancel(request);
        (void)MPI_Request_free(request);
    }
}

void dynsel_mpi_transport_close(bool clean)
{
    if (clean) {
        take_back(&ping.request);
        for (uint32_t i = 0; i < ARRIVING; i++) {
            take_back(&arrives[i].request);
        }
        for (uint32_t i = 0; i < LEAVING; i++) {
            if (leaves[i].used && leaves[i].sent) {
                (void)MPI_Wait(&leaves[i].request, MPI_STATUS_IGNORE);
            }
        }
        (void)MPI_Comm_free(&comm);
    }
    comm = MPI_COMM_NULL;
}

/* What may wait for ever leaves its place: MPI reads it when that has another message, if ever. */
static void drop(leaving *next)
{
    take_back(&next->request);
    next->used = false;
}

/* Hands a message to MPI, which usually copies it: then its place is free. */
static void hand_over(leaving *next)
{
    int is_sent = 0;
    if (next->dropped) {
        next->used = false;
        return;
    }
    next->sent = true;
    const int code = MPI_Isend(&next->message, (int)next->bytes, MPI_BYTE, (int)next->rank,
                               next->tag, comm, &next->request);
    if (!note(code, next->rank)) {
        next->used = false;
        return;
    }
    (void)note(MPI_Test(&next->request, &is_sent, MPI_STATUS_IGNORE), next->rank);
    next->used = is_sent == 0;
    if (next->used && lost[next->rank]) {
        drop(next);
    }
    unsent += next->used ? 1 : 0;
}

static void hand_over_queued(void)
{
    while (queued != 0) {
        leaving *const next = &leaves[order[first_queued]];
        first_queued = (first_queued + 1) % LEAVING;
        queued--;
        hand_over(next);
    }
}

static void look_for_sent(void)
{
    for (uint32_t i = 0; i < LEAVING && unsent != 0; i++) {
        int is_sent = 0;
        if (!leaves[i].used || !leaves[i].sent) {
            continue;
        }
        if (leaves[i].dropped) {
            drop(&leaves[i]);
            unsent--;
            continue;
        }
        const int code = MPI_Test(&leaves[i].request, &is_sent, MPI_STATUS_IGNORE);
        if (!note(code, leaves[i].rank) || is_sent != 0) {
            leaves[i].used = false;
            unsent--;
        }
    }
}

dynsel_mpi_message *dynsel_mpi_place_message(void)
{
    uint32_t place = 0;
    while (place < LEAVING && leaves[place].used) {
        place++;
    }
    return place < LEAVING ? &leaves[place].message : NULL;
}

/* The place that a message lies in. */
static leaving *place_of(dynsel_mpi_message *message)
{
    return (leaving *)(void *)((unsigned char *)message - offsetof(leaving, message));
}

DYNSEL_ASIDE void dynsel_mpi_send_placed(dynsel_mpi_message *message, uint32_t rank,
                                         size_t body_bytes, int tag)
{
    leaving *const next = place_of(message);
    DYNSEL_ASSERT(body_bytes <= sizeof(message->body));
    message->header.body_bytes = (uint32_t)body_bytes;
    next->bytes = sizeof(dynsel_mpi_header) + body_bytes;
    next->rank = rank;
    next->tag = tag;
    next->used = true;
    next->sent = false;
    next->dropped = false;
    const bool may_call = dynsel_mpi_may_call();
    if (may_call && queued == 0) {
        hand_over(next);
        return;
    }
    order[(first_queued + queued) % LEAVING] = (uint32_t)(next - leaves);
    queued++;
    if (may_call) {
        hand_over_queued();
    }
}

bool dynsel_mpi_send(uint32_t rank, const void *message, size_t body_bytes, int tag)
{
    dynsel_mpi_message *const next = dynsel_mpi_place_message();
    if (next != NULL) {
        (void)memcpy(next, message, sizeof(dynsel_mpi_header) + body_bytes);
        dynsel_mpi_send_placed(next, rank, body_bytes, tag);
    }
    return next != NULL;
}

void dynsel_mpi_transport_lose(uint32_t rank)
{
    lost[rank] = true;
    for (uint32_t i = 0; i < LEAVING; i++) {
        leaves[i].dropped = leaves[i].dropped || leaves[i].rank == rank;
    }
    if (dynsel_mpi_may_call()) {
        look_for_sent();
    }
}

bool dynsel_mpi_is_sending(void)
{
    return queued != 0 || unsent != 0;
}

bool dynsel_mpi_is_moving(void)
{
    return transfers != NULL;
}

/* True: it is there. A failure has no rank: the ranks are asked by their silence then. */
static bool look_for(arriving *next)
{
    MPI_Status status;
    int is_here = 0;
    if (MPI_Test(&next->request, &is_here, &status) != MPI_SUCCESS || is_here == 0) {
        return false;
    }
    const uint32_t bytes = next->message.header.body_bytes;
    next->rank = (uint32_t)status.MPI_SOURCE;
    next->body_bytes = bytes <= sizeof(next->message.body) ? bytes : 0;
    next->here = true;
    return true;
}

const dynsel_mpi_message *dynsel_mpi_next_message(uint32_t *rank, size_t *body_bytes)
{
    const arriving *const next = ping.here ? &ping : here != 0 ? &arrives[oldest] : NULL;
    if (next == NULL) {
        return NULL;
    }
    *rank = next->rank;
    *body_bytes = next->body_bytes;
    return &next->message;
}

void dynsel_mpi_took_message(void)
{
    if (ping.here) {
        (void)expect(&ping, DYNSEL_MPI_TAG_PING);
        return;
    }
    oldest = (oldest + 1) % ARRIVING;
    here--;
    taken++;
}

/* Only now, when nobody waits for what has come: it takes as long as half a message. */
static void expect_more(void)
{
    while (taken != 0) {
        (void)expect(&arrives[(oldest + ARRIVING - taken) % ARRIVING], DYNSEL_MPI_TAG_MESSAGE);
        taken--;
    }
}

/* One at a time: to look in vain for a second one takes MPI as long as its message took to be sent.
 */
static bool look_for_message(void)
{
    if (here + taken < ARRIVING && look_for(&arrives[(oldest + here) % ARRIVING])) {
        here++;
        return true;
    }
    return pumps++ % PINGS_EVERY == 0 && !ping.here && look_for(&ping);
}

void dynsel_mpi_transfer_begin(dynsel_mpi_transfer *transfer, uint32_t rank, uint32_t operation,
                               void *data, size_t bytes, bool sends)
{
    *transfer = (dynsel_mpi_transfer){.data = data,
                                      .bytes = bytes,
                                      .rank = rank,
                                      .operation = operation,
                                      .sends = sends,
                                      .listed = bytes != 0};
    for (uint32_t i = 0; i < DYNSEL_MPI_PIECES; i++) {
        transfer->pieces[i] = MPI_REQUEST_NULL;
    }
    dynsel_mpi_transfer **end = &transfers;
    while (bytes != 0 && *end != NULL) {
        end = &(*end)->next;
    }
    if (bytes != 0) {
        *end = transfer;
    }
}

static void unlist(dynsel_mpi_transfer *transfer)
{
    dynsel_mpi_transfer **at = &transfers;
    while (*at != transfer) {
        at = &(*at)->next;
    }
    *at = transfer->next;
    transfer->listed = false;
}

dynsel_status dynsel_mpi_transfer_state(const dynsel_mpi_transfer *transfer)
{
    if (transfer->code != 0) {
        return DYNSEL_E_DEVICE;
    }
    return transfer->ended < transfer->bytes ? DYNSEL_E_AGAIN : DYNSEL_OK;
}

static void take_pieces_back(dynsel_mpi_transfer *transfer)
{
    unlist(transfer);
    for (uint32_t i = 0; i < DYNSEL_MPI_PIECES; i++) {
        take_back(&transfer->pieces[i]);
    }
}

void dynsel_mpi_transfer_abandon(dynsel_mpi_transfer *transfer)
{
    if (!transfer->listed || transfer->abandoned) {
        return;
    }
    transfer->abandoned = true;
    transfer->code = MPI_ERR_OTHER;
    if (dynsel_mpi_may_call()) {
        take_pieces_back(transfer);
    }
}

static size_t piece_at(const dynsel_mpi_transfer *transfer, size_t first)
{
    const size_t rest = transfer->bytes - first;
    return rest < PIECE_BYTES ? rest : PIECE_BYTES;
}

static MPI_Request *request_at(dynsel_mpi_transfer *transfer, size_t first)
{
    return &transfer->pieces[first / PIECE_BYTES % DYNSEL_MPI_PIECES];
}

/* Pieces end in any order, but are counted in theirs. True: some have ended. */
static bool count_ended(dynsel_mpi_transfer *transfer)
{
    int is_over = 1;
    bool ended = false;
    while (is_over != 0 && transfer->ended < transfer->begun && transfer->code == 0) {
        const int code =
            MPI_Test(request_at(transfer, transfer->ended), &is_over, MPI_STATUS_IGNORE);
        transfer->code = note(code, transfer->rank) ? 0 : code;
        if (is_over != 0 && transfer->code == 0) {
            transfer->ended += piece_at(transfer, transfer->ended);
            ended = true;
        }
    }
    return ended;
}

static void begin_pieces(dynsel_mpi_transfer *transfer)
{
    const int tag = DYNSEL_MPI_TAG_DATA + (int)(transfer->operation % data_tags);
    while (transfer->code == 0 && transfer->begun < transfer->bytes &&
           transfer->begun - transfer->ended < (size_t)DYNSEL_MPI_PIECES * PIECE_BYTES) {
        unsigned char *const data = transfer->data + transfer->begun;
        const int bytes = (int)piece_at(transfer, transfer->begun);
        MPI_Request *const request = request_at(transfer, transfer->begun);
        const int code =
            transfer->sends
                ? MPI_Isend(data, bytes, MPI_BYTE, (int)transfer->rank, tag, comm, request)
                : MPI_Irecv(data, bytes, MPI_BYTE, (int)transfer->rank, tag, comm, request);
        transfer->code = note(code, transfer->rank) ? 0 : code;
        transfer->begun += (size_t)bytes;
    }
}

static bool move_on(dynsel_mpi_transfer *transfer)
{
    if (transfer->abandoned) {
        take_pieces_back(transfer);
        return true;
    }
    begin_pieces(transfer);
    bool ended = false;
    while (count_ended(transfer)) {
        ended = true;
        begin_pieces(transfer);
    }
    if (dynsel_mpi_transfer_state(transfer) != DYNSEL_E_AGAIN) {
        take_pieces_back(transfer);
        ended = true;
    }
    return ended;
}

bool dynsel_mpi_pump(void)
{
    if (!dynsel_mpi_may_call()) {
        return false;
    }
    if (queued != 0) {
        hand_over_queued();
    }
    if (unsent != 0) {
        look_for_sent();
    }
    if (taken != 0) {
        expect_more();
    }
    bool moved = look_for_message();
    dynsel_mpi_transfer *next = transfers;
    for (uint32_t sending = 0; next != NULL;) {
        dynsel_mpi_transfer *const transfer = next;
        next = transfer->next;
        sending += transfer->sends ? 1 : 0;
        if (!transfer->sends || sending <= GO_ON) {
            moved = move_on(transfer) || moved;
        }
    }
    return moved;
}
