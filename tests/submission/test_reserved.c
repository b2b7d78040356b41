/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that a policy cannot lose to others. */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "random.h"
#include "room.h"
#include "test.h"

enum {
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    POLICIES = 3,
    ROUNDS = MANUAL_EVENTS / SLOTS < 200 ? MANUAL_EVENTS / SLOTS : 200
};

static manual_backend manual;
static dynsel_fixed_resource_policy policies[POLICIES];
static unsigned completed; /* events, from the first on */

static dynsel_policy *policy(unsigned which)
{
    return &policies[which].policy;
}

static dynsel_status init(unsigned which)
{
    const dynsel_resource resource = manual_resource(&manual, which);
    return dynsel_fixed_resource_init(&policies[which],
                                      &(dynsel_options){.resources = &resource, .count = 1}, 0);
}

static int set_up(void **state)
{
    (void)state;
    manual_backend_reset(&manual, true);
    completed = 0;
    for (unsigned i = 0; i < POLICIES; i++) {
        assert_status(DYNSEL_OK, init(i));
    }
    return 0;
}

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    done->native = manual_event_new(&manual, where);
    return DYNSEL_OK;
}

static dynsel_status try_submit(unsigned which)
{
    return dynsel_try_submit(policy(which), &DYNSEL_TASK(enqueue, NULL), NULL);
}

/* Returns how many fit. */
static unsigned fill(unsigned which)
{
    unsigned count = 0;
    dynsel_status status = try_submit(which);
    for (; status == DYNSEL_OK; count++) {
        status = try_submit(which);
    }
    assert_status(DYNSEL_E_FULL, status);
    return count;
}

static void complete_all(void)
{
    for (; completed < atomic_load(&manual.event_count); completed++) {
        manual_complete(&manual, completed);
    }
    dynsel_progress();
}

static int tear_down(void **state)
{
    (void)state;
    complete_all();
    for (unsigned i = 0; i < POLICIES; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(policy(i)));
    }
    manual_assert_clean(&manual);
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_true(dynsel_invariants_hold(NULL));
    return 0;
}

static void reserved_slots_survive_hanging_device_of_other_policy(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    assert_status(DYNSEL_OK, dynsel_policy_reserve_slots(policy(1), 2));
    assert_int_equal(SLOTS - 2, fill(0)); /* and none of it ever ends */
    assert_error_says("reserved for other policies");
    assert_int_equal(2, fill(1));
    assert_int_equal(0, fill(2));
    complete_all();
    assert_int_equal(SLOTS, fill(1)); /* it gets those of all, too */
}

/* It would wait for ever if reserved slots counted as some that may become free. */
static void plain_submit_without_slots_of_its_own_is_full(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 3);
    dynsel_submission submissions[SLOTS];
    assert_status(DYNSEL_OK, dynsel_policy_reserve_slots(policy(1), 2));
    for (int i = 0; i < SLOTS - 2; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit(policy(0), &DYNSEL_TASK(enqueue, NULL), &submissions[i]));
    }
    complete_all();
    assert_status(DYNSEL_E_FULL, dynsel_submit(policy(0), &DYNSEL_TASK(enqueue, NULL), NULL));
    assert_error_number(SLOTS);
    for (int i = 0; i < SLOTS - 2; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
}

static void reservation_that_leaves_no_common_slot_is_full(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    assert_status(DYNSEL_E_FULL, dynsel_policy_reserve_slots(policy(0), SLOTS));
    assert_error_number(1);
    assert_int_equal(SLOTS, fill(1)); /* nothing was reserved */
    assert_status(DYNSEL_E_FULL, dynsel_policy_reserve_slots(policy(0), 1));
    assert_error_number(2);
    assert_error_says("CONFIG_DYNSEL_MAX_IN_FLIGHT is");
    complete_all();
    assert_status(DYNSEL_OK, dynsel_policy_reserve_slots(policy(0), SLOTS - 1));
    assert_status(DYNSEL_E_FULL, dynsel_policy_reserve_slots(policy(1), 1));
    assert_int_equal(1, fill(1));
}

static void later_reservation_replaces_earlier_one(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    static const uint32_t counts[] = {1, SLOTS - 1, 2, 0, 3};
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_reserve_slots(policy(0), counts[i]));
        assert_int_equal(SLOTS - counts[i], fill(1));
        complete_all();
    }
    assert_status(DYNSEL_E_FULL, dynsel_policy_reserve_slots(policy(0), SLOTS));
    assert_int_equal(SLOTS - 3, fill(1)); /* as before */
}

static void deinit_gives_reserved_slots_back(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 2);
    assert_status(DYNSEL_OK, dynsel_policy_reserve_slots(policy(0), SLOTS - 1));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy(0)));
    assert_int_equal(SLOTS, fill(1));
    assert_status(DYNSEL_OK, init(0));
}

static void wrong_policy_reserves_no_slots(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy unused;
    assert_status(DYNSEL_E_INVALID, dynsel_policy_reserve_slots(NULL, 1));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel_policy_reserve_slots(&unused.policy, 1));
}

/* Whatever is reserved and runs: a policy always gets as many slots as are reserved for it. */
static void random_reservations_are_always_there(void **state)
{
    (void)state;
    NEEDS(SLOTS >= 4);
    test_random random = {test_seed()};
    uint32_t reserved[POLICIES] = {0};
    for (unsigned round = 0; round < ROUNDS; round++) {
        const unsigned which = test_random_below(&random, POLICIES);
        const uint32_t wanted = test_random_below(&random, SLOTS);
        const dynsel_status status = dynsel_policy_reserve_slots(policy(which), wanted);
        assert_status(status == DYNSEL_OK ? DYNSEL_OK : DYNSEL_E_FULL, status);
        reserved[which] = status == DYNSEL_OK ? wanted : reserved[which];
        uint32_t sum = 0;
        for (unsigned i = 0; i < POLICIES; i++) {
            sum += reserved[i];
        }
        assert_in_range(sum, 0, SLOTS - 1);
        const unsigned first = test_random_below(&random, POLICIES);
        assert_int_equal(SLOTS - sum + reserved[first], fill(first));
        for (unsigned i = 0; i < POLICIES; i++) {
            assert_int_equal(i != first ? reserved[i] : 0, fill(i));
        }
        complete_all();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reserved_slots_survive_hanging_device_of_other_policy),
        TEST(plain_submit_without_slots_of_its_own_is_full),
        TEST(reservation_that_leaves_no_common_slot_is_full),
        TEST(later_reservation_replaces_earlier_one),
        TEST(deinit_gives_reserved_slots_back),
        TEST(wrong_policy_reserves_no_slots),
        TEST(random_reservations_are_always_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
