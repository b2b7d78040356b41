/* SPDX-License-Identifier: Apache-2.0 */
/* Between start.c and machine.c. */
#ifndef DYNSEL_BOARDS_VIRT_RISCV32_MACHINE_H
#define DYNSEL_BOARDS_VIRT_RISCV32_MACHINE_H

void machine_init(void);
void machine_on_timer(void);

#endif
