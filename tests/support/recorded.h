/* SPDX-License-Identifier: Apache-2.0 */
/* Recording command groups without submitting them: what stands between the group function and the
 * choice of a resource. */
#ifndef DYNSEL_TESTS_MEMORY_RECORDED_H
#define DYNSEL_TESTS_MEMORY_RECORDED_H

#include <stdbool.h>

#include <dynsel/dynsel.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "groups/recording.h"
#include "support/do_nothing.h"
#include "test.h"

/* The handler of a group function that has just been entered. */
static inline dynsel_handler *record(void)
{
    static uint32_t generation;
    dynsel_handler *handler = &dynsel_groups[0];
    dynsel_group_begin(handler, generation++ << DYNSEL_SLOT_GENERATION_SHIFT, NULL);
    return handler;
}

/* Not inlined: gcc 12 with its sanitizers would take the address of the thread's state for NULL. */
static __attribute__((noinline, unused)) uint32_t failures_so_far(void)
{
    return dynsel_this_thread()->failure_count;
}

/* What the submission would return if the group function returned this. */
static inline dynsel_status close_with(dynsel_handler *handler, dynsel_status returned)
{
    return dynsel_group_close(handler, returned, failures_so_far());
}

static const dynsel_kernel some_kernel = {.name = "some", .function = launch_nothing};

/* Launches something and closes: what is wrong with the rest? */
static inline dynsel_status finish(dynsel_handler *handler)
{
    return close_with(handler, dynsel_single_task(handler, &some_kernel));
}

/* The call failed so, named the accessor or told `subject`, and its failure is that of the
 * submission although the rest was right. */
static inline void check_refused(dynsel_handler *handler, dynsel_status expected,
                                 dynsel_status actual, const char *says, const char *subject,
                                 const char *file, int line)
{
    check_status(expected, actual, "the call", file, line);
    check_error_says(says, file, line);
    if (subject != NULL) {
        check_error_says(subject, file, line);
    }
    assert_true(CONFIG_DYNSEL_ERROR_TEXTS || dynsel_last_error()->subject == NULL);
    check_status(expected, finish(handler), "the submission", file, line);
    check_error_says(says, file, line);
}

#define assert_refused(handler, expected, actual, says, subject)                                   \
    check_refused((handler), (expected), (actual), (says), (subject), __FILE__, __LINE__)

#endif
