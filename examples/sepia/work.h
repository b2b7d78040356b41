/* SPDX-License-Identifier: Apache-2.0 */
/** The main thing: hands the tiles to a policy and waits for them. */
#ifndef SEPIA_WORK_H
#define SEPIA_WORK_H

#include "sepia.h"

/**
 * Tones the whole picture `passes` times. Tiles that fail on a device are done again on the host.
 *
 * False: the picture is not complete, and stderr says why.
 */
bool work_run(sepia_job *job, dynsel_policy *policy, uint32_t passes);

#endif
