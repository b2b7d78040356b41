/* SPDX-License-Identifier: Apache-2.0 */
/** A file that keeps what the policy learned. */
#ifndef GALLERY_LEARNED_H
#define GALLERY_LEARNED_H

#include <dynsel/dynsel.h>

typedef struct learned {
    const char *path;
    int file;                     /**< its descriptor */
    bool is_settled;              /**< the table has all filters, and all resources with the driver
                                       that they have now */
    dynsel_learned_report loaded; /**< all zero: nothing was known */
} learned;

/** Opens the file for reading and writing, and makes it if it is not there. False: stderr says why;
 * also where the file has something else in it. */
bool learned_open(learned *l, const char *path);

/** Lets the policy know what the file says. A damaged table is told on stderr and ignored. */
void learned_load(learned *l, dynsel_earliest_finish_policy *policy);

/** Writes what the policy knows. Power may fail at any time: the file then has the table of before
 * or this one. False: stderr says why. */
bool learned_save(const learned *l, dynsel_earliest_finish_policy *policy,
                  dynsel_learned_report *report);

void learned_close(learned *l);

#endif
