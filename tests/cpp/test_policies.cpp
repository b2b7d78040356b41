/* SPDX-License-Identifier: Apache-2.0 */
/* Policies as objects, and policies of one's own by derivation. */
#include <dynsel/dynsel.hpp>

#include <atomic>

#include "dies.h"
#include "manual.h"

using namespace std::chrono_literals;
namespace info = dynsel::execution_info;

namespace {

const dynsel_resource host = {&dynsel_inline_backend, nullptr};

void do_nothing(dynsel::resource)
{
}

struct enqueue {
    void operator()(dynsel::resource where, dynsel_event &done) const
    {
        done.native = manual_running(where);
    }
};
const enqueue running;

/* Constructors and destructors. */

template <class P> void each_constructor()
{
    static P deferred{dynsel::deferred_initialization};
    assert_false(static_cast<bool>(deferred));
    assert_status(DYNSEL_E_UNINITIALIZED, deferred.status());
    assert_int_equal(deferred.get_resources().size(), 0);
    assert_status(DYNSEL_OK, deferred.initialize({host}));
    assert_status(DYNSEL_E_INVALID, deferred.initialize({host})); /* already */
    assert_int_equal(dynsel::get_resources(deferred).size(), 1);
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(deferred, do_nothing));
    assert_status(DYNSEL_OK, deferred.deinitialize());
    assert_status(DYNSEL_E_UNINITIALIZED, deferred.status());
    assert_status(DYNSEL_E_UNINITIALIZED, deferred.deinitialize());
    assert_status(DYNSEL_E_UNINITIALIZED, dynsel::submit_and_wait(deferred, do_nothing));

    static P some{{host, host}};
    assert_status(DYNSEL_OK, some.status());
    unsigned count = 0;
    for (const dynsel::resource each : some.get_resources()) {
        assert_string_equal(each.name(), "host");
        count++;
    }
    assert_int_equal(count, 2);

    dynsel_options options = {};
    options.backend = &dynsel_inline_backend;
    static P by_options{options};
    assert_status(DYNSEL_OK, dynsel::submit_and_wait(by_options, do_nothing));
    static P refused{{dynsel_resource{}}};
    assert_status(DYNSEL_E_INVALID, refused.status());
}

void policies_of_the_library_are_constructed(void **)
{
    each_constructor<dynsel::fixed_resource_policy>();
    each_constructor<dynsel::round_robin_policy>();
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    each_constructor<dynsel::dynamic_load_policy>();
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    each_constructor<dynsel::auto_tune_policy>();
    static dynsel::auto_tune_policy resampling{{host}, 5ms};
    assert_int_equal(resampling.native_state()->resample_interval_ns, 5000000);
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    each_constructor<dynsel::earliest_finish_policy>();
#endif
}

void offsets_are_passed_on(void **)
{
    dynsel::fixed_resource_policy second{{host, host}, 1};
    assert_int_equal(dynsel::select(second, do_nothing)->index(), 1);
    dynsel::fixed_resource_policy past{{host}, 1};
    assert_status(DYNSEL_E_INVALID, past.status());
}

/* The specification requires these members of each policy. */
template <class P> void each_member()
{
    static P p{{host}};
    int count = 0;
    auto add = [&count](dynsel::resource, int by) { count += by; };
    auto chosen = p.select(add, 1);
    auto unknown = p.select();
    assert_true(chosen && unknown && &chosen->get_policy() == &p);
    auto by_selection = p.submit(*chosen, add, 1);
    auto by_policy = p.submit(add, 20);
    assert_status(DYNSEL_OK, by_selection.wait());
    assert_status(DYNSEL_OK, by_policy.wait());
    assert_status(DYNSEL_OK, p.submit_and_wait(*unknown, add, 300));
    assert_status(DYNSEL_OK, p.submit_and_wait(add, 4000));
    assert_int_equal(count, 4321);
    auto tried = p.try_submit(add, 50000);
    auto again = p.select(add, 1);
    auto tried_selection = p.try_submit(std::move(*again), add, 600000);
    assert_status(DYNSEL_OK, tried.wait());
    assert_status(DYNSEL_OK, tried_selection.wait());
    assert_int_equal(count, 654321);
    assert_status(DYNSEL_E_STALE, p.submit_and_wait(*chosen, add, 1)); /* it was consumed */
}

void policies_have_the_functions_as_members(void **)
{
    each_member<dynsel::fixed_resource_policy>();
    each_member<dynsel::round_robin_policy>();
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    each_member<dynsel::auto_tune_policy>();
#endif
}

void a_policy_waits_for_its_work_when_it_ends(void **)
{
    manual_reset();
    manual_let_waits_complete(true);
    {
        dynsel::fixed_resource_policy p{{manual_queue_of(0)}};
        assert_status(DYNSEL_OK, dynsel::submit_detached(p, dynsel::ref(running)));
    }
    assert_true(manual_waits() > 0);
    manual_check();
}

void a_policy_that_ends_before_its_submissions_stops_the_program(void **)
{
    assert_true(dies([] {
        dynsel::submission outlives;
        dynsel::fixed_resource_policy p{{manual_queue_of(0)}};
        outlives = dynsel::submit(p, dynsel::ref(running));
        manual_let_waits_complete(true);
    }));
}

/* Policies of one's own. */

class least_loaded
    : public dynsel::policy_base<least_loaded, info::task_submission_t, info::task_completion_t> {
  public:
    static constexpr const char *name = "least_loaded";

    dynsel::status initialize_state(unsigned most)
    {
        capacity = most;
        return most > 0 ? DYNSEL_OK : DYNSEL_E_INVALID;
    }

    std::optional<dynsel::choice> try_select(const dynsel::task_view &task)
    {
        function = task.native().function;
        id = task.native().id;
        std::optional<dynsel::choice> best;
        for (std::uint32_t i = 0; i < resource_count(); i++) {
            if (may_use(i, task) && load[i] < capacity && (!best || load[i] < load[best->index])) {
                best = dynsel::choice{i, DYNSEL_REASON_LEAST_LOADED};
            }
        }
        if (best && task.claims() && claims) {
            best->counted = true;
            load[best->index]++;
        }
        if (best) {
            best->notes[0] = 40 + best->index;
        }
        return best;
    }

    void report(const dynsel_selection &made, info::task_submission_t)
    {
        load[made.index]++;
        submissions++;
        note = made.notes[0];
    }
    void report(const dynsel_selection &made, info::task_completion_t)
    {
        load[made.index]--;
    }
    void report(const dynsel_selection &made, info::task_withdrawn_t)
    {
        load[made.index]--;
        withdrawn++;
    }

    bool claims = false;
    unsigned capacity = 0, load[CONFIG_DYNSEL_MAX_RESOURCES] = {};
    unsigned submissions = 0, withdrawn = 0, id = 0, note = 0;
    dynsel_task_fn function = nullptr;
};

static_assert(dynsel::report_info_v<dynsel::selection_t<least_loaded>, info::task_completion_t>);
static_assert(!dynsel::report_info_v<dynsel::selection_t<least_loaded>, info::task_time_t>);
static_assert(
    dynsel::report_execution_info_v<dynsel::selection_t<least_loaded>, info::task_submission_t>);
static_assert(
    !dynsel::report_execution_info<dynsel::selection_t<least_loaded>, info::task_time_t>::value);

void a_policy_of_ones_own_selects_and_hears(void **)
{
    for (const bool claims : {false, true}) {
        manual_reset();
        least_loaded p;
        p.claims = claims;
        assert_status(DYNSEL_OK, p.initialize({manual_queue_of(0), manual_queue_of(1)}, 1U));
        auto first = p.submit(running);
        auto second = dynsel::submit(p, running);
        assert_true(first.where() != second.where());
        assert_int_equal(first.reason(), DYNSEL_REASON_LEAST_LOADED);
        assert_int_equal(p.submissions, claims ? 0 : 2);
        assert_int_equal(p.note, claims ? 0 : 41);
        const auto third = p.try_submit(running);
        assert_status(DYNSEL_E_AGAIN, third.submitted());
        manual_ends(1);
        assert_status(DYNSEL_OK, second.wait());
        assert_int_equal(p.load[0], 1);
        assert_int_equal(p.load[1], 0);
        manual_ends(0);
        assert_status(DYNSEL_OK, first.wait());
        assert_status(DYNSEL_OK, dynsel::wait(p.get_submission_group()));
        assert_status(DYNSEL_OK, p.deinitialize());
        manual_check();
    }
}

void a_refused_submission_is_withdrawn(void **)
{
    manual_reset();
    least_loaded p;
    p.claims = true;
    assert_status(DYNSEL_OK, p.initialize({manual_queue_of(0), manual_queue_of(1)}, 5U));
    manual_refuse(0, true);
    auto s = p.submit(running);
    assert_true(s.where() == &p.get_resources().data()[1]);
    assert_int_equal(p.withdrawn, 1);
    assert_int_equal(p.load[0], 0);
    manual_ends(0);
    assert_status(DYNSEL_OK, s.wait());
}

void nothing_to_choose_from_is_told_apart(void **)
{
    least_loaded p;
    assert_status(DYNSEL_OK, p.initialize({host}, 1U));
    const dynsel_task_form none[] = {{nullptr, nullptr}};
    dynsel_task task = {};
    task.forms = none;
    task.form_count = 1;
    assert_false(dynsel::submit_and_wait(p, task).ok());
    p.load[0] = 1;
    assert_status(DYNSEL_E_AGAIN, p.try_submit(do_nothing).submitted());
    p.load[0] = 0;
    assert_status(DYNSEL_OK, p.submit_and_wait(do_nothing));
}

void failed_initializations_leave_nothing(void **)
{
    least_loaded p;
    assert_status(DYNSEL_E_INVALID, p.initialize({host}, 0U));
    assert_status(DYNSEL_E_UNINITIALIZED, p.submit_and_wait(do_nothing));
    assert_status(DYNSEL_OK, p.initialize({host}, 2U));
    assert_status(DYNSEL_E_INVALID, p.initialize({host}, 3U)); /* it is initialized */
    assert_int_equal(p.capacity, 2);
    assert_status(DYNSEL_OK, p.submit_and_wait(do_nothing));
}

/* The kind of a task is that of its callable, selected or submitted. */
void kinds_are_those_of_callables(void **)
{
    least_loaded p;
    assert_status(DYNSEL_OK, p.initialize({host}, 9U));
    auto one = [](dynsel::resource, int) {};
    auto other = [](dynsel::resource, int) {};
    assert_status(DYNSEL_OK, dynsel::select(p, one, 3).status());
    const dynsel_task_fn selected = p.function;
    assert_status(DYNSEL_OK, p.submit_and_wait(one, 4));
    assert_true(selected == p.function);
    assert_status(DYNSEL_OK, p.submit_and_wait(other, 4));
    assert_true(selected != p.function);
    assert_status(DYNSEL_OK, p.submit_and_wait(dynsel::properties{}.id(17), do_nothing));
    assert_int_equal(p.id, 17);
    const std::uint32_t words[] = {1, 2};
    auto about = dynsel::properties{}.key(words);
    assert_int_equal(about.native().key_word_count, 2);
}

class timed : public dynsel::policy_base<timed, info::task_submission_t, info::task_completion_t,
                                         info::task_time_t> {
  public:
    static std::optional<dynsel::choice> try_select(const dynsel::task_view &)
    {
        return 0;
    }
    void report(const dynsel_selection &, info::task_submission_t)
    {
    }
    void report(const dynsel_selection &, info::task_completion_t)
    {
    }
    void report(const dynsel_selection &, info::task_time_t, std::chrono::nanoseconds took)
    {
        total += took;
    }
    std::chrono::nanoseconds total{0};
};

void times_are_durations(void **)
{
    timed p;
    assert_status(DYNSEL_OK, p.initialize({host}));
    auto chosen = dynsel::select(p, do_nothing);
    assert_status(DYNSEL_OK, dynsel::report(*chosen, info::task_submission));
    assert_status(DYNSEL_OK, dynsel::report(*chosen, info::task_time, 3ms));
    assert_true(p.total == 3ms);
    assert_status(DYNSEL_OK, p.submit_and_wait(do_nothing));
    assert_true(p.total > 3ms);
    assert_string_equal(p.native()->ops->name, "custom");
}

/* Aspects. */

#if CONFIG_DYNSEL_ASPECTS && CONFIG_DYNSEL_ASPECT_HOST && CONFIG_DYNSEL_ASPECT_GPU
static_assert(dynsel::aspects(dynsel::aspect::host, dynsel::aspect::gpu) ==
              (DYNSEL_ASPECT_BIT(host) | DYNSEL_ASPECT_BIT(gpu)));
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    static_assert(dynsel::all_devices_have_v<dynsel::aspect::name> ==                              \
                  static_cast<bool>(dynsel_all_devices_have(name)));                               \
    static_assert(dynsel::any_device_has_v<dynsel::aspect::name> ==                                \
                  static_cast<bool>(dynsel_any_device_has(name)));
#include <dynsel/aspects.def>

void tasks_need_aspects(void **)
{
    dynsel::round_robin_policy p{{host}};
    assert_true(p.get_resources()[0].has(dynsel::aspect::host));
    assert_false(p.get_resources()[0].has(dynsel::aspect::gpu));
    const auto needs = dynsel::properties{}.needs(dynsel::aspects(dynsel::aspect::gpu));
    assert_status(DYNSEL_E_ASPECT, dynsel::submit_and_wait(p, needs, do_nothing));
}
#else
void tasks_need_aspects(void **)
{
    skip();
}
#endif

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(policies_of_the_library_are_constructed),
        cmocka_unit_test(offsets_are_passed_on),
        cmocka_unit_test(policies_have_the_functions_as_members),
        cmocka_unit_test(a_policy_waits_for_its_work_when_it_ends),
        cmocka_unit_test(a_policy_that_ends_before_its_submissions_stops_the_program),
        cmocka_unit_test(a_policy_of_ones_own_selects_and_hears),
        cmocka_unit_test(a_refused_submission_is_withdrawn),
        cmocka_unit_test(nothing_to_choose_from_is_told_apart),
        cmocka_unit_test(failed_initializations_leave_nothing),
        cmocka_unit_test(kinds_are_those_of_callables),
        cmocka_unit_test(times_are_durations),
        cmocka_unit_test(tasks_need_aspects),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
