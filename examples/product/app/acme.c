/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks blocks of memory with two CRC units, of which the second is three times as fast. The exit
 * status is 0 if all sums are right.
 */
#include <acme/crc_unit.h>
#include <acme/weighted.h>
#include <dynsel/dynsel.h>

enum { BLOCKS = 40, BYTES = 64 };

typedef struct block {
    uint8_t bytes[BYTES];
    uint32_t sum;
} block;

static block blocks[BLOCKS];
static acme_crc_unit units[] = {{.name = "slow"}, {.name = "fast"}};
static acme_weighted_policy policy; /* zeroed: not initialized yet */

static dynsel_status sum_up(const dynsel_resource *where, void *args, dynsel_event *done)
{
    block *b = args;
    (void)done;
    b->sum = acme_crc_run(where->handle, b->bytes, sizeof b->bytes);
    return DYNSEL_OK;
}

static bool sum_up_all(void)
{
    bool good = true;
    for (unsigned i = 0; i < BLOCKS; i++) {
        blocks[i].bytes[0] = (uint8_t)i;
        const dynsel_task task = DYNSEL_TASK(sum_up, &blocks[i]);
        good = dynsel_submit_and_wait(&policy.policy, &task) == DYNSEL_OK && good;
    }
    return good;
}

static bool are_right(void)
{
    acme_crc_unit reference = {.name = "reference"};
    bool good = units[0].runs == BLOCKS / 4 && units[1].runs == BLOCKS * 3 / 4;
    for (unsigned i = 0; i < BLOCKS; i++) {
        good = blocks[i].sum == acme_crc_run(&reference, blocks[i].bytes, BYTES) && good;
    }
    return good;
}

int main(void)
{
    const dynsel_resource resources[] = {{&acme_crc_backend, &units[0]},
                                         {&acme_crc_backend, &units[1]}};
    const uint8_t weights[] = {1, 3};
    const dynsel_options options = {.resources = resources, .count = 2};
    bool good = acme_weighted_init(&policy, &options, weights) == DYNSEL_OK;
    good = good && sum_up_all() && are_right();
    return dynsel_policy_deinit(&policy.policy) == DYNSEL_OK && good ? 0 : 1;
}
