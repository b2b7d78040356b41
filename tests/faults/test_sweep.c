/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever call of OpenCL's fails, once or for good: nothing hangs, leaks or is wrong. */
#include <string.h>

#include "faults/sweep.h"
#include "test.h"

enum { WORDS = 64, GROUPS = 4 };

static const dynsel_kernel add = {
    .name = "add",
    .source = "kernel void add(global uint *words, uint value)\n"
              "{ words[get_global_id(0)] = words[get_global_id(0)] * 3 + value; }\n"};

typedef struct job {
    dynsel_buffer buffer;
    uint32_t value;
} job;

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status = dynsel_get_access(handler, j->buffer, DYNSEL_ACCESS_READ_WRITE,
                                             DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(WORDS), NULL, NULL)
                               : status;
}

static dynsel_round_robin_policy policy;

static bool begin(void)
{
    const dynsel_options options = {.resources = fault_devices, .count = fault_device_count};
    policy = (dynsel_round_robin_policy){0};
    return fault_saw(dynsel_round_robin_init(&policy, &options, 0));
}

static void end(void)
{
    fault_nothing_runs();
    fault_must(dynsel_invariants_hold(&policy.policy), "the invariants do not hold");
    fault_must(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "the policy is still in use");
}

/* Not where devices would use it itself. */
static uint32_t memory[WORDS + 1];
static uint32_t *const words = memory + 1;

/* What the groups that succeeded made of it. */
static void must_be(const uint32_t *results, const bool *succeeded)
{
    bool right = true;
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t word = i;
        for (uint32_t k = 0; k < GROUPS; k++) {
            word = succeeded[k] ? word * 3 + k : word;
        }
        right = right && results[i] == word;
    }
    fault_must(right, "the data are wrong, and nothing says so");
}

static void run_chain(dynsel_buffer buffer, bool *succeeded)
{
    dynsel_submission submissions[GROUPS];
    for (uint32_t i = 0; i < GROUPS; i++) {
        job j = {.buffer = buffer, .value = i};
        succeeded[i] =
            fault_saw(dynsel_submit_command_group(&policy.policy, add_value, &j, &submissions[i]));
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        if (succeeded[i]) {
            succeeded[i] = fault_saw(dynsel_wait(&submissions[i]));
        }
    }
}

static void read_on_host(dynsel_buffer buffer, const bool *succeeded)
{
    dynsel_host_accessor seen = {0};
    if (fault_saw(dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ))) {
        must_be(seen.data, succeeded);
        (void)fault_saw(dynsel_host_accessor_close(&seen));
    }
}

/* What cannot be brought home is tried again, and given up then. */
static void end_buffer(dynsel_buffer *buffer, const bool *succeeded)
{
    dynsel_host_accessor anything = {0};
    bool ended = fault_saw(dynsel_buffer_deinit(buffer));
    if (!ended && buffer->token != 0) {
        ended = fault_saw(dynsel_buffer_deinit(buffer));
    }
    if (ended) {
        must_be(words, succeeded);
    }
    if (buffer->token != 0) {
        fault_must(dynsel_host_accessor_open(&anything, *buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
                           DYNSEL_OK &&
                       dynsel_host_accessor_close(&anything) == DYNSEL_OK &&
                       dynsel_buffer_deinit(buffer) == DYNSEL_OK,
                   "a buffer cannot be given up");
    }
}

/* A chain of groups over all devices, a look by the host, and the end of the buffer. */
static void play_chain(void)
{
    dynsel_buffer buffer = {0};
    bool succeeded[GROUPS];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    if (!begin()) {
        return;
    }
    if (fault_saw(dynsel_buffer_init(&buffer, words, sizeof(uint32_t), DYNSEL_RANGE(WORDS)))) {
        run_chain(buffer, succeeded);
        read_on_host(buffer, succeeded);
        end_buffer(&buffer, succeeded);
    }
    end();
}

static void sweep(const fault_scenario *scenario)
{
    assert_int_equal(fault_sweep(scenario), 0);
}

static void chain(void **state)
{
    (void)state;
    sweep(&(fault_scenario){
        .name = "chain",
        .play = play_chain,
    });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
