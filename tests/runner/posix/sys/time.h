/* SPDX-License-Identifier: Apache-2.0 */
/* For boards without an operating system: SIGALRM from the board's timer. */
#ifndef DYNSEL_TESTS_POSIX_SYS_TIME_H
#define DYNSEL_TESTS_POSIX_SYS_TIME_H

struct timeval {
    long tv_sec;
    long tv_usec;
};

struct itimerval {
    struct timeval it_interval;
    struct timeval it_value;
};

enum { ITIMER_REAL = 0 };

/* One period for both; 0 stops it. */
int setitimer(int which, const struct itimerval *timer, struct itimerval *before);

#endif
