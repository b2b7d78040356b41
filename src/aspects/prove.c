/* SPDX-License-Identifier: Apache-2.0 */
#include <dynsel/targets.h>

#include "base/text_slice.h"
#include "port/likely.h"

static bool is_whole(const char *expected, const char *text)
{
    return expected == NULL || dynsel_text_equals(dynsel_text_slice_of(expected), text);
}

static bool is_part(const char *expected, const char *text)
{
    return expected == NULL || dynsel_text_contains(text, dynsel_text_slice_of(expected));
}

static bool fits(const dynsel_recognition *way, const dynsel_device *device)
{
    return is_whole(way->backend, device->backend) && is_whole(way->type, device->type) &&
           is_part(way->platform, device->platform) && is_part(way->vendor, device->vendor) &&
           is_part(way->name, device->name);
}

static bool is_empty(const dynsel_recognition *way)
{
    return way->backend == NULL && way->platform == NULL && way->vendor == NULL &&
           way->type == NULL && way->name == NULL;
}

DYNSEL_RARE bool dynsel_target_recognizes(const dynsel_target *target, const dynsel_device *device)
{
    if (target == NULL || device == NULL) {
        return false;
    }
    for (size_t i = 0; i < target->recognition_count; i++) {
        if (fits(&target->recognitions[i], device)) {
            return true;
        }
    }
    return false;
}

bool dynsel_target_is_open(const dynsel_target *target)
{
    for (size_t i = 0; target != NULL && i < target->recognition_count; i++) {
        if (is_empty(&target->recognitions[i])) {
            return true;
        }
    }
    return false;
}

/* The first that recognizes the device and whose promises it keeps, else the first that recognizes
 * it. open: among the targets that recognize everything, or among the others. */
static const dynsel_target *find(const dynsel_target *targets, size_t count,
                                 const dynsel_device *device, bool open)
{
    const dynsel_target *first = NULL;
    for (size_t i = 0; i < count; i++) {
        const dynsel_target *target = &targets[i];
        if (dynsel_target_is_open(target) != open || !dynsel_target_recognizes(target, device)) {
            continue;
        }
        if ((target->aspects & ~device->aspects) == 0) {
            return target;
        }
        first = first == NULL ? target : first;
    }
    return first;
}

dynsel_proof dynsel_prove(const dynsel_target *targets, size_t count, const dynsel_device *device)
{
    const dynsel_target *target = find(targets, count, device, false);
    if (target == NULL) {
        target = find(targets, count, device, true);
    }
    if (target == NULL) {
        return (dynsel_proof){.extra = device->aspects};
    }
    return (dynsel_proof){
        .target = target,
        .broken = target->aspects & ~device->aspects,
        .extra = device->aspects & ~target->aspects,
    };
}
