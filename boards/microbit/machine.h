/* SPDX-License-Identifier: Apache-2.0 */
/* Between start.c and machine.c. */
#ifndef DYNSEL_BOARDS_MICROBIT_MACHINE_H
#define DYNSEL_BOARDS_MICROBIT_MACHINE_H

/* Numbers of external interrupts. */
enum { MACHINE_TIMER0 = 8, MACHINE_TIMER1 = 9, MACHINE_TIMER2 = 10 };

void machine_on_timer0(void);
void machine_on_timer1(void);
void machine_on_timer2(void);

#endif
