/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DYNSEL_BACKENDS_THREADS_BACKEND_H
#define DYNSEL_BACKENDS_THREADS_BACKEND_H

#include <dynsel/backend.h>

/* Offers the workers only if the program has started them; for the default resources of all
 * backends. */
extern dynsel_backend dynsel_threads_if_started;

#endif
