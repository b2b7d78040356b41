/* SPDX-License-Identifier: Apache-2.0 */
/* The memory operations: copies of buffers on other ranks, and commands on them. */
#include "backends/mpi/commands.h"

#include <string.h>

#include "backends/mpi/message_writer.h"
#include "backends/mpi/operations.h"
#include "backends/mpi/rank_memory.h"
#include "backends/mpi/ranks.h"
#include "backends/mpi/state.h"
#include "base/fail.h"

#define BACKEND DYNSEL_TEXT("dynsel_mpi_backend")

/* What the devices of a rank move beside their work is its own affair: large copies usually. */
enum { BESIDE_BYTES = 1 << 20 };

/* Each time that the ranks begin, their memory is another one. */
static dynsel_domain domain(dynsel_backend *backend, void *own)
{
    const dynsel_mpi_resource *const resource = dynsel_mpi_resource_of(own);
    (void)backend;
    return (dynsel_domain){
        .number = resource == NULL
                      ? 0
                      : dynsel_mpi.beginnings * (uint32_t)CONFIG_DYNSEL_MPI_RANKS + resource->rank,
        .beside_bytes = BESIDE_BYTES};
}

static uint32_t rank_of(const void *own)
{
    return ((const dynsel_mpi_resource *)own)->rank;
}

static dynsel_status allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    const uint32_t rank = rank_of(own);
    (void)backend;
    memory->shared = false;
    if (dynsel_mpi_is_lost(rank)) {
        return dynsel_mpi_fail_lost(rank);
    }
    if (memory->bytes > dynsel_mpi_ranks[rank].memory_bytes) {
        return DYNSEL_FAIL_IN(BACKEND, DYNSEL_E_FULL,
                              "a buffer is larger than the memory that rank {} gave to "
                              "dynsel_mpi_open(): give more",
                              rank);
    }
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    memory->native = dynsel_mpi_copy_take(rank, memory->bytes, memory->host != NULL);
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return memory->native != NULL ? DYNSEL_OK
                                  : DYNSEL_FAIL_IN(BACKEND, DYNSEL_E_AGAIN,
                                                   "rank {} has no more room for copies", rank);
}

static dynsel_mpi_place place_of(uint32_t rank, const dynsel_memory *memory, uint32_t access)
{
    dynsel_mpi_copy *const copy = memory->native;
    copy->named = true;
    return (dynsel_mpi_place){.offset = copy->offset,
                              .bytes = memory->bytes,
                              .room = copy->bytes,
                              .copy = dynsel_mpi_copy_number(rank, copy),
                              .access = access};
}

static void release(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    const uint32_t rank = rank_of(own);
    dynsel_mpi_copy *const copy = memory->native;
    (void)backend;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    if (copy->named) {
        dynsel_mpi_tell(rank, DYNSEL_MPI_RELEASE, dynsel_mpi_copy_number(rank, copy));
    }
    dynsel_mpi_copy_give_back(rank, copy);
    dynsel_spinlock_release(&dynsel_mpi_lock);
    memory->native = NULL;
}

/* Sends or fetches data: an operation that is an event. */
static dynsel_status move(void *own, dynsel_mpi_kind kind, const dynsel_memory *memory,
                          const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    const uint32_t rank = rank_of(own);
    const dynsel_mpi_data_body body = {.place = place_of(rank, memory, DYNSEL_ACCESS_READ)};
    dynsel_mpi_message message;
    dynsel_mpi_writer writer;
    dynsel_mpi_write_begin(&writer, &message, kind, 0);
    dynsel_mpi_write(&writer, &body, sizeof body);
    dynsel_mpi_write_after(&writer, after, after_count);
    const dynsel_mpi_exchange with = {
        .data = memory->host, .bytes = memory->bytes, .sends = kind == DYNSEL_MPI_BRING};
    done->native = dynsel_mpi_write_send(&writer, rank, &with);
    return done->native != NULL ? DYNSEL_OK : dynsel_mpi_fail_lost(rank);
}

/* Memory without contents needs nothing: the first message that names it makes it known. */
static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    (void)backend;
    return contents ? move(own, DYNSEL_MPI_BRING, memory, after, after_count, done) : DYNSEL_OK;
}

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    (void)backend;
    (void)to_write;
    return contents ? move(own, DYNSEL_MPI_FETCH, memory, NULL, 0, done) : DYNSEL_OK;
}

static dynsel_status write_back(dynsel_backend *backend, void *own, const dynsel_memory *memory,
                                const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    (void)backend;
    return move(own, DYNSEL_MPI_FETCH, memory, after, after_count, done);
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* From one rank to another: the receiving one is told first. */
static dynsel_status pass(dynsel_backend *backend, void *own, dynsel_memory *memory, void *from_own,
                          const dynsel_memory *from, const dynsel_event *after, size_t after_count,
                          dynsel_event *done)
{
    const uint32_t target = rank_of(own);
    const uint32_t source = rank_of(from_own);
    const dynsel_mpi_data_body in = {.place = place_of(target, memory, DYNSEL_ACCESS_READ),
                                     .peer = source};
    const dynsel_mpi_data_body out = {.place = place_of(source, from, DYNSEL_ACCESS_READ),
                                      .peer = target};
    static const dynsel_mpi_exchange nothing = {.back = NULL};
    dynsel_mpi_message message;
    dynsel_mpi_writer writer;
    (void)backend;
    dynsel_mpi_write_begin(&writer, &message, DYNSEL_MPI_BRING, 0);
    dynsel_mpi_write(&writer, &in, sizeof in);
    dynsel_mpi_write_after(&writer, after, after_count);
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_operation *const operation =
        dynsel_mpi_begin_operation(target, &message, writer.bytes, &nothing);
    dynsel_mpi_write_begin(&writer, &message, DYNSEL_MPI_FETCH, 0);
    dynsel_mpi_write(&writer, &out, sizeof out);
    const bool joined =
        operation != NULL && dynsel_mpi_join_operation(operation, source, &message, writer.bytes);
    if (operation != NULL && !joined) {
        dynsel_mpi_release_operation(operation);
    }
    dynsel_spinlock_release(&dynsel_mpi_lock);
    done->native = joined ? operation : NULL;
    return joined ? DYNSEL_OK : dynsel_mpi_fail_lost(operation == NULL ? target : source);
}
#define PASS .pass = pass,
#else
#define PASS
#endif

/* The place of a kernel in the list; `kernel_count`: it is not there. */
static size_t find_kernel(const dynsel_kernel *kernel)
{
    const dynsel_mpi_options *const options = &dynsel_mpi.options;
    size_t place = 0;
    while (place < options->kernel_count && options->kernels[place] != kernel) {
        place++;
    }
    return place;
}

static bool is_listed(const dynsel_kernel *kernel)
{
    return find_kernel(kernel) < dynsel_mpi.options.kernel_count;
}

static bool has_host_form(const dynsel_kernel *kernel)
{
    return kernel->function != NULL && is_listed(kernel);
}

static bool has_device_form(const dynsel_kernel *kernel)
{
    return (kernel->source != NULL || kernel->il != NULL || kernel->binary_count != 0) &&
           is_listed(kernel);
}

static void write_argument(dynsel_mpi_writer *writer, uint32_t rank,
                           const dynsel_argument *argument)
{
    dynsel_mpi_argument sent = {.kind = argument->kind, .bytes = (uint32_t)argument->bytes};
    if (argument->kind == DYNSEL_ARGUMENT_DATA && argument->memory->native != NULL) {
        sent.place = place_of(rank, argument->memory, argument->access);
    }
    dynsel_mpi_write(writer, &sent, sizeof sent);
    if (argument->kind == DYNSEL_ARGUMENT_VALUE) {
        dynsel_mpi_write(writer, argument->value, argument->bytes);
    }
}

static void write_launch(dynsel_mpi_writer *writer, uint32_t rank, const dynsel_command *command)
{
    const dynsel_launch *const launch = &command->launch;
    const dynsel_mpi_launch_body body = {.kernel = (uint32_t)find_kernel(command->kernel),
                                         .argument_count = (uint32_t)launch->argument_count,
                                         .global = launch->global,
                                         .local = launch->local,
                                         .offset = launch->offset};
    dynsel_mpi_write(writer, &body, sizeof body);
    for (size_t i = 0; i < launch->argument_count; i++) {
        write_argument(writer, rank, &launch->arguments[i]);
    }
}

static void write_boxes(dynsel_mpi_writer *writer, uint32_t rank, const dynsel_command *command)
{
    const bool copies = command->kind == DYNSEL_COMMAND_COPY;
    dynsel_mpi_boxes_body body = {.to = place_of(rank, command->to->memory, command->to->access),
                                  .to_box = command->to_box,
                                  .element_bytes = (uint32_t)command->element_bytes};
    if (copies) {
        body.from = place_of(rank, command->from->memory, command->from->access);
        body.from_box = command->from_box;
    }
    dynsel_mpi_write(writer, &body, sizeof body);
    if (!copies) {
        dynsel_mpi_write(writer, command->element, command->element_bytes);
    }
}

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    const dynsel_mpi_resource *const resource = own;
    static const dynsel_mpi_exchange nothing = {.back = NULL};
    dynsel_mpi_message message;
    dynsel_mpi_writer writer;
    (void)backend;
    if (command->kind == DYNSEL_COMMAND_KERNEL) {
        dynsel_mpi_write_begin(&writer, &message, DYNSEL_MPI_LAUNCH, resource->place);
        write_launch(&writer, resource->rank, command);
    } else {
        dynsel_mpi_write_begin(&writer, &message,
                               command->kind == DYNSEL_COMMAND_COPY ? DYNSEL_MPI_COPY
                                                                    : DYNSEL_MPI_FILL,
                               resource->place);
        write_boxes(&writer, resource->rank, command);
    }
    dynsel_mpi_write_after(&writer, command->after, command->after_count);
    done->native = dynsel_mpi_write_send(&writer, resource->rank, &nothing);
    return done->native != NULL ? DYNSEL_OK : dynsel_mpi_fail_lost(resource->rank);
}

static bool is_lost(dynsel_backend *backend, void *own)
{
    (void)backend;
    return dynsel_mpi_is_lost(rank_of(own));
}

static dynsel_status prepare(dynsel_backend *backend, void *own, const dynsel_kernel *kernel)
{
    const dynsel_mpi_resource *const resource = own;
    static const dynsel_mpi_exchange nothing = {.back = NULL};
    const dynsel_mpi_launch_body body = {.kernel = (uint32_t)find_kernel(kernel)};
    dynsel_mpi_message message;
    dynsel_mpi_writer writer;
    (void)backend;
    dynsel_mpi_write_begin(&writer, &message, DYNSEL_MPI_PREPARE, resource->place);
    dynsel_mpi_write(&writer, &body, sizeof body);
    dynsel_mpi_operation *const operation =
        dynsel_mpi_write_send(&writer, resource->rank, &nothing);
    if (operation == NULL) {
        return dynsel_mpi_fail_lost(resource->rank);
    }
    const dynsel_status status = dynsel_mpi_wait_for(operation);
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_release_operation(operation);
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return status;
}

#define MEMORY_OPS(has_form_)                                                                      \
    {                                                                                              \
        .domain = domain, .allocate = allocate, .release = release, .bring = bring,                \
        .fetch = fetch, PASS.write_back = write_back, .launch = launch,                            \
        .launch_is_asynchronous = true, .is_lost = is_lost, .has_form = (has_form_),               \
        .prepare = prepare, .domains_of = &dynsel_mpi_backend                                      \
    }

const dynsel_memory_ops dynsel_mpi_host_memory = MEMORY_OPS(has_host_form);
const dynsel_memory_ops dynsel_mpi_device_memory = MEMORY_OPS(has_device_form);
