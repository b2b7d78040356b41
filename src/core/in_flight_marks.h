/* SPDX-License-Identifier: Apache-2.0 */
/* How full the table of submissions in flight gets; noted only where a submit found it full. */
#ifndef DYNSEL_CORE_IN_FLIGHT_MARKS_H
#define DYNSEL_CORE_IN_FLIGHT_MARKS_H

/* Finished work has been taken off; what is in use now is needed. */
void dynsel_in_flight_note_use(void);

/* A submit went away without a slot. */
void dynsel_in_flight_note_refusal(void);

#endif
