/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The port: the functions that the library needs from the machine.
 *
 * On hosts (CONFIG_DYNSEL_HAS_HOSTED) the library contains these functions. Elsewhere the program
 * defines those that its configuration needs, and the linker reports missing ones:
 *
 *     dynsel_now_ns                  always; declared in <dynsel/backend.h>
 *     dynsel_port_enter_critical,
 *     dynsel_port_leave_critical,
 *     dynsel_port_in_interrupt,
 *     dynsel_port_wait_for_event     with CONFIG_DYNSEL_CONTEXT_INTERRUPTS
 *
 * and may define dynsel_assert_failed(), which is called for failed assertions: <dynsel/assert.h>.
 *
 * A program on a host may define its own versions; there it must define those for interrupts
 * together. doc/boards.md shows them for three bare-metal boards.
 */
#ifndef DYNSEL_PORT_H
#define DYNSEL_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <dynsel/backend.h>

DYNSEL_BEGIN_DECLS

/**
 * Masks every interrupt that may call dynsel_complete(), until the counterpart is called. The
 * library stays in the critical section for a few instructions at a time, and calls only
 * dynsel_port_wait_for_event() inside it.
 *
 * Returns: the previous state for dynsel_port_leave_critical(); critical sections may nest, in an
 *     interrupt too.
 * May block: no.
 * Context: any.
 * Cost: a few instructions, such as reading PRIMASK and setting it.
 */
uint32_t dynsel_port_enter_critical(void);

/**
 * The counterpart of dynsel_port_enter_critical().
 *
 * before: the value that dynsel_port_enter_critical() returned.
 * Context: any.
 */
void dynsel_port_leave_critical(uint32_t before);

/**
 * Whether the caller is an interrupt, or is called by one. Every call that an interrupt may not
 * make checks this first, and fails with DYNSEL_E_CONTEXT there, with no effect and no last error;
 * calls without a status do nothing. An interrupt may call dynsel_complete(), dynsel_now_ns(),
 * dynsel_counter_total(), the functions of this header, and those that say "Context: any".
 *
 * Returns: on a Cortex-M whether IPSR is not 0; if the processor has no such register, whether the
 *     entry of the interrupts that call the library has counted one that has not left. On hosts,
 *     where signals stand for interrupts: whether a signal is blocked that has a handler, as it is
 *     while that runs unless it was installed with SA_NODEFER. (A program that blocks such signals
 *     itself uses dynsel_port_enter_critical().)
 * May block: no.
 * Context: any.
 * Cost: a few instructions; on hosts one or two system calls.
 */
bool dynsel_port_in_interrupt(void);

/**
 * Sleeps until an interrupt is pending, and returns without letting it run: called with the
 * critical section held, so that an interrupt that came since the library's last check is pending
 * and none is missed. WFI does that under PRIMASK on a Cortex-M, and with mstatus.MIE clear on
 * RISC-V; where the critical section raises BASEPRI, put PRIMASK in its place around WFI.
 *
 * longest_ns: it returns after about this time at the latest, for which it may need a timer's
 *     interrupt. It may always return immediately: then the library polls repeatedly.
 * Context: not interrupts.
 */
void dynsel_port_wait_for_event(uint64_t longest_ns);

/**
 * State that extends a hardware counter that wraps, for dynsel_now_ns(). Initially all zero except
 * `read` and `largest`.
 */
typedef struct dynsel_counter {
    uint32_t (*read)(
        void);        /**< the hardware's count, going up from 0 to `largest` and round again */
    uint32_t largest; /**< such as 0xffffff for 24 bits */
    uint32_t seen;    /**< the library's own */
    uint64_t total;   /**< the library's own */
} dynsel_counter;

/**
 * A count of 64 bits that never goes back and never tears, also when interrupts read it.
 *
 * counter: must be read at least once in each period of the hardware counter, for example from its
 *     overflow interrupt.
 * Returns: the counts since the first read.
 * May block: no.
 * Context: any, interrupts too. Needs the critical section also with CONFIG_DYNSEL_CONTEXT_NOTHING.
 * Cost: `read`, inside the critical section.
 */
uint64_t dynsel_counter_total(dynsel_counter *counter);

DYNSEL_END_DECLS

#endif
