/* SPDX-License-Identifier: Apache-2.0 */
/** Pictures in memory, and PNG files. The functions print errors on stderr. */
#ifndef COMMON_PICTURE_H
#define COMMON_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PICTURE_CHANNELS   4 /* red, green, blue, alpha: a byte each */
#define PICTURE_MAX_SIDE   32768
#define PICTURE_MAX_PIXELS (1u << 28)

typedef struct picture {
    uint32_t width, height;
    bool alpha;      /**< the file has an alpha channel; in memory there always is one */
    uint8_t *pixels; /**< RGBA, rows without gaps, beginning at a page, where devices that share the
                          host's memory use it directly */
} picture;

/** Reads any PNG and makes it 8-bit RGBA. False: `out` is untouched. */
bool picture_read(picture *out, const char *path);

/** A picture of the same size and kind, not yet filled in. */
bool picture_like(picture *out, const picture *model);

/** Writes an 8-bit RGB or RGBA PNG. `path` is only for messages. */
bool picture_write(const picture *p, FILE *file, const char *path);

/** Bytes of its pixels. */
size_t picture_bytes(const picture *p);

void picture_free(picture *p);

#endif
