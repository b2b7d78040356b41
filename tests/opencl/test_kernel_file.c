/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels from files. The linker leads read() through this file, so that it can fail, and the file
 * can change meanwhile. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dynsel/dynsel.h>

#include "test.h"

static char folder[64];
static char path[96];

/* What happens at the next calls of read(). */
enum { READS, FAILS, IS_INTERRUPTED, GROWS, SHRINKS, IS_TOUCHED, IN_PIECES };
static int at_read;

ssize_t real_read(int file, void *to, size_t bytes) __asm__("__real_read");
ssize_t wrap_read(int file, void *to, size_t bytes) __asm__("__wrap_read");

static void append(const char *text)
{
    FILE *const file = fopen(path, "ab");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

ssize_t wrap_read(int file, void *to, size_t bytes)
{
    const int what = at_read;
    at_read = what == IN_PIECES ? IN_PIECES : READS;
    switch (what) {
    case FAILS:
        errno = EIO;
        return -1;
    case IS_INTERRUPTED:
        errno = EINTR;
        return -1;
    case GROWS:
        append("more");
        break;
    case SHRINKS:
        assert_int_equal(truncate(path, 3), 0);
        break;
    case IS_TOUCHED: {
        static const struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 5}};
        assert_int_equal(futimens(file, times), 0);
        break;
    }
    case IN_PIECES:
        return real_read(file, to, 1);
    default:
        break;
    }
    return real_read(file, to, bytes);
}

static int make_folder(void **state)
{
    const char *const temporary = getenv("TMPDIR");
    (void)state;
    (void)snprintf(folder, sizeof(folder), "%.40s/dynsel-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/kernel", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void write_file(const void *data, size_t bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static const char source[] = "kernel void one(global int *to) { *to = 1; }\n";
enum { LENGTH = sizeof(source) - 1 };

static char text[256];

static dynsel_status read_source(size_t bytes)
{
    (void)memset(text, 'x', sizeof(text));
    const dynsel_status status = dynsel_opencl_read_source(path, text, bytes);
    for (size_t i = bytes; i < sizeof(text); i++) {
        assert_int_equal(text[i], 'x');
    }
    if (status != DYNSEL_OK && bytes != 0) {
        assert_string_equal(text, "");
    }
    return status;
}

static void source_is_the_file_with_an_end(void **state)
{
    (void)state;
    write_file(source, LENGTH);
    assert_status(DYNSEL_OK, read_source(sizeof(text)));
    assert_string_equal(text, source);
    assert_status(DYNSEL_OK, read_source(LENGTH + 1));
    assert_string_equal(text, source);
}

static void source_needs_room_for_its_end(void **state)
{
    (void)state;
    write_file(source, LENGTH);
    for (size_t bytes = 0; bytes <= LENGTH; bytes++) {
        assert_status(DYNSEL_E_FULL, read_source(bytes));
        assert_int_equal(dynsel_last_error()->number, LENGTH + 1);
    }
}

static void reads_that_stop_early_go_on(void **state)
{
    (void)state;
    write_file(source, LENGTH);
    at_read = IN_PIECES;
    assert_status(DYNSEL_OK, read_source(sizeof(text)));
    at_read = IS_INTERRUPTED;
    assert_string_equal(text, source);
    assert_status(DYNSEL_OK, read_source(sizeof(text)));
    assert_string_equal(text, source);
}

static void missing_file_is_invalid(void **state)
{
    (void)state;
    (void)unlink(path);
    assert_status(DYNSEL_E_INVALID, read_source(sizeof(text)));
    assert_int_equal(dynsel_last_error()->code, ENOENT);
    assert_error_says("cannot be opened");
}

static void other_than_a_file_is_invalid(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_read_source(folder, text, sizeof(text)));
    assert_error_says("no regular file");
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(DYNSEL_E_INVALID, read_source(sizeof(text))); /* and does not hang */
    assert_error_says("no regular file");
    assert_int_equal(unlink(path), 0);
}

static void empty_file_is_no_kernel(void **state)
{
    size_t length = 1;
    (void)state;
    write_file("", 0);
    assert_status(DYNSEL_E_TASK, read_source(sizeof(text)));
    assert_error_says("is empty");
    assert_status(DYNSEL_E_TASK, dynsel_opencl_read_binary(path, text, sizeof(text), &length));
    assert_int_equal(length, 0);
}

static void source_with_zero_byte_is_damaged(void **state)
{
    (void)state;
    write_file(source, LENGTH + 1);
    assert_status(DYNSEL_E_TASK, read_source(sizeof(text)));
    assert_error_says("a zero byte");
}

static void file_that_cannot_be_read_is_a_device_failure(void **state)
{
    (void)state;
    write_file(source, LENGTH);
    at_read = FAILS;
    assert_status(DYNSEL_E_DEVICE, read_source(sizeof(text)));
    assert_int_equal(dynsel_last_error()->code, EIO);
}

static void file_that_changes_is_to_be_read_again(void **state)
{
    (void)state;
    for (int change = GROWS; change <= IS_TOUCHED; change++) {
        write_file(source, LENGTH);
        at_read = change;
        assert_status(DYNSEL_E_AGAIN, read_source(sizeof(text)));
        write_file(source, LENGTH);
        at_read = change;
        assert_status(DYNSEL_E_AGAIN, read_source(LENGTH + 1));
        write_file(source, LENGTH);
        assert_status(DYNSEL_OK, read_source(sizeof(text)));
    }
}

static void null_is_invalid(void **state)
{
    size_t length = 0;
    (void)state;
    write_file(source, LENGTH);
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_read_source(NULL, text, sizeof(text)));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_read_source(path, NULL, sizeof(text)));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_read_binary(NULL, text, sizeof(text), &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_read_binary(path, NULL, sizeof(text), &length));
    assert_status(DYNSEL_E_INVALID, dynsel_opencl_read_binary(path, text, sizeof(text), NULL));
}

/* One empty kernel: header, capability, memory model, entry point, types, a function. */
static const uint32_t module[] = {
    0x07230203, 0x00010000, 0, 6,          0, /* header */
    0x00020011, 4,                            /* Addresses */
    0x00020011, 6,                            /* Kernel */
    0x0003000e, 1,          2,                /* Physical32 OpenCL */
    0x0004000f, 6,          3, 0x00000065,    /* "e" */
    0x00020013, 1,                            /* void */
    0x00030021, 2,          1,                /* void() */
    0x00050036, 1,          3, 0,          2, /* function */
    0x000200f8, 4,                            /* label */
    0x000100fd,                               /* return */
    0x00010038,                               /* end */
};

static dynsel_status read_binary(const void *data, size_t bytes)
{
    static uint32_t memory[64];
    size_t length = 1;
    write_file(data, bytes);
    const dynsel_status status = dynsel_opencl_read_binary(path, memory, sizeof(memory), &length);
    assert_int_equal(length, status == DYNSEL_OK ? bytes : 0);
    if (status == DYNSEL_OK) {
        assert_memory_equal(memory, data, bytes);
    }
    return status;
}

static void spirv_is_read_as_it_is(void **state)
{
    uint32_t reversed[sizeof(module) / sizeof(module[0])];
    size_t length = 0;
    (void)state;
    assert_status(DYNSEL_OK, read_binary(module, sizeof(module)));
    for (size_t i = 0; i < sizeof(module) / sizeof(module[0]); i++) {
        reversed[i] = __builtin_bswap32(module[i]);
    }
    assert_status(DYNSEL_OK, read_binary(reversed, sizeof(reversed)));
    assert_status(DYNSEL_E_FULL,
                  dynsel_opencl_read_binary(path, text, sizeof(module) - 1, &length));
    assert_int_equal(dynsel_last_error()->number, sizeof(module));
}

/* At whichever byte it is cut, once the magic number is there. */
static void torn_spirv_is_refused(void **state)
{
    uint32_t damaged[sizeof(module) / sizeof(module[0])];
    (void)state;
    for (size_t bytes = sizeof(module[0]); bytes < sizeof(module); bytes++) {
        assert_status(DYNSEL_E_TASK, read_binary(module, bytes));
        assert_error_says("cut short");
    }
    (void)memcpy(damaged, module, sizeof(module));
    damaged[5] &= 0xffffu; /* an instruction without words */
    assert_status(DYNSEL_E_TASK, read_binary(damaged, sizeof(damaged)));
    damaged[5] |= 0xffffu << 16;
    assert_status(DYNSEL_E_TASK, read_binary(damaged, sizeof(damaged)));
}

static void binaries_of_drivers_are_not_looked_into(void **state)
{
    (void)state;
    assert_status(DYNSEL_OK, read_binary("\177ELF and so on", 13));
    assert_status(DYNSEL_OK, read_binary("ab", 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_is_the_file_with_an_end),
        cmocka_unit_test(source_needs_room_for_its_end),
        cmocka_unit_test(reads_that_stop_early_go_on),
        cmocka_unit_test(missing_file_is_invalid),
        cmocka_unit_test(other_than_a_file_is_invalid),
        cmocka_unit_test(empty_file_is_no_kernel),
        cmocka_unit_test(source_with_zero_byte_is_damaged),
        cmocka_unit_test(file_that_cannot_be_read_is_a_device_failure),
        cmocka_unit_test(file_that_changes_is_to_be_read_again),
        cmocka_unit_test(null_is_invalid),
        cmocka_unit_test(spirv_is_read_as_it_is),
        cmocka_unit_test(torn_spirv_is_refused),
        cmocka_unit_test(binaries_of_drivers_are_not_looked_into),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
