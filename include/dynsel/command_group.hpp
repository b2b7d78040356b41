/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command groups in the names of SYCL: buffers, accessors, placeholders, the handler.
 *
 *     dynsel::buffer<int> numbers{data, dynsel::range<1>{10}};
 *     auto placed = numbers.get_access<access::mode::read_write, access::target::global,
 *                                      access::placeholder::true_t>();
 *     auto s = dynsel::submit(p, [&](dynsel::handler &h) {
 *         h.require(placed);
 *         h.set_args(placed, 3);
 *         h.single_task(store);
 *     });
 *
 * One compiler builds the program, so a kernel is no lambda: it is a dynsel_kernel with a form in
 * OpenCL C and one for the host, which dynsel::make_kernel<function>() makes of a function.
 *
 * The functions of the handler return nothing: the first error in a group function is that of the
 * submission.
 *
 * Source: seed 001; seed 000 for ranges of iterators.
 */
#ifndef DYNSEL_COMMAND_GROUP_HPP
#define DYNSEL_COMMAND_GROUP_HPP

#include <dynsel/passed_directly.hpp>
#include <dynsel/submission.hpp>

#if CONFIG_DYNSEL_COMMAND_GROUPS

namespace dynsel {

namespace access {

enum class mode {
    read_write = DYNSEL_ACCESS_READ_WRITE,
    read = DYNSEL_ACCESS_READ,
    write = DYNSEL_ACCESS_WRITE,
    discard_write = DYNSEL_ACCESS_DISCARD_WRITE,
    discard_read_write = DYNSEL_ACCESS_DISCARD_READ_WRITE,
    atomic = DYNSEL_ACCESS_ATOMIC
};

enum class target {
    global = DYNSEL_MEMORY_GLOBAL,
    global_buffer = DYNSEL_MEMORY_GLOBAL,
    constant_buffer = DYNSEL_MEMORY_CONSTANT
};

enum class placeholder { false_t, true_t };

} // namespace access

/** A number of elements or work-items, or an offset, in 1 to 3 dimensions: see dynsel_range. */
template <int dimensions = 1> class range {
    static_assert(dimensions >= 1 && dimensions <= DYNSEL_MAX_DIMENSIONS);

  public:
    template <class... Sizes,
              class = std::enable_if_t<sizeof...(Sizes) == dimensions &&
                                       (std::is_convertible_v<Sizes, std::size_t> && ...)>>
    constexpr range(Sizes... sizes) noexcept
        : native_{{static_cast<std::size_t>(sizes)...}, dimensions}
    {
    }
    constexpr std::size_t operator[](int dimension) const noexcept
    {
        return native_.size[dimension];
    }
    [[nodiscard]] constexpr std::size_t size() const noexcept
    {
        std::size_t count = 1;
        for (int i = 0; i < dimensions; i++) {
            count *= native_.size[i];
        }
        return count;
    }
    [[nodiscard]] constexpr const dynsel_range &native() const noexcept
    {
        return native_;
    }

  private:
    dynsel_range native_;
};
template <class... Sizes> range(Sizes...) -> range<static_cast<int>(sizeof...(Sizes))>;
template <int dimensions = 1> using id = range<dimensions>;

/** Work-items, and the size of their work-groups. */
template <int dimensions = 1> struct nd_range {
    range<dimensions> global;
    range<dimensions> local;
};
template <int dimensions> nd_range(range<dimensions>, range<dimensions>) -> nd_range<dimensions>;

template <class T, int dimensions, access::mode mode, access::target target,
          access::placeholder is_placeholder>
class accessor;
template <class T, int dimensions, access::mode mode> class host_accessor;

/** Data that follow the selected device, see <dynsel/buffer.h>. It can be moved; the destructor
 * waits for the command groups that use it, and brings the results to the program's memory. Where
 * that fails they are lost; end() tells. */
template <class T, int dimensions = 1> class buffer {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                  "the elements of a buffer are copied as bytes");

  public:
    using value_type = T;

    /** Over the program's memory, which stays. */
    buffer(T *data, const range<dimensions> &size) noexcept : size_(size)
    {
        status_ = dynsel_buffer_init(&native_, data, sizeof(T), size.native());
    }
    template <std::size_t count> explicit buffer(T (&array)[count]) noexcept : buffer(array, count)
    {
        static_assert(dimensions == 1);
    }
    /** Over memory inside the library, all zero. */
    explicit buffer(const range<dimensions> &size) noexcept : buffer(nullptr, size)
    {
    }
    buffer(buffer &&other) noexcept
        : native_(other.native_), status_(other.status_), size_(other.size_)
    {
        other.native_ = {};
    }
    buffer &operator=(buffer &&other) = delete;
    ~buffer()
    {
        if (native_.token != 0 && end() != DYNSEL_OK && native_.token != 0) {
            give_up();
        }
    }

    /** See dynsel_buffer_init(). */
    class status status() const noexcept
    {
        return status_;
    }
    [[nodiscard]] const range<dimensions> &get_range() const noexcept
    {
        return size_;
    }
    [[nodiscard]] dynsel_buffer native() const noexcept
    {
        return native_;
    }

    /** See dynsel_buffer_deinit(); waits for the command groups that use it. */
    class status end() noexcept
    {
        dynsel_status ended = dynsel_buffer_deinit(&native_);
        if (ended == DYNSEL_E_BUSY) {
            const dynsel_status waited = wait_until_unused(DYNSEL_ACCESS_READ_WRITE);
            ended = waited == DYNSEL_OK ? dynsel_buffer_deinit(&native_) : waited;
        }
        return ended;
    }

    /** Ends it without copying results back; see dynsel_buffer_discard(). */
    class status discard() noexcept
    {
        return dynsel_buffer_discard(&native_);
    }

    /** A placeholder: an accessor that belongs to no command group. */
    template <access::mode mode, access::target target, access::placeholder is_placeholder>
    [[nodiscard]] auto get_access() const noexcept
    {
        static_assert(is_placeholder == access::placeholder::true_t,
                      "without a handler an accessor is a placeholder, or one of the host");
        return accessor<T, dimensions, mode, target, is_placeholder>{*this};
    }
    /** A normal accessor, for the command group of the handler. */
    template <access::mode mode, access::target target = access::target::global>
    [[nodiscard]] auto get_access(handler &group) const noexcept
    {
        return accessor<T, dimensions, mode, target, access::placeholder::false_t>{*this, group};
    }
    /** The host's access; waits until the data are there. */
    template <access::mode mode> [[nodiscard]] auto get_access() const noexcept
    {
        return host_accessor<T, dimensions, mode>{*this};
    }

  private:
    dynsel_status wait_until_unused(dynsel_access_mode mode) noexcept
    {
        dynsel_host_accessor seen = {};
        const dynsel_status opened = dynsel_host_accessor_open(&seen, native_, mode);
        return opened == DYNSEL_OK ? dynsel_host_accessor_close(&seen) : opened;
    }

    /** Drops results that cannot be brought back. */
    void give_up() noexcept
    {
        (void)wait_until_unused(DYNSEL_ACCESS_DISCARD_READ_WRITE);
        if (dynsel_buffer_deinit(&native_) != DYNSEL_OK && native_.token != 0) {
            detail::stop("a buffer ends while it is in use", __LINE__);
        }
    }

    dynsel_buffer native_ = {};
    dynsel_status status_ = DYNSEL_E_INVALID;
    range<dimensions> size_;
};

/** How a command group uses a buffer, see <dynsel/accessor.h>: a placeholder, which can stand in
 * structures of the program and be used in one command group after the other, or a normal one of a
 * single command group. */
template <class T, int dimensions, access::mode mode,
          access::target target = access::target::global,
          access::placeholder placeholder = access::placeholder::false_t>
class accessor {
  public:
    using value_type = T;
    static constexpr bool placeholder_kind = placeholder == access::placeholder::true_t;

    /** A placeholder without a buffer: require() names one. name: static, for error texts. */
    constexpr explicit accessor(const char *name = nullptr) noexcept
    {
        static_assert(placeholder_kind, "only a placeholder has no buffer and no handler");
        describe(name);
    }
    explicit accessor(const buffer<T, dimensions> &of, const char *name = nullptr) noexcept
    {
        static_assert(placeholder_kind, "only a placeholder has no handler");
        describe(name);
        native_.buffer = of.native();
    }
    /** Of a part of the buffer. */
    accessor(const buffer<T, dimensions> &of, const range<dimensions> &size,
             const id<dimensions> &offset) noexcept
        : accessor(of)
    {
        native_.range = size.native();
        native_.offset = offset.native();
    }
    inline accessor(const buffer<T, dimensions> &of, handler &group) noexcept;

    [[nodiscard]] static constexpr bool is_placeholder() noexcept
    {
        return placeholder_kind;
    }
    [[nodiscard]] bool has_buffer() const noexcept
    {
        return dynsel_accessor_has_buffer(&native_);
    }
    /** A normal accessor of a placeholder. */
    [[nodiscard]] inline auto get_access(handler &group) const noexcept
        -> accessor<T, dimensions, mode, target, access::placeholder::false_t>;

    [[nodiscard]] const dynsel_accessor *native() const noexcept
    {
        return &native_;
    }

  private:
    template <class, int, access::mode, access::target, access::placeholder> friend class accessor;

    struct undescribed {};
    explicit accessor(undescribed) noexcept
    {
    }
    constexpr void describe(const char *name) noexcept
    {
        native_.name = name;
        native_.mode = static_cast<std::uint8_t>(mode);
        native_.target = static_cast<std::uint8_t>(target);
        native_.placeholder = true;
    }

    dynsel_accessor native_ = {};
};

/** The host's access to a buffer, from the constructor to the destructor. */
template <class T, int dimensions, access::mode mode> class host_accessor {
  public:
    using value_type = std::conditional_t<mode == access::mode::read, const T, T>;

    explicit host_accessor(const buffer<T, dimensions> &of) noexcept
    {
        status_ =
            dynsel_host_accessor_open(&native_, of.native(), static_cast<dynsel_access_mode>(mode));
    }
    host_accessor(const host_accessor &) = delete;
    host_accessor &operator=(const host_accessor &) = delete;
    ~host_accessor()
    {
        (void)close();
    }

    /** See dynsel_host_accessor_open(). */
    class status status() const noexcept
    {
        return status_;
    }
    explicit operator bool() const noexcept
    {
        return status_ == DYNSEL_OK;
    }
    /** See dynsel_host_accessor_close(); nothing where it is not open. */
    class status close() noexcept
    {
        if (native_.data == nullptr) {
            return DYNSEL_OK;
        }
        return dynsel_host_accessor_close(&native_);
    }

    /** NULL where it is not open. */
    [[nodiscard]] value_type *data() const noexcept
    {
        return static_cast<value_type *>(native_.data);
    }
    [[nodiscard]] std::size_t size() const noexcept
    {
        return native_.bytes / sizeof(T);
    }
    value_type &operator[](std::size_t index) const noexcept
    {
        return data()[index];
    }
    [[nodiscard]] value_type *begin() const noexcept
    {
        return data();
    }
    [[nodiscard]] value_type *end() const noexcept
    {
        return data() + size();
    }

  private:
    dynsel_host_accessor native_ = {};
    dynsel_status status_ = DYNSEL_E_INVALID;
};

/** Memory of the host as an iterator that is copied for a device: for handler::set_range(). A bare
 * pointer is passed directly. */
template <class T> struct host_iterator {
    T *data;
};
template <class T> host_iterator(T *) -> host_iterator<T>;

namespace detail {

template <class T>
void pointer_leaves(dynsel_leaf_sink *sink, const dynsel_leaf_place *place) noexcept
{
    dynsel_leaf_place here = *place;
    here.read_only = here.read_only || std::is_const_v<T>;
    dynsel_give_pointer(sink, &here, "pointer", 0, sizeof(T), false);
}

template <class T> dynsel_leaves_fn leaves_of(const host_iterator<T> *) noexcept
{
    return pointer_leaves<T>;
}
template <class T> dynsel_leaves_fn leaves_of(T *const *) noexcept
{
    return pointer_leaves<T>;
}
template <class T> auto leaves_of(const T *type) noexcept -> decltype(dynsel_leaves_of(type))
{
    return dynsel_leaves_of(type);
}

template <class T> struct is_accessor : std::false_type {
};
template <class T, int dimensions, access::mode mode, access::target target,
          access::placeholder placeholder>
struct is_accessor<accessor<T, dimensions, mode, target, placeholder>> : std::true_type {
};

} // namespace detail

/** Records a command group; exists while the group function runs. */
class handler {
  public:
    explicit handler(dynsel_handler *native) noexcept : native_(native)
    {
    }
    handler(const handler &) = delete;
    handler &operator=(const handler &) = delete;

    /** Registers the use of a placeholder, with its own buffer or with this one. */
    template <class T, int dimensions, access::mode mode, access::target target>
    void require(const accessor<T, dimensions, mode, target, access::placeholder::true_t> &which)
    {
        (void)dynsel_require(native_, which.native());
    }
    template <class T, int dimensions, access::mode mode, access::target target>
    void require(const buffer<T, dimensions> &with,
                 const accessor<T, dimensions, mode, target, access::placeholder::true_t> &which)
    {
        (void)dynsel_require_buffer(native_, with.native(), which.native());
    }

    /** Sets an argument of the kernel: an accessor, DYNSEL_LOCAL(bytes), a pointer, or a value of
     * the kernel's own type and size; see dynsel_set_arg(). */
    template <class X> void set_arg(std::uint32_t index, X &&value)
    {
        using type = std::remove_cv_t<std::remove_reference_t<X>>;
        if constexpr (detail::is_accessor<type>::value) {
            (void)dynsel_set_arg_accessor(native_, index, value.native());
        } else {
            (void)dynsel_set_arg(native_, index, value);
        }
    }
    /** Sets all arguments, from 0 on. */
    template <class... Xs> void set_args(Xs &&...values)
    {
        std::uint32_t index = 0;
        (set_arg(index++, std::forward<Xs>(values)), ...);
    }
    /** Sets arguments, one for each leaf of an iterator, see dynsel_set_range(): of
     * <dynsel/iterators.h>, a type with DYNSEL_LEAVES(), a dynsel::host_iterator or a pointer. */
    template <class Iterator>
    void set_range(std::uint32_t index, const Iterator &iterator, std::uint64_t count,
                   access::mode mode)
    {
        const dynsel_leaf_place whole = DYNSEL_WHOLE_ITERATOR(Iterator);
        (void)dynsel_set_range_leaves(native_, index, detail::leaves_of(&iterator), &whole,
                                      &iterator, count, static_cast<dynsel_access_mode>(mode));
    }

    /** The command group follows a dynsel::submission, or a dynsel::stored_submission; see
     * dynsel_depends_on(). */
    template <class Submission> void depends_on(const Submission &earlier)
    {
        (void)dynsel_depends_on(native_, earlier.native());
    }

    /* Exactly one of the following. */
    void single_task(const dynsel_kernel &kernel)
    {
        (void)dynsel_single_task(native_, &kernel);
    }
    template <int dimensions>
    void parallel_for(const range<dimensions> &global, const dynsel_kernel &kernel)
    {
        (void)dynsel_parallel_for(native_, &kernel, global.native(), nullptr, nullptr);
    }
    template <int dimensions>
    void parallel_for(const range<dimensions> &global, const id<dimensions> &offset,
                      const dynsel_kernel &kernel)
    {
        (void)dynsel_parallel_for(native_, &kernel, global.native(), nullptr, &offset.native());
    }
    template <int dimensions>
    void parallel_for(const nd_range<dimensions> &items, const dynsel_kernel &kernel)
    {
        (void)dynsel_parallel_for(native_, &kernel, items.global.native(), &items.local.native(),
                                  nullptr);
    }
    template <class From, class To> void copy(const From &from, const To &to)
    {
        (void)dynsel_copy(native_, from.native(), to.native());
    }
    /** From memory of the program, all elements of the accessor's range; see
     * dynsel_copy_from_memory(). */
    template <class To>
    void copy(const typename To::value_type *from, std::size_t count, const To &to)
    {
        (void)dynsel_copy_from_memory(native_, from, count * sizeof *from, to.native());
    }
    /** The same into memory of the program; see dynsel_copy_to_memory(). */
    template <class From>
    void copy(const From &from, std::remove_const_t<typename From::value_type> *to,
              std::size_t count)
    {
        (void)dynsel_copy_to_memory(native_, from.native(), to, count * sizeof *to);
    }
    template <class To> void fill(const To &to, const typename To::value_type &element)
    {
        (void)dynsel_fill(native_, to.native(), &element, sizeof element);
    }
    void host_task(dynsel_kernel_fn function)
    {
        (void)dynsel_host_task(native_, function);
    }

    /** For functions of C, such as dynsel_set_key(). */
    [[nodiscard]] dynsel_handler *native() const noexcept
    {
        return native_;
    }

  private:
    dynsel_handler *native_;
};

template <class T, int dimensions, access::mode mode, access::target target,
          access::placeholder placeholder>
accessor<T, dimensions, mode, target, placeholder>::accessor(const buffer<T, dimensions> &of,
                                                             handler &group) noexcept
{
    static_assert(!placeholder_kind, "a placeholder takes no handler");
    (void)dynsel_get_access(group.native(), of.native(), static_cast<dynsel_access_mode>(mode),
                            static_cast<dynsel_access_target>(target), &native_);
}

template <class T, int dimensions, access::mode mode, access::target target,
          access::placeholder placeholder>
auto accessor<T, dimensions, mode, target, placeholder>::get_access(handler &group) const noexcept
    -> accessor<T, dimensions, mode, target, access::placeholder::false_t>
{
    using normal = accessor<T, dimensions, mode, target, access::placeholder::false_t>;
    normal made{typename normal::undescribed{}};
    (void)dynsel_accessor_get_access(group.native(), &native_, &made.native_);
    return made;
}

namespace detail {

template <class F> dynsel_status run_group(dynsel_handler *native, void *args) noexcept
{
    handler group{native};
    F &callable = *static_cast<F *>(args);
    using returned = std::decay_t<decltype(callable(group))>;
    if constexpr (std::is_void_v<returned>) {
        callable(group);
        return DYNSEL_OK;
    } else {
        static_assert(is_status_v<returned>, "a group function returns nothing or a status");
        return callable(group);
    }
}

/** Argument `index` of a launch, as a parameter of a function. */
template <class P> P parameter(const dynsel_launch *launch, std::size_t index) noexcept
{
    if constexpr (std::is_pointer_v<P>) {
        return static_cast<P>(dynsel_launch_data(launch, index));
    } else {
        std::remove_cv_t<P> value{};
        std::memcpy(&value, launch->arguments[index].value, sizeof value);
        return value;
    }
}

/** Calls a function with the launch in front, if it takes that, and the arguments that were set. */
template <class... Parameters> struct host_call {
    template <class F, std::size_t... i>
    static dynsel_status run(F function, const dynsel_launch *launch,
                             std::index_sequence<i...>) noexcept
    {
        if constexpr (std::is_void_v<decltype(function(
                          launch, detail::parameter<Parameters>(launch, i)...))>) {
            function(launch, detail::parameter<Parameters>(launch, i)...);
            return DYNSEL_OK;
        } else {
            return function(launch, detail::parameter<Parameters>(launch, i)...);
        }
    }
};

template <class R, class... Parameters>
dynsel_status call_on_host(R (*function)(const dynsel_launch &, Parameters...),
                           const dynsel_launch *launch) noexcept
{
    const auto whole = [function](const dynsel_launch *of, Parameters... values) {
        return function(*of, values...);
    };
    return host_call<Parameters...>::run(whole, launch, std::index_sequence_for<Parameters...>{});
}
template <class R, class... Parameters>
dynsel_status call_on_host(R (*function)(Parameters...), const dynsel_launch *launch) noexcept
{
    const auto rest = [function](const dynsel_launch *, Parameters... values) {
        return function(values...);
    };
    return host_call<Parameters...>::run(rest, launch, std::index_sequence_for<Parameters...>{});
}

template <auto function> dynsel_status host_form(const dynsel_launch *launch) noexcept
{
    return detail::call_on_host(function, launch);
}

} // namespace detail

/**
 * A kernel of a function for the host and of its source in OpenCL C, for a constant of the program.
 * The function gets the arguments of the kernel: pointers for accessors and pointers, values for
 * values; in front of them the launch, if its first parameter is a `const dynsel_launch &`, as it
 * needs for a range of work-items. It returns nothing or a status.
 *
 * name: of the function in the source. source: NULL: for the host alone.
 */
template <auto function>
constexpr dynsel_kernel make_kernel(const char *name, const char *source = nullptr) noexcept
{
    dynsel_kernel made = {};
    made.name = name;
    made.function = detail::host_form<function>;
    made.source = source;
    return made;
}

} // namespace dynsel

#endif

#endif
