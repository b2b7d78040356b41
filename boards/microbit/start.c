/* SPDX-License-Identifier: Apache-2.0 */
/* The table of interrupts. */
#include <stdint.h>

#include "cortex_m.h"
#include "microbit/machine.h"

extern uint32_t board_stack_top[];

typedef void (*vector)(void);

enum { RESET = 0, NOT_MASKABLE = 1, LAST_OF_CORE = 14, FIRST_EXTERNAL = 15, VECTORS = 15 + 32 };

/* The first word, the stack, comes from the linker's symbol; then what is at index i here. */
__attribute__((section(".vectors"), used)) static const struct {
    const uint32_t *stack;
    vector handlers[VECTORS];
} vectors = {
    .stack = board_stack_top,
    .handlers = {[RESET] = board_start,
                 [NOT_MASKABLE... LAST_OF_CORE] = board_on_fault,
                 [FIRST_EXTERNAL... FIRST_EXTERNAL + MACHINE_TIMER0 - 1] = board_on_stray_interrupt,
                 [FIRST_EXTERNAL + MACHINE_TIMER0] = machine_on_timer0,
                 [FIRST_EXTERNAL + MACHINE_TIMER1] = machine_on_timer1,
                 [FIRST_EXTERNAL + MACHINE_TIMER2] = machine_on_timer2,
                 [FIRST_EXTERNAL + MACHINE_TIMER2 + 1 ... VECTORS - 1] = board_on_stray_interrupt},
};
