/* SPDX-License-Identifier: Apache-2.0 */
/* Moves rare code out of the hot path. */
#ifndef DYNSEL_PORT_LIKELY_H
#define DYNSEL_PORT_LIKELY_H

#define DYNSEL_LIKELY(condition) (__builtin_expect((condition) ? 1 : 0, 1) != 0)
#define DYNSEL_RARE              __attribute__((cold, noinline))

/* Off the hot path, which then saves no registers for it. */
#define DYNSEL_ASIDE __attribute__((noinline))

#endif
