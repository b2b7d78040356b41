/* SPDX-License-Identifier: Apache-2.0 */
/* Where every piece of work is complete when its submit returns. */
#include <dynsel/backend.h>

dynsel_status dynsel_complete(uint32_t token, dynsel_status status, uint64_t end_ns)
{
    (void)token;
    (void)status;
    (void)end_ns;
    return DYNSEL_E_STALE;
}
