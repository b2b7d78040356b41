/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which target recognizes a device, and what the proof finds, against a second implementation over
 * random targets and devices.
 */
#include <dynsel/targets.h>

#include <ctype.h>
#include <string.h>

#include "random.h"
#include "test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { ROUNDS = CONFIG_DYNSEL_HAS_FULL_SPEED ? 200000 : 20000, MOST_TARGETS = 5, MOST_WAYS = 3 };

/* The second implementation: as the header says it, without a thought for speed. */
static bool same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static bool begins(const char *text, const char *part)
{
    size_t i = 0;
    while (part[i] != '\0' && text[i] != '\0' && same_letter(part[i], text[i])) {
        i++;
    }
    return part[i] == '\0';
}

static bool holds_part(const char *part, const char *text)
{
    for (size_t i = 0; part != NULL && i <= strlen(text); i++) {
        if (begins(text + i, part)) {
            return true;
        }
    }
    return part == NULL;
}

static bool holds_whole(const char *whole, const char *text)
{
    return whole == NULL || (strlen(whole) == strlen(text) && begins(text, whole));
}

static bool way_fits(const dynsel_recognition *way, const dynsel_device *device)
{
    return holds_whole(way->backend, device->backend) && holds_whole(way->type, device->type) &&
           holds_part(way->platform, device->platform) && holds_part(way->vendor, device->vendor) &&
           holds_part(way->name, device->name);
}

static bool recognizes(const dynsel_target *target, const dynsel_device *device)
{
    bool any = false;
    for (size_t i = 0; i < target->recognition_count; i++) {
        any = any || way_fits(&target->recognitions[i], device);
    }
    return any;
}

static bool is_open(const dynsel_target *target)
{
    static const dynsel_recognition empty;
    bool any = false;
    for (size_t i = 0; i < target->recognition_count; i++) {
        any = any || memcmp(&target->recognitions[i], &empty, sizeof(empty)) == 0;
    }
    return any;
}

static bool keeps(const dynsel_target *target, const dynsel_device *device)
{
    return (target->aspects & device->aspects) == target->aspects;
}

/* The better of two that recognize the device; the first of equals. */
static bool is_better(const dynsel_target *a, const dynsel_target *b, const dynsel_device *device)
{
    if (is_open(a) != is_open(b)) {
        return is_open(b);
    }
    return keeps(a, device) && !keeps(b, device);
}

static const dynsel_target *target_of(const dynsel_target *targets, size_t count,
                                      const dynsel_device *device)
{
    const dynsel_target *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (recognizes(&targets[i], device) &&
            (best == NULL || is_better(&targets[i], best, device))) {
            best = &targets[i];
        }
    }
    return best;
}

/* Random ones, of few letters, so that texts are often equal, a part, or nearly so. */
static const char *random_text(test_random *random)
{
    static char texts[256][4];
    static unsigned next;
    static const char letters[] = "aAbB";
    char *text = texts[next++ % COUNT(texts)];
    const uint32_t length = test_random_below(random, 4);
    for (uint32_t i = 0; i < length; i++) {
        text[i] = letters[test_random_below(random, 4)];
    }
    text[length] = '\0';
    return text;
}

static const char *maybe_text(test_random *random)
{
    return test_random_below(random, 3) == 0 ? random_text(random) : NULL;
}

static dynsel_device random_device(test_random *random)
{
    return (dynsel_device){.backend = random_text(random),
                           .platform = random_text(random),
                           .vendor = random_text(random),
                           .type = random_text(random),
                           .name = random_text(random),
                           .aspects = test_random_few_bits(random) & 63};
}

static void fill_in(test_random *random, dynsel_target *target, dynsel_recognition *ways)
{
    const uint32_t count = test_random_below(random, MOST_WAYS + 1);
    for (uint32_t i = 0; i < count; i++) {
        ways[i] = (dynsel_recognition){.backend = maybe_text(random),
                                       .platform = maybe_text(random),
                                       .vendor = maybe_text(random),
                                       .type = maybe_text(random),
                                       .name = maybe_text(random)};
    }
    *target = (dynsel_target){.name = "random",
                              .aspects = test_random_few_bits(random) & 63,
                              .may_support_other_aspects = test_random_below(random, 2) != 0,
                              .recognitions = count != 0 ? ways : NULL,
                              .recognition_count = count};
}

static void random_devices_and_targets_agree_with_model(void **state)
{
    test_random random = {test_seed()};
    unsigned found = 0;
    unsigned broken = 0;
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        dynsel_recognition ways[MOST_TARGETS][MOST_WAYS];
        dynsel_target targets[MOST_TARGETS];
        const uint32_t count = test_random_below(&random, MOST_TARGETS + 1);
        const dynsel_device device = random_device(&random);
        for (uint32_t i = 0; i < count; i++) {
            fill_in(&random, &targets[i], ways[i]);
            assert_int_equal(dynsel_target_recognizes(&targets[i], &device),
                             recognizes(&targets[i], &device));
            assert_int_equal(dynsel_target_is_open(&targets[i]), is_open(&targets[i]));
        }
        const dynsel_proof proof = dynsel_prove(targets, count, &device);
        const dynsel_target *target = target_of(targets, count, &device);
        const dynsel_aspect_set promised = target != NULL ? target->aspects : 0;
        assert_ptr_equal(proof.target, target);
        assert_int_equal(proof.broken, promised & ~device.aspects);
        assert_int_equal(proof.extra, device.aspects & ~promised);
        found += target != NULL ? 1 : 0;
        broken += proof.broken != 0 ? 1 : 0;
    }
    assert_true(found > ROUNDS / 10 && found < ROUNDS - ROUNDS / 10);
    assert_true(broken > ROUNDS / 20);
}

static const dynsel_device gpu = {.backend = "opencl",
                                  .platform = "NVIDIA CUDA",
                                  .vendor = "NVIDIA Corporation",
                                  .type = "gpu",
                                  .name = "NVIDIA H200",
                                  .aspects = 5};

static bool fits(dynsel_recognition way)
{
    const dynsel_target target = {.recognitions = &way, .recognition_count = 1};
    return dynsel_target_recognizes(&target, &gpu);
}

static void recognition_compares_backend_and_type_whole_others_in_part(void **state)
{
    (void)state;
    assert_true(fits((dynsel_recognition){.backend = "OpenCL"}));
    assert_false(fits((dynsel_recognition){.backend = "open"}));
    assert_false(fits((dynsel_recognition){.backend = "opencl2"}));
    assert_false(fits((dynsel_recognition){.backend = ""}));
    assert_true(fits((dynsel_recognition){.type = "GPU"}));
    assert_false(fits((dynsel_recognition){.type = "gp"}));
    assert_true(fits((dynsel_recognition){.platform = "cuda"}));
    assert_true(fits((dynsel_recognition){.vendor = "nvidia", .name = "h2"}));
    assert_false(fits((dynsel_recognition){.vendor = "nvidia", .name = "h100"}));
    assert_true(fits((dynsel_recognition){.name = ""}));
    assert_false(fits((dynsel_recognition){.name = "NVIDIA H200 "}));
}

/* The cases that a random test seldom meets are written down, too. */
static void open_target_counts_only_without_specific_match(void **state)
{
    static const dynsel_recognition anything[] = {{.backend = "nobody"}, {.backend = NULL}};
    static const dynsel_recognition nvidia[] = {{.vendor = "nvidia"}};
    const dynsel_target targets[] = {
        {.name = "open", .recognitions = anything, .recognition_count = 2},
        {.name = "broken", .aspects = 7, .recognitions = nvidia, .recognition_count = 1},
        {.name = "kept", .aspects = 1, .recognitions = nvidia, .recognition_count = 1},
        {.name = "kept too", .aspects = 5, .recognitions = nvidia, .recognition_count = 1}};
    (void)state;
    assert_true(dynsel_target_is_open(&targets[0]));
    assert_false(dynsel_target_is_open(&targets[1]));
    assert_ptr_equal(dynsel_prove(targets, 1, &gpu).target, &targets[0]);
    assert_ptr_equal(dynsel_prove(targets, 2, &gpu).target, &targets[1]);
    assert_int_equal(dynsel_prove(targets, 2, &gpu).broken, 2);
    assert_ptr_equal(dynsel_prove(targets, 4, &gpu).target, &targets[2]);
    assert_int_equal(dynsel_prove(targets, 4, &gpu).extra, 4);
    assert_ptr_equal(dynsel_prove(targets + 1, 1, &gpu).target, &targets[1]);
    assert_null(dynsel_prove(NULL, 0, &gpu).target);
    assert_int_equal(dynsel_prove(NULL, 0, &gpu).extra, 5);
}

static void null_or_empty_target_recognizes_nothing(void **state)
{
    (void)state;
    const dynsel_target target = {.name = "none"};
    assert_false(dynsel_target_recognizes(NULL, &gpu));
    static const dynsel_recognition everything[] = {{.backend = NULL}};
    const dynsel_target open = {.name = "open", .recognitions = everything, .recognition_count = 1};
    assert_false(dynsel_target_recognizes(&target, NULL));
    assert_false(dynsel_target_recognizes(&open, NULL));
    assert_true(dynsel_target_recognizes(&open, &gpu));
    assert_false(dynsel_target_recognizes(&target, &gpu));
    assert_false(dynsel_target_is_open(NULL));
    assert_false(dynsel_target_is_open(&target));
}

/* The table of this build, as the library has it. */
static void target_table_agrees_with_traits(void **state)
{
    size_t count = 0;
    const dynsel_target *targets = dynsel_get_targets(&count);
    (void)state;
    assert_null(dynsel_get_targets(NULL));
    assert_non_null(targets);
    assert_true(count >= 1);
    dynsel_aspect_set all = ~(dynsel_aspect_set)0;
    dynsel_aspect_set any = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(targets[i].name[0] != '\0' && targets[i].recognition_count != 0);
        all &= targets[i].aspects;
        any |= targets[i].may_support_other_aspects ? ~(dynsel_aspect_set)0 : targets[i].aspects;
    }
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    assert_int_equal(dynsel_all_devices_have(name), (all & DYNSEL_ASPECT_BIT(name)) != 0);         \
    assert_int_equal(dynsel_any_device_has(name), (any & DYNSEL_ASPECT_BIT(name)) != 0);
#include <dynsel/aspects.def>
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_devices_and_targets_agree_with_model),
        cmocka_unit_test(recognition_compares_backend_and_type_whole_others_in_part),
        cmocka_unit_test(open_target_counts_only_without_specific_match),
        cmocka_unit_test(null_or_empty_target_recognizes_nothing),
        cmocka_unit_test(target_table_agrees_with_traits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
