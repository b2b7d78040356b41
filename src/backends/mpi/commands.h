/* SPDX-License-Identifier: Apache-2.0 */
/* Commands and tasks as messages. */
#ifndef DYNSEL_BACKENDS_MPI_COMMANDS_H
#define DYNSEL_BACKENDS_MPI_COMMANDS_H

#include <dynsel/dynsel.h>

/* Sends a task to its resource's rank; its operation becomes the work's event. */
dynsel_status dynsel_mpi_start_task(dynsel_work *work);

#if CONFIG_DYNSEL_COMMAND_GROUPS
/* Memory operations of the backends of hosts, and of devices. */
extern const dynsel_memory_ops dynsel_mpi_host_memory;
extern const dynsel_memory_ops dynsel_mpi_device_memory;
#endif

#endif
