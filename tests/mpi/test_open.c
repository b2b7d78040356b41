/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The beginning and the end: every rank runs these tests, and each finds out about mistakes of its
 * own and of another rank. MPI is the program's own, so that it can begin several times.
 */
#include <dynsel/dynsel.h>

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { RANKS = 3, WRONG = 1 /* the rank that makes mistakes */, DATA = 50000 };

static int rank;

/* What the other ranks are told about the build of the wrong one, and how many ranks there are. */
static size_t altered; /* the byte of its greeting + 1; 0: none */
static int pretended;

int MPI_Iallgather(const void *own, int count, MPI_Datatype type, void *all, int each,
                   MPI_Datatype of, MPI_Comm in, MPI_Request *request)
{
    static unsigned char greeting[256];
    if (altered != 0 && rank == WRONG && (size_t)count <= sizeof greeting) {
        memcpy(greeting, own, (size_t)count);
        greeting[altered - 1] ^= 1;
        own = greeting;
    }
    return PMPI_Iallgather(own, count, type, all, each, of, in, request);
}

int MPI_Comm_size(MPI_Comm of, int *size)
{
    const int code = PMPI_Comm_size(of, size);
    *size = pretended != 0 ? pretended : *size;
    return code;
}

static int untaken; /* communicators that ended with a message which nobody took */

int MPI_Comm_free(MPI_Comm *of)
{
    int is_there = 0;
    int looks = 1000;
    PMPI_Barrier(*of);
    while (is_there == 0 && looks-- != 0) {
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, *of, &is_there, MPI_STATUS_IGNORE);
    }
    untaken += is_there;
    PMPI_Barrier(*of);
    return PMPI_Comm_free(of);
}

static dynsel_status one(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static dynsel_status two(const dynsel_resource *where, void *args, dynsel_event *done)
{
    return one(where, args, done);
}

static dynsel_status on_host(const dynsel_launch *launch)
{
    unsigned char *const data = dynsel_launch_data(launch, 0);
    data[0]++;
    data[DATA - 1]++;
    return DYNSEL_OK;
}

DYNSEL_HOST_ITERATOR(bytes, unsigned char);

static const dynsel_mpi_task tasks[] = {{.function = one, .name = "one", .bytes = 8},
                                        {.function = two, .name = "two"}};
static const dynsel_kernel kernel = {.name = "kernel", .function = on_host};
static const dynsel_kernel changed = {.name = "kernel", .function = on_host, .source = "changed"};
static const dynsel_kernel nameless = {.function = on_host};

static dynsel_mpi_options right(void)
{
    static unsigned char memory[8 * DATA];
    static const dynsel_kernel *const kernels[] = {&kernel};
    return (dynsel_mpi_options){.kernels = kernels,
                                .kernel_count = 1,
                                .tasks = tasks,
                                .task_count = 2,
                                .memory = memory,
                                .memory_bytes = sizeof memory};
}

/* The wrong rank begins with `mistake`, which it is told about; the others are told, too. */
static void refused(const dynsel_mpi_options *mistake, const char *told)
{
    const dynsel_mpi_options ours = right();
    if (rank == WRONG) {
        assert_status(DYNSEL_E_INVALID, dynsel_mpi_open(mistake));
        assert_error_says(told);
    } else {
        assert_status(DYNSEL_E_UNSUPPORTED, dynsel_mpi_open(&ours));
        assert_error_says("rank 1 refused its own");
    }
    assert_int_equal(dynsel_mpi_rank_count(), 0);
    assert_int_equal(dynsel_mpi_rank(), 0);
}

/* All ranks are told the same. */
static void differs(const dynsel_mpi_options *its, dynsel_status status, const char *told)
{
    const dynsel_mpi_options ours = right();
    assert_status(status, dynsel_mpi_open(rank == WRONG ? its : &ours));
    assert_error_says(told);
    assert_int_equal(dynsel_mpi_rank_count(), 0);
}

static void nothing_works_before(void **state)
{
    (void)state;
    size_t count = 7;
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_close());
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_resources(0, NULL, 0, &count));
    assert_int_equal(count, 0);
    assert_int_equal(dynsel_mpi_rank(), 0);
    assert_int_equal(dynsel_mpi_rank_count(), 0);
}

static void tasks_are_checked(void **state)
{
    static const dynsel_mpi_task unnamed[] = {{.function = one}};
    static const dynsel_mpi_task formless[] = {{.name = "one"}};
    static const dynsel_mpi_task large[] = {
        {.function = one, .name = "large", .bytes = CONFIG_DYNSEL_MPI_ARGUMENT_BYTES + 1}};
    static const dynsel_mpi_task twice[] = {{.function = one, .name = "one"},
                                            {.function = two, .name = "two"},
                                            {.function = one, .name = "again"}};
    (void)state;
    refused(&(dynsel_mpi_options){.task_count = 2}, "the list is NULL, with 2 entries");
    refused(&(dynsel_mpi_options){.tasks = unnamed, .task_count = 1}, "entry 0 has no function");
    refused(&(dynsel_mpi_options){.tasks = formless, .task_count = 1}, "entry 0 has no function");
    refused(&(dynsel_mpi_options){.tasks = large, .task_count = 1}, "MPI_ARGUMENT_BYTES");
    refused(&(dynsel_mpi_options){.tasks = twice, .task_count = 3}, "also as entry 0");
}

static void kernels_are_checked(void **state)
{
    static const dynsel_kernel *const missing[] = {&kernel, NULL};
    static const dynsel_kernel *const unnamed[] = {&nameless};
    static const dynsel_kernel *const twice[] = {&kernel, &kernel};
    static const dynsel_kernel formless = {.name = "formless"};
    static const dynsel_kernel *const without[] = {&formless};
    (void)state;
    refused(&(dynsel_mpi_options){.kernel_count = 1}, "the list is NULL, with 1 entries");
    refused(&(dynsel_mpi_options){.kernels = missing, .kernel_count = 2}, "entry 1 is NULL");
    refused(&(dynsel_mpi_options){.kernels = unnamed, .kernel_count = 1}, "has no name");
    refused(&(dynsel_mpi_options){.kernels = twice, .kernel_count = 2}, "also as entry 0");
    refused(&(dynsel_mpi_options){.kernels = without, .kernel_count = 1}, "no form");
}

static void what_a_rank_offers_is_checked(void **state)
{
    static const dynsel_resource empty[] = {{.backend = NULL}};
    (void)state;
    refused(&(dynsel_mpi_options){.memory_bytes = 5}, "it is NULL, with 5 bytes");
    refused(&(dynsel_mpi_options){.resource_count = 3}, "the list is NULL, with 3 entries");
    refused(&(dynsel_mpi_options){.resources = empty, .resource_count = 1},
            "entry 0 has no backend");
    refused(&(dynsel_mpi_options){.own_thread = true}, "MPI is initialized");
}

static void more_resources_than_the_table_has_are_refused(void **state)
{
    static dynsel_resource many[CONFIG_DYNSEL_MPI_RANK_RESOURCES + 1];
    dynsel_mpi_options its = right();
    (void)state;
    for (size_t i = 0; i < CONFIG_DYNSEL_MPI_RANK_RESOURCES + 1; i++) {
        many[i] = (dynsel_resource){.backend = &dynsel_inline_backend};
    }
    its.resources = many;
    its.resource_count = CONFIG_DYNSEL_MPI_RANK_RESOURCES + 1;
    differs(&its, DYNSEL_E_FULL, "MPI_RANK_RESOURCES");
}

static void more_ranks_than_the_table_has_are_refused(void **state)
{
    const dynsel_mpi_options ours = right();
    (void)state;
    pretended = CONFIG_DYNSEL_MPI_RANKS + 1;
    const dynsel_status status = dynsel_mpi_open(&ours);
    pretended = 0;
    assert_status(DYNSEL_E_FULL, status);
    assert_error_says("MPI_RANKS");
}

static void lists_that_differ_are_named(void **state)
{
    static const dynsel_mpi_task renamed[] = {{.function = one, .name = "one", .bytes = 8},
                                              {.function = two, .name = "other"}};
    static const dynsel_mpi_task larger[] = {{.function = one, .name = "one", .bytes = 9},
                                             {.function = two, .name = "two"}};
    static const dynsel_mpi_task back[] = {
        {.function = one, .name = "one", .bytes = 8, .comes_back = true},
        {.function = two, .name = "two"}};
    static const dynsel_kernel *const other[] = {&changed};
    dynsel_mpi_options its = right();
    (void)state;
    its.tasks = renamed;
    differs(&its, DYNSEL_E_UNSUPPORTED, rank == WRONG ? "other" : "two");
    its.tasks = larger;
    differs(&its, DYNSEL_E_UNSUPPORTED, "one");
    its.tasks = back;
    differs(&its, DYNSEL_E_UNSUPPORTED, "rank 1 has another kernel or task");
    its = right();
    its.task_count = 1;
    differs(&its, DYNSEL_E_UNSUPPORTED, rank == WRONG ? "none" : "two");
    its = right();
    its.kernels = other;
    differs(&its, DYNSEL_E_UNSUPPORTED, "kernel");
    its.kernel_count = 0;
    differs(&its, DYNSEL_E_UNSUPPORTED, rank == WRONG ? "one" : "kernel");
    differs(NULL, DYNSEL_E_UNSUPPORTED, "rank 1 has another kernel or task");
}

static void builds_that_differ_are_named(void **state)
{
    const dynsel_mpi_options its = right();
    (void)state;
    altered = 1;
    differs(&its, DYNSEL_E_UNSUPPORTED,
            "rank 1 is another one than that of rank 0: all ranks run the same program [the "
            "configuration]");
    altered = 17;
    differs(&its, DYNSEL_E_UNSUPPORTED, "[the build]");
    altered = 33;
    differs(&its, DYNSEL_E_UNSUPPORTED, "[the build]");
    altered = 0;
}

static dynsel_status launch(dynsel_handler *handler, void *args)
{
    dynsel_buffer *const buffer = args;
    dynsel_accessor data;
    (void)dynsel_get_access(handler, *buffer, DYNSEL_ACCESS_READ_WRITE, DYNSEL_MEMORY_GLOBAL,
                            &data);
    (void)dynsel_set_arg_accessor(handler, 0, &data);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(1), NULL, NULL);
}

static dynsel_status launch_on_range(dynsel_handler *handler, void *args)
{
    (void)dynsel_set_range(handler, 0, bytes, bytes_make((unsigned char *)args), DATA,
                           DYNSEL_ACCESS_READ_WRITE);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(1), NULL, NULL);
}

/* The kernel adds one to the first and the last byte. */
static void use_data(dynsel_policy *policy)
{
    static unsigned char data[DATA];
    static unsigned char range[DATA];
    const unsigned char before = data[0];
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, data, 1, DYNSEL_RANGE(DATA)));
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, launch, &buffer));
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, launch_on_range, range));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_status(DYNSEL_E_BUSY, dynsel_mpi_close());
    assert_error_says("1 copies of buffers are on other ranks");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(data[0], (unsigned char)(before + 1));
    assert_int_equal(data[DATA - 1], (unsigned char)(before + 1));
    assert_int_equal(range[0], (unsigned char)(before + 1));
}

/* Of rank 0: the others serve meanwhile. */
static void use_ranks(uint32_t count)
{
    static dynsel_round_robin_policy policy;
    dynsel_resource resources[CONFIG_DYNSEL_MPI_RANK_RESOURCES];
    size_t found = 0;
    uint64_t argument = 0;
    assert_int_equal(dynsel_mpi_rank_count(), count);
    assert_status(DYNSEL_E_BUSY, dynsel_mpi_open(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
    assert_status(DYNSEL_OK, dynsel_mpi_resources(0, resources, 8, &found));
    const dynsel_options options = {.resources = resources, .count = found};
    if (count > 1) {
        assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
        assert_status(DYNSEL_OK,
                      dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(one, &argument)));
        assert_status(DYNSEL_E_BUSY, dynsel_mpi_close());
        use_data(&policy.policy);
    }
    assert_status(DYNSEL_OK, dynsel_mpi_close());
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_close());
}

static void serve_or_use(uint32_t count)
{
    if (dynsel_mpi_rank() == 0) {
        use_ranks(count);
    } else {
        size_t found = 0;
        assert_status(DYNSEL_E_BUSY, dynsel_mpi_open(NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_mpi_close());
        assert_status(DYNSEL_E_INVALID, dynsel_mpi_resources(0, NULL, 0, &found));
        assert_status(DYNSEL_OK, dynsel_mpi_serve());
    }
    assert_int_equal(untaken, 0);
    nothing_works_before(NULL);
}

static void it_begins_again_after_its_end(void **state)
{
    const dynsel_mpi_options ours = right();
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_mpi_open(&ours));
        serve_or_use(RANKS);
    }
}

/* Its first pings and their answers are on their way then. */
static void it_may_end_at_once(void **state)
{
    const dynsel_mpi_options ours = right();
    (void)state;
    for (int i = 0; i < 100; i++) {
        assert_status(DYNSEL_OK, dynsel_mpi_open(&ours));
        assert_status(DYNSEL_OK, rank == 0 ? dynsel_mpi_close() : dynsel_mpi_serve());
    }
    assert_int_equal(untaken, 0);
}

/* Rank 1 of all is number 0 of the part, and rank 0 takes no part. */
static void part_of_the_ranks_works(void **state)
{
    MPI_Comm part = MPI_COMM_NULL;
    dynsel_mpi_options ours = right();
    (void)state;
    ours.communicator = &part;
    assert_int_equal(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &part),
                     MPI_SUCCESS);
    if (rank != 0) {
        assert_status(DYNSEL_OK, dynsel_mpi_open(&ours));
        assert_int_equal(dynsel_mpi_rank(), rank - 1);
        serve_or_use(RANKS - 1);
        MPI_Comm_free(&part);
    }
}

/* Each rank alone: no other resources, all else as without. */
static void one_rank_alone_works(void **state)
{
    MPI_Comm self = MPI_COMM_SELF;
    dynsel_mpi_options ours = right();
    (void)state;
    ours.communicator = &self;
    assert_status(DYNSEL_OK, dynsel_mpi_open(&ours));
    assert_int_equal(dynsel_mpi_rank(), 0);
    use_ranks(1);
}

static void it_does_not_begin_after_the_end_of_mpi(void **state)
{
    const dynsel_mpi_options ours = right();
    (void)state;
    assert_int_equal(MPI_Finalize(), MPI_SUCCESS);
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_open(&ours));
    assert_error_says("it was finalized");
    nothing_works_before(NULL);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"SINGLE", "FUNNELED", "SERIALIZED", "MULTIPLE"};
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    const char *const name = getenv("DYNSEL_TEST_LEVEL");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before),
        cmocka_unit_test(tasks_are_checked),
        cmocka_unit_test(kernels_are_checked),
        cmocka_unit_test(what_a_rank_offers_is_checked),
        cmocka_unit_test(more_resources_than_the_table_has_are_refused),
        cmocka_unit_test(more_ranks_than_the_table_has_are_refused),
        cmocka_unit_test(lists_that_differ_are_named),
        cmocka_unit_test(builds_that_differ_are_named),
        cmocka_unit_test(it_begins_again_after_its_end),
        cmocka_unit_test(it_may_end_at_once),
        cmocka_unit_test(part_of_the_ranks_works),
        cmocka_unit_test(one_rank_alone_works),
        cmocka_unit_test(it_does_not_begin_after_the_end_of_mpi),
    };
    int level = MPI_THREAD_SINGLE;
    for (int i = 0; i < 4; i++) {
        if (name != NULL && strcmp(name, names[i]) == 0) {
            level = levels[i];
        }
    }
    MPI_Init_thread(&argc, &argv, level, &level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
