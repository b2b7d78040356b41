/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of learned tables (doc/learned-tables.md has the format): streams of bytes with their
 * checksum (learned_table_stream.c), the records (learned_table_records.c), the areas of a store
 * (learned_table_areas.c), the devices (learned_table_devices.c), save and load.
 *
 * A stream keeps its first failure, and takes zeros after it, so that who reads looks at the status
 * once for each record. All of it runs rarely: functions are compiled for size.
 */
#ifndef DYNSEL_POLICIES_LEARNED_TABLE_PARTS_H
#define DYNSEL_POLICIES_LEARNED_TABLE_PARTS_H

#include <dynsel/learned.h>

#include "policies/earliest_finish_parts.h"

enum {
    DYNSEL_LEARNED_VERSION = 2,
    DYNSEL_LEARNED_HEAD_BYTES = 40,
    DYNSEL_LEARNED_DEVICE_BYTES = 240,
    DYNSEL_LEARNED_ASPECT_BYTES = 32,
    DYNSEL_LEARNED_KIND_BYTES = 20,
    DYNSEL_LEARNED_KEY_WORD_BYTES = 4,
    DYNSEL_LEARNED_TIMES_BYTES = 12,
    DYNSEL_LEARNED_POINT_BYTES = 9,
    DYNSEL_LEARNED_MOST_KEY_WORDS = 8,
    DYNSEL_LEARNED_MOST_POINTS = 16,
    DYNSEL_LEARNED_MOST_ASPECTS = 64,
    DYNSEL_LEARNED_NO_DEVICE = UINT16_MAX,
    DYNSEL_LEARNED_READ_AT_ONCE = 64
};

_Static_assert(DYNSEL_LEARNED_MOST_BYTES >=
                   2 * (size_t)DYNSEL_LEARNED_MOST_ALIGN +
                       CONFIG_DYNSEL_MAX_RESOURCES * (size_t)DYNSEL_LEARNED_DEVICE_BYTES +
                       DYNSEL_LEARNED_MOST_ASPECTS * (size_t)DYNSEL_LEARNED_ASPECT_BYTES +
                       CONFIG_DYNSEL_EARLIEST_FINISH_KINDS *
                           (DYNSEL_LEARNED_KIND_BYTES +
                            CONFIG_DYNSEL_MAX_KEY_WORDS * (size_t)DYNSEL_LEARNED_KEY_WORD_BYTES +
                            CONFIG_DYNSEL_MAX_RESOURCES * (DYNSEL_LEARNED_TIMES_BYTES +
                                                           CONFIG_DYNSEL_EARLIEST_FINISH_POINTS *
                                                               (size_t)DYNSEL_LEARNED_POINT_BYTES)),
               "the records outgrew DYNSEL_LEARNED_MOST_BYTES: correct it in <dynsel/learned.h>");

_Static_assert(CONFIG_DYNSEL_EARLIEST_FINISH_POINTS <= DYNSEL_LEARNED_MOST_POINTS &&
                   CONFIG_DYNSEL_MAX_KEY_WORDS <= DYNSEL_LEARNED_MOST_KEY_WORDS,
               "a table has no room for so much: make a new version of the format");

/* Why a table cannot be used. */
typedef struct dynsel_learned_fault {
    dynsel_status status;
    uint32_t number;
    const char *detail;
} dynsel_learned_fault;

/*
 * Streams.
 */

typedef struct dynsel_learned_reader {
    const dynsel_learned_store *store;
    size_t at;   /* the next byte to fetch, in the store */
    size_t left; /* bytes that are not fetched yet */
    uint32_t crc;
    uint32_t taken; /* of `bytes` */
    uint32_t fetched;
    dynsel_learned_fault fault;
    unsigned char bytes[DYNSEL_LEARNED_READ_AT_ONCE];
} dynsel_learned_reader;

typedef struct dynsel_learned_writer {
    const dynsel_learned_store *store;
    size_t at;  /* where `bytes` will be, in the store */
    size_t end; /* of the area */
    uint32_t crc;
    uint32_t filled;
    dynsel_status status;
    unsigned char bytes[DYNSEL_LEARNED_MOST_ALIGN];
} dynsel_learned_writer;

DYNSEL_RARE void dynsel_learned_read_from(dynsel_learned_reader *reader,
                                          const dynsel_learned_store *store, size_t at,
                                          size_t bytes);
DYNSEL_RARE void dynsel_learned_take_bytes(dynsel_learned_reader *reader, void *bytes,
                                           size_t count);
/* A number of up to 8 bytes, the lowest first. */
DYNSEL_RARE uint64_t dynsel_learned_take(dynsel_learned_reader *reader, uint32_t bytes);
DYNSEL_RARE void dynsel_learned_skip(dynsel_learned_reader *reader, size_t count);
static inline bool dynsel_learned_is_good(const dynsel_learned_reader *reader)
{
    return reader->fault.status == DYNSEL_OK;
}
/* A record says what none may say. */
DYNSEL_RARE void dynsel_learned_is_wrong(dynsel_learned_reader *reader, const char *detail);

DYNSEL_RARE void dynsel_learned_put_bytes(dynsel_learned_writer *writer, const void *bytes,
                                          size_t count);
DYNSEL_RARE void dynsel_learned_put(dynsel_learned_writer *writer, uint64_t number, uint32_t bytes);
/* Writes what is left, filled up with zeros to the store's align. */
DYNSEL_RARE void dynsel_learned_flush(dynsel_learned_writer *writer);
static inline size_t dynsel_learned_room(const dynsel_learned_writer *writer)
{
    return writer->end - writer->at - writer->filled;
}

/*
 * Records.
 */

typedef struct dynsel_learned_device {
    /* what identifies it, cut to these sizes and filled up with zeros */
    char backend[16];
    char vendor[32];
    char name[64];
    char driver[64];
    uint32_t whole; /* the checksum of all its texts, uncut */
    /* what is learned, as in dynsel_finish_resource, dynsel_finish_speed and the policy */
    int32_t worth;
    uint32_t shortest_ns;
    uint32_t copy_rate;
    uint32_t latency;
    uint32_t submit;
    struct {
        int32_t slowness;
        uint32_t spread;
        uint32_t measured;
    } speeds[DYNSEL_FINISH_SCALES];
    uint32_t first_start_ns;
} dynsel_learned_device;

typedef struct dynsel_learned_kind {
    uint32_t id;
    uint32_t key_word_count;
    uint32_t times;   /* how many records of times follow */
    uint64_t aspects; /* a set of the table's aspects */
    uint32_t smallest;
    uint32_t key_words[DYNSEL_LEARNED_MOST_KEY_WORDS];
} dynsel_learned_kind;

typedef struct dynsel_learned_point {
    uint32_t amount; /* as in dynsel_finish_point */
    uint32_t time;
    uint32_t samples;
} dynsel_learned_point;

typedef struct dynsel_learned_times {
    uint32_t device;
    uint32_t samples;
    uint32_t error;
    uint32_t readback;
    uint32_t count;
    dynsel_learned_point points[DYNSEL_LEARNED_MOST_POINTS];
} dynsel_learned_times;

typedef struct dynsel_learned_head {
    uint32_t body_at;
    uint32_t bytes;
    uint32_t generation;
    uint32_t devices;
    uint32_t aspects;
    uint32_t kinds;
    uint32_t body_crc;
} dynsel_learned_head;

/* Takes a record; what it says is within the bounds that `head` and the sizes set, if the reader is
 * good afterwards. */
DYNSEL_RARE void dynsel_learned_take_device(dynsel_learned_reader *reader,
                                            dynsel_learned_device *device);
DYNSEL_RARE void dynsel_learned_take_kind(dynsel_learned_reader *reader,
                                          const dynsel_learned_head *head,
                                          dynsel_learned_kind *kind);
DYNSEL_RARE void dynsel_learned_take_times(dynsel_learned_reader *reader,
                                           const dynsel_learned_head *head,
                                           dynsel_learned_times *times);

DYNSEL_RARE void dynsel_learned_put_device(dynsel_learned_writer *writer,
                                           const dynsel_learned_device *device);
DYNSEL_RARE void dynsel_learned_put_kind(dynsel_learned_writer *writer,
                                         const dynsel_learned_kind *kind);
DYNSEL_RARE void dynsel_learned_put_times(dynsel_learned_writer *writer,
                                          const dynsel_learned_times *times);

/* head_bytes: DYNSEL_LEARNED_HEAD_BYTES. */
DYNSEL_RARE void dynsel_learned_pack_head(const dynsel_learned_head *head,
                                          unsigned char *head_bytes);
DYNSEL_RARE dynsel_learned_fault dynsel_learned_unpack_head(const unsigned char *head_bytes,
                                                            dynsel_learned_head *head);

/*
 * Areas.
 */

typedef struct dynsel_learned_survey {
    dynsel_learned_head heads[2];
    dynsel_learned_fault faults[2]; /* status DYNSEL_OK: the area is valid */
} dynsel_learned_survey;

/* Whether the call may use the policy and the store; fails on behalf of `function`. */
DYNSEL_RARE dynsel_status dynsel_learned_accept(const dynsel_earliest_finish_policy *policy,
                                                const dynsel_learned_store *store, bool writes,
                                                const char *function);

/* Verifies all areas. */
DYNSEL_RARE void dynsel_learned_look(const dynsel_learned_store *store,
                                     dynsel_learned_survey *survey);

/* The area with the newest valid table; `areas`: none is valid. */
DYNSEL_RARE uint32_t dynsel_learned_newest(const dynsel_learned_store *store,
                                           const dynsel_learned_survey *survey);

/* Begins to read the records of a table. */
DYNSEL_RARE void dynsel_learned_open(dynsel_learned_reader *reader,
                                     const dynsel_learned_store *store, uint32_t area,
                                     const dynsel_learned_head *head);

/*
 * Devices.
 */

/* Which device of a table a resource is. */
typedef struct dynsel_learned_match {
    uint16_t device_of[CONFIG_DYNSEL_MAX_RESOURCES]; /* or DYNSEL_LEARNED_NO_DEVICE */
    bool same_driver[CONFIG_DYNSEL_MAX_RESOURCES];
} dynsel_learned_match;

/* The device behind a resource, with what the policy learned of it. */
DYNSEL_RARE void dynsel_learned_describe(const dynsel_earliest_finish_policy *policy,
                                         uint32_t index, dynsel_learned_device *device);

/* Recognizes the devices of the table in an area. */
DYNSEL_RARE dynsel_learned_fault dynsel_learned_recognize(
    const dynsel_earliest_finish_policy *policy, const dynsel_learned_store *store, uint32_t area,
    const dynsel_learned_head *head, dynsel_learned_match *match);

/* The resource that is a device of the table; CONFIG_DYNSEL_MAX_RESOURCES: none is. */
DYNSEL_RARE uint32_t dynsel_learned_resource_of(const dynsel_learned_match *match, uint32_t device);

/* Takes the lock of a kind. False: it stays taken. */
DYNSEL_RARE bool dynsel_learned_lock(dynsel_finish_kind *kind);

#endif
