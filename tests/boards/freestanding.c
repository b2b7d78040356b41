/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without any C library: linked with every object of the archive, the board's start-up
 * code and the compiler's own runtime. It submits work through each policy, and a gate looks at
 * what the archive needs.
 */
#include <dynsel/dynsel.h>

#include "board.h"

/* What a program must bring along. Volatile, so that the compiler makes no call of itself of it. */
void *memcpy(void *to, const void *from, size_t count);
void *memmove(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);

void *memcpy(void *to, const void *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    }
    return to;
}

void *memmove(void *to, const void *from, size_t count)
{
    if ((uintptr_t)to <= (uintptr_t)from) {
        return memcpy(to, from, count);
    }
    for (size_t i = count; i > 0; i--) {
        ((volatile char *)to)[i - 1] = ((const volatile char *)from)[i - 1];
    }
    return to;
}

void *memset(void *to, int value, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((volatile unsigned char *)to)[i] = (unsigned char)value;
    }
    return to;
}

enum { TIMES = 100 };

static unsigned runs;

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    runs++;
    return DYNSEL_OK;
}

/* How many mistakes there were. */
static unsigned use(dynsel_policy *policy, dynsel_status initialized)
{
    unsigned mistakes = initialized == DYNSEL_OK ? 0 : 1;
    runs = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        mistakes += dynsel_submit(policy, &DYNSEL_TASK(run, NULL), NULL) == DYNSEL_OK ? 0 : 1;
    }
    mistakes += dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK ? 0 : 1;
    mistakes += runs == TIMES ? 0 : 1;
    return mistakes + (dynsel_policy_deinit(policy) == DYNSEL_OK ? 0 : 1);
}

int main(void)
{
    static const char passed[] = "every policy did its work without a C library\n";
    unsigned mistakes = 0;
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    static dynsel_fixed_resource_policy fixed;
    mistakes += use(&fixed.policy, dynsel_fixed_resource_init(&fixed, NULL, 0));
#endif
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    static dynsel_round_robin_policy turns;
    mistakes += use(&turns.policy, dynsel_round_robin_init(&turns, NULL, 0));
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    static dynsel_dynamic_load_policy load;
    mistakes += use(&load.policy, dynsel_dynamic_load_init(&load, NULL));
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    static dynsel_auto_tune_policy tuned;
    mistakes += use(&tuned.policy, dynsel_auto_tune_init(&tuned, NULL, DYNSEL_NEVER_RESAMPLE));
#endif
    board_write(passed, mistakes == 0 ? sizeof passed - 1 : 0);
    return mistakes == 0 ? 0 : 1;
}
