/* SPDX-License-Identifier: Apache-2.0 */
#include "json_writer.h"

#include <inttypes.h>
#include <stdio.h>

#include "text.h"

static void put_character(uint32_t c)
{
    if (c == '"' || c == '\\') {
        printf("\\%c", (char)c);
    } else if (c >= ' ' && c <= '~') {
        printf("%c", (char)c);
    } else if (c < 0x10000) {
        printf("\\u%04x", (unsigned)c);
    } else { /* as two halves, which is how JSON names them */
        c -= 0x10000;
        printf("\\u%04x\\u%04x", 0xD800u | c >> 10, 0xDC00u | (c & 0x3FFu));
    }
}

static void put_text(const char *text)
{
    printf("\"");
    while (*text != '\0') {
        put_character(text_next(&text));
    }
    printf("\"");
}

static void begin(json_writer *w, const char *name)
{
    if (w->inside) {
        printf("%s", w->follows ? ", " : "");
    } else {
        printf("%s%s%*s", w->follows ? "," : "", w->depth > 0 ? "\n" : "", (int)(2 * w->depth), "");
    }
    w->follows = true;
    if (name != NULL) {
        put_text(name);
        printf(": ");
    }
}

void json_open(json_writer *w, const char *name, char bracket)
{
    begin(w, name);
    printf("%c", bracket);
    w->depth++;
    w->follows = false;
}

void json_close(json_writer *w, char bracket)
{
    w->depth--;
    if (w->follows) {
        printf("\n%*s", (int)(2 * w->depth), "");
    }
    printf("%c", bracket);
    w->follows = true;
}

void json_open_line(json_writer *w, const char *name)
{
    begin(w, name);
    printf("[");
    w->inside = true;
    w->follows = false;
}

void json_close_line(json_writer *w)
{
    printf("]");
    w->inside = false;
    w->follows = true;
}

void json_text(json_writer *w, const char *name, const char *text)
{
    if (text == NULL) {
        json_null(w, name);
        return;
    }
    begin(w, name);
    put_text(text);
}

void json_number(json_writer *w, const char *name, uint64_t number)
{
    begin(w, name);
    printf("%" PRIu64, number);
}

void json_bool(json_writer *w, const char *name, bool value)
{
    begin(w, name);
    printf("%s", value ? "true" : "false");
}

void json_null(json_writer *w, const char *name)
{
    begin(w, name);
    printf("null");
}
