/* SPDX-License-Identifier: Apache-2.0 */
#include "serving/operations.h"

#include <string.h>

#include <dynsel/backend.h>

#include "port/assert.h"

static dynsel_served operations[DYNSEL_MPI_OPERATIONS];
static uint32_t first_used; /* numbers + 1; 0: none */
static uint32_t last_used;
static uint32_t used;
static uint32_t unanswered; /* in DYNSEL_SERVED_ENDED */
static uint32_t awaiting;   /* with at least one entry in `awaits` */

void dynsel_served_reset(void)
{
    (void)memset(operations, 0, sizeof(operations));
    first_used = 0;
    last_used = 0;
    used = 0;
    unanswered = 0;
    awaiting = 0;
}

dynsel_served *dynsel_served_at(uint32_t number)
{
    DYNSEL_ASSERT(number < DYNSEL_MPI_OPERATIONS);
    return &operations[number];
}

uint32_t dynsel_served_number(const dynsel_served *operation)
{
    return (uint32_t)(operation - operations);
}

uint32_t dynsel_served_count(void)
{
    return used;
}

static dynsel_served *named(uint32_t link)
{
    return link != 0 ? &operations[link - 1] : NULL;
}

dynsel_served *dynsel_served_first(void)
{
    return named(first_used);
}

dynsel_served *dynsel_served_after(const dynsel_served *operation)
{
    return named(operation->next);
}

dynsel_served *dynsel_served_begin(const dynsel_mpi_header *header, dynsel_served_state state,
                                   uint64_t since_ns)
{
    dynsel_served *const operation = &operations[header->operation];
    DYNSEL_ASSERT(operation->state == (uint8_t)DYNSEL_SERVED_NOTHING);
    (void)memset(operation, 0, offsetof(dynsel_served, of)); /* who uses the rest sets it */
    operation->state = (uint8_t)state;
    operation->kind = header->kind;
    operation->resource = header->resource;
    operation->turn = header->turn;
    operation->previous = last_used;
    if (last_used != 0) {
        named(last_used)->next = header->operation + 1;
    } else {
        first_used = header->operation + 1;
    }
    last_used = header->operation + 1;
    used++;
    operation->since_ns = since_ns;
    return operation;
}

static void forget(dynsel_served *operation)
{
    if (operation->next != 0) {
        named(operation->next)->previous = operation->previous;
    } else {
        last_used = operation->previous;
    }
    if (operation->previous != 0) {
        named(operation->previous)->next = operation->next;
    } else {
        first_used = operation->next;
    }
    operation->state = (uint8_t)DYNSEL_SERVED_NOTHING;
    awaiting -= operation->awaits_count != 0 ? 1 : 0;
    used--;
}

void dynsel_served_await(dynsel_served *operation, uint32_t number)
{
    DYNSEL_ASSERT(operation->awaits_count < DYNSEL_SERVED_AWAITS);
    awaiting += operation->awaits_count == 0 ? 1 : 0;
    operation->awaits[operation->awaits_count++] = number;
}

/* Work that is cancelled here has not begun: it waits for the data that do not come. */
static void fail_dependent(dynsel_served *dependent)
{
    dependent->dependency_failed = true;
    if (dependent->state == (uint8_t)DYNSEL_SERVED_RUNNING) {
        const dynsel_status status = dynsel_cancel(&dependent->of.submission);
        (void)status; /* it ends in any case */
    }
}

static void resolve(dynsel_served *dependent, uint32_t number, bool failed)
{
    uint8_t kept = 0;
    for (uint8_t i = 0; i < dependent->awaits_count; i++) {
        if (dependent->awaits[i] != number) {
            dependent->awaits[kept++] = dependent->awaits[i];
        }
    }
    if (kept == dependent->awaits_count) {
        return;
    }
    dependent->awaits_count = kept;
    awaiting -= kept == 0 ? 1 : 0;
    dependent->since_ns = dynsel_now_ns();
    if (failed) {
        fail_dependent(dependent);
    }
}

/* Returns the number of bytes. */
static size_t write_text(dynsel_mpi_message *answer, const dynsel_error *error)
{
    char text[DYNSEL_MPI_ERROR_BYTES + 1] = {0};
    size_t length = dynsel_error_text(error, text, sizeof(text));
    length = length < DYNSEL_MPI_ERROR_BYTES ? length : strlen(text);
    (void)memcpy(&answer->body[sizeof(dynsel_mpi_done_body)], text, length);
    return length;
}

static bool send(uint32_t number, const dynsel_error *error, const dynsel_served_result *result)
{
    dynsel_mpi_message *const answer = dynsel_mpi_place_message();
    if (answer == NULL) {
        return false;
    }
    const size_t length = error->status != DYNSEL_OK ? write_text(answer, error) : 0;
    dynsel_mpi_done_body done = {
        .status = (int32_t)error->status, .code = error->code, .text_bytes = (uint32_t)length};
    size_t bytes = sizeof(done) + length;
    if (result != NULL) {
        done.took_ns = result->took_ns;
        done.back_bytes = result->back_bytes;
        if (done.back_bytes != 0) {
            const size_t at = DYNSEL_MPI_ROUND(bytes);
            (void)memset(&answer->body[bytes], 0, at - bytes);
            (void)memcpy(&answer->body[at], result->back, done.back_bytes);
            bytes = at + done.back_bytes;
        }
    }
    (void)memcpy(answer->body, &done, sizeof(done));
    answer->header = (dynsel_mpi_header){.kind = (uint8_t)DYNSEL_MPI_DONE, .operation = number};
    dynsel_mpi_send_placed(answer, 0, bytes, DYNSEL_MPI_TAG_MESSAGE);
    return true;
}

void dynsel_served_end(dynsel_served *operation, const dynsel_error *error)
{
    static const dynsel_error nothing_is_wrong = {.status = DYNSEL_OK};
    const uint32_t number = dynsel_served_number(operation);
    operation->error = error != NULL ? *error : nothing_is_wrong;
    operation->failed = operation->error.status != DYNSEL_OK;
    for (dynsel_served *other = awaiting != 0 ? dynsel_served_first() : NULL; other != NULL;
         other = dynsel_served_after(other)) {
        if (other->awaits_count != 0) {
            resolve(other, number, operation->failed);
        }
    }
    if (unanswered == 0 && send(number, &operation->error, &operation->result)) {
        forget(operation);
        return;
    }
    operation->state = (uint8_t)DYNSEL_SERVED_ENDED;
    unanswered++;
}

bool dynsel_served_send_answers(void)
{
    dynsel_served *next = unanswered != 0 ? dynsel_served_first() : NULL;
    while (next != NULL) {
        dynsel_served *const operation = next;
        next = dynsel_served_after(operation);
        if (operation->state != (uint8_t)DYNSEL_SERVED_ENDED) {
            continue;
        }
        if (!send(dynsel_served_number(operation), &operation->error, &operation->result)) {
            return false;
        }
        forget(operation);
        unanswered--;
    }
    return true;
}

bool dynsel_served_answer(uint32_t number, const dynsel_error *error,
                          const dynsel_served_result *result)
{
    if (!send(number, error, result)) {
        return false;
    }
    if (operations[number].state == (uint8_t)DYNSEL_SERVED_NOTHING) {
        operations[number].failed = error->status != DYNSEL_OK;
    }
    return true;
}

bool dynsel_served_may_make_room(dynsel_status status)
{
    return (status == DYNSEL_E_FULL || status == DYNSEL_E_AGAIN) && used != 0;
}
