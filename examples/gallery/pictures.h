/* SPDX-License-Identifier: Apache-2.0 */
/** The pictures of the command line, in memory. */
#ifndef GALLERY_PICTURES_H
#define GALLERY_PICTURES_H

#include <dynsel/dynsel.h>

#include "../common/picture.h"
#include "filters.h"

#define PICTURES_MAX 4096

typedef struct pictures_entry {
    char *path;
    picture source;
    uint64_t expected[FILTER_COUNT]; /**< reference_sum() of each result */
    dynsel_buffer buffer;            /**< over the source, while `users` work on it */
    uint32_t users;
} pictures_entry;

typedef struct pictures {
    pictures_entry entries[PICTURES_MAX];
    uint32_t count;
    uint64_t pixels;  /**< of all of them */
    uint32_t largest; /**< the entry that has the most */
} pictures;

/** Reads PNG files, and those of folders (*.png, by name), and makes the checksums of the results.
 * False: stderr says why. */
bool pictures_read(pictures *p, char *const *operands, int count);

void pictures_free(pictures *p);

#endif
