/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verification of devices when a policy is initialized: refused devices, excluded devices,
 * errors, and no leftover state.
 */
#include <dynsel/dynsel.h>

#include <string.h>

#include "fakes/described_backend.h"
#include "room.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { FIRST, SECOND, THIRD, FOURTH, ASPECTS_NEEDED };

/* What the tests are made for. */
#define NEEDS_ROOM()                                                                               \
    NEEDS(DYNSEL_ASPECT_COUNT >= ASPECTS_NEEDED && CONFIG_DYNSEL_MAX_RESOURCES >= 4)

static const dynsel_recognition is_fast[] = {{.backend = "described", .name = "fast"}};
static const dynsel_recognition is_small[] = {{.type = "small"}, {.vendor = "dwarfs"}};

static const dynsel_target table[] = {
    {.name = "fast_ones",
     .aspects = BIT(FIRST) | BIT(THIRD) | BIT(FOURTH),
     .recognitions = is_fast,
     .recognition_count = 1},
    {.name = "small_ones",
     .aspects = BIT(SECOND),
     .recognitions = is_small,
     .recognition_count = 2},
};

static described_device good;   /* keeps what fast_ones promises */
static described_device little; /* keeps what small_ones promises, and has more */
static described_device liar;   /* fast, and lacks the third and the fourth */
static described_device stranger;
static dynsel_policy policy;

static int set_up(void **state)
{
    (void)state;
    const described_device plain = {.platform = "lab", .vendor = "us", .type = "gpu"};
    good = liar = little = stranger = plain;
    good.name = "Fast One";
    good.aspects = BIT(FIRST) | BIT(THIRD) | BIT(FOURTH);
    liar.name = "very FAST liar";
    liar.aspects = BIT(FIRST) | BIT(SECOND);
    little.name = "little";
    little.type = "small";
    little.aspects = BIT(SECOND) | BIT(THIRD);
    stranger.name = "stranger";
    stranger.aspects = ~(dynsel_aspect_set)0;
    described_targets(table, COUNT(table));
    described_offer(NULL, 0);
    return 0;
}

static bool every_byte_is_zero(const void *bytes, size_t count)
{
    const unsigned char *from = bytes;
    size_t i = 0;
    while (i < count && from[i] == 0) {
        i++;
    }
    return i == count;
}

/* Whatever happened: nothing is attached any more, and the policy can be used anew. */
static int tear_down(void **state)
{
    static const dynsel_policy zero;
    (void)state;
    assert_int_equal(good.attached + liar.attached + little.attached + stranger.attached, 0);
    assert_int_equal(liar.times_attached + stranger.times_attached, 0);
    const bool is_zero = every_byte_is_zero(&policy, sizeof(policy));
    policy = zero;
    described_targets(NULL, 0);
    return is_zero ? 0 : 1;
}

static dynsel_status choose(dynsel_policy *base, const dynsel_task *task,
                            dynsel_selection *selection)
{
    for (uint32_t i = 0; i < base->count; i++) {
        if (dynsel_policy_may_use(base, i, task)) {
            selection->index = i;
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(base, task);
}

static const dynsel_policy_ops first_of_all = {.name = "first of all", .try_select = choose};

static dynsel_status init_given(described_device *const *devices, size_t count)
{
    dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];
    for (size_t i = 0; i < count; i++) {
        resources[i] = described(devices[i]);
    }
    return dynsel_policy_init(&policy, &first_of_all,
                              &(dynsel_options){.resources = resources, .count = count});
}

static dynsel_status init_default(void)
{
    return dynsel_policy_init(&policy, &first_of_all,
                              &(dynsel_options){.backend = &described_backend});
}

static void assert_error_names(const described_device *device, const char *target, unsigned aspect)
{
    assert_error_says(device->name);
    assert_error_says(target);
    assert_error_says(dynsel_aspect_name(ASPECT(aspect)));
    assert_error_says("dynsel_policy_init: ");
    assert_error_says("dynsel-info");
}

static void device_with_promised_aspects_is_admitted(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device *const devices[] = {&good, &little, &good};
    assert_status(DYNSEL_OK, init_given(devices, COUNT(devices)));
    assert_int_equal(good.attached, 2);
    assert_int_equal(little.attached, 1);
    assert_int_equal(dynsel_refused_count(&policy), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

/* In every place of the table, with others around it that were attached before. */
static void given_device_without_promised_aspect_fails_init(void **state)
{
    static const dynsel_policy zero;
    (void)state;
    NEEDS_ROOM();
    for (size_t place = 0; place < 4; place++) {
        described_device *devices[] = {&good, &little, &good, &little};
        devices[place] = &liar;
        assert_status(DYNSEL_E_ASPECT, init_given(devices, COUNT(devices)));
        assert_error_names(&liar, "fast_ones", THIRD);
        assert_memory_equal(&policy, &zero, sizeof(zero));
        assert_int_equal(good.attached + little.attached, 0);
        assert_int_equal(liar.times_attached, 0);
        assert_int_equal(dynsel_refused_count(&policy), 0);
        devices[place] = &good;
        assert_status(DYNSEL_OK, init_given(devices, COUNT(devices)));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    }
}

static void error_names_first_missing_aspect(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device *const devices[] = {&liar};
    for (unsigned lacks = FIRST; lacks <= FOURTH; lacks++) {
        if (lacks == SECOND) {
            continue;
        }
        liar.aspects = (dynsel_aspect_set) ~(BIT(lacks) | BIT(FOURTH));
        assert_status(DYNSEL_E_ASPECT, init_given(devices, 1));
        assert_error_names(&liar, "fast_ones", lacks);
        for (unsigned other = FIRST; other <= FOURTH; other++) {
            char text[512];
            (void)dynsel_error_text(NULL, text, sizeof(text));
            assert_true(other == lacks || CONFIG_DYNSEL_ERROR_TEXTS == 0 ||
                        strstr(text, dynsel_aspect_name(ASPECT(other))) == NULL ||
                        strstr(dynsel_aspect_name(ASPECT(lacks)),
                               dynsel_aspect_name(ASPECT(other))) != NULL);
        }
    }
}

/* Of another target than the first of the table. */
static void error_names_target_of_device(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device *const devices[] = {&little};
    little.aspects = (dynsel_aspect_set)~BIT(SECOND);
    assert_status(DYNSEL_E_ASPECT, init_given(devices, 1));
    assert_error_names(&little, "small_ones", SECOND);
    assert_true(CONFIG_DYNSEL_ERROR_TEXTS == 0 ||
                dynsel_last_error()->number == (1u << 16 | SECOND));
    little.type = "cpu"; /* its vendor tells as well */
    little.vendor = "Seven Dwarfs";
    assert_status(DYNSEL_E_ASPECT, init_given(devices, 1));
    assert_error_names(&little, "small_ones", SECOND);
}

static void device_without_matching_target_is_refused(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device *const devices[] = {&good, &stranger};
    assert_status(DYNSEL_E_ASPECT, init_given(devices, COUNT(devices)));
    assert_error_says("no device target of this build recognizes");
    assert_error_says(stranger.name);
    described_targets(table, 0);
    assert_status(DYNSEL_E_ASPECT, init_given(devices, 1));
    assert_error_says(good.name);
    described_targets(NULL, 0);
    assert_status(DYNSEL_OK, init_given(devices, 1)); /* one that recognizes everything is there */
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static uint32_t chosen_for(dynsel_aspect_set aspects)
{
    dynsel_selection selection;
    const dynsel_task task = {.function = (dynsel_task_fn)1, .aspects = aspects};
    assert_status(DYNSEL_OK, dynsel_select(&policy, &task, &selection));
    return selection.index;
}

/* Which of four default devices are refused: all sets of them but the full one. */
static void default_devices_without_promised_aspects_are_excluded(void **state)
{
    (void)state;
    NEEDS_ROOM();
    for (unsigned refused = 0; refused < 15; refused++) {
        described_device devices[4];
        size_t left = 0;
        for (unsigned i = 0; i < 4; i++) {
            devices[i] = (refused >> i & 1) != 0 ? liar : good;
            devices[i].aspects |= (dynsel_aspect_set)1 << (8 * sizeof(dynsel_aspect_set) - 1 - i);
        }
        described_offer(devices, 4);
        assert_status(DYNSEL_OK, init_default());
        size_t count = 0;
        const dynsel_resource *resources = dynsel_get_resources(&policy, &count);
        for (unsigned i = 0; i < 4; i++) {
            const bool is_in = (refused >> i & 1) == 0;
            assert_int_equal(devices[i].attached, is_in);
            if (is_in) {
                assert_ptr_equal(resources[left].handle, &devices[i]);
                /* what is known of it moved with it */
                assert_int_equal(
                    chosen_for((dynsel_aspect_set)1 << (8 * sizeof(dynsel_aspect_set) - 1 - i)),
                    left);
                left++;
            }
        }
        assert_int_equal(count, left);
        assert_int_equal(dynsel_refused_count(&policy), 4 - left);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
        assert_int_equal(dynsel_refused_count(&policy), 0);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(devices[i].attached, 0);
            assert_int_equal(devices[i].times_attached, (refused >> i & 1) == 0);
        }
    }
}

/* Nothing stands behind the last one that could move up. */
static void refused_devices_of_full_table_are_excluded(void **state)
{
    enum { ALL = CONFIG_DYNSEL_MAX_RESOURCES };
    static described_device devices[ALL];
    (void)state;
    NEEDS_ROOM();
    for (unsigned last = 0; last < 2; last++) {
        for (unsigned i = 0; i < ALL; i++) {
            devices[i] = i == 0 || (last != 0 && i == ALL - 1) ? liar : good;
        }
        described_offer(devices, ALL);
        assert_status(DYNSEL_OK, init_default());
        size_t count = 0;
        const dynsel_resource *resources = dynsel_get_resources(&policy, &count);
        assert_int_equal(count, ALL - 1 - last);
        for (unsigned i = 0; i < count; i++) {
            assert_ptr_equal(resources[i].handle, &devices[i + 1]);
        }
        assert_int_equal(dynsel_refused_count(&policy), 1 + last);
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    }
}

static void prove_returns_failure_of_description(void **state)
{
    (void)state;
    NEEDS_ROOM();
    const dynsel_resource resource = described(&good);
    assert_status(DYNSEL_OK, dynsel_resource_prove(&resource));
    good.describes = DYNSEL_E_DEVICE;
    assert_status(DYNSEL_E_DEVICE, dynsel_resource_prove(&resource));
    assert_status(DYNSEL_E_INVALID, dynsel_resource_prove(NULL));
}

static void last_error_names_excluded_device(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device devices[] = {liar, good, stranger, good};
    described_offer(devices, 3);
    assert_status(DYNSEL_OK, init_default());
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_ASPECT);
    assert_error_says("stranger");
    assert_int_equal(dynsel_refused_count(&policy), 2);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    described_offer(devices, 2);
    assert_status(DYNSEL_OK, init_default());
    assert_error_names(&liar, "fast_ones", THIRD);
    assert_int_equal(dynsel_refused_count(&policy), 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void default_set_without_admitted_device_is_refused(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device devices[] = {liar, stranger, liar};
    for (size_t count = 1; count <= COUNT(devices); count++) {
        described_offer(devices, count);
        assert_status(DYNSEL_E_ASPECT, init_default());
        assert_error_says(devices[count - 1].name);
        assert_int_equal(dynsel_refused_count(&policy), 0);
    }
    described_offer(&good, 1);
    assert_status(DYNSEL_OK, init_default());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void refused_count_of_unusable_policy_is_zero(void **state)
{
    static const dynsel_policy unused;
    (void)state;
    assert_int_equal(dynsel_refused_count(NULL), 0);
    assert_int_equal(dynsel_refused_count(&unused), 0);
    NEEDS_ROOM();
    described_device devices[] = {liar, good};
    described_offer(devices, 2);
    assert_status(DYNSEL_OK, init_default());
    const dynsel_policy copy = policy;
    assert_int_equal(dynsel_refused_count(&copy), 0);
    assert_int_equal(dynsel_refused_count(&policy), 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void *to_liar(void *handle)
{
    (void)handle;
    return &liar;
}

static void *to_good(void *handle)
{
    (void)handle;
    return &good;
}

/* What adapt() made is what is described, attached, and told of. */
static void adapted_handle_is_verified(void **state)
{
    (void)state;
    NEEDS_ROOM();
    const dynsel_resource given[] = {described(&liar), described(&stranger)};
    dynsel_options options = {.resources = given, .count = 2, .adapt = to_good};
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_int_equal(good.attached, 2);
    assert_int_equal(chosen_for(BIT(THIRD)), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    const dynsel_resource fine[] = {described(&good), described(&good)};
    options = (dynsel_options){.resources = fine, .count = 2, .adapt = to_liar};
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_error_names(&liar, "fast_ones", THIRD);
}

static void *to_nothing(void *handle)
{
    (void)handle;
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_ASPECT, .detail = "adapt() says so"});
    return NULL;
}

/* Only the proof leaves out: everything else fails the initialization, whatever status it has. */
static void other_failures_of_default_devices_fail_init(void **state)
{
    static const dynsel_status failures[] = {DYNSEL_E_DEVICE, DYNSEL_E_ASPECT};
    (void)state;
    NEEDS_ROOM();
    for (size_t i = 0; i < COUNT(failures); i++) {
        described_device devices[] = {good, good, good};
        devices[1].attaches = failures[i];
        described_offer(devices, 3);
        assert_status(failures[i], init_default());
        assert_error_says("attach");
        assert_int_equal(devices[0].attached + devices[1].attached + devices[2].attached, 0);
    }
    described_offer(&good, 1);
    const dynsel_options options = {.backend = &described_backend, .adapt = to_nothing};
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_error_says("adapt() says so");
}

static void device_with_failing_describe_fails_init(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device devices[] = {good, little, good};
    devices[1].describes = DYNSEL_E_DEVICE;
    described_device *const given[] = {&devices[0], &devices[1]};
    described_offer(devices, 3);
    assert_status(DYNSEL_E_DEVICE, init_default());
    assert_error_says("describe");
    assert_status(DYNSEL_E_DEVICE, init_given(given, 2));
    assert_int_equal(devices[0].attached + devices[1].attached + devices[2].attached, 0);
    assert_int_equal(devices[1].times_attached, 0);
}

static void init_describes_each_resource_once(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device *const devices[] = {&good, &little};
    assert_status(DYNSEL_OK, init_given(devices, 2));
    for (int i = 0; i < 100; i++) {
        assert_int_equal(chosen_for(BIT(THIRD)), 0);
        assert_int_equal(chosen_for(BIT(SECOND)), 1);
    }
    assert_int_equal(good.times_described + little.times_described, 2);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}

static void backend_without_describe_is_recognized_by_name(void **state)
{
    static const dynsel_recognition is_silent[] = {{.backend = "SILENT"}};
    static dynsel_target one = {.name = "quiet", .recognitions = is_silent, .recognition_count = 1};
    const dynsel_resource resource = {&silent_backend, &good};
    const dynsel_options options = {.resources = &resource, .count = 1};
    (void)state;
    NEEDS_ROOM();
    described_targets(&one, 1);
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    one.aspects = BIT(SECOND);
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_error_says("quiet");
    assert_error_says("silent");
    one.aspects = 0;
    described_targets(table, COUNT(table));
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_init(&policy, &first_of_all, &options));
}

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
static void offset_counts_admitted_devices_only(void **state)
{
    (void)state;
    NEEDS_ROOM();
    described_device devices[] = {good, liar, little};
    static dynsel_fixed_resource_policy fixed;
    const dynsel_options options = {.backend = &described_backend};
    described_offer(devices, 3);
    assert_status(DYNSEL_E_INVALID, dynsel_fixed_resource_init(&fixed, &options, 2));
    assert_error_number(2);
    assert_int_equal(devices[0].attached + devices[1].attached + devices[2].attached, 0);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&fixed, &options, 1));
    assert_int_equal(devices[2].attached, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&fixed.policy));
}
#endif

#if CONFIG_DYNSEL_BACKEND_INLINE
static void host_is_verified_too(void **state)
{
    static const dynsel_recognition is_inline[] = {{.backend = "inline", .type = "host"}};
    dynsel_target one = {.name = "host", .recognitions = is_inline, .recognition_count = 1};
    const dynsel_options options = {.backend = &dynsel_inline_backend};
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    (void)state;
    described_targets(&one, 1);
    one.aspects = dynsel_resource_aspects(&host);
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    one.aspects = ~(dynsel_aspect_set)0;
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_init(&policy, &first_of_all, &options));
    assert_error_says(dynsel_resource_name(&host));
}
#endif

#if CONFIG_DYNSEL_STATUS_NAMES
/* Placeholders of the text whose numbers are of nothing. */
static void error_text_with_invalid_numbers_is_formatted(void **state)
{
    char text[128];
    const dynsel_error error = {.status = DYNSEL_E_ASPECT,
                                .number = 0xffffffff,
                                .detail = "{aspect} and {target} and {aspec} and {}"};
    (void)state;
    (void)dynsel_error_text(&error, text, sizeof(text));
    assert_non_null(strstr(text, "unknown aspect and unknown target and {aspec} and 4294967295"));
}
#endif

#if CONFIG_DYNSEL_RESOURCE_SETS
static dynsel_status take_any(dynsel_policy *base, uint32_t index)
{
    (void)base;
    (void)index;
    return DYNSEL_OK;
}

static void added_device_is_verified(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {
        .name = "first of all", .try_select = choose, .add_resource = take_any};
    NEEDS_ROOM();
    const dynsel_resource first = described(&good);
    const dynsel_resource second = described(&liar);
    const dynsel_resource third = described(&little);
    const dynsel_resource fourth = described(&stranger);
    assert_status(
        DYNSEL_OK,
        dynsel_policy_init(&policy, &ops,
                           &(dynsel_options){.resources = &first, .count = 1, .may_change = true}));
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_add_resource(&policy, &second, NULL));
    assert_error_says(liar.name);
    assert_error_says(dynsel_aspect_name(ASPECT(THIRD)));
    assert_error_says("dynsel_policy_add_resource: ");
    assert_status(DYNSEL_E_ASPECT, dynsel_policy_add_resource(&policy, &fourth, NULL));
    const dynsel_resource both[] = {third, second};
    assert_status(
        DYNSEL_E_ASPECT,
        dynsel_policy_set_resources(&policy, &(dynsel_options){.resources = both, .count = 2}, 0));
    assert_int_equal(little.attached, 0);
    assert_int_equal(policy.count, 1);
    assert_status(DYNSEL_OK, dynsel_policy_add_resource(&policy, &third, NULL));
    assert_int_equal(little.attached, 1);
    /* what it can do counts in choices */
    const dynsel_task needing = {.function = (dynsel_task_fn)1, .aspects = BIT(SECOND)};
    dynsel_selection selection;
    assert_status(DYNSEL_OK, dynsel_select(&policy, &needing, &selection));
    assert_int_equal(selection.index, 1);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(device_with_promised_aspects_is_admitted),
        TEST(given_device_without_promised_aspect_fails_init),
        TEST(error_names_first_missing_aspect),
        TEST(error_names_target_of_device),
        TEST(device_without_matching_target_is_refused),
        TEST(default_devices_without_promised_aspects_are_excluded),
        TEST(refused_devices_of_full_table_are_excluded),
        TEST(prove_returns_failure_of_description),
        TEST(last_error_names_excluded_device),
        TEST(default_set_without_admitted_device_is_refused),
        TEST(refused_count_of_unusable_policy_is_zero),
        TEST(adapted_handle_is_verified),
        TEST(other_failures_of_default_devices_fail_init),
        TEST(device_with_failing_describe_fails_init),
        TEST(init_describes_each_resource_once),
        TEST(backend_without_describe_is_recognized_by_name),
#if CONFIG_DYNSEL_RESOURCE_SETS
        TEST(added_device_is_verified),
#endif
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
        TEST(offset_counts_admitted_devices_only),
#endif
#if CONFIG_DYNSEL_BACKEND_INLINE
        TEST(host_is_verified_too),
#endif
#if CONFIG_DYNSEL_STATUS_NAMES
        TEST(error_text_with_invalid_numbers_is_formatted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
