/* SPDX-License-Identifier: Apache-2.0 */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

#define FASTEST    1e6
#define LONGEST_NS ((uint64_t)1000000000000)

/* One option and its value. */
typedef struct option {
    const char *name;
    const char *value;
} option;

static const char *const case_options[] = {"--policy", "--speed",   "--without",
                                           "--add",    "--latency", "--trace"};

static bool is_case_option(const char *name)
{
    for (size_t i = 0; i < sizeof case_options / sizeof case_options[0]; i++) {
        if (strcmp(name, case_options[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool parse_whole(const char *text, uint64_t most, uint64_t *number)
{
    char *end = NULL;
    *number = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *number <= most;
}

static bool parse_factor(const char *text, double *factor)
{
    char *end = NULL;
    *factor = strtod(text, &end);
    return ((text[0] >= '0' && text[0] <= '9') || text[0] == '.') && *end == '\0' &&
           *factor >= 1 / FASTEST && *factor <= FASTEST;
}

int cases_begin(int count, char **words, cases *it)
{
    *it = (cases){.file = NULL};
    for (int i = 0; i < count; i++) {
        const char *name = words[i];
        uint64_t number = 0;
        if (strcmp(name, "--") == 0) {
            continue;
        }
        if (name[0] != '-' || name[1] == '\0') {
            if (it->file != NULL) {
                return log_wrong("what-if takes one file, and %s is another", name);
            }
            it->file = name;
            continue;
        }
        const bool is_known = is_case_option(name) || strcmp(name, "--case") == 0 ||
                              strcmp(name, "--recorded") == 0 || strcmp(name, "--csv") == 0;
        if (!is_known || i + 1 == count) {
            return log_wrong(is_known ? "%s: its value is missing (see dynsel-replay --help)"
                                      : "%s: no such option (see dynsel-replay --help)",
                             name);
        }
        const char *value = words[++i];
        if (strcmp(name, "--csv") == 0) {
            it->csv_path = value;
        } else if (strcmp(name, "--recorded") == 0) {
            if (!parse_whole(value, UINT16_MAX, &number) || number == 0) {
                return log_wrong("--recorded %s: give the number of a policy, from 1 on", value);
            }
            it->policy = (uint32_t)number;
        }
    }
    return it->file != NULL ? 0 : log_wrong("what-if needs a file (see dynsel-replay --help)");
}

static void begin_case(cases *it, const recorded_policy *policy)
{
    play_case *made = &it->list[it->count++];
    *made = (play_case){.policy = machine_kind_of(policy->name), .option = policy->option};
    made->count = policy->count;
    for (uint32_t i = 0; i < policy->count; i++) {
        made->resources[i] = (play_resource){.like = i, .speed = 1};
        (void)snprintf(made->resources[i].name, sizeof made->resources[i].name, "%s",
                       policy->resources[i].name);
    }
}

static int refuse_resource(const recorded_policy *policy, const char *name)
{
    char known[512] = "";
    for (uint32_t i = 0; i < policy->count; i++) {
        const size_t length = strlen(known);
        (void)snprintf(known + length, sizeof known - length, "%s%s", i == 0 ? "" : ", ",
                       policy->resources[i].name);
    }
    return log_wrong("there is no resource '%s': the recorded ones are %s", name, known);
}

/* Splits RES=VALUE at the last `=`. */
static bool split(const char *text, char *name, size_t bytes, const char **value)
{
    const char *equals = strrchr(text, '=');
    if (equals == NULL || (size_t)(equals - text) >= bytes) {
        return false;
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    *value = equals + 1;
    return true;
}

static int take_policy(play_case *made, const recorded_policy *recorded, const char *value)
{
    char name[RECORDING_NAME_BYTES + 32];
    (void)snprintf(name, sizeof name, "%s", value);
    char *colon = strchr(name, ':');
    if (colon != NULL) {
        *colon = '\0';
    }
    made->policy = machine_kind_of(name);
    if (made->policy == POLICY_KINDS || (colon != NULL && made->policy != FIXED_RESOURCE)) {
        return log_wrong("--policy %s: give fixed_resource:RESOURCE, round_robin, dynamic_load, "
                         "auto_tune or earliest_finish",
                         value);
    }
    if (made->policy != machine_kind_of(recorded->name) || colon != NULL) {
        made->option = made->policy == AUTO_TUNE ? DYNSEL_NEVER_RESAMPLE : 0;
    }
    for (uint32_t i = 0; colon != NULL; i++) {
        if (i == made->count) {
            return refuse_resource(recorded, colon + 1);
        }
        if (strcmp(made->resources[i].name, colon + 1) == 0) {
            made->option = i;
            break;
        }
    }
    return 0;
}

static void remove_resource(play_case *made, uint32_t index)
{
    made->count--;
    memmove(&made->resources[index], &made->resources[index + 1],
            (made->count - index) * sizeof made->resources[0]);
    if (made->policy == FIXED_RESOURCE && made->option > index) {
        made->option--;
    }
}

static int add_resources(play_case *made, uint32_t index, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (made->count == CONFIG_DYNSEL_MAX_RESOURCES) {
            return log_wrong("--add: more than %d resources: build dynsel with more "
                             "CONFIG_DYNSEL_MAX_RESOURCES",
                             CONFIG_DYNSEL_MAX_RESOURCES);
        }
        play_resource *added = &made->resources[made->count++];
        *added = made->resources[index];
        (void)snprintf(added->name, sizeof added->name, "%.48s +%u", made->resources[index].name,
                       (unsigned)i + 1);
    }
    return 0;
}

/* Such an option: RESOURCE, or RESOURCE=VALUE. */
typedef struct change {
    char name[RECORDING_NAME_BYTES + 16];
    double factor; /* of --speed */
    uint64_t whole;
} change;

static int parse_change(option given, change *it)
{
    const char *value = "";
    const bool is_speed = strcmp(given.name, "--speed") == 0;
    const bool is_add = strcmp(given.name, "--add") == 0;
    *it = (change){.factor = 1};
    if (strcmp(given.name, "--without") == 0) {
        (void)snprintf(it->name, sizeof it->name, "%s", given.value);
        return 0;
    }
    if (split(given.value, it->name, sizeof it->name, &value) &&
        (is_speed
             ? parse_factor(value, &it->factor)
             : parse_whole(value, is_add ? CONFIG_DYNSEL_MAX_RESOURCES : LONGEST_NS, &it->whole))) {
        return 0;
    }
    return log_wrong("%s %s: give RESOURCE=%s", given.name, given.value,
                     is_speed ? "FACTOR, from 0.000001 to 1000000"
                     : is_add ? "COUNT"
                              : "NANOSECONDS");
}

static int change_resource(play_case *made, uint32_t index, option given, const change *it)
{
    play_resource *resource = &made->resources[index];
    if (strcmp(given.name, "--without") == 0) {
        remove_resource(made, index);
    } else if (strcmp(given.name, "--speed") == 0) {
        resource->speed *= it->factor;
    } else if (strcmp(given.name, "--add") == 0) {
        return add_resources(made, index, it->whole);
    } else {
        resource->has_latency = true;
        resource->latency_ns = it->whole;
    }
    return 0;
}

/* An option about all resources of a name. */
static int change_resources(play_case *made, const recorded_policy *recorded, option given)
{
    change it;
    bool found = false;
    int status = parse_change(given, &it);
    for (uint32_t i = made->count; status == 0 && i-- > 0;) {
        if (strcmp(made->resources[i].name, it.name) == 0) {
            found = true;
            status = change_resource(made, i, given, &it);
        }
    }
    if (status != 0) {
        return status;
    }
    if (!found) {
        return refuse_resource(recorded, it.name);
    }
    return made->count != 0 ? 0 : log_wrong("--without %s: no resource is left", it.name);
}

static int take_option(play_case *made, const recorded_policy *policy, option given)
{
    const size_t length = strlen(made->name);
    if (strcmp(given.name, "--trace") == 0) {
        made->trace_path = given.value;
        return 0;
    }
    (void)snprintf(made->name + length, sizeof made->name - length, "%s%s %s",
                   length != 0 ? " " : "", given.name + 2, given.value);
    return strcmp(given.name, "--policy") == 0 ? take_policy(made, policy, given.value)
                                               : change_resources(made, policy, given);
}

int cases_take(int count, char **words, const recorded_policy *policy, cases *it)
{
    play_case *made = NULL;
    bool is_named = false;
    char name[sizeof made->name];
    it->count = 0;
    begin_case(it, policy);
    begin_case(it, policy);
    it->list[CASE_AS_RECORDED].as_recorded = true;
    (void)snprintf(it->list[CASE_AS_RECORDED].name, sizeof name, "placed as recorded");
    (void)snprintf(it->list[CASE_ANEW].name, sizeof name, "chosen anew");
    for (int i = 0; i < count; i++) {
        const bool is_case = strcmp(words[i], "--case") == 0;
        if (strcmp(words[i], "--") == 0) {
            made = NULL;
            continue;
        }
        if (!is_case && !is_case_option(words[i])) {
            i += words[i][0] == '-' && words[i][1] != '\0' ? 1 : 0;
            continue;
        }
        if (made == NULL || is_case) {
            if (it->count == CASES_MOST) {
                return log_wrong("there are more than %d cases", CASES_MOST - 2);
            }
            begin_case(it, policy);
            made = &it->list[it->count - 1];
            is_named = false;
        }
        const option given = {.name = words[i], .value = words[i + 1]};
        i++;
        if (is_case) {
            (void)snprintf(made->name, sizeof made->name, "%s", given.value);
            is_named = true;
            continue;
        }
        (void)snprintf(name, sizeof name, "%s", made->name);
        const int status = take_option(made, policy, given);
        if (status != 0) {
            return status;
        }
        if (is_named) {
            (void)snprintf(made->name, sizeof made->name, "%s", name);
        }
    }
    return 0;
}
