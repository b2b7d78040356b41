/* SPDX-License-Identifier: Apache-2.0 */
/* Work that its resource refused takes no turn of auto_tune, and is no load. */
#include <dynsel/dynsel.h>

#include "room.h"
#include "support/do_nothing.h"
#include "test.h"

static dynsel_auto_tune_policy policy;
static bool is_full[2]; /* by resource, whose handle this is */

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    if (*(const bool *)work->own) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static const dynsel_backend_ops ops = {
    .name = "full now and then", .reports = DYNSEL_AUTO_TUNE_NEEDS, .start = start};
static dynsel_backend backend_of_both = {&ops};

static uint32_t place_of_next(void)
{
    const dynsel_task task = {.function = do_nothing, .id = 1};
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_try_submit(&policy.policy, &task, &submission));
    const uint32_t index = submission.index;
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    return index;
}

static void refused_work_takes_no_turn_and_no_load(void **state)
{
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    const dynsel_task task = {.function = do_nothing, .id = 1};
    const dynsel_resource resources[] = {{&backend_of_both, &is_full[0]},
                                         {&backend_of_both, &is_full[1]}};
    const dynsel_options options = {.resources = resources, .count = 2};
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&policy, &options, DYNSEL_NEVER_RESAMPLE));
    is_full[0] = true;
    for (int i = 0; i < 5; i++) {
        assert_status(DYNSEL_E_AGAIN, dynsel_try_submit(&policy.policy, &task, NULL));
    }
    is_full[0] = false;
    for (uint32_t i = 0; i < 4; i++) { /* twice round */
        assert_int_equal(place_of_next(), i % 2);
    }
    const dynsel_task other = {.function = do_nothing, .id = 2}; /* nothing is left of a load */
    dynsel_submission submission;
    assert_status(DYNSEL_OK, dynsel_try_submit(&policy.policy, &other, &submission));
    assert_int_equal(submission.index, 0);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_work_takes_no_turn_and_no_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
