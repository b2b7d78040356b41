/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storm of interrupts that end work, as fast as the timer can, while the program selects,
 * submits,
 * waits and collects: every piece of work ends once and is told once, with the status that it ended
 * with, and the interrupts did come inside each of the library's functions. On hosts signals are
 * the interrupts.
 */
#define _XOPEN_SOURCE 700

#include <dynsel/dynsel.h>
#include <dynsel/port.h>

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>

#include "random.h"
#include "room.h"
#include "support/put_in_service.h"
#include "test.h"

enum {
    DEVICES = RESOURCES_UP_TO(3),
    QUEUE = 8,
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    KEPT = SLOTS < 4 ? SLOTS : 4, /* submissions that are waited for later */
    /* for each policy, at least */
    PIECES = SLOTS > 512                     ? 500
             : !CONFIG_DYNSEL_HAS_FULL_SPEED ? 2000
                                             : 600,
    ENOUGH = 25,     /* interrupts inside of each function, at least */
    STEPS = 500,     /* of a stage */
    LONGEST_US = 12, /* between an interrupt's end and the next one */
    PATIENCE = 16,   /* interrupts in one step of the program, before they come less often */
    MOST_DOUBLINGS = 8
};

/* Inside of which function the program is. */
typedef enum place {
    OUTSIDE,
    IN_SELECT,
    IN_SUBMIT,
    IN_TRY_SUBMIT,
    IN_SUBMIT_SELECTION,
    IN_WAIT,
    IN_WAIT_FOR,
    IN_RELEASE,
    IN_WAIT_GROUP,
    IN_PROGRESS,
    IN_INVARIANTS,
    PLACES
} place;

static const char *const names[] = {"no function",      "select",   "submit",    "try_submit",
                                    "submit_selection", "wait",     "wait_for",  "release",
                                    "wait_group",       "progress", "invariants"};
_Static_assert(sizeof names / sizeof names[0] == PLACES, "each place has a name");

static volatile uint32_t where_now;
static volatile uint32_t hits[PLACES];
static volatile uint32_t steps_made;

static dynsel_status out(dynsel_status status)
{
    where_now = OUTSIDE;
    return status;
}
#define CALL(function, expression) (where_now = (function), out(expression))

/* A piece of work; free again when the library has released it and nobody asks for it. */
typedef struct piece {
    bool used;
    bool asked_for;
    bool released;
    volatile dynsel_status status;
    volatile uint32_t ends;
} piece;

typedef struct device {
    volatile uint32_t put, taken, failed;
    struct {
        dynsel_work *work;
        piece *piece;
    } queue[QUEUE];
} device;

static piece pieces[SLOTS + 1];
static device devices[DEVICES];
static uint32_t releases, unasked_failures;
static volatile uint32_t late_ends_taken, good_ends_refused;

/* The interrupt. */

static test_random device_dice;
static uint32_t last_token;

static dynsel_status draw_status(void)
{
    switch (test_random_below(&device_dice, 16)) {
    case 0:
        return DYNSEL_E_DEVICE;
    case 1:
        return DYNSEL_E_TASK;
    case 2:
        return (dynsel_status)(DYNSEL_E_USER - 7);
    default:
        return DYNSEL_OK;
    }
}

static void end_oldest(device *d)
{
    dynsel_work *work = d->queue[d->taken % QUEUE].work;
    piece *p = d->queue[d->taken % QUEUE].piece;
    const dynsel_status status = draw_status();
    p->status = status;
    p->ends = p->ends + 1;
    d->failed = d->failed + (status != DYNSEL_OK ? 1 : 0);
    d->taken = d->taken + 1;
    last_token = work->token;
    if (dynsel_complete(work->token, status,
                        test_random_below(&device_dice, 4) == 0 ? 0 : dynsel_now_ns()) !=
        DYNSEL_OK) {
        good_ends_refused = good_ends_refused + 1;
    }
}

static void set_timer(uint32_t microseconds)
{
    const struct itimerval timer = {.it_interval = {.tv_usec = (int)microseconds},
                                    .it_value = {.tv_usec = (int)microseconds}};
    (void)setitimer(ITIMER_REAL, &timer, NULL);
}

/* Where the way back from a signal takes longer than the timer, the program would never get on. */
static uint32_t longest_us(void)
{
    static uint32_t seen, in_this_step;
    in_this_step = steps_made == seen ? in_this_step + 1 : 0;
    seen = steps_made;
    const uint32_t doublings = in_this_step / PATIENCE;
    return (uint32_t)LONGEST_US << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS);
}

/* The timer begins anew at the end, so that the program always gets on a little. */
static void interrupt(int number)
{
    (void)number;
    hits[where_now] = hits[where_now] + 1;
    device *d = &devices[test_random_below(&device_dice, DEVICES)];
    for (uint32_t ends = test_random_below(&device_dice, 4); ends > 0 && d->put != d->taken;
         ends--) {
        end_oldest(d);
    }
    if (last_token != 0 && dynsel_complete(last_token, DYNSEL_OK, 0) != DYNSEL_E_STALE) {
        late_ends_taken = late_ends_taken + 1;
    }
    set_timer(1 + test_random_below(&device_dice, longest_us()));
}

/* The backend. */

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    device *d = work->own;
    (void)backend;
    if (d->put - d->taken == QUEUE) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(work);
    d->queue[d->put % QUEUE].piece = work->done.native;
    d->queue[d->put % QUEUE].work = work;
    __asm__ volatile("" ::: "memory");
    d->put = d->put + 1; /* from here on the interrupt ends it */
    return DYNSEL_OK;
}

static void forget(piece *p)
{
    unasked_failures += p->status != DYNSEL_OK ? 1 : 0;
    p->used = false;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    piece *p = work->done.native;
    (void)backend;
    releases++;
    p->released = true;
    if (!p->asked_for) {
        forget(p);
    }
}

static const dynsel_backend_ops ops = {
    .name = "interrupts",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .outlives_submit = true,
    .marks_completion = true,
    .start = start,
    .release = release,
};

static dynsel_backend backend = {&ops};

static dynsel_status enqueue(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    done->native = args;
    return DYNSEL_OK;
}

/* The program. */

static test_random dice;
static dynsel_policy *policy;
static uint32_t accepted;
static struct {
    piece *piece;
    dynsel_submission submission;
} kept[KEPT];

static piece *free_piece(bool asked_for)
{
    piece *p = pieces;
    while (p->used) {
        p++; /* one more than slots, so there is one */
    }
    *p = (piece){.used = true, .asked_for = asked_for};
    return p;
}

/* What may refuse: nothing was started then. */
static bool went_in(dynsel_status status, piece *p)
{
    if (status == DYNSEL_E_OUT_OF_SERVICE) {
        for (size_t i = 0; i < DEVICES; i++) {
            put_in_service(policy, i);
        }
    } else if (status != DYNSEL_E_FULL && status != DYNSEL_E_AGAIN) {
        assert_status(DYNSEL_OK, status);
        accepted++;
        return true;
    }
    assert_int_equal(p->ends, 0);
    return false;
}

static dynsel_status submit_selected(const dynsel_task *task, dynsel_submission *submission)
{
    dynsel_selection selection;
    const dynsel_status status = CALL(IN_SELECT, dynsel_select(policy, task, &selection));
    return status == DYNSEL_OK
               ? CALL(IN_SUBMIT_SELECTION, dynsel_submit_selection(&selection, task, submission))
               : status;
}

static void submit(unsigned at)
{
    const bool asked_for = at < KEPT;
    piece *p = free_piece(asked_for);
    dynsel_submission *submission = asked_for ? &kept[at].submission : NULL;
    const dynsel_task task = {
        .function = enqueue, .args = p, .id = 1 + test_random_below(&dice, 3)};
    dynsel_status status = DYNSEL_OK;
    switch (test_random_below(&dice, 3)) {
    case 0:
        status = CALL(IN_SUBMIT, dynsel_submit(policy, &task, submission));
        break;
    case 1:
        status = CALL(IN_TRY_SUBMIT, dynsel_try_submit(policy, &task, submission));
        break;
    default:
        status = submit_selected(&task, submission);
        break;
    }
    if (!went_in(status, p)) {
        p->used = false;
    } else if (asked_for) {
        kept[at].piece = p;
    }
}

static void check_collected(unsigned at, dynsel_status status)
{
    assert_int_equal(kept[at].piece->ends, 1);
    assert_status(kept[at].piece->status, status);
    assert_true(kept[at].piece->released);
    assert_status(DYNSEL_E_STALE, dynsel_wait(&kept[at].submission));
    kept[at].piece->used = false;
    kept[at].piece = NULL;
}

/* From here on a failure is the group's. */
static void let_go(unsigned at)
{
    piece *p = kept[at].piece;
    if (p->released) {
        forget(p);
    }
    p->asked_for = false;
    assert_status(DYNSEL_OK, CALL(IN_RELEASE, dynsel_submission_release(&kept[at].submission)));
    kept[at].piece = NULL;
}

static void collect(unsigned at)
{
    switch (test_random_below(&dice, 3)) {
    case 0:
        check_collected(at, CALL(IN_WAIT, dynsel_wait(&kept[at].submission)));
        break;
    case 1: {
        const uint64_t longest_ns = test_random_below(&dice, 50000);
        const dynsel_status status =
            CALL(IN_WAIT_FOR, dynsel_wait_for(&kept[at].submission, longest_ns));
        if (status != DYNSEL_E_TIMEOUT) {
            check_collected(at, status);
        }
        break;
    }
    default:
        let_go(at);
        break;
    }
}

static void look(void)
{
    where_now = IN_PROGRESS;
    dynsel_progress();
    where_now = IN_INVARIANTS;
    const bool hold = dynsel_invariants_hold(policy);
    where_now = OUTSIDE;
    assert_true(hold);
}

static void step(void)
{
    const unsigned at = test_random_below(&dice, KEPT);
    steps_made = steps_made + 1;
    switch (test_random_below(&dice, 8)) {
    case 0:
        look();
        break;
    case 1:
    case 2:
    case 3:
        submit(KEPT);
        break;
    default:
        if (kept[at].piece == NULL) {
            submit(at);
        } else {
            collect(at);
        }
        break;
    }
}

/* Nobody heard of these failures yet but the group. */
static void wait_for_all(void)
{
    const dynsel_submission_group group = dynsel_get_submission_group(policy);
    const dynsel_status status = CALL(IN_WAIT_GROUP, dynsel_wait_group(group));
    assert_int_equal(status != DYNSEL_OK, unasked_failures > 0);
    unasked_failures = 0;
}

static void end_stage(void)
{
    dynsel_resource_statistics counted;
    uint32_t put = 0;
    uint32_t left = 0;
    wait_for_all();
    for (unsigned i = 0; i < KEPT; i++) {
        left += kept[i].piece != NULL ? 1 : 0;
    }
    for (unsigned i = 0; i < DEVICES; i++) {
        put += devices[i].put;
        assert_int_equal(devices[i].put, devices[i].taken);
        if (dynsel_get_statistics(policy, i, &counted) == DYNSEL_OK) {
            assert_int_equal(counted.submitted, devices[i].put);
            assert_int_equal(counted.completed, devices[i].put);
            assert_int_equal(counted.failed, devices[i].failed);
        }
    }
    assert_int_equal(put, accepted);
    assert_int_equal(dynsel_get_in_flight_statistics().in_use, left);
    assert_true(releases <= accepted && releases + left >= accepted);
    assert_int_equal(good_ends_refused, 0);
    assert_int_equal(late_ends_taken, 0);
    look();
}

static bool is_enough(void)
{
    bool enough = accepted >= PIECES;
    for (unsigned i = 0; i < PLACES; i++) {
        enough = enough && hits[i] >= ENOUGH;
    }
    return enough;
}

static void begin_storm(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    (void)sigemptyset(&action.sa_mask);
    for (unsigned i = 0; i < DEVICES; i++) {
        devices[i] = (device){.put = 0};
    }
    for (unsigned i = 0; i < PLACES; i++) {
        hits[i] = 0;
    }
    for (unsigned i = 0; i < KEPT; i++) {
        kept[i].piece = NULL;
    }
    accepted = releases = unasked_failures = last_token = 0;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    set_timer(1);
}

static void end_storm(void)
{
    const uint32_t before = dynsel_port_enter_critical(); /* else it would begin anew */
    set_timer(0);
    (void)sigaction(SIGALRM, &(struct sigaction){.sa_handler = SIG_IGN}, NULL);
    dynsel_port_leave_critical(before);
}

static void say_hits(void)
{
    uint32_t inside = 0;
    for (unsigned i = 0; i < PLACES; i++) {
        inside += i != OUTSIDE ? hits[i] : 0;
        print_message("%u in %s\n", (unsigned)hits[i], names[i]);
    }
    print_message("%u pieces of work, %u interrupts inside of the library\n", (unsigned)accepted,
                  (unsigned)inside);
}

static void storm(dynsel_policy *stormed)
{
    policy = stormed;
    dice.state = test_seed();
    device_dice.state = ~dice.state;
    begin_storm();
    while (!is_enough()) {
        for (unsigned i = 0; i < STEPS; i++) {
            step();
        }
        end_stage();
    }
    for (unsigned i = 0; i < KEPT; i++) {
        if (kept[i].piece != NULL) {
            check_collected(i, CALL(IN_WAIT, dynsel_wait(&kept[i].submission)));
        }
    }
    end_stage();
    assert_int_equal(releases, accepted);
    end_storm();
    say_hits();
    assert_status(DYNSEL_OK, dynsel_policy_deinit(policy));
}

static const dynsel_options *all_devices(void)
{
    static dynsel_resource resources[DEVICES];
    static const dynsel_options options = {.resources = resources, .count = DEVICES};
    for (unsigned i = 0; i < DEVICES; i++) {
        resources[i] = (dynsel_resource){&backend, &devices[i]};
    }
    return &options;
}

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
static void round_robin_in_interrupt_storm_loses_no_work(void **state)
{
    static dynsel_round_robin_policy turns;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&turns, all_devices(), 0));
    storm(&turns.policy);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static void dynamic_load_in_interrupt_storm_loses_no_work(void **state)
{
    static dynsel_dynamic_load_policy load;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_dynamic_load_init(&load, all_devices()));
    storm(&load.policy);
    for (unsigned i = 0; i < DEVICES; i++) {
        assert_int_equal(load.loads[i].word.value, 0);
    }
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static void auto_tune_in_interrupt_storm_loses_no_work(void **state)
{
    static dynsel_auto_tune_policy tuned;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_auto_tune_init(&tuned, all_devices(), DYNSEL_NEVER_RESAMPLE));
    storm(&tuned.policy);
    for (unsigned i = 0; i < DEVICES; i++) {
        assert_int_equal(tuned.loads[i].value, 0);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
        cmocka_unit_test(round_robin_in_interrupt_storm_loses_no_work),
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
        cmocka_unit_test(dynamic_load_in_interrupt_storm_loses_no_work),
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
        cmocka_unit_test(auto_tune_in_interrupt_storm_loses_no_work),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
