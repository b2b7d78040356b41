/* SPDX-License-Identifier: Apache-2.0 */
/* The part of Zephyr's kernel that dynsel's port uses, as its documentation describes it. */
#ifndef TESTS_RTOS_ZEPHYR_KERNEL_H
#define TESTS_RTOS_ZEPHYR_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    int64_t ns;
} k_timeout_t;

struct k_sem {
    unsigned limit;
};

struct k_timer {
    void (*expiry)(struct k_timer *timer);
    k_timeout_t period;
};

#define ARG_UNUSED(x) (void)(x)
#define K_FOREVER     ((k_timeout_t){-1})
#define K_NSEC(t)     ((k_timeout_t){t})
#define K_SECONDS(t)  K_NSEC((t)*INT64_C(1000000000))

#define K_SEM_DEFINE(name, initial, most)        struct k_sem name = {most}
#define K_TIMER_DEFINE(name, at_expiry, at_stop) struct k_timer name = {.expiry = (at_expiry)}

uint32_t k_cycle_get_32(void);
uint64_t k_cycle_get_64(void);
int sys_clock_hw_cycles_per_sec(void);
bool k_is_in_isr(void);
void k_sem_give(struct k_sem *sem);
int k_sem_take(struct k_sem *sem, k_timeout_t timeout);
void k_timer_start(struct k_timer *timer, k_timeout_t duration, k_timeout_t period);

#endif
