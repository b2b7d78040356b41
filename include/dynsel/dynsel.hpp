/* SPDX-License-Identifier: Apache-2.0 */
/**
 * dynsel for C++17, in the names of the specification (seeds 002 and 004) and of SYCL (seeds 001
 * and 003): policies, selections, submissions, reports, custom policies, buffers, command groups.
 * Everything is a thin inline layer over the functions of C, whose headers are the manual.
 *
 * No exceptions, no RTTI, no allocation: errors are values (dynsel::status, dynsel::result), a
 * callable lives where <dynsel/submission.hpp> says. Objects release what they hold.
 *
 * doc/cpp.md shows the names of the specification, of this header and of C side by side.
 */
#ifndef DYNSEL_DYNSEL_HPP
#define DYNSEL_DYNSEL_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error                                                                                             \
    "<dynsel/dynsel.hpp> is for C++17 and later: compile with -std=c++17; C takes <dynsel/dynsel.h>"
#endif

#include <dynsel/command_group.hpp>
#include <dynsel/custom_policy.hpp>
#include <dynsel/execution_info.hpp>
#include <dynsel/passed_directly.hpp>
#include <dynsel/policies.hpp>
#include <dynsel/resource.hpp>
#include <dynsel/status.hpp>
#include <dynsel/submission.hpp>
#include <dynsel/task.hpp>

#endif
