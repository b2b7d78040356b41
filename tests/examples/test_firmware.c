/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The super-loop as a whole: what it returns is the emulator's exit status, and what it prints is
 * kept here. It is included, so that its counts can be looked at, and put wrong.
 */
#include <stddef.h>

static void keep(const char *text, size_t length);
int firmware(void);

/* NOLINTBEGIN(bugprone-suspicious-include): one program in another */
#define board_write keep
#define main        firmware
#include "../../examples/firmware/accelerator.c"
#include "../../examples/firmware/firmware.c"
#include "../../examples/firmware/print.c"
#undef main
#undef board_write
/* NOLINTEND(bugprone-suspicious-include) */

#include "test.h"

enum { POLICIES = CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD + CONFIG_DYNSEL_POLICY_AUTO_TUNE };

static char said[2048];
static size_t said_length;

static void keep(const char *text, size_t length)
{
    for (size_t i = 0; i < length && said_length < sizeof said - 1; i++) {
        said[said_length++] = text[i];
    }
    said[said_length] = '\0';
}

static int run(void)
{
    said_length = 0;
    accelerators[0].put = accelerators[1].put =
        0; /* so that failures come where they came before */
    accelerators[0].taken = accelerators[1].taken = 0;
    const int status = firmware();
    print_message("%s", said);
    return status;
}

static unsigned times_said(const char *part)
{
    unsigned count = 0;
    for (const char *text = said; *text != '\0'; text++) {
        size_t i = 0;
        while (part[i] != '\0' && text[i] == part[i]) {
            i++;
        }
        count += part[i] == '\0' ? 1 : 0;
    }
    return count;
}

/* The counts are those of the last policy. */
static void firmware_blocks_are_right_and_counts_add_up(void **state)
{
    dynsel_resource_statistics all = {0};
    (void)state;
    assert_int_equal(run(), 0);
    assert_int_equal(times_said("1000 blocks are right, and all counts add up\n"), POLICIES);
    assert_int_equal(times_said("WRONG"), 0);
#if CONFIG_DYNSEL_STATUS_NAMES
    assert_int_equal(times_said("dynamic_load:\n"), CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD);
    assert_int_equal(times_said("auto_tune:\n"), CONFIG_DYNSEL_POLICY_AUTO_TUNE);
#endif
    for (unsigned i = 0; i < PLACES; i++) {
        all.submitted += seen.at[i].submitted;
        all.completed += seen.at[i].completed;
        all.failed += seen.at[i].failed;
        assert_int_equal(times_said(dynsel_resource_name(&resources[i])) >= POLICIES, 1);
    }
    assert_int_equal(all.submitted, all.completed);
    assert_int_equal(all.completed, BLOCKS * STAGES + all.failed);
    assert_true(all.failed > 0); /* a device fails now and then */
    assert_int_equal(seen.checked, BLOCKS);
}

/* After the test before. A slow loop is never idle. */
static void accelerator_interrupts_complete_work(void **state)
{
    (void)state;
    assert_true(accelerator_interrupts > BLOCKS);
    assert_true(seen.at[0].completed > 0 && seen.at[1].completed > 0);
    assert_in_range(accelerators[0].most, 1, ACCELERATOR_QUEUE);
    assert_in_range(accelerators[1].most, 1, ACCELERATOR_QUEUE);
    if (!CONFIG_DYNSEL_OPTIMIZE_DEBUG && CONFIG_DYNSEL_MAX_IN_FLIGHT <= 64) {
        assert_true(seen.rests > 0);
        assert_true(seen.refused_full + seen.refused_again > 0);
    }
}

static void firmware_error_is_printed_and_sets_exit_status(void **state)
{
    (void)state;
    accelerator_refused_ends = 1;
    assert_int_equal(run(), 1);
    accelerator_refused_ends = 0;
    assert_int_equal(times_said("WRONG: the library did not know what ended\n"), POLICIES);
    assert_int_equal(times_said("all counts add up"), 0);
}

static void print_number_pads_columns(void **state)
{
    (void)state;
    said_length = 0;
    print_number(0, 3);
    print_number(UINT32_MAX, 0);
    print_text("ab", 4);
    print_number(1234, 2);
    assert_string_equal(said, "  04294967295ab  1234");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(firmware_blocks_are_right_and_counts_add_up),
        cmocka_unit_test(accelerator_interrupts_complete_work),
        cmocka_unit_test(firmware_error_is_printed_and_sets_exit_status),
        cmocka_unit_test(print_number_pads_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
