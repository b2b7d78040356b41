/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Execution info: tags, and which of them a selection's policy wants reported.
 *
 * Source: seed 002, "Execution Info"; seed 004, "Execution Information".
 */
#ifndef DYNSEL_EXECUTION_INFO_HPP
#define DYNSEL_EXECUTION_INFO_HPP

#include <chrono>
#include <type_traits>

#include <dynsel/execution_info.h>

namespace dynsel {

namespace execution_info {

/** Tag types and tag objects; see dynsel_execution_info. */
struct task_submission_t {
    static constexpr dynsel_execution_info info = DYNSEL_TASK_SUBMISSION;
    using value_type = void;
};
struct task_completion_t {
    static constexpr dynsel_execution_info info = DYNSEL_TASK_COMPLETION;
    using value_type = void;
};
struct task_withdrawn_t {
    static constexpr dynsel_execution_info info = DYNSEL_TASK_WITHDRAWN;
    using value_type = void;
};
struct task_time_t {
    static constexpr dynsel_execution_info info = DYNSEL_TASK_TIME;
    using value_type = std::chrono::nanoseconds;
};
struct task_readback_time_t {
    static constexpr dynsel_execution_info info = DYNSEL_TASK_READBACK_TIME;
    using value_type = std::chrono::nanoseconds;
};
struct task_start_time_t {
    static constexpr dynsel_execution_info info = DYNSEL_TASK_START_TIME;
    using value_type = std::chrono::nanoseconds;
};

inline constexpr task_submission_t task_submission{};
inline constexpr task_completion_t task_completion{};
inline constexpr task_withdrawn_t task_withdrawn{};
inline constexpr task_time_t task_time{};
inline constexpr task_readback_time_t task_readback_time{};
inline constexpr task_start_time_t task_start_time{};

} // namespace execution_info

/** Whether a type is one of these tags. */
template <class Info, class = void> struct is_execution_info : std::false_type {
};
template <class Info>
struct is_execution_info<Info, std::void_t<decltype(Info::info)>>
    : std::is_same<std::remove_cv_t<decltype(Info::info)>, dynsel_execution_info> {
};
template <class Info> inline constexpr bool execution_info_v = is_execution_info<Info>::value;

/** Whether the policy of a selection of type S may want `Info`: known when the program is compiled.
 * S::wants() tells it of one selection. */
template <class S, class Info>
struct report_info
    : std::bool_constant<(std::decay_t<S>::needs & static_cast<unsigned>(Info::info)) != 0> {
};
template <class S, class Info> inline constexpr bool report_info_v = report_info<S, Info>::value;

/** The same: the name among the requirements of a selection. */
template <class S, class Info> using report_execution_info = report_info<S, Info>;
template <class S, class Info>
inline constexpr bool report_execution_info_v = report_info_v<S, Info>;

/** The same of information with a value, of type V or what V converts to. */
template <class S, class Info, class V>
struct report_value : std::bool_constant<report_info_v<S, Info> &&
                                         std::is_convertible_v<V, typename Info::value_type>> {
};
template <class S, class Info, class V>
inline constexpr bool report_value_v = report_value<S, Info, V>::value;

} // namespace dynsel

#endif
