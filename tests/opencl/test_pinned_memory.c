/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory of the host's is pinned and when, and on which queues transfers run. */
#include "fixture.h"

#include <dynsel/memory.h>

#include "process/child.h"
#if CONFIG_DYNSEL_CUSTOM_POLICIES
#include "timing_policy.h"
#endif

static const cl_bool yes = CL_TRUE;
static const fake_answer integrated_answers[] = {
    {.what = CL_DEVICE_HOST_UNIFIED_MEMORY, .value = &yes, .bytes = sizeof(yes)},
};
static const fake_device nvidia_devices[] = {
    {.name = "gpu", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
    {.name = "second", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
    {.name = "integrated",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_GPU,
     .answers = integrated_answers,
     .answer_count = COUNT(integrated_answers)},
};
static const fake_device other_devices[] = {
    {.name = "other", .vendor = "V", .type = CL_DEVICE_TYPE_GPU},
};
static const fake_platform machine[] = {
    {.name = "NVIDIA CUDA", .count = COUNT(nvidia_devices), .devices = nvidia_devices},
    {.name = "P", .count = COUNT(other_devices), .devices = other_devices},
};

enum { GPU, SECOND, INTEGRATED, OTHER, DEVICES };
enum { SMALL = 4096, RESULT = 16 << 10, MEDIUM = 128 << 10, LARGE = 1 << 20, PAGE = 4096 };

static dynsel_resource resources[DEVICES];
static _Alignas(PAGE) unsigned char host[2 * LARGE];
static dynsel_fixed_resource_policy policy;

static const dynsel_memory_ops *ops(void)
{
    return dynsel_opencl_backend.ops->memory;
}

static int set_up_pinned(void **state)
{
    size_t count = 0;
    (void)state;
    (void)unsetenv("DYNSEL_OPENCL");
    /* what the backend does with memory is only in programs that use command groups */
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(NULL, NULL, 0, NULL, NULL));
    show(machine, COUNT(machine));
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", resources, DEVICES, &count));
    assert_int_equal(count, DEVICES);
    return 0;
}

static void unpin_if_pinned(void *memory)
{
    const dynsel_status status = dynsel_opencl_unpin_memory(memory);
    assert_true(status == DYNSEL_OK || status == DYNSEL_E_INVALID);
}

static int tear_down_pinned(void **state)
{
    assert_int_equal(tear_down(state), 0);
    unpin_if_pinned(host);
    unpin_if_pinned(host + LARGE);
    return 0;
}

static void *open_device(int device)
{
    assert_non_null(dynsel_opencl_queue(&resources[device]));
    return resources[device].handle;
}

static dynsel_memory allocate(void *own, void *place, size_t bytes)
{
    dynsel_memory memory = {.host = place, .bytes = bytes};
    assert_status(DYNSEL_OK, ops()->allocate(&dynsel_opencl_backend, own, &memory));
    return memory;
}

static void release(void *own, dynsel_memory *memory)
{
    ops()->release(&dynsel_opencl_backend, own, memory);
}

static void drop(void *own, dynsel_event *done)
{
    dynsel_work work = {.own = own, .done = *done};
    if (done->native != NULL) {
        dynsel_opencl_backend.ops->release(&dynsel_opencl_backend, &work);
    }
    *done = (dynsel_event){.native = NULL};
}

static dynsel_status bring(void *own, dynsel_memory *memory)
{
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        ops()->bring(&dynsel_opencl_backend, own, memory, true, NULL, 0, &done);
    drop(own, &done);
    return status;
}

static dynsel_status fetch(void *own, dynsel_memory *memory)
{
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        ops()->fetch(&dynsel_opencl_backend, own, memory, true, false, &done);
    drop(own, &done);
    return status;
}

static dynsel_status write_back(void *own, const dynsel_memory *memory)
{
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        ops()->write_back(&dynsel_opencl_backend, own, memory, NULL, 0, &done);
    drop(own, &done);
    return status;
}

static void large_copy_is_pinned_at_its_first_transfer(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host + 1, LARGE); /* of any alignment */
    (void)state;
    assert_int_equal(memory.pinning, DYNSEL_NOT_PINNED);
    assert_int_equal(fake_opencl_host_memories(), 0);
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_int_equal(memory.pinning, DYNSEL_PINNED);
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_status(DYNSEL_OK, fetch(own, &memory));
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_int_equal(fake_opencl_calls("clCreateBuffer"), 2);
    release(own, &memory);
    assert_int_equal(fake_opencl_host_memories(), 0);
    assert_int_equal(fake_opencl_calls("clReleaseMemObject"), 2);
}

static void medium_copy_is_pinned_at_its_second_transfer(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, LARGE - 1);
    dynsel_memory least = allocate(own, host, MEDIUM);
    (void)state;
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_status(DYNSEL_OK, bring(own, &least));
    assert_int_equal(fake_opencl_host_memories(), 0);
    assert_int_equal(memory.pinning, DYNSEL_NOT_PINNED);
    assert_status(DYNSEL_OK, fetch(own, &memory));
    assert_status(DYNSEL_OK, fetch(own, &least));
    assert_int_equal(fake_opencl_host_memories(), 2);
    assert_int_equal(memory.pinning, DYNSEL_PINNED);
    release(own, &memory);
    release(own, &least);
}

static void small_copy_is_never_pinned(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, MEDIUM - 1);
    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, bring(own, &memory));
    }
    assert_int_equal(memory.pinning, DYNSEL_NOT_PINNED);
    assert_int_equal(fake_opencl_host_memories(), 0);
    release(own, &memory);
}

static void other_devices_neither_pin_nor_get_queues(void **state)
{
    static const int devices[] = {INTEGRATED, OTHER};
    static const char *const names[] = {"integrated", "other"};
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host, LARGE));
    for (unsigned i = 0; i < COUNT(devices); i++) {
        void *const own = open_device(devices[i]);
        dynsel_memory memory = allocate(own, host, LARGE);
        assert_status(DYNSEL_OK, bring(own, &memory));
        assert_status(DYNSEL_OK, fetch(own, &memory));
        assert_status(DYNSEL_OK, write_back(own, &memory));
        assert_int_equal(memory.pinning, DYNSEL_PINS_NOTHING);
        assert_int_equal(fake_opencl_queues_of(names[i]), 1);
        release(own, &memory);
    }
    assert_int_equal(fake_opencl_calls("clCreateBuffer"), COUNT(devices));
    assert_int_equal(fake_opencl_calls("clEnqueueBarrierWithWaitList"), 0);
}

/* It is no failure of anything, whatever the code says, and is not tried again. */
static void refused_pin_leaves_transfers_as_they_are(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY,
                                   CL_DEVICE_NOT_AVAILABLE, CL_INVALID_HOST_PTR};
    void *const own = open_device(GPU);
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(NULL, 1)); /* the last error */
    for (unsigned i = 0; i < COUNT(codes); i++) {
        dynsel_memory memory = allocate(own, host, LARGE);
        const uint32_t before = fake_opencl_calls("clCreateBuffer");
        fake_opencl_break("gpu", "clCreateBuffer", codes[i]);
        assert_status(DYNSEL_OK, bring(own, &memory));
        fake_opencl_break(NULL, NULL, CL_SUCCESS);
        assert_int_equal(memory.pinning, DYNSEL_PIN_REFUSED);
        assert_status(DYNSEL_OK, fetch(own, &memory));
        assert_status(DYNSEL_OK, bring(own, &memory));
        assert_int_equal(fake_opencl_calls("clCreateBuffer"), before + 1);
        assert_int_equal(memory.pinning, DYNSEL_PIN_REFUSED);
        assert_contains(error_line(), "no array has so many bytes");
        release(own, &memory);
        assert_int_equal(fake_opencl_host_memories(), 0);
    }
}

static void lost_device_keeps_its_pins(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_memory inside = allocate(own, host + LARGE, SMALL);
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host + LARGE, SMALL));
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_status(DYNSEL_OK, bring(own, &inside));
    fake_opencl_break("gpu", "clEnqueueReadBuffer", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_DEVICE, fetch(own, &memory));
    const uint32_t calls = fake_opencl_calls(NULL);
    release(own, &memory);
    release(own, &inside);
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host + LARGE));
    assert_int_equal(fake_opencl_calls(NULL), calls);
}

static void memory_of_the_program_is_pinned_once_for_all_copies_in_it(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory first = allocate(own, host, SMALL);
    dynsel_memory last = allocate(own, host + LARGE - 1, 1);
    dynsel_memory beyond = allocate(own, host + LARGE - SMALL, SMALL + 1);
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host, LARGE));
    assert_int_equal(fake_opencl_host_memories(), 0);
    assert_status(DYNSEL_OK, bring(own, &first));
    assert_status(DYNSEL_OK, fetch(own, &last));
    assert_status(DYNSEL_OK, bring(own, &beyond));
    assert_int_equal(first.pinning, DYNSEL_PINNED);
    assert_int_equal(last.pinning, DYNSEL_PINNED);
    assert_int_equal(beyond.pinning, DYNSEL_NOT_PINNED);
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_unpin_memory(host));
    assert_contains(error_line(), "2 copies of buffers rely on it");
    release(own, &first);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_unpin_memory(host));
    release(own, &last);
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host));
    assert_int_equal(fake_opencl_host_memories(), 0);
    release(own, &beyond);
}

static void memory_of_the_program_is_pinned_on_each_device_that_uses_it(void **state)
{
    void *const own = open_device(GPU);
    void *const other = open_device(SECOND);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_memory on_other = allocate(other, host, LARGE);
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host, LARGE));
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_status(DYNSEL_OK, bring(other, &on_other));
    assert_int_equal(fake_opencl_host_memories(), 2);
    release(own, &memory);
    release(other, &on_other);
    /* it stays listed when the backend is closed */
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_int_equal(fake_opencl_leaks(), 0);
    (void)set_up_pinned(state);
    void *const again = open_device(GPU);
    memory = allocate(again, host, SMALL);
    assert_status(DYNSEL_OK, bring(again, &memory));
    assert_int_equal(memory.pinning, DYNSEL_PINNED);
    release(again, &memory);
}

/* A range is no copy that would keep it. */
static void ranges_in_pinned_memory_have_it_pinned(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory staging = allocate(own, NULL, LARGE);
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host + LARGE, SMALL));
    assert_int_equal(staging.pinning, DYNSEL_PINS_NOTHING);
    dynsel_memory range = {.native = staging.native, .host = host, .bytes = LARGE};
    assert_status(DYNSEL_OK, bring(own, &range));
    assert_status(DYNSEL_OK, write_back(own, &range));
    assert_int_equal(fake_opencl_host_memories(), 0); /* by itself it is not pinned */
    range = (dynsel_memory){.native = staging.native, .host = host + LARGE, .bytes = SMALL};
    assert_status(DYNSEL_OK, write_back(own, &range));
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_status(DYNSEL_OK, bring(own, &range));
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_int_equal(range.pinning, DYNSEL_PINS_NOTHING);
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host + LARGE));
    assert_int_equal(fake_opencl_host_memories(), 0);
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host + LARGE, SMALL));
    assert_status(DYNSEL_OK, bring(own, &range));
    assert_int_equal(fake_opencl_host_memories(), 1);
    release(own, &staging);
}

static void copy_in_memory_that_is_refused_is_pinned_alone(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_memory small = allocate(own, host + LARGE, SMALL);
    (void)state;
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host, sizeof(host)));
    fake_opencl_fail_at(1, CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_true(fake_opencl_has_failed());
    assert_int_equal(memory.pinning, DYNSEL_PINNED);
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_status(DYNSEL_OK, bring(own, &small));
    assert_int_equal(small.pinning, DYNSEL_NOT_PINNED);
    release(own, &memory);
    release(own, &small);
    assert_int_equal(fake_opencl_host_memories(), 0);
}

static void wrong_memory_is_not_pinned(void **state)
{
    static unsigned char places[CONFIG_DYNSEL_OPENCL_PINNED_REGIONS][2];
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(NULL, 1));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(host, 0));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(host, SIZE_MAX));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_unpin_memory(NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_unpin_memory(host));
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host + 8, 8));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(host + 8, 8));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(host, 9));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_pin_memory(host + 15, 1));
    assert_contains(error_line(), "overlaps");
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host + 16, 8)); /* they only touch */
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_unpin_memory(host + 9));
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host + 8));
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host + 16));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_unpin_memory(host + 16));
    for (int i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(places[i], 2));
    }
    assert_status(DYNSEL_E_FULL, dynsel_opencl_pin_memory(host, 2));
    assert_contains(error_line(), "CONFIG_DYNSEL_OPENCL_PINNED_REGIONS");
    for (int i = 0; i < CONFIG_DYNSEL_OPENCL_PINNED_REGIONS; i++) {
        assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(places[i]));
    }
}

/* The device's queue orders all that comes later behind it. */
static void large_copy_in_runs_beside_and_later_commands_come_after_it(void **state)
{
    void *const own = open_device(GPU);
    const cl_command_queue main = dynsel_opencl_queue(&resources[GPU]);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_event done = {.native = NULL};
    cl_command_queue queue = NULL;
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    assert_status(DYNSEL_OK,
                  ops()->bring(&dynsel_opencl_backend, own, &memory, true, NULL, 0, &done));
    const fake_command write = fake_opencl_command(2);
    const fake_command barrier = fake_opencl_command(1);
    assert_string_equal(write.function, "clEnqueueWriteBuffer");
    assert_ptr_not_equal(write.queue, main);
    assert_string_equal(barrier.function, "clEnqueueBarrierWithWaitList");
    assert_ptr_equal(barrier.queue, main);
    assert_int_equal(barrier.after_count, 1);
    assert_string_equal(barrier.after, "clEnqueueWriteBuffer");
    assert_ptr_equal(barrier.after_queue, write.queue);
    /* the event is one of the device's queue, and the other queue is flushed already */
    assert_int_equal(fake_opencl_calls("clFlush"), 1);
    assert_status(DYNSEL_OK, fetch(own, &memory));
    queue = fake_opencl_command(1).queue;
    assert_string_equal(fake_opencl_command(1).function, "clEnqueueReadBuffer");
    assert_ptr_not_equal(queue, main);
    assert_ptr_not_equal(queue, write.queue);
    assert_int_equal(fake_opencl_command(1).after_count, 0); /* it waits for no kernel */
    assert_int_equal(fake_opencl_calls("clFlush"), 2);
    assert_int_equal(fake_opencl_queues_of("gpu"), 3);
    drop(own, &done);
    release(own, &memory);
}

static void copy_in_waits_for_events_and_is_waited_for(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_event before = {.native = NULL};
    dynsel_event done = {.native = NULL};
    (void)state;
    assert_status(DYNSEL_OK,
                  ops()->bring(&dynsel_opencl_backend, own, &memory, false, NULL, 0, &before));
    assert_int_equal(clFlush(dynsel_opencl_queue(&resources[GPU])), CL_SUCCESS);
    assert_status(DYNSEL_OK,
                  ops()->bring(&dynsel_opencl_backend, own, &memory, true, &before, 1, &done));
    assert_string_equal(fake_opencl_command(2).after, "clEnqueueFillBuffer");
    drop(own, &before);
    drop(own, &done);
    release(own, &memory);
}

static void small_transfers_and_ranges_stay_on_the_queue(void **state)
{
    void *const own = open_device(GPU);
    const cl_command_queue main = dynsel_opencl_queue(&resources[GPU]);
    dynsel_memory memory = allocate(own, host, LARGE - 1);
    dynsel_memory large = allocate(own, host, LARGE);
    dynsel_memory small = allocate(own, host, RESULT - 1);
    (void)state;
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_ptr_equal(fake_opencl_command(1).queue, main);
    assert_status(DYNSEL_OK, bring(own, &small));
    assert_status(DYNSEL_OK, fetch(own, &small));
    assert_string_equal(fake_opencl_command(1).function, "clEnqueueReadBuffer");
    assert_ptr_equal(fake_opencl_command(1).queue, main);
    dynsel_memory staging = allocate(own, NULL, LARGE);
    const dynsel_memory range = {.native = staging.native, .host = host, .bytes = LARGE};
    dynsel_memory staged = range;
    assert_status(DYNSEL_OK, bring(own, &staged)); /* earlier work may write the memory */
    assert_string_equal(fake_opencl_command(1).function, "clEnqueueWriteBuffer");
    assert_ptr_equal(fake_opencl_command(1).queue, main);
    release(own, &staging);
    assert_status(DYNSEL_OK, write_back(own, &large)); /* the end of later work tells its end */
    assert_ptr_equal(fake_opencl_command(1).queue, main);
    assert_int_equal(fake_opencl_queues_of("gpu"), 1);
    release(own, &memory);
    release(own, &large);
    release(own, &small);
}

/* Work elsewhere that needs the results does not wait for all kernels on the device. */
static void copy_out_of_a_result_runs_beside(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, RESULT);
    (void)state;
    assert_int_equal(ops()->domain(&dynsel_opencl_backend, own).beside_bytes, RESULT);
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_ptr_equal(fake_opencl_command(1).queue, dynsel_opencl_queue(&resources[GPU]));
    assert_status(DYNSEL_OK, fetch(own, &memory));
    assert_string_equal(fake_opencl_command(1).function, "clEnqueueReadBuffer");
    assert_ptr_not_equal(fake_opencl_command(1).queue, dynsel_opencl_queue(&resources[GPU]));
    assert_int_equal(fake_opencl_command(1).after_count, 0);
    release(own, &memory);
}

static void queue_of_the_program_moves_all_itself(void **state)
{
    const cl_command_queue queue = fake_opencl_new_queue("gpu");
    void *const own = dynsel_opencl_adopt(queue);
    cl_context context = NULL;
    dynsel_memory memory = allocate(own, host, LARGE);
    (void)state;
    assert_status(DYNSEL_OK, bring(own, &memory));
    assert_ptr_equal(fake_opencl_command(1).queue, queue);
    assert_status(DYNSEL_OK, fetch(own, &memory));
    assert_ptr_equal(fake_opencl_command(1).queue, queue);
    assert_int_equal(memory.pinning, DYNSEL_PINNED);
    release(own, &memory);
    (void)clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
    (void)clReleaseCommandQueue(queue);
    (void)clReleaseContext(context);
}

/* Neither of the queues can be missing. */
static void refused_queues_leave_transfers_on_the_queue(void **state)
{
    (void)state;
    for (uint32_t call = 2; call <= 3; call++) { /* the first pins */
        (void)set_up_pinned(state);
        void *const own = open_device(GPU);
        dynsel_memory memory = allocate(own, host, LARGE);
        fake_opencl_fail_at(call, CL_OUT_OF_RESOURCES);
        assert_status(DYNSEL_OK, bring(own, &memory));
        assert_string_equal(fake_opencl_failed_function(), "clCreateCommandQueue");
        assert_ptr_equal(fake_opencl_command(1).queue, dynsel_opencl_queue(&resources[GPU]));
        assert_status(DYNSEL_OK, fetch(own, &memory));
        assert_ptr_equal(fake_opencl_command(1).queue, dynsel_opencl_queue(&resources[GPU]));
        assert_int_equal(fake_opencl_queues_of("gpu"), call - 1);
        release(own, &memory);
        assert_int_equal(tear_down(state), 0);
    }
}

/* Nothing else would keep later commands behind it, so it is over when the call returns. */
static void refused_barrier_ends_the_transfer(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_event done = {.native = NULL};
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    fake_opencl_break("gpu", "clEnqueueBarrierWithWaitList", CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_DEVICE,
                  ops()->bring(&dynsel_opencl_backend, own, &memory, true, NULL, 0, &done));
    assert_contains(error_line(), "clEnqueueBarrierWithWaitList");
    assert_null(done.native);
    assert_int_equal(fake_opencl_calls("clWaitForEvents"), 1);
    assert_int_equal(fake_opencl_calls("clReleaseEvent"), 1);
    fake_opencl_break("gpu", "clEnqueueBarrierWithWaitList", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_status(DYNSEL_E_AGAIN, bring(own, &memory));
    fake_opencl_break("gpu", "clEnqueueBarrierWithWaitList", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_DEVICE, bring(own, &memory));
    const uint32_t calls = fake_opencl_calls(NULL);
    assert_status(DYNSEL_E_DEVICE, fetch(own, &memory));
    release(own, &memory);
    assert_int_equal(fake_opencl_calls(NULL), calls);
}

/* A poll flushes the device's queue alone. */
static void transfer_that_is_not_flushed_is_waited_for(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own, host, LARGE);
    dynsel_event done = {.native = NULL};
    (void)state;
    fake_opencl_set_new_events(CL_RUNNING);
    fake_opencl_break("gpu", "clFlush", CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_OK,
                  ops()->bring(&dynsel_opencl_backend, own, &memory, true, NULL, 0, &done));
    assert_null(done.native);
    assert_status(DYNSEL_OK,
                  ops()->fetch(&dynsel_opencl_backend, own, &memory, true, false, &done));
    assert_null(done.native);
    assert_int_equal(fake_opencl_calls("clWaitForEvents"), 2);
    fake_opencl_break("gpu", "event", CL_OUT_OF_HOST_MEMORY); /* it ends badly */
    fake_opencl_fail_at(2, CL_OUT_OF_HOST_MEMORY);            /* its flush */
    assert_status(DYNSEL_E_DEVICE,
                  ops()->fetch(&dynsel_opencl_backend, own, &memory, true, false, &done));
    assert_string_equal(fake_opencl_failed_function(), "clFlush");
    assert_null(done.native);
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    release(own, &memory);
}

static void use_everything(void)
{
    void *const own = resources[GPU].handle;
    dynsel_memory memory = {.host = host, .bytes = LARGE};
    dynsel_memory inside = {.host = host + LARGE, .bytes = LARGE};
    if (dynsel_opencl_queue(&resources[GPU]) == NULL) {
        return;
    }
    if (ops()->allocate(&dynsel_opencl_backend, own, &memory) == DYNSEL_OK) {
        (void)bring(own, &memory);
        (void)fetch(own, &memory);
        (void)write_back(own, &memory);
        if (ops()->allocate(&dynsel_opencl_backend, own, &inside) == DYNSEL_OK) {
            (void)fetch(own, &inside);
            (void)bring(own, &inside);
            release(own, &inside);
        }
        release(own, &memory);
    }
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host + LARGE));
}

static void fault_in_each_call_leaks_nothing(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES,
                                   CL_DEVICE_NOT_AVAILABLE};
    for (unsigned round = 0; round < COUNT(codes); round++) {
        bool failed = true;
        for (uint32_t call = 1; failed; call++) {
            unpin_if_pinned(host + LARGE);
            assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host + LARGE, LARGE));
            fake_opencl_fail_at(call, codes[round]);
            use_everything();
            failed = fake_opencl_has_failed();
            const char *const function = failed ? fake_opencl_failed_function() : "nothing";
            fake_opencl_fail_at(0, CL_SUCCESS);
            assert_status(DYNSEL_OK, dynsel_opencl_close());
            if (fake_opencl_leaks() != 0 || fake_opencl_violations() != 0) {
                print_message("call %u, %s, %d\n", (unsigned)call, function, (int)codes[round]);
            }
            assert_int_equal(fake_opencl_leaks(), 0);
            assert_int_equal(fake_opencl_violations(), 0);
            (void)set_up_pinned(state);
        }
    }
}

static void init(dynsel_buffer *buffer, unsigned char *place, size_t bytes)
{
    assert_status(DYNSEL_OK, dynsel_buffer_init(buffer, place, 1, DYNSEL_RANGE(bytes)));
}

/* Changes one byte, so that the others are needed. */
static dynsel_status change(dynsel_handler *handler, void *args)
{
    static const unsigned char zero;
    static const dynsel_accessor first = {.placeholder = true,
                                          .mode = DYNSEL_ACCESS_WRITE,
                                          .target = DYNSEL_MEMORY_GLOBAL,
                                          .range = DYNSEL_RANGE(1)};
    const dynsel_buffer *const buffer = args;
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, *buffer, &first));
    return dynsel_fill(handler, &first, &zero, 1);
}

static void run_on(dynsel_buffer *buffer)
{
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, change, buffer));
}

static void see(dynsel_buffer buffer)
{
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
}

static void begin_policy(void)
{
    const dynsel_options options = {.resources = &resources[GPU], .count = 1};
    policy = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
}

static void movement_counts_pinned_bytes_and_refusals(void **state)
{
    dynsel_buffer buffers[2] = {{0}};
    dynsel_movement before;
    dynsel_movement moved;
    (void)state;
    begin_policy();
    assert_status(DYNSEL_OK, dynsel_domain_movement(&resources[GPU], &before));
    init(&buffers[0], host, MEDIUM);
    for (int i = 0; i < 2; i++) {
        run_on(&buffers[0]);
        see(buffers[0]);
    }
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffers[0], &moved));
    assert_int_equal(moved.bytes_in + moved.bytes_out, 4 * MEDIUM);
    assert_int_equal(moved.bytes_pinned, 3 * MEDIUM); /* not the first */
    assert_int_equal(moved.pins_refused, 0);
    init(&buffers[1], host + LARGE, LARGE);
    fake_opencl_fail_at(3, CL_OUT_OF_RESOURCES); /* the pin, after a question and the copy */
    run_on(&buffers[1]);
    assert_string_equal(fake_opencl_failed_function(), "clCreateBuffer");
    see(buffers[1]);
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffers[1], &moved));
    assert_int_equal(moved.bytes_in, LARGE);
    assert_int_equal(moved.bytes_out, LARGE);
    assert_int_equal(moved.bytes_pinned, 0);
    assert_int_equal(moved.pins_refused, 1);
    assert_status(DYNSEL_OK, dynsel_domain_movement(&resources[GPU], &moved));
    assert_int_equal(moved.bytes_pinned - before.bytes_pinned, 3 * MEDIUM);
    assert_int_equal(moved.pins_refused - before.pins_refused, 1);
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    assert_int_equal(fake_opencl_host_memories(), 0);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

/* The memory of an evicted copy is the program's as before. */
static void evicted_copy_is_unpinned(void **state)
{
    dynsel_buffer buffers[2] = {{0}};
    (void)state;
    begin_policy();
    init(&buffers[0], host, LARGE);
    init(&buffers[1], host + LARGE, SMALL);
    run_on(&buffers[0]);
    see(buffers[0]);
    assert_int_equal(fake_opencl_host_memories(), 1);
    fake_opencl_fail_at(2, CL_MEM_OBJECT_ALLOCATION_FAILURE); /* the second copy has no room */
    run_on(&buffers[1]);
    assert_string_equal(fake_opencl_failed_function(), "clCreateBuffer");
    assert_int_equal(fake_opencl_host_memories(), 0);
    run_on(&buffers[0]);
    assert_int_equal(fake_opencl_host_memories(), 1);
    for (int i = 0; i < 2; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffers[i]));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

#if CONFIG_DYNSEL_CUSTOM_POLICIES
/* On the queue that times it, because its transfers are part of it. */
static void transfers_of_timed_work_are_on_its_queue(void **state)
{
    timing_policy timing;
    (void)state;
    timing_policy_init(&timing, resources[GPU], NULL);
    for (unsigned i = 0; i < 2; i++) {
        dynsel_buffer buffer = {0};
        timing.wants_times = i == 0;
        timing.times = 0;
        init(&buffer, host, LARGE);
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&timing.policy, change, &buffer));
        assert_int_equal(timing.times, timing.wants_times ? 1 : 0);
        /* one with profiling; then two for transfers, because nobody times this */
        assert_int_equal(fake_opencl_queues_of("gpu"), timing.wants_times ? 2 : 4);
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&timing.policy));
}
#endif

#define FORKS (CONFIG_DYNSEL_CONTEXT_THREADS && !CONFIG_DYNSEL_SANITIZE_THREAD)
#if FORKS
/* The driver is the parent's. */
static void unpin_without_driver(void)
{
    const uint32_t calls = fake_opencl_calls(NULL);
    child_expects_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host));
    child_expects_status(DYNSEL_OK, dynsel_opencl_pin_memory(host, LARGE));
    child_expects_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host));
    child_expects(fake_opencl_calls(NULL) == calls);
}

static void child_of_fork_has_the_list_and_no_pins(void **state)
{
    dynsel_buffer buffer = {0};
    (void)state;
    begin_policy();
    assert_status(DYNSEL_OK, dynsel_opencl_pin_memory(host, LARGE));
    init(&buffer, host, SMALL);
    run_on(&buffer);
    assert_int_equal(fake_opencl_host_memories(), 1);
    assert_child_succeeds(unpin_without_driver);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_unpin_memory(host));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_opencl_unpin_memory(host));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}
#endif

#define PINNED_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_pinned, tear_down_pinned)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PINNED_TEST(large_copy_is_pinned_at_its_first_transfer),
        PINNED_TEST(medium_copy_is_pinned_at_its_second_transfer),
        PINNED_TEST(small_copy_is_never_pinned),
        PINNED_TEST(other_devices_neither_pin_nor_get_queues),
        PINNED_TEST(refused_pin_leaves_transfers_as_they_are),
        PINNED_TEST(lost_device_keeps_its_pins),
        PINNED_TEST(memory_of_the_program_is_pinned_once_for_all_copies_in_it),
        PINNED_TEST(memory_of_the_program_is_pinned_on_each_device_that_uses_it),
        PINNED_TEST(ranges_in_pinned_memory_have_it_pinned),
        PINNED_TEST(copy_in_memory_that_is_refused_is_pinned_alone),
        PINNED_TEST(wrong_memory_is_not_pinned),
        PINNED_TEST(large_copy_in_runs_beside_and_later_commands_come_after_it),
        PINNED_TEST(copy_in_waits_for_events_and_is_waited_for),
        PINNED_TEST(small_transfers_and_ranges_stay_on_the_queue),
        PINNED_TEST(copy_out_of_a_result_runs_beside),
        PINNED_TEST(queue_of_the_program_moves_all_itself),
        PINNED_TEST(refused_queues_leave_transfers_on_the_queue),
        PINNED_TEST(refused_barrier_ends_the_transfer),
        PINNED_TEST(transfer_that_is_not_flushed_is_waited_for),
        PINNED_TEST(fault_in_each_call_leaks_nothing),
        PINNED_TEST(movement_counts_pinned_bytes_and_refusals),
        PINNED_TEST(evicted_copy_is_unpinned),
#if CONFIG_DYNSEL_CUSTOM_POLICIES
        PINNED_TEST(transfers_of_timed_work_are_on_its_queue),
#endif
#if FORKS
        PINNED_TEST(child_of_fork_has_the_list_and_no_pins),
#endif
    };
    return RUN(tests);
}
