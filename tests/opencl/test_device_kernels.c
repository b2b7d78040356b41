/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on real devices: what they are built from, what is kept, how they are launched. */
#include "device_fixture.h"

#include <pthread.h>
#include <stdio.h>

enum { WORDS = 4096, THREADS = 4, ROUNDS = 50, SCRATCH = 1 << 20 };

static _Alignas(4096) uint32_t words[WORDS];

static void write_words(void *own, dynsel_memory *memory)
{
    (void)memset(words, 0xEE, sizeof(words));
    *memory = allocate(own, words, sizeof(words), false);
}

static void read_words(void *own, dynsel_memory *memory)
{
    fetch(own, memory, true, false);
    release(own, memory);
}

/* Where each work item is, and in which work group. */
#define WHERE                                                                                      \
    "kernel void where(global uint *words, uint row, uint slice)\n"                                \
    "{\n"                                                                                          \
    "    size_t at = (get_global_id(2) * slice + get_global_id(1)) * row + get_global_id(0);\n"    \
    "    words[at] = get_local_size(0) + 1024 * (get_local_size(1) + 1024 * get_local_size(2));\n" \
    "}\n"

static const dynsel_kernel where = {.name = "where", .source = WHERE};

typedef struct shape {
    dynsel_range global;
    dynsel_range local;
    dynsel_range offset;
    uint32_t expected;        /* the local sizes, by SIZES() */
    uint32_t expected_on_gpu; /* 0: the same */
} shape;

#define SIZES(x, y, z) ((x) + 1024u * ((y) + 1024u * (z)))

static dynsel_status run_where(void *own, const dynsel_kernel *kernel, const shape *s,
                               dynsel_memory *memory)
{
    const uint32_t dimensions = s->global.dimensions;
    uint32_t row = (uint32_t)(s->global.size[dimensions - 1]);
    uint32_t slice = dimensions > 1 ? (uint32_t)(s->global.size[dimensions - 2]) : 1;
    const dynsel_argument arguments[] = {data_of(memory), value_of(&row, sizeof(row)),
                                         value_of(&slice, sizeof(slice))};
    dynsel_command command = launch_of(kernel, s->global, arguments, 3);
    command.launch.local = s->local;
    command.launch.offset = s->offset;
    return run(own, &command);
}

static cl_device_type type_of(const dynsel_resource *on)
{
    cl_device_type type = 0;
    assert_int_equal(
        clGetDeviceInfo(dynsel_opencl_device(on), CL_DEVICE_TYPE, sizeof(type), &type, NULL),
        CL_SUCCESS);
    return type;
}

/* Each work item is there once, and work groups are as large as said, or as promised. */
static void range_runs_each_work_item_once(void **state)
{
    const shape shapes[] = {
        {.global = DYNSEL_RANGE(4096),
         .expected = SIZES(64, 1, 1),
         .expected_on_gpu = SIZES(256, 1, 1)},
        {.global = DYNSEL_RANGE(96), .expected = SIZES(32, 1, 1)},
        {.global = DYNSEL_RANGE(1), .expected = SIZES(1, 1, 1)},
        {.global = DYNSEL_RANGE(1000),
         .expected = SIZES(50, 1, 1),
         .expected_on_gpu = SIZES(250, 1, 1)},
        {.global = DYNSEL_RANGE(257), .expected = SIZES(1, 1, 1)},
        {.global = DYNSEL_RANGE_2D(6, 128),
         .expected = SIZES(64, 1, 1),
         .expected_on_gpu = SIZES(128, 2, 1)},
        {.global = DYNSEL_RANGE_2D(100, 7),
         .expected = SIZES(7, 5, 1),
         .expected_on_gpu = SIZES(7, 25, 1)},
        {.global = DYNSEL_RANGE_3D(4, 8, 3),
         .expected = SIZES(3, 8, 2),
         .expected_on_gpu = SIZES(3, 8, 4)},
        {.global = DYNSEL_RANGE(64), .local = DYNSEL_RANGE(4), .expected = SIZES(4, 1, 1)},
        {.global = DYNSEL_RANGE_3D(4, 6, 10),
         .local = DYNSEL_RANGE_3D(2, 3, 5),
         .expected = SIZES(5, 3, 2)},
    };
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        const bool on_gpu = (type_of(&resources[i]) & CL_DEVICE_TYPE_GPU) != 0;
        for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
            dynsel_memory memory;
            const uint32_t expected = on_gpu && shapes[k].expected_on_gpu != 0
                                          ? shapes[k].expected_on_gpu
                                          : shapes[k].expected;
            const size_t count = dynsel_range_count(&shapes[k].global);
            write_words(resources[i].handle, &memory);
            bring(resources[i].handle, &memory, true);
            assert_status(DYNSEL_OK, run_where(resources[i].handle, &where, &shapes[k], &memory));
            read_words(resources[i].handle, &memory);
            for (size_t w = 0; w < WORDS; w++) {
                assert_int_equal(words[w], w < count ? expected : 0xEEEEEEEE);
            }
        }
    }
}

/* PoCL tells no local memory of kernels on some machines. */
static bool tells_local_memory(const dynsel_resource *on, const dynsel_kernel *kernel)
{
    cl_int code = CL_SUCCESS;
    cl_ulong bytes = 0;
    const char *text = kernel->source;
    const cl_device_id device = dynsel_opencl_device(on);
    const cl_program program =
        clCreateProgramWithSource(dynsel_opencl_context(on), 1, &text, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clBuildProgram(program, 1, &device, "", NULL, NULL), CL_SUCCESS);
    const cl_kernel built = clCreateKernel(program, kernel->name, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(clGetKernelWorkGroupInfo(built, device, CL_KERNEL_LOCAL_MEM_SIZE,
                                              sizeof(bytes), &bytes, NULL),
                     CL_SUCCESS);
    (void)clReleaseKernel(built);
    (void)clReleaseProgram(program);
    return bytes != 0;
}

/* Each group tells its size; what has local memory was written for some size on CPUs. */
static void work_groups_of_large_ranges_are_large(void **state)
{
    static const dynsel_kernel large = {
        .name = "large",
        .source = "kernel void large(global uint *words)\n"
                  "{ if (get_group_id(0) < 16) words[get_group_id(0)] = get_local_size(0); }\n"};
    static const dynsel_kernel with_local = {
        .name = "with_local",
        .source = "kernel void with_local(global uint *words)\n"
                  "{ local uint sizes[256]; const uint i = get_local_id(0) % 64;\n"
                  "  sizes[i] = get_local_size(0); barrier(CLK_LOCAL_MEM_FENCE);\n"
                  "  if (get_group_id(0) < 16) words[get_group_id(0)] = sizes[63 - i]; }\n"};
    enum { MANY = 1 << 20 };
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        const cl_device_type type = type_of(&resources[i]);
        const bool on_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
        const uint32_t usual = (type & CL_DEVICE_TYPE_GPU) != 0 ? 256 : 64;
        const bool looks_plain = on_cpu && !tells_local_memory(&resources[i], &with_local);
        const struct {
            const dynsel_kernel *kernel;
            size_t items;
            uint32_t expected;
        } cases[] = {{&large, MANY, on_cpu ? 1024 : usual},
                     {&large, MANY / 2, usual},
                     {&large, MANY + 96, 32},
                     {&with_local, MANY, looks_plain ? 1024 : usual}};
        for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
            dynsel_memory memory;
            write_words(resources[i].handle, &memory);
            bring(resources[i].handle, &memory, true);
            const dynsel_argument arguments[] = {data_of(&memory)};
            dynsel_command command =
                launch_of(cases[k].kernel, DYNSEL_RANGE(cases[k].items), arguments, 1);
            assert_status(DYNSEL_OK, run(resources[i].handle, &command));
            read_words(resources[i].handle, &memory);
            for (size_t w = 0; w < 16; w++) {
                assert_int_equal(words[w], cases[k].expected);
            }
        }
    }
}

/* `data[row * columns + column]` is the same element as in C. */
static void last_range_dimension_is_contiguous_in_memory(void **state)
{
    static const dynsel_kernel number = {
        .name = "number",
        .source = "kernel void number(global uint *words, uint columns)\n"
                  "{ words[get_global_id(1) * columns + get_global_id(0)] =\n"
                  "      get_global_id(1) * 1000 + get_global_id(0); }\n"};
    enum { ROWS = 5, COLUMNS = 9, TOP = 2, LEFT = 3 };
    uint32_t columns = COLUMNS;
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        dynsel_memory memory;
        write_words(own, &memory);
        bring(own, &memory, true);
        const dynsel_argument arguments[] = {data_of(&memory), value_of(&columns, sizeof(columns))};
        dynsel_command command =
            launch_of(&number, DYNSEL_RANGE_2D(ROWS - TOP, COLUMNS - LEFT), arguments, 2);
        command.launch.offset = DYNSEL_RANGE_2D(TOP, LEFT);
        assert_status(DYNSEL_OK, run(own, &command));
        read_words(own, &memory);
        for (uint32_t r = 0; r < ROWS; r++) {
            for (uint32_t c = 0; c < COLUMNS; c++) {
                assert_int_equal(words[r * COLUMNS + c],
                                 r >= TOP && c >= LEFT ? r * 1000 + c : 0xEEEEEEEE);
            }
        }
    }
}

static void required_work_group_size_is_kept(void **state)
{
    static const dynsel_kernel demanding = {
        .name = "where", .source = "__attribute__((reqd_work_group_size(8, 2, 1)))\n" WHERE};
    const shape fits = {.global = DYNSEL_RANGE_2D(4, 32)};
    const shape fits_not = {.global = DYNSEL_RANGE_2D(4, 30)};
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        dynsel_memory memory;
        write_words(resources[i].handle, &memory);
        assert_status(DYNSEL_OK, run_where(resources[i].handle, &demanding, &fits, &memory));
        assert_status(DYNSEL_E_INVALID,
                      run_where(resources[i].handle, &demanding, &fits_not, &memory));
        assert_error_says("where");
        read_words(resources[i].handle, &memory);
        assert_int_equal(words[127], SIZES(8, 2, 1));
    }
}

static void excessive_local_memory_is_refused(void **state)
{
    static const dynsel_kernel sum = {
        .name = "sum",
        .source =
            "kernel void sum(global uint *words, local uint *own)\n"
            "{ own[get_local_id(0)] = 1; words[get_global_id(0)] = own[get_local_id(0)]; }\n"};
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        dynsel_memory memory;
        cl_ulong most = 0;
        assert_int_equal(clGetDeviceInfo(dynsel_opencl_device(&resources[i]),
                                         CL_DEVICE_LOCAL_MEM_SIZE, sizeof(most), &most, NULL),
                         CL_SUCCESS);
        write_words(own, &memory);
        dynsel_argument arguments[] = {data_of(&memory),
                                       {.kind = DYNSEL_ARGUMENT_LOCAL, .bytes = (size_t)64 * 4}};
        dynsel_command command = launch_of(&sum, DYNSEL_RANGE(64), arguments, 2);
        assert_status(DYNSEL_OK, run(own, &command));
        arguments[1].bytes = (size_t)most + 4;
        assert_status(DYNSEL_E_INVALID, run(own, &command));
        assert_error_says("bytes of local memory left");
        arguments[1].bytes = (size_t)64 * 4;
        command.launch.global = DYNSEL_RANGE(1 << 20);
        command.launch.local = DYNSEL_RANGE(1 << 20);
        assert_status(DYNSEL_E_INVALID, run(own, &command));
        assert_error_says("a work group of this kernel has at most");
        read_words(own, &memory);
    }
}

static void wrong_kernel_argument_error_names_it(void **state)
{
    uint32_t row = 1;
    uint64_t wide = 1;
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        dynsel_memory memory;
        write_words(own, &memory);
        dynsel_argument arguments[] = {data_of(&memory), value_of(&row, sizeof(row)),
                                       value_of(&row, sizeof(row))};
        dynsel_command command = launch_of(&where, DYNSEL_RANGE(64), arguments, 2);
        assert_status(DYNSEL_E_INVALID, run(own, &command));
        assert_error_says("the kernel takes 3 arguments, and another number was set [where]");
        command.launch.argument_count = 3;
        arguments[1] = value_of(&wide, sizeof(wide));
        assert_status(DYNSEL_E_INVALID, run(own, &command));
        assert_error_says("argument 1 has another size than the kernel's [where]");
        arguments[1].kind = DYNSEL_ARGUMENT_UNSET;
        assert_status(DYNSEL_E_INVALID, run(own, &command));
        assert_error_says("argument 1 was not set [where]");
        arguments[1] = value_of(&row, sizeof(row));
        assert_status(DYNSEL_OK, run(own, &command));
        read_words(own, &memory);
    }
}

/* Arguments that did not change are not set again, and those that changed are. */
static void changed_argument_values_reach_kernel(void **state)
{
    typedef struct wide_value {
        uint32_t words[8]; /* longer than what is remembered */
    } wide_value;
    static const dynsel_kernel put = {
        .name = "put",
        .source = "typedef struct { uint words[8]; } wide;\n"
                  "kernel void put(global uint *words, uint value, wide w, constant uint *more)\n"
                  "{ words[0] = value; words[1] = w.words[7]; words[2] = more[0]; }\n"};
    static uint32_t more[2][32];
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        for (uint32_t k = 0; k < 40; k++) {
            dynsel_memory memory;
            uint32_t value = k / 2;
            wide_value wide = {.words = {[7] = k / 3}};
            more[k % 2][0] = k;
            write_words(own, &memory); /* often where the one before was */
            dynsel_memory constant = allocate(own, more[k % 2], sizeof(more[0]), false);
            bring(own, &memory, true);
            bring(own, &constant, true);
            const dynsel_argument arguments[] = {data_of(&memory), value_of(&value, sizeof(value)),
                                                 value_of(&wide, sizeof(wide)), data_of(&constant)};
            const dynsel_command command = launch_of(&put, DYNSEL_RANGE(1), arguments, 4);
            assert_status(DYNSEL_OK, run(own, &command));
            assert_status(DYNSEL_OK, run(own, &command));
            release(own, &constant);
            read_words(own, &memory);
            assert_int_equal(words[0], k / 2);
            assert_int_equal(words[1], k / 3);
            assert_int_equal(words[2], k);
        }
    }
}

static void build_error_contains_compiler_log(void **state)
{
    static const dynsel_kernel broken = {
        .name = "broken",
        .source = "void nothing(void) {}\n"
                  "kernel void broken(global uint *words) { words[0] = no_such_name; {} }\n"};
    static const dynsel_kernel other = {.name = "other",
                                        .source = "kernel void other(global float4x *f) {}"};
    static const dynsel_kernel nameless = {.name = "nobody",
                                           .source = "kernel void somebody(global uint *w) {}"};
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        assert_status(DYNSEL_E_TASK, dynsel_opencl_backend.ops->memory->prepare(
                                         &dynsel_opencl_backend, own, &broken));
        assert_error_says("clBuildProgram");
        assert_error_says("no_such_name");
        assert_error_says("[broken]");
        const char *const log = dynsel_last_error()->detail;
        assert_status(DYNSEL_E_TASK, memory_ops()->prepare(&dynsel_opencl_backend, own, &broken));
        assert_ptr_equal(dynsel_last_error()->detail, log);
        assert_error_says("no_such_name");
        assert_status(DYNSEL_E_TASK, memory_ops()->prepare(&dynsel_opencl_backend, own, &other));
        assert_error_says("float4x");
        assert_status(DYNSEL_E_TASK, memory_ops()->prepare(&dynsel_opencl_backend, own, &broken));
        assert_error_says("CL_BUILD_PROGRAM_FAILURE"); /* its log is gone */
        assert_status(DYNSEL_E_TASK, memory_ops()->prepare(&dynsel_opencl_backend, own, &nameless));
        assert_error_says("no kernel of this name");
        assert_error_says("[nobody]");
    }
}

static void build_options_apply_to_their_kernel(void **state)
{
    static const dynsel_kernel optioned = {
        .name = "value",
        .source = "kernel void value(global uint *words) { words[0] = VALUE; }",
        .options = "-DVALUE=77"};
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        dynsel_memory memory;
        write_words(resources[i].handle, &memory);
        const dynsel_argument data = data_of(&memory);
        const dynsel_command command = launch_of(&optioned, DYNSEL_RANGE(1), &data, 1);
        assert_status(DYNSEL_OK, run(resources[i].handle, &command));
        read_words(resources[i].handle, &memory);
        assert_int_equal(words[0], 77);
    }
}

/* Another kernel at the same address is another one. */
static void changed_kernel_at_same_address_is_rebuilt(void **state)
{
    static const char *const sources[] = {
        "kernel void value(global uint *words) { words[0] = 5; }",
        "kernel void value(global uint *words) { words[0] = 6; }"};
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        for (uint32_t k = 0; k < 2; k++) {
            static dynsel_kernel changing;
            dynsel_memory memory;
            changing = (dynsel_kernel){.name = "value", .source = sources[k]};
            write_words(resources[i].handle, &memory);
            const dynsel_argument data = data_of(&memory);
            const dynsel_command command = launch_of(&changing, DYNSEL_RANGE(1), &data, 1);
            assert_status(DYNSEL_OK, run(resources[i].handle, &command));
            read_words(resources[i].handle, &memory);
            assert_int_equal(words[0], 5 + k);
        }
    }
}

#if CONFIG_DYNSEL_ASPECTS
static void kernel_source_may_use_aspect_prelude(void **state)
{
    static const dynsel_kernel asking = {.name = "asking",
                                         .source =
                                             "kernel void asking(global uint *words)\n"
                                             "{ words[0] = 1 + dynsel_any_device_has(fp64); }\n"};
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        assert_status(DYNSEL_OK,
                      memory_ops()->prepare(&dynsel_opencl_backend, resources[i].handle, &asking));
    }
}
#endif

/* A store in memory, for one kernel after the other. */
static struct {
    uint64_t key;
    unsigned char data[SCRATCH];
    size_t bytes;
    unsigned loads, saves, parts;
} shelf;

static _Alignas(16) unsigned char scratch[SCRATCH];

static size_t load_from_shelf(uint64_t key, void *to, size_t capacity, void *context)
{
    assert_ptr_equal(context, &shelf);
    shelf.loads++;
    if (shelf.bytes == 0 || key != shelf.key) {
        return 0;
    }
    if (shelf.bytes <= capacity) {
        (void)memcpy(to, shelf.data, shelf.bytes);
    }
    return shelf.bytes;
}

static void save_on_shelf(uint64_t key, const void *data, size_t bytes, void *context)
{
    assert_ptr_equal(context, &shelf);
    assert_true(bytes <= SCRATCH);
    shelf.saves++;
    shelf.key = key;
    shelf.bytes = bytes;
    (void)memcpy(shelf.data, data, bytes);
}

/* Any number of parts; a change in any changes the key. */
static uint64_t key_of_parts(uint64_t key, const void *part, size_t bytes, void *context)
{
    const unsigned char *const from = part;
    assert_ptr_equal(context, &shelf);
    shelf.parts++;
    for (size_t i = 0; i < bytes; i++) {
        key = key * 31 + from[i];
    }
    return key;
}

static const dynsel_opencl_kernel_store shelf_store = {.load = load_from_shelf,
                                                       .save = save_on_shelf,
                                                       .context = &shelf,
                                                       .scratch = scratch,
                                                       .scratch_bytes = sizeof(scratch)};

static void open_again_with(const dynsel_opencl_kernel_store *store)
{
    (void)close_devices(NULL);
    assert_status(DYNSEL_OK, dynsel_opencl_set_kernel_store(store));
    (void)open_devices(NULL);
}

/* Runs the kernel on the first device and looks at what it did. */
static void assert_where_works(const dynsel_kernel *kernel)
{
    const shape s = {.global = DYNSEL_RANGE(WORDS)};
    dynsel_memory memory;
    write_words(resources[0].handle, &memory);
    assert_status(DYNSEL_OK, run_where(resources[0].handle, kernel, &s, &memory));
    read_words(resources[0].handle, &memory);
    assert_int_equal(words[0], SIZES(64, 1, 1));
    assert_int_equal(words[WORDS - 1], SIZES(64, 1, 1));
}

/* With the binary of `where`, unless the test before left it there. */
static void fill_shelf(void)
{
    if (shelf.bytes == 0) {
        open_again_with(&shelf_store);
        assert_where_works(&where);
    }
}

static void kernel_store_hit_avoids_build(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    (void)memset(&shelf, 0, sizeof(shelf));
    open_again_with(&shelf_store);
    assert_where_works(&where);
    assert_int_equal(shelf.loads, 1);
    assert_int_equal(shelf.saves, 1);
    assert_true(shelf.bytes > 32);
    open_again_with(&shelf_store);
    assert_where_works(&where);
    assert_int_equal(shelf.loads, 2);
    assert_int_equal(shelf.saves, 1);
    assert_where_works(&where); /* it is built */
    assert_int_equal(shelf.loads, 2);
    open_again_with(NULL);
}

static void corrupt_stored_binary_is_rebuilt(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    fill_shelf();
    const size_t places[] = {8, shelf.bytes - 1};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const unsigned saves = shelf.saves;
        shelf.data[places[i]] ^= 1;
        open_again_with(&shelf_store);
        assert_where_works(&where);
        assert_int_equal(shelf.saves, saves + 1);
    }
    const unsigned saves = shelf.saves;
    shelf.bytes -= 100;
    open_again_with(&shelf_store);
    assert_where_works(&where);
    assert_int_equal(shelf.saves, saves + 1);
    open_again_with(NULL);
}

static void kernel_store_uses_key_callback(void **state)
{
    static const dynsel_kernel optioned = {.name = "where", .source = WHERE, .options = "-DX=1"};
    dynsel_opencl_kernel_store store = shelf_store;
    (void)state;
    skip_unless(resource_count > 0);
    (void)memset(&shelf, 0, sizeof(shelf));
    store.key = key_of_parts;
    open_again_with(&store);
    assert_where_works(&where);
    assert_true(shelf.parts > 8);
    assert_int_equal(shelf.saves, 1);
    open_again_with(&store);
    assert_where_works(&where);
    assert_int_equal(shelf.saves, 1);
    const uint64_t key = shelf.key;
    assert_where_works(&optioned); /* other options, another binary */
    assert_int_equal(shelf.saves, 2);
    assert_int_not_equal(shelf.key, key);
    store.scratch_bytes = 40; /* nothing fits */
    open_again_with(&store);
    assert_where_works(&where);
    assert_int_equal(shelf.saves, 2);
    open_again_with(NULL);
}

static void incomplete_kernel_store_is_refused(void **state)
{
    dynsel_opencl_kernel_store store = shelf_store;
    (void)state;
    store.load = NULL;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_set_kernel_store(&store));
    store = shelf_store;
    store.save = NULL;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_set_kernel_store(&store));
    store = shelf_store;
    store.scratch = NULL;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_set_kernel_store(&store));
    store = shelf_store;
    store.scratch_bytes = 32;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_set_kernel_store(&store));
}

/* A binary without a source: what the store holds, behind its heading. */
static void kernel_binary_is_preferred_to_source(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    fill_shelf();
    open_again_with(NULL);
    const char *const device = dynsel_resource_name(&resources[0]);
    const dynsel_kernel_binary binaries[] = {
        {"another device", "nonsense", 8},
        {device, shelf.data + 32, shelf.bytes - 32},
    };
    const dynsel_kernel compiled = {.name = "where", .binaries = binaries, .binary_count = 2};
    assert_true(memory_ops()->has_form(&compiled));
    assert_where_works(&compiled);
    /* those of other devices only */
    const dynsel_kernel foreign = {.name = "where", .binaries = binaries, .binary_count = 1};
    assert_status(DYNSEL_E_TASK,
                  memory_ops()->prepare(&dynsel_opencl_backend, resources[0].handle, &foreign));
    assert_error_says("none of its binaries is for this device");
    /* one that the driver refuses, and a source */
    const dynsel_kernel_binary bad = {device, "nonsense", 8};
    const dynsel_kernel both = {
        .name = "where", .source = WHERE, .binaries = &bad, .binary_count = 1};
    assert_where_works(&both);
    const dynsel_kernel none = {.name = "where"};
    assert_false(memory_ops()->has_form(&none));
    open_again_with(NULL); /* these kernels end here */
}

/* No driver here takes it: it goes on with the source, or says so. */
static void unsupported_spirv_falls_back_to_source(void **state)
{
    static const unsigned char il[] = {3, 2, 35, 7, 0, 0, 1, 0};
    static const dynsel_kernel both = {
        .name = "where", .source = WHERE, .il = il, .il_bytes = sizeof(il)};
    static const dynsel_kernel alone = {.name = "where", .il = il, .il_bytes = sizeof(il)};
    (void)state;
    skip_unless(resource_count > 0);
    assert_where_works(&both);
    assert_true(memory_ops()->has_form(&alone));
    assert_status(DYNSEL_E_TASK,
                  memory_ops()->prepare(&dynsel_opencl_backend, resources[0].handle, &alone));
    assert_error_says("clCreateProgramWithIL");
}

static void full_kernel_table_error_names_its_option(void **state)
{
    static const char names[CONFIG_DYNSEL_OPENCL_MAX_KERNELS + 1][2]; /* each is another one */
    static const dynsel_kernel_binary foreign = {"another device", "nonsense", 8};
    (void)state;
    skip_unless(resource_count > 0);
    open_again_with(NULL);
    for (int i = 0; i <= CONFIG_DYNSEL_OPENCL_MAX_KERNELS; i++) {
        const dynsel_kernel one = {.name = names[i], .binaries = &foreign, .binary_count = 1};
        assert_status(i < CONFIG_DYNSEL_OPENCL_MAX_KERNELS ? DYNSEL_E_TASK : DYNSEL_E_FULL,
                      memory_ops()->prepare(&dynsel_opencl_backend, resources[0].handle, &one));
    }
    assert_error_says("CONFIG_DYNSEL_OPENCL_MAX_KERNELS is");
    open_again_with(NULL);
}

/* Whether several threads may use these devices: PoCL's `basic` does not bear it. */
static bool bears_threads(void)
{
    for (size_t i = 0; i < resource_count; i++) {
        if (strncmp(dynsel_resource_name(&resources[i]), "basic-", 6) == 0) {
            return false;
        }
    }
    return CONFIG_DYNSEL_CONTEXT_THREADS && resource_count > 0;
}

static const dynsel_kernel add = {.name = "add",
                                  .source = "kernel void add(global uint *words, uint value)\n"
                                            "{ words[get_global_id(0)] += value; }\n"};

/* cmocka's assertions are for its own thread, so this one counts. */
static void *launch_often(void *context)
{
    static uint32_t data[THREADS][64];
    const uintptr_t number = (uintptr_t)context;
    uintptr_t failures = 0;
    void *const own = resources[number % resource_count].handle;
    dynsel_memory memory = {.host = data[number], .bytes = sizeof(data[0])};
    failures += memory_ops()->allocate(&dynsel_opencl_backend, own, &memory) != DYNSEL_OK;
    dynsel_event done = {.native = NULL};
    failures += memory_ops()->bring(&dynsel_opencl_backend, own, &memory, true, NULL, 0, &done) !=
                DYNSEL_OK;
    (void)wait_for(own, &done);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t value = (uint32_t)number * 1000 + i;
        const dynsel_argument arguments[] = {data_of(&memory), value_of(&value, sizeof(value))};
        const dynsel_command command = launch_of(&add, DYNSEL_RANGE(64), arguments, 2);
        failures += run(own, &command) != DYNSEL_OK;
        sum += value;
    }
    failures +=
        memory_ops()->fetch(&dynsel_opencl_backend, own, &memory, true, false, &done) != DYNSEL_OK;
    (void)wait_for(own, &done);
    for (int i = 0; i < 64; i++) {
        failures += data[number][i] != sum;
    }
    release(own, &memory);
    return (void *)failures;
}

static void threads_launch_shared_kernels(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    skip_unless(bears_threads());
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, launch_often, (void *)i), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failures = NULL;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(range_runs_each_work_item_once),
        cmocka_unit_test(work_groups_of_large_ranges_are_large),
        cmocka_unit_test(last_range_dimension_is_contiguous_in_memory),
        cmocka_unit_test(required_work_group_size_is_kept),
        cmocka_unit_test(excessive_local_memory_is_refused),
        cmocka_unit_test(wrong_kernel_argument_error_names_it),
        cmocka_unit_test(changed_argument_values_reach_kernel),
        cmocka_unit_test(build_error_contains_compiler_log),
        cmocka_unit_test(build_options_apply_to_their_kernel),
        cmocka_unit_test(changed_kernel_at_same_address_is_rebuilt),
#if CONFIG_DYNSEL_ASPECTS
        cmocka_unit_test(kernel_source_may_use_aspect_prelude),
#endif
        cmocka_unit_test(kernel_store_hit_avoids_build),
        cmocka_unit_test(corrupt_stored_binary_is_rebuilt),
        cmocka_unit_test(kernel_binary_is_preferred_to_source),
        cmocka_unit_test(incomplete_kernel_store_is_refused),
        cmocka_unit_test(kernel_store_uses_key_callback),
        cmocka_unit_test(unsupported_spirv_falls_back_to_source),
        cmocka_unit_test(full_kernel_table_error_names_its_option),
        cmocka_unit_test(threads_launch_shared_kernels),
    };
    return has_room() ? cmocka_run_group_tests(tests, open_devices, close_devices) : 0;
}
