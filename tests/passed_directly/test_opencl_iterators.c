/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterators in kernels, put together again from one argument a leaf, give what they give on the
 * host. The leaves are bound by hand here, each pointer with a copy of just its extent: this is not
 * the library's way to stage ranges.
 *
 * DYNSEL_EXPECT_DEVICES says how many OpenCL devices there must be; unset: any number.
 */
#include "shared_types.h"

#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "test.h"

enum { COUNT = 12, PICKED = 5, MOST = 12 };

static float data[COUNT];
static float more[COUNT];
static short shorts[COUNT];
static int order[PICKED] = {7, 0, 11, 7, 3};
static int again[PICKED] = {4, 3, 2, 0, 1};

static dynsel_resource resources[CONFIG_DYNSEL_OPENCL_MAX_DEVICES];
static size_t resource_count;

static int set_up(void **state)
{
    (void)state;
    const char *expected = getenv("DYNSEL_EXPECT_DEVICES");
    const dynsel_status status = dynsel_opencl_select(
        "all;emulator", resources, CONFIG_DYNSEL_OPENCL_MAX_DEVICES, &resource_count);
    if (expected != NULL && atoi(expected) > CONFIG_DYNSEL_OPENCL_MAX_DEVICES) {
        assert_int_equal(status, DYNSEL_E_FULL);
        return 0;
    }
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_NO_RESOURCE);
    if (expected != NULL) {
        assert_int_equal(resource_count, atoi(expected));
    }
    for (int i = 0; i < COUNT; i++) {
        data[i] = (float)(10 + 3 * i);
        more[i] = (float)(100 - i);
        shorts[i] = (short)(7 * i - 30);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    return 0;
}

/* Arguments of a kernel out of an iterator's leaves. */
typedef struct binder {
    dynsel_leaf_sink sink; /* first */
    const void *iterator;
    uint64_t count;
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_uint index;
    struct {
        cl_mem memory;
        void *host;
        size_t bytes;
    } copies[MOST];
    size_t copy_count;
} binder;

static void bind_copy(binder *b, const dynsel_leaf *leaf)
{
    cl_int code = CL_SUCCESS;
    void *const host = dynsel_leaf_pointer(leaf, b->iterator);
    const size_t bytes =
        (size_t)dynsel_leaf_extent(leaf, b->iterator, b->count) * leaf->element_bytes;
    assert_true(b->copy_count < MOST);
    const cl_mem memory =
        clCreateBuffer(b->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, host, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(b->kernel, b->index++, sizeof(cl_mem), &memory), CL_SUCCESS);
    b->copies[b->copy_count].memory = memory;
    b->copies[b->copy_count].host = leaf->read_only ? NULL : host;
    b->copies[b->copy_count++].bytes = bytes;
}

static void bind_leaf(dynsel_leaf_sink *sink, const dynsel_leaf *leaf)
{
    binder *b = (binder *)(void *)sink;
    if (leaf->kind == DYNSEL_LEAF_POINTER) {
        bind_copy(b, leaf);
        return;
    }
    assert_int_not_equal(leaf->kind, DYNSEL_LEAF_HOST_ONLY);
    if (leaf->kind == DYNSEL_LEAF_COUNT) {
        assert_true(dynsel_leaf_count(leaf, b->iterator) >=
                    dynsel_leaf_extent(leaf, b->iterator, b->count));
    }
    assert_int_equal(clSetKernelArg(b->kernel, b->index++, leaf->bytes,
                                    (const char *)b->iterator + leaf->offset),
                     CL_SUCCESS);
}

static void run(binder *b)
{
    const size_t global = (size_t)b->count;
    const size_t local = 1;
    assert_int_equal(
        clEnqueueNDRangeKernel(b->queue, b->kernel, 1, NULL, &global, &local, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clFinish(b->queue), CL_SUCCESS);
}

static void end(binder *b, bool written)
{
    for (size_t i = 0; i < b->copy_count; i++) {
        if (written && b->copies[i].host != NULL) {
            assert_int_equal(clEnqueueReadBuffer(b->queue, b->copies[i].memory, CL_TRUE, 0,
                                                 b->copies[i].bytes, b->copies[i].host, 0, NULL,
                                                 NULL),
                             CL_SUCCESS);
        }
        (void)clReleaseMemObject(b->copies[i].memory);
    }
    (void)clReleaseKernel(b->kernel);
}

static binder begin(const dynsel_resource *where, cl_program program, const char *kernel,
                    const void *iterator, uint64_t count)
{
    cl_int code = CL_SUCCESS;
    binder b = {.sink = {bind_leaf},
                .iterator = iterator,
                .count = count,
                .context = dynsel_opencl_context(where),
                .queue = dynsel_opencl_queue(where)};
    b.kernel = clCreateKernel(program, kernel, &code);
    assert_int_equal(code, CL_SUCCESS);
    return b;
}

/* A type of iterator: its kernel, its leaves, and how the host reads it. */
typedef struct iterator_form {
    const char *read;
    dynsel_leaves_fn leaves;
    dynsel_leaf_place place;
    void (*read_on_host)(const void *iterator, size_t count, void *results);
    size_t value_bytes;
} iterator_form;

#define FORM(type)                                                                                 \
    static void type##_on_host(const void *iterator, size_t count, void *results)                  \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            ((type##_value *)results)[i] = type##_read(*(const type *)iterator, i);                \
        }                                                                                          \
    }                                                                                              \
    static const iterator_form type##_form = {"read_" #type, type##_leaves,                        \
                                              DYNSEL_WHOLE_ITERATOR(type), type##_on_host,         \
                                              sizeof(type##_value)};

FORM(samples)
FORM(inputs)
FORM(small)
FORM(numbers)
FORM(large)
FORM(squares)
FORM(fourths)
FORM(picked)
FORM(shifted)
FORM(twice_picked)
FORM(backwards)
FORM(forwards)
FORM(picked_back)
FORM(pairs)
FORM(kept)
FORM(no_pairs)
FORM(triples)
FORM(fours)
FORM(deep_2)
FORM(deep_4)
FORM(deep_7)
FORM(mine)

/* Runs a kernel that has one more argument than the leaves, for its results. */
static void read_on_device(const dynsel_resource *where, cl_program program,
                           const iterator_form *form, const void *iterator, uint64_t count,
                           void *results)
{
    const size_t bytes = (size_t)count * form->value_bytes;
    binder b = begin(where, program, form->read, iterator, count);
    form->leaves(&b.sink, &form->place);
    cl_int code = CL_SUCCESS;
    const cl_mem out = clCreateBuffer(b.context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clSetKernelArg(b.kernel, b.index, sizeof(cl_mem), &out), CL_SUCCESS);
    run(&b);
    assert_int_equal(clEnqueueReadBuffer(b.queue, out, CL_TRUE, 0, bytes, results, 0, NULL, NULL),
                     CL_SUCCESS);
    (void)clReleaseMemObject(out);
    end(&b, false);
}

static void compare(const dynsel_resource *where, cl_program program, const iterator_form *form,
                    const void *iterator, size_t count)
{
    _Alignas(16) char results[32 * COUNT] = {0};
    _Alignas(16) char expected[32 * COUNT] = {0};
    assert_true(form->value_bytes <= 32);
    form->read_on_host(iterator, count, expected);
    read_on_device(where, program, form, iterator, count, results);
    assert_memory_equal(results, expected, sizeof(results));
}

#define READ(type, parameters, made)                                                               \
    "kernel void read_" #type "(" parameters ", global " #type "_value *results)\n"                \
    "{\n"                                                                                          \
    "    const " #type " it = " made ";\n"                                                         \
    "    results[get_global_id(0)] = " #type "_read(it, get_global_id(0));\n"                      \
    "}\n"

#define WRITE(type, parameters, made, value)                                                       \
    "kernel void write_" #type "(" parameters ")\n"                                                \
    "{\n"                                                                                          \
    "    const " #type " it = " made ";\n"                                                         \
    "    const size_t i = get_global_id(0);\n"                                                     \
    "    const " #type "_value value = " value ";\n"                                               \
    "    " #type "_write(it, i, value);\n"                                                         \
    "}\n"

#define IN        "global float *in"
#define INPUTS    "inputs_make(in)"
#define MAP       "global int *map"
#define PICK      "picked_make(" INPUTS ", places_make(map), 0)"
#define BACKWARDS "backwards_make(" INPUTS ", n)"
#define DEEP_2    "deep_2_make(deep_1_make(pairs_make(" INPUTS ", numbers_make(first))), count)"
#define DEEP_4    "deep_4_make(deep_3_make(" DEEP_2 ", places_make(map), 0), numbers_make(second))"

/* clang-format off */
static const char source[] = DYNSEL_OPENCL_ITERATORS SHARED(DYNSEL_AS_TEXT)
    "DYNSEL_DISCARD_ITERATOR(no_vectors, float4);\n"
    READ(samples, IN, "samples_make(in)")
    READ(inputs, IN, INPUTS)
    READ(small, "global short *in", "small_make(in)")
    READ(numbers, "int n", "numbers_make(n)")
    READ(large, "long n", "large_make(n)")
    READ(squares, IN, "squares_make(" INPUTS ")")
    READ(fourths, IN, "fourths_make(squares_make(" INPUTS "))")
    READ(picked, IN ", " MAP, PICK)
    READ(shifted, IN ", int by", "shifted_make(samples_make(in), numbers_make(by), 0)")
    READ(twice_picked, IN ", " MAP ", global int *map2",
         "twice_picked_make(" PICK ", places_make(map2), 0)")
    READ(backwards, IN ", ulong n", BACKWARDS)
    READ(forwards, IN ", ulong n, ulong m", "forwards_make(" BACKWARDS ", m)")
    READ(picked_back, IN ", " MAP ", ulong n", "picked_back_make(" PICK ", n)")
    READ(pairs, IN ", int n", "pairs_make(" INPUTS ", numbers_make(n))")
    READ(kept, IN, "kept_make(" INPUTS ", nowhere_make())")
    READ(triples, "global float *one, " IN ", ulong n, " MAP,
         "triples_make(samples_make(one), " BACKWARDS ", places_make(map))")
    READ(fours, "int k, global float *one, " IN ", " MAP ", global float *four, ulong n, ulong m",
         "fours_make(numbers_make(k), squares_make(inputs_make(one)), " PICK
         ", forwards_make(backwards_make(inputs_make(four), n), m))")
    READ(deep_2, IN ", int first, ulong count", DEEP_2)
    READ(deep_4, IN ", int first, ulong count, " MAP ", int second", DEEP_4)
    READ(deep_7, IN ", int first, ulong count, " MAP ", int second, int third, ulong last",
         "deep_7_make(deep_6_make(deep_5_make(" DEEP_4 "), numbers_make(third), 0), last)")
    READ(mine, IN ", global float *other, " MAP ", int weight",
         "{squares_make(" INPUTS "), picked_make(inputs_make(other), places_make(map), 0), weight}")
    "kernel void read_no_pairs(global no_pairs_value *results)\n"
    "{ results[get_global_id(0)] = no_pairs_read(no_pairs_make(), get_global_id(0)); }\n"
    WRITE(inputs, IN, INPUTS, "i + 1")
    WRITE(backwards, IN ", ulong n", BACKWARDS, "i + 2")
    WRITE(picked, IN ", " MAP, PICK, "i + 3")
    WRITE(kept, IN, "kept_make(" INPUTS ", nowhere_make())", "{i + 4, i}")
    WRITE(triples, "global float *one, " IN ", ulong n, " MAP,
          "triples_make(samples_make(one), " BACKWARDS ", places_make(map))", "{i + 5, i + 6, i}");
/* clang-format on */

static cl_program build(const dynsel_resource *where)
{
    static char text[65536];
    const cl_program program = dynsel_opencl_program(where, source);
    assert_non_null(program);
    const cl_device_id device = dynsel_opencl_device(where);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        (void)clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(text), text,
                                    NULL);
        fail_msg("%s", text);
    }
    return program;
}

/* Reads `number` elements of an iterator on the host and on a device. */
#define COMPARE(type, number, ...)                                                                 \
    {                                                                                              \
        const type it = __VA_ARGS__;                                                               \
        compare(where, program, &type##_form, &it, (number));                                      \
    }

static void compare_simple(const dynsel_resource *where, cl_program program)
{
    COMPARE(samples, COUNT, samples_make(data))
    COMPARE(inputs, COUNT, inputs_make(data))
    COMPARE(inputs, 1, inputs_make(data + 3))
    COMPARE(small, COUNT, small_make(shorts))
    COMPARE(numbers, COUNT, numbers_make(-7))
    COMPARE(large, COUNT, large_make(1L << 20))
    COMPARE(squares, COUNT, squares_make(inputs_make(data)))
    COMPARE(fourths, COUNT, fourths_make(squares_make(inputs_make(more))))
}

static void compare_composed(const dynsel_resource *where, cl_program program)
{
    const inputs in = inputs_make(data);
    const picked some = picked_make(in, places_make(order), COUNT);
    const backwards back = backwards_make(in, COUNT);
    COMPARE(picked, PICKED, some)
    COMPARE(shifted, COUNT - 3, shifted_make(samples_make(more), numbers_make(3), COUNT))
    COMPARE(twice_picked, PICKED, twice_picked_make(some, places_make(again), PICKED))
    COMPARE(backwards, COUNT, back)
    COMPARE(backwards, PICKED, back)
    COMPARE(forwards, COUNT, forwards_make(back, COUNT))
    COMPARE(forwards, 4, forwards_make(back, 6))
    COMPARE(picked_back, PICKED, picked_back_make(some, PICKED))
    COMPARE(pairs, COUNT, pairs_make(in, numbers_make(4)))
    COMPARE(kept, COUNT, kept_make(in, nowhere_make()))
    COMPARE(no_pairs, COUNT, no_pairs_make())
    COMPARE(triples, PICKED, triples_make(samples_make(more), back, places_make(order)))
    COMPARE(fours, PICKED,
            fours_make(numbers_make(9), squares_make(in), some, forwards_make(back, COUNT)))
    COMPARE(mine, PICKED,
            {squares_make(inputs_make(more)), picked_make(in, places_make(order), COUNT), 3})
}

static void compare_nested(const dynsel_resource *where, cl_program program)
{
    const deep_2 two =
        deep_2_make(deep_1_make(pairs_make(inputs_make(data), numbers_make(1000))), COUNT);
    const deep_4 four = deep_4_make(deep_3_make(two, places_make(order), COUNT), numbers_make(50));
    COMPARE(deep_2, COUNT, two)
    COMPARE(deep_4, PICKED, four)
    COMPARE(deep_7, PICKED - 1,
            deep_7_make(deep_6_make(deep_5_make(four), numbers_make(1), PICKED), PICKED - 1))
}

static void kernel_reads_equal_host_reads(void **state)
{
    (void)state;
    for (const dynsel_resource *r = resources; r < resources + resource_count; r++) {
        const cl_program program = build(r);
        compare_simple(r, program);
        compare_composed(r, program);
        compare_nested(r, program);
        (void)clReleaseProgram(program);
    }
}

static void write_on_device(const dynsel_resource *where, cl_program program, const char *kernel,
                            const iterator_form *form, const void *iterator, size_t count)
{
    binder b = begin(where, program, kernel, iterator, count);
    form->leaves(&b.sink, &form->place);
    run(&b);
    end(&b, true);
}

#define WRITE_ON_DEVICE(type, number, ...)                                                         \
    {                                                                                              \
        const type it = __VA_ARGS__;                                                               \
        write_on_device(where, program, "write_" #type, &type##_form, &it, (number));              \
    }

static void assert_is(float actual, int expected)
{
    assert_int_equal((int)actual, expected);
}

static void kernel_writes_equal_host_writes(void **state)
{
    static const int distinct[PICKED] = {7, 0, 11, 2, 3};
    (void)state;
    for (const dynsel_resource *where = resources; where < resources + resource_count; where++) {
        const cl_program program = build(where);
        int map[PICKED];
        (void)memcpy(map, distinct, sizeof(map));
        (void)memset(data, 0, sizeof(data));
        const inputs in = inputs_make(data);
        WRITE_ON_DEVICE(inputs, 4, in)
        assert_is(data[0], 1);
        assert_is(data[3], 4);
        assert_is(data[4], 0);
        WRITE_ON_DEVICE(backwards, 2, backwards_make(in, COUNT))
        assert_is(data[COUNT - 1], 2);
        assert_is(data[COUNT - 2], 3);
        WRITE_ON_DEVICE(picked, PICKED, picked_make(in, places_make(map), COUNT))
        for (int i = 0; i < PICKED; i++) {
            assert_is(data[distinct[i]], i + 3);
        }
        WRITE_ON_DEVICE(kept, 2, kept_make(in, nowhere_make()))
        assert_is(data[1], 5);
        WRITE_ON_DEVICE(
            triples, 3,
            triples_make(samples_make(more), backwards_make(in, COUNT), places_make(map)))
        assert_is(more[2], 7);
        assert_is(data[COUNT - 1 - 2], 8);
        assert_int_equal(map[2], 2);
        assert_int_equal(map[3], distinct[3]);
        (void)clReleaseProgram(program);
    }
}

/* Compilers tell lines of the user's own source, as without the iterators in front. */
static void opencl_iterator_source_ends_with_line_directive(void **state)
{
    (void)state;
    const char *const text = DYNSEL_OPENCL_ITERATORS;
    const size_t length = strlen(text);
    assert_true(length > 8);
    assert_string_equal(text + length - 8, "#line 1\n");
    assert_null(strstr(text, "#include"));
    assert_null(strstr(text, "uint64_t"));
    assert_null(strstr(text, "__VA_ARGS__"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kernel_reads_equal_host_reads),
        TEST(kernel_writes_equal_host_writes),
        cmocka_unit_test(opencl_iterator_source_ends_with_line_directive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
