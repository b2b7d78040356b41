/* SPDX-License-Identifier: Apache-2.0 */
/* Records of buffers and accessors made by a group function, and refused calls. */
#include <string.h>

#include "support/recorded.h"

enum { ROWS = 6, COLUMNS = 5, MODES = DYNSEL_ACCESS_ATOMIC + 1 };

static int32_t table[ROWS][COLUMNS];
static float line[16];
static dynsel_buffer grid; /* 6 * 5 */
static dynsel_buffer row;  /* 16 */

static int set_up(void **state)
{
    (void)state;
    grid = row = (dynsel_buffer){0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&grid, table, sizeof table[0][0],
                                                DYNSEL_RANGE_2D(ROWS, COLUMNS)));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&row, line, sizeof line[0], DYNSEL_RANGE(16)));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&grid));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&row));
    return 0;
}

static void zeroed_accessor_fields_request_read_write_of_whole_buffer(void **state)
{
    (void)state;
    const dynsel_accessor all = {.buffer = grid, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &all));
    assert_int_equal(1, handler->uses->count);
    assert_true(handler->uses->each[0].reads && handler->uses->each[0].writes);
    assert_true(handler->uses->each[0].record == dynsel_buffer_find(grid));
    const dynsel_buffer_record *record = handler->uses->each[0].record;
    assert_non_null(record);
    assert_int_equal(sizeof table, record != NULL ? record->bytes : 0);
    assert_status(DYNSEL_OK, finish(handler));
}

static void access_mode_decides_what_is_read_and_written(void **state)
{
    (void)state;
    static const struct {
        bool reads;
        bool reads_part; /* what lies beside the part has to be kept */
        bool writes;
    } expected[MODES] = {
        [DYNSEL_ACCESS_READ_WRITE] = {true, true, true},
        [DYNSEL_ACCESS_READ] = {true, true, false},
        [DYNSEL_ACCESS_WRITE] = {true, true, true},
        [DYNSEL_ACCESS_DISCARD_WRITE] = {false, true, true},
        [DYNSEL_ACCESS_DISCARD_READ_WRITE] = {false, true, true},
        [DYNSEL_ACCESS_ATOMIC] = {true, true, true},
    };
    for (unsigned mode = 0; mode < MODES; mode++) {
        const dynsel_accessor all = {.buffer = grid, .mode = (uint8_t)mode, .placeholder = true};
        dynsel_accessor said = all;
        said.range = DYNSEL_RANGE_2D(ROWS, COLUMNS);
        said.offset = DYNSEL_RANGE_2D(0, 0);
        dynsel_accessor part = all;
        part.range = DYNSEL_RANGE_2D(ROWS, COLUMNS - 1);
        const dynsel_accessor *accessors[] = {&all, &said, &part};
        for (int i = 0; i < 3; i++) {
            dynsel_handler *handler = record();
            assert_status(DYNSEL_OK, dynsel_require(handler, accessors[i]));
            assert_int_equal(i == 2 ? expected[mode].reads_part : expected[mode].reads,
                             handler->uses->each[0].reads);
            assert_int_equal(expected[mode].writes, handler->uses->each[0].writes);
            assert_status(DYNSEL_OK, finish(handler));
        }
    }
}

static void modes_on_one_buffer_merge(void **state)
{
    (void)state;
    const dynsel_accessor in = {
        .name = "in", .buffer = row, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    const dynsel_accessor out = {
        .name = "out", .buffer = row, .mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true};
    const dynsel_accessor other = {
        .name = "other", .buffer = grid, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &out));
    assert_false(handler->uses->each[0].reads);
    assert_status(DYNSEL_OK, dynsel_require(handler, &other));
    assert_status(DYNSEL_OK, dynsel_require(handler, &in));
    assert_int_equal(2, handler->uses->count);
    assert_true(handler->uses->each[0].reads && handler->uses->each[0].writes);
    assert_true(!CONFIG_DYNSEL_ERROR_TEXTS || strcmp("out", handler->uses->each[0].name) == 0);
    assert_true(handler->uses->each[1].reads && !handler->uses->each[1].writes);
    assert_status(DYNSEL_OK, finish(handler));
}

static void repeated_require_uses_one_entry(void **state)
{
    (void)state;
    const dynsel_accessor accessor = {.buffer = row, .placeholder = true};
    const dynsel_accessor bare = {.mode = DYNSEL_ACCESS_READ, .placeholder = true};
    dynsel_handler *handler = record();
    for (int i = 0; i < 3 * CONFIG_DYNSEL_MAX_REQUIREMENTS; i++) {
        assert_status(DYNSEL_OK, dynsel_require(handler, &accessor));
        assert_status(DYNSEL_OK, dynsel_require_buffer(handler, row, &accessor));
        assert_status(DYNSEL_OK, dynsel_require_buffer(handler, grid, &bare));
    }
    assert_int_equal(2, handler->uses->count);
    assert_status(DYNSEL_OK, finish(handler));
}

static void require_buffer_binds_for_one_command_group_only(void **state)
{
    (void)state;
    dynsel_accessor bare = {.name = "bare", .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    dynsel_accessor before;
    memcpy(&before, &bare, sizeof before);
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, grid, &bare));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &bare));
    assert_status(DYNSEL_OK, finish(handler));
    assert_memory_equal(&before, &bare, sizeof before);
    assert_false(dynsel_accessor_has_buffer(&bare));

    handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &bare));
    assert_status(DYNSEL_E_INVALID, finish(handler));
    assert_error_says("[bare]");
    assert_error_says("dynsel_require_buffer()");

    handler = record();
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, row, &bare));
    assert_int_equal(row.token, handler->uses->each[0].token);
    assert_status(DYNSEL_OK, finish(handler));
}

static void wrong_require_is_refused_with_accessor_name(void **state)
{
    (void)state;
    static const struct {
        dynsel_accessor accessor;
        const char *says;
    } cases[] = {
        {{.name = "x", .placeholder = true}, "dynsel_require_buffer()"},
        {{.name = "x", .group = 1}, "no placeholder"},
        {{.name = "x"}, "no placeholder"},
        {{.name = "x", .placeholder = true, .target = DYNSEL_MEMORY_LOCAL}, "local memory"},
        {{.name = "x", .placeholder = true, .target = DYNSEL_MEMORY_HOST},
         "dynsel_host_accessor_open()"},
        {{.name = "x", .placeholder = true, .target = DYNSEL_MEMORY_HOST + 1}, "mode or target"},
        {{.name = "x", .placeholder = true, .mode = MODES}, "mode or target"},
        {{.name = "x", .placeholder = true, .target = DYNSEL_MEMORY_CONSTANT},
         "DYNSEL_ACCESS_READ"},
        {{.name = "x",
          .placeholder = true,
          .mode = DYNSEL_ACCESS_WRITE,
          .target = DYNSEL_MEMORY_CONSTANT},
         "DYNSEL_ACCESS_READ"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        dynsel_handler *handler = record();
        assert_refused(handler, DYNSEL_E_INVALID, dynsel_require(handler, &cases[i].accessor),
                       cases[i].says, "[x]");
        assert_int_equal(0, handler->uses->count);
        if (i > 0) { /* a buffer does not help */
            handler = record();
            assert_refused(handler, DYNSEL_E_INVALID,
                           dynsel_require_buffer(handler, row, &cases[i].accessor), cases[i].says,
                           "[x]");
        }
    }
    const dynsel_accessor nameless = {.placeholder = true};
    dynsel_handler *handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_require(handler, &nameless),
                   "dynsel_require_buffer()", "[an accessor]");
}

static void constant_target_with_read_mode_is_accepted(void **state)
{
    (void)state;
    const dynsel_accessor constant = {.buffer = row,
                                      .placeholder = true,
                                      .mode = DYNSEL_ACCESS_READ,
                                      .target = DYNSEL_MEMORY_CONSTANT};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &constant));
    assert_status(DYNSEL_OK, finish(handler));
}

/* A placeholder in a structure that is passed by value, which has the same address each time. */
static void accessors_reusing_one_address_are_distinct(void **state)
{
    (void)state;
    dynsel_accessor passed = {.buffer = grid, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &passed));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &passed));
    passed.buffer = row;
    assert_status(DYNSEL_OK, dynsel_require(handler, &passed));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 1, &passed));
    assert_int_equal(2, handler->uses->count);
    assert_status(DYNSEL_OK, finish(handler));
    assert_true(handler->arguments[0].use != handler->arguments[1].use);
}

static void changed_accessor_must_be_required_again(void **state)
{
    (void)state;
    dynsel_accessor changed = {
        .name = "changed", .buffer = grid, .mode = DYNSEL_ACCESS_READ, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &changed));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &changed));
    changed.mode = DYNSEL_ACCESS_WRITE;
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 1, &changed));
    assert_status(DYNSEL_E_INVALID, finish(handler));
    assert_error_says("was not required");
    assert_error_says("changed");
}

static void changed_mode_of_normal_accessor_is_refused(void **state)
{
    (void)state;
    dynsel_accessor normal;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_get_access(handler, grid, DYNSEL_ACCESS_READ,
                                               DYNSEL_MEMORY_GLOBAL, &normal));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &normal));
    normal.mode = DYNSEL_ACCESS_WRITE;
    assert_status(DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 1, &normal));
    assert_error_says("its mode was changed");
}

static void two_buffers_for_one_placeholder_are_refused(void **state)
{
    (void)state;
    const dynsel_accessor bare = {.name = "bare", .placeholder = true};
    const dynsel_accessor own = {.name = "own", .buffer = grid, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, grid, &bare));
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_require_buffer(handler, row, &bare),
                   "before with another", "[bare]");
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_require_buffer(handler, row, &own),
                   "of its own", "[own]");
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID,
                   dynsel_require_buffer(handler, (dynsel_buffer){0}, &bare), "no buffer",
                   "[bare]");
}

static void require_of_ended_or_invalid_buffer_is_refused(void **state)
{
    (void)state;
    static char bytes[4];
    dynsel_buffer short_lived = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&short_lived, bytes, 1, DYNSEL_RANGE(4)));
    const dynsel_accessor gone = {.name = "gone", .buffer = short_lived, .placeholder = true};
    const dynsel_accessor bare = {.name = "bare", .placeholder = true};
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&short_lived));
    dynsel_handler *handler = record();
    assert_refused(handler, DYNSEL_E_STALE, dynsel_require(handler, &gone), "was ended", "[gone]");
    handler = record();
    assert_refused(handler, DYNSEL_E_STALE, dynsel_require_buffer(handler, gone.buffer, &bare),
                   "was ended", "[bare]");
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID,
                   dynsel_require_buffer(handler, (dynsel_buffer){UINT32_MAX}, &bare),
                   "dynsel_buffer_init() made", "[bare]");
    dynsel_accessor normal;
    handler = record();
    assert_refused(
        handler, DYNSEL_E_STALE,
        dynsel_get_access(handler, gone.buffer, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &normal),
        "was ended", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_STALE, dynsel_accessor_get_access(handler, &gone, &normal),
                   "was ended", "[gone]");
}

/* The buffer was ended and its place is another's; then what was recorded is not that of the new
 * one. */
static void buffer_in_reused_slot_is_not_taken_for_ended_one(void **state)
{
    (void)state;
    static char bytes[4];
    dynsel_buffer first = {0};
    dynsel_buffer second = {0};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&first, bytes, 1, DYNSEL_RANGE(4)));
    const dynsel_accessor old = {.name = "old", .buffer = first, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &old));
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&first));
    assert_status(DYNSEL_OK, dynsel_buffer_init(&second, bytes, 1, DYNSEL_RANGE(4)));
    assert_true(handler->uses->each[0].record == dynsel_buffer_find(second));
    assert_null(dynsel_buffer_find((dynsel_buffer){handler->uses->each[0].token}));
    assert_refused(handler, DYNSEL_E_STALE, dynsel_require(handler, &old), "was ended", "[old]");
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&second));
}

static dynsel_status require_part(dynsel_range range, dynsel_range offset, dynsel_buffer buffer)
{
    const dynsel_accessor part = {
        .name = "part", .buffer = buffer, .range = range, .offset = offset, .placeholder = true};
    dynsel_handler *handler = record();
    const dynsel_status status = dynsel_require(handler, &part);
    assert_status(status, finish(handler));
    return status;
}

static void part_outside_buffer_is_refused(void **state)
{
    (void)state;
    const dynsel_range none = {.dimensions = 0};
    const dynsel_range odd = {.size = {1, 1, 1}, .dimensions = 4};
    assert_status(DYNSEL_OK, require_part(DYNSEL_RANGE(16), none, row));
    assert_status(DYNSEL_OK, require_part(DYNSEL_RANGE(1), DYNSEL_RANGE(15), row));
    assert_status(DYNSEL_OK, require_part(none, DYNSEL_RANGE(0), row));
    assert_status(DYNSEL_OK, require_part(DYNSEL_RANGE_2D(2, 3), DYNSEL_RANGE_2D(4, 2), grid));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(17), none, row));
    assert_error_says("[part]");
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(1), DYNSEL_RANGE(16), row));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(2), DYNSEL_RANGE(SIZE_MAX), row));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(SIZE_MAX), DYNSEL_RANGE(2), row));
    assert_status(DYNSEL_OK, require_part(DYNSEL_RANGE(0), none, row));
    assert_status(DYNSEL_OK, require_part(DYNSEL_RANGE(0), DYNSEL_RANGE(16), row));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(0), DYNSEL_RANGE(17), row));
    assert_status(DYNSEL_OK, require_part(DYNSEL_RANGE_2D(6, 0), DYNSEL_RANGE_2D(0, 4), grid));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE_2D(7, 0), none, grid));
    assert_status(DYNSEL_E_INVALID, require_part(none, DYNSEL_RANGE(1), row));
    assert_error_says("an offset needs a range");
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE_2D(1, 1), none, row));
    assert_error_says("as many dimensions as the buffer has: 1");
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(1), DYNSEL_RANGE_2D(0, 0), row));
    assert_status(DYNSEL_E_INVALID, require_part(odd, none, row));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE(1), none, grid));
    assert_status(DYNSEL_E_INVALID,
                  require_part(DYNSEL_RANGE_2D(2, 3), DYNSEL_RANGE_2D(5, 2), grid));
    assert_status(DYNSEL_E_INVALID,
                  require_part(DYNSEL_RANGE_2D(2, 3), DYNSEL_RANGE_2D(4, 3), grid));
    assert_status(DYNSEL_E_INVALID, require_part(DYNSEL_RANGE_2D(1, 6), none, grid));
}

static void full_requirement_table_error_names_its_option(void **state)
{
    (void)state;
    static dynsel_accessor accessors[CONFIG_DYNSEL_MAX_REQUIREMENTS + 1];
    dynsel_handler *handler = record();
    for (int i = 0; i <= CONFIG_DYNSEL_MAX_REQUIREMENTS; i++) {
        accessors[i] = (dynsel_accessor){.name = "each", .buffer = row, .placeholder = true};
        if (i < CONFIG_DYNSEL_MAX_REQUIREMENTS) {
            assert_status(DYNSEL_OK, dynsel_require(handler, &accessors[i]));
        }
    }
    assert_refused(handler, DYNSEL_E_FULL,
                   dynsel_require(handler, &accessors[CONFIG_DYNSEL_MAX_REQUIREMENTS]),
                   "CONFIG_DYNSEL_MAX_REQUIREMENTS", "[each]");
}

static void normal_accessors_use_one_entry_per_buffer(void **state)
{
    (void)state;
    dynsel_accessor accessor;
    dynsel_handler *handler = record();
    for (int i = 0; i <= CONFIG_DYNSEL_MAX_REQUIREMENTS; i++) {
        assert_status(DYNSEL_OK, dynsel_get_access(handler, row, DYNSEL_ACCESS_READ,
                                                   DYNSEL_MEMORY_CONSTANT, &accessor));
    }
    assert_false(dynsel_accessor_is_placeholder(&accessor));
    assert_true(dynsel_accessor_has_buffer(&accessor));
    assert_int_equal(DYNSEL_ACCESS_READ, accessor.mode);
    assert_int_equal(DYNSEL_MEMORY_CONSTANT, accessor.target);
    assert_int_equal(1, handler->uses->count);
    assert_false(handler->uses->each[0].writes);
    assert_status(DYNSEL_OK, dynsel_get_access(handler, row, DYNSEL_ACCESS_DISCARD_WRITE,
                                               DYNSEL_MEMORY_GLOBAL, &accessor));
    assert_int_equal(1, handler->uses->count);
    assert_true(handler->uses->each[0].writes);
    const dynsel_accessor copy = accessor;
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &copy));
    assert_status(DYNSEL_OK, finish(handler));
    assert_int_equal(DYNSEL_ARGUMENT_DATA, handler->arguments[0].kind);
    assert_int_equal(sizeof line, handler->uses->each[handler->arguments[0].use].record->bytes);
}

static void normal_accessor_outside_its_command_group_is_refused(void **state)
{
    (void)state;
    dynsel_accessor normal;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_get_access(handler, row, DYNSEL_ACCESS_READ,
                                               DYNSEL_MEMORY_GLOBAL, &normal));
    normal.name = "kept";
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_require(handler, &normal), "no placeholder",
                   "[kept]");
    handler = record();
    assert_status(DYNSEL_OK,
                  dynsel_require_buffer(handler, row, &(dynsel_accessor){.placeholder = true}));
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &normal),
                   "another command group", "[kept]");
    handler = record();
    assert_status(DYNSEL_OK, dynsel_get_access(handler, row, DYNSEL_ACCESS_READ,
                                               DYNSEL_MEMORY_GLOBAL, &normal));
    normal.buffer = grid;
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &normal),
                   "made for", NULL);
    const dynsel_accessor zero = {.name = "zero"};
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_arg_accessor(handler, 0, &zero),
                   "dynsel_get_access()", "[zero]");
}

static void refused_get_access_returns_zeroed_accessor(void **state)
{
    (void)state;
    static const struct {
        dynsel_access_mode mode;
        dynsel_access_target target;
    } wrong[] = {
        {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_LOCAL},
        {DYNSEL_ACCESS_READ, DYNSEL_MEMORY_HOST},
        {DYNSEL_ACCESS_WRITE, DYNSEL_MEMORY_CONSTANT},
        {(dynsel_access_mode)MODES, DYNSEL_MEMORY_GLOBAL},
        {(dynsel_access_mode)(sizeof(dynsel_access_mode) > 1 ? 256 : MODES), DYNSEL_MEMORY_GLOBAL},
        {DYNSEL_ACCESS_READ, (dynsel_access_target)(DYNSEL_MEMORY_HOST + 1)},
        {DYNSEL_ACCESS_READ, (dynsel_access_target)(sizeof(dynsel_access_target) > 1 ? 256 : 9)},
    };
    const dynsel_accessor zero = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        dynsel_accessor normal;
        memset(&normal, 1, sizeof normal);
        dynsel_handler *handler = record();
        const dynsel_status status =
            dynsel_get_access(handler, row, wrong[i].mode, wrong[i].target, &normal);
        assert_memory_equal(&zero, &normal, sizeof zero);
        assert_refused(handler, DYNSEL_E_INVALID, status, "dynsel_get_access: ", NULL);
    }
    dynsel_handler *handler = record();
    assert_refused(handler, DYNSEL_E_INVALID,
                   dynsel_get_access(handler, row, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, NULL),
                   "NULL", NULL);
    handler = record();
    dynsel_accessor normal;
    assert_refused(handler, DYNSEL_E_INVALID,
                   dynsel_get_access(handler, (dynsel_buffer){0}, DYNSEL_ACCESS_READ,
                                     DYNSEL_MEMORY_GLOBAL, &normal),
                   "no buffer", NULL);
}

static void get_access_of_placeholder_returns_normal_accessor(void **state)
{
    (void)state;
    const dynsel_accessor own = {.name = "own",
                                 .buffer = row,
                                 .mode = DYNSEL_ACCESS_READ,
                                 .range = DYNSEL_RANGE(3),
                                 .placeholder = true};
    const dynsel_accessor bare = {.name = "bare", .mode = DYNSEL_ACCESS_WRITE, .placeholder = true};
    dynsel_accessor normal;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_accessor_get_access(handler, &own, &normal));
    assert_int_equal(1, handler->uses->count);
    assert_int_equal(row.token, normal.buffer.token);
    assert_int_equal(3, normal.range.size[0]);
    assert_string_equal("own", normal.name);
    assert_false(dynsel_accessor_is_placeholder(&normal));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &normal));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 1, &own)); /* required by that */

    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, grid, &bare));
    assert_status(DYNSEL_OK, dynsel_accessor_get_access(handler, &bare, &normal));
    assert_int_equal(grid.token, normal.buffer.token);
    assert_int_equal(2, handler->uses->count);
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 2, &normal));
    assert_status(DYNSEL_OK, finish(handler));
    assert_int_equal(0, handler->arguments[0].use);
    assert_int_equal(0, handler->arguments[1].use);
    assert_int_equal(1, handler->arguments[2].use);

    handler = record();
    memset(&normal, 1, sizeof normal);
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_accessor_get_access(handler, &bare, &normal),
                   "dynsel_require_buffer()", "[bare]");
    assert_int_equal(0, normal.buffer.token);
    handler = record();
    assert_status(DYNSEL_OK, dynsel_accessor_get_access(handler, &own, &normal));
    dynsel_accessor again;
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_accessor_get_access(handler, &normal, &again),
                   "no placeholder", "[own]");
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_accessor_get_access(handler, NULL, &normal),
                   "NULL", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_accessor_get_access(handler, &own, NULL),
                   "NULL", "[own]");
}

static void accessor_argument_may_precede_its_require(void **state)
{
    (void)state;
    const dynsel_accessor bare = {.name = "bare", .placeholder = true};
    const dynsel_accessor own = {.name = "own", .buffer = row, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &bare));
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 1, &own));
    assert_status(DYNSEL_OK, dynsel_single_task(handler, &some_kernel));
    assert_status(DYNSEL_OK, dynsel_require(handler, &own));
    assert_status(DYNSEL_OK, dynsel_require_buffer(handler, grid, &bare));
    assert_status(DYNSEL_OK, close_with(handler, DYNSEL_OK));
    assert_int_equal(row.token, handler->uses->each[handler->arguments[1].use].token);
    assert_int_equal(grid.token, handler->uses->each[handler->arguments[0].use].token);
}

static void accessor_copy_with_buffer_equals_original(void **state)
{
    (void)state;
    const dynsel_accessor original = {.name = "original",
                                      .buffer = grid,
                                      .range = DYNSEL_RANGE_2D(2, 2),
                                      .offset = DYNSEL_RANGE_2D(1, 1),
                                      .placeholder = true};
    dynsel_accessor copy = original;
    copy.range.size[2] = 77; /* past its dimensions */
    for (int before = 0; before < 2; before++) {
        dynsel_handler *handler = record();
        if (before != 0) {
            assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &copy));
        }
        assert_status(DYNSEL_OK, dynsel_require(handler, &original));
        if (before == 0) {
            assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &copy));
        }
        assert_status(DYNSEL_OK, finish(handler));
    }
}

static void similar_accessor_is_not_taken_as_required(void **state)
{
    (void)state;
    const dynsel_accessor original = {.name = "original",
                                      .buffer = grid,
                                      .mode = DYNSEL_ACCESS_READ,
                                      .range = DYNSEL_RANGE_2D(2, 2),
                                      .offset = DYNSEL_RANGE_2D(1, 1),
                                      .placeholder = true};
    dynsel_accessor others[6];
    for (int i = 0; i < 6; i++) {
        others[i] = original;
        others[i].name = "other";
    }
    others[0].buffer = row;
    others[1].mode = DYNSEL_ACCESS_WRITE;
    others[2].target = DYNSEL_MEMORY_CONSTANT;
    others[3].range.size[0] = 1;
    others[4].offset.size[1] = 0;
    others[5].buffer = (dynsel_buffer){0};
    for (int i = 0; i < 12; i++) {
        dynsel_handler *handler = record();
        if (i >= 6) {
            assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &others[i % 6]));
        }
        assert_status(DYNSEL_OK, dynsel_require(handler, &original));
        if (i < 6) {
            assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &others[i % 6]));
        }
        assert_status(DYNSEL_E_INVALID, finish(handler));
        assert_error_says("[other]");
        assert_error_says(i % 6 == 5 ? "dynsel_require_buffer()" : "dynsel_require()");
    }
}

/* A variable that went out of scope, and the next one in its place. */
static void other_accessor_at_same_address_must_be_required(void **state)
{
    (void)state;
    dynsel_accessor place = {.name = "first", .buffer = grid, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_require(handler, &place));
    place.buffer = row;
    place.name = "second";
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &place));
    assert_status(DYNSEL_E_INVALID, finish(handler));
    assert_error_says("[second]");
}

/* An argument that was replaced needs no buffer. */
static void replaced_accessor_argument_needs_no_buffer(void **state)
{
    (void)state;
    const dynsel_accessor bare = {.name = "bare", .placeholder = true};
    const int value = 3;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_set_arg_accessor(handler, 0, &bare));
    assert_status(DYNSEL_OK, dynsel_set_arg_value(handler, 0, &value, sizeof value));
    assert_status(DYNSEL_OK, finish(handler));
}

static void set_key_copies_its_words(void **state)
{
    (void)state;
    uint32_t words[DYNSEL_GROUP_KEY_WORDS + 1] = {1, 2, 3};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_set_key(handler, 7, words, 3));
    words[2] = 4;
    assert_status(DYNSEL_OK, finish(handler));
    assert_int_equal(7, handler->id);
    assert_int_equal(3, handler->key_word_count);
    assert_int_equal(3, handler->key_words[2]);
    handler = record();
    assert_status(DYNSEL_OK, dynsel_set_key(handler, 7, words, DYNSEL_GROUP_KEY_WORDS));
    assert_status(DYNSEL_OK, dynsel_set_key(handler, 8, NULL, 0));
    assert_int_equal(8, handler->id);
    assert_int_equal(0, handler->key_word_count);
    assert_status(DYNSEL_OK, dynsel_set_key(handler, 8, words, 1));
    assert_status(DYNSEL_OK, finish(handler));
    handler = record(); /* nothing was said of the next */
    assert_int_equal(0, handler->id);
    assert_int_equal(0, handler->key_word_count);
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_key(handler, 0, words, 1), "id of 0",
                   NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_INVALID, dynsel_set_key(handler, 1, NULL, 1), "NULL", NULL);
    handler = record();
    assert_refused(handler, DYNSEL_E_FULL,
                   dynsel_set_key(handler, 1, words, DYNSEL_GROUP_KEY_WORDS + 1), "key words",
                   NULL);
}

#if CONFIG_DYNSEL_ASPECTS
static void needed_aspects_accumulate(void **state)
{
    (void)state;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_need_aspects(handler, 1));
    assert_status(DYNSEL_OK, dynsel_need_aspects(handler, 4));
    assert_int_equal(5, handler->aspects);
    assert_status(DYNSEL_OK, finish(handler));
    handler = record();
    assert_int_equal(0, handler->aspects);
    assert_status(DYNSEL_OK, finish(handler));
}
#endif

static void first_recording_error_becomes_submit_status(void **state)
{
    (void)state;
    const dynsel_accessor bare = {.name = "first", .placeholder = true};
    const dynsel_accessor gone = {.name = "second", .buffer = {1u << 11 | 2}, .placeholder = true};
    dynsel_handler *handler = record();
    assert_status(DYNSEL_E_INVALID, dynsel_require(handler, &bare));
    assert_status(DYNSEL_E_STALE, dynsel_require(handler, &gone));
    assert_status(DYNSEL_OK, dynsel_single_task(handler, &some_kernel));
    (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_DEVICE});
    assert_status(DYNSEL_E_INVALID, close_with(handler, DYNSEL_E_STALE));
    assert_error_says("[first]");
    assert_int_equal(DYNSEL_E_INVALID, dynsel_last_error()->status);
}

static void group_function_status_becomes_submit_status(void **state)
{
    (void)state;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, dynsel_single_task(handler, &some_kernel));
    assert_status((dynsel_status)(DYNSEL_E_USER - 3),
                  close_with(handler, (dynsel_status)(DYNSEL_E_USER - 3)));
    assert_error_says("-1003");
    assert_error_says("the group function returned this");

    handler = record();
    const uint32_t before = failures_so_far();
    const dynsel_status status = dynsel_fail(
        &(dynsel_error){.status = DYNSEL_E_TASK, .function = DYNSEL_TEXT("mine"), .code = 5});
    assert_status(DYNSEL_E_TASK, dynsel_group_close(handler, status, before));
    assert_int_equal(5, dynsel_last_error()->code);
    assert_error_says("mine: ");

    handler = record();
    assert_status(DYNSEL_E_TASK,
                  close_with(handler, DYNSEL_E_TASK)); /* older details are not its */
    assert_int_equal(0, dynsel_last_error()->code);
}

static void handler_outside_group_function_is_refused(void **state)
{
    (void)state;
    const dynsel_accessor own = {.buffer = row, .placeholder = true};
    dynsel_accessor normal;
    dynsel_handler *handler = record();
    assert_status(DYNSEL_OK, finish(handler));
    dynsel_handler *const handlers[] = {handler, NULL};
    for (int i = 0; i < 2; i++) {
        dynsel_handler *none = handlers[i];
        const dynsel_range global = DYNSEL_RANGE(1);
        assert_status(DYNSEL_E_INVALID, dynsel_require(none, &own));
        assert_error_says("running group function");
        assert_status(DYNSEL_E_INVALID, dynsel_require_buffer(none, row, &own));
        assert_status(DYNSEL_E_INVALID, dynsel_get_access(none, row, DYNSEL_ACCESS_READ,
                                                          DYNSEL_MEMORY_GLOBAL, &normal));
        assert_int_equal(0, normal.buffer.token);
        assert_status(DYNSEL_E_INVALID, dynsel_accessor_get_access(none, &own, &normal));
        assert_status(DYNSEL_E_INVALID, dynsel_set_arg_value(none, 0, &global, sizeof global));
        assert_status(DYNSEL_E_INVALID, dynsel_set_arg_accessor(none, 0, &own));
        assert_status(DYNSEL_E_INVALID, dynsel_set_arg_local(none, 0, 4));
        assert_status(DYNSEL_E_INVALID,
                      dynsel_parallel_for(none, &some_kernel, global, NULL, NULL));
        assert_status(DYNSEL_E_INVALID, dynsel_single_task(none, &some_kernel));
        assert_status(DYNSEL_E_INVALID, dynsel_copy(none, &own, &own));
        assert_status(DYNSEL_E_INVALID, dynsel_fill(none, &own, line, sizeof line[0]));
        assert_status(DYNSEL_E_INVALID, dynsel_host_task(none, launch_nothing));
        assert_status(DYNSEL_E_INVALID, dynsel_set_key(none, 1, NULL, 0));
#if CONFIG_DYNSEL_ASPECTS
        assert_status(DYNSEL_E_INVALID, dynsel_need_aspects(none, 0));
#endif
        assert_error_says("running group function");
    }
    assert_int_equal(0, handler->uses->count);
    assert_int_equal(0, handler->argument_count);
    assert_int_equal(DYNSEL_OK, handler->error.status);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(zeroed_accessor_fields_request_read_write_of_whole_buffer),
        TEST(access_mode_decides_what_is_read_and_written),
        TEST(modes_on_one_buffer_merge),
        TEST(repeated_require_uses_one_entry),
        TEST(require_buffer_binds_for_one_command_group_only),
        TEST(wrong_require_is_refused_with_accessor_name),
        TEST(constant_target_with_read_mode_is_accepted),
        TEST(two_buffers_for_one_placeholder_are_refused),
        TEST(accessors_reusing_one_address_are_distinct),
        TEST(changed_accessor_must_be_required_again),
        TEST(changed_mode_of_normal_accessor_is_refused),
        TEST(require_of_ended_or_invalid_buffer_is_refused),
        TEST(buffer_in_reused_slot_is_not_taken_for_ended_one),
        TEST(part_outside_buffer_is_refused),
        TEST(full_requirement_table_error_names_its_option),
        TEST(normal_accessors_use_one_entry_per_buffer),
        TEST(normal_accessor_outside_its_command_group_is_refused),
        TEST(refused_get_access_returns_zeroed_accessor),
        TEST(get_access_of_placeholder_returns_normal_accessor),
        TEST(accessor_argument_may_precede_its_require),
        TEST(accessor_copy_with_buffer_equals_original),
        TEST(similar_accessor_is_not_taken_as_required),
        TEST(other_accessor_at_same_address_must_be_required),
        TEST(replaced_accessor_argument_needs_no_buffer),
        TEST(set_key_copies_its_words),
#if CONFIG_DYNSEL_ASPECTS
        TEST(needed_aspects_accumulate),
#endif
        TEST(first_recording_error_becomes_submit_status),
        TEST(group_function_status_becomes_submit_status),
        TEST(handler_outside_group_function_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
