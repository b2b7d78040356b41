/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/queues.h"

#include <string.h>

manual_backend manual;
dynsel_fixed_resource_policy queues[QUEUES];

static dynsel_backend_ops ops;
static dynsel_status (*manual_start)(dynsel_backend *, dynsel_work *);
static atomic_uint turns;

/* A kernel has no event of its own: its queue gives it one. */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    const dynsel_status status = manual_start(backend, work);
    if (status == DYNSEL_OK && work->done.native == NULL) {
        work->done.native = manual_event_new(&manual, work->where);
    }
    return status;
}

void queues_begin(bool in_order)
{
    manual_backend_reset(&manual, true);
    manual_start = manual.backend.ops->start;
    ops = *manual.backend.ops;
    ops.start = start;
    ops.in_order = in_order;
    manual.backend.ops = &ops;
    atomic_store(&turns, 0);
    for (unsigned i = 0; i < QUEUES; i++) {
        const dynsel_resource where = manual_resource(&manual, i);
        const dynsel_options options = {.resources = &where, .count = 1};
        memset(&queues[i], 0, sizeof queues[i]);
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&queues[i], &options, 0));
    }
}

void queues_wait(void)
{
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&queues[i].policy)));
    }
}

void queues_end(void)
{
    for (unsigned i = 0; i < QUEUES; i++) {
        assert_true(dynsel_invariants_hold(&queues[i].policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&queues[i].policy));
    }
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    manual_assert_clean(&manual);
}

dynsel_buffer new_number(uint32_t *number)
{
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, number, sizeof *number, DYNSEL_RANGE(1)));
    return buffer;
}

uint32_t worked_in(uint32_t before, uint32_t number)
{
    return before * 3 + number;
}

static bool discards(dynsel_access_mode mode)
{
    return mode == DYNSEL_ACCESS_DISCARD_WRITE || mode == DYNSEL_ACCESS_DISCARD_READ_WRITE;
}

static void touch(job *what, uint32_t *number, unsigned i)
{
    if (i == 0) {
        what->seen = *number;
    }
    if (what->modes[i] != DYNSEL_ACCESS_READ) {
        *number = worked_in(discards(what->modes[i]) ? 0 : *number, what->number);
    }
}

static dynsel_status run(const dynsel_launch *launch)
{
    job *const what = *(job *const *)launch->arguments[0].value;
    for (unsigned i = 0; i < JOB_BUFFERS && what->buffers[i].token != 0; i++) {
        touch(what, dynsel_launch_data(launch, i + 1), i);
    }
    what->turn = atomic_fetch_add(&turns, 1) + 1;
    atomic_fetch_add(&what->runs, 1);
    const dynsel_status status = what->does != NULL ? what->does(what) : DYNSEL_OK;
    what->event = atomic_load(&manual.event_count); /* that which it will get */
    return status != DYNSEL_OK ? status : what->returns;
}

dynsel_status group_of(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "job", .function = run};
    job *what = args;
    (void)dynsel_set_arg_value(handler, 0, &what, sizeof what);
    for (unsigned i = 0; i < JOB_BUFFERS && what->buffers[i].token != 0; i++) {
        dynsel_accessor accessor = {.name = NULL};
        (void)dynsel_get_access(handler, what->buffers[i], what->modes[i], DYNSEL_MEMORY_GLOBAL,
                                &accessor);
        (void)dynsel_set_arg_accessor(handler, i + 1, &accessor);
    }
#if CONFIG_DYNSEL_TIME_LIMITS
    (void)dynsel_set_time_limit(handler, what->limit_ns);
#endif
    (void)dynsel_single_task(handler, &kernel);
    return what->groups != NULL ? what->groups(what) : DYNSEL_OK;
}

void send(unsigned queue, job *what, dynsel_submission *submission)
{
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(&queues[queue].policy, group_of, what, submission));
}

void complete(const job *what)
{
    manual_complete(&manual, what->event);
}

void break_off(const job *what)
{
    manual_fail(&manual, what->event);
}
