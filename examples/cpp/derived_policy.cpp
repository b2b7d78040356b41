/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy of one's own by derivation from policy_base, as the specification of custom policies
 * shows it: it takes the resource that has been fastest lately, and hears of the times of all work.
 */
#include "program.hpp"

#include <atomic>

namespace ex = dynsel;

class timing_aware_policy
    : public ex::policy_base<timing_aware_policy, ex::execution_info::task_submission_t,
                             ex::execution_info::task_completion_t,
                             ex::execution_info::task_time_t> {
  public:
    static constexpr const char *name = "timing_aware";

    // The selection logic; several threads may be here at once
    std::optional<ex::choice> try_select(const ex::task_view &task)
    {
        std::optional<ex::choice> best;
        for (std::uint32_t i = 0; i < resource_count(); i++) {
            if (may_use(i, task) && (!best || times[i] < times[best->index])) {
                best = ex::choice{i, times[i] == 0 ? DYNSEL_REASON_PROFILING
                                                   : DYNSEL_REASON_BEST_KNOWN};
            }
        }
        return best; // empty: the base class says why nothing may be used
    }

    // Execution info, as listed in the template parameters
    void report(const dynsel_selection &, ex::execution_info::task_submission_t)
    {
        submitted++;
    }
    void report(const dynsel_selection &, ex::execution_info::task_completion_t)
    {
        completed++;
    }
    void report(const dynsel_selection &made, ex::execution_info::task_time_t,
                std::chrono::nanoseconds took)
    {
        times[made.index] = took.count();
    }

    std::atomic<std::int64_t> times[CONFIG_DYNSEL_MAX_RESOURCES] = {};
    std::atomic<unsigned> submitted{0}, completed{0};
};

static ex::status run_tasks(unsigned *runs)
{
    static timing_aware_policy p;
    static int slow = 200000;
    static int fast = 1000;
    // Two resources of the host; a handle tells a task how long it takes there
    ex::status status =
        p.initialize({{&dynsel_inline_backend, &slow}, {&dynsel_inline_backend, &fast}});
    for (int i = 0; i < 10 && status.ok(); i++) {
        auto s = p.submit([](ex::resource where) {
            volatile int steps = *static_cast<int *>(where.handle());
            while (steps > 0) {
                steps = steps - 1;
            }
        });
        status = ex::wait(s);
        runs[s.where() == ex::resource{p.get_resources()[0]} ? 0 : 1]++;
    }
    std::printf("submitted %u, completed %u\nslow %u\nfast %u\n", p.submitted.load(),
                p.completed.load(), runs[0], runs[1]);
    return status;
}

int main(int argc, char **argv)
{
    program_takes_nothing(argc, argv, "derived_policy",
                          "Ten tasks on the faster of two resources, by a policy of its own.\n");
    unsigned runs[2] = {};
    const ex::status status = run_tasks(runs);
    return program_ends("derived_policy", status, runs[0] == 1 && runs[1] == 9);
}
