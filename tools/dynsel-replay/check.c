/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each recorded thread has a thread here, because some of a policy's state belongs to threads. They
 * take turns: only one runs at a time, in the order of the recorded events.
 */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "difference.h"
#include "log.h"
#include "repeat.h"

typedef struct checked {
    const recording *all;
    repeated_policy *policies;
    dynsel_selection *selections; /* of the pieces */
    call_inputs *inputs;          /* of the rings */
    size_t at;                    /* the next event */
    int status;                   /* not 0: it is over */
    pthread_mutex_t mutex;
    pthread_cond_t turn_changed;
} checked;

typedef struct turn {
    checked *of;
    uint32_t ring;
    pthread_t thread;
} turn;

static void end_policy(repeated_policy *policy)
{
    if (policy->policy != NULL) {
        const dynsel_status status = dynsel_policy_deinit(&policy->policy->policy);
        (void)status; /* nothing was submitted */
    }
}

/* A policy that had the same place in memory before is over. Some state of threads names places in
 * a policy, so it gets the same place here, too. */
static int begin_policy(checked *c, repeated_policy *policy)
{
    for (uint32_t i = 0; i + 1 < policy->number; i++) {
        repeated_policy *before = &c->policies[i];
        if (before->policy != NULL && before->recorded->address == policy->recorded->address) {
            end_policy(before);
            policy->policy = before->policy;
            before->policy = NULL;
        }
    }
    policy->policy = policy->policy != NULL ? policy->policy : calloc(1, sizeof *policy->policy);
    policy->resources = calloc(policy->recorded->count + 1u, sizeof *policy->resources);
    return policy->policy == NULL || policy->resources == NULL
               ? log_wrong("%s: there is not enough memory for it", c->all->path)
               : machine_like(policy->recorded, policy->policy, policy->resources);
}

/* The policy of an event, which has begun; NULL: none that is repeated. */
static repeated_policy *policy_of(checked *c, const dynsel_trace_record *record)
{
    if (record->policy == 0 || record->policy > c->all->policy_count) {
        return NULL;
    }
    repeated_policy *policy = &c->policies[record->policy - 1];
    if (machine_kind_of(policy->recorded->name) == POLICY_KINDS || policy->recorded->was_used ||
        policy->recorded->changed) {
        return NULL;
    }
    if (policy->resources == NULL) {
        c->status = begin_policy(c, policy);
    }
    return c->status == 0 ? policy : NULL;
}

static void choose_again(checked *c, repeated_policy *policy, const call_inputs *in,
                         const dynsel_trace_record *record)
{
    const recorded_kind *kind = recording_kind(c->all, record->words[0]);
    if (kind == NULL || !kind->is_known || (kind->key_word_count != 0 && kind->key_words == NULL)) {
        c->status = log_wrong("%s: the kind of piece %u is not in it", c->all->path,
                              (unsigned)record->piece);
        return;
    }
    const answer made = repeat_choice(c->all, policy, in, record);
    c->selections[record->piece] = made.selection;
    if (policy->is_wanted && !repeat_is_same(record, &made)) {
        difference_print(c->all, policy, in, record, &made);
        c->status = EXIT_DIFFERENT;
    }
}

static void report_again(checked *c, repeated_policy *policy, const call_inputs *in,
                         const dynsel_trace_record *record)
{
    dynsel_selection *selection = &c->selections[record->piece];
    if (selection->policy == NULL || selection->policy != &policy->policy->policy) {
        c->status = log_wrong("%s: it has a report about piece %u, and not its choice",
                              c->all->path, (unsigned)record->piece);
        return;
    }
    if (!repeat_report(policy, in, selection, record) && policy->is_wanted) {
        difference_print_report(policy, record);
        c->status = EXIT_DIFFERENT;
    }
}

static void repeat_event(checked *c, const recorded_event *event)
{
    const dynsel_trace_record *record = event->record;
    call_inputs *in = &c->inputs[event->ring];
    repeat_take(in, record);
    const bool is_choice =
        record->event == DYNSEL_TRACE_CHOICE || record->event == DYNSEL_TRACE_NO_CHOICE;
    if (!is_choice && record->event != DYNSEL_TRACE_REPORT) {
        return;
    }
    repeated_policy *policy = policy_of(c, record);
    if (policy != NULL && is_choice) {
        choose_again(c, policy, in, record);
    } else if (policy != NULL) {
        report_again(c, policy, in, record);
    }
    repeat_end(in);
}

static bool is_over(const checked *c)
{
    return c->status != 0 || c->at == c->all->event_count;
}

static void *take_turns(void *argument)
{
    const turn *mine = argument;
    checked *c = mine->of;
    difference_begin_thread();
    (void)pthread_mutex_lock(&c->mutex);
    while (!is_over(c)) {
        if (c->all->events[c->at].ring != mine->ring) {
            (void)pthread_cond_wait(&c->turn_changed, &c->mutex);
            continue;
        }
        while (!is_over(c) && c->all->events[c->at].ring == mine->ring) {
            repeat_event(c, &c->all->events[c->at++]);
        }
        (void)pthread_cond_broadcast(&c->turn_changed);
    }
    (void)pthread_mutex_unlock(&c->mutex);
    return NULL;
}

static void repeat_all(checked *c)
{
    turn *turns = calloc(c->all->file.ring_count, sizeof *turns);
    if (turns == NULL) {
        c->status = log_wrong("%s: there is not enough memory for it", c->all->path);
        return;
    }
    uint32_t started = 0;
    for (uint32_t ring = 1; ring < c->all->file.ring_count; ring++) {
        if (c->all->file.rings[ring].count == 0) {
            continue;
        }
        turns[started] = (turn){.of = c, .ring = ring};
        if (pthread_create(&turns[started].thread, NULL, take_turns, &turns[started]) != 0) {
            (void)pthread_mutex_lock(&c->mutex);
            c->status = log_wrong("no more threads can be started");
            (void)pthread_cond_broadcast(&c->turn_changed);
            (void)pthread_mutex_unlock(&c->mutex);
            break;
        }
        started++;
    }
    for (uint32_t i = 0; i < started; i++) {
        (void)pthread_join(turns[i].thread, NULL);
    }
    free(turns);
}

/* Returns 0, or EXIT_WRONG after one line. */
static int check_policy(const recording *all, uint32_t number)
{
    const recorded_policy *policy = recording_policy(all, number);
    const char *name = policy->name;
    if (!policy->is_known) {
        return log_wrong("%s: it lacks what policy %u (%s) began with: an older library wrote it",
                         all->path, (unsigned)number, name);
    }
    if (policy->was_used) {
        return log_wrong("%s: policy %u (%s) had chosen, or loaded a learned table, before the "
                         "trace began: begin the trace before",
                         all->path, (unsigned)number, name);
    }
    if (policy->changed) {
        return log_wrong("%s: resources were added to policy %u (%s) or removed from it: check "
                         "repeats policies whose set stays the same",
                         all->path, (unsigned)number, name);
    }
    if (policy->config_hash != DYNSEL_CONFIG_HASH) {
        return log_wrong("%s: the library that wrote it has another configuration (%08x, and here "
                         "%08x): build dynsel-replay with that one",
                         all->path, (unsigned)policy->config_hash, (unsigned)DYNSEL_CONFIG_HASH);
    }
    uint32_t known = 0;
    while (known < policy->count && policy->resources[known].is_known) {
        known++;
    }
    return known == 0 || known < policy->count || policy->count > CONFIG_DYNSEL_MAX_RESOURCES
               ? log_wrong("%s: the resources of policy %u (%s) are not all in it", all->path,
                           (unsigned)number, name)
               : 0;
}

/* Which policies are compared. */
static int prepare(checked *c, uint32_t wanted)
{
    const recording *all = c->all;
    uint32_t found = 0;
    c->policies = calloc(all->policy_count + 1u, sizeof *c->policies);
    c->selections = calloc((size_t)all->piece_count + 1, sizeof *c->selections);
    c->inputs = calloc(all->file.ring_count, sizeof *c->inputs);
    if (c->policies == NULL || c->selections == NULL || c->inputs == NULL) {
        return log_wrong("%s: there is not enough memory for it", all->path);
    }
    for (uint32_t i = 0; i < all->policy_count; i++) {
        repeated_policy *policy = &c->policies[i];
        policy->recorded = &all->policies[i];
        policy->number = i + 1;
        policy->is_wanted = (wanted == 0 || wanted == i + 1) &&
                            machine_kind_of(policy->recorded->name) != POLICY_KINDS;
        const int status = policy->is_wanted ? check_policy(all, i + 1) : 0;
        if (status != 0) {
            return status;
        }
        found += policy->is_wanted ? 1 : 0;
    }
    return found != 0 ? 0
                      : log_wrong("%s: no policy of the library chose anything in it%s", all->path,
                                  wanted != 0 ? " under this number" : "");
}

static void print_result(const checked *c)
{
    for (uint32_t i = 0; i < c->all->policy_count; i++) {
        const repeated_policy *policy = &c->policies[i];
        if (policy->is_wanted) {
            printf("policy %u, %s: %llu choices are %s, and %llu reports\n", (unsigned)i + 1,
                   policy->recorded->name, (unsigned long long)policy->choices,
                   c->status == 0 ? "the same" : "repeated", (unsigned long long)policy->reports);
        } else if (machine_kind_of(policy->recorded->name) == POLICY_KINDS) {
            printf("policy %u, %s: not of the library, left out\n", (unsigned)i + 1,
                   policy->recorded->name);
        }
    }
    if (c->all->thread_count > 1) {
        printf("%u threads used policies: choices and reports at the same time may have raced, and "
               "differ for that reason\n",
               (unsigned)c->all->thread_count);
    }
}

int check(const recording *all, uint32_t policy)
{
    checked c = {
        .all = all, .mutex = PTHREAD_MUTEX_INITIALIZER, .turn_changed = PTHREAD_COND_INITIALIZER};
    c.status = recording_require_all(all);
    if (c.status == 0) {
        c.status = prepare(&c, policy);
    }
    if (c.status == 0) {
        difference_begin();
        repeat_all(&c);
        if (c.status != EXIT_WRONG) {
            print_result(&c);
        }
    }
    for (uint32_t i = 0; c.policies != NULL && i < all->policy_count; i++) {
        end_policy(&c.policies[i]);
        free(c.policies[i].policy);
        free(c.policies[i].resources);
    }
    free(c.policies);
    free(c.selections);
    free(c.inputs);
    return c.status;
}
