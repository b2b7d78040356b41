/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans a machine that is not there: simulated devices in virtual time, and a stream of work of
 * random kinds, on one device of each class alone and with each policy. It is linked with
 * libdynsel-simulator.a in front of the library.
 */
#define _POSIX_C_SOURCE 200809L

#include <dynsel/dynsel.h>
#include <dynsel/simulator.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../common/arguments.h"
#include "../common/log.h"
#include "../common/trace_file.h"

enum {
    MOST_DEVICES = CONFIG_DYNSEL_MAX_RESOURCES,
    MOST_IN_FLIGHT = CONFIG_DYNSEL_MAX_IN_FLIGHT,
    MOST_KINDS = 64,
    MOST_PIECES = 1000000000,
    MOST_LATENCY_US = 1000000,
    USUAL_IN_FLIGHT = MOST_IN_FLIGHT < 16 ? MOST_IN_FLIGHT : 16,
    SHOWN_EACH = 1 << 14 /* pieces, of the progress */
};

enum { GPU, PROCESSORS, THREAD, RANK, CLASSES };

static const char *const class_names[CLASSES] = {"gpu", "processors", "thread", "rank"};

static struct {
    uint32_t counts[CLASSES];
    uint32_t latency_us; /* of a message between ranks */
    uint32_t pieces;
    uint32_t in_flight;
    uint32_t kinds;
    uint32_t seed;
    uint32_t trace_records;
    const char *trace; /* NULL: nothing is traced */
    bool help;
} options = {{1, 1, 1, 0}, 10, 20000, USUAL_IN_FLIGHT, 12, 1, TRACE_FILE_RECORDS, NULL, false};

static uint32_t takes_ns[MOST_KINDS][CLASSES];
static dynsel_simulated_device devices[MOST_DEVICES];
static uint32_t classes[MOST_DEVICES];
static uint32_t count; /* of devices */
static uint64_t state; /* of the random numbers */

static uint32_t next_random(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

/* The more of a kind can be done at once, the faster is a GPU. */
static void make_kinds(void)
{
    state = options.seed;
    for (uint32_t k = 0; k < options.kinds; k++) {
        const uint32_t gpu_ns = 6000u << next_random(7);
        const uint32_t thread_ns = (gpu_ns >> 4) << next_random(13);
        const uint32_t processors_ns = thread_ns / (1u << next_random(5));
        takes_ns[k][GPU] = gpu_ns;
        takes_ns[k][THREAD] = thread_ns;
        takes_ns[k][RANK] = thread_ns;
        takes_ns[k][PROCESSORS] = processors_ns + 5000;
    }
}

static void make_machine(void)
{
    static const dynsel_simulated_device described[CLASSES] = {
        [GPU] = {.name = "gpu", .memory = 1, .submit_ns = 6000, .latency_ns = 12000},
        [PROCESSORS] = {.name = "processors", .submit_ns = 3000, .latency_ns = 20000},
        [THREAD] = {.name = "thread",
                    .kind = DYNSEL_SIMULATED_THREAD,
                    .submit_ns = 300,
                    .latency_ns = 5000},
        /* another machine's processor, which work and its answer reach by a message each */
        [RANK] = {.name = "rank", .memory = MOST_DEVICES, .submit_ns = 1000},
    };
    dynsel_simulated_restart();
    count = 0;
    for (uint32_t k = 0; k < CLASSES; k++) {
        for (uint32_t i = 0; i < options.counts[k]; i++) {
            classes[count] = k;
            devices[count] = described[k];
            devices[count].memory += k == GPU || k == RANK ? i : 0;
            devices[count].latency_ns += k == RANK ? 2000 * options.latency_us : 0;
#if CONFIG_DYNSEL_ASPECTS
            devices[count].aspects = k == GPU          ? DYNSEL_ASPECT_BIT(gpu)
                                     : k == PROCESSORS ? DYNSEL_ASPECT_BIT(cpu)
                                                       : DYNSEL_ASPECT_BIT(host);
#endif
            count++;
        }
    }
}

static dynsel_status run(const dynsel_resource *where, void *args, dynsel_event *done)
{
    const dynsel_simulated_device *device = where->handle;
    (void)done;
    dynsel_simulated_spend(((const uint32_t *)args)[classes[device - devices]]);
    return DYNSEL_OK;
}

static void require(dynsel_status status, const char *what)
{
    if (status != DYNSEL_OK) {
        log_dynsel_error(what);
        exit(EXIT_FAILURE);
    }
}

static double seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Keeps some pieces in flight, and waits for the oldest. */
static void stream(dynsel_policy *policy, const char *name)
{
    static dynsel_submission flying[MOST_IN_FLIGHT];
    state = options.seed + 1;
    log_progress_begin(name, "pieces", options.pieces);
    for (uint32_t i = 0; i < options.pieces + options.in_flight; i++) {
        dynsel_submission *slot = &flying[i % options.in_flight];
        if (i >= options.in_flight) {
            require(dynsel_wait(slot), "a piece of work");
        }
        if (i < options.pieces) {
            const uint32_t kind = next_random(options.kinds);
            const dynsel_task task = {.function = run, .args = takes_ns[kind], .id = kind + 1};
            require(dynsel_submit(policy, &task, slot), "a piece of work");
        }
        if (i % SHOWN_EACH == 0) {
            log_progress(i < options.pieces ? i : options.pieces);
        }
    }
    log_progress_end();
}

/* What the whole stream took. */
typedef struct result {
    char name[32];
    uint64_t time_ns;
    uint64_t busy_ns[CLASSES]; /* of all devices of a class together */
    double took_s;             /* the simulation */
} result;

static uint64_t best_alone_ns = UINT64_MAX;

static void print_row(const result *it)
{
    printf("%-18s %11.3f %8.2f", it->name, (double)it->time_ns / 1e6,
           (double)best_alone_ns / (double)it->time_ns);
    for (uint32_t k = 0; k < CLASSES; k++) {
        if (options.counts[k] != 0) {
            printf(" %8.0f %%", 100 * (double)it->busy_ns[k] /
                                    ((double)it->time_ns * (double)options.counts[k]));
        }
    }
    printf(" %12.0f\n", (double)options.pieces / it->took_s);
}

static result measure(const char *name, dynsel_policy *policy)
{
    result it = {.busy_ns = {0}};
    const double began_s = seconds();
    (void)snprintf(it.name, sizeof it.name, "%s", name);
    stream(policy, name);
    it.took_s = seconds() - began_s;
    it.time_ns = dynsel_now_ns();
    for (uint32_t i = 0; i < count; i++) {
        it.busy_ns[classes[i]] += devices[i].busy_ns;
    }
    require(dynsel_policy_deinit(policy), name);
    return it;
}

static result measure_alone(uint32_t of_class)
{
    static dynsel_fixed_resource_policy policy;
    char name[32];
    uint32_t first = 0;
    make_machine();
    while (classes[first] != of_class) {
        first++;
    }
    const dynsel_resource resource = dynsel_simulated_resource(&devices[first]);
    const dynsel_options alone = {.resources = &resource, .count = 1};
    require(dynsel_fixed_resource_init(&policy, &alone, 0), "fixed_resource");
    (void)snprintf(name, sizeof name, "one %s", class_names[of_class]);
    return measure(name, &policy.policy);
}

/* Rows are compared with the best of them, so they are printed when all are known. */
static void measure_each_alone(void)
{
    result alone[CLASSES];
    uint32_t rows = 0;
    for (uint32_t k = 0; k < CLASSES; k++) {
        if (options.counts[k] != 0) {
            alone[rows] = measure_alone(k);
            best_alone_ns =
                alone[rows].time_ns < best_alone_ns ? alone[rows].time_ns : best_alone_ns;
            rows++;
        }
    }
    for (uint32_t i = 0; i < rows; i++) {
        print_row(&alone[i]);
    }
}

static dynsel_options whole_machine(void)
{
    static dynsel_resource resources[MOST_DEVICES];
    make_machine();
    for (uint32_t i = 0; i < count; i++) {
        resources[i] = dynsel_simulated_resource(&devices[i]);
    }
    return (dynsel_options){.resources = resources, .count = count};
}

static void print_policy(const char *name, dynsel_policy *policy)
{
    const result it = measure(name, policy);
    print_row(&it);
}

static void name_kinds(void)
{
    for (uint32_t k = 0; k < options.kinds; k++) {
        char name[16];
        (void)snprintf(name, sizeof name, "kind %u", (unsigned)k);
        trace_file_name(&(dynsel_task){.function = run, .id = k + 1}, name);
    }
}

/* One trace has one run, because virtual time begins anew with each. Returns the exit status. */
static int print_traced_policy(const char *name, dynsel_policy *policy)
{
    const int status = trace_file_begin(log_program(), options.trace, options.trace_records);
    if (status == EXIT_SUCCESS) {
        name_kinds();
        print_policy(name, policy);
    }
    return status == EXIT_SUCCESS ? trace_file_end() : status;
}

/* Returns the exit status. */
static int measure_policies(void)
{
    static dynsel_round_robin_policy round_robin;
    static dynsel_dynamic_load_policy dynamic_load;
    static dynsel_auto_tune_policy auto_tune;
    static dynsel_earliest_finish_policy earliest_finish;
    dynsel_options all = whole_machine();
    require(dynsel_round_robin_init(&round_robin, &all, 0), "round_robin");
    print_policy("round_robin", &round_robin.policy);
    all = whole_machine();
    require(dynsel_dynamic_load_init(&dynamic_load, &all), "dynamic_load");
    print_policy("dynamic_load", &dynamic_load.policy);
    all = whole_machine();
    require(dynsel_auto_tune_init(&auto_tune, &all, DYNSEL_NEVER_RESAMPLE), "auto_tune");
    print_policy("auto_tune", &auto_tune.policy);
    all = whole_machine();
    require(dynsel_earliest_finish_init(&earliest_finish, &all), "earliest_finish");
    return print_traced_policy("earliest_finish", &earliest_finish.policy);
}

static void print_help(void)
{
    printf(
        "Usage: plan [OPTION]...\n"
        "Runs a stream of work on a machine that is not there, in virtual time: with each of\n"
        "dynsel's policies, and on one device of each class alone. Prints how long it takes,\n"
        "how many times as fast as the best device alone that is, how busy the devices are, and\n"
        "how many pieces of work are simulated in a second.\n"
        "\n"
        "  --gpus N        0 to %d, as all devices together; default: 1\n"
        "  --processors N  OpenCL devices that use the host's processors; default: 1\n"
        "  --threads N     workers of the host; default: 1\n"
        "  --ranks N       processes of an MPI program on other machines, each with a processor\n"
        "                  that is as fast as a worker; default: 0\n"
        "  --latency N     of a message between two of them, in microseconds, at most %d;\n"
        "                  default: 10\n"
        "  --pieces N      of work, 1 to %d; default: 20000\n"
        "  --in-flight N   at a time, 1 to %d; default: %d\n"
        "  --kinds N       of work, with random run times, 1 to %d; default: 12\n"
        "  --seed N        of the random numbers; default: 1\n"
        "  --trace FILE    write what happened with earliest_finish, and why, in virtual time;\n"
        "                  dynsel-trace shows it\n"
        "  --trace-records N  room for so many events of 32 bytes; default: %d\n"
        "  --help          print this\n"
        "\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage.\n",
        MOST_DEVICES, MOST_LATENCY_US, MOST_PIECES, MOST_IN_FLIGHT, USUAL_IN_FLIGHT, MOST_KINDS,
        TRACE_FILE_RECORDS);
}

static int parse_number(const char *option, const char *text, uint32_t least, uint32_t most,
                        uint32_t *out)
{
    return arguments_number(text, strlen(text), least, most, out)
               ? 0
               : arguments_wrong("--%s %s: give a number from %u to %u", option, text,
                                 (unsigned)least, (unsigned)most);
}

static int parse(int argc, char **argv)
{
    static const struct option long_options[] = {{"gpus", required_argument, NULL, 'g'},
                                                 {"processors", required_argument, NULL, 'p'},
                                                 {"threads", required_argument, NULL, 't'},
                                                 {"ranks", required_argument, NULL, 'r'},
                                                 {"latency", required_argument, NULL, 'l'},
                                                 {"pieces", required_argument, NULL, 'n'},
                                                 {"in-flight", required_argument, NULL, 'i'},
                                                 {"kinds", required_argument, NULL, 'k'},
                                                 {"seed", required_argument, NULL, 's'},
                                                 {"trace", required_argument, NULL, 'T'},
                                                 {"trace-records", required_argument, NULL, 'R'},
                                                 {"help", no_argument, NULL, 'h'},
                                                 {NULL, 0, NULL, 0}};
    int status = 0;
    int answer;
    int index = 0;
    opterr = 0;
    while (status == 0 && (answer = getopt_long(argc, argv, ":", long_options, &index)) != -1) {
        const char *name = long_options[index].name;
        switch (answer) {
        case 'g':
            status = parse_number(name, optarg, 0, MOST_DEVICES, &options.counts[GPU]);
            break;
        case 'p':
            status = parse_number(name, optarg, 0, MOST_DEVICES, &options.counts[PROCESSORS]);
            break;
        case 't':
            status = parse_number(name, optarg, 0, MOST_DEVICES, &options.counts[THREAD]);
            break;
        case 'r':
            status = parse_number(name, optarg, 0, MOST_DEVICES, &options.counts[RANK]);
            break;
        case 'l':
            status = parse_number(name, optarg, 0, MOST_LATENCY_US, &options.latency_us);
            break;
        case 'n':
            status = parse_number(name, optarg, 1, MOST_PIECES, &options.pieces);
            break;
        case 'i':
            status = parse_number(name, optarg, 1, MOST_IN_FLIGHT, &options.in_flight);
            break;
        case 'k':
            status = parse_number(name, optarg, 1, MOST_KINDS, &options.kinds);
            break;
        case 's':
            status = parse_number(name, optarg, 0, UINT32_MAX, &options.seed);
            break;
        case 'T':
            options.trace = optarg;
            status = optarg[0] != '\0' ? 0 : arguments_wrong("--trace: the name is empty");
            break;
        case 'R':
            status = arguments_trace_records(optarg, &options.trace_records);
            break;
        case 'h':
            options.help = true;
            return 0;
        default:
            return arguments_refuse_option(answer, argv);
        }
    }
    uint32_t together = 0;
    for (uint32_t k = 0; k < CLASSES; k++) {
        together += options.counts[k];
    }
    if (status == 0 && optind < argc) {
        return arguments_wrong("'%s' is no option", argv[optind]);
    }
    if (status == 0 && (together < 1 || together > MOST_DEVICES)) {
        return arguments_wrong("%u devices: give 1 to %d, or build dynsel with more "
                               "CONFIG_DYNSEL_MAX_RESOURCES",
                               (unsigned)together, MOST_DEVICES);
    }
    return status;
}

int main(int argc, char **argv)
{
    log_prepare("plan");
    int status = parse(argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        print_help();
    } else {
        log_progress_enable();
        make_kinds();
        printf("%u pieces of work of %u kinds, %u in flight, seed %u\n\n", (unsigned)options.pieces,
               (unsigned)options.kinds, (unsigned)options.in_flight, (unsigned)options.seed);
        printf("%-18s %11s %8s", "", "Time ms", "x best");
        for (uint32_t k = 0; k < CLASSES; k++) {
            if (options.counts[k] != 0) {
                printf(" %10s", class_names[k]);
            }
        }
        printf(" %12s\n", "Simulated/s");
        measure_each_alone();
        status = measure_policies();
    }
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        log_error("standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
