/* SPDX-License-Identifier: Apache-2.0 */
/* What happens rarely is kept out of the way of what happens always. */
#ifndef DYNSEL_PORT_LIKELY_H
#define DYNSEL_PORT_LIKELY_H

#define DYNSEL_LIKELY(condition) (__builtin_expect((condition) ? 1 : 0, 1) != 0)
#define DYNSEL_RARE              __attribute__((cold, noinline))

/* Beside the straight way, which then needs to save no registers for it. */
#define DYNSEL_ASIDE __attribute__((noinline))

#endif
