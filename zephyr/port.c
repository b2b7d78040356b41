/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port for Zephyr 3.4 and later. One thread calls the library; it sleeps in its wait until an
 * interrupt has completed work, and other threads run meanwhile.
 */
#include <dynsel/port.h>

#include <zephyr/init.h>
#include <zephyr/irq.h>
#include <zephyr/kernel.h>

static volatile bool sleeps;
static K_SEM_DEFINE(woken, 0, 1);

#if defined(CONFIG_TIMER_HAS_64BIT_CYCLE_COUNTER)

static uint64_t count_cycles(void)
{
    return k_cycle_get_64();
}

#else

static uint32_t read_cycles(void)
{
    return k_cycle_get_32();
}

static uint64_t count_cycles(void)
{
    static dynsel_counter counter = {.read = read_cycles, .largest = UINT32_MAX};
    return dynsel_counter_total(&counter);
}

/* The counter must be read before it wraps, which takes 4 s at 1 GHz. */
static void read_in_time(struct k_timer *timer)
{
    ARG_UNUSED(timer);
    (void)count_cycles();
}

static K_TIMER_DEFINE(reader, read_in_time, NULL);

static int start_reader(void)
{
    k_timer_start(&reader, K_SECONDS(1), K_SECONDS(1));
    return 0;
}

SYS_INIT(start_reader, APPLICATION, CONFIG_APPLICATION_INIT_PRIORITY);

#endif

uint64_t dynsel_now_ns(void)
{
    const uint64_t ns_per_s = 1000000000;
    const uint64_t cycles_per_s = sys_clock_hw_cycles_per_sec();
    const uint64_t cycles = count_cycles();
    return cycles / cycles_per_s * ns_per_s + cycles % cycles_per_s * ns_per_s / cycles_per_s + 1;
}

uint32_t dynsel_port_enter_critical(void)
{
    return irq_lock();
}

/* An interrupt that changed something ends the sleep; one that changed nothing of the library does not. */
void dynsel_port_leave_critical(uint32_t before)
{
    irq_unlock(before);
    if (sleeps && k_is_in_isr()) {
        k_sem_give(&woken);
    }
}

bool dynsel_port_in_interrupt(void)
{
    return k_is_in_isr();
}

/* Zephyr's lock is the thread's: interrupts come while it sleeps, and it has the lock again afterwards. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    sleeps = true;
    (void)k_sem_take(&woken, longest_ns > INT64_MAX ? K_FOREVER : K_NSEC((int64_t)longest_ns));
    sleeps = false;
}
