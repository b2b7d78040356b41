/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Resources and their aspects.
 *
 * Source: seed 002, "Policy"; seed 003.
 */
#ifndef DYNSEL_RESOURCE_HPP
#define DYNSEL_RESOURCE_HPP

#include <cstddef>
#include <cstdint>

#include <dynsel/device.h>
#include <dynsel/language.hpp>
#include <dynsel/policy.h>
#include <dynsel/resource.h>
#if CONFIG_DYNSEL_BACKEND_OPENCL
#include <dynsel/opencl.h>
#endif
#if CONFIG_DYNSEL_BACKEND_MPI
#include <dynsel/mpi.h>
#endif

namespace dynsel {

/** The aspects of the configuration, aspect::fp64 and so on. */
enum class aspect : std::uint32_t {
#define DYNSEL_ASPECT(name, text, host, opencl) name = DYNSEL_ASPECT_##name,
#include <dynsel/aspects.def>
};

/** What the whole build can rely on, see <dynsel/aspect_traits.h>. */
template <aspect> struct all_devices_have;
template <aspect> struct any_device_has;
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    template <>                                                                                    \
    struct all_devices_have<aspect::name> : detail::answer<(dynsel_all_devices_have(name)) != 0> { \
    };                                                                                             \
    template <>                                                                                    \
    struct any_device_has<aspect::name> : detail::answer<(dynsel_any_device_has(name)) != 0> {     \
    };
#include <dynsel/aspects.def>
template <aspect a> inline constexpr bool all_devices_have_v = all_devices_have<a>::value;
template <aspect a> inline constexpr bool any_device_has_v = any_device_has<a>::value;

/** The set of these aspects, for dynsel_task.aspects and properties. */
template <class... Aspects> constexpr dynsel_aspect_set aspects(Aspects... which) noexcept
{
    return (dynsel_aspect_set{0} | ... |
            static_cast<dynsel_aspect_set>(dynsel_aspect_set{1} << static_cast<unsigned>(which)));
}

/** One entry of a policy's table, which it refers to: what a task gets as the place to run on. It
 * converts to `const dynsel_resource *`, so that functions of C take it. */
class resource {
  public:
    constexpr resource() noexcept = default;
    constexpr resource(const dynsel_resource *where) noexcept : where_(where)
    {
    }
    constexpr operator const dynsel_resource *() const noexcept
    {
        return where_;
    }

    /** See dynsel_resource_name(). */
    [[nodiscard]] const char *name() const noexcept
    {
        return dynsel_resource_name(where_);
    }

    /** What starts work there, such as &dynsel_opencl_backend. */
    [[nodiscard]] constexpr dynsel_backend *backend() const noexcept
    {
        return where_ != nullptr ? where_->backend : nullptr;
    }

    /** The object behind it, as the program gave it: a queue, a worker, a type of its own. */
    [[nodiscard]] constexpr void *handle() const noexcept
    {
        return where_ != nullptr ? where_->handle : nullptr;
    }

#if CONFIG_DYNSEL_ASPECTS
    /** See dynsel_resource_has(). */
    [[nodiscard]] bool has(aspect which) const noexcept
    {
        return dynsel_resource_has(where_, static_cast<dynsel_aspect>(which));
    }
#endif

#if CONFIG_DYNSEL_BACKEND_OPENCL
    /** See dynsel_opencl_queue() and the two after it; NULL on other backends. */
    [[nodiscard]] cl_command_queue queue() const noexcept
    {
        return dynsel_opencl_queue(where_);
    }
    [[nodiscard]] cl_context context() const noexcept
    {
        return dynsel_opencl_context(where_);
    }
    [[nodiscard]] cl_device_id device() const noexcept
    {
        return dynsel_opencl_device(where_);
    }
#endif

#if CONFIG_DYNSEL_BACKEND_MPI
    /** See dynsel_mpi_rank_of(). */
    [[nodiscard]] std::uint32_t rank() const noexcept
    {
        return dynsel_mpi_rank_of(where_);
    }
#endif

  private:
    const dynsel_resource *where_ = nullptr;
};

/** The resources of a policy, in the order of their indexes; valid until it is deinitialized. */
class resource_list {
  public:
    class iterator {
      public:
        constexpr explicit iterator(const dynsel_resource *at) noexcept : at_(at)
        {
        }
        constexpr resource operator*() const noexcept
        {
            return at_;
        }
        constexpr iterator &operator++() noexcept
        {
            ++at_;
            return *this;
        }
        constexpr bool operator!=(const iterator &other) const noexcept
        {
            return at_ != other.at_;
        }

      private:
        const dynsel_resource *at_;
    };

    explicit resource_list(const dynsel_policy *policy) noexcept
        : first_(dynsel_get_resources(policy, &count_))
    {
    }
    [[nodiscard]] std::size_t size() const noexcept
    {
        return count_;
    }
    [[nodiscard]] bool empty() const noexcept
    {
        return count_ == 0;
    }
    [[nodiscard]] const dynsel_resource *data() const noexcept
    {
        return first_;
    }
    resource operator[](std::size_t index) const noexcept
    {
        return first_ + index;
    }
    [[nodiscard]] iterator begin() const noexcept
    {
        return iterator{first_};
    }
    [[nodiscard]] iterator end() const noexcept
    {
        return iterator{first_ + count_};
    }

  private:
    std::size_t count_ = 0;
    const dynsel_resource *first_;
};

} // namespace dynsel

#endif
