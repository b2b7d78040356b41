/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random programs of submits, completions, waits, releases and group waits, against a simple model
 * of what each must return.
 */
#include <dynsel/dynsel.h>

#include "fakes/manual_backend.h"
#include "random.h"
#include "room.h"
#include "test.h"

enum { QUEUES = RESOURCES_UP_TO(3), PROGRAMS = 400, STEPS = 150, WORK = STEPS };

typedef struct piece {
    dynsel_submission submission;
    /* bits, because the table of pieces fills the memory of the smallest board */
    bool owned : 1;    /* a submission is owed a wait or a release */
    bool fails : 1;    /* how its event ends */
    bool finished : 1; /* its event has ended */
    bool polled : 1;   /* and a poll of this piece has seen it */
    bool told : 1;     /* its failure was taken by its owner, or by the group */
} piece;

typedef struct model {
    piece pieces[WORK];
    unsigned count;
} model;

static manual_backend manual;

/* Takes the queues in turn, and keeps all in service, so that piece i is on queue i % QUEUES. */
typedef struct in_turn_policy {
    dynsel_policy policy;
    uint32_t turn;
} in_turn_policy;

static in_turn_policy policy;

static dynsel_status take_turn(dynsel_policy *base, const dynsel_task *task,
                               dynsel_selection *selection)
{
    (void)task;
#if CONFIG_DYNSEL_LOSES_RESOURCES /* the model counts no failures */
    for (uint32_t i = 0; i < base->count; i++) {
        base->queues[i].health.value = 0;
    }
    base->impaired.value = 0;
#endif
    selection->index = ((in_turn_policy *)base)->turn++ % QUEUES;
    return DYNSEL_OK;
}

static const dynsel_policy_ops in_turn = {.name = "in turn", .try_select = take_turn};

/* Slots that may not be free: owned ones, and those whose event or an older one of the queue has
 * not ended. */
static unsigned most_slots_in_use(const model *m)
{
    unsigned count = 0;
    bool queue_runs[QUEUES] = {false};
    for (unsigned i = 0; i < m->count; i++) {
        queue_runs[i % QUEUES] |= !m->pieces[i].finished;
        count += m->pieces[i].owned || queue_runs[i % QUEUES] ? 1 : 0;
    }
    return count;
}

/* What the library can know to be finished: it looks no further than the oldest work of a queue
 * that runs, unless it polls a piece for its owner. */
static unsigned known_finished_and_owned(const model *m)
{
    unsigned count = 0;
    bool queue_runs[QUEUES] = {false};
    for (unsigned i = 0; i < m->count; i++) {
        queue_runs[i % QUEUES] |= !m->pieces[i].finished;
        const bool known = m->pieces[i].polled || !queue_runs[i % QUEUES];
        count += m->pieces[i].owned && known ? 1 : 0;
    }
    return count;
}

static void step_submit(model *m, test_random *random)
{
    piece *p = &m->pieces[m->count];
    const bool owned = test_random_below(random, 2) == 0;
    const dynsel_status status = dynsel_try_submit(
        &policy.policy, &DYNSEL_TASK(manual_enqueue, NULL), owned ? &p->submission : NULL);
    if (most_slots_in_use(m) < CONFIG_DYNSEL_MAX_IN_FLIGHT) {
        assert_status(DYNSEL_OK, status);
    }
    if (status == DYNSEL_OK) {
        p->owned = owned;
        p->fails = test_random_below(random, 4) == 0;
        m->count++;
    } else {
        assert_status(DYNSEL_E_FULL, status);
        assert_error_number(known_finished_and_owned(m));
    }
}

static void end_event(model *m, unsigned i)
{
    if (m->pieces[i].finished) {
        return;
    }
    m->pieces[i].finished = true;
    if (m->pieces[i].fails) {
        manual_fail(&manual, i);
    } else {
        manual_complete(&manual, i);
    }
}

static dynsel_status expected_of(piece *p)
{
    p->told |= p->fails;
    return p->fails ? DYNSEL_E_DEVICE : DYNSEL_OK;
}

static void step_wait(model *m, unsigned i)
{
    piece *p = &m->pieces[i];
    if (p->owned) {
        end_event(m, i);
        p->owned = false;
        assert_status(expected_of(p), dynsel_wait(&p->submission));
    } else if (p->submission.policy != NULL) {
        assert_status(DYNSEL_E_STALE, dynsel_wait(&p->submission));
    }
}

static void step_release(model *m, unsigned i)
{
    piece *p = &m->pieces[i];
    if (p->owned) {
        p->owned = false;
        assert_status(DYNSEL_OK, dynsel_submission_release(&p->submission));
    } else if (p->submission.policy != NULL) {
        assert_status(DYNSEL_E_STALE, dynsel_submission_release(&p->submission));
    }
}

/* The group tells of one failure if there were several: the others were dropped in favour of the
 * earliest. */
static void step_group(model *m, uint64_t timeout_ns)
{
    const dynsel_submission_group group = dynsel_get_submission_group(&policy.policy);
    bool failed = false;
    for (unsigned i = 0; i < m->count; i++) {
        end_event(m, i);
        piece *p = &m->pieces[i];
        if (!p->owned && p->fails && !p->told) {
            failed = true;
            p->told = true;
        }
    }
    assert_status(failed ? DYNSEL_E_DEVICE : DYNSEL_OK,
                  timeout_ns == UINT64_MAX ? dynsel_wait_group(group)
                                           : dynsel_wait_group_for(group, timeout_ns));
    for (unsigned i = 0; i < m->count; i++) {
        assert_true(m->pieces[i].owned || m->pieces[i].fails || manual_is_synchronized(&manual, i));
    }
}

static void step_poll(model *m, unsigned i)
{
    piece *p = &m->pieces[i];
    if (p->owned) {
        p->polled = p->finished;
        assert_status(p->finished ? DYNSEL_OK : DYNSEL_E_AGAIN,
                      dynsel_submission_poll(&p->submission));
    } else if (p->submission.policy != NULL) {
        assert_status(DYNSEL_E_STALE, dynsel_submission_poll(&p->submission));
    }
}

/* Takes no failure while work goes on. It polls the newest work of each queue, up to the first
 * queue that runs. */
static void step_bounded_group(model *m)
{
    bool runs = false;
    for (unsigned queue = 0; queue < QUEUES && !runs; queue++) {
        piece *newest = NULL;
        for (unsigned i = queue; i < m->count; i += QUEUES) {
            newest = &m->pieces[i];
            runs = runs || !newest->finished;
        }
        if (newest != NULL) {
            newest->polled = newest->finished;
        }
    }
    if (runs) {
        const dynsel_submission_group group = dynsel_get_submission_group(&policy.policy);
        assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_group_for(group, 0));
    } else {
        step_group(m, 0);
    }
}

static void step(model *m, test_random *random)
{
    const uint32_t what = test_random_below(random, 100);
    const unsigned any = m->count == 0 ? 0 : test_random_below(random, m->count);
    if (what < 55) {
        step_submit(m, random);
    } else if (m->count == 0) {
        return;
    } else if (what < 80) {
        end_event(m, any);
    } else if (what < 85) {
        step_poll(m, any);
    } else if (what < 91) {
        step_wait(m, any);
    } else if (what < 95) {
        step_release(m, any);
    } else if (what < 98) {
        step_bounded_group(m);
    } else {
        step_group(m, UINT64_MAX);
    }
}

static void run_program(test_random *random)
{
    static model m;
    m = (model){.count = 0};
    manual_backend_reset(&manual, test_random_below(random, 2) == 0);
    atomic_store(&manual.wait_completes, false);
    dynsel_resource resources[QUEUES];
    for (unsigned i = 0; i < QUEUES; i++) {
        resources[i] = manual_resource(&manual, i);
    }
    const dynsel_options options = {.resources = resources, .count = QUEUES};
    policy.turn = 0;
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy.policy, &in_turn, &options));
    for (unsigned i = 0; i < STEPS && m.count < WORK; i++) {
        step(&m, random);
    }
    step_group(&m, UINT64_MAX);
    for (unsigned i = 0; i < m.count; i++) {
        step_wait(&m, i);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    manual_assert_clean(&manual);
}

static void random_programs_agree_with_model(void **state)
{
    (void)state;
    test_random random = {test_seed()};
    for (int i = 0; i < PROGRAMS; i++) {
        run_program(&random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_agree_with_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
