/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_events.h"

#include <dynsel/dynsel.h>

#include "measure.h"
#include "report.h"

enum {
    RECORDS = 1 << 15,
    EVENTS = 3 /* of a submit over the backend inline: the choice, the run, the end */
};

static const double MOST_NS = 20;

static dynsel_trace_record records[RECORDS];
static dynsel_fixed_resource_policy policy;

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static void submit(void *unused, unsigned thread, uint32_t times)
{
    const dynsel_task task = {.function = do_nothing, .id = 1};
    bool good = true;
    (void)unused;
    (void)thread;
    for (uint32_t i = 0; i < times; i++) {
        good = dynsel_submit(&policy.policy, &task, NULL) == DYNSEL_OK && good;
    }
    report_check(good, "dynsel_submit");
}

static void mark(void *unused, unsigned thread, uint32_t times)
{
    (void)unused;
    (void)thread;
    for (uint32_t i = 0; i < times; i++) {
        dynsel_trace_mark("mark");
    }
}

static void read_clock(void *unused, unsigned thread, uint32_t times)
{
    uint64_t last = 0;
    (void)unused;
    (void)thread;
    for (uint32_t i = 0; i < times; i++) {
        const uint64_t now = dynsel_trace_ticks();
        last = now > last ? now : last;
    }
    report_check(last != 0, "dynsel_trace_ticks");
}

static double time_of(void (*run)(void *, unsigned, uint32_t), uint32_t times)
{
    return measure_once((measure_loop){run, NULL}, 1, times).ns;
}

static void add(const char *subject, double *floor_ns, double *event_ns, unsigned count)
{
    report_add(&(report_row){.table = "trace",
                             .subject = subject,
                             .resources = 1,
                             .threads = 1,
                             .reference = measure_median(floor_ns, count),
                             .measured = measure_median(event_ns, count),
                             .overlap = -1,
                             .limit = MOST_NS});
}

void bench_trace_events(unsigned repetitions, uint32_t times)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &host, .count = 1};
    double floor_ns[MEASURE_MAX_SAMPLES];
    double submit_ns[MEASURE_MAX_SAMPLES];
    double mark_ns[MEASURE_MAX_SAMPLES];
    unsigned count = 0;
    report_table(
        "An event of the trace; the budget is 20 ns. Floor: reading its clock. Of a submit: "
        "a third of what the\ntrace adds to one over the backend inline, which has three "
        "events and reads the clock four times.",
        "floor ns");
    report_check(dynsel_fixed_resource_init(&policy, &options, 0) == DYNSEL_OK, "fixed_resource");
    for (; count < repetitions && count < MEASURE_MAX_SAMPLES; count++) {
        const double plain_ns = time_of(submit, times);
        report_check(dynsel_trace_start(records, RECORDS) == DYNSEL_OK, "dynsel_trace_start");
        floor_ns[count] = time_of(read_clock, times);
        submit_ns[count] = (time_of(submit, times) - plain_ns) / EVENTS;
        mark_ns[count] = time_of(mark, times);
        report_check(dynsel_trace_stop() == DYNSEL_OK, "dynsel_trace_stop");
    }
    add("an event of a submit", floor_ns, submit_ns, count);
    add("a mark", floor_ns, mark_ns, count);
    report_check(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "dynsel_policy_deinit");
}
