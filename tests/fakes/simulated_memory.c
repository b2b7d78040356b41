/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/simulated_operations.h"

#include "test.h"

#include <sched.h>
#include <string.h>

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

static simulated_operation *operation_of(simulated_backend *sim, const dynsel_work *work)
{
    simulated_operation *op = work->done.native;
    simulated_expect(sim, op->state != SIMULATED_FREE && op->owned,
                     "an event is used after its release");
    return op;
}

static simulated_operation *asked_for(simulated_backend *sim, const dynsel_work *work)
{
    simulated_operation *op = operation_of(sim, work);
    simulated_expect(sim, !op->given_up, "work that was given up is asked for");
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
            (void)simulated_take_step(sim, device, false);
        }
    }
}

static bool hurry(simulated_backend *sim, const simulated_operation *op)
{
    bool goes_on = simulated_take_step(sim, op->device, true);
    for (unsigned i = 0; !goes_on && i < SIMULATED_DEVICES; i++) {
        goes_on = simulated_take_step(sim, &sim->devices[i], true);
    }
    return goes_on;
}

static dynsel_status poll(dynsel_backend *backend, const dynsel_work *work)
{
    simulated_backend *sim = simulated_locked(backend);
    simulated_operation *op = asked_for(sim, work);
    sim->counts.polls++;
    const bool by_hand = op->device->pace == SIMULATED_BY_HAND && !sim->wait_sleeps;
    if (op->state == SIMULATED_PENDING && by_hand && op->looks++ >= SIMULATED_MANY_LOOKS) {
        (void)hurry(sim, op);
    } else if (op->state == SIMULATED_PENDING) {
        go_on(sim, op->device);
    }
    const bool pending = op->state == SIMULATED_PENDING;
    const dynsel_status result = op->result;
    const int32_t code = op->code;
    simulated_unlock(sim);
    return pending ? DYNSEL_E_AGAIN : simulated_ended_with(result, code);
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
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
    work->over = device->looks_at_start && work->error.status == DYNSEL_OK &&
                 work->done.native != NULL && poll(backend, work) == DYNSEL_OK;
    return DYNSEL_OK;
}

/* False: nothing can take place, so that only another thread can help. */
static dynsel_status wait(dynsel_backend *backend, const dynsel_work *work)
{
    simulated_backend *sim = simulated_locked(backend);
    simulated_operation *op = asked_for(sim, work);
    sim->counts.waits++;
    while (op->state == SIMULATED_PENDING) {
        const bool sleeps = sim->wait_sleeps && op->device->pace == SIMULATED_BY_HAND;
        if (!sleeps && !hurry(sim, op)) {
            simulated_mistake(sim, "work is waited for that comes after itself");
            break;
        }
        if (sleeps) {
            simulated_unlock(sim);
            sched_yield();
            (void)simulated_locked(backend);
        }
    }
    if (op->kind == SIMULATED_FETCH && op->state == SIMULATED_DONE && !op->delivered) {
        simulated_deliver(sim, op);
    }
    const dynsel_status result = op->result;
    const int32_t code = op->code;
    simulated_unlock(sim);
    return simulated_ended_with(result, code);
}

static void release(dynsel_backend *backend, dynsel_work *work)
{
    simulated_backend *sim = simulated_locked(backend);
    simulated_operation *op = operation_of(sim, work);
    simulated_expect(sim,
                     op->state != SIMULATED_DONE || op->kind != SIMULATED_FETCH || op->delivered,
                     "fetched data were never waited for");
    op->owned = false;
    simulated_free_if_over(op);
    simulated_unlock(sim);
}

#if CONFIG_DYNSEL_TIME_LIMITS
/* What it has not done it may do at any time. The library itself asks for fetches. */
static void give_up(dynsel_backend *backend, void *own)
{
    simulated_backend *sim = simulated_locked(backend);
    for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
        simulated_operation *op = &sim->operations[i];
        if (op->state == SIMULATED_PENDING && op->device == own && op->kind != SIMULATED_FETCH) {
            simulated_give_up(op);
        }
    }
    simulated_unlock(sim);
}
#define SIMULATED_GIVES_UP .give_up = give_up,
#else
#define SIMULATED_GIVES_UP
#endif

/* Its memory */

static dynsel_domain domain_of(dynsel_backend *backend, void *own)
{
    const simulated_backend *sim = (const simulated_backend *)(const void *)backend;
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        if (own == &sim->devices[i]) {
            return (dynsel_domain){.number = sim->devices[i].domain,
                                   .in_order = sim->devices[i].in_order,
                                   .beside_bytes = sim->devices[i].moves_beside ? 1 : 0};
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
        simulated_poison(sim, copy->data, copy->bytes, OF_ALLOCATED);
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
        simulated_expect(sim, copy->domain == 0 || !copy->shared || copy->host != memory->host,
                         "two copies share the host's memory");
    }
}

static dynsel_status allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    simulated_backend *sim = simulated_locked(backend);
    simulated_device *device = own;
    const bool fails = !sim->failing_late && simulated_falls_on(sim, SIMULATED_ALLOCATE);
    bool full = false;
    simulated_expect(sim, memory->native == NULL, "memory is allocated twice");
    if (memory->shared && device->shares) {
        check_shares_alone(sim, memory);
    }
    if (!fails) {
        full = !fill_in(sim, device, memory);
        sim->counts.allocated += full ? 0 : 1;
    }
    const dynsel_status status = fails ? sim->failing_status : full ? DYNSEL_E_AGAIN : DYNSEL_OK;
    simulated_unlock(sim);
    return simulated_ended(status);
}

static simulated_copy *copy_of(simulated_backend *sim, const simulated_device *device,
                               const dynsel_memory *memory)
{
    simulated_copy *copy = memory != NULL ? memory->native : NULL;
    if (copy < sim->copies || copy >= sim->copies + SIMULATED_COPIES || copy->domain == 0) {
        simulated_mistake(sim, "memory is used that is not allocated");
        return NULL;
    }
    simulated_expect(sim, copy->domain == device->domain, "memory of another domain");
    simulated_expect(sim, !copy->given_up || copy->shared, "memory of work that was given up");
    simulated_expect(sim,
                     copy->host == NULL
                         ? memory->bytes <= copy->bytes
                         : copy->host == memory->host && copy->bytes == memory->bytes,
                     "another buffer's memory");
    return copy;
}

static void release_memory(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    const simulated_backend *unlocked = (const simulated_backend *)(const void *)backend;
    if (unlocked->releasing != NULL) {
        unlocked->releasing();
    }
    simulated_backend *sim = simulated_locked(backend);
    simulated_copy *copy = copy_of(sim, own, memory);
    if (copy != NULL) {
        simulated_expect(sim, copy->pending == 0, "memory is released that is in use");
        simulated_expect(sim, !copy->given_up, "memory is released that a device may use");
        simulated_expect(sim, copy->device == own, "memory is released through another resource");
        simulated_poison(sim, copy->data, copy->bytes, OF_RELEASED);
        sim->used[copy->domain] -= copy->bytes;
        copy->domain = 0;
        sim->counts.released++;
    }
    memory->native = NULL;
    simulated_unlock(sim);
}

static simulated_operation *move(simulated_backend *sim, simulated_kind kind, void *own,
                                 const dynsel_memory *memory, bool contents)
{
    simulated_copy *copy = copy_of(sim, own, memory);
    simulated_operation *op = copy != NULL ? simulated_new_operation(sim, kind, own) : NULL;
    if (op != NULL) {
        simulated_expect(sim, copy->moving == 0 || kind == SIMULATED_WRITE_BACK,
                         "memory is moved that is being moved");
        simulated_expect(sim, copy->passing == 0 || kind == SIMULATED_FETCH,
                         "memory is changed that is being passed on");
        op->copy = copy;
        op->host = memory->host;
        op->bytes = memory->bytes;
        op->contents = contents;
    }
    return op;
}

static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    simulated_backend *sim = simulated_locked(backend);
    dynsel_status status = sim->failing_status;
    if (!contents && !memory->shared && !((simulated_device *)own)->prepares) {
        status = DYNSEL_OK;
    } else if (sim->failing_late || !simulated_falls_on(sim, SIMULATED_BRING)) {
        simulated_operation *op = move(sim, SIMULATED_BRING, own, memory, contents);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            simulated_come_after(sim, op, after, after_count);
            sim->counts.brought++;
            sim->counts.bytes_in += contents && !memory->shared ? memory->bytes : 0;
            memory->mapping = DYNSEL_UNMAPPED;
            status = simulated_begin(sim, op, done);
        }
    }
    simulated_unlock(sim);
    return simulated_ended(status);
}

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
static void take_source(simulated_backend *sim, simulated_operation *op, void *from_own,
                        const dynsel_memory *from)
{
    op->from = copy_of(sim, from_own, from);
    if (op->from == NULL) {
        return;
    }
    simulated_expect(sim, op->from->domain != op->copy->domain, "data pass within a domain");
    simulated_expect(sim, op->from->host == op->copy->host && op->from->bytes == op->copy->bytes,
                     "data pass from another buffer");
    simulated_expect(sim, !op->from->shared && !op->copy->shared, "shared memory passes");
    simulated_expect(sim, op->from->device == from_own, "data pass through another resource");
    op->seen = simulated_look_at(op->from);
}

static dynsel_status pass(dynsel_backend *backend, void *own, dynsel_memory *memory, void *from_own,
                          const dynsel_memory *from, const dynsel_event *after, size_t after_count,
                          dynsel_event *done)
{
    simulated_backend *sim = simulated_locked(backend);
    const simulated_device *source = from_own;
    dynsel_status status = sim->failing_status;
    if ((((const simulated_device *)own)->apart >> source->domain & 1u) != 0) {
        status = DYNSEL_E_UNSUPPORTED;
        sim->counts.refused++;
    } else if (source->is_lost) {
        status = DYNSEL_E_DEVICE;
    } else if (sim->failing_late || !simulated_falls_on(sim, SIMULATED_PASS)) {
        simulated_operation *op = move(sim, SIMULATED_PASS, own, memory, true);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            take_source(sim, op, from_own, from);
            simulated_come_after(sim, op, after, after_count);
            sim->counts.passed++;
            sim->counts.bytes_passed += memory->bytes;
            status = simulated_begin(sim, op, done);
        }
    }
    simulated_unlock(sim);
    return simulated_ended(status);
}
#endif

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    simulated_backend *sim = simulated_locked(backend);
    dynsel_status status = sim->failing_status;
    if (((const simulated_device *)own)->is_lost) {
        status = DYNSEL_E_DEVICE;
    } else if (sim->failing_late || !simulated_falls_on(sim, SIMULATED_FETCH)) {
        simulated_operation *op = move(sim, SIMULATED_FETCH, own, memory, contents);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            op->to_write = to_write;
            sim->counts.fetched++;
            sim->counts.bytes_out += contents && !memory->shared ? memory->bytes : 0;
            status = simulated_begin(sim, op, done);
            if (memory->shared && status == DYNSEL_OK) {
                memory->mapping = to_write ? DYNSEL_MAPPED_TO_WRITE : DYNSEL_MAPPED_TO_READ;
            }
        }
    }
    simulated_unlock(sim);
    return simulated_ended(status);
}

static dynsel_status write_back(dynsel_backend *backend, void *own, const dynsel_memory *memory,
                                const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    simulated_backend *sim = simulated_locked(backend);
    dynsel_status status = sim->failing_status;
    if (sim->failing_late || !simulated_falls_on(sim, SIMULATED_WRITE_BACK)) {
        simulated_operation *op = move(sim, SIMULATED_WRITE_BACK, own, memory, true);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            simulated_come_after(sim, op, after, after_count);
            simulated_expect(sim, op->after_count != 0 || op->copy->pending == 0,
                             "memory is written back before the command that writes it");
            sim->counts.written_back++;
            sim->counts.bytes_out += memory->bytes;
            status = simulated_begin(sim, op, done);
        }
    }
    simulated_unlock(sim);
    return simulated_ended(status);
}

/* What the command works on. */
static bool find_copies(simulated_backend *sim, simulated_operation *op)
{
    const dynsel_command *command = op->command;
    bool found = true;
    for (size_t i = 0; command->kind == DYNSEL_COMMAND_KERNEL && i < command->launch.argument_count;
         i++) {
        const dynsel_argument *argument = &command->launch.arguments[i];
        const bool is_empty = argument->bytes == 0 && argument->memory != NULL &&
                              argument->memory->native == NULL; /* a buffer without elements */
        if (argument->kind == DYNSEL_ARGUMENT_DATA && op->device->domain != 0 && !is_empty) {
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

dynsel_status (*simulated_refuse)(const dynsel_command *command);

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    const dynsel_status refused = simulated_refuse != NULL ? simulated_refuse(command) : DYNSEL_OK;
    if (refused != DYNSEL_OK) {
        return refused;
    }
    simulated_backend *sim = simulated_locked(backend);
    dynsel_status status = sim->failing_status;
    if (sim->failing_late || !simulated_falls_on(sim, SIMULATED_LAUNCH)) {
        simulated_operation *op = simulated_new_operation(sim, SIMULATED_LAUNCH, own);
        status = DYNSEL_E_INVALID;
        if (op != NULL) {
            op->command = command;
            sim->counts.launched++;
            if (find_copies(sim, op)) {
                simulated_come_after(sim, op, command->after, command->after_count);
                status = simulated_begin(sim, op, done);
                simulated_unlock(sim);
                return status; /* with its details */
            }
            op->state = SIMULATED_FREE;
        }
    }
    simulated_unlock(sim);
    return simulated_ended(status);
}

static bool is_lost(dynsel_backend *backend, void *own)
{
    return ((const simulated_backend *)(const void *)backend)->failures_are_losses ||
           ((const simulated_device *)own)->is_lost;
}

static dynsel_sharing sharing_of(dynsel_backend *backend, void *own)
{
    (void)backend;
    return ((const simulated_device *)own)->sharing;
}

const dynsel_kernel *simulated_lacks;

static bool has_form(const dynsel_kernel *kernel)
{
    return kernel->function != NULL && kernel != simulated_lacks;
}

#define MEMORY_OPS                                                                                 \
    .domain = domain_of, .allocate = allocate, .release = release_memory, .bring = bring,          \
    .fetch = fetch, .write_back = write_back, .launch = launch, .launch_is_asynchronous = true,    \
    .is_lost = is_lost, .has_form = has_form, .sharing = sharing_of

static const dynsel_memory_ops memory_ops = {MEMORY_OPS};

#define SIMULATED_OPS(synchronizes, memory_operations)                                             \
    {                                                                                              \
        .name = "simulated",                                                                       \
        .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,             \
        .outlives_submit = true, .poll_synchronizes = (synchronizes), .attach = attach,            \
        .detach = detach, SIMULATED_GIVES_UP.start = start, .poll = poll, .wait = wait,            \
        .release = release, .memory = &(memory_operations)                                         \
    }

static const dynsel_backend_ops synchronizing_ops = SIMULATED_OPS(true, memory_ops);
static const dynsel_backend_ops delivering_ops = SIMULATED_OPS(false, memory_ops);

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
static const dynsel_memory_ops passing_memory_ops = {MEMORY_OPS, .pass = pass};
static const dynsel_backend_ops synchronizing_passing_ops = SIMULATED_OPS(true, passing_memory_ops);
static const dynsel_backend_ops delivering_passing_ops = SIMULATED_OPS(false, passing_memory_ops);
#endif

/* The test's side */

void simulated_reset(simulated_backend *sim, uint64_t seed, bool waits_deliver)
{
    sim->backend.ops = waits_deliver ? &delivering_ops : &synchronizing_ops;
    sim->waits_deliver = waits_deliver;
    sim->wait_sleeps = false;
    sim->releasing = NULL;
    sim->taking_place = NULL;
    sim->counts = (simulated_counts){.allocated = 0};
    sim->random = seed;
    sim->sequence = 0;
    sim->failing_in = 0;
    sim->failing_late = false;
    sim->failures_are_losses = false;
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

#if CONFIG_DYNSEL_PASS_BETWEEN_DOMAINS
void simulated_let_pass(simulated_backend *sim)
{
    sim->backend.ops = sim->waits_deliver ? &delivering_passing_ops : &synchronizing_passing_ops;
}
#endif

dynsel_resource simulated_resource(simulated_backend *sim, unsigned device)
{
    return (dynsel_resource){.backend = &sim->backend, .handle = &sim->devices[device]};
}

void simulated_fail(simulated_backend *backend, unsigned kinds, unsigned n, bool late,
                    dynsel_status status)
{
    simulated_backend *sim = simulated_locked(&backend->backend);
    sim->failing_kinds = kinds;
    sim->failing_in = n;
    sim->failing_late = late;
    sim->failing_status = status;
    simulated_unlock(sim);
}

bool simulated_step(simulated_backend *backend, unsigned device)
{
    simulated_backend *sim = simulated_locked(&backend->backend);
    const bool took_place = simulated_take_step(sim, &sim->devices[device], true);
    simulated_unlock(sim);
    return took_place;
}

void simulated_finish(simulated_backend *backend)
{
    simulated_backend *sim = simulated_locked(&backend->backend);
    simulated_take_all(sim);
    simulated_unlock(sim);
}

unsigned simulated_pending(simulated_backend *backend)
{
    simulated_backend *sim = simulated_locked(&backend->backend);
    unsigned pending = 0;
    for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
        pending += sim->operations[i].state == SIMULATED_PENDING ? 1 : 0;
    }
    simulated_unlock(sim);
    return pending;
}

unsigned simulated_kept(const simulated_backend *sim)
{
    unsigned kept = 0;
    for (size_t i = 0; i < SIMULATED_COPIES; i++) {
        kept += sim->copies[i].domain != 0 && sim->copies[i].given_up ? 1 : 0;
    }
    return kept;
}

void simulated_assert_clean(simulated_backend *sim, bool empty)
{
    assert_int_equal(atomic_load(&sim->mistakes), 0);
    if (empty) {
        assert_int_equal(simulated_pending(sim), 0);
        assert_int_equal(sim->counts.allocated, sim->counts.released + simulated_kept(sim));
        for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
            assert_int_equal(sim->operations[i].state, SIMULATED_FREE);
        }
    }
}
