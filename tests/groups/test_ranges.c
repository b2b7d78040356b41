/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges as arguments: what comes out, and exactly what is moved for it. */
#include "random.h"
#include "room.h"
#include "support/places_fixture.h"
#include "support/range_cases.h"

#include <string.h>

enum { DEVICE = 0, OTHER = 1 };

static const size_t INT_BYTES = sizeof(int);

static range_world world;

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        sim.devices[i].sharing = DYNSEL_SHARES_ALL;
    }
    range_fill(&world, 1);
    return 0;
}

static void check_bytes(const dynsel_range_bytes *bytes, size_t in, size_t out, size_t direct)
{
    assert_int_equal(in, bytes->staged_in);
    assert_int_equal(out, bytes->staged_out);
    assert_int_equal(direct, bytes->direct);
}

static dynsel_range_bytes bytes_of(unsigned place)
{
    dynsel_range_bytes bytes = {.direct = 0};
    const dynsel_status status = dynsel_get_range_statistics(&places[place].policy, &bytes);
    assert_status(CONFIG_DYNSEL_STATISTICS ? DYNSEL_OK : DYNSEL_E_UNSUPPORTED, status);
    return bytes;
}

/* What was added since then. */
static void check_statistics(unsigned place, const dynsel_range_bytes *before, size_t in,
                             size_t out, size_t direct)
{
    const dynsel_range_bytes now = bytes_of(place);
    const dynsel_range_bytes added = {now.staged_in - before->staged_in,
                                      now.staged_out - before->staged_out,
                                      now.direct - before->direct};
    if (CONFIG_DYNSEL_STATISTICS) {
        check_bytes(&added, in, out, direct);
    }
}

/* Whatever its pace, the simulated device has the memory only while the work is on its way. */
static void play_case(unsigned place, const range_case *what)
{
    range_job work = {what, &world};
    const bool on_device = place != HOST;
    const size_t in = on_device ? what->staged * INT_BYTES : 0;
    const size_t out = on_device ? what->count * INT_BYTES : 0;
    const dynsel_range_bytes before = bytes_of(place);
    const size_t in_before = sim.counts.bytes_in;
    const size_t out_before = sim.counts.bytes_out;
    dynsel_submission submission = {.policy = NULL};
    dynsel_range_bytes bytes;
    range_fill(&world, 3);
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&places[place].policy, range_record, &work,
                                                         &submission));
    assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
    check_bytes(&bytes, in, out, what->direct * INT_BYTES);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_true(range_is_right(&work, 3));
    assert_int_equal(in, sim.counts.bytes_in - in_before);
    assert_int_equal(out, sim.counts.bytes_out - out_before);
    check_statistics(place, &before, in, out, what->direct * INT_BYTES);
}

static void play_all(unsigned place)
{
    for (size_t i = 0; i < RANGE_CASES; i++) {
        play_case(place, &range_cases[i]);
    }
}

static void each_iterator_kind_works_on_host(void **state)
{
    (void)state;
    play_all(HOST);
}

static void each_iterator_kind_works_on_device(void **state)
{
    (void)state;
    play_all(DEVICE);
    sim.devices[DEVICE].pace = SIMULATED_WHEN_POLLED;
    sim.devices[DEVICE].polls = 3;
    play_all(DEVICE);
}

static void each_iterator_kind_works_out_of_order(void **state)
{
    (void)state;
    sim.devices[DEVICE].in_order = false;
    sim.devices[DEVICE].pace = SIMULATED_WHEN_POLLED;
    sim.devices[DEVICE].polls = 4;
    sim.devices[DEVICE].prepares = true;
    for (unsigned i = 0; i < 5; i++) {
        play_all(DEVICE);
    }
}

static void each_iterator_kind_works_where_library_must_wait(void **state)
{
    (void)state;
    places_end();
    places_begin(true);
    sim.devices[DEVICE].sharing = DYNSEL_SHARES_ALL;
    sim.devices[DEVICE].pace = SIMULATED_WHEN_POLLED;
    play_all(DEVICE);
}

static void device_in_host_domain_stages_nothing(void **state)
{
    (void)state;
    sim.devices[OTHER].domain = 0;
    for (size_t i = 0; i < RANGE_CASES; i++) {
        const range_case *const what = &range_cases[i];
        range_job work = {what, &world};
        dynsel_submission submission = {.policy = NULL};
        dynsel_range_bytes bytes;
        range_fill(&world, 6);
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&places[OTHER].policy, range_record,
                                                             &work, &submission));
        assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
        check_bytes(&bytes, 0, 0, what->direct * INT_BYTES);
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        assert_true(range_is_right(&work, 6));
    }
    assert_int_equal(0, sim.counts.allocated);
}

/* A policy that asks */

enum { ASKED = 2 };
static uint64_t told[ASKED];

static dynsel_status ask_and_choose(dynsel_policy *policy, const dynsel_task *task,
                                    dynsel_selection *selection)
{
    for (uint32_t i = 0; i < ASKED; i++) {
        told[i] = dynsel_bytes_to_move(&policy->resources[i], task);
    }
    selection->index = 0;
    return DYNSEL_OK;
}

static void policy_sees_bytes_that_ranges_would_move(void **state)
{
    static const dynsel_policy_ops ops = {.name = "asks", .try_select = ask_and_choose};
    const dynsel_resource resources[ASKED] = {simulated_resource(&sim, DEVICE),
                                              {.backend = &dynsel_inline_backend}};
    const dynsel_options options = {.resources = resources, .count = ASKED};
    static dynsel_policy asks;
    (void)state;
    asks = (dynsel_policy){.ops = NULL};
    assert_status(DYNSEL_OK, dynsel_policy_init(&asks, &ops, &options));
    for (size_t i = 0; i < RANGE_CASES; i++) {
        range_job work = {&range_cases[i], &world};
        dynsel_submission submission = {.policy = NULL};
        dynsel_range_bytes bytes;
        range_fill(&world, 2);
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&asks, range_record, &work, &submission));
        assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        assert_int_equal((range_cases[i].staged + range_cases[i].count) * INT_BYTES, told[0]);
        assert_int_equal(bytes.staged_in + bytes.staged_out, told[0]);
        assert_int_equal(0, told[1]);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&asks));
}

/* Modes */

typedef struct mode_job {
    dynsel_access_mode mode;
    size_t count;
    const dynsel_kernel *kernel;
    int *data;
    bool is_mapped;
} mode_job;

/* Adds 100 to each second element, and leaves the others alone. */
static dynsel_status touch_form(const dynsel_launch *launch)
{
    int *const data = dynsel_launch_data(launch, 0);
    for (size_t i = 0; i < launch->global.size[0]; i += 2) {
        data[i] += 100;
    }
    return DYNSEL_OK;
}

static dynsel_status fill_form(const dynsel_launch *launch)
{
    int *const data = dynsel_launch_data(launch, 0);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        data[i] = (int)i;
    }
    return DYNSEL_OK;
}

/* Writes through a permutation. */
static dynsel_status scatter_form(const dynsel_launch *launch)
{
    const mapped to = mapped_make(inputs_make(launch->arguments[0].value),
                                  inputs_make(launch->arguments[1].value), 0);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        mapped_write(to, i, (int)i + 1000);
    }
    return DYNSEL_OK;
}

static dynsel_status break_form(const dynsel_launch *launch)
{
    (void)fill_form(launch);
    return DYNSEL_E_USER;
}

static const dynsel_kernel touch = {.name = "touch", .function = touch_form};
static const dynsel_kernel fill = {.name = "fill", .function = fill_form};
static const dynsel_kernel scatter = {.name = "scatter", .function = scatter_form};
static const dynsel_kernel breaks = {.name = "breaks", .function = break_form};

static dynsel_status record_mode(dynsel_handler *handler, void *args)
{
    const mode_job *work = args;
    const inputs data = inputs_make(work->data);
    const dynsel_status status =
        work->is_mapped
            ? dynsel_set_range(handler, 0, mapped,
                               mapped_make(data, inputs_make(world.map), RANGE_ELEMENTS),
                               work->count, work->mode)
            : dynsel_set_range(handler, 0, inputs, data, work->count, work->mode);
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, work->kernel, DYNSEL_RANGE(work->count), NULL, NULL)
               : status;
}

static dynsel_status send_mode(unsigned place, mode_job work, dynsel_submission *submission)
{
    return dynsel_submit_command_group(&places[place].policy, record_mode, &work, submission);
}

static dynsel_status run_mode(unsigned place, mode_job work)
{
    return dynsel_submit_command_group_and_wait(&places[place].policy, record_mode, &work);
}

#define assert_mode(mode, kernel, in, out) check_mode(mode, &(kernel), in, out)

static void check_mode(dynsel_access_mode mode, const dynsel_kernel *kernel, bool in, bool out)
{
    const size_t bytes = RANGE_ELEMENTS * INT_BYTES;
    const dynsel_range_bytes before = bytes_of(DEVICE);
    const size_t in_before = sim.counts.bytes_in;
    const size_t out_before = sim.counts.bytes_out;
    range_world as_it_was = {.reached = NULL};
    range_fill(&world, 4);
    range_fill(&as_it_was, 4);
    assert_status(DYNSEL_OK,
                  run_mode(DEVICE, (mode_job){mode, RANGE_ELEMENTS, kernel, world.a, false}));
    assert_int_equal(in ? bytes : 0, sim.counts.bytes_in - in_before);
    assert_int_equal(out ? bytes : 0, sim.counts.bytes_out - out_before);
    check_statistics(DEVICE, &before, in ? bytes : 0, out ? bytes : 0, 0);
    for (size_t i = 0; i < RANGE_ELEMENTS; i++) {
        const int written = kernel == &fill ? (int)i : as_it_was.a[i] + (i % 2 == 0 ? 100 : 0);
        assert_int_equal(out ? written : as_it_was.a[i], world.a[i]);
    }
}

static void access_mode_decides_direction_of_staging(void **state)
{
    (void)state;
    assert_mode(DYNSEL_ACCESS_READ, touch, true, false);
    assert_mode(DYNSEL_ACCESS_WRITE, touch, true, true);
    assert_mode(DYNSEL_ACCESS_READ_WRITE, touch, true, true);
    assert_mode(DYNSEL_ACCESS_ATOMIC, touch, true, true);
    assert_mode(DYNSEL_ACCESS_DISCARD_WRITE, fill, false, true);
    assert_mode(DYNSEL_ACCESS_DISCARD_READ_WRITE, fill, false, true);
}

static void read_only_parts_are_staged_in_and_never_back(void **state)
{
    const mode_job work = {DYNSEL_ACCESS_DISCARD_WRITE, RANGE_ELEMENTS, &scatter, world.a, true};
    (void)state;
    for (int i = 0; i < RANGE_ELEMENTS; i++) {
        world.map[i] = (i * 5 + 2) % RANGE_ELEMENTS; /* each once */
    }
    assert_status(DYNSEL_OK, run_mode(DEVICE, work));
    assert_int_equal(RANGE_ELEMENTS * INT_BYTES, sim.counts.bytes_in); /* the map */
    assert_int_equal(RANGE_ELEMENTS * INT_BYTES, sim.counts.bytes_out);
    for (int i = 0; i < RANGE_ELEMENTS; i++) {
        assert_int_equal(i + 1000, world.a[world.map[i]]);
    }
}

/* Staging memory */

static void staging_memory_is_reused(void **state)
{
    const mode_job work = {DYNSEL_ACCESS_READ_WRITE, RANGE_ELEMENTS, &touch, world.a, false};
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        assert_status(DYNSEL_OK, run_mode(DEVICE, work));
    }
    assert_int_equal(1, sim.counts.allocated);
    assert_int_equal(0, sim.counts.released);
    assert_status(DYNSEL_OK, run_mode(OTHER, work));
    assert_int_equal(2, sim.counts.allocated);
}

static void keep_all(unsigned place)
{
    sim.devices[place].pace = SIMULATED_BY_HAND;
}

/* As much as all staging buffers: the next has to wait for one of them. */
static void work_waits_for_free_staging_buffer(void **state)
{
    static int data[CONFIG_DYNSEL_STAGING_COUNT + 1][RANGE_ELEMENTS];
    dynsel_submission submissions[CONFIG_DYNSEL_STAGING_COUNT + 1];
    (void)state;
    NEEDS(CONFIG_DYNSEL_STAGING_COUNT < CONFIG_DYNSEL_MAX_IN_FLIGHT);
    keep_all(DEVICE);
    for (unsigned i = 0; i <= CONFIG_DYNSEL_STAGING_COUNT; i++) {
        submissions[i] = (dynsel_submission){.policy = NULL};
        const mode_job work = {DYNSEL_ACCESS_READ_WRITE, RANGE_ELEMENTS, &touch, data[i], false};
        assert_status(DYNSEL_OK, send_mode(DEVICE, work, &submissions[i]));
    }
    assert_int_equal(CONFIG_DYNSEL_STAGING_COUNT, sim.counts.launched);
    assert_int_equal(CONFIG_DYNSEL_STAGING_COUNT, sim.counts.allocated);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[CONFIG_DYNSEL_STAGING_COUNT], 0));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[CONFIG_DYNSEL_STAGING_COUNT]));
    assert_int_equal(CONFIG_DYNSEL_STAGING_COUNT + 1, sim.counts.launched);
    assert_int_equal(CONFIG_DYNSEL_STAGING_COUNT, sim.counts.allocated);
    for (unsigned i = 0; i < CONFIG_DYNSEL_STAGING_COUNT; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    for (unsigned i = 0; i <= CONFIG_DYNSEL_STAGING_COUNT; i++) {
        assert_int_equal(100, data[i][0]);
        assert_int_equal(0, data[i][1]);
    }
}

/* So much that the next has to wait, although there are buffers left. Where that is more than the
 * simulated devices have, other configurations do this. */
static void work_waits_for_free_staging_bytes(void **state)
{
    enum { HALF = CONFIG_DYNSEL_STAGING_BYTES / 2 + 64, FITS = HALF < SIMULATED_POOL_BYTES / 4 };
    enum { COUNT = FITS ? HALF / sizeof(int) : 1 };
    static int data[3 * COUNT];
    dynsel_submission submissions[3] = {{.policy = NULL}};
    (void)state;
    NEEDS(FITS);
    keep_all(DEVICE);
    memset(data, 0, sizeof data);
    const mode_job large = {DYNSEL_ACCESS_READ_WRITE, COUNT, &touch, data, false};
    const mode_job second = {DYNSEL_ACCESS_READ_WRITE, COUNT, &touch, data + COUNT, false};
    const mode_job small = {DYNSEL_ACCESS_READ_WRITE, 2, &touch, &data[(size_t)2 * COUNT], false};
    assert_status(DYNSEL_OK, send_mode(DEVICE, large, &submissions[0]));
    assert_status(DYNSEL_OK, send_mode(DEVICE, second, &submissions[1]));
    assert_status(DYNSEL_OK, send_mode(DEVICE, small, &submissions[2])); /* behind that */
    assert_int_equal(1, sim.counts.launched);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_int_equal(3, sim.counts.launched);
    for (int i = 0; i < 2 * COUNT; i++) {
        assert_int_equal(i % 2 == 0 ? 100 : 0, data[i]);
    }
    /* and what is kept makes room for what does not fit into it */
    const mode_job all = {DYNSEL_ACCESS_READ_WRITE, CONFIG_DYNSEL_STAGING_BYTES / sizeof(int),
                          &touch, data, false};
    assert_status(DYNSEL_OK, run_mode(DEVICE, all));
    assert_int_equal(3, sim.counts.allocated);
    assert_int_equal(2, sim.counts.released);
}

static void staged_results_arrive_before_completion(void **state)
{
    dynsel_submission submission = {.policy = NULL};
    const mode_job work = {DYNSEL_ACCESS_DISCARD_WRITE, RANGE_ELEMENTS, &fill, world.a, false};
    (void)state;
    keep_all(DEVICE);
    world.a[3] = -1;
    assert_status(DYNSEL_OK, send_mode(DEVICE, work, &submission));
    assert_true(simulated_step(&sim, DEVICE)); /* the kernel, and the way back has not begun */
    assert_int_equal(-1, world.a[3]);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    assert_true(simulated_step(&sim, DEVICE));
    assert_int_equal(3, world.a[3]);
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 0));
}

static void failed_kernel_copies_nothing_back(void **state)
{
    (void)state;
    for (unsigned pace = SIMULATED_AT_ONCE; pace <= SIMULATED_WHEN_POLLED; pace++) {
        const mode_job work = {DYNSEL_ACCESS_READ_WRITE, RANGE_ELEMENTS, &breaks, world.a, false};
        range_world as_it_was = {.reached = NULL};
        sim.devices[DEVICE].pace = (simulated_pace)pace;
        range_fill(&world, 5);
        range_fill(&as_it_was, 5);
        const dynsel_status status = run_mode(DEVICE, work);
        assert_true(status == DYNSEL_E_USER || status == DYNSEL_E_DEPENDENCY);
        assert_memory_equal(&world, &as_it_was, sizeof world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_iterator_kind_works_on_host),
        TEST(each_iterator_kind_works_on_device),
        TEST(each_iterator_kind_works_out_of_order),
        TEST(each_iterator_kind_works_where_library_must_wait),
        TEST(device_in_host_domain_stages_nothing),
        TEST(policy_sees_bytes_that_ranges_would_move),
        TEST(access_mode_decides_direction_of_staging),
        TEST(read_only_parts_are_staged_in_and_never_back),
        TEST(staging_memory_is_reused),
        TEST(work_waits_for_free_staging_buffer),
        TEST(work_waits_for_free_staging_bytes),
        TEST(staged_results_arrive_before_completion),
        TEST(failed_kernel_copies_nothing_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
