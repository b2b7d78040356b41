/* SPDX-License-Identifier: Apache-2.0 */
#include "aspects.h"

static const dynsel_aspect_set configured = 0 /* there may be none */
#define DYNSEL_ASPECT(name, text, host, opencl) | DYNSEL_ASPECT_BIT(name)
#include <dynsel/aspects.def>
    ;

const char *aspects_next(dynsel_aspect_set *rest)
{
    const dynsel_aspect_set there = *rest & configured;
    unsigned first = 0;

    *rest = there & (there - 1);
    if (there == 0) {
        return NULL;
    }
    while ((there >> first & 1) == 0) {
        first++;
    }
    return dynsel_aspect_name((dynsel_aspect)first);
}

dynsel_aspect_set aspects_hidden(const dynsel_device *device)
{
    return device->aspects & ~dynsel_possible_aspects();
}
