/* SPDX-License-Identifier: Apache-2.0 */
#define CL_TARGET_OPENCL_VERSION 120

#include "starpu_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../usecases/log.h"

enum { MOST_PLATFORMS = 16 };

static atomic_ulong tasks_of[STARPU_NMAXWORKERS];
static unsigned device_count;

unsigned long peer_tasks_of(unsigned worker)
{
    return atomic_load(&tasks_of[worker]);
}

void log_check(bool good, const char *what)
{
    if (!good) {
        log_exit(STATUS_FAILED, "%s failed", what);
    }
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && strtol(value, NULL, 10) > 0;
}

/* How many OpenCL devices StarPU takes if it may. */
static unsigned count_devices(void)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0;
    unsigned count = 0;
    cl_device_type type = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    type |= is_set("STARPU_OPENCL_ON_CPUS") ? CL_DEVICE_TYPE_CPU : 0;
    type = is_set("STARPU_OPENCL_ONLY_ON_CPUS") ? CL_DEVICE_TYPE_CPU : type;
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count) != CL_SUCCESS) {
        return 0;
    }
    for (cl_uint i = 0; i < platform_count && i < MOST_PLATFORMS; i++) {
        cl_uint found = 0;
        if (clGetDeviceIDs(platforms[i], type, 0, NULL, &found) == CL_SUCCESS) {
            count += found;
        }
    }
    return count < STARPU_MAXOPENCLDEVS ? count : STARPU_MAXOPENCLDEVS;
}

/* "0", "0,1": into the list of StarPU's options. */
static void choose_devices(struct starpu_conf *conf, const char *devices)
{
    const char *at = devices;
    conf->nopencl = 0;
    if (strcmp(devices, "none") == 0) {
        return;
    }
    while (*at != '\0') {
        char *end = NULL;
        const unsigned long number = strtoul(at, &end, 10);
        if (end == at || (*end != ',' && *end != '\0')) {
            log_exit(STATUS_USAGE, "--devices: '%s' is no list of numbers such as 0,1", devices);
        }
        if (number >= device_count || conf->nopencl == STARPU_NMAXWORKERS) {
            log_exit(STATUS_USAGE, "--devices %s: StarPU finds %u OpenCL devices, from 0 on",
                     devices, device_count);
        }
        conf->workers_opencl_gpuid[conf->nopencl++] = (unsigned)number;
        at = *end == ',' ? end + 1 : end;
    }
    conf->use_explicit_workers_opencl_gpuid = 1;
}

/* StarPU would take another one, with a warning. */
static void check_scheduler(const char *name)
{
    struct starpu_sched_policy **policies = starpu_sched_get_predefined_policies();
    for (size_t i = 0; policies[i] != NULL; i++) {
        if (strcmp(policies[i]->policy_name, name) == 0) {
            return;
        }
    }
    log_exit(STATUS_USAGE, "--scheduler: StarPU has no '%s'; STARPU_SCHED=help lists them", name);
}

static void set_workers(struct starpu_conf *conf, uint64_t workers)
{
    if (workers == PEER_ALL_WORKERS) {
        if (sysconf(_SC_NPROCESSORS_ONLN) > STARPU_MAXCPUS) {
            log_note("this StarPU was built for at most %d host workers; its configure "
                     "--enable-maxcpus allows more",
                     STARPU_MAXCPUS);
        }
        return;
    }
    if (workers > STARPU_MAXCPUS) {
        log_exit(STATUS_USAGE,
                 "--workers: more than %d, the limit that this StarPU was built with (its "
                 "configure --enable-maxcpus)",
                 STARPU_MAXCPUS);
    }
    conf->ncpus = (int)workers;
}

void peer_start(const peer_options *options)
{
    struct starpu_conf conf;
    check_scheduler(options->scheduler);
    device_count = count_devices();
    log_check(starpu_conf_init(&conf) == 0, "starpu_conf_init");
    conf.precedence_over_environment_variables = 1;
    conf.sched_policy_name = options->scheduler;
    set_workers(&conf, options->workers);
    if (options->devices != NULL) {
        choose_devices(&conf, options->devices);
    }
    if (starpu_init(&conf) != 0) {
        log_exit(STATUS_USAGE, "StarPU finds no worker; see --workers and --devices, and "
                               "STARPU_OPENCL_ON_CPUS=1 for OpenCL on processors");
    }
}

static void must(cl_int code, const char *function, const peer_kernel *kernel)
{
    if (code != CL_SUCCESS) {
        log_exit(STATUS_FAILED, "%s of %s: OpenCL error %d", function, kernel->name, (int)code);
    }
}

static void run_on_host(void *buffers[], void *args)
{
    const peer_call *call = args;
    void *data[PEER_MOST_BUFFERS];
    for (unsigned i = 0; i < call->kernel->buffers; i++) {
        data[i] = (void *)STARPU_VECTOR_GET_PTR(buffers[i]);
    }
    call->kernel->host(data, call);
    atomic_fetch_add(&tasks_of[starpu_worker_get_id_check()], 1);
}

static void set_arguments(cl_kernel to, void *buffers[], const peer_call *call)
{
    peer_kernel *kernel = call->kernel;
    for (unsigned i = 0; i < kernel->buffers; i++) {
        cl_mem memory = (cl_mem)STARPU_VECTOR_GET_DEV_HANDLE(buffers[i]);
        must(clSetKernelArg(to, i, sizeof memory, &memory), "clSetKernelArg", kernel);
    }
    for (unsigned i = 0; i < kernel->values; i++) {
        must(clSetKernelArg(to, kernel->buffers + i, sizeof(peer_value), &call->values[i]),
             "clSetKernelArg", kernel);
    }
}

static void run_on_opencl(void *buffers[], void *args)
{
    const peer_call *call = args;
    peer_kernel *kernel = call->kernel;
    const int worker = starpu_worker_get_id_check();
    cl_kernel built;
    cl_command_queue queue;
    cl_event event;
    must(starpu_opencl_load_kernel(&built, &queue, &kernel->program, kernel->name,
                                   starpu_worker_get_devid(worker)),
         "starpu_opencl_load_kernel", kernel);
    set_arguments(built, buffers, call);
    must(clEnqueueNDRangeKernel(queue, built, call->global[1] != 0 ? 2 : 1, NULL, call->global,
                                call->local[0] != 0 ? call->local : NULL, 0, NULL, &event),
         "clEnqueueNDRangeKernel", kernel);
    must(starpu_opencl_collect_stats(event), "starpu_opencl_collect_stats", kernel);
    must(clReleaseEvent(event), "clReleaseEvent", kernel);
    must(starpu_opencl_release_kernel(built), "starpu_opencl_release_kernel", kernel);
    atomic_fetch_add(&tasks_of[worker], 1);
}

static uint32_t footprint(struct starpu_task *task)
{
    const peer_call *call = task->cl_arg;
    uint32_t hash = starpu_task_data_footprint(task);
    hash = starpu_hash_crc32c_be_n(call->global, sizeof call->global, hash);
    return starpu_hash_crc32c_be_n(call->values, sizeof call->values, hash);
}

void peer_prepare(peer_kernel *kernel)
{
    kernel->model = (struct starpu_perfmodel){
        .type = STARPU_HISTORY_BASED, .symbol = kernel->name, .footprint = footprint};
    kernel->codelet = (struct starpu_codelet){.cpu_funcs = {run_on_host},
                                              .opencl_funcs = {run_on_opencl},
                                              .opencl_flags = {STARPU_OPENCL_ASYNC},
                                              .nbuffers = (int)kernel->buffers,
                                              .model = &kernel->model,
                                              .name = kernel->name};
    for (unsigned i = 0; i < kernel->buffers; i++) {
        kernel->codelet.modes[i] = kernel->modes[i];
    }
    if (starpu_opencl_worker_get_count() > 0) {
        must(starpu_opencl_load_opencl_from_string(kernel->source, &kernel->program, NULL),
             "starpu_opencl_load_opencl_from_string", kernel);
    }
}

void peer_release(peer_kernel *kernel)
{
    if (starpu_opencl_worker_get_count() > 0) {
        must(starpu_opencl_unload_opencl(&kernel->program), "starpu_opencl_unload_opencl", kernel);
    }
}

static void submit(peer_call *call, starpu_data_handle_t *handles, struct starpu_task *task)
{
    task->cl = &call->kernel->codelet;
    task->cl_arg = call;
    task->cl_arg_size = sizeof *call;
    for (unsigned i = 0; i < call->kernel->buffers; i++) {
        task->handles[i] = handles[i];
    }
    if (starpu_task_submit(task) != 0) {
        log_exit(STATUS_FAILED, "%s: no worker takes the task", call->kernel->name);
    }
}

void peer_submit(peer_call *call, starpu_data_handle_t *handles, int priority)
{
    struct starpu_task *task = starpu_task_create();
    task->priority = priority;
    submit(call, handles, task);
}

static void tell(void *done)
{
    atomic_store((atomic_bool *)done, true);
}

void peer_submit_told(peer_call *call, starpu_data_handle_t *handles, atomic_bool *done)
{
    struct starpu_task *task = starpu_task_create();
    task->callback_func = tell;
    task->callback_arg = done;
    atomic_store(done, false);
    submit(call, handles, task);
}

starpu_data_handle_t peer_register(void *memory, size_t count, size_t element)
{
    starpu_data_handle_t handle;
    log_check(count <= UINT32_MAX, "fewer than 2^32 elements in one piece of data");
    starpu_vector_data_register(&handle, STARPU_MAIN_RAM, (uintptr_t)memory, (uint32_t)count,
                                element);
    return handle;
}

void peer_acquire(starpu_data_handle_t data, enum starpu_data_access_mode mode)
{
    log_check(starpu_data_acquire(data, mode) == 0, "starpu_data_acquire");
}

void peer_touch(starpu_data_handle_t data, enum starpu_data_access_mode mode)
{
    peer_acquire(data, mode);
    starpu_data_release(data);
}

void peer_worker_name(unsigned worker, char *name, size_t size)
{
    char device_name[100] = "";
    cl_device_id device;
    const int number = starpu_worker_get_devid((int)worker);
    if (starpu_worker_get_type((int)worker) != STARPU_OPENCL_WORKER) {
        (void)snprintf(name, size, "host worker %d", number);
        return;
    }
    starpu_opencl_get_device(number, &device);
    (void)clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL);
    for (char *c = device_name; *c != '\0'; c++) {
        *c = *c == ',' || *c == '"' ? ' ' : *c; /* which CSV would need to quote */
    }
    (void)snprintf(name, size, device_count > 1 ? "%s #%d" : "%s", device_name, number);
}
