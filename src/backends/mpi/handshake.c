/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/handshake.h"

#include <string.h>

#include <dynsel/dynsel.h>

#include "backends/mpi/protocol.h"
#include "backends/mpi/ranks.h"
#include "backends/mpi/state.h"
#include "base/checksum.h"
#include "base/fail.h"
#include "port/pause.h"

#define FUNCTION DYNSEL_TEXT("dynsel_mpi_open")

/* What every rank knows of every other. */
typedef struct greeting {
    char tag[16]; /* of the configuration */
    char version[16];
    uint32_t sizes; /* of the messages and pointers, and the order of bytes */
    int32_t status; /* how the rank judges its own options */
    uint32_t kernel_count;
    uint32_t task_count;
    uint32_t checksum; /* of both lists */
    uint32_t resource_count;
    uint64_t memory_bytes;
} greeting;

static greeting greetings[CONFIG_DYNSEL_MPI_RANKS];
static uint32_t checksums[CONFIG_DYNSEL_MPI_RANKS];
static dynsel_mpi_description own[CONFIG_DYNSEL_MPI_RANK_RESOURCES];
static dynsel_mpi_description all[CONFIG_DYNSEL_MPI_RANKS][CONFIG_DYNSEL_MPI_RANK_RESOURCES];

dynsel_status dynsel_mpi_fail(const char *function, int code)
{
    (void)function; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_DEVICE,
                                             .code = code,
                                             .function = DYNSEL_TEXT(function),
                                             .detail = DYNSEL_TEXT("the MPI library failed")});
}

/* Waits for a collective operation. After the limit MPI is left with it. */
static dynsel_status finish(const char *function, int code, MPI_Request *request,
                            uint64_t deadline_ns)
{
    int is_over = 0;
    for (uint32_t round = 0; code == MPI_SUCCESS && is_over == 0; round++) {
        code = MPI_Test(request, &is_over, MPI_STATUS_IGNORE);
        if (is_over == 0 && dynsel_now_ns() >= deadline_ns) {
            return DYNSEL_FAIL_IN(FUNCTION, DYNSEL_E_TIMEOUT,
                                  "another rank did not call it in time, or it died: raise "
                                  "silence_ns if it only is slow",
                                  0);
        }
        dynsel_pause(is_over == 0 ? round : 0);
    }
    return code == MPI_SUCCESS ? DYNSEL_OK : dynsel_mpi_fail(function, code);
}

dynsel_status dynsel_mpi_duplicate(MPI_Comm of, MPI_Comm *made, uint64_t deadline_ns)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Comm_idup(of, made, &request);
    return finish("MPI_Comm_idup", code, &request, deadline_ns);
}

static uint32_t add(uint32_t before, const void *bytes, size_t count)
{
    return bytes != NULL ? dynsel_crc32(before, bytes, count) : before;
}

static uint32_t add_text(uint32_t before, const char *text)
{
    return text != NULL ? add(before, text, strlen(text) + 1) : add(before, "", 1);
}

/* Of entry `i` of both lists, the kernels first. */
static uint32_t checksum_of(size_t i)
{
    const dynsel_mpi_options *const options = &dynsel_mpi.options;
    size_t kernels = 0;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    kernels = options->kernel_count;
    if (i < kernels) {
        const dynsel_kernel *const kernel = options->kernels[i];
        const uint8_t has_function = kernel->function != NULL ? 1 : 0;
        uint32_t sum = add_text(1, kernel->name);
        sum = add_text(add_text(sum, kernel->source), kernel->options);
        sum = add(add(sum, kernel->il, kernel->il_bytes), &has_function, 1);
        return add(sum, &kernel->id, sizeof(kernel->id));
    }
#endif
    const dynsel_mpi_task *const task = &options->tasks[i - kernels];
    const uint8_t comes_back = task->comes_back ? 1 : 0;
    return add(add(add_text(2, task->name), &task->bytes, sizeof(task->bytes)), &comes_back, 1);
}

static const char *name_of(size_t i)
{
    const dynsel_mpi_options *const options = &dynsel_mpi.options;
    size_t kernels = 0;
#if CONFIG_DYNSEL_COMMAND_GROUPS
    kernels = options->kernel_count;
    if (i < kernels) {
        return options->kernels[i]->name;
    }
#endif
    return i - kernels < options->task_count ? options->tasks[i - kernels].name : "none";
}

static void greet(greeting *mine, dynsel_status status)
{
    const uint16_t order = 1;
    const unsigned char *const bytes = (const unsigned char *)&order;
    *mine = (greeting){.sizes = (uint32_t)sizeof(dynsel_mpi_message) * 32 +
                                (uint32_t)sizeof(void *) * 2 + bytes[0],
                       .status = status,
                       .resource_count = dynsel_mpi.resource_count,
                       .memory_bytes = dynsel_mpi.options.memory_bytes};
    (void)strncpy(mine->tag, DYNSEL_CONFIG_TAG_TEXT, sizeof mine->tag - 1);
    (void)strncpy(mine->version, DYNSEL_VERSION_TEXT, sizeof mine->version - 1);
    if (status != DYNSEL_OK) {
        return; /* its lists may be none */
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    mine->kernel_count = (uint32_t)dynsel_mpi.options.kernel_count;
#endif
    mine->task_count = (uint32_t)dynsel_mpi.options.task_count;
    for (size_t i = 0; i < (size_t)mine->kernel_count + mine->task_count; i++) {
        const uint32_t sum = checksum_of(i);
        mine->checksum = add(mine->checksum, &sum, sizeof(sum));
    }
}

static dynsel_status refuse(const char *subject, const char *detail, uint32_t rank)
{
    (void)subject; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)detail;
    return dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_UNSUPPORTED,
                                             .number = rank,
                                             .function = FUNCTION,
                                             .subject = DYNSEL_TEXT(subject),
                                             .detail = DYNSEL_TEXT(detail)});
}

/* Every rank finds the same first difference to rank 0, and names the rank. */
static dynsel_status compare_builds(void)
{
    for (uint32_t rank = 0; rank < dynsel_mpi.rank_count; rank++) {
        const greeting *const its = &greetings[rank];
        if (strcmp(its->tag, greetings[0].tag) != 0) {
            return refuse("the configuration",
                          "that of rank {} is another one than that of rank 0:"
                          " all ranks run the same program",
                          rank);
        }
        if (strcmp(its->version, greetings[0].version) != 0 || its->sizes != greetings[0].sizes) {
            return refuse("the build",
                          "that of rank {} is another one than that of rank 0: all"
                          " ranks run the same program on the same kind of machine",
                          rank);
        }
    }
    return DYNSEL_OK;
}

static dynsel_status compare_options(dynsel_status mine)
{
    for (uint32_t rank = 0; rank < dynsel_mpi.rank_count; rank++) {
        if (greetings[rank].status != DYNSEL_OK && mine == DYNSEL_OK) {
            return refuse("the options", "rank {} refused its own", rank);
        }
    }
    return mine;
}

static size_t entries_of(const greeting *its)
{
    return (size_t)its->kernel_count + its->task_count;
}

static dynsel_status compare_entry(MPI_Comm communicator, size_t i, uint64_t deadline_ns)
{
    static uint32_t mine; /* MPI may read it after a time limit */
    mine = i < entries_of(&greetings[dynsel_mpi.rank]) ? checksum_of(i) : 0;
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Iallgather(&mine, sizeof(mine), MPI_BYTE, checksums, sizeof(mine),
                                    MPI_BYTE, communicator, &request);
    const dynsel_status status = finish("MPI_Iallgather", code, &request, deadline_ns);
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count && status == DYNSEL_OK; rank++) {
        if (checksums[rank] != checksums[0]) {
            return refuse(name_of(i),
                          "rank {} has another kernel or task in this place of its list"
                          " than rank 0: all ranks need the same lists",
                          rank);
        }
    }
    return status;
}

static dynsel_status compare_lists(MPI_Comm communicator, uint64_t deadline_ns)
{
    size_t longest = 0;
    uint32_t other = 0;
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        const greeting *const its = &greetings[rank];
        const bool same = its->checksum == greetings[0].checksum &&
                          its->kernel_count == greetings[0].kernel_count &&
                          its->task_count == greetings[0].task_count;
        other = other == 0 && !same ? rank : other;
        longest = entries_of(its) > longest ? entries_of(its) : longest;
    }
    longest = entries_of(&greetings[0]) > longest ? entries_of(&greetings[0]) : longest;
    dynsel_status status = DYNSEL_OK;
    for (size_t i = 0; other != 0 && i < longest && status == DYNSEL_OK; i++) {
        status = compare_entry(communicator, i, deadline_ns);
    }
    return other == 0 || status != DYNSEL_OK
               ? status
               : refuse("the lists",
                        "rank {} has as many entries as rank 0, but divides them"
                        " otherwise into kernels and tasks",
                        other);
}

static dynsel_status compare_bounds(void)
{
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        if (greetings[rank].resource_count > CONFIG_DYNSEL_MPI_RANK_RESOURCES) {
            return DYNSEL_FAIL_IN(FUNCTION, DYNSEL_E_FULL,
                                  DYNSEL_OPTION(MPI_RANK_RESOURCES,
                                                "and a rank has {} resources: set it to as many, "
                                                "or choose with options.resources"),
                                  greetings[rank].resource_count);
        }
    }
    return DYNSEL_OK;
}

/* Rank 0 gets the descriptions of all others. */
static dynsel_status gather_resources(MPI_Comm communicator, uint64_t deadline_ns)
{
    MPI_Request request = MPI_REQUEST_NULL;
    for (uint32_t i = 0; i < dynsel_mpi.resource_count; i++) {
        dynsel_mpi_describe_own(&dynsel_mpi.resources[i], dynsel_mpi.rank, &own[i]);
    }
    const int code = MPI_Igather(own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, 0,
                                 communicator, &request);
    const dynsel_status status = finish("MPI_Igather", code, &request, deadline_ns);
    if (status != DYNSEL_OK || dynsel_mpi.rank != 0) {
        return status;
    }
    const uint64_t now_ns = dynsel_now_ns();
    for (uint32_t rank = 1; rank < dynsel_mpi.rank_count; rank++) {
        dynsel_mpi_rank_record *const record = &dynsel_mpi_ranks[rank];
        *record = (dynsel_mpi_rank_record){.resource_count = greetings[rank].resource_count,
                                           .memory_bytes = greetings[rank].memory_bytes,
                                           .heard_ns = now_ns};
        for (uint32_t i = 0; i < record->resource_count; i++) {
            record->resources[i] =
                (dynsel_mpi_resource){.description = all[rank][i], .rank = rank, .place = i};
        }
    }
    return DYNSEL_OK;
}

DYNSEL_RARE dynsel_status dynsel_mpi_shake_hands(MPI_Comm communicator, dynsel_status status,
                                                 uint64_t deadline_ns)
{
    static greeting mine; /* MPI may read it after a time limit */
    MPI_Request request = MPI_REQUEST_NULL;
    greet(&mine, status);
    const int code = MPI_Iallgather(&mine, sizeof mine, MPI_BYTE, greetings, sizeof mine, MPI_BYTE,
                                    communicator, &request);
    const dynsel_status answer = finish("MPI_Iallgather", code, &request, deadline_ns);
    if (answer != DYNSEL_OK) {
        return answer;
    }
    status = compare_options(status);
    status = status == DYNSEL_OK ? compare_builds() : status;
    status = status == DYNSEL_OK ? compare_bounds() : status;
    status = status == DYNSEL_OK ? compare_lists(communicator, deadline_ns) : status;
    return status == DYNSEL_OK ? gather_resources(communicator, deadline_ns) : status;
}
