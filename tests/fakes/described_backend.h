/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend whose devices are what the test says they are, and the table of device targets that
 * they are put to the proof with: linking it takes the place of the library's own table, and of
 * what that makes possible.
 *
 * One thread only, but for `started`.
 */
#ifndef DYNSEL_TESTS_DESCRIBED_BACKEND_H
#define DYNSEL_TESTS_DESCRIBED_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>

#include <dynsel/backend.h>
#include <dynsel/targets.h>

/* Which dynsel_aspect has this number: tests take them by their place in the list, because any of
 * them may be left out. */
#define ASPECT(number) ((dynsel_aspect)(number))
#define BIT(number)    ((dynsel_aspect_set)1 << (number))

/* A device; its address is the handle. */
typedef struct described_device {
    const char *name;
    const char *platform; /* from here to `processors`: what `describe` fills in */
    const char *vendor;
    const char *type;
    dynsel_aspect_set aspects;
    uint32_t processors;
    dynsel_status describes; /* a failure: `describe` fails with it */
    dynsel_status attaches;  /* a failure: `attach` fails with it */
    bool refuses;            /* start is DYNSEL_E_OUT_OF_SERVICE */
    int attached;            /* how often at the moment */
    unsigned times_attached;
    unsigned times_described;
    atomic_uint started;
    dynsel_device seen; /* as it came to `describe` */
} described_device;

/* Work is complete when `start` returns; the other one's when the test says so. */
extern dynsel_backend described_backend;
extern dynsel_backend described_later_backend;

/* A backend without `describe`. */
extern dynsel_backend silent_backend;

static inline dynsel_resource described(described_device *device)
{
    return (dynsel_resource){.backend = &described_backend, .handle = device};
}

/* The default resources of described_backend, in this order. */
void described_offer(described_device *devices, size_t count);

/* All work of described_later_backend ends so. Returns how many pieces that were. */
size_t described_finish(dynsel_status status);

/* The table of targets from now on. NULL: one that recognizes everything and promises nothing. */
void described_targets(const dynsel_target *targets, size_t count);

#endif
