/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices of a learned table, and which of them are resources of a policy.
 */
#include "base/checksum.h"
#include "base/fail.h"
#include "policies/learned_table_parts.h"
#include "policy/device.h"
#include "port/pause.h"

enum { LOCK_ROUNDS = 1000 };

bool dynsel_learned_lock(dynsel_finish_kind *kind)
{
    for (uint32_t round = 0; round < LOCK_ROUNDS; round++) {
        if (dynsel_finish_try_lock(kind)) {
            return true;
        }
        dynsel_pause(round);
    }
    return false;
}

/* Adds a text to a device: the part of it that fits, and all of it to the checksum. */
static void add_text(dynsel_learned_device *device, char *to, size_t bytes, const char *text)
{
    const char *from = text != NULL ? text : "";
    const size_t length = __builtin_strlen(from);
    (void)__builtin_memset(to, 0, bytes);
    (void)__builtin_memcpy(to, from, length < bytes ? length : bytes);
    device->whole = dynsel_crc32(device->whole, (const unsigned char *)from, length + 1);
}

static void add_texts(const dynsel_earliest_finish_policy *policy, uint32_t index,
                      dynsel_learned_device *device)
{
    const dynsel_resource resource = {.backend = policy->policy.resources[index].backend,
                                      .handle = policy->policy.queues[index].own};
    device->whole = 0;
#if CONFIG_DYNSEL_ASPECTS
    dynsel_device found;
    if (dynsel_describe_as(resource.backend, resource.handle, &found) == DYNSEL_OK) {
        char platform[1];
        add_text(device, device->backend, sizeof device->backend, found.backend);
        add_text(device, device->vendor, sizeof device->vendor, found.vendor);
        add_text(device, device->name, sizeof device->name, found.name);
        add_text(device, device->driver, sizeof device->driver, found.driver);
        add_text(device, platform, sizeof platform, found.platform);
        return;
    }
#endif
    add_text(device, device->backend, sizeof device->backend, resource.backend->ops->name);
    add_text(device, device->vendor, sizeof device->vendor, "");
    add_text(device, device->name, sizeof device->name, dynsel_resource_name(&resource));
    add_text(device, device->driver, sizeof device->driver, "");
}

void dynsel_learned_describe(const dynsel_earliest_finish_policy *policy, uint32_t index,
                             dynsel_learned_device *device)
{
    const dynsel_finish_resource *resource = &policy->states[index];
    add_texts(policy, index, device);
    device->worth = (int32_t)dynsel_word_load_relaxed(&resource->is.worth);
    device->shortest_ns = dynsel_word_load_relaxed(&resource->is.shortest_ns);
    device->copy_rate = dynsel_word_load_relaxed(&resource->is.copy_rate);
    device->latency = dynsel_finish_latency(resource);
    device->submit = dynsel_word_load_relaxed(&resource->is.submit);
    for (uint32_t i = 0; i < DYNSEL_FINISH_SCALES; i++) {
        const dynsel_finish_speed *speed = &policy->speeds[index][i];
        device->speeds[i].slowness = (int32_t)dynsel_word_load_relaxed(&speed->slowness);
        device->speeds[i].spread = dynsel_word_load_relaxed(&speed->spread);
        device->speeds[i].measured = dynsel_word_load_relaxed(&speed->measured);
    }
    device->first_start_ns = dynsel_word_load_relaxed(&policy->first_starts[index]);
}

static bool is_same_device(const dynsel_learned_device *a, const dynsel_learned_device *b)
{
    return __builtin_memcmp(a->backend, b->backend, sizeof a->backend) == 0 &&
           __builtin_memcmp(a->vendor, b->vendor, sizeof a->vendor) == 0 &&
           __builtin_memcmp(a->name, b->name, sizeof a->name) == 0;
}

static bool is_same_driver(const dynsel_learned_device *a, const dynsel_learned_device *b)
{
    return a->whole == b->whole && __builtin_memcmp(a->driver, b->driver, sizeof a->driver) == 0;
}

/* Gives a device of the table to the first resource without one that it is. */
static void give(const dynsel_earliest_finish_policy *policy, uint32_t number,
                 const dynsel_learned_device *device, bool any_driver, dynsel_learned_match *match)
{
    for (uint32_t i = 0; i < dynsel_policy_count(&policy->policy); i++) {
        if (match->device_of[i] != DYNSEL_LEARNED_NO_DEVICE) {
            continue;
        }
        dynsel_learned_device own;
        add_texts(policy, i, &own);
        if (is_same_device(&own, device) && (any_driver || is_same_driver(&own, device))) {
            match->device_of[i] = (uint16_t)number;
            match->same_driver[i] = is_same_driver(&own, device);
            return;
        }
    }
}

/* Those with the same driver come first, so that of equal devices with unlike drivers each gets its
 * own. */
dynsel_learned_fault dynsel_learned_recognize(const dynsel_earliest_finish_policy *policy,
                                              const dynsel_learned_store *store, uint32_t area,
                                              const dynsel_learned_head *head,
                                              dynsel_learned_match *match)
{
    dynsel_learned_reader reader;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES; i++) {
        match->device_of[i] = DYNSEL_LEARNED_NO_DEVICE;
        match->same_driver[i] = false;
    }
    for (uint32_t pass = 0; pass < 2; pass++) {
        dynsel_learned_open(&reader, store, area, head);
        for (uint32_t number = 0; number < head->devices; number++) {
            dynsel_learned_device device;
            dynsel_learned_take_device(&reader, &device);
            if (!dynsel_learned_is_good(&reader)) {
                return reader.fault;
            }
            if (dynsel_learned_resource_of(match, number) == CONFIG_DYNSEL_MAX_RESOURCES) {
                give(policy, number, &device, pass != 0, match);
            }
        }
    }
    return reader.fault;
}

uint32_t dynsel_learned_resource_of(const dynsel_learned_match *match, uint32_t device)
{
    uint32_t index = 0;
    while (index < CONFIG_DYNSEL_MAX_RESOURCES && match->device_of[index] != device) {
        index++;
    }
    return index;
}
