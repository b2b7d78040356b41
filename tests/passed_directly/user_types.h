/* SPDX-License-Identifier: Apache-2.0 */
/* Types of a user's, each marked beside its declaration in one of the ways that there are. */
#ifndef DYNSEL_TESTS_USER_TYPES_H
#define DYNSEL_TESTS_USER_TYPES_H

#include <dynsel/passed_directly.h>

/* Says nothing. */
typedef struct plain {
    float *data;
} plain;

/* The seed's first example. */
typedef struct always {
    float *data;
} always;
DYNSEL_PASSED_DIRECTLY(always, 1);

typedef struct never {
    float *data;
} never;
DYNSEL_PASSED_DIRECTLY(never, 0);

/* The seed's second example. */
typedef struct pair {
    always first;
    float *second;
} pair;
DYNSEL_PASSED_DIRECTLY(pair, dynsel_is_passed_directly_to_device(always) &&
                                 dynsel_is_passed_directly_to_device(float *));

/* (1) An overload without a body: a mark before there is anything else of the type. */
struct bodiless;
DYNSEL_PASSED_DIRECTLY(bodiless, 1);
struct bodiless {
    pair of;
};

/* (2) A hidden friend, and the legacy member: a mark inside of the type. */
typedef struct friendly {
    float *data;
    DYNSEL_PASSED_DIRECTLY(friendly, 1);
} friendly;

struct unfriendly {
    DYNSEL_PASSED_DIRECTLY(unfriendly, 0);
    float *data;
};

/* (4) A derived type: C knows of no such relation, so it says itself what it follows, or
 * nothing. */
typedef struct derived {
    always base;
} derived;
DYNSEL_PASSED_DIRECTLY(derived, dynsel_is_passed_directly_to_device(always));

typedef struct derived_and_silent {
    always base;
} derived_and_silent;

typedef struct derived_and_other {
    always base;
} derived_and_other;
DYNSEL_PASSED_DIRECTLY(derived_and_other, 0);

/* Of two bases that disagree it says which counts. */
typedef struct derived_from_two {
    always one;
    never other;
} derived_from_two;
DYNSEL_PASSED_DIRECTLY(derived_from_two, dynsel_is_passed_directly_to_device(never));

/* (3) A template: a macro that declares the type and marks it. */
#define PAIR_OF(name, a, b)                                                                        \
    typedef struct name name;                                                                      \
    struct name {                                                                                  \
        a first;                                                                                   \
        b second;                                                                                  \
        DYNSEL_PASSED_DIRECTLY(name, dynsel_is_passed_directly_to_device(a) &&                     \
                                         dynsel_is_passed_directly_to_device(b));                  \
    }

typedef float *pointer;

/* What is marked is what the mark says, also where it is a pointer or an array. */
typedef float *hosts_pointer;
DYNSEL_PASSED_DIRECTLY(hosts_pointer, 0);
typedef unsigned long address;
DYNSEL_PASSED_DIRECTLY(address, 1);
typedef always marked_row[4];
DYNSEL_PASSED_DIRECTLY(marked_row, dynsel_is_passed_directly_to_device(always));

PAIR_OF(deep_1, always, pointer);
PAIR_OF(deep_2, deep_1, deep_1);
PAIR_OF(deep_3, deep_2, deep_1);
PAIR_OF(deep_4, always, deep_3);
PAIR_OF(deep_5, deep_4, deep_4);
PAIR_OF(deep_6, deep_5, deep_2);
PAIR_OF(deep_7, deep_6, deep_6);
PAIR_OF(deep_8, deep_7, pair);
PAIR_OF(spoilt_1, plain, pointer);
PAIR_OF(spoilt_2, always, spoilt_1);
PAIR_OF(spoilt_3, spoilt_2, always);
PAIR_OF(spoilt_4, deep_8, spoilt_3);
PAIR_OF(spoilt_5, spoilt_4, deep_5);
PAIR_OF(spoilt_6, deep_5, spoilt_5);

#endif
