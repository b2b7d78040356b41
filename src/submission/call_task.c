/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/call_task.h"

void dynsel_note_failure(dynsel_work *work, dynsel_status status, uint32_t failures_before)
{
    work->error = dynsel_details_of(status, failures_before);
}
