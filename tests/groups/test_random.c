/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of command groups over the host, its workers and simulated devices with memory of
 * their own, against an interpreter: everything equal bit for bit.
 *
 * DYNSEL_TEST_SEED repeats a run, DYNSEL_TEST_PROGRAMS makes it longer.
 */
#include <dynsel/dynsel.h>

#include <string.h>

#include "fakes/simulated_memory.h"
#include "groups/play.h"
#include "random.h"
#include "room.h"
#include "support/forget_domains.h"
#include "support/put_in_service.h"
#include "test.h"

enum {
    PROGRAMS = !CONFIG_DYNSEL_HAS_MUCH_RAM     ? 100
               : !CONFIG_DYNSEL_HAS_FULL_SPEED ? 1000
               : CONFIG_DYNSEL_SANITIZE_THREAD ? 1000
               : CONFIG_DYNSEL_SANITIZE        ? 2000
                                               : 4000,
    PROGRAMS_OF_A_WORLD = 20,
    WORKERS = 2,
    DOMAINS = CONFIG_DYNSEL_MAX_DOMAINS < 3 ? 2 : 3,
    MOST_RESOURCES = RESOURCES_UP_TO(SIMULATED_DEVICES + WORKERS + 1)
};

static simulated_backend simulated;
static dynsel_resource resources[SIMULATED_DEVICES + WORKERS + 1];
static size_t resource_count;
static play_world world;

static dynsel_fixed_resource_policy on_host;
static dynsel_fixed_resource_policy on_device;
static dynsel_round_robin_policy in_turn;
static dynsel_round_robin_policy on_devices;
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static dynsel_dynamic_load_policy balanced;
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static dynsel_auto_tune_policy tuned;
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_earliest_finish_policy finisher;
#endif

static void add_place(dynsel_policy *policy, bool is_host)
{
    world.places[world.count++] =
        (play_place){.policy = policy, .runs_c = true, .is_host = is_host};
}

static void begin_places(unsigned devices)
{
    const dynsel_options all = {.resources = resources, .count = resource_count};
    const dynsel_options some = {.resources = resources + resource_count - devices,
                                 .count = devices};
    world.count = 0;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&in_turn, &all, 0));
    add_place(&in_turn.policy, true);
    if (world.devices_fail) {
        return;
    }
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_host, &all, 0));
    add_place(&on_host.policy, true);
    world.places[world.count - 1].only = 1;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_device, &all, resource_count - 1));
    add_place(&on_device.policy, false);
    world.places[world.count - 1].only = resource_count;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&on_devices, &some, 0));
    add_place(&on_devices.policy, false);
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&balanced, &all));
    add_place(&balanced.policy, true);
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuned, &all, DYNSEL_NEVER_RESAMPLE));
    add_place(&tuned.policy, true);
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    add_place(&finisher.policy, true);
#endif
}

static void end_places(void)
{
    for (unsigned i = 0; i < world.count; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(world.places[i].policy));
    }
    memset(&on_host, 0, sizeof on_host);
    memset(&on_device, 0, sizeof on_device);
    memset(&in_turn, 0, sizeof in_turn);
    memset(&on_devices, 0, sizeof on_devices);
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    memset(&balanced, 0, sizeof balanced);
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    memset(&tuned, 0, sizeof tuned);
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    memset(&finisher, 0, sizeof finisher);
#endif
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
/* In most worlds, between most domains. */
static void begin_passing(test_random *random, unsigned devices)
{
    if (test_random_below(random, 4) == 0) {
        return;
    }
    forget_domains();
    simulated_let_pass(&simulated);
    for (unsigned i = 0; i < devices; i++) {
        const unsigned some = (unsigned)test_random_next(random);
        simulated.devices[i].apart = some & (unsigned)test_random_next(random);
        simulated.devices[i].shares = simulated.devices[i].shares && devices % 2 != 0;
    }
}
#endif

/* Few domains: of several devices, some share one. Where devices fail there are no events to come
 * after: with such an event what only comes later would fail as well, as OpenCL has it. */
static void begin_devices(test_random *random, unsigned devices)
{
    world.devices_fail = test_random_below(random, 4) == 0;
    simulated_lacks = world.devices_fail ? NULL : &program_kernels[BROKEN];
    for (unsigned i = 0; i < devices; i++) {
        simulated_device *device = &simulated.devices[i];
        device->domain = 1 + test_random_below(random, DOMAINS);
        device->in_order = test_random_below(random, 2) == 0;
        device->pace =
            test_random_below(random, 3) == 0 ? SIMULATED_AT_ONCE : SIMULATED_WHEN_POLLED;
        device->polls = 1 + test_random_below(random, 1u << test_random_below(random, 6));
    }
    for (unsigned i = 0; i < devices && world.devices_fail; i++) {
        simulated.devices[i].domain = i + 1;
        simulated.devices[i].in_order = true;
    }
    for (unsigned i = 0; i < devices; i++) { /* sharing is a matter of the domain */
        simulated.devices[i].shares =
            (random->state >> (20 + simulated.devices[i].domain) & 1) != 0;
        simulated.devices[i].maps_first = (random->state >> 19 & 1) != 0;
        simulated.devices[i].prepares = (random->state >> 21 & 1) != 0;
        simulated.devices[i].moves_beside = (random->state >> (25 + i) & 1) != 0;
        simulated.devices[i].looks_at_start = (random->state >> 23 & 1) != 0;
    }
}

static void fail_some(uint64_t seed)
{
    test_random random = {seed + 1};
    simulated.random = seed;
    simulated.failures_are_losses = false;
    world.may_lose = false;
    static const unsigned late_kinds =
        SIMULATED_BRING | SIMULATED_FETCH | SIMULATED_LAUNCH | SIMULATED_PASS;
    for (unsigned i = 0; i < world.count; i++) {
        for (size_t r = 0; r < world.places[i].policy->count; r++) {
            put_in_service(world.places[i].policy, r);
        }
    }
    if (test_random_below(&random, 2) == 0) {
        const bool late = test_random_below(&random, 2) == 0;
        const unsigned kinds = late ? late_kinds : late_kinds | SIMULATED_ALLOCATE;
        simulated.failures_are_losses = test_random_below(&random, 2) == 0;
        world.may_lose = late || simulated.failures_are_losses;
        simulated_fail(&simulated, kinds & (unsigned)test_random_next(&random),
                       1 + test_random_below(&random, 20), late, DYNSEL_E_DEVICE);
    }
}

static void delay_some(uint64_t seed)
{
    test_random random = {seed + 2};
    simulated.random = seed;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        atomic_store(&simulated.devices[i].full_for,
                     test_random_below(&random, 2) * test_random_below(&random, 12));
    }
}

static bool is_clean(void)
{
    simulated_fail(&simulated, 0, 0, false, DYNSEL_OK);
    return atomic_exchange(&simulated.mistakes, 0u) == 0;
}

static void describe(void)
{
    print_message("  %u resources; devices:\n", (unsigned)resource_count);
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        const simulated_device *device = &simulated.devices[i];
        print_message("  %u: domain %u of %u bytes, apart from %x, %s order, %s%s%s%s\n", i,
                      (unsigned)device->domain, (unsigned)simulated.limits[device->domain],
                      device->apart & ((2u << SIMULATED_DOMAINS) - 1),
                      device->in_order ? "in" : "out of",
                      device->pace == SIMULATED_AT_ONCE ? "at once" : "when polled",
                      !device->shares      ? ""
                      : device->maps_first ? ", shares what the host has first"
                                           : ", shares",
                      device->prepares ? ", prepares new memory" : "",
                      device->moves_beside ? ", moves data beside its work" : "");
    }
    print_message("  %s%s\n", simulated.waits_deliver ? "waits deliver; " : "",
                  world.follows        ? "operations fail"
                  : world.devices_fail ? "kernels fail on devices"
                                       : "");
}

/* As a device does whose driver finds something wrong with it. */
static dynsel_status refuse(const dynsel_command *command)
{
    if (command->kind != DYNSEL_COMMAND_KERNEL || command->kernel != &program_kernels[REFUSED]) {
        return DYNSEL_OK;
    }
    const dynsel_launch *const launch = &command->launch;
    const job_words *const job = launch->arguments[launch->argument_count - 1].value;
    return dynsel_fail(&(dynsel_error){.status = kernel_failure(REFUSED),
                                       .function = "refused",
                                       .code = (int32_t)job->words[JOB_CODE]});
}

static unsigned add_resources(test_random *random)
{
    resource_count = 0;
    resources[resource_count++] = (dynsel_resource){.backend = &dynsel_inline_backend};
#if CONFIG_DYNSEL_BACKEND_THREADS
    size_t workers = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(WORKERS));
    assert_status(DYNSEL_OK, dynsel_threads_resources(resources + 1, WORKERS, &workers));
    resource_count += workers;
#endif
    const unsigned most = (unsigned)(MOST_RESOURCES - resource_count);
    const unsigned devices =
        1 + test_random_below(random, most < SIMULATED_DEVICES ? most : SIMULATED_DEVICES);
    for (unsigned i = 0; i < devices; i++) {
        resources[resource_count++] = simulated_resource(&simulated, i);
    }
    return devices;
}

static void begin_world(uint64_t seed)
{
    test_random random = {seed};
    simulated_reset(&simulated, seed, test_random_below(&random, 2) == 0);
    const unsigned devices = add_resources(&random);
    begin_devices(&random, devices);
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    begin_passing(&random, devices);
#endif
    world.follows = test_random_below(&random, 4) == 0;
    world.allowed[0] = DYNSEL_E_FULL;
    world.allowed[1] = DYNSEL_E_DEVICE;
    world.allowed[2] = DYNSEL_E_OUT_OF_SERVICE;
    world.allowed[3] = DYNSEL_E_DEPENDENCY; /* what it brought failed */
    world.before = world.follows ? fail_some : delay_some;
    world.after = is_clean;
    world.describe = describe;
    world.refuses = true;
    simulated_refuse = refuse;
    if (world.follows) {
        for (unsigned i = 1; i <= SIMULATED_DOMAINS; i++) {
            simulated.limits[i] = PROGRAM_BYTES + test_random_below(&random, 4 * PROGRAM_BYTES);
        }
    }
    begin_places(devices);
    play_begin(&world, seed);
}

static void end_world(void)
{
    assert_true(play_end(&world));
    end_places();
    simulated_assert_clean(&simulated, true);
}

static void random_programs_agree_with_interpreter(void **state)
{
    (void)state;
    const unsigned programs = play_count(PROGRAMS);
    test_random random = {test_seed()};
    for (unsigned i = 0; i < programs; i++) {
        if (i % PROGRAMS_OF_A_WORLD == 0) {
            if (i > 0) {
                end_world();
            }
            begin_world(test_random_next(&random));
        }
        assert_true(play_program(&world, test_random_next(&random), !world.follows));
    }
    if (programs > 0) {
        end_world();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_agree_with_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
