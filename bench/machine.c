/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "machine.h"

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static void print_processor(FILE *to, const char *before)
{
    static const char key[] = "model name";
    char line[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, key, sizeof key - 1) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    const char *colon = found ? strchr(line, ':') : NULL;
    (void)fprintf(to, "%sprocessor      %ld x %s", before, sysconf(_SC_NPROCESSORS_ONLN),
                  colon != NULL ? colon + 2 : "unknown\n");
}

void machine_print(FILE *to, const char *before)
{
    struct utsname system;
    char date[64] = "";
    const time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local) != NULL) {
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z", &local);
    }
    (void)fprintf(to, "%sdate           %s\n", before, date);
    if (uname(&system) == 0) {
        (void)fprintf(to, "%smachine        %s %s %s\n", before, system.sysname, system.release,
                      system.machine);
    }
    print_processor(to, before);
}
