/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy that weighs data sees of a command group while it chooses: the bytes that each
 * resource would have to copy, when what it depends on is predicted to end, how often the data will
 * be used, the amount of work, and of which kind it is.
 */
#include <string.h>

#include "support/do_nothing.h"
#include "support/places.h"
#include "support/places_fixture.h"

enum { FIRST, SECOND, ON_HOST, RESOURCES }; /* two devices and the host */

typedef struct sight {
    unsigned choices;
    bool has_data;
    dynsel_data_outlook data;
    uint64_t amount;
    uint32_t id;
    bool id_of_address;
} sight;

static dynsel_policy scout;
static dynsel_policy blind; /* the same, but it weighs no data */
static sight seen;          /* by either */
static uint32_t chosen;     /* the resource that they choose */
static uint64_t ends_ns;    /* what the scout predicts; 0: nothing */
static uint64_t expects_ns; /* the same */
static bool settled;        /* the scout gives all work to one resource */
static int32_t numbers[ELEMENTS];
static int32_t others[ELEMENTS];
static dynsel_buffer a;
static dynsel_buffer b;

static dynsel_status look(dynsel_policy *policy, const dynsel_task *task,
                          dynsel_selection *selection)
{
    (void)policy;
    seen.choices++;
    seen.has_data = task->data != NULL;
    seen.amount = task->amount;
    seen.id = task->id;
    seen.id_of_address = task->id_of_address;
    if (task->data != NULL) {
        seen.data = *task->data;
        task->data->end_ns = ends_ns;
        task->data->expected_ns = expects_ns;
    }
    selection->index = chosen;
    return DYNSEL_OK;
}

static bool is_settled(const dynsel_policy *policy)
{
    (void)policy;
    return settled;
}

static int set_up(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {
        .name = "scout", .try_select = look, .weighs_data = true, .is_settled = is_settled};
    static const dynsel_policy_ops blind_ops = {.name = "blind", .try_select = look};
    places_begin(false);
    const dynsel_resource resources[RESOURCES] = {simulated_resource(&sim, FIRST),
                                                  simulated_resource(&sim, SECOND),
                                                  {.backend = &dynsel_inline_backend}};
    const dynsel_options options = {.resources = resources, .count = RESOURCES};
    memset(&seen, 0, sizeof seen);
    chosen = ON_HOST;
    ends_ns = 0;
    expects_ns = 0;
    settled = false;
    assert_status(DYNSEL_OK, dynsel_policy_init(&scout, &ops, &options));
    assert_status(DYNSEL_OK, dynsel_policy_init(&blind, &blind_ops, &options));
    a = new_buffer(numbers);
    b = new_buffer(others);
    return 0;
}

static int close_all(void **state)
{
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&scout));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&blind));
    return tear_down(state);
}

static void submit_to(uint32_t where, job what)
{
    chosen = where;
    assert_status(DYNSEL_OK, send_job_with(&scout, &what, NULL));
}

static job read_of(dynsel_buffer buffer)
{
    return (job){.kind = ADD,
                 .buffers = {buffer},
                 .modes = {DYNSEL_ACCESS_READ}}; /* adds 0, and so changes nothing */
}

static void by_hand(void)
{
    sim.devices[FIRST].pace = SIMULATED_BY_HAND;
    sim.devices[SECOND].pace = SIMULATED_BY_HAND;
}

static void all_is_over(void)
{
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&scout)));
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&blind)));
}

/* What the scout saw, in whole buffers. */
#define assert_bytes_in(first, second, host)                                                       \
    do {                                                                                           \
        assert_true(seen.has_data);                                                                \
        assert_int_equal((first)*BYTES, seen.data.bytes_in[FIRST]);                                \
        assert_int_equal((second)*BYTES, seen.data.bytes_in[SECOND]);                              \
        assert_int_equal((host)*BYTES, seen.data.bytes_in[ON_HOST]);                               \
    } while (0)

static void data_on_host_would_move_to_devices(void **state)
{
    (void)state;
    submit_to(ON_HOST, add_to(a, 1));
    assert_bytes_in(1, 1, 0);
    submit_to(ON_HOST, total_of(a, b)); /* keeps the rest of b */
    assert_bytes_in(2, 2, 0);
    submit_to(ON_HOST, copy_to(b, a));
    assert_bytes_in(1, 1, 0);
    submit_to(ON_HOST, set_all(a, 1));
    assert_bytes_in(0, 0, 0);
}

static void data_on_device_would_move_elsewhere(void **state)
{
    (void)state;
    submit_to(FIRST, add_to(a, 1));
    submit_to(FIRST, read_of(a));
    assert_bytes_in(0, 1, 1);
    submit_to(SECOND, copy_to(b, a));
    assert_bytes_in(0, 1, 1);
    submit_to(SECOND, total_of(a, b));
    assert_bytes_in(1, 0, 1); /* what was copied is in three places now */
    submit_to(ON_HOST, add_to(b, 1));
    assert_bytes_in(1, 0, 1);
    submit_to(ON_HOST, read_of(b));
    assert_bytes_in(1, 1, 0);
}

static void device_with_hosts_memory_moves_nothing(void **state)
{
    (void)state;
    sim.devices[FIRST].shares = true;
    submit_to(FIRST, add_to(a, 1));
    submit_to(FIRST, add_to(b, 1)); /* from here on it is known that it shares */
    assert_bytes_in(0, 1, 0);
    submit_to(SECOND, add_to(b, 1));
    assert_bytes_in(0, 1, 0);
    submit_to(ON_HOST, read_of(b));
    assert_bytes_in(1, 0, 1);
    by_hand();
    submit_to(SECOND, add_to(b, 1));
    submit_to(FIRST, add_to(b, 1)); /* waits for it */
    submit_to(ON_HOST, read_of(b));
    assert_bytes_in(0, 1, 0);
    submit_to(ON_HOST, add_to(b, 1));
    submit_to(SECOND, read_of(b));
    assert_bytes_in(0, 1, 0);
    all_is_over();
}

static void pending_writer_decides_where_data_will_be(void **state)
{
    (void)state;
    by_hand();
    submit_to(FIRST, add_to(a, 1));
    submit_to(SECOND, add_to(a, 1)); /* waits for it */
    assert_bytes_in(0, 1, 1);
    submit_to(ON_HOST, add_to(a, 1)); /* waits for both */
    assert_bytes_in(1, 0, 1);
    submit_to(FIRST, read_of(a));
    assert_bytes_in(1, 1, 0);
    assert_true(simulated_pending(&sim) != 0);
    all_is_over();
}

static void pending_reader_brings_data(void **state)
{
    (void)state;
    by_hand();
    submit_to(FIRST, add_to(a, 1));
    submit_to(SECOND, read_of(a)); /* waits for it */
    submit_to(FIRST, read_of(a));
    assert_bytes_in(0, 0, 1);
    submit_to(ON_HOST, read_of(a));
    assert_bytes_in(0, 0, 1);
    submit_to(ON_HOST, read_of(a));
    assert_bytes_in(0, 0, 0);
    submit_to(FIRST, add_to(a, 1));
    submit_to(FIRST, read_of(a));
    assert_bytes_in(0, 1, 1); /* the readers were before the writer */
    all_is_over();
}

static void writer_is_waited_for_until_its_end(void **state)
{
    (void)state;
    by_hand();
    ends_ns = 1000;
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(0, seen.data.ready_ns);
    assert_int_equal(0, seen.data.end_ns); /* is the policy's to set */
    ends_ns = 700;
    submit_to(FIRST, read_of(a));
    assert_int_equal(1000, seen.data.ready_ns);
    ends_ns = 1500;
    submit_to(FIRST, add_to(b, 1));
    assert_int_equal(0, seen.data.ready_ns);
    submit_to(FIRST, total_of(a, b));
    assert_int_equal(1500, seen.data.ready_ns); /* the later one */
    all_is_over();
    submit_to(FIRST, read_of(b));
    assert_int_equal(0, seen.data.ready_ns);
    all_is_over();
}

static void readers_are_waited_for_by_writer(void **state)
{
    (void)state;
    submit_to(FIRST, add_to(a, 1));
    all_is_over();
    by_hand();
    ends_ns = 800;
    submit_to(FIRST, read_of(a));
    ends_ns = 500;
    submit_to(FIRST, read_of(a));
    assert_int_equal(0, seen.data.ready_ns); /* readers do not wait for each other */
    ends_ns = 900;
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(800, seen.data.ready_ns);
    ends_ns = 100;
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(900, seen.data.ready_ns); /* the writer was after the readers */
    ends_ns = 50;
    submit_to(FIRST, read_of(a));
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(100, seen.data.ready_ns); /* the readers before that do not count any more */
    ends_ns = 4711;
    submit_to(FIRST, read_of(a));
    all_is_over();
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(0, seen.data.ready_ns);
    all_is_over();
}

static void end_that_is_not_predicted_is_unknown(void **state)
{
    (void)state;
    by_hand();
    ends_ns = 0;
    submit_to(FIRST, add_to(a, 1));
    ends_ns = 800;
    submit_to(FIRST, read_of(a));
    assert_int_equal(0, seen.data.ready_ns);
    ends_ns = 0;
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(800, seen.data.ready_ns);
    submit_to(FIRST, read_of(a));
    assert_int_equal(0, seen.data.ready_ns);
    all_is_over();
}

static void uses_ahead_are_as_many_as_so_far_in_first_period(void **state)
{
    (void)state;
    static const uint32_t expected[] = {1, 1, 2, 3, 4};
    for (int i = 0; i < 5; i++) {
        submit_to(FIRST, read_of(a));
        assert_int_equal(expected[i], seen.data.uses_ahead);
    }
    submit_to(FIRST, total_of(a, b));
    assert_int_equal(1, seen.data.uses_ahead); /* b is new */
    submit_to(FIRST, set_all(a, 1));
    assert_int_equal(1, seen.data.uses_ahead); /* reads nothing */
    submit_to(FIRST, read_of(a));
    assert_int_equal(7, seen.data.uses_ahead); /* a kernel that writes is one more use */
}

static void write_of_program_ends_period(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        submit_to(FIRST, read_of(a));
    }
    write_buffer(a, 0, 1);
    for (uint32_t period = 0; period < 3; period++) {
        for (uint32_t i = 0; i < 4; i++) {
            submit_to(FIRST, read_of(a));
            assert_int_equal(4 - i, seen.data.uses_ahead);
            see_buffer(a, 0, 1); /* a read does not end it */
        }
        write_buffer(a, 0, 1);
        write_buffer(a, 0, 1); /* nor is there an empty one */
    }
    for (uint32_t i = 0; i < 6; i++) {
        submit_to(FIRST, read_of(a));
        assert_int_equal(i < 4 ? 4 - i : 1, seen.data.uses_ahead);
    }
}

static void uses_ahead_follow_changes_of_program(void **state)
{
    (void)state;
    uint32_t first = 0;
    for (uint32_t period = 0; period < 20; period++) {
        write_buffer(a, 0, 1);
        for (uint32_t i = 0; i < (period < 3 ? 2 : 10u); i++) {
            submit_to(FIRST, read_of(a));
            first = i == 0 ? seen.data.uses_ahead : first;
        }
        assert_true(period < 1 || period > 3 || first == 2);
    }
    assert_in_range(first, 8, 10);
}

static void updates_are_uses_that_read_and_write(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        submit_to(FIRST, add_to(a, 1));
        assert_int_equal(i, seen.data.updates_ahead); /* in the first period as many as so far */
        submit_to(FIRST, read_of(a));
        assert_int_equal(0, seen.data.updates_ahead);
    }
    for (uint32_t period = 0; period < 3; period++) {
        write_buffer(a, 0, 1);
        submit_to(FIRST, set_all(a, 1)); /* replaces the data */
        assert_int_equal(4, seen.data.updates_ahead);
        for (uint32_t i = 0; i < 4; i++) {
            submit_to(FIRST, add_to(a, 1));
            assert_int_equal(3 - i, seen.data.updates_ahead);
        }
    }
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(0, seen.data.updates_ahead); /* one more than usual */
}

static void expectation_of_last_writer_is_seen(void **state)
{
    (void)state;
    expects_ns = 500;
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(0, seen.data.expected_ns);
    expects_ns = 300;
    submit_to(SECOND, add_to(a, 1));
    assert_int_equal(500, seen.data.expected_ns);
    assert_int_equal(FIRST, seen.data.expected_on);
    expects_ns = 200;
    submit_to(ON_HOST, read_of(a));
    assert_int_equal(0, seen.data.expected_ns);
    assert_int_equal(UINT32_MAX, seen.data.expected_on);
    write_buffer(a, 0, 1);
    expects_ns = 100;
    submit_to(FIRST, set_all(a, 1));
    assert_int_equal(300, seen.data.expected_ns);
    assert_int_equal(SECOND, seen.data.expected_on);
    expects_ns = 0;
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(100, seen.data.expected_ns);
    assert_int_equal(FIRST, seen.data.expected_on);
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(0, seen.data.expected_ns);
}

/* Of several data only the first. */
static void expectation_counts_once(void **state)
{
    (void)state;
    job both = copy_to(b, a);
    both.modes[0] = DYNSEL_ACCESS_READ_WRITE;
    both.modes[1] = DYNSEL_ACCESS_READ_WRITE;
    submit_to(FIRST, add_to(a, 1));
    submit_to(FIRST, add_to(b, 1));
    expects_ns = 500;
    submit_to(FIRST, both);
    submit_to(FIRST, add_to(both.buffers[1], 1));
    assert_int_equal(0, seen.data.expected_ns);
    submit_to(FIRST, add_to(both.buffers[0], 1));
    assert_int_equal(500, seen.data.expected_ns);
}

static void copies_from_device_come_behind_its_work(void **state)
{
    (void)state;
    submit_to(ON_HOST, add_to(a, 1));
    submit_to(FIRST, read_of(a));
    submit_to(SECOND, read_of(a));
    assert_false(seen.data.comes_behind); /* the host has them, too */
    by_hand();
    submit_to(FIRST, add_to(a, 1));
    assert_false(seen.data.comes_behind);
    submit_to(SECOND, set_all(a, 1));
    assert_false(seen.data.comes_behind); /* needs none */
    submit_to(FIRST, read_of(a));
    assert_true(seen.data.comes_behind); /* they will be there */
    all_is_over();
    see_buffer(a, 1, 1);
    submit_to(FIRST, read_of(a));
    assert_false(seen.data.comes_behind);
}

static void work_follows_what_it_only_reads(void **state)
{
    (void)state;
    ends_ns = 1000;
    submit_to(FIRST, read_of(a));
    assert_false(seen.data.follows); /* the program wrote them */
    submit_to(FIRST, add_to(a, 1));
    submit_to(FIRST, add_to(a, 1));
    assert_false(seen.data.follows); /* an update */
    submit_to(FIRST, set_all(a, 1));
    assert_false(seen.data.follows);
    submit_to(FIRST, read_of(a));
    assert_true(seen.data.follows);
}

static void copies_from_some_devices_move_beside_work(void **state)
{
    (void)state;
    sim.devices[FIRST].domain = SIMULATED_DOMAINS; /* that the library does not know yet */
    sim.devices[FIRST].moves_beside = true;
    submit_to(FIRST, add_to(a, 1));
    submit_to(SECOND, read_of(a));
    assert_false(seen.data.comes_behind);
    submit_to(SECOND, add_to(a, 1));
    submit_to(FIRST, read_of(a));
    assert_true(seen.data.comes_behind);
}

static void new_buffer_has_no_past(void **state)
{
    (void)state;
    by_hand();
    static int32_t data[ELEMENTS];
    dynsel_buffer buffer = new_buffer(data);
    for (int i = 0; i < 5; i++) {
        submit_to(FIRST, add_to(buffer, 0));
    }
    write_buffer(buffer, 0, 0);
    ends_ns = 4711;
    submit_to(FIRST, add_to(buffer, 0));
    assert_int_equal(5, seen.data.uses_ahead);
    all_is_over();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    buffer = new_buffer(data);
    submit_to(FIRST, add_to(buffer, 0));
    assert_int_equal(1, seen.data.uses_ahead);
    assert_int_equal(0, seen.data.ready_ns);
    assert_bytes_in(1, 1, 0);
    all_is_over();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void policy_that_does_not_weigh_data_sees_none(void **state)
{
    (void)state;
    job what = add_to(a, 1);
    chosen = FIRST;
    assert_status(DYNSEL_OK, run_job_with(&blind, &what));
    assert_int_equal(1, seen.choices);
    assert_false(seen.has_data);
    assert_int_equal(ELEMENTS, seen.amount);
    submit_to(FIRST, add_to(a, 1));
    assert_true(seen.has_data);
    assert_int_equal(1, seen.data.uses_ahead);
    submit_to(FIRST, add_to(a, 1));
    assert_int_equal(1, seen.data.uses_ahead); /* that of the other policy does not count */
    const dynsel_task task = {.function = do_nothing};
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&scout, &task, &selection));
    assert_false(seen.has_data);
    assert_int_equal(0, seen.amount);
}

/* What the policy said of an earlier end does not stay. */
static void settled_policy_sees_no_data(void **state)
{
    (void)state;
    ends_ns = 4711;
    submit_to(FIRST, add_to(a, 1));
    assert_true(seen.has_data);
    settled = true;
    submit_to(FIRST, add_to(a, 1));
    assert_false(seen.has_data);
    assert_int_equal(ELEMENTS, seen.amount);
    settled = false;
    submit_to(FIRST, add_to(a, 1));
    assert_true(seen.has_data);
    assert_int_equal(0, seen.data.ready_ns);
    all_is_over();
    assert_int_equal(3, seen.choices);
}

/*
 * Amounts and ids.
 */

static const dynsel_kernel nameless = {.name = "nameless", .function = launch_nothing};
static const dynsel_kernel other = {.name = "other", .function = launch_nothing};
static const dynsel_kernel known = {.name = "known", .function = launch_nothing, .id = 12};
static const dynsel_kernel same = {.name = "same", .function = launch_nothing, .id = 12};

static dynsel_handler *kept;

static dynsel_status set_and_run(dynsel_handler *handler, void *args)
{
    kept = handler;
    assert_status(DYNSEL_OK, dynsel_set_amount(handler, *(const uint64_t *)args / 2));
    assert_status(DYNSEL_OK, dynsel_set_amount(handler, *(const uint64_t *)args));
    return dynsel_parallel_for(handler, &nameless, DYNSEL_RANGE(ELEMENTS), NULL, NULL);
}

static dynsel_status run_3d(dynsel_handler *handler, void *args)
{
    (void)args;
    return dynsel_parallel_for(handler, &nameless, DYNSEL_RANGE_3D(3, 5, 7), NULL, NULL);
}

static dynsel_status run_one(dynsel_handler *handler, void *args)
{
    return dynsel_single_task(handler, args);
}

static dynsel_status run_one_again(dynsel_handler *handler, void *args)
{
    return dynsel_single_task(handler, args);
}

static dynsel_status run_with_key(dynsel_handler *handler, void *args)
{
    (void)dynsel_set_key(handler, 4711, NULL, 0);
    return dynsel_single_task(handler, args);
}

static dynsel_status run_on_host(dynsel_handler *handler, void *args)
{
    (void)args;
    return dynsel_host_task(handler, launch_nothing);
}

static dynsel_status copy_five(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor from = {
        .buffer = a, .mode = DYNSEL_ACCESS_READ, .placeholder = true, .range = DYNSEL_RANGE(5)};
    const dynsel_accessor to = {.buffer = b,
                                .mode = DYNSEL_ACCESS_WRITE,
                                .placeholder = true,
                                .range = DYNSEL_RANGE(5),
                                .offset = DYNSEL_RANGE(2)};
    (void)dynsel_require(handler, &from);
    (void)dynsel_require(handler, &to);
    return dynsel_copy(handler, &from, &to);
}

static dynsel_status fill_all(dynsel_handler *handler, void *args)
{
    (void)args;
    static const int32_t zero;
    const dynsel_accessor to = {
        .buffer = b, .mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true};
    (void)dynsel_require(handler, &to);
    return dynsel_fill(handler, &to, &zero, sizeof zero);
}

static void submit_group(dynsel_group_fn function, const void *args)
{
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&scout, function, (void *)(uintptr_t)args));
}

static void amount_is_what_command_does(void **state)
{
    (void)state;
    submit_to(ON_HOST, add_to(a, 1));
    assert_int_equal(ELEMENTS, seen.amount);
    submit_group(run_3d, NULL);
    assert_int_equal(105, seen.amount);
    submit_group(run_one, &nameless);
    assert_int_equal(1, seen.amount);
    submit_group(copy_five, NULL);
    assert_int_equal(20, seen.amount);
    submit_group(fill_all, NULL);
    assert_int_equal(BYTES, seen.amount);
    submit_group(run_on_host, NULL);
    assert_int_equal(0, seen.amount);
}

static void amount_that_is_set_counts(void **state)
{
    (void)state;
    static const uint64_t amounts[] = {1, 1000000, UINT64_MAX, 0};
    for (int i = 0; i < 4; i++) {
        submit_group(set_and_run, &amounts[i]);
        assert_int_equal(amounts[i], seen.amount);
    }
    for (int i = 0; i < 2 * CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        submit_group(run_3d, NULL);
        assert_int_equal(105, seen.amount); /* not that of a group before */
    }
}

static void wrong_calls_of_set_amount_are_refused(void **state)
{
    (void)state;
    static const uint64_t amount = 5;
    assert_status(DYNSEL_E_INVALID, dynsel_set_amount(NULL, 1));
    assert_error_says("dynsel_set_amount");
    submit_group(set_and_run, &amount);
    assert_status(DYNSEL_E_INVALID, dynsel_set_amount(kept, 1));
    assert_error_says("dynsel_set_amount");
}

static void kernel_with_id_is_kind_of_its_own(void **state)
{
    (void)state;
    submit_group(run_one, &known);
    const uint32_t id = seen.id;
    assert_int_not_equal(0, id);
    assert_false(seen.id_of_address);
    submit_group(run_one_again, &same);
    assert_int_equal(id, seen.id); /* wherever it stands */
    assert_false(seen.id_of_address);
    submit_group(run_with_key, &known);
    assert_int_equal(4711, seen.id);
    assert_false(seen.id_of_address);
    submit_group(run_with_key, &nameless);
    assert_int_equal(4711, seen.id);
    assert_false(seen.id_of_address);
}

static void addresses_identify_kernel_without_id(void **state)
{
    (void)state;
    submit_group(run_one, &nameless);
    const uint32_t id = seen.id;
    assert_int_not_equal(0, id);
    assert_true(seen.id_of_address);
    submit_group(run_one, &nameless);
    assert_int_equal(id, seen.id);
    submit_group(run_one, &other);
    assert_int_not_equal(id, seen.id);
    assert_true(seen.id_of_address);
    submit_group(run_one_again, &nameless);
    assert_int_not_equal(id, seen.id);
    submit_group(run_on_host, NULL);
    assert_true(seen.id_of_address);
}

#define TEST_PLACES(test) cmocka_unit_test_setup_teardown(test, set_up, close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_PLACES(data_on_host_would_move_to_devices),
        TEST_PLACES(data_on_device_would_move_elsewhere),
        TEST_PLACES(device_with_hosts_memory_moves_nothing),
        TEST_PLACES(pending_writer_decides_where_data_will_be),
        TEST_PLACES(pending_reader_brings_data),
        TEST_PLACES(writer_is_waited_for_until_its_end),
        TEST_PLACES(readers_are_waited_for_by_writer),
        TEST_PLACES(end_that_is_not_predicted_is_unknown),
        TEST_PLACES(uses_ahead_are_as_many_as_so_far_in_first_period),
        TEST_PLACES(write_of_program_ends_period),
        TEST_PLACES(uses_ahead_follow_changes_of_program),
        TEST_PLACES(updates_are_uses_that_read_and_write),
        TEST_PLACES(expectation_of_last_writer_is_seen),
        TEST_PLACES(expectation_counts_once),
        TEST_PLACES(copies_from_device_come_behind_its_work),
        TEST_PLACES(work_follows_what_it_only_reads),
        TEST_PLACES(copies_from_some_devices_move_beside_work),
        TEST_PLACES(new_buffer_has_no_past),
        TEST_PLACES(policy_that_does_not_weigh_data_sees_none),
        TEST_PLACES(settled_policy_sees_no_data),
        TEST_PLACES(amount_is_what_command_does),
        TEST_PLACES(amount_that_is_set_counts),
        TEST_PLACES(wrong_calls_of_set_amount_are_refused),
        TEST_PLACES(kernel_with_id_is_kind_of_its_own),
        TEST_PLACES(addresses_identify_kernel_without_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
