/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The example of the specification of placeholder accessors: two command groups require one
 * accessor that belongs to neither, on whatever device each of them runs.
 */
#include "program.hpp"

using namespace dynsel;

static void store_on_host(int *numbers, int value)
{
    numbers[0] = value;
}

static constexpr dynsel_kernel store = make_kernel<store_on_host>(
    "store", "kernel void store(global int *numbers, int value) { numbers[0] = value; }");

static status store_twice(int *seen)
{
    dynsel_options everything = {};
    everything.defaults = DYNSEL_HOST_AND_DEVICES;
    static round_robin_policy p{everything};

    buffer<int, 1> buf(range<1>(10)); // memory inside the library
    // The buffer stays alive for as long as this accessor is used
    auto pAcc = buf.get_access<access::mode::read_write, access::target::global,
                               access::placeholder::true_t>();

    for (const int value : {3, 2}) {
        const auto s = submit(p, [&](handler &h) {
            h.require(pAcc); // registered for this command group
            h.set_args(pAcc, value);
            h.single_task(store);
        });
        if (!s) {
            return s.submitted();
        }
        std::printf("numbers[0] = %d on %s\n", value, s.where().name());
    } // the work goes on; what uses the buffer next waits for it

    auto hostAcc = buf.get_access<access::mode::read>();
    *seen = hostAcc ? hostAcc[0] : 0;
    std::printf("the host reads %d\n", *seen);
    return hostAcc.status();
}

int main(int argc, char **argv)
{
    program_takes_nothing(argc, argv, "placeholder_access",
                          "Two command groups use one placeholder; says where each of them ran.\n");
    int seen = 0;
    const status status = store_twice(&seen);
    return program_ends("placeholder_access", status, seen == 2);
}
