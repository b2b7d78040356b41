/* SPDX-License-Identifier: Apache-2.0 */
/* The console and the end of the program through a debugger or emulator, on ARM and on RISC-V. */
#include "board.h"

enum {
    SYS_OPEN = 0x01,
    SYS_CLOSE = 0x02,
    SYS_WRITE = 0x05,
    SYS_WRITE0 = 0x04,
    SYS_TIME = 0x11,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
    APPLICATION_EXIT = 0x20026,
    OPEN_WB = 5 /* fopen()'s "wb" */
};

#if defined(__arm__)
static uintptr_t ask(uintptr_t operation, const void *argument)
{
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
#elif defined(__riscv)
/* The two shifts around the break are how a debugger knows that it is asked. */
static uintptr_t ask(uintptr_t operation, const void *argument)
{
    register uintptr_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n"
                     ".option norvc\n"
                     ".balign 16\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     ".option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}
#endif

void board_write(const char *text, size_t length)
{
    char piece[64]; /* what is asked for ends in '\0' */
    while (length > 0) {
        const size_t part = length < sizeof piece - 1 ? length : sizeof piece - 1;
        for (size_t i = 0; i < part; i++) {
            piece[i] = text[i];
        }
        piece[part] = '\0';
        (void)ask(SYS_WRITE0, piece);
        text += part;
        length -= part;
    }
}

void board_exit(int status)
{
    const uintptr_t reason[] = {APPLICATION_EXIT, (uintptr_t)status};
    for (;;) {
        (void)ask(SYS_EXIT_EXTENDED, reason);
    }
}

void board_arguments(char *buffer, size_t bytes)
{
    uintptr_t block[] = {(uintptr_t)buffer, bytes};
    buffer[0] = '\0';
    if (ask(SYS_GET_CMDLINE, block) != 0) {
        buffer[0] = '\0';
    }
}

int board_file_open(const char *name)
{
    size_t length = 0;
    while (name[length] != '\0') {
        length++;
    }
    const uintptr_t block[] = {(uintptr_t)name, OPEN_WB, length};
    return (int)ask(SYS_OPEN, block);
}

bool board_file_write(int file, const void *bytes, size_t length)
{
    const uintptr_t block[] = {(uintptr_t)file, (uintptr_t)bytes, length};
    return ask(SYS_WRITE, block) == 0; /* how many bytes were not written */
}

void board_file_close(int file)
{
    const uintptr_t block[] = {(uintptr_t)file};
    (void)ask(SYS_CLOSE, block);
}

uint32_t board_seconds(void)
{
    return (uint32_t)ask(SYS_TIME, NULL);
}
