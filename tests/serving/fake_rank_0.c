/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/fake_rank_0.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "backends/mpi/state.h"
#include "backends/mpi/transport.h"
#include "test.h"

enum { LINE = 1024, ANSWERS = 2048, PATIENCE_NS = 1000000, PATIENCE = 20000 };

typedef struct pushed {
    dynsel_mpi_message message;
    size_t body_bytes;
    uint32_t rank;
} pushed;

dynsel_mpi_state dynsel_mpi;
dynsel_spinlock dynsel_mpi_lock;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static struct fake {
    pushed line[LINE]; /* a ring */
    uint32_t first;
    uint32_t count;
    pushed ahead;
    bool is_ahead;
    bool ahead_is_next; /* what dynsel_mpi_next_message() returned */
    pushed answers[ANSWERS];
    uint32_t answer_count;
    uint32_t pongs;
    uint32_t byes;
    uint32_t pumps;
    bool blocked;
    bool by_itself;
    bool moved; /* since the last pump */
    int failure;
    uint32_t ends;
    bool clean;
    bool returned;
    dynsel_status status;
    char text[400];
    dynsel_mpi_transfer *transfers[DYNSEL_MPI_OPERATIONS];
    bool abandoned[DYNSEL_MPI_OPERATIONS];
} fake;

static void *serve(void *unused)
{
    (void)unused;
    const dynsel_status status = dynsel_mpi_serve();
    pthread_mutex_lock(&lock);
    fake.status = status;
    fake.returned = true;
    fake.text[0] = '\0';
    if (status != DYNSEL_OK) {
        (void)dynsel_error_text(NULL, fake.text, sizeof fake.text);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static uint32_t locked(const uint32_t *number)
{
    pthread_mutex_lock(&lock);
    const uint32_t value = *number;
    pthread_mutex_unlock(&lock);
    return value;
}

void fake_begin(const dynsel_mpi_options *options, const dynsel_resource *resources, uint32_t count)
{
    memset(&fake, 0, sizeof fake);
    memset(&dynsel_mpi, 0, sizeof dynsel_mpi);
    dynsel_mpi.options = *options;
    dynsel_mpi.options.silence_ns =
        options->silence_ns != 0 ? options->silence_ns : DYNSEL_MPI_SILENCE_NS;
    dynsel_mpi.options.idle_ns =
        options->idle_ns != 0 ? options->idle_ns : (uint64_t)DYNSEL_MPI_IDLE_NS;
    dynsel_mpi.rank = FAKE_RANK;
    dynsel_mpi.rank_count = FAKE_RANKS;
    memcpy(dynsel_mpi.resources, resources, count * sizeof *resources);
    dynsel_mpi.resource_count = count;
    assert_int_equal(pthread_create(&thread, NULL, serve, NULL), 0);
}

/* Waits under the lock, which it releases meanwhile. */
static void wait_until(bool (*is_so)(uint32_t number), uint32_t number, const char *what)
{
    uint32_t round = 0;
    pthread_mutex_lock(&lock);
    while (!is_so(number) && round++ < PATIENCE) {
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){.tv_nsec = round < 100 ? PATIENCE_NS / 50 : PATIENCE_NS},
                  NULL);
        pthread_mutex_lock(&lock);
    }
    const bool came = is_so(number);
    pthread_mutex_unlock(&lock);
    if (!came) {
        fail_msg("waited in vain for %s %u", what, (unsigned)number);
    }
}

static bool has_returned(uint32_t number)
{
    (void)number;
    return fake.returned;
}

dynsel_status fake_join(char *text, size_t bytes)
{
    wait_until(has_returned, 0, "the end of");
    pthread_join(thread, NULL);
    if (text != NULL) {
        memcpy(text, fake.text, bytes < sizeof fake.text ? bytes : sizeof fake.text);
        text[bytes - 1] = '\0';
    }
    return fake.status;
}

static bool has_bye(uint32_t number)
{
    (void)number;
    return fake.returned || fake.byes != 0;
}

void fake_end(void)
{
    fake_end_all(true);
}

void fake_end_all(bool clean)
{
    fake_tell(DYNSEL_MPI_END, DYNSEL_MPI_NO_MORE);
    wait_until(has_bye, 0, "a farewell");
    fake_let_pass(20);
    assert_false(fake_ended()); /* before it may */
    fake_tell(DYNSEL_MPI_END, clean ? DYNSEL_MPI_END_CLEAN : DYNSEL_MPI_END_LOSSES);
    const dynsel_status status = fake_join(NULL, 0);
    if (status != DYNSEL_OK) {
        fail_msg("it served until %s", fake.text);
    }
    assert_int_equal(fake.byes, 1);
    assert_int_equal(fake.ends, 1);
    assert_int_equal(fake.clean, clean);
    assert_int_equal(fake.answer_count, 0);
}

bool fake_ended_clean(void)
{
    return fake.ends == 1 && fake.clean;
}

bool fake_ended(void)
{
    return locked(&fake.ends) == 1;
}

void fake_push_from(uint32_t rank, const dynsel_mpi_message *message, size_t body_bytes)
{
    pthread_mutex_lock(&lock);
    assert_true(fake.count < LINE);
    pushed *const last = &fake.line[(fake.first + fake.count++) % LINE];
    memset(last, 0xa5, sizeof *last); /* what is past the end must not be read */
    memcpy(&last->message, message, sizeof message->header + body_bytes);
    last->body_bytes = body_bytes;
    last->rank = rank;
    fake.moved = true;
    pthread_mutex_unlock(&lock);
}

void fake_push(const dynsel_mpi_message *message, size_t body_bytes)
{
    fake_push_from(0, message, body_bytes);
}

static bool is_free_ahead(uint32_t number)
{
    (void)number;
    return fake.returned || !fake.is_ahead;
}

void fake_push_ahead(const dynsel_mpi_message *message, size_t body_bytes)
{
    wait_until(is_free_ahead, 0, "room for a ping");
    pthread_mutex_lock(&lock);
    memcpy(&fake.ahead.message, message, sizeof message->header + body_bytes);
    fake.ahead.body_bytes = body_bytes;
    fake.is_ahead = true;
    fake.moved = true;
    pthread_mutex_unlock(&lock);
}

void fake_tell(dynsel_mpi_kind kind, uint32_t operation)
{
    const dynsel_mpi_message message = {
        .header = {.kind = (uint8_t)kind, .operation = operation, .turn = FAKE_TURN}};
    fake_push(&message, 0);
}

void fake_tell_ahead(dynsel_mpi_kind kind, uint32_t operation)
{
    const dynsel_mpi_message message = {
        .header = {.kind = (uint8_t)kind, .operation = operation, .turn = FAKE_TURN}};
    fake_push_ahead(&message, 0);
}

uint32_t fake_line(void)
{
    return locked(&fake.count);
}

uint32_t fake_answers(void)
{
    return locked(&fake.answer_count);
}

void fake_forget_answers(void)
{
    pthread_mutex_lock(&lock);
    fake.answer_count = 0;
    pthread_mutex_unlock(&lock);
}

static bool has_answers(uint32_t count)
{
    return fake.count == 0 && fake.answer_count == count;
}

void fake_wait_for_answers(uint32_t count)
{
    wait_until(has_answers, count, "answers:");
}

static pushed *find_answer(uint32_t operation)
{
    for (uint32_t i = 0; i < fake.answer_count; i++) {
        if (fake.answers[i].message.header.operation == operation) {
            return &fake.answers[i];
        }
    }
    return NULL;
}

static bool has_answer(uint32_t operation)
{
    return find_answer(operation) != NULL;
}

bool fake_has_answer(uint32_t operation)
{
    pthread_mutex_lock(&lock);
    const bool has = has_answer(operation);
    pthread_mutex_unlock(&lock);
    return has;
}

fake_done fake_wait(uint32_t operation)
{
    fake_done result = {.status = DYNSEL_OK};
    dynsel_mpi_done_body body;
    wait_until(has_answer, operation, "the answer to operation");
    pthread_mutex_lock(&lock);
    pushed *const answer = find_answer(operation);
    const pushed taken = *answer;
    *answer = fake.answers[--fake.answer_count];
    pthread_mutex_unlock(&lock);
    assert_true(taken.body_bytes >= sizeof body);
    memcpy(&body, taken.message.body, sizeof body);
    const size_t back_at = DYNSEL_MPI_ROUND(sizeof body + body.text_bytes);
    assert_true(body.text_bytes <= DYNSEL_MPI_ERROR_BYTES);
    assert_true(body.back_bytes <= sizeof result.back);
    assert_int_equal(taken.body_bytes, body.back_bytes != 0 ? back_at + body.back_bytes
                                                            : sizeof body + body.text_bytes);
    result.status = (dynsel_status)body.status;
    result.code = body.code;
    result.took_ns = body.took_ns;
    result.back_bytes = body.back_bytes;
    memcpy(result.text, taken.message.body + sizeof body, body.text_bytes);
    memcpy(result.back, taken.message.body + back_at, body.back_bytes);
    return result;
}

static uint32_t wanted_pumps;

static bool have_passed(uint32_t number)
{
    (void)number;
    return fake.returned || (int32_t)(fake.pumps - wanted_pumps) >= 0;
}

void fake_let_pass(uint32_t pumps)
{
    wanted_pumps = locked(&fake.pumps) + pumps;
    wait_until(have_passed, pumps, "pumps:");
}

static bool has_pongs(uint32_t count)
{
    return fake.pongs >= count;
}

void fake_wait_for_pongs(uint32_t count)
{
    wait_until(has_pongs, count, "pong");
}

bool fake_has_bye(void)
{
    return locked(&fake.byes) != 0;
}

void fake_block_sends(bool blocked)
{
    pthread_mutex_lock(&lock);
    fake.blocked = blocked;
    pthread_mutex_unlock(&lock);
}

static bool moves(uint32_t operation)
{
    return fake.transfers[operation] != NULL;
}

void fake_wait_for_data(uint32_t operation)
{
    wait_until(moves, operation, "data of operation");
}

bool fake_moves_data(uint32_t operation)
{
    pthread_mutex_lock(&lock);
    const bool so = moves(operation);
    pthread_mutex_unlock(&lock);
    return so;
}

bool fake_abandoned(uint32_t operation)
{
    pthread_mutex_lock(&lock);
    const bool so = fake.abandoned[operation];
    pthread_mutex_unlock(&lock);
    return so;
}

static void end_data(uint32_t operation, const void *given, void *taken, size_t bytes, int code)
{
    fake_wait_for_data(operation);
    pthread_mutex_lock(&lock);
    dynsel_mpi_transfer *const transfer = fake.transfers[operation];
    const size_t expected = transfer->bytes;
    const bool sends = transfer->sends;
    if (expected == bytes && given != NULL && !sends) {
        memcpy(transfer->data, given, bytes);
    }
    if (expected == bytes && taken != NULL && sends) {
        memcpy(taken, transfer->data, bytes);
    }
    transfer->code = code;
    transfer->ended = code == 0 ? expected : 0;
    fake.transfers[operation] = NULL;
    fake.moved = true;
    pthread_mutex_unlock(&lock);
    if (code == 0) {
        assert_int_equal(bytes, expected);
        assert_int_equal(sends, taken != NULL);
    }
}

void fake_give_data(uint32_t operation, const void *data, size_t bytes)
{
    end_data(operation, data, NULL, bytes, 0);
}

void fake_take_data(uint32_t operation, void *data, size_t bytes)
{
    end_data(operation, NULL, data, bytes, 0);
}

void fake_fail_data(uint32_t operation, int code)
{
    end_data(operation, NULL, NULL, 0, code);
}

void fake_moves_by_itself(bool by_itself)
{
    pthread_mutex_lock(&lock);
    fake.by_itself = by_itself;
    pthread_mutex_unlock(&lock);
}

void fake_lose_rank_0(int code)
{
    pthread_mutex_lock(&lock);
    fake.failure = code;
    pthread_mutex_unlock(&lock);
}

/* What the rank that serves calls. */

dynsel_status dynsel_mpi_call(dynsel_status (*function)(void))
{
    return function();
}

void dynsel_mpi_end(bool clean)
{
    pthread_mutex_lock(&lock);
    fake.ends++;
    fake.clean = clean;
    pthread_mutex_unlock(&lock);
}

void dynsel_mpi_transport_lose(uint32_t rank)
{
    (void)rank;
}

bool dynsel_mpi_is_sending(void)
{
    return false;
}

bool dynsel_mpi_is_moving(void)
{
    return false;
}

bool dynsel_mpi_may_call(void)
{
    return true;
}

int dynsel_mpi_failure_of(uint32_t rank)
{
    pthread_mutex_lock(&lock);
    const int code = rank == 0 ? fake.failure : 0;
    pthread_mutex_unlock(&lock);
    return code;
}

/* Room for one message: what is sent is copied at once. */
dynsel_mpi_message *dynsel_mpi_place_message(void)
{
    static dynsel_mpi_message place;
    pthread_mutex_lock(&lock);
    const bool fits = !fake.blocked && fake.answer_count < ANSWERS;
    pthread_mutex_unlock(&lock);
    return fits ? &place : NULL;
}

void dynsel_mpi_send_placed(dynsel_mpi_message *message, uint32_t rank, size_t body_bytes, int tag)
{
    pthread_mutex_lock(&lock);
    if (rank == 0 && message->header.kind == DYNSEL_MPI_DONE && tag == DYNSEL_MPI_TAG_MESSAGE) {
        pushed *const answer = &fake.answers[fake.answer_count++];
        memcpy(&answer->message, message, sizeof message->header + body_bytes);
        answer->body_bytes = body_bytes;
    }
    fake.pongs += message->header.kind == DYNSEL_MPI_PONG && tag == DYNSEL_MPI_TAG_PING;
    fake.byes += message->header.kind == DYNSEL_MPI_BYE;
    pthread_mutex_unlock(&lock);
}

bool dynsel_mpi_send(uint32_t rank, const void *sent, size_t body_bytes, int tag)
{
    dynsel_mpi_message *const message = dynsel_mpi_place_message();
    if (message != NULL) {
        memcpy(message, sent, sizeof message->header + body_bytes);
        dynsel_mpi_send_placed(message, rank, body_bytes, tag);
    }
    return message != NULL;
}

const dynsel_mpi_message *dynsel_mpi_next_message(uint32_t *rank, size_t *body_bytes)
{
    const pushed *next = NULL;
    pthread_mutex_lock(&lock);
    fake.ahead_is_next = fake.is_ahead;
    if (fake.is_ahead) {
        next = &fake.ahead;
    } else if (fake.count != 0) {
        next = &fake.line[fake.first];
    }
    if (next != NULL) {
        *rank = next->rank;
        *body_bytes = next->body_bytes;
    }
    pthread_mutex_unlock(&lock);
    return next != NULL ? &next->message : NULL;
}

void dynsel_mpi_took_message(void)
{
    pthread_mutex_lock(&lock);
    if (fake.ahead_is_next) {
        fake.is_ahead = false;
    } else {
        fake.first = (fake.first + 1) % LINE;
        fake.count--;
    }
    pthread_mutex_unlock(&lock);
}

void dynsel_mpi_transfer_begin(dynsel_mpi_transfer *transfer, uint32_t rank, uint32_t number,
                               void *data, size_t bytes, bool sends)
{
    const uint32_t operation = number % DYNSEL_MPI_OPERATIONS;
    pthread_mutex_lock(&lock);
    *transfer = (dynsel_mpi_transfer){
        .data = data, .bytes = bytes, .rank = rank, .operation = operation, .sends = sends};
    if (fake.by_itself) {
        if (!sends) {
            memset(data, 0, bytes);
        }
        transfer->ended = bytes;
    } else if (bytes != 0) {
        fake.transfers[operation] = transfer;
    }
    pthread_mutex_unlock(&lock);
}

dynsel_status dynsel_mpi_transfer_state(const dynsel_mpi_transfer *transfer)
{
    pthread_mutex_lock(&lock);
    const dynsel_status of_data = transfer->ended < transfer->bytes ? DYNSEL_E_AGAIN : DYNSEL_OK;
    const dynsel_status state = transfer->code != 0 ? DYNSEL_E_DEVICE : of_data;
    pthread_mutex_unlock(&lock);
    return state;
}

void dynsel_mpi_transfer_abandon(dynsel_mpi_transfer *transfer)
{
    pthread_mutex_lock(&lock);
    fake.transfers[transfer->operation] = NULL;
    fake.abandoned[transfer->operation] = true;
    pthread_mutex_unlock(&lock);
}

bool dynsel_mpi_pump(void)
{
    pthread_mutex_lock(&lock);
    fake.pumps++;
    const bool moved = fake.moved;
    fake.moved = false;
    pthread_mutex_unlock(&lock);
    return moved;
}
