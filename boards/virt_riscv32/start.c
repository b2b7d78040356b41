/* SPDX-License-Identifier: Apache-2.0 */
/* From reset to main(), and what happens in a trap. */
#include <stdint.h>

#include "board.h"
#include "virt_riscv32/machine.h"

extern uint32_t board_bss_begin[], board_bss_end[];

int main(void);
void board_start(void) __attribute__((naked, section(".start")));
void board_trap(void) __attribute__((interrupt("machine"), aligned(4)));
void board_begin(void) __attribute__((noreturn));

void board_begin(void)
{
    for (uint32_t *word = board_bss_begin; word != board_bss_end; word++) {
        *word = 0;
    }
    machine_init();
    board_exit(main());
}

/* Registers first: C needs a stack. */
void board_start(void)
{
    __asm__ volatile(".option push\n"
                     ".option norelax\n"
                     "la gp, board_global_pointer\n"
                     ".option pop\n"
                     "la sp, board_stack_top\n"
                     "la t0, board_trap\n"
                     "csrw mtvec, t0\n"
                     "tail board_begin");
}

static void say_fault(uint32_t cause, uint32_t place)
{
    char text[] = "fault 0x00000000 at 0x00000000\n";
    for (unsigned i = 0; i < 8; i++) {
        text[8 + i] = "0123456789abcdef"[cause >> (28 - 4 * i) & 0xf];
        text[22 + i] = "0123456789abcdef"[place >> (28 - 4 * i) & 0xf];
    }
    board_write(text, sizeof text - 1);
}

void board_trap(void)
{
    enum { TIMER = 7 };
    uint32_t cause = 0;
    uint32_t place = 0;
    __asm__ volatile("csrr %0, mcause\n"
                     "csrr %1, mepc"
                     : "=r"(cause), "=r"(place));
    if (cause != (UINT32_C(1) << 31 | TIMER)) {
        say_fault(cause, place);
        board_exit(3);
    }
    machine_on_timer();
}
