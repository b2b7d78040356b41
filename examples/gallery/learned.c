/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700

#include "learned.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../common/log.h"
#include "filters.h"

/* The same in each configuration of the library, so that each finds the second area: the table of
 * three filters takes less. */
#define AREA_BYTES 65536

static const char magic[] =
    "dynselLT"; /* a table begins with it, or with zeros while it is written */

/** Behind the end of the file are zeros. */
static dynsel_status read_file(void *context, size_t offset, void *bytes, size_t count)
{
    const learned *l = context;
    const ssize_t got = pread(l->file, bytes, count, (off_t)offset);

    if (got < 0) {
        return DYNSEL_E_DEVICE;
    }
    memset((char *)bytes + got, 0, count - (size_t)got);
    return DYNSEL_OK;
}

static dynsel_status write_file(void *context, size_t offset, const void *bytes, size_t count)
{
    const learned *l = context;

    errno = ENOSPC; /* where only a part was written */
    return pwrite(l->file, bytes, count, (off_t)offset) == (ssize_t)count ? DYNSEL_OK
                                                                          : DYNSEL_E_DEVICE;
}

static dynsel_status sync_file(void *context)
{
    const learned *l = context;

    return fsync(l->file) == 0 ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

static dynsel_learned_store store_of(const learned *l)
{
    return (dynsel_learned_store){.context = (void *)l,
                                  .read = read_file,
                                  .write = write_file,
                                  .sync = sync_file,
                                  .area_bytes = AREA_BYTES,
                                  .areas = 2,
                                  .align = 1};
}

/** Whether the file may be written: a table is in it, or the begin of one, or nothing. */
static bool is_ours(const learned *l)
{
    const char zeros[sizeof magic - 1] = {0};
    char start[sizeof magic - 1];

    return lseek(l->file, 0, SEEK_END) <= 2L * AREA_BYTES &&
           read_file((void *)l, 0, start, sizeof start) == DYNSEL_OK &&
           (memcmp(start, magic, sizeof start) == 0 || memcmp(start, zeros, sizeof start) == 0);
}

bool learned_open(learned *l, const char *path)
{
    *l = (learned){.path = path, .file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666)};
    if (l->file < 0) {
        log_error("--learned %s: cannot be written: %s; give another name", path, strerror(errno));
        return false;
    }
    if (is_ours(l)) {
        return true;
    }
    log_error("--learned %s: there is something else than a learned table in this file, and it is "
              "left as it is; give another name, or remove it",
              path);
    learned_close(l);
    return false;
}

void learned_load(learned *l, dynsel_earliest_finish_policy *policy)
{
    const dynsel_learned_store store = store_of(l);
    char text[400];

    if (lseek(l->file, 0, SEEK_END) <= 0) {
        return; /* the first run */
    }
    if (dynsel_earliest_finish_load(policy, &store, &l->loaded) != DYNSEL_OK) {
        dynsel_error error = *dynsel_last_error();
        error.function = NULL;
        dynsel_error_text(&error, text, sizeof text);
        log_error("--learned %s: %s; all is learned anew", l->path, text);
        return;
    }
    size_t count = 0;
    (void)dynsel_get_resources(&policy->policy, &count);
    l->is_settled =
        l->loaded.kinds == FILTER_COUNT && l->loaded.devices == count && l->loaded.remeasured == 0;
}

bool learned_save(const learned *l, dynsel_earliest_finish_policy *policy,
                  dynsel_learned_report *report)
{
    const dynsel_learned_store store = store_of(l);

    errno = 0;
    if (dynsel_earliest_finish_save(policy, &store, report) == DYNSEL_OK) {
        return true;
    }
    if (errno != 0) {
        log_error("--learned %s: cannot be written: %s; the next run learns what is new again",
                  l->path, strerror(errno));
    } else {
        log_dynsel_error("what was learned cannot be written");
    }
    return false;
}

void learned_close(learned *l)
{
    if (l->file >= 0) {
        close(l->file);
        l->file = -1;
    }
}
