/* SPDX-License-Identifier: Apache-2.0 */
/* The backend's calls to drivers for command groups, and its handling of their failures. */
#include "fixture.h"

#include <dynsel/memory.h>

static const cl_uint align_bits = 1024;
static const cl_bool yes = CL_TRUE;
static const fake_answer cpu_answers[] = {
    {.what = CL_DEVICE_MEM_BASE_ADDR_ALIGN, .value = &align_bits, .bytes = sizeof(align_bits)},
};
static const fake_answer integrated_answers[] = {
    {.what = CL_DEVICE_HOST_UNIFIED_MEMORY, .value = &yes, .bytes = sizeof(yes)},
};
static const cl_ulong largest = 524288;
static const fake_answer gpu_answers[] = {
    {.what = CL_DEVICE_MAX_MEM_ALLOC_SIZE, .value = &largest, .bytes = sizeof(largest)},
};
static const fake_device devices[] = {
    {.name = "gpu",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_GPU,
     .answers = gpu_answers,
     .answer_count = COUNT(gpu_answers)},
    {.name = "integrated",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_GPU,
     .answers = integrated_answers,
     .answer_count = COUNT(integrated_answers)},
    {.name = "cpu",
     .vendor = "V",
     .type = CL_DEVICE_TYPE_CPU,
     .answers = cpu_answers,
     .answer_count = COUNT(cpu_answers)},
    {.name = "second cpu", .vendor = "V", .type = CL_DEVICE_TYPE_CPU},
};
static const fake_platform machine[] = {{.name = "P", .count = COUNT(devices), .devices = devices}};

enum { GPU, INTEGRATED, CPU, SECOND_CPU, BYTES = 8192 };

static dynsel_resource resources[COUNT(devices)];
static _Alignas(4096) unsigned char host[BYTES];

static const dynsel_memory_ops *ops(void)
{
    return dynsel_opencl_backend.ops->memory;
}

static int set_up_memory(void **state)
{
    size_t count = 0;
    (void)state;
    (void)unsetenv("DYNSEL_OPENCL");
    /* what the backend does with memory is only in programs that use command groups */
    assert_status(DYNSEL_E_INVALID, dynsel_kernel_prepare(NULL, NULL, 0, NULL, NULL));
    assert_non_null(ops());
    show(machine, 1);
    assert_status(DYNSEL_OK, dynsel_opencl_select("all", resources, COUNT(resources), &count));
    assert_int_equal(count, COUNT(devices));
    return 0;
}

static void *open_device(int device)
{
    assert_non_null(dynsel_opencl_queue(&resources[device]));
    return resources[device].handle;
}

static dynsel_memory allocate_at(void *own, void *place, size_t bytes, bool shared)
{
    dynsel_memory memory = {.host = place, .bytes = bytes, .shared = shared};
    assert_status(DYNSEL_OK, ops()->allocate(&dynsel_opencl_backend, own, &memory));
    return memory;
}

static dynsel_memory allocate(void *own)
{
    return allocate_at(own, host, BYTES, false);
}

static void release(void *own, dynsel_memory *memory)
{
    ops()->release(&dynsel_opencl_backend, own, memory);
}

/* As the library does with an event. */
static void drop(void *own, dynsel_event *done)
{
    dynsel_work work = {.own = own, .done = *done};
    if (done->native != NULL) {
        dynsel_opencl_backend.ops->release(&dynsel_opencl_backend, &work);
    }
    *done = (dynsel_event){.native = NULL};
}

static dynsel_status bring(void *own, dynsel_memory *memory, bool contents)
{
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        ops()->bring(&dynsel_opencl_backend, own, memory, contents, NULL, 0, &done);
    drop(own, &done);
    return status;
}

static dynsel_status fetch(void *own, dynsel_memory *memory, bool contents, bool to_write)
{
    dynsel_event done = {.native = NULL};
    const dynsel_status status =
        ops()->fetch(&dynsel_opencl_backend, own, memory, contents, to_write, &done);
    drop(own, &done);
    return status;
}

static const dynsel_kernel kernel = {.name = "k", .source = "kernel void k(...)"};

/* Launches the fake's kernel, which has two arguments. */
static dynsel_status launch_with(void *own, const dynsel_kernel *k, dynsel_memory *memory,
                                 uint32_t value)
{
    dynsel_event done = {.native = NULL};
    const dynsel_argument arguments[] = {
        {.kind = DYNSEL_ARGUMENT_DATA, .memory = memory, .value = host, .bytes = BYTES},
        {.kind = DYNSEL_ARGUMENT_VALUE, .value = &value, .bytes = sizeof(value)}};
    const dynsel_command command = {
        .kind = DYNSEL_COMMAND_KERNEL,
        .kernel = k,
        .launch = {.global = DYNSEL_RANGE(64), .arguments = arguments, .argument_count = 2}};
    const dynsel_status status = ops()->launch(&dynsel_opencl_backend, own, &command, &done);
    drop(own, &done);
    return status;
}

static dynsel_status launch(void *own, dynsel_memory *memory, uint32_t value)
{
    return launch_with(own, &kernel, memory, value);
}

/* How many calls of OpenCL the last step made, the release of its event apart. */
static uint32_t calls_since(uint32_t *before)
{
    const uint32_t now = fake_opencl_calls(NULL) - fake_opencl_calls("clReleaseEvent");
    const uint32_t made = now - *before;
    *before = now;
    return made;
}

static void repeated_launch_costs_one_call(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory a = allocate(own);
    dynsel_memory b = allocate(own);
    uint32_t calls = 0;
    (void)state;
    assert_status(DYNSEL_OK, launch(own, &a, 1));
    assert_int_equal(fake_opencl_calls("clBuildProgram"), 1);
    (void)calls_since(&calls);
    assert_status(DYNSEL_OK, launch(own, &a, 1));
    assert_int_equal(calls_since(&calls), 1);
    assert_status(DYNSEL_OK, launch(own, &a, 2)); /* the value changed */
    assert_int_equal(calls_since(&calls), 2);
    assert_status(DYNSEL_OK, launch(own, &b, 2)); /* the memory did */
    assert_int_equal(calls_since(&calls), 2);
    assert_status(DYNSEL_OK, launch(own, &b, 2));
    assert_int_equal(calls_since(&calls), 1);
    release(own, &a);
    (void)calls_since(&calls);
    assert_status(DYNSEL_OK, launch(own, &b, 2)); /* it might be other memory with its handle */
    assert_int_equal(calls_since(&calls), 2);
    assert_status(DYNSEL_OK, launch(own, &b, 2));
    assert_int_equal(calls_since(&calls), 1);
    release(own, &b);
}

/* An argument that was refused is not taken for set. */
static void refused_argument_is_set_again(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own);
    (void)state;
    assert_status(DYNSEL_OK, launch(own, &memory, 1));
    fake_opencl_fail_at(1, CL_INVALID_ARG_SIZE);
    assert_status(DYNSEL_E_INVALID, launch(own, &memory, 2));
    assert_contains(error_line(), "argument 1 has another size than the kernel's [k]");
    const uint32_t before = fake_opencl_calls("clSetKernelArg");
    assert_status(DYNSEL_OK, launch(own, &memory, 1));
    assert_int_equal(fake_opencl_calls("clSetKernelArg"), before + 1);
    release(own, &memory);
}

/* What could not be asked about a kernel is asked again with the next launch, and nothing is built
 * twice. */
static void failed_kernel_query_is_repeated_without_rebuild(void **state)
{
    static const char *const questions[] = {"clGetKernelInfo", "clGetKernelWorkGroupInfo"};
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_INVALID_KERNEL, -7777};
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own);
    (void)state;
    for (size_t i = 0; i < COUNT(questions); i++) {
        for (size_t k = 0; k < COUNT(codes); k++) {
            /* another kernel each time, by another name */
            static const char names[COUNT(questions)][COUNT(codes)][4] = {{"a", "b", "c"},
                                                                          {"d", "e", "f"}};
            const dynsel_kernel fresh = {.name = names[i][k], .source = "kernel void k(...)"};
            const uint32_t builds = fake_opencl_calls("clBuildProgram");
            fake_opencl_break(devices[GPU].name, questions[i], codes[k]);
            assert_status(DYNSEL_E_DEVICE, launch_with(own, &fresh, &memory, 1));
            assert_string_equal(dynsel_last_error()->function, questions[i]);
            assert_int_equal(dynsel_last_error()->code, codes[k]);
            fake_opencl_break(NULL, NULL, CL_SUCCESS);
            assert_status(DYNSEL_OK, launch_with(own, &fresh, &memory, 1));
            assert_int_equal(fake_opencl_calls("clBuildProgram"), builds + 1);
        }
    }
    release(own, &memory);
}

static void kernel_is_built_once_per_device(void **state)
{
    (void)state;
    for (int i = 0; i < (int)COUNT(devices); i++) {
        void *const own = open_device(i);
        dynsel_memory memory = allocate(own);
        assert_status(DYNSEL_OK, launch(own, &memory, 1));
        assert_status(DYNSEL_OK, launch(own, &memory, 1));
        assert_status(DYNSEL_OK, ops()->prepare(&dynsel_opencl_backend, own, &kernel));
        assert_int_equal(fake_opencl_calls("clBuildProgram"), i + 1);
        release(own, &memory);
    }
}

static void range_dimensions_are_reversed_for_driver(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own);
    uint32_t value = 0;
    dynsel_event done = {.native = NULL};
    const dynsel_argument arguments[] = {
        {.kind = DYNSEL_ARGUMENT_DATA, .memory = &memory, .value = host, .bytes = BYTES},
        {.kind = DYNSEL_ARGUMENT_VALUE, .value = &value, .bytes = sizeof(value)}};
    const dynsel_command command = {.kind = DYNSEL_COMMAND_KERNEL,
                                    .kernel = &kernel,
                                    .launch = {.global = DYNSEL_RANGE_3D(2, 6, 10),
                                               .local = DYNSEL_RANGE_3D(1, 3, 5),
                                               .offset = DYNSEL_RANGE_3D(7, 8, 9),
                                               .arguments = arguments,
                                               .argument_count = 2}};
    (void)state;
    assert_status(DYNSEL_OK, ops()->launch(&dynsel_opencl_backend, own, &command, &done));
    drop(own, &done);
    const fake_launch seen = fake_opencl_last_launch();
    assert_int_equal(seen.dimensions, 3);
    assert_true(seen.has_offset);
    const size_t global[] = {10, 6, 2};
    const size_t local[] = {5, 3, 1};
    const size_t offset[] = {9, 8, 7};
    assert_memory_equal(seen.global, global, sizeof(global));
    assert_memory_equal(seen.local, local, sizeof(local));
    assert_memory_equal(seen.offset, offset, sizeof(offset));
    assert_status(DYNSEL_OK, launch(own, &memory, 1));
    assert_false(fake_opencl_last_launch().has_offset);
    release(own, &memory);
}

static void out_of_memory_does_not_lose_device(void **state)
{
    static const cl_int codes[] = {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
                                   CL_OUT_OF_HOST_MEMORY};
    void *const own = open_device(GPU);
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        dynsel_memory memory = {.host = host, .bytes = BYTES, .shared = true};
        fake_opencl_fail_at(2, codes[i]); /* the first asks whether it shares the host's memory */
        assert_status(DYNSEL_E_AGAIN, ops()->allocate(&dynsel_opencl_backend, own, &memory));
        assert_int_equal(dynsel_last_error()->code, codes[i]);
        assert_null(memory.native);
        memory = allocate(own);
        assert_status(DYNSEL_OK, bring(own, &memory, true));
        fake_opencl_fail_at(1,
                            CL_MEM_OBJECT_ALLOCATION_FAILURE); /* by a driver that does it late */
        assert_status(DYNSEL_E_AGAIN, bring(own, &memory, true));
        assert_status(DYNSEL_OK, bring(own, &memory, true));
        release(own, &memory);
    }
}

/* Giving up what is there would be in vain. */
static void allocation_above_device_memory_is_refused_directly(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = {.host = host, .bytes = ((size_t)1 << 30) + 1};
    (void)state;
    assert_status(DYNSEL_E_FULL, ops()->allocate(&dynsel_opencl_backend, own, &memory));
    assert_contains(error_line(), "the device has 1048576 KiB of memory in all [gpu]");
    assert_int_equal(fake_opencl_calls("clCreateBuffer"), 0);
    memory.bytes--;
    fake_opencl_break("gpu", "clCreateBuffer", CL_INVALID_BUFFER_SIZE);
    assert_status(DYNSEL_E_FULL, ops()->allocate(&dynsel_opencl_backend, own, &memory));
    assert_contains(error_line(), "the device takes no buffer larger than 512 KiB [gpu]");
    assert_int_equal(dynsel_last_error()->code, CL_INVALID_BUFFER_SIZE);
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    memory = allocate_at(own, host, (size_t)1 << 30, false); /* by a driver that gives more */
    release(own, &memory);
}

/* By drivers that allocate when memory is used first. */
static void lazy_driver_allocation_is_forced_early(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own);
    dynsel_event done = {.native = NULL};
    (void)state;
    fake_opencl_break("gpu", "clEnqueueFillBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_status(DYNSEL_E_AGAIN, bring(own, &memory, false));
    fake_opencl_break("gpu", "clEnqueueFillBuffer", CL_INVALID_OPERATION); /* of old ones */
    assert_status(DYNSEL_OK, bring(own, &memory, false));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    const uint32_t before = fake_opencl_calls("clEnqueueFillBuffer");
    assert_status(DYNSEL_OK, bring(own, &memory, true)); /* does it too */
    assert_int_equal(fake_opencl_calls("clEnqueueFillBuffer"), before);
    /* there is an event of it, for other queues to come after */
    assert_status(DYNSEL_OK,
                  ops()->bring(&dynsel_opencl_backend, own, &memory, false, NULL, 0, &done));
    assert_non_null(done.native);
    drop(own, &done);
    release(own, &memory);
}

/* Whether a copy can be the host's memory itself. */
static bool shares(int device, void *place, size_t bytes)
{
    void *const own = open_device(device);
    dynsel_memory memory = allocate_at(own, place, bytes, true);
    const bool shared = memory.shared;
    release(own, &memory);
    return shared;
}

static void only_aligned_memory_is_shared(void **state)
{
    (void)state;
    assert_true(shares(CPU, host, BYTES));
    assert_true(shares(CPU, host + 128, 5));
    assert_false(shares(CPU, host + 64, 64));
    assert_false(shares(SECOND_CPU, host, BYTES)); /* it does not say how it wants it */
    assert_true(shares(INTEGRATED, host, BYTES));
    assert_false(shares(INTEGRATED, host + 128, 128));
    assert_false(shares(INTEGRATED, host, 100));
    assert_false(shares(GPU, host, BYTES));
}

/* To and fro, with no call where nothing changes hands. */
static void shared_memory_is_mapped_and_unmapped_once_per_transfer(void **state)
{
    void *const own = open_device(CPU);
    dynsel_memory memory = allocate_at(own, host, BYTES, true);
    uint32_t calls = 0;
    (void)state;
    (void)calls_since(&calls);
    assert_status(DYNSEL_OK, bring(own, &memory, true)); /* the device has it already */
    assert_int_equal(calls_since(&calls), 0);
    assert_status(DYNSEL_OK, fetch(own, &memory, true, false));
    assert_int_equal(memory.mapping, DYNSEL_MAPPED_TO_READ);
    assert_int_equal(calls_since(&calls), 2); /* the map and the flush */
    assert_status(DYNSEL_OK, fetch(own, &memory, true, false));
    assert_int_equal(calls_since(&calls), 0);
    assert_status(DYNSEL_OK, fetch(own, &memory, true, true));
    assert_int_equal(memory.mapping, DYNSEL_MAPPED_TO_WRITE);
    assert_int_equal(calls_since(&calls), 3); /* unmapped before it is mapped again */
    assert_status(DYNSEL_OK, fetch(own, &memory, false, true));
    assert_int_equal(calls_since(&calls), 0);
    assert_status(DYNSEL_OK, bring(own, &memory, false));
    assert_int_equal(memory.mapping, DYNSEL_UNMAPPED);
    assert_int_equal(calls_since(&calls), 1);
    fake_opencl_fail_at(1, CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_AGAIN, fetch(own, &memory, true, true));
    assert_int_equal(memory.mapping, DYNSEL_UNMAPPED);
    assert_status(DYNSEL_OK, fetch(own, &memory, true, true));
    release(own, &memory);
}

/* By a driver that breaks the rules: nothing of it is kept. */
static void mapping_at_other_address_is_refused(void **state)
{
    static unsigned char elsewhere[BYTES];
    void *const own = open_device(CPU);
    dynsel_memory memory = allocate_at(own, host, BYTES, true);
    (void)state;
    fake_opencl_map_to(elsewhere);
    assert_status(DYNSEL_E_DEVICE, fetch(own, &memory, true, false));
    assert_contains(error_line(), "to another place");
    assert_int_equal(memory.mapping, DYNSEL_UNMAPPED);
    assert_int_equal(fake_opencl_calls("clEnqueueUnmapMemObject"), 1);
    fake_opencl_map_to(NULL);
    assert_status(DYNSEL_OK, fetch(own, &memory, true, false));
    fake_opencl_map_to(elsewhere);
    assert_status(DYNSEL_E_DEVICE, fetch(own, &memory, true, true)); /* was mapped to be read */
    assert_int_equal(memory.mapping, DYNSEL_UNMAPPED);
    release(own, &memory);
}

/* Nothing is asked of it any more, and its memory is given up. */
static void lost_device_gets_no_further_calls_for_its_memory(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own);
    (void)state;
    assert_status(DYNSEL_OK, launch(own, &memory, 1));
    fake_opencl_break("gpu", "clEnqueueWriteBuffer", CL_DEVICE_NOT_AVAILABLE);
    assert_status(DYNSEL_E_DEVICE, bring(own, &memory, true));
    const uint32_t calls = fake_opencl_calls(NULL);
    assert_status(DYNSEL_E_DEVICE, bring(own, &memory, true));
    assert_contains(error_line(), "the device was lost");
    assert_status(DYNSEL_E_DEVICE, fetch(own, &memory, true, false));
    assert_status(DYNSEL_E_OUT_OF_SERVICE, ops()->prepare(&dynsel_opencl_backend, own, &kernel));
    dynsel_memory more = {.host = host, .bytes = BYTES};
    assert_status(DYNSEL_E_OUT_OF_SERVICE, ops()->allocate(&dynsel_opencl_backend, own, &more));
    release(own, &memory);
    assert_int_equal(fake_opencl_calls(NULL), calls);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    assert_true(fake_opencl_given_up() >= 4); /* memory, program, kernel, queue */
}

static void failed_build_is_not_repeated(void **state)
{
    void *const own = open_device(GPU);
    dynsel_memory memory = allocate(own);
    (void)state;
    fake_opencl_break("gpu", "clBuildProgram", CL_BUILD_PROGRAM_FAILURE);
    assert_status(DYNSEL_E_TASK, launch(own, &memory, 1));
    assert_contains(error_line(), "clBuildProgram: the task failed: the fake's log of k() { } [k]");
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_E_TASK, launch(own, &memory, 1));
    assert_contains(error_line(), "the fake's log");
    assert_int_equal(fake_opencl_calls("clBuildProgram"), 1);
    void *const other = open_device(INTEGRATED);
    dynsel_memory there = allocate(other);
    assert_status(DYNSEL_OK, launch(other, &there, 1)); /* it is the matter of one device */
    release(other, &there);
    release(own, &memory);
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    (void)set_up_memory(state);
    assert_status(DYNSEL_OK, ops()->prepare(&dynsel_opencl_backend, open_device(GPU), &kernel));
}

/* How many builds it takes to prepare this kernel. */
static uint32_t builds_of(const dynsel_kernel *k)
{
    const uint32_t before = fake_opencl_calls("clBuildProgram");
    assert_status(DYNSEL_OK, ops()->prepare(&dynsel_opencl_backend, open_device(GPU), k));
    return fake_opencl_calls("clBuildProgram") - before;
}

/* Each kernel has one place in the table: where it stands does not matter, what it says does. */
static void kernels_are_identified_by_contents(void **state)
{
    static const dynsel_kernel_binary binaries[] = {{"gpu", "binary", 6}, {"cpu", "binary", 6}};
    static const char two[] = "one\0two";
    dynsel_kernel k = {.name = two, .source = two};
    const dynsel_kernel first = k;
    dynsel_kernel changed[6];
    (void)state;
    assert_int_equal(builds_of(&k), 1);
    assert_int_equal(builds_of(&first), 0);
    k.options = "-w";
    changed[0] = k;
    k.binaries = &binaries[1];
    k.binary_count = 1;
    changed[1] = k;
    k.binaries = binaries;
    changed[2] = k;
    k.binary_count = 2;
    changed[3] = k;
    k.source += 4;
    changed[4] = k;
    k.name += 4;
    changed[5] = k;
    for (size_t i = 0; i < COUNT(changed); i++) {
        k = changed[i];
        assert_int_equal(builds_of(&k), 1);
    }
    for (size_t i = 0; i < COUNT(changed); i++) {
        assert_int_equal(builds_of(&changed[i]), 0);
    }
    k = first;
    assert_int_equal(builds_of(&k), 0);
}

/* What it said of a kernel is not said of another one that came to stand at the same address. */
static void build_log_belongs_to_its_kernel_only(void **state)
{
    static const unsigned char il[8];
    dynsel_kernel k = {.name = "k", .source = "kernel void k(...)"};
    void *const own = open_device(GPU);
    (void)state;
    fake_opencl_break("gpu", "clBuildProgram", CL_BUILD_PROGRAM_FAILURE);
    assert_status(DYNSEL_E_TASK, ops()->prepare(&dynsel_opencl_backend, own, &k));
    assert_contains(error_line(), "the fake's log");
    const dynsel_kernel same = k;
    k = (dynsel_kernel){.name = "k", .il = il, .il_bytes = 4};
    assert_status(DYNSEL_E_TASK, ops()->prepare(&dynsel_opencl_backend, own, &k));
    assert_contains(error_line(), "clCreateProgramWithIL");
    assert_null(strstr(error_line(), "the fake's log"));
    assert_status(DYNSEL_E_TASK, ops()->prepare(&dynsel_opencl_backend, own, &same));
    assert_contains(error_line(), "the fake's log");
    k.il_bytes = sizeof(il); /* is another one, which is tried by itself */
    const uint32_t before = fake_opencl_calls("clGetDeviceInfo");
    assert_status(DYNSEL_E_TASK, ops()->prepare(&dynsel_opencl_backend, own, &k));
    assert_int_not_equal(fake_opencl_calls("clGetDeviceInfo"), before);
}

static void build_failed_for_memory_is_repeated(void **state)
{
    void *const own = open_device(GPU);
    (void)state;
    fake_opencl_break("gpu", "clBuildProgram", CL_OUT_OF_HOST_MEMORY);
    assert_status(DYNSEL_E_DEVICE, ops()->prepare(&dynsel_opencl_backend, own, &kernel));
    fake_opencl_break(NULL, NULL, CL_SUCCESS);
    assert_status(DYNSEL_OK, ops()->prepare(&dynsel_opencl_backend, own, &kernel));
}

static size_t load_nothing(uint64_t key, void *to, size_t capacity, void *context)
{
    (void)key;
    (void)to;
    (void)capacity;
    (void)context;
    return 0;
}

static void count_saves(uint64_t key, const void *data, size_t bytes, void *context)
{
    (void)key;
    (void)data;
    (void)bytes;
    ++*(unsigned *)context;
}

static void use_everything(unsigned device)
{
    dynsel_event done = {.native = NULL};
    void *const own = resources[device].handle;
    if (dynsel_opencl_queue(&resources[device]) == NULL) {
        return;
    }
    dynsel_memory memory = {.host = host, .bytes = BYTES, .shared = true};
    if (ops()->allocate(&dynsel_opencl_backend, own, &memory) != DYNSEL_OK) {
        return;
    }
    const dynsel_argument end = {.kind = DYNSEL_ARGUMENT_DATA, .memory = &memory};
    const dynsel_command fill = {.kind = DYNSEL_COMMAND_FILL,
                                 .to = &end,
                                 .to_box = {.size = {2, 3, 4}, .row_pitch = 8, .slice_pitch = 64},
                                 .element = "",
                                 .element_bytes = 1};
    const dynsel_command copy = {
        .kind = DYNSEL_COMMAND_COPY,
        .from = &end,
        .to = &end,
        .from_box = {.size = {2, 3, 4}, .row_pitch = 8, .slice_pitch = 64},
        .to_box = {.first = 512, .size = {2, 3, 4}, .row_pitch = 8, .slice_pitch = 64}};
    (void)bring(own, &memory, false);
    (void)bring(own, &memory, true);
    (void)launch(own, &memory, 1);
    (void)ops()->launch(&dynsel_opencl_backend, own, &fill, &done);
    drop(own, &done);
    (void)ops()->launch(&dynsel_opencl_backend, own, &copy, &done);
    drop(own, &done);
    (void)fetch(own, &memory, true, false);
    (void)fetch(own, &memory, true, true);
    (void)bring(own, &memory, true);
    (void)fetch(own, &memory, true, true); /* and is mapped when it is given back */
    release(own, &memory);
}

/* Whichever call fails: nothing leaks, nothing lost is touched, and all is well the next time. */
static void fault_in_each_call_leaks_nothing(void **state)
{
    static const cl_int codes[] = {CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES};
    static unsigned char scratch[256];
    unsigned saves = 0;
    const dynsel_opencl_kernel_store store = {.load = load_nothing,
                                              .save = count_saves,
                                              .context = &saves,
                                              .scratch = scratch,
                                              .scratch_bytes = sizeof(scratch)};
    for (unsigned round = 0; round < 2 * COUNT(codes); round++) {
        const unsigned device = round / 2 == 0 ? CPU : GPU;
        for (uint32_t call = 1;; call++) {
            assert_status(DYNSEL_OK, dynsel_opencl_set_kernel_store(&store));
            fake_opencl_fail_at(call, codes[round % 2]);
            use_everything(device);
            const bool failed = fake_opencl_has_failed();
            const char *const function = failed ? fake_opencl_failed_function() : "nothing";
            fake_opencl_fail_at(0, CL_SUCCESS);
            assert_status(DYNSEL_OK, dynsel_opencl_close());
            if (fake_opencl_leaks() != 0 || fake_opencl_violations() != 0) {
                print_message("call %u, %s\n", (unsigned)call, function);
            }
            assert_int_equal(fake_opencl_leaks(), 0);
            assert_int_equal(fake_opencl_violations(), 0);
            (void)set_up_memory(state);
            if (!failed) {
                break;
            }
        }
    }
    assert_true(saves > 0);
}

static void contexts_are_distinct_domains(void **state)
{
    (void)state;
    const uint32_t gpu = ops()->domain(&dynsel_opencl_backend, resources[GPU].handle).number;
    const uint32_t cpu = ops()->domain(&dynsel_opencl_backend, resources[CPU].handle).number;
    assert_int_not_equal(gpu, 0);
    assert_int_not_equal(gpu, cpu);
    assert_int_equal(ops()->domain(&dynsel_opencl_backend, resources[SECOND_CPU].handle).number,
                     cpu);
    const cl_command_queue queue = fake_opencl_new_queue("cpu"); /* in a context of its own */
    void *const own = dynsel_opencl_adopt(queue);
    assert_int_not_equal(ops()->domain(&dynsel_opencl_backend, own).number, cpu);
    (void)open_device(SECOND_CPU); /* opens the context of both, and the first stays closed */
    cl_int code = CL_SUCCESS;
    const cl_command_queue inside =
        clCreateCommandQueue(dynsel_opencl_context(&resources[SECOND_CPU]),
                             dynsel_opencl_device(&resources[SECOND_CPU]), 0, &code);
    void *const sharer = dynsel_opencl_adopt(inside);
    assert_int_equal(ops()->domain(&dynsel_opencl_backend, sharer).number, cpu);
    (void)open_device(CPU);
    assert_int_equal(ops()->domain(&dynsel_opencl_backend, sharer).number, cpu);
    cl_context context = NULL;
    (void)clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
    (void)clReleaseCommandQueue(inside);
    (void)clReleaseCommandQueue(queue);
    (void)clReleaseContext(context);
}

#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_memory, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(repeated_launch_costs_one_call),
        MEMORY_TEST(refused_argument_is_set_again),
        MEMORY_TEST(failed_kernel_query_is_repeated_without_rebuild),
        MEMORY_TEST(kernel_is_built_once_per_device),
        MEMORY_TEST(range_dimensions_are_reversed_for_driver),
        MEMORY_TEST(out_of_memory_does_not_lose_device),
        MEMORY_TEST(allocation_above_device_memory_is_refused_directly),
        MEMORY_TEST(lazy_driver_allocation_is_forced_early),
        MEMORY_TEST(only_aligned_memory_is_shared),
        MEMORY_TEST(shared_memory_is_mapped_and_unmapped_once_per_transfer),
        MEMORY_TEST(mapping_at_other_address_is_refused),
        MEMORY_TEST(lost_device_gets_no_further_calls_for_its_memory),
        MEMORY_TEST(failed_build_is_not_repeated),
        MEMORY_TEST(kernels_are_identified_by_contents),
        MEMORY_TEST(build_log_belongs_to_its_kernel_only),
        MEMORY_TEST(build_failed_for_memory_is_repeated),
        MEMORY_TEST(fault_in_each_call_leaks_nothing),
        MEMORY_TEST(contexts_are_distinct_domains),
    };
    return RUN(tests);
}
