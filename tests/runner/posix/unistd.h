/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without an operating system: the emulator's own time limit has to do. */
#ifndef DYNSEL_TESTS_POSIX_UNISTD_H
#define DYNSEL_TESTS_POSIX_UNISTD_H

static inline unsigned alarm(unsigned seconds)
{
    (void)seconds;
    return 0;
}

#endif
