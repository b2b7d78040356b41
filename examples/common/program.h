/* SPDX-License-Identifier: Apache-2.0 */
/** How examples talk to who starts them. */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

enum { PROGRAM_WRONG_USAGE = 2 }; /* an exit status */

/** One line on stderr: `NAME: ...`, with nothing in it that a terminal should not get. */
void program_complain(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** For a program without options: --help prints `about`, which ends in a line end, everything else
 * is a mistake; both end it. */
void program_takes_nothing(int argc, char **argv, const char *name, const char *about);

/** To be returned by main(). status: what the program would end with. Returns it, or EXIT_FAILURE,
 * with a line that says so, when what was printed cannot be written. */
int program_end(const char *name, int status);

#endif
