/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 24 hours of a bare-metal program with accelerators that misbehave, in simulated time: completion
 * that comes before the submit returns, twice, from an interrupt inside of another one, too late,
 * or never. Each piece of work ends once, in time, and with the right status; a device that hangs
 * costs its own work only, and comes back after a reset.
 *
 * The port is the test's own: interrupts come where the library leaves a critical section, looks at
 * the clock, or sleeps, and between its calls.
 */
#include <dynsel/dynsel.h>
#include <dynsel/port.h>

#include <stdio.h>

#include "random.h"
#include "room.h"
#include "test.h"

enum { DEVICES = RESOURCES_UP_TO(3), QUEUE = 4, SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT };
enum { KEPT = SLOTS < 8 ? SLOTS : 8, DEEPEST = 2, LOOK_NS = 20000 };

static const uint64_t MS = 1000000;
static const uint64_t LIMIT = 200 * (uint64_t)1000000;
static const uint64_t GRACE = (uint64_t)CONFIG_DYNSEL_GIVE_UP_AFTER_MS * 1000000;
static const uint64_t DAY = 24 * 3600 * (uint64_t)1000000000;

typedef enum fate { ENDS, ENDS_IN_START, ENDS_TWICE, ENDS_LATE, FAILS, HANGS, FATES } fate;

typedef struct device {
    dynsel_work *queue[QUEUE]; /* oldest first */
    uint32_t tokens[QUEUE];
    fate fates[QUEUE];
    uint32_t count;
    uint64_t due_ns;   /* the end of the oldest; 0: it hangs, or there is none */
    uint64_t reset_ns; /* when the program resets it; 0: it works */
} device;

static device devices[DEVICES];
static test_random dice;
static uint64_t time_ns;
static uint32_t masked; /* depth of critical sections */
static uint32_t depth;  /* of interrupts */
static uint32_t counts[FATES], nested, given_up, resets;

static uint64_t duration(void)
{
    return (1 + test_random_below(&dice, 50)) * MS;
}

/* The next piece of work begins. Late is past the limit, and before the device is given up. */
static void set_due(device *d)
{
    d->due_ns = 0;
    if (d->count != 0 && d->fates[0] != HANGS) {
        d->due_ns = time_ns + duration() + (d->fates[0] == ENDS_LATE ? LIMIT + GRACE / 2 : 0);
    }
}

static void remove_oldest(device *d)
{
    d->count--;
    for (uint32_t i = 0; i < d->count; i++) {
        d->queue[i] = d->queue[i + 1];
        d->tokens[i] = d->tokens[i + 1];
        d->fates[i] = d->fates[i + 1];
    }
    set_due(d);
}

static void deliver(void);

/* In the interrupt; a device that is given up meanwhile may still end its work. */
static void end_oldest(device *d)
{
    const uint32_t token = d->tokens[0];
    const fate what = d->fates[0];
    remove_oldest(d);
    deliver(); /* of another device, inside of this one */
    const dynsel_status first =
        dynsel_complete(token, what == FAILS ? DYNSEL_E_TASK : DYNSEL_OK, time_ns);
    assert_true(first == DYNSEL_OK || first == DYNSEL_E_STALE);
    if (what == ENDS_TWICE) {
        assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_E_DEVICE, time_ns));
    }
}

/* Interrupts that are due and not masked. */
static void deliver(void)
{
    for (uint32_t i = 0; i < DEVICES && masked == 0 && depth < DEEPEST; i++) {
        device *const d = &devices[i];
        if (d->due_ns != 0 && d->due_ns <= time_ns) {
            nested += depth != 0 ? 1 : 0;
            depth++;
            end_oldest(d);
            depth--;
        }
    }
}

/* The port. */

uint32_t dynsel_port_enter_critical(void)
{
    return masked++;
}

void dynsel_port_leave_critical(uint32_t before)
{
    masked = before;
    deliver();
}

bool dynsel_port_in_interrupt(void)
{
    return depth != 0;
}

uint64_t dynsel_now_ns(void)
{
    time_ns += LOOK_NS;
    deliver();
    return time_ns;
}

/* Until the next interrupt, which comes when the critical section is left. */
void dynsel_port_wait_for_event(uint64_t longest_ns)
{
    uint64_t next_ns = time_ns + longest_ns;
    for (uint32_t i = 0; i < DEVICES; i++) {
        const uint64_t due_ns = devices[i].due_ns;
        next_ns = due_ns != 0 && due_ns < next_ns ? due_ns : next_ns;
    }
    time_ns = next_ns > time_ns ? next_ns : time_ns;
}

/* The backend. */

static fate draw(void)
{
    switch (test_random_below(&dice, 64)) {
    case 0:
        return HANGS;
    case 1:
    case 2:
        return FAILS;
    case 3:
    case 4:
        return ENDS_TWICE;
    case 5:
    case 6:
        return ENDS_IN_START;
    case 7:
        return ENDS_LATE;
    default:
        return ENDS;
    }
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    device *const d = work->own;
    (void)backend;
    if (d->count == QUEUE) {
        return DYNSEL_E_AGAIN;
    }
    dynsel_work_call(work);
    const fate what = draw();
    counts[what]++;
    *(fate *)work->args = what;
    if (what == ENDS_IN_START) {
        assert_status(DYNSEL_OK, dynsel_complete(work->token, DYNSEL_OK, time_ns));
        assert_status(DYNSEL_E_STALE, dynsel_complete(work->token, DYNSEL_OK, time_ns));
        return DYNSEL_OK;
    }
    masked++;
    d->queue[d->count] = work;
    d->tokens[d->count] = work->token;
    d->fates[d->count] = what;
    d->count++;
    if (d->count == 1) {
        set_due(d);
    }
    masked--;
    return DYNSEL_OK;
}

static bool take_back(dynsel_backend *backend, dynsel_work *work)
{
    device *const d = work->own;
    (void)backend;
    for (uint32_t i = 1; i < d->count; i++) {
        if (d->queue[i] == work) {
            for (d->count--; i < d->count; i++) {
                d->queue[i] = d->queue[i + 1];
                d->tokens[i] = d->tokens[i + 1];
                d->fates[i] = d->fates[i + 1];
            }
            return true;
        }
    }
    return false;
}

static const dynsel_backend_ops ops = {.name = "faulty",
                                       .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                       .outlives_submit = true,
                                       .marks_completion = true,
                                       .poll_synchronizes = true,
                                       .start = start,
                                       .cancel = take_back};
static dynsel_backend faulty = {&ops};

/* The program. */

static dynsel_round_robin_policy policy;
static uint32_t heard; /* changes to suspect or out of service */

static void hear(const dynsel_resource_change *change)
{
    device *const d = change->policy->resources[change->index].handle;
    heard++;
    if (change->after == DYNSEL_RESOURCE_OUT_OF_SERVICE) {
        assert_int_equal(DYNSEL_E_GIVEN_UP, change->cause);
        assert_true(d->count != 0 && d->fates[0] == HANGS);
        given_up++;
        d->reset_ns = time_ns + (1 + test_random_below(&dice, 60000)) * MS;
    }
}

static dynsel_status do_nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

/* Its hanging work ends, much too late: before the reset, or in it. */
static void reset_what_is_due(void)
{
    for (uint32_t i = 0; i < DEVICES; i++) {
        device *const d = &devices[i];
        if (d->reset_ns != 0 && d->reset_ns <= time_ns) {
            d->reset_ns = 0;
            assert_int_equal(1, d->count);
            const uint32_t token = d->tokens[0];
            remove_oldest(d);
            assert_status(DYNSEL_E_STALE, dynsel_complete(token, DYNSEL_OK, time_ns));
            assert_status(DYNSEL_OK, dynsel_resource_reinstate(&policy.policy, i));
            resets++;
        }
    }
}

typedef struct piece {
    dynsel_submission submission;
    fate fate; /* until it is started, that of the piece before */
} piece;

/* Which statuses a piece of this fate may have; all behind one that hangs may be given up. */
static void check_end(const piece *p, dynsel_status status)
{
    if (status == DYNSEL_E_GIVEN_UP) {
        return;
    }
    assert_int_not_equal(HANGS, p->fate);
    assert_status(p->fate == FAILS ? DYNSEL_E_TASK : DYNSEL_OK, status);
}

static void collect(piece *p)
{
    const uint64_t longest_ns = QUEUE * (LIMIT + GRACE + 60 * MS);
    const uint64_t began_ns = time_ns;
    check_end(p, dynsel_wait(&p->submission));
    assert_true(time_ns - began_ns < longest_ns);
}

/* Does something else until the next interrupt, for a second at most. */
static void be_idle(void)
{
    dynsel_port_wait_for_event(1000 * MS);
    deliver();
    dynsel_progress();
    reset_what_is_due();
}

/* All devices can be full, on probation, or out of service. */
static void submit(piece *p)
{
    const dynsel_task task = {.function = do_nothing, .args = &p->fate, .limit_ns = LIMIT};
    dynsel_status status = dynsel_try_submit(&policy.policy, &task, &p->submission);
    while (status == DYNSEL_E_OUT_OF_SERVICE || status == DYNSEL_E_AGAIN) {
        be_idle();
        status = dynsel_try_submit(&policy.policy, &task, &p->submission);
    }
    assert_status(DYNSEL_OK, status);
}

static void live_through_a_day(void)
{
    static piece pieces[KEPT];
    uint32_t pieces_done = 0;
    for (uint32_t i = 0; i < KEPT; i++) {
        submit(&pieces[i]);
    }
    for (uint32_t next = 0; time_ns < DAY; next = (next + 1) % KEPT) {
        collect(&pieces[next]);
        pieces_done++;
        time_ns += test_random_below(&dice, 8) == 0 ? duration() : 0;
        deliver();
        reset_what_is_due();
        submit(&pieces[next]);
    }
    for (uint32_t i = 0; i < KEPT; i++) {
        collect(&pieces[i]);
    }
    printf(
        "%u pieces of work in 24 hours: %u ended before the submit returned, %u twice, %u late, "
        "%u failed, %u never; %u interrupts inside of others; %u times a device was given up, %u "
        "reset\n",
        (unsigned)pieces_done, (unsigned)counts[ENDS_IN_START], (unsigned)counts[ENDS_TWICE],
        (unsigned)counts[ENDS_LATE], (unsigned)counts[FAILS], (unsigned)counts[HANGS],
        (unsigned)nested, (unsigned)given_up, (unsigned)resets);
}

static void day_with_faulty_devices_loses_nothing(void **state)
{
    (void)state;
    dynsel_resource resources[DEVICES];
    dice.state = test_seed();
    for (uint32_t i = 0; i < DEVICES; i++) {
        resources[i] = (dynsel_resource){.backend = &faulty, .handle = &devices[i]};
    }
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy,
                                                     &(dynsel_options){.resources = resources,
                                                                       .count = DEVICES,
                                                                       .resource_changed = hear},
                                                     0));
    live_through_a_day();
    time_ns += 100000 * MS;
    reset_what_is_due();
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_int_equal(given_up, resets);
    assert_true(given_up > 100 && nested > 100 && counts[ENDS_TWICE] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(day_with_faulty_devices_loses_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
