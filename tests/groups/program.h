/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs of command groups, as data: made of a seed, printed, and made smaller. */
#ifndef DYNSEL_TESTS_MEMORY_PROGRAM_H
#define DYNSEL_TESTS_MEMORY_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/accessor.h>

#include "groups/kernels.h"

enum {
    PROGRAM_COMMANDS = 40, /* as bits of one word, too */
    PROGRAM_BUFFERS = CONFIG_DYNSEL_MAX_BUFFERS < 6 ? CONFIG_DYNSEL_MAX_BUFFERS : 6,
    PROGRAM_USES = 3,
    PROGRAM_ELEMENTS = 64,
    PROGRAM_BYTES = PROGRAM_ELEMENTS * 8,                             /* of the largest buffer */
    PROGRAM_OUTS = CONFIG_DYNSEL_HAS_MUCH_RAM ? PROGRAM_COMMANDS : 1, /* commands that copy out */
    PROGRAM_PLACES = 7                                                /* policies */
};

typedef enum command_kind {
    KIND_KERNEL,
    KIND_SINGLE, /* one work item */
    KIND_HOST,   /* the kernel's C function, as a host task */
    KIND_COPY,
    KIND_FILL,
    KIND_IN,    /* a copy from memory of the program, */
    KIND_OUT,   /* or to it */
    KIND_EMPTY, /* a launch without work-items */
    KIND_ACCESS /* a host accessor */
} command_kind;

/* How a use gets its accessor. */
typedef enum program_binding {
    BIND_OWN,      /* a placeholder with a buffer, required */
    BIND_LATE,     /* a placeholder without one, required with it */
    BIND_TWICE,    /* a placeholder with a buffer, required with the same, and again */
    BIND_NORMAL,   /* a normal accessor */
    BIND_FROM,     /* a normal accessor out of a placeholder */
    BIND_ANOTHER,  /* like BIND_OWN; another placeholder of the same buffer reads a part */
    BIND_ARGUMENT, /* like BIND_LATE, but set as argument before it is required */
    BINDINGS
} program_binding;

typedef struct program_use {
    uint8_t buffer;
    uint8_t mode;   /* a dynsel_access_mode */
    uint8_t target; /* a dynsel_access_target */
    uint8_t binding;
    bool part; /* range and offset are said */
    dynsel_range range;
    dynsel_range offset;
} program_use;

/* How a command is submitted. */
typedef enum program_manner {
    MANNER_KEPT,     /* its submission is waited for later */
    MANNER_DETACHED, /* nobody asks */
    MANNER_WAITED,
    MANNER_TRIED, /* without waiting for room; then as kept */
    MANNER_TIMED,
    MANNERS
} program_manner;

/* What happens after a command; `which` says with what. */
typedef enum program_then {
    THEN_NOTHING,
    THEN_PROGRESS,
    THEN_WAIT,    /* for an earlier command */
    THEN_RELEASE, /* an earlier command's submission */
    THEN_GROUP,   /* waits for all work of a policy */
    THEN_DESTROY, /* of a buffer is refused as long as it is in use, or it begins anew */
    THEN_CANCEL,  /* an earlier command, often the one that was submitted before */
    THEN_DRAIN,   /* of a resource of a policy, */
    THEN_RETIRE,
    THEN_REINSTATE,
    THENS
} program_then;

typedef struct program_command {
    uint8_t kind; /* a command_kind */
    uint8_t kernel;
    uint8_t place; /* the policy's number */
    uint8_t manner;
    uint8_t use_count;
    uint8_t then;
    uint8_t which;
    uint8_t stays;                  /* a host accessor stays open for so many commands */
    uint8_t behind;                 /* depends on the one so many before; 0: on none by name */
    bool limited;                   /* has a time limit that it never exceeds */
    uint8_t local;                  /* work items in a group; 0: as the device likes */
    program_use uses[PROGRAM_USES]; /* the first is what a kernel writes; of a copy the target */
    uint32_t salt;
} program_command;

typedef struct program_shape {
    dynsel_range range;
    uint32_t width; /* bytes of an element */
    bool inside;    /* the memory is the library's */
    uint8_t skew;   /* the memory begins so many bytes past an aligned address */
} program_shape;

/* The buffers, which several programs share. */
typedef struct program_shapes {
    unsigned count;
    program_shape shapes[PROGRAM_BUFFERS];
} program_shapes;

/* What programs may be made of. */
typedef struct program_limits {
    unsigned places;
    bool only_devices; /* devices that run no C */
    bool fails;        /* BROKEN is among the kernels, */
    bool refuses;      /* and REFUSED */
} program_limits;

typedef struct program {
    uint64_t seed;
    uint64_t left_out; /* commands, as bits */
    program_command commands[PROGRAM_COMMANDS];
} program;

void program_make_shapes(program_shapes *shapes, uint64_t seed);
void program_make(program *p, const program_shapes *shapes, const program_limits *limits,
                  uint64_t seed);

/* All that is not left out. */
void program_print(const program *p, const program_shapes *shapes);

static inline bool program_has(const program *p, unsigned i)
{
    return (p->left_out >> i & 1u) == 0;
}

/* What a mode means for the order and for the data. */
static inline bool mode_writes(unsigned mode)
{
    return mode != DYNSEL_ACCESS_READ;
}

static inline bool mode_discards(unsigned mode)
{
    return mode == DYNSEL_ACCESS_DISCARD_WRITE || mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
}

size_t shape_bytes(const program_shape *shape);

/* The elements that a use is about. */
dynsel_range use_range(const program_use *use, const program_shape *shape);

size_t use_bytes(const program_use *use, const program_shape *shape);

/* Whether that is the whole buffer. */
bool use_is_whole(const program_use *use, const program_shape *shape);

/* What a KIND_IN copies that follows no KIND_OUT. */
const unsigned char *program_memory(const program_command *command);

/* The values that the kernel of a command gets. */
job_words program_job(const program_shapes *shapes, const program_command *command, unsigned index);

#endif
