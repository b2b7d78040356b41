/* SPDX-License-Identifier: Apache-2.0 */
/* What the oracle of a graph knows: how long each kind of work takes on each resource, and a copy
 * from each memory to each other one. */
#ifndef USECASES_GRAPH_TIMES_H
#define USECASES_GRAPH_TIMES_H

#include "graph.h"
#include "schedule.h"

/* Builds the kernels for all resources and measures. Prints the times, and adds rows to the CSV
 * file. Overwrites the graph's data. */
void graph_times_measure(graph *g, schedule_machine *m);

#endif
