/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a policy's resources. */
#ifndef DYNSEL_POLICY_DEVICE_H
#define DYNSEL_POLICY_DEVICE_H

#include <dynsel/device.h>
#include <dynsel/policy.h>

#if CONFIG_DYNSEL_ASPECTS

/* The device behind a handle, as the backend knows it. */
dynsel_status dynsel_describe_as(dynsel_backend *backend, const void *handle,
                                 dynsel_device *device);

/*
 * Verifies the device of the resource at `index`, and stores its aspects.
 *
 * Errors: DYNSEL_E_ASPECT (refused: the text names device, target and aspect), and those of the
 *     backend.
 */
dynsel_status dynsel_admit(dynsel_policy *policy, uint32_t index);

/* On how many processors of the host a resource computes; 0: none, or not known. */
uint32_t dynsel_processors_of(const dynsel_policy *policy, uint32_t index);

#else

static inline uint32_t dynsel_processors_of(const dynsel_policy *policy, uint32_t index)
{
    (void)policy;
    (void)index;
    return 0;
}

#endif

#endif
