/* SPDX-License-Identifier: Apache-2.0 */
/** Errors, on stderr. */
#ifndef SAY_H
#define SAY_H

/** One line; what cannot be printed in it becomes '?'. */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
