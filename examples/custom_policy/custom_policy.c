/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy of one's own: each resource takes only so many pieces of work at a time, and the one
 * with the most free places is chosen. Where nothing is free, dynsel_try_submit() says
 * DYNSEL_E_AGAIN, and dynsel_submit() waits until a completion is reported.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The policy. */

typedef struct capacity_policy {
    dynsel_policy policy; /* must be first */
    struct {
        unsigned capacity;
        atomic_uint taken;
        atomic_uint given;   /* only for the table that main() prints */
        atomic_uint highest; /* likewise */
    } places[CONFIG_DYNSEL_MAX_RESOURCES];
} capacity_policy;

static capacity_policy *outer(dynsel_policy *policy)
{
    return (capacity_policy *)(void *)policy;
}

static unsigned free_places(capacity_policy *p, uint32_t index)
{
    const unsigned taken = atomic_load(&p->places[index].taken);
    return taken < p->places[index].capacity ? p->places[index].capacity - taken : 0;
}

/* Several threads may be here at once: a place is taken only if it is still free. */
static bool take_place(capacity_policy *p, uint32_t index)
{
    unsigned taken = atomic_load(&p->places[index].taken);
    while (taken < p->places[index].capacity) {
        if (atomic_compare_exchange_weak(&p->places[index].taken, &taken, taken + 1)) {
            return true;
        }
    }
    return false;
}

/* The index of the resource with the most free places, or the number of resources. */
static uint32_t roomiest(capacity_policy *p, const dynsel_task *task, bool *allowed)
{
    uint32_t best = p->policy.count;
    unsigned most = 0;
    for (uint32_t i = 0; i < p->policy.count; i++) {
        if (!dynsel_policy_may_use(&p->policy, i, task)) {
            continue;
        }
        *allowed = true;
        if (free_places(p, i) > most) {
            most = free_places(p, i);
            best = i;
        }
    }
    return best;
}

/*
 * Inside a submit (`claims`) the place is taken here, so that threads that submit together cannot
 * take the same one; and the submission is marked as reported. A bare dynsel_select() only looks.
 */
static dynsel_status try_select(dynsel_policy *policy, const dynsel_task *task,
                                dynsel_selection *selection)
{
    capacity_policy *p = outer(policy);
    for (;;) {
        bool allowed = false;
        const uint32_t index = roomiest(p, task, &allowed);
        if (!allowed) {
            return dynsel_policy_refuse(policy, task);
        }
        if (index == policy->count) {
            return DYNSEL_E_AGAIN;
        }
        selection->index = index;
        if (!selection->claims) {
            return DYNSEL_OK;
        }
        if (take_place(p, index)) {
            selection->reported |= DYNSEL_TASK_SUBMISSION;
            return DYNSEL_OK;
        }
    }
}

/* A submission is told only where it was not counted above: work of a bare selection. */
static void report(dynsel_policy *policy, const dynsel_selection *selection,
                   dynsel_execution_info info, uint64_t value)
{
    capacity_policy *p = outer(policy);
    (void)value;
    if (info == DYNSEL_TASK_SUBMISSION) {
        atomic_fetch_add(&p->places[selection->index].taken, 1);
    } else if (info == DYNSEL_TASK_COMPLETION || info == DYNSEL_TASK_WITHDRAWN) {
        atomic_fetch_sub(&p->places[selection->index].taken, 1);
    }
}

static const dynsel_policy_ops capacity_ops = {
    .name = "capacity",
    .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
    .try_select = try_select,
    .report = report,
};

static dynsel_status capacity_init(capacity_policy *p, const dynsel_options *options,
                                   const unsigned *capacities)
{
    const dynsel_status status = dynsel_policy_init(&p->policy, &capacity_ops, options);
    for (uint32_t i = 0; status == DYNSEL_OK && i < p->policy.count; i++) {
        p->places[i].capacity = capacities[i];
    }
    return status;
}

/* What it is used for. */

enum {
    MOST_WORKERS = 3,
    WORKERS =
        CONFIG_DYNSEL_THREADS_WORKERS < MOST_WORKERS ? CONFIG_DYNSEL_THREADS_WORKERS : MOST_WORKERS,
    TASKS = 300
};

static capacity_policy capacity; /* zeroed: not initialized yet */
static sem_t door;

static void note_highest(atomic_uint *highest, unsigned value)
{
    unsigned seen = atomic_load(highest);
    while (seen < value && !atomic_compare_exchange_weak(highest, &seen, value)) {
    }
}

static dynsel_status wait_at_door(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    while (sem_wait(&door) != 0) {
    }
    return DYNSEL_OK;
}

static dynsel_status work(const dynsel_resource *where, void *args, dynsel_event *done)
{
    size_t count = 0;
    const size_t index = (size_t)(where - dynsel_get_resources(&capacity.policy, &count));
    (void)args;
    (void)done;
    atomic_fetch_add(&capacity.places[index].given, 1);
    note_highest(&capacity.places[index].highest, atomic_load(&capacity.places[index].taken));
    return DYNSEL_OK;
}

/* Takes every place; returns how many there were. */
static unsigned fill(void)
{
    const dynsel_task task = DYNSEL_TASK(wait_at_door, NULL);
    unsigned accepted = 0;
    while (dynsel_try_submit(&capacity.policy, &task, NULL) == DYNSEL_OK) {
        accepted++;
    }
    return accepted;
}

static bool check(bool holds, const char *what)
{
    if (!holds) {
        char text[256];
        (void)dynsel_error_text(NULL, text, sizeof text);
        printf("WRONG: %s (last error: %s)\n", what, text);
    }
    return holds;
}

static bool show_full(unsigned expected)
{
    const dynsel_task task = DYNSEL_TASK(wait_at_door, NULL);
    const unsigned accepted = fill();
    const dynsel_status status = dynsel_try_submit(&capacity.policy, &task, NULL);
    printf("%u places, %u pieces of work accepted, the next is %s\n", expected, accepted,
           dynsel_status_name(status));
    for (unsigned i = 0; i < accepted; i++) {
        (void)sem_post(&door);
    }
    return check(accepted == expected, "as much work as there are places is accepted") &&
           check(status == DYNSEL_E_AGAIN, "nothing is free then");
}

/* More work than there are places: each submit waits for one. */
static bool show_waiting(void)
{
    const dynsel_task task = DYNSEL_TASK(work, NULL);
    bool good = true;
    for (unsigned i = 0; i < TASKS && good; i++) {
        good = check(dynsel_submit(&capacity.policy, &task, NULL) == DYNSEL_OK,
                     "submit waits for a place");
    }
    return check(dynsel_wait_group(dynsel_get_submission_group(&capacity.policy)) == DYNSEL_OK,
                 "all work succeeds") &&
           good;
}

static bool show_table(void)
{
    size_t count = 0;
    unsigned total = 0;
    bool good = true;
    const dynsel_resource *resources = dynsel_get_resources(&capacity.policy, &count);
    printf("%-10s %8s %8s %6s\n", "resource", "capacity", "at once", "tasks");
    for (size_t i = 0; i < count; i++) {
        const unsigned highest = atomic_load(&capacity.places[i].highest);
        const unsigned given = atomic_load(&capacity.places[i].given);
        printf("%-10s %8u %8u %6u\n", dynsel_resource_name(&resources[i]),
               capacity.places[i].capacity, highest, given);
        total += given;
        good = check(highest <= capacity.places[i].capacity, "no capacity is exceeded") && good;
        good =
            check(atomic_load(&capacity.places[i].taken) == 0, "all places are free again") && good;
    }
    return check(total == TASKS, "every task ran once") && good;
}

static bool start(unsigned *places)
{
    unsigned capacities[CONFIG_DYNSEL_MAX_RESOURCES] = {0};
    dynsel_resource workers[WORKERS];
    size_t count = 0;
    for (unsigned i = 0; i < WORKERS; i++) {
        capacities[i] = i + 1 < CONFIG_DYNSEL_THREADS_QUEUE ? i + 1 : CONFIG_DYNSEL_THREADS_QUEUE;
        *places += capacities[i];
    }
    return sem_init(&door, 0, 0) == 0 && dynsel_threads_start(WORKERS) == DYNSEL_OK &&
           dynsel_threads_resources(workers, WORKERS, &count) == DYNSEL_OK &&
           capacity_init(&capacity, &(dynsel_options){.resources = workers, .count = count},
                         capacities) == DYNSEL_OK;
}

/* A full disk is a failure, too. */
static int end(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fputs("custom_policy: standard output cannot be written\n", stderr);
        return 1;
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* --help, or a mistake */
        const bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
        (void)fputs("Usage: custom_policy\nFills the places of a policy of its own, and says how "
                    "much each resource took.\n",
                    help ? stdout : stderr);
        return help ? end(0) : 2;
    }
    unsigned places = 0;
    if (!check(start(&places), "the policy can be initialized")) {
        return 1;
    }
    bool good = show_full(places);
    good = show_waiting() && good;
    good = show_table() && good;
    good = check(dynsel_policy_deinit(&capacity.policy) == DYNSEL_OK &&
                     dynsel_threads_stop() == DYNSEL_OK,
                 "nothing is left over") &&
           good;
    return end(good ? 0 : 1);
}
