/* SPDX-License-Identifier: Apache-2.0 */
/* Full device memory, and failing steps of a start. */
#include "support/places.h"
#include "support/put_in_service.h"

enum { BUFFERS = 5 };

static int32_t numbers[BUFFERS][ELEMENTS];
static dynsel_buffer buffers[BUFFERS];

static int set_up(void **state)
{
    (void)state;
    places_begin(false);
    for (unsigned n = 0; n < BUFFERS; n++) {
        for (int32_t i = 0; i < ELEMENTS; i++) {
            numbers[n][i] = (int32_t)n * 100 + i;
        }
        buffers[n] = new_buffer(numbers[n]);
    }
    return 0;
}

/* Each has grown by `more`. */
static void finish_with(const int32_t more[BUFFERS])
{
    places_hurry();
    for (unsigned n = 0; n < BUFFERS; n++) {
        end_buffer(&buffers[n], numbers[n], (int32_t)n * 100 + more[n], 1);
    }
    places_end();
}

static job look_at(dynsel_buffer buffer)
{
    return (job){.kind = FAIL, .buffers = {buffer}, .modes = {DYNSEL_ACCESS_READ}};
}

static void run_on(unsigned place, job what)
{
    assert_status(DYNSEL_OK, run_job(place, &what));
}

static void full_memory_evicts_least_recently_used_copy(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)3 * BYTES;
    run_on(0, look_at(buffers[0]));
    run_on(0, look_at(buffers[1]));
    run_on(0, look_at(buffers[2]));
    run_on(0, look_at(buffers[0]));
    assert_int_equal(0, sim.counts.released);
    run_on(0, look_at(buffers[3])); /* in the place of 1 */
    assert_int_equal(1, sim.counts.released);
    run_on(0, look_at(buffers[2]));
    run_on(0, look_at(buffers[0]));
    assert_moved(buffers[0], 1, 0, 2);
    assert_moved(buffers[2], 1, 0, 1);
    run_on(0, look_at(buffers[1])); /* in the place of 3 */
    assert_moved(buffers[1], 2, 0, 0);
    assert_int_equal(2, sim.counts.released);
    run_on(0, look_at(buffers[3]));
    assert_moved(buffers[3], 2, 0, 0);
    finish_with((int32_t[BUFFERS]){0});
}

static void full_memory_evicts_stale_copies_first(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)2 * BYTES;
    run_on(0, look_at(buffers[0]));
    run_on(0, look_at(buffers[1]));
    run_on(1, add_to(buffers[1], 1));
    run_on(0, look_at(buffers[2]));
    run_on(0, look_at(buffers[0]));
    assert_moved(buffers[0], 1, 0, 1);
    finish_with((int32_t[BUFFERS]){0, 1});
}

static void full_memory_keeps_only_valid_copy(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)2 * BYTES;
    run_on(0, add_to(buffers[0], 1));
    run_on(0, look_at(buffers[1]));
    run_on(0, look_at(buffers[2])); /* in the place of 1, although 0 was used before */
    run_on(0, add_to(buffers[0], 1));
    assert_moved(buffers[0], 1, 0, 1);
    run_on(0, add_to(buffers[3], 1));
    job none = look_at(buffers[4]);
    assert_status(DYNSEL_E_FULL, run_job(0, &none));
    assert_error_says("the device's memory is full");
    assert_error_says("128 bytes");
    assert_moved(buffers[4], 0, 0, 0);
    see_buffer(buffers[3], 301, 1); /* from here on it is valid on the host too */
    run_on(0, look_at(buffers[4]));
    assert_moved(buffers[3], 1, 1, 0);
    finish_with((int32_t[BUFFERS]){2, 0, 0, 1});
}

static void full_memory_keeps_copies_in_use(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)2 * BYTES;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    dynsel_submission submissions[2];
    job looks = look_at(buffers[0]);
    assert_status(DYNSEL_OK, send_job(0, &looks, &submissions[0]));
    looks = look_at(buffers[1]);
    assert_status(DYNSEL_OK, send_job(0, &looks, &submissions[1]));
    job none = add_to(buffers[2], 1);
    assert_status(DYNSEL_E_FULL, run_job(0, &none));
    run_on(1, none); /* what it was to write is as it was */
    see_buffer(buffers[2], 201, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[1]));
    run_on(0, set_all(buffers[2], 200));
    assert_moved(buffers[2], 1, 1, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    finish_with((int32_t[BUFFERS]){0});
}

/* As from drivers that allocate only when memory is used. */
static void late_out_of_memory_evicts_copies_too(void **state)
{
    (void)state;
    run_on(0, look_at(buffers[0]));
    run_on(0, look_at(buffers[1]));
    simulated_fail(&sim, SIMULATED_BRING, 1, false, DYNSEL_E_AGAIN);
    run_on(0, look_at(buffers[2])); /* in the place of 0 */
    assert_int_equal(1, sim.counts.released);
    assert_moved(buffers[2], 1, 0, 0);
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_AGAIN);
    run_on(0, add_to(buffers[2], 1)); /* in the place of 1 */
    assert_int_equal(2, sim.counts.released);
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_AGAIN);
    job none = look_at(buffers[2]);
    assert_status(DYNSEL_E_FULL, run_job(0, &none));
    simulated_fail(&sim, SIMULATED_BRING, 1, false, DYNSEL_E_AGAIN);
    none = look_at(buffers[3]);
    assert_status(DYNSEL_E_FULL, run_job(0, &none));
    assert_error_says("the device's memory is full");
    run_on(0, look_at(buffers[3]));
    finish_with((int32_t[BUFFERS]){0, 0, 1});
}

/* There is no copy to give up, of no domain. */
static void refused_launch_in_hosts_memory_evicts_nothing(void **state)
{
    (void)state;
    run_on(1, look_at(buffers[0]));
    sim.devices[0].domain = 0;
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_AGAIN);
    job none = look_at(buffers[0]);
    assert_status(DYNSEL_E_FULL, run_job(0, &none));
    assert_int_equal(0, sim.counts.released);
    run_on(0, add_to(buffers[0], 1));
    finish_with((int32_t[BUFFERS]){1});
}

/* Making new memory ready goes on although the launch failed: who is next comes after it. */
static void new_memory_is_prepared_before_use(void **state)
{
    dynsel_submission failing;
    dynsel_submission next;
    const job sets = set_all(buffers[0], 1000);
    (void)state;
    sim.devices[1].domain = 1; /* the same memory */
    sim.devices[0].prepares = true;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    simulated_fail(&sim, SIMULATED_LAUNCH, 1, false, DYNSEL_E_DEVICE);
    assert_status(DYNSEL_OK, send_job(0, &sets, &failing));
    assert_int_equal(1, simulated_pending(&sim));
    assert_status(DYNSEL_OK, send_job(1, &sets, &next));
    assert_int_equal(1, sim.counts.allocated);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&next, 0));
    assert_status(DYNSEL_E_DEVICE, dynsel_wait(&failing));
    assert_status(DYNSEL_OK, dynsel_wait(&next));
    finish_with((int32_t[BUFFERS]){1000});
}

/* The start that allocated it failed before that. */
static void memory_of_failed_start_is_prepared_later(void **state)
{
    const job both = {.kind = SET,
                      .buffers = {buffers[0], buffers[1]},
                      .modes = {DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_ACCESS_DISCARD_WRITE}};
    (void)state;
    sim.devices[0].prepares = true;
    simulated_fail(&sim, SIMULATED_ALLOCATE, 2, false, DYNSEL_E_DEVICE);
    assert_status(DYNSEL_E_DEVICE, run_job(0, &both));
    assert_int_equal(1, sim.counts.allocated);
    assert_int_equal(0, sim.counts.brought);
    for (unsigned i = 0; i < 2; i++) {
        run_on(0, set_all(buffers[0], 1000));
        assert_int_equal(1, sim.counts.allocated);
        assert_int_equal(1, sim.counts.brought);
    }
    finish_with((int32_t[BUFFERS]){1000});
}

/* The first of those that a resource refused is tried for all of them, but not while its data are
 * elsewhere. */
static void resource_is_tried_with_next_when_first_refused_waits_for_data(void **state)
{
    dynsel_submission submissions[3];
    const job first = copy_to(buffers[1], buffers[0]);
    const job next = set_all(buffers[2], 1000);
    const job takes = copy_to(buffers[3], buffers[0]);
    (void)state;
    sim.devices[0].shares = true;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    atomic_store(&sim.devices[1].is_full, true);
    assert_status(DYNSEL_OK, send_job(1, &first, &submissions[0]));
    assert_status(DYNSEL_OK, send_job(1, &next, &submissions[1]));
    assert_status(DYNSEL_OK, send_job(0, &takes, &submissions[2])); /* has the memory of 0 */
    dynsel_progress();
    atomic_store(&sim.devices[1].is_full, false);
    dynsel_progress();
    assert_status(DYNSEL_OK, dynsel_wait_for(&submissions[1], 0));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submissions[0], 0));
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[2]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    finish_with((int32_t[BUFFERS]){0, -100, 800, -300});
}

static unsigned released_unlocked;

/* Takes the lock of buffers: where it is held, this never returns. */
static void look_while_releasing(void)
{
    dynsel_movement movement;
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffers[0], &movement));
    released_unlocked++;
}

/* Drivers may wait when memory is given back; nobody else does. */
static void memory_release_runs_without_lock(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)2 * BYTES;
    sim.releasing = look_while_releasing;
    released_unlocked = 0;
    run_on(0, look_at(buffers[1]));
    run_on(0, look_at(buffers[2]));
    run_on(0, look_at(buffers[3])); /* in the place of 1 */
    assert_int_equal(1, released_unlocked);
    run_on(1, look_at(buffers[3]));
    end_buffer(&buffers[3], numbers[3], 300, 1);
    assert_int_equal(3, released_unlocked);
    buffers[3] = new_buffer(numbers[3]);
    run_on(0, add_to(buffers[1], 1));
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    const job lost = look_at(buffers[1]);
    assert_status(DYNSEL_E_DEVICE, run_job(HOST, &lost));
    assert_int_equal(3, released_unlocked);
    run_on(0, set_all(buffers[1], 107)); /* in new memory */
    assert_int_equal(4, released_unlocked);
    sim.releasing = NULL;
    finish_with((int32_t[BUFFERS]){0, 7});
}

/* As from a table of the backend's, such as the one of its kernels. */
static void full_backend_table_evicts_nothing(void **state)
{
    static const unsigned kinds[] = {SIMULATED_ALLOCATE, SIMULATED_BRING, SIMULATED_LAUNCH};
    (void)state;
    run_on(0, look_at(buffers[0]));
    run_on(0, look_at(buffers[1]));
    for (unsigned i = 0; i < 3; i++) {
        simulated_fail(&sim, kinds[i], 1, false, DYNSEL_E_FULL);
        job none = look_at(buffers[2]);
        assert_status(DYNSEL_E_FULL, run_job(0, &none));
        assert_int_equal(dynsel_last_error()->code, (int)DYNSEL_E_FULL - 100); /* the backend's */
        assert_int_equal(0, sim.counts.released);
    }
    run_on(0, look_at(buffers[0]));
    assert_moved(buffers[0], 1, 0, 1);
    finish_with((int32_t[BUFFERS]){0});
}

/* The one is there, the others do not fit beside it. */
static void command_group_larger_than_memory_fails_alone(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)2 * BYTES;
    run_on(0, look_at(buffers[0]));
    job three = {.kind = FAIL,
                 .buffers = {buffers[0], buffers[1], buffers[2]},
                 .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
    assert_status(DYNSEL_E_FULL, run_job(0, &three));
    assert_int_equal(1, sim.counts.brought);
    run_on(0, look_at(buffers[0]));
    run_on(0, add_to(buffers[1], 1));
    assert_moved(buffers[0], 1, 0, 2);
    assert_moved(buffers[1], 1, 0, 0);
    run_on(1, three);
    finish_with((int32_t[BUFFERS]){0, 1});
}

/* Memory of the host's makes no room. */
static void full_memory_keeps_shared_copies(void **state)
{
    (void)state;
    sim.limits[1] = (size_t)2 * BYTES;
    sim.devices[0].shares = true;
    run_on(0, look_at(buffers[0]));
    see_buffer(buffers[0], 0, 1);
    sim.devices[0].shares = false;
    run_on(0, look_at(buffers[1]));
    run_on(0, look_at(buffers[2])); /* in the place of 1, although 0 was used before */
    assert_int_equal(1, sim.counts.released);
    run_on(0, look_at(buffers[0]));
    assert_moved(buffers[0], 0, 0, 3);
    finish_with((int32_t[BUFFERS]){0});
}

/* It shares its memory with the host, which has it no longer. */
static void full_memory_evicts_copy_valid_on_another_device(void **state)
{
    (void)state;
    sim.limits[1] = BYTES;
    sim.devices[1].shares = true;
    run_on(1, look_at(buffers[0]));
    run_on(0, add_to(buffers[0], 1));
    run_on(1, look_at(buffers[0]));
    run_on(0, look_at(buffers[1])); /* in the place of 0, which is valid on 1 only */
    assert_moved(buffers[0], 1, 1, 2);
    finish_with((int32_t[BUFFERS]){1});
}

/* Of two, the second does not fit: the first is the device's, and of use there. */
static void shared_copy_of_failed_command_group_stays_valid(void **state)
{
    (void)state;
    sim.limits[1] = BYTES;
    sim.devices[0].shares = true;
    job two = {.kind = FAIL,
               .buffers = {buffers[0], buffers[1]},
               .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
    assert_status(DYNSEL_E_FULL, run_job(0, &two));
    run_on(1, look_at(buffers[0]));
    assert_int_equal(1, sim.counts.fetched);
    run_on(0, add_to(buffers[0], 1));
    assert_int_equal(2, sim.counts.allocated);
    finish_with((int32_t[BUFFERS]){1});
}

/* Valid on 0 and 1, and fetched from one of them, because it was lost on 2 with the host's
 * memory. */
static void full_memory_keeps_copy_during_copy_out(void **state)
{
    (void)state;
    sim.limits[1] = BYTES;
    sim.limits[2] = BYTES;
    sim.devices[2].shares = true;
    run_on(2, look_at(buffers[0]));
    run_on(0, add_to(buffers[0], 1));
    run_on(1, look_at(buffers[0]));
    run_on(2, look_at(buffers[0]));
    sim.devices[0].pace = SIMULATED_BY_HAND;
    sim.devices[1].pace = SIMULATED_BY_HAND;
    sim.failures_are_losses = true;
    simulated_fail(&sim, SIMULATED_FETCH, 1, false, DYNSEL_E_DEVICE);
    dynsel_submission fetches;
    const job look = look_at(buffers[0]);
    assert_status(DYNSEL_OK, send_job(HOST, &look, &fetches));
    assert_int_equal(1, simulated_pending(&sim));
    dynsel_submission adds[2];
    const job add[2] = {add_to(buffers[1], 1), add_to(buffers[2], 1)};
    for (unsigned i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, send_job(i, &add[i], &adds[i]));
    }
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_wait(&fetches));
    const bool first_failed = dynsel_wait(&adds[0]) == DYNSEL_E_FULL;
    assert_status(first_failed ? DYNSEL_OK : DYNSEL_E_FULL, dynsel_wait(&adds[1]));
    const job sets = set_all(buffers[first_failed ? 1 : 2], first_failed ? 101 : 201);
    run_on(HOST, sets);
    finish_with((int32_t[BUFFERS]){1, 1, 1});
}

/* Each step of the scenario fails in turn, until none does: nothing is lost but what the failed
 * work was to write, and nothing leaks. */

typedef struct
try {
    unsigned kinds;
    bool late;
    bool shares;
    bool passes;
    bool in_order;
    simulated_pace pace;
}
try;

static void try_on(unsigned place, const job *what)
{
    const dynsel_status status = run_job(place, what);
    (void)status; /* it may be the one */
    places_check();
}

/* What is written begins afresh where the writer failed. */
static bool add_or_set(unsigned place, unsigned n, int32_t *more)
{
    const job adds = add_to(buffers[n], 1);
    if (run_job(place, &adds) == DYNSEL_OK) {
        ++*more;
        return true;
    }
    *more = 7;
    for (unsigned i = 0; i < 3; i++) {
        const job sets = set_all(buffers[n], (int32_t)n * 100 + 7);
        put_in_service(&places[place].policy, 0);
        if (run_job(place, &sets) == DYNSEL_OK) {
            return true;
        }
    }
    return false;
}

/* Whether the step came that was to fail. */
static bool play(void)
{
    int32_t more[BUFFERS] = {0};
    const job looks = {.kind = FAIL,
                       .buffers = {buffers[1], buffers[0]},
                       .modes = {DYNSEL_ACCESS_READ, DYNSEL_ACCESS_READ}};
    for (unsigned i = 0; i < 3; i++) {
        try_on(i, &looks);
        assert_true(add_or_set(i, 0, &more[0]));
        try_on((i + 1) % 3, &looks);
        assert_true(add_or_set(HOST, 0, &more[0]));
        assert_true(add_or_set(i, 2, &more[2]));
    }
    const bool came = sim.failing_in == 0;
    simulated_fail(&sim, 0, 0, false, DYNSEL_OK);
    places_check();
    for (unsigned i = 0; i < PLACES; i++) {
        put_in_service(&places[i].policy, 0);
        run_on(i, look_at(buffers[1]));
        run_on(i, add_to(buffers[0], 1));
        more[0]++;
        run_on(i, add_to(buffers[2], 1));
        more[2]++;
    }
    finish_with(more);
    return came;
}

static bool fail_step(const try *what, unsigned n)
{
    assert_int_equal(0, set_up(NULL));
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        sim.devices[i].in_order = what->in_order;
        sim.devices[i].moves_beside = what->in_order && i != 1;
        sim.devices[i].pace = what->pace;
        sim.devices[i].polls = 3;
    }
    sim.devices[0].shares = what->shares;
#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
    if (what->passes) {
        simulated_let_pass(&sim);
    }
#endif
    simulated_fail(&sim, what->kinds, n, what->late, DYNSEL_E_DEVICE);
    return play();
}

static void fault_at_each_step_loses_no_data(void **state)
{
    (void)state;
    static const unsigned kinds[] = {SIMULATED_ALLOCATE, SIMULATED_BRING, SIMULATED_LAUNCH,
                                     SIMULATED_FETCH, SIMULATED_PASS};
    enum { KINDS = CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS ? 5 : 4 };
    unsigned steps = 0;
    for (unsigned i = 0; i < KINDS * 32; i++) {
        const try what = {
            .kinds = kinds[i / 32],
            .late = i % 2 != 0 && kinds[i / 32] != SIMULATED_ALLOCATE,
            /* with a failed fetch from the host's memory all is lost */
            .shares = i / 2 % 2 != 0 && kinds[i / 32] != SIMULATED_FETCH,
            .in_order = i / 4 % 2 != 0,
            .passes = i / 16 % 2 != 0,
            .pace = i / 8 % 2 != 0 ? SIMULATED_WHEN_POLLED : SIMULATED_AT_ONCE,
        };
        unsigned n = 1;
        while (fail_step(&what, n)) {
            n++;
        }
        steps += n;
    }
    assert_true(steps > 4 * 32 * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(full_memory_evicts_least_recently_used_copy),
        TEST_SET_UP(full_memory_evicts_stale_copies_first),
        TEST_SET_UP(full_memory_keeps_only_valid_copy),
        TEST_SET_UP(full_memory_keeps_copies_in_use),
        TEST_SET_UP(late_out_of_memory_evicts_copies_too),
        TEST_SET_UP(refused_launch_in_hosts_memory_evicts_nothing),
        TEST_SET_UP(memory_release_runs_without_lock),
        TEST_SET_UP(new_memory_is_prepared_before_use),
        TEST_SET_UP(memory_of_failed_start_is_prepared_later),
        TEST_SET_UP(full_backend_table_evicts_nothing),
        TEST_SET_UP(command_group_larger_than_memory_fails_alone),
        TEST_SET_UP(full_memory_keeps_shared_copies),
        TEST_SET_UP(full_memory_evicts_copy_valid_on_another_device),
        TEST_SET_UP(shared_copy_of_failed_command_group_stays_valid),
        TEST_SET_UP(full_memory_keeps_copy_during_copy_out),
        TEST_SET_UP(resource_is_tried_with_next_when_first_refused_waits_for_data),
        cmocka_unit_test(fault_at_each_step_loses_no_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
