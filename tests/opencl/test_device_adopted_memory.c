/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers over memory objects of the program, on the devices of this machine. */
#define _POSIX_C_SOURCE 200809L

#include "device_fixture.h"

#include <time.h>

enum { WORDS = 1024, BYTES = WORDS * sizeof(uint32_t), CHAIN = 12, MOST = MOST_DEVICES + 2 };

static dynsel_status add_on_host(const dynsel_launch *launch)
{
    uint32_t *const words = dynsel_launch_data(launch, 0);
    const uint32_t value = DYNSEL_LAUNCH_VALUE(launch, 1, uint32_t);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        words[i] = words[i] * 3 + value;
    }
    return value == UINT32_MAX ? DYNSEL_E_USER : DYNSEL_OK;
}

static const dynsel_kernel add = {
    .name = "add",
    .function = add_on_host,
    .source = "kernel void add(global uint *words, uint value)\n"
              "{ words[get_global_id(0)] = words[get_global_id(0)] * 3 + value; }\n"};

/* The program's own objects, on the first device. */
static cl_context context;
static cl_command_queue queue;
static cl_device_id device;

/* The program's queue first, then the devices, then the host. */
static dynsel_resource all[MOST];
static size_t all_count;
static dynsel_round_robin_policy everywhere;
static dynsel_fixed_resource_policy at_home; /* on the program's queue */
static dynsel_fixed_resource_policy on_host;

static uint32_t staging[WORDS];

static int set_up(void **state)
{
    cl_int code = CL_SUCCESS;
    (void)open_devices(state);
    if (resource_count == 0) {
        return 0;
    }
    device = dynsel_opencl_device(&resources[0]);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    all_count = 0;
    all[all_count++] = (dynsel_resource){&dynsel_opencl_backend, dynsel_opencl_adopt(queue)};
    assert_non_null(all[0].handle);
    for (size_t i = 0; i < resource_count; i++) {
        all[all_count++] = resources[i];
    }
    all[all_count++] = (dynsel_resource){&dynsel_inline_backend, NULL};
    const dynsel_options of_all = {.resources = all, .count = all_count};
    const dynsel_options of_home = {.resources = all, .count = 1};
    const dynsel_options of_host = {.resources = &all[all_count - 1], .count = 1};
    everywhere = (dynsel_round_robin_policy){0};
    at_home = (dynsel_fixed_resource_policy){0};
    on_host = (dynsel_fixed_resource_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&everywhere, &of_all, 0));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&at_home, &of_home, 0));
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&on_host, &of_host, 0));
    return 0;
}

static int tear_down(void **state)
{
    if (resource_count != 0) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&everywhere.policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&at_home.policy));
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&on_host.policy));
        assert_int_equal(clReleaseCommandQueue(queue), CL_SUCCESS);
        assert_int_equal(clReleaseContext(context), CL_SUCCESS);
    }
    return close_devices(state);
}

static cl_mem make(cl_mem_flags flags)
{
    cl_int code = CL_SUCCESS;
    uint32_t words[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = i;
    }
    const cl_mem memory =
        clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, BYTES, words, &code);
    assert_int_equal(code, CL_SUCCESS);
    return memory;
}

static cl_uint references(cl_mem memory)
{
    cl_uint count = 0;
    assert_int_equal(
        clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(count), &count, NULL),
        CL_SUCCESS);
    return count;
}

/* Drivers may keep references of their own for a moment after the end of a command. */
static void let_driver_release(cl_mem memory)
{
    for (int i = 0; i < 1000 && references(memory) != 1; i++) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Releases the object, of which the library has no reference. */
static void must_hold(cl_mem memory, uint32_t (*expected)(uint32_t))
{
    uint32_t words[WORDS];
    let_driver_release(memory);
    assert_int_equal(references(memory), 1);
    assert_int_equal(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, BYTES, words, 0, NULL, NULL),
                     CL_SUCCESS);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(words[i], expected(i));
    }
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
}

typedef struct job {
    dynsel_buffer buffer;
    dynsel_access_mode mode;
    size_t count;
    uint32_t value;
} job;

static dynsel_status add_value(dynsel_handler *handler, void *args)
{
    const job *const j = args;
    dynsel_accessor data;
    dynsel_status status =
        dynsel_get_access(handler, j->buffer, j->mode, DYNSEL_MEMORY_GLOBAL, &data);
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_accessor(handler, 0, &data);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_set_arg_value(handler, 1, &j->value, sizeof(j->value));
    }
    return status == DYNSEL_OK
               ? dynsel_parallel_for(handler, &add, DYNSEL_RANGE(j->count), NULL, NULL)
               : status;
}

static dynsel_status add_on(dynsel_policy *policy, dynsel_buffer buffer, uint32_t value)
{
    job j = {.buffer = buffer, .mode = DYNSEL_ACCESS_READ_WRITE, .count = WORDS, .value = value};
    return dynsel_submit_command_group_and_wait(policy, add_value, &j);
}

static uint32_t after_one(uint32_t word)
{
    return word * 3 + 7;
}

static uint32_t after_chain(uint32_t word)
{
    for (uint32_t i = 0; i < CHAIN; i++) {
        word = word * 3 + i;
    }
    return word;
}

static uint32_t unchanged(uint32_t word)
{
    return word;
}

static const dynsel_range as_many_as_there_are = {.dimensions = 0};

static dynsel_buffer begin(cl_mem memory)
{
    dynsel_buffer buffer = {0};
    (void)memset(staging, 0xee, sizeof(staging));
    assert_status(DYNSEL_OK, dynsel_opencl_buffer_init(&buffer, memory, staging, sizeof(uint32_t),
                                                       as_many_as_there_are));
    return buffer;
}

static void work_in_its_context_copies_nothing(void **state)
{
    dynsel_movement movement;
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    dynsel_buffer buffer = begin(memory);
    assert_int_equal(references(memory), 2);
    assert_status(DYNSEL_OK, add_on(&at_home.policy, buffer, 7));
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffer, &movement));
    assert_int_equal(movement.copies_in + movement.copies_out, 0);
    assert_int_equal(movement.copies_avoided, 1);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(buffer.token, 0);
    assert_int_equal(staging[0], 0xeeeeeeee); /* the host's memory was not needed */
    must_hold(memory, after_one);
}

static void results_of_other_resources_are_in_it_at_the_end(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    for (uint32_t rotation = 0; rotation < all_count; rotation++) {
        const cl_mem memory = make(CL_MEM_READ_WRITE);
        dynsel_buffer buffer = begin(memory);
        for (uint32_t i = 0; i < CHAIN; i++) {
            assert_status(DYNSEL_OK, add_on(&everywhere.policy, buffer, i));
        }
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
        must_hold(memory, after_chain);
        /* the next chain ends on another resource */
        uint32_t words[1] = {0};
        dynsel_buffer skipped = {0};
        job j = {.mode = DYNSEL_ACCESS_READ_WRITE, .count = 1};
        assert_status(DYNSEL_OK,
                      dynsel_buffer_init(&skipped, words, sizeof(words[0]), DYNSEL_RANGE(1)));
        j.buffer = skipped;
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&everywhere.policy, add_value, &j));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&skipped));
    }
}

/* The contents go on elsewhere, and are in the object at the end, although no policy has its device
 * any more. */
static void resource_of_its_home_may_leave(void **state)
{
#if CONFIG_DYNSEL_RESOURCE_SETS
    (void)state;
    skip_unless(resource_count > 0);
    static dynsel_round_robin_policy changing;
    const dynsel_options options = {.resources =
                                        (const dynsel_resource[]){all[0], all[all_count - 1]},
                                    .count = 2,
                                    .may_change = true};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&changing, &options, 0));
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    dynsel_buffer buffer = begin(memory);
    assert_status(DYNSEL_OK, add_on(&changing.policy, buffer, 0)); /* on its device */
    assert_status(DYNSEL_OK,
                  dynsel_policy_remove_resource(&changing.policy, 0, UINT64_C(10000000000)));
    for (uint32_t i = 1; i < CHAIN; i++) {
        assert_status(DYNSEL_OK, add_on(&changing.policy, buffer, i));
    }
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&changing.policy));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    must_hold(memory, after_chain);
#else
    (void)state;
    skip();
#endif
}

static void host_accessor_reads_and_writes_it(void **state)
{
    dynsel_host_accessor seen = {0};
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    dynsel_buffer buffer = begin(memory);
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ_WRITE));
    uint32_t *const words = seen.data;
    assert_ptr_equal(words, staging);
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(words[i], i);
        words[i] = after_one(i);
    }
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    must_hold(memory, after_one);
}

static uint32_t first_half_after_one(uint32_t word)
{
    return word < WORDS / 2 ? after_one(word) : word;
}

static void rest_of_the_object_stays(void **state)
{
    dynsel_buffer buffer = {0};
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    assert_status(DYNSEL_OK, dynsel_opencl_buffer_init(&buffer, memory, staging, sizeof(uint32_t),
                                                       DYNSEL_RANGE_2D(2, WORDS / 4)));
    job j = {.buffer = buffer, .mode = DYNSEL_ACCESS_READ_WRITE, .count = WORDS / 2, .value = 7};
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&on_host.policy, add_value, &j));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    must_hold(memory, first_half_after_one);
}

static void program_may_release_its_reference_first(void **state)
{
    dynsel_host_accessor seen = {0};
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    dynsel_buffer buffer = begin(memory);
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    assert_status(DYNSEL_OK, add_on(&at_home.policy, buffer, 7));
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    assert_int_equal(((const uint32_t *)seen.data)[5], after_one(5));
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
}

static void small_elements_need_no_memory_of_the_host(void **state)
{
    enum { FEW = 4 };
    cl_int code = CL_SUCCESS;
    uint32_t words[FEW] = {0, 1, 2, 3};
    dynsel_buffer buffer = {0};
    (void)state;
    skip_unless(resource_count > 0 && CONFIG_DYNSEL_BUFFER_INSIDE_BYTES >= sizeof(words));
    const cl_mem memory =
        clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(words), words, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_status(DYNSEL_OK, dynsel_opencl_buffer_init(&buffer, memory, NULL, sizeof(uint32_t),
                                                       as_many_as_there_are));
    job j = {.buffer = buffer, .mode = DYNSEL_ACCESS_READ_WRITE, .count = FEW, .value = 7};
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&on_host.policy, add_value, &j));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(
        clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(words), words, 0, NULL, NULL),
        CL_SUCCESS);
    for (uint32_t i = 0; i < FEW; i++) {
        assert_int_equal(words[i], after_one(i));
    }
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
}

static dynsel_status try(cl_mem memory, void *data, size_t element_bytes, dynsel_range range)
{
    dynsel_buffer buffer = {0};
    const dynsel_status status =
        dynsel_opencl_buffer_init(&buffer, memory, data, element_bytes, range);
    assert_int_equal(buffer.token, 0);
    return status;
}

static void elements_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    assert_status(DYNSEL_E_INVALID, try(memory, staging, 4, DYNSEL_RANGE(WORDS + 1)));
    assert_error_says("more bytes than the memory object has");
    assert_status(DYNSEL_E_INVALID, try(memory, staging, 4, DYNSEL_RANGE_2D(SIZE_MAX, SIZE_MAX)));
    assert_error_says("more bytes than the memory object has");
    assert_status(DYNSEL_E_INVALID, try(memory, staging, BYTES + 1, as_many_as_there_are));
    assert_status(DYNSEL_E_INVALID, try(memory, staging, 3, as_many_as_there_are));
    assert_error_says("no whole number of elements");
    assert_status(DYNSEL_E_INVALID, try(memory, staging, 0, as_many_as_there_are));
    assert_status(DYNSEL_E_INVALID, try(memory, staging, 4, (dynsel_range){.dimensions = 4}));
    if (CONFIG_DYNSEL_BUFFER_INSIDE_BYTES < BYTES) {
        assert_status(DYNSEL_E_FULL, try(memory, NULL, 4, as_many_as_there_are));
        assert_error_says("CONFIG_DYNSEL_BUFFER_INSIDE_BYTES");
    }
    assert_status(DYNSEL_E_INVALID,
                  dynsel_opencl_buffer_init(NULL, memory, staging, 4, as_many_as_there_are));
    dynsel_buffer used = {.token = 1};
    assert_status(DYNSEL_E_INVALID,
                  dynsel_opencl_buffer_init(&used, memory, staging, 4, as_many_as_there_are));
    must_hold(memory, unchanged);
}

static void objects_of_other_kinds_are_refused(void **state)
{
    static const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    static const cl_image_desc image = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 4, .image_height = 4};
    static const cl_buffer_region part = {.origin = 0, .size = BYTES / 2};
    const cl_mem_flags closed[] = {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY,
                                   CL_MEM_HOST_WRITE_ONLY};
    cl_int code = CL_SUCCESS;
    (void)state;
    skip_unless(resource_count > 0);
    assert_status(DYNSEL_E_INVALID, try(NULL, staging, 4, as_many_as_there_are));
    for (size_t i = 0; i < 3; i++) {
        const cl_mem memory = clCreateBuffer(context, closed[i], BYTES, NULL, &code);
        assert_int_equal(code, CL_SUCCESS);
        assert_status(DYNSEL_E_UNSUPPORTED, try(memory, staging, 4, as_many_as_there_are));
        assert_error_says("CL_MEM_HOST_NO_ACCESS");
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    }
    const cl_mem whole = make(CL_MEM_READ_WRITE);
    const cl_mem half = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &part, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_status(DYNSEL_E_UNSUPPORTED, try(half, staging, 4, as_many_as_there_are));
    assert_error_says("sub-buffer");
    assert_int_equal(clReleaseMemObject(half), CL_SUCCESS);
    must_hold(whole, unchanged);
    const cl_mem own = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, staging, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_status(DYNSEL_E_INVALID, try(own, staging, 4, as_many_as_there_are));
    assert_error_says("CL_MEM_USE_HOST_PTR");
    assert_status(DYNSEL_E_INVALID, try(own, staging + WORDS - 1, 4, as_many_as_there_are));
    assert_int_equal(clReleaseMemObject(own), CL_SUCCESS);
    const cl_mem picture = clCreateImage(context, CL_MEM_READ_WRITE, &format, &image, NULL, &code);
    if (code == CL_SUCCESS) { /* not all devices have images */
        assert_status(DYNSEL_E_UNSUPPORTED, try(picture, staging, 4, as_many_as_there_are));
        assert_error_says("an image");
        assert_int_equal(clReleaseMemObject(picture), CL_SUCCESS);
    }
}

static void context_without_a_resource_is_refused(void **state)
{
    cl_int code = CL_SUCCESS;
    (void)state;
    skip_unless(resource_count > 0);
    const cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    const cl_mem memory = clCreateBuffer(other, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_status(DYNSEL_E_NO_RESOURCE, try(memory, staging, 4, as_many_as_there_are));
    assert_error_says("dynsel_opencl_adopt()");
    assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
    assert_int_equal(clReleaseContext(other), CL_SUCCESS);
    const cl_mem own =
        clCreateBuffer(dynsel_opencl_context(&resources[0]), CL_MEM_READ_WRITE, BYTES, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK,
                  dynsel_opencl_buffer_init(&buffer, own, staging, 4, as_many_as_there_are));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_int_equal(clReleaseMemObject(own), CL_SUCCESS);
}

static void second_buffer_over_it_is_busy(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    dynsel_buffer buffer = begin(memory);
    assert_status(DYNSEL_E_BUSY, try(memory, staging, 4, as_many_as_there_are));
    assert_int_equal(references(memory), 2);
    assert_status(DYNSEL_E_BUSY, dynsel_opencl_close());
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    buffer = begin(memory);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    must_hold(memory, unchanged);
}

static void full_table_leaves_no_reference(void **state)
{
    dynsel_buffer others[CONFIG_DYNSEL_MAX_BUFFERS] = {{0}};
    uint32_t word = 0;
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_init(&others[i], &word, 4, DYNSEL_RANGE(1)));
    }
    assert_status(DYNSEL_E_FULL, try(memory, staging, 4, as_many_as_there_are));
    assert_error_says("CONFIG_DYNSEL_MAX_BUFFERS");
    for (size_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&others[i]));
    }
    must_hold(memory, unchanged);
}

static dynsel_status submit_with(dynsel_buffer buffer, dynsel_access_mode mode)
{
    job j = {.buffer = buffer, .mode = mode, .count = WORDS};
    return dynsel_submit_command_group_and_wait(&at_home.policy, add_value, &j);
}

static void flags_limit_accessors(void **state)
{
    static const dynsel_access_mode modes[] = {DYNSEL_ACCESS_READ,
                                               DYNSEL_ACCESS_WRITE,
                                               DYNSEL_ACCESS_READ_WRITE,
                                               DYNSEL_ACCESS_DISCARD_WRITE,
                                               DYNSEL_ACCESS_DISCARD_READ_WRITE,
                                               DYNSEL_ACCESS_ATOMIC};
    dynsel_host_accessor seen = {0};
    (void)state;
    skip_unless(resource_count > 0);
    for (size_t i = 0; i < 6; i++) {
        const bool reads = modes[i] == DYNSEL_ACCESS_READ;
        const bool writes =
            modes[i] == DYNSEL_ACCESS_WRITE || modes[i] == DYNSEL_ACCESS_DISCARD_WRITE;
        cl_mem memory = make(CL_MEM_READ_ONLY);
        dynsel_buffer buffer = begin(memory);
        if (!reads) {
            assert_status(DYNSEL_E_INVALID, submit_with(buffer, modes[i]));
            assert_error_says("kernels only read");
        }
        assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, modes[i]));
        ((uint32_t *)seen.data)[0] = 0;
        assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
        assert_int_equal(clReleaseMemObject(memory), CL_SUCCESS);
        memory = make(CL_MEM_WRITE_ONLY);
        buffer = begin(memory);
        if (!writes) {
            assert_status(DYNSEL_E_INVALID, submit_with(buffer, modes[i]));
            assert_error_says("kernels only write");
        }
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
        must_hold(memory, unchanged);
    }
    const cl_mem memory = make(CL_MEM_READ_ONLY); /* the place in the table is free of it */
    dynsel_buffer buffer = begin(memory);
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, staging, 4, DYNSEL_RANGE(WORDS)));
    assert_status(DYNSEL_OK, submit_with(buffer, DYNSEL_ACCESS_READ_WRITE));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    must_hold(memory, unchanged);
}

static void lost_contents_are_reported_at_the_end(void **state)
{
    (void)state;
    skip_unless(resource_count > 0);
    const cl_mem memory = make(CL_MEM_READ_WRITE);
    dynsel_buffer buffer = begin(memory);
    assert_status(DYNSEL_E_USER, add_on(&on_host.policy, buffer, UINT32_MAX));
    assert_status(DYNSEL_E_DEPENDENCY, dynsel_buffer_deinit(&buffer));
    assert_int_equal(buffer.token, 0);
    must_hold(memory, unchanged); /* nothing was copied there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(work_in_its_context_copies_nothing),
        cmocka_unit_test(results_of_other_resources_are_in_it_at_the_end),
        cmocka_unit_test(resource_of_its_home_may_leave),
        cmocka_unit_test(host_accessor_reads_and_writes_it),
        cmocka_unit_test(rest_of_the_object_stays),
        cmocka_unit_test(program_may_release_its_reference_first),
        cmocka_unit_test(small_elements_need_no_memory_of_the_host),
        cmocka_unit_test(elements_that_do_not_fit_are_refused),
        cmocka_unit_test(objects_of_other_kinds_are_refused),
        cmocka_unit_test(context_without_a_resource_is_refused),
        cmocka_unit_test(second_buffer_over_it_is_busy),
        cmocka_unit_test(full_table_leaves_no_reference),
        cmocka_unit_test(flags_limit_accessors),
        cmocka_unit_test(lost_contents_are_reported_at_the_end),
    };
    return has_room() ? cmocka_run_group_tests(tests, set_up, tear_down) : 0;
}
