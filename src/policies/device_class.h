/* SPDX-License-Identifier: Apache-2.0 */
/* What a resource computes on, and so how fast it is assumed to be while nothing is measured. */
#ifndef DYNSEL_POLICIES_DEVICE_CLASS_H
#define DYNSEL_POLICIES_DEVICE_CLASS_H

#include <dynsel/policy.h>

#include "aspects/device_kinds.h"

/* From the fastest to the slowest. */
typedef enum dynsel_device_class {
    DYNSEL_CLASS_GPU,
    DYNSEL_CLASS_DEVICE,     /* neither a GPU nor a processor of the host, or not known */
    DYNSEL_CLASS_PROCESSORS, /* all processors of the host */
    DYNSEL_CLASS_THREAD,     /* one of them */
    DYNSEL_CLASSES           /* how many there are */
} dynsel_device_class;

/* Whether the build tells classes apart. */
enum {
    DYNSEL_KNOWS_CLASSES =
        CONFIG_DYNSEL_ASPECTS &&
        (CONFIG_DYNSEL_ASPECT_GPU || CONFIG_DYNSEL_ASPECT_CPU || CONFIG_DYNSEL_ASPECT_HOST)
};

static inline dynsel_device_class dynsel_device_class_of(const dynsel_policy *policy,
                                                         uint32_t index)
{
    (void)policy;
    (void)index;
#if CONFIG_DYNSEL_CUSTOM_BACKENDS
    const bool only_calls = policy->resources[index].backend->ops->only_calls;
#else
    const bool only_calls = true;
#endif
#if CONFIG_DYNSEL_ASPECTS
    const dynsel_aspect_set aspects = policy->aspects[index];
#else
    const uint32_t aspects = 0;
#endif
    if (only_calls || (aspects & DYNSEL_HOST_ASPECT) != 0) {
        return DYNSEL_CLASS_THREAD;
    }
    if ((aspects & DYNSEL_CPU_ASPECT) != 0) {
        return DYNSEL_CLASS_PROCESSORS;
    }
    return (aspects & DYNSEL_GPU_ASPECT) != 0 ? DYNSEL_CLASS_GPU : DYNSEL_CLASS_DEVICE;
}

#endif
