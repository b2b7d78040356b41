/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "pictures.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "memory.h"

enum { CHANNELS = 3, MOST_SIDE = 16384, DEPTH = 255 };

size_t picture_bytes(const picture *p)
{
    return (size_t)p->width * p->height * CHANNELS;
}

/* The first character after blanks and comments. */
static int skip(FILE *file)
{
    bool is_comment = false;
    int c = fgetc(file);
    while (c != EOF && (is_comment || c == '#' || isspace(c))) {
        is_comment = c == '#' || (is_comment && c != '\n');
        c = fgetc(file);
    }
    return c;
}

/* A number of the header; 0: there is none. */
static uint32_t read_number(FILE *file)
{
    uint32_t number = 0;
    int c = skip(file);
    for (; isdigit(c) && number <= MOST_SIDE; c = fgetc(file)) {
        number = number * 10 + (uint32_t)(c - '0');
    }
    return isspace(c) ? number : 0; /* one blank ends the header */
}

static bool read_file(FILE *file, picture *p)
{
    char magic[2];
    if (fread(magic, 1, sizeof magic, file) != sizeof magic || memcmp(magic, "P6", 2) != 0) {
        return false;
    }
    p->width = read_number(file);
    p->height = read_number(file);
    if (p->width == 0 || p->width > MOST_SIDE || p->height == 0 || p->height > MOST_SIDE ||
        read_number(file) != DEPTH) {
        return false;
    }
    p->rgb = memory_allocate(picture_bytes(p));
    return fread(p->rgb, 1, picture_bytes(p), file) == picture_bytes(p);
}

static void read_picture(const char *folder, const char *name, picture *p)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)snprintf(p->name, sizeof p->name, "%.63s", name);
    FILE *file = fopen(path, "rb");
    const int code = errno;
    const bool is_whole = file != NULL && read_file(file, p);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!is_whole) {
        log_exit(STATUS_FAILED, "%s: %s", path,
                 file == NULL
                     ? strerror(code)
                     : "no whole binary PPM of 8 bits, or too large; pictures.py makes them "
                       "of PNG files");
    }
}

static int is_picture(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(&entry->d_name[length - 4], ".ppm") == 0;
}

size_t pictures_read(const char *folder, picture *pictures, size_t most)
{
    struct dirent **entries = NULL;
    if (folder == NULL) {
        log_exit(STATUS_USAGE, "--pictures is missing: a folder with *.ppm, which "
                               "bench/usecases/pictures.py makes of PNG files");
    }
    const int found = scandir(folder, &entries, is_picture, alphasort);
    if (found < 0) {
        log_exit(STATUS_FAILED, "--pictures %s: %s", folder, strerror(errno));
    }
    if (found == 0) {
        log_exit(STATUS_FAILED,
                 "--pictures %s: there is no *.ppm; pictures.py makes them of PNG files", folder);
    }
    if ((size_t)found > most) {
        log_note("of %d pictures the first %zu are taken; CONFIG_DYNSEL_MAX_BUFFERS is their limit",
                 found, most);
    }
    const size_t count = (size_t)found < most ? (size_t)found : most;
    for (size_t i = 0; i < (size_t)found; i++) {
        if (i < count) {
            read_picture(folder, entries[i]->d_name, &pictures[i]);
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}
