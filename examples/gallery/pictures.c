/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "pictures.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../common/log.h"
#include "reference.h"

static bool add(pictures *p, const char *folder, const char *name)
{
    const size_t bytes = strlen(folder) + strlen(name) + 1;

    if (p->count == PICTURES_MAX) {
        log_error("%s%s: more than %d pictures; give fewer, and let --repeat show them again",
                  folder, name, PICTURES_MAX);
        return false;
    }
    char *path = malloc(bytes);
    if (path == NULL) {
        log_error("no memory for the names of the pictures");
        return false;
    }
    snprintf(path, bytes, "%s%s", folder, name);
    p->entries[p->count++].path = path;
    return true;
}

static int is_png(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);

    return length > 4 && strcmp(&entry->d_name[length - 4], ".png") == 0;
}

static bool add_folder(pictures *p, const char *folder)
{
    char prefix[4096];
    struct dirent **found = NULL;
    const int count = scandir(folder, &found, is_png, alphasort);
    bool added = count > 0;

    if (count < 0) {
        log_error("%s: cannot be read: %s", folder, strerror(errno));
    } else if (count == 0) {
        log_error("%s: there is no *.png in this folder; give another one, or names of files",
                  folder);
    }
    snprintf(prefix, sizeof prefix, "%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/");
    for (int i = 0; i < count; i++) {
        added = added && add(p, prefix, found[i]->d_name);
        free(found[i]);
    }
    free(found);
    return added;
}

static bool add_operand(pictures *p, const char *path)
{
    struct stat about;

    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode)) {
        return add_folder(p, path);
    }
    return add(p, "", path);
}

static bool read_all(pictures *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        pictures_entry *entry = &p->entries[i];
        if (!picture_read(&entry->source, entry->path)) {
            return false;
        }
        const size_t bytes = picture_bytes(&entry->source);
        p->pixels += bytes / PICTURE_CHANNELS;
        p->largest = bytes > picture_bytes(&p->entries[p->largest].source) ? i : p->largest;
    }
    return true;
}

static bool make_expected(pictures *p)
{
    picture result = {0};

    if (!picture_like(&result, &p->entries[p->largest].source)) {
        return false;
    }
    log_progress_begin("Reference", "pictures", p->count);
    for (uint32_t i = 0; i < p->count; i++) {
        pictures_entry *entry = &p->entries[i];
        result.width = entry->source.width;
        result.height = entry->source.height;
        for (int filter = 0; filter < FILTER_COUNT; filter++) {
            reference_make(&entry->source, (filter_kind)filter, &result);
            entry->expected[filter] = reference_sum(&result);
        }
        log_progress(i + 1);
    }
    log_progress_end();
    picture_free(&result);
    return true;
}

bool pictures_read(pictures *p, char *const *operands, int count)
{
    for (int i = 0; i < count; i++) {
        if (!add_operand(p, operands[i])) {
            return false;
        }
    }
    return read_all(p) && make_expected(p);
}

void pictures_free(pictures *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        picture_free(&p->entries[i].source);
        free(p->entries[i].path);
    }
    p->count = 0;
}
