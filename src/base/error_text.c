/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/error.h>

#include <dynsel/targets.h>

#include "base/fail.h"
#include "base/printable.h"
#include "port/likely.h"

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

/* Writes the first character of a text that is not empty, or '?' for one that a terminal must not
 * get; returns the rest. */
static const char *put_character(line *out, const char *text)
{
    bool printable = false;
    const char *const rest = text + dynsel_text_next(text, &printable);
    if (!printable) {
        put(out, '?');
        return rest;
    }
    for (; text != rest; text++) {
        put(out, *text);
    }
    return rest;
}

static void put_text(line *out, const char *text)
{
    while (*text != '\0') {
        text = put_character(out, text);
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

/* The rest of `text` behind `word`; NULL: it does not begin with `word`. */
static const char *after(const char *text, const char *word)
{
    while (*word != '\0' && *text == *word) {
        text++;
        word++;
    }
    return *word == '\0' ? text : NULL;
}

#if CONFIG_DYNSEL_ASPECTS
static const char *target_name(uint32_t number)
{
    size_t count = 0;
    const dynsel_target *targets = dynsel_get_targets(&count);
    return number < count ? targets[number].name : "unknown target";
}

/* The rest of the text after a placeholder that was filled in; NULL: it does not begin with one. */
static const char *put_name(line *out, const char *text, uint32_t number)
{
    const char *rest = after(text, "{aspect}");
    if (rest != NULL) {
        put_text(out,
                 dynsel_aspect_name((dynsel_aspect)(number & ((1u << DYNSEL_TARGET_SHIFT) - 1))));
        return rest;
    }
    rest = after(text, "{target}");
    if (rest != NULL) {
        put_text(out, target_name(number >> DYNSEL_TARGET_SHIFT));
    }
    return rest;
}
#else
static const char *put_name(line *out, const char *text, uint32_t number)
{
    (void)out;
    (void)text;
    (void)number;
    return NULL;
}
#endif

static void put_status(line *out, dynsel_status status)
{
    put_text(out, dynsel_status_text(status));
    if ((int)status <= (int)DYNSEL_E_USER) {
        put(out, ' ');
        put_code(out, (int32_t)status);
    }
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
static const char *put_cause(line *out, const char *text, uint32_t number)
{
    const char *rest = after(text, "{status}");
    if (rest != NULL) {
        put_status(out, (dynsel_status)(int32_t)number);
    }
    return rest;
}

static void put_buffer(line *out, const dynsel_error *error)
{
    if (error->buffer != 0) {
        put_text(out, ", buffer ");
        put_number(out, error->buffer);
    }
}
#else
static void put_buffer(line *out, const dynsel_error *error)
{
    (void)out;
    (void)error;
}

static const char *put_cause(line *out, const char *text, uint32_t number)
{
    (void)out;
    (void)text;
    (void)number;
    return NULL;
}
#endif

static void put_detail(line *out, const char *detail, uint32_t number)
{
    while (*detail != '\0') {
        const char *rest = after(detail, "{}");
        if (rest != NULL) {
            put_number(out, number);
        } else {
            rest = put_name(out, detail, number);
        }
        if (rest == NULL) {
            rest = put_cause(out, detail, number);
        }
        if (rest == NULL && (*detail == '\n' || *detail == '\t')) { /* of a compiler's log */
            put(out, *detail);
            rest = detail + 1;
        }
        if (rest == NULL) {
            rest = put_character(out, detail);
        }
        detail = rest;
    }
}

DYNSEL_RARE size_t dynsel_error_text(const dynsel_error *error, char *buffer, size_t bytes)
{
    line out = {.buffer = buffer, .bytes = buffer == NULL ? 0 : bytes};
    error = error != NULL ? error : dynsel_last_error();
    if (error->function != NULL) {
        put_text(&out, error->function);
        put_text(&out, ": ");
    }
    put_status(&out, error->status);
    if (error->detail != NULL) {
        put_text(&out, ": ");
        put_detail(&out, error->detail, error->number);
    }
    if (error->subject != NULL) {
        put_text(&out, " [");
        put_text(&out, error->subject);
        put(&out, ']');
    }
    if (error->code != 0) {
        put_text(&out, ", code ");
        put_code(&out, error->code);
    }
    put_buffer(&out, error);
    if (buffer != NULL && bytes > 0) {
        buffer[out.length < out.bytes ? out.length : out.bytes - 1] = '\0';
    }
    return out.length;
}
