/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/simulated_operations.h"

#include "test.h"

#include <sched.h>
#include <string.h>

/* Nothing that is left out is ever found by chance: each poisoning gives other bytes. */
void simulated_poison(simulated_backend *sim, unsigned char *data, size_t bytes, unsigned char kind)
{
    sim->random = sim->random * 6364136223846793005u + 1442695040888963407u;
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)(kind ^ (sim->random >> (8 + i % 5 * 8)));
    }
}

void simulated_mistake(simulated_backend *sim, const char *what)
{
    print_error("simulated memory: %s\n", what);
    atomic_fetch_add(&sim->mistakes, 1);
}

void simulated_expect(simulated_backend *sim, bool holds, const char *what)
{
    if (!holds) {
        simulated_mistake(sim, what);
    }
}

simulated_backend *simulated_locked(dynsel_backend *backend)
{
    simulated_backend *sim = (simulated_backend *)(void *)backend;
    while (atomic_exchange(&sim->lock, 1u) != 0) {
        sched_yield();
    }
    return sim;
}

void simulated_unlock(simulated_backend *sim)
{
    atomic_store(&sim->lock, 0u);
}

dynsel_status simulated_ended_with(dynsel_status status, int32_t code)
{
    return status == DYNSEL_OK ? DYNSEL_OK
                               : dynsel_fail(&(dynsel_error){
                                     .status = status, .function = "simulated", .code = code});
}

dynsel_status simulated_ended(dynsel_status status)
{
    return simulated_ended_with(status, (int32_t)status - 100);
}

/* Whether the call now is the one that the test wants to fail. */
bool simulated_falls_on(simulated_backend *sim, simulated_kind kind)
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

void simulated_free_if_over(simulated_operation *op)
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
        simulated_free_if_over(op->after[i]);
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
        memcpy(copy->data, op->host, op->bytes);
    } else {
        simulated_poison(sim, copy->data, copy->bytes, OF_TAKEN);
    }
    if (copy->shared) {
        if (copy->was_mapped) {
            simulated_poison(sim, copy->host, copy->bytes, OF_TAKEN);
        }
        copy->device_has_it = true;
        copy->host_may_read = false;
    }
}

uint64_t simulated_look_at(const simulated_copy *copy)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < copy->bytes; i++) {
        sum = (sum ^ copy->data[i]) * 1099511628211u;
    }
    return sum;
}

static void take_pass(simulated_backend *sim, const simulated_operation *op)
{
    simulated_expect(sim, op->seen == simulated_look_at(op->from),
                     "memory was changed while it was passed on");
    memcpy(op->copy->data, op->from->data, op->bytes);
}

static void check_host_may_get(simulated_backend *sim, const simulated_copy *fetched)
{
    for (size_t i = 0; i < SIMULATED_COPIES; i++) {
        const simulated_copy *copy = &sim->copies[i];
        simulated_expect(sim,
                         copy == fetched || copy->domain == 0 || !copy->shared ||
                             copy->host != fetched->host || !copy->device_has_it || sim->has_failed,
                         "data are fetched into memory that a device has");
    }
}

void simulated_deliver(simulated_backend *sim, simulated_operation *op)
{
    simulated_copy *copy = op->copy;
    check_host_may_get(sim, copy);
    if (op->contents) {
        memcpy(copy->host, copy->data, copy->bytes);
    } else if (!copy->shared || copy->device_has_it) {
        simulated_poison(sim, copy->host, copy->bytes, OF_TAKEN);
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
        if (arguments[i].kind == DYNSEL_ARGUMENT_DATA && op->copies[i] != NULL) {
            arguments[i].value = op->copies[i]->data;
        }
    }
    launch.arguments = arguments;
    return op->command->kernel->function(&launch);
}

/* The command is not there any more, and does not say what it writes. Memory that the device shares
 * with the host is left alone: the program goes on using what the device only reads. */
static dynsel_status take_given_up(simulated_backend *sim, const simulated_operation *op)
{
    for (size_t i = 0; i < sizeof op->copies / sizeof op->copies[0]; i++) {
        if (op->copies[i] != NULL && !op->copies[i]->shared) {
            simulated_poison(sim, op->copies[i]->data, op->copies[i]->bytes, OF_TAKEN);
        }
    }
    return DYNSEL_OK;
}

static dynsel_status take_launch(simulated_backend *sim, const simulated_operation *op)
{
    if (op->given_up) {
        return take_given_up(sim, op);
    }
    for (size_t i = 0; i < sizeof op->copies / sizeof op->copies[0]; i++) {
        const simulated_copy *copy = op->copies[i];
        simulated_expect(
            sim, copy == NULL || !copy->shared || copy->device_has_it || copy->host_may_read,
            "work on memory that the host has");
    }
    return op->command->kind == DYNSEL_COMMAND_KERNEL ? take_kernel(op) : take_boxes(op);
}

void simulated_give_up(simulated_operation *op)
{
    op->given_up = true;
    for (size_t i = 0; i < sizeof op->copies / sizeof op->copies[0]; i++) {
        if (op->copies[i] != NULL) {
            op->copies[i]->given_up = true;
        }
    }
    if (op->copy != NULL) {
        op->copy->given_up = true;
    }
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
    if (op->from != NULL) {
        op->from->pending += (unsigned)change;
        op->from->passing += (unsigned)change;
    }
}

static void take_place(simulated_backend *sim, simulated_operation *op)
{
    if (sim->taking_place != NULL) {
        sim->taking_place((unsigned)(op->device - sim->devices), op->kind);
    }
    const bool depends_on_failure = lets_go_of_failed(op);
    const bool launches = !depends_on_failure && !op->fails && op->kind == SIMULATED_LAUNCH;
    if (depends_on_failure) {
        op->result = DYNSEL_E_DEPENDENCY;
    } else if (op->fails && !(op->kind == SIMULATED_BRING && op->copy->shared)) {
        op->result = sim->failing_status;
    } else if (op->kind == SIMULATED_LAUNCH) {
        op->result = take_launch(sim, op);
    } else if (op->kind == SIMULATED_BRING) {
        if (!op->moved) {
            take_bring(sim, op);
        }
    } else if (op->kind == SIMULATED_PASS) {
        if (!op->moved) {
            take_pass(sim, op);
        }
    } else if (op->kind == SIMULATED_WRITE_BACK) {
        memcpy(op->host, op->copy->data, op->bytes);
    } else if (!sim->waits_deliver) {
        simulated_deliver(sim, op);
    }
    sim->has_failed |= sim->failures_are_losses && op->result == DYNSEL_E_DEVICE;
    const dynsel_error *const told = dynsel_last_error();
    op->code = launches && told->status == op->result ? told->code : (int32_t)op->result - 100;
    count_pending(op, -1);
    op->state = op->result == DYNSEL_OK ? SIMULATED_DONE : SIMULATED_FAILED;
    simulated_free_if_over(op);
}

/* A transfer of a buffer's copy on a queue of its own: as early as it can be, which is wrong where
 * work that is not complete uses the memory. The event of a transfer to the device is told in
 * order, because later work has to come after it. */
static void move_beside(simulated_backend *sim, simulated_operation *op)
{
    const simulated_device *const device = op->device;
    const bool can = device->in_order && device->moves_beside && op->copy != NULL &&
                     op->copy->host != NULL && !op->copy->shared && op->contents && !op->fails &&
                     op->after_count == 0;
    if (can && op->kind == SIMULATED_BRING) {
        take_bring(sim, op);
        op->moved = true;
    } else if (can && op->kind == SIMULATED_PASS) {
        take_pass(sim, op);
        op->moved = true;
    } else if (can && op->kind == SIMULATED_FETCH) {
        take_place(sim, op);
    }
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

bool simulated_take_step(simulated_backend *sim, const simulated_device *device, bool hurry)
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

void simulated_take_all(simulated_backend *sim)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
            goes_on |= simulated_take_step(sim, &sim->devices[i], true);
        }
    }
}

simulated_operation *simulated_new_operation(simulated_backend *sim, simulated_kind kind,
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
                .fails = sim->failing_late && simulated_falls_on(sim, kind),
                .sequence = sim->sequence++,
                .polls = device->polls == 0 ? 0 : (unsigned)((sim->random >> 33) % device->polls),
            };
            return op;
        }
    }
    simulated_mistake(sim, "more operations are pending than the library can have");
    return NULL;
}

static bool comes_after(const simulated_operation *op, const simulated_operation *before)
{
    bool found = false;
    for (size_t i = 0; i < op->after_count && !found; i++) {
        found = op->after[i] == before;
    }
    return found;
}

void simulated_come_after(simulated_backend *sim, simulated_operation *op,
                          const dynsel_event *after, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        simulated_operation *before = after[i].native;
        if (before < sim->operations || before >= sim->operations + SIMULATED_OPERATIONS ||
            before->state == SIMULATED_FREE || !before->owned) {
            simulated_mistake(sim, "an event to come after was released, or is none");
            continue;
        }
        simulated_expect(sim, before->device->domain == op->device->domain,
                         "an event to come after is of another domain");
        simulated_expect(sim, !comes_after(op, before), "an event to come after is there twice");
        simulated_expect(sim, op->after_count < SIMULATED_AFTER, "too many events to come after");
        before->held++;
        op->after[op->after_count++] = before;
    }
}

/* Whether the library holds the event of earlier work of the device, and may not know its end. */
static bool follows_owned(const simulated_backend *sim, const simulated_operation *op)
{
    bool follows = false;
    for (size_t i = 0; i < SIMULATED_OPERATIONS; i++) {
        const simulated_operation *const other = &sim->operations[i];
        follows |= other != op && other->device == op->device && other->owned &&
                   other->state != SIMULATED_FREE;
    }
    return follows;
}

/* Puts it behind its device; done: NULL where the library gets no event. */
dynsel_status simulated_begin(simulated_backend *sim, simulated_operation *op, dynsel_event *done)
{
    op->owned = true; /* so that it stays for now */
    count_pending(op, 1);
    move_beside(sim, op);
    while (op->state == SIMULATED_PENDING && op->device->pace == SIMULATED_AT_ONCE &&
           simulated_take_step(sim, op->device, true)) {
    }
    const dynsel_status status = op->state == SIMULATED_PENDING ? DYNSEL_OK : op->result;
    const int32_t code = op->code;
    const bool undelivered =
        op->kind == SIMULATED_FETCH && op->state == SIMULATED_DONE && !op->delivered;
    const bool ran = op->kind == SIMULATED_LAUNCH && op->state != SIMULATED_PENDING &&
                     (op->state == SIMULATED_FAILED || follows_owned(sim, op));
    if (done != NULL && (op->state == SIMULATED_PENDING || undelivered || ran)) {
        done->native = op;
        return DYNSEL_OK;
    }
    op->owned = false;
    simulated_free_if_over(op);
    return simulated_ended_with(status, code);
}
