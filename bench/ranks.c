/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-ranks: what work on another rank costs beside MPI by hand, in the same run:
 *
 *     mpirun -n 2 build/native+mpi+usecases/usecases/bench-ranks
 *
 * By hand, rank 1 receives a message and answers it, and data move in one message. Rank 0 then does
 * the same through the library, with the serving thread of rank 1 as the resource.
 */
#include <dynsel/dynsel.h>

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum {
    TAG = 7,
    MESSAGE = 88, /* bytes of a task's message, and of its answer */
    ANSWER = 40,
    TIMES = 2000,
    ROUNDS = 7,
    IN_FLIGHT = 64,
    LARGE = 64 << 20,
    WORKS = 200,
    WORK_US = 500
};

static unsigned char memory[LARGE + (1 << 20)];
static unsigned char data[LARGE];
static MPI_Comm by_hand;

static void must(dynsel_status status, const char *what)
{
    if (status != DYNSEL_OK) {
        char text[400];
        (void)dynsel_error_text(NULL, text, sizeof text);
        (void)fprintf(stderr, "bench-ranks: rank %u: %s: %s\n", (unsigned)dynsel_mpi_rank(), what,
                      text);
        exit(1);
    }
}

static double now(void)
{
    return (double)measure_now_ns();
}

/* Waits as a program does that has other things to do: it tests. */
static void finish(MPI_Request *request)
{
    int is_over = 0;
    while (is_over == 0) {
        (void)MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
    }
}

static void send_and_receive(void *to, int bytes, int back_bytes)
{
    MPI_Request request;
    (void)MPI_Send(to, bytes, MPI_BYTE, 1, TAG, by_hand);
    (void)MPI_Irecv(to, back_bytes, MPI_BYTE, 1, TAG, by_hand, &request);
    finish(&request);
}

static double ping_pong(void)
{
    unsigned char message[MESSAGE] = {0};
    const double begin = now();
    for (int i = 0; i < TIMES; i++) {
        send_and_receive(message, MESSAGE, ANSWER);
    }
    return (now() - begin) / TIMES;
}

static double stream_by_hand(void)
{
    static unsigned char answers[IN_FLIGHT][ANSWER];
    unsigned char message[MESSAGE] = {0};
    MPI_Request requests[IN_FLIGHT];
    const double begin = now();
    for (int i = 0; i < TIMES; i++) {
        if (i >= IN_FLIGHT) {
            finish(&requests[i % IN_FLIGHT]);
        }
        (void)MPI_Irecv(answers[i % IN_FLIGHT], ANSWER, MPI_BYTE, 1, TAG, by_hand,
                        &requests[i % IN_FLIGHT]);
        (void)MPI_Send(message, MESSAGE, MPI_BYTE, 1, TAG, by_hand);
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
        finish(&requests[i]);
    }
    return (now() - begin) / TIMES;
}

/* Nanoseconds for a buffer there and back, each acknowledged. */
static double data_by_hand(void)
{
    unsigned char message[ANSWER] = {0};
    MPI_Request request;
    const double begin = now();
    (void)MPI_Isend(data, LARGE, MPI_BYTE, 1, TAG, by_hand, &request);
    finish(&request);
    (void)MPI_Irecv(message, ANSWER, MPI_BYTE, 1, TAG, by_hand, &request);
    finish(&request);
    (void)MPI_Irecv(data, LARGE, MPI_BYTE, 1, TAG, by_hand, &request);
    finish(&request);
    return now() - begin;
}

/* Rank 1, one round by hand. */
static void answer_by_hand(void)
{
    unsigned char message[MESSAGE];
    MPI_Request request;
    for (int i = 0; i < 2 * TIMES; i++) {
        (void)MPI_Irecv(message, MESSAGE, MPI_BYTE, 0, TAG, by_hand, &request);
        finish(&request);
        (void)MPI_Send(message, ANSWER, MPI_BYTE, 0, TAG, by_hand);
    }
    (void)MPI_Irecv(memory, LARGE, MPI_BYTE, 0, TAG, by_hand, &request);
    finish(&request);
    (void)MPI_Send(message, ANSWER, MPI_BYTE, 0, TAG, by_hand);
    (void)MPI_Isend(memory, LARGE, MPI_BYTE, 0, TAG, by_hand, &request);
    finish(&request);
}

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const double end = now() + WORK_US * 1e3;
    (void)where;
    (void)args;
    (void)done;
    while (now() < end) {
    }
    return DYNSEL_OK;
}

static dynsel_status touch(const dynsel_launch *launch)
{
    unsigned char *const bytes = dynsel_launch_data(launch, 0);
    bytes[0]++;
    return DYNSEL_OK;
}

static const dynsel_kernel touch_kernel = {.name = "touch", .function = touch};

static const dynsel_mpi_task tasks[] = {{.function = do_nothing, .name = "do_nothing", .bytes = 64},
                                        {.function = work, .name = "work"}};

static double one_by_one(dynsel_policy *policy)
{
    unsigned char args[64] = {0};
    const double begin = now();
    for (int i = 0; i < TIMES; i++) {
        must(dynsel_submit_and_wait(policy, &DYNSEL_TASK(do_nothing, args)), "submit and wait");
    }
    return (now() - begin) / TIMES;
}

static double stream(dynsel_policy *policy)
{
    static unsigned char args[64];
    static dynsel_submission submissions[IN_FLIGHT];
    const double begin = now();
    for (int i = 0; i < TIMES; i++) {
        dynsel_submission *const submission = &submissions[i % IN_FLIGHT];
        if (i >= IN_FLIGHT) {
            must(dynsel_wait(submission), "wait");
        }
        must(dynsel_submit(policy, &DYNSEL_TASK(do_nothing, args), submission), "submit");
    }
    for (int i = 0; i < IN_FLIGHT; i++) {
        must(dynsel_wait(&submissions[i]), "wait");
    }
    return (now() - begin) / TIMES;
}

static dynsel_status touch_all(dynsel_handler *handler, void *args)
{
    dynsel_accessor accessor;
    (void)dynsel_get_access(handler, *(dynsel_buffer *)args, DYNSEL_ACCESS_READ_WRITE,
                            DYNSEL_MEMORY_GLOBAL, &accessor);
    (void)dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_single_task(handler, &touch_kernel);
}

static double move(dynsel_policy *policy)
{
    dynsel_buffer buffer = {0};
    const double begin = now();
    must(dynsel_buffer_init(&buffer, data, 1, DYNSEL_RANGE(LARGE)), "buffer");
    must(dynsel_submit_command_group_and_wait(policy, touch_all, &buffer), "command group");
    must(dynsel_buffer_deinit(&buffer), "end of the buffer");
    return now() - begin;
}

/* A rank that was idle sleeps, for up to 1 ms at a time: wakes all of a policy's. */
static void wake_all(dynsel_policy *policy, size_t count)
{
    static unsigned char args[64];
    for (size_t i = 0; i < count; i++) {
        must(dynsel_submit(policy, &DYNSEL_TASK(do_nothing, args), NULL), "submit");
    }
    must(dynsel_wait_group(dynsel_get_submission_group(policy)), "wait");
}

/* Milliseconds for the same work over the first `count` resources, which are awake. */
static double share(const dynsel_resource *resources, size_t count)
{
    static dynsel_dynamic_load_policy policy;
    const dynsel_options options = {.resources = resources, .count = count};
    must(dynsel_dynamic_load_init(&policy, &options), "policy");
    wake_all(&policy.policy, count);
    const double begin = now();
    for (int i = 0; i < WORKS; i++) {
        must(dynsel_submit(&policy.policy, &DYNSEL_TASK(work, NULL), NULL), "submit");
    }
    must(dynsel_wait_group(dynsel_get_submission_group(&policy.policy)), "wait");
    const double took = (now() - begin) / 1e6;
    must(dynsel_policy_deinit(&policy.policy), "end of the policy");
    return took;
}

enum { ROWS = 3 }; /* one by one, in flight, data */

static double by_hand_ns[ROWS][ROUNDS];
static double dynsel_ns[ROWS][ROUNDS];

static void measure_by_hand(int round)
{
    by_hand_ns[0][round] = ping_pong();
    by_hand_ns[1][round] = stream_by_hand();
    by_hand_ns[2][round] = data_by_hand();
}

static void measure_library(const dynsel_resource *resource, int round)
{
    static dynsel_fixed_resource_policy policy;
    const dynsel_options options = {.resources = resource, .count = 1};
    must(dynsel_fixed_resource_init(&policy, &options, 0), "policy");
    wake_all(&policy.policy, 1);
    dynsel_ns[0][round] = one_by_one(&policy.policy);
    dynsel_ns[1][round] = stream(&policy.policy);
    dynsel_ns[2][round] = move(&policy.policy);
    must(dynsel_policy_deinit(&policy.policy), "end of the policy");
}

static void print_row(const char *name, int row)
{
    const double hand_us = measure_median(by_hand_ns[row], ROUNDS) / 1e3;
    const double us = measure_median(dynsel_ns[row], ROUNDS) / 1e3;
    (void)printf("  %-44s %12.2f %12.2f us   %7.2f\n", name, hand_us, us, us / hand_us);
}

static void print_rows(const dynsel_resource *resource)
{
    const double bytes = 2.0 * LARGE;
    const double rate = bytes / measure_median(by_hand_ns[2], ROUNDS);
    const double ours = bytes / measure_median(dynsel_ns[2], ROUNDS);
    (void)printf("%u ranks, resource %s; medians of %d rounds, each first by hand\n\n"
                 "  %-44s %12s %12s %12s\n",
                 (unsigned)dynsel_mpi_rank_count(), dynsel_resource_name(resource), ROUNDS, "",
                 "by hand", "dynsel", "ratio");
    print_row("message and answer; submit and wait", 0);
    print_row("the same with 64 in flight, each", 1);
    (void)printf("  %-44s %12.2f %12.2f GB/s %7.2f\n", "64 MiB there and back", rate, ours,
                 ours / rate);
}

static void share_work(const dynsel_resource *resources, size_t count)
{
    (void)printf("\n  %d pieces of work of %d us\n\n", WORKS, WORK_US);
    const double alone = share(resources, 1);
    for (size_t i = 1; i <= count; i++) {
        const double took = i == 1 ? alone : share(resources, i);
        (void)printf("  %2zu ranks that serve %10.2f ms %7.2f times as fast as one\n", i, took,
                     alone / took);
    }
}

/* Of rank 0, while the library is open; the others serve. */
static void measure_open(int round)
{
    dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    size_t found = 0;
    must(dynsel_mpi_resources(0, resources, CONFIG_DYNSEL_MAX_RESOURCES, &found),
         "dynsel_mpi_resources");
    measure_library(resources, round);
    if (round == ROUNDS - 1) {
        print_rows(resources);
        share_work(resources, found);
    }
}

/* By hand, then through the library: what changes on the machine changes for both. */
static void go_round(int rank, int round)
{
    static const dynsel_kernel *const kernels[] = {&touch_kernel};
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_mpi_options options = {.kernels = kernels,
                                        .kernel_count = 1,
                                        .tasks = tasks,
                                        .task_count = 2,
                                        .memory = memory,
                                        .memory_bytes = sizeof memory,
                                        .resources = &host,
                                        .resource_count = 1};
    if (rank == 0) {
        measure_by_hand(round);
    } else if (rank == 1) {
        answer_by_hand();
    }
    must(dynsel_mpi_open(&options), "dynsel_mpi_open");
    if (rank != 0) {
        must(dynsel_mpi_serve(), "dynsel_mpi_serve");
    } else {
        measure_open(round);
        must(dynsel_mpi_close(), "dynsel_mpi_close");
    }
}

int main(int argc, char **argv)
{
    int level = 0;
    int rank = 0;
    int count = 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        (void)printf("Usage: mpirun -n 2 bench-ranks\n\nMeasures what work on other ranks costs "
                     "beside MPI by hand.\n");
        return 0;
    }
    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &count);
    if (count < 2) {
        (void)fprintf(stderr, "bench-ranks: one rank only: start it with mpirun -n 2\n");
        (void)MPI_Finalize();
        return 2;
    }
    (void)MPI_Comm_dup(MPI_COMM_WORLD, &by_hand);
    for (int round = 0; round < ROUNDS; round++) {
        go_round(rank, round);
    }
    (void)MPI_Finalize();
    return 0;
}
