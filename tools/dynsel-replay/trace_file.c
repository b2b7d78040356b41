/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

enum { VERSION = 1, FILE_HEAD = 64, RING_HEAD = 32, RECORD = sizeof(dynsel_trace_record) };

static const uint32_t order = 0x01020304;
static const uint32_t other_order = 0x04030201;
static const size_t most_bytes = (size_t)1 << 36;

typedef struct reader {
    const char *name;
    const unsigned char *bytes;
    size_t count;
    size_t at;
} reader;

static uint32_t crc_of(const unsigned char *bytes, size_t count)
{
    static uint32_t table[256];
    if (table[1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++) {
                value = (value >> 1) ^ ((value & 1) != 0 ? 0xedb88320u : 0);
            }
            table[i] = value;
        }
    }
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        crc = (crc >> 8) ^ table[(crc ^ bytes[i]) & 0xff];
    }
    return ~crc;
}

static uint32_t number32(const unsigned char *at)
{
    uint32_t number = 0;
    memcpy(&number, at, sizeof number);
    return number;
}

static uint64_t number64(const unsigned char *at)
{
    uint64_t number = 0;
    memcpy(&number, at, sizeof number);
    return number;
}

static int refuse_torn(const reader *r, size_t needed)
{
    return log_wrong("%s: the file ends after %zu bytes, where %zu more are due: it was not written"
                     " to its end",
                     r->name, r->count, needed - (r->count - r->at));
}

static int read_file_head(reader *r, trace_file *file)
{
    const unsigned char *head = r->bytes;
    if (r->count == 0) {
        return log_wrong("%s: the file is empty", r->name);
    }
    if (memcmp(head, "dynselTR", r->count < 8 ? r->count : 8) != 0) {
        return log_wrong("%s: this is no trace of dynsel", r->name);
    }
    if (r->count < FILE_HEAD) {
        return refuse_torn(r, FILE_HEAD);
    }
    if (number32(head + 8) == other_order) {
        return log_wrong("%s: it is of a machine with another order of bytes", r->name);
    }
    if (crc_of(head, FILE_HEAD - 4) != number32(head + FILE_HEAD - 4) ||
        number32(head + 8) != order) {
        return log_wrong("%s: the head of the file is damaged (its checksum differs)", r->name);
    }
    uint16_t version = 0;
    uint16_t record_bytes = 0;
    memcpy(&version, head + 12, sizeof version);
    memcpy(&record_bytes, head + 14, sizeof record_bytes);
    if (version != VERSION || record_bytes != RECORD) {
        return log_wrong("%s: it has version %u of the format with records of %u bytes, and this "
                         "dynsel-replay reads version %d with %d bytes",
                         r->name, version, record_bytes, VERSION, RECORD);
    }
    file->first_ticks = number64(head + 16);
    file->first_ns = number64(head + 24);
    file->last_ticks = number64(head + 32);
    file->last_ns = number64(head + 40);
    file->ring_count = number32(head + 52);
    r->at = FILE_HEAD;
    return 0;
}

/* Records stand at multiples of 32 bytes, so they need no copy. */
static int read_ring(reader *r, uint32_t number, trace_ring *ring)
{
    const unsigned char *head = r->bytes + r->at;
    if (r->count - r->at < RING_HEAD) {
        return refuse_torn(r, RING_HEAD);
    }
    if (crc_of(head, RING_HEAD - 4) != number32(head + RING_HEAD - 4) || number32(head) != order ||
        number32(head + 4) != number) {
        return log_wrong("%s: the head of ring %u is damaged (its checksum differs)", r->name,
                         number);
    }
    const uint64_t count = number64(head + 16);
    ring->written = number64(head + 8);
    r->at += RING_HEAD;
    if (count > (r->count - r->at) / RECORD) {
        return count < most_bytes / RECORD
                   ? refuse_torn(r, (size_t)count * RECORD)
                   : log_wrong("%s: ring %u is said to have more records than fit into a file",
                               r->name, number);
    }
    ring->count = (size_t)count;
    ring->records = (dynsel_trace_record *)(void *)(r->bytes + r->at);
    r->at += ring->count * RECORD;
    if (crc_of((const unsigned char *)ring->records, ring->count * RECORD) != number32(head + 24)) {
        return log_wrong("%s: the records of ring %u are damaged (their checksum differs)", r->name,
                         number);
    }
    return 0;
}

static int read_all(reader *r, trace_file *file)
{
    int status = read_file_head(r, file);
    if (status != 0) {
        return status;
    }
    if (file->ring_count == 0 || file->ring_count > r->count / RING_HEAD) {
        return file->ring_count == 0 ? log_wrong("%s: it has no rings", r->name)
                                     : refuse_torn(r, (size_t)file->ring_count * RING_HEAD);
    }
    file->rings = calloc(file->ring_count, sizeof *file->rings);
    if (file->rings == NULL) {
        return log_wrong("%s: there is not enough memory for it", r->name);
    }
    for (uint32_t i = 0; i < file->ring_count && status == 0; i++) {
        status = read_ring(r, i, &file->rings[i]);
    }
    if (status == 0 && r->at != r->count) {
        status = log_wrong("%s: %zu bytes follow the last ring: it is not a trace alone", r->name,
                           r->count - r->at);
    }
    return status;
}

int trace_file_take(const char *name, unsigned char *bytes, size_t count, trace_file *file)
{
    reader r = {.name = name, .bytes = bytes, .count = count};
    *file = (trace_file){.bytes = bytes};
    const int status = read_all(&r, file);
    if (status != 0) {
        trace_file_free(file);
    }
    return status;
}

static unsigned char *read_bytes(FILE *from, size_t *count)
{
    size_t room = (size_t)1 << 16;
    unsigned char *bytes = malloc(room);
    *count = 0;
    while (bytes != NULL) {
        *count += fread(bytes + *count, 1, room - *count, from);
        if (*count < room) {
            break;
        }
        unsigned char *more = room < most_bytes ? realloc(bytes, room * 2) : NULL;
        if (more == NULL) {
            free(bytes);
        }
        bytes = more;
        room *= 2;
    }
    return bytes;
}

int trace_file_read(const char *path, trace_file *file)
{
    const bool is_input = strcmp(path, "-") == 0;
    FILE *from = is_input ? stdin : fopen(path, "rb");
    if (from == NULL) {
        return log_wrong("%s: %s", path, strerror(errno));
    }
    size_t count = 0;
    errno = 0;
    unsigned char *bytes = read_bytes(from, &count);
    const bool failed = ferror(from) != 0;
    const int why = errno;
    if (!is_input) {
        (void)fclose(from);
    }
    if (bytes == NULL || failed) {
        free(bytes);
        return log_wrong("%s: %s", path, failed ? strerror(why) : "not enough memory for it");
    }
    return trace_file_take(path, bytes, count, file);
}

void trace_file_free(trace_file *file)
{
    free(file->rings);
    free(file->bytes);
    *file = (trace_file){.bytes = NULL};
}

uint64_t trace_file_ns(const trace_file *file, uint64_t ticks)
{
    const uint64_t ticks_in_all = file->last_ticks - file->first_ticks;
    const uint64_t ns_in_all = file->last_ns - file->first_ns;
    if (ticks_in_all == 0 || ticks < file->first_ticks) {
        return file->first_ns;
    }
    const double share = (double)(ticks - file->first_ticks) / (double)ticks_in_all;
    return ticks_in_all == ns_in_all ? file->first_ns + (ticks - file->first_ticks)
                                     : file->first_ns + (uint64_t)(share * (double)ns_in_all);
}
