/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers for tests: the seed is printed, and DYNSEL_TEST_SEED repeats a run.
 */
#ifndef DYNSEL_TESTS_RANDOM_H
#define DYNSEL_TESTS_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct test_random {
    uint64_t state;
} test_random;

static inline uint64_t test_seed(void)
{
    const char *given = getenv("DYNSEL_TEST_SEED");
    const uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("DYNSEL_TEST_SEED=%llu\n", (unsigned long long)seed);
#if !DYNSEL_TESTS_SMALL_RUNNER
    (void)fflush(stdout); /* a test that hangs has told it */
#endif
    return seed;
}

/* splitmix64 */
static inline uint32_t test_random_next(test_random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* Each bit is set in one of four. */
static inline uint32_t test_random_few_bits(test_random *random)
{
    const uint32_t some = test_random_next(random);
    return some & test_random_next(random);
}

static inline uint32_t test_random_below(test_random *random, uint32_t end)
{
    return (uint32_t)(((uint64_t)test_random_next(random) * end) >> 32);
}

#endif
