/* SPDX-License-Identifier: Apache-2.0 */
/* The product's device is recognized by the product's target, and has the aspects that it promises. */
#include "test.h"

#include <acme/crc_unit.h>
#include <dynsel/dynsel.h>

static acme_crc_unit unit = {.name = "unit"};

static int set_up(void **state)
{
    (void)state;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return 0;
}

static void policy_takes_unit(void **state)
{
    (void)state;
    static dynsel_fixed_resource_policy policy;
    const dynsel_resource resources[] = {{&acme_crc_backend, &unit}};
    const dynsel_options options = {.resources = resources, .count = 1};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK, dynsel_policy_deinit((dynsel_policy *)&policy));
}

static void target_tells_aspects_before_the_device_is_there(void **state)
{
    (void)state;
#if CONFIG_DYNSEL_ASPECT_ACCELERATOR && CONFIG_DYNSEL_TARGET_ACME_CRC_UNIT
    assert_int_equal(dynsel_any_device_has(accelerator), 1);
#endif
#if CONFIG_DYNSEL_ASPECT_ACCELERATOR && CONFIG_DYNSEL_ASPECTS
    const dynsel_resource resource = {&acme_crc_backend, &unit};
    assert_true(dynsel_resource_has(&resource, DYNSEL_ASPECT_accelerator));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(policy_takes_unit),
        TEST(target_tells_aspects_before_the_device_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
