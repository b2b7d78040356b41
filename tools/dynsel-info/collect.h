/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECT_H
#define COLLECT_H

#include "info.h"

/**
 * Describes all resources of this machine.
 *
 * selector: for OpenCL devices; NULL: the library's default.
 * Returns: 0, also if devices could not be listed (list->problem has the reason); else an exit
 *     status, after an error was printed.
 */
int collect(info_list *list, const char *selector);

/** The next free entry, all zero; NULL when there is none. */
info_entry *collect_entry(info_list *list, info_kind kind);

/** Describes the device of a resource and compares it with its target. */
bool collect_describe(info_entry *entry, const dynsel_resource *resource);

/** Keeps the library's last error as the list's problem. */
void collect_keep_problem(info_list *list, const char *what);

/** Whether a resource of this kind is chosen. */
bool collect_chose_any(const info_list *list, info_kind kind);

/** Ends the collection; the texts in the list are invalid afterwards. */
bool collect_close(void);

/* OpenCL's part, which finds nothing in builds without its backend. */

int opencl_collect(info_list *list, const char *selector);
bool opencl_close(void);

#endif
