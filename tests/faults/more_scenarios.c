/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios for the functions that the others do not call. */
#include <string.h>

#include "faults/own_queue.h"
#include "faults/scenarios.h"

enum { SIDE = 8, CELLS = SIDE * SIDE };

static dynsel_round_robin_policy policy;

static bool begin(const dynsel_resource *resource)
{
    const dynsel_options options = {.resources = resource, .count = 1};
    policy = (dynsel_round_robin_policy){0};
    return fault_saw(dynsel_round_robin_init(&policy, &options, 0));
}

static void end(void)
{
    fault_nothing_runs();
    fault_must(dynsel_invariants_hold(&policy.policy), "the invariants do not hold");
    fault_must(dynsel_policy_deinit(&policy.policy) == DYNSEL_OK, "the policy is still in use");
}

static uint32_t squares[2][CELLS + 1];

static uint32_t *cells(int number)
{
    return squares[number] + 1; /* where no device can use it itself */
}

static dynsel_buffer buffers[2];

static bool begin_buffer(int number)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        cells(number)[i] = number == 0 ? i : CELLS;
    }
    return fault_saw(dynsel_buffer_init(&buffers[number], cells(number), sizeof(uint32_t),
                                        DYNSEL_RANGE_2D(SIDE, SIDE)));
}

/* A buffer that cannot be brought home is given up. True: its data are the host's now. */
static bool end_buffer(int number)
{
    dynsel_host_accessor anything = {0};
    dynsel_buffer *const buffer = &buffers[number];
    const bool ended = fault_saw(dynsel_buffer_deinit(buffer));
    if (buffer->token != 0) {
        fault_clear();
        fault_must(dynsel_host_accessor_open(&anything, *buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
                           DYNSEL_OK &&
                       dynsel_host_accessor_close(&anything) == DYNSEL_OK &&
                       dynsel_buffer_deinit(buffer) == DYNSEL_OK,
                   "a buffer cannot be given up");
    }
    return ended;
}

static const dynsel_accessor whole[2] = {{.placeholder = true,
                                          .mode = DYNSEL_ACCESS_READ,
                                          .target = DYNSEL_MEMORY_GLOBAL,
                                          .range = DYNSEL_RANGE_2D(SIDE, SIDE)},
                                         {.placeholder = true,
                                          .mode = DYNSEL_ACCESS_READ_WRITE,
                                          .target = DYNSEL_MEMORY_GLOBAL,
                                          .range = DYNSEL_RANGE_2D(SIDE, SIDE)}};
static const dynsel_accessor column[2] = {{.placeholder = true,
                                           .mode = DYNSEL_ACCESS_READ,
                                           .target = DYNSEL_MEMORY_GLOBAL,
                                           .range = DYNSEL_RANGE_2D(SIDE, 1)},
                                          {.placeholder = true,
                                           .mode = DYNSEL_ACCESS_READ_WRITE,
                                           .target = DYNSEL_MEMORY_GLOBAL,
                                           .range = DYNSEL_RANGE_2D(SIDE, 1),
                                           .offset = DYNSEL_RANGE_2D(0, 3)}};

/* args: two accessors. */
static dynsel_status copy(dynsel_handler *handler, void *args)
{
    const dynsel_accessor *const parts = args;
    dynsel_status status = dynsel_require_buffer(handler, buffers[0], &parts[0]);
    if (status == DYNSEL_OK) {
        status = dynsel_require_buffer(handler, buffers[1], &parts[1]);
    }
    return status == DYNSEL_OK ? dynsel_copy(handler, &parts[0], &parts[1]) : status;
}

/* The program keeps the event. */
static bool copy_and_unwrap(const dynsel_accessor *parts)
{
    dynsel_submission submission;
    dynsel_event done = {.native = NULL};
    dynsel_accessor own[2];
    (void)memcpy(own, parts, sizeof(own));
    if (!fault_saw(dynsel_submit_command_group(&policy.policy, copy, own, &submission))) {
        return false;
    }
    const bool succeeded = fault_saw(dynsel_wait_and_unwrap(&submission, &done));
    if (done.opencl != NULL) {
        (void)clReleaseEvent(done.opencl);
    }
    return succeeded;
}

static void play_copies(void)
{
    if (!begin(&fault_devices[0])) {
        return;
    }
    if (begin_buffer(0)) {
        if (begin_buffer(1)) {
            const bool first = copy_and_unwrap(whole);
            const bool second = copy_and_unwrap(column);
            if (end_buffer(1) && first && second) {
                fault_must(fault_is_lied_to() ||
                               (cells(1)[0] == 0 && cells(1)[3] == 0 && cells(1)[4] == 4 &&
                                cells(1)[SIDE + 3] == SIDE && cells(1)[CELLS - 1] == CELLS - 1),
                           "the data are wrong, and nothing says so");
            }
        }
        (void)end_buffer(0);
    }
    end();
}

static const dynsel_kernel kept = {.name = "kept",
                                   .source = "kernel void kept(global uint *cells)\n"
                                             "{ cells[get_global_id(0)] += 1; }\n"};
static const dynsel_kernel lost = {.name = "lost",
                                   .source = "kernel void lost(global uint *cells)\n"
                                             "{ cells[get_global_id(0)] += 2; }\n"};

/* Keeps the first kernel that it gets. */
static struct {
    uint64_t key;
    size_t bytes;
    unsigned char data[1 << 18];
} shelf;

static unsigned char scratch[sizeof(shelf.data)];

static size_t load(uint64_t key, void *to, size_t capacity, void *context)
{
    (void)context;
    if (shelf.bytes == 0 || key != shelf.key || shelf.bytes > capacity) {
        return 0;
    }
    (void)memcpy(to, shelf.data, shelf.bytes);
    return shelf.bytes;
}

static void save(uint64_t key, const void *data, size_t bytes, void *context)
{
    (void)context;
    if (shelf.bytes == 0 && bytes <= sizeof(shelf.data)) {
        shelf.key = key;
        shelf.bytes = bytes;
        (void)memcpy(shelf.data, data, bytes);
    }
}

static dynsel_status change(dynsel_handler *handler, void *args)
{
    dynsel_accessor data;
    dynsel_status status = dynsel_get_access(handler, buffers[0], DYNSEL_ACCESS_READ_WRITE,
                                             DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, args, DYNSEL_RANGE(CELLS), NULL, NULL)
                               : status;
}

static void change_with(const dynsel_kernel *kernel, uint32_t *expected, uint32_t added)
{
    if (fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, change, (void *)kernel))) {
        *expected += added;
    }
}

/* On one resource: a kernel that is loaded, and one that is compiled and cannot be kept. */
static void change_cells(void)
{
    uint32_t expected = 0;
    if (begin_buffer(0)) {
        change_with(&kept, &expected, 1);
        change_with(&lost, &expected, 2);
        if (end_buffer(0)) {
            fault_must(fault_is_lied_to() ||
                           (cells(0)[0] == expected && cells(0)[CELLS - 1] == CELLS - 1 + expected),
                       "the data are wrong, and nothing says so");
        }
    }
}

static void play_stored(void)
{
    static const dynsel_opencl_kernel_store store = {
        .load = load, .save = save, .scratch = scratch, .scratch_bytes = sizeof(scratch)};
    fault_must(dynsel_opencl_set_kernel_store(&store) == DYNSEL_OK, "the store is refused");
    if (begin(&fault_devices[0])) {
        change_cells();
        end();
    }
    fault_must(dynsel_opencl_set_kernel_store(NULL) == DYNSEL_OK, "the store stays");
}

static dynsel_status fill(dynsel_handler *handler, void *args)
{
    dynsel_accessor data;
    const dynsel_status status = dynsel_get_access(handler, buffers[0], DYNSEL_ACCESS_DISCARD_WRITE,
                                                   DYNSEL_MEMORY_GLOBAL, &data);
    return status == DYNSEL_OK ? dynsel_fill(handler, &data, args, sizeof(uint32_t)) : status;
}

static void fill_cells(void)
{
    uint32_t value = 5;
    if (begin_buffer(0)) {
        const bool filled =
            fault_saw(dynsel_submit_command_group_and_wait(&policy.policy, fill, &value));
        if (end_buffer(0) && filled) {
            fault_must(cells(0)[0] == value && cells(0)[CELLS - 1] == value,
                       "the data are wrong, and nothing says so");
        }
    }
}

/* A queue of the program's. */
static void play_adopting(void)
{
    const dynsel_resource adopted = fault_own_queue(&fault_devices[0]);
    if (adopted.handle == NULL) {
        (void)fault_saw(dynsel_last_error()->status);
    } else if (begin(&adopted)) {
        fill_cells();
        end();
    }
}

/* Two buffers that are pinned, one of them by the program; and the first transfers on queues of
 * their own. Nothing is built, so that it can be played from the start each time. */
enum { PINNED_BYTES = 1 << 20 };
static unsigned char large[2][PINNED_BYTES];

/* One byte, so that the others have to be copied in. */
static dynsel_status change_byte(dynsel_handler *handler, void *args)
{
    static const unsigned char seven = 7;
    static const dynsel_accessor first = {.placeholder = true,
                                          .mode = DYNSEL_ACCESS_WRITE,
                                          .target = DYNSEL_MEMORY_GLOBAL,
                                          .range = DYNSEL_RANGE(1)};
    const dynsel_buffer *const buffer = args;
    const dynsel_status status = dynsel_require_buffer(handler, *buffer, &first);
    return status == DYNSEL_OK ? dynsel_fill(handler, &first, &seven, 1) : status;
}

static bool change_large(int number)
{
    return fault_saw(
        dynsel_submit_command_group_and_wait(&policy.policy, change_byte, &buffers[number]));
}

static void use_large(int number)
{
    unsigned char *const bytes = large[number];
    bytes[0] = 1;
    bytes[PINNED_BYTES - 1] = 2;
    if (fault_saw(dynsel_buffer_init(&buffers[number], bytes, 1, DYNSEL_RANGE(PINNED_BYTES)))) {
        const bool changed = change_large(number);
        if (end_buffer(number)) {
            fault_must(fault_is_lied_to() ||
                           (bytes[0] == (changed ? 7 : 1) && bytes[PINNED_BYTES - 1] == 2),
                       "the data are wrong, and nothing says so");
        }
    }
}

static void play_pinned(void)
{
    if (begin(&fault_devices[0])) {
        fault_must(dynsel_opencl_pin_memory(large[1], PINNED_BYTES) == DYNSEL_OK,
                   "memory cannot be pinned");
        use_large(0);
        use_large(1);
        end();
        fault_must(dynsel_opencl_unpin_memory(large[1]) == DYNSEL_OK, "memory stays pinned");
    }
}

static const fault_function while_storing[] = {FAULT_clCreateProgramWithBinary,
                                               FAULT_clGetProgramInfo, FAULT_clBuildProgram,
                                               FAULT_clCreateKernel, FAULT_clReleaseProgram};
static const fault_function while_adopting[] = {
    FAULT_clGetCommandQueueInfo, FAULT_clRetainCommandQueue, FAULT_clReleaseCommandQueue};

#define SCENARIO(title, ...)                                                                       \
    const fault_scenario fault_##title = {.name = #title, .play = play_##title, __VA_ARGS__}
#define ONLY(functions)                                                                            \
    .only = (functions), .only_count = sizeof(functions) / sizeof((functions)[0])
#define SUBSET(functions)                                                                          \
    .subset = (functions), .subset_count = sizeof(functions) / sizeof((functions)[0])

static const fault_function of_copying[] = {FAULT_clEnqueueCopyBuffer,
                                            FAULT_clEnqueueCopyBufferRect, FAULT_clRetainEvent};
static const fault_function of_pinning[] = {
    FAULT_clCreateBuffer,      FAULT_clCreateCommandQueue, FAULT_clEnqueueBarrierWithWaitList,
    FAULT_clEnqueueReadBuffer, FAULT_clEnqueueWriteBuffer, FAULT_clFlush,
    FAULT_clReleaseMemObject};
static const fault_function of_storing[] = {FAULT_clCreateProgramWithBinary,
                                            FAULT_clGetProgramInfo};
static const fault_function of_adopting[] = {FAULT_clGetCommandQueueInfo,
                                             FAULT_clRetainCommandQueue};

SCENARIO(copies, SUBSET(of_copying));
SCENARIO(stored, .is_cold = true, ONLY(while_storing), SUBSET(of_storing));
SCENARIO(pinned, .is_cold = true, SUBSET(of_pinning));
SCENARIO(adopting, .is_cold = true, ONLY(while_adopting), SUBSET(of_adopting));
