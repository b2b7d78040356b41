/* SPDX-License-Identifier: Apache-2.0 */
/* The work-group sizes that launches on GPUs try: which, when, and which one stays. */
#include "fixture.h"

#include <dynsel/memory.h>

static const fake_device devices[] = {
    {.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
    {.name = "cpu", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
    {.name = "poor", .vendor = "V", .type = CL_DEVICE_TYPE_GPU, .no_profiling = true},
};
static const fake_platform machine[] = {{.name = "P", .count = COUNT(devices), .devices = devices}};

enum {
    GPU,
    CPU,
    POOR_GPU,
    DEVICES,
    FIRST = 32,
    INTERVAL = 8,
    MOST_TRIALS = 24,
    ENOUGH = FIRST + (MOST_TRIALS + 2) * INTERVAL
};

static const cl_ulong US = 1000;
static const size_t any_size[3] = {0};

static dynsel_resource resources[DEVICES];
static dynsel_memory memories[DEVICES];
static uint32_t host[64];
static const char name[] = "k";
static const char source[] = "kernel void k(...)";
static const dynsel_kernel plain = {.name = name, .source = source};
static const dynsel_kernel of_any_size = {.name = name, .source = source, .any_group_size = true};
static const dynsel_kernel *kernel;

/* How long the device runs a launch. */
typedef cl_ulong (*time_fn)(const fake_launch *launch);

static time_fn time_of_launch;
static cl_command_queue queues[DEVICES];
static uint32_t trials; /* launches that were on another queue than the device's */

static const dynsel_memory_ops *ops(void)
{
    return dynsel_opencl_backend.ops->memory;
}

static void set_up_with(const dynsel_opencl_options *options)
{
    size_t count = 0;
    (void)unsetenv("DYNSEL_OPENCL");
    /* what the backend does with memory is only in programs that use command groups */
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(NULL, NULL, 0, NULL, NULL));
    show(machine, 1);
    trials = 0;
    kernel = &plain;
    assert_status(DYNSEL_OK, dynsel_opencl_configure(options));
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", resources, COUNT(resources), &count));
    assert_int_equal(count, DEVICES);
    for (int i = 0; i < DEVICES; i++) {
        queues[i] = dynsel_opencl_queue(&resources[i]);
        assert_non_null(queues[i]);
        memories[i] = (dynsel_memory){.host = host, .bytes = sizeof(host)};
        assert_status(DYNSEL_OK,
                      ops()->allocate(&dynsel_opencl_backend, resources[i].handle, &memories[i]));
    }
}

static int set_up_devices(void **state)
{
    (void)state;
    set_up_with(NULL);
    return 0;
}

static int tear_down_devices(void **state)
{
    for (int i = 0; i < DEVICES; i++) {
        ops()->release(&dynsel_opencl_backend, resources[i].handle, &memories[i]);
    }
    const int result = tear_down(state);
    assert_status(DYNSEL_OK, dynsel_opencl_configure(NULL));
    return result;
}

static dynsel_status try_launch(int device, dynsel_range global, dynsel_range local)
{
    void *const own = resources[device].handle;
    uint32_t value = 0;
    dynsel_event done = {.native = NULL};
    const dynsel_argument arguments[] = {
        {.kind = DYNSEL_ARGUMENT_DATA,
         .memory = &memories[device],
         .value = host,
         .bytes = sizeof(host)},
        {.kind = DYNSEL_ARGUMENT_VALUE, .value = &value, .bytes = sizeof(value)}};
    const dynsel_command command = {
        .kind = DYNSEL_COMMAND_KERNEL,
        .kernel = kernel,
        .launch = {.global = global, .local = local, .arguments = arguments, .argument_count = 2}};
    const dynsel_status status = ops()->launch(&dynsel_opencl_backend, own, &command, &done);
    dynsel_work work = {.own = own, .done = done};
    if (done.native != NULL) {
        cl_command_queue queue = queues[device]; /* stays where the test lets this call fail */
        (void)clGetEventInfo(done.opencl, CL_EVENT_COMMAND_QUEUE, sizeof(queue), (void *)&queue,
                             NULL);
        trials += queue != queues[device] ? 1 : 0;
        if (time_of_launch != NULL) {
            const fake_launch seen = fake_opencl_last_launch();
            fake_opencl_set_profile(1, 1, 2, 2 + time_of_launch(&seen));
        }
        (void)clFlush(queues[device]);
        dynsel_opencl_backend.ops->release(&dynsel_opencl_backend, &work);
    }
    return status;
}

static fake_launch launch(int device, dynsel_range global)
{
    assert_status(DYNSEL_OK, try_launch(device, global, (dynsel_range){0}));
    return fake_opencl_last_launch();
}

static void launch_often(int device, dynsel_range global, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)launch(device, global);
    }
}

static void assert_local(fake_launch seen, size_t x, size_t y, size_t z)
{
    const size_t expected[] = {x, y, z};
    for (cl_uint i = 0; i < DYNSEL_MAX_DIMENSIONS; i++) {
        assert_int_equal(i < seen.dimensions ? seen.local[i] : expected[i], expected[i]);
    }
}

/* Memory that is read along columns. */
static cl_ulong prefers_tall(const fake_launch *launch)
{
    return launch->local[0] == 4 && launch->local[1] == 64 ? 50 * US : 170 * US;
}

static cl_ulong prefers_short_rows(const fake_launch *launch)
{
    return launch->local[0] <= 64 ? 100 * US : 120 * US;
}

static cl_ulong prefers_many(const fake_launch *launch)
{
    return 200 * US - launch->local[0] * 50;
}

static cl_ulong hardly_prefers_tall(const fake_launch *launch)
{
    return launch->local[0] == 4 ? 98 * US : 100 * US;
}

static cl_ulong slightly_prefers_tall(const fake_launch *launch)
{
    return launch->local[0] == 4 ? 96 * US : 100 * US;
}

static cl_ulong is_short(const fake_launch *launch)
{
    return launch->local[0] == 4 ? 1 * US : 19 * US;
}

/* Each other run of the usual size is disturbed, and the first of each other size. */
static cl_ulong is_noisy(const fake_launch *launch)
{
    static uint32_t runs;
    runs++;
    return (launch->local[0] == 256 && runs % 2 == 0) || (launch->local[0] != 256 && runs % 3 == 0)
               ? 300 * US
               : 100 * US;
}

/* The best size is disturbed at first. */
static cl_ulong is_best_later(const fake_launch *launch)
{
    static uint32_t runs;
    runs += launch->local[0] == 16 ? 1 : 0;
    return launch->local[0] == 16   ? (runs == 1 ? 85 : 75) * US
           : launch->local[0] == 32 ? 80 * US
                                    : 100 * US;
}

static void fastest_size_stays(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    fake_opencl_set_local_memory(1); /* NVIDIA's driver tells this of kernels that use none */
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_true(trials >= 8 && trials <= MOST_TRIALS);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 4, 64, 1);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(512, 100)), 4, 64, 1); /* all ranges like it */
    assert_local(launch(GPU, DYNSEL_RANGE(4096)), 256, 1, 1);       /* and no others */
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 4, 64, 1);
    const uint32_t before = trials;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), 3 * INTERVAL);
    assert_int_equal(trials, before); /* they are over */
}

static void each_number_of_dimensions_has_its_sizes(void **state)
{
    (void)state;
    time_of_launch = prefers_many;
    launch_often(GPU, DYNSEL_RANGE(1 << 16), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE(1 << 16)), 256, 1, 1); /* the fake's most */
    (void)tear_down_devices(state);
    (void)set_up_devices(state);
    fake_opencl_set_work_groups(1024, any_size);
    launch_often(GPU, DYNSEL_RANGE(1 << 16), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE(1 << 16)), 1024, 1, 1);
    (void)tear_down_devices(state);
    (void)set_up_devices(state);
    time_of_launch = prefers_short_rows;
    launch_often(GPU, DYNSEL_RANGE_3D(64, 64, 256), ENOUGH);
    assert_true(launch(GPU, DYNSEL_RANGE_3D(64, 64, 256)).local[0] <= 64);
}

static void sizes_divide_odd_ranges(void **state)
{
    static const size_t odd[] = {1, 3, 17, 100, 127, 640, 1920};
    (void)state;
    time_of_launch = prefers_tall; /* the fake refuses sizes that do not divide */
    for (size_t i = 0; i < COUNT(odd); i++) {
        launch_often(GPU, DYNSEL_RANGE_2D(60, odd[i]), FIRST + 4 * INTERVAL);
    }
    launch_often(GPU, DYNSEL_RANGE_3D(6, 10, 100), FIRST);
}

/* All limits lead to the same size, which is tried in each of the three rounds. */
static void equal_sizes_are_one(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    launch_often(GPU, DYNSEL_RANGE(64), ENOUGH);
    assert_int_equal(trials, 3);
}

static void no_size_exceeds_the_most_of_the_kernel(void **state)
{
    (void)state;
    fake_opencl_set_work_groups(100, any_size);
    time_of_launch = prefers_tall;
    for (uint32_t i = 0; i < ENOUGH; i++) {
        const fake_launch seen = launch(GPU, DYNSEL_RANGE_2D(1024, 1024));
        assert_true(seen.local[0] * seen.local[1] <= 100);
    }
    assert_true(trials != 0);
}

static void usual_size_stays_where_others_are_hardly_faster(void **state)
{
    (void)state;
    time_of_launch = hardly_prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_true(trials > 8); /* those that are near are tried again */
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
}

static void slightly_faster_size_is_chosen(void **state)
{
    (void)state;
    time_of_launch = slightly_prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 4, 64, 1);
}

static void noise_does_not_mislead(void **state)
{
    (void)state;
    time_of_launch = is_noisy;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
}

static void sizes_near_the_best_are_tried_again(void **state)
{
    (void)state;
    time_of_launch = is_best_later;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 16, 16, 1);
}

static void short_kernel_is_tried_once(void **state)
{
    (void)state;
    time_of_launch = is_short;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_int_equal(trials, 1);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
}

static void first_launches_are_no_trials(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST);
    assert_int_equal(trials, 0);
    assert_int_equal(fake_opencl_queues_of("gpu"), 1);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), 1);
    assert_int_equal(trials, 1);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), INTERVAL - 1);
    assert_int_equal(trials, 1);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), 1);
    assert_int_equal(trials, 2);
}

/* On which devices, and for which kernels and launches, nothing is tried. */
static void nothing_is_tried_elsewhere(void **state)
{
    static const size_t demanded[3] = {16, 4, 1};
    (void)state;
    time_of_launch = NULL;
    launch_often(CPU, DYNSEL_RANGE_2D(64, 64), FIRST + 2 * INTERVAL);
    launch_often(POOR_GPU, DYNSEL_RANGE_2D(64, 64), FIRST + 2 * INTERVAL);
    for (uint32_t i = 0; i < FIRST + 2 * INTERVAL; i++) {
        assert_status(DYNSEL_OK, try_launch(GPU, DYNSEL_RANGE_2D(64, 64), DYNSEL_RANGE_2D(8, 32)));
        assert_local(fake_opencl_last_launch(), 32, 8, 1);
    }
    assert_int_equal(trials, 0);
    (void)tear_down_devices(state);

    const dynsel_opencl_options by_range = {.work_groups = DYNSEL_OPENCL_WORK_GROUPS_BY_RANGE};
    set_up_with(&by_range);
    launch_often(GPU, DYNSEL_RANGE_2D(64, 64), FIRST + 2 * INTERVAL);
    assert_int_equal(trials, 0);
    (void)tear_down_devices(state);

    (void)set_up_devices(state);
    fake_opencl_set_work_groups(1024, demanded);
    launch_often(GPU, DYNSEL_RANGE_2D(64, 64), FIRST + 2 * INTERVAL);
    assert_int_equal(trials, 0);
    (void)tear_down_devices(state);

    (void)set_up_devices(state);
    fake_opencl_set_local_memory(256);
    launch_often(GPU, DYNSEL_RANGE_2D(64, 64), FIRST + 2 * INTERVAL);
    assert_int_equal(trials, 0);
}

/* The same kernel without that promise keeps its size. */
static void kernel_of_any_group_size_is_tried_with_local_memory(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    fake_opencl_set_local_memory(256);
    kernel = &of_any_size;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST + 24 * INTERVAL);
    assert_true(trials > 8);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 4, 64, 1);
    kernel = &plain;
    const uint32_t before = trials;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST + 24 * INTERVAL);
    assert_int_equal(trials, before);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
}

/* A time is read when the trial has ended, and nobody waits for that. */
static void running_trial_is_not_waited_for(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST);
    fake_opencl_end_events_after(0);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), 1); /* the device's clocks are compared */
    assert_int_equal(trials, 1);
    fake_opencl_set_new_events(CL_RUNNING);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), INTERVAL);
    assert_int_equal(trials, 2);
    const uint32_t waits = fake_opencl_calls("clWaitForEvents");
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), 4 * INTERVAL);
    assert_int_equal(trials, 2);
    assert_int_equal(fake_opencl_calls("clWaitForEvents"), waits);
    fake_opencl_finish_events(CL_COMPLETE);
    fake_opencl_set_new_events(CL_COMPLETE);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), INTERVAL);
    assert_int_equal(trials, 3);
}

static void trials_begin_anew_with_another_range(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST + INTERVAL);
    const uint32_t before = trials;
    launch_often(GPU, DYNSEL_RANGE(4096), 6 * INTERVAL);
    assert_int_equal(trials, before); /* the old range may come back */
    time_of_launch = prefers_short_rows;
    launch_often(GPU, DYNSEL_RANGE(4096), 3 * INTERVAL + ENOUGH);
    assert_true(trials > before);
    assert_local(launch(GPU, DYNSEL_RANGE(4096)), 64, 1, 1);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
}

/* A launch that fails as a trial is made as usual, and a trial whose work fails tells nothing. */
static void failing_trial_costs_no_work(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    for (uint32_t call = 1;; call++) {
        set_up_with(NULL);
        launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST + 1);
        fake_opencl_fail_at(call, CL_OUT_OF_HOST_MEMORY);
        for (uint32_t i = 0; i < 2 * INTERVAL; i++) {
            const dynsel_status status =
                try_launch(GPU, DYNSEL_RANGE_2D(1024, 1024), (dynsel_range){0});
            /* only the launch itself may fail */
            assert_true(status == DYNSEL_OK || fake_opencl_has_failed());
        }
        const bool has_failed = fake_opencl_has_failed();
        (void)tear_down_devices(state);
        if (!has_failed) {
            assert_true(call > 10);
            break;
        }
    }
    set_up_with(NULL);
    time_of_launch = prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST + 1);
    fake_opencl_set_new_events(CL_OUT_OF_RESOURCES);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), INTERVAL);
    fake_opencl_set_new_events(CL_COMPLETE);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 4, 64, 1);
}

/* Profiles that turn out to be wrong choose nothing. */
static void wrong_profiles_choose_nothing(void **state)
{
    (void)state;
    time_of_launch = prefers_tall;
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), FIRST + 1);
    fake_opencl_set_profiles(FAKE_PROFILES_REVERSED);
    launch_often(GPU, DYNSEL_RANGE_2D(1024, 1024), ENOUGH);
    assert_local(launch(GPU, DYNSEL_RANGE_2D(1024, 1024)), 256, 1, 1);
    fake_opencl_set_profiles(FAKE_PROFILES_TRUE);
}

int main(void)
{
#define TRIALS(name) cmocka_unit_test_setup_teardown(name, set_up_devices, tear_down_devices)
    const struct CMUnitTest tests[] = {
        TRIALS(fastest_size_stays),
        TRIALS(each_number_of_dimensions_has_its_sizes),
        TRIALS(sizes_divide_odd_ranges),
        TRIALS(equal_sizes_are_one),
        TRIALS(no_size_exceeds_the_most_of_the_kernel),
        TRIALS(usual_size_stays_where_others_are_hardly_faster),
        TRIALS(slightly_faster_size_is_chosen),
        TRIALS(noise_does_not_mislead),
        TRIALS(sizes_near_the_best_are_tried_again),
        TRIALS(short_kernel_is_tried_once),
        TRIALS(first_launches_are_no_trials),
        TRIALS(nothing_is_tried_elsewhere),
        TRIALS(kernel_of_any_group_size_is_tried_with_local_memory),
        TRIALS(running_trial_is_not_waited_for),
        TRIALS(trials_begin_anew_with_another_range),
        cmocka_unit_test_teardown(failing_trial_costs_no_work, tear_down_devices),
        TRIALS(wrong_profiles_choose_nothing),
    };
    return RUN(tests);
}
