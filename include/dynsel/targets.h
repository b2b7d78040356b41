/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Device targets: the kinds of device that this build expects, and the verification of devices
 * against them.
 *
 * boards/targets.yaml has an entry for each kind of device: its aspects, and how to recognize it.
 * The configuration chooses some; the aspects that all of them have are guaranteed to the program
 * (dynsel_all_devices_have()). When a policy is initialized, the library verifies each resource:
 *
 * - It searches for the targets that recognize its device; a target that recognizes every device
 *   counts only if no other target does. A device that no target recognizes is refused.
 * - The device must have all aspects of one of them, else it is refused. It may have more; aspects
 *   that no target of the build may have are hidden, so that no resource has an aspect for which
 *   dynsel_any_device_has() is 0.
 *
 * Refused means DYNSEL_E_ASPECT, with the device, its target and the aspect in the text, where the
 * resource was given to the policy; a resource of the default set is excluded and counted
 * (dynsel_refused_count()).
 *
 * Source: seed 003; the verification is an addition.
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

/** A kind of device that a build targets. */
typedef struct dynsel_target {
    const char *name;
    dynsel_aspect_set aspects;              /**< aspects of all its devices */
    bool may_support_other_aspects;         /**< whether some devices have more */
    const dynsel_recognition *recognitions; /**< one match is sufficient */
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
 * Whether a target recognizes every device: it has a recognition without any text.
 *
 * Returns: false for NULL.
 * Context: any.
 * Cost: linear in the target's recognitions.
 */
bool dynsel_target_is_open(const dynsel_target *target);

/**
 * Verifies the device behind a resource, as the initialization of a policy does: for programs that
 * choose resources themselves.
 *
 * Errors: DYNSEL_E_ASPECT (it would be refused: the text has the reason), and those of
 *     dynsel_resource_describe().
 * May block: no, except for a backend that has not searched for its devices yet.
 * Context: any thread; task functions.
 * Cost: linear in the targets.
 */
DYNSEL_CHECKED dynsel_status dynsel_resource_prove(const dynsel_resource *resource);

/** The result of the verification of one device. */
typedef struct dynsel_proof {
    const dynsel_target *target; /**< the matching target; NULL: no target recognizes the device */
    dynsel_aspect_set broken;    /**< promised by the target, and missing on the device */
    dynsel_aspect_set extra;     /**< present on the device, and not promised by the target */
} dynsel_proof;

/**
 * Verifies a device against some targets. Of several that recognize it, the first one whose aspects
 * it all has is chosen, else the first.
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
