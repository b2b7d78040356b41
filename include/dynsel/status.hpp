/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Errors as values: dynsel::status, and dynsel::result<T> for calls that give something. Neither
 * can be left out silently, and neither needs exceptions. A program that defines DYNSEL_EXCEPTIONS
 * gets them from expect() and value(), which otherwise stop the program.
 */
#ifndef DYNSEL_STATUS_HPP
#define DYNSEL_STATUS_HPP

#include <utility>

#include <dynsel/assert.h>
#include <dynsel/error.h>

namespace dynsel {

#if defined(DYNSEL_EXCEPTIONS)
/** What expect() and value() throw. */
struct error {
    dynsel_status status;
};
#endif

namespace detail {

/** Stops the program after a mistake that no status can report. */
[[noreturn]] inline void stop(const char *mistake, unsigned line)
{
#if CONFIG_DYNSEL_ASSERT_HOOK
    dynsel_assert_failed("include/dynsel/dynsel.hpp", line, mistake);
#else
    (void)mistake;
    (void)line;
#endif
    __builtin_trap();
}

/** For statuses that say nothing new. */
inline void ignore(dynsel_status) noexcept
{
}

[[noreturn]] inline void refuse(dynsel_status status)
{
#if defined(DYNSEL_EXCEPTIONS)
    throw error{status};
#else
    (void)status;
    stop("expect() or value() of a failure", __LINE__);
#endif
}

} // namespace detail

/** A dynsel_status that has to be looked at. It converts from and to dynsel_status, so that it can
 * be compared, returned and passed on; it is no bool: ask ok(). */
class [[nodiscard]] status {
  public:
    constexpr status() noexcept = default;
    constexpr status(dynsel_status code) noexcept : code_(code)
    {
    }

    constexpr operator dynsel_status() const noexcept
    {
        return code_;
    }
    explicit operator bool() const = delete;

    [[nodiscard]] constexpr bool ok() const noexcept
    {
        return code_ == DYNSEL_OK;
    }

    /** See dynsel_status_name() and dynsel_status_text(). */
    [[nodiscard]] const char *name() const noexcept
    {
        return dynsel_status_name(code_);
    }
    [[nodiscard]] const char *text() const noexcept
    {
        return dynsel_status_text(code_);
    }

    /** Stops the program after a failure, or throws dynsel::error. */
    void expect() const
    {
        if (!ok()) {
            detail::refuse(code_);
        }
    }

  private:
    dynsel_status code_ = DYNSEL_OK;
};

/** A value, or the status of the failure because of which there is none. T has a default. */
template <class T> class [[nodiscard]] result {
  public:
    using value_type = T;

    constexpr result(T value) : value_(std::move(value))
    {
    }
    constexpr result(dynsel::status failure) noexcept : status_(failure)
    {
    }
    constexpr result(dynsel_status failure) noexcept : status_(failure)
    {
    }

    [[nodiscard]] constexpr bool has_value() const noexcept
    {
        return status_ == DYNSEL_OK;
    }
    constexpr explicit operator bool() const noexcept
    {
        return has_value();
    }
    constexpr dynsel::status status() const noexcept
    {
        return status_;
    }

    /** The value; T's default after a failure. */
    constexpr T &operator*() noexcept
    {
        return value_;
    }
    constexpr const T &operator*() const noexcept
    {
        return value_;
    }
    constexpr T *operator->() noexcept
    {
        return &value_;
    }
    constexpr const T *operator->() const noexcept
    {
        return &value_;
    }

    /** The value; stops the program after a failure, or throws dynsel::error. */
    constexpr T &value()
    {
        if (!has_value()) {
            detail::refuse(status_);
        }
        return value_;
    }

  private:
    T value_{};
    dynsel_status status_ = DYNSEL_OK;
};

/** The text of an error, see dynsel_error_text(); of the last one of this thread if none is
 * given. */
class error_text {
  public:
    explicit error_text(const dynsel_error *error = nullptr) noexcept
    {
        (void)dynsel_error_text(error, text_, sizeof text_);
    }
    [[nodiscard]] const char *c_str() const noexcept
    {
        return text_;
    }

  private:
    char text_[400];
};

} // namespace dynsel

#endif
