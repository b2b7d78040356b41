/* SPDX-License-Identifier: Apache-2.0 */
/** The processes of an MPI program: under its launcher, the first one lists what all of them have.
 * Builds without backend mpi, and processes that no launcher has started, are alone. */
#ifndef RANKS_H
#define RANKS_H

#include "info.h"

/** Whether a launcher has started this process. Standard output is the launcher's then, even if it
 * looks like a terminal. */
bool ranks_have_launcher(void);

/** Whether the launcher says that this is not the first process, which alone prints. */
bool ranks_is_other(void);

/** Connects the processes; in others than the first, ranks_serve() follows. Returns: 0, or an exit
 * status, after an error was printed. */
int ranks_begin(void);

/** Of the others: lets the first process know their resources, until it ends. Returns: an exit
 * status. */
int ranks_serve(void);

/** Describes the resources of the others; list->problem has the reason if that fails. */
void ranks_collect(info_list *list);

/** Lets the others end. */
bool ranks_end(void);

#endif
