/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes that stop the program: tried in a child. */
#ifndef DYNSEL_TESTS_CPP_DIES_H
#define DYNSEL_TESTS_CPP_DIES_H

#include <csignal>
#include <cstdlib>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

/* Whether `mistake` ends its process with the trap of the library. */
template <class F> bool dies(F mistake)
{
    const pid_t child = fork();
    if (child == 0) {
        const rlimit none = {};
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)signal(SIGILL, SIG_DFL); /* a sanitizer has its own */
        (void)signal(SIGTRAP, SIG_DFL);
        mistake();
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && (WTERMSIG(status) == SIGILL || WTERMSIG(status) == SIGTRAP);
}

#endif
