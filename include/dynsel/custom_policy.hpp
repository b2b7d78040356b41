/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policies of one's own by derivation.
 *
 *     class random_policy : public dynsel::policy_base<random_policy> {
 *       public:
 *         std::optional<dynsel::choice> try_select(const dynsel::task_view &task);
 *     };
 *
 * The derived class has
 *
 * - `try_select(task)`: the index of a resource that may_use() allows, as a dynsel::choice; empty
 *   where none is free at the moment. Never blocks. Several threads at once with
 *   CONFIG_DYNSEL_CONTEXT_THREADS;
 * - for each execution info in the list behind its name, `report(made, info)`, or with a value
 *   `report(made, info, value)`, where made is a `const dynsel_selection &`; where
 *   task_submission_t is wanted, task_withdrawn_t comes for work that its resource refused, to an
 *   overload if there is one. Never blocks;
 * - optional: `initialize_state(args...)`, called by initialize(resources, args...) when the table
 *   of resources is filled; and `static constexpr const char *name`.
 *
 * Like every policy it cannot be copied or moved: its state is in it. Other operations
 * (dynsel_policy_ops.submit) are for policies in C.
 *
 * Source: seed 004, "Using policy_base".
 */
#ifndef DYNSEL_CUSTOM_POLICY_HPP
#define DYNSEL_CUSTOM_POLICY_HPP

#include <optional>

#include <dynsel/submission.hpp>

#if CONFIG_DYNSEL_CUSTOM_POLICIES

namespace dynsel {

/** What try_select() chooses. */
struct choice {
    constexpr choice(std::uint32_t of, dynsel_reason why = DYNSEL_REASON_UNKNOWN) noexcept
        : index(of), reason(why)
    {
    }

    std::uint32_t index;
    dynsel_reason reason;
    bool counted = false; /**< the policy counted the submission already, in try_select() itself,
                               which task.claims() allows: it is not reported again */
    std::uint32_t notes[DYNSEL_NOTES] = {}; /**< of the policy, in each report */
};

/** The task that a resource is selected for. */
class task_view {
  public:
    task_view(const dynsel_task *task, bool claims) noexcept : task_(task), claims_(claims)
    {
    }
    /** Whether the work follows at once: else the choice may be dropped. */
    [[nodiscard]] bool claims() const noexcept
    {
        return claims_;
    }
    [[nodiscard]] const dynsel_task &native() const noexcept
    {
        return *task_;
    }

  private:
    const dynsel_task *task_;
    bool claims_;
};

template <class Policy, class... Reports>
class policy_base : public detail::policy_members<Policy> {
    static_assert((execution_info_v<Reports> && ...),
                  "behind the policy's name stands the execution info that it wants");

  public:
    using resource_type = resource;
    using wait_type = dynsel_event;

    static constexpr unsigned needs = (0u | ... | static_cast<unsigned>(Reports::info));

    constexpr policy_base() noexcept = default;
    policy_base(const policy_base &) = delete;
    policy_base &operator=(const policy_base &) = delete;

    /** See dynsel_policy_init(). The other arguments are for initialize_state(), whose failure ends
     * the policy again. */
    template <class... Args> status initialize(const dynsel_options &options, Args &&...args)
    {
        const bool was_new = node_.policy.self == nullptr;
        dynsel_status status = dynsel_policy_init(&node_.policy, &ops, &options);
        if (status == DYNSEL_OK) {
            node_.object = static_cast<Policy *>(this);
            status = prepare(std::forward<Args>(args)...);
            if (status != DYNSEL_OK && was_new) {
                detail::ignore(dynsel_policy_deinit(&node_.policy));
            }
        }
        return status;
    }
    template <class... Args>
    status initialize(std::initializer_list<dynsel_resource> resources, Args &&...args)
    {
        return initialize(detail::options_of(resources.begin(), resources.size()),
                          std::forward<Args>(args)...);
    }
    status initialize()
    {
        return initialize(dynsel_options{});
    }
    /** See dynsel_policy_deinit(). */
    status deinitialize() noexcept
    {
        return dynsel_policy_deinit(&node_.policy);
    }

    [[nodiscard]] resource_list get_resources() const noexcept
    {
        return resource_list{&node_.policy};
    }
    [[nodiscard]] submission_group get_submission_group() noexcept
    {
        return submission_group{&node_.policy};
    }
    dynsel_policy *native() noexcept
    {
        return &node_.policy;
    }

  protected:
    /* Where members of the derived class need a destructor, it calls deinitialize() in its own:
     * they are gone here, and work in flight may still report. */
    ~policy_base()
    {
        detail::end_policy(&node_.policy);
    }

    /** See dynsel_policy_may_use(). */
    [[nodiscard]] bool may_use(std::uint32_t index, const task_view &task) const noexcept
    {
        return dynsel_policy_may_use(&node_.policy, index, &task.native());
    }
    [[nodiscard]] std::uint32_t resource_count() const noexcept
    {
        return node_.policy.count;
    }

  private:
    /* Begins with the policy of C, which its operations get. */
    struct node {
        dynsel_policy policy;
        Policy *object;
    };

    template <class... Args> dynsel_status prepare(Args &&...args)
    {
        if constexpr (has_state<Policy, Args...>(0)) {
            auto &self = *static_cast<Policy *>(this);
            if constexpr (std::is_void_v<decltype(self.initialize_state(
                              std::forward<Args>(args)...))>) {
                self.initialize_state(std::forward<Args>(args)...);
                return DYNSEL_OK;
            } else {
                return self.initialize_state(std::forward<Args>(args)...);
            }
        } else {
            static_assert(sizeof...(Args) == 0,
                          "the policy has no initialize_state() that takes these arguments");
            return DYNSEL_OK;
        }
    }
    template <class P, class... Args>
    static constexpr auto has_state(int)
        -> decltype(std::declval<P &>().initialize_state(std::declval<Args>()...), bool())
    {
        return true;
    }
    template <class P, class... Args> static constexpr bool has_state(long)
    {
        return false;
    }

    static Policy &object_of(dynsel_policy *policy) noexcept
    {
        return *reinterpret_cast<node *>(policy)->object;
    }

    /** Why nothing was chosen: nothing is free, or nothing may be used. */
    static dynsel_status refuse(const dynsel_policy *policy, const dynsel_task *task) noexcept
    {
        for (std::uint32_t i = 0; i < policy->count; i++) {
            if (dynsel_policy_may_use(policy, i, task)) {
                return DYNSEL_E_AGAIN;
            }
        }
        return dynsel_policy_refuse(policy, task);
    }

    static dynsel_status try_select_op(dynsel_policy *policy, const dynsel_task *task,
                                       dynsel_selection *selection) noexcept
    {
        const std::optional<choice> chosen =
            object_of(policy).try_select(task_view{task, selection->claims != 0});
        if (!chosen) {
            return refuse(policy, task);
        }
        selection->index = chosen->index;
        selection->reason = static_cast<std::uint8_t>(chosen->reason);
        for (int i = 0; i < DYNSEL_NOTES; i++) {
            selection->notes[i] = chosen->notes[i];
        }
        if (chosen->counted && selection->claims != 0) {
            selection->reported =
                static_cast<std::uint8_t>(selection->reported | DYNSEL_TASK_SUBMISSION);
        }
        return DYNSEL_OK;
    }

    static void report_op(dynsel_policy *policy, const dynsel_selection *selection,
                          dynsel_execution_info info, std::uint64_t value) noexcept
    {
        Policy &object = object_of(policy);
        (tell<Reports>(object, *selection, info, value), ...);
        if constexpr ((needs & DYNSEL_TASK_SUBMISSION) != 0) {
            tell_withdrawn(object, *selection, info, 0);
        }
    }

    template <class Info>
    static void tell(Policy &object, const dynsel_selection &selection, dynsel_execution_info info,
                     std::uint64_t value) noexcept
    {
        if (info != Info::info) {
            return;
        }
        if constexpr (std::is_void_v<typename Info::value_type>) {
            object.report(selection, Info{});
        } else {
            object.report(selection, Info{}, typename Info::value_type(value));
        }
    }

    template <class P>
    static auto tell_withdrawn(P &object, const dynsel_selection &selection,
                               dynsel_execution_info info, int) noexcept
        -> decltype(object.report(selection, execution_info::task_withdrawn), void())
    {
        if (info == DYNSEL_TASK_WITHDRAWN) {
            object.report(selection, execution_info::task_withdrawn);
        }
    }
    template <class P>
    static void tell_withdrawn(P &, const dynsel_selection &, dynsel_execution_info, long) noexcept
    {
    }

    template <class P> static constexpr auto name_of(int) -> std::decay_t<decltype(P::name)>
    {
        return P::name;
    }
    template <class P> static constexpr const char *name_of(long)
    {
        return "custom";
    }

    static constexpr dynsel_policy_ops make_ops() noexcept
    {
        dynsel_policy_ops made = {};
        made.name = name_of<Policy>(0);
        made.needs = needs;
        made.try_select = try_select_op;
        made.report = report_op;
        return made;
    }
    static const dynsel_policy_ops ops;

    node node_ = {};
};

template <class Policy, class... Reports>
const dynsel_policy_ops policy_base<Policy, Reports...>::ops = policy_base::make_ops();

} // namespace dynsel

#endif

#endif
