/* SPDX-License-Identifier: Apache-2.0 */
/* What the boards with a Cortex-M share: their start.c only has the table of interrupts. */
#ifndef DYNSEL_BOARDS_CORTEX_M_H
#define DYNSEL_BOARDS_CORTEX_M_H

/* From reset to main(). */
void board_start(void) __attribute__((noreturn));

/* Says where it was, and ends the program with status 3. */
void board_on_fault(void);

/* Ends it with status 4. */
void board_on_stray_interrupt(void);

/* The board's own: clock and timers, before main(). */
void machine_init(void);

#endif
