/* SPDX-License-Identifier: Apache-2.0 */
/* Loads each plugin that it is called with, beside a dynsel of its own, whose symbols it exports. */
#include <dlfcn.h>
#include <stdio.h>

#include "plugin.c"

static int run_plugin(const char *path)
{
    void *const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    const char *(*configuration)(void) = NULL;
    unsigned (*run)(unsigned) = NULL;
    *(void **)&configuration = dlsym(plugin, "plugin_configuration");
    *(void **)&run = dlsym(plugin, "plugin_run");
    printf("%s %u\n", configuration(), run(1000));
    return dlclose(plugin);
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        status |= run_plugin(argv[i]);
    }
    printf("%s %u\n", plugin_configuration(), plugin_run(10));
    return status;
}
