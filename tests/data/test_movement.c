/* SPDX-License-Identifier: Apache-2.0 */
/* What was moved, what would have to be, memory domains, and kernels that are prepared. */
#include <string.h>

#include "support/do_nothing.h"
#include "support/places.h"

static int32_t numbers[ELEMENTS];
static int32_t others[ELEMENTS];
static dynsel_buffer a;
static dynsel_buffer b;

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    for (int32_t i = 0; i < ELEMENTS; i++) {
        numbers[i] = i;
        others[i] = 0;
    }
    a = new_buffer(numbers);
    b = new_buffer(others);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
    return 0;
}

static void run_on(unsigned place, job what)
{
    assert_status(DYNSEL_OK, run_job(place, &what));
}

static const dynsel_resource *resource_of(unsigned place)
{
    size_t count = 0;
    return dynsel_get_resources(&places[place].policy, &count);
}

static void domain_movement_counts_copied_bytes(void **state)
{
    (void)state;
    dynsel_movement before;
    dynsel_movement moved;
    dynsel_movement elsewhere;
    run_on(1, set_all(b, 0));
    assert_status(DYNSEL_OK, dynsel_domain_movement(resource_of(0), &before));
    assert_status(DYNSEL_OK, dynsel_domain_movement(resource_of(1), &elsewhere));
    run_on(0, add_to(a, 1));
    run_on(0, copy_to(b, a));
    see_buffer(a, 1, 1);
    see_buffer(b, 1, 1);
    run_on(0, add_to(a, 1));
    assert_status(DYNSEL_OK, dynsel_domain_movement(resource_of(0), &moved));
    assert_int_equal(BYTES, moved.bytes_in - before.bytes_in);
    assert_int_equal(2 * BYTES, moved.bytes_out - before.bytes_out);
    assert_int_equal(1, moved.copies_in - before.copies_in);
    assert_int_equal(2, moved.copies_out - before.copies_out);
    assert_int_equal(3, moved.copies_avoided - before.copies_avoided);
    assert_status(DYNSEL_OK, dynsel_domain_movement(resource_of(1), &moved));
    assert_memory_equal(&elsewhere, &moved, sizeof moved);
}

static void host_domain_counts_no_copies(void **state)
{
    (void)state;
    dynsel_movement moved;
    memset(&moved, 0xff, sizeof moved);
    run_on(HOST, add_to(a, 1));
    assert_status(DYNSEL_OK, dynsel_domain_movement(resource_of(HOST), &moved));
    assert_int_equal(0, moved.bytes_in + moved.bytes_out);
    assert_int_equal(0, moved.copies_in + moved.copies_out + moved.copies_avoided);
    assert_moved(a, 0, 0, 1);
}

static void wrong_movement_queries_are_refused(void **state)
{
    (void)state;
    dynsel_movement moved;
    dynsel_buffer gone = new_buffer(others);
    dynsel_buffer copy = gone;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&gone));
    assert_status(DYNSEL_E_STALE, dynsel_buffer_movement(copy, &moved));
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_movement((dynsel_buffer){0}, &moved));
    assert_status(DYNSEL_E_INVALID, dynsel_buffer_movement(a, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_domain_movement(NULL, &moved));
    assert_status(DYNSEL_E_INVALID, dynsel_domain_movement(resource_of(0), NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_domain_movement(&(dynsel_resource){0}, &moved));
}

/* What a task with these requirements would move, in whole buffers. */
static unsigned would_move(unsigned place, const dynsel_requirement *requirements, size_t count)
{
    const dynsel_task task = {.requirements = requirements, .requirement_count = count};
    const uint64_t bytes = dynsel_bytes_to_move(resource_of(place), &task);
    assert_int_equal(0, bytes % BYTES);
    return (unsigned)(bytes / BYTES);
}

static void bytes_to_move_predicts_copies(void **state)
{
    (void)state;
    const dynsel_accessor reads = {.buffer = a, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    const dynsel_accessor changes = {.placeholder = true};
    const dynsel_accessor discards = {.mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true};
    const dynsel_accessor part = {
        .mode = DYNSEL_ACCESS_DISCARD_WRITE, .range = DYNSEL_RANGE(1), .placeholder = true};
    const dynsel_accessor whole = {.mode = DYNSEL_ACCESS_DISCARD_READ_WRITE,
                                   .range = DYNSEL_RANGE(ELEMENTS),
                                   .placeholder = true};
    const dynsel_requirement all[] = {{.accessor = &whole, .buffer = a}};
    const dynsel_requirement both[] = {{.accessor = &reads}, {.accessor = &changes, .buffer = b}};
    const dynsel_requirement twice[] = {{.accessor = &discards, .buffer = a},
                                        {.accessor = &reads},
                                        {.accessor = &changes, .buffer = a}};
    const dynsel_requirement same[] = {{.accessor = &reads}, {.accessor = &reads}};
    const dynsel_requirement one[] = {{.accessor = &discards, .buffer = a}};
    const dynsel_requirement some[] = {{.accessor = &part, .buffer = a}};
    assert_int_equal(2, would_move(0, both, 2));
    assert_int_equal(1, would_move(0, twice, 3));
    assert_int_equal(1, would_move(0, same, 2));
    assert_int_equal(0, would_move(0, one, 1));
    assert_int_equal(0, would_move(0, all, 1));
    assert_int_equal(1, would_move(0, some, 1));
    assert_int_equal(0, would_move(HOST, both, 2));
    run_on(0, add_to(a, 1));
    assert_int_equal(1, would_move(0, both, 2));
    assert_int_equal(2, would_move(1, both, 2));
    assert_int_equal(1, would_move(HOST, both, 2));
    run_on(0, add_to(b, 1));
    assert_int_equal(0, would_move(0, both, 2));
    assert_int_equal(2, would_move(HOST, both, 2));
}

/* A domain that nothing was sent to yet has no copies. */
static void bytes_to_move_counts_everything_for_new_domain(void **state)
{
    (void)state;
    const dynsel_accessor reads = {.buffer = a, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    const dynsel_requirement one[] = {{.accessor = &reads}};
    sim.devices[3].domain = 4711;
    assert_int_equal(1, would_move(3, one, 1));
    run_on(0, add_to(a, 1));
    assert_int_equal(1, would_move(3, one, 1));
    assert_int_equal(0, would_move(0, one, 1));
    assert_int_equal(1, would_move(HOST, one, 1));
}

static void bytes_to_move_is_zero_for_shared_memory(void **state)
{
    (void)state;
    sim.devices[0].shares = true;
    const dynsel_accessor changes = {.placeholder = true};
    const dynsel_requirement one[] = {{.accessor = &changes, .buffer = a}};
    run_on(0, add_to(b, 1)); /* from here on it is known that it shares */
    assert_int_equal(0, would_move(0, one, 1));
    run_on(0, add_to(a, 1));
    assert_int_equal(0, would_move(HOST, one, 1));
    assert_int_equal(1, would_move(1, one, 1));
    see_buffer(a, 1, 1);
    run_on(1, add_to(a, 1));
    assert_int_equal(1, would_move(0, one, 1));
    assert_int_equal(1, would_move(HOST, one, 1));
}

static void bytes_to_move_of_missing_or_ended_buffer_is_zero(void **state)
{
    (void)state;
    const dynsel_accessor reads = {.placeholder = true};
    const dynsel_requirement none[] = {{.accessor = &reads}, {.accessor = NULL, .buffer = a}};
    dynsel_buffer gone = new_buffer(others);
    const dynsel_requirement ended[] = {{.accessor = &reads, .buffer = gone}};
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&gone));
    assert_int_equal(0, would_move(0, none, 2));
    assert_int_equal(0, would_move(0, ended, 1));
    assert_int_equal(0, would_move(0, NULL, 2));
    assert_int_equal(0, dynsel_bytes_to_move(NULL, &(dynsel_task){0}));
    assert_int_equal(0, dynsel_bytes_to_move(resource_of(0), NULL));
}

/* Devices 1 to 3 are in the domain that the test says; device 0 in one of its own. */

static uint32_t told;

static dynsel_domain tell(dynsel_backend *backend, void *own)
{
    (void)backend;
    return (dynsel_domain){.number = own == &sim.devices[0] ? 1000 : told, .in_order = true};
}

static void begin_telling(void)
{
    static dynsel_backend_ops ops;
    static dynsel_memory_ops memory;
    ops = *sim.backend.ops;
    memory = *ops.memory;
    memory.domain = tell;
    ops.memory = &memory;
    sim.backend.ops = &ops;
}

/* Sends it to a domain that has not been seen yet, as another resource. */
static dynsel_status run_in_new_domain(const job *what)
{
    told++;
    place_is_another(1);
    return run_job(1, what);
}

static void new_domain_reuses_slot_of_unused_one(void **state)
{
    (void)state;
    enum { MANY = 2 * CONFIG_DYNSEL_MAX_DOMAINS + 3 };
    begin_telling();
    for (unsigned round = 0; round < MANY; round++) {
        dynsel_buffer one = new_buffer(others);
        const job adds = add_to(one, 1);
        assert_status(DYNSEL_OK, run_in_new_domain(&adds));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&one));
    }
    assert_int_equal(MANY, others[ELEMENTS - 1]);
}

/* A copy in each domain, and then one more domain. */
static void full_domain_table_refuses_new_domain_until_one_is_free(void **state)
{
    (void)state;
    static int32_t data[CONFIG_DYNSEL_MAX_DOMAINS + 1][ELEMENTS];
    static dynsel_buffer buffers[CONFIG_DYNSEL_MAX_DOMAINS + 1];
    if (CONFIG_DYNSEL_MAX_BUFFERS < CONFIG_DYNSEL_MAX_DOMAINS + 3) {
        return; /* the buffers are full before */
    }
    begin_telling();
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        buffers[i] = new_buffer(data[i]);
        const job adds = add_to(buffers[i], 1);
        assert_status(DYNSEL_OK, run_in_new_domain(&adds));
    }
    buffers[CONFIG_DYNSEL_MAX_DOMAINS] = new_buffer(data[CONFIG_DYNSEL_MAX_DOMAINS]);
    const job last = add_to(buffers[CONFIG_DYNSEL_MAX_DOMAINS], 1);
    assert_status(DYNSEL_E_FULL, run_in_new_domain(&last));
    assert_error_says("CONFIG_DYNSEL_MAX_DOMAINS");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[0]));
    assert_status(DYNSEL_OK, run_in_new_domain(&last));
    assert_int_equal(1, data[0][0]);
    for (unsigned i = 1; i <= CONFIG_DYNSEL_MAX_DOMAINS; i++) {
        end_buffer(&buffers[i], data[i], 1, 0);
    }
}

/* Work that waits for a place on a device may have no copy there yet. */
static void domain_with_pending_work_keeps_its_slot(void **state)
{
    (void)state;
    begin_telling();
    atomic_store(&sim.devices[0].is_full, true);
    dynsel_submission submission;
    const job adds = add_to(a, 1);
    assert_status(DYNSEL_OK, send_job(0, &adds, &submission));
    for (unsigned round = 0; round < 2 * CONFIG_DYNSEL_MAX_DOMAINS; round++) {
        dynsel_buffer one = new_buffer(others);
        const job sets = set_all(one, 0);
        assert_status(DYNSEL_OK, run_in_new_domain(&sets));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&one));
    }
    atomic_store(&sim.devices[0].is_full, false);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    dynsel_movement moved;
    assert_status(DYNSEL_OK, dynsel_domain_movement(resource_of(0), &moved));
    assert_int_equal(BYTES, moved.bytes_in);
    see_buffer(a, 1, 1);
}

/* A backend that builds kernels */

static unsigned built;
static dynsel_status builds;

static bool has_form(const dynsel_kernel *kernel)
{
    return kernel->source != NULL;
}

static dynsel_status prepare(dynsel_backend *backend, void *own, const dynsel_kernel *kernel)
{
    (void)backend;
    (void)kernel;
    assert_non_null(own);
    built++;
    return builds == DYNSEL_OK || built == 1
               ? DYNSEL_OK
               : dynsel_fail(&(dynsel_error){
                     .status = builds, .number = built, .detail = "the log of kernel {}"});
}

static dynsel_memory_ops building_memory;
static dynsel_backend_ops building_ops;
static dynsel_backend building = {&building_ops};

typedef struct progress {
    size_t calls;
    size_t failed;
} progress;

static void note(const dynsel_kernel *kernel, const dynsel_resource *where, dynsel_status status,
                 size_t done, size_t total, void *context)
{
    progress *const p = context;
    p->calls++;
    p->failed += status != DYNSEL_OK ? 1 : 0;
    assert_int_equal(p->calls, done);
    assert_int_equal(3, total);
    assert_non_null(kernel);
    assert_true(where->backend == &building || where->backend == &dynsel_inline_backend);
}

static const dynsel_kernel everywhere = {.name = "x", .function = launch_nothing, .source = "x"};
static const dynsel_kernel only_host = {.function = launch_nothing};
static const dynsel_kernel only_devices = {.name = "y", .source = "y"};

static void begin_building(dynsel_round_robin_policy *policy)
{
    building_ops = *sim.backend.ops;
    building_memory = *sim.backend.ops->memory;
    building_memory.has_form = has_form;
    building_memory.prepare = prepare;
    building_ops.memory = &building_memory;
    built = 0;
    builds = DYNSEL_OK;
    const dynsel_resource resources[] = {{&building, &sim.devices[0]},
                                         {&dynsel_inline_backend, NULL}};
    const dynsel_options options = {.resources = resources, .count = 2};
    memset(policy, 0, sizeof *policy);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(policy, &options, 0));
}

static void kernel_prepare_builds_on_devices_with_form(void **state)
{
    (void)state;
    static dynsel_round_robin_policy policy;
    begin_building(&policy);
    const dynsel_kernel *const two[] = {&everywhere, &only_host};
    progress p = {0};
    assert_status(DYNSEL_OK, dynsel_kernel_prepare(&policy.policy, two, 2, note, &p));
    assert_int_equal(3, p.calls);
    assert_int_equal(1, built);
    assert_status(DYNSEL_OK, dynsel_kernel_prepare(&policy.policy, two, 2, NULL, NULL));
    assert_status(DYNSEL_OK, dynsel_kernel_prepare(&policy.policy, NULL, 0, NULL, NULL));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void kernel_prepare_tries_all_and_returns_first_failure(void **state)
{
    (void)state;
    static dynsel_round_robin_policy policy;
    begin_building(&policy);
    const dynsel_kernel *const three[] = {&only_devices, &only_devices, &only_devices};
    progress p = {0};
    builds = DYNSEL_E_TASK;
    assert_status(DYNSEL_E_TASK, dynsel_kernel_prepare(&policy.policy, three, 3, note, &p));
    assert_error_says("the log of kernel 2");
    assert_int_equal(3, p.calls);
    assert_int_equal(2, p.failed);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

#if CONFIG_DYNSEL_RESOURCE_SETS
static dynsel_policy *changing;
static unsigned reports;

/* The resource comes back between the first and the second kernel. */
static void bring_back(const dynsel_kernel *kernel, const dynsel_resource *where,
                       dynsel_status status, size_t done, size_t total, void *context)
{
    (void)kernel;
    (void)context;
    assert_status(DYNSEL_OK, status);
    assert_true(where->backend == &dynsel_inline_backend);
    assert_true(done <= total);
    assert_int_equal(2, total);
    const dynsel_resource device = {&building, &sim.devices[0]};
    if (reports++ == 0) {
        assert_status(DYNSEL_OK, dynsel_policy_add_resource(changing, &device, NULL));
    }
}

static void kernel_prepare_leaves_out_what_was_removed(void **state)
{
    (void)state;
    static dynsel_round_robin_policy policy;
    begin_building(&policy);
    changing = &policy.policy;
    reports = 0;
    assert_status(DYNSEL_OK, dynsel_policy_deinit(changing));
    const dynsel_resource resources[] = {{&dynsel_inline_backend, NULL},
                                         {&building, &sim.devices[0]}};
    const dynsel_options options = {.resources = resources, .count = 2, .may_change = true};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_remove_resource(changing, 1, 0));
    const dynsel_kernel *const two[] = {&everywhere, &everywhere};
    builds = DYNSEL_E_TASK;
    built = 1;
    assert_status(DYNSEL_OK, dynsel_kernel_prepare(changing, two, 2, bring_back, NULL));
    assert_int_equal(2, reports);
    assert_int_equal(1, built);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(changing));
}
#endif

static dynsel_status prepare_inside(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    const dynsel_kernel *const one[] = {&everywhere};
    return dynsel_kernel_prepare(args, one, 1, NULL, NULL);
}

static void wrong_kernel_prepare_is_refused(void **state)
{
    (void)state;
    static const dynsel_kernel nameless = {.source = "x"};
    static const dynsel_kernel formless = {.name = "x"};
    const dynsel_kernel *const nothing_there[] = {&everywhere, NULL};
    const dynsel_kernel *const no_name[] = {&nameless};
    const dynsel_kernel *const no_form[] = {&formless};
    dynsel_policy *const policy = &places[HOST].policy;
    dynsel_fixed_resource_policy zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(NULL, no_name, 1, NULL, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(policy, NULL, 1, NULL, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(policy, nothing_there, 2, NULL, NULL));
    assert_error_says("kernel 1");
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(policy, no_name, 1, NULL, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(policy, no_form, 1, NULL, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED,
                  dynsel_kernel_prepare(&zeroed.policy, nothing_there, 1, NULL, NULL));
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_submit_and_wait(policy, &DYNSEL_TASK(prepare_inside, policy)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(domain_movement_counts_copied_bytes),
        TEST(host_domain_counts_no_copies),
        TEST(wrong_movement_queries_are_refused),
        TEST(bytes_to_move_predicts_copies),
        TEST(bytes_to_move_counts_everything_for_new_domain),
        TEST(bytes_to_move_is_zero_for_shared_memory),
        TEST(bytes_to_move_of_missing_or_ended_buffer_is_zero),
        TEST(new_domain_reuses_slot_of_unused_one),
        TEST(full_domain_table_refuses_new_domain_until_one_is_free),
        TEST(domain_with_pending_work_keeps_its_slot),
        TEST(kernel_prepare_builds_on_devices_with_form),
        TEST(kernel_prepare_tries_all_and_returns_first_failure),
#if CONFIG_DYNSEL_RESOURCE_SETS
        TEST(kernel_prepare_leaves_out_what_was_removed),
#endif
        TEST(wrong_kernel_prepare_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
