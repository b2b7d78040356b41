/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A super-loop for a microcontroller. Blocks of samples come in; each is smoothed, which only the
 * accelerators can do, and gets a checksum, with which the processor helps. The loop never waits:
 * it hands over what goes in, collects what has ended, and sleeps when there is nothing to do.
 *
 * What the program supplies of <dynsel/port.h>, and "board.h", is in boards/<board>/machine.c.
 */
#include <dynsel/dynsel.h>
#include <dynsel/port.h>

#include "accelerator.h"
#include "board.h"
#include "print.h"

enum {
    BLOCKS = 1000, /* for each policy */
    SAMPLES = 32,
    JOBS = 12, /* blocks that there is memory for */
    LONGEST_REST_NS = 10000000,
    HOST = CONFIG_DYNSEL_BACKEND_INLINE && CONFIG_DYNSEL_MAX_RESOURCES > 2 ? 1 : 0,
    PLACES = ACCELERATORS + HOST
};

typedef enum job_state { JOB_FREE, JOB_READY, JOB_RUNNING, JOB_DONE } job_state;

/* A block, and what is done with it. */
typedef struct job {
    job_state state;
    uint32_t stage; /* into stages[] */
    uint32_t number;
    uint32_t checksum;
    uint16_t samples[SAMPLES];
    command command;
    dynsel_submission submission;
} job;

static job jobs[JOBS];

/* What the program itself counts, to compare with the library's counts. */
static struct seen {
    uint32_t came_in, checked, wrong;
    dynsel_resource_statistics at[PLACES];
    uint32_t refused_full;  /* no slot was free in the library's table */
    uint32_t refused_again; /* the resource took no more */
    uint32_t refused_out;   /* all that would do were out of service */
    uint32_t outages;       /* a resource went out of service, and was put back */
    uint32_t rests;
    uint32_t mistakes; /* what never should happen */
} seen;

static void expect(bool holds, const char *what)
{
    if (!holds) {
        seen.mistakes++;
        print("WRONG: ");
        print(what);
        print("\n");
    }
}

/* The work. */

static uint32_t sample(uint32_t block, uint32_t index)
{
    return (block * SAMPLES + index) * UINT32_C(2654435761) >> 20;
}

static void smooth(void *data)
{
    uint16_t *samples = ((job *)data)->samples;
    for (uint32_t i = 0; i + 1 < SAMPLES; i++) {
        samples[i] = (uint16_t)((samples[i] + samples[i + 1]) / 2);
    }
}

/* Fletcher's. */
static uint32_t add_to_checksum(uint32_t sums, uint32_t value)
{
    const uint32_t low = (sums + value) & 0xffff;
    return ((sums >> 16) + low) << 16 | low;
}

static void compute_checksum(void *data)
{
    job *j = data;
    j->checksum = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        j->checksum = add_to_checksum(j->checksum, j->samples[i]);
    }
}

/* Once more from the beginning, another way. */
static bool is_right(const job *j)
{
    uint32_t sums = 0;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const uint32_t here = sample(j->number, i);
        const uint32_t next = i + 1 < SAMPLES ? sample(j->number, i + 1) : here;
        sums = add_to_checksum(sums, (here + next) / 2);
    }
    return sums == j->checksum;
}

/* Where it can be done: a task's forms. */

static dynsel_status give(void (*operation)(void *), job *j, dynsel_event *done)
{
    j->command = (command){operation, j};
    done->native = &j->command;
    return DYNSEL_OK;
}

static dynsel_status smooth_there(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    return give(smooth, args, done);
}

static dynsel_status checksum_there(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    return give(compute_checksum, args, done);
}

#if CONFIG_DYNSEL_BACKEND_INLINE
static dynsel_status checksum_here(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)done;
    compute_checksum(args);
    return DYNSEL_OK;
}
#endif

static const dynsel_task_form smooth_forms[] = {{&accelerator_backend, smooth_there}};
static const dynsel_task_form checksum_forms[] = {
    {&accelerator_backend, checksum_there},
#if CONFIG_DYNSEL_BACKEND_INLINE
    {&dynsel_inline_backend, checksum_here},
#endif
};

static const dynsel_task stages[] = {
    {.id = 1, .forms = smooth_forms, .form_count = 1},
    {.id = 2, .forms = checksum_forms, .form_count = CONFIG_DYNSEL_BACKEND_INLINE ? 2 : 1},
};
enum { STAGES = sizeof stages / sizeof stages[0] };

/* The host comes last: it is never loaded when it is asked, and among equals the first is taken. */
static const dynsel_resource resources[] = {
    {&accelerator_backend, &accelerators[0]},
    {&accelerator_backend, &accelerators[1]},
#if CONFIG_DYNSEL_BACKEND_INLINE
    {&dynsel_inline_backend, NULL},
#endif
};

/* The steps of the loop; each says whether there was something to do. */

static bool take_in(job *j)
{
    if (j->state != JOB_FREE || seen.came_in == BLOCKS) {
        return false;
    }
    *j = (job){.state = JOB_READY, .number = seen.came_in++};
    for (uint32_t i = 0; i < SAMPLES; i++) {
        j->samples[i] = (uint16_t)sample(j->number, i);
    }
    return true;
}

static size_t place_of(const dynsel_policy *policy, const job *j)
{
    size_t count = 0;
    return (size_t)(dynsel_submission_resource(&j->submission) -
                    dynsel_get_resources(policy, &count));
}

/* refused: stages of which nothing more went in, so that nothing is tried in vain. */
static bool submit(dynsel_policy *policy, job *j, uint32_t *refused)
{
    if (j->state != JOB_READY || (*refused & 1u << j->stage) != 0) {
        return false;
    }
    dynsel_task task = stages[j->stage];
    task.args = j;
    const dynsel_status status = dynsel_try_submit(policy, &task, &j->submission);
    if (status == DYNSEL_OK) {
        j->state = JOB_RUNNING;
        seen.at[place_of(policy, j)].submitted++;
        return true;
    }
    expect(status == DYNSEL_E_FULL || status == DYNSEL_E_AGAIN || status == DYNSEL_E_OUT_OF_SERVICE,
           dynsel_status_name(status));
    seen.refused_full += status == DYNSEL_E_FULL ? 1 : 0;
    seen.refused_again += status == DYNSEL_E_AGAIN ? 1 : 0;
    seen.refused_out += status == DYNSEL_E_OUT_OF_SERVICE ? 1 : 0;
    *refused |= 1u << j->stage;
    return false;
}

/* An accelerator that failed is tried again, with this block or with another one. */
static bool collect(const dynsel_policy *policy, job *j)
{
    if (j->state != JOB_RUNNING) {
        return false;
    }
    const dynsel_status status = dynsel_wait_for(&j->submission, 0);
    if (status == DYNSEL_E_TIMEOUT) {
        return false;
    }
    dynsel_resource_statistics *at = &seen.at[place_of(policy, j)];
    expect(status == DYNSEL_OK || status == DYNSEL_E_DEVICE, dynsel_status_name(status));
    at->completed++;
    at->failed += status != DYNSEL_OK ? 1 : 0;
    j->stage += status == DYNSEL_OK ? 1 : 0;
    j->state = j->stage == STAGES ? JOB_DONE : JOB_READY;
    return true;
}

static bool check(job *j)
{
    if (j->state != JOB_DONE) {
        return false;
    }
    seen.checked++;
    seen.wrong += is_right(j) ? 0 : 1;
    j->state = JOB_FREE;
    return true;
}

/* Real ones would be reset here. */
static void repair(dynsel_policy *policy)
{
    for (size_t i = 0; i < PLACES; i++) {
        if (dynsel_resource_in_service(policy, i) == DYNSEL_E_OUT_OF_SERVICE) {
            seen.outages++;
            expect(dynsel_resource_reinstate(policy, i) == DYNSEL_OK, "reinstating");
        }
    }
}

/* An end that was told since the loop began its round is not slept through: the critical section
 * keeps it pending, and that ends the sleep. */
static void rest(uint32_t ends_before)
{
    const uint32_t before = dynsel_port_enter_critical();
    if (accelerator_ends == ends_before) {
        seen.rests++;
        dynsel_port_wait_for_event(LONGEST_REST_NS);
    }
    dynsel_port_leave_critical(before);
}

static void loop(dynsel_policy *policy)
{
    while (seen.checked < BLOCKS && seen.mistakes == 0) {
        const uint32_t ends_before = accelerator_ends;
        uint32_t refused = 0;
        bool busy = false;
        dynsel_progress();
        repair(policy);
        for (unsigned i = 0; i < JOBS; i++) {
            busy = collect(policy, &jobs[i]) || busy;
            busy = take_in(&jobs[i]) || busy;
            busy = submit(policy, &jobs[i], &refused) || busy;
        }
        for (unsigned i = 0; i < JOBS && !busy; i++) { /* one, where nothing else goes on */
            busy = check(&jobs[i]);
        }
        if (!busy) {
            rest(ends_before);
        }
    }
}

/* The end: what happened, and whether it adds up. */

static void print_place(const dynsel_policy *policy, size_t i, uint32_t total)
{
    const dynsel_resource_statistics *at = &seen.at[i];
    size_t count = 0;
    dynsel_resource_statistics counted;
    print("  ");
    print_text(dynsel_resource_name(&dynsel_get_resources(policy, &count)[i]), 8);
    print_number(at->submitted, 10);
    print_number(at->completed, 10);
    print_number(at->failed, 8);
    print_number(total > 0 ? (100 * at->submitted + total / 2) / total : 0, 6);
    print(" %\n");
    if (dynsel_get_statistics(policy, i, &counted) == DYNSEL_OK) {
        expect(counted.submitted == at->submitted && counted.completed == at->completed &&
                   counted.failed == at->failed,
               "the library counted something else");
    }
}

typedef struct fact {
    const char *what;
    uint32_t number;
} fact;

static void print_facts(const fact *facts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        print("  ");
        print_text(facts[i].what, 34);
        print_number(facts[i].number, 8);
        print("\n");
    }
}

static void print_report(const dynsel_policy *policy)
{
    const dynsel_in_flight_statistics table = dynsel_get_in_flight_statistics();
    const fact facts[] = {
        {"most in the queue of \"fast\"", accelerators[0].most},
        {"most in the queue of \"slow\"", accelerators[1].most},
#if CONFIG_DYNSEL_STATISTICS
        {"most in the library's table", table.most_in_use},
#endif
        {"places in the library's table", table.capacity},
        {"refused: no place in the table", seen.refused_full},
        {"refused: the queue is full", seen.refused_again},
        {"refused: out of service", seen.refused_out},
        {"repaired after failures in a row", seen.outages},
        {"interrupts", accelerator_interrupts},
        {"sleeps", seen.rests},
    };
    uint32_t total = 0;
    for (size_t i = 0; i < PLACES; i++) {
        total += seen.at[i].submitted;
    }
    print(policy->ops->name);
    print(":\n  resource submitted completed  failed share\n");
    for (size_t i = 0; i < PLACES; i++) {
        print_place(policy, i, total);
    }
    print_facts(facts, sizeof facts / sizeof facts[0]);
}

/* Each block went through all stages; what failed was done again. */
static void check_counts(dynsel_policy *policy)
{
    uint32_t good = 0;
    for (size_t i = 0; i < PLACES; i++) {
        expect(seen.at[i].submitted == seen.at[i].completed, "some work did not end");
        good += seen.at[i].completed - seen.at[i].failed;
    }
    expect(seen.came_in == BLOCKS && seen.checked == BLOCKS && good == BLOCKS * STAGES,
           "the counts do not add up");
    expect(seen.wrong == 0, "a checksum is wrong");
    expect(accelerator_refused_ends == 0, "the library did not know what ended");
    expect(dynsel_get_in_flight_statistics().in_use == 0, "work is left over");
    expect(dynsel_invariants_hold(policy), "the library's books are not in order");
}

static bool use(dynsel_policy *policy, dynsel_status initialized)
{
    expect(initialized == DYNSEL_OK, dynsel_status_name(initialized));
    if (initialized != DYNSEL_OK) {
        return false;
    }
    seen = (struct seen){.mistakes = 0};
    accelerators_on();
    loop(policy);
    accelerators_off();
    print_report(policy);
    check_counts(policy);
    expect(dynsel_policy_deinit(policy) == DYNSEL_OK, "the policy is still in use");
    print_number(seen.checked - seen.wrong, 0);
    print(seen.mistakes == 0 ? " blocks are right, and all counts add up\n"
                             : " blocks are right\n");
    return seen.mistakes == 0;
}

/* The trace: where the build has one, and the command line names a file for it. */

#if CONFIG_DYNSEL_TRACE_TO_RINGS

enum { RECORDS = CONFIG_DYNSEL_HAS_MUCH_RAM ? 2048 : DYNSEL_TRACE_LEAST_RECORDS };

static dynsel_trace_record records[RECORDS];

static void start_trace(void)
{
    expect(dynsel_trace_start(records, RECORDS) == DYNSEL_OK, "the trace cannot be started");
}

static dynsel_status append(void *file, const void *bytes, size_t count)
{
    return board_file_write(*(const int *)file, bytes, count) ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

/* What follows the program's name in the command line; "" for nothing. */
static const char *file_name(void)
{
    static char line[256];
    uint32_t i = 0;
    board_arguments(line, sizeof line);
    while (line[i] != '\0' && line[i] != ' ') {
        i++;
    }
    return line[i] == ' ' ? &line[i + 1] : &line[i];
}

static bool end_trace(void)
{
    const char *const name = file_name();
    bool good = dynsel_trace_stop() == DYNSEL_OK;
    if (name[0] != '\0') {
        int file = board_file_open(name);
        good = good && file >= 0 && dynsel_trace_write(append, &file) == DYNSEL_OK;
        board_file_close(file);
        print(good ? "trace written to " : "WRONG: the trace cannot be written to ");
        print(name);
        print("\n");
    }
    return good;
}

#else

static void start_trace(void)
{
}

static bool end_trace(void)
{
    return true;
}

#endif

static const dynsel_options options = {.resources = resources, .count = PLACES};

int main(void)
{
    bool good = true;
    start_trace();
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    static dynsel_dynamic_load_policy load;
    good = use(&load.policy, dynsel_dynamic_load_init(&load, &options)) && good;
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    static dynsel_auto_tune_policy tuned;
    good =
        use(&tuned.policy, dynsel_auto_tune_init(&tuned, &options, DYNSEL_NEVER_RESAMPLE)) && good;
#endif
    good = end_trace() && good;
    return good ? 0 : 1;
}
