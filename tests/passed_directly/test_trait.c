/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is passed directly, for types of every form. All of it is known to the compiler, so what
 * runs only shows that the constants can be used as such. What must not compile is in
 * test_refused.py.
 */
#include "user_types.h" /* first: no other header of dynsel's comes before it */

#include <dynsel/iterators.h>

#include <stdbool.h>

#include "test.h"

#define DIRECT(type) _Static_assert(dynsel_is_passed_directly_to_device(type) == 1, "")
#define STAGED(type) _Static_assert(dynsel_is_passed_directly_to_device(type) == 0, "")

/* Pointers, whatever they point to. */
struct nowhere_complete;
union nowhere_either;
enum color { RED };
typedef void function(int);
typedef int row[4];
typedef const float *const_pointer;
typedef struct nowhere_complete *opaque;
typedef struct {
    int x;
} nameless;

DIRECT(float *);
DIRECT(const float *);
DIRECT(float const *);
DIRECT(volatile int *);
DIRECT(const volatile unsigned long long *);
DIRECT(float *const);
DIRECT(const char *const volatile);
DIRECT(float *restrict);
DIRECT(float **);
DIRECT(const float *const *const *);
DIRECT(void *);
DIRECT(const void *);
DIRECT(void **);
DIRECT(bool *);
DIRECT(_Bool *);
DIRECT(size_t *);
DIRECT(const uint8_t *const);
DIRECT(long double *);
DIRECT(_Complex float *);
DIRECT(struct nowhere_complete *);
DIRECT(const struct nowhere_complete *);
DIRECT(union nowhere_either *);
DIRECT(struct nowhere_complete *const *volatile *);
DIRECT(struct never_mentioned_before *);
DIRECT(enum color *);
DIRECT(opaque);
DIRECT(const opaque);
DIRECT(opaque *);
DIRECT(pointer);
DIRECT(const_pointer);
DIRECT(const_pointer *);
DIRECT(volatile const_pointer *const);
DIRECT(_Atomic(int *));
DIRECT(int *_Atomic);
DIRECT(_Atomic pointer);
DIRECT(_Atomic(void *) *);
DIRECT(_Atomic int *);
DIRECT(float *const volatile restrict);
DIRECT(nameless *);
DIRECT(plain *);
DIRECT(const plain *);
DIRECT(plain const *);
DIRECT(struct plain *);
DIRECT(const struct plain *const *);
DIRECT(never *);
DIRECT(struct never **);
DIRECT(always *);
DIRECT(pair *const *);
DIRECT(struct unfriendly *);
DIRECT(int (*)[4]);
DIRECT(row *);
DIRECT(always (*)[4]);
DIRECT(int *(*)[2][3]);
DIRECT(uint8_t (*)[16]);

/* Of functions too. */
DIRECT(void (*)(void));
DIRECT(int (*)(int, const char *));
DIRECT(function *);
DIRECT(plain (*)(plain, never *));
DIRECT(struct plain (*)(void));
DIRECT(always (*)(int, always));
DIRECT(void (**)(int));
DIRECT(void (*(*)(int))(char));
DIRECT(void (*const)(int));

/* Not pointers. */
STAGED(char);
STAGED(signed char);
STAGED(unsigned);
STAGED(unsigned long int);
STAGED(long long);
STAGED(short);
STAGED(const int);
STAGED(volatile float);
STAGED(double);
STAGED(bool);
STAGED(_Complex double);
STAGED(_Atomic int);
STAGED(size_t);
STAGED(uintptr_t);
STAGED(void);
STAGED(enum color);
STAGED(nameless);
STAGED(function);
STAGED(void(int));
STAGED(plain(int));

/* Arrays, also of what is passed directly. */
STAGED(float[4]);
STAGED(const int[2][3]);
STAGED(float *[4]);
STAGED(row);
STAGED(const row);
STAGED(always[2]);
STAGED(uint8_t[16]);
STAGED(const size_t[2]);
STAGED(uintmax_t[2]);
STAGED(int_least8_t[2][2]);
STAGED(max_align_t[2]);
STAGED(_Atomic(int)[4]);

/* Marked typedefs of what is not a structure. */
STAGED(hosts_pointer);
STAGED(const hosts_pointer);
STAGED(hosts_pointer[2]);
DIRECT(hosts_pointer *);
DIRECT(address);
DIRECT(const address);
STAGED(address[2]);
DIRECT(marked_row);
DIRECT(marked_row *);

/* Types that say what they are, and one that does not. */
STAGED(plain);
STAGED(struct plain);
STAGED(const plain);
STAGED(plain volatile);
STAGED(never);
STAGED(struct never);
DIRECT(always);
DIRECT(struct always);
DIRECT(const always);
DIRECT(always const);
DIRECT(volatile always);
DIRECT(const volatile struct always);
DIRECT(struct always const volatile);
DIRECT(pair);
DIRECT(struct pair);
DIRECT(struct bodiless);
DIRECT(friendly);
DIRECT(struct friendly);
STAGED(struct unfriendly);
STAGED(const struct unfriendly);

/* What follows from other types. */
DIRECT(derived);
STAGED(derived_and_silent);
STAGED(derived_and_other);
STAGED(derived_from_two);
DIRECT(deep_1);
DIRECT(deep_5);
DIRECT(deep_8);
STAGED(spoilt_1);
STAGED(spoilt_5);
STAGED(spoilt_6);

/* Another name is another type, until it says what it is. */
typedef always alias;
STAGED(alias);
/* (5) Another name. */
typedef always marked_alias;
DYNSEL_PASSED_DIRECTLY(marked_alias, dynsel_is_passed_directly_to_device(always));
DIRECT(marked_alias);
typedef plain other_alias;
DYNSEL_PASSED_DIRECTLY(other_alias, 1);
DIRECT(other_alias);
STAGED(plain);

/* Any expression, any kind of type. */
enum { SWITCHED_ON = 1 };
union either {
    float *one;
    int other;
};
DYNSEL_PASSED_DIRECTLY(either, SWITCHED_ON && sizeof(union either) >= sizeof(int));
DIRECT(union either);
DYNSEL_PASSED_DIRECTLY(shade, 7);
typedef enum shade { DARK } shade;
DIRECT(shade);
DIRECT(enum shade);
DYNSEL_PASSED_DIRECTLY(not_three, !dynsel_is_passed_directly_to_device(pair) ||
                                      dynsel_is_passed_directly_to_device(plain));
typedef struct not_three {
    int x;
} not_three;
STAGED(not_three);

/* The library's iterators. */
static inline float half_of(float x)
{
    return x / 2;
}
static inline float half_of_number(int x)
{
    return (float)x / 2;
}
DYNSEL_POINTER_ITERATOR(usm, float);
DYNSEL_HOST_ITERATOR(host, float);
DYNSEL_HOST_ITERATOR(host_map, int);
DYNSEL_COUNTING_ITERATOR(counting, int);
DYNSEL_DISCARD_ITERATOR(discard, float);
DIRECT(usm);
STAGED(host);
DIRECT(counting);
DIRECT(discard);
DIRECT(const struct counting);
DIRECT(usm *);
DIRECT(host *);

DYNSEL_TRANSFORM_ITERATOR(half_usm, usm, half_of, float);
DYNSEL_TRANSFORM_ITERATOR(half_host, host, half_of, float);
DYNSEL_TRANSFORM_ITERATOR(half_counting, counting, half_of_number, float);
DYNSEL_HOST_TRANSFORM_ITERATOR(host_half_usm, usm, half_of, float);
DYNSEL_HOST_TRANSFORM_ITERATOR(host_half_host, host, half_of, float);
DIRECT(half_usm);
STAGED(half_host);
DIRECT(half_counting);
DIRECT(host_half_usm);
STAGED(host_half_host);

DYNSEL_PERMUTATION_ITERATOR(picked_dd, usm, counting);
DYNSEL_PERMUTATION_ITERATOR(picked_ds, usm, host_map);
DYNSEL_PERMUTATION_ITERATOR(picked_sd, host, counting);
DYNSEL_PERMUTATION_ITERATOR(picked_ss, host, host_map);
DIRECT(picked_dd);
STAGED(picked_ds);
STAGED(picked_sd);
STAGED(picked_ss);

DYNSEL_REVERSE_ITERATOR(reverse_d, usm);
DYNSEL_REVERSE_ITERATOR(reverse_s, host);
DYNSEL_REVERSE_ITERATOR(reverse_dd, reverse_d);
DIRECT(reverse_d);
STAGED(reverse_s);
DIRECT(reverse_dd);

DYNSEL_ZIP2_ITERATOR(zip_dd, usm, counting);
DYNSEL_ZIP2_ITERATOR(zip_ds, usm, host);
DYNSEL_ZIP2_ITERATOR(zip_sd, host, usm);
DYNSEL_ZIP2_ITERATOR(zip_ss, host, host);
DYNSEL_ZIP3_ITERATOR(zip_ddd, usm, discard, half_usm);
DYNSEL_ZIP3_ITERATOR(zip_dds, usm, discard, host);
DYNSEL_ZIP3_ITERATOR(zip_dsd, usm, host, usm);
DYNSEL_ZIP3_ITERATOR(zip_sdd, host, usm, usm);
DYNSEL_ZIP4_ITERATOR(zip_dddd, usm, counting, reverse_d, picked_dd);
DYNSEL_ZIP4_ITERATOR(zip_ddds, usm, counting, reverse_d, picked_sd);
DYNSEL_ZIP4_ITERATOR(zip_ddsd, usm, counting, host, usm);
DYNSEL_ZIP4_ITERATOR(zip_dsdd, usm, host, usm, usm);
DYNSEL_ZIP4_ITERATOR(zip_sddd, host, usm, usm, usm);
DIRECT(zip_dd);
STAGED(zip_ds);
STAGED(zip_sd);
STAGED(zip_ss);
DIRECT(zip_ddd);
STAGED(zip_dds);
STAGED(zip_dsd);
STAGED(zip_sdd);
DIRECT(zip_dddd);
STAGED(zip_ddds);
STAGED(zip_ddsd);
STAGED(zip_dsdd);
STAGED(zip_sddd);

/* Seven deep, direct and spoilt at the bottom. */
#define TOWER(name, bottom)                                                                        \
    DYNSEL_TRANSFORM_ITERATOR(name##_1, bottom, half_of, float);                                   \
    DYNSEL_PERMUTATION_ITERATOR(name##_2, name##_1, counting);                                     \
    DYNSEL_REVERSE_ITERATOR(name##_3, name##_2);                                                   \
    DYNSEL_ZIP2_ITERATOR(name##_4, counting, name##_3);                                            \
    DYNSEL_REVERSE_ITERATOR(name##_5, name##_4);                                                   \
    DYNSEL_PERMUTATION_ITERATOR(name##_6, name##_5, counting);                                     \
    DYNSEL_ZIP3_ITERATOR(name##_7, name##_6, discard, name##_5);                                   \
    PAIR_OF(name##_8, name##_7, pair)
TOWER(tower, usm);
TOWER(leaning, host);
DIRECT(tower_3);
DIRECT(tower_7);
DIRECT(tower_8);
STAGED(leaning_3);
STAGED(leaning_7);
STAGED(leaning_8);

/* Where constants stand. */
static const int initialized[2] = {dynsel_is_passed_directly_to_device(pair),
                                   dynsel_is_passed_directly_to_device(plain)};
static char sized[1 + dynsel_is_passed_directly_to_device(float *)];
static char filled[dynsel_is_passed_directly_to_device(never) ? 1 : 3];
enum { ENUMERATED = 10 + dynsel_is_passed_directly_to_device(always) };
struct with_bits {
    unsigned bits : 3 + dynsel_is_passed_directly_to_device(always);
};

static int kind_of(int x)
{
    switch (x) {
    case dynsel_is_passed_directly_to_device(pair):
        return 'd';
    case dynsel_is_passed_directly_to_device(plain):
        return 's';
    default:
        return '?';
    }
}

static void trait_is_integer_constant_expression(void **state)
{
    (void)state;
    assert_int_equal(initialized[0], 1);
    assert_int_equal(initialized[1], 0);
    assert_int_equal(sizeof(sized), 2);
    assert_int_equal(sizeof(filled), 3);
    assert_int_equal(sized[1], filled[2]);
    assert_int_equal(ENUMERATED, 11);
    const struct with_bits widest = {15};
    assert_int_equal(widest.bits, 15);
    assert_int_equal(kind_of(1), 'd');
    assert_int_equal(kind_of(0), 's');
    assert_int_equal(kind_of(2), '?');
}

/* One of each kind again, as a run-time test that doc/conformance.md can name. */

#define VALUE(type) dynsel_is_passed_directly_to_device(type)

static void all_pointers_are_passed_directly(void **state)
{
    (void)state;
    assert_int_equal(VALUE(const float *) + VALUE(struct nowhere_complete *) + VALUE(void *), 3);
    assert_int_equal(VALUE(plain **) + VALUE(pointer) + VALUE(int (*)(int, const char *)), 3);
}

static void marked_type_has_its_value_and_unmarked_type_0(void **state)
{
    (void)state;
    assert_int_equal(VALUE(always) + VALUE(struct always) + VALUE(const always), 3);
    assert_int_equal(VALUE(plain) + VALUE(never) + VALUE(float) + VALUE(float[4]), 0);
}

static void marks_may_depend_on_other_types_at_any_depth(void **state)
{
    (void)state;
    assert_int_equal(VALUE(pair) + VALUE(deep_5) + VALUE(deep_8), 3);
    assert_int_equal(VALUE(spoilt_1) + VALUE(spoilt_5) + VALUE(spoilt_6), 0);
}

static void marks_may_precede_type_or_be_member(void **state)
{
    (void)state;
    assert_int_equal(VALUE(struct bodiless) + VALUE(friendly), 2);
    assert_int_equal(VALUE(struct unfriendly), 0);
}

static void derived_types_and_aliases_need_own_mark(void **state)
{
    (void)state;
    assert_int_equal(VALUE(derived) + VALUE(marked_alias), 2);
    assert_int_equal(VALUE(derived_and_silent) + VALUE(derived_and_other), 0);
    assert_int_equal(VALUE(derived_from_two) + VALUE(alias), 0);
}

static void iterators_of_direct_parts_are_direct(void **state)
{
    (void)state;
    assert_int_equal(VALUE(counting) + VALUE(discard) + VALUE(half_usm) + VALUE(picked_dd), 4);
    assert_int_equal(VALUE(zip_dd) + VALUE(zip_dddd) + VALUE(reverse_d) + VALUE(tower_7), 4);
}

static void iterators_with_one_indirect_part_are_indirect(void **state)
{
    (void)state;
    assert_int_equal(VALUE(host) + VALUE(half_host) + VALUE(picked_ds) + VALUE(picked_sd), 0);
    assert_int_equal(VALUE(zip_ds) + VALUE(zip_sddd) + VALUE(reverse_s) + VALUE(leaning_7), 0);
}

static void marks_in_block_apply_to_block_only(void **state)
{
    (void)state;
    typedef struct local {
        float *data;
    } local;
    STAGED(local);
    {
        typedef struct inner {
            float *data;
        } inner;
        DYNSEL_PASSED_DIRECTLY(inner, 1);
        DIRECT(inner);
        DYNSEL_PASSED_DIRECTLY(plain, 1); /* only here */
        DIRECT(plain);
    }
    STAGED(plain);
    STAGED(local);
    {
        struct always { /* what hides another type says what that says */
            int other;
        };
        DIRECT(struct always);
    }
    assert_true(dynsel_is_passed_directly_to_device(local *));
}

/* A mark is no object and no code: types with it are as large as without. */
static void marks_do_not_change_type_size(void **state)
{
    (void)state;
    assert_int_equal(sizeof(friendly), sizeof(float *));
    assert_int_equal(sizeof(struct unfriendly), sizeof(float *));
    assert_int_equal(sizeof(usm), sizeof(float *));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trait_is_integer_constant_expression),
        cmocka_unit_test(all_pointers_are_passed_directly),
        cmocka_unit_test(marked_type_has_its_value_and_unmarked_type_0),
        cmocka_unit_test(marks_may_depend_on_other_types_at_any_depth),
        cmocka_unit_test(marks_may_precede_type_or_be_member),
        cmocka_unit_test(derived_types_and_aliases_need_own_mark),
        cmocka_unit_test(iterators_of_direct_parts_are_direct),
        cmocka_unit_test(iterators_with_one_indirect_part_are_indirect),
        cmocka_unit_test(marks_in_block_apply_to_block_only),
        cmocka_unit_test(marks_do_not_change_type_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
