/* SPDX-License-Identifier: Apache-2.0 */
/** Writes JSON to stdout, in ASCII. `name` is that of a member; NULL inside arrays. */
#ifndef JSON_WRITER_H
#define JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct json_writer {
    unsigned depth;
    bool follows; /* something stands before it at this depth */
    bool inside;  /* an array that is kept in one line */
} json_writer;

void json_open(json_writer *w, const char *name, char bracket);
void json_close(json_writer *w, char bracket);

/** An array in one line. */
void json_open_line(json_writer *w, const char *name);
void json_close_line(json_writer *w);

/** Any bytes: what is not UTF-8 becomes U+FFFD. NULL becomes null. */
void json_text(json_writer *w, const char *name, const char *text);
void json_number(json_writer *w, const char *name, uint64_t number);
void json_bool(json_writer *w, const char *name, bool value);
void json_null(json_writer *w, const char *name);

#endif
