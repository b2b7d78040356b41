/* SPDX-License-Identifier: Apache-2.0 */
#define CL_TARGET_OPENCL_VERSION 120

#include "starpu_peer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../usecases/log.h"

static atomic_ulong tasks_of[STARPU_NMAXWORKERS];

unsigned long peer_tasks_of(unsigned worker)
{
    return atomic_load(&tasks_of[worker]);
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
        if (end == at || (*end != ',' && *end != '\0') || conf->nopencl == STARPU_NMAXWORKERS) {
            log_exit(STATUS_USAGE, "--devices: '%s' is no list of numbers such as 0,1", devices);
        }
        conf->workers_opencl_gpuid[conf->nopencl++] = (unsigned)number;
        at = *end == ',' ? end + 1 : end;
    }
    conf->use_explicit_workers_opencl_gpuid = 1;
}

void peer_start(const peer_options *options)
{
    struct starpu_conf conf;
    log_check(starpu_conf_init(&conf) == 0, "starpu_conf_init");
    conf.precedence_over_environment_variables = 1;
    conf.sched_policy_name = options->scheduler;
    if (options->workers != PEER_ALL_WORKERS) {
        if (options->workers > STARPU_MAXCPUS) {
            log_exit(STATUS_USAGE, "--workers: more than %d, StarPU's limit", STARPU_MAXCPUS);
        }
        conf.ncpus = (int)options->workers;
    }
    if (options->devices != NULL) {
        choose_devices(&conf, options->devices);
    }
    if (starpu_init(&conf) != 0) {
        log_exit(STATUS_USAGE, "StarPU finds no worker; see --workers and --devices, and "
                               "STARPU_OPENCL_ON_CPUS=1 for OpenCL on processors");
    }
    if (options->devices != NULL && (int)starpu_opencl_worker_get_count() != conf.nopencl) {
        log_exit(STATUS_USAGE, "--devices %s: StarPU has only %u such OpenCL devices",
                 options->devices, starpu_opencl_worker_get_count());
    }
}

static void must(cl_int code, const char *function, const peer_kernel *kernel)
{
    if (code != CL_SUCCESS) {
        log_exit(STATUS_FAILED, "%s of %s: OpenCL error %d", function, kernel->name, (int)code);
    }
}

static void run_on_host(void *buffers[], void *argument)
{
    const peer_call *call = argument;
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

static void run_on_opencl(void *buffers[], void *argument)
{
    const peer_call *call = argument;
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

void peer_submit(peer_call *call, starpu_data_handle_t *handles, int priority)
{
    struct starpu_task *task = starpu_task_create();
    task->cl = &call->kernel->codelet;
    task->cl_arg = call;
    task->cl_arg_size = sizeof *call;
    task->priority = priority;
    for (unsigned i = 0; i < call->kernel->buffers; i++) {
        task->handles[i] = handles[i];
    }
    if (starpu_task_submit(task) != 0) {
        log_exit(STATUS_FAILED, "%s: no worker takes the task", call->kernel->name);
    }
}

void *peer_memory(size_t bytes)
{
    void *memory = aligned_alloc(PEER_PAGE, (bytes + PEER_PAGE - 1) / PEER_PAGE * PEER_PAGE);
    if (memory == NULL) {
        log_exit(STATUS_FAILED, "the host has no memory for %zu MiB", bytes >> 20);
    }
    return memory;
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
    (void)snprintf(name, size, starpu_opencl_worker_get_count() > 1 ? "%s #%d" : "%s", device_name,
                   number);
}
