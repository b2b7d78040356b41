/* SPDX-License-Identifier: Apache-2.0 */
#include "core/work.h"

void dynsel_work_call(dynsel_work *work)
{
    dynsel_call(work);
}
