/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The policies of the library as objects: a constructor initializes, the destructor deinitializes.
 *
 *     dynsel::round_robin_policy p;                                  the default resources
 *     dynsel::round_robin_policy p{{first, second}};                 these, each a dynsel_resource
 *     static dynsel::round_robin_policy p{dynsel::deferred_initialization};
 *
 * A constructor gives no status: it is kept, for status(); until initialize() has succeeded, every
 * call with the policy fails with DYNSEL_E_UNINITIALIZED. A policy stays where it is: it cannot be
 * copied or moved. Its tables are inside, so a large one is better static than on the stack; with
 * deferred_initialization that costs no code at the start of the program.
 *
 * The destructor waits for work in flight. What is still held then, a submission or selection that
 * was neither waited for nor released, is a mistake that stops the program: declare submissions
 * after their policy. A failure of detached work that nobody asked the group for is lost.
 *
 * Source: seed 002, "Provided Concrete Policies".
 */
#ifndef DYNSEL_POLICIES_HPP
#define DYNSEL_POLICIES_HPP

#include <chrono>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include <dynsel/dynsel.h>
#include <dynsel/resource.hpp>
#include <dynsel/status.hpp>

namespace dynsel {

struct deferred_initialization_t {};
inline constexpr deferred_initialization_t deferred_initialization{};

/** All work of a policy; a value that may be copied. */
class submission_group {
  public:
    explicit submission_group(dynsel_policy *policy) noexcept
        : group_(dynsel_get_submission_group(policy))
    {
    }
    /** See dynsel_wait_group(). */
    status wait() const noexcept
    {
        return dynsel_wait_group(group_);
    }
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    /** See dynsel_wait_group_for(). */
    status wait_for(std::chrono::nanoseconds timeout) const noexcept
    {
        return dynsel_wait_group_for(group_, static_cast<std::uint64_t>(timeout.count()));
    }
#endif

  private:
    dynsel_submission_group group_;
};

/* The free functions of <dynsel/submission.hpp>, which the members of a policy call. */
template <class P> class selection;
template <class P, class F, class... Args>
result<selection<P>> select(P &policy, const F &f, const Args &...args);
template <class P> result<selection<P>> select(P &policy);
template <class Target, class F, class... Args>
[[nodiscard]] auto submit(Target &&target, F &&f, Args &&...args);
template <class Target, class F, class... Args>
[[nodiscard]] auto try_submit(Target &&target, F &&f, Args &&...args);
template <class Target, class F, class... Args>
status submit_and_wait(Target &&target, F &&f, Args &&...args);

namespace detail {

template <class T> struct is_selection : std::false_type {
};
template <class P> struct is_selection<selection<P>> : std::true_type {
};
template <class T> inline constexpr bool is_selection_v = is_selection<std::decay_t<T>>::value;

/** The free functions over a policy, as members of a policy. The first argument may be a selection
 * that it made. */
template <class Policy> class policy_members {
  public:
    template <class... Args> [[nodiscard]] auto select(const Args &...args)
    {
        return dynsel::select(self(), args...);
    }
    template <class First, class... Args> [[nodiscard]] auto submit(First &&first, Args &&...args)
    {
        if constexpr (is_selection_v<First>) {
            return dynsel::submit(first, std::forward<Args>(args)...);
        } else {
            return dynsel::submit(self(), std::forward<First>(first), std::forward<Args>(args)...);
        }
    }
    template <class First, class... Args>
    [[nodiscard]] auto try_submit(First &&first, Args &&...args)
    {
        if constexpr (is_selection_v<First>) {
            return dynsel::try_submit(first, std::forward<Args>(args)...);
        } else {
            return dynsel::try_submit(self(), std::forward<First>(first),
                                      std::forward<Args>(args)...);
        }
    }
    template <class First, class... Args> status submit_and_wait(First &&first, Args &&...args)
    {
        if constexpr (is_selection_v<First>) {
            return dynsel::submit_and_wait(first, std::forward<Args>(args)...);
        } else {
            return dynsel::submit_and_wait(self(), std::forward<First>(first),
                                           std::forward<Args>(args)...);
        }
    }

  private:
    Policy &self() noexcept
    {
        return *static_cast<Policy *>(this);
    }
};

/** Deinitializes a policy that goes away; nothing where it was not initialized. */
inline void end_policy(dynsel_policy *policy) noexcept
{
    if (policy->self != policy) {
        return;
    }
    if (dynsel_policy_deinit(policy) == DYNSEL_E_BUSY) {
        ignore(dynsel_wait_group(dynsel_get_submission_group(policy)));
        if (dynsel_policy_deinit(policy) == DYNSEL_E_BUSY) {
            stop("a policy ends before its submissions", __LINE__);
        }
    }
}

/** dynsel_options of some resources. */
inline dynsel_options options_of(const dynsel_resource *resources, std::size_t count) noexcept
{
    dynsel_options options = {};
    options.resources = resources;
    options.count = count;
    return options;
}

/** A policy of the library; Kind has its structure, its init function and what that is given. */
template <class Kind> class policy_of : public policy_members<policy_of<Kind>> {
  public:
    using option = typename Kind::option;
    using resource_type = resource;
    using wait_type = dynsel_event;

    /** The dynsel_execution_info bits that the policy wants. */
    static constexpr unsigned needs = Kind::needs;

    constexpr explicit policy_of(deferred_initialization_t) noexcept
    {
    }
    explicit policy_of(option value = Kind::usual) noexcept
    {
        status_ = initialize(value);
    }
    policy_of(std::initializer_list<dynsel_resource> resources, option value = Kind::usual) noexcept
    {
        status_ = initialize(resources, value);
    }
    explicit policy_of(const dynsel_options &options, option value = Kind::usual) noexcept
    {
        status_ = initialize(options, value);
    }
    policy_of(const policy_of &) = delete;
    policy_of &operator=(const policy_of &) = delete;
    ~policy_of()
    {
        end_policy(native());
    }

    /** Ends a deferred initialization; see the init function of the policy. */
    class status initialize(option value = Kind::usual) noexcept
    {
        return initialize(dynsel_options{}, value);
    }
    class status initialize(std::initializer_list<dynsel_resource> resources,
                            option value = Kind::usual) noexcept
    {
        return initialize(options_of(resources.begin(), resources.size()), value);
    }
    class status initialize(const dynsel_options &options, option value = Kind::usual) noexcept
    {
        status_ = Kind::init(&state_, &options, value);
        return status_;
    }

    /** See dynsel_policy_deinit(). */
    class status deinitialize() noexcept
    {
        const dynsel_status ended = dynsel_policy_deinit(native());
        status_ = ended == DYNSEL_OK ? DYNSEL_E_UNINITIALIZED : status_;
        return ended;
    }

    /** How the last initialization ended. */
    class status status() const noexcept
    {
        return status_;
    }
    explicit operator bool() const noexcept
    {
        return status_ == DYNSEL_OK;
    }

    [[nodiscard]] resource_list get_resources() const noexcept
    {
        return resource_list{&state_.policy};
    }
    [[nodiscard]] submission_group get_submission_group() noexcept
    {
        return submission_group{native()};
    }

    /** For functions of C. */
    dynsel_policy *native() noexcept
    {
        return &state_.policy;
    }
    typename Kind::state *native_state() noexcept
    {
        return &state_;
    }

  private:
    typename Kind::state state_ = {};
    dynsel_status status_ = DYNSEL_E_UNINITIALIZED;
};

} // namespace detail

/* Kinds of policy; use the names below. */
namespace kinds {

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
struct fixed_resource {
    using state = dynsel_fixed_resource_policy;
    using option = std::size_t;
    static constexpr option usual = 0;
    static constexpr unsigned needs = 0;
    static dynsel_status init(state *policy, const dynsel_options *options, option offset) noexcept
    {
        return dynsel_fixed_resource_init(policy, options, offset);
    }
};
#endif

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
struct round_robin {
    using state = dynsel_round_robin_policy;
    using option = std::size_t;
    static constexpr option usual = 0;
    static constexpr unsigned needs = 0;
    static dynsel_status init(state *policy, const dynsel_options *options, option offset) noexcept
    {
        return dynsel_round_robin_init(policy, options, offset);
    }
};
#endif

/** The option of a policy that has none. */
struct no_option {
    constexpr no_option() noexcept = default;
};

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
struct dynamic_load {
    using state = dynsel_dynamic_load_policy;
    using option = no_option;
    static constexpr option usual{};
    static constexpr unsigned needs = DYNSEL_DYNAMIC_LOAD_NEEDS;
    static dynsel_status init(state *policy, const dynsel_options *options, option) noexcept
    {
        return dynsel_dynamic_load_init(policy, options);
    }
};
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
struct auto_tune {
    using state = dynsel_auto_tune_policy;
    using option = std::chrono::nanoseconds;
    static constexpr option usual{DYNSEL_NEVER_RESAMPLE};
    static constexpr unsigned needs = DYNSEL_AUTO_TUNE_NEEDS;
    static dynsel_status init(state *policy, const dynsel_options *options,
                              option resample) noexcept
    {
        return dynsel_auto_tune_init(policy, options, static_cast<std::uint64_t>(resample.count()));
    }
};
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
struct earliest_finish {
    using state = dynsel_earliest_finish_policy;
    using option = no_option;
    static constexpr option usual{};
    static constexpr unsigned needs = DYNSEL_EARLIEST_FINISH_NEEDS;
    static dynsel_status init(state *policy, const dynsel_options *options, option) noexcept
    {
        return dynsel_earliest_finish_init(policy, options);
    }
};
#endif

} // namespace kinds

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
/** Always the resource at an offset: `fixed_resource_policy p{1}`. */
using fixed_resource_policy = detail::policy_of<kinds::fixed_resource>;
#endif
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
/** The resources in turn, from an offset on. */
using round_robin_policy = detail::policy_of<kinds::round_robin>;
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
/** The resource with the least unfinished work. */
using dynamic_load_policy = detail::policy_of<kinds::dynamic_load>;
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
/** As resample time of auto_tune_policy. */
inline constexpr std::chrono::nanoseconds never_resample{DYNSEL_NEVER_RESAMPLE};
/** The fastest resource for each kind of task, measured again after a time: `p{10s}`. */
using auto_tune_policy = detail::policy_of<kinds::auto_tune>;
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
/** The resource that is predicted to finish first; no counterpart in the specification. */
using earliest_finish_policy = detail::policy_of<kinds::earliest_finish>;
#endif

} // namespace dynsel

#endif
