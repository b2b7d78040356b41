/* SPDX-License-Identifier: Apache-2.0 */
/* Selections and submissions of <dynsel/dynsel.hpp>: what is called with what, what lives how long,
 * and where failures go. */
#include <dynsel/dynsel.hpp>

#include <memory>

#include "dies.h"
#include "manual.h"

using namespace std::chrono_literals;
using dynsel::result;

namespace {

/* Work that goes on until the test ends it. */
struct enqueue {
    int *calls;
    unsigned char large[200];

    void operator()(dynsel::resource where, dynsel_event &done) const
    {
        ++*calls;
        done.native = manual_running(where);
    }
};

dynsel::fixed_resource_policy manual_policy()
{
    manual_reset();
    return dynsel::fixed_resource_policy{{manual_queue_of(0), manual_queue_of(1)}};
}

dynsel::round_robin_policy host_policy()
{
    return dynsel::round_robin_policy{{{&dynsel_inline_backend, nullptr}}};
}

/* What callables may look like. */

int free_function_calls;
dynsel::status free_function(dynsel::resource where, int add)
{
    free_function_calls += add;
    return where.name()[0] == 'h' ? DYNSEL_OK : DYNSEL_E_TASK;
}

void callables_get_resource_and_arguments(void **)
{
    auto p = host_policy();
    int seen = 0;
    auto s = dynsel::submit(
        p,
        [&seen](dynsel::resource where, int a, const char *b) {
            seen = a + (where.name()[0] == 'h' ? 100 : 0) + (b[0] == 'x' ? 1000 : 0);
        },
        5, "x");
    assert_true(static_cast<bool>(s));
    assert_status(DYNSEL_OK, dynsel::wait(s));
    assert_int_equal(seen, 1105);
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(p, free_function, 4));
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(p, &free_function, 4));
    assert_int_equal(free_function_calls, 8);
}

void move_only_callables_and_arguments_are_moved(void **)
{
    struct no_copy {
        explicit no_copy(int first) : value(first)
        {
        }
        no_copy(no_copy &&other) noexcept : value(other.value)
        {
            other.value = -1;
        }
        int value;
    };
    auto p = host_policy();
    int seen = 0;
    auto task = [kept = no_copy{3}, &seen](dynsel::resource, no_copy &with) {
        seen = kept.value * 10 + with.value;
    };
    auto s = dynsel::submit(p, std::move(task), no_copy{4});
    assert_status(DYNSEL_OK, s.wait());
    assert_int_equal(seen, 34);
}

void statuses_and_values_come_back(void **)
{
    auto p = host_policy();
    auto failing = dynsel::submit(p, [](dynsel::resource) { return DYNSEL_E_TASK; });
    assert_true(static_cast<bool>(failing)); /* accepted */
    assert_status(DYNSEL_E_TASK, dynsel::wait(failing));
    auto adding = dynsel::submit(
        p, [](dynsel::resource, int a, int b) { return result<int>{a - b}; }, 2, 5);
    assert_status(DYNSEL_OK, dynsel::wait(adding));
    const result<int> sum = dynsel::unwrap(adding);
    assert_true(sum.has_value() && *sum == -3);
    auto neither =
        dynsel::submit(p, [](dynsel::resource) { return result<float>{DYNSEL_E_DEVICE}; });
    assert_status(DYNSEL_E_DEVICE, dynsel::wait(neither));
    auto user = dynsel::submit(
        p, [](dynsel::resource) { return static_cast<dynsel_status>(DYNSEL_E_USER - 3); });
    assert_int_equal(dynsel::wait(user), DYNSEL_E_USER - 3);
}

/* Failures and their details. */

void a_wait_leaves_the_details(void **)
{
    auto p = host_policy();
    {
        auto s = dynsel::submit(p, [](dynsel::resource) {
            dynsel_error error = {};
            error.status = DYNSEL_E_TASK;
            error.function = "read_sensor";
            return dynsel_fail(&error);
        });
        assert_status(DYNSEL_E_TASK, s.wait());
    } /* the end of what was waited for is no call that could fail */
    assert_status(DYNSEL_E_TASK, dynsel_last_error()->status);
    if (CONFIG_DYNSEL_ERROR_TEXTS) {
        assert_non_null(strstr(dynsel::error_text{}.c_str(), "read_sensor"));
    }
}

void refused_submits_tell_why(void **)
{
    static dynsel::round_robin_policy p{dynsel::deferred_initialization};
    bool called = false;
    auto task = [&called](dynsel::resource) { called = true; };
    auto stored = dynsel::submit(p, task);
    auto light = dynsel::submit(p, dynsel::ref(task));
    assert_false(static_cast<bool>(stored));
    assert_status(DYNSEL_E_UNINITIALIZED, stored.submitted());
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel::wait(stored));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel::wait_for(light, 1ms));
    assert_status(DYNSEL_OK, light.release());
    assert_null(stored.where().operator const dynsel_resource *());
    assert_false(dynsel::unwrap(stored).has_value());
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel::submit_and_wait(p, task));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel::submit_detached(p, dynsel::ref(task)));
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel::select(p, task).status());
    assert_status(DYNSEL_E_UNINITIALIZED, p.status());
    dynsel::submission none;
    assert_status(DYNSEL_E_INVALID, none.wait());
    assert_false(called);
}

/* Lifetimes. */

void a_stored_callable_stays_while_its_work_runs(void **)
{
    auto p = manual_policy();
    int calls = 0;
    {
        auto s = dynsel::submit(p, enqueue{&calls, {}});
        assert_int_equal(calls, 1);
        assert_status(DYNSEL_E_TIMEOUT, dynsel::wait_for(s, 0ns));
        assert_true(s.get_policy() == p.native());
        assert_true(s.where() == &p.get_resources().data()[0]);
        assert_status(DYNSEL_OK, dynsel::unwrap(s).status());
        assert_int_equal(manual_waits(), 0);
        manual_let_waits_complete(true);
    }
    assert_int_equal(manual_waits(), 1); /* by the destructor */
    manual_check();
}

void released_work_fails_to_the_group(void **)
{
    auto p = manual_policy();
    int calls = 0;
    const enqueue kept{&calls, {}};
    {
        const auto s = dynsel::submit(p, dynsel::ref(kept));
        assert_true(static_cast<bool>(s));
    }
    assert_int_equal(manual_waits(), 0);
    manual_fails(0);
    assert_status(DYNSEL_E_DEVICE, dynsel::wait(p.get_submission_group()));
    assert_status(DYNSEL_OK, dynsel::wait(dynsel::get_submission_group(p)));
    assert_status(DYNSEL_OK, dynsel::submit_detached(p, dynsel::ref(kept)));
    manual_ends(1);
    assert_status(DYNSEL_OK, dynsel::wait(p.get_submission_group()));
    manual_check();
}

void submissions_can_be_moved(void **)
{
    auto p = manual_policy();
    int calls = 0;
    const enqueue kept{&calls, {}};
    dynsel::submission all[3];
    for (auto &one : all) {
        one = dynsel::submit(p, dynsel::ref(kept));
    }
    dynsel::submission moved{std::move(all[0])};
    assert_false(static_cast<bool>(all[0]));    // NOLINT(bugprone-use-after-move)
    assert_status(DYNSEL_OK, all[0].release()); /* nothing is left to be released */
    manual_ends(0);
    assert_status(DYNSEL_OK, moved.wait());
    assert_status(DYNSEL_E_STALE, moved.wait());
    moved = std::move(all[1]);
    all[2] = dynsel::submission{}; /* releases */
    manual_ends(1);
    manual_fails(2);
    assert_status(DYNSEL_OK, moved.wait());
    assert_status(DYNSEL_E_DEVICE, dynsel::wait(p.get_submission_group()));
    manual_check();
}

void try_submit_tells_that_nothing_is_free(void **)
{
    auto p = manual_policy();
    int calls = 0;
    const enqueue kept{&calls, {}};
    static dynsel::submission all[CONFIG_DYNSEL_MAX_IN_FLIGHT];
    unsigned count = 0;
    for (auto &one : all) {
        one = dynsel::try_submit(p, dynsel::ref(kept));
        count += one ? 1 : 0;
    }
    assert_int_equal(count, CONFIG_DYNSEL_MAX_IN_FLIGHT);
    if (auto more = dynsel::try_submit(p, kept)) {
        fail();
    } else {
        assert_status(DYNSEL_E_FULL, more.submitted());
    }
    const auto late = dynsel::submit_for(1us, p, dynsel::ref(kept));
    assert_status(DYNSEL_E_TIMEOUT, late.submitted());
    for (unsigned i = 0; i < count; i++) {
        manual_ends(i);
        assert_status(DYNSEL_OK, all[i].wait());
    }
    assert_int_equal(calls, count);
    manual_check();
}

void callables_that_end_too_early_stop_the_program(void **)
{
    int calls = 0;
    assert_true(dies([&] {
        auto p = manual_policy(); /* here, because a child may not use what is its parent's */
        (void)dynsel::submit_and_wait(p, [&](dynsel::resource) {
            const auto s = dynsel::submit(p, enqueue{&calls, {}});
        }); /* which cannot wait in a task function */
    }));
    assert_true(dies([&] {
        dynsel::submission outlives;
        auto inner = manual_policy();
        const enqueue kept{&calls, {}};
        outlives = dynsel::submit(inner, dynsel::ref(kept));
        manual_ends(0);
    }));
}

/* Selections. */

void selections_are_submitted_once(void **)
{
    auto p = host_policy();
    auto task = [](dynsel::resource) {};
    auto chosen = dynsel::select(p, task);
    assert_status(DYNSEL_OK, chosen.status());
    assert_true(dynsel::unwrap(*chosen) == &p.get_resources().data()[0]);
    assert_true(&chosen->get_policy() == &p && &chosen->policy() == &p);
    assert_int_equal(chosen->index(), 0);
    assert_int_equal(chosen->reason(), DYNSEL_REASON_TURN);
    auto first = dynsel::submit(*chosen, task);
    assert_status(DYNSEL_OK, dynsel::wait(first));
    const auto second = dynsel::submit(*chosen, task);
    assert_status(DYNSEL_E_STALE, second.submitted());
    assert_status(DYNSEL_E_STALE, dynsel::submit_and_wait(*chosen, task));
    assert_null(dynsel::unwrap(*chosen).operator const dynsel_resource *());
    auto early = dynsel::select(p);
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(early.value(), task));
    auto again = dynsel::select(p, dynsel::properties{}.id(3), task);
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(again.value(), task));
}

void raw_values_unwrap_to_themselves(void **)
{
    int value = 4;
    assert_ptr_equal(&dynsel::unwrap(value), &value);
}

struct with_wait {
    int waits = 0;
    void wait() noexcept
    {
        waits++;
    }
};

void wait_of_what_has_no_wait_does_nothing(void **)
{
    int value = 4;
    const dynsel::status failed = DYNSEL_E_TASK;
    with_wait own;
    assert_status(DYNSEL_OK, dynsel::wait(value));
    assert_status(DYNSEL_OK, dynsel::wait("text"));
    assert_status(DYNSEL_OK, dynsel::wait(&value));
    assert_int_equal(value, 4);
    assert_status(DYNSEL_E_TASK, dynsel::wait(failed)); /* as of submit_and_wait() */
    assert_status(DYNSEL_E_FULL, dynsel::wait(DYNSEL_E_FULL));
    assert_status(DYNSEL_OK, dynsel::wait(own));
    assert_int_equal(own.waits, 1);
    static_assert(noexcept(dynsel::wait(own)) &&noexcept(dynsel::wait(value)));
}

namespace info = dynsel::execution_info;
template <class P, class Info>
constexpr bool reports = dynsel::report_info_v<dynsel::selection_t<P>, Info>;
static_assert(!reports<dynsel::fixed_resource_policy, info::task_time_t>);
static_assert(!reports<dynsel::round_robin_policy, info::task_submission_t>);
static_assert(std::is_same_v<dynsel::resource_t<dynsel::round_robin_policy>, dynsel::resource>);
static_assert(std::is_same_v<dynsel::wait_type_t<dynsel::round_robin_policy>, dynsel_event>);
static_assert(dynsel::execution_info_v<info::task_time_t> && !dynsel::execution_info_v<int>);

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD && CONFIG_DYNSEL_POLICY_AUTO_TUNE
static_assert(reports<dynsel::dynamic_load_policy, info::task_submission_t>);
static_assert(reports<dynsel::dynamic_load_policy, info::task_completion_t>);
static_assert(!reports<dynsel::dynamic_load_policy, info::task_time_t>);
static_assert(reports<dynsel::auto_tune_policy &, info::task_time_t>);
static_assert(dynsel::report_value_v<dynsel::selection_t<dynsel::auto_tune_policy>,
                                     info::task_time_t, std::chrono::milliseconds>);
static_assert(!dynsel::report_value_v<dynsel::selection_t<dynsel::auto_tune_policy>,
                                      info::task_time_t, const char *>);

/* Work that the program itself runs. */
void reports_reach_the_policy(void **)
{
    dynsel::auto_tune_policy p{
        {{&dynsel_inline_backend, nullptr}, {&dynsel_inline_backend, nullptr}}};
    auto chosen = dynsel::select(p, [](dynsel::resource) {});
    assert_true(chosen->wants(info::task_time));
    assert_status(DYNSEL_E_INVALID, dynsel::report(*chosen, info::task_completion));
    assert_status(DYNSEL_OK, dynsel::report(*chosen, info::task_submission));
    assert_status(DYNSEL_OK, dynsel::report(*chosen, info::task_time, 2ms));
    assert_status(DYNSEL_E_INVALID, dynsel::report(*chosen, info::task_time, 2ms));
    assert_status(DYNSEL_OK, dynsel::report(*chosen, info::task_completion));
}
#else
void reports_reach_the_policy(void **)
{
    skip();
}
#endif

/* Tasks of C, and what stands beside a callable. */

#if CONFIG_DYNSEL_SUBMISSION_CONTROL
void polls_and_cancels(void **)
{
    auto p = manual_policy();
    int calls = 0;
    auto s = dynsel::submit(p, enqueue{&calls, {}});
    assert_status(DYNSEL_E_AGAIN, s.poll());
    assert_status(DYNSEL_E_BUSY, s.cancel());
    assert_status(DYNSEL_E_TIMEOUT, dynsel::wait_for(p.get_submission_group(), 0ns));
    manual_ends(0);
    assert_status(DYNSEL_OK, s.poll());
    assert_status(DYNSEL_OK, s.wait());
}
#else
void polls_and_cancels(void **)
{
    skip();
}
#endif

void tasks_of_c_are_taken_too(void **)
{
    auto p = host_policy();
    int seen = 0;
    const dynsel_task_fn function = [](const dynsel_resource *, void *args, dynsel_event *) {
        ++*static_cast<int *>(args);
        return DYNSEL_OK;
    };
    auto s = dynsel::submit(p, DYNSEL_TASK(function, &seen));
    assert_status(DYNSEL_OK, dynsel::wait(s));
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(*p.native(), DYNSEL_TASK(function, &seen)));
    auto t = dynsel::try_submit(p, DYNSEL_TASK(function, &seen));
    assert_status(DYNSEL_OK, dynsel::wait(*t));
    if (auto stored = dynsel::try_submit(p, [](dynsel::resource) {})) {
        assert_status(DYNSEL_OK, dynsel::wait(*stored));
    } else {
        fail();
    }
    assert_int_equal(seen, 3);
}

void results_say_what_they_are(void **)
{
    result<std::unique_ptr<int>> moved{std::unique_ptr<int>{}};
    assert_true(static_cast<bool>(moved));
    result<int> none{DYNSEL_E_FULL};
    assert_false(static_cast<bool>(none));
    assert_status(DYNSEL_E_FULL, none.status());
    assert_true(dies([&] { (void)none.value(); }));
    assert_true(dies([] { dynsel::status{DYNSEL_E_TASK}.expect(); }));
    dynsel::status{}.expect();
    if (CONFIG_DYNSEL_STATUS_NAMES) {
        assert_string_equal(none.status().name(), "DYNSEL_E_FULL");
        assert_true(none.status().text()[0] != '\0');
    }
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(callables_get_resource_and_arguments),
        cmocka_unit_test(move_only_callables_and_arguments_are_moved),
        cmocka_unit_test(statuses_and_values_come_back),
        cmocka_unit_test(a_wait_leaves_the_details),
        cmocka_unit_test(refused_submits_tell_why),
        cmocka_unit_test(a_stored_callable_stays_while_its_work_runs),
        cmocka_unit_test(released_work_fails_to_the_group),
        cmocka_unit_test(submissions_can_be_moved),
        cmocka_unit_test(try_submit_tells_that_nothing_is_free),
        cmocka_unit_test(callables_that_end_too_early_stop_the_program),
        cmocka_unit_test(selections_are_submitted_once),
        cmocka_unit_test(raw_values_unwrap_to_themselves),
        cmocka_unit_test(wait_of_what_has_no_wait_does_nothing),
        cmocka_unit_test(reports_reach_the_policy),
        cmocka_unit_test(polls_and_cancels),
        cmocka_unit_test(tasks_of_c_are_taken_too),
        cmocka_unit_test(results_say_what_they_are),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
