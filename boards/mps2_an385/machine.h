/* SPDX-License-Identifier: Apache-2.0 */
/* Between start.c and machine.c. */
#ifndef DYNSEL_BOARDS_MPS2_AN385_MACHINE_H
#define DYNSEL_BOARDS_MPS2_AN385_MACHINE_H

/* Numbers of external interrupts. */
enum { MACHINE_TIMER0 = 8, MACHINE_TIMER1 = 9 };

void machine_on_system_tick(void);
void machine_on_timer0(void);
void machine_on_timer1(void);

#endif
