/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The port of dynsel, and the board's timer. The nRF51 has no SysTick: TIMER0 is the clock, TIMER1
 * the periodic interrupt, TIMER2 ends a sleep in time. All of them count at 1 MHz.
 */
#include "microbit/machine.h"

#include <dynsel/port.h>

#include "board.h"
#include "cortex_m.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

#define NVIC_ENABLE         REGISTER(0xE000E100)
#define NVIC_CLEAR          REGISTER(0xE000E280)
#define TIMER(n, offset)    REGISTER(0x40008000 + 0x1000 * (n) + (offset))
#define TIMER_START(n)      TIMER(n, 0x000)
#define TIMER_STOP(n)       TIMER(n, 0x004)
#define TIMER_ZERO(n)       TIMER(n, 0x00C)
#define TIMER_CAPTURE(n)    TIMER(n, 0x040) /* into TIMER_AT() */
#define TIMER_REACHED(n)    TIMER(n, 0x140) /* TIMER_AT() */
#define TIMER_REACHED_1(n)  TIMER(n, 0x144)
#define TIMER_SHORTCUTS(n)  TIMER(n, 0x200)
#define TIMER_INTERRUPTS(n) TIMER(n, 0x304)
#define TIMER_BITS(n)       TIMER(n, 0x508)
#define TIMER_DIVIDER(n)    TIMER(n, 0x510) /* of 16 MHz, as a power of 2 */
#define TIMER_AT(n)         TIMER(n, 0x540)
#define TIMER_AT_1(n)       TIMER(n, 0x544)

enum {
    NS_PER_COUNT = 1000,
    BITS_16 = 0,
    BITS_32 = 3,
    ONE_MHZ = 4,
    ZERO_WHEN_REACHED = 1,
    ON_REACHED = 1 << 16,
    ON_REACHED_1 = 1 << 17,
    MOST_COUNTS = 0xffff /* of 16 bits */
};

/* The count is only seen when it is captured, and in one place: in the critical section. */
static uint32_t read_timer(void)
{
    TIMER_CAPTURE(0) = 1;
    return TIMER_AT(0);
}

static dynsel_counter clock = {.read = read_timer, .largest = UINT32_MAX};

/* Weak, so that a test can have a clock of its own. */
__attribute__((weak)) uint64_t dynsel_now_ns(void)
{
    return dynsel_counter_total(&clock) * NS_PER_COUNT + 1; /* never 0 */
}

/* Each time round, that is every 71 minutes, somebody has to look. */
void machine_on_timer0(void)
{
    TIMER_REACHED_1(0) = 0;
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

static void begin(unsigned n, uint32_t counts, uint32_t shortcuts)
{
    TIMER_ZERO(n) = 1;
    TIMER_AT(n) = counts;
    TIMER_REACHED(n) = 0;
    TIMER_SHORTCUTS(n) = shortcuts;
    TIMER_START(n) = 1;
}

static void end(unsigned n)
{
    TIMER_STOP(n) = 1;
    TIMER_REACHED(n) = 0;
    NVIC_CLEAR = UINT32_C(1) << (MACHINE_TIMER0 + n);
}

/* TIMER2 goes off once. It is forgotten at once when something else ended the sleep. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    enum { MOST_NS = 60000000 };
    const uint32_t ns = longest_ns < MOST_NS ? (uint32_t)longest_ns : MOST_NS;
    begin(2, ns / NS_PER_COUNT + 1, 0);
    __asm__ volatile("dsb\n"
                     "wfi\n"
                     "isb" ::
                         : "memory");
    end(2);
}

void machine_on_timer2(void)
{
    TIMER_REACHED(2) = 0;
}

static void (*timer_handler)(void);

void machine_on_timer1(void)
{
    TIMER_REACHED(1) = 0;
    if (timer_handler != NULL) {
        timer_handler();
    }
}

void board_timer_stop(void)
{
    end(1);
}

void board_timer_start(uint32_t period_us, void (*handler)(void))
{
    board_timer_stop();
    timer_handler = handler;
    begin(1, period_us < MOST_COUNTS ? period_us : MOST_COUNTS, ZERO_WHEN_REACHED);
}

static void set_up(unsigned n, uint32_t bits, uint32_t interrupts)
{
    TIMER_BITS(n) = bits;
    TIMER_DIVIDER(n) = ONE_MHZ;
    TIMER_INTERRUPTS(n) = interrupts;
}

void machine_init(void)
{
    set_up(0, BITS_32, ON_REACHED_1);
    set_up(1, BITS_16, ON_REACHED);
    set_up(2, BITS_16, ON_REACHED);
    TIMER_AT_1(0) = UINT32_MAX;
    TIMER_START(0) = 1;
    NVIC_ENABLE = 1u << MACHINE_TIMER0 | 1u << MACHINE_TIMER1 | 1u << MACHINE_TIMER2;
}
