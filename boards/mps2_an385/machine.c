/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of dynsel, and the board's timer: SysTick is the clock, TIMER0 the periodic interrupt,
 * TIMER1 ends a sleep in time. All of them count at 25 MHz.
 */
#include "mps2_an385/machine.h"

#include <dynsel/port.h>

#include "board.h"
#include "cortex_m.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define SYSTICK_CONTROL  REGISTER(0xE000E010)
#define SYSTICK_RELOAD   REGISTER(0xE000E014)
#define SYSTICK_COUNT    REGISTER(0xE000E018)
#define NVIC_ENABLE      REGISTER(0xE000E100)
#define NVIC_CLEAR       REGISTER(0xE000E280)
#define TIMER(n, offset) REGISTER(0x40000000 + 0x1000 * (n) + (offset))
#define TIMER_CONTROL(n) TIMER(n, 0x0)
#define TIMER_COUNT(n)   TIMER(n, 0x4)
#define TIMER_RELOAD(n)  TIMER(n, 0x8)
#define TIMER_CLEAR(n)   TIMER(n, 0xC)

enum {
    NS_PER_COUNT = 40,
    COUNTS_PER_US = 25,
    LARGEST_COUNT = 0xffffff, /* of 24 bits: goes round in 0.67 s */
    SYSTICK_ON = 7,           /* with its interrupt, by the processor's clock */
    TIMER_ON = 9              /* with its interrupt */
};

/* SysTick counts down. */
static uint32_t read_systick(void)
{
    return LARGEST_COUNT - SYSTICK_COUNT;
}

static dynsel_counter clock = {.read = read_systick, .largest = LARGEST_COUNT};

/* Weak, so that a test can have a clock of its own. */
__attribute__((weak)) uint64_t dynsel_now_ns(void)
{
    return dynsel_counter_total(&clock) * NS_PER_COUNT + 1; /* never 0 */
}

/* Each time round somebody has to look. */
void machine_on_system_tick(void)
{
    (void)dynsel_counter_total(&clock);
}

/* Weak, so that a test can see what it is for. */
__attribute__((weak)) bool dynsel_port_in_interrupt(void)
{
    uint32_t exception = 0;
    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
    return exception != 0;
}

uint32_t dynsel_port_enter_critical(void)
{
    uint32_t before = 0;
    __asm__ volatile("mrs %0, primask\n"
                     "cpsid i"
                     : "=r"(before)
                     :
                     : "memory");
    return before;
}

void dynsel_port_leave_critical(uint32_t before)
{
    __asm__ volatile("msr primask, %0" : : "r"(before) : "memory");
}

/* TIMER1 goes off once. It is forgotten at once when something else ended the sleep. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    enum { MOST_NS = 1000000000 };
    const uint32_t ns = longest_ns < MOST_NS ? (uint32_t)longest_ns : MOST_NS;
    TIMER_COUNT(1) = ns / NS_PER_COUNT + 1;
    TIMER_CONTROL(1) = TIMER_ON;
    __asm__ volatile("dsb\n"
                     "wfi\n"
                     "isb" ::
                         : "memory");
    TIMER_CONTROL(1) = 0;
    TIMER_CLEAR(1) = 1;
    NVIC_CLEAR = 1u << MACHINE_TIMER1;
}

static void (*timer_handler)(void);

void machine_on_timer0(void)
{
    TIMER_CLEAR(0) = 1;
    if (timer_handler != NULL) {
        timer_handler();
    }
}

void machine_on_timer1(void)
{
    TIMER_CLEAR(1) = 1;
}

void board_timer_stop(void)
{
    TIMER_CONTROL(0) = 0;
    TIMER_CLEAR(0) = 1;
    NVIC_CLEAR = 1u << MACHINE_TIMER0;
}

void board_timer_start(uint32_t period_us, void (*handler)(void))
{
    board_timer_stop();
    timer_handler = handler;
    TIMER_RELOAD(0) = period_us * COUNTS_PER_US - 1;
    TIMER_COUNT(0) = period_us * COUNTS_PER_US - 1;
    TIMER_CONTROL(0) = TIMER_ON;
}

void machine_init(void)
{
    TIMER_RELOAD(1) = 0;
    SYSTICK_RELOAD = LARGEST_COUNT;
    SYSTICK_COUNT = 0;
    SYSTICK_CONTROL = SYSTICK_ON;
    NVIC_ENABLE = 1u << MACHINE_TIMER0 | 1u << MACHINE_TIMER1;
}
