/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between rank 0 and the ranks that serve. All are structures of this program, sent as
 * bytes: dynsel_mpi_open() has compared the builds.
 *
 * Rank 0 numbers its operations: places in its table, which it uses again only when the answer has
 * come. Messages from rank 0 to one rank arrive in the order in which they were sent, and their
 * operations begin in that order. Every operation is answered once, by one DYNSEL_MPI_DONE of each
 * rank that it was sent to. Data travel beside the messages, with a tag for each use of an
 * operation's place: data of a use that failed may still lie about when its place is used again.
 *
 * What is urgent has the tag of pings, and overtakes all else: the line of messages may wait for
 * just that. So it may come before what it is about.
 */
#ifndef DYNSEL_BACKENDS_MPI_PROTOCOL_H
#define DYNSEL_BACKENDS_MPI_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include <dynsel/dynsel.h>

/* Every kind of message: the operations of rank 0, then what is not answered with DONE. */
typedef enum dynsel_mpi_kind {
    DYNSEL_MPI_TASK,    /* dynsel_mpi_task_body, then the arguments */
    DYNSEL_MPI_LAUNCH,  /* dynsel_mpi_launch_body, then arguments, values and `after` */
    DYNSEL_MPI_COPY,    /* dynsel_mpi_boxes_body, then `after` */
    DYNSEL_MPI_FILL,    /* dynsel_mpi_boxes_body, then the element and `after` */
    DYNSEL_MPI_BRING,   /* dynsel_mpi_data_body, then `after`; data come from `peer` */
    DYNSEL_MPI_FETCH,   /* dynsel_mpi_data_body, then `after`; data go to `peer` */
    DYNSEL_MPI_PREPARE, /* dynsel_mpi_launch_body: builds the kernel */
    DYNSEL_MPI_RELEASE, /* without a body: the copy with the number `operation` ends; not
                              answered */
    DYNSEL_MPI_ABANDON, /* the other side of a transfer has failed, so this one cannot go on; not
                              answered itself. Urgent */
    DYNSEL_MPI_LOST,    /* `operation` is a rank that is lost: transfers with it, now and later,
                              are OUT_OF_SERVICE; not answered itself. Urgent. The rank itself
                              is told, too, in case it lives: it stops serving */
    DYNSEL_MPI_PING,    /* answered with PONG. Urgent, and so is its answer */
    DYNSEL_MPI_END,     /* `operation` is a dynsel_mpi_end_kind */
    DYNSEL_MPI_DONE,    /* dynsel_mpi_done_body */
    DYNSEL_MPI_PONG,
    DYNSEL_MPI_BYE
} dynsel_mpi_kind;

typedef enum dynsel_mpi_end_kind {
    DYNSEL_MPI_NO_MORE, /* no more work comes; answered with BYE when all work has ended */
    /* All have answered, or are lost; not answered. A rank ends only now, because it finalizes MPI
     * only where all ranks do. */
    DYNSEL_MPI_END_CLEAN, /* none is lost */
    DYNSEL_MPI_END_LOSSES
} dynsel_mpi_end_kind;

enum {
    DYNSEL_MPI_OPERATIONS = CONFIG_DYNSEL_MAX_IN_FLIGHT + 64
#if CONFIG_DYNSEL_COMMAND_GROUPS
                            + CONFIG_DYNSEL_MAX_BUFFERS
#endif
    , /* work in flight, copies to the host, and copies in that their work no longer waits for */
    DYNSEL_MPI_ERROR_BYTES = 160, /* of an error's text */
    DYNSEL_MPI_TAG_MESSAGE = 1,
    DYNSEL_MPI_TAG_PING = 2,
    DYNSEL_MPI_TAG_DATA = 16, /* and on, by dynsel_mpi_data_number() */
};

/* The beginning of every message. 16 bytes, so that what follows is aligned for all members. */
typedef struct dynsel_mpi_header {
    uint8_t kind;         /* a dynsel_mpi_kind */
    uint8_t resource;     /* the place in the rank's list; of TASK, LAUNCH, COPY, FILL, PREPARE */
    uint16_t after_count; /* operations that this one comes behind: their numbers are the last
                             part of the message, uint32_t each */
    uint32_t operation;
    uint32_t turn;       /* counts the uses of the operation's place, from 1 on */
    uint32_t body_bytes; /* that follow; set by dynsel_mpi_send(). To ask MPI takes 10 ns */
} dynsel_mpi_header;

/* A number for the data of one use of an operation's place. */
static inline uint32_t dynsel_mpi_data_number(uint32_t operation, uint32_t turn)
{
    return turn % (UINT32_MAX / DYNSEL_MPI_OPERATIONS) * DYNSEL_MPI_OPERATIONS + operation;
}

typedef struct dynsel_mpi_task_body {
    uint32_t task; /* place in dynsel_mpi_options.tasks, which says how long the arguments are */
    uint32_t wants_time; /* 1: a report needs dynsel_mpi_done_body.took_ns */
} dynsel_mpi_task_body;

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Where a copy lies: in the memory that the rank gave to dynsel_mpi_open(). The first message that
 * names a copy makes it, with undefined contents unless that is BRING; RELEASE ends it. */
typedef struct dynsel_mpi_place {
    uint64_t offset;
    uint64_t bytes;  /* of the buffer or range: what is moved or used */
    uint64_t room;   /* bytes of the place, at least as many */
    uint32_t copy;   /* number of the copy, below CONFIG_DYNSEL_MPI_COPIES */
    uint32_t access; /* a dynsel_access_mode, where it is an argument or an end of a copy */
} dynsel_mpi_place;

typedef struct dynsel_mpi_data_body {
    dynsel_mpi_place place;
    uint32_t peer; /* the rank that sends or receives the data */
    uint32_t unused;
} dynsel_mpi_data_body;

/* An argument; those of kind DYNSEL_ARGUMENT_VALUE have their bytes among the values, each rounded
 * up to 8. */
typedef struct dynsel_mpi_argument {
    uint32_t kind;          /* a dynsel_argument_kind; a POINTER is NULL */
    uint32_t bytes;         /* of a VALUE or LOCAL */
    dynsel_mpi_place place; /* of DATA; `bytes` 0: no elements, so no copy */
} dynsel_mpi_argument;

typedef struct dynsel_mpi_launch_body {
    uint32_t kernel; /* place in dynsel_mpi_options.kernels */
    uint32_t argument_count;
    dynsel_range global;
    dynsel_range local;
    dynsel_range offset;
} dynsel_mpi_launch_body;

typedef struct dynsel_mpi_boxes_body {
    dynsel_mpi_place from; /* not of a fill */
    dynsel_mpi_place to;
    dynsel_box from_box; /* not of a fill */
    dynsel_box to_box;
    uint32_t element_bytes; /* of a fill; the bytes follow, rounded up to 8 */
    uint32_t unused;
} dynsel_mpi_boxes_body;
#endif

typedef struct dynsel_mpi_done_body {
    int32_t status;      /* a dynsel_status */
    int32_t code;        /* dynsel_error.code */
    uint64_t took_ns;    /* 0: it was not timed */
    uint32_t text_bytes; /* of the error's text, which follows without '\0' */
    uint32_t
        back_bytes; /* of a task's arguments that come back, which follow, from a multiple of 8 */
} dynsel_mpi_done_body;

#define DYNSEL_MPI_ROUND(bytes) (((bytes) + 7u) & ~(size_t)7)

/* The longest message, and so the size of all buffers for them. */
enum {
    DYNSEL_MPI_LONGEST_TASK =
        sizeof(dynsel_mpi_task_body) + DYNSEL_MPI_ROUND(CONFIG_DYNSEL_MPI_ARGUMENT_BYTES),
    DYNSEL_MPI_LONGEST_DONE = sizeof(dynsel_mpi_done_body) + DYNSEL_MPI_ERROR_BYTES +
                              DYNSEL_MPI_ROUND(CONFIG_DYNSEL_MPI_ARGUMENT_BYTES),
#if CONFIG_DYNSEL_COMMAND_GROUPS
    DYNSEL_MPI_LONGEST_LAUNCH = sizeof(dynsel_mpi_launch_body) +
                                CONFIG_DYNSEL_MAX_ARGUMENTS * (sizeof(dynsel_mpi_argument) + 8) +
                                DYNSEL_MPI_ROUND(CONFIG_DYNSEL_ARGUMENT_BYTES) +
                                (size_t)4 * DYNSEL_MOST_AFTER,
    DYNSEL_MPI_LONGEST_FILL = sizeof(dynsel_mpi_boxes_body) +
                              DYNSEL_MPI_ROUND(CONFIG_DYNSEL_ARGUMENT_BYTES) +
                              (size_t)4 * DYNSEL_MOST_AFTER,
#else
    DYNSEL_MPI_LONGEST_LAUNCH = 0,
    DYNSEL_MPI_LONGEST_FILL = 0,
#endif
#define DYNSEL_MPI_MAX(a, b) ((a) > (b) ? (a) : (b))
    DYNSEL_MPI_MESSAGE_BYTES =
        sizeof(dynsel_mpi_header) +
        DYNSEL_MPI_MAX(DYNSEL_MPI_MAX(DYNSEL_MPI_LONGEST_TASK, DYNSEL_MPI_LONGEST_DONE),
                       DYNSEL_MPI_MAX(DYNSEL_MPI_LONGEST_LAUNCH, DYNSEL_MPI_LONGEST_FILL))
#undef DYNSEL_MPI_MAX
};

/* A message in memory. */
typedef struct dynsel_mpi_message {
    dynsel_mpi_header header;
    _Alignas(8) unsigned char body[DYNSEL_MPI_MESSAGE_BYTES - sizeof(dynsel_mpi_header)];
} dynsel_mpi_message;

#endif
