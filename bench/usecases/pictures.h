/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of a folder: binary PPM files (P6) of 8 bits, which need no library to be read. */
#ifndef USECASES_PICTURES_H
#define USECASES_PICTURES_H

#include <stddef.h>
#include <stdint.h>

typedef struct picture {
    char name[64];
    uint32_t width;
    uint32_t height;
    uint8_t *rgb; /* rows without gaps, beginning at a page; to be freed */
} picture;

/* Bytes of its pixels. */
size_t picture_bytes(const picture *p);

/* Reads the *.ppm of a folder, the value of --pictures, in the order of their names, at most
 * `most`. Returns how many; no folder (NULL), none in it, or a damaged one, ends the program. */
size_t pictures_read(const char *folder, picture *pictures, size_t most);

#endif
