/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example of the specification of the passed-directly trait: a user's pair of iterators is
 * passed directly if both of them are. Where it is not, its memory is copied for a device.
 */
#include "program.hpp"

namespace user {

// Iterators of the library: of host memory, which is copied, and numbers, which have no memory
DYNSEL_HOST_ITERATOR(inputs, float);
DYNSEL_COUNTING_ITERATOR(numbers, int);

struct input_pair {
    inputs first;
    numbers second;
    friend auto is_passed_directly_in_dynsel_device_policies(const input_pair &)
        -> std::conjunction<dynsel::is_passed_directly_to_device<inputs>,
                            dynsel::is_passed_directly_to_device<numbers>>;
};
// The arguments of a kernel that such a pair becomes
DYNSEL_LEAVES(input_pair, DYNSEL_PART(inputs, first) DYNSEL_PART(numbers, second));

struct my_passed_directly_iterator {
    float *data;
};
inline std::true_type
is_passed_directly_in_dynsel_device_policies(const my_passed_directly_iterator &)
{
    return std::true_type{};
}

} // namespace user

static_assert(dynsel::is_passed_directly_to_device_v<user::my_passed_directly_iterator>);
static_assert(dynsel::is_passed_directly_to_device_v<user::numbers>);
static_assert(dynsel::is_passed_directly_to_device_v<float *>);
static_assert(!dynsel::is_passed_directly_to_device_v<user::inputs>);
static_assert(!dynsel::is_passed_directly_to_device_v<user::input_pair>);

static void add_on_host(const dynsel_launch &launch, const float *data, int first, float *sums)
{
    for (std::size_t i = 0; i < launch.global.size[0]; i++) {
        sums[i] = data[i] + static_cast<float>(first + static_cast<int>(i));
    }
}

static constexpr dynsel_kernel add = dynsel::make_kernel<add_on_host>(
    "add", "kernel void add(global const float *data, int first, global float *sums)"
           "{ const size_t i = get_global_id(0); sums[i] = data[i] + (float)(first + (int)i); }");

static dynsel::status add_everywhere(bool *right)
{
    dynsel_options everything = {};
    everything.defaults = DYNSEL_HOST_AND_DEVICES;
    static dynsel::round_robin_policy p{everything};

    for (std::size_t turn = 0; turn < p.get_resources().size(); turn++) {
        float data[4] = {1, 2, 3, 4};
        float sums[4] = {};
        const user::input_pair pair{user::inputs_make(data), user::numbers_make(10)};
        auto s = dynsel::submit(p, [&](dynsel::handler &h) {
            h.set_range(0, pair, 4, dynsel::access::mode::read);
            h.set_range(2, dynsel::host_iterator{sums}, 4, dynsel::access::mode::discard_write);
            h.parallel_for(dynsel::range{4}, add);
        });
        if (const dynsel::status status = dynsel::wait(s); !status.ok()) {
            return status;
        }
        std::printf("%g %g %g %g from %s\n", sums[0], sums[1], sums[2], sums[3], s.where().name());
        *right = *right && sums[0] == 11 && sums[3] == 17;
    }
    return DYNSEL_OK;
}

int main(int argc, char **argv)
{
    program_takes_nothing(argc, argv, "iterator_pair",
                          "Adds up a pair of iterators on each resource.\n");
    bool right = true;
    const dynsel::status status = add_everywhere(&right);
    return program_ends("iterator_pair", status, right);
}
