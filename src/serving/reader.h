/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the body of a message from its beginning to its end, and never past that: a message may be
 * of any length and contents. */
#ifndef DYNSEL_SERVING_READER_H
#define DYNSEL_SERVING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "backends/mpi/protocol.h"

/* The bytes of a body that were not read yet. */
typedef struct dynsel_served_reader {
    const unsigned char *next;
    size_t left;
} dynsel_served_reader;

static inline dynsel_served_reader dynsel_served_reader_of(const dynsel_mpi_message *message,
                                                           size_t body_bytes)
{
    return (dynsel_served_reader){.next = message->body, .left = body_bytes};
}

/* The next bytes, in the message itself; NULL: there are fewer. */
static inline const unsigned char *dynsel_served_reader_skip(dynsel_served_reader *reader,
                                                             size_t bytes)
{
    const unsigned char *const here = reader->next;
    if (bytes > reader->left) {
        return NULL;
    }
    reader->next += bytes;
    reader->left -= bytes;
    return here;
}

/* Skips a part that is rounded up to 8 bytes. NULL: there are fewer. */
static inline const unsigned char *dynsel_served_reader_skip_rounded(dynsel_served_reader *reader,
                                                                     size_t bytes)
{
    return bytes > reader->left ? NULL : dynsel_served_reader_skip(reader, DYNSEL_MPI_ROUND(bytes));
}

/* Copies the next bytes; false: there are fewer. */
static inline bool dynsel_served_reader_take(dynsel_served_reader *reader, void *to, size_t bytes)
{
    const unsigned char *const from = dynsel_served_reader_skip(reader, bytes);
    if (from == NULL) {
        return false;
    }
    (void)memcpy(to, from, bytes);
    return true;
}

#endif
