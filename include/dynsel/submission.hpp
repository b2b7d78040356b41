/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Selections, submissions, and the free functions over policies.
 *
 * Where a callable lives, as nothing is allocated:
 *
 *     auto s = dynsel::submit(p, f, args...);     inside `s`, with its arguments: a
 *                                                 stored_submission, which stays where it is, and
 *                                                 whose destructor waits
 *     auto s = dynsel::submit(p, dynsel::ref(f)); with the program, until the work is complete: a
 *                                                 submission, which can be moved, be in an array,
 *                                                 and whose destructor releases: the work goes on,
 *                                                 and a failure goes to the group
 *     dynsel::submit_and_wait(p, f, args...)      on the stack, while that call waits
 *     dynsel::submit_detached(p, dynsel::ref(f))  with the program, until the group is waited for
 *     dynsel::submit(p, [&](dynsel::handler &h) { ... })
 *                                                 a command group is called inside the submit only
 *
 * Every submitting call may get dynsel::properties in front of the callable, and takes a
 * dynsel_task of C in its place.
 *
 * Cost: that of the functions of C; a submission is a dynsel_submission and two words.
 *
 * Source: seed 002, "Selection", "Submission" and "Free Functions"; seed 004, "Using policy_base".
 */
#ifndef DYNSEL_SUBMISSION_HPP
#define DYNSEL_SUBMISSION_HPP

#include <dynsel/execution_info.hpp>
#include <dynsel/policies.hpp>
#include <dynsel/task.hpp>

namespace dynsel {

class handler;

/** The choice of a resource by a policy of type P; a value. Submitting it consumes it. */
template <class P> class selection {
  public:
    using policy_type = P;
    using resource_type = resource;
    static constexpr unsigned needs = P::needs;

    selection() noexcept = default;
    explicit selection(P &policy) noexcept : policy_(&policy)
    {
    }

    /** See dynsel_selection_unwrap(); NULL as a resource where that fails. */
    [[nodiscard]] resource unwrap() const noexcept
    {
        return dynsel_selection_unwrap(&selection_);
    }
    [[nodiscard]] P &get_policy() const noexcept
    {
        return *policy_;
    }
    [[nodiscard]] P &policy() const noexcept
    {
        return *policy_;
    }
    [[nodiscard]] std::uint32_t index() const noexcept
    {
        return selection_.index;
    }
    [[nodiscard]] dynsel_reason reason() const noexcept
    {
        return static_cast<dynsel_reason>(selection_.reason);
    }

    /** Whether the policy wants this information for this work. */
    template <class Info> [[nodiscard]] bool wants(Info) const noexcept
    {
        return dynsel_selection_needs(&selection_, Info::info);
    }
    /** See dynsel_report() and dynsel_report_value(). */
    template <class Info> class status report(Info) noexcept
    {
        static_assert(std::is_void_v<typename Info::value_type>, "this information has a value");
        return dynsel_report(&selection_, Info::info);
    }
    template <class Info> class status report(Info, typename Info::value_type value) noexcept
    {
        return dynsel_report_value(&selection_, Info::info,
                                   static_cast<std::uint64_t>(value.count()));
    }

    dynsel_selection *native() noexcept
    {
        return &selection_;
    }
    [[nodiscard]] const dynsel_selection *native() const noexcept
    {
        return &selection_;
    }

  private:
    dynsel_selection selection_ = {};
    P *policy_ = nullptr;
};

namespace detail {

/* The ways to submit. */
struct blocking {
    dynsel_status operator()(dynsel_policy *policy, const dynsel_task *task,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_submit(policy, task, out);
    }
    dynsel_status operator()(dynsel_selection *chosen, const dynsel_task *task,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_submit_selection(chosen, task, out);
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_status operator()(dynsel_policy *policy, dynsel_group_fn group, void *args,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_submit_command_group(policy, group, args, out);
    }
#endif
};

struct trying {
    dynsel_status operator()(dynsel_policy *policy, const dynsel_task *task,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_try_submit(policy, task, out);
    }
    dynsel_status operator()(dynsel_selection *chosen, const dynsel_task *task,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_try_submit_selection(chosen, task, out);
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_status operator()(dynsel_policy *policy, dynsel_group_fn group, void *args,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_try_submit_command_group(policy, group, args, out);
    }
#endif
};

struct within {
    std::chrono::nanoseconds timeout;

    [[nodiscard]] std::uint64_t timeout_ns() const noexcept
    {
        return static_cast<std::uint64_t>(timeout.count());
    }
    dynsel_status operator()(dynsel_policy *policy, const dynsel_task *task,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_submit_for(policy, task, out, timeout_ns());
    }
#if CONFIG_DYNSEL_COMMAND_GROUPS
    dynsel_status operator()(dynsel_policy *policy, dynsel_group_fn group, void *args,
                             dynsel_submission *out) const noexcept
    {
        return dynsel_submit_command_group_for(policy, group, args, out, timeout_ns());
    }
#endif
};

/** What of C stands behind a policy or a selection. */
inline dynsel_policy *native(dynsel_policy &policy) noexcept
{
    return &policy;
}
template <class T> auto native(T &policy_or_selection) noexcept
{
    return policy_or_selection.native();
}

/** The handle of a submission, and whether it still has to be waited for or released. */
class handle {
  public:
    handle() noexcept : submission_()
    {
    }
    handle(const handle &) = delete;
    handle &operator=(const handle &) = delete;

    /** Whether the work was accepted. */
    explicit operator bool() const noexcept
    {
        return submitted_ == DYNSEL_OK;
    }
    /** The status of the submitting call; DYNSEL_E_INVALID where there was none. */
    [[nodiscard]] status submitted() const noexcept
    {
        return submitted_;
    }

    /** See dynsel_wait(); the status of the submitting call if that failed. */
    status wait() noexcept
    {
        return collect([](dynsel_submission *of) noexcept { return dynsel_wait(of); });
    }
    /** See dynsel_wait_for(). */
    status wait_for(std::chrono::nanoseconds timeout) noexcept
    {
        const auto ns = static_cast<std::uint64_t>(timeout.count());
        return collect([ns](dynsel_submission *of) noexcept { return dynsel_wait_for(of, ns); });
    }
#if CONFIG_DYNSEL_SUBMISSION_CONTROL
    /** See dynsel_submission_poll() and dynsel_cancel(). */
    [[nodiscard]] status poll() const noexcept
    {
        return dynsel_submission_poll(&submission_);
    }
    status cancel() noexcept
    {
        return dynsel_cancel(&submission_);
    }
#endif

    /** Where it was placed, and why. */
    [[nodiscard]] resource where() const noexcept
    {
        return dynsel_submission_resource(&submission_);
    }
    [[nodiscard]] dynsel_reason reason() const noexcept
    {
        return dynsel_submission_reason(&submission_);
    }
    [[nodiscard]] dynsel_policy *get_policy() const noexcept
    {
        return dynsel_submission_policy(&submission_);
    }

    /** For functions of C that do not wait for it or release it. */
    [[nodiscard]] const dynsel_submission *native() const noexcept
    {
        return &submission_;
    }

  protected:
    /** For a handle that the next call fills in, or that stays as if never submitted. */
    struct unfilled {};
    explicit handle(unfilled) noexcept
    {
        submission_.policy = nullptr;
        submission_.slot.value = 0;
        submission_.reason = DYNSEL_REASON_UNKNOWN;
    }
    ~handle() = default;

    /** Makes one of the calls that wait. A handle whose work was collected has another word. */
    template <class Call> status collect(Call call) noexcept
    {
        if (submitted_ != DYNSEL_OK) {
            return submitted_;
        }
        const std::uint32_t before = submission_.slot.value;
        const dynsel_status ended = call(&submission_);
        open_ = open_ && submission_.slot.value == before;
        return ended;
    }

    void note(dynsel_status submitted) noexcept
    {
        submitted_ = submitted;
        open_ = submitted == DYNSEL_OK;
    }

    dynsel_submission submission_;
    dynsel_status submitted_ = DYNSEL_E_INVALID;
    bool open_ = false;
};

} // namespace detail

/** Work whose callable the program keeps. It can be moved; the destructor releases it. */
class [[nodiscard]] submission : public detail::handle {
  public:
    submission() noexcept = default;
    submission(submission &&other) noexcept
    {
        take(other);
    }
    submission &operator=(submission &&other) noexcept
    {
        if (this != &other) {
            (void)release();
            take(other);
        }
        return *this;
    }
    ~submission()
    {
        (void)release();
    }

    /** The submission itself, as of the std::optional of the specification. */
    submission &operator*() noexcept
    {
        return *this;
    }

    /** See dynsel_submission_release(); nothing where that is not required any more. */
    status release() noexcept
    {
        if (!open_) {
            return DYNSEL_OK;
        }
        open_ = false;
        return dynsel_submission_release(&submission_);
    }

    /** See dynsel_submission_unwrap(). */
    [[nodiscard]] result<dynsel_event> unwrap() const noexcept
    {
        dynsel_event done = {};
        const dynsel_status got = dynsel_submission_unwrap(&submission_, &done);
        return got == DYNSEL_OK ? result<dynsel_event>{done} : result<dynsel_event>{got};
    }

    /** submitting: gets the place of the handle, and returns how its call ended. */
    template <class Submitting> static submission of(Submitting submitting) noexcept
    {
        submission made;
        made.note(submitting(&made.submission_));
        return made;
    }

  private:
    void take(submission &other) noexcept
    {
        submission_ = other.submission_;
        submitted_ = other.submitted_;
        open_ = other.open_;
        other.submission_ = {};
        other.submitted_ = DYNSEL_E_INVALID;
        other.open_ = false;
    }
};

/** Work with its callable and arguments inside. It stays where it is; the destructor waits, and
 * drops a failure that nobody asked for. Where waiting is not possible (in a task function, an
 * interrupt, for a host accessor of this thread's) the destructor is a mistake that stops the
 * program. Not for work with a time limit on workers: one that was given up still uses it. */
template <class F, class... Args> class [[nodiscard]] stored_submission : public detail::handle {
    using job = detail::job<F, Args...>;

  public:
    template <class Way, class Target, class G, class... More>
    stored_submission(Way way, Target *target, const properties &about, G &&callable,
                      More &&...args) noexcept
        : handle(unfilled{}), job_(std::forward<G>(callable), std::forward<More>(args)...)
    {
        dynsel_task task = about.native();
        task.function = job::run;
        task.args = &job_;
        note(way(target, &task, &submission_));
    }
    ~stored_submission()
    {
        if (open_) {
            (void)wait();
        }
        if (open_ && submission_cannot_be_left()) {
            detail::stop("the callable of running work ends", __LINE__);
        }
    }

    /** The submission itself, as of the std::optional of the specification. */
    stored_submission &operator*() noexcept
    {
        return *this;
    }

    /** What the callable returned: the value in its dynsel::result, else the event. The value is
     * there after the wait. */
    [[nodiscard]] auto unwrap() const noexcept
    {
        dynsel_event done = {};
        const dynsel_status got = dynsel_submission_unwrap(&submission_, &done);
        if constexpr (has_value) {
            using value = typename job::returned::value_type;
            return got == DYNSEL_OK ? result<value>{detail::get_value<value>(done)}
                                    : result<value>{got};
        } else {
            return got == DYNSEL_OK ? result<dynsel_event>{done} : result<dynsel_event>{got};
        }
    }

  private:
    static constexpr bool returns_value()
    {
        if constexpr (detail::is_result<typename job::returned>::value) {
            return !std::is_same_v<typename job::returned::value_type, struct _cl_event *>;
        } else {
            return false;
        }
    }
    static constexpr bool has_value = returns_value();

    /** Whether the work is this process' own, and not that of its parent. */
    bool submission_cannot_be_left() noexcept
    {
        return dynsel_submission_release(&submission_) != DYNSEL_E_STALE;
    }

    job job_;
};

namespace detail {

template <class F, class... Args>
inline constexpr bool is_group_v = sizeof...(Args) == 0 && std::is_invocable_v<F &, handler &> &&
                                   !takes_resource_v<F, Args...>;

#if CONFIG_DYNSEL_COMMAND_GROUPS
/** The group function of a callable; <dynsel/command_group.hpp>. */
template <class F> dynsel_status run_group(dynsel_handler *native, void *args) noexcept;
#endif

/** Submits a callable in one of the ways; the result depends on what kind of callable it is. */
template <class Way, class Target, class F, class... Args>
auto start(Way way, Target &target, const properties &about, F &&f, Args &&...args)
{
    using callable = std::decay_t<F>;
    auto *const to = detail::native(target);
    if constexpr (std::is_same_v<callable, dynsel_task>) {
        static_assert(sizeof...(Args) == 0, "a dynsel_task has its arguments");
        return submission::of([&](dynsel_submission *out) noexcept { return way(to, &f, out); });
    } else if constexpr (is_reference<callable>::value) {
        static_assert(sizeof...(Args) == 0, "a callable that the program keeps has its arguments");
        const dynsel_task task = detail::task_of(about, f);
        return submission::of([&](dynsel_submission *out) noexcept { return way(to, &task, out); });
#if CONFIG_DYNSEL_COMMAND_GROUPS
    } else if constexpr (is_group_v<callable, Args...>) {
        using group = std::remove_reference_t<F>;
        void *const place = const_cast<std::remove_const_t<group> *>(&f);
        return submission::of(
            [&](dynsel_submission *out) noexcept { return way(to, run_group<group>, place, out); });
#endif
    } else {
        return stored_submission<callable, std::decay_t<Args>...>(
            way, to, about, std::forward<F>(f), std::forward<Args>(args)...);
    }
}

template <class Way, class Target, class F, class... Args>
auto start_any(Way way, Target &target, F &&f, Args &&...args)
{
    if constexpr (std::is_same_v<std::decay_t<F>, properties>) {
        return detail::start(way, target, f, std::forward<Args>(args)...);
    } else {
        return detail::start(way, target, properties{}, std::forward<F>(f),
                             std::forward<Args>(args)...);
    }
}

template <class Target> status wait_for_task(Target &target, const dynsel_task &task) noexcept
{
    if constexpr (is_selection_v<Target>) {
        return dynsel_submit_selection_and_wait(target.native(), &task);
    } else {
        return dynsel_submit_and_wait(detail::native(target), &task);
    }
}

template <class Target, class F, class... Args>
status start_and_wait(Target &target, const properties &about, F &&f, Args &&...args)
{
    using callable = std::decay_t<F>;
    if constexpr (std::is_same_v<callable, dynsel_task>) {
        return detail::wait_for_task(target, f);
    } else if constexpr (is_reference<callable>::value) {
        return detail::wait_for_task(target, detail::task_of(about, f));
#if CONFIG_DYNSEL_COMMAND_GROUPS
    } else if constexpr (is_group_v<callable, Args...>) {
        using group = std::remove_reference_t<F>;
        return dynsel_submit_command_group_and_wait(detail::native(target), run_group<group>,
                                                    const_cast<std::remove_const_t<group> *>(&f));
#endif
    } else {
        using stored = job<callable, std::decay_t<Args>...>;
        stored kept(std::forward<F>(f), std::forward<Args>(args)...);
        dynsel_task task = about.native();
        task.function = stored::run;
        task.args = &kept;
        return detail::wait_for_task(target, task);
    }
}

} // namespace detail

/** Applies the policy; the callable is not called, it tells the kind of task. See
 * dynsel_select(). */
template <class P, class F, class... Args>
result<selection<P>> select(P &policy, const F &f, const Args &...args)
{
    dynsel_task task = {};
    if constexpr (std::is_same_v<F, properties>) {
        task = detail::task_to_select(f, args...);
    } else {
        task = detail::task_to_select(properties{}, f, args...);
    }
    selection<P> chosen{policy};
    const dynsel_status status = dynsel_select(detail::native(policy), &task, chosen.native());
    return status == DYNSEL_OK ? result<selection<P>>{chosen} : result<selection<P>>{status};
}

namespace detail {

struct any_work {
    void operator()(resource) const noexcept
    {
    }
};

} // namespace detail

/** select() for work that is not known yet: to policies that learn, all of this is one kind. */
template <class P> result<selection<P>> select(P &policy)
{
    return dynsel::select(policy, detail::any_work{});
}

/** Submits a callable to a policy, or to the resource of a selection: dynsel_submit(),
 * dynsel_submit_selection(), dynsel_submit_command_group(). `if (s)` tells whether it was accepted,
 * s.submitted() why not, and dynsel::wait(s) how the work ended. */
template <class Target, class F, class... Args>
[[nodiscard]] auto submit(Target &&target, F &&f, Args &&...args)
{
    return detail::start_any(detail::blocking{}, target, std::forward<F>(f),
                             std::forward<Args>(args)...);
}

/** submit() that does not wait for a slot or a resource: dynsel_try_submit(). */
template <class Target, class F, class... Args>
[[nodiscard]] auto try_submit(Target &&target, F &&f, Args &&...args)
{
    return detail::start_any(detail::trying{}, target, std::forward<F>(f),
                             std::forward<Args>(args)...);
}

/** submit() that gives up after a time: dynsel_submit_for(). */
template <class P, class F, class... Args>
[[nodiscard]] auto submit_for(std::chrono::nanoseconds timeout, P &policy, F &&f, Args &&...args)
{
    return detail::start_any(detail::within{timeout}, policy, std::forward<F>(f),
                             std::forward<Args>(args)...);
}

/** submit(), then wait(): dynsel_submit_and_wait(). */
template <class Target, class F, class... Args>
status submit_and_wait(Target &&target, F &&f, Args &&...args)
{
    if constexpr (std::is_same_v<std::decay_t<F>, properties>) {
        return detail::start_and_wait(target, f, std::forward<Args>(args)...);
    } else {
        return detail::start_and_wait(target, properties{}, std::forward<F>(f),
                                      std::forward<Args>(args)...);
    }
}

/** submit() without a submission: a failure of the work goes to the policy's group. */
template <class Target, class F>
status submit_detached(Target &&target, reference<F> kept, const properties &about = {}) noexcept
{
    const dynsel_task task = detail::task_of(about, kept);
    return detail::blocking{}(detail::native(target), &task, nullptr);
}

/** The resources of a policy. */
template <class P> [[nodiscard]] resource_list get_resources(P &policy) noexcept
{
    return resource_list{detail::native(policy)};
}

/** All work of a policy, to be waited for. */
template <class P> [[nodiscard]] submission_group get_submission_group(P &policy) noexcept
{
    return submission_group{detail::native(policy)};
}

namespace detail {

template <class W, class = void> struct can_unwrap : std::false_type {
};
template <class W>
struct can_unwrap<W, std::void_t<decltype(std::declval<W &>().unwrap())>> : std::true_type {
};

} // namespace detail

/** w.unwrap() if it has that, else w itself. */
template <class W> decltype(auto) unwrap(W &&w) noexcept
{
    if constexpr (detail::can_unwrap<W>::value) {
        return w.unwrap();
    } else {
        return std::forward<W>(w);
    }
}

namespace detail {

template <class W, class = void> struct can_wait : std::false_type {
    static constexpr bool is_noexcept = true;
};
template <class W>
struct can_wait<W, std::void_t<decltype(std::declval<W &>().wait())>> : std::true_type {
    static constexpr bool is_noexcept = noexcept(std::declval<W &>().wait());
};

/** A pointer, an optional, a result of what can be waited for. */
template <class W, class = void> struct holds_waitable : std::false_type {
};
template <class W>
struct holds_waitable<W, std::void_t<decltype((*std::declval<W &>()).wait())>> : std::true_type {
};

/** What is waited for by functions of C, or a pointer to it, or a result of it. */
template <class W, class = void> struct is_of_c {
    static constexpr bool value = std::is_same_v<W, dynsel_submission> ||
                                  std::is_same_v<W, dynsel_submission_group> ||
                                  std::is_same_v<W, dynsel_event>;
};
template <class W> struct is_of_c<W, std::void_t<decltype(*std::declval<W &>())>> {
    static constexpr bool value = is_of_c<std::decay_t<decltype(*std::declval<W &>())>>::value;
};

/** What has no wait() needs none, such as an event that is complete at once. But what looks so by
 * mistake would be destroyed, or its results read, while its work runs. */
template <class W> constexpr bool needs_no_wait() noexcept
{
    using plain = std::remove_cv_t<W>;
    static_assert(!can_wait<plain>::value,
                  "dynsel::wait(w): w is const, and its wait() is not: give it as declared");
    static_assert(!holds_waitable<plain>::value,
                  "dynsel::wait(w): what w holds or points to has a wait(): write "
                  "dynsel::wait(*w)");
    static_assert(!is_of_c<plain>::value,
                  "dynsel::wait(w): w is a structure of the interface in C: wait for its "
                  "submission, or call dynsel_wait() or dynsel_wait_group()");
    return true;
}

} // namespace detail

/** w.wait(), if it has that: of a submission or a group, or of an object of the program, where the
 * result is DYNSEL_OK if wait() returns no status. Else nothing: a status is returned as it is, and
 * DYNSEL_OK for all others. */
template <class W>
status wait(W &&w) noexcept(detail::can_wait<std::remove_reference_t<W>>::is_noexcept)
{
    using object = std::remove_reference_t<W>;
    if constexpr (std::is_same_v<std::remove_cv_t<object>, status> ||
                  std::is_same_v<std::remove_cv_t<object>, dynsel_status>) {
        return w;
    } else if constexpr (!detail::can_wait<object>::value) {
        static_assert(detail::needs_no_wait<object>());
        (void)w;
        return DYNSEL_OK;
    } else if constexpr (std::is_convertible_v<decltype(w.wait()), status>) {
        return w.wait();
    } else {
        (void)w.wait();
        return DYNSEL_OK;
    }
}
template <class W> status wait_for(W &&w, std::chrono::nanoseconds timeout) noexcept
{
    return w.wait_for(timeout);
}

/** Reports about work that the program itself ran on the resource of a selection. */
template <class S, class Info> status report(S &&s, const Info &info) noexcept
{
    return s.report(info);
}
template <class S, class Info, class V>
status report(S &&s, const Info &info, const V &value) noexcept
{
    return s.report(info, value);
}

/** Traits of a policy. */
template <class P> struct policy_traits {
    using selection_type = selection<std::decay_t<P>>;
    using resource_type = typename std::decay_t<P>::resource_type;
    using wait_type = typename std::decay_t<P>::wait_type;
};
template <class P> using selection_t = typename policy_traits<P>::selection_type;
template <class P> using resource_t = typename policy_traits<P>::resource_type;
template <class P> using wait_type_t = typename policy_traits<P>::wait_type;

} // namespace dynsel

#endif
