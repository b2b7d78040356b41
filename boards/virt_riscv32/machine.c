/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of dynsel, and the board's timer: the machine's timer counts 64 bits at 10 MHz and
 * interrupts where it reaches a value; that value serves the periodic interrupt and sleeps.
 */
#include "virt_riscv32/machine.h"

#include <dynsel/port.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define COMPARE_LOW  REGISTER(0x02004000)
#define COMPARE_HIGH REGISTER(0x02004004)
#define COUNT_LOW    REGISTER(0x0200BFF8)
#define COUNT_HIGH   REGISTER(0x0200BFFC)

enum { NS_PER_COUNT = 100, COUNTS_PER_US = 10, INTERRUPTS_ON = 8, TIMER_INTERRUPT = 0x80 };

/* The low half may go round between two looks at the high one. */
static uint64_t read_count(void)
{
    uint32_t high = COUNT_HIGH;
    for (;;) {
        const uint32_t low = COUNT_LOW;
        const uint32_t again = COUNT_HIGH;
        if (again == high) {
            return (uint64_t)high << 32 | low;
        }
        high = again;
    }
}

/* Weak, so that a test can have a clock of its own. */
__attribute__((weak)) uint64_t dynsel_now_ns(void)
{
    return read_count() * NS_PER_COUNT + 1; /* never 0 */
}

static volatile bool in_interrupt;

/* The processor does not tell, so the interrupt does. Weak, so that a test can see what it is for.
 */
__attribute__((weak)) bool dynsel_port_in_interrupt(void)
{
    return in_interrupt;
}

uint32_t dynsel_port_enter_critical(void)
{
    uint32_t before = 0;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before) : : "memory");
    return before & INTERRUPTS_ON;
}

void dynsel_port_leave_critical(uint32_t before)
{
    __asm__ volatile("csrs mstatus, %0" : : "r"(before) : "memory");
}

static const uint64_t never = UINT64_MAX;
static uint64_t next_period = UINT64_MAX;
static uint32_t period;
static void (*timer_handler)(void);

/* By way of a value that is far away, because each half counts at once. */
static void interrupt_at(uint64_t count)
{
    COMPARE_HIGH = UINT32_MAX;
    COMPARE_LOW = (uint32_t)count;
    COMPARE_HIGH = (uint32_t)(count >> 32);
}

void machine_on_timer(void)
{
    const uint64_t now = read_count();
    if (now < next_period) { /* the end of a sleep */
        interrupt_at(next_period);
        return;
    }
    next_period = next_period + period > now ? next_period + period : now + period;
    interrupt_at(next_period);
    in_interrupt = true;
    timer_handler();
    in_interrupt = false;
}

/* An interrupt that is pending ends the sleep also while interrupts are kept out. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    enum { MOST_NS = 1000000000 };
    const uint32_t ns = longest_ns < MOST_NS ? (uint32_t)longest_ns : MOST_NS;
    const uint64_t end = read_count() + ns / NS_PER_COUNT + 1;
    interrupt_at(end < next_period ? end : next_period);
    __asm__ volatile("wfi" ::: "memory");
    interrupt_at(next_period);
}

void board_timer_stop(void)
{
    const uint32_t before = dynsel_port_enter_critical();
    next_period = never;
    interrupt_at(never);
    dynsel_port_leave_critical(before);
}

void board_timer_start(uint32_t period_us, void (*handler)(void))
{
    const uint32_t before = dynsel_port_enter_critical();
    timer_handler = handler;
    period = period_us * COUNTS_PER_US;
    next_period = read_count() + period;
    interrupt_at(next_period);
    dynsel_port_leave_critical(before);
}

void machine_init(void)
{
    interrupt_at(never);
    __asm__ volatile("csrs mie, %0\n"
                     "csrs mstatus, %1" ::"r"(TIMER_INTERRUPT),
                     "r"(INTERRUPTS_ON));
}
