/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tasks from callables: function objects, lambdas and functions, with their arguments.
 *
 * A callable is called as `f(where, args...)`, with a dynsel::resource first, or as
 * `f(where, args..., done)` with a `dynsel_event &` last. It returns
 *
 * - nothing: the work succeeded;
 * - a status;
 * - a cl_event of the last command that it enqueued: the library waits for that, and releases it;
 * - a dynsel::result<T>, with a cl_event or with a value of at most one word in it, which
 *   dynsel::unwrap() returns.
 *
 * An exception that leaves a callable ends the program: nothing could receive it.
 *
 * Source: seed 002, "Policy".
 */
#ifndef DYNSEL_TASK_HPP
#define DYNSEL_TASK_HPP

#include <cstring>
#include <tuple>
#include <type_traits>

#include <dynsel/resource.hpp>
#include <dynsel/status.hpp>
#include <dynsel/task.h>

namespace dynsel {

/** A callable that the program keeps until the work is complete, as std::ref() does it. */
template <class F> struct reference {
    F *callable;
};
template <class F> constexpr reference<F> ref(F &callable) noexcept
{
    return {&callable};
}
template <class F> void ref(const F &&) = delete;

/** What a policy is told of a task beside its function; see the members of dynsel_task. */
class properties {
  public:
    /** The kind of task, for policies that learn. Without it, each type of callable is a kind. */
    properties &id(std::uint32_t kind) noexcept
    {
        task_.id = kind;
        return *this;
    }
    /** Borrowed until the submitting call returns. */
    template <std::size_t count> properties &key(const std::uint32_t (&words)[count]) noexcept
    {
        task_.key_words = words;
        task_.key_word_count = count;
        return *this;
    }
#if CONFIG_DYNSEL_ASPECTS
    properties &needs(dynsel_aspect_set aspects) noexcept
    {
        task_.aspects = aspects;
        return *this;
    }
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    properties &amount(std::uint64_t amount) noexcept
    {
        task_.amount = amount;
        return *this;
    }
#endif
#if CONFIG_DYNSEL_TIME_LIMITS
    properties &limit_ns(std::uint64_t nanoseconds) noexcept
    {
        task_.limit_ns = nanoseconds;
        return *this;
    }
#endif
    /** For the members that have no function here. */
    dynsel_task &native() noexcept
    {
        return task_;
    }
    [[nodiscard]] const dynsel_task &native() const noexcept
    {
        return task_;
    }

  private:
    dynsel_task task_ = {};
};

namespace detail {

template <class T> struct is_result : std::false_type {
};
template <class T> struct is_result<result<T>> : std::true_type {
};
template <class T> struct is_reference : std::false_type {
};
template <class F> struct is_reference<reference<F>> : std::true_type {
};

template <class T>
inline constexpr bool is_status_v = std::is_same_v<T, status> || std::is_same_v<T, dynsel_status>;

/** How the value of a task stands in dynsel_event.value. */
template <class T> void put_value(dynsel_event &done, const T &value) noexcept
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof done.value,
                  "a task returns at most one word: write larger results to memory of your own");
    done.value = 0;
    std::memcpy(&done.value, &value, sizeof value);
}
template <class T> T get_value(const dynsel_event &done) noexcept
{
    T value{};
    std::memcpy(&value, &done.value, sizeof value);
    return value;
}

/** Leaves what a callable returned where the library looks for it. */
template <class R> dynsel_status conclude(dynsel_event &done, const R &returned) noexcept
{
    if constexpr (is_status_v<R>) {
        return returned;
    } else if constexpr (std::is_same_v<R, struct _cl_event *>) {
        done.opencl = returned;
        return DYNSEL_OK;
    } else {
        static_assert(is_result<R>::value, "a task returns nothing, a dynsel::status, a cl_event, "
                                           "or a value as dynsel::result");
        if (!returned) {
            return returned.status();
        }
        if constexpr (std::is_same_v<typename R::value_type, struct _cl_event *>) {
            done.opencl = *returned;
        } else {
            detail::put_value(done, *returned);
        }
        return DYNSEL_OK;
    }
}

template <class F, class... Args>
inline constexpr bool takes_event_v = std::is_invocable_v<F &, resource, Args &..., dynsel_event &>;

template <class F, class... Args>
inline constexpr bool takes_resource_v =
    takes_event_v<F, Args...> || std::is_invocable_v<F &, resource, Args &...>;

template <class F, class... Args>
decltype(auto) call(F &callable, resource where, dynsel_event &done, Args &...args)
{
    if constexpr (takes_event_v<F, Args...>) {
        return callable(where, args..., done);
    } else {
        static_assert(takes_resource_v<F, Args...>,
                      "a task is called with a dynsel::resource and its arguments");
        return callable(where, args...);
    }
}

template <class F, class... Args>
using returned_t = std::decay_t<decltype(detail::call(
    std::declval<F &>(), resource{}, std::declval<dynsel_event &>(), std::declval<Args &>()...))>;

/** A callable with its arguments, copied or moved to where this stands. */
template <class F, class... Args> class job {
  public:
    using returned = returned_t<F, Args...>;

    template <class G, class... More>
    explicit job(G &&callable, More &&...args)
        : callable_(std::forward<G>(callable)), args_(std::forward<More>(args)...)
    {
    }

    /** The task function: args is a job. Its address tells kinds of task apart. */
    static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done) noexcept
    {
        return static_cast<job *>(args)->call_with(where, *done,
                                                   std::index_sequence_for<Args...>{});
    }

  private:
    template <std::size_t... i>
    dynsel_status call_with(resource where, dynsel_event &done, std::index_sequence<i...>)
    {
        if constexpr (std::is_void_v<returned>) {
            detail::call(callable_, where, done, std::get<i>(args_)...);
            return DYNSEL_OK;
        } else {
            return detail::conclude<returned>(
                done, detail::call(callable_, where, done, std::get<i>(args_)...));
        }
    }

    F callable_;
    std::tuple<Args...> args_;
};

/** The task function of a callable that the program keeps. */
template <class F>
dynsel_status run_reference(const dynsel_resource *where, void *args, dynsel_event *done) noexcept
{
    using returned = returned_t<F>;
    F &callable = *static_cast<F *>(args);
    if constexpr (std::is_void_v<returned>) {
        detail::call(callable, where, *done);
        return DYNSEL_OK;
    } else {
        return detail::conclude<returned>(*done, detail::call(callable, where, *done));
    }
}

template <class F, class... Args> using job_t = job<std::decay_t<F>, std::decay_t<Args>...>;

/** The task of a callable that is not called: for selections. */
template <class F, class... Args>
dynsel_task task_to_select(const properties &about, const F &f, const Args &...)
{
    dynsel_task task = about.native();
    if constexpr (std::is_same_v<F, dynsel_task>) {
        task = f;
    } else if constexpr (is_reference<F>::value) {
        task.function = run_reference<std::remove_reference_t<decltype(*f.callable)>>;
    } else {
        task.function = job_t<F, Args...>::run;
    }
    return task;
}

template <class F> dynsel_task task_of(const properties &about, reference<F> kept) noexcept
{
    dynsel_task task = about.native();
    task.function = run_reference<F>;
    task.args = const_cast<std::remove_const_t<F> *>(kept.callable);
    return task;
}

} // namespace detail
} // namespace dynsel

#endif
