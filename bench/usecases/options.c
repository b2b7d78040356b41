/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <stddef.h>

#include <dynsel/config.h>

#include "../../examples/common/trace_file.h"
#include "log.h"

void usecase_options_parse(int argc, char **argv, const char *about, const argument *own,
                           usecase_options *options)
{
    const argument shared[] = {
        {.name = "--devices",
         .value = "WHICH",
         .help = "OpenCL devices, as in <dynsel/opencl.h>, or none (default: all)",
         .text = &options->devices},
        {.name = "--workers",
         .value = "N",
         .help = "number of host workers",
         .number = &options->workers,
         .most = CONFIG_DYNSEL_THREADS_WORKERS},
        {.name = "--seed",
         .value = "N",
         .help = "seed of the random choices; it is printed",
         .number = &options->seed,
         .most = UINT64_MAX},
        {.name = "--csv",
         .value = "FILE",
         .help = "write all figures as CSV",
         .text = &options->csv},
        {.name = "--label",
         .value = "TEXT",
         .help = "name of the machine",
         .text = &options->label},
        {.name = "--trace",
         .value = "FILE",
         .help = "write what dynsel did, when and why, for dynsel-trace",
         .text = &options->trace},
        {.name = "--trace-records",
         .value = "N",
         .help = "room for so many events of 32 bytes",
         .number = &options->trace_records,
         .least = TRACE_FILE_LEAST_RECORDS,
         .most = TRACE_FILE_MOST_RECORDS},
        {.name = NULL}};
    options->trace_records = TRACE_FILE_RECORDS;
    log_set_program(argv[0]);
    arguments_parse(
        argc, argv,
        &(arguments){
            .program = log_program(),
            .about = about,
            .notes =
                "Without --devices, the environment variable DYNSEL_OPENCL selects the devices.\n"
                "Exit status: 0; 1 when a result is wrong, a device fails or the file cannot "
                "be written; 2 for\na wrong command line, or if there are fewer resources "
                "than needed.\n",
            .own = own,
            .shared = shared});
}
