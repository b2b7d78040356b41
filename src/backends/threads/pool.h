/* SPDX-License-Identifier: Apache-2.0 */
/* The table of workers: starting, stopping, and counting their users. */
#ifndef DYNSEL_BACKENDS_THREADS_POOL_H
#define DYNSEL_BACKENDS_THREADS_POOL_H

#include <dynsel/backend.h>

/* Offers the workers if the program itself has started them; for the default resources of all
 * backends. */
extern dynsel_backend dynsel_threads_if_started;

/* How many workers run; starts them if none does. `function` is for the error text. */
dynsel_status dynsel_threads_need(const char *function, uint32_t *count);

/* How many run if the program has started them, else 0. */
uint32_t dynsel_threads_started(void);

/* A worker by its number, which is below CONFIG_DYNSEL_THREADS_WORKERS. */
void *dynsel_threads_worker(uint32_t number);

/* NULL for a handle that is not a worker. */
const char *dynsel_threads_name(const void *handle);

/* Counts a user of a worker, so that it is not stopped. DYNSEL_E_INVALID: `handle` is no running
 * worker. */
dynsel_status dynsel_threads_attach(void *handle);
void dynsel_threads_detach(void);

#endif
