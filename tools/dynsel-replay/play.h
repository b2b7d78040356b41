/* SPDX-License-Identifier: Apache-2.0 */
/** Plays the recorded program on simulated devices, in virtual time. */
#ifndef PLAY_H
#define PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "estimates.h"
#include "machine.h"
#include "program.h"

/** A resource of a case. */
typedef struct play_resource {
    uint32_t like; /**< the recorded resource that it is like */
    double speed;  /**< how many times as fast as that */
    bool has_latency;
    uint64_t latency_ns;
    char name[RECORDING_NAME_BYTES + 16];
} play_resource;

/** What is different from the recorded run. */
typedef struct play_case {
    char name[128];
    bool as_recorded; /**< each piece runs where it ran */
    policy_kind policy;
    uint64_t option; /**< what its init function gets beside the resources */
    uint32_t count;
    play_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    const char *trace_path; /**< gets the trace of the simulated run; NULL: nothing does */
} play_case;

typedef struct play_result {
    int status; /**< 0, or an exit status after one line */
    uint64_t time_ns;
    uint64_t bytes;
    uint32_t guesses; /**< pieces with a run time that was never measured there */
    uint32_t failed;  /**< pieces that could not run */
    uint64_t pieces[CONFIG_DYNSEL_MAX_RESOURCES];
    uint64_t busy_ns[CONFIG_DYNSEL_MAX_RESOURCES];
} play_result;

/** Plays in a process of its own, so that each case finds the library as new. */
play_result play(const program *it, const estimates *times, const play_case *how);

#endif
