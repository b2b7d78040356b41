/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* setitimer() */
#include "faults/sweep.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "faults/counts.h"
#include "faults/expected.h"
#include "test.h"

enum { MOST_PRINTED = 30, PROCESSOR_SECONDS = 20, SECONDS = 60, MOST_CALLS = 400 };

dynsel_resource fault_devices[FAULT_MOST_DEVICES];
size_t fault_device_count;

/* What is played. */
static struct {
    const fault_scenario *scenario;
    fault_point point;
    uint32_t failures; /* that the scenario saw */
    bool told;         /* one of them said which call failed, and how */
    bool lost;         /* a device is */
    uint32_t wrong;    /* of the scenario */
    uint32_t cases;    /* of the scenario, that came */
    char seen[512];    /* the text of the last failure */
} run;

static const char *what_fails(const fault_point *point)
{
    static const char *const ends[] = {
        [FAULT_END_FAILS] = "command that fails",
        [FAULT_END_LATE] = "command that is late",
        [FAULT_END_EARLY] = "command that is said to be over too early",
        [FAULT_END_NEVER] = "command that hangs",
        [FAULT_TOLD_TWICE] = "callback that comes twice",
        [FAULT_TOLD_LATE] = "callback that is late",
        [FAULT_TOLD_NEVER] = "callback that never comes",
    };
    return point->end == FAULT_NO_END ? fault_name(point->function) : ends[point->end];
}

static const char *where(void)
{
    static char text[128];
    if (run.point.call == 0) {
        (void)snprintf(text, sizeof(text), "%s, no fault: ", run.scenario->name);
    } else {
        (void)snprintf(text, sizeof(text), "%s, %s call %u, %d %s: ", run.scenario->name,
                       what_fails(&run.point), (unsigned)run.point.call, (int)run.point.code,
                       run.point.for_good ? "for good" : "once");
    }
    return text;
}

void fault_must(bool condition, const char *what)
{
    if (!condition && run.wrong++ < MOST_PRINTED) {
        print_error("%s%s; the last failure: %s\n", where(), what,
                    run.failures != 0 ? run.seen : "none");
    }
}

/* A command that waits for another that failed tells no more; so do transfers of the library's. */
enum { NOT_RUN = -14 }; /* CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST */

/* Where texts are not kept, only the code is looked at. */
static bool is_about(const dynsel_error *error, const fault_point *point)
{
    if (point->end != FAULT_NO_END) {
        return error->code == point->code || error->code == NOT_RUN;
    }
    const char *const name = fault_name(point->function);
    return point->call != 0 && error->code == (fault_has_code(point->function) ? point->code : 0) &&
           (error->function == NULL ||
            strncmp(error->function, name, strlen(error->function)) == 0);
}

bool fault_is_lied_to(void)
{
    return run.point.end == FAULT_END_EARLY;
}

/* It fails so often that the device has left service; failures of work that was accepted may be
 * seen later. */
static bool is_tired(dynsel_status status)
{
    return status == DYNSEL_E_OUT_OF_SERVICE && run.point.for_good &&
           CONFIG_DYNSEL_MAX_FAILURES != 0;
}

bool fault_saw(dynsel_status status)
{
    if (status == DYNSEL_OK) {
        return true;
    }
    run.failures++;
    (void)dynsel_error_text(NULL, run.seen, sizeof(run.seen));
    fault_must(fault_failures() != 0, "something fails without a fault");
    if (is_about(dynsel_last_error(), &run.point)) {
        run.told = true;
        fault_must(fault_status_fits(&run.point, status), dynsel_status_name(status));
    } else {
        fault_must(fault_consequence_fits(&run.point, status) || is_tired(status),
                   "it does not tell what failed");
    }
    return false;
}

static void look_at(const dynsel_opencl_device_info *info, void *context)
{
    (void)context;
    if (info->verdict == DYNSEL_OPENCL_LOST) {
        run.lost = true;
        fault_give_up(info->device);
    }
}

static void look_for_lost(void)
{
    fault_suspend(true);
    const dynsel_status status = dynsel_opencl_visit_devices("all", look_at, NULL);
    fault_suspend(false);
    fault_must(status == DYNSEL_OK, "the devices cannot be visited");
}

void fault_nothing_runs(void)
{
    look_for_lost();
    fault_must(run.point.end == FAULT_END_EARLY || fault_running() == 0,
               "a command still runs, and all work is said to be over");
}

static char bark_text[192];
static size_t bark_bytes;

/* A hang, in processor time or asleep. */
static void bark(int signal_number)
{
    (void)signal_number;
    (void)!write(STDERR_FILENO, bark_text, bark_bytes);
    _exit(1);
}

static void watch(bool on)
{
    const struct itimerval limit = {.it_value.tv_sec = on ? PROCESSOR_SECONDS : 0};
    bark_bytes = (size_t)snprintf(bark_text, sizeof(bark_text), "%sit does not end\n", where());
    (void)signal(SIGPROF, bark);
    (void)signal(SIGALRM, bark);
    (void)setitimer(ITIMER_PROF, &limit, NULL);
    (void)alarm(on ? SECONDS : 0);
}

static void find_devices(void)
{
    fault_suspend(true);
    const dynsel_status status =
        dynsel_opencl_select("all", fault_devices, FAULT_MOST_DEVICES, &fault_device_count);
    fault_suspend(false);
    if (status != DYNSEL_OK) {
        fault_device_count = 0;
    }
}

/* Nothing of the library's may be left but what belongs to lost devices. */
static void close_all(void)
{
    const char *made_by = NULL;
    char text[128];
    fault_clear();
    look_for_lost();
    fault_must(dynsel_opencl_close() == DYNSEL_OK, "the backend is still in use");
    const uint32_t held = fault_held(&made_by);
    (void)snprintf(text, sizeof(text), "%u objects are never released, the last of %s",
                   (unsigned)held, held != 0 ? made_by : "");
    fault_must(held == 0, text);
    fault_end();
}

static void play(const fault_point *point)
{
    run.point = *point;
    run.failures = 0;
    run.told = false;
    fault_begin();
    fault_set(point);
    run.scenario->play();
}

static void play_without_fault(void)
{
    play(&(fault_point){.call = 0});
}

static void open_all(void)
{
    const dynsel_opencl_options impatient = {.patience_ms = 2, .timing = run.scenario->timing};
    run.lost = false;
    fault_must(dynsel_opencl_configure(&impatient) == DYNSEL_OK,
               "the backend cannot be configured");
    if (!run.scenario->finds_devices) {
        find_devices();
    }
    if (!run.scenario->is_cold) {
        play_without_fault();
    }
}

/* The same again, and nothing of the failure is left. */
static void play_again(const fault_point *point)
{
    fault_clear();
    if (run.scenario->finds_devices) {
        close_all();
    }
    fault_begin();
    run.failures = 0;
    run.scenario->play();
    run.point = *point;
    fault_must(run.failures == 0, "it still fails without the fault");
}

/* What the failures and the losses must have been. */
static void must_be_expected(const fault_point *point, bool came)
{
    fault_must(run.failures == 0 || run.told || fault_says_other(point),
               "no failure tells the function and the code");
    fault_must(run.failures == 0 || !fault_is_survived(point), "it is told, and need not be");
    fault_must(fault_misuses() == 0, "an object is released too often");
    fault_must(!run.lost || fault_may_lose(point), "a device is lost that works");
    fault_must(run.lost || !came || !fault_must_lose(point), "a device is not lost that is gone");
}

/* Whether the call came at all. */
static bool try_point(const fault_point *point)
{
    const char *made_by = "";
    const uint32_t held = fault_held(&made_by);
    run.point = *point;
    watch(true);
    play(point);
    const bool came = fault_failures() != 0;
    look_for_lost();
    must_be_expected(point, came);
    fault_count_case(point, came);
    run.cases += came ? 1 : 0;
    if (!run.lost) {
        play_again(point);
    }
    if (run.scenario->is_cold || run.lost) {
        close_all();
        open_all();
    } else {
        fault_must(fault_held(&made_by) == held, made_by); /* the last made may be the leak */
    }
    watch(false);
    return came;
}

static bool is_in(const fault_function *functions, size_t count, fault_function function)
{
    for (size_t i = 0; i < count; i++) {
        if (functions[i] == function) {
            return true;
        }
    }
    return functions == NULL;
}

/* Tries call after call, and returns how many came. */
static uint32_t try_calls(fault_point point, uint32_t most)
{
    uint32_t came = 0;
    for (point.call = 1; point.call <= most && point.call < MOST_CALLS && try_point(&point);
         point.call++) {
        came++;
    }
    fault_must(point.call < MOST_CALLS, "it calls a function without end");
    return came;
}

/* Once and for good, with each code. */
static uint32_t count_cases(fault_function function, uint32_t calls)
{
    uint32_t cases = 0;
    for (const cl_int *code = fault_codes(function, true); *code != 0; code++) {
        cases += 2 * calls;
    }
    return cases;
}

static void try_function(fault_function function)
{
    const bool whole = fault_is_whole();
    uint32_t calls = 0;
    uint32_t tried = 0;
    for (const cl_int *code = fault_codes(function, whole); *code != 0; code++) {
        fault_point point = {.function = function, .code = *code};
        calls = try_calls(point, UINT32_MAX);
        point.for_good = true;
        tried += calls + try_calls(point, fault_last_for_good(*code, whole));
    }
    const uint32_t cases = count_cases(function, calls);
    fault_count_calls(function, calls);
    fault_count_left_out(cases > tried ? cases - tried : 0);
}

static void begin_sweep(const fault_scenario *scenario)
{
    run.wrong = 0;
    run.cases = 0;
    run.scenario = scenario;
    run.point.call = 0;
    fault_count_scenario();
    watch(true);
    open_all();
    watch(false);
}

static uint32_t end_sweep(void)
{
    close_all();
    fault_must(run.cases != 0, "nothing was made to fail");
    return run.wrong;
}

uint32_t fault_sweep(const fault_scenario *scenario)
{
    const bool is_subset = !fault_is_whole() && scenario->subset != NULL;
    uint32_t calls[FAULT_FUNCTION_COUNT];
    begin_sweep(scenario);
    if (scenario->is_cold) { /* twice, because it may find what was kept */
        play_without_fault();
        close_all();
        open_all();
        play_without_fault();
    }
    for (int i = 0; i < FAULT_FUNCTION_COUNT; i++) {
        calls[i] = fault_calls((fault_function)i);
    }
    close_all();
    open_all();
    for (int i = 0; i < FAULT_FUNCTION_COUNT; i++) {
        const fault_function function = (fault_function)i;
        if (calls[i] == 0 || !is_in(scenario->only, scenario->only_count, function)) {
            continue;
        }
        if (is_subset && !is_in(scenario->subset, scenario->subset_count, function)) {
            fault_count_left_out(count_cases(function, calls[i]));
        } else {
            try_function(function);
        }
    }
    return end_sweep();
}

uint32_t fault_sweep_ends(const fault_scenario *scenario)
{
    const bool whole = fault_is_whole();
    begin_sweep(scenario);
    for (int for_good = 0; for_good <= 1; for_good++) {
        uint32_t commands = 0;
        for (const cl_int *code = fault_end_codes(); *code != 0; code++) {
            const fault_point point = {
                .end = FAULT_END_FAILS, .code = *code, .for_good = for_good != 0};
            if (whole || fault_is_usual_end(*code)) {
                commands = try_calls(point, UINT32_MAX);
            } else {
                fault_count_left_out(commands);
            }
        }
        for (int end = FAULT_END_LATE; end <= FAULT_TOLD_NEVER; end++) {
            if (end != FAULT_END_NEVER) {
                (void)try_calls((fault_point){.end = (fault_ending)end, .for_good = for_good != 0},
                                UINT32_MAX);
            }
        }
    }
    return end_sweep();
}

uint32_t fault_sweep_hangs(const fault_scenario *scenario)
{
    begin_sweep(scenario);
    (void)try_calls((fault_point){.end = FAULT_END_NEVER}, UINT32_MAX);
    return end_sweep();
}
