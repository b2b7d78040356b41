/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulated backend with memory does is operations: begun in one call, and taking place
 * later. Under the backend's lock. For the backend itself only. */
#ifndef DYNSEL_TESTS_SIMULATED_OPERATIONS_H
#define DYNSEL_TESTS_SIMULATED_OPERATIONS_H

#include "fakes/simulated_memory.h"

enum { OF_ALLOCATED = 0xA5, OF_RELEASED = 0xD5, OF_TAKEN = 0xB7 };

/* Fills memory with what nobody expects; kind: why. */
void simulated_poison(simulated_backend *sim, unsigned char *data, size_t bytes,
                      unsigned char kind);

/* The library did something wrong. */
void simulated_mistake(simulated_backend *sim, const char *what);
void simulated_expect(simulated_backend *sim, bool holds, const char *what);

/* The backend with its lock held. */
simulated_backend *simulated_locked(dynsel_backend *backend);
void simulated_unlock(simulated_backend *sim);

/* The last error with it, unless it is DYNSEL_OK. */
dynsel_status simulated_ended_with(dynsel_status status, int32_t code);
dynsel_status simulated_ended(dynsel_status status);

/* Whether the call now is the one that the test wants to fail. */
bool simulated_falls_on(simulated_backend *sim, simulated_kind kind);
void simulated_free_if_over(simulated_operation *op);

/* It does not take place while the library looks, and its memory stays with it. */
void simulated_give_up(simulated_operation *op);

/* What was fetched is in the host's memory now. */
void simulated_deliver(simulated_backend *sim, simulated_operation *op);

/* A sum of what is in a copy. */
uint64_t simulated_look_at(const simulated_copy *copy);

/* Lets one operation of a device take place; false: none could. hurry: however many looks it
 * needs. */
bool simulated_take_step(simulated_backend *sim, const simulated_device *device, bool hurry);
void simulated_take_all(simulated_backend *sim);

/* NULL, with a mistake: there are too many. */
simulated_operation *simulated_new_operation(simulated_backend *sim, simulated_kind kind,
                                             simulated_device *device);
void simulated_come_after(simulated_backend *sim, simulated_operation *op,
                          const dynsel_event *after, size_t count);

/* Puts it behind its device; done: NULL where the library gets no event. */
dynsel_status simulated_begin(simulated_backend *sim, simulated_operation *op, dynsel_event *done);

#endif
