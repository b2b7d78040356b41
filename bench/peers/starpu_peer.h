/* SPDX-License-Identifier: Apache-2.0 */
/* What the works of starpu-usecases share: kernels for both kinds of workers, and data. */
#ifndef PEERS_STARPU_PEER_H
#define PEERS_STARPU_PEER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <starpu.h>

#include "../arguments.h"

enum { PEER_MOST_BUFFERS = 4, PEER_MOST_VALUES = 4, PEER_DIMENSIONS = 2 };

typedef struct peer_options {
    const char *scheduler;
    const char *devices; /* numbers of StarPU's OpenCL devices, "none", or NULL for all */
    const char *column;  /* of the CSV file; NULL: after the scheduler */
    const char *csv;     /* NULL: none */
    const char *label;   /* NULL: none */
    uint64_t workers;    /* PEER_ALL_WORKERS: as many as there are free processors */
    uint64_t seed;
} peer_options;

#define PEER_ALL_WORKERS UINT64_MAX

/* One sub-command. */
typedef struct peer_command {
    const char *name;
    const char *about;
    const argument *own;
    void (*run)(const peer_options *options); /* after peer_start() */
} peer_command;

extern const peer_command peer_nstream;
extern const peer_command peer_filter;
extern const peer_command peer_stream;
extern const peer_command peer_matmul;
extern const peer_command peer_cholesky;
extern const peer_command peer_stencil;

typedef union peer_value {
    int32_t i;
    uint32_t u;
    float f;
} peer_value;

/* A kernel with its scalars and its range; it stays in place while tasks use it. */
typedef struct peer_call {
    struct peer_kernel *kernel;
    peer_value values[PEER_MOST_VALUES];
    size_t global[PEER_DIMENSIONS]; /* the second may be 0: one dimension */
    size_t local[PEER_DIMENSIONS];  /* 0: the driver chooses */
} peer_call;

/* A kernel for all workers. The arguments in OpenCL C are the buffers, then the values. */
typedef struct peer_kernel {
    const char *name;
    const char *source;
    void (*host)(void *const data[], const peer_call *call);
    unsigned buffers;
    unsigned values;
    enum starpu_data_access_mode modes[PEER_MOST_BUFFERS];
    struct starpu_perfmodel model; /* this and what follows: set by peer_prepare() */
    struct starpu_codelet codelet;
    struct starpu_opencl_program program;
} peer_kernel;

/* Starts StarPU with the workers and the scheduler of the options. */
void peer_start(const peer_options *options);

/* Builds the kernel for all devices, and gives it a performance model: the history of its times,
 * for each size of the data, range and set of scalars. */
void peer_prepare(peer_kernel *kernel);

/* Frees what peer_prepare() made, after all tasks. */
void peer_release(peer_kernel *kernel);

/* Submits one task. A failure ends the program. */
void peer_submit(peer_call *call, starpu_data_handle_t *handles, int priority);

/* The same; `done` becomes true when the task has run. */
void peer_submit_told(peer_call *call, starpu_data_handle_t *handles, atomic_bool *done);

/* Registers host memory as one piece of data. */
starpu_data_handle_t peer_register(void *memory, size_t count, size_t element);

/* Waits until the host may use the data in this mode, and gives them back. */
void peer_acquire(starpu_data_handle_t data, enum starpu_data_access_mode mode);
void peer_touch(starpu_data_handle_t data, enum starpu_data_access_mode mode);

/* The device's own name, or which host worker. */
void peer_worker_name(unsigned worker, char *name, size_t size);

/* How many tasks a worker ran so far. */
unsigned long peer_tasks_of(unsigned worker);

#endif
