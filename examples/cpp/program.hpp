/* SPDX-License-Identifier: Apache-2.0 */
/* What the examples in C++ begin and end with. */
#ifndef EXAMPLES_CPP_PROGRAM_HPP
#define EXAMPLES_CPP_PROGRAM_HPP

#include <cstdio>
#include <cstdlib>

#include <dynsel/dynsel.hpp>

extern "C" {
#include "../common/program.h"
}

/* The exit status of a program that ended with this status, which stderr explains. */
inline int program_ends(const char *name, dynsel::status status, bool right = true)
{
    if (!status.ok()) {
        program_complain(name, "%s", dynsel::error_text{}.c_str());
    }
    return program_end(name, status.ok() && right ? EXIT_SUCCESS : EXIT_FAILURE);
}

#endif
