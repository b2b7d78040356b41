/* SPDX-License-Identifier: Apache-2.0 */
#include "port/thread.h"

#include "port/atomic.h"

DYNSEL_EACH_THREAD dynsel_thread dynsel_thread_state;

#if CONFIG_DYNSEL_COMMAND_GROUPS
uint32_t dynsel_thread_identity(void)
{
    static dynsel_word last;
    dynsel_thread *const thread = dynsel_this_thread();
    while (thread->identity == 0) {
        thread->identity = dynsel_word_add_relaxed(&last, 1) + 1;
    }
    return thread->identity;
}
#endif
