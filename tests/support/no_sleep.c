/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that wait in virtual time: nothing comes sooner because their thread sleeps. */

/* The linker's name, see `wraps` of test(). */
int wrap_nanosleep(const void *wanted, void *left) __asm__("__wrap_nanosleep");

int wrap_nanosleep(const void *wanted, void *left)
{
    (void)wanted;
    (void)left;
    return 0;
}
