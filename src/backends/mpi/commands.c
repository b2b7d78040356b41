/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/mpi/commands.h"

#include <string.h>

#include "backends/mpi/message_writer.h"
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

static dynsel_mpi_operation *send_task(const dynsel_work *work, const dynsel_mpi_resource *resource,
                                       size_t place)
{
    const dynsel_mpi_task *const task = &dynsel_mpi.options.tasks[place];
    const uint32_t wants_time = (work->wants & DYNSEL_TASK_TIME) != 0 ? 1 : 0;
    const dynsel_mpi_task_body body = {.task = (uint32_t)place, .wants_time = wants_time};
    dynsel_mpi_message *message = NULL;
    dynsel_spinlock_acquire(&dynsel_mpi_lock);
    dynsel_mpi_operation *const operation = dynsel_mpi_place_operation(resource->rank, &message);
    if (operation != NULL) {
        dynsel_mpi_writer writer;
        dynsel_mpi_write_begin(&writer, message, DYNSEL_MPI_TASK, resource->place);
        dynsel_mpi_write(&writer, &body, sizeof body);
        if (task->bytes != 0) {
            dynsel_mpi_write(&writer, work->args, task->bytes);
        }
        operation->back = task->comes_back ? work->args : NULL;
        operation->back_bytes = (uint32_t)task->bytes;
        dynsel_mpi_send_operation(operation, message, writer.bytes);
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
