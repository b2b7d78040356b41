/* SPDX-License-Identifier: Apache-2.0 */
/* Work on the resources of this rank: a policy for each, tasks, and the ends of all work. */
#ifndef DYNSEL_SERVING_WORK_H
#define DYNSEL_SERVING_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/policy.h>

#include "serving/operations.h"
#include "serving/reader.h"

/* Begins with one policy for each of dynsel_mpi.resources. After a failure there is none. */
dynsel_status dynsel_serving_init(void);

/* Ends the policies. False: work of one goes on, so that it stays. */
bool dynsel_serving_deinit(void);

/* The policy of a resource; NULL: there is none of this number. */
dynsel_policy *dynsel_serving_policy(uint8_t resource);

/* The message of this kind. DYNSEL_E_AGAIN: not now. Any other failure is to be answered. */
dynsel_status dynsel_serving_task(const dynsel_mpi_header *header, dynsel_served_reader body);

/* Looks at work that the library has accepted: answers when it is complete. True: it was. */
bool dynsel_serving_look(dynsel_served *operation);

/* Takes back work that has not begun; ignores all other operations. */
void dynsel_serving_cancel(dynsel_served *operation);

/* Gives up work that goes on: its end is no longer watched, and it is not answered. */
void dynsel_serving_leave(dynsel_served *operation);

#endif
