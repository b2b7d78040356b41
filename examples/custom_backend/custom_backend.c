/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend of one's own, for a made-up accelerator that squares numbers: it works through jobs in
 * order, in a thread of its own, which tells the library when a job has ended. The same shape fits
 * a DMA engine whose interrupt calls dynsel_complete().
 *
 * The program knows its accelerators as `port`s; the backend has a `device` for each. The policy's
 * `adapt` leads from one to the other, and task functions still get the port.
 *
 * A build that has the device target `unknown` takes such a device as it is. For a product without
 * it, give the backend a `describe` and boards/targets.yaml an entry (doc/backends.md).
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES = 2, NUMBERS = 64, JOBS = CONFIG_DYNSEL_MAX_IN_FLIGHT };

/* What the program has in its hands. */
typedef struct port {
    const char *name;
    unsigned rounds; /* how slow it is */
    unsigned jobs;   /* that task functions gave it */
} port;

typedef struct device device;

/*
 * The scratch space of one piece of work. Work that is in flight has a slot in the library's table,
 * so as many as that has slots are enough, and the device needs no queue of its own.
 */
typedef struct job {
    dynsel_work *work;
    device *on;
    const uint32_t *in;
    uint32_t *out;
    size_t count;
    atomic_bool taken;
    struct job *next; /* to be done after this one */
} job;

struct device {
    port *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    job *oldest;
    job *newest;
    bool ends;
};

static device devices[DEVICES];
static port ports[DEVICES] = {{.name = "square-1", .rounds = 1}, {.name = "square-4", .rounds = 4}};
static job jobs[JOBS];

/* The device: a thread that stands in for the hardware. */

static job *next_job(device *d)
{
    (void)pthread_mutex_lock(&d->lock);
    while (d->oldest == NULL && !d->ends) {
        (void)pthread_cond_wait(&d->changed, &d->lock);
    }
    job *j = d->oldest;
    if (j != NULL) {
        d->oldest = j->next;
    }
    (void)pthread_mutex_unlock(&d->lock);
    return j;
}

static void square(const job *j, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < j->count; i++) {
            j->out[i] = j->in[i] * j->in[i];
        }
    }
}

/* The work may be gone as soon as it is marked: the token is read before. */
static void run(job *j)
{
    dynsel_work *work = j->work;
    const uint32_t token = work->token;
    const bool timed = (work->wants & DYNSEL_TASK_TIME) != 0;
    if (timed) {
        work->ready_ns = dynsel_now_ns();
        work->began = true;
    }
    square(j, j->on->user->rounds);
    (void)dynsel_complete(token, DYNSEL_OK, timed ? dynsel_now_ns() : 0);
}

static void *live(void *argument)
{
    device *d = argument;
    for (job *j = next_job(d); j != NULL; j = next_job(d)) {
        run(j);
    }
    return NULL;
}

static void enqueue(job *j)
{
    device *d = j->on;
    j->next = NULL;
    (void)pthread_mutex_lock(&d->lock);
    if (d->oldest == NULL) {
        d->oldest = j;
    } else {
        d->newest->next = j;
    }
    d->newest = j;
    (void)pthread_cond_signal(&d->changed);
    (void)pthread_mutex_unlock(&d->lock);
}

/* The backend. */

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    for (unsigned i = 0; i < DEVICES; i++) {
        if (handle == &ports[i]) {
            return ports[i].name;
        }
    }
    return NULL;
}

/* A job that is free; there always is one. */
static job *take_job(void)
{
    for (unsigned i = 0;; i = (i + 1) % JOBS) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&jobs[i].taken, &expected, true)) {
            return &jobs[i];
        }
    }
}

/*
 * The task function describes the job; it goes to the device afterwards. A function that left none
 * has done all it wanted: its work is complete, and that is told like any other end.
 */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    job *j = work->done.native;
    if (j == NULL) {
        return dynsel_complete(work->token, DYNSEL_OK, 0);
    }
    j->work = work;
    j->on = work->own;
    enqueue(j);
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    job *j = work->done.native;
    (void)backend;
    atomic_store(&j->taken, false);
}

static const dynsel_backend_ops square_ops = {
    .name = "square",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .outlives_submit = true,
    .marks_completion = true, /* so neither poll nor wait is needed */
    .resource_name = resource_name,
    .start = start,
    .release = release,
};

static dynsel_backend square_backend = {&square_ops};

/* For dynsel_options: the user's handle in, the backend's own out. */
static void *device_of(void *handle)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        if (handle == &ports[i]) {
            return &devices[i];
        }
    }
    return NULL;
}

/* For task functions, as the entry point of a driver would be. */
static dynsel_status square_numbers(port *where, const uint32_t *in, uint32_t *out, size_t count,
                                    dynsel_event *done)
{
    if (count == 0) {
        return dynsel_fail(&(dynsel_error){
            .status = DYNSEL_E_TASK, .function = "square_numbers", .subject = where->name});
    }
    job *j = take_job();
    j->in = in;
    j->out = out;
    j->count = count;
    where->jobs++;
    done->native = j;
    return DYNSEL_OK;
}

static bool power_up(void)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        devices[i].user = &ports[i];
        if (pthread_mutex_init(&devices[i].lock, NULL) != 0 ||
            pthread_cond_init(&devices[i].changed, NULL) != 0 ||
            pthread_create(&devices[i].thread, NULL, live, &devices[i]) != 0) {
            return false;
        }
    }
    return true;
}

static void power_down(void)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        (void)pthread_mutex_lock(&devices[i].lock);
        devices[i].ends = true;
        (void)pthread_cond_signal(&devices[i].changed);
        (void)pthread_mutex_unlock(&devices[i].lock);
        (void)pthread_join(devices[i].thread, NULL);
    }
}

/* A program that uses it. */

enum { TASKS = 400 };

typedef struct numbers {
    uint32_t in[NUMBERS];
    uint32_t out[NUMBERS];
    size_t count;
} numbers;

static numbers packs[TASKS];

static dynsel_status square_them(const dynsel_resource *where, void *args, dynsel_event *done)
{
    numbers *n = args;
    return square_numbers(where->handle, n->in, n->out, n->count, done);
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

static void prepare(void)
{
    for (unsigned i = 0; i < DEVICES; i++) {
        ports[i].jobs = 0;
    }
    for (uint32_t t = 0; t < TASKS; t++) {
        packs[t].count = NUMBERS;
        for (uint32_t i = 0; i < NUMBERS; i++) {
            packs[t].in[i] = t * NUMBERS + i;
            packs[t].out[i] = 0;
        }
    }
}

static bool results_are_right(void)
{
    for (uint32_t t = 0; t < TASKS; t++) {
        for (uint32_t i = 0; i < NUMBERS; i++) {
            if (packs[t].out[i] != (t * NUMBERS + i) * (t * NUMBERS + i)) {
                return false;
            }
        }
    }
    return true;
}

/* What the function itself returned is what the wait returns, on this backend as on any other. */
static bool show_failure(dynsel_policy *policy)
{
    numbers none = {.count = 0};
    return check(dynsel_submit_and_wait(policy, &DYNSEL_TASK(square_them, &none)) == DYNSEL_E_TASK,
                 "a task without numbers fails");
}

static bool use(dynsel_policy *policy)
{
    bool good = true;
    prepare();
    for (unsigned t = 0; t < TASKS; t++) {
        const dynsel_task task = DYNSEL_TASK(square_them, &packs[t]);
        good = check(dynsel_submit(policy, &task, NULL) == DYNSEL_OK, "submit") && good;
    }
    good = check(dynsel_wait_group(dynsel_get_submission_group(policy)) == DYNSEL_OK,
                 "all work succeeds") &&
           good;
    good = check(results_are_right(), "every number is squared") && good;
    good = check(ports[0].jobs + ports[1].jobs == TASKS, "every task ran once") && good;
    printf("%-14s %8u %8u\n", policy->ops->name, ports[0].jobs, ports[1].jobs);
    good = show_failure(policy) && good;
    return check(dynsel_policy_deinit(policy) == DYNSEL_OK, "nothing is left over") && good;
}

static const dynsel_resource resources[DEVICES] = {{&square_backend, &ports[0]},
                                                   {&square_backend, &ports[1]}};
static const dynsel_options options = {
    .resources = resources, .count = DEVICES, .adapt = device_of};

static bool use_dynamic_load(void)
{
    static dynsel_dynamic_load_policy policy;
    return check(dynsel_dynamic_load_init(&policy, &options) == DYNSEL_OK, "dynamic_load") &&
           use(&policy.policy);
}

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static bool use_auto_tune(void)
{
    static dynsel_auto_tune_policy policy;
    return check(dynsel_auto_tune_init(&policy, &options, DYNSEL_NEVER_RESAMPLE) == DYNSEL_OK,
                 "auto_tune") &&
           use(&policy.policy);
}
#endif

/* A full disk is a failure, too. */
static int end(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fputs("custom_backend: standard output cannot be written\n", stderr);
        return 1;
    }
    return status;
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* --help, or a mistake */
        const bool help = argc == 2 && strcmp(argv[1], "--help") == 0;
        (void)fputs("Usage: custom_backend\nRuns tasks on two made-up accelerators through a "
                    "backend of its own, and says where.\n",
                    help ? stdout : stderr);
        return help ? end(0) : 2;
    }
    if (!check(power_up(), "the devices start")) {
        return 1;
    }
    printf("%-14s %8s %8s\n", "tasks by", dynsel_resource_name(&resources[0]),
           dynsel_resource_name(&resources[1]));
    bool good = use_dynamic_load();
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    good = use_auto_tune() && good;
#endif
    power_down();
    return end(good ? 0 : 1);
}
