/* SPDX-License-Identifier: Apache-2.0 */
/** The work of a played program: its devices, its policy, its pieces and its data. */
#ifndef PLAY_WORK_H
#define PLAY_WORK_H

#include "play.h"

typedef struct play_work {
    const program *it;
    const estimates *times;
    const play_case *how;
    dynsel_simulated_device devices[CONFIG_DYNSEL_MAX_RESOURCES];
    any_policy *policy;
    dynsel_submission *submissions; /**< of pieces that are waited for */
    uint8_t *states;                /**< of the pieces */
    uint32_t oldest;                /**< no piece before this has a submission */
    dynsel_buffer *buffers;
    void *memory; /**< of all buffers: nothing is stored in it */
    size_t memory_bytes;
    uint64_t begins_ns[CONFIG_DYNSEL_MAX_RESOURCES]; /**< what idle devices took to begin */
    uint32_t guesses;
    uint32_t failed;
} play_work;

/** Returns 0, or EXIT_WRONG after one line. */
int play_work_begin(play_work *work, const program *it, const estimates *times,
                    const play_case *how);

void play_work_submit(play_work *work, uint32_t number);

/** Opens a host accessor, and closes it. */
void play_work_access(play_work *work, uint32_t number);

void play_work_end_buffer(play_work *work, uint32_t number);

/** Whether a piece is over; collects it then. */
bool play_work_is_over(play_work *work, uint32_t number);

/** Waits until it is, if it was submitted. */
void play_work_wait(play_work *work, uint32_t number);

void play_work_wait_for_all(play_work *work);

bool play_work_is_all_over(play_work *work);

/** Waits for everything, and sums up. */
void play_work_end(play_work *work, play_result *result);

#endif
