/* SPDX-License-Identifier: Apache-2.0 */
/** Laid over the C library with LD_PRELOAD, so that the host has ODD_PROCESSORS processors. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

long sysconf(int name)
{
    const char *count = name == _SC_NPROCESSORS_ONLN ? getenv("ODD_PROCESSORS") : NULL;

    return count != NULL ? strtol(count, NULL, 10)
                         : ((__typeof__(&sysconf))dlsym(RTLD_NEXT, "sysconf"))(name);
}
