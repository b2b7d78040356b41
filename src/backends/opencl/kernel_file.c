/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels from files, into memory of the program. */
#define _POSIX_C_SOURCE 200809L
#include <dynsel/opencl.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "port/cancel.h"
#include "port/context.h"
#include "port/likely.h"

/* A request, with the name of the public function. */
typedef struct request {
    const char *function;
    unsigned char *memory;
    size_t bytes;
    size_t *length;
} request;

static dynsel_status refuse(const request *r, dynsel_status status, const char *detail, int code,
                            size_t number)
{
    (void)r; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    (void)detail;
    return dynsel_fail(&(const dynsel_error){.status = status,
                                             .code = code,
                                             .number = (uint32_t)number,
                                             .function = DYNSEL_TEXT(r->function),
                                             .detail = DYNSEL_TEXT(detail)});
}

/* Reads until the end of the file, or one byte more than there is room for. */
static dynsel_status read_all(const request *r, int file, size_t room)
{
    size_t got = 0;
    unsigned char more = 0;
    for (;;) {
        const bool is_full = got == room;
        const ssize_t count =
            read(file, is_full ? &more : r->memory + got, is_full ? 1 : room - got);
        if (count == 0) {
            *r->length = got;
            return DYNSEL_OK;
        }
        if (count < 0 && errno != EINTR) {
            return refuse(r, DYNSEL_E_DEVICE, "the file cannot be read", errno, 0);
        }
        if (count > 0 && is_full) {
            return refuse(r, DYNSEL_E_AGAIN, "the file grew while it was read", 0, 0);
        }
        got += count > 0 ? (size_t)count : 0;
    }
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* spare: bytes of the memory that the file may not have. */
DYNSEL_RARE static dynsel_status read_open(const request *r, int file, size_t spare)
{
    struct stat before;
    struct stat after;
    if (fstat(file, &before) != 0 || !S_ISREG(before.st_mode)) {
        return refuse(r, DYNSEL_E_INVALID, "it is no regular file", 0, 0);
    }
    if (before.st_size == 0) {
        return refuse(r, DYNSEL_E_TASK, "the file is empty", 0, 0);
    }
    if (r->bytes < spare || (uintmax_t)before.st_size > r->bytes - spare) {
        return refuse(r, DYNSEL_E_FULL, "the file needs {} bytes of memory", 0,
                      (size_t)before.st_size + spare);
    }
    const dynsel_status status = read_all(r, file, r->bytes - spare);
    if (status != DYNSEL_OK) {
        return status;
    }
    return *r->length == (uintmax_t)before.st_size && fstat(file, &after) == 0 &&
                   is_same(&before, &after)
               ? DYNSEL_OK
               : refuse(r, DYNSEL_E_AGAIN, "the file changed while it was read", 0, 0);
}

DYNSEL_RARE static dynsel_status read_file(const request *r, const char *path, size_t spare)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (path == NULL || r->memory == NULL || r->length == NULL) {
        return refuse(r, DYNSEL_E_INVALID, "an argument is NULL", 0, 0);
    }
    *r->length = 0;
    const int before = dynsel_cancel_defer();
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    dynsel_status status = DYNSEL_OK;
    if (file < 0) {
        status = refuse(r, DYNSEL_E_INVALID, "the file cannot be opened", errno, 0);
    } else {
        status = read_open(r, file, spare);
        (void)close(file);
    }
    dynsel_cancel_allow(before);
    return status;
}

DYNSEL_RARE dynsel_status dynsel_opencl_read_source(const char *path, char *text, size_t bytes)
{
    size_t length = 0;
    const request r = {
        .function = __func__, .memory = (unsigned char *)text, .bytes = bytes, .length = &length};
    dynsel_status status = read_file(&r, path, 1);
    if (status == DYNSEL_OK && memchr(text, '\0', length) != NULL) {
        status = refuse(&r, DYNSEL_E_TASK, "the file is no source, or damaged: it has a zero byte",
                        0, 0);
    }
    if (text != NULL && bytes != 0) {
        text[status == DYNSEL_OK ? length : 0] = '\0';
    }
    return status;
}

enum {
    WORD_BYTES = 4,
    HEADER_WORDS = 5,
    OP_ENTRY_POINT = 15,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56
};

#define SPIRV_MAGIC          0x07230203u
#define SPIRV_MAGIC_REVERSED 0x03022307u

static uint32_t word_at(const unsigned char *memory, size_t index, bool reversed)
{
    uint32_t word = 0;
    (void)memcpy(&word, memory + index * WORD_BYTES, WORD_BYTES);
    return reversed ? __builtin_bswap32(word) : word;
}

/* Whether the instructions end with the file, and the functions within it. */
static bool is_whole_spirv(const unsigned char *memory, size_t bytes, bool reversed)
{
    const size_t words = bytes / WORD_BYTES;
    uint32_t entry_points = 0;
    uint32_t functions = 0;
    uint32_t ends = 0;
    size_t at = HEADER_WORDS;
    if (bytes % WORD_BYTES != 0 || words < HEADER_WORDS) {
        return false;
    }
    while (at < words) {
        const uint32_t instruction = word_at(memory, at, reversed);
        const uint32_t operation = instruction & 0xffffu;
        const uint32_t length = instruction >> 16;
        if (length == 0 || length > words - at) {
            return false;
        }
        entry_points += operation == OP_ENTRY_POINT ? 1 : 0;
        functions += operation == OP_FUNCTION ? 1 : 0;
        ends += operation == OP_FUNCTION_END ? 1 : 0;
        at += length;
    }
    return entry_points != 0 && functions != 0 && functions == ends;
}

DYNSEL_RARE dynsel_status dynsel_opencl_read_binary(const char *path, void *memory, size_t bytes,
                                                    size_t *length)
{
    const request r = {.function = __func__, .memory = memory, .bytes = bytes, .length = length};
    const dynsel_status status = read_file(&r, path, 0);
    if (status != DYNSEL_OK || *length < WORD_BYTES) {
        return status;
    }
    const uint32_t magic = word_at(memory, 0, false);
    if ((magic == SPIRV_MAGIC || magic == SPIRV_MAGIC_REVERSED) &&
        !is_whole_spirv(memory, *length, magic == SPIRV_MAGIC_REVERSED)) {
        *length = 0;
        return refuse(&r, DYNSEL_E_TASK, "the file begins as SPIR-V, and is cut short or damaged",
                      0, 0);
    }
    return DYNSEL_OK;
}
