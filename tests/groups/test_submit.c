/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting command groups: all forms, full tables, inside of other functions, and what policies
 * see and hear of them. */
#include <string.h>

#include <dynsel/memory.h>

#include "groups/queues.h"
#include "support/do_nothing.h"

enum {
    NS_PER_MS = 1000000,
    SLOTS = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    READERS = CONFIG_DYNSEL_MAX_READERS,
    DEPENDENCIES = CONFIG_DYNSEL_MAX_DEPENDENCIES
};

static uint32_t numbers[JOB_BUFFERS];
static dynsel_buffer buffers[JOB_BUFFERS];

static int set_up(void **state)
{
    (void)state;
    queues_begin(false);
    for (uint32_t i = 0; i < JOB_BUFFERS; i++) {
        numbers[i] = 7 + i;
        buffers[i] = new_number(&numbers[i]);
    }
    return 0;
}

static void end_all_work(void)
{
    queues_wait();
}

static void end_with(dynsel_status of_first)
{
    end_all_work();
    for (unsigned i = 0; i < JOB_BUFFERS; i++) {
        assert_status(i == 0 ? of_first : DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    queues_end();
}

static void end(void)
{
    end_with(DYNSEL_OK);
}

static dynsel_status submit(unsigned queue, job *what)
{
    return dynsel_submit_command_group(&queues[queue].policy, group_of, what, NULL);
}

static dynsel_status try_to_submit(unsigned queue, job *what)
{
    return dynsel_try_submit_command_group(&queues[queue].policy, group_of, what, NULL);
}

static unsigned slots_in_use(void)
{
    return dynsel_get_in_flight_statistics().in_use;
}

static void each_submit_form_submits(void **state)
{
    (void)state;
    job jobs[] = {CHANGES(1, buffers[0]), CHANGES(2, buffers[0]), CHANGES(3, buffers[0]),
                  CHANGES(4, buffers[0]), CHANGES(5, buffers[0])};
    dynsel_policy *policy = &queues[0].policy;
    dynsel_submission submissions[3];
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group(policy, group_of, &jobs[0], &submissions[0]));
    assert_status(DYNSEL_OK,
                  dynsel_try_submit_command_group(policy, group_of, &jobs[1], &submissions[1]));
    assert_status(DYNSEL_OK, dynsel_submit_command_group_for(policy, group_of, &jobs[2],
                                                             &submissions[2], NS_PER_MS));
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(policy, group_of, &jobs[3]));
    jobs[4].returns = DYNSEL_E_USER;
    assert_status(DYNSEL_E_USER, dynsel_submit_command_group_and_wait(policy, group_of, &jobs[4]));
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(policy, dynsel_submission_policy(&submissions[i]));
        assert_ptr_equal(&manual.queues[0], dynsel_submission_resource(&submissions[i])->handle);
        assert_int_equal(DYNSEL_REASON_FIXED, dynsel_submission_reason(&submissions[i]));
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
        assert_status(DYNSEL_E_STALE, dynsel_wait(&submissions[i]));
    }
    for (unsigned i = 0; i < 5; i++) {
        assert_runs(1, &jobs[i]);
        assert_int_equal(i + 1, jobs[i].turn);
    }
    assert_int_equal(0, slots_in_use());
    end_with(DYNSEL_E_DEPENDENCY);
}

/* What comes out of a handle of work that waits. */
static void handle_of_pending_work_has_resource_and_no_event(void **state)
{
    (void)state;
    job first = CHANGES(1, buffers[0]);
    job second = CHANGES(2, buffers[0]);
    dynsel_submission submission;
    dynsel_event event = {.value = 3};
    atomic_store(&manual.wait_completes, false);
    assert_status(DYNSEL_OK, submit(0, &first));
    send(1, &second, &submission);
    assert_ptr_equal(&manual.queues[1], dynsel_submission_resource(&submission)->handle);
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &event));
    assert_null(event.native);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, NS_PER_MS));
    assert_runs(0, &second);
    complete(&first);
    dynsel_progress();
    assert_status(DYNSEL_OK, dynsel_submission_unwrap(&submission, &event));
    assert_ptr_equal(&manual.events[second.event], event.native);
    assert_status(DYNSEL_E_TIMEOUT, dynsel_wait_for(&submission, 0));
    complete(&second);
    assert_status(DYNSEL_OK, dynsel_wait_for(&submission, 0));
    end();
}

static void wrong_submit_calls_are_refused(void **state)
{
    (void)state;
    job what = CHANGES(1, buffers[0]);
    dynsel_policy zero = {.ops = NULL};
    assert_status(DYNSEL_E_INVALID, dynsel_submit_command_group(NULL, group_of, &what, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED,
                  dynsel_try_submit_command_group(&zero, group_of, &what, NULL));
    assert_error_says("dynsel_try_submit_command_group");
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_command_group_and_wait(&queues[0].policy, NULL, &what));
    assert_error_says("the group function is NULL");
    assert_int_equal(0, slots_in_use());
    assert_runs(0, &what);
    end();
}

static dynsel_status never(dynsel_policy *policy, const dynsel_task *task,
                           dynsel_submission *submission)
{
    (void)policy;
    (void)task;
    (void)submission;
    return DYNSEL_E_UNSUPPORTED;
}

static void policy_without_select_is_unsupported(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "never", .submit = never};
    static dynsel_policy policy;
    const dynsel_resource where = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &where, .count = 1};
    job what = CHANGES(1, buffers[0]);
    assert_status(DYNSEL_OK, dynsel_policy_init(&policy, &ops, &options));
    assert_status(DYNSEL_E_UNSUPPORTED,
                  dynsel_submit_command_group(&policy, group_of, &what, NULL));
    assert_error_says("try_select");
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy));
    end();
}

static dynsel_status give_up(job *what)
{
    (void)what;
    return DYNSEL_E_USER - 1;
}

static void group_function_failure_cancels_submit(void **state)
{
    (void)state;
    job what = CHANGES(1, buffers[0]);
    what.groups = give_up;
    assert_status(DYNSEL_E_USER - 1, submit(0, &what));
    assert_int_equal(0, slots_in_use());
    assert_runs(0, &what);
    end();
}

static bool replaces; /* makes another buffer in the same place */

/* While the policy chooses, as another thread might. */
static dynsel_status end_second_buffer(dynsel_policy *policy, const dynsel_task *task,
                                       dynsel_selection *selection)
{
    dynsel_buffer old = buffers[1];
    (void)policy;
    (void)task;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&old));
    if (replaces) {
        buffers[1] = new_number(&numbers[1]);
    }
    selection->index = 0;
    return DYNSEL_OK;
}

/* After it was required, before the command group has its place in the order. */
static void buffer_ended_before_ordering_is_stale(void **state)
{
    (void)state;
    static const dynsel_policy_ops ops = {.name = "ending", .try_select = end_second_buffer};
    const dynsel_resource where = manual_resource(&manual, 0);
    const dynsel_options options = {.resources = &where, .count = 1};
    dynsel_policy ending = {.ops = NULL};
    assert_status(DYNSEL_OK, dynsel_policy_init(&ending, &ops, &options));
    for (unsigned i = 0; i < 2; i++) {
        job what = COPIES(1, buffers[0], buffers[1]);
        replaces = i == 0;
        assert_status(DYNSEL_E_STALE,
                      dynsel_submit_command_group_and_wait(&ending, group_of, &what));
        assert_error_says("dynsel_submit_command_group");
        assert_int_equal(0, slots_in_use());
        assert_runs(0, &what);
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&ending));
    buffers[1] = new_number(&numbers[1]);
    job next = CHANGES(2, buffers[0]); /* the first buffer knows nothing of it */
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&queues[0].policy, group_of, &next));
    end();
}

/* Forms. */

static dynsel_domain only_domain(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    return (dynsel_domain){.number = 1};
}

static bool has_no_form(const dynsel_kernel *kernel)
{
    (void)kernel;
    return false;
}

static dynsel_status refuse_to_start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_E_DEVICE;
}

static const dynsel_memory_ops other_memory = {.domain = only_domain, .has_form = has_no_form};
static const dynsel_backend_ops other_ops = {
    .name = "other", .start = refuse_to_start, .memory = &other_memory};
static dynsel_backend other = {.ops = &other_ops};

static dynsel_status group_of_host_task(dynsel_handler *handler, void *args)
{
    (void)args;
    return dynsel_host_task(handler, launch_nothing);
}

static dynsel_status group_of_device_kernel(dynsel_handler *handler, void *args)
{
    static const dynsel_kernel kernel = {.name = "x", .source = "kernel void x(void) {}"};
    (void)args;
    return dynsel_single_task(handler, &kernel);
}

static void resources_without_kernel_form_are_excluded(void **state)
{
    (void)state;
    const dynsel_resource resources[] = {{.backend = &other}, manual_resource(&manual, 0)};
    const dynsel_options both = {.resources = resources, .count = 2};
    const dynsel_options one = {.resources = resources, .count = 1};
    dynsel_round_robin_policy policy = {.policy = {.ops = NULL}};
    dynsel_round_robin_policy device = {.policy = {.ops = NULL}};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &both, 0));
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&device, &one, 0));
    for (unsigned i = 0; i < 3; i++) {
        job what = CHANGES(1, buffers[0]);
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&policy.policy, group_of, &what));
        assert_runs(1, &what);
        assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy,
                                                                      group_of_host_task, NULL));
    }
    assert_status(DYNSEL_E_UNSUPPORTED,
                  dynsel_submit_command_group(&policy.policy, group_of_device_kernel, NULL, NULL));
    assert_status(DYNSEL_E_UNSUPPORTED,
                  dynsel_submit_command_group(&device.policy, group_of_host_task, NULL, NULL));
    assert_int_equal(0, slots_in_use());
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&device.policy));
    end();
}

/* Full tables. */

static void too_many_readers_of_one_buffer_are_refused(void **state)
{
    (void)state;
    job reads[READERS + 2];
    job writes = CHANGES(99, buffers[0]);
    for (unsigned i = 0; i < READERS + 2; i++) {
        reads[i] = (job)READS(i + 1, buffers[0]);
    }
    for (unsigned i = 0; i < READERS; i++) {
        assert_status(DYNSEL_OK, submit(i % QUEUES, &reads[i]));
    }
    assert_status(DYNSEL_E_FULL, try_to_submit(0, &reads[READERS]));
    assert_error_says("CONFIG_DYNSEL_MAX_READERS");
    assert_int_equal(READERS, slots_in_use());
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_command_group_for(&queues[0].policy, group_of,
                                                                    &reads[READERS], NULL, 0));
    assert_error_says("CONFIG_DYNSEL_MAX_READERS");
    atomic_store(&manual.wait_completes, false);
    assert_status(DYNSEL_E_TIMEOUT,
                  dynsel_submit_command_group_for(&queues[0].policy, group_of, &reads[READERS],
                                                  NULL, NS_PER_MS));
    atomic_store(&manual.wait_completes, true);
    assert_int_equal(READERS, slots_in_use());
    assert_runs(0, &reads[READERS]);
    assert_status(DYNSEL_OK, submit(0, &reads[READERS])); /* waits for the first */
    assert_runs(1, &reads[READERS]);
    complete(&reads[1]);
    dynsel_progress();
    assert_status(DYNSEL_OK, try_to_submit(0, &reads[READERS + 1]));
    assert_status(DYNSEL_OK, submit(1, &writes));
    assert_runs(0, &writes);
    end();
}

static void too_many_dependencies_are_refused(void **state)
{
    (void)state;
    enum { ALL = DEPENDENCIES + 1 };
    if (JOB_BUFFERS * READERS < ALL || SLOTS < ALL + 2) {
        skip();
    }
    static job reads[ALL];
    for (unsigned i = 0; i < ALL; i++) {
        memset(&reads[i], 0, sizeof reads[i]);
        reads[i].number = i + 1;
        reads[i].buffers[0] = buffers[i % JOB_BUFFERS];
        reads[i].modes[0] = DYNSEL_ACCESS_READ;
        assert_status(DYNSEL_OK, submit(i % QUEUES, &reads[i]));
    }
    job all = {.number = 99};
    memcpy(all.buffers, buffers, sizeof buffers);
    assert_status(DYNSEL_E_FULL, try_to_submit(0, &all));
    assert_error_says("CONFIG_DYNSEL_MAX_DEPENDENCIES");
    assert_int_equal(ALL, slots_in_use());
    /* no buffer has been told of it */
    job more = READS(98, buffers[ALL % JOB_BUFFERS]);
    assert_status(DYNSEL_OK, submit(0, &more));
    assert_runs(1, &more);
    assert_status(DYNSEL_OK, submit(1, &all));
    assert_runs(0, &all);
    end();
    assert_int_equal(worked_in(7, 99), numbers[0]);
}

/* Readers of several buffers at once are as many dependencies as they are themselves; and those
 * that a writer stands behind leave their places to others. */
static void readers_behind_writer_free_their_entries(void **state)
{
    (void)state;
    enum { AT_ONCE = (int)READERS < (int)DEPENDENCIES ? (int)READERS : (int)DEPENDENCIES };
    if (SLOTS < AT_ONCE + READERS + 1) {
        skip();
    }
    static job before[READERS];
    static job behind[READERS];
    memset(before, 0, sizeof before);
    memset(behind, 0, sizeof behind);
    job writes = {.number = 99};
    memcpy(writes.buffers, buffers, sizeof buffers);
    for (unsigned i = 0; i < AT_ONCE; i++) {
        before[i].number = i + 1;
        memcpy(before[i].buffers, buffers, sizeof buffers);
        for (unsigned n = 0; n < JOB_BUFFERS; n++) {
            before[i].modes[n] = DYNSEL_ACCESS_READ;
        }
        assert_status(DYNSEL_OK, submit(i % QUEUES, &before[i]));
    }
    assert_status(DYNSEL_OK, try_to_submit(0, &writes));
    for (unsigned i = 0; i < READERS; i++) {
        behind[i].number = i + 1;
        behind[i].buffers[0] = buffers[0];
        behind[i].modes[0] = DYNSEL_ACCESS_READ;
        assert_status(DYNSEL_OK, try_to_submit(i % QUEUES, &behind[i]));
    }
    end();
}

static job crowd[SLOTS + 1];

static void fill_slots(unsigned count)
{
    memset(crowd, 0, sizeof crowd);
    for (unsigned i = 0; i <= SLOTS; i++) {
        crowd[i].number = i + 1;
        crowd[i].buffers[0] = buffers[0];
        if (i < count) {
            assert_status(DYNSEL_OK, submit(i % QUEUES, &crowd[i]));
        }
    }
    assert_int_equal(SLOTS, slots_in_use());
}

static void pending_work_can_fill_all_slots(void **state)
{
    (void)state;
    fill_slots(SLOTS);
    assert_status(DYNSEL_E_FULL, try_to_submit(0, &crowd[SLOTS]));
    assert_error_says("CONFIG_DYNSEL_MAX_IN_FLIGHT");
    assert_status(DYNSEL_E_TIMEOUT, dynsel_submit_command_group_for(&queues[0].policy, group_of,
                                                                    &crowd[SLOTS], NULL, 0));
    assert_runs(1, &crowd[0]);
    assert_runs(0, &crowd[1]);
    complete(&crowd[0]);
    assert_status(DYNSEL_OK, submit(0, &crowd[SLOTS])); /* takes the first one off */
    assert_int_equal(SLOTS, slots_in_use());
    dynsel_progress();
    assert_runs(1, &crowd[1]);
    end();
}

/* All of it waits for what this thread has open. */
static void submit_that_waits_for_own_host_accessor_is_refused(void **state)
{
    (void)state;
    dynsel_host_accessor mine = {.data = NULL};
    job reads = READS(1, buffers[1]);
    dynsel_host_accessor seen = {.data = NULL};
    assert_status(DYNSEL_OK,
                  dynsel_host_accessor_open(&mine, buffers[0], DYNSEL_ACCESS_READ_WRITE));
    fill_slots(SLOTS - 1);
    assert_status(DYNSEL_E_FULL, submit(0, &reads));
    assert_error_says("CONFIG_DYNSEL_MAX_IN_FLIGHT");
    assert_status(DYNSEL_E_FULL, dynsel_host_accessor_open(&seen, buffers[1], DYNSEL_ACCESS_READ));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&mine));
    assert_runs(0, &crowd[0]);
    assert_status(DYNSEL_OK, submit(0, &reads));
    end();
}

/* Inside of other functions. */

static job *inner;

static dynsel_status submit_inner(job *what)
{
    (void)what;
    return submit(1, inner);
}

/* It has its place in the order before that in whose group function it is submitted. */
static void group_function_may_submit(void **state)
{
    (void)state;
    job outer = CHANGES(1, buffers[0]);
    job nested = CHANGES(2, buffers[0]);
    outer.groups = submit_inner;
    inner = &nested;
    assert_status(DYNSEL_OK, submit(0, &outer));
    assert_runs(1, &nested);
    assert_runs(0, &outer);
    end();
    assert_int_equal(worked_in(worked_in(7, 2), 1), numbers[0]);
}

static unsigned depth;

static dynsel_status submit_itself(job *what)
{
    depth++;
    return submit(0, what);
}

/* Each of them has a slot: at last there is none, and nobody to wait for. */
static void too_deep_nested_submits_are_refused(void **state)
{
    (void)state;
    job what = CHANGES(1, buffers[0]);
    what.groups = submit_itself;
    depth = 0;
    assert_status(DYNSEL_E_FULL, submit(0, &what));
    assert_error_says("CONFIG_DYNSEL_MAX_IN_FLIGHT");
    assert_int_equal(SLOTS, depth);
    assert_int_equal(0, slots_in_use());
    end();
}

static dynsel_status wait_in_task(job *what)
{
    return what->number == 1
               ? dynsel_submit_command_group_and_wait(&queues[1].policy, group_of, inner)
               : DYNSEL_OK;
}

static void task_function_may_submit_ready_or_pending_work(void **state)
{
    (void)state;
    job outer[] = {CHANGES(1, buffers[0]), CHANGES(1, buffers[0])};
    job ready = CHANGES(2, buffers[1]);
    job behind = CHANGES(3, buffers[0]);
    outer[0].does = submit_inner;
    inner = &ready;
    assert_status(DYNSEL_OK, submit(0, &outer[0]));
    assert_runs(1, &ready);
    assert_true(outer[0].turn < ready.turn); /* in between, to be exact */
    outer[1].does = submit_inner;
    inner = &behind;
    complete(&outer[0]);
    dynsel_progress();
    assert_status(DYNSEL_OK, submit(0, &outer[1]));
    assert_runs(1, &outer[1]);
    assert_runs(0, &behind);
    complete(&outer[1]);
    dynsel_progress();
    assert_runs(1, &behind);
    end();
}

static void submit_and_wait_in_task_function_is_refused(void **state)
{
    (void)state;
    job outer = CHANGES(1, buffers[0]);
    job never_run = CHANGES(2, buffers[1]);
    outer.does = wait_in_task;
    inner = &never_run;
    assert_status(DYNSEL_E_IN_TASK,
                  dynsel_submit_command_group_and_wait(&queues[0].policy, group_of, &outer));
    assert_runs(0, &never_run);
    end_with(DYNSEL_E_DEPENDENCY);
}

static dynsel_status find_all_full(job *what)
{
    (void)what;
    assert_status(DYNSEL_E_FULL, submit(1, inner));
    return DYNSEL_OK;
}

static void submit_in_task_function_does_not_wait_for_room(void **state)
{
    (void)state;
    job last = CHANGES(99, buffers[1]);
    job never_run = CHANGES(98, buffers[2]);
    last.does = find_all_full;
    inner = &never_run;
    memset(crowd, 0, sizeof crowd);
    for (unsigned i = 0; i + 1 < SLOTS; i++) {
        crowd[i].number = i + 1;
        crowd[i].buffers[0] = buffers[0];
        assert_status(DYNSEL_OK, submit(0, &crowd[i]));
    }
    assert_status(DYNSEL_OK, submit(1, &last));
    assert_runs(1, &last);
    assert_runs(0, &never_run);
    end();
}

static dynsel_fixed_resource_policy inline_policy;

static dynsel_status submit_inline(job *what)
{
    return atomic_load(&what->runs) < 5
               ? dynsel_submit_command_group(&inline_policy.policy, group_of, what, NULL)
               : DYNSEL_OK;
}

/* Progress comes to an end, although each that it starts submits one more. */
static void progress_call_ends_when_work_submits_more(void **state)
{
    (void)state;
    const dynsel_resource where = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &where, .count = 1};
    memset(&inline_policy, 0, sizeof inline_policy);
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&inline_policy, &options, 0));
    job again = CHANGES(1, buffers[0]);
    again.does = submit_inline;
    assert_status(DYNSEL_OK, submit_inline(&again));
    for (unsigned i = 1; i < 5; i++) {
        assert_runs(i, &again);
        dynsel_progress();
    }
    assert_runs(5, &again);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&inline_policy.policy));
    end();
}

/* What policies see and hear. */

typedef struct hearing {
    unsigned submissions, completions, withdrawals;
    uint32_t id;
    uint32_t key_words;
    size_t requirements;
    dynsel_access_mode modes[JOB_BUFFERS];
    dynsel_buffer buffers[JOB_BUFFERS];
    uint64_t bytes_to_move;
} hearing;

static dynsel_policy listener;
static hearing heard;

static dynsel_status listen_and_choose(dynsel_policy *policy, const dynsel_task *task,
                                       dynsel_selection *selection)
{
    heard.id = task->id;
    heard.key_words = task->key_word_count != 0 ? task->key_words[0] : 0;
    heard.requirements = task->requirement_count;
    for (size_t i = 0; i < task->requirement_count; i++) {
        heard.modes[i] = (dynsel_access_mode)task->requirements[i].accessor->mode;
        heard.buffers[i] = task->requirements[i].buffer;
    }
    heard.bytes_to_move = dynsel_bytes_to_move(&policy->resources[0], task);
    for (uint32_t i = 0; i < policy->count; i++) {
        if (dynsel_policy_may_use(policy, i, task)) {
            selection->index = i;
            return DYNSEL_OK;
        }
    }
    return dynsel_policy_refuse(policy, task);
}

static void hear(dynsel_policy *policy, const dynsel_selection *selection,
                 dynsel_execution_info info, uint64_t value)
{
    (void)policy;
    (void)selection;
    (void)value;
    heard.submissions += info == DYNSEL_TASK_SUBMISSION ? 1 : 0;
    heard.completions += info == DYNSEL_TASK_COMPLETION ? 1 : 0;
    heard.withdrawals += info == DYNSEL_TASK_WITHDRAWN ? 1 : 0;
}

static void begin_listening(void)
{
    static const dynsel_policy_ops ops = {.name = "listener",
                                          .needs = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                          .try_select = listen_and_choose,
                                          .report = hear};
    const dynsel_resource resources[] = {manual_resource(&manual, 2), manual_resource(&manual, 3)};
    const dynsel_options options = {.resources = resources, .count = 2};
    memset(&heard, 0, sizeof heard);
    memset(&listener, 0, sizeof listener);
    assert_status(DYNSEL_OK, dynsel_policy_init(&listener, &ops, &options));
}

#define assert_heard(submissions_, completions_, withdrawals_)                                     \
    do {                                                                                           \
        assert_int_equal((submissions_), heard.submissions);                                       \
        assert_int_equal((completions_), heard.completions);                                       \
        assert_int_equal((withdrawals_), heard.withdrawals);                                       \
    } while (0)

static void command_group_reports_submit_and_completion_once(void **state)
{
    (void)state;
    begin_listening();
    job jobs[] = {CHANGES(1, buffers[0]), CHANGES(2, buffers[0]), READS(3, buffers[0])};
    jobs[1].returns = DYNSEL_E_USER;
    dynsel_submission submissions[3];
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group(&listener, group_of, &jobs[i], &submissions[i]));
        assert_heard(i + 1, 0, 0);
    }
    complete(&jobs[0]);
    dynsel_progress();
    assert_heard(3, 1, 0);
    complete(&jobs[1]);
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_wait(&submissions[2]));
    assert_heard(3, 3, 0);
    assert_status(DYNSEL_E_USER, dynsel_wait(&submissions[1]));
    assert_status(DYNSEL_OK, dynsel_wait(&submissions[0]));
    assert_heard(3, 3, 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listener));
    end_with(DYNSEL_E_DEPENDENCY);
}

static void refused_submit_is_withdrawn_from_policy(void **state)
{
    (void)state;
    begin_listening();
    job reads[READERS + 1];
    for (unsigned i = 0; i <= READERS; i++) {
        reads[i] = (job)READS(i + 1, buffers[0]);
    }
    for (unsigned i = 0; i < READERS; i++) {
        assert_status(DYNSEL_OK, submit(0, &reads[i]));
    }
    assert_status(DYNSEL_E_FULL,
                  dynsel_try_submit_command_group(&listener, group_of, &reads[READERS], NULL));
    assert_heard(1, 0, 1);
    job moved = CHANGES(99, buffers[1]);
    atomic_store(&manual.queues[2].refuses, true);
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&listener, group_of, &moved));
    assert_heard(3, 1, 2); /* chosen twice, withdrawn from the first */
    assert_runs(1, &moved);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listener));
    end();
}

static dynsel_status group_with_key(dynsel_handler *handler, void *args)
{
    static const uint32_t word = 4711;
    (void)dynsel_set_key(handler, 12, &word, 1);
    return group_of(handler, args);
}

static void policy_sees_requirements_of_command_group(void **state)
{
    (void)state;
    begin_listening();
    job what = {.number = 1};
    memcpy(what.buffers, buffers, 3 * sizeof buffers[0]);
    what.modes[0] = DYNSEL_ACCESS_READ;
    what.modes[1] = DYNSEL_ACCESS_WRITE;
    what.modes[2] = DYNSEL_ACCESS_DISCARD_READ_WRITE;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&listener, group_of, &what));
    assert_int_equal(3, heard.requirements);
    assert_int_equal(DYNSEL_ACCESS_READ, heard.modes[0]);
    assert_int_equal(DYNSEL_ACCESS_READ_WRITE, heard.modes[1]);
    assert_int_equal(DYNSEL_ACCESS_DISCARD_WRITE, heard.modes[2]);
    assert_memory_equal(buffers, heard.buffers, 3 * sizeof buffers[0]);
    assert_int_equal(0, heard.bytes_to_move);

    const uint32_t id = heard.id;
    assert_int_not_equal(0, id);
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&listener, group_of, &what));
    assert_int_equal(id, heard.id);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&listener, group_of_host_task, NULL));
    assert_int_not_equal(0, heard.id);
    assert_int_not_equal(id, heard.id);
    assert_int_equal(0, heard.requirements);
    assert_status(DYNSEL_OK,
                  dynsel_submit_command_group_and_wait(&listener, group_with_key, &what));
    assert_int_equal(12, heard.id);
    assert_int_equal(4711, heard.key_words);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&listener));
    end();
}

#if CONFIG_DYNSEL_STATISTICS
static void statistics_count_command_groups(void **state)
{
    (void)state;
    job jobs[] = {CHANGES(1, buffers[0]), CHANGES(2, buffers[0]), CHANGES(3, buffers[0])};
    jobs[1].returns = DYNSEL_E_USER;
    for (unsigned i = 0; i < 3; i++) {
        assert_status(DYNSEL_OK, submit(0, &jobs[i]));
    }
    assert_status(DYNSEL_E_USER, dynsel_wait_group(dynsel_get_submission_group(&queues[0].policy)));
    dynsel_resource_statistics counts;
    assert_status(DYNSEL_OK, dynsel_get_statistics(&queues[0].policy, 0, &counts));
    assert_int_equal(2, counts.submitted); /* the third was not started */
    assert_int_equal(2, counts.completed);
    assert_int_equal(1, counts.failed);
    end_with(DYNSEL_E_DEPENDENCY);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(each_submit_form_submits),
        TEST_SET_UP(handle_of_pending_work_has_resource_and_no_event),
        TEST_SET_UP(wrong_submit_calls_are_refused),
        TEST_SET_UP(policy_without_select_is_unsupported),
        TEST_SET_UP(group_function_failure_cancels_submit),
        TEST_SET_UP(buffer_ended_before_ordering_is_stale),
        TEST_SET_UP(resources_without_kernel_form_are_excluded),
        TEST_SET_UP(too_many_readers_of_one_buffer_are_refused),
        TEST_SET_UP(too_many_dependencies_are_refused),
        TEST_SET_UP(readers_behind_writer_free_their_entries),
        TEST_SET_UP(pending_work_can_fill_all_slots),
        TEST_SET_UP(submit_that_waits_for_own_host_accessor_is_refused),
        TEST_SET_UP(group_function_may_submit),
        TEST_SET_UP(too_deep_nested_submits_are_refused),
        TEST_SET_UP(task_function_may_submit_ready_or_pending_work),
        TEST_SET_UP(submit_and_wait_in_task_function_is_refused),
        TEST_SET_UP(submit_in_task_function_does_not_wait_for_room),
        TEST_SET_UP(progress_call_ends_when_work_submits_more),
        TEST_SET_UP(command_group_reports_submit_and_completion_once),
        TEST_SET_UP(refused_submit_is_withdrawn_from_policy),
        TEST_SET_UP(policy_sees_requirements_of_command_group),
#if CONFIG_DYNSEL_STATISTICS
        TEST_SET_UP(statistics_count_command_groups),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
