/* SPDX-License-Identifier: Apache-2.0 */
/* A 32-bit counter of 100 MHz that wraps about every 200 reads. */
#include <zephyr/irq.h>
#include <zephyr/kernel.h>

#include "../interrupts.h"

enum { HZ = 100000000, CYCLES_PER_READ = 20000000 };

static struct k_timer *started;

uint32_t k_cycle_get_32(void)
{
    static uint32_t cycles = UINT32_MAX - 50;
    cycles += CYCLES_PER_READ;
    return cycles;
}

uint64_t k_cycle_get_64(void)
{
    static uint64_t cycles = UINT64_C(1) << 40;
    cycles += CYCLES_PER_READ;
    return cycles;
}

int sys_clock_hw_cycles_per_sec(void)
{
    return HZ;
}

bool k_is_in_isr(void)
{
    return in_interrupt;
}

unsigned int irq_lock(void)
{
    return locks++;
}

void irq_unlock(unsigned int key)
{
    if (key + 1 != locks) {
        refuse("irq_unlock() with a key that is not the last one");
    }
    locks = key;
}

void k_sem_give(struct k_sem *sem)
{
    given = sem->limit > 0;
}

/* Called in the thread, with the lock that is the thread's. */
int k_sem_take(struct k_sem *sem, k_timeout_t timeout)
{
    if (in_interrupt || sem->limit != 1 || timeout.ns == 0) {
        refuse("k_sem_take() in an interrupt, or without time");
    }
    sleep_until_given();
    if (started != NULL) {
        started->expiry(started);
    }
    return 0;
}

void k_timer_start(struct k_timer *timer, k_timeout_t duration, k_timeout_t period)
{
    const int64_t wraps_after_ns = (INT64_C(1) << 32) * 1000000000 / HZ;
    if (duration.ns <= 0 || period.ns <= 0 || period.ns >= wraps_after_ns) {
        refuse("the counter wraps unseen");
    }
    timer->period = period;
    started = timer;
}
