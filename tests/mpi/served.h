/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of ranks share: rank 0 runs the tests, the others serve. Each rank offers what
 * dynsel_mpi_open() takes by itself: its workers or the serving thread, and PoCL's devices.
 */
#ifndef DYNSEL_TESTS_MPI_SERVED_H
#define DYNSEL_TESTS_MPI_SERVED_H

#include <dynsel/dynsel.h>

#include <stdio.h>
#include <stdlib.h>

enum { SERVED_MEMORY = 8 * 1024 * 1024 };

/* The memory of a rank that serves. */
static inline dynsel_mpi_options served_options(void)
{
    static _Alignas(4096) unsigned char memory[SERVED_MEMORY];
    return (dynsel_mpi_options){.memory = memory, .memory_bytes = sizeof memory};
}

static inline void served_say(const char *call)
{
    char text[400];
    (void)dynsel_error_text(NULL, text, sizeof text);
    (void)fprintf(stderr, "rank %u: %s: %s\n", (unsigned)dynsel_mpi_rank(), call, text);
}

/* Opens; on ranks that serve it serves, and ends the process. Environment: DYNSEL_TEST_WORKERS, how
 * many workers each rank starts; DYNSEL_TEST_OWN_THREAD, whether a thread of the library calls MPI.
 */
static inline void served_begin(dynsel_mpi_options options)
{
    const char *const workers = getenv("DYNSEL_TEST_WORKERS");
    options.own_thread = getenv("DYNSEL_TEST_OWN_THREAD") != NULL;
    if (workers != NULL && dynsel_threads_start((size_t)strtoul(workers, NULL, 10)) != DYNSEL_OK) {
        served_say("dynsel_threads_start");
        exit(1);
    }
    if (dynsel_mpi_open(&options) != DYNSEL_OK) {
        served_say("dynsel_mpi_open");
        exit(1);
    }
    if (dynsel_mpi_rank() != 0) {
        const bool served = dynsel_mpi_serve() == DYNSEL_OK;
        if (!served) {
            served_say("dynsel_mpi_serve");
        }
        exit(served ? 0 : 1);
    }
}

#endif
