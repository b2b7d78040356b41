/* SPDX-License-Identifier: Apache-2.0 */
/** The table at the end. */
#ifndef SEPIA_REPORT_H
#define SEPIA_REPORT_H

#include "sepia.h"

/** The picture, the tiles, and who worked on how many of them for how long. */
void report_table(const sepia_job *job);

#endif
