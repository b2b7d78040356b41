/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/error.h>

#include "core/fail.h"
#include "port/thread.h"

/* Text that is cut off at the end of its buffer but counted to its own end. */
typedef struct line {
    char *buffer;
    size_t bytes;
    size_t length;
} line;

static void put(line *out, char character)
{
    if (out->length + 1 < out->bytes) {
        out->buffer[out->length] = character;
    }
    out->length++;
}

static void put_text(line *out, const char *text)
{
    for (; *text != '\0'; text++) {
        put(out, *text);
    }
}

static void put_number(line *out, uint32_t number)
{
    char digits[10]; /* of 2^32 - 1 */
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (count > 0) {
        put(out, digits[--count]);
    }
}

static void put_code(line *out, int32_t code)
{
    if (code < 0) {
        put(out, '-');
    }
    put_number(out, code < 0 ? 0u - (uint32_t)code : (uint32_t)code);
}

static void put_detail(line *out, const char *detail, uint32_t number)
{
    for (; *detail != '\0'; detail++) {
        if (detail[0] == '{' && detail[1] == '}') {
            put_number(out, number);
            detail++;
        } else {
            put(out, *detail);
        }
    }
}

static void put_error(line *out, const dynsel_error *error)
{
    if (error->function != NULL) {
        put_text(out, error->function);
        put_text(out, ": ");
    }
    put_text(out, dynsel_status_text(error->status));
    if ((int)error->status <= (int)DYNSEL_E_USER) {
        put(out, ' ');
        put_code(out, (int32_t)error->status);
    }
    if (error->detail != NULL) {
        put_text(out, ": ");
        put_detail(out, error->detail, error->number);
    }
    if (error->subject != NULL) {
        put_text(out, " [");
        put_text(out, error->subject);
        put(out, ']');
    }
    if (error->code != 0) {
        put_text(out, ", code ");
        put_code(out, error->code);
    }
}

size_t dynsel_error_text(const dynsel_error *error, char *buffer, size_t bytes)
{
    line out = {.buffer = buffer, .bytes = buffer == NULL ? 0 : bytes};
    put_error(&out, error != NULL ? error : dynsel_last_error());
    if (buffer != NULL && bytes > 0) {
        buffer[out.length < out.bytes ? out.length : out.bytes - 1] = '\0';
    }
    return out.length;
}

const dynsel_error *dynsel_last_error(void)
{
    return &dynsel_this_thread()->last_error;
}

dynsel_status dynsel_fail(const dynsel_error *error)
{
    static const dynsel_error no_error = {
        .status = DYNSEL_E_INVALID,
        .function = DYNSEL_TEXT("dynsel_fail"),
        .detail = DYNSEL_TEXT("the error is NULL"),
    };
    dynsel_thread *thread = dynsel_this_thread();
    thread->last_error = error != NULL ? *error : no_error;
    thread->failure_count++;
    return thread->last_error.status;
}
