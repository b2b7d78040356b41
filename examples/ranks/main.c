/* SPDX-License-Identifier: Apache-2.0 */
/** ranks: tones a picture over the processes of an MPI program, on this and other machines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dynsel/dynsel.h>

#include "../common/build_progress.h"
#include "../common/log.h"
#include "../common/output.h"
#include "../common/picture.h"
#include "../sepia/policies.h"
#include "../sepia/reference.h"
#include "../sepia/tone.h"
#include "options.h"
#include "report.h"
#include "strips.h"

#define MADE_WIDTH  1024
#define MADE_HEIGHT 768
#define NS_IN_S     UINT64_C(1000000000)

/* For copies of the picture's strips, on ranks that serve. */
static _Alignas(4096) unsigned char memory[64 << 20];

static picture source, result;
static strips_result done;
static bool has_told_loss;

/* So that one rank tells mistakes. The variables are those of Open MPI and MPICH: there is no MPI
 * yet. */
static bool is_first_rank(void)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");

    text = text != NULL ? text : getenv("PMI_RANK");
    return text == NULL || strcmp(text, "0") == 0;
}

static bool make_picture(void)
{
    const picture model = {.width = MADE_WIDTH, .height = MADE_HEIGHT};

    if (!picture_like(&source, &model)) {
        return false;
    }
    for (size_t i = 0; i < picture_bytes(&source); i++) {
        const size_t pixel = i / PICTURE_CHANNELS;
        source.pixels[i] = i % PICTURE_CHANNELS == PICTURE_CHANNELS - 1
                               ? UINT8_MAX
                               : (uint8_t)((pixel % MADE_WIDTH) * (i % PICTURE_CHANNELS + 1) / 4 +
                                           pixel / MADE_WIDTH / 3);
    }
    return true;
}

static bool is_right(reference_difference found)
{
    if (found.largest <= TONE_TOLERANCE) {
        return true;
    }
    log_error("a wrong result, nothing is written: pixel %u,%u differs by %d of 255 from the "
              "reference; leave devices out with DYNSEL_OPENCL",
              found.x, found.y, found.largest);
    return false;
}

/** The compilers of all devices run here, and not in the time that is measured. */
static bool prepare(dynsel_policy *policy)
{
    static const dynsel_kernel *const kernels[] = {&strips_kernel};
    uint64_t since_ns = dynsel_now_ns();

    if (dynsel_kernel_prepare(policy, kernels, 1, build_progress, &since_ns) == DYNSEL_OK) {
        return true;
    }
    log_dynsel_error("a device cannot run the kernel; leave it out with DYNSEL_OPENCL");
    return false;
}

static void report_head(const options *o, const dynsel_policy *policy, uint32_t strips,
                        uint32_t rows)
{
    char name[4096];
    size_t resources = 0;

    (void)dynsel_get_resources(policy, &resources);
    printf("Picture  %s, %u x %u pixels\n",
           o->input != NULL ? dynsel_printable(o->input, name, sizeof name) : "made", source.width,
           source.height);
    printf("Strips   %u of %u rows", strips, rows);
    if (o->repeat > 1) {
        printf(", %u times", o->repeat);
    }
    printf(", placed by %s\n", policies_name((size_t)o->policy));
    printf("Ranks    %u, with %zu resources\n", dynsel_mpi_rank_count(), resources);
    if (dynsel_mpi_rank_count() == 1) {
        printf("Only this rank: `mpirun -n 4 %s` starts more.\n", log_program());
    }
    printf("\n");
    (void)fflush(stdout);
}

static bool write_result(const options *o, FILE *file)
{
    char name[4096];

    if (file == NULL) {
        return true;
    }
    if (!picture_write(&result, file, o->output) || !output_commit()) {
        return false;
    }
    printf("Written: %s\n", dynsel_printable(o->output, name, sizeof name));
    return true;
}

/* file: for the result; NULL: it is not wanted. */
static bool tone(const options *o, dynsel_policy *policy, FILE *file)
{
    uint32_t rows = o->rows;
    const uint32_t strips = strips_count(&source, &rows);

    if (strips == 0 || !prepare(policy)) {
        return false;
    }
    report_head(o, policy, strips, rows);
    if (!strips_run(policy, &source, &result, rows, o->repeat, &done)) {
        return false;
    }
    const reference_difference found = reference_compare(&source, &result);
    report_shares(policy, &done);
    has_told_loss = report_lost(&done);
    if (!is_right(found)) {
        return false;
    }
    printf("Largest difference from the reference: %d of 255.\n", found.largest);
    return write_result(o, file);
}

/* Of rank 0. The default resources of the policy: those of this machine, and of all other ranks. */
static bool run(const options *o)
{
    const dynsel_options all = {.resources = NULL};

    if (!(o->input != NULL ? picture_read(&source, o->input) : make_picture()) ||
        !picture_like(&result, &source)) {
        return false;
    }
    dynsel_policy *policy = policies_start(o->policy, &all, 0);
    if (policy == NULL) {
        log_dynsel_error("the policy cannot be initialized");
        return false;
    }
    FILE *file = o->output != NULL ? output_open(o->output) : NULL;
    const bool is_good = (o->output == NULL || file != NULL) && tone(o, policy, file);
    output_discard();
    if (dynsel_policy_deinit(policy) != DYNSEL_OK) {
        log_dynsel_error("the policy cannot be ended");
        return false;
    }
    return is_good;
}

/* Returns whether this rank is to go on. */
static bool open_ranks(const options *o)
{
    static const dynsel_kernel *const kernels[] = {&strips_kernel};
    const dynsel_mpi_options how = {.kernels = kernels,
                                    .kernel_count = 1,
                                    .memory = memory,
                                    .memory_bytes = sizeof memory,
                                    .silence_ns = o->silence_s * NS_IN_S,
                                    .own_thread = true};

    if (o->workers != 0 && dynsel_threads_start(o->workers) != DYNSEL_OK) {
        log_dynsel_error("the workers cannot be started; try fewer with --workers");
        return false;
    }
    if (dynsel_mpi_open(&how) == DYNSEL_OK) {
        return true;
    }
    if (is_first_rank()) {
        log_dynsel_error("the ranks cannot work together");
    }
    return false;
}

static int serve(void)
{
    if (dynsel_mpi_serve() == DYNSEL_OK) {
        return EXIT_SUCCESS;
    }
    log_dynsel_error("this rank has stopped serving");
    return EXIT_FAILURE;
}

/* A lost rank is no failure: its work was done elsewhere. One that had none is noticed here. */
static bool close_ranks(void)
{
    const dynsel_status status = dynsel_mpi_close();

    if (status == DYNSEL_E_OUT_OF_SERVICE && !has_told_loss) {
        printf("Rank %u was lost without work.\n", dynsel_last_error()->number);
    }
    if (status != DYNSEL_OK && status != DYNSEL_E_OUT_OF_SERVICE) {
        log_dynsel_error("the ranks cannot be ended");
        return false;
    }
    return true;
}

static int run_first(const options *o)
{
    int status = trace_file_begin(log_program(), o->trace, o->trace_records);

    if (status == EXIT_SUCCESS) {
        status = run(o) ? EXIT_SUCCESS : EXIT_FAILURE;
        if (trace_file_end() != EXIT_SUCCESS && status == EXIT_SUCCESS) {
            status = EXIT_FAILURE;
        }
    }
    return close_ranks() ? status : EXIT_FAILURE;
}

static int run_rank(const options *o)
{
    int status = EXIT_FAILURE;

    if (open_ranks(o)) {
        status = dynsel_mpi_rank() != 0 ? serve() : run_first(o);
    }
    if (status == EXIT_SUCCESS && !done.is_memory_used) {
        picture_free(&source);
        picture_free(&result);
    }
    return status;
}

int main(int argc, char **argv)
{
    static options o;

    log_prepare("ranks");
    log_silence(!is_first_rank());
    int status = options_parse(&o, argc, argv);
    log_silence(false);
    if (status != EXIT_SUCCESS) {
        return status;
    }
    log_progress_enable();
    if (!o.help) {
        status = run_rank(&o);
    } else if (is_first_rank()) {
        options_help();
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("standard output cannot be written");
        return EXIT_FAILURE;
    }
    return status;
}
