/* SPDX-License-Identifier: Apache-2.0 */
#include "work_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include <dynsel/dynsel.h>

#include "measure.h"
#include "phases.h"
#include "report.h"

/* SETTLING: batches of launches before any is measured, in which the library tries its sizes. */
enum { MOST_SIZES = 1000, LAUNCHES = 10, SCREENINGS = 3, SETTLING = 30, LOCAL_ITEMS = 1024 };

static const double MOST_TIMES_BEST = 1.05;

/* Each kernel takes the input, the output, and the size of a row. */
#define KERNEL(name_, before, body) KERNEL_OF(name_, false, before, body)
#define KERNEL_OF(name_, any_group_size_, before, body)                                            \
    static const dynsel_kernel name_ = {                                                           \
        .name = #name_,                                                                            \
        .any_group_size = (any_group_size_),                                                       \
        .source = "kernel " before "void " #name_                                                  \
                  "(global const float *in, global float *out, int columns) "                      \
                  "{ const int x = (int)get_global_id(0), y = (int)get_global_id(1), "             \
                  "z = (int)get_global_id(2), rows = (int)get_global_size(1);"                     \
                  "const size_t i = ((size_t)z * rows + y) * columns + x; (void)i; " body " }"}

KERNEL(triad, "", "out[i] = in[i] + 3.0f * out[i];");
KERNEL(polynomial, "",
       "float v = in[i]; for (int k = 0; k < 200; k++) v = v * 0.999f + 0.5f; out[i] = v;");
KERNEL(stencil, "",
       "const int r = x + 1 < columns ? 1 : 0, l = x > 0 ? 1 : 0;"
       "const int d = y + 1 < rows ? columns : 0, u = y > 0 ? columns : 0;"
       "out[i] = 0.2f * (in[i] + in[i + r] + in[i - l] + in[i + d] + in[i - u]);");
KERNEL(stencil_3d, "",
       "const int plane = rows * columns;"
       "const int r = x + 1 < columns ? 1 : 0, l = x > 0 ? 1 : 0;"
       "const int d = y + 1 < rows ? columns : 0, u = y > 0 ? columns : 0;"
       "const int b = z + 1 < (int)get_global_size(2) ? plane : 0, f = z > 0 ? plane : 0;"
       "out[i] = 0.1f * (in[i] + in[i + r] + in[i - l] + in[i + d] + in[i - u] + in[i + b] +"
       " in[i - f]);");
KERNEL(transpose, "", "out[(size_t)x * rows + y] = in[i];");
KERNEL(tiled_transpose, "__attribute__((reqd_work_group_size(16, 16, 1))) ",
       "local float tile[16][16 + 1];"
       "const int a = (int)get_local_id(0), b = (int)get_local_id(1);"
       "tile[b][a] = in[i]; barrier(CLK_LOCAL_MEM_FENCE);"
       "out[((size_t)get_group_id(0) * 16 + b) * rows + get_group_id(1) * 16 + a] = tile[a][b];");
/* Of whole numbers, so that the order does not matter; into many places, so that few groups wait
 * for each other. */
KERNEL_OF(sum, true, "",
          "local int part[1024]; const int a = (int)get_local_id(0); part[a] = (int)in[i];"
          "for (int n = (int)get_local_size(0); n > 1; n = (n + 1) / 2) {"
          " barrier(CLK_LOCAL_MEM_FENCE);"
          " if (a < n / 2) part[a] += part[a + (n + 1) / 2]; }"
          "if (a == 0) atomic_add((global int *)out + get_group_id(0) % 1024, part[0]);");
KERNEL(smooth, "",
       "local float near[1024 + 2]; const int a = (int)get_local_id(0), w = (int)get_local_size(0);"
       "const int last = (int)get_global_size(0) - 1; near[a + 1] = in[i];"
       "if (a == 0) near[0] = in[x > 0 ? x - 1 : 0];"
       "if (a == w - 1) near[w + 1] = in[x < last ? x + 1 : last];"
       "barrier(CLK_LOCAL_MEM_FENCE); out[i] = near[a] + near[a + 1] + near[a + 2];");
KERNEL(count_equal, "",
       "local int bins[64]; const int a = (int)get_local_id(0), w = (int)get_local_size(0);"
       "for (int k = a; k < 64; k += w) bins[k] = 0;"
       "barrier(CLK_LOCAL_MEM_FENCE); atomic_inc(&bins[(int)in[i] * 7 + x & 63]);"
       "barrier(CLK_LOCAL_MEM_FENCE);"
       "for (int k = a; k < 64; k += w) if (bins[k] != 0)"
       " atomic_add((global int *)out + k, bins[k]);");
KERNEL(product, "",
       "float v = 0; for (int k = 0; k < columns; k++)"
       " v += in[(size_t)y * columns + k] * in[(size_t)k * columns + x]; out[i] = v;");

typedef struct group_case {
    const char *name;
    const dynsel_kernel *kernel;
    size_t columns; /* in one dimension: the number of items is a multiple of it */
    size_t rows;    /* 0: all that is left of the items */
    uint32_t dimensions;
    bool only_powers; /* its local memory is for LOCAL_ITEMS work-items */
} group_case;

static const group_case cases[] = {
    {"triad", &triad, 1, 1, 1, false},
    {"triad, multiple of 1000", &triad, 1000, 1, 1, false},
    {"triad, multiple of 59049", &triad, 59049, 1, 1, false},
    {"polynomial", &polynomial, 1, 1, 1, false},
    {"sum with local memory", &sum, 1, 1, 1, true},
    {"smoothing with local memory", &smooth, 1, 1, 1, true},
    {"counting in local memory", &count_equal, 1, 1, 1, true},
    {"triad, rows of 4096", &triad, 4096, 0, 2, false},
    {"triad, rows of 100", &triad, 100, 0, 2, false},
    {"triad, rows of 17", &triad, 17, 0, 2, false},
    {"triad, rows of 3", &triad, 3, 0, 2, false},
    {"stencil, rows of 4096", &stencil, 4096, 0, 2, false},
    {"stencil, rows of 1920", &stencil, 1920, 0, 2, false},
    {"stencil, rows of 1000", &stencil, 1000, 0, 2, false},
    {"stencil, 1280 x 720", &stencil, 1280, 720, 2, false},
    {"polynomial, rows of 640", &polynomial, 640, 0, 2, false},
    {"transpose, rows of 4096", &transpose, 4096, 0, 2, false},
    {"transpose, rows of 1920", &transpose, 1920, 0, 2, false},
    {"tiled transpose, rows of 4096", &tiled_transpose, 4096, 0, 2, false},
    {"product, 1024 x 1024", &product, 1024, 1024, 2, false},
    {"stencil in 3D, 256 x 256", &stencil_3d, 256, 256, 3, false},
    {"stencil in 3D, 100 x 60", &stencil_3d, 100, 60, 3, false},
    {"triad in 3D, 8 x 8", &triad, 8, 8, 3, false},
};

/* In OpenCL's order. */
typedef struct group_size {
    size_t local[3]; /* 0: the driver's choice */
    double ns;       /* by hand */
    double given_ns; /* the size given to command groups */
} group_size;

typedef struct group_device {
    dynsel_fixed_resource_policy policy;
    cl_context context;
    cl_device_id id;
    cl_command_queue queue;
    cl_mem memory[2];
    dynsel_accessor in; /* placeholders */
    dynsel_accessor out;
    const group_case *what;
    dynsel_range range;
    dynsel_range local; /* no dimensions: the library chooses */
    cl_int columns;
    size_t most_items; /* that the device can have in a work-group */
} group_device;

static group_device the_device;
static group_size sizes[MOST_SIZES];

/* dynsel's range of a case: the last dimension is OpenCL's first. */
static dynsel_range range_of(const group_case *c, size_t items)
{
    const size_t row_count = items / c->columns;
    if (c->dimensions == 1) {
        return DYNSEL_RANGE(row_count * c->columns);
    }
    if (c->dimensions == 2) {
        return DYNSEL_RANGE_2D(c->rows != 0 ? c->rows : row_count, c->columns);
    }
    return DYNSEL_RANGE_3D(row_count / c->rows, c->rows, c->columns);
}

static dynsel_status launch_group(dynsel_handler *handler, void *args)
{
    const group_device *d = args;
    dynsel_require(handler, &d->in);
    dynsel_require(handler, &d->out);
    dynsel_set_arg_accessor(handler, 0, &d->in);
    dynsel_set_arg_accessor(handler, 1, &d->out);
    dynsel_set_arg_value(handler, 2, &d->columns, sizeof d->columns);
    return dynsel_parallel_for(handler, d->what->kernel, d->range,
                               d->local.dimensions != 0 ? &d->local : NULL, NULL);
}

/* Nanoseconds of one launch, of several one after another. size: NULL: the library chooses. */
static double time_groups(group_device *d, const group_size *size)
{
    d->local.dimensions = size != NULL ? d->range.dimensions : 0;
    for (uint32_t i = 0; i < d->local.dimensions; i++) {
        d->local.size[i] = size->local[d->local.dimensions - 1 - i];
    }
    const uint64_t began = measure_now_ns();
    bool good = true;
    for (int i = 0; i < LAUNCHES; i++) {
        good = dynsel_submit_command_group(&d->policy.policy, launch_group, d, NULL) == DYNSEL_OK &&
               good;
    }
    good = dynsel_wait_group(dynsel_get_submission_group(&d->policy.policy)) == DYNSEL_OK && good;
    report_check(good, "a command group");
    return (double)(measure_now_ns() - began) / LAUNCHES;
}

/* Negative: this device cannot run it with this size. */
static double time_by_hand(group_device *d, cl_kernel kernel, const group_size *size)
{
    const uint32_t dimensions = d->range.dimensions;
    size_t global[3] = {1, 1, 1};
    for (uint32_t i = 0; i < dimensions; i++) {
        global[i] = d->range.size[dimensions - 1 - i];
    }
    const uint64_t began = measure_now_ns();
    for (int i = 0; i < LAUNCHES; i++) {
        if (clEnqueueNDRangeKernel(d->queue, kernel, dimensions, NULL, global,
                                   size->local[0] != 0 ? size->local : NULL, 0, NULL,
                                   NULL) != CL_SUCCESS) {
            return -1;
        }
    }
    report_check(clFinish(d->queue) == CL_SUCCESS, "clFinish");
    return (double)(measure_now_ns() - began) / LAUNCHES;
}

static bool is_power_of_two(size_t x)
{
    return (x & (x - 1)) == 0;
}

static bool is_tried(const group_device *d, size_t size, size_t count)
{
    return count % size == 0 && (is_power_of_two(size) || !d->what->only_powers) &&
           (is_power_of_two(size) || is_power_of_two(count / size) || size == count || size >= 32);
}

static bool has_room_for_all_sizes(const group_device *d)
{
    return !d->what->only_powers || d->most_items <= LOCAL_ITEMS;
}

/* Writes sizes that divide the range. Returns how many. */
static unsigned list_sizes(const group_device *d)
{
    const size_t most_items = has_room_for_all_sizes(d) ? d->most_items : LOCAL_ITEMS;
    const uint32_t dimensions = d->range.dimensions;
    const size_t x_count = d->range.size[dimensions - 1];
    const size_t y_count = dimensions > 1 ? d->range.size[dimensions - 2] : 1;
    const size_t z_count = dimensions > 2 ? d->range.size[0] : 1;
    unsigned count = 0;
    for (size_t x = 1; x <= x_count && x <= most_items; x++) {
        for (size_t y = 1; is_tried(d, x, x_count) && y <= y_count && x * y <= most_items; y++) {
            for (size_t z = 1; y_count % y == 0 && z <= z_count && x * y * z <= most_items; z++) {
                const bool large = x * y * z >= 32 || x * y * z == most_items;
                if (z_count % z == 0 && count < MOST_SIZES && (large || dimensions == 1)) {
                    sizes[count++] = (group_size){.local = {x, y, z}};
                }
            }
        }
    }
    return count;
}

static int compare(double a, double b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

static int by_time(const void *a, const void *b)
{
    return compare(((const group_size *)a)->ns, ((const group_size *)b)->ns);
}

static int by_given_time(const void *a, const void *b)
{
    return compare(((const group_size *)a)->given_ns, ((const group_size *)b)->given_ns);
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* Sorts the sizes by their time by hand, after a short look at each; returns how many the device
 * can run. */
static unsigned screen(group_device *d, cl_kernel kernel, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        double least = time_by_hand(d, kernel, &sizes[i]); /* it may be compiled now */
        for (unsigned k = 0; k < SCREENINGS && least >= 0; k++) {
            const double ns = time_by_hand(d, kernel, &sizes[i]);
            least = ns < least ? ns : least;
        }
        if (least >= 0) {
            sizes[kept] = sizes[i];
            sizes[kept++].ns = least;
        }
    }
    qsort(sizes, kept, sizeof sizes[0], by_time);
    return kept;
}

static cl_kernel build(group_device *d, cl_program *program)
{
    cl_int code = CL_SUCCESS;
    const char *text = d->what->kernel->source;
    *program = clCreateProgramWithSource(d->context, 1, &text, NULL, &code);
    report_check(code == CL_SUCCESS &&
                     clBuildProgram(*program, 1, &d->id, "", NULL, NULL) == CL_SUCCESS,
                 "the kernel cannot be built");
    const cl_kernel kernel = clCreateKernel(*program, d->what->kernel->name, &code);
    report_check(code == CL_SUCCESS &&
                     clSetKernelArg(kernel, 0, sizeof(cl_mem), &d->memory[0]) == CL_SUCCESS &&
                     clSetKernelArg(kernel, 1, sizeof(cl_mem), &d->memory[1]) == CL_SUCCESS &&
                     clSetKernelArg(kernel, 2, sizeof d->columns, &d->columns) == CL_SUCCESS &&
                     clGetKernelWorkGroupInfo(kernel, d->id, CL_KERNEL_WORK_GROUP_SIZE,
                                              sizeof d->most_items, &d->most_items,
                                              NULL) == CL_SUCCESS,
                 "clCreateKernel");
    return kernel;
}

/* The nanoseconds of one launch with the library's choice and the driver's. */
typedef struct chosen {
    double library;
    double driver; /* by hand; negative: it cannot choose */
} chosen;

/* The fastest sizes, the driver's choice and the library's in turn, so that noise hits each. The
 * sizes are also given to command groups, so that a difference to these is one of the choice. */
static chosen compare_choices(group_device *d, cl_kernel kernel, unsigned fastest,
                              unsigned repetitions)
{
    const group_size drivers = {.local = {0}};
    for (unsigned i = 0; i < SETTLING; i++) {
        (void)time_groups(d, NULL);
    }
    chosen c = {.library = time_groups(d, NULL), .driver = -1};
    if (has_room_for_all_sizes(d)) {
        c.driver = time_by_hand(d, kernel, &drivers);
    }
    for (unsigned k = 0; k < fastest; k++) {
        sizes[k].given_ns = time_groups(d, &sizes[k]);
    }
    for (unsigned i = 0; i < repetitions; i++) {
        c.library = lesser(c.library, time_groups(d, NULL));
        for (unsigned k = 0; k < fastest; k++) {
            sizes[k].ns = lesser(sizes[k].ns, time_by_hand(d, kernel, &sizes[k]));
            sizes[k].given_ns = lesser(sizes[k].given_ns, time_groups(d, &sizes[k]));
        }
        if (c.driver >= 0) {
            c.driver = lesser(c.driver, time_by_hand(d, kernel, &drivers));
        }
    }
    return c;
}

static void report(const group_device *d, const group_size *best, chosen c, const char *name)
{
    char subject[128];
    (void)snprintf(subject, sizeof subject, "%.7s, %s", name, d->what->name);
    report_add(&(report_row){.table = "work-groups",
                             .subject = subject,
                             .resources = 1,
                             .threads = 1,
                             .reference = best->given_ns,
                             .measured = c.library,
                             .overlap = -1,
                             .limit = best->given_ns * MOST_TIMES_BEST});
    printf("    best %zu x %zu x %zu, by hand %.1f ns", best->local[0], best->local[1],
           best->local[2], best->ns);
    if (c.driver >= 0) {
        printf(", driver %.2f of it\n", c.driver / best->ns);
    } else {
        printf(", the driver cannot choose, or may choose too many\n");
    }
}

static void measure(group_device *d, const group_case *c, size_t items, const char *name,
                    unsigned repetitions)
{
    enum { FASTEST = 4 };
    cl_program program = NULL;
    d->what = c;
    d->range = range_of(c, items);
    d->columns = (cl_int)d->range.size[d->range.dimensions - 1];
    const cl_kernel kernel = build(d, &program);
    const unsigned count = screen(d, kernel, list_sizes(d));
    report_check(count != 0, "no size of a work-group is possible");
    const unsigned fastest = count < FASTEST ? count : (unsigned)FASTEST;
    const chosen times = compare_choices(d, kernel, fastest, repetitions);
    qsort(sizes, fastest, sizeof sizes[0], by_given_time);
    (void)clReleaseKernel(kernel);
    (void)clReleaseProgram(program);
    report(d, &sizes[0], times, name);
}

static void open_buffer(group_device *d, int i, float *data, size_t items)
{
    cl_int code = CL_SUCCESS;
    dynsel_buffer buffer = {0};
    report_check(dynsel_buffer_init(&buffer, data, sizeof *data, DYNSEL_RANGE(items)) == DYNSEL_OK,
                 "dynsel_buffer_init");
    dynsel_accessor *const accessor = i == 0 ? &d->in : &d->out;
    *accessor = (dynsel_accessor){.name = i == 0 ? "in" : "out",
                                  .buffer = buffer,
                                  .mode = DYNSEL_ACCESS_READ_WRITE,
                                  .placeholder = true};
    d->memory[i] = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                  items * sizeof *data, data, &code);
    report_check(code == CL_SUCCESS, "clCreateBuffer");
}

static void measure_device(const dynsel_resource *where, uint32_t items, unsigned repetitions)
{
    const dynsel_options options = {.resources = where, .count = 1};
    group_device *const d = &the_device;
    float *const data = calloc(2 * (size_t)items, sizeof *data);
    report_check(data != NULL, "memory for the items");
    *d = (group_device){.queue = dynsel_opencl_queue(where),
                        .context = dynsel_opencl_context(where),
                        .id = dynsel_opencl_device(where)};
    report_check(dynsel_fixed_resource_init(&d->policy, &options, 0) == DYNSEL_OK, "init");
    open_buffer(d, 0, data, items);
    open_buffer(d, 1, data + items, items);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t least = cases[i].columns * (cases[i].rows != 0 ? cases[i].rows : 1);
        if (least <= items) {
            measure(d, &cases[i], items, dynsel_resource_name(where), repetitions);
        } else {
            report_nothing(cases[i].name, 1, 1, "it needs more work-items than were asked for");
        }
    }
    report_check(dynsel_buffer_deinit(&d->in.buffer) == DYNSEL_OK &&
                     dynsel_buffer_deinit(&d->out.buffer) == DYNSEL_OK &&
                     dynsel_policy_deinit(&d->policy.policy) == DYNSEL_OK,
                 "deinit");
    (void)clReleaseMemObject(d->memory[0]);
    (void)clReleaseMemObject(d->memory[1]);
    free(data);
}

void bench_work_groups(uint32_t items, unsigned repetitions)
{
    size_t count = 0;
    const dynsel_resource *const resources = bench_devices(BENCH_MOST_DEVICES, &count);
    char title[400];
    if (count == 0) {
        return;
    }
    (void)snprintf(title, sizeof title,
                   "One of %d launches over about %u work-items, with the work-group size that the "
                   "library chooses.\nBest: with the fastest of the sizes that divide the range, "
                   "given to the same command groups. The\nfastest samples count; the budget is 5 "
                   "%% more.",
                   LAUNCHES, items);
    report_table(title, "best ns");
    for (size_t i = 0; i < count; i++) {
        measure_device(&resources[i], items, repetitions);
    }
}
