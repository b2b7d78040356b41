/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

static struct {
    FILE *file;
    const char *shown;        /* the name as the user gave it */
    char name[PATH_MAX];      /* where the file is to stand, links followed */
    char part[PATH_MAX + 64]; /* the temporary file */
    bool direct;              /* a device or a pipe: written without a temporary file */
} output;

static volatile sig_atomic_t part_exists;

static void on_signal(int number)
{
    if (part_exists) {
        unlink(output.part);
    }
    log_progress_erase();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct sigaction action = {.sa_handler = on_signal};
    struct sigaction before;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
            sigaction(numbers[i], &action, NULL);
        }
    }
    signal(SIGXFSZ, SIG_IGN); /* a picture over the limit is a failure to write, told as such */
}

static FILE *refused(const char *path, const char *why)
{
    log_error("%s: cannot be written: %s; choose another place with --output", path, why);
    return NULL;
}

/** Follows links, so that the file they point to is replaced and not the link. */
static bool resolve(const char *path)
{
    if (realpath(path, output.name) != NULL) {
        return true;
    }
    int length = snprintf(output.name, sizeof output.name, "%s", path);
    return length > 0 && (size_t)length < sizeof output.name;
}

static FILE *open_part(mode_t mode)
{
    const char *slash = strrchr(output.name, '/');
    int folder = slash == NULL ? 0 : (int)(slash - output.name + 1);

    snprintf(output.part, sizeof output.part, "%.*s.%s-%ld.part", folder, output.name,
             log_program(), (long)getpid());
    catch_signals();
    part_exists = 1; /* before it does: an interrupt in between must not leave it behind */
    unlink(output.part);
    int fd = open(output.part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) {
        part_exists = 0;
        return NULL;
    }
    return fdopen(fd, "wb");
}

FILE *output_open(const char *path)
{
    struct stat about;

    output.shown = path;
    output.direct = false;
    if (!resolve(path)) {
        return refused(path, strerror(ENAMETOOLONG));
    }
    if (stat(output.name, &about) != 0) {
        output.file = open_part(0666);
    } else if (S_ISDIR(about.st_mode)) {
        return refused(path, "it is a directory");
    } else if (access(output.name, W_OK) != 0) {
        return refused(path, strerror(errno));
    } else {
        output.direct = !S_ISREG(about.st_mode);
        output.file = output.direct ? fopen(output.name, "wb") : open_part(about.st_mode & 0777);
    }
    return output.file == NULL ? refused(path, strerror(errno)) : output.file;
}

bool output_commit(void)
{
    bool closed = fclose(output.file) == 0;

    output.file = NULL;
    if (closed && (output.direct || rename(output.part, output.name) == 0)) {
        part_exists = 0;
        return true;
    }
    refused(output.shown, strerror(errno));
    output_discard();
    return false;
}

void output_discard(void)
{
    if (output.file != NULL) {
        fclose(output.file);
        output.file = NULL;
    }
    if (part_exists) {
        unlink(output.part);
        part_exists = 0;
    }
}
