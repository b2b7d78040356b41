/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700

#include "learned_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The same in each configuration of the library, so that each finds the second area: a table of a
 * hundred kinds takes less. */
#define AREA_BYTES 65536

static const char magic[] =
    "dynselLT"; /* a table begins with it, or with zeros while it is written */

/** Behind the end of the file are zeros. */
static dynsel_status read_file(void *context, size_t offset, void *bytes, size_t count)
{
    const learned_file *f = context;
    const ssize_t got = pread(f->descriptor, bytes, count, (off_t)offset);

    if (got < 0) {
        return DYNSEL_E_DEVICE;
    }
    memset((char *)bytes + got, 0, count - (size_t)got);
    return DYNSEL_OK;
}

static dynsel_status write_file(void *context, size_t offset, const void *bytes, size_t count)
{
    const learned_file *f = context;

    errno = ENOSPC; /* where only a part was written */
    return pwrite(f->descriptor, bytes, count, (off_t)offset) == (ssize_t)count ? DYNSEL_OK
                                                                                : DYNSEL_E_DEVICE;
}

static dynsel_status sync_file(void *context)
{
    const learned_file *f = context;

    return fsync(f->descriptor) == 0 ? DYNSEL_OK : DYNSEL_E_DEVICE;
}

static dynsel_learned_store store_of(learned_file *f)
{
    return (dynsel_learned_store){.context = f,
                                  .read = read_file,
                                  .write = write_file,
                                  .sync = sync_file,
                                  .area_bytes = AREA_BYTES,
                                  .areas = 2,
                                  .align = 1};
}

/** Whether the file may be written: a table is in it, or the begin of one, or nothing. */
static bool is_ours(learned_file *f)
{
    const char zeros[sizeof magic - 1] = {0};
    char start[sizeof magic - 1];

    return lseek(f->descriptor, 0, SEEK_END) <= 2L * AREA_BYTES &&
           read_file(f, 0, start, sizeof start) == DYNSEL_OK &&
           (memcmp(start, magic, sizeof start) == 0 || memcmp(start, zeros, sizeof start) == 0);
}

static bool fail(learned_file *f, const char *what, const char *why, const char *then)
{
    (void)snprintf(f->error, sizeof f->error, "%s%s%s", what, why, then);
    return false;
}

/** The library's last error. */
static bool fail_because(learned_file *f, const char *then)
{
    char text[300];
    dynsel_error error = *dynsel_last_error();

    error.function = NULL;
    dynsel_error_text(&error, text, sizeof text);
    return fail(f, "", text, then);
}

bool learned_file_open(learned_file *f, const char *path)
{
    f->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (f->descriptor < 0) {
        return fail(f, "cannot be written: ", strerror(errno), "; give another name");
    }
    if (is_ours(f)) {
        return true;
    }
    learned_file_close(f);
    return fail(
        f, "there is something else than a learned table in this file, and it is left as it is", "",
        "; give another name, or remove it");
}

bool learned_file_load(learned_file *f, dynsel_earliest_finish_policy *policy,
                       dynsel_learned_report *loaded)
{
    const dynsel_learned_store store = store_of(f);

    *loaded = (dynsel_learned_report){.kinds = 0};
    return lseek(f->descriptor, 0, SEEK_END) <= 0 || /* the first run */
           dynsel_earliest_finish_load(policy, &store, loaded) == DYNSEL_OK ||
           fail_because(f, "; all is learned anew");
}

bool learned_file_save(learned_file *f, dynsel_earliest_finish_policy *policy,
                       dynsel_learned_report *saved)
{
    const dynsel_learned_store store = store_of(f);

    errno = 0;
    if (dynsel_earliest_finish_save(policy, &store, saved) == DYNSEL_OK) {
        return true;
    }
    return errno != 0 ? fail(f, "cannot be written: ", strerror(errno),
                             "; the next run learns what is new again")
                      : fail_because(f, "");
}

void learned_file_close(learned_file *f)
{
    if (f->descriptor >= 0) {
        close(f->descriptor);
        f->descriptor = -1;
    }
}
