/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments by the types of their values. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "test.h"

typedef struct point {
    double x;
    int32_t y;
} point;

typedef float float4 __attribute__((vector_size(16)));

static dynsel_fixed_resource_policy policy;
static dynsel_buffer buffer;
static int32_t numbers[8];
static int32_t calls;

/* What the kernel is to find. */
static const dynsel_launch *seen;
static dynsel_kernel_fn look;

static dynsel_status form(const dynsel_launch *launch)
{
    seen = launch;
    return look(launch);
}

static const dynsel_kernel kernel = {.name = "kernel", .function = form};

static int set_up(void **state)
{
    (void)state;
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    const dynsel_options options = {.resources = &host, .count = 1};
    policy = (dynsel_fixed_resource_policy){0};
    buffer = (dynsel_buffer){0};
    calls = 0;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, numbers, sizeof numbers[0], DYNSEL_RANGE(8)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
    return 0;
}

static void run(dynsel_group_fn group, dynsel_kernel_fn what)
{
    look = what;
    seen = NULL;
    assert_status(DYNSEL_OK, dynsel_submit_command_group_and_wait(&policy.policy, group, NULL));
    assert_non_null(seen);
}

static dynsel_status launch(dynsel_handler *handler)
{
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(1), NULL, NULL);
}

static int32_t next_number(void)
{
    return ++calls;
}

static dynsel_status set_values(dynsel_handler *handler, void *args)
{
    const int16_t small = -3;
    const point where = {1.5, 7};
    const float4 vector = {1, 2, 3, 4};
    (void)args;
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, small));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 1, 2.5f));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 2, where));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 3, vector));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 4, next_number())); /* once */
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 5, (point){2.5, 8}));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 6, UINT64_C(1) << 40));
    return launch(handler);
}

static dynsel_status look_at_values(const dynsel_launch *launched)
{
    const float4 vector = DYNSEL_LAUNCH_VALUE(launched, 3, float4);
    assert_int_equal(sizeof(int16_t), launched->arguments[0].bytes);
    assert_int_equal(-3, DYNSEL_LAUNCH_VALUE(launched, 0, int16_t));
    assert_true(DYNSEL_LAUNCH_VALUE(launched, 1, float) > 2.4f);
    assert_int_equal(sizeof(float), launched->arguments[1].bytes);
    assert_int_equal(7, DYNSEL_LAUNCH_VALUE(launched, 2, point).y);
    assert_true(vector[3] > 3.9f);
    assert_int_equal(1, DYNSEL_LAUNCH_VALUE(launched, 4, int32_t));
    assert_int_equal(8, DYNSEL_LAUNCH_VALUE(launched, 5, point).y);
    assert_true(DYNSEL_LAUNCH_VALUE(launched, 6, uint64_t) == UINT64_C(1) << 40);
    return DYNSEL_OK;
}

static void argument_values_keep_type_and_size(void **state)
{
    (void)state;
    run(set_values, look_at_values);
    assert_int_equal(1, calls);
}

static dynsel_status set_pointers(dynsel_handler *handler, void *args)
{
    const int32_t *const constant = numbers;
    volatile int32_t *const changing = numbers + 1;
    void *const anything = numbers + 2;
    struct unknown *const incomplete = NULL;
    (void)args;
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, constant));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 1, changing));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 2, anything));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 3, numbers)); /* an array */
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 4, incomplete));
    return launch(handler);
}

static dynsel_status look_at_pointers(const dynsel_launch *launched)
{
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(DYNSEL_ARGUMENT_POINTER, launched->arguments[i].kind);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_ptr_equal(numbers + i, dynsel_launch_data(launched, i));
    }
    assert_ptr_equal(numbers, dynsel_launch_data(launched, 3));
    assert_null(dynsel_launch_data(launched, 4));
    return DYNSEL_OK;
}

static void pointer_arguments_are_passed_unchanged(void **state)
{
    (void)state;
    run(set_pointers, look_at_pointers);
}

static dynsel_status set_accessors(dynsel_handler *handler, void *args)
{
    const dynsel_accessor placeholder = {.buffer = buffer, .placeholder = true};
    dynsel_accessor unbound = {.placeholder = true};
    dynsel_accessor normal;
    (void)args;
    assert_status(DYNSEL_OK, dynsel_require(handler, &placeholder));
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, buffer, &unbound));
    assert_status(DYNSEL_OK, dynsel_accessor_get_access(handler, &placeholder, &normal));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 0, normal));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 1, &placeholder));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 2, &unbound));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 3, placeholder));
    assert_status(DYNSEL_OK, dynsel_set_arg(handler, 4, DYNSEL_LOCAL(48)));
    return launch(handler);
}

static dynsel_status look_at_accessors(const dynsel_launch *launched)
{
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(DYNSEL_ARGUMENT_DATA, launched->arguments[i].kind);
        assert_ptr_equal(numbers, dynsel_launch_data(launched, i));
    }
    assert_int_equal(DYNSEL_ARGUMENT_LOCAL, launched->arguments[4].kind);
    assert_int_equal(48, launched->arguments[4].bytes);
    return DYNSEL_OK;
}

static void accessor_and_local_memory_arguments_are_recorded(void **state)
{
    (void)state;
    run(set_accessors, look_at_accessors);
}

static dynsel_status set_wrong(dynsel_handler *handler, void *args)
{
    (void)args;
    assert_status(DYNSEL_E_INVALID, dynsel_set_arg(handler, 0, DYNSEL_LOCAL(0)));
    return launch(handler);
}

static void wrong_argument_or_null_handler_is_invalid(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_command_group_and_wait(&policy.policy, set_wrong, NULL));
    assert_status(DYNSEL_E_INVALID, dynsel_set_arg((dynsel_handler *)NULL, 0, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(argument_values_keep_type_and_size),
        TEST(pointer_arguments_are_passed_unchanged),
        TEST(accessor_and_local_memory_arguments_are_recorded),
        TEST(wrong_argument_or_null_handler_is_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
