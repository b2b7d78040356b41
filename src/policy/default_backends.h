/* SPDX-License-Identifier: Apache-2.0 */
/* The backends of this build, in the order in which they offer their resources: tables that
 * src/backends fills, because no policy knows a backend. */
#ifndef DYNSEL_POLICY_DEFAULT_BACKENDS_H
#define DYNSEL_POLICY_DEFAULT_BACKENDS_H

#include <dynsel/backend.h>

/* Ends with NULL. */
extern dynsel_backend *const dynsel_default_backends[];

#if CONFIG_DYNSEL_BACKEND_THREADS || CONFIG_DYNSEL_BACKEND_OPENCL || CONFIG_DYNSEL_BACKEND_MPI
/* Those whose work goes on beside the caller, in the same order; workers are started if need be. */
extern dynsel_backend *const dynsel_backends_beside_caller[];
#endif

#endif
