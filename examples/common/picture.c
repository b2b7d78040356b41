/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "picture.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"

#define PAGE 4096

/* libpng reports errors with longjmp(). Everything that lives longer than a step is kept here and
 * not in local variables, which a jump would leave undefined. */
typedef struct codec {
    png_structp png;
    png_infop info;
    picture picture;
    FILE *file;
    const char *path;
    char message[160];
} codec;

static void on_error(png_structp png, png_const_charp message)
{
    codec *c = png_get_error_ptr(png);

    snprintf(c->message, sizeof c->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png; /* such as a colour profile with a small mistake: the pixels are not concerned */
    (void)message;
}

/** Runs a step; false when libpng gave up in it. */
static bool guarded(codec *c, void (*step)(codec *))
{
    if (setjmp(png_jmpbuf(c->png)) != 0) {
        return false;
    }
    step(c);
    return true;
}

static void on_read(png_structp png, png_bytep bytes, size_t count)
{
    codec *c = png_get_io_ptr(png);

    if (fread(bytes, 1, count, c->file) == count) {
        return;
    }
    png_error(png, ferror(c->file) ? strerror(errno) : "the file ends too early: it is cut off");
}

static void on_write(png_structp png, png_bytep bytes, size_t count)
{
    codec *c = png_get_io_ptr(png);

    if (fwrite(bytes, 1, count, c->file) != count) {
        png_error(png, strerror(errno));
    }
}

static void on_flush(png_structp png)
{
    (void)png; /* closing the file does it */
}

static void read_header(codec *c)
{
    png_set_sig_bytes(c->png, 8);
    png_read_info(c->png, c->info);
}

/** Checked before libpng or this program allocates anything that grows with the picture. */
static bool size_is_allowed(codec *c)
{
    uint32_t width = png_get_image_width(c->png, c->info);
    uint32_t height = png_get_image_height(c->png, c->info);

    c->picture.width = width;
    c->picture.height = height;
    if (width <= PICTURE_MAX_SIDE && height <= PICTURE_MAX_SIDE &&
        (uint64_t)width * height <= PICTURE_MAX_PIXELS) {
        return true;
    }
    log_error("%s: %u x %u pixels are too many; scale the picture down to at most %d pixels a side "
              "and %u million in all",
              c->path, width, height, PICTURE_MAX_SIDE, PICTURE_MAX_PIXELS / 1000000u);
    return false;
}

size_t picture_bytes(const picture *p)
{
    return (size_t)p->width * p->height * PICTURE_CHANNELS;
}

static bool allocate_pixels(picture *p, const char *path)
{
    size_t bytes = picture_bytes(p); /* at most 1 GiB */

    p->pixels = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
    if (p->pixels == NULL) {
        log_error("%s: no memory for %zu MiB of pixels", path, bytes >> 20);
    }
    return p->pixels != NULL;
}

static void ask_for_rgba(codec *c)
{
    png_structp png = c->png;

    c->picture.alpha = (png_get_color_type(png, c->info) & PNG_COLOR_MASK_ALPHA) != 0 ||
                       png_get_valid(png, c->info, PNG_INFO_tRNS) != 0;
    png_set_expand(png); /* palettes, few bits, transparent colours */
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
}

static void read_rows(codec *c)
{
    ask_for_rgba(c);
    size_t stride = (size_t)c->picture.width * PICTURE_CHANNELS;
    int passes = png_set_interlace_handling(c->png);
    uint64_t done = 0;

    png_read_update_info(c->png, c->info);
    if (png_get_rowbytes(c->png, c->info) != stride) {
        png_error(c->png, "an unexpected kind of PNG");
    }
    log_progress_begin("Reading", "rows", (uint64_t)c->picture.height * (unsigned)passes);
    for (int pass = 0; pass < passes; pass++) {
        for (size_t y = 0; y < c->picture.height; y++) {
            png_read_row(c->png, c->picture.pixels + y * stride, NULL);
            log_progress(++done);
        }
    }
    png_read_end(c->png, NULL);
}

static bool decode(codec *c)
{
    bool decoded = guarded(c, read_header);

    if (decoded) {
        if (!size_is_allowed(c) || !allocate_pixels(&c->picture, c->path)) {
            return false;
        }
        decoded = guarded(c, read_rows);
        log_progress_end();
    }
    if (!decoded) {
        log_error("%s: a damaged PNG file (%s); get an intact copy of it", c->path, c->message);
    }
    return decoded;
}

static bool read_codec(codec *c)
{
    c->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, c, on_error, on_warning);
    c->info = c->png == NULL ? NULL : png_create_info_struct(c->png);
    bool decoded = false;

    if (c->info == NULL) {
        log_error("%s: libpng cannot be used (%s)", c->path, c->message);
    } else {
        png_set_user_limits(c->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* size_is_allowed() tells */
        png_set_read_fn(c->png, c, on_read);
        decoded = decode(c);
    }
    png_destroy_read_struct(&c->png, &c->info, NULL);
    if (!decoded) {
        picture_free(&c->picture);
    }
    return decoded;
}

/** Describes a file that is not a PNG by its first bytes. */
static const char *kind_of(const unsigned char *start, size_t count)
{
    if (count >= 3 && memcmp(start, "\xff\xd8\xff", 3) == 0) {
        return "a JPEG file";
    }
    if (count >= 4 && memcmp(start, "GIF8", 4) == 0) {
        return "a GIF file";
    }
    return "no PNG file";
}

static bool is_png(FILE *file, const char *path)
{
    unsigned char start[8];
    size_t count = fread(start, 1, sizeof start, file);

    if (ferror(file)) {
        log_error("%s: %s", path, strerror(errno));
    } else if (count == 0) {
        log_error("%s: the file is empty; give a PNG picture", path);
    } else if (png_sig_cmp(start, 0, count) != 0) {
        log_error("%s: this is %s; only PNG can be read, convert it first", path,
                  kind_of(start, count));
    } else if (count < sizeof start) {
        log_error("%s: a damaged PNG file (it is cut off); get an intact copy of it", path);
    } else {
        return true;
    }
    return false;
}

static FILE *open_input(const char *path)
{
    struct stat about;

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        log_error("%s: this is a directory; give a PNG picture", path);
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        log_error("%s: cannot be read: %s", path, strerror(errno));
    }
    return file;
}

bool picture_read(picture *out, const char *path)
{
    codec c = {.path = path, .file = open_input(path)};

    if (c.file == NULL) {
        return false;
    }
    bool read = is_png(c.file, path) && read_codec(&c);
    fclose(c.file);
    if (read) {
        *out = c.picture;
    }
    return read;
}

bool picture_like(picture *out, const picture *model)
{
    *out = *model;
    return allocate_pixels(out, "the result");
}

static void write_rows(codec *c)
{
    const picture *p = &c->picture;
    size_t stride = (size_t)p->width * PICTURE_CHANNELS;
    int type = p->alpha ? PNG_COLOR_TYPE_RGB_ALPHA : PNG_COLOR_TYPE_RGB;

    png_set_IHDR(c->png, c->info, p->width, p->height, 8, type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(c->png, c->info);
    if (!p->alpha) {
        png_set_filler(c->png, 0, PNG_FILLER_AFTER);
    }
    log_progress_begin("Writing", "rows", p->height);
    for (size_t y = 0; y < p->height; y++) {
        png_write_row(c->png, p->pixels + y * stride);
        log_progress(y + 1);
    }
    png_write_end(c->png, NULL);
}

bool picture_write(const picture *p, FILE *file, const char *path)
{
    codec c = {.picture = *p, .file = file, .path = path};
    bool written = false;

    c.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &c, on_error, on_warning);
    c.info = c.png == NULL ? NULL : png_create_info_struct(c.png);
    if (c.info != NULL) {
        png_set_user_limits(c.png, PICTURE_MAX_SIDE, PICTURE_MAX_SIDE);
        png_set_write_fn(c.png, &c, on_write, on_flush);
        written = guarded(&c, write_rows);
    }
    log_progress_end();
    png_destroy_write_struct(&c.png, &c.info);
    if (!written) {
        log_error("%s: cannot be written: %s", path, c.message);
    }
    return written;
}

void picture_free(picture *p)
{
    free(p->pixels);
    p->pixels = NULL;
}
