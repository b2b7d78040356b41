/* SPDX-License-Identifier: Apache-2.0 */
/* Command groups that are wrong: the submission says so, starts nothing, and leaves no trace. And
 * what is easily taken for wrong, and is right. */
#include <dynsel/dynsel.h>

#include "test.h"

#if CONFIG_DYNSEL_CONTEXT_THREADS
#include <pthread.h>
#endif

enum { COUNT = 8, THREADS = 4, REPEATS = 500 };

static dynsel_fixed_resource_policy policy;
static int data[COUNT];
static char bytes[COUNT];
static dynsel_buffer numbers;
static dynsel_buffer letters;
static dynsel_buffer ended;
static unsigned runs; /* of kernels and host tasks */

static dynsel_status count_run(const dynsel_launch *launch)
{
    (void)launch;
    runs++;
    return DYNSEL_OK;
}

static const dynsel_kernel counting = {.name = "counting", .function = count_run};

static int set_up(void **state)
{
    (void)state;
    static const dynsel_resource place = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &place, .count = 1};
    numbers = letters = (dynsel_buffer){0};
    runs = 0;
    for (int i = 0; i < COUNT; i++) {
        data[i] = i;
    }
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    dynsel_buffer gone = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&gone, bytes, 1, DYNSEL_RANGE(COUNT)));
    ended = gone;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&gone));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&numbers, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&letters, bytes, 1, DYNSEL_RANGE(COUNT)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&numbers));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&letters));
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return 0;
}

/* The group functions below do one thing wrong each, and do not pass it on. */

static dynsel_status launch(dynsel_handler *handler)
{
    return dynsel_single_task(handler, &counting);
}

static dynsel_status gives_up(dynsel_handler *handler, void *args)
{
    (void)launch(handler);
    (void)args;
    return (dynsel_status)(DYNSEL_E_USER - 4);
}

static dynsel_status gives_up_with_details(dynsel_handler *handler, void *args)
{
    (void)launch(handler);
    (void)args;
    return dynsel_fail(&(dynsel_error){.status = DYNSEL_E_TASK, .detail = "no more paper"});
}

static dynsel_status launches_nothing(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor in = {.buffer = numbers, .placeholder = true};
    return dynsel_require(handler, &in);
}

static dynsel_status launches_twice(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)launch(handler);
    (void)dynsel_host_task(handler, count_run);
    return DYNSEL_OK;
}

static dynsel_status forgets_to_require(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor forgotten = {.name = "forgotten", .buffer = numbers, .placeholder = true};
    (void)dynsel_set_arg_accessor(handler, 0, &forgotten);
    return launch(handler);
}

static dynsel_status requires_no_buffer(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor bare = {.name = "bare", .placeholder = true};
    (void)dynsel_require(handler, &bare);
    return launch(handler);
}

static dynsel_status uses_a_copy_without_buffer(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor bare = {.name = "original", .placeholder = true};
    dynsel_accessor copy = bare;
    copy.name = "copy";
    (void)dynsel_require_buffer(handler, numbers, &bare);
    (void)dynsel_set_arg_accessor(handler, 0, &copy);
    return launch(handler);
}

static dynsel_status requires_two_buffers(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor both = {.name = "both", .placeholder = true};
    (void)dynsel_require_buffer(handler, numbers, &both);
    (void)dynsel_require_buffer(handler, letters, &both);
    return launch(handler);
}

static dynsel_status requires_an_ended_buffer(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor late = {.name = "late", .buffer = ended, .placeholder = true};
    (void)dynsel_require(handler, &late);
    return launch(handler);
}

static dynsel_status gets_access_to_nothing(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_accessor normal;
    (void)dynsel_get_access(handler, (dynsel_buffer){0}, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL,
                            &normal);
    return launch(handler);
}

static dynsel_status keep_a_normal_accessor(dynsel_handler *handler, void *args)
{
    (void)dynsel_get_access(handler, numbers, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, args);
    return launch(handler);
}

/* The accessor is of a command group that came before. */
static dynsel_status uses_one_of_another(dynsel_handler *handler, void *args)
{
    (void)args;
    dynsel_accessor normal;
    assert_status(DYNSEL_OK, dynsel_submit_command_group(&policy.policy, keep_a_normal_accessor,
                                                         &normal, NULL));
    runs--;
    normal.name = "stranger";
    (void)keep_a_normal_accessor(handler, &(dynsel_accessor){.name = NULL});
    (void)dynsel_set_arg_accessor(handler, 0, &normal);
    return DYNSEL_OK;
}

static dynsel_status reaches_past_the_end(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor far = {.name = "far",
                                 .buffer = numbers,
                                 .range = DYNSEL_RANGE(2),
                                 .offset = DYNSEL_RANGE(COUNT - 1),
                                 .placeholder = true};
    (void)dynsel_require(handler, &far);
    return launch(handler);
}

static dynsel_status writes_constants(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor constant = {.name = "constant",
                                      .buffer = numbers,
                                      .target = DYNSEL_MEMORY_CONSTANT,
                                      .placeholder = true};
    (void)dynsel_require(handler, &constant);
    return launch(handler);
}

static dynsel_status requires_too_much(dynsel_handler *handler, void *args)
{
    (void)args;
    static dynsel_accessor many[CONFIG_DYNSEL_MAX_REQUIREMENTS + 1];
    for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
        many[i] = (dynsel_accessor){.name = "many", .buffer = numbers, .placeholder = true};
        (void)dynsel_require(handler, &many[i]);
    }
    return launch(handler);
}

static dynsel_status sets_too_many_arguments(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)dynsel_set_arg_local(handler, CONFIG_DYNSEL_MAX_ARGUMENTS, 1);
    return launch(handler);
}

static dynsel_status sets_too_large_values(dynsel_handler *handler, void *args)
{
    (void)args;
    static const char large[CONFIG_DYNSEL_ARGUMENT_BYTES + 1];
    (void)dynsel_set_arg_value(handler, 0, large, sizeof large);
    return launch(handler);
}

static dynsel_status leaves_a_gap(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)dynsel_set_arg_local(handler, 1, 1);
    return launch(handler);
}

static dynsel_status launches_no_form(dynsel_handler *handler, void *args)
{
    (void)args;
    static const dynsel_kernel formless = {.name = "formless"};
    (void)dynsel_single_task(handler, &formless);
    return DYNSEL_OK;
}

static dynsel_status launches_over_too_much(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)dynsel_parallel_for(handler, &counting, DYNSEL_RANGE_2D(SIZE_MAX, 2), NULL, NULL);
    return DYNSEL_OK;
}

static dynsel_status copies_onto_itself(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor all = {.name = "all", .buffer = numbers, .placeholder = true};
    (void)dynsel_require(handler, &all);
    (void)dynsel_copy(handler, &all, &all);
    return DYNSEL_OK;
}

static dynsel_status fills_with_other_elements(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor all = {.name = "all", .buffer = numbers, .placeholder = true};
    const uint64_t element = 0;
    (void)dynsel_require(handler, &all);
    (void)dynsel_fill(handler, &all, &element, sizeof element);
    return DYNSEL_OK;
}

static dynsel_status fills_what_it_did_not_require(dynsel_handler *handler, void *args)
{
    (void)args;
    const dynsel_accessor all = {.name = "all", .buffer = letters, .placeholder = true};
    (void)dynsel_fill(handler, &all, "x", 1);
    return DYNSEL_OK;
}

static dynsel_status runs_no_host_task(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)dynsel_host_task(handler, NULL);
    return DYNSEL_OK;
}

static dynsel_status has_no_key(dynsel_handler *handler, void *args)
{
    (void)args;
    (void)dynsel_set_key(handler, 0, NULL, 0);
    return launch(handler);
}

static const struct {
    dynsel_group_fn function;
    dynsel_status expected;
    const char *says;
} wrong[] = {
    {gives_up, (dynsel_status)(DYNSEL_E_USER - 4), "the group function returned this"},
    {gives_up_with_details, DYNSEL_E_TASK, "no more paper"},
    {launches_nothing, DYNSEL_E_INVALID, "launched nothing"},
    {launches_twice, DYNSEL_E_INVALID, "launches one thing"},
    {forgets_to_require, DYNSEL_E_INVALID, "call dynsel_require() in the group function [forgo"},
    {requires_no_buffer, DYNSEL_E_INVALID, "dynsel_require_buffer() [bare]"},
    {uses_a_copy_without_buffer, DYNSEL_E_INVALID, "not with a copy [copy]"},
    {requires_two_buffers, DYNSEL_E_INVALID, "use two placeholders [both]"},
    {requires_an_ended_buffer, DYNSEL_E_STALE, "was ended by dynsel_buffer_deinit() [late]"},
    {gets_access_to_nothing, DYNSEL_E_INVALID, "make one with dynsel_buffer_init()"},
    {uses_one_of_another, DYNSEL_E_INVALID, "another command group"},
    {reaches_past_the_end, DYNSEL_E_INVALID, "[far]"},
    {writes_constants, DYNSEL_E_INVALID, "use DYNSEL_ACCESS_READ [constant]"},
    {requires_too_much, DYNSEL_E_FULL, "CONFIG_DYNSEL_MAX_REQUIREMENTS is"},
    {sets_too_many_arguments, DYNSEL_E_FULL, "CONFIG_DYNSEL_MAX_ARGUMENTS"},
    {sets_too_large_values, DYNSEL_E_FULL, "CONFIG_DYNSEL_ARGUMENT_BYTES"},
    {leaves_a_gap, DYNSEL_E_INVALID, "argument 0 was not set"},
    {launches_no_form, DYNSEL_E_INVALID, "no form"},
    {launches_over_too_much, DYNSEL_E_INVALID, "global range"},
    {copies_onto_itself, DYNSEL_E_INVALID, "overlap"},
    {fills_with_other_elements, DYNSEL_E_INVALID, "have 4 bytes [all]"},
    {fills_what_it_did_not_require, DYNSEL_E_INVALID, "call dynsel_require()"},
    {runs_no_host_task, DYNSEL_E_INVALID, "NULL"},
    {has_no_key, DYNSEL_E_INVALID, "id of 0"},
};

enum { WRONG = sizeof wrong / sizeof wrong[0] };

enum { PLAINLY, WITHOUT_WAITING, FOR_A_TIME, AND_WAIT, WAYS };

static dynsel_status submit(int how, dynsel_group_fn function, void *args)
{
    dynsel_submission submission = {0};
    dynsel_status status = DYNSEL_OK;
    if (how == AND_WAIT) {
        return dynsel_submit_command_group_and_wait(&policy.policy, function, args);
    }
    if (how == PLAINLY) {
        status = dynsel_submit_command_group(&policy.policy, function, args, &submission);
    } else if (how == WITHOUT_WAITING) {
        status = dynsel_try_submit_command_group(&policy.policy, function, args, &submission);
    } else {
        status =
            dynsel_submit_command_group_for(&policy.policy, function, args, &submission, 1000000);
    }
    return status == DYNSEL_OK ? dynsel_wait(&submission) : status;
}

/* Something was submitted, ended, or is on its way. */
static uint32_t traces(void)
{
    dynsel_resource_statistics counts = {0};
#if CONFIG_DYNSEL_STATISTICS
    assert_status(DYNSEL_OK, dynsel_get_statistics(&policy.policy, 0, &counts));
#endif
    return counts.submitted + counts.completed + counts.failed +
           dynsel_get_in_flight_statistics().in_use + runs;
}

/* Nothing uses the buffers. */
static void end_and_remake_buffers(void)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&numbers));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&letters));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&numbers, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&letters, bytes, 1, DYNSEL_RANGE(COUNT)));
}

static void wrong_command_group_is_refused_without_trace(void **state)
{
    (void)state;
    for (int i = 0; i < WRONG; i++) {
        const bool submits_others = wrong[i].function == uses_one_of_another;
        for (int how = 0; how < WAYS; how++) {
            const uint32_t before = traces();
            const dynsel_status status = submit(how, wrong[i].function, NULL);
            assert_status(wrong[i].expected, status);
            assert_int_equal(wrong[i].expected, dynsel_last_error()->status);
            assert_error_says(wrong[i].says);
            if (!submits_others) {
                assert_int_equal(before, traces());
            }
            assert_int_equal(0, runs);
            assert_true(dynsel_invariants_hold(&policy.policy));
            end_and_remake_buffers();
        }
    }
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(i, data[i]);
    }
}

static dynsel_status is_right(dynsel_handler *handler, void *args)
{
    (void)args;
    return launch(handler);
}

static void wrong_submit_call_starts_nothing(void **state)
{
    (void)state;
    dynsel_submission submission = {0};
    dynsel_fixed_resource_policy uninitialized = {0};
    assert_status(DYNSEL_E_INVALID, dynsel_submit_command_group(NULL, is_right, NULL, &submission));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_command_group(&policy.policy, NULL, NULL, &submission));
    assert_status(DYNSEL_E_INVALID, dynsel_try_submit_command_group(NULL, is_right, NULL, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_submit_command_group_for(NULL, is_right, NULL, NULL, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_submit_command_group_and_wait(NULL, is_right, NULL));
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_command_group_and_wait(&policy.policy, NULL, NULL));
    assert_status(DYNSEL_E_UNINITIALIZED,
                  dynsel_submit_command_group(&uninitialized.policy, is_right, NULL, NULL));
    assert_int_equal(0, runs);
    assert_int_equal(0, dynsel_get_in_flight_statistics().in_use);
}

/* The next submission in the slot is not wrong because the last one was. */
static void valid_command_group_after_wrong_one_succeeds(void **state)
{
    (void)state;
    for (int i = 0; i < WRONG; i++) {
        assert_status(wrong[i].expected, submit(PLAINLY, wrong[i].function, NULL));
        runs = 0;
        assert_status(DYNSEL_OK, submit(PLAINLY, is_right, NULL));
        assert_int_equal(1, runs);
    }
}

static dynsel_status holds_wrong_ones(dynsel_handler *handler, void *args)
{
    (void)args;
    for (int i = 0; i < WRONG; i++) {
        assert_status(wrong[i].expected,
                      dynsel_submit_command_group(&policy.policy, wrong[i].function, NULL, NULL));
    }
    runs = 0;
    return launch(handler);
}

static void error_of_nested_command_group_leaves_outer_one_valid(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, submit(PLAINLY, holds_wrong_ones, NULL));
    assert_int_equal(1, runs);
}

/* A view as users have it: a length, and a placeholder for the elements. */
typedef struct view {
    int length;
    dynsel_accessor elements;
} view;

static dynsel_status add_to_all(const dynsel_launch *launch)
{
    int *elements = dynsel_launch_data(launch, 0);
    const int length = DYNSEL_LAUNCH_VALUE(launch, 1, int);
    const int amount = DYNSEL_LAUNCH_VALUE(launch, 2, int);
    for (int i = 0; i < length; i++) {
        elements[i] += amount;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel adding = {.name = "add_to_all", .function = add_to_all};

typedef struct job {
    const view *on;
    dynsel_buffer buffer; /* all zero: the view's own */
    int amount;
} job;

static dynsel_status add(dynsel_handler *handler, void *args)
{
    const job *todo = args;
    if (todo->buffer.token == 0) {
        (void)dynsel_require(handler, &todo->on->elements);
    } else {
        (void)dynsel_require_buffer(handler, todo->buffer, &todo->on->elements);
    }
    (void)dynsel_set_arg_accessor(handler, 0, &todo->on->elements);
    (void)dynsel_set_arg_value(handler, 1, &todo->on->length, sizeof todo->on->length);
    (void)dynsel_set_arg_value(handler, 2, &todo->amount, sizeof todo->amount);
    return dynsel_single_task(handler, &adding);
}

static void copied_view_keeps_its_placeholder(void **state)
{
    (void)state;
    const view whole = {
        .length = COUNT,
        .elements = {.name = "elements", .buffer = numbers, .placeholder = true},
    };
    const view moved = whole; /* with its placeholder */
    assert_status(DYNSEL_OK, submit(AND_WAIT, add, &(job){.on = &whole, .amount = 100}));
    assert_status(DYNSEL_OK, submit(AND_WAIT, add, &(job){.on = &moved, .amount = 1000}));
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, numbers, DYNSEL_ACCESS_READ));
    assert_int_equal(1107, ((const int *)seen.data)[7]);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
}

static dynsel_status sees_one_buffer_twice(const dynsel_launch *launch)
{
    const int *in = dynsel_launch_data(launch, 0);
    int *out = dynsel_launch_data(launch, 1);
    assert_ptr_equal(in, out);
    assert_int_equal(COUNT * sizeof data[0], launch->arguments[1].bytes);
    runs++;
    if (out == NULL) {
        return DYNSEL_E_USER;
    }
    out[0] = out[1];
    return DYNSEL_OK;
}

static dynsel_status reads_and_writes(dynsel_handler *handler, void *args)
{
    (void)args;
    static const dynsel_kernel both = {.function = sees_one_buffer_twice};
    const dynsel_accessor in = {.buffer = numbers, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    const dynsel_accessor out = {.mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true};
    (void)dynsel_require(handler, &in);
    (void)dynsel_require(handler, &in);
    (void)dynsel_require_buffer(handler, numbers, &out);
    dynsel_accessor normal;
    (void)dynsel_accessor_get_access(handler, &out, &normal);
    const dynsel_accessor copy = normal;
    (void)dynsel_set_arg_accessor(handler, 0, &in);
    (void)dynsel_set_arg_accessor(handler, 1, &copy);
    return dynsel_single_task(handler, &both);
}

static void modes_of_several_accessors_merge_and_copies_are_usable(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, submit(AND_WAIT, reads_and_writes, NULL));
    assert_int_equal(1, runs);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&numbers));
    assert_int_equal(1, data[0]);
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&numbers, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
}

#if CONFIG_DYNSEL_CONTEXT_THREADS
static const view shared_view = {
    .length = COUNT,
    .elements = {.name = "shared", .placeholder = true},
};

typedef struct own_part {
    pthread_t thread;
    int numbers[COUNT];
    dynsel_status status; /* the first failure */
} own_part;

/* A buffer of this thread's for the placeholder of all. */
static void *add_often(void *args)
{
    own_part *own = args;
    dynsel_buffer buffer = {0};
    own->status =
        dynsel_buffer_init(&buffer, own->numbers, sizeof own->numbers[0], DYNSEL_RANGE(COUNT));
    for (int i = 0; i < REPEATS && own->status == DYNSEL_OK; i++) {
        job todo = {.on = &shared_view, .buffer = buffer, .amount = 1};
        own->status = dynsel_submit_command_group_and_wait(&policy.policy, add, &todo);
    }
    if (own->status == DYNSEL_OK) {
        own->status = dynsel_buffer_deinit(&buffer);
    }
    return NULL;
}

static void placeholder_shared_by_threads_serves_all(void **state)
{
    (void)state;
    own_part parts[THREADS] = {{.status = DYNSEL_OK}};
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_create(&parts[i].thread, NULL, add_often, &parts[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(parts[i].thread, NULL));
        assert_status(DYNSEL_OK, parts[i].status);
        assert_int_equal(REPEATS, parts[i].numbers[COUNT - 1]);
    }
}

/* Makes, uses and ends buffers beside others that do so, while there is room. */
static void *make_and_end_often(void *args)
{
    own_part *own = args;
    for (int i = 0; i < REPEATS && own->status == DYNSEL_OK; i++) {
        dynsel_buffer buffer = {0};
        do {
            own->status = dynsel_buffer_init(&buffer, own->numbers, sizeof own->numbers[0],
                                             DYNSEL_RANGE(COUNT));
        } while (own->status == DYNSEL_E_FULL);
        job todo = {.on = &shared_view, .buffer = buffer, .amount = 1};
        if (own->status == DYNSEL_OK) {
            own->status = dynsel_submit_command_group_and_wait(&policy.policy, add, &todo);
        }
        if (own->status == DYNSEL_OK) {
            own->status = dynsel_buffer_deinit(&buffer);
        }
    }
    return NULL;
}

static void threads_init_and_deinit_buffers_concurrently(void **state)
{
    (void)state;
    static own_part parts[CONFIG_DYNSEL_MAX_BUFFERS < 8 ? CONFIG_DYNSEL_MAX_BUFFERS : 8];
    const size_t count = sizeof parts / sizeof parts[0];
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(0, pthread_create(&parts[i].thread, NULL, make_and_end_often, &parts[i]));
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(0, pthread_join(parts[i].thread, NULL));
        assert_status(DYNSEL_OK, parts[i].status);
        assert_int_equal(REPEATS, parts[i].numbers[0]);
    }
}

static dynsel_buffer passed_on; /* what the other thread will end; read and written in turns */
static dynsel_word taken;       /* handles that were seen */

/* Uses buffers that another thread ends and makes again meanwhile. */
static void *use_what_ends(void *args)
{
    own_part *own = args;
    const view view_of_it = {.length = 1, .elements = {.buffer = passed_on, .placeholder = true}};
    job todo = {.on = &view_of_it, .amount = 0};
    (void)__atomic_add_fetch(&taken.value, 1, __ATOMIC_SEQ_CST);
    do {
        own->status = dynsel_submit_command_group_and_wait(&policy.policy, add, &todo);
    } while (own->status == DYNSEL_OK);
    return NULL;
}

static void end_and_remake(dynsel_buffer *buffer)
{
    dynsel_status status = DYNSEL_E_BUSY;
    while (status == DYNSEL_E_BUSY) {
        status = dynsel_buffer_deinit(buffer);
    }
    assert_status(DYNSEL_OK, status);
    assert_status(DYNSEL_OK, dynsel_buffer_init(buffer, data, sizeof data[0], DYNSEL_RANGE(COUNT)));
}

static void buffer_ended_by_another_thread_is_stale(void **state)
{
    (void)state;
    for (int i = 0; i < REPEATS / 5; i++) {
        own_part parts[2] = {{.status = DYNSEL_OK}};
        passed_on = numbers;
        taken.value = 0;
        for (int k = 0; k < 2; k++) {
            assert_int_equal(0, pthread_create(&parts[k].thread, NULL, use_what_ends, &parts[k]));
        }
        while (__atomic_load_n(&taken.value, __ATOMIC_SEQ_CST) < 2) {
        }
        end_and_remake(&numbers);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(0, pthread_join(parts[k].thread, NULL));
            assert_status(DYNSEL_E_STALE, parts[k].status);
        }
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wrong_command_group_is_refused_without_trace),
        TEST(wrong_submit_call_starts_nothing),
        TEST(valid_command_group_after_wrong_one_succeeds),
        TEST(error_of_nested_command_group_leaves_outer_one_valid),
        TEST(copied_view_keeps_its_placeholder),
        TEST(modes_of_several_accessors_merge_and_copies_are_usable),
#if CONFIG_DYNSEL_CONTEXT_THREADS
        TEST(placeholder_shared_by_threads_serves_all),
        TEST(threads_init_and_deinit_buffers_concurrently),
        TEST(buffer_ended_by_another_thread_is_stale),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
