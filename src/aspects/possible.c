/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/targets.h>

dynsel_aspect_set dynsel_possible_aspects(void)
{
    dynsel_aspect_set possible = 0;
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    possible |= (dynsel_aspect_set)dynsel_any_device_has(name) << DYNSEL_ASPECT_##name;
#include <dynsel/aspects.def>
    return possible;
}
