/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/targets.h>

#include "generated/targets.inc"

const dynsel_target *dynsel_get_targets(size_t *count)
{
    if (count == NULL) {
        return NULL;
    }
    *count = sizeof targets / sizeof targets[0];
    return targets;
}
