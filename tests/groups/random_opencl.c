/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/random_opencl.h"

#include <dynsel/dynsel.h>

#include <stdlib.h>
#include <string.h>

#include "groups/play.h"
#include "random.h"
#include "test.h"

enum { PROGRAMS_OF_A_WORLD = 50, MOST_FOUND = 2, MOST_RESOURCES = 5 };

static dynsel_resource resources[MOST_RESOURCES];
static size_t resource_count;
static cl_context own_context;
static cl_command_queue own_queues[2];
static play_world world;

static dynsel_fixed_resource_policy on_host;
static dynsel_fixed_resource_policy on_device;
static dynsel_round_robin_policy in_turn;
static dynsel_round_robin_policy on_devices;
static dynsel_dynamic_load_policy balanced;
static dynsel_auto_tune_policy tuned;
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_earliest_finish_policy finisher;
#endif

static void *adapt(void *handle)
{
    const bool own = handle == own_queues[0] || handle == own_queues[1];
    return own ? dynsel_opencl_adopt(handle) : handle;
}

static size_t find_devices(void)
{
    size_t found = 0;
    assert_status(DYNSEL_OK,
                  dynsel_opencl_select("all;emulator", resources + 1, MOST_FOUND, &found));
    const char *expected = getenv("DYNSEL_EXPECT_DEVICES");
    assert_true(expected == NULL || found == (size_t)strtol(expected, NULL, 10));
    return found;
}

static void make_own_queues(cl_device_id device)
{
    cl_int code = CL_SUCCESS;
    own_context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_command_queue_properties can = 0;
    assert_int_equal(clGetDeviceInfo(device, CL_DEVICE_QUEUE_PROPERTIES, sizeof can, &can, NULL),
                     CL_SUCCESS);
    for (unsigned i = 0; i < 2; i++) {
        const cl_command_queue_properties wanted =
            i == 0 ? 0 : can & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        own_queues[i] = clCreateCommandQueue(own_context, device, wanted, &code);
        assert_int_equal(code, CL_SUCCESS);
    }
}

static void find_resources(void)
{
    resources[0] = (dynsel_resource){.backend = &dynsel_inline_backend, .handle = resources};
    resource_count = 1 + find_devices();
    make_own_queues(dynsel_opencl_device(&resources[resource_count - 1]));
    for (unsigned i = 0; i < 2; i++) {
        resources[resource_count++] =
            (dynsel_resource){.backend = &dynsel_opencl_backend, .handle = own_queues[i]};
    }
}

static void add_place(dynsel_policy *policy, bool is_host, bool is_device)
{
    world.places[world.count++] = (play_place){
        .policy = policy, .runs_c = is_host, .is_host = is_host, .takes_source = is_device};
}

int random_opencl_begin(void **state)
{
    (void)state;
    find_resources();
    const dynsel_options all = {.resources = resources, .count = resource_count, .adapt = adapt};
    const dynsel_options some = {
        .resources = resources + 1, .count = resource_count - 1, .adapt = adapt};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&in_turn, &all, 0));
    add_place(&in_turn.policy, true, true);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_host, &all, 0));
    add_place(&on_host.policy, true, false);
    world.places[world.count - 1].only = 1;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_device, &all, resource_count - 2));
    add_place(&on_device.policy, false, true);
    world.places[world.count - 1].only = resource_count - 1;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&on_devices, &some, 0));
    add_place(&on_devices.policy, false, true);
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&balanced, &all));
    add_place(&balanced.policy, true, true);
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuned, &all, DYNSEL_NEVER_RESAMPLE));
    add_place(&tuned.policy, true, true);
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    assert_status(DYNSEL_OK, dynsel_earliest_finish_init(&finisher, &all));
    add_place(&finisher.policy, true, true);
#endif
    return 0;
}

int random_opencl_end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < world.count; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(world.places[i].policy));
    }
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(clReleaseCommandQueue(own_queues[i]), CL_SUCCESS);
    }
    assert_int_equal(clReleaseContext(own_context), CL_SUCCESS);
    return 0;
}

void random_opencl_play(unsigned programs, bool (*after)(void))
{
    world.after = after;
    test_random random = {test_seed()};
    for (unsigned i = 0; i < programs; i++) {
        if (i % PROGRAMS_OF_A_WORLD == 0) {
            assert_true(i == 0 || play_end(&world));
            play_begin(&world, test_random_next(&random));
        }
        assert_true(play_program(&world, test_random_next(&random), true));
    }
    assert_true(programs == 0 || play_end(&world));
}
