/* SPDX-License-Identifier: Apache-2.0 */
/* From reset to main(), and the table of interrupts. */
#include <stdint.h>

#include "board.h"
#include "mps2_an385/machine.h"

extern uint32_t board_data_image[], board_data_begin[], board_data_end[];
extern uint32_t board_bss_begin[], board_bss_end[], board_stack_top[];

int main(void);
void board_start(void) __attribute__((noreturn));

void board_start(void)
{
    const uint32_t *image = board_data_image;
    for (uint32_t *word = board_data_begin; word != board_data_end; word++) {
        *word = *image++;
    }
    for (uint32_t *word = board_bss_begin; word != board_bss_end; word++) {
        *word = 0;
    }
    machine_init();
    board_exit(main());
}

static void say(const char *text)
{
    uint32_t length = 0;
    while (text[length] != '\0') {
        length++;
    }
    board_write(text, length);
}

/* frame: what the processor pushed; its seventh word is where it happened. */
__attribute__((used)) static void fault(const uint32_t *frame)
{
    char place[] = "fault at 0x00000000\n";
    for (unsigned i = 0; i < 8; i++) {
        place[11 + i] = "0123456789abcdef"[frame[6] >> (28 - 4 * i) & 0xf];
    }
    say(place);
    board_exit(3);
}

__attribute__((naked)) static void on_fault(void)
{
    __asm__ volatile("mrs r0, msp\n"
                     "bl fault");
}

static void on_stray_interrupt(void)
{
    say("an interrupt that nobody expects\n");
    board_exit(4);
}

typedef void (*vector)(void);

enum { RESET = 0, HARD_FAULT = 2, SYSTEM_TICK = 14, FIRST_EXTERNAL = 15, VECTORS = 15 + 32 };

/* The first word, the stack, comes from the linker's symbol; then what is at index i here. */
__attribute__((section(".vectors"), used)) static const struct {
    const uint32_t *stack;
    vector handlers[VECTORS];
} vectors = {
    .stack = board_stack_top,
    .handlers = {[RESET] = board_start,
                 [RESET + 1] = on_fault, /* not maskable */
                 [HARD_FAULT... SYSTEM_TICK - 1] = on_fault,
                 [SYSTEM_TICK] = machine_on_system_tick,
                 [FIRST_EXTERNAL... FIRST_EXTERNAL + MACHINE_TIMER0 - 1] = on_stray_interrupt,
                 [FIRST_EXTERNAL + MACHINE_TIMER0] = machine_on_timer0,
                 [FIRST_EXTERNAL + MACHINE_TIMER1] = machine_on_timer1,
                 [FIRST_EXTERNAL + MACHINE_TIMER1 + 1 ... VECTORS - 1] = on_stray_interrupt},
};
