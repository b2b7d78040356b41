/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The use cases of bench/usecases through StarPU, for comparison: the same kernels, sizes and
 * checks. bench/peers/starpu_compare builds it, and runs it with each scheduler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"
#include "starpu_peer.h"
#include "starpu_report.h"

static const peer_command *const commands[] = {&peer_nstream, &peer_filter,   &peer_stream,
                                               &peer_matmul,  &peer_cholesky, &peer_stencil};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static const char *const NOTES =
    "STARPU_CALIBRATE, STARPU_HOME and StarPU's other variables act as its manual says; "
    "STARPU_OPENCL_ON_CPUS=1\nallows OpenCL on processors. Exit status: 0; 1 when a result is "
    "wrong, a worker fails or the file cannot be\nwritten; 2 for a wrong command line, or without "
    "a worker.\n";

static void print_help(FILE *to)
{
    (void)fprintf(to,
                  "Usage: %s COMMAND [OPTION VALUE]...\nThe use cases of dynsel through StarPU. "
                  "COMMAND --help lists the options of one:\n\n",
                  log_program());
    for (size_t i = 0; i < COMMANDS; i++) {
        (void)fprintf(to, "  %-10s %.*s\n", commands[i]->name,
                      (int)strcspn(commands[i]->about, "\n"), commands[i]->about);
    }
    (void)fprintf(to, "\n%s", NOTES);
}

static void parse(const peer_command *command, peer_options *options, int argc, char **argv)
{
    char program[64];
    const argument shared[] = {
        {.name = "--scheduler",
         .value = "NAME",
         .help = "StarPU's scheduler",
         .text = &options->scheduler},
        {.name = "--devices",
         .value = "WHICH",
         .help = "numbers of OpenCL devices (0,1), or none (default: all)",
         .text = &options->devices},
        {.name = "--workers",
         .value = "N",
         .help = "host workers (default: one for each processor that serves no device)",
         .number = &options->workers,
         .most = UINT64_MAX},
        {.name = "--seed",
         .value = "N",
         .help = "seed of the data and of random choices; it is printed",
         .number = &options->seed,
         .most = UINT64_MAX},
        {.name = "--csv",
         .value = "FILE",
         .help = "write all figures as CSV",
         .text = &options->csv},
        {.name = "--column",
         .value = "TEXT",
         .help = "column of the CSV file (default: after the scheduler)",
         .text = &options->column},
        {.name = "--label",
         .value = "TEXT",
         .help = "name of the machine",
         .text = &options->label},
        {.name = NULL}};
    (void)snprintf(program, sizeof program, "%s %s", log_program(), command->name);
    arguments_parse(argc, argv,
                    &(arguments){.program = program,
                                 .about = command->about,
                                 .notes = NOTES,
                                 .own = command->own,
                                 .shared = shared});
}

int main(int argc, char **argv)
{
    peer_options options = {.scheduler = "dmda", .workers = PEER_ALL_WORKERS, .seed = 1};
    log_set_program("starpu-usecases");
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        print_help(stdout);
        return EXIT_SUCCESS;
    }
    for (size_t i = 0; argc > 1 && i < COMMANDS; i++) {
        if (strcmp(argv[1], commands[i]->name) == 0) {
            parse(commands[i], &options, argc - 1, argv + 1);
            peer_start(&options);
            peer_report_open(&options, argc, argv);
            commands[i]->run(&options);
            peer_report_close();
            starpu_shutdown();
            return EXIT_SUCCESS;
        }
    }
    print_help(stderr);
    return STATUS_USAGE;
}
