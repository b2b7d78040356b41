/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of buffers on real devices: what is moved, shared, copied and filled. */
#include "device_fixture.h"

enum { BYTES = 4096, BIG_BYTES = 64 << 20 };

static _Alignas(4096) unsigned char host[BYTES];
static _Alignas(4096) unsigned char other[BYTES];

static void number_bytes(unsigned char *bytes, unsigned salt)
{
    for (unsigned i = 0; i < BYTES; i++) {
        bytes[i] = (unsigned char)((i * 167u + salt) >> 3 ^ i);
    }
}

static void assert_numbered(const unsigned char *bytes, unsigned salt)
{
    static unsigned char expected[BYTES];
    number_bytes(expected, salt);
    assert_memory_equal(bytes, expected, BYTES);
}

static void unknown_handle_has_no_domain(void **state)
{
    int stranger = 0;
    (void)state;
    assert_int_equal(memory_ops()->domain(&dynsel_opencl_backend, &stranger).number, 0);
    assert_int_equal(memory_ops()->domain(&dynsel_opencl_backend, NULL).number, 0);
}

/* What was brought comes back, on each device. */
static void copy_in_and_copy_out_return_same_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        number_bytes(host, 1);
        dynsel_memory memory = allocate(own, host, BYTES, false);
        assert_false(memory.shared);
        bring(own, &memory, true);
        (void)memset(host, 0, BYTES);
        fetch(own, &memory, false, true); /* nothing is needed */
        assert_int_equal(host[1], 0);
        fetch(own, &memory, true, false);
        assert_numbered(host, 1);
        release(own, &memory);
        assert_null(memory.native);
    }
}

/* Where no data are needed, new memory is made ready, and nothing else is started. */
static void memory_without_needed_contents_copies_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        dynsel_memory memory = allocate(resources[i].handle, host, BYTES, false);
        dynsel_event done = {.native = NULL};
        assert_status(DYNSEL_OK, memory_ops()->bring(&dynsel_opencl_backend, resources[i].handle,
                                                     &memory, false, NULL, 0, &done));
        assert_status(DYNSEL_OK, wait_for(resources[i].handle, &done));
        assert_status(DYNSEL_OK, memory_ops()->fetch(&dynsel_opencl_backend, resources[i].handle,
                                                     &memory, false, false, &done));
        assert_null(done.native);
        release(resources[i].handle, &memory);
    }
}

static bool is_cpu(const dynsel_resource *where)
{
    cl_device_type type = 0;
    return clGetDeviceInfo(dynsel_opencl_device(where), CL_DEVICE_TYPE, sizeof(type), &type,
                           NULL) == CL_SUCCESS &&
           (type & CL_DEVICE_TYPE_CPU) != 0;
}

static const dynsel_kernel increment = {
    .name = "increment",
    .source = "kernel void increment(global uchar *data) { data[get_global_id(0)] += 1; }\n"};

static void increment_on(void *own, dynsel_memory *memory, size_t bytes)
{
    const dynsel_argument data = data_of(memory);
    const dynsel_command command = launch_of(&increment, DYNSEL_RANGE(bytes), &data, 1);
    assert_status(DYNSEL_OK, run(own, &command));
}

/* CPUs work in the host's memory itself, however large it is: it is handed to and fro. */
static void cpu_devices_share_host_memory(void **state)
{
    unsigned char *const big = aligned_alloc(4096, BIG_BYTES);
    (void)state;
    assert_non_null(big);
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        if (!is_cpu(&resources[i])) {
            continue;
        }
        (void)memset(big, 7, BIG_BYTES);
        dynsel_memory memory = allocate(own, big, BIG_BYTES, true);
        assert_true(memory.shared);
        assert_int_equal(memory.mapping, DYNSEL_UNMAPPED);
        bring(own, &memory, true);
        increment_on(own, &memory, BIG_BYTES);
        fetch(own, &memory, true, false);
        assert_int_equal(memory.mapping, DYNSEL_MAPPED_TO_READ);
        assert_int_equal(big[0], 8);
        assert_int_equal(big[BIG_BYTES - 1], 8);
        fetch(own, &memory, true, true);
        assert_int_equal(memory.mapping, DYNSEL_MAPPED_TO_WRITE);
        big[1] = 20;
        fetch(own, &memory, true, false); /* who may write may read */
        assert_int_equal(memory.mapping, DYNSEL_MAPPED_TO_WRITE);
        bring(own, &memory, true);
        assert_int_equal(memory.mapping, DYNSEL_UNMAPPED);
        increment_on(own, &memory, BIG_BYTES);
        fetch(own, &memory, true, false);
        assert_int_equal(big[0], 9);
        assert_int_equal(big[1], 21);
        release(own, &memory);
    }
    free(big);
}

/* Pieces of any alignment that share pages, some of them in memory that the program has pinned, and
 * some twice: several times, so that each is pinned where that is done. */
static void pieces_of_pinned_memory_move_both_ways(void **state)
{
    enum { PIECES = 3, PIECE_BYTES = (1 << 20) + 1, PINNED_BYTES = 2 * PIECE_BYTES, TIMES = 3 };
    static unsigned char pieces[PIECES * PIECE_BYTES + 1];
    unsigned char *const first = pieces + 1;
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(first, PINNED_BYTES));
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        dynsel_memory memory[PIECES + 1];
        for (size_t k = 0; k <= PIECES; k++) { /* the last of them lies over the last piece, too */
            memory[k] =
                allocate(own, first + (k < PIECES ? k : 2) * PIECE_BYTES, PIECE_BYTES, false);
        }
        (void)memset(pieces, (int)i, sizeof(pieces));
        for (unsigned times = 0; times < TIMES; times++) {
            for (size_t k = 0; k <= PIECES; k++) {
                bring(own, &memory[k], true);
                increment_on(own, &memory[k], PIECE_BYTES);
                fetch(own, &memory[k], true, false);
            }
        }
        print_message("%s: %s\n", dynsel_resource_name(&resources[i]),
                      memory[0].pinning == DYNSEL_PINNED ? "pinned" : "not pinned");
        for (size_t k = PIECES + 1; k > 0; k--) {
            assert_int_equal(memory[k - 1].pinning, memory[0].pinning);
            release(own, &memory[k - 1]);
        }
        assert_int_equal(pieces[0], i);
        for (size_t k = 0; k < PIECES; k++) {
            const unsigned char *const piece = first + k * PIECE_BYTES;
            const unsigned char expected = (unsigned char)(i + (k < 2 ? TIMES : 2 * TIMES));
            assert_int_equal(piece[0], expected);
            assert_int_equal(memcmp(piece, piece + 1, PIECE_BYTES - 1), 0);
        }
    }
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(first));
}

/* A driver may refuse to pin memory that the process cannot write. */
static void read_only_memory_moves_to_devices(void **state)
{
    enum { TABLE_BYTES = (1 << 20) + 3 };
    static const unsigned char table[TABLE_BYTES] = {1, 2, 3};
    static unsigned char copy[TABLE_BYTES];
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        dynsel_memory memory = allocate(own, (void *)(uintptr_t)table, TABLE_BYTES, false);
        dynsel_memory target = allocate(own, copy, TABLE_BYTES, false);
        const dynsel_argument from = data_of(&memory);
        const dynsel_argument to = data_of(&target);
        const dynsel_command command = {
            .kind = DYNSEL_COMMAND_COPY,
            .from = &from,
            .to = &to,
            .from_box = {.size = {1, 1, TABLE_BYTES}},
            .to_box = {.size = {1, 1, TABLE_BYTES}},
        };
        bring(own, &memory, true);
        bring(own, &target, false);
        assert_status(DYNSEL_OK, run(own, &command));
        (void)memset(copy, 9, TABLE_BYTES);
        fetch(own, &target, true, false);
        assert_memory_equal(copy, table, TABLE_BYTES);
        print_message("%s: %s\n", dynsel_resource_name(&resources[i]),
                      memory.pinning == DYNSEL_PINNED ? "pinned" : "not pinned");
        release(own, &memory);
        release(own, &target);
    }
}

/* The device itself would make a hidden copy of memory that lies badly. */
static void badly_aligned_memory_is_not_shared(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        number_bytes(host, 4);
        dynsel_memory memory = allocate(own, host + 1, BYTES - 1, true);
        assert_false(memory.shared);
        bring(own, &memory, true);
        increment_on(own, &memory, BYTES - 1);
        const unsigned char before = host[BYTES - 1];
        fetch(own, &memory, true, false);
        assert_int_equal(host[BYTES - 1], (unsigned char)(before + 1));
        release(own, &memory);
    }
}

/* At once, whatever a driver would say to it. */
static void allocation_above_device_memory_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        cl_ulong all = 0;
        assert_int_equal(clGetDeviceInfo(dynsel_opencl_device(&resources[i]),
                                         CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(all), &all, NULL),
                         CL_SUCCESS);
        dynsel_memory memory = {.host = host, .bytes = (size_t)all * 2};
        assert_status(DYNSEL_E_FULL,
                      memory_ops()->allocate(&dynsel_opencl_backend, resources[i].handle, &memory));
        assert_error_says("clCreateBuffer");
        assert_error_says("KiB of memory in all");
        assert_error_says(dynsel_resource_name(&resources[i]));
        assert_null(memory.native);
        /* the device is as good as before */
        memory = allocate(resources[i].handle, host, BYTES, false);
        release(resources[i].handle, &memory);
    }
}

/* Some drivers allow more than they say: then it is there, else the device is as good as before. */
static void allocation_above_max_alloc_size_succeeds_or_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        cl_ulong most = 0;
        assert_int_equal(clGetDeviceInfo(dynsel_opencl_device(&resources[i]),
                                         CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(most), &most, NULL),
                         CL_SUCCESS);
        dynsel_memory memory = {.host = host, .bytes = (size_t)most + BYTES};
        const dynsel_status status =
            memory_ops()->allocate(&dynsel_opencl_backend, resources[i].handle, &memory);
        assert_true(status == DYNSEL_OK || status == DYNSEL_E_FULL || status == DYNSEL_E_AGAIN);
        assert_int_equal(memory.native != NULL, status == DYNSEL_OK);
        if (status == DYNSEL_OK) {
            release(resources[i].handle, &memory);
        }
        memory = allocate(resources[i].handle, host, BYTES, false);
        release(resources[i].handle, &memory);
    }
}

static void opencl_close_with_live_copy_is_busy(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    dynsel_memory memory = allocate(resources[0].handle, host, BYTES, false);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_error_says("buffers still have 1 copies");
    release(resources[0].handle, &memory);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    (void)open_devices(state);
}

/* A box of a buffer of 4 x 5 x 6 elements. */
typedef struct corner {
    size_t first[3];
    size_t size[3];
    size_t element;
} corner;

enum { SLICES = 4, ROWS = 5, COLUMNS = 6 };

static dynsel_box box_of(const corner *c)
{
    const size_t row = COLUMNS * c->element;
    return (dynsel_box){.first = ((c->first[0] * ROWS + c->first[1]) * COLUMNS + c->first[2]) *
                                 c->element,
                        .size = {c->size[0], c->size[1], c->size[2] * c->element},
                        .row_pitch = row,
                        .slice_pitch = row * ROWS};
}

/* What a copy or fill should do: byte by byte. from: NULL for a fill. */
static void do_slowly(unsigned char *to, const dynsel_box *to_box, const unsigned char *from,
                      const dynsel_box *from_box, const unsigned char *element, size_t bytes)
{
    for (size_t s = 0; s < to_box->size[0]; s++) {
        for (size_t r = 0; r < to_box->size[1]; r++) {
            for (size_t i = 0; i < to_box->size[2]; i++) {
                unsigned char *const place =
                    to + to_box->first + s * to_box->slice_pitch + r * to_box->row_pitch + i;
                *place = from == NULL ? element[i % bytes]
                                      : from[from_box->first + s * from_box->slice_pitch +
                                             r * from_box->row_pitch + i];
            }
        }
    }
}

static const corner corners[] = {
    {{0, 0, 0}, {SLICES, ROWS, COLUMNS}, 4}, /* all */
    {{1, 0, 0}, {2, ROWS, COLUMNS}, 2},      /* in one piece */
    {{2, 3, 1}, {1, 1, 4}, 8},               /* in one row */
    {{1, 2, 0}, {1, 3, COLUMNS}, 16},        /* whole rows */
    {{0, 1, 2}, {1, 3, 3}, 1},               /* in one slice */
    {{1, 1, 1}, {3, 2, 4}, 4},
    {{0, 4, 0}, {SLICES, 1, COLUMNS}, 4}, /* one row of each slice */
    {{1, 0, 5}, {3, ROWS, 1}, 8},         /* a column */
};

enum { CORNERS = sizeof(corners) / sizeof(corners[0]) };

static void box_copies_agree_with_model(void **state)
{
    static unsigned char expected[BYTES];
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        for (size_t k = 0; k < CORNERS; k++) {
            corner moved = corners[k]; /* to the other end of the buffer */
            moved.first[0] = SLICES - moved.size[0];
            moved.first[1] = ROWS - moved.size[1];
            moved.first[2] = COLUMNS - moved.size[2];
            const dynsel_box from_box = box_of(&corners[k]);
            const dynsel_box to_box = box_of(&moved);
            number_bytes(host, 1);
            number_bytes(other, 2);
            number_bytes(expected, 2);
            do_slowly(expected, &to_box, host, &from_box, NULL, 0);
            dynsel_memory from = allocate(own, host, BYTES, false);
            dynsel_memory to = allocate(own, other, BYTES, false);
            bring(own, &from, true);
            bring(own, &to, true);
            const dynsel_argument ends[] = {data_of(&from), data_of(&to)};
            const dynsel_command command = {.kind = DYNSEL_COMMAND_COPY,
                                            .from = &ends[0],
                                            .to = &ends[1],
                                            .from_box = from_box,
                                            .to_box = to_box};
            assert_status(DYNSEL_OK, run(own, &command));
            fetch(own, &to, true, false);
            assert_memory_equal(other, expected, BYTES);
            release(own, &from);
            release(own, &to);
        }
    }
}

static void box_fills_agree_with_model(void **state)
{
    static unsigned char expected[BYTES];
    static const unsigned char element[16] = "abcdefghijklmno";
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        void *const own = resources[i].handle;
        for (size_t k = 0; k < CORNERS; k++) {
            const dynsel_box box = box_of(&corners[k]);
            number_bytes(host, 3);
            number_bytes(expected, 3);
            do_slowly(expected, &box, NULL, NULL, element, corners[k].element);
            dynsel_memory to = allocate(own, host, BYTES, false);
            bring(own, &to, true);
            const dynsel_argument end = data_of(&to);
            const dynsel_command command = {.kind = DYNSEL_COMMAND_FILL,
                                            .to = &end,
                                            .to_box = box,
                                            .element = element,
                                            .element_bytes = corners[k].element};
            assert_status(DYNSEL_OK, run(own, &command));
            fetch(own, &to, true, false);
            assert_memory_equal(host, expected, BYTES);
            release(own, &to);
        }
    }
}

/* The copy is in the domain: another queue of the same context sees it, after an event. */
static void queues_of_one_context_share_copies(void **state)
{
    cl_int code = CL_SUCCESS;
    (void)state;
    skip_unless(resource_count > 0 && resource_count + 3 <= MOST_DEVICES);
    const dynsel_resource *const where = &resources[resource_count - 1];
    const cl_command_queue queue =
        clCreateCommandQueue(dynsel_opencl_context(where), dynsel_opencl_device(where),
                             CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    skip_unless(code == CL_SUCCESS);
    void *const own = where->handle;
    void *const second = dynsel_opencl_adopt(queue);
    assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    const dynsel_domain domain = memory_ops()->domain(&dynsel_opencl_backend, own);
    const dynsel_domain same = memory_ops()->domain(&dynsel_opencl_backend, second);
    assert_int_equal(domain.number, same.number);
    assert_true(domain.in_order);
    assert_false(same.in_order);
    number_bytes(host, 5);
    dynsel_memory memory = allocate(own, host, BYTES, false);
    dynsel_event events[2] = {{.native = NULL}, {.native = NULL}};
    assert_status(DYNSEL_OK, memory_ops()->bring(&dynsel_opencl_backend, own, &memory, true, NULL,
                                                 0, &events[0]));
    assert_non_null(events[0].native);
    assert_int_equal(clFlush(dynsel_opencl_queue(where)), CL_SUCCESS);
    const dynsel_argument data = data_of(&memory);
    dynsel_command command = launch_of(&increment, DYNSEL_RANGE(BYTES), &data, 1);
    command.after = events;
    command.after_count = 1;
    assert_status(DYNSEL_OK,
                  memory_ops()->launch(&dynsel_opencl_backend, second, &command, &events[1]));
    assert_status(DYNSEL_OK, wait_for(own, &events[0]));
    assert_status(DYNSEL_OK, wait_for(second, &events[1]));
    (void)memset(other, 0, BYTES);
    memory.host = other;
    fetch(own, &memory, true, false);
    for (size_t i = 0; i < BYTES; i++) {
        assert_int_equal(other[i], (unsigned char)(host[i] + 1));
    }
    release(own, &memory);
}

/* A context of the program's own is a domain of its own, and one for all its queues. */
static void program_owned_context_is_its_own_domain(void **state)
{
    (void)state;
    skip_unless(resource_count > 0 && resource_count + 2 <= MOST_DEVICES);
    (void)close_devices(state);
    (void)open_devices(state);
    cl_int code = CL_SUCCESS;
    const cl_device_id device = dynsel_opencl_device(&resources[0]);
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    void *own[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &code);
        assert_int_equal(code, CL_SUCCESS);
        own[i] = dynsel_opencl_adopt(queue);
        assert_non_null(own[i]);
        assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
    }
    assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    const uint32_t first = memory_ops()->domain(&dynsel_opencl_backend, own[0]).number;
    assert_int_equal(memory_ops()->domain(&dynsel_opencl_backend, own[1]).number, first);
    for (size_t i = 0; i < resource_count; i++) {
        assert_int_not_equal(
            memory_ops()->domain(&dynsel_opencl_backend, resources[i].handle).number, first);
    }
    number_bytes(host, 6);
    dynsel_memory memory = allocate(own[1], host, BYTES, false);
    bring(own[1], &memory, true);
    increment_on(own[0], &memory, BYTES);
    increment_on(own[1], &memory, BYTES);
    const unsigned char before = host[100];
    fetch(own[1], &memory, true, false);
    assert_int_equal(host[100], (unsigned char)(before + 2));
    release(own[1], &memory);
}

static void unknown_command_is_unsupported(void **state)
{
    const dynsel_command command = {.kind = DYNSEL_COMMAND_HOST_TASK};
    (void)state;
    skip_unless(resource_count > 0);
    assert_status(DYNSEL_E_UNSUPPORTED, run(resources[0].handle, &command));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(unknown_handle_has_no_domain),
        cmocka_unit_test(copy_in_and_copy_out_return_same_data),
        cmocka_unit_test(memory_without_needed_contents_copies_nothing),
        cmocka_unit_test(cpu_devices_share_host_memory),
        cmocka_unit_test(pieces_of_pinned_memory_move_both_ways),
        cmocka_unit_test(read_only_memory_moves_to_devices),
        cmocka_unit_test(badly_aligned_memory_is_not_shared),
        cmocka_unit_test(allocation_above_device_memory_is_refused),
        cmocka_unit_test(allocation_above_max_alloc_size_succeeds_or_is_refused),
        cmocka_unit_test(opencl_close_with_live_copy_is_busy),
        cmocka_unit_test(box_copies_agree_with_model),
        cmocka_unit_test(box_fills_agree_with_model),
        cmocka_unit_test(queues_of_one_context_share_copies),
        cmocka_unit_test(program_owned_context_is_its_own_domain),
        cmocka_unit_test(unknown_command_is_unsupported),
    };
    return has_room() ? cmocka_run_group_tests(tests, open_devices, close_devices) : 0;
}
