/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that rank 0 sends, and how serving begins and ends. */
#include <dynsel/dynsel.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "backends/mpi/state.h"
#include "serving/fake_rank_0.h"
#include "serving/requests.h"
#include "test.h"

enum { MANY = CONFIG_DYNSEL_MAX_IN_FLIGHT + 20, CODE = 77 };

typedef struct sum {
    uint32_t from;
    uint32_t to;
    uint64_t result;
} sum;

static atomic_bool gate_is_open;
static atomic_uint waiting;

static dynsel_status add_up(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sum *const s = args;
    (void)where;
    (void)done;
    s->result = 0;
    for (uint32_t i = s->from; i < s->to; i++) {
        s->result += i;
    }
    return s->from <= s->to ? DYNSEL_OK
                            : dynsel_fail(&(const dynsel_error){.status = DYNSEL_E_USER,
                                                                .code = CODE,
                                                                .function = "add_up",
                                                                .detail = "it ends before it "
                                                                          "begins"});
}

/* Runs until the test lets it end. */
static dynsel_status wait_at_gate(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    (void)atomic_fetch_add(&waiting, 1);
    while (!atomic_load(&gate_is_open)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return DYNSEL_OK;
}

static dynsel_status nothing(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_OK;
}

static dynsel_status take_a_millisecond(const dynsel_resource *where, void *args,
                                        dynsel_event *done)
{
    const uint64_t begin_ns = dynsel_now_ns();
    while (dynsel_now_ns() - begin_ns < 1000000) {
    }
    return nothing(where, args, done);
}

enum { ADD_UP, GATE, NOTHING, MILLISECOND, KEEPS };

static const dynsel_mpi_task tasks[] = {
    {.function = add_up, .name = "add_up", .bytes = sizeof(sum), .comes_back = true},
    {.function = wait_at_gate, .name = "wait_at_gate"},
    {.function = nothing, .name = "nothing"},
    {.function = take_a_millisecond, .name = "take_a_millisecond"},
    {.function = add_up, .name = "add_up, for itself", .bytes = sizeof(sum)}};

static const dynsel_mpi_options options = {.tasks = tasks,
                                           .task_count = sizeof tasks / sizeof tasks[0]};

static const dynsel_resource host = {.backend = &dynsel_inline_backend};

static void push_task(uint32_t operation, uint32_t task, const void *args, uint32_t bytes)
{
    request r;
    request_begin(&r, DYNSEL_MPI_TASK, 0, operation);
    request_add(&r, &(dynsel_mpi_task_body){.task = task}, sizeof(dynsel_mpi_task_body));
    if (bytes != 0) {
        request_add(&r, args, bytes);
    }
    request_push(&r);
}

static void begin_on_host(void)
{
    fake_begin(&options, &host, 1);
}

#if CONFIG_DYNSEL_BACKEND_THREADS
static void begin_on_worker(const dynsel_mpi_options *with)
{
    dynsel_resource worker;
    size_t count = 0;
    atomic_store(&gate_is_open, false);
    atomic_store(&waiting, 0);
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&worker, 1, &count));
    fake_begin(with, &worker, 1);
}

static void end_on_worker(void)
{
    atomic_store(&gate_is_open, true);
    fake_end();
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}
#endif

static void task_changes_its_arguments_which_come_back(void **state)
{
    (void)state;
    begin_on_host();
    for (uint32_t i = 0; i < 10; i++) {
        const sum s = {.from = i, .to = 100};
        push_task(i, ADD_UP, &s, sizeof s);
        const fake_done done = fake_wait(i);
        sum back;
        assert_int_equal(done.status, DYNSEL_OK);
        assert_string_equal(done.text, "");
        assert_int_equal(done.back_bytes, sizeof back);
        memcpy(&back, done.back, sizeof back);
        assert_int_equal(back.result, 4950 - (i * i - i) / 2);
    }
    fake_end();
}

static void task_without_results_sends_nothing_back(void **state)
{
    (void)state;
    const sum s = {.from = 1, .to = 2};
    begin_on_host();
    push_task(3, KEEPS, &s, sizeof s);
    const fake_done done = fake_wait(3);
    assert_int_equal(done.status, DYNSEL_OK);
    assert_int_equal(done.back_bytes, 0);
    fake_end();
}

static void failure_of_a_task_comes_with_status_code_and_text(void **state)
{
    (void)state;
    const sum s = {.from = 2, .to = 1};
    begin_on_host();
    push_task(0, ADD_UP, &s, sizeof s);
    const fake_done done = fake_wait(0);
    assert_int_equal(done.status, DYNSEL_E_USER);
    if (CONFIG_DYNSEL_ERROR_DETAILS && CONFIG_DYNSEL_ERROR_TEXTS) {
        assert_int_equal(done.code, CODE);
        assert_true(text_contains(done.text, "it ends before it begins"));
    }
    push_task(0, NOTHING, NULL, 0); /* the number is free again */
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    fake_end();
}

static void time_of_a_task_is_measured_here(void **state)
{
    (void)state;
    begin_on_host();
    request r;
    request_begin(&r, DYNSEL_MPI_TASK, 0, 0);
    request_add(&r, &(dynsel_mpi_task_body){.task = MILLISECOND, .wants_time = 1},
                sizeof(dynsel_mpi_task_body));
    request_push(&r);
    const uint64_t took_ns = fake_wait(0).took_ns;
    assert_true(took_ns >= 1000000 && took_ns < 1000000000);
    push_task(0, MILLISECOND, NULL, 0); /* nobody needs it, so it costs nothing */
    assert_int_equal(fake_wait(0).took_ns, 0);
    fake_end();
}

static void answer_waits_until_it_can_be_sent(void **state)
{
    (void)state;
    const sum s = {.from = 0, .to = 5};
    begin_on_host();
    fake_block_sends(true);
    push_task(0, ADD_UP, &s, sizeof s);
    push_task(1, NOTHING, NULL, 0);
    push_task(2, 99, NULL, 0); /* is refused */
    fake_let_pass(50);
    assert_int_equal(fake_answers(), 0);
    assert_int_equal(fake_line(), 1); /* what is refused has no place to wait but the line */
    fake_block_sends(false);
    const fake_done done = fake_wait(0);
    sum back;
    memcpy(&back, done.back, sizeof back);
    assert_int_equal(back.result, 10);
    assert_int_equal(fake_wait(1).status, DYNSEL_OK);
    assert_int_equal(fake_wait(2).status, DYNSEL_E_INVALID);
    fake_end();
}

static void wrong_messages_are_refused(void **state)
{
    (void)state;
    const sum s = {.from = 0, .to = 5};
    request r;
    begin_on_host();
    push_task(1, sizeof tasks / sizeof tasks[0], NULL, 0);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    push_task(1, NOTHING, &s, sizeof s);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    push_task(1, ADD_UP, NULL, 0);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    request_begin(&r, DYNSEL_MPI_TASK, 1, 1); /* there is no such resource */
    request_add(&r, &(dynsel_mpi_task_body){.task = NOTHING}, sizeof(dynsel_mpi_task_body));
    request_push(&r);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    request_begin(&r, DYNSEL_MPI_TASK, 0, 1); /* torn */
    request_add(&r, &(uint32_t){NOTHING}, 4);
    r.bytes = 4;
    request_push(&r);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    request_begin(&r, DYNSEL_MPI_TASK, 0, 1); /* less follows than it takes */
    request_add(&r, &(dynsel_mpi_task_body){.task = ADD_UP}, sizeof(dynsel_mpi_task_body));
    request_add(&r, &s, sizeof s - 8);
    request_push(&r);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    for (uint32_t kind = DYNSEL_MPI_DONE; kind < 256; kind += 25) {
        fake_tell((dynsel_mpi_kind)kind, 1);
        assert_int_equal(fake_wait(1).status, DYNSEL_E_INVALID);
    }
    fake_tell(DYNSEL_MPI_TASK, DYNSEL_MPI_OPERATIONS);
    fake_tell(DYNSEL_MPI_TASK, UINT32_MAX);
    fake_tell(DYNSEL_MPI_ABANDON, UINT32_MAX);
    push_task(1, NOTHING, NULL, 0);
    assert_int_equal(fake_wait(1).status, DYNSEL_OK);
    fake_end();
}

static void messages_of_other_ranks_are_ignored(void **state)
{
    (void)state;
    const dynsel_mpi_message end = {.header = {.kind = DYNSEL_MPI_END}};
    begin_on_host();
    fake_push_from(1, &end, 0);
    push_task(0, NOTHING, NULL, 0);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    assert_false(fake_has_bye());
    fake_end();
}

static void ping_is_answered(void **state)
{
    (void)state;
    begin_on_host();
    fake_tell_ahead(DYNSEL_MPI_PING, 0);
    fake_wait_for_pongs(1);
    fake_block_sends(true);
    fake_tell_ahead(DYNSEL_MPI_PING, 0);
    fake_let_pass(20);
    fake_block_sends(false);
    fake_wait_for_pongs(2);
    fake_end();
}

static void silent_rank_0_ends_serving(void **state)
{
    (void)state;
    char text[200];
    dynsel_mpi_options brief = options;
    brief.idle_ns = 1500000000;
    fake_begin(&brief, &host, 1);
    const uint64_t begin_ns = dynsel_now_ns();
    while (dynsel_now_ns() - begin_ns < 2500000000) {
        fake_tell_ahead(DYNSEL_MPI_PING, 0);
        fake_let_pass(20);
    }
    push_task(0, NOTHING, NULL, 0);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    assert_int_equal(fake_join(text, sizeof text), DYNSEL_E_OUT_OF_SERVICE);
    assert_true(!CONFIG_DYNSEL_ERROR_TEXTS || text_contains(text, "silent"));
    assert_true(fake_ended());
    assert_false(fake_ended_clean());
}

static void failure_of_mpi_with_rank_0_ends_serving(void **state)
{
    (void)state;
    char text[200];
    begin_on_host();
    fake_lose_rank_0(17);
    assert_int_equal(fake_join(text, sizeof text), DYNSEL_E_OUT_OF_SERVICE);
    assert_true(!CONFIG_DYNSEL_ERROR_TEXTS || text_contains(text, "MPI failed"));
    assert_true(fake_ended());
    assert_false(fake_ended_clean());
}

static void loss_of_this_rank_ends_serving(void **state)
{
    (void)state;
    char text[200];
    begin_on_host();
    fake_tell_ahead(DYNSEL_MPI_LOST, FAKE_RANK);
    assert_int_equal(fake_join(text, sizeof text), DYNSEL_E_OUT_OF_SERVICE);
    assert_true(!CONFIG_DYNSEL_ERROR_TEXTS || text_contains(text, "given this rank up"));
    assert_false(fake_ended_clean());
}

static void neither_rank_0_nor_a_closed_one_serves(void **state)
{
    (void)state;
    dynsel_mpi.rank_count = FAKE_RANKS;
    dynsel_mpi.rank = 0;
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
    assert_error_says("after dynsel_mpi_open()");
    dynsel_mpi.rank_count = 0;
    dynsel_mpi.rank = 1;
    assert_status(DYNSEL_E_INVALID, dynsel_mpi_serve());
}

static void resource_without_a_backend_fails_the_begin(void **state)
{
    (void)state;
    const dynsel_resource two[2] = {host, {.backend = NULL}};
    fake_begin(&options, two, 2);
    assert_int_equal(fake_join(NULL, 0), DYNSEL_E_INVALID);
    assert_true(fake_ended());
    assert_false(fake_ended_clean());
    begin_on_host(); /* nothing is left of it */
    fake_end();
}

#if CONFIG_DYNSEL_BACKEND_THREADS
static void full_tables_hold_the_line_but_not_pings(void **state)
{
    (void)state;
    begin_on_worker(&options);
    push_task(0, GATE, NULL, 0);
    for (uint32_t i = 1; i < MANY; i++) {
        push_task(i, NOTHING, NULL, 0);
    }
    while (atomic_load(&waiting) == 0) {
    }
    fake_let_pass(200);
    assert_true(fake_line() > 0);
    assert_int_equal(fake_answers(), 0);
    fake_tell_ahead(DYNSEL_MPI_PING, 0);
    fake_wait_for_pongs(1);
    atomic_store(&gate_is_open, true);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(fake_wait(i).status, DYNSEL_OK);
    }
    end_on_worker();
}

static void number_in_use_is_refused(void **state)
{
    (void)state;
    begin_on_worker(&options);
    push_task(0, GATE, NULL, 0);
    push_task(0, NOTHING, NULL, 0);
    assert_int_equal(fake_wait(0).status, DYNSEL_E_INVALID);
    atomic_store(&gate_is_open, true);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    end_on_worker();
}

static void end_waits_for_work(void **state)
{
    (void)state;
    begin_on_worker(&options);
    push_task(0, GATE, NULL, 0);
    fake_tell(DYNSEL_MPI_END, 0);
    while (atomic_load(&waiting) == 0) {
    }
    fake_let_pass(50);
    assert_false(fake_has_bye());
    atomic_store(&gate_is_open, true);
    assert_int_equal(fake_wait(0).status, DYNSEL_OK);
    fake_let_pass(50);
    assert_true(fake_has_bye());
    assert_false(fake_ended()); /* another rank may be lost */
    fake_tell(DYNSEL_MPI_END, DYNSEL_MPI_END_LOSSES);
    assert_int_equal(fake_join(NULL, 0), DYNSEL_OK);
    assert_true(fake_ended() && !fake_ended_clean());
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}

/* The work behind it is taken back; for what runs there is a bound. */
static void loss_of_rank_0_leaves_work_that_does_not_end(void **state)
{
    (void)state;
    dynsel_mpi_options brief = options;
    brief.silence_ns = 100000000;
    begin_on_worker(&brief);
    push_task(0, GATE, NULL, 0);
    push_task(1, ADD_UP, &(sum){.from = 1}, sizeof(sum));
    while (atomic_load(&waiting) == 0) {
    }
    fake_let_pass(10);
    fake_lose_rank_0(17);
    assert_int_equal(fake_join(NULL, 0), DYNSEL_E_OUT_OF_SERVICE);
    assert_int_equal(fake_wait(1).status, DYNSEL_E_CANCELLED);
    assert_false(fake_has_answer(0));
    atomic_store(&gate_is_open, true);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(task_changes_its_arguments_which_come_back),
        cmocka_unit_test(task_without_results_sends_nothing_back),
        cmocka_unit_test(failure_of_a_task_comes_with_status_code_and_text),
        cmocka_unit_test(time_of_a_task_is_measured_here),
        cmocka_unit_test(answer_waits_until_it_can_be_sent),
        cmocka_unit_test(wrong_messages_are_refused),
        cmocka_unit_test(messages_of_other_ranks_are_ignored),
        cmocka_unit_test(ping_is_answered),
        cmocka_unit_test(silent_rank_0_ends_serving),
        cmocka_unit_test(failure_of_mpi_with_rank_0_ends_serving),
        cmocka_unit_test(loss_of_this_rank_ends_serving),
        cmocka_unit_test(neither_rank_0_nor_a_closed_one_serves),
        cmocka_unit_test(resource_without_a_backend_fails_the_begin),
#if CONFIG_DYNSEL_BACKEND_THREADS
        cmocka_unit_test(full_tables_hold_the_line_but_not_pings),
        cmocka_unit_test(number_in_use_is_refused),
        cmocka_unit_test(end_waits_for_work),
        cmocka_unit_test(loss_of_rank_0_leaves_work_that_does_not_end),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
