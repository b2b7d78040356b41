/* SPDX-License-Identifier: Apache-2.0 */
/* From reset to main() on a Cortex-M, and what is said about interrupts that should not come. */
#include "cortex_m.h"

#include <stdint.h>

#include "board.h"

extern uint32_t board_data_image[], board_data_begin[], board_data_end[];
extern uint32_t board_bss_begin[], board_bss_end[];

int main(void);

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

__attribute__((naked)) void board_on_fault(void)
{
    __asm__ volatile("mrs r0, msp\n"
                     "bl fault");
}

void board_on_stray_interrupt(void)
{
    say("an interrupt that nobody expects\n");
    board_exit(4);
}
