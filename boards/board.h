/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the start-up code of a bare-metal board offers to tests and examples, besides the functions
 * of <dynsel/port.h>. The library itself uses none of it.
 */
#ifndef DYNSEL_BOARDS_BOARD_H
#define DYNSEL_BOARDS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To the console of the emulator or debugger. */
void board_write(const char *text, size_t length);

/* Ends the program; the emulator's own exit status is `status`. */
void board_exit(int status) __attribute__((noreturn));

/* The command line that the emulator was given, cut off where it does not fit; "" for none. */
void board_arguments(char *buffer, size_t bytes);

/* Writes a file on the machine with the debugger or emulator, in place of one that is there. open:
 * negative: it cannot be written. write: false: not all could be. */
int board_file_open(const char *name);
bool board_file_write(int file, const void *bytes, size_t length);
void board_file_close(int file);

/* Seconds since some time long ago, for seeds. */
uint32_t board_seconds(void);

/* From now on an interrupt calls `handler` every `period_us` microseconds, from 1 to 60000; in
 * place of the one before. */
void board_timer_start(uint32_t period_us, void (*handler)(void));
void board_timer_stop(void);

#endif
