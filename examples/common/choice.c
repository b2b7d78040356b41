/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static const char *program = "";

#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
static dynsel_status round_robin(const dynsel_options *options, dynsel_policy **policy)
{
    static dynsel_round_robin_policy memory;
    *policy = &memory.policy;
    return dynsel_round_robin_init(&memory, options, 0);
}
#endif

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
static dynsel_status fixed_resource(const dynsel_options *options, dynsel_policy **policy)
{
    static dynsel_fixed_resource_policy memory;
    *policy = &memory.policy;
    return dynsel_fixed_resource_init(&memory, options, 0);
}
#endif

#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
static dynsel_status dynamic_load(const dynsel_options *options, dynsel_policy **policy)
{
    static dynsel_dynamic_load_policy memory;
    *policy = &memory.policy;
    return dynsel_dynamic_load_init(&memory, options);
}
#endif

#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
static dynsel_status auto_tune(const dynsel_options *options, dynsel_policy **policy)
{
    static dynsel_auto_tune_policy memory;
    *policy = &memory.policy;
    return dynsel_auto_tune_init(&memory, options, DYNSEL_NEVER_RESAMPLE);
}
#endif

#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
static dynsel_status earliest_finish(const dynsel_options *options, dynsel_policy **policy)
{
    static dynsel_earliest_finish_policy memory;
    *policy = &memory.policy;
    return dynsel_earliest_finish_init(&memory, options);
}
#endif

/* The first is taken when none is named. */
static const struct known_policy {
    const char *name;
    dynsel_status (*init)(const dynsel_options *options, dynsel_policy **policy);
} policies[] = {
#if CONFIG_DYNSEL_POLICY_ROUND_ROBIN
    {"round_robin", round_robin},
#endif
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
    {"fixed_resource", fixed_resource},
#endif
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
    {"dynamic_load", dynamic_load},
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
    {"auto_tune", auto_tune},
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    {"earliest_finish", earliest_finish},
#endif
};

enum { POLICIES = sizeof policies / sizeof policies[0] };

static const char *policy_names(void)
{
    static char names[128];
    size_t used = 0;
    for (size_t i = 0; i < POLICIES && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                                 policies[i].name);
    }
    return names;
}

static void help(const char *about)
{
    (void)printf("Usage: %s [--policy NAME] [--devices WHICH]\n%s\n"
                 "\n"
                 "  --policy NAME    how to pick; default: %s. There are\n"
                 "                   %s\n",
                 program, about, policies[0].name, policy_names());
    (void)puts("  --devices WHICH  what to pick from: all (this host and the OpenCL devices, the\n"
               "                   default), host, or OpenCL devices alone, such as gpu, 0,\n"
               "                   name=pthread; see <dynsel/opencl.h>\n"
               "  --help           print this\n"
               "\n"
               "Exit status: 0 when the results are right, 1 when not, 2 wrong usage.");
}

static void complain(void)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    program_complain(program, "%s", text);
}

static const struct known_policy *find_policy(const char *name)
{
    for (size_t i = 0; i < POLICIES; i++) {
        if (strcmp(policies[i].name, name) == 0) {
            return &policies[i];
        }
    }
    program_complain(program, "--policy %.100s: no such policy; there are %s", name,
                     policy_names());
    exit(PROGRAM_WRONG_USAGE);
}

static dynsel_resource resources[CONFIG_DYNSEL_MAX_RESOURCES];

/* The options for a policy: nothing said is everything that is there. */
static dynsel_options find_devices(const char *which)
{
    dynsel_options options = {0};
    if (strcmp(which, "all") == 0) {
        options.defaults = DYNSEL_HOST_AND_DEVICES;
        return options;
    }
    options.resources = resources;
    if (strcmp(which, "host") == 0) {
        resources[0] = (dynsel_resource){.backend = &dynsel_inline_backend};
        options.count = 1;
        return options;
    }
#if CONFIG_DYNSEL_BACKEND_OPENCL
    if (dynsel_opencl_select(which, resources, CONFIG_DYNSEL_MAX_RESOURCES, &options.count) ==
        DYNSEL_OK) {
        return options;
    }
    complain();
#else
    program_complain(program, "--devices %.100s: this build has no OpenCL, only host", which);
#endif
    exit(PROGRAM_WRONG_USAGE);
}

static const char *program_name(const char *path)
{
    const char *const slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : (path != NULL ? path : "example");
}

dynsel_policy *choice_make(int argc, char **argv, const char *about)
{
    static const struct option known[] = {{"policy", required_argument, NULL, 'p'},
                                          {"devices", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    const struct known_policy *chosen = &policies[0];
    const char *which = "all";
    dynsel_policy *policy = NULL;
    int option = 0;
    program = program_name(argv[0]);
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", known, NULL)) != -1) {
        if (option == 'h') {
            help(about);
            exit(program_end(program, EXIT_SUCCESS));
        } else if (option == 'p') {
            chosen = find_policy(optarg);
        } else if (option == 'd') {
            which = optarg;
        } else {
            program_complain(program, "%.100s: %s; see --help", argv[optind - 1],
                             option == ':' ? "a value is missing" : "not understood");
            exit(PROGRAM_WRONG_USAGE);
        }
    }
    if (optind < argc) {
        program_complain(program, "%.100s: not understood; see --help", argv[optind]);
        exit(PROGRAM_WRONG_USAGE);
    }
    const dynsel_options options = find_devices(which);
    if (chosen->init(&options, &policy) != DYNSEL_OK) {
        complain();
        exit(EXIT_FAILURE);
    }
    return policy;
}

void choice_say(const char *what, const dynsel_submission *submission)
{
    (void)printf("%-28s on %s\n", what,
                 dynsel_resource_name(dynsel_submission_resource(submission)));
}

int choice_end(dynsel_policy *policy, dynsel_status status, bool right)
{
    if (status == DYNSEL_OK) {
        status = dynsel_wait_group(dynsel_get_submission_group(policy));
    }
    if (status == DYNSEL_OK) {
        status = dynsel_policy_deinit(policy);
    }
#if CONFIG_DYNSEL_BACKEND_OPENCL
    if (status == DYNSEL_OK) {
        status = dynsel_opencl_close();
    }
#endif
    if (status != DYNSEL_OK) {
        complain();
    }
    return program_end(program, status == DYNSEL_OK && right ? EXIT_SUCCESS : EXIT_FAILURE);
}
