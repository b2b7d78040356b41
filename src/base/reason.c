/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/selection.h>

const char *dynsel_reason_text(dynsel_reason reason)
{
    static const char *const texts[] = {
#define REASON_TEXT(name, text) text,
        DYNSEL_REASON_LIST(REASON_TEXT)
#undef REASON_TEXT
    };
    const unsigned number = (unsigned)reason;
    return number < sizeof texts / sizeof texts[0] ? texts[number] : "unknown reason";
}
