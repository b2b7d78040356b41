/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule with all times known, on the machine that the program runs on. */
#ifndef USECASES_ORACLE_H
#define USECASES_ORACLE_H

#include "resources.h"
#include "schedule.h"

/* Completes the description of the machine by the processors of the host that the resources compute
 * on, makes the plan, and prints by how much it is longer because these are shared. An error ends
 * the program. */
schedule_plan oracle_plan(const schedule *s, schedule_machine *machine, const resources *r);

#endif
