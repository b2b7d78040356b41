// SPDX-License-Identifier: Apache-2.0
//
// y = a * x + y, block after block, on whichever device has the least to do: SYCL 2020 with
// oneDPL's dynamic selection. port.c is the same program with dynsel. The project's tests cannot
// compile this one: they have no SYCL compiler.
#include <cstdio>
#include <oneapi/dpl/dynamic_selection>
#include <sycl/sycl.hpp>
#include <vector>

namespace ex = oneapi::dpl::experimental;

constexpr std::size_t blocks = 6, elements = 1 << 16;

int main()
{
    std::vector<std::vector<float>> x(blocks), y(blocks);
    std::vector<sycl::buffer<float>> xs, ys;
    for (std::size_t b = 0; b < blocks; b++) {
        for (std::size_t i = 0; i < elements; i++) {
            x[b].push_back(static_cast<float>(i % 100));
            y[b].push_back(static_cast<float>(b));
        }
        xs.emplace_back(x[b].data(), sycl::range{elements});
        ys.emplace_back(y[b].data(), sycl::range{elements});
    }
    try {
        ex::dynamic_load_policy policy;
        for (std::size_t b = 0; b < blocks; b++) {
            sycl::accessor in{xs[b],
                              sycl::read_only}; // placeholders: made before the device is known
            sycl::accessor out{ys[b], sycl::read_write};
            ex::submit(policy, [=](sycl::queue queue) {
                return queue.submit([=](sycl::handler &handler) {
                    handler.require(in);
                    handler.require(out);
                    handler.parallel_for(sycl::range{elements},
                                         [=](sycl::id<1> i) { out[i] += 2.0f * in[i]; });
                });
            });
        }
        ex::wait(ex::get_submission_group(policy));
        ys.clear(); // writes the results back
    } catch (const std::exception &e) {
        std::fprintf(stderr, "saxpy: %s\n", e.what());
        return 1;
    }
    double sum = 0;
    for (const auto &block : y) {
        for (float value : block) {
            sum += value;
        }
    }
    std::printf("sum %.0f\n", sum);
}
