/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Device targets: what this build was told about its devices, and the proof that it is so.
 *
 * boards/targets.yaml has an entry for each kind of device: its aspects, and how to recognize it.
 * The configuration chooses some; the aspects that all of them have are promised to the program
 * (dynsel_all_devices_have()). When a policy is initialized, each resource is put to the proof:
 *
 * - The targets that recognize its device are looked for; one that recognizes every device counts
 *   only where no other one does. A device that none recognizes is refused.
 * - It must have all aspects of one of them, else it is refused. It may have more; what no target
 *   of the build may have is hidden, so that no resource has what dynsel_any_device_has() says none
 *   has.
 *
 * Refused means DYNSEL_E_ASPECT, with the device, its target and the aspect in the text, where the
 * resource was given to the policy; a resource of the default set is left out and counted
 * (dynsel_refused_count()).
 *
 * Source: seed 003; the proof is beyond it.
 */
#ifndef DYNSEL_TARGETS_H
#define DYNSEL_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include <dynsel/device.h>

DYNSEL_BEGIN_DECLS

#if CONFIG_DYNSEL_ASPECTS

/** One way to recognize a device: each text that is not NULL must be a part of the device's, in
 * upper or lower case; `backend` and `type` must be the whole of it. */
typedef struct dynsel_recognition {
    const char *backend;
    const char *platform;
    const char *vendor;
    const char *type;
    const char *name;
} dynsel_recognition;

typedef struct dynsel_target {
    const char *name;
    dynsel_aspect_set aspects;              /**< what every device of it has */
    bool may_support_other_aspects;         /**< whether some have more */
    const dynsel_recognition *recognitions; /**< any one of them will do */
    size_t recognition_count;
} dynsel_target;

/**
 * The targets of this build: those chosen, and those that its backends add, in the order of the
 * table.
 *
 * count: out, may not be NULL (then NULL is returned); at least 1.
 * Returns: static.
 * Errors: none.
 * Context: any.
 * Cost: constant.
 */
const dynsel_target *dynsel_get_targets(size_t *count);

/**
 * The aspects that some device of this build may have: dynsel_any_device_has() as a set.
 *
 * Errors: none.
 * Context: any.
 * Cost: constant.
 */
dynsel_aspect_set dynsel_possible_aspects(void);

/**
 * Whether a target recognizes a device.
 *
 * Returns: false for NULL.
 * Context: any.
 * Cost: linear in the target's texts.
 */
bool dynsel_target_recognizes(const dynsel_target *target, const dynsel_device *device);

/**
 * Whether a target recognizes every device whatever: it has a recognition without any text.
 *
 * Returns: false for NULL.
 * Context: any.
 * Cost: linear in the target's recognitions.
 */
bool dynsel_target_is_open(const dynsel_target *target);

/**
 * Puts the device behind a resource to the proof, as a policy does that is given it: for programs
 * that choose resources themselves.
 *
 * Errors: DYNSEL_E_ASPECT (it would be refused: the text says why), and those of
 *     dynsel_resource_describe().
 * May block: no, but for a backend that never looked for its devices.
 * Context: any thread; task functions.
 * Cost: linear in the targets.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_prove(const dynsel_resource *resource);

/** What the proof of one device found. */
typedef struct dynsel_proof {
    const dynsel_target *target; /**< the one it was found to be; NULL: none recognizes it */
    dynsel_aspect_set broken;    /**< promised by the target, and the device lacks them */
    dynsel_aspect_set extra;     /**< the device has them, and the target does not promise them */
} dynsel_proof;

/**
 * Puts a device to the proof against some targets. Of several that recognize it, the first whose
 * promises it keeps is meant, else the first.
 *
 * targets, count: dynsel_get_targets(), or others.
 * Returns: a device is to be refused when `target` is NULL or `broken` is not empty.
 * Context: any.
 * Cost: linear in the targets.
 */
dynsel_proof dynsel_prove(const dynsel_target *targets, size_t count, const dynsel_device *device);

#endif

DYNSEL_END_DECLS

#endif
