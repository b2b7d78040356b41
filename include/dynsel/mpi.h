/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Several machines: the processes of an MPI program (its ranks) as resources.
 *
 * All ranks run the same program and call dynsel_mpi_open() with the same lists of kernels and
 * tasks. Rank 0 chooses: the workers and OpenCL devices of every other rank are resources of its
 * policies. The others serve in one call, which returns when rank 0 closes:
 *
 *     int main(void)
 *     {
 *         static char memory[64 << 20];
 *         static const dynsel_kernel *const kernels[] = {&scale};
 *         const dynsel_mpi_options options = {.kernels = kernels, .kernel_count = 1,
 *                                             .memory = memory, .memory_bytes = sizeof memory};
 *         dynsel_status status = dynsel_mpi_open(&options);
 *         if (status == DYNSEL_OK && dynsel_mpi_rank() != 0) {
 *             return dynsel_mpi_serve() == DYNSEL_OK ? 0 : 1;
 *         }
 *         ... policies, command groups, waits: as with the devices of one machine ...
 *         return dynsel_mpi_close() == DYNSEL_OK ? 0 : 1;
 *     }
 *
 * Work is sent as a number: that of a kernel or task in these lists. Arguments travel by value;
 * buffers have a copy in the memory that a rank gave to dynsel_mpi_open(), which is one memory
 * domain, whatever devices the rank has: it moves data between those itself.
 *
 * Loss: a rank that does not answer for `silence_ns` is lost, with its resources and its memory, as
 * a device of this machine that was lost: its work fails or is repeated elsewhere. Everything else
 * goes on, if the MPI library lets the other ranks live (OpenMPI: `mpirun --enable-recovery`); else
 * the MPI library ends the program.
 *
 * doc/several-machines.md is the guide.
 */
#ifndef DYNSEL_MPI_H
#define DYNSEL_MPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dynsel/backend.h>
#include <dynsel/task.h>
#if CONFIG_DYNSEL_COMMAND_GROUPS
#include <dynsel/kernel.h>
#endif

DYNSEL_BEGIN_DECLS

/** What backend mpi reports. The time is measured by the rank that did the work. */
#define DYNSEL_MPI_REPORTS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

/** The time after which a silent rank is lost, where the options do not say: 10 s. */
#define DYNSEL_MPI_SILENCE_NS UINT64_C(10000000000)

/** The time after which a serving rank that hears nothing of rank 0 stops serving, where the
 * options do not say: 10 minutes. */
#define DYNSEL_MPI_IDLE_NS UINT64_C(600000000000)

/**
 * A task function that other ranks may run. It is called there with a copy of the task's `args`,
 * aligned for all types; `where` is the resource of that rank, and the event that it may fill in
 * belongs to that rank: `done->value` stays there. What is to come back is in its arguments.
 */
typedef struct dynsel_mpi_task {
    dynsel_task_fn function;
    const char *name; /**< to compare the lists of the ranks; static */
    size_t bytes;     /**< of what `args` points to, at most CONFIG_DYNSEL_MPI_ARGUMENT_BYTES */
    bool comes_back;  /**< the copy is copied back into `args` before the work is complete */
} dynsel_mpi_task;

/** Unused fields are zero. */
typedef struct dynsel_mpi_options {
#if CONFIG_DYNSEL_COMMAND_GROUPS
    const dynsel_kernel *const *kernels; /**< that command groups may launch on other ranks */
    size_t kernel_count;
#endif
    const dynsel_mpi_task *tasks;
    size_t task_count;
    /** Of ranks that serve: for the copies of buffers and ranges. Used until dynsel_mpi_serve()
     * returns. NULL: no command group with data runs there. */
    void *memory;
    size_t memory_bytes;
    /** Of ranks that serve: their resources, at most CONFIG_DYNSEL_MPI_RANK_RESOURCES; used until
     * dynsel_mpi_serve() returns. NULL: the workers, if dynsel_threads_start() was called, else the
     * thread that serves ("host"); and all OpenCL devices. */
    const dynsel_resource *resources;
    size_t resource_count;
    /** How long a rank may be silent although it was asked; 0: DYNSEL_MPI_SILENCE_NS. A task on the
     * resource "host" of a rank answers nothing while it runs: it must be shorter. Time in which
     * rank 0 does not look for messages, also because it was stopped, counts as at most a quarter
     * of it. */
    uint64_t silence_ns;
    /** Of ranks that serve: how long rank 0 may be silent; 0: DYNSEL_MPI_IDLE_NS,
     * DYNSEL_NO_TIME_LIMIT: forever. Rank 0 is silent while it makes no calls of the library. */
    uint64_t idle_ns;
    /** Of rank 0: a thread of the library makes all calls of MPI, which needs only
     * MPI_THREAD_FUNNELED, and messages move while the program computes. Only where the program has
     * not initialized MPI. False: the threads that call the library call MPI; where that allows
     * only one thread, the one that initialized MPI, and work on other ranks goes on while it
     * makes calls of the library. */
    bool own_thread;
    const void *communicator; /**< an MPI_Comm *; NULL: MPI_COMM_WORLD. It is duplicated. */
} dynsel_mpi_options;

/** The hosts of other ranks: their workers, or the threads that serve, which run the host's form of
 * kernels. After dynsel_mpi_open() they are among the default resources of policies, in the order
 * of the ranks. */
extern dynsel_backend dynsel_mpi_backend;

/** The OpenCL devices of other ranks, likewise: a backend of their own, because they run the other
 * form of kernels. */
extern dynsel_backend dynsel_mpi_device_backend;

/**
 * Begins, on all ranks of the communicator: initializes MPI if the program has not, compares the
 * builds and lists of all ranks, and lets rank 0 know the resources of the others.
 *
 * options: copied; the lists stay in use until the end. NULL: all zero.
 * Errors: DYNSEL_E_INVALID (a list is NULL but not empty; a kernel or task without a name or form,
 *     or twice; a task with too large arguments; `own_thread` where MPI runs already; MPI was
 *     finalized), DYNSEL_E_BUSY (open already), DYNSEL_E_OUT_OF_SERVICE (a rank was lost or did
 *     not come before: it cannot begin again), DYNSEL_E_CONTEXT (the child of a fork() of a process
 *     that has called it), DYNSEL_E_UNSUPPORTED (the ranks have different builds, configurations or
 *     lists: the text names the first difference, on every rank), DYNSEL_E_FULL
 *     (CONFIG_DYNSEL_MPI_RANKS, _MPI_RANK_RESOURCES), DYNSEL_E_TIMEOUT (a rank did not come within
 *     `silence_ns`), DYNSEL_E_DEVICE (MPI failed: `code` is its error code). All ranks that answer
 *     fail together; MPI stays initialized then.
 * May block: yes, until all ranks have called it.
 * Context: any thread, one at a time.
 * Source: MPI 3.1, chapter 8 "MPI Environmental Management" and 12.4 "MPI and Threads".
 */
DYNSEL_CHECKED dynsel_status dynsel_mpi_open(const dynsel_mpi_options *options);

/** The number of this process in the communicator; 0 also before dynsel_mpi_open(). Any context. */
uint32_t dynsel_mpi_rank(void);

/** The number of processes; 0 before dynsel_mpi_open(). Any context. */
uint32_t dynsel_mpi_rank_count(void);

/**
 * Serves, on all ranks but 0: does the work that rank 0 sends, until that calls dynsel_mpi_close().
 * Finalizes MPI if dynsel_mpi_open() has initialized it and no rank was lost. (Where the program
 * finalizes MPI itself, that may wait for a lost rank for ever.)
 *
 * Errors: DYNSEL_E_INVALID (rank 0, or not open), DYNSEL_E_OUT_OF_SERVICE (nothing was heard of
 *     rank 0 for `idle_ns`; rank 0 has given this rank up, because it was silent; or MPI failed),
 *     and what the initialization of policies for its resources returns. It no longer serves
 *     after any of them.
 * May block: yes, as long as it serves. It polls, and sleeps for up to 0.2 ms where nothing comes.
 * Context: the thread that called dynsel_mpi_open(); not task functions.
 */
DYNSEL_CHECKED dynsel_status dynsel_mpi_serve(void);

/**
 * Ends, on rank 0: the others' dynsel_mpi_serve() returns. Finalizes MPI if dynsel_mpi_open() has
 * initialized it and no rank was lost; after a loss that would wait for ever, so the program ends
 * without (mpirun then reports what became of the lost rank).
 *
 * Errors: DYNSEL_E_INVALID (not open; not rank 0), DYNSEL_E_BUSY (a policy still uses a resource of
 *     another rank, or a buffer has a copy there; nothing was changed), DYNSEL_E_OUT_OF_SERVICE (it
 *     is closed, and a rank was lost before or now: the number is the first one).
 * May block: until the others have ended, at most `silence_ns`.
 * Context: any thread; where MPI allows only one, that one. Not task functions.
 */
DYNSEL_CHECKED dynsel_status dynsel_mpi_close(void);

/**
 * The resources of one rank, or of all.
 *
 * rank: 1 and on; 0: of all ranks.
 * resources, capacity: out; NULL only with 0, to have them counted.
 * count: out, their number, even if that exceeds `capacity`.
 * Errors: DYNSEL_E_INVALID (NULL pointers, no such rank, not open, not rank 0), DYNSEL_E_FULL (more
 *     than `capacity`, which is not 0).
 * May block: no. Context: any thread. Cost: linear in the resources.
 */
DYNSEL_CHECKED dynsel_status dynsel_mpi_resources(uint32_t rank, dynsel_resource *resources,
                                                  size_t capacity, size_t *count);

/** The rank of a resource; 0 for any that is not of these backends. Any context. Cost: constant. */
uint32_t dynsel_mpi_rank_of(const dynsel_resource *where);

/**
 * Whether a rank was lost since dynsel_mpi_open(): its resources are out of service in all
 * policies. A loss is noticed when something is asked of the rank, or by dynsel_mpi_close().
 *
 * rank: 1 and on; false for any other number, on other ranks than 0, and where it is not open.
 * May block: no. Context: any thread. Cost: constant.
 */
bool dynsel_mpi_rank_is_lost(uint32_t rank);

DYNSEL_END_DECLS

#endif
