/* SPDX-License-Identifier: Apache-2.0 */
/** What earliest_finish learned, kept in a file. */
#ifndef COMMON_LEARNED_FILE_H
#define COMMON_LEARNED_FILE_H

#include <stdbool.h>

#include <dynsel/dynsel.h>

typedef struct learned_file {
    int descriptor;
    char error[400]; /**< why the last function that returned false did so */
} learned_file;

/** Opens a file for reading and writing, and makes it if it is not there. False also where it has
 * something else in it, which is left as it is. */
bool learned_file_open(learned_file *f, const char *path);

/** Lets the policy know what the file says. loaded: out; all zero where the file is empty. False:
 * the table is damaged, of another version, or cannot be read. */
bool learned_file_load(learned_file *f, dynsel_earliest_finish_policy *policy,
                       dynsel_learned_report *loaded);

/** Writes what the policy knows. Power may fail at any time: the file then has the table of before
 * or this one. saved: out; NULL: not wanted. */
bool learned_file_save(learned_file *f, dynsel_earliest_finish_policy *policy,
                       dynsel_learned_report *saved);

/** No effect if the file is not open: `descriptor` is below 0 then. */
void learned_file_close(learned_file *f);

#endif
