/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler calls for the tests' own atomic variables where the processor has no such
 * instruction. For tests only: the library calls none of them, and a gate checks that.
 */
#include <stdbool.h>
#include <stdint.h>

#include <dynsel/port.h>

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are a type and a part of a name */
#define ATOMICS(bytes, type)                                                                       \
    type load_##bytes(const volatile type *, int) __asm__("__atomic_load_" #bytes);                \
    type load_##bytes(const volatile type *from, int order)                                        \
    {                                                                                              \
        const uint32_t state = dynsel_port_enter_critical();                                       \
        const type value = *from;                                                                  \
        (void)order;                                                                               \
        dynsel_port_leave_critical(state);                                                         \
        return value;                                                                              \
    }                                                                                              \
    void store_##bytes(volatile type *, type, int) __asm__("__atomic_store_" #bytes);              \
    void store_##bytes(volatile type *to, type value, int order)                                   \
    {                                                                                              \
        const uint32_t state = dynsel_port_enter_critical();                                       \
        (void)order;                                                                               \
        *to = value;                                                                               \
        dynsel_port_leave_critical(state);                                                         \
    }                                                                                              \
    type exchange_##bytes(volatile type *, type, int) __asm__("__atomic_exchange_" #bytes);        \
    type exchange_##bytes(volatile type *at, type value, int order)                                \
    {                                                                                              \
        const uint32_t state = dynsel_port_enter_critical();                                       \
        const type before = *at;                                                                   \
        (void)order;                                                                               \
        *at = value;                                                                               \
        dynsel_port_leave_critical(state);                                                         \
        return before;                                                                             \
    }                                                                                              \
    type add_##bytes(volatile type *, type, int) __asm__("__atomic_fetch_add_" #bytes);            \
    type add_##bytes(volatile type *at, type value, int order)                                     \
    {                                                                                              \
        const uint32_t state = dynsel_port_enter_critical();                                       \
        const type before = *at;                                                                   \
        (void)order;                                                                               \
        *at = (type)(before + value);                                                              \
        dynsel_port_leave_critical(state);                                                         \
        return before;                                                                             \
    }                                                                                              \
    type subtract_##bytes(volatile type *, type, int) __asm__("__atomic_fetch_sub_" #bytes);       \
    type subtract_##bytes(volatile type *at, type value, int order)                                \
    {                                                                                              \
        return add_##bytes(at, (type)(0 - value), order);                                          \
    }                                                                                              \
    bool swap_##bytes(volatile type *, type *, type, bool, int,                                    \
                      int) __asm__("__atomic_compare_exchange_" #bytes);                           \
    bool swap_##bytes(volatile type *at, type *expected, type value, bool weak, int order,         \
                      int order_of_failure)                                                        \
    {                                                                                              \
        const uint32_t state = dynsel_port_enter_critical();                                       \
        const type found = *at;                                                                    \
        const bool fits = found == *expected;                                                      \
        (void)weak;                                                                                \
        (void)order;                                                                               \
        (void)order_of_failure;                                                                    \
        *at = fits ? value : found;                                                                \
        dynsel_port_leave_critical(state);                                                         \
        *expected = found;                                                                         \
        return fits;                                                                               \
    }

ATOMICS(1, uint8_t)
ATOMICS(4, uint32_t)
ATOMICS(8, uint64_t)
/* NOLINTEND(bugprone-macro-parentheses) */
