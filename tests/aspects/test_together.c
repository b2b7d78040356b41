/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that submit together what needs different aspects, while a device comes and goes. */
#include <dynsel/dynsel.h>

#include <pthread.h>
#include <string.h>

#include "fakes/described_backend.h"
#include "policy/policy.h"
#include "random.h"
#include "room.h"
#include "support/put_in_service.h"
#include "test.h"

enum { DEVICES = 4, THREADS = 3, PIECES = 3000 };

static described_device devices[DEVICES];
static atomic_uint ended;
static atomic_uint misplaced;

static union {
    dynsel_policy policy;
    dynsel_round_robin_policy round_robin;
    dynsel_dynamic_load_policy dynamic_load;
    dynsel_auto_tune_policy auto_tune;
} any;

/* args: the aspects that the task needs. */
static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const described_device *device = where->handle;
    const dynsel_aspect_set needed = *(const dynsel_aspect_set *)args;
    (void)done;
    if ((needed & ~device->aspects) != 0) {
        atomic_fetch_add(&misplaced, 1);
    }
    atomic_fetch_add(&ended, 1);
    return DYNSEL_OK;
}

typedef struct submitter {
    pthread_t thread;
    test_random random;
    unsigned placed;
    unsigned mistakes;
} submitter;

static dynsel_aspect_set sets[16]; /* each is its own number */

static void *submit_much(void *context)
{
    submitter *s = context;
    for (unsigned i = 0; i < PIECES; i++) {
        const uint32_t needed = test_random_below(&s->random, 16);
        const dynsel_task task = {
            .function = run, .args = &sets[needed], .aspects = (dynsel_aspect_set)needed};
        const dynsel_status status = dynsel_submit(&any.policy, &task, NULL);
        /* The first device has all but the last aspect, and is sometimes out of service. */
        const bool is_possible = (needed & 8) == 0;
        s->placed += status == DYNSEL_OK ? 1 : 0;
        s->mistakes += status == DYNSEL_OK ? !is_possible : 0;
        s->mistakes += status == DYNSEL_E_ASPECT ? is_possible : 0;
        s->mistakes += status != DYNSEL_OK && status != DYNSEL_E_ASPECT &&
                       (status != DYNSEL_E_OUT_OF_SERVICE || !is_possible);
    }
    return NULL;
}

static dynsel_status init_round_robin(const dynsel_options *options)
{
    return dynsel_round_robin_init(&any.round_robin, options, 0);
}

static dynsel_status init_dynamic_load(const dynsel_options *options)
{
    return dynsel_dynamic_load_init(&any.dynamic_load, options);
}

static dynsel_status init_auto_tune(const dynsel_options *options)
{
    return dynsel_auto_tune_init(&any.auto_tune, options, DYNSEL_NEVER_RESAMPLE);
}

static void begin(dynsel_status (*init)(const dynsel_options *options))
{
    dynsel_resource resources[DEVICES];
    memset(&any, 0, sizeof(any));
    atomic_store(&ended, 0);
    for (size_t i = 0; i < DEVICES; i++) {
        resources[i] = described(&devices[i]);
    }
    assert_status(DYNSEL_OK, init(&(dynsel_options){.resources = resources, .count = DEVICES}));
}

static unsigned submit_together(uint64_t seed)
{
    submitter submitters[THREADS];
    unsigned placed = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        submitters[i] = (submitter){.random = {seed + i}};
        assert_int_equal(pthread_create(&submitters[i].thread, NULL, submit_much, &submitters[i]),
                         0);
    }
    for (unsigned i = 0; i < 200; i++) {
        dynsel_health_retire(&any.policy, 0, DYNSEL_E_DEVICE);
        put_in_service(&any.policy, 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(submitters[i].thread, NULL), 0);
        assert_int_equal(submitters[i].mistakes, 0);
        placed += submitters[i].placed;
    }
    return placed;
}

static void concurrent_submits_honour_needed_aspects(void **state)
{
    static dynsel_status (*const inits[])(const dynsel_options *) = {
        init_round_robin, init_dynamic_load, init_auto_tune};
    const uint64_t seed = test_seed();
    (void)state;
    NEEDS(DYNSEL_ASPECT_COUNT >= 4 && CONFIG_DYNSEL_MAX_RESOURCES >= DEVICES);
    for (uint32_t i = 0; i < DEVICES; i++) {
        devices[i] = (described_device){.name = "device", .aspects = 7u >> i};
    }
    for (uint32_t i = 0; i < 16; i++) {
        sets[i] = i;
    }
    for (size_t i = 0; i < 3; i++) {
        begin(inits[i]);
        const unsigned placed = submit_together(seed);
        assert_int_equal(atomic_load(&ended), placed);
        assert_int_equal(atomic_load(&misplaced), 0);
        for (uint32_t d = 0; d < DEVICES; d++) {
            assert_int_equal(inits[i] == init_dynamic_load ? any.dynamic_load.loads[d].value : 0,
                             0);
            assert_int_equal(inits[i] == init_auto_tune ? any.auto_tune.loads[d].value : 0, 0);
        }
        assert_true(dynsel_invariants_hold(&any.policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&any.policy));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(concurrent_submits_honour_needed_aspects)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
