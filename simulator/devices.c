/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated devices: a backend for each kind of them. A run is known as soon as it is submitted: it
 * begins when the device is free and all that it comes after is over.
 */
#include "simulated.h"

#include <dynsel/error.h>
#include <dynsel/memory.h>

#define MIB ((uint64_t)1 << 20)

typedef struct current_run {
    dynsel_simulated_device *device; /* NULL: none */
    uint64_t spent_ns;
} current_run;

static current_run running;

dynsel_simulated_device *dynsel_simulated_running(void)
{
    return running.device;
}

void dynsel_simulated_spend(uint64_t ns)
{
    if (running.device != NULL) {
        running.spent_ns += ns;
    } else {
        simulated_note_activity();
        simulated_compute(ns);
    }
}

void dynsel_simulated_restart(void)
{
    simulated_restart_time();
}

static dynsel_status fail(const dynsel_simulated_device *device, dynsel_status status,
                          const char *detail)
{
    return dynsel_fail(&(dynsel_error){
        .status = status, .function = "simulator", .subject = device->name, .detail = detail});
}

static bool is_lost_at(const dynsel_simulated_device *device, uint64_t ns)
{
    return device->lost_ns != 0 && ns >= device->lost_ns;
}

/* Whether a function runs on the device for the first time. */
static bool compiles(dynsel_simulated_device *device, const void *function)
{
    if (device->compile_ns == 0) {
        return false;
    }
    for (uint32_t i = 0; i < DYNSEL_SIMULATED_FUNCTIONS; i++) {
        if (device->own.compiled[i] == function) {
            return false;
        }
        if (device->own.compiled[i] == NULL) {
            device->own.compiled[i] = function;
            return true;
        }
    }
    return false;
}

/*
 * Runs.
 */

/* Returns what ran before: a function that submits work may begin another run inside its own. */
static current_run begin(dynsel_simulated_device *device)
{
    const current_run outer = running;
    simulated_note_activity();
    running = (current_run){.device = device};
    return outer;
}

/* Returns what the function spent. */
static uint64_t end(current_run outer)
{
    const uint64_t spent_ns = running.spent_ns;
    running = outer;
    return spent_ns;
}

void simulated_change_end(simulated_event *event, const dynsel_simulated_device *device,
                          uint64_t end_ns)
{
    event->end_ns = end_ns;
    event->seen_ns = end_ns + device->latency_ns;
    event->fails = is_lost_at(device, end_ns);
    simulated_move_event(event);
}

/* Puts a run behind all others of the device, and behind `after_ns`. */
static void enqueue(dynsel_simulated_device *device, simulated_event *event, uint64_t after_ns,
                    uint64_t run_ns)
{
    if (simulated_shares_processors(device)) {
        event->alone_ns = run_ns;
        event->after_ns = after_ns;
        simulated_run_on_processors(device, event);
        device->pieces++;
        simulated_enter_event(event);
        return;
    }
    event->begin_ns = simulated_later(simulated_later(dynsel_now_ns(), device->free_ns), after_ns);
    event->end_ns = event->begin_ns + run_ns;
    event->seen_ns = event->end_ns + device->latency_ns;
    event->fails = is_lost_at(device, event->end_ns);
    device->free_ns = event->end_ns;
    device->busy_ns += run_ns;
    device->pieces++;
    simulated_enter_event(event);
}

/* A task function that launches nothing itself is the run. */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    dynsel_simulated_device *device = work->own;
    (void)backend;
    if (is_lost_at(device, dynsel_now_ns())) {
        return fail(device, DYNSEL_E_OUT_OF_SERVICE, "the device is lost");
    }
    simulated_event *event = simulated_take_event();
    if (event == NULL) {
        return DYNSEL_E_AGAIN;
    }
    simulated_compute(device->submit_ns);
    const current_run outer = begin(device);
    dynsel_work_call(work);
    const uint64_t spent_ns = end(outer);
    if (work->done.native != NULL || work->error.status != DYNSEL_OK) {
        simulated_free_event(event); /* a command group was launched, or nothing */
        return DYNSEL_OK;
    }
    const bool first = compiles(device, (const void *)work->function);
    enqueue(device, event, 0, spent_ns + (first ? device->compile_ns : 0));
    work->done.native = event;
    return DYNSEL_OK;
}

/* As the inline backend. */
static dynsel_status start_in_caller(dynsel_backend *backend, dynsel_work *work)
{
    dynsel_simulated_device *device = work->own;
    (void)backend;
    if (is_lost_at(device, dynsel_now_ns())) {
        return fail(device, DYNSEL_E_OUT_OF_SERVICE, "the device is lost");
    }
    simulated_event *event = simulated_take_event();
    if (event == NULL) {
        return DYNSEL_E_AGAIN;
    }
    const current_run outer = begin(device);
    dynsel_work_call(work);
    const uint64_t spent_ns = end(outer);
    simulated_compute(device->submit_ns);
    enqueue(device, event, 0, spent_ns);
    simulated_advance_to(event->end_ns);
    simulated_free_event(event);
    return DYNSEL_OK;
}

static dynsel_status result_of(const simulated_event *event, const dynsel_simulated_device *device)
{
    return event->fails ? fail(device, DYNSEL_E_DEVICE, "the device was lost") : DYNSEL_OK;
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    return simulated_poll(work->done.native) ? result_of(work->done.native, work->own)
                                             : DYNSEL_E_AGAIN;
}

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    const simulated_event *event = work->done.native;
    (void)backend;
    simulated_note_activity();
    simulated_advance_to(event->seen_ns);
    return result_of(event, work->own);
}

static void measure(dynsel_backend *backend, dynsel_work *work)
{
    const simulated_event *event = work->done.native;
    (void)backend;
    work->began = true;
    work->ready_ns = event->begin_ns;
    work->ended_ns = event->end_ns;
}

#if CONFIG_DYNSEL_TRACE
static bool tell_run(dynsel_backend *backend, const dynsel_work *work, dynsel_device_run *run)
{
    const simulated_event *event = work->done.native;
    (void)backend;
    if (event == NULL) {
        return false;
    }
    *run = (dynsel_device_run){.begin_ns = event->begin_ns,
                               .took_ns = event->end_ns - event->begin_ns};
    return true;
}
#endif

static void release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    simulated_free_event(work->done.native);
}

#if CONFIG_DYNSEL_COMMAND_GROUPS
/*
 * Memory: nothing is stored, and transfers take their time.
 */

static uint64_t bytes_ns(const dynsel_simulated_device *device, uint64_t bytes)
{
    return bytes / MIB * device->mib_ns + bytes % MIB * device->mib_ns / MIB;
}

static uint64_t end_of_all(const dynsel_event *after, size_t count)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < count; i++) {
        const simulated_event *event = after[i].native;
        ns = simulated_later(ns, event->end_ns);
    }
    return ns;
}

static dynsel_domain domain(dynsel_backend *backend, void *own)
{
    const dynsel_simulated_device *device = own;
    (void)backend;
    return (dynsel_domain){.number = device->memory, .in_order = true, .beside_bytes = 1};
}

static dynsel_status allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    (void)backend;
    memory->native = own;
    memory->shared = false;
    return DYNSEL_OK;
}

static void release_memory(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    (void)backend;
    (void)own;
    memory->native = NULL;
}

static dynsel_status transfer(dynsel_simulated_device *device, uint64_t bytes, uint64_t after_ns,
                              dynsel_event *done)
{
    if (is_lost_at(device, dynsel_now_ns())) {
        return fail(device, DYNSEL_E_DEVICE, "the device is lost");
    }
    simulated_event *event = simulated_take_event();
    if (event == NULL) {
        return DYNSEL_E_AGAIN;
    }
    const uint64_t takes_ns = device->transfer_ns + bytes_ns(device, bytes);
    simulated_note_activity();
    event->begin_ns =
        simulated_later(simulated_later(dynsel_now_ns(), after_ns), device->own.transfers_free_ns);
    event->end_ns = event->begin_ns + takes_ns;
    event->seen_ns = event->end_ns + device->latency_ns;
    event->fails = is_lost_at(device, event->end_ns);
    device->own.transfers_free_ns = event->end_ns;
    device->transfers++;
    device->bytes += bytes;
    device->transfers_ns += takes_ns;
    simulated_enter_event(event);
    done->native = event;
    return DYNSEL_OK;
}

static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    (void)backend;
    return contents ? transfer(own, memory->bytes, end_of_all(after, after_count), done)
                    : DYNSEL_OK;
}

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    (void)backend;
    (void)to_write;
    return contents ? transfer(own, memory->bytes, 0, done) : DYNSEL_OK;
}

static dynsel_status write_back(dynsel_backend *backend, void *own, const dynsel_memory *memory,
                                const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    (void)backend;
    return transfer(own, memory->bytes, end_of_all(after, after_count), done);
}

static uint64_t bytes_in(const dynsel_box *box)
{
    return (uint64_t)box->size[0] * box->size[1] * box->size[2];
}

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    dynsel_simulated_device *device = own;
    dynsel_status status = DYNSEL_OK;
    (void)backend;
    simulated_event *event = simulated_take_event();
    if (event == NULL) {
        return DYNSEL_E_AGAIN;
    }
    running.spent_ns = 0;
    if (command->kind == DYNSEL_COMMAND_KERNEL) {
        status = command->kernel->function(&command->launch);
        running.spent_ns += compiles(device, command->kernel) ? device->compile_ns : 0;
    } else {
        running.spent_ns = bytes_ns(device, bytes_in(&command->to_box));
    }
    if (status != DYNSEL_OK) {
        simulated_free_event(event);
        return status;
    }
    enqueue(device, event, end_of_all(command->after, command->after_count), running.spent_ns);
    done->native = event;
    return DYNSEL_OK;
}

static bool has_form(const dynsel_kernel *kernel)
{
    return kernel->function != NULL;
}

static bool is_memory_lost(dynsel_backend *backend, void *own)
{
    (void)backend;
    return is_lost_at(own, dynsel_now_ns());
}

static const dynsel_memory_ops memory_ops = {.domain = domain,
                                             .allocate = allocate,
                                             .release = release_memory,
                                             .bring = bring,
                                             .fetch = fetch,
                                             .write_back = write_back,
                                             .launch = launch,
                                             .launch_is_asynchronous = true,
                                             .is_lost = is_memory_lost,
                                             .has_form = has_form};
#endif

/*
 * The backends.
 */

static const char *name_of(dynsel_backend *backend, const void *handle)
{
    const dynsel_simulated_device *device = handle;
    (void)backend;
    return device->name != NULL ? device->name : "simulated";
}

#if CONFIG_DYNSEL_ASPECTS
static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *it)
{
    const dynsel_simulated_device *device = handle;
    (void)backend;
    it->vendor = "simulator";
    it->name = name_of(backend, handle);
    it->driver = "1";
    it->processors = device->threads;
    it->aspects = device->aspects;
    return DYNSEL_OK;
}
#endif

static bool is_lost(dynsel_backend *backend, const void *own)
{
    (void)backend;
    return is_lost_at(own, dynsel_now_ns());
}

#define REPORTS (DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME)

static const dynsel_backend_ops queue_ops = {
    .name = "simulated queue",
    .reports = REPORTS,
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    .times_runs_alone = true,
#endif
    .outlives_submit = true,
    .poll_synchronizes = true,
    .resource_name = name_of,
#if CONFIG_DYNSEL_ASPECTS
    .describe = describe,
#endif
    .start = start,
    .poll = poll,
    .wait = wait,
    .measure = measure,
#if CONFIG_DYNSEL_TRACE
    .tell_run = tell_run,
#endif
    .release = release,
    .is_lost = is_lost,
#if CONFIG_DYNSEL_COMMAND_GROUPS
    .memory = &memory_ops,
#endif
};

static const dynsel_backend_ops thread_ops = {
    .name = "simulated thread",
    .reports = REPORTS,
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    .times_runs_alone = true,
#endif
    .outlives_submit = true,
    .poll_synchronizes = true,
#if CONFIG_DYNSEL_COMMAND_GROUPS
    .in_order = true,
#endif
    .resource_name = name_of,
#if CONFIG_DYNSEL_ASPECTS
    .describe = describe,
#endif
    .start = start,
    .poll = poll,
    .wait = wait,
    .measure = measure,
#if CONFIG_DYNSEL_TRACE
    .tell_run = tell_run,
#endif
    .release = release,
    .is_lost = is_lost,
};

static const dynsel_backend_ops caller_ops = {
    .name = "simulated caller",
    .reports = REPORTS,
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
    .times_runs_alone = true,
#endif
#if CONFIG_DYNSEL_COMMAND_GROUPS
    .in_order = true,
#endif
    .resource_name = name_of,
#if CONFIG_DYNSEL_ASPECTS
    .describe = describe,
#endif
    .start = start_in_caller,
    .is_lost = is_lost,
};

static dynsel_backend backends[] = {[DYNSEL_SIMULATED_QUEUE] = {&queue_ops},
                                    [DYNSEL_SIMULATED_THREAD] = {&thread_ops},
                                    [DYNSEL_SIMULATED_CALLER] = {&caller_ops}};

dynsel_resource dynsel_simulated_resource(dynsel_simulated_device *device)
{
    return (dynsel_resource){.backend = &backends[device->kind], .handle = device};
}
