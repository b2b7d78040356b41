/* SPDX-License-Identifier: Apache-2.0 */
/** A file that keeps what the policy learned. Errors are told on stderr. */
#ifndef GALLERY_LEARNED_H
#define GALLERY_LEARNED_H

#include "../common/learned_file.h"

typedef struct learned {
    const char *path;
    learned_file file;
    bool is_settled;              /**< the table has all filters, and all resources with the driver
                                       that they have now */
    dynsel_learned_report loaded; /**< all zero: nothing was known */
} learned;

/** Opens the file, and makes it if it is not there. False: it cannot be written, or has something
 * else in it. */
bool learned_open(learned *l, const char *path);

/** Lets the policy know what the file says. A damaged table is ignored. */
void learned_load(learned *l, dynsel_earliest_finish_policy *policy);

/** Writes what the policy knows. Power may fail at any time: the file then has the table of before
 * or this one. */
bool learned_save(learned *l, dynsel_earliest_finish_policy *policy, dynsel_learned_report *report);

void learned_close(learned *l);

#endif
