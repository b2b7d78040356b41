/* SPDX-License-Identifier: Apache-2.0 */
/* The resources of other ranks in C++. */
#include <dynsel/dynsel.hpp>

#include <cstdio>
#include <cstring>

#include "test.h"

namespace {

void resources_say_their_rank(void **state)
{
    (void)state;
    dynsel::round_robin_policy policy;
    std::uint32_t seen = 0;
    for (const dynsel::resource where : dynsel::get_resources(policy)) {
        char begins[16];
        (void)std::snprintf(begins, sizeof begins,
                            "rank %u: ", static_cast<unsigned>(where.rank()));
        assert_int_equal(where.rank() != 0,
                         std::strncmp(where.name(), begins, std::strlen(begins)) == 0);
        seen |= 1U << where.rank();
    }
    assert_int_equal(seen | 1U, (1U << dynsel_mpi_rank_count()) - 1);
    assert_int_equal(dynsel::resource().rank(), 0);
}

void all_ranks_end(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_mpi_close());
}

} // namespace

int main()
{
    if (dynsel_mpi_open(nullptr) != DYNSEL_OK) {
        return 1;
    }
    if (dynsel_mpi_rank() != 0) {
        return dynsel_mpi_serve() == DYNSEL_OK ? 0 : 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resources_say_their_rank),
        cmocka_unit_test(all_ranks_end),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
