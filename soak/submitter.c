/* SPDX-License-Identifier: Apache-2.0 */
#include "submitter.h"

#include "policies.h"
#include "result.h"

enum {
    GROUP_ONE_IN = 4096,
    FAILURE_ONE_IN = 16,
    SUBMIT_FOR_NS = 1000000,
    WAYS = 6 /* to submit */
};

/* splitmix64 */
static uint32_t draw(soak_submitter *self, uint32_t below)
{
    self->seed += 0x9e3779b97f4a7c15u;
    uint64_t z = self->seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)(((z ^ (z >> 31)) >> 32) * (uint64_t)below >> 32);
}

static void collect(soak_submitter *self, soak_held *held)
{
    if (!held->is_there) {
        return;
    }
    held->is_there = 0;
    if (draw(self, 3) == 0) {
        soak_must(dynsel_submission_release(&held->submission) == DYNSEL_OK, "release");
        self->released++;
        return;
    }
    soak_must(dynsel_wait(&held->submission) == soak_end_of(held->kind), "wait");
    soak_must(dynsel_wait(&held->submission) == DYNSEL_E_STALE, "a second wait");
    self->waited++;
}

/* False: nothing was free, as some ways to submit may say. */
static int accepted(soak_submitter *self, dynsel_status status, int may_refuse)
{
    if (status == DYNSEL_OK) {
        return 1;
    }
    soak_must(may_refuse && (status == DYNSEL_E_FULL || status == DYNSEL_E_AGAIN ||
                             status == DYNSEL_E_TIMEOUT),
              "submit");
    self->refused++;
    return 0;
}

static int submit_a_selection(soak_submitter *self, dynsel_policy *policy, const dynsel_task *task,
                              dynsel_submission *submission)
{
    dynsel_selection selection;
    soak_must(dynsel_select(policy, task, &selection) == DYNSEL_OK, "select");
    return accepted(self, dynsel_submit_selection(&selection, task, submission), 1);
}

static int submit_and_wait(soak_submitter *self, dynsel_policy *policy, soak_kind kind)
{
    soak_must(dynsel_submit_and_wait(policy, soak_task(kind)) == soak_end_of(kind),
              "submit_and_wait");
    self->waited++;
    return 1;
}

/* Only for a moment is a table full of finished work that other threads are about to collect. */
static int submit(soak_submitter *self, dynsel_policy *policy, const dynsel_task *task,
                  dynsel_submission *submission)
{
    return accepted(self, dynsel_submit(policy, task, submission), 1);
}

static int submit_one_way(soak_submitter *self, dynsel_policy *policy, soak_kind kind,
                          soak_held *held)
{
    const dynsel_task *task = soak_task(kind);
    dynsel_submission *submission = draw(self, 2) == 0 ? &held->submission : NULL;
    int good = 0;
    switch (draw(self, WAYS)) {
    case 0:
        return submit_and_wait(self, policy, kind);
    case 1:
        good = accepted(self, dynsel_try_submit(policy, task, submission), 1);
        break;
    case 2:
        good = submit_a_selection(self, policy, task, submission);
        break;
    case 3:
        good = accepted(self, dynsel_submit_for(policy, task, submission, SUBMIT_FOR_NS), 1);
        break;
    default:
        good = submit(self, policy, task, submission);
        break;
    }
    held->is_there = good && submission != NULL;
    held->kind = kind;
    return good;
}

/* The group hears of failures of work that nobody asks for. */
static void wait_for_group(soak_submitter *self, dynsel_policy *policy)
{
    const dynsel_status status = dynsel_wait_group(dynsel_get_submission_group(policy));
    soak_must(status == DYNSEL_OK || status == soak_end_of(SOAK_FAILS_BEFORE) ||
                  status == soak_end_of(SOAK_FAILS_AFTER),
              "wait_group");
    self->groups++;
}

static void step(soak_submitter *self)
{
    const uint32_t which = draw(self, (uint32_t)soak_policy_count());
    dynsel_policy *policy = soak_policies[which].policy;
    soak_held *held = &self->held[draw(self, SOAK_HELD)];
    const soak_kind kind = draw(self, FAILURE_ONE_IN) != 0 ? SOAK_SUCCEEDS
                           : draw(self, 2) == 0            ? SOAK_FAILS_BEFORE
                                                           : SOAK_FAILS_AFTER;
    collect(self, held);
    if (submit_one_way(self, policy, kind, held)) {
        self->accepted_by[which]++;
        atomic_fetch_add_explicit(&self->accepted, 1, memory_order_relaxed);
    }
    if (draw(self, GROUP_ONE_IN) == 0) {
        wait_for_group(self, policy);
    }
}

void *soak_submit(void *context)
{
    soak_submitter *self = context;
    while (atomic_load_explicit(&self->accepted, memory_order_relaxed) < self->wanted) {
        step(self);
    }
    for (int i = 0; i < SOAK_HELD; i++) {
        collect(self, &self->held[i]);
    }
    return NULL;
}
