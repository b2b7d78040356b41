/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seed's generic backend: resources of any type, with the user's own poll and wait, for
 * policies that need no reports. doc/backends.md shows the part between the two lines.
 */
#include <dynsel/dynsel.h>

#include <stdbool.h>

#include "room.h"
#include "test.h"

enum { TRAYS = CONFIG_DYNSEL_MAX_IN_FLIGHT + 1, BAKING_TIME = 3 };

typedef struct oven {
    const char *maker;
    unsigned trays;
} oven;

typedef struct tray {
    oven *in;
    unsigned minutes_left;
    bool used;
} tray;

static oven ovens[2] = {{"left", 0}, {"right", 0}};
static tray trays[TRAYS];
static unsigned trays_out;

static tray *oven_put(oven *where)
{
    for (unsigned i = 0; i < TRAYS; i++) {
        if (!trays[i].used) {
            trays[i] = (tray){.in = where, .minutes_left = BAKING_TIME, .used = true};
            where->trays++;
            trays_out++;
            return &trays[i];
        }
    }
    return NULL;
}

static bool tray_is_ready(tray *t)
{
    assert_true(t->used);
    t->minutes_left -= t->minutes_left > 0 ? 1 : 0;
    return t->minutes_left == 0;
}

static void tray_wait(tray *t)
{
    while (!tray_is_ready(t)) {
    }
}

static void tray_take_out(tray *t)
{
    assert_true(t->used);
    assert_int_equal(t->minutes_left, 0);
    t->used = false;
    trays_out--;
}

/* ---- the backend ---- */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work); /* the task function leaves a tray in done->native */
    return DYNSEL_OK;
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    return tray_is_ready(work->done.native) ? DYNSEL_OK : DYNSEL_E_AGAIN;
}

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    tray_wait(work->done.native);
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    tray_take_out(work->done.native);
}

static const dynsel_backend_ops oven_ops = {.name = "oven",
                                            .outlives_submit = true,
                                            .poll_synchronizes = true,
                                            .start = start,
                                            .poll = poll,
                                            .wait = wait,
                                            .release = release};

static dynsel_backend oven_backend = {&oven_ops};

static dynsel_status bake(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    done->native = oven_put(where->handle);
    return DYNSEL_OK;
}
/* ---- until here ---- */

static const dynsel_resource resources[2] = {{&oven_backend, &ovens[0]},
                                             {&oven_backend, &ovens[1]}};
static const dynsel_options two_ovens = {.resources = resources, .count = 2};

static void clean_up(void)
{
    ovens[0].trays = 0;
    ovens[1].trays = 0;
}

static void use(dynsel_policy *policy)
{
    enum { COUNT = 2 * TRAYS + 10 };
    dynsel_submission submission;
    clean_up();
    for (unsigned i = 0; i < COUNT; i++) { /* more than there are slots: they are reaped */
        assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(bake, NULL), NULL));
    }
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(policy)));
    assert_int_equal(trays_out, 0);
    assert_status(DYNSEL_OK, dynsel_submit(policy, &DYNSEL_TASK(bake, NULL), &submission));
    assert_int_equal(trays_out, 1);
    assert_status(DYNSEL_OK, dynsel_wait(&submission));
    assert_int_equal(ovens[0].trays + ovens[1].trays, COUNT + 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_int_equal(trays_out, 0);
}

static void round_robin_over_custom_backend_shares_work(void **state)
{
    static dynsel_round_robin_policy policy;
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &two_ovens, 0));
    use(&policy.policy);
    assert_in_range(ovens[0].trays - ovens[1].trays, 0, 1);
}

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
static void fixed_resource_over_custom_backend_uses_its_offset(void **state)
{
    static dynsel_fixed_resource_policy policy;
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &two_ovens, 1));
    use(&policy.policy);
    assert_int_equal(ovens[0].trays, 0);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static void dynamic_load_over_backend_without_reports_is_unsupported(void **state)
{
    static dynsel_dynamic_load_policy policy;
    dynsel_backend_ops reporting_ops = oven_ops;
    (void)state;
    NEEDS(CONFIG_DYNSEL_MAX_RESOURCES >= 2);
    assert_status(DYNSEL_E_UNSUPPORTED, dynsel_dynamic_load_init(&policy, &two_ovens));
    reporting_ops.reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION;
    oven_backend.ops = &reporting_ops;
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&policy, &two_ovens));
    use(&policy.policy);
    assert_true(ovens[1].trays > 0 || CONFIG_DYNSEL_MAX_IN_FLIGHT < 2);
    oven_backend.ops = &oven_ops;
}
#endif

#if CONFIG_DYNSEL_ASPECTS && CONFIG_DYNSEL_ASPECT_CUSTOM
/* ---- what its devices can do ---- */
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    const oven *o = handle;
    (void)backend;
    device->vendor = o->maker;
    device->type = "custom";
    device->aspects = DYNSEL_ASPECT_BIT(custom);
    return DYNSEL_OK;
}
/* ---- until here ---- */

static void describe_of_custom_backend_returns_aspects(void **state)
{
    dynsel_backend_ops ops = oven_ops;
    dynsel_backend telling = {&ops};
    const dynsel_resource resource = {&telling, &ovens[1]};
    dynsel_device device;
    (void)state;
    ops.describe = describe;
    assert_status(DYNSEL_OK, dynsel_resource_describe(&resource, &device));
    assert_string_equal(device.backend, "oven");
    assert_string_equal(device.name, "oven");
    assert_string_equal(device.vendor, "right");
    assert_string_equal(device.type, "custom");
    assert_true(dynsel_resource_has(&resource, DYNSEL_ASPECT_custom));
    assert_int_equal(dynsel_resource_aspects(&(dynsel_resource){&oven_backend, &ovens[1]}), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_robin_over_custom_backend_shares_work),
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
        cmocka_unit_test(fixed_resource_over_custom_backend_uses_its_offset),
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
        cmocka_unit_test(dynamic_load_over_backend_without_reports_is_unsupported),
#endif
#if CONFIG_DYNSEL_ASPECTS && CONFIG_DYNSEL_ASPECT_CUSTOM
        cmocka_unit_test(describe_of_custom_backend_returns_aspects),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
