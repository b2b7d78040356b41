/* SPDX-License-Identifier: Apache-2.0 */
/* The same in C++: 100 pieces of work on one resource. */
#include <dynsel/dynsel.hpp>

int main()
{
    static dynsel::fixed_resource_policy policy{{{&dynsel_inline_backend, nullptr}}};
    unsigned counted = 0;
    for (int i = 0; i < 100; i++) {
        if (!dynsel::submit_and_wait(policy, [&](dynsel::resource) { ++counted; }).ok()) {
            return 1;
        }
    }
    return counted == 100 ? 0 : 1;
}
