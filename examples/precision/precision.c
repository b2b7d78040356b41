/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Double precision where a device has it, single precision everywhere: the sum of 1/k^2 for the
 * first million k, in turn on every resource that may run it.
 *
 * What this build knows of its devices decides what is compiled: without a device target that can
 * have fp64 there is no double form in the program, and where all targets promise it there is no
 * single one. What each device really has decides where the work goes when the program runs.
 */
#include <dynsel/dynsel.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "../common/program.h"

#define HAS_DOUBLE dynsel_any_device_has(fp64)
#define HAS_SINGLE !dynsel_all_devices_have(fp64)

enum { TERMS = 1 << 20, PARTS = 256, TURNS = 2 };

static const double LIMIT = 1.6449340668482264; /* pi squared / 6: where the sum goes */

typedef struct sum {
    bool in_double;
    double result;
} sum;

/* The forms for the host. */

#if HAS_DOUBLE
static double sum_double(void)
{
    double total = 0;
    for (int k = 1; k <= TERMS; k++) {
        total += 1.0 / ((double)k * (double)k);
    }
    return total;
}
#endif

#if HAS_SINGLE
static float sum_single(void)
{
    float total = 0;
    for (int k = 1; k <= TERMS; k++) {
        total += 1.0F / ((float)k * (float)k);
    }
    return total;
}
#endif

static dynsel_status sum_on_host(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sum *s = args;
    (void)where;
    (void)done;
#if HAS_DOUBLE
    if (s->in_double) {
        s->result = sum_double();
    }
#endif
#if HAS_SINGLE
    if (!s->in_double) {
        s->result = (double)sum_single();
    }
#endif
    return DYNSEL_OK;
}

/* The form for OpenCL devices: each of PARTS work items sums every PARTS-th term. */

#if CONFIG_DYNSEL_BACKEND_OPENCL

static const char *const SOURCE =
    "kernel void sum(global REAL *parts, int terms)\n"
    "{\n"
    "    REAL total = 0;\n"
    "    for (int k = get_global_id(0) + 1; k <= terms; k += get_global_size(0)) {\n"
    "        total += (REAL)1 / ((REAL)k * (REAL)k);\n"
    "    }\n"
    "    parts[get_global_id(0)] = total;\n"
    "}\n";

typedef struct device_work {
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem parts;
} device_work;

static cl_int make(const dynsel_resource *where, bool in_double, size_t bytes, device_work *work)
{
    cl_int code = CL_SUCCESS;
    work->queue = dynsel_opencl_queue(where);
    work->program = dynsel_opencl_program(where, SOURCE);
    if (work->queue == NULL || work->program == NULL) {
        return CL_INVALID_PROGRAM;
    }
    code = clBuildProgram(work->program, 0, NULL, in_double ? "-DREAL=double" : "-DREAL=float",
                          NULL, NULL);
    if (code == CL_SUCCESS) {
        work->kernel = clCreateKernel(work->program, "sum", &code);
    }
    if (code == CL_SUCCESS) {
        work->parts =
            clCreateBuffer(dynsel_opencl_context(where), CL_MEM_WRITE_ONLY, bytes, NULL, &code);
    }
    return code;
}

static cl_int run(const device_work *work, size_t bytes, void *parts)
{
    const cl_int terms = TERMS;
    const size_t items = PARTS;
    cl_int code = clSetKernelArg(work->kernel, 0, sizeof(cl_mem), &work->parts);
    code = code == CL_SUCCESS ? clSetKernelArg(work->kernel, 1, sizeof terms, &terms) : code;
    code = code == CL_SUCCESS ? clEnqueueNDRangeKernel(work->queue, work->kernel, 1, NULL, &items,
                                                       &items, 0, NULL, NULL)
                              : code;
    return code == CL_SUCCESS ? clEnqueueReadBuffer(work->queue, work->parts, CL_TRUE, 0, bytes,
                                                    parts, 0, NULL, NULL)
                              : code;
}

static void give_back(const device_work *work)
{
    if (work->parts != NULL) {
        (void)clReleaseMemObject(work->parts);
    }
    if (work->kernel != NULL) {
        (void)clReleaseKernel(work->kernel);
    }
    if (work->program != NULL) {
        (void)clReleaseProgram(work->program);
    }
}

static double add_up(bool in_double, const void *parts)
{
    double total = 0;
    for (int i = 0; i < PARTS; i++) {
        total += in_double ? ((const double *)parts)[i] : (double)((const float *)parts)[i];
    }
    return total;
}

static dynsel_status sum_on_device(const dynsel_resource *where, void *args, dynsel_event *done)
{
    sum *s = args;
    double parts[PARTS] = {0};
    device_work work = {0};
    const size_t bytes = PARTS * (s->in_double ? sizeof(double) : sizeof(float));
    cl_int code = make(where, s->in_double, bytes, &work);
    (void)done; /* complete on return, because the read waits */
    if (code == CL_SUCCESS) {
        code = run(&work, bytes, parts);
    }
    give_back(&work);
    s->result = add_up(s->in_double, parts);
    return dynsel_opencl_check("sum_on_device", code);
}

#endif

static const dynsel_task_form forms[] = {
#if CONFIG_DYNSEL_BACKEND_OPENCL
    {&dynsel_opencl_backend, sum_on_device},
#endif
    {NULL, sum_on_host},
};

static int complain(void)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    program_complain("precision", "%s", text);
    return 1;
}

/* One line for each turn: where it went, and how far the result is from the limit. */
static dynsel_status take_turns(dynsel_policy *policy, bool in_double, size_t turns)
{
    for (size_t i = 0; i < turns; i++) {
        sum s = {.in_double = in_double};
        const dynsel_task task = {
            .forms = forms,
            .form_count = sizeof forms / sizeof forms[0],
            .args = &s,
            .aspects = in_double ? DYNSEL_ASPECT_BIT(fp64) : 0,
        };
        dynsel_submission submission;
        dynsel_status status = dynsel_submit(policy, &task, &submission);
        if (status == DYNSEL_OK) {
            const dynsel_resource *where = dynsel_submission_resource(&submission);
            status = dynsel_wait(&submission);
            (void)printf("%-9s %-40.40s ", in_double ? "double" : "single",
                         dynsel_resource_name(where));
        }
        if (status != DYNSEL_OK) {
            (void)puts("failed");
            return status;
        }
        (void)printf("%.1e\n", fabs(s.result - LIMIT));
    }
    return DYNSEL_OK;
}

int main(int argc, char **argv)
{
    static dynsel_round_robin_policy policy;
    static const dynsel_options all = {.defaults = DYNSEL_HOST_AND_DEVICES};
    size_t count = 0;
    program_takes_nothing(
        argc, argv, "precision",
        "Computes a sum in double precision where a device has it, and in single\n"
        "precision everywhere; says how far each result is from the limit.\n");
    if (dynsel_round_robin_init(&policy, &all, 0) != DYNSEL_OK ||
        dynsel_get_resources(&policy.policy, &count) == NULL) {
        return complain();
    }
    if (dynsel_refused_count(&policy.policy) != 0) {
        (void)complain(); /* goes on without them */
    }
    (void)printf("%-9s %-40s %s\n", "precision", "device", "error");
    dynsel_status status = DYNSEL_OK;
#if HAS_DOUBLE
    status = take_turns(&policy.policy, true, TURNS * count);
    if (status == DYNSEL_E_ASPECT) {
        (void)puts("double    no device here has it");
        status = DYNSEL_OK;
    }
#endif
#if HAS_SINGLE
    if (status == DYNSEL_OK) {
        status = take_turns(&policy.policy, false, TURNS * count);
    }
#endif
    if (status != DYNSEL_OK) {
        return complain();
    }
    return program_end("precision",
                       dynsel_policy_deinit(&policy.policy) == DYNSEL_OK ? 0 : complain());
}
