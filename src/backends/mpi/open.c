/* SPDX-License-Identifier: Apache-2.0 */
/* Begins and ends the backend. */
#define _POSIX_C_SOURCE 200809L

#include <mpi.h>
#include <pthread.h>
#include <signal.h>

#include <dynsel/dynsel.h>

#include "backends/mpi/handshake.h"
#include "backends/mpi/operations.h"
#include "backends/mpi/rank_memory.h"
#include "backends/mpi/ranks.h"
#include "backends/mpi/state.h"
#include "backends/mpi/transport.h"
#if CONFIG_DYNSEL_BACKEND_THREADS
#include "backends/threads/backend.h"
#endif
#include "base/fail.h"
#include "policy/after_fork.h"
#include "port/likely.h"
#include "port/lock.h"
#include "port/pause.h"

#define FUNCTION DYNSEL_TEXT("dynsel_mpi_open")

enum { IDLE_ROUNDS = 200 /* of the library's own thread without news, before it sleeps */ };

dynsel_mpi_state dynsel_mpi;

static bool is_used; /* MPI, by this process or one that it was forked from */
static bool used_by_parent;
static bool left_to_itself; /* MPI may still use the memory of before, for a lost rank */
static dynsel_lock lock = DYNSEL_LOCK_INITIALIZER; /* one dynsel_mpi_open() or _close() at a time */

/* The library's own thread, where that calls MPI. */
static pthread_t thread;
static bool has_thread;
static dynsel_word opened; /* 1: the thread has begun, and `began` is its result */
static dynsel_word ends;   /* 1: it is to end, 2: without MPI_Finalize() */
static dynsel_status began;
static dynsel_error why;
static dynsel_status (*job)(void); /* of a rank that serves; set before `ends` */
static dynsel_status job_status;

uint32_t dynsel_mpi_rank(void)
{
    return dynsel_mpi.rank;
}

uint32_t dynsel_mpi_rank_count(void)
{
    return dynsel_mpi.rank_count;
}

static dynsel_status refuse(const char *subject, const char *detail, size_t number)
{
    (void)subject; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)detail;
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_INVALID,
                                             .number = (uint32_t)number,
                                             .function = FUNCTION,
                                             .subject = DYNSEL_TEXT(subject),
                                             .detail = DYNSEL_TEXT(detail)});
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
static dynsel_status check_kernels(const dynsel_mpi_options *options)
{
    if (options->kernels == NULL && options->kernel_count != 0) {
        return refuse("kernels", "the list is NULL, with {} entries", options->kernel_count);
    }
    for (size_t i = 0; i < options->kernel_count; i++) {
        const dynsel_kernel *const kernel = options->kernels[i];
        if (kernel == NULL || kernel->name == NULL) {
            return refuse("kernels", "entry {} is NULL or has no name", i);
        }
        if (kernel->function == NULL && kernel->source == NULL && kernel->il == NULL &&
            kernel->binary_count == 0) {
            return refuse(kernel->name, "entry {} has no form", i);
        }
        for (size_t j = 0; j < i; j++) {
            if (options->kernels[j] == kernel) {
                return refuse(kernel->name, "it is in the list twice, also as entry {}", j);
            }
        }
    }
    return DYNSEL_OK;
}
#endif

static dynsel_status check_tasks(const dynsel_mpi_options *options)
{
    if (options->tasks == NULL && options->task_count != 0) {
        return refuse("tasks", "the list is NULL, with {} entries", options->task_count);
    }
    for (size_t i = 0; i < options->task_count; i++) {
        const dynsel_mpi_task *const task = &options->tasks[i];
        if (task->function == NULL || task->name == NULL) {
            return refuse("tasks", "entry {} has no function or no name", i);
        }
        if (task->bytes > CONFIG_DYNSEL_MPI_ARGUMENT_BYTES) {
            return refuse(task->name,
                          DYNSEL_OPTION(MPI_ARGUMENT_BYTES,
                                        "and its arguments have {}: set it to as many, or send "
                                        "them as a buffer"),
                          task->bytes);
        }
        for (size_t j = 0; j < i; j++) {
            if (options->tasks[j].function == task->function) {
                return refuse(task->name, "its function is in the list twice, also as entry {}", j);
            }
        }
    }
    return DYNSEL_OK;
}

static dynsel_status check_options(const dynsel_mpi_options *options)
{
    dynsel_status status = check_tasks(options);
#if CONFIG_DYNSEL_COMMAND_GROUPS
    status = status == DYNSEL_OK ? check_kernels(options) : status;
#endif
    if (status == DYNSEL_OK && options->memory == NULL && options->memory_bytes != 0) {
        return refuse("memory", "it is NULL, with {} bytes", options->memory_bytes);
    }
    if (status == DYNSEL_OK && options->resources == NULL && options->resource_count != 0) {
        return refuse("resources", "the list is NULL, with {} entries", options->resource_count);
    }
    for (size_t i = 0; status == DYNSEL_OK && i < options->resource_count; i++) {
        if (options->resources[i].backend == NULL) {
            status = refuse("resources", "entry {} has no backend", i);
        }
    }
    return status;
}

/* Adds what a backend offers; more than fit are counted. */
static void offer(dynsel_backend *backend)
{
    const uint32_t count = dynsel_mpi.resource_count;
    const uint32_t fit =
        count < CONFIG_DYNSEL_MPI_RANK_RESOURCES ? CONFIG_DYNSEL_MPI_RANK_RESOURCES - count : 0;
    size_t added = 0;
    if (backend->ops->get_default_resources(backend, &dynsel_mpi.resources[fit != 0 ? count : 0],
                                            fit, &added) == DYNSEL_OK) {
        dynsel_mpi.resource_count += (uint32_t)added;
    }
}

/* What this rank offers, if it serves. */
static void choose_resources(const dynsel_mpi_options *options)
{
    dynsel_mpi.resource_count = 0;
    for (size_t i = 0; i < options->resource_count; i++) {
        if (i < CONFIG_DYNSEL_MPI_RANK_RESOURCES) {
            dynsel_mpi.resources[i] = options->resources[i];
        }
        dynsel_mpi.resource_count++;
    }
    if (options->resources != NULL || dynsel_mpi.rank == 0) {
        return;
    }
#if CONFIG_DYNSEL_BACKEND_THREADS
    offer(&dynsel_threads_if_started);
#endif
#if CONFIG_DYNSEL_BACKEND_INLINE
    if (dynsel_mpi.resource_count == 0) {
        offer(&dynsel_inline_backend);
    }
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
    offer(&dynsel_opencl_backend);
#endif
}

static bool is_initialized(void)
{
    int answer = 0;
    (void)MPI_Initialized(&answer);
    return answer != 0;
}

/* level: out, what MPI allows. */
static dynsel_status initialize(bool own_thread, int *level)
{
    int is_finalized = 0;
    (void)MPI_Finalized(&is_finalized);
    if (is_finalized != 0) {
        return refuse("MPI", "it was finalized, and cannot be initialized again", 0);
    }
    if (is_initialized()) { /* also by a call of ours that failed later */
        (void)MPI_Query_thread(level);
        return DYNSEL_OK;
    }
    const int code = MPI_Init_thread(
        NULL, NULL, own_thread ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, level);
    dynsel_mpi.is_ours = code == MPI_SUCCESS;
    return code == MPI_SUCCESS ? DYNSEL_OK : dynsel_mpi_fail("MPI_Init_thread", code);
}

static dynsel_status join_ranks(const dynsel_mpi_options *options, bool has_own_thread,
                                MPI_Comm *made)
{
    const MPI_Comm of =
        options->communicator != NULL ? *(const MPI_Comm *)options->communicator : MPI_COMM_WORLD;
    const uint64_t deadline_ns = dynsel_now_ns() + dynsel_mpi.options.silence_ns;
    int rank = 0;
    int count = 0;
    (void)MPI_Comm_rank(of, &rank);
    (void)MPI_Comm_size(of, &count);
    if (count > CONFIG_DYNSEL_MPI_RANKS) {
        return DYNSEL_FAIL_IN(FUNCTION, DYNSEL_E_FULL,
                              DYNSEL_OPTION(MPI_RANKS, "and there are {} ranks: set it to as many"),
                              count);
    }
    dynsel_mpi.rank = (uint32_t)rank;
    dynsel_mpi.rank_count = (uint32_t)count;
    dynsel_status status = dynsel_mpi_duplicate(of, made, deadline_ns);
    if (status != DYNSEL_OK) {
        return status;
    }
    (void)MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN);
    status = check_options(options);
    if (status == DYNSEL_OK && options->own_thread && !has_own_thread) {
        status =
            refuse("own_thread", "MPI is initialized, and so belongs to the thread that did it", 0);
    }
    if (status == DYNSEL_OK) {
        choose_resources(options);
    }
    status = dynsel_mpi_shake_hands(*made, status, deadline_ns);
    if (status != DYNSEL_OK && status != DYNSEL_E_TIMEOUT && status != DYNSEL_E_DEVICE) {
        const dynsel_error error = *dynsel_last_error();
        (void)MPI_Comm_free(made); /* all ranks do */
        return dynsel_fail(&error);
    }
    return status;
}

static void forget_ranks(void)
{
    dynsel_mpi.rank_count = 0;
    dynsel_mpi.rank = 0;
}

/* In the thread that will call MPI: the library's own, or the program's. */
DYNSEL_RARE static dynsel_status open(const dynsel_mpi_options *options, bool has_own_thread)
{
    static const dynsel_mpi_options none = {.silence_ns = 0};
    static MPI_Comm communicator; /* MPI may write it after a time limit */
    int level = MPI_THREAD_SINGLE;
    options = options != NULL ? options : &none;
    dynsel_mpi.options = *options;
    if (options->silence_ns == 0) {
        dynsel_mpi.options.silence_ns = DYNSEL_MPI_SILENCE_NS;
    }
    if (options->idle_ns == 0) {
        dynsel_mpi.options.idle_ns = DYNSEL_MPI_IDLE_NS;
    }
    is_used = true;
    dynsel_status status = initialize(has_own_thread, &level);
    status = status == DYNSEL_OK ? join_ranks(options, has_own_thread, &communicator) : status;
    if (status != DYNSEL_OK) {
        left_to_itself = status == DYNSEL_E_TIMEOUT;
        forget_ranks();
        return status;
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_mpi_memory_begin();
#endif
    dynsel_mpi_operations_begin();
    const int code = dynsel_mpi_transport_open(communicator, !options->own_thread &&
                                                                 level >= MPI_THREAD_SERIALIZED);
    if (code != MPI_SUCCESS) {
        forget_ranks();
        return dynsel_mpi_fail("MPI_Irecv", code);
    }
    dynsel_mpi.beginnings++;
    return DYNSEL_OK;
}

void dynsel_mpi_end(bool clean)
{
    dynsel_mpi_transport_close(clean);
    if (clean && dynsel_mpi.is_ours) {
        (void)MPI_Finalize();
    }
    left_to_itself = !clean;
    forget_ranks();
}

/* In the child of a fork(): calls no MPI, and has no thread that does. */
static void forget(void)
{
    dynsel_lock_renew(&lock);
    used_by_parent = used_by_parent || is_used;
    has_thread = false;
    forget_ranks();
    dynsel_mpi_forget_users();
    dynsel_spinlock_release(&dynsel_mpi_lock);
}

void (*const dynsel_fork_mpi)(void) = forget;

static bool advance_once(void)
{
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    const bool moved = dynsel_mpi_advance();
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return moved;
}

static void *live(void *options)
{
    began = open(options, true);
    why = *dynsel_last_error();
    dynsel_word_store_release(&opened, 1);
    if (began != DYNSEL_OK) {
        return NULL;
    }
    uint32_t round = 0;
    while (dynsel_word_load_acquire(&ends) == 0) {
        round = dynsel_mpi.rank == 0 && advance_once() ? 0 : round + 1;
        dynsel_pause(round > IDLE_ROUNDS ? round - IDLE_ROUNDS : 0);
    }
    if (job != NULL) {
        job_status = job();
        why = *dynsel_last_error();
    } else {
        dynsel_mpi_end(dynsel_word_load_acquire(&ends) == 1);
    }
    return NULL;
}

dynsel_status dynsel_mpi_call(dynsel_status (*function)(void))
{
    if (!has_thread) {
        return function();
    }
    job = function;
    dynsel_word_store_release(&ends, 1);
    (void)pthread_join(thread, NULL);
    has_thread = false;
    return job_status == DYNSEL_OK ? DYNSEL_OK : dynsel_fail(&why);
}

/* Blocks all signals in the new thread: they are for the program's threads. */
static dynsel_status open_in_thread(const dynsel_mpi_options *options)
{
    sigset_t all;
    sigset_t before;
    dynsel_word_store_relaxed(&opened, 0);
    dynsel_word_store_relaxed(&ends, 0);
    job = NULL;
    dynsel_mpi_options given = *options;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    const int code = pthread_create(&thread, NULL, live, &given);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        return dynsel_fail(
            &(const dynsel_error){.status = DYNSEL_E_DEVICE,
                                  .code = code,
                                  .function = FUNCTION,
                                  .detail = DYNSEL_TEXT("the system gives no more threads")});
    }
    for (uint32_t round = 0; dynsel_word_load_acquire(&opened) == 0; round++) {
        dynsel_pause(round);
    }
    if (began != DYNSEL_OK) {
        (void)pthread_join(thread, NULL);
        return dynsel_fail(&why);
    }
    has_thread = true;
    return DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_mpi_open(const dynsel_mpi_options *options)
{
    dynsel_status status = DYNSEL_OK;
    dynsel_fork_watch();
    dynsel_lock_acquire(&lock);
    if (used_by_parent) {
        status = DYNSEL_FAIL(DYNSEL_E_CONTEXT,
                             "the parent of this process has used MPI, which does not survive "
                             "fork(): call exec after it");
    } else if (dynsel_mpi.rank_count != 0) {
        status = DYNSEL_FAIL(DYNSEL_E_BUSY, "it is open: call dynsel_mpi_close() first");
    } else if (left_to_itself) {
        status = DYNSEL_FAIL(DYNSEL_E_OUT_OF_SERVICE,
                             "a rank was lost before, and MPI still waits for it: end the program");
    } else if (options != NULL && options->own_thread && !is_initialized()) {
        status = open_in_thread(options);
    } else {
        status = open(options, false);
    }
    dynsel_lock_release(&lock);
    return status;
}

static void tell_the_others(dynsel_mpi_end_kind end)
{
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        dynsel_mpi_tell(rank, DYNSEL_MPI_END, (uint32_t)end);
    }
}

/* Has it said all that it has to say? What MPI has not delivered at its end is an error to some. */
static bool is_silent(uint32_t rank)
{
    const dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
    return dynsel_mpi_is_lost(rank) || (record->left && !record->awaits_pong);
}

/* Waits until the others have said goodbye; those that do not are lost. Then lets them go. */
static void part(void)
{
    const uint64_t deadline_ns = dynsel_now_ns() + dynsel_mpi.options.silence_ns;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    tell_the_others(DYNSEL_MPI_NO_MORE);
    uint32_t staying = 1;
    for (uint32_t round = 0; staying != 0 && dynsel_now_ns() < deadline_ns;) {
        round = dynsel_mpi_advance() ? 0 : round + 1;
        dynsel_mpi_step_aside(round);
        staying = 0;
        for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
            staying += is_silent(rank) ? 0 : 1;
        }
    }
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        dynsel_mpi_lose(rank, 0);
    }
    tell_the_others(dynsel_mpi_first_lost() == 0 ? DYNSEL_MPI_END_CLEAN : DYNSEL_MPI_END_LOSSES);
    const uint64_t sent_by_ns = dynsel_now_ns() + dynsel_mpi.options.silence_ns;
    for (uint32_t round = 0; dynsel_mpi_is_sending() && dynsel_now_ns() < sent_by_ns; round++) {
        (void)dynsel_mpi_pump();
        dynsel_mpi_step_aside(round);
    }
    dynsel_spinlock_release(&dynsel_mpi_lock);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* On ranks that live. */
static uint32_t count_buffers(void)
{
    uint32_t count = 0;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        count += dynsel_mpi_is_lost(rank) ? 0 : dynsel_mpi_buffers_on(rank);
    }
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return count;
}
#else
static uint32_t count_buffers(void)
{
    return 0;
}
#endif

static dynsel_status close(void)
{
    if (dynsel_mpi.rank_count == 0 || dynsel_mpi.rank != 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_close"), DYNSEL_E_INVALID,
                              "it is not open, or this is not rank 0", 0);
    }
    if (dynsel_mpi_users() != 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_close"), DYNSEL_E_BUSY,
                              "policies use resources of other ranks in {} places",
                              dynsel_mpi_users());
    }
    const uint32_t buffers = count_buffers();
    if (buffers != 0) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_close"), DYNSEL_E_BUSY,
                              "{} copies of buffers are on other ranks: end the buffers first",
                              buffers);
    }
    part();
    const uint32_t lost = dynsel_mpi_first_lost();
    if (has_thread) {
        dynsel_word_store_release(&ends, lost == 0 ? 1 : 2);
        (void)pthread_join(thread, NULL);
        has_thread = false;
    } else {
        dynsel_mpi_end(lost == 0);
    }
    return lost == 0
               ? DYNSEL_OK
               : DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_close"), DYNSEL_E_OUT_OF_SERVICE,
                                "rank {} was lost, so MPI is not finalized: end the program", lost);
}

DYNSEL_RARE dynsel_status dynsel_mpi_close(void)
{
    dynsel_lock_acquire(&lock);
    const dynsel_status status = close();
    dynsel_lock_release(&lock);
    return status;
}
