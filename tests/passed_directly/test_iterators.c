/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterators on the host: elements are those of plain C, what is written arrives, and the leaves are
 * those that a kernel needs. The same types on devices: test_opencl_iterators.c.
 */
#include "shared_types.h"

#include <string.h>

#include "test.h"

enum { COUNT = 12, PICKED = 5 };

static float data[COUNT];
static float more[COUNT];
static int order[PICKED] = {7, 0, 11, 7, 3};
static int again[PICKED] = {4, 3, 2, 0, 1};

static int set_up(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        data[i] = (float)(10 + 3 * i);
        more[i] = (float)(100 - i);
    }
    return 0;
}

/* Floats in these tests are small whole numbers. */
static int whole(float x)
{
    return (int)x;
}

static void simple_iterators_read_elements(void **state)
{
    (void)state;
    short shorts[3] = {-3, 0, 400};
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(whole(samples_read(samples_make(data), i)), whole(data[i]));
        assert_int_equal(whole(inputs_read(inputs_make(more), i)), whole(more[i]));
        assert_int_equal(numbers_read(numbers_make(-4), i), (int)i - 4);
        assert_true(large_read(large_make(5000000), i) == 5000000 + (long)i);
        assert_int_equal(whole(nowhere_read(nowhere_make(), i)), 0);
        assert_int_equal(small_read(small_make(shorts), i % 3), shorts[i % 3]);
    }
}

static void composed_iterators_read_like_plain_c(void **state)
{
    (void)state;
    const inputs in = inputs_make(data);
    const picked some = picked_make(in, places_make(order), COUNT);
    const twice_picked others = twice_picked_make(some, places_make(again), PICKED);
    for (size_t i = 0; i < PICKED; i++) {
        assert_int_equal(whole(picked_read(some, i)), whole(data[order[i]]));
        assert_int_equal(whole(twice_picked_read(others, i)), whole(data[order[again[i]]]));
        assert_int_equal(whole(picked_back_read(picked_back_make(some, PICKED), i)),
                         whole(data[order[PICKED - 1 - i]]));
    }
    const backwards back = backwards_make(in, COUNT);
    const squares squared = squares_make(in);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(whole(squares_read(squared, i)), whole(data[i] * data[i]));
        assert_int_equal(whole(backwards_read(back, i)), whole(data[COUNT - 1 - i]));
        assert_int_equal(whole(forwards_read(forwards_make(back, COUNT), i)), whole(data[i]));
    }
    for (size_t i = 0; i < COUNT - 2; i++) {
        const shifted by_two = shifted_make(samples_make(data), numbers_make(2), COUNT);
        assert_int_equal(whole(shifted_read(by_two, i)), whole(data[i + 2]));
    }
}

static void zip_iterators_read_all_parts(void **state)
{
    (void)state;
    const inputs in = inputs_make(data);
    const backwards back = backwards_make(in, COUNT);
    const picked some = picked_make(in, places_make(order), COUNT);
    const triples three = triples_make(samples_make(more), back, places_make(order));
    const fours four =
        fours_make(numbers_make(9), squares_make(in), some, forwards_make(back, COUNT));
    for (size_t i = 0; i < PICKED; i++) {
        const triples_value t = triples_read(three, i);
        assert_int_equal(whole(t.first), whole(more[i]));
        assert_int_equal(whole(t.second), whole(data[COUNT - 1 - i]));
        assert_int_equal(t.third, order[i]);
        const fours_value f = fours_read(four, i);
        assert_int_equal(f.first, 9 + (int)i);
        assert_int_equal(whole(f.second), whole(data[i] * data[i]));
        assert_int_equal(whole(f.third), whole(data[order[i]]));
        assert_int_equal(whole(f.fourth), whole(data[i]));
    }
}

static void nested_iterators_read_like_plain_c(void **state)
{
    (void)state;
    const deep_2 two =
        deep_2_make(deep_1_make(pairs_make(inputs_make(data), numbers_make(1000))), COUNT);
    const deep_4 four = deep_4_make(deep_3_make(two, places_make(order), COUNT), numbers_make(50));
    const deep_7 seven =
        deep_7_make(deep_6_make(deep_5_make(four), numbers_make(1), PICKED), PICKED - 1);
    for (int i = 0; i < PICKED - 1; i++) {
        const int at = 1 + PICKED - 2 - i; /* in deep_5 */
        const int in_pairs = COUNT - 1 - order[at];
        const int expected = whole(data[in_pairs]) + 1000 + in_pairs - (50 + at);
        assert_int_equal(whole(deep_7_read(seven, (size_t)i)), expected);
    }
}

static void iterator_writes_reach_elements(void **state)
{
    (void)state;
    const inputs in = inputs_make(data);
    backwards_write(backwards_make(in, COUNT), 1, 5.0F);
    assert_int_equal(whole(data[COUNT - 2]), 5);
    picked_write(picked_make(in, places_make(order), COUNT), 2, 6.0F);
    assert_int_equal(whole(data[11]), 6);
    samples_write(samples_make(data), 0, 7.0F);
    assert_int_equal(whole(data[0]), 7);
    nowhere_write(nowhere_make(), 3, 8.0F);
    const kept_value both = {9.0F, 10.0F};
    kept_write(kept_make(in, nowhere_make()), 4, both);
    assert_int_equal(whole(data[4]), 9);
    int places_too[COUNT] = {0};
    const triples three =
        triples_make(samples_make(more), backwards_make(in, COUNT), places_make(places_too));
    const triples_value value = {11.0F, 12.0F, 13};
    triples_write(three, 3, value);
    assert_int_equal(whole(more[3]), 11);
    assert_int_equal(whole(data[COUNT - 1 - 3]), 12);
    assert_int_equal(places_too[3], 13);
}

/* Leaves. */

enum { MOST = 12 };

typedef struct listing {
    dynsel_leaf_sink sink; /* first */
    dynsel_leaf leaves[MOST];
    size_t count;
} listing;

static void note(dynsel_leaf_sink *sink, const dynsel_leaf *leaf)
{
    listing *list = (listing *)(void *)sink;
    assert_true(list->count < MOST);
    list->leaves[list->count++] = *leaf;
}

#define LIST(type, list)                                                                           \
    do {                                                                                           \
        const dynsel_leaf_place whole_of_it = DYNSEL_WHOLE_ITERATOR(type);                         \
        (void)memset(&(list), 0, sizeof(list));                                                    \
        (list).sink.leaf = note;                                                                   \
        type##_leaves(&(list).sink, &whole_of_it);                                                 \
    } while (0)

static void assert_pointer(const dynsel_leaf *leaf, size_t offset, size_t element_bytes,
                           size_t extent, bool direct, bool read_only)
{
    assert_int_equal(leaf->kind, DYNSEL_LEAF_POINTER);
    assert_int_equal(leaf->offset, offset);
    assert_int_equal(leaf->bytes, sizeof(void *));
    assert_int_equal(leaf->element_bytes, element_bytes);
    assert_true(leaf->extent == extent);
    assert_int_equal(leaf->direct, direct);
    assert_int_equal(leaf->read_only, read_only);
}

static void assert_value(const dynsel_leaf *leaf, dynsel_leaf_kind kind, size_t offset,
                         size_t bytes)
{
    assert_int_equal(leaf->kind, kind);
    assert_int_equal(leaf->offset, offset);
    assert_int_equal(leaf->bytes, bytes);
}

static void simple_iterators_have_one_leaf_or_none(void **state)
{
    (void)state;
    listing list;
    LIST(samples, list);
    assert_int_equal(list.count, 1);
    assert_pointer(&list.leaves[0], 0, sizeof(float), DYNSEL_COUNT_OF_RANGE, true, false);
    assert_string_equal(list.leaves[0].name, "samples");
    LIST(small, list);
    assert_int_equal(list.count, 1);
    assert_pointer(&list.leaves[0], 0, sizeof(short), DYNSEL_COUNT_OF_RANGE, false, false);
    LIST(numbers, list);
    assert_int_equal(list.count, 1);
    assert_value(&list.leaves[0], DYNSEL_LEAF_VALUE, 0, sizeof(int));
    LIST(nowhere, list);
    assert_int_equal(list.count, 0);
}

static void composed_iterators_list_leaves_of_parts(void **state)
{
    (void)state;
    listing list;
    LIST(squares, list);
    assert_int_equal(list.count, 1);
    assert_pointer(&list.leaves[0], 0, sizeof(float), DYNSEL_COUNT_OF_RANGE, false, true);
    LIST(picked, list);
    assert_int_equal(list.count, 2);
    assert_pointer(&list.leaves[0], 0, sizeof(float), offsetof(picked, count), false, false);
    assert_pointer(&list.leaves[1], offsetof(picked, map), sizeof(int), DYNSEL_COUNT_OF_RANGE,
                   false, true);
    LIST(shifted, list);
    assert_int_equal(list.count, 2);
    assert_pointer(&list.leaves[0], 0, sizeof(float), offsetof(shifted, count), true, false);
    LIST(forwards, list);
    assert_int_equal(list.count, 3);
    assert_pointer(&list.leaves[0], 0, sizeof(float), offsetof(forwards, base.count), false, false);
    assert_value(&list.leaves[1], DYNSEL_LEAF_COUNT, offsetof(forwards, base.count), 8);
    assert_true(list.leaves[1].extent == offsetof(forwards, count));
    assert_value(&list.leaves[2], DYNSEL_LEAF_COUNT, offsetof(forwards, count), 8);
    assert_true(list.leaves[2].extent == DYNSEL_COUNT_OF_RANGE);
}

static void nested_iterators_list_all_leaves(void **state)
{
    (void)state;
    listing list;
    LIST(deep_7, list);
    assert_int_equal(list.count, 7);
    assert_pointer(&list.leaves[0], offsetof(deep_7, base.source.source.first.source.base.source),
                   sizeof(float), offsetof(deep_7, base.source.source.first.source.count), false,
                   true);
    assert_value(&list.leaves[1], DYNSEL_LEAF_VALUE,
                 offsetof(deep_7, base.source.source.first.source.base.source.second), sizeof(int));
    assert_value(&list.leaves[2], DYNSEL_LEAF_COUNT,
                 offsetof(deep_7, base.source.source.first.source.count), 8);
    assert_true(list.leaves[2].extent == offsetof(deep_7, base.source.source.first.count));
    assert_pointer(&list.leaves[3], offsetof(deep_7, base.source.source.first.map), sizeof(int),
                   offsetof(deep_7, base.count), false, true);
    assert_value(&list.leaves[4], DYNSEL_LEAF_VALUE, offsetof(deep_7, base.source.source.second),
                 sizeof(int));
    assert_value(&list.leaves[5], DYNSEL_LEAF_VALUE, offsetof(deep_7, base.map), sizeof(int));
    assert_value(&list.leaves[6], DYNSEL_LEAF_COUNT, offsetof(deep_7, count), 8);
}

/* Offsets are those in the whole iterator, also where a part does not begin with it. */
static void leaf_offsets_count_from_whole_iterator(void **state)
{
    (void)state;
    listing list;
    LIST(fours, list);
    assert_int_equal(list.count, 7);
    assert_value(&list.leaves[0], DYNSEL_LEAF_VALUE, 0, sizeof(int));
    assert_pointer(&list.leaves[1], offsetof(fours, second), sizeof(float), DYNSEL_COUNT_OF_RANGE,
                   false, true);
    assert_pointer(&list.leaves[2], offsetof(fours, third), sizeof(float),
                   offsetof(fours, third.count), false, false);
    assert_pointer(&list.leaves[3], offsetof(fours, third.map), sizeof(int), DYNSEL_COUNT_OF_RANGE,
                   false, true);
    assert_pointer(&list.leaves[4], offsetof(fours, fourth), sizeof(float),
                   offsetof(fours, fourth.base.count), false, false);
    assert_value(&list.leaves[5], DYNSEL_LEAF_COUNT, offsetof(fours, fourth.base.count), 8);
    assert_value(&list.leaves[6], DYNSEL_LEAF_COUNT, offsetof(fours, fourth.count), 8);
}

static void leaves_give_pointers_and_extents(void **state)
{
    (void)state;
    listing list;
    LIST(picked_back, list);
    const picked_back it =
        picked_back_make(picked_make(inputs_make(data), places_make(order), COUNT), PICKED);
    assert_int_equal(list.count, 3);
    assert_ptr_equal(dynsel_leaf_pointer(&list.leaves[0], &it), data);
    assert_int_equal(dynsel_leaf_extent(&list.leaves[0], &it, 2), COUNT);
    assert_ptr_equal(dynsel_leaf_pointer(&list.leaves[1], &it), order);
    assert_int_equal(dynsel_leaf_extent(&list.leaves[1], &it, 2), PICKED);
    assert_int_equal(dynsel_leaf_count(&list.leaves[2], &it), PICKED);
    assert_int_equal(dynsel_leaf_extent(&list.leaves[2], &it, 2), 2);
    for (size_t i = 0; i < list.count; i++) { /* nothing is used of an empty one */
        assert_int_equal(dynsel_leaf_extent(&list.leaves[i], &it, 0), 0);
    }
}

/* Types of the user's own decide for what is inside of them. */

#define OWN(name, ...)                                                                             \
    typedef struct name name;                                                                      \
    struct name {                                                                                  \
        samples usm;                                                                               \
        inputs host;                                                                               \
        float *pointer;                                                                            \
        uint64_t used;                                                                             \
        __VA_ARGS__                                                                                \
    };                                                                                             \
    DYNSEL_LEAVES(name, DYNSEL_PART(samples, usm) DYNSEL_COUNTED_PART(inputs, host, used)          \
                            DYNSEL_POINTER_PART(pointer) DYNSEL_VALUE_PART(used))
OWN(silent, char unmarked;);
OWN(direct, DYNSEL_PASSED_DIRECTLY(direct, 1););
DYNSEL_ZIP2_ITERATOR(around_silent, samples, squares);
typedef struct outer {
    silent one;
    direct other;
} outer;
DYNSEL_PASSED_DIRECTLY(outer, 1);
DYNSEL_LEAVES(outer, DYNSEL_PART(silent, one) DYNSEL_PART(direct, other));
typedef struct silent_outer {
    silent one;
    direct other;
} silent_outer;
DYNSEL_LEAVES(silent_outer, DYNSEL_PART(silent, one) DYNSEL_PART(direct, other));

static void assert_all(const listing *list, bool are_direct)
{
    size_t pointers = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (list->leaves[i].kind == DYNSEL_LEAF_POINTER) {
            assert_int_equal(list->leaves[i].direct, are_direct);
            pointers++;
        }
    }
    assert_int_equal(pointers, list->count / 4 * 3);
}

static void mark_of_user_type_applies_to_its_pointers(void **state)
{
    (void)state;
    listing list;
    LIST(silent, list);
    assert_int_equal(list.count, 4);
    assert_all(&list, false);
    assert_pointer(&list.leaves[1], offsetof(silent, host), sizeof(float), offsetof(silent, used),
                   false, false);
    assert_pointer(&list.leaves[2], offsetof(silent, pointer), sizeof(float), DYNSEL_COUNT_OF_RANGE,
                   false, false);
    assert_value(&list.leaves[3], DYNSEL_LEAF_VALUE, offsetof(silent, used), 8);
    assert_string_equal(list.leaves[3].name, "silent");
    LIST(direct, list);
    assert_all(&list, true);
    LIST(outer, list);
    assert_int_equal(list.count, 8);
    assert_all(&list, true);
    LIST(silent_outer, list);
    assert_int_equal(list.count, 8);
    assert_all(&list, false);
}

typedef struct without_leaves {
    char nothing;
} without_leaves;
DYNSEL_LEAVES(without_leaves, );

static void type_without_leaves_is_accepted(void **state)
{
    (void)state;
    listing list;
    LIST(without_leaves, list);
    assert_int_equal(list.count, 0);
}

/* What a pointer to const points to is never written, so that it comes in whatever the mode is. */
typedef struct with_constants {
    float *written;
    const float *read;
    const volatile char *also_read;
    const void *const *pointers;
    volatile float *const changing;
} with_constants;
DYNSEL_LEAVES(with_constants,
              DYNSEL_POINTER_PART(written) DYNSEL_POINTER_PART(read) DYNSEL_POINTER_PART(also_read)
                  DYNSEL_POINTER_PART(pointers) DYNSEL_POINTER_PART(changing));

static void const_pointer_leaves_are_read_only(void **state)
{
    (void)state;
    listing list;
    LIST(with_constants, list);
    assert_int_equal(list.count, 5);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.leaves[i].read_only, i >= 1 && i <= 3);
        assert_false(list.leaves[i].direct);
    }
    assert_pointer(&list.leaves[1], offsetof(with_constants, read), sizeof(float),
                   DYNSEL_COUNT_OF_RANGE, false, true);
}

/* An array is not const before C23, its elements are. */
typedef float row[4];
typedef struct with_rows {
    const float (*read)[4];
    const float (*blocks)[2][4];
    const row *rows;
    const row (*row_blocks)[2];
    const float *const (*pointers)[3];
    float (*written)[4];
    row *const written_rows;
    volatile row *changing;
    const float *(*written_pointers)[3];
} with_rows;
DYNSEL_LEAVES(with_rows,
              DYNSEL_POINTER_PART(read) DYNSEL_POINTER_PART(blocks) DYNSEL_POINTER_PART(rows)
                  DYNSEL_POINTER_PART(row_blocks) DYNSEL_POINTER_PART(pointers)
                      DYNSEL_POINTER_PART(written) DYNSEL_POINTER_PART(written_rows)
                          DYNSEL_POINTER_PART(changing) DYNSEL_POINTER_PART(written_pointers));

static void const_array_leaves_are_read_only(void **state)
{
    (void)state;
    listing list;
    LIST(with_rows, list);
    assert_int_equal(list.count, 9);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(list.leaves[i].read_only, i < 5);
    }
    assert_pointer(&list.leaves[1], offsetof(with_rows, blocks), sizeof(float[2][4]),
                   DYNSEL_COUNT_OF_RANGE, false, true);
    assert_pointer(&list.leaves[5], offsetof(with_rows, written), 4 * sizeof(float),
                   DYNSEL_COUNT_OF_RANGE, false, false);
}

/* The mark may stand below the leaves. What is declared later knows it. */
typedef struct marked_below {
    inputs in;
    float *data;
} marked_below;
DYNSEL_LEAVES(marked_below, DYNSEL_PART(inputs, in) DYNSEL_POINTER_PART(data));
DYNSEL_PASSED_DIRECTLY(marked_below, 1);
typedef float marked_below_value;
static inline float marked_below_read(marked_below it, size_t i)
{
    return inputs_read(it.in, i) + it.data[i];
}
DYNSEL_NOT_WRITABLE(marked_below);
DYNSEL_ZIP2_ITERATOR(beside_host, marked_below, inputs);
DYNSEL_REVERSE_ITERATOR(back_beside_host, beside_host);
typedef struct around_below {
    marked_below one;
    inputs host;
} around_below;
DYNSEL_LEAVES(around_below, DYNSEL_PART(marked_below, one) DYNSEL_PART(inputs, host));

static void mark_applies_at_any_position(void **state)
{
    (void)state;
    listing list;
    LIST(beside_host, list);
    assert_int_equal(list.count, 3);
    assert_true(list.leaves[0].direct && list.leaves[1].direct && !list.leaves[2].direct);
    LIST(back_beside_host, list);
    assert_true(list.leaves[0].direct && list.leaves[1].direct && !list.leaves[2].direct);
    LIST(around_below, list); /* says nothing, so nothing in it is passed directly */
    assert_false(list.leaves[0].direct || list.leaves[1].direct || list.leaves[2].direct);
    const beside_host it =
        beside_host_make((marked_below){inputs_make(data), more}, inputs_make(data));
    const beside_host_value last = back_beside_host_read(back_beside_host_make(it, COUNT), 0);
    assert_int_equal(whole(last.first), whole(data[COUNT - 1] + more[COUNT - 1]));
    assert_int_equal(whole(last.second), whole(data[COUNT - 1]));
}

/* In an iterator of the library that is not passed directly, each part decides for itself. */
static void unmarked_iterator_copies_only_unmarked_parts(void **state)
{
    (void)state;
    listing list;
    LIST(around_silent, list);
    assert_int_equal(list.count, 2);
    assert_true(list.leaves[0].direct);
    assert_false(list.leaves[1].direct);
}

static float rounded(float x)
{
    return (float)(int)(x + 0.5F);
}
DYNSEL_HOST_TRANSFORM_ITERATOR(roundly, inputs, rounded, float);
DYNSEL_REVERSE_ITERATOR(roundly_back, roundly);

static void host_only_functions_are_listed_by_name(void **state)
{
    (void)state;
    listing list;
    LIST(roundly_back, list);
    assert_int_equal(list.count, 3);
    assert_value(&list.leaves[0], DYNSEL_LEAF_HOST_ONLY, 0, 0);
    assert_string_equal(list.leaves[0].name, "rounded");
    assert_int_equal(list.leaves[1].kind, DYNSEL_LEAF_POINTER);
    float halves[2] = {1.75F, 3.0F};
    const roundly_back it = roundly_back_make(roundly_make(inputs_make(halves)), 2);
    assert_int_equal(whole(roundly_back_read(it, 1)), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(simple_iterators_read_elements),
        TEST_SET_UP(composed_iterators_read_like_plain_c),
        TEST_SET_UP(zip_iterators_read_all_parts),
        TEST_SET_UP(nested_iterators_read_like_plain_c),
        TEST_SET_UP(iterator_writes_reach_elements),
        TEST_SET_UP(simple_iterators_have_one_leaf_or_none),
        TEST_SET_UP(composed_iterators_list_leaves_of_parts),
        TEST_SET_UP(nested_iterators_list_all_leaves),
        TEST_SET_UP(leaf_offsets_count_from_whole_iterator),
        TEST_SET_UP(leaves_give_pointers_and_extents),
        TEST_SET_UP(mark_of_user_type_applies_to_its_pointers),
        TEST_SET_UP(type_without_leaves_is_accepted),
        TEST_SET_UP(const_pointer_leaves_are_read_only),
        TEST_SET_UP(const_array_leaves_are_read_only),
        TEST_SET_UP(mark_applies_at_any_position),
        TEST_SET_UP(unmarked_iterator_copies_only_unmarked_parts),
        TEST_SET_UP(host_only_functions_are_listed_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
