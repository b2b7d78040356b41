/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and launches as a group function records them, and refused calls. */
#include <string.h>

#include "random.h"
#include "room.h"
#include "support/recorded.h"

enum { LONG = 16, ROUNDS = 10000 };

static float line[LONG];
static int32_t table[4][8];
static dynsel_buffer row;  /* 16 */
static dynsel_buffer grid; /* 4 * 8 */
static dynsel_accessor row_in;
static dynsel_accessor row_out;
static dynsel_accessor grid_out;

static int set_up(void **state)
{
    (void)state;
    row = grid = (dynsel_buffer){0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&row, line, sizeof line[0], DYNSEL_RANGE(LONG)));
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&grid, table, sizeof table[0][0], DYNSEL_RANGE_2D(4, 8)));
    row_in = (dynsel_accessor){
        .name = "row in", .buffer = row, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    row_out = (dynsel_accessor){
        .name = "row out", .buffer = row, .mode = DYNSEL_ACCESS_WRITE, .placeholder = true};
    grid_out = (dynsel_accessor){
        .name = "grid out", .buffer = grid, .mode = DYNSEL_ACCESS_WRITE, .placeholder = true};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&row));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&grid));
    return 0;
}

/* A handler with all three required. */
static dynsel_handler *record_required(void)
{
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &row_in));
    assert_status(DYNSEL_OK, dynsel_require(handler, &row_out));
    assert_status(DYNSEL_OK, dynsel_require(handler, &grid_out));
    return handler;
}

static void argument_values_are_copied_and_aligned(void **state)
{
    (void)state;
    struct sixteen {
        _Alignas(16) unsigned char bytes[16];
    } wide = {{1, 2, 3}};
    uint8_t small = 7;
    double real = 2.5;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, &small, sizeof small));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 1, &wide, sizeof wide));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 3, &small, sizeof small));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 2, &real, sizeof real));
    small = 8;
    wide.bytes[0] = 9;
    real = 0;
    assert_status(DYNSEL_OK, finish(handler));
    const dynsel_launch *launch = &handler->command.launch;
    assert_int_equal(4, launch->argument_count);
    assert_int_equal(7, DYNSEL_LAUNCH_VALUE(launch, 0, uint8_t));
    assert_int_equal(1, DYNSEL_LAUNCH_VALUE(launch, 1, struct sixteen).bytes[0]);
    assert_int_equal(5, (int)(DYNSEL_LAUNCH_VALUE(launch, 2, double) * 2));
    assert_int_equal(7, DYNSEL_LAUNCH_VALUE(launch, 3, uint8_t));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(DYNSEL_ARGUMENT_VALUE, launch->arguments[i].kind);
        assert_int_equal(0, (uintptr_t)launch->arguments[i].value % (i == 1 ? 16 : 8));
        assert_null(dynsel_launch_data(launch, i));
    }
    assert_int_equal(sizeof wide, launch->arguments[1].bytes);
}

static void argument_set_again_takes_no_more_room(void **state)
{
    (void)state;
    int values[4] = {1, 2, 3, 4};
    dynsel_handler *handler = record_required();
    for (int i = 0; i < 1000; i++) { /* takes no more room */
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, values, sizeof values));
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 1, values, sizeof values[0]));
    }
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, &values[2], 2 * sizeof values[0]));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 1, &row_in));
    assert_status(DYNSEL_OK, dynsel_set_arg_local(handler, 2, 12));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 2, values, sizeof values));
    assert_status(DYNSEL_OK, finish(handler));
    const dynsel_argument *arguments = handler->command.launch.arguments;
    assert_int_equal(8, arguments[0].bytes);
    assert_memory_equal(&values[2], arguments[0].value, 8);
    assert_int_equal(DYNSEL_ARGUMENT_DATA, arguments[1].kind);
    assert_memory_equal(values, arguments[2].value, sizeof values);

    handler = record(); /* a larger one gets room of its own */
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, &values[0], sizeof values[0]));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 1, &values[1], sizeof values[1]));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, values, sizeof values));
    assert_status(DYNSEL_OK, finish(handler));
    assert_memory_equal(values, arguments[0].value, sizeof values);
    assert_memory_equal(&values[1], arguments[1].value, sizeof values[1]);
}

static void small_argument_values_are_packed(void **state)
{
    (void)state;
    const uint64_t value = 1;
    dynsel_handler *handler = record();
    const size_t room = CONFIG_DYNSEL_ARGUMENT_BYTES / sizeof value;
    for (uint32_t i = 0; i < room && i < CONFIG_DYNSEL_MAX_ARGUMENTS; i++) {
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, i, &value, sizeof value));
    }
    assert_status(DYNSEL_OK, finish(handler));
}

static void argument_values_fill_argument_bytes_exactly(void **state)
{
    (void)state;
    NEEDS((CONFIG_DYNSEL_ARGUMENT_BYTES - 9) % 8 != 0); /* else the last nine bytes fit, too */
    static const unsigned char bytes[CONFIG_DYNSEL_ARGUMENT_BYTES + 1];
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, bytes, CONFIG_DYNSEL_ARGUMENT_BYTES));
    assert_refused(handler, DYNSEL_E_FULL, dynsel_set_arg_value(handler, 1, bytes, 1),
                   "CONFIG_DYNSEL_ARGUMENT_BYTES", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_FULL,
                   dynsel_set_arg_value(handler, 0, bytes, CONFIG_DYNSEL_ARGUMENT_BYTES + 1),
                   "CONFIG_DYNSEL_ARGUMENT_BYTES", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_FULL, dynsel_set_arg_value(handler, 0, bytes, SIZE_MAX),
                   "CONFIG_DYNSEL_ARGUMENT_BYTES", NULL);
    handler = record();
    assert_status(DYNSEL_OK,
                  dynsel_set_arg_value(handler, 0, bytes, CONFIG_DYNSEL_ARGUMENT_BYTES - 9));
    assert_refused(handler, DYNSEL_E_FULL, dynsel_set_arg_value(handler, 1, bytes, 9),
                   "CONFIG_DYNSEL_ARGUMENT_BYTES", NULL);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    const int value = 1;
    dynsel_handler *handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_value(handler, 0, NULL, 4), "NULL",
                   NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_value(handler, 0, &value, 0),
                   "0 bytes", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, NULL), "NULL",
                   NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_local(handler, 0, 0), "0 bytes", NULL);
    for (uint32_t index = CONFIG_DYNSEL_MAX_ARGUMENTS;; index = UINT32_MAX) {
        handler = record();
        assert_refused(handler, DYNSEL_E_FULL, dynsel_set_arg_value(handler, index, &value, 1),
                       "CONFIG_DYNSEL_MAX_ARGUMENTS", NULL);
        assert_int_equal(index < UINT32_MAX ? index + 1 : index, dynsel_last_error()->number);
        handler = record_required();
        assert_refused(handler, DYNSEL_E_FULL, dynsel_set_arg_accessor(handler, index, &row_in),
                       "CONFIG_DYNSEL_MAX_ARGUMENTS", "[row in]");
        handler = record();
        assert_refused(handler, DYNSEL_E_FULL, dynsel_set_arg_local(handler, index, 1),
                       "CONFIG_DYNSEL_MAX_ARGUMENTS", NULL);
        if (index == UINT32_MAX) {
            break;
        }
    }
    handler = record();
    assert_status(DYNSEL_OK,
                  dynsel_set_arg_value(handler, CONFIG_DYNSEL_MAX_ARGUMENTS - 1, &value, 1));
    assert_status(DYNSEL_E_INVALID, finish(handler));
    assert_error_says("argument 0 was not set");
    handler = record();
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_ARGUMENTS; i++) {
        assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, i, &value, 1));
    }
    assert_status(DYNSEL_OK, finish(handler));
}

/* Arguments of the group that had the slot before are not those of the next. */
static void missing_argument_is_found_in_reused_slot(void **state)
{
    (void)state;
    dynsel_handler *handler = record();
    for (uint32_t i = 0; i < 4; i++) {
        assert_status(DYNSEL_OK, dynsel_set_arg_local(handler, i, 4));
    }
    assert_status(DYNSEL_OK, finish(handler));
    handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_local(handler, 0, 4));
    assert_status(DYNSEL_OK, dynsel_set_arg_local(handler, 3, 4));
    assert_status(DYNSEL_E_INVALID, finish(handler));
    assert_error_says("argument 1 was not set");
}

static void local_memory_argument_records_its_size(void **state)
{
    (void)state;
    const dynsel_accessor local = {.name = "scratch",
                                   .target = DYNSEL_MEMORY_LOCAL,
                                   .element_bytes = 4,
                                   .range = DYNSEL_RANGE_2D(3, 5)};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &local));
    assert_status(DYNSEL_OK, dynsel_set_arg_local(handler, 1, 12));
    assert_status(DYNSEL_OK, finish(handler));
    assert_int_equal(0, handler->uses->count);
    assert_int_equal(DYNSEL_ARGUMENT_LOCAL, handler->arguments[0].kind);
    assert_int_equal(60, handler->arguments[0].bytes);
    assert_int_equal(DYNSEL_ARGUMENT_LOCAL, handler->arguments[1].kind);
    assert_int_equal(12, handler->arguments[1].bytes);

    dynsel_accessor wrong[6];
    for (int i = 0; i < 6; i++) {
        wrong[i] = local;
    }
    wrong[0].element_bytes = 0;
    wrong[1].range.dimensions = 0;
    wrong[2].range = DYNSEL_RANGE_2D(SIZE_MAX / 2, 2); /* the elements can be counted, */
    wrong[3].range = DYNSEL_RANGE_2D(SIZE_MAX / 2, 3); /* and here not even they */
    wrong[4].placeholder = true;
    wrong[5].buffer = row;
    for (int i = 0; i < 6; i++) {
        handler = record();
        assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &wrong[i]),
                       "local memory", "[scratch]");
    }
}

static void host_or_unknown_target_as_argument_is_refused(void **state)
{
    (void)state;
    dynsel_accessor host = row_in;
    host.target = DYNSEL_MEMORY_HOST;
    dynsel_handler *handler = record_required();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &host),
                   "dynsel_host_accessor_open()", "[row in]");
    host.target = DYNSEL_MEMORY_HOST + 1;
    handler = record_required();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &host),
                   "mode or target", "[row in]");
}

static void command_group_with_two_commands_is_refused(void **state)
{
    (void)state;
    const float zero = 0;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_E_INVALID, close_with(handler, DYNSEL_OK));
    assert_error_says("launched nothing");
    for (int second = 0; second < 5; second++) {
        handler = record_required();
        assert_status(DYNSEL_OK, dynsel_single_task(handler, &some_kernel));
        const dynsel_status statuses[] = {
            second == 0 ? dynsel_single_task(handler, &some_kernel) : DYNSEL_OK,
            second == 1 ? dynsel_parallel_for(handler, &some_kernel, DYNSEL_RANGE(1), NULL, NULL)
                        : DYNSEL_OK,
            second == 2 ? dynsel_copy(handler, &row_in, &row_out) : DYNSEL_OK,
            second == 3 ? dynsel_fill(handler, &row_out, &zero, sizeof zero) : DYNSEL_OK,
            second == 4 ? dynsel_host_task(handler, launch_nothing) : DYNSEL_OK,
        };
        for (int i = 0; i < 5; i++) {
            assert_status(i == second ? DYNSEL_E_INVALID : DYNSEL_OK, statuses[i]);
        }
        assert_error_says("launches one thing");
        assert_status(DYNSEL_E_INVALID, close_with(handler, DYNSEL_OK));
        assert_error_says("launches one thing");
    }
}

static void kernel_without_form_is_refused(void **state)
{
    (void)state;
    static const dynsel_kernel formless = {.name = "formless"};
    static const dynsel_kernel nameless = {.source = "kernel void x() {}"};
    static const dynsel_kernel host_only = {.function = launch_nothing};
    static const unsigned char code[] = {1};
    static const dynsel_kernel_binary binary = {.device = "x", .data = code, .bytes = 1};
    const dynsel_kernel device_only[] = {
        {.name = "x", .source = "kernel void x() {}"},
        {.name = "x", .il = code, .il_bytes = sizeof code},
        {.name = "x", .binaries = &binary, .binary_count = 1},
    };
    dynsel_handler *handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_single_task(handler, &formless), "no form",
                   "formless");
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID,
                   dynsel_parallel_for(handler, &formless, DYNSEL_RANGE(1), NULL, NULL), "no form",
                   "formless");
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_single_task(handler, &nameless), "no name",
                   NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_single_task(handler, NULL), "NULL", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID,
                   dynsel_parallel_for(handler, NULL, DYNSEL_RANGE(1), NULL, NULL), "NULL", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_host_task(handler, NULL), "NULL", NULL);
    handler = record();
    assert_status(DYNSEL_OK, close_with(handler, dynsel_single_task(handler, &host_only)));
    for (int i = 0; i < 3; i++) {
        handler = record();
        assert_status(DYNSEL_OK, close_with(handler, dynsel_single_task(handler, &device_only[i])));
        assert_true(handler->command.kernel == &device_only[i]);
    }
}

static dynsel_status launch_over(dynsel_range global, const dynsel_range *local,
                                 const dynsel_range *offset)
{
    dynsel_handler *handler = record();
    const dynsel_status status = dynsel_parallel_for(handler, &some_kernel, global, local, offset);
    assert_status(status, close_with(handler, DYNSEL_OK));
    return status;
}

static void wrong_work_item_range_is_refused(void **state)
{
    (void)state;
    static const dynsel_range wrong[] = {
        {.dimensions = 0},
        {.size = {1, 1, 1}, .dimensions = 4},
        {.size = {0, 0, 0}, .dimensions = 4},
        {.size = {SIZE_MAX / 2, 3}, .dimensions = 2},
        {.size = {SIZE_MAX / 4, 2, 3}, .dimensions = 3},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_status(DYNSEL_E_INVALID, launch_over(wrong[i], NULL, NULL));
        assert_error_says("global range");
    }
    static const dynsel_range wrong_local[] = {
        {.size = {4, 1}, .dimensions = 2}, {.size = {0}, .dimensions = 1},
        {.size = {5}, .dimensions = 1},    {.size = {24}, .dimensions = 1},
        {.size = {1}, .dimensions = 9},
    };
    for (size_t i = 0; i < sizeof wrong_local / sizeof wrong_local[0]; i++) {
        assert_status(DYNSEL_E_INVALID, launch_over(DYNSEL_RANGE(12), &wrong_local[i], NULL));
        assert_error_says("local range");
    }
    static const dynsel_range wrong_offset[] = {
        {.size = {4, 1}, .dimensions = 2},
        {.size = {SIZE_MAX - 11}, .dimensions = 1},
        {.size = {1}, .dimensions = 9},
    };
    for (size_t i = 0; i < sizeof wrong_offset / sizeof wrong_offset[0]; i++) {
        assert_status(DYNSEL_E_INVALID, launch_over(DYNSEL_RANGE(12), NULL, &wrong_offset[i]));
        assert_error_says("offset");
    }
    const dynsel_range second_too_large = DYNSEL_RANGE_2D(1, SIZE_MAX);
    assert_status(DYNSEL_E_INVALID, launch_over(DYNSEL_RANGE_2D(2, 2), NULL, &second_too_large));
    const dynsel_range largest = DYNSEL_RANGE(SIZE_MAX - 12);
    assert_status(DYNSEL_OK, launch_over(DYNSEL_RANGE(12), NULL, &largest));
    assert_status(DYNSEL_OK, launch_over(DYNSEL_RANGE_2D(3, SIZE_MAX / 3), NULL, NULL));
    assert_status(DYNSEL_OK, launch_over(DYNSEL_RANGE(SIZE_MAX), NULL, NULL));
    const dynsel_range uneven = DYNSEL_RANGE_3D(2, 3, 5);
    assert_status(DYNSEL_OK, launch_over(DYNSEL_RANGE_3D(4, 9, 5), &uneven, &uneven));
    assert_status(DYNSEL_E_INVALID, launch_over(DYNSEL_RANGE_3D(4, 9, 6), &uneven, NULL));
}

static void work_item_ranges_are_recorded_unchanged(void **state)
{
    (void)state;
    const dynsel_range local = {.size = {2, 3, 99}, .dimensions = 2};
    const dynsel_range offset = DYNSEL_RANGE_2D(7, 8);
    const dynsel_range unsaid = {.size = {5}, .dimensions = 0};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_parallel_for(handler, &some_kernel, DYNSEL_RANGE_2D(4, 9),
                                                 &local, &offset));
    assert_status(DYNSEL_OK, close_with(handler, DYNSEL_OK));
    const dynsel_launch *launch = &handler->command.launch;
    assert_int_equal(DYNSEL_COMMAND_KERNEL, handler->command.kind);
    assert_int_equal(2, launch->global.dimensions);
    assert_int_equal(9, launch->global.size[1]);
    assert_true(handler->command.kernel == &some_kernel);
    assert_int_equal(2, launch->local.dimensions);
    assert_int_equal(3, launch->local.size[1]);
    assert_int_equal(0, launch->local.size[2]);
    assert_int_equal(7, launch->offset.size[0]);
    handler = record();
    assert_status(DYNSEL_OK, dynsel_parallel_for(handler, &some_kernel, DYNSEL_RANGE_2D(4, 9),
                                                 &unsaid, &unsaid));
    assert_status(DYNSEL_OK, close_with(handler, DYNSEL_OK));
    assert_int_equal(0, launch->local.dimensions);
    assert_int_equal(0, launch->offset.size[0]);
    handler = record();
    assert_status(DYNSEL_OK,
                  dynsel_parallel_for(handler, &some_kernel, DYNSEL_RANGE(4), NULL, NULL));
    assert_status(DYNSEL_OK, close_with(handler, DYNSEL_OK));
    assert_int_equal(0, launch->local.dimensions);
    assert_int_equal(0, launch->offset.dimensions);
    for (int i = 0; i < 2; i++) { /* the second does not get what the first was given */
        handler = record();
        assert_status(DYNSEL_OK, i == 0
                                     ? dynsel_parallel_for(handler, &some_kernel,
                                                           DYNSEL_RANGE_2D(4, 9), &local, &offset)
                                     : dynsel_single_task(handler, &some_kernel));
        assert_status(DYNSEL_OK, close_with(handler, DYNSEL_OK));
    }
    assert_int_equal(1, dynsel_range_count(&launch->global));
    assert_int_equal(0, launch->local.dimensions);
    assert_int_equal(0, launch->offset.size[0]);
    handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_local(handler, 0, 4));
    assert_status(DYNSEL_OK, close_with(handler, dynsel_host_task(handler, launch_nothing)));
    assert_int_equal(DYNSEL_COMMAND_HOST_TASK, handler->command.kind);
    assert_true(handler->host_task == launch_nothing);
    assert_int_equal(0, launch->global.dimensions);
    assert_int_equal(1, launch->argument_count);
}

static void copy_or_fill_with_arguments_is_refused(void **state)
{
    (void)state;
    const int32_t zero = 0;
    for (int fills = 0; fills < 2; fills++) {
        dynsel_handler *handler = record_required();
        assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &row_in));
        assert_status(DYNSEL_E_INVALID, fills ? dynsel_fill(handler, &grid_out, &zero, sizeof zero)
                                              : dynsel_copy(handler, &row_in, &grid_out));
        assert_error_says("arguments were set");
        handler = record_required();
        assert_status(DYNSEL_OK, dynsel_fill(handler, &grid_out, &zero, sizeof zero));
        assert_status(DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &row_in));
        assert_error_says("takes no arguments");
    }
}

static void wrong_copy_or_fill_is_refused_with_accessor_name(void **state)
{
    (void)state;
    const int64_t element = 0;
    static unsigned char bytes[LONG];
    dynsel_buffer narrow = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&narrow, bytes, 1, DYNSEL_RANGE(LONG)));
    const dynsel_accessor odd = {.name = "odd", .buffer = narrow, .placeholder = true};
    const dynsel_accessor bare = {.name = "bare", .placeholder = true};
    const dynsel_accessor missing = {
        .name = "missing", .buffer = narrow, .placeholder = true, .mode = DYNSEL_ACCESS_ATOMIC};
    const struct {
        const dynsel_accessor *from;
        const dynsel_accessor *to; /* NULL: a fill */
        const char *says;
        const char *about;
    } cases[] = {
        {&row_out, &grid_out, "cannot be read", "[row out]"},
        {&row_in, &row_in, "cannot be written", "[row in]"},
        {&row_in, &bare, "has no buffer", "[bare]"},
        {&bare, &row_out, "has no buffer", "[bare]"},
        {&row_in, &grid_out, "same dim", "[grid out]"},
        {&row_in, &odd, "differ in size", "[odd]"},
        {&odd, &odd, "overlap", "[odd]"},
        {&bare, NULL, "dynsel_require_buffer()", "[bare]"},
        {&row_in, NULL, "cannot be written", "[row in]"},
        {&odd, NULL, "have 1 bytes", "[odd]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dynsel_handler *handler = record_required();
        assert_status(DYNSEL_OK, dynsel_require(handler, &odd));
        assert_status(DYNSEL_E_INVALID,
                      cases[i].to != NULL
                          ? dynsel_copy(handler, cases[i].from, cases[i].to)
                          : dynsel_fill(handler, cases[i].from, &element, sizeof element));
        assert_error_says(cases[i].says);
        assert_error_says(cases[i].about);
        assert_status(DYNSEL_E_INVALID, close_with(handler, DYNSEL_OK));
        assert_error_says(cases[i].says);
        assert_error_says(cases[i].about);
    }
    const dynsel_accessor *const none = NULL;
    dynsel_handler *handler = record_required();
    assert_status(DYNSEL_E_INVALID, dynsel_copy(handler, none, &row_out));
    assert_status(DYNSEL_E_INVALID, dynsel_copy(handler, &row_in, none));
    assert_status(DYNSEL_E_INVALID, dynsel_fill(handler, none, &element, 4));
    assert_status(DYNSEL_E_INVALID, dynsel_fill(handler, &row_out, NULL, 4));
    assert_error_says("NULL");
    handler = record_required();
    assert_status(DYNSEL_OK, dynsel_require(handler, &odd));
    assert_status(DYNSEL_OK, dynsel_fill(handler, &missing, &element, 1));
    assert_status(DYNSEL_E_INVALID, close_with(handler, DYNSEL_OK));
    assert_error_says("[missing]");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&narrow));
}

static dynsel_status fill_elements_of(size_t bytes)
{
    static unsigned char data[512];
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, data, bytes, DYNSEL_RANGE(2)));
    const dynsel_accessor out = {.buffer = buffer, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &out));
    memset(data, 5, sizeof data);
    dynsel_status status = dynsel_fill(handler, &out, data, bytes);
    data[0] = 6;
    if (status == DYNSEL_OK) {
        assert_status(DYNSEL_OK, close_with(handler, DYNSEL_OK));
        assert_int_equal(DYNSEL_COMMAND_FILL, handler->command.kind);
        assert_int_equal(bytes, handler->command.element_bytes);
        assert_int_equal(5, *(const unsigned char *)handler->command.element);
        assert_true(handler->command.to == &handler->arguments[0]);
        assert_int_equal(1, handler->command.launch.argument_count);
        const dynsel_use *use = &handler->uses->each[handler->command.to->use];
        assert_int_equal(2 * bytes, use->record->bytes);
        assert_int_equal(2 * bytes, handler->command.to_box.size[2]);
        assert_null(handler->command.from);
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    return status;
}

static void fill_element_must_be_power_of_two_up_to_128_bytes(void **state)
{
    (void)state;
    for (size_t bytes = 1; bytes <= 256; bytes++) {
        const bool fits = bytes <= 128 && (bytes & (bytes - 1)) == 0;
        const bool has_room = bytes <= CONFIG_DYNSEL_ARGUMENT_BYTES;
        assert_status(!fits      ? DYNSEL_E_INVALID
                      : has_room ? DYNSEL_OK
                                 : DYNSEL_E_FULL,
                      fill_elements_of(bytes));
    }
}

/* A buffer of its own for each side, so that parts can be any. */
typedef struct side {
    dynsel_buffer buffer;
    dynsel_range range;
    dynsel_accessor accessor;
} side;

static const size_t odd_sizes[] = {0, 1, 8, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2 + 1};

/* Mostly at least `least` and less than `end`; now and then anything. */
static size_t any_size(test_random *random, size_t least, size_t end)
{
    return test_random_below(random, 40) != 0
               ? least + test_random_below(random, (uint32_t)(end - least))
               : odd_sizes[test_random_below(random, sizeof odd_sizes / sizeof odd_sizes[0])];
}

static void give_range(test_random *random, side *made)
{
    made->accessor.range = (dynsel_range){.dimensions = made->range.dimensions};
    for (uint32_t i = 0; i < made->range.dimensions; i++) {
        made->accessor.range.size[i] =
            any_size(random, test_random_below(random, 12) != 0 ? 1 : 0, made->range.size[i] + 1);
    }
    if (test_random_below(random, 40) == 0) {
        made->accessor.range.dimensions = test_random_below(random, 5);
    }
}

/* Mostly so that the part ends within the buffer. */
static void give_offset(test_random *random, side *made)
{
    made->accessor.offset = (dynsel_range){.dimensions = made->range.dimensions};
    for (uint32_t i = 0; i < made->range.dimensions; i++) {
        const size_t whole = made->range.size[i];
        const size_t size = made->accessor.range.size[i];
        made->accessor.offset.size[i] = any_size(random, 0, size <= whole ? whole - size + 1 : 2);
    }
    if (test_random_below(random, 40) == 0) {
        made->accessor.offset.dimensions = test_random_below(random, 5);
    }
}

static unsigned char space[2][7 * 7 * 7 * 4];

static void make_side(test_random *random, side *made, int which, uint32_t dimensions,
                      size_t element_bytes)
{
    *made = (side){.range = {.dimensions = dimensions}};
    for (uint32_t i = 0; i < dimensions; i++) {
        made->range.size[i] = 1 + test_random_below(random, 7);
    }
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&made->buffer, space[which], element_bytes, made->range));
    made->accessor = (dynsel_accessor){.buffer = made->buffer, .placeholder = true};
    if (test_random_below(random, 4) != 0) {
        give_range(random, made);
    }
    if (test_random_below(random, 4) != 0) {
        give_offset(random, made);
    }
}

/* The slow model: is each element of the part one of the buffer's? Fills in which, in order. */
static bool elements_of(const side *it, size_t *elements, size_t *count, size_t extent[3])
{
    size_t first[3] = {0, 0, 0};
    size_t whole[3] = {1, 1, 1};
    extent[0] = extent[1] = extent[2] = 1;
    const dynsel_range *part =
        it->accessor.range.dimensions != 0 ? &it->accessor.range : &it->range;
    if (part->dimensions != it->range.dimensions ||
        (it->accessor.offset.dimensions != 0 &&
         it->accessor.offset.dimensions != it->range.dimensions)) {
        return false;
    }
    for (uint32_t i = 0; i < it->range.dimensions; i++) {
        const uint32_t place = 3 - it->range.dimensions + i;
        whole[place] = it->range.size[i];
        extent[place] = part->size[i];
        first[place] = it->accessor.offset.dimensions != 0 ? it->accessor.offset.size[i] : 0;
        if (extent[place] > 7 || first[place] > 7 || first[place] + extent[place] > whole[place]) {
            return false; /* also in a part without elements */
        }
    }
    *count = 0;
    for (size_t z = first[0]; z < first[0] + extent[0]; z++) {
        for (size_t y = first[1]; y < first[1] + extent[1]; y++) {
            for (size_t x = first[2]; x < first[2] + extent[2]; x++) {
                if (z >= whole[0] || y >= whole[1] || x >= whole[2]) {
                    return false;
                }
                elements[(*count)++] = z * whole[1] * whole[2] + y * whole[2] + x;
            }
        }
    }
    return true;
}

static void check_box(const dynsel_box *box, const size_t *elements, size_t count,
                      size_t element_bytes)
{
    size_t next = 0;
    for (size_t z = 0; z < box->size[0]; z++) {
        for (size_t y = 0; y < box->size[1]; y++) {
            for (size_t x = 0; x < box->size[2]; x++) {
                assert_true(next < count * element_bytes);
                assert_int_equal(elements[next / element_bytes] * element_bytes +
                                     next % element_bytes,
                                 box->first + z * box->slice_pitch + y * box->row_pitch + x);
                next++;
            }
        }
    }
    assert_int_equal(count * element_bytes, next);
}

static bool any_in_both(const size_t *a, size_t a_count, const size_t *b, size_t b_count)
{
    for (size_t i = 0; i < a_count; i++) {
        for (size_t k = 0; k < b_count; k++) {
            if (a[i] == b[k]) {
                return true;
            }
        }
    }
    return false;
}

static void copy_at_random(test_random *random)
{
    static size_t elements[2][7 * 7 * 7];
    size_t extents[2][3];
    size_t counts[2] = {0, 0};
    side sides[2];
    const size_t element_bytes = 1 + test_random_below(random, 4);
    const uint32_t dimensions = 1 + test_random_below(random, 3);
    const bool same_buffer = test_random_below(random, 3) == 0;
    make_side(random, &sides[0], 0, dimensions, element_bytes);
    make_side(random, &sides[1], 1, test_random_below(random, 8) != 0 ? dimensions : 1,
              element_bytes);
    dynsel_buffer second = sides[1].buffer;
    if (same_buffer && sides[0].range.dimensions == sides[1].range.dimensions) {
        sides[1].range = sides[0].range;
        sides[1].accessor.buffer = sides[0].buffer;
    }
    if (test_random_below(random, 8) != 0) { /* else most sizes differ */
        sides[1].accessor.range = sides[0].accessor.range;
        give_offset(random, &sides[1]);
    }
    dynsel_handler *handler = record();
    bool right = true;
    for (int i = 0; i < 2; i++) {
        const bool within = elements_of(&sides[i], elements[i], &counts[i], extents[i]);
        assert_status(within ? DYNSEL_OK : DYNSEL_E_INVALID,
                      dynsel_require(handler, &sides[i].accessor));
        right = right && within;
    }
    if (right) {
        right = sides[0].range.dimensions == sides[1].range.dimensions &&
                memcmp(extents[0], extents[1], sizeof extents[0]) == 0 &&
                !(sides[0].accessor.buffer.token == sides[1].accessor.buffer.token &&
                  any_in_both(elements[0], counts[0], elements[1], counts[1]));
    }
    assert_status(right ? DYNSEL_OK : DYNSEL_E_INVALID,
                  dynsel_copy(handler, &sides[0].accessor, &sides[1].accessor));
    assert_status(right ? DYNSEL_OK : DYNSEL_E_INVALID, close_with(handler, DYNSEL_OK));
    if (right) {
        assert_int_equal(DYNSEL_COMMAND_COPY, handler->command.kind);
        check_box(&handler->command.from_box, elements[0], counts[0], element_bytes);
        check_box(&handler->command.to_box, elements[1], counts[1], element_bytes);
        assert_true(handler->command.from == &handler->arguments[0]);
        assert_true(handler->command.to == &handler->arguments[1]);
        assert_int_equal(sides[0].accessor.buffer.token,
                         handler->uses->each[handler->command.from->use].token);
        assert_int_equal(sides[1].accessor.buffer.token,
                         handler->uses->each[handler->command.to->use].token);
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&sides[0].buffer));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&second));
}

static void copy_boxes_agree_with_element_by_element_model(void **state)
{
    (void)state;
    test_random random = {test_seed()};
    for (int i = 0; i < ROUNDS; i++) {
        copy_at_random(&random);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(argument_values_are_copied_and_aligned),
        TEST(argument_set_again_takes_no_more_room),
        TEST(small_argument_values_are_packed),
        TEST(argument_values_fill_argument_bytes_exactly),
        TEST(wrong_arguments_are_refused),
        TEST(missing_argument_is_found_in_reused_slot),
        TEST(local_memory_argument_records_its_size),
        TEST(host_or_unknown_target_as_argument_is_refused),
        TEST(command_group_with_two_commands_is_refused),
        TEST(kernel_without_form_is_refused),
        TEST(wrong_work_item_range_is_refused),
        TEST(work_item_ranges_are_recorded_unchanged),
        TEST(copy_or_fill_with_arguments_is_refused),
        TEST(wrong_copy_or_fill_is_refused_with_accessor_name),
        TEST(fill_element_must_be_power_of_two_up_to_128_bytes),
        TEST(copy_boxes_agree_with_element_by_element_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
