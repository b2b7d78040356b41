/* SPDX-License-Identifier: Apache-2.0 */
/* dynsel-replay plays recorded programs with other devices and policies. */
#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"
#include "tools/replayed_trace.h"

enum {
    GPU,
    WORKER,
    DEVICES,
    PIECES = 200,
    IN_FLIGHT = 8,
    GPU_NS = 50000,
    WORKER_NS = 100000,
    BUFFERS = 2,
    BYTES = 1 << 20
};

static char trace_path[64];
static char csv_path[64];
static dynsel_simulated_device devices[DEVICES];
static unsigned char data[BUFFERS][BYTES];

static dynsel_options machine(void)
{
    static dynsel_resource resources[DEVICES];
    dynsel_simulated_restart();
    devices[GPU] = (dynsel_simulated_device){.name = "gpu",
                                             .aspects = DYNSEL_ASPECT_BIT(gpu),
                                             .memory = 1,
                                             .submit_ns = 2000,
                                             .latency_ns = 4000,
                                             .transfer_ns = 5000,
                                             .mib_ns = 20000};
    devices[WORKER] = (dynsel_simulated_device){.name = "worker",
                                                .kind = DYNSEL_SIMULATED_THREAD,
                                                .aspects = DYNSEL_ASPECT_BIT(host),
                                                .submit_ns = 200,
                                                .latency_ns = 1000};
    for (uint32_t i = 0; i < DEVICES; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    return (dynsel_options){.resources = resources, .count = DEVICES};
}

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)args;
    (void)done;
    dynsel_simulated_spend(where->handle == &devices[GPU] ? GPU_NS : WORKER_NS);
    return DYNSEL_OK;
}

/* Some pieces are in flight; the program waits for the oldest. */
static void stream(dynsel_policy *policy, uint64_t think_ns)
{
    static dynsel_submission flying[IN_FLIGHT];
    for (uint32_t i = 0; i < PIECES + IN_FLIGHT; i++) {
        if (i >= IN_FLIGHT) {
            assert_status(DYNSEL_OK, dynsel_wait(&flying[i % IN_FLIGHT]));
        }
        if (i < PIECES) {
            const dynsel_task task = {.function = run, .id = 1 + i / 2 % 2};
            flying[i % IN_FLIGHT] = (dynsel_submission){.policy = NULL};
            assert_status(DYNSEL_OK, dynsel_submit(policy, &task, &flying[i % IN_FLIGHT]));
            dynsel_simulated_spend(think_ns);
        }
    }
}

static void end_trace(dynsel_policy *policy)
{
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
    assert_status(DYNSEL_OK, dynsel_trace_stop());
    replayed_trace_write(trace_path);
}

static void record_round_robin(uint64_t think_ns)
{
    static dynsel_round_robin_policy policy;
    const dynsel_options options = machine();
    replayed_trace_begin();
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    stream(&policy.policy, think_ns);
    end_trace(&policy.policy);
}

static void what_if(const char *arguments)
{
    char words[512];
    (void)snprintf(words, sizeof words, "what-if %s --csv %s %s > %s.txt", trace_path, csv_path,
                   arguments, trace_path);
    assert_int_equal(0, replayed_trace_replay(words));
}

/* A number of the line of a case and a resource: column 1 the time, 7 the pieces. */
static double value(const char *name, const char *resource, unsigned column)
{
    static char line[512];
    char begin[128];
    FILE *file = fopen(csv_path, "r");
    double found = -1;
    assert_non_null(file);
    (void)snprintf(begin, sizeof begin, "\"%s\",", name);
    while (found < 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, begin, strlen(begin)) != 0 || strstr(line, resource) == NULL) {
            continue;
        }
        char *at = line + strlen(begin);
        for (unsigned i = 1; i < column; i++) {
            at = strchr(at, ',') + 1;
        }
        found = strtod(at, NULL);
    }
    assert_int_equal(0, fclose(file));
    if (found < 0) {
        print_error("no case '%s' with '%s'\n", name, resource);
    }
    assert_true(found >= 0);
    return found;
}

static double time_of(const char *name)
{
    return value(name, "gpu", 1);
}

static double pieces_of(const char *name, const char *resource)
{
    return value(name, resource, 7);
}

static void assert_near(double expected, double actual, double share)
{
    if (actual < expected * (1 - share) || actual > expected * (1 + share)) {
        print_error("%f is not near %f\n", actual, expected);
        fail();
    }
}

static void test_model(void **state)
{
    (void)state;
    record_round_robin(3000);
    what_if("");
    assert_near(time_of("recorded"), time_of("placed as recorded"), 0.01);
    assert_near(time_of("recorded"), time_of("chosen anew"), 0.01);
    assert_int_equal(PIECES / 2, (int)pieces_of("recorded", "worker"));
    assert_int_equal(PIECES / 2, (int)pieces_of("chosen anew", "worker"));
}

/* The program computes longer than the devices. */
static void test_program_time(void **state)
{
    (void)state;
    record_round_robin(200000);
    what_if("--case fast --speed gpu=10 --speed worker=10");
    assert_near(PIECES * 200000.0, time_of("recorded"), 0.02);
    assert_near(time_of("recorded"), time_of("placed as recorded"), 0.01);
    assert_near(time_of("recorded"), time_of("fast"), 0.01);
}

static void test_speed(void **state)
{
    (void)state;
    record_round_robin(0);
    what_if("--case fast --speed gpu=2 --speed worker=2 --case slow --speed worker=0.5");
    assert_near(time_of("chosen anew") / 2, time_of("fast"), 0.1);
    assert_near(time_of("chosen anew") * 2, time_of("slow"), 0.1);
}

static void test_devices(void **state)
{
    (void)state;
    record_round_robin(0);
    what_if("--case gone --without gpu --case more --add worker=2 --case late "
            "--latency gpu=1000000 --case loaded --policy dynamic_load "
            "--case fixed --policy fixed_resource:worker");
    assert_near(PIECES * (double)WORKER_NS, time_of("gone"), 0.05);
    assert_int_equal(PIECES, (int)pieces_of("gone", "worker"));
    assert_true(time_of("more") < 0.65 * time_of("chosen anew"));
    assert_true(time_of("late") > 2 * time_of("chosen anew"));
    assert_true(time_of("loaded") < 0.9 * time_of("chosen anew"));
    assert_int_equal(PIECES, (int)pieces_of("fixed", "worker"));
    assert_near(time_of("gone"), time_of("fixed"), 0.01);
}

static dynsel_status compute(const dynsel_launch *launch)
{
    (void)launch;
    dynsel_simulated_spend(dynsel_simulated_running() == &devices[GPU] ? GPU_NS : WORKER_NS);
    return DYNSEL_OK;
}

static const dynsel_kernel kernel = {.name = "compute", .id = 1, .function = compute};
static dynsel_buffer buffers[BUFFERS];

static dynsel_status record_group(dynsel_handler *handler, void *args)
{
    const uint32_t *written = args;
    for (uint32_t i = 0; i < BUFFERS; i++) {
        dynsel_accessor accessor;
        dynsel_get_access(handler, buffers[i],
                          i == *written ? DYNSEL_ACCESS_READ_WRITE : DYNSEL_ACCESS_READ,
                          DYNSEL_MEMORY_GLOBAL, &accessor);
    }
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(1024), NULL, NULL);
}

/* Work that depends on the work before, and a look at its results now and then. */
static void test_data(void **state)
{
    static dynsel_fixed_resource_policy policy;
    (void)state;
    const dynsel_options options = machine();
    replayed_trace_begin();
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, GPU));
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&buffers[i], data[i], 1, DYNSEL_RANGE(BYTES)));
    }
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t written = i % BUFFERS;
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&policy.policy, record_group, &written, NULL));
        if (i % 10 == 9) {
            dynsel_host_accessor accessor = {.data = NULL};
            assert_status(DYNSEL_OK, dynsel_host_accessor_open(&accessor, buffers[i / 10 % BUFFERS],
                                                               DYNSEL_ACCESS_READ));
            assert_status(DYNSEL_OK, dynsel_host_accessor_close(&accessor));
        }
    }
    for (uint32_t i = 0; i < BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    end_trace(&policy.policy);
    what_if("--case worker --policy fixed_resource:worker --case twice --speed gpu=2");
    assert_near(time_of("recorded"), time_of("placed as recorded"), 0.1);
    assert_near(value("recorded", "gpu", 2), value("placed as recorded", "gpu", 2), 0.1);
    assert_int_equal(0, (int)value("worker", "gpu", 2));      /* bytes */
    assert_int_equal(PIECES, (int)value("worker", "gpu", 3)); /* guesses: it never ran there */
    assert_true(time_of("twice") < 0.7 * time_of("placed as recorded"));
}

/* What is written for a simulated run is a trace, of which each choice can be repeated. */
static void test_trace(void **state)
{
    char words[512];
    (void)state;
    record_round_robin(1000);
    (void)snprintf(words, sizeof words, "what-if %s --policy auto_tune --trace %s.2 > %s.txt",
                   trace_path, trace_path, trace_path);
    assert_int_equal(0, replayed_trace_replay(words));
    (void)snprintf(words, sizeof words, "check %s.2 > %s.txt", trace_path, trace_path);
    assert_int_equal(0, replayed_trace_replay(words));
    (void)snprintf(words, sizeof words, "what-if %s.2 --csv %s > %s.txt", trace_path, csv_path,
                   trace_path);
    assert_int_equal(0, replayed_trace_replay(words));
    assert_near(time_of("recorded"), time_of("placed as recorded"), 0.02);
}

int main(void)
{
    (void)snprintf(trace_path, sizeof trace_path, "/tmp/dynsel-what-if-%ld", (long)getpid());
    (void)snprintf(csv_path, sizeof csv_path, "/tmp/dynsel-what-if-%ld.csv", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model), cmocka_unit_test(test_program_time),
        cmocka_unit_test(test_speed), cmocka_unit_test(test_devices),
        cmocka_unit_test(test_data),  cmocka_unit_test(test_trace),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const ends[] = {"", ".2", ".txt", ".csv"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char path[80];
        (void)snprintf(path, sizeof path, "%s%s", trace_path, ends[i]);
        (void)remove(path);
    }
    return failed;
}
