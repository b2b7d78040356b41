/* SPDX-License-Identifier: Apache-2.0 */
/* The product's policy, over its units: shares, even spread, a weight of 0, mistakes. */
#include "test.h"

#include <acme/crc_unit.h>
#include <acme/weighted.h>
#include <dynsel/dynsel.h>

enum { UNITS = 2 };

static acme_crc_unit units[UNITS];
static acme_weighted_policy policy;
static const dynsel_resource resources[UNITS] = {{&acme_crc_backend, &units[0]},
                                                 {&acme_crc_backend, &units[1]}};
static const dynsel_options options = {.resources = resources, .count = UNITS};

static int set_up(void **state)
{
    (void)state;
    policy = (acme_weighted_policy){0};
    for (unsigned i = 0; i < UNITS; i++) {
        units[i] = (acme_crc_unit){.name = "unit"};
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return 0;
}

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)done;
    *(uint32_t *)args = acme_crc_run(where->handle, "123456789", 9);
    return DYNSEL_OK;
}

static void submit(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        uint32_t crc = 0;
        assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(run, &crc)));
        assert_int_equal(crc, 0xcbf43926);
    }
}

static void units_get_work_by_weight(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, acme_weighted_init(&policy, &options, (const uint8_t[]){1, 3}));
    for (unsigned round = 1; round <= 5; round++) {
        submit(4);
        assert_int_equal(units[0].runs, round);
        assert_int_equal(units[1].runs, 3 * round);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void work_is_spread_over_the_round(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, acme_weighted_init(&policy, &options, (const uint8_t[]){4, 4}));
    for (unsigned i = 1; i <= 4; i++) {
        submit(2);
        assert_int_equal(units[0].runs, i);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void unit_without_weight_gets_nothing(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, acme_weighted_init(&policy, &options, (const uint8_t[]){2, 0}));
    submit(4);
    assert_int_equal(units[1].runs, 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void wrong_weights_are_refused(void **state)
{
    (void)state;
    const uint8_t too_much[] = {CONFIG_ACME_WEIGHTED_ROUND, 1};
    assert_int_equal(acme_weighted_init(&policy, &options, too_much), DYNSEL_E_INVALID);
    assert_int_equal(acme_weighted_init(&policy, &options, (const uint8_t[]){0, 0}),
                     DYNSEL_E_INVALID);
    assert_int_equal(acme_weighted_init(&policy, &options, NULL), DYNSEL_E_INVALID);
    assert_int_equal(acme_weighted_init(&policy, &(dynsel_options){0}, too_much), DYNSEL_E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(units_get_work_by_weight),
        TEST(work_is_spread_over_the_round),
        TEST(unit_without_weight_gets_nothing),
        TEST(wrong_weights_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
