/* SPDX-License-Identifier: Apache-2.0 */
/* Devices with memory of their own come and go while command groups use buffers: what only the
 * memory of a device had is at the host when the device has left, and nothing is lost. */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <string.h>

#include "data/buffers.h"
#include "random.h"
#include "support/places_fixture.h"

enum { BUFFERS = 4, STEPS = 1500, LIVES = 20, SHARED_DOMAIN = 3, FOREVER_NS = 2000000000 };

static union {
    dynsel_policy policy;
    dynsel_round_robin_policy round_robin;
    dynsel_dynamic_load_policy dynamic_load;
} any;

static dynsel_policy *const policy = &any.policy;
static int32_t numbers[BUFFERS][ELEMENTS];
static int32_t expected[BUFFERS][ELEMENTS];
static dynsel_buffer buffers[BUFFERS];
static uint64_t seed;

static int set_up(void **state)
{
    (void)state;
    places_begin(true);
    (void)memset(&any, 0, sizeof any);
    return 0;
}

/* Over the devices whose bits are set. */
static void begin(unsigned devices, bool by_load)
{
    dynsel_resource resources[SIMULATED_DEVICES];
    size_t count = 0;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        if ((devices >> i & 1) != 0) {
            resources[count++] = simulated_resource(&sim, i);
        }
    }
    const dynsel_options options = {.resources = resources, .count = count, .may_change = true};
    assert_status(DYNSEL_OK, by_load ? dynsel_dynamic_load_init(&any.dynamic_load, &options)
                                     : dynsel_round_robin_init(&any.round_robin, &options, 0));
}

static void end(void)
{
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_true(dynsel_invariants_hold(policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
}

static bool has_memory(unsigned device)
{
    bool found = false;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        found =
            found || dynsel_buffers[i].copies[sim.devices[device].domain - 1].memory.native != NULL;
    }
    return found;
}

static void removed_device_leaves_its_results_at_the_host(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    begin(1, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    const dynsel_resource other = simulated_resource(&sim, 1);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &other, NULL));
    assert_moved(buffer, 0, 0, 1);
    assert_true(has_memory(0));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    assert_moved(buffer, 0, 1, 1);
    assert_false(has_memory(0));
    const job add = add_to(buffer, 1);
    assert_status(DYNSEL_OK, run_job_with(policy, &add));
    end_buffer(&buffer, data, 6, 1);
    end();
}

/* What is valid elsewhere, too, is not copied, and what a resource that stays can reach is left. */
static void only_what_would_be_lost_is_copied(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    sim.devices[2].domain = SHARED_DOMAIN;
    sim.devices[3].domain = SHARED_DOMAIN;
    begin(4 | 8, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    assert_moved(buffer, 0, 0, 1);
    assert_true(has_memory(3));
    see_buffer(buffer, 5, 1);
    assert_moved(buffer, 0, 1, 1);
    const dynsel_resource other = simulated_resource(&sim, 1);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &other, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 1, FOREVER_NS));
    assert_moved(buffer, 0, 1, 1);
    assert_false(has_memory(3));
    end_buffer(&buffer, data, 5, 1);
    end();
}

/* A backend that is attached anew may give the resource another domain than before. */
static void resource_that_comes_back_is_asked_for_its_domain(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    begin(1 | 2, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    const uint32_t before = sim.devices[0].domain;
    sim.devices[0].domain = SHARED_DOMAIN;
    const dynsel_resource back = simulated_resource(&sim, 0);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &back, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 1, FOREVER_NS));
    const job add = add_to(buffer, 1);
    assert_status(DYNSEL_OK, run_job_with(policy, &add));
    assert_true(has_memory(0));
    sim.devices[0].domain = before;
    assert_false(has_memory(0));
    sim.devices[0].domain = SHARED_DOMAIN;
    end_buffer(&buffer, data, 6, 1);
    end();
}

static void failed_copy_can_be_tried_again(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    begin(3, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    assert_status(DYNSEL_E_DEVICE, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    dynsel_resource_state seen = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_OK, dynsel_resource_get_state(policy, 0, &seen));
    assert_int_equal(DYNSEL_RESOURCE_OUT_OF_SERVICE, seen);
    assert_true(has_memory(0));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    assert_false(has_memory(0));
    end_buffer(&buffer, data, 5, 1);
    end();
}

static dynsel_status during_the_copy[2];

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

/* A program that takes the removal back while data are copied comes too late. */
static void come_too_late(unsigned device, simulated_kind kind)
{
    dynsel_selection selection = {.policy = policy, .index = 0};
    if (device == 0 && kind == SIMULATED_FETCH) {
        sim.taking_place = NULL;
        during_the_copy[0] = dynsel_resource_reinstate(policy, 0);
        during_the_copy[1] =
            dynsel_try_submit_selection(&selection, &DYNSEL_TASK(do_nothing, NULL), NULL);
    }
}

static void no_work_comes_while_data_are_copied(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    begin(3, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    sim.taking_place = come_too_late;
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    assert_null(sim.taking_place);
    assert_status(DYNSEL_OK, during_the_copy[0]);
    assert_status(DYNSEL_E_OUT_OF_SERVICE, during_the_copy[1]);
    dynsel_resource_state seen = DYNSEL_RESOURCE_LOST;
    assert_status(DYNSEL_OK, dynsel_resource_get_state(policy, 0, &seen));
    assert_int_equal(DYNSEL_RESOURCE_REMOVED, seen);
    end_buffer(&buffer, data, 5, 1);
    end();
}

/* An open host accessor of the program has the newest data, and others wait for it. */
static void open_accessor_is_in_nobodys_way(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    begin(3, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    dynsel_host_accessor mine = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&mine, buffer, DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&mine));
    end_buffer(&buffer, data, 5, 1);
    end();
}

/* The copy comes behind groups that were to write the buffer, but never begin. */
static void data_are_copied_behind_groups_that_never_begin(void **state)
{
    (void)state;
    enum { GROUPS = 2 };
    int32_t data[ELEMENTS] = {0};
    int32_t inputs[GROUPS][ELEMENTS] = {{0}};
    dynsel_buffer input[GROUPS];
    dynsel_submission submissions[GROUPS];
    begin(3, false);
    dynsel_buffer buffer = new_buffer(data);
    const job set = set_all(buffer, 5);
    assert_status(DYNSEL_OK, run_job_with(policy, &set));
    sim.devices[2].pace = SIMULATED_BY_HAND;
    for (unsigned i = 0; i < GROUPS; i++) {
        input[i] = new_buffer(inputs[i]);
        const job fails = {.kind = FAIL, .value = DYNSEL_E_INVALID, .buffers = {input[i]}};
        const job depends = copy_to(buffer, input[i]);
        assert_status(DYNSEL_OK, send_job(2, &fails, NULL));
        assert_status(DYNSEL_OK, send_job(1, &depends, &submissions[i]));
    }
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, FOREVER_NS));
    assert_false(has_memory(0));
    for (unsigned i = 0; i < GROUPS; i++) {
        assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[i]));
        assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&input[i]));
    }
    end_buffer(&buffer, data, 5, 1);
    assert_status(DYNSEL_E_INVALID,
                  dynsel_wait_group(dynsel_get_submission_group(&places[2].policy)));
    end();
}

/* The removal ends, also without a limit, and frees the memory that they are in. */
static void lost_data_are_not_copied(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    begin(3, false);
    dynsel_buffer buffer = new_buffer(data);
    const job fails = {.kind = FAIL, .value = DYNSEL_E_INVALID, .buffers = {buffer}};
    assert_status(DYNSEL_E_INVALID, run_job_with(policy, &fails));
    assert_true(has_memory(0));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, UINT64_MAX));
    assert_moved(buffer, 1, 0, 0);
    assert_false(has_memory(0));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&buffer));
    end();
}

/* A group that waits for work of another policy, and is for the resource that leaves. */
static void waiting_group_goes_elsewhere(void **state)
{
    (void)state;
    int32_t data[ELEMENTS] = {0};
    sim.devices[2].pace = SIMULATED_BY_HAND;
    begin(3, false);
    dynsel_buffer buffer = new_buffer(data);
    const job first = set_all(buffer, 5);
    const job second = add_to(buffer, 1);
    dynsel_submission submission;
    assert_status(DYNSEL_OK, send_job(2, &first, NULL));
    assert_status(DYNSEL_OK, send_job_with(policy, &second, &submission));
    assert_int_equal(0, submission.index);
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(policy, 0, 0));
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_ptr_equal(&sim.devices[1], dynsel_submission_resource(&submission)->handle);
    end_buffer(&buffer, data, 6, 1);
    end();
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES
static dynsel_status increment(const dynsel_launch *launch)
{
    *(int32_t *)dynsel_launch_data(launch, 0) += 1;
    return DYNSEL_OK;
}

/* Devices have no form of it. */
static const dynsel_kernel for_host = {.name = "for_host", .function = increment};

static dynsel_status increment_first(dynsel_handler *handler, void *args)
{
    dynsel_accessor accessor = {.name = "first"};
    (void)dynsel_get_access(handler, *(const dynsel_buffer *)args, DYNSEL_ACCESS_READ_WRITE,
                            DYNSEL_MEMORY_GLOBAL, &accessor);
    (void)dynsel_set_arg_accessor(handler, 0, &accessor);
    return dynsel_single_task(handler, &for_host);
}

/* Another thread adds the device between the library's look at the resources and the choice. */
static void *add_device(void *status)
{
    const dynsel_resource device = simulated_resource(&sim, 0);
    *(dynsel_status *)status = dynsel_policy_add_resource(policy, &device, NULL);
    return NULL;
}

static unsigned choices;

static dynsel_status choose_last(dynsel_policy *base, const dynsel_task *task,
                                 dynsel_selection *selection)
{
    if (choices++ == 0) {
        dynsel_status status = DYNSEL_E_UNSUPPORTED;
        pthread_t other;
        assert_int_equal(0, pthread_create(&other, NULL, add_device, &status));
        assert_int_equal(0, pthread_join(other, NULL));
        assert_status(DYNSEL_OK, status);
    }
    size_t count = 0;
    (void)dynsel_get_resources(base, &count);
    while (count > 0 && !dynsel_policy_may_use(base, (uint32_t)count - 1, task)) {
        count--;
    }
    selection->index = (uint32_t)count - 1;
    return count > 0 ? DYNSEL_OK : dynsel_policy_refuse(base, task);
}

static dynsel_status take_any(dynsel_policy *base, uint32_t index)
{
    (void)base;
    (void)index;
    return DYNSEL_OK;
}

static void resource_that_comes_during_a_choice_is_looked_at(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {
        .name = "last", .try_select = choose_last, .add_resource = take_any};
    int32_t data[ELEMENTS] = {41};
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &host, .count = 1, .may_change = true};
    choices = 0;
    simulated_lacks = &for_host;
    assert_status(DYNSEL_OK, dynsel_policy_init(policy, &ops, &options));
    dynsel_buffer buffer = new_buffer(data);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(policy, increment_first, &buffer));
    assert_int_equal(2, choices);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(42, data[0]);
    simulated_lacks = NULL;
    end();
}
#endif

static void play_job(test_random *random)
{
    const uint32_t a = test_random_below(random, BUFFERS);
    const uint32_t b = (a + 1 + test_random_below(random, BUFFERS - 1)) % BUFFERS;
    const int32_t value = (int32_t)test_random_below(random, 100);
    job what;
    switch (test_random_below(random, 4)) {
    case 0:
        what = set_all(buffers[a], value);
        for (int32_t i = 0; i < ELEMENTS; i++) {
            expected[a][i] = value + i;
        }
        break;
    case 1:
        what = copy_to(buffers[a], buffers[b]);
        (void)memcpy(expected[a], expected[b], sizeof expected[a]);
        break;
    default:
        what = add_to(buffers[a], value);
        for (unsigned i = 0; i < ELEMENTS; i++) {
            expected[a][i] += value;
        }
    }
    what.id = 1 + (uint32_t)what.kind;
    assert_status(DYNSEL_OK, send_job_with(policy, &what, NULL));
}

static void look_at_one(test_random *random)
{
    const uint32_t a = test_random_below(random, BUFFERS);
    dynsel_host_accessor accessor = {.data = NULL};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, buffers[a], DYNSEL_ACCESS_READ));
    assert_memory_equal(expected[a], accessor.data, sizeof expected[a]);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
}

static unsigned count_in(unsigned set)
{
    unsigned count = 0;
    for (; set != 0; set &= set - 1) {
        count++;
    }
    return count;
}

/* in: the devices that the policy has, as bits. */
static void change_one(test_random *random, unsigned *in)
{
    const unsigned device = test_random_below(random, SIMULATED_DEVICES);
    const unsigned bit = 1u << device;
    const dynsel_resource resource = simulated_resource(&sim, device);
    if ((*in & bit) == 0) {
        assert_status(DYNSEL_OK, dynsel_policy_add_resource(policy, &resource, NULL));
        *in |= bit;
        return;
    }
    size_t count = 0;
    size_t index = 0;
    const dynsel_resource *const resources = dynsel_get_resources(policy, &count);
    while (resources[index].handle != resource.handle) {
        index++;
    }
    const dynsel_status status = dynsel_policy_remove_resource(policy, index, FOREVER_NS);
    assert_status(count_in(*in) > 1 ? DYNSEL_OK : DYNSEL_E_NO_RESOURCE, status);
    if (status == DYNSEL_OK) {
        *in &= ~bit;
        assert_true(sim.devices[device].domain == SHARED_DOMAIN || !has_memory(device));
    }
}

static void change_all(test_random *random, unsigned *in)
{
    const unsigned wanted = 1 + test_random_below(random, (1u << SIMULATED_DEVICES) - 1);
    dynsel_resource resources[SIMULATED_DEVICES];
    size_t count = 0;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        if ((wanted >> i & 1) != 0) {
            resources[count++] = simulated_resource(&sim, i);
        }
    }
    const dynsel_options options = {.resources = resources, .count = count};
    assert_status(DYNSEL_OK, dynsel_policy_set_resources(policy, &options, FOREVER_NS));
    *in = wanted;
}

static void live(test_random *random, bool by_load)
{
    unsigned in = 5;
    begin(in, by_load);
    for (unsigned i = 0; i < BUFFERS; i++) {
        (void)memset(numbers[i], 0, sizeof numbers[i]);
        (void)memset(expected[i], 0, sizeof expected[i]);
        buffers[i] = new_buffer(numbers[i]);
    }
    for (unsigned step = 0; step < STEPS; step++) {
        const uint32_t what = test_random_below(random, 32);
        if (what < 24) {
            play_job(random);
        } else if (what < 28) {
            look_at_one(random);
        } else if (what < 31) {
            change_one(random, &in);
        } else {
            change_all(random, &in);
        }
    }
    for (unsigned i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
        assert_memory_equal(expected[i], numbers[i], sizeof expected[i]);
    }
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        /* one of the other policies, which always have it */
        assert_int_equal(1 + (in >> i & 1), atomic_load(&sim.devices[i].attached));
    }
    end();
}

static void random_course_gives_the_results_of_a_plain_program(void **state)
{
    (void)state;
    test_random random = {.state = seed};
    for (unsigned k = 0; k < LIVES; k++) {
        for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
            sim.devices[i].pace =
                (simulated_pace)test_random_below(&random, SIMULATED_BY_HAND); /* not by hand */
            sim.devices[i].polls = 3;
            sim.devices[i].in_order = test_random_below(&random, 4) != 0;
        }
        sim.devices[2].domain = SHARED_DOMAIN;
        sim.devices[3].domain = k % 2 == 0 ? SHARED_DOMAIN : SHARED_DOMAIN + 1;
        (void)memset(&any, 0, sizeof any);
        live(&random, k % 2 != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(removed_device_leaves_its_results_at_the_host),
        TEST(only_what_would_be_lost_is_copied),
        TEST(resource_that_comes_back_is_asked_for_its_domain),
        TEST(failed_copy_can_be_tried_again),
        TEST(no_work_comes_while_data_are_copied),
        TEST(open_accessor_is_in_nobodys_way),
        TEST(data_are_copied_behind_groups_that_never_begin),
        TEST(lost_data_are_not_copied),
        TEST(waiting_group_goes_elsewhere),
#if CONFIG_DYNSEL_CUSTOM_POLICIES
        TEST(resource_that_comes_during_a_choice_is_looked_at),
#endif
        TEST(random_course_gives_the_results_of_a_plain_program),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
