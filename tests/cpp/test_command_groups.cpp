/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, accessors and command groups in the names of SYCL: what seed 001 says of placeholders,
 * kernels with typed forms, ranges of iterators, and the ends of buffers. */
#include <dynsel/dynsel.hpp>

#include <cstring>
#include <ctime>
#include <numeric>

#include "dies.h"

using namespace dynsel;

/* Iterators of a user's, and the forms of a mark that seed 000 lists. */
namespace user {

DYNSEL_HOST_ITERATOR(inputs, float);

struct base {};
std::true_type is_passed_directly_in_dynsel_device_policies(const base &);
struct derived : base {};
struct other : base { /* overrides */
};
std::false_type is_passed_directly_in_dynsel_device_policies(const other &);
struct legacy {
    using is_passed_directly = std::true_type;
};
struct second {};
std::true_type is_passed_directly_in_dynsel_device_policies(const second &);
struct both : base, second { /* ambiguous */
};
template <class It1, class It2> struct generic {
    It1 first;
    It2 second;
};
template <class It1, class It2>
auto is_passed_directly_in_dynsel_device_policies(const generic<It1, It2> &)
    -> std::conjunction<dynsel::is_passed_directly_to_device<It1>,
                        dynsel::is_passed_directly_to_device<It2>>;

} // namespace user

namespace {

constexpr access::placeholder placed = access::placeholder::true_t;

void store_on_host(int *numbers, int value)
{
    numbers[0] = value;
}
constexpr dynsel_kernel store = make_kernel<store_on_host>(
    "store", "kernel void store(global int *numbers, int value) { numbers[0] = value; }");

void scale_on_host(const dynsel_launch &launch, float *data, float factor)
{
    const std::size_t first = launch.offset.dimensions > 0 ? launch.offset.size[0] : 0;
    for (std::size_t i = first; i < first + launch.global.size[0]; i++) {
        data[i] *= factor;
    }
}
constexpr dynsel_kernel scale = make_kernel<scale_on_host>("scale");

status fail_on_host(const int *)
{
    return DYNSEL_E_TASK;
}
constexpr dynsel_kernel failing = make_kernel<fail_on_host>("fail");

status add_on_host(const dynsel_launch &launch, const float *from, float *to, const float *)
{
    for (std::size_t i = 0; i < launch.global.size[0]; i++) {
        to[i] += from[i];
    }
    return launch.local.dimensions > 0 && launch.local.size[0] != 2 ? DYNSEL_E_TASK : DYNSEL_OK;
}
constexpr dynsel_kernel add = make_kernel<add_on_host>("add");

dynsel::round_robin_policy host_policy()
{
    return dynsel::round_robin_policy{{{&dynsel_inline_backend, nullptr}}};
}

/* The example of the specification. */
void a_placeholder_is_used_in_two_command_groups(void **)
{
    auto p = host_policy();
    int data[10] = {};
    {
        buffer<int, 1> buf{data, range<1>(10)};
        assert_status(DYNSEL_OK, buf.status());
        auto acc = buf.get_access<access::mode::read_write, access::target::global, placed>();
        static_assert(decltype(acc)::placeholder_kind);
        assert_true(acc.is_placeholder() && acc.has_buffer());
        auto first = submit(p, [&](handler &h) {
            h.require(acc);
            h.set_args(acc, 3);
            h.single_task(store);
        });
        assert_true(static_cast<bool>(first));
        assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                          h.require(acc);
                          h.set_args(acc, 2);
                          h.single_task(store);
                      }));
        {
            auto seen = buf.get_access<access::mode::read>();
            assert_status(DYNSEL_OK, seen.status());
            static_assert(std::is_same_v<decltype(seen[0]), const int &>);
            assert_int_equal(seen[0], 2);
            assert_int_equal(seen.size(), 10);
            assert_int_equal(std::accumulate(seen.begin(), seen.end(), 0), 2);
        }
        assert_status(DYNSEL_OK, wait(first));
    }
    assert_int_equal(data[0], 2);
}

void a_placeholder_gets_its_buffer_later(void **)
{
    auto p = host_policy();
    int one[1] = {};
    int other[1] = {};
    buffer<int> first{one};
    buffer<int> second{other};
    const accessor<int, 1, access::mode::discard_write, access::target::global, placed> later{
        "later"};
    assert_true(later.is_placeholder());
    assert_false(later.has_buffer());
    for (buffer<int> *each : {&first, &second}) {
        assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                          h.require(*each, later);
                          h.set_args(later, each == &first ? 1 : 2);
                          h.single_task(store);
                      }));
    }
    assert_status(DYNSEL_E_INVALID, submit_and_wait(p, [&](handler &h) {
                      h.require(later);
                      h.set_args(later, 1);
                      h.single_task(store);
                  }));
    assert_status(DYNSEL_E_INVALID, submit_and_wait(p, [&](handler &h) {
                      h.set_args(later, 1);
                      h.single_task(store);
                  }));
    if (CONFIG_DYNSEL_ERROR_TEXTS) {
        assert_non_null(std::strstr(error_text{}.c_str(), "later"));
    }
    assert_status(DYNSEL_OK, first.end());
    assert_status(DYNSEL_OK, second.end());
    assert_int_equal(one[0], 1);
    assert_int_equal(other[0], 2);
    assert_status(DYNSEL_E_INVALID, second.end());
}

void normal_accessors_are_of_one_command_group(void **)
{
    auto p = host_policy();
    int data[1] = {};
    buffer<int> buf{data};
    auto acc = buf.get_access<access::mode::read_write, access::target::global, placed>();
    const auto group = [&](handler &h) -> status {
        auto normal = acc.get_access(h);
        static_assert(!decltype(normal)::placeholder_kind);
        assert_false(normal.is_placeholder());
        h.set_args(normal, 7);
        h.single_task(store);
        return DYNSEL_OK;
    };
    assert_status(DYNSEL_OK, submit_and_wait(p, group));
    assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                      h.set_args(buf.get_access<access::mode::discard_write>(h), 8);
                      h.single_task(store);
                  }));
    assert_int_equal(buf.get_access<access::mode::read>()[0], 8);
    assert_status(DYNSEL_E_TASK, submit_and_wait(p, [](handler &) { return DYNSEL_E_TASK; }));
}

void kernels_run_over_ranges(void **)
{
    auto p = host_policy();
    float data[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    float more[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    buffer<float> buf{data};
    buffer<float> from{more};
    assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                      h.set_args(buf.get_access<access::mode::read_write>(h), 3.0F);
                      h.parallel_for(range{4}, id<1>{2}, scale);
                  }));
    assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                      h.set_args(from.get_access<access::mode::read>(h),
                                 buf.get_access<access::mode::read_write>(h), DYNSEL_LOCAL(8));
                      h.parallel_for(nd_range{range{8}, range{2}}, add);
                  }));
    {
        const auto seen = buf.get_access<access::mode::read>();
        const float expected[] = {2, 3, 6, 7, 8, 9, 8, 9};
        assert_memory_equal(seen.data(), expected, sizeof expected);
    }
    assert_status(DYNSEL_E_TASK, submit_and_wait(p, [&](handler &h) {
                      h.set_args(nullptr);
                      h.single_task(failing);
                  }));
    assert_status(DYNSEL_E_INVALID, submit_and_wait(p, [](handler &) {})); /* no command */
}

void copies_and_fills(void **)
{
    auto p = host_policy();
    int data[6] = {1, 2, 3, 4, 5, 6};
    int copy[6] = {};
    {
        buffer<int, 2> from{data, range{2, 3}};
        buffer<int, 2> to{copy, range{2, 3}};
        const accessor<int, 2, access::mode::read_write, access::target::global, placed> row{
            from, range{1, 3}, id<2>{1, 0}};
        auto all = from.get_access<access::mode::read, access::target::global, placed>();
        auto into = to.get_access<access::mode::discard_write, access::target::global, placed>();
        assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                          h.require(row);
                          h.fill(row, 9);
                      }));
        assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                          h.require(all);
                          h.require(into);
                          h.copy(all, into);
                      }));
    }
    const int expected[] = {1, 2, 3, 9, 9, 9};
    assert_memory_equal(copy, expected, sizeof expected);
}

void memory_is_copied_behind_a_named_submission(void **)
{
    auto p = host_policy();
    const int given[4] = {1, 2, 3, 4};
    int data[4] = {};
    int taken[4] = {};
    {
        buffer<int> of{data};
        auto into = of.get_access<access::mode::discard_write, access::target::global, placed>();
        auto from = of.get_access<access::mode::read, access::target::global, placed>();
        auto first = submit(p, [&](handler &h) {
            h.require(into);
            h.copy(given, 4, into);
        });
        assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                          h.depends_on(first);
                          h.require(from);
                          h.copy(from, taken, 4);
                      }));
        assert_status(DYNSEL_OK, wait(first));
        assert_status(DYNSEL_E_INVALID, submit_and_wait(p, [&](handler &h) {
                          h.require(from);
                          h.copy(from, taken, 3);
                      }));
        assert_status(DYNSEL_OK, of.discard());
        assert_status(DYNSEL_E_INVALID, of.discard()); /* it is gone */
    }
    assert_memory_equal(taken, given, sizeof given);
}

void ranges_are_iterators(void **)
{
    auto p = host_policy();
    float data[4] = {1, 2, 3, 4};
    static_assert(!is_passed_directly_to_device_v<host_iterator<float>>);
    static_assert(is_passed_directly_to_device_v<float *>);
    static_assert(is_passed_directly_to_device_v<const std::reverse_iterator<float *> &>);
    static_assert(!is_passed_directly_to_device_v<std::reverse_iterator<user::inputs>>);
    static_assert(is_passed_directly_to_device_v<user::derived> &&
                  !is_passed_directly_to_device_v<user::other>);
    static_assert(is_passed_directly_to_device_v<user::legacy> &&
                  !is_passed_directly_to_device_v<user::both>);
    static_assert(is_passed_directly_to_device_v<user::generic<float *, user::derived>>);
    static_assert(!is_passed_directly_to_device_v<user::generic<float *, int>>);
    assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                      h.set_range(0, host_iterator{data}, 4, access::mode::read_write);
                      h.set_arg(1, 2.0F);
                      h.parallel_for(range{4}, scale);
                  }));
    assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                      h.set_range(0, user::inputs_make(data), 4, access::mode::read_write);
                      h.set_arg(1, 2.0F);
                      h.parallel_for(range{4}, scale);
                  }));
    assert_status(DYNSEL_OK, submit_and_wait(p, [&](handler &h) {
                      h.set_range(0, static_cast<float *>(data), 4, access::mode::read_write);
                      h.set_arg(1, 2.0F);
                      h.parallel_for(range{4}, scale);
                  }));
    assert_true(data[0] == 8 && data[3] == 32);
    assert_status(DYNSEL_E_INVALID, submit_and_wait(p, [&](handler &h) {
                      h.set_range(0, host_iterator<float>{nullptr}, 4, access::mode::read);
                      h.set_arg(1, 2.0F);
                      h.parallel_for(range{4}, scale);
                  }));
}

/* The ends of buffers. */

void a_buffer_without_memory_of_the_program(void **)
{
    auto p = host_policy();
    buffer<int> inside{range{2}};
    if (CONFIG_DYNSEL_BUFFER_INSIDE_BYTES < 8) {
        assert_status(DYNSEL_E_FULL, inside.status());
        return;
    }
    assert_int_equal(inside.get_access<access::mode::read>()[1], 0);
    buffer<int> moved{std::move(inside)};
    assert_status(DYNSEL_OK, moved.end());
}

void a_buffer_in_use_does_not_end(void **)
{
    int data[1] = {};
    buffer<int> buf{data};
    {
        const auto open = buf.get_access<access::mode::read_write>();
        assert_true(static_cast<bool>(open));
        assert_status(DYNSEL_E_BUSY, buf.end());
        const auto other = buf.get_access<access::mode::read>();
        assert_status(DYNSEL_E_BUSY, other.status());
        assert_null(other.data());
    }
    assert_status(DYNSEL_OK, buf.end());
    assert_true(dies([] {
        static int more[1];
        host_accessor<int, 1, access::mode::read> *open = nullptr;
        alignas(8) static unsigned char place[sizeof *open];
        const buffer<int> ends{more};
        open = new (place) host_accessor<int, 1, access::mode::read>{ends};
    }));
}

#if CONFIG_DYNSEL_BACKEND_THREADS
void sleep_and_store(int *numbers)
{
    const timespec moment = {0, 20000000};
    (void)nanosleep(&moment, nullptr);
    numbers[0] = 5;
}
constexpr dynsel_kernel slow = make_kernel<sleep_and_store>("slow");

void a_buffer_waits_for_the_work_that_uses_it(void **)
{
    dynsel_resource worker = {};
    std::size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_threads_start(1));
    assert_status(DYNSEL_OK, dynsel_threads_resources(&worker, 1, &count));
    int data[1] = {};
    int more[1] = {};
    {
        round_robin_policy p{{worker}};
        const buffer<int> buf{data};
        const auto s = submit(p, [&](handler &h) {
            h.set_args(buf.get_access<access::mode::discard_write>(h));
            h.single_task(slow);
        });
        assert_true(static_cast<bool>(s));
        buffer<int> ended{more};
        const auto last = submit(p, [&](handler &h) {
            h.set_args(ended.get_access<access::mode::discard_write>(h));
            h.single_task(slow);
        });
        assert_status(DYNSEL_OK, ended.end());
        assert_int_equal(more[0], 5);
    }
    assert_int_equal(data[0], 5);
    assert_status(DYNSEL_OK, dynsel_threads_stop());
}
#else
void a_buffer_waits_for_the_work_that_uses_it(void **)
{
    skip();
}
#endif

void refused_buffers_tell_why(void **)
{
    int data[1] = {};
    const buffer<int> none{data, range{SIZE_MAX}};
    assert_status(DYNSEL_E_INVALID, none.status());
    assert_status(DYNSEL_E_INVALID, none.get_access<access::mode::read>().status());
}

} // namespace

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(a_placeholder_is_used_in_two_command_groups),
        cmocka_unit_test(a_placeholder_gets_its_buffer_later),
        cmocka_unit_test(normal_accessors_are_of_one_command_group),
        cmocka_unit_test(kernels_run_over_ranges),
        cmocka_unit_test(copies_and_fills),
        cmocka_unit_test(memory_is_copied_behind_a_named_submission),
        cmocka_unit_test(ranges_are_iterators),
        cmocka_unit_test(a_buffer_without_memory_of_the_program),
        cmocka_unit_test(a_buffer_in_use_does_not_end),
        cmocka_unit_test(a_buffer_waits_for_the_work_that_uses_it),
        cmocka_unit_test(refused_buffers_tell_why),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
