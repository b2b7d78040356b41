/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/commands.h"

#include <string.h>

#include "backends/mpi/operations.h"
#include "backends/mpi/ranks.h"
#include "backends/mpi/state.h"
#include "base/fail.h"

/* The place of a task function in the list; `task_count`: it is not there. */
static size_t find_task(dynsel_task_fn function)
{
    const dynsel_mpi_options *const options = &dynsel_mpi.options;
    size_t place = 0;
    while (place < options->task_count && options->tasks[place].function != function) {
        place++;
    }
    return place;
}

/* Writes the message where it leaves: the time of short tasks is that of such steps. Returns the
 * bytes of its body. */
static size_t write_task(dynsel_mpi_message *message, const dynsel_work *work,
                         const dynsel_mpi_resource *resource, size_t place)
{
    const size_t bytes = dynsel_mpi.options.tasks[place].bytes;
    const dynsel_mpi_task_body body = {.task = (uint32_t)place,
                                       .wants_time = (work->wants & DYNSEL_TASK_TIME) != 0 ? 1 : 0};
    message->header =
        (dynsel_mpi_header){.kind = (uint8_t)DYNSEL_MPI_TASK, .resource = (uint8_t)resource->place};
    (void)memcpy(message->body, &body, sizeof body);
    if (bytes != 0) {
        (void)memcpy(message->body + sizeof body, work->args, bytes);
    }
    return sizeof body + DYNSEL_MPI_ROUND(bytes);
}

static dynsel_mpi_operation *send_task(const dynsel_work *work, const dynsel_mpi_resource *resource,
                                       size_t place)
{
    const dynsel_mpi_task *const task = &dynsel_mpi.options.tasks[place];
    dynsel_mpi_message *message = NULL;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_operation *const operation = dynsel_mpi_place_operation(resource->rank, &message);
    if (operation != NULL) {
        operation->back = task->comes_back ? work->args : NULL;
        operation->back_bytes = (uint32_t)task->bytes;
        dynsel_mpi_send_operation(operation, message, write_task(message, work, resource, place));
    }
    dynsel_spinlock_release(&dynsel_mpi_lock);
    return operation;
}

dynsel_status dynsel_mpi_start_task(dynsel_work *work)
{
    const dynsel_mpi_resource *const resource = work->own;
    const size_t place = find_task(work->function);
    if (place == dynsel_mpi.options.task_count) {
        return DYNSEL_FAIL_IN(DYNSEL_TEXT("dynsel_mpi_backend"), DYNSEL_E_INVALID,
                              "the task function is not in the list of tasks that "
                              "dynsel_mpi_open() was given: add it, on all ranks",
                              0);
    }
    work->done.native = send_task(work, resource, place);
    return work->done.native != NULL ? DYNSEL_OK : dynsel_mpi_fail_lost(resource->rank);
}
