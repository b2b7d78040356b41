/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/simulated_memory.h"

#include "test.h"

#include <sched.h>
#include <string.h>

enum { OF_ALLOCATED = 0xA5, OF_RELEASED = 0xD5, OF_TAKEN = 0xB7 };

/* Nothing that is left out is ever found by chance: each poisoning gives other bytes. */
static void poison(simulated_backend *sim, unsigned char *data, size_t bytes, unsigned char kind)
{
    sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)(kind ^ (sim->random >> (8 + i % 5 * 8)));
    }
}

static void mistake(simulated_backend *sim, const char *what)
{
    print_error("simulated memory: %s\n", what);
    atomic_fetch_add(&sim->mistakes, 1);
}

static void expect(simulated_backend *sim, bool holds, const char *what)
{
    if (!holds) {
        mistake(sim, what);
    }
}

static simulated_backend *locked(dynsel_backend *backend)
{
    simulated_backend *sim = (simulated_backend *)(void *)backend;
    while (atomic_exchange(&sim->lock, 1u) != 0) {
        sched_yield();
    }
    return sim;
}

static void unlock(simulated_backend *sim)
{
    atomic_store(&sim->lock, 0u);
}

static dynsel_status ended_with(dynsel_status status, int32_t code)
{
    return status == DYNSEL_OK ? DYNSEL_OK
                               : dynsel_fail(&(dynsel_error){
                                     .status = status, .function = "simulated", .code = code});
}

static dynsel_status ended(dynsel_status status)
{
    return ended_with(status, (int32_t)status - 100);
}

/* Whether the call now is the one that the test wants to fail. */
static bool falls_on(simulated_backend *sim, simulated_kind kind)
{
    if (sim->failing_in == 0 || (sim->failing_kinds & (unsigned)kind) == 0) {
        return false;
    }
    sim->failing_in--;
    sim->has_failed |= sim->failing_in == 0;
    return sim->failing_in == 0;
}

/* Operations */

static bool can_take_place(const simulated_operation *op)
{
    for (size_t i = 0; i < op->after_count; i++) {
        if (op->after[i]->state == SIMULATED_PENDING) {
            return false;
        }
    }
    return true;
}

static void free_if_over(simulated_operation *op)
{
    if (op->state >= SIMULATED_DONE && !op->owned && op->held == 0) {
        op->state = SIMULATED_FREE;
    }
}

static bool lets_go_of_failed(simulated_operation *op)
{
    bool failed = false;
    for (size_t i = 0; i < op->after_count; i++) {
        failed |= op->after[i]->state == SIMULATED_FAILED;
        op->after[i]->held--;
        free_if_over(op->after[i]);
    }
    op->after_count = 0;
    return failed;
}

static void take_bring(simulated_backend *sim, const simulated_operation *op)
{
    simulated_copy *copy = op->copy;
    if (copy->shared && (copy->device_has_it || copy->host_may_read)) {
        /* the host had no right to write */
    } else if (op->contents) {
        memcpy(copy->data, copy->host, copy->bytes);
    } else {
        poison(sim, copy->data, copy->bytes, OF_TAKEN);
    }
    if (copy->shared) {
        if (copy->was_mapped) {
            poison(sim, copy->host, copy->bytes, OF_TAKEN);
        }
        copy->device_has_it = true;
        copy->host_may_read = false;
    }
}

static void check_host_may_get(simulated_backend *sim, const simulated_copy *fetched)
{
    for (size_t i = 0; i < SIMULATED_COPIES; i++) {
        const simulated_copy *copy = &sim->copies[i];
        expect(sim,
               copy == fetched || copy->domain == 0 || !copy->shared ||
                   copy->host != fetched->host || !copy->device_has_it || sim->has_failed,
               "data are fetched into memory that a device has");
    }
}

static void deliver(simulated_backend *sim, simulated_operation *op)
{
    simulated_copy *copy = op->copy;
    check_host_may_get(sim, copy);
    if (op->contents) {
        memcpy(copy->host, copy->data, copy->bytes);
    } else if (!copy->shared || copy->device_has_it) {
        poison(sim, copy->host, copy->bytes, OF_TAKEN);
    }
    if (copy->shared) {
        copy->device_has_it = false;
        copy->host_may_read = !op->to_write;
        copy->was_mapped = true;
    }
    op->delivered = true;
}

static unsigned char *at(const simulated_copy *copy, const dynsel_box *box, size_t slice,
                         size_t row)
{
    return copy->data + box->first + slice * box->slice_pitch + row * box->row_pitch;
}

static dynsel_status take_boxes(const simulated_operation *op)
{
    const dynsel_command *command = op->command;
    const dynsel_box *to = &command->to_box;
    for (size_t slice = 0; slice < to->size[0]; slice++) {
        for (size_t row = 0; row < to->size[1]; row++) {
            unsigned char *const out = at(op->copies[1], to, slice, row);
            if (command->kind == DYNSEL_COMMAND_COPY) {
                memcpy(out, at(op->copies[0], &command->from_box, slice, row), to->size[2]);
                continue;
            }
            for (size_t i = 0; i < to->size[2]; i += command->element_bytes) {
                memcpy(out + i, command->element, command->element_bytes);
            }
        }
    }
    return DYNSEL_OK;
}

static dynsel_status take_kernel(const simulated_operation *op)
{
    dynsel_argument arguments[CONFIG_DYNSEL_MAX_ARGUMENTS];
    dynsel_launch launch = op->command->launch;
    for (size_t i = 0; i < launch.argument_count; i++) {
        arguments[i] = launch.arguments[i];
        if (arguments[i].kind == DYNSEL_ARGUMENT_DATA) {
            arguments[i].value = op->copies[i]->data;
        }
    }
    launch.arguments = arguments;
    return op->command->kernel->function(&launch);
}

static dynsel_status take_launch(simulated_backend *sim, const simulated_operation *op)
{
    for (size_t i = 0; i < sizeof op->copies / sizeof op->copies[0]; i++) {
        const simulated_copy *copy = op->copies[i];
        expect(sim, copy == NULL || !copy->shared || copy->device_has_it || copy->host_may_read,
               "work on memory that the host has");
    }
    return op->command->kind == DYNSEL_COMMAND_KERNEL ? take_kernel(op) : take_boxes(op);
}

static void count_pending(simulated_operation *op, int change)
{
    for (size_t i = 0; i < sizeof op->copies / sizeof op->copies[0]; i++) {
        if (op->copies[i] != NULL) {
            op->copies[i]->pending += (unsigned)change;
        }
    }
    if (op->copy != NULL) {
        op->copy->pending += (unsigned)change;
        op->copy->moving += (unsigned)change;
    }
}

static void take_place(simulated_backend *sim, simulated_operation *op)
{
    const bool depends_on_failure = lets_go_of_failed(op);
    const bool launches = !depends_on_failure && !op->fails && op->kind == SIMULATED_LAUNCH;
    if (depends_on_failure) {
        op->result = DYNSEL_E_DEPENDENCY;
    } else if (op->fails && !(op->kind == SIMULATED_BRING && op->copy->shared)) {
        op->result = sim->failing_status;
    } else if (op->kind == SIMULATED_LAUNCH) {
        op->result = take_launch(sim, op);
    } else if (op->kind == SIMULATED_BRING) {
        take_bring(sim, op);
    } else if (!sim->waits_deliver) {
        deliver(sim, op);
    }
    const dynsel_error *const told = dynsel_last_error();
    op->code = launches && told->status == op->result ? told->code : (int32_t)op->result - 100;
    count_pending(op, -1);
    op->state = op->result == DYNSEL_OK ? SIMULATED_DONE : SIMULATED_FAILED;
    free_if_over(op);
}

/* The oldest of a device in order; any that can take place of others. */
static simulated_operation *next_of(simulated_backend *sim, const simulated_device *device)
{
    simulated_operation *next = NULL;
    unsigned ready = 0;
    for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
        simulated_operation *op = &sim->operations[i];
        if (op->state != SIMULATED_PENDING || op->device != device) {
            continue;
        }
        if (device->in_order) {
            next = next == NULL || op->sequence < next->sequence ? op : next;
        } else if (can_take_place(op)) {
            ready++;
            sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
            next = next == NULL || (sim->random >> 33) % ready == 0 ? op : next;
        }
    }
    return next != NULL && can_take_place(next) ? next : NULL;
}

static bool step(simulated_backend *sim, const simulated_device *device, bool hurry)
{
    simulated_operation *op = next_of(sim, device);
    if (op == NULL) {
        return false;
    }
    if (!hurry && op->polls > 0) {
        op->polls--;
        return false;
    }
    take_place(sim, op);
    return true;
}

static void finish(simulated_backend *sim)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
            goes_on |= step(sim, &sim->devices[i], true);
        }
    }
}

static simulated_operation *new_operation(simulated_backend *sim, simulated_kind kind,
                                          simulated_device *device)
{
    for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
        simulated_operation *op = &sim->operations[i];
        if (op->state == SIMULATED_FREE) {
            sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
            *op = (simulated_operation){
                .state = SIMULATED_PENDING,
                .kind = kind,
                .device = device,
                .fails = sim->failing_late && falls_on(sim, kind),
                .sequence = sim->sequence++,
                .polls = device->polls == 0 ? 0 : (unsigned)((sim->random >> 33) % device->polls),
            };
            return op;
        }
    }
    mistake(sim, "more operations are pending than the library can have");
    return NULL;
}

static void come_after(simulated_backend *sim, simulated_operation *op, const dynsel_event *after,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        simulated_operation *before = after[i].native;
        if (before < sim->operations || before >= sim->operations + SIMULATED_OPERATIONS ||
            before->state == SIMULATED_FREE || !before->owned) {
            mistake(sim, "an event to come after was released, or is none");
            continue;
        }
        expect(sim, before->device->domain == op->device->domain,
               "an event to come after is of another domain");
        expect(sim, op->after_count < SIMULATED_AFTER, "too many events to come after");
        before->held++;
        op->after[op->after_count++] = before;
    }
}

/* Puts it behind its device; done: NULL where the library gets no event. */
static dynsel_status begin(simulated_backend *sim, simulated_operation *op, dynsel_event *done)
{
    op->owned = true; /* so that it stays for now */
    count_pending(op, 1);
    while (op->state == SIMULATED_PENDING && op->device->pace == SIMULATED_AT_ONCE &&
           step(sim, op->device, true)) {
    }
    const dynsel_status status = op->state == SIMULATED_PENDING ? DYNSEL_OK : op->result;
    const int32_t code = op->code;
    const bool undelivered =
        op->kind == SIMULATED_FETCH && op->state == SIMULATED_DONE && !op->delivered;
    if (done != NULL && (op->state == SIMULATED_PENDING || undelivered)) {
        done->native = op;
        return DYNSEL_OK;
    }
    op->owned = false;
    free_if_over(op);
    return ended_with(status, code);
}

/* The backend */

static dynsel_status attach(dynsel_backend *backend, void *own)
{
    (void)backend;
    atomic_fetch_add(&((simulated_device *)own)->attached, 1);
    return DYNSEL_OK;
}

static void detach(dynsel_backend *backend, void *own)
{
    (void)backend;
    atomic_fetch_sub(&((simulated_device *)own)->attached, 1);
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    simulated_device *device = work->own;
    if (atomic_load(&device->refuses)) {
        return dynsel_fail(&(dynsel_error){
            .status = DYNSEL_E_OUT_OF_SERVICE, .function = "simulated", .code = -6});
    }
    if (atomic_load(&device->is_full)) {
        return DYNSEL_E_AGAIN;
    }
    unsigned full_for = atomic_load(&device->full_for);
    while (full_for > 0) {
        if (atomic_compare_exchange_weak(&device->full_for, &full_for, full_for - 1)) {
            return DYNSEL_E_AGAIN;
        }
    }
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static simulated_operation *operation_of(simulated_backend *sim, const dynsel_work *work)
{
    simulated_operation *op = work->done.native;
    expect(sim, op->state != SIMULATED_FREE && op->owned, "an event is used after its release");
    return op;
}

/* The other devices go on as well, though nobody may be looking at their work. */
static void go_on(simulated_backend *sim, const simulated_device *polled)
{
    sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        const simulated_device *device = &sim->devices[i];
        const bool steps = device == polled || (sim->random >> (40 + 2 * i) & 3u) == 0;
        if (steps && device->pace != SIMULATED_BY_HAND) {
            (void)step(sim, device, false);
        }
    }
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    simulated_backend *sim = locked(backend);
    simulated_operation *op = operation_of(sim, work);
    sim->counts.polls++;
    if (op->state == SIMULATED_PENDING) {
        go_on(sim, op->device);
    }
    const bool pending = op->state == SIMULATED_PENDING;
    const dynsel_status result = op->result;
    const int32_t code = op->code;
    unlock(sim);
    return pending ? DYNSEL_E_AGAIN : ended_with(result, code);
}

/* False: nothing can take place, so that only another thread can help. */
static bool hurry(simulated_backend *sim, const simulated_operation *op)
{
    bool goes_on = step(sim, op->device, true);
    for (unsigned i = 0; !goes_on && i < SIMULATED_DEVICES; i++) {
        goes_on = step(sim, &sim->devices[i], true);
    }
    return goes_on;
}

static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    simulated_backend *sim = locked(backend);
    simulated_operation *op = operation_of(sim, work);
    sim->counts.waits++;
    while (op->state == SIMULATED_PENDING) {
        const bool sleeps = sim->wait_sleeps && op->device->pace == SIMULATED_BY_HAND;
        if (!sleeps && !hurry(sim, op)) {
            mistake(sim, "work is waited for that comes after itself");
            break;
        }
        if (sleeps) {
            unlock(sim);
            sched_yield();
            (void)locked(backend);
        }
    }
    if (op->kind == SIMULATED_FETCH && op->state == SIMULATED_DONE && !op->delivered) {
        deliver(sim, op);
    }
    const dynsel_status result = op->result;
    const int32_t code = op->code;
    unlock(sim);
    return ended_with(result, code);
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    simulated_backend *sim = locked(backend);
    simulated_operation *op = operation_of(sim, work);
    expect(sim, op->state != SIMULATED_DONE || op->kind != SIMULATED_FETCH || op->delivered,
           "fetched data were never waited for");
    op->owned = false;
    free_if_over(op);
    unlock(sim);
}

/* Its memory */

static dynsel_domain domain_of(dynsel_backend *backend, void *own)
{
    const simulated_backend *sim = (const simulated_backend *)(const void *)backend;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        if (own == &sim->devices[i]) {
            return (dynsel_domain){.number = sim->devices[i].domain,
                                   .in_order = sim->devices[i].in_order};
        }
    }
    return (dynsel_domain){.number = 0};
}

/* The first gap of the pool that is large enough; NULL: there is none. */
static unsigned char *find_gap(simulated_backend *sim, size_t bytes)
{
    size_t begin_at = 0;
    for (size_t i = 0; i < SIMULATED_COPIES; i++) {
        const simulated_copy *copy = &sim->copies[i];
        if (copy->domain != 0) {
            const size_t first = (size_t)(copy->data - sim->pool);
            if (first < begin_at + bytes && begin_at < first + copy->bytes) {
                begin_at = (first + copy->bytes + 15) & ~(size_t)15;
                i = (size_t)-1; /* against all others again */
            }
        }
    }
    return begin_at + bytes <= SIMULATED_POOL_BYTES ? sim->pool + begin_at : NULL;
}

static simulated_copy *free_copy(simulated_backend *sim)
{
    for (size_t i = 0; i < SIMULATED_COPIES; i++) {
        if (sim->copies[i].domain == 0) {
            return &sim->copies[i];
        }
    }
    return NULL;
}

static bool fill_in(simulated_backend *sim, simulated_device *device, dynsel_memory *memory)
{
    simulated_copy *copy = free_copy(sim);
    unsigned char *data = find_gap(sim, memory->bytes);
    if (copy == NULL || data == NULL ||
        sim->used[device->domain] + memory->bytes > sim->limits[device->domain]) {
        return false;
    }
    *copy = (simulated_copy){.domain = device->domain,
                             .bytes = memory->bytes,
                             .data = data,
                             .host = memory->host,
                             .device = device,
                             .shared = device->shares && memory->shared};
    copy->device_has_it = !(copy->shared && device->maps_first);
    if (copy->shared && copy->device_has_it) {
        memcpy(copy->data, copy->host, copy->bytes);
    } else {
        poison(sim, copy->data, copy->bytes, OF_ALLOCATED);
    }
    sim->used[copy->domain] += copy->bytes;
    memory->native = copy;
    memory->shared = copy->shared;
    memory->mapping = copy->device_has_it ? DYNSEL_UNMAPPED : DYNSEL_MAPPED_TO_WRITE;
    return true;
}

static void check_shares_alone(simulated_backend *sim, const dynsel_memory *memory)
{
    for (size_t i = 0; i < SIMULATED_COPIES; i++) {
        const simulated_copy *copy = &sim->copies[i];
        expect(sim, copy->domain == 0 || !copy->shared || copy->host != memory->host,
               "two copies share the host's memory");
    }
}

static dynsel_status allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    simulated_backend *sim = locked(backend);
    simulated_device *device = own;
    const bool fails = !sim->failing_late && falls_on(sim, SIMULATED_ALLOCATE);
    bool full = false;
    expect(sim, memory->native == NULL, "memory is allocated twice");
    if (memory->shared && device->shares) {
        check_shares_alone(sim, memory);
    }
    if (!fails) {
        full = !fill_in(sim, device, memory);
        sim->counts.allocated += full ? 0 : 1;
    }
    const dynsel_status status = fails ? sim->failing_status : full ? DYNSEL_E_AGAIN : DYNSEL_OK;
    unlock(sim);
    return ended(status);
}

static simulated_copy *copy_of(simulated_backend *sim, const simulated_device *device,
                               const dynsel_memory *memory)
{
    simulated_copy *copy = memory != NULL ? memory->native : NULL;
    if (copy < sim->copies || copy >= sim->copies + SIMULATED_COPIES || copy->domain == 0) {
        mistake(sim, "memory is used that is not allocated");
        return NULL;
    }
    expect(sim, copy->domain == device->domain, "memory of another domain");
    expect(sim, copy->host == memory->host && copy->bytes == memory->bytes,
           "another buffer's memory");
    return copy;
}

static void release_memory(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    simulated_backend *sim = locked(backend);
    simulated_copy *copy = copy_of(sim, own, memory);
    if (copy != NULL) {
        expect(sim, copy->pending == 0, "memory is released that is in use");
        expect(sim, copy->device == own, "memory is released through another resource");
        poison(sim, copy->data, copy->bytes, OF_RELEASED);
        sim->used[copy->domain] -= copy->bytes;
        copy->domain = 0;
        sim->counts.released++;
    }
    memory->native = NULL;
    unlock(sim);
}

static simulated_operation *move(simulated_backend *sim, simulated_kind kind, void *own,
                                 const dynsel_memory *memory, bool contents)
{
    simulated_copy *copy = copy_of(sim, own, memory);
    simulated_operation *op = copy != NULL ? new_operation(sim, kind, own) : NULL;
    if (op != NULL) {
        expect(sim, copy->moving == 0, "memory is moved that is being moved");
        op->copy = copy;
        op->contents = contents;
    }
    return op;
}

static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    simulated_backend *sim = locked(backend);
    dynsel_status status = sim->failing_status;
    if (!contents && !memory->shared && !((simulated_device *)own)->prepares) {
        status = DYNSEL_OK;
    } else if (sim->failing_late || !falls_on(sim, SIMULATED_BRING)) {
        simulated_operation *op = move(sim, SIMULATED_BRING, own, memory, contents);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            come_after(sim, op, after, after_count);
            sim->counts.brought++;
            sim->counts.bytes_in += contents && !memory->shared ? memory->bytes : 0;
            memory->mapping = DYNSEL_UNMAPPED;
            status = begin(sim, op, done);
        }
    }
    unlock(sim);
    return ended(status);
}

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    simulated_backend *sim = locked(backend);
    dynsel_status status = sim->failing_status;
    if (sim->failing_late || !falls_on(sim, SIMULATED_FETCH)) {
        simulated_operation *op = move(sim, SIMULATED_FETCH, own, memory, contents);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            op->to_write = to_write;
            sim->counts.fetched++;
            sim->counts.bytes_out += contents && !memory->shared ? memory->bytes : 0;
            if (memory->shared) {
                memory->mapping = to_write ? DYNSEL_MAPPED_TO_WRITE : DYNSEL_MAPPED_TO_READ;
            }
            status = begin(sim, op, done);
        }
    }
    unlock(sim);
    return ended(status);
}

/* What the command works on. */
static bool find_copies(simulated_backend *sim, simulated_operation *op)
{
    const dynsel_command *command = op->command;
    bool found = true;
    for (size_t i = 0; command->kind == DYNSEL_COMMAND_KERNEL && i < command->launch.argument_count;
         i++) {
        const dynsel_argument *argument = &command->launch.arguments[i];
        if (argument->kind == DYNSEL_ARGUMENT_DATA) {
            op->copies[i] = copy_of(sim, op->device, argument->memory);
            found &= op->copies[i] != NULL;
        }
    }
    if (command->kind == DYNSEL_COMMAND_COPY) {
        op->copies[0] = copy_of(sim, op->device, command->from->memory);
        found &= op->copies[0] != NULL;
    }
    if (command->kind != DYNSEL_COMMAND_KERNEL) {
        op->copies[1] = copy_of(sim, op->device, command->to->memory);
        found &= op->copies[1] != NULL;
    }
    return found;
}

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    simulated_backend *sim = locked(backend);
    dynsel_status status = sim->failing_status;
    if (sim->failing_late || !falls_on(sim, SIMULATED_LAUNCH)) {
        simulated_operation *op = new_operation(sim, SIMULATED_LAUNCH, own);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            op->command = command;
            sim->counts.launched++;
            if (find_copies(sim, op)) {
                come_after(sim, op, command->after, command->after_count);
                status = begin(sim, op, done);
                unlock(sim);
                return status; /* with its details */
            }
            op->state = SIMULATED_FREE;
        }
    }
    unlock(sim);
    return ended(status);
}

const dynsel_kernel *simulated_lacks;

static bool has_form(const dynsel_kernel *kernel)
{
    return kernel->function != NULL && kernel != simulated_lacks;
}

static const dynsel_memory_ops memory_ops = {
    .domain = domain_of,
    .allocate = allocate,
    .release = release_memory,
    .bring = bring,
    .fetch = fetch,
    .launch = launch,
    .has_form = has_form,
};

#define SIMULATED_OPS(synchronizes)                                                                \
    {                                                                                              \
        .name = "simulated",                                                                       \
        .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,             \
        .outlives_submit = true, .poll_synchronizes = (synchronizes), .attach = attach,            \
        .detach = detach, .start = start, .poll = poll, .wait = wait, .release = release,          \
        .memory = &memory_ops                                                                      \
    }

static const dynsel_backend_ops synchronizing_ops = SIMULATED_OPS(true);
static const dynsel_backend_ops delivering_ops = SIMULATED_OPS(false);

/* The test's side */

void simulated_reset(simulated_backend *sim, uint64_t seed, bool waits_deliver)
{
    sim->backend.ops = waits_deliver ? &delivering_ops : &synchronizing_ops;
    sim->waits_deliver = waits_deliver;
    sim->wait_sleeps = false;
    sim->counts = (simulated_counts){.allocated = 0};
    sim->random = seed;
    sim->sequence = 0;
    sim->failing_in = 0;
    sim->failing_late = false;
    sim->has_failed = false;
    atomic_store(&sim->mistakes, 0u);
    atomic_store(&sim->lock, 0u);
    memset(sim->copies, 0, sizeof sim->copies);
    memset(sim->operations, 0, sizeof sim->operations);
    memset(sim->devices, 0, sizeof sim->devices);
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        sim->devices[i].domain = i + 1;
        sim->devices[i].in_order = true;
        sim->devices[i].pace = SIMULATED_AT_ONCE;
    }
    for (unsigned i = 0; i <= SIMULATED_DOMAINS; i++) {
        sim->limits[i] = SIMULATED_POOL_BYTES;
        sim->used[i] = 0;
    }
}

dynsel_resource simulated_resource(simulated_backend *sim, unsigned device)
{
    return (dynsel_resource){.backend = &sim->backend, .handle = &sim->devices[device]};
}

void simulated_fail(simulated_backend *backend, unsigned kinds, unsigned n, bool late,
                    dynsel_status status)
{
    simulated_backend *sim = locked(&backend->backend);
    sim->failing_kinds = kinds;
    sim->failing_in = n;
    sim->failing_late = late;
    sim->failing_status = status;
    unlock(sim);
}

bool simulated_step(simulated_backend *backend, unsigned device)
{
    simulated_backend *sim = locked(&backend->backend);
    const bool took_place = step(sim, &sim->devices[device], true);
    unlock(sim);
    return took_place;
}

void simulated_finish(simulated_backend *backend)
{
    simulated_backend *sim = locked(&backend->backend);
    finish(sim);
    unlock(sim);
}

unsigned simulated_pending(simulated_backend *backend)
{
    simulated_backend *sim = locked(&backend->backend);
    unsigned pending = 0;
    for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
        pending += sim->operations[i].state == SIMULATED_PENDING ? 1 : 0;
    }
    unlock(sim);
    return pending;
}

void simulated_assert_clean(simulated_backend *sim, bool empty)
{
    assert_int_equal(atomic_load(&sim->mistakes), 0);
    if (empty) {
        assert_int_equal(simulated_pending(sim), 0);
        assert_int_equal(sim->counts.allocated, sim->counts.released);
        for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
            assert_int_equal(sim->operations[i].state, SIMULATED_FREE);
        }
    }
}
