/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on the two accelerators of the firmware example, whose interrupt comes only while the caller
 * sleeps in the library's wait. The end of the program checks what the system's stub has counted.
 */
#include <dynsel/dynsel.h>
#include <stdio.h>

#include "accelerator.h"
#include "system.h"

enum { PIECES = 40 };

static unsigned done_there;

static void operate(void *data)
{
    done_there += *(const unsigned *)data;
}

static dynsel_status ask(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    done->native = args;
    return DYNSEL_OK;
}

static int expect(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "program: not so: %s\n", what);
    }
    return holds ? 0 : 1;
}

static int run_pieces(void)
{
    static dynsel_dynamic_load_policy policy;
    static const dynsel_resource all[] = {{&accelerator_backend, &accelerators[0]},
                                          {&accelerator_backend, &accelerators[1]}};
    static unsigned one = 1;
    static command what = {operate, &one};
    const dynsel_options options = {.resources = all, .count = 2};
    dynsel_status status = dynsel_dynamic_load_init(&policy, &options);
    const uint64_t before = dynsel_now_ns();
    unsigned good = 0;
    unsigned failed = 0;
    for (unsigned i = 0; i < PIECES && status == DYNSEL_OK; i++) {
        dynsel_status result = dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(ask, &what));
        good += result == DYNSEL_OK;
        failed += result == DYNSEL_E_DEVICE;
    }
    const uint64_t after = dynsel_now_ns();
    printf("%u done, %u failed, %u interrupts, %u sleeps\n", good, failed,
           (unsigned)accelerator_interrupts, system_sleeps());
    return expect(status == DYNSEL_OK, "the policy is initialized") +
           expect(good == PIECES && failed == 0, "all work succeeds") +
           expect(done_there == PIECES, "each piece runs once") +
           expect(system_sleeps() >= PIECES, "the caller sleeps until work is complete") +
           expect(after > before, "the clock goes on") +
           expect(accelerator_refused_ends == 0, "the library knows what ended") +
           expect(system_is_as_before(), "each lock is released") +
           expect(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "the policy ends");
}

int main(void)
{
    accelerators_on();
    const int wrong = run_pieces();
    accelerators_off();
    return wrong == 0 ? 0 : 1;
}
