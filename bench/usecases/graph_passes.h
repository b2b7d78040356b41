/* SPDX-License-Identifier: Apache-2.0 */
/* The passes over a graph with each resource and policy, and its schedule with all times known. */
#ifndef USECASES_GRAPH_PASSES_H
#define USECASES_GRAPH_PASSES_H

#include "graph.h"

/* All passes with all resources and policies, and the oracle: prints and writes the figures. */
void graph_passes_measure(graph *g, uint32_t passes);

#endif
