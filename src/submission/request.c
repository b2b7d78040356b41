/* SPDX-License-Identifier: Apache-2.0 */
#include "submission/request.h"

dynsel_status dynsel_refuse_to_wait(const char *function, const char *detail)
{
    const bool records = dynsel_this_thread()->recordings != 0;
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)records;
    return DYNSEL_FAIL_IN(function, DYNSEL_E_IN_TASK,
                          records ? DYNSEL_TEXT("a group function must not wait: do so before the "
                                                "command group is submitted, or afterwards")
                                  : detail,
                          0);
}
