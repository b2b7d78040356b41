/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/aspects.h>

#include <stddef.h>

/* One entry more than aspects, so that a build without aspects has no empty table. */
static const char *const names[] = {
#define DYNSEL_ASPECT(name, text, host, opencl) #name,
#include <dynsel/aspects.def>
    "unknown aspect",
};

const char *dynsel_aspect_name(dynsel_aspect aspect)
{
    const unsigned number = (unsigned)aspect;
    return names[number <= DYNSEL_ASPECT_COUNT ? number : DYNSEL_ASPECT_COUNT];
}

#if CONFIG_DYNSEL_ERROR_TEXTS
static const char *const texts[] = {
#define DYNSEL_ASPECT(name, text, host, opencl) text,
#include <dynsel/aspects.def>
    "unknown aspect",
};

const char *dynsel_aspect_text(dynsel_aspect aspect)
{
    const unsigned number = (unsigned)aspect;
    return texts[number <= DYNSEL_ASPECT_COUNT ? number : DYNSEL_ASPECT_COUNT];
}
#else
const char *dynsel_aspect_text(dynsel_aspect aspect)
{
    (void)aspect;
    return "";
}
#endif
