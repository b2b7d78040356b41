/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/message_writer.h"

#include <string.h>

#include "port/assert.h"

void dynsel_mpi_write_begin(dynsel_mpi_writer *writer, dynsel_mpi_message *message,
                            dynsel_mpi_kind kind, uint32_t resource)
{
    writer->message = message;
    writer->bytes = 0;
    message->header = (dynsel_mpi_header){.kind = (uint8_t)kind, .resource = (uint8_t)resource};
}

void dynsel_mpi_write(dynsel_mpi_writer *writer, const void *bytes, size_t count)
{
    DYNSEL_ASSERT(writer->bytes + count <= sizeof writer->message->body);
    (void)memcpy(writer->message->body + writer->bytes, bytes, count);
    writer->bytes = DYNSEL_MPI_ROUND(writer->bytes + count);
}

void dynsel_mpi_write_after(dynsel_mpi_writer *writer, const dynsel_event *after, size_t count)
{
    size_t bytes = writer->bytes;
    for (size_t i = 0; i < count; i++) {
        const dynsel_mpi_operation *const operation = after[i].native;
        const uint32_t number = dynsel_mpi_number_of(operation);
        if (dynsel_mpi_has_succeeded(operation)) {
            continue;
        }
        DYNSEL_ASSERT(bytes + sizeof number <= sizeof writer->message->body);
        (void)memcpy(writer->message->body + bytes, &number, sizeof number);
        bytes += sizeof number;
        writer->message->header.after_count++;
    }
    writer->bytes = bytes;
}

dynsel_mpi_operation *dynsel_mpi_write_send(const dynsel_mpi_writer *writer, uint32_t rank,
                                            const dynsel_mpi_exchange *with)
{
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_operation *const operation =
        dynsel_mpi_begin_operation(rank, writer->message, writer->bytes, with);
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return operation;
}
