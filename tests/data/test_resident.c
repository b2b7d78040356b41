/* SPDX-License-Identifier: Apache-2.0 */
/* The short paths of command groups: data are resident, or the work is complete when it was
 * started. They are taken where possible, and give the same results as the full paths. */
#include <string.h>

#include "data/coherence.h"
#include "data/coherence_commit.h"
#include "data/domains.h"
#include "data/pair.h"
#include "random.h"
#include "submission/handle.h"

static dynsel_uses *uses_of(dynsel_submission *submission)
{
    return &dynsel_all_uses[submission->slot.value - DYNSEL_SUBMISSION_IN_SLOT];
}

/* Sends it; whether its data were at hand. */
static bool takes_short_way(unsigned place, job what)
{
    dynsel_submission submission;
    send_to(place, what, &submission);
    const bool resident = uses_of(&submission)->resident;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return resident;
}

/* Since the program began. */
static uint32_t avoided_on(unsigned place)
{
    const dynsel_resource device = simulated_resource(&sim, place);
    dynsel_movement moved;
    assert_status(DYNSEL_OK, dynsel_domain_movement(&device, &moved));
    return moved.copies_avoided;
}

static void resident_data_take_short_path(void **state)
{
    (void)state;
    const uint32_t avoided = avoided_on(0);
    assert_false(takes_short_way(0, add_to(a, 1)));
    assert_false(takes_short_way(0, add_to(a, 1))); /* sees that what was brought is there */
    assert_true(takes_short_way(0, add_to(a, 1)));
    assert_true(takes_short_way(0, set_all(a, 0)));
    assert_false(takes_short_way(0, copy_to(b, a))); /* b has no copy there */
    assert_false(takes_short_way(0, copy_to(b, a)));
    assert_true(takes_short_way(0, copy_to(b, a)));
    assert_moved(a, 1, 0, 6);
    assert_int_equal(avoided + 6 + 3, avoided_on(0)); /* with those of b */
    finish_with(0, 1);
}

static void running_chain_on_resident_data_takes_short_path(void **state)
{
    (void)state;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    run_on(0, add_to(a, 1));
    run_on(0, add_to(a, 1));
    dynsel_submission submissions[3];
    for (unsigned i = 0; i < 3; i++) {
        send_to(0, add_to(a, 1), &submissions[i]);
        assert_true(uses_of(&submissions[i])->resident);
    }
    assert_int_equal(3, simulated_pending(&sim));
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    finish_with(5, 1);
}

static void be_at_hand(unsigned place)
{
    run_on(place, add_to(a, 1));
    run_on(place, add_to(a, 1));
    assert_true(takes_short_way(place, add_to(a, 1)));
}

static void data_written_elsewhere_take_full_path(void **state)
{
    (void)state;
    be_at_hand(0);
    write_buffer(a, 5, 1);
    assert_false(takes_short_way(0, add_to(a, 1)));
    be_at_hand(0);
    run_on(1, add_to(a, 1));
    assert_false(takes_short_way(0, add_to(a, 1)));
    be_at_hand(0);
    run_on(HOST, add_to(a, 1));
    assert_false(takes_short_way(0, add_to(a, 1)));
    finish_with(5 + 1 + 3 + 1 + 1 + 3 + 1 + 1, 1);
}

static void data_read_elsewhere_stay_resident(void **state)
{
    (void)state;
    be_at_hand(0);
    run_on(1, total_of(a, b));
    run_on(HOST, total_of(a, b));
    see_buffer(a, 3, 1);
    assert_true(takes_short_way(0, add_to(a, 1)));
    finish_with(4, 1);
}

typedef struct seen {
    dynsel_buffer_record buffers[CONFIG_DYNSEL_MAX_BUFFERS];
    dynsel_domain_record domains[CONFIG_DYNSEL_MAX_DOMAINS];
    dynsel_use uses[CONFIG_DYNSEL_MAX_REQUIREMENTS];
} seen;

static void look(seen *all, const dynsel_uses *uses)
{
    memcpy(all->buffers, dynsel_buffers, sizeof all->buffers);
    memcpy(all->domains, dynsel_domains, sizeof all->domains);
    memcpy(all->uses, uses->each, sizeof all->uses);
}

/* Only how often the domain was used tells them apart. */
static void forget_use(const dynsel_uses *uses)
{
    dynsel_domains[uses->domain - 1].uses -= uses->count;
    for (uint32_t i = 0; i < uses->count; i++) {
        uses->each[i].record->copies[uses->domain - 1].used -= uses->count;
    }
}

/* What was decided is taken back, and decided again in the long way. */
static void assert_ways_agree(dynsel_uses *uses)
{
    static seen short_way;
    static seen long_way;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    look(&short_way, uses);
    dynsel_coherence_roll_back(uses);
    dynsel_error error = {.status = DYNSEL_OK};
    const dynsel_outlook outlook = dynsel_coherence_look(uses, &error);
    forget_use(uses);
    look(&long_way, uses);
    dynsel_spinlock_release(&dynsel_memory_lock);
    assert_status(DYNSEL_OK, outlook.status);
    assert_int_equal(uses->token, uses->decided);
    assert_memory_equal(short_way.buffers, long_way.buffers, sizeof short_way.buffers);
    assert_memory_equal(short_way.domains, long_way.domains, sizeof short_way.domains);
    assert_memory_equal(short_way.uses, long_way.uses, sizeof short_way.uses);
}

static job any_job(test_random *random)
{
    const dynsel_buffer both[] = {a, b};
    const uint32_t which = test_random_next(random) % 2;
    switch (test_random_next(random) % 4) {
    case 0:
        return add_to(both[which], 1);
    case 1:
        return set_all(both[which], 7);
    case 2:
        return copy_to(both[which], both[1 - which]);
    default:
        return total_of(both[which], both[1 - which]);
    }
}

/* A random mixture of devices and the host leads to states that differ in which domains have valid
 * copies. */
static void short_and_full_path_give_equal_results(void **state)
{
    (void)state;
    enum { JOBS = 2000 };
    test_random random = {test_seed()};
    unsigned short_ones = 0;
    for (unsigned i = 0; i < 2; i++) {
        sim.devices[i].pace = SIMULATED_WHEN_POLLED;
        sim.devices[i].polls = 3;
    }
    for (unsigned i = 0; i < JOBS; i++) {
        const unsigned place = test_random_next(&random) % 8 == 0 ? HOST : (i / 16) % 2;
        dynsel_submission submission;
        send_to(place, any_job(&random), &submission);
        dynsel_uses *const uses =
            submission.slot.value >= DYNSEL_SUBMISSION_IN_SLOT ? uses_of(&submission) : NULL;
        if (uses != NULL && place != HOST && uses->resident) {
            assert_ways_agree(uses);
            short_ones++;
        }
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    assert_true(short_ones > JOBS / 8);
    places_hurry();
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&a));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&b));
    places_end();
}

static void submit_and_forget(unsigned place, job what)
{
    assert_status(DYNSEL_OK, send_job(place, &what, NULL));
}

static uint32_t in_use(void)
{
    return dynsel_get_in_flight_statistics().in_use;
}

/* A driver that runs work in the caller: its start finds it complete. */
static void run_in_the_caller(unsigned place)
{
    sim.devices[place].pace = SIMULATED_WHEN_POLLED;
    sim.devices[place].polls = 0;
    sim.devices[place].looks_at_start = true;
    run_on(place, add_to(a, 1));
}

static void work_complete_at_start_releases_its_slot_at_once(void **state)
{
    (void)state;
    run_in_the_caller(0);
    for (unsigned i = 0; i < 3; i++) {
        submit_and_forget(0, add_to(a, 1));
        assert_int_equal(0, in_use());
    }
    dynsel_submission submission;
    send_to(0, add_to(a, 1), &submission);
    assert_int_equal(1, in_use()); /* for who asks */
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(0, in_use());
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&places[0].policy)));
    finish_with(5, 1);
}

/* Also where nothing else is on the device. */
static void running_work_is_not_polled_by_each_submit(void **state)
{
    (void)state;
    enum { MANY = 20 };
    unsigned looks = 0;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    for (unsigned i = 0; i < MANY; i++) {
        dynsel_submission submission;
        const unsigned before = sim.counts.polls;
        send_to(0, add_to(a, 1), &submission);
        looks += sim.counts.polls - before;
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
    }
    assert_int_equal(0, looks);
    finish_with(MANY, 1);
}

static void failure_at_start_is_reported_to_submission_group(void **state)
{
    (void)state;
    run_in_the_caller(0);
    const job fails = {
        .kind = FAIL, .buffers = {a}, .modes = {DYNSEL_ACCESS_READ}, .value = DYNSEL_E_TASK};
    submit_and_forget(0, fails);
    assert_status(DYNSEL_E_TASK, dynsel_wait_group(dynsel_get_submission_group(&places[0].policy)));
    assert_int_equal(0, in_use());
    finish_with(1, 1);
}

int main(void)
{
#define EACH(test) TEST_SET_UP(test), cmocka_unit_test_setup(test, set_up_with_waits)
    const struct CMUnitTest tests[] = {
        EACH(resident_data_take_short_path),
        EACH(running_chain_on_resident_data_takes_short_path),
        EACH(data_written_elsewhere_take_full_path),
        EACH(data_read_elsewhere_stay_resident),
        EACH(short_and_full_path_give_equal_results),
        EACH(work_complete_at_start_releases_its_slot_at_once),
        EACH(running_work_is_not_polled_by_each_submit),
        EACH(failure_at_start_is_reported_to_submission_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
