/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the trace. Weak, so that a program can define another one. */
#include <dynsel/trace.h>

#include <dynsel/backend.h>

__attribute__((weak)) uint64_t dynsel_trace_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return dynsel_now_ns();
#endif
}
