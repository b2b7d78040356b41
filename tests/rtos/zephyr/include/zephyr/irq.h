/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_RTOS_ZEPHYR_IRQ_H
#define TESTS_RTOS_ZEPHYR_IRQ_H

unsigned int irq_lock(void);
void irq_unlock(unsigned int key);

#endif
