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
    const dynsel_mpi_task *const task = &dynsel_mpi.options.tasks[place];
    dynsel_mpi_message message;
    dynsel_mpi_writer writer;
    const dynsel_mpi_task_body body = {.task = (uint32_t)place,
                                       .wants_time =
                                           (work->wants & DYNSEL_TASK_TIME) != 0 ? 1 : 0};
    dynsel_mpi_write_begin(&writer, &message, DYNSEL_MPI_TASK, resource->place);
    dynsel_mpi_write(&writer, &body, sizeof body);
    if (task->bytes != 0) {
        dynsel_mpi_write(&writer, work->args, task->bytes);
    }
    const dynsel_mpi_exchange with = {.back = task->comes_back ? work->args : NULL,
                                      .back_bytes = (uint32_t)task->bytes};
    work->done.native = dynsel_mpi_write_send(&writer, resource->rank, &with);
    return work->done.native != NULL ? DYNSEL_OK : dynsel_mpi_fail_lost(resource->rank);
}
