/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "ring.h"

#include <string.h>
#include <time.h>

#include "../measure.h"
#include "kernels.h"
#include "random.h"
#include "say.h"

enum { NAP_NS = 20000, TRIAL_OPERATIONS = 64, TRIALS = 5, TRIAL_NS = 20000000, SCRAMBLE = 1 };

static const usecase_kernel *const kernel = &usecase_kernels[SCRAMBLE];

typedef struct piece {
    const ring *of;
    const ring_slot *slot;
} piece;

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const piece *p = args;
    const uint32_t elements = RING_ELEMENTS;
    dynsel_require(handler, &p->of->read);
    dynsel_require(handler, &p->slot->written);
    dynsel_set_arg_accessor(handler, 0, &p->of->read);
    dynsel_set_arg_accessor(handler, 1, &p->slot->written);
    dynsel_set_arg_value(handler, 2, &elements, sizeof elements);
    dynsel_set_arg_value(handler, 3, &p->of->operations, sizeof p->of->operations);
    return dynsel_parallel_for(handler, &kernel->kernel, DYNSEL_RANGE(RING_ELEMENTS), NULL, NULL);
}

static dynsel_accessor open_buffer(void *memory, dynsel_access_mode mode, const char *name)
{
    dynsel_buffer buffer = {0};
    say_must(dynsel_buffer_init(&buffer, memory, sizeof(uint32_t), DYNSEL_RANGE(RING_ELEMENTS)) ==
                 DYNSEL_OK,
             "dynsel_buffer_init");
    return (dynsel_accessor){
        .name = name, .buffer = buffer, .mode = (uint8_t)mode, .placeholder = true};
}

void ring_open(ring *self, uint32_t count, uint32_t operations, uint64_t seed)
{
    *self = (ring){.count = count, .limit = count, .operations = operations};
    for (uint32_t i = 0; i < RING_ELEMENTS; i++) {
        self->in[i] = (uint32_t)random_next(&seed);
    }
    kernel->reference(self->in, self->expected, RING_ELEMENTS, operations);
    self->read = open_buffer(self->in, DYNSEL_ACCESS_READ, "in");
    for (uint32_t i = 0; i < count; i++) {
        ring_slot *slot = &self->slots[i];
        slot->written = open_buffer(slot->out, DYNSEL_ACCESS_DISCARD_WRITE, "out");
    }
}

void ring_limit(ring *self, size_t devices)
{
    const size_t wanted = devices * RING_DEPTH;
    self->limit = wanted < self->count ? (uint32_t)wanted : self->count;
}

static void check(ring *self, ring_slot *slot, const resources *r)
{
    const char *where = r->names[slot->submission.index];
    dynsel_host_accessor seen = {0};
    say_must(dynsel_host_accessor_open(&seen, slot->written.buffer, DYNSEL_ACCESS_READ_WRITE) ==
                 DYNSEL_OK,
             where);
    if (memcmp(seen.data, self->expected, sizeof self->expected) != 0) {
        say_end(SAY_FAILED, "a wrong result: %s, %d elements, on %s", kernel->kernel.name,
                RING_ELEMENTS, where);
    }
    (void)memset(seen.data, 0, sizeof slot->out); /* an old result is no new one */
    say_must(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "close");
    self->by_resource[slot->submission.index]++;
    self->done++;
}

/* Whether the slot has no work any more. */
static bool is_free(ring *self, ring_slot *slot, uint64_t wait_ns, const resources *r)
{
    if (!slot->is_out) {
        return true;
    }
    const dynsel_status status = dynsel_wait_for(&slot->submission, wait_ns);
    if (status == DYNSEL_E_TIMEOUT) {
        return false;
    }
    slot->is_out = false;
    say_must(status == DYNSEL_OK, r->names[slot->submission.index]);
    check(self, slot, r);
    return true;
}

static void start(ring *self, ring_slot *slot, dynsel_policy *policy)
{
    piece p = {self, slot};
    say_must(dynsel_submit_command_group(policy, group, &p, &slot->submission) == DYNSEL_OK,
             "dynsel_submit_command_group");
    slot->is_out = true;
}

void ring_keep_busy(ring *self, dynsel_policy *policy, const resources *r, double seconds)
{
    const uint64_t began = measure_now_ns();
    while ((double)(measure_now_ns() - began) < seconds * 1e9) {
        uint32_t started = 0;
        for (uint32_t i = 0; i < self->limit; i++) {
            if (is_free(self, &self->slots[i], 0, r)) {
                start(self, &self->slots[i], policy);
                started++;
            }
        }
        if (started == 0) {
            (void)nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
        }
    }
}

void ring_finish(ring *self, const resources *r)
{
    for (uint32_t i = 0; i < self->count; i++) {
        (void)is_free(self, &self->slots[i], UINT64_MAX, r);
    }
}

void ring_close(ring *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        say_must(dynsel_buffer_deinit(&self->slots[i].written.buffer) == DYNSEL_OK, "deinit");
    }
    say_must(dynsel_buffer_deinit(&self->read.buffer) == DYNSEL_OK, "deinit");
}

static double time_one(ring *self, dynsel_policy *policy, const resources *r)
{
    double best = 0;
    for (int i = 0; i < TRIALS; i++) {
        const uint64_t began = measure_now_ns();
        start(self, &self->slots[0], policy);
        ring_finish(self, r);
        const double ns = (double)(measure_now_ns() - began);
        best = i == 1 || ns < best ? ns : best; /* the first may compile */
    }
    return best;
}

uint32_t ring_calibrate(const resources *r, double ns, uint64_t seed)
{
    static ring trial;
    static dynsel_fixed_resource_policy policies[RESOURCES_MOST];
    const dynsel_options options = {.resources = r->table, .count = r->count};
    uint32_t operations = TRIAL_OPERATIONS;
    for (size_t i = r->count; i-- > 0;) { /* the others have compiled by then */
        say_must(dynsel_fixed_resource_init(&policies[i], &options, i) == DYNSEL_OK, r->names[i]);
        ring_open(&trial, 1, operations, seed);
        (void)time_one(&trial, &policies[i].policy, r);
        ring_close(&trial);
    }
    double base = 0;
    double took = 0;
    do {
        ring_open(&trial, 1, operations, seed);
        took = time_one(&trial, &policies[0].policy, r);
        ring_close(&trial);
        base = base > 0 ? base : took;
        operations *= 4;
    } while (took < TRIAL_NS && took < ns * 4 && operations < (1u << 26));
    operations /= 4;
    for (size_t i = 0; i < r->count; i++) {
        say_must(dynsel_policy_deinit(&policies[i].policy) == DYNSEL_OK, "deinit");
    }
    const double each = (took - base) / (operations - TRIAL_OPERATIONS);
    const double wanted = each > 0 ? (ns - base) / each : TRIAL_OPERATIONS;
    return wanted > 1 ? TRIAL_OPERATIONS + (uint32_t)wanted : TRIAL_OPERATIONS;
}
