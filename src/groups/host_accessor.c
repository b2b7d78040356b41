/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host accessor is a command group without a command: while it is open its slot is in STARTING,
 * so that its dependents wait.
 */
#include <dynsel/host_accessor.h>

#include "base/fail.h"
#include "data/buffers.h"
#include "groups/choose_resource.h"
#include "groups/order.h"
#include "groups/recording.h"
#include "groups/start_pending.h"
#include "groups/submit_command_group.h"
#include "policy/policy.h"
#include "port/pause.h"
#include "submission/handle.h"
#include "submission/pending.h"
#include "submission/queue.h"
#include "submission/request.h"
#include "submission/slot_table.h"
#include "submission/wait_until.h"

static dynsel_status choose(dynsel_policy *policy, const dynsel_task *task,
                            dynsel_selection *selection)
{
    (void)policy;
    (void)task;
    selection->index = 0;
    return DYNSEL_OK;
}

/* Never called, but backends have to have it. */
static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_E_UNSUPPORTED;
}

static const dynsel_policy_ops policy_ops = {.name = "host accessors", .try_select = choose};
static const dynsel_backend_ops backend_ops = {.name = "host accessors", .start = start};
static dynsel_backend backend = {.ops = &backend_ops};

/* The policy of all host accessors: one resource, no device, nothing to attach. */
static dynsel_policy *the_policy(void)
{
    static dynsel_policy policy;
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    if (policy.self == NULL) {
        policy.ops = &policy_ops;
        policy.count = 1;
        policy.resources[0].backend = &backend;
        policy.self = &policy;
    }
    dynsel_spinlock_release(&dynsel_memory_lock);
    return &policy;
}

/* One call that opens a host accessor. */
typedef struct request {
    dynsel_submit_options options;
    dynsel_buffer buffer;
    dynsel_access_mode mode;
    dynsel_range range; /* no dimensions: of the whole buffer */
    dynsel_range offset;
    dynsel_box box; /* of a part */
    dynsel_host_accessor *accessor;
    dynsel_handler *group;
    dynsel_slot *slot;
} request;

static dynsel_status refuse(const request *r, const char *detail)
{
    (void)detail; /* without CONFIG_DYNSEL_ERROR_TEXTS */
    return DYNSEL_FAIL_IN(r->options.function, DYNSEL_E_INVALID, detail, 0);
}

static dynsel_status check(const request *r)
{
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (r->accessor == NULL) {
        return refuse(r, DYNSEL_TEXT("the accessor is NULL"));
    }
    if (r->accessor->data != NULL || r->accessor->bytes != 0) {
        return refuse(r, DYNSEL_TEXT("the accessor is open, or was not zeroed"));
    }
    if (r->mode > DYNSEL_ACCESS_ATOMIC) {
        return refuse(r, DYNSEL_TEXT("there is no such mode"));
    }
    return dynsel_must_not_wait()
               ? DYNSEL_REFUSE_TO_WAIT(r->options.function,
                                       "what it waits for might wait for this function")
               : DYNSEL_OK;
}

static bool is_of_part(const request *r)
{
    return r->range.dimensions != 0 || r->offset.dimensions != 0;
}

/* all: out, whether that is the whole buffer. */
DYNSEL_ASIDE static dynsel_status find_part(request *r, const dynsel_call *call, bool *all)
{
    const dynsel_accessor part = {.range = r->range, .offset = r->offset};
    dynsel_shape shape;
    dynsel_region region;
    dynsel_status status = dynsel_shape_of(call, r->buffer, &shape);
    if (status == DYNSEL_OK) {
        status = dynsel_region_of(call, &part, &shape, &region);
    }
    if (status == DYNSEL_OK) {
        r->box = dynsel_box_of(&region, &shape);
        *all = dynsel_region_is_all(&region, &shape);
    }
    return status;
}

/* Checks the handle, for an error that names this function. Whether the buffer exists is checked
 * again when the group is entered into the order. */
static dynsel_status record(request *r)
{
    dynsel_handler *group = r->group;
    dynsel_order_renew(r->slot->work.token);
    dynsel_group_begin(group, r->slot->work.token, NULL);
    group->open = false;
    group->command.kind = DYNSEL_COMMAND_HOST_ACCESS;
    const dynsel_call call = {.handler = group, .function = r->options.function};
    bool all = true;
    const bool exists = dynsel_buffer_find(r->buffer) != NULL;
    dynsel_status status =
        exists ? DYNSEL_OK : dynsel_buffer_refuse(r->options.function, NULL, r->buffer);
    if (exists && is_of_part(r)) {
        status = find_part(r, &call, &all);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    group->uses->each[0] = (dynsel_use){
        .record = &dynsel_buffers[dynsel_buffer_place(r->buffer)],
        .token = r->buffer.token,
        .reads = !dynsel_mode_discards((uint32_t)r->mode) || !all,
        .writes = r->mode != DYNSEL_ACCESS_READ,
    };
    group->uses->count = 1;
    return DYNSEL_OK;
}

static bool is_held(const dynsel_handler *group)
{
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool held = group->held;
    dynsel_spinlock_release(&dynsel_memory_lock);
    return held;
}

static uint32_t state_of(const dynsel_slot *slot)
{
    return dynsel_slot_state(dynsel_word_load_acquire(&slot->word));
}

/* DYNSEL_OK: the accessor is open, or has failed. */
static dynsel_status wait_until_over(const request *r)
{
    for (uint32_t round = 0;; round++) {
        (void)dynsel_pending_progress();
        if (is_held(r->group) || state_of(r->slot) == DYNSEL_SLOT_FINISHED) {
            return DYNSEL_OK;
        }
        if (dynsel_deadline_passed(r->options.deadline_ns)) {
            return DYNSEL_FAIL_IN(r->options.function, DYNSEL_E_TIMEOUT,
                                  "the data were not there in time", 0);
        }
        const dynsel_status status =
            dynsel_wait_for_dependency(r->slot, r->options.deadline_ns, round);
        if (status != DYNSEL_OK) {
            return status;
        }
    }
}

/* From the first to the last byte of a box; the rows and slices between have gaps. */
static size_t extent_of(const dynsel_box *box)
{
    return box->size[0] == 0 || box->size[1] == 0 || box->size[2] == 0
               ? 0
               : (box->size[0] - 1) * box->slice_pitch + (box->size[1] - 1) * box->row_pitch +
                     box->size[2];
}

/* Of a whole buffer, which has no gaps. */
static void fill_in_whole(const request *r, const dynsel_buffer_record *record)
{
    const dynsel_range *const range = &record->range;
    const size_t row = range->size[range->dimensions - 1] * record->element_bytes;
    r->accessor->data = record->data;
    r->accessor->bytes = record->bytes;
    r->accessor->row_pitch = row;
    r->accessor->slice_pitch =
        range->dimensions > 1 ? row * range->size[range->dimensions - 2] : row;
}

static void fill_in_part(const request *r, const dynsel_buffer_record *record)
{
    r->accessor->data = (unsigned char *)record->data + r->box.first;
    r->accessor->bytes = extent_of(&r->box);
    r->accessor->row_pitch = r->box.row_pitch;
    r->accessor->slice_pitch = r->box.slice_pitch;
}

/* Aside, so that its error takes no stack while the group is entered. */
DYNSEL_ASIDE static dynsel_status wait_until_open(request *r)
{
    const uint64_t since = dynsel_traced_now();
    dynsel_status status = wait_until_over(r);
    if (status != DYNSEL_OK && dynsel_group_cancel(r->slot, dynsel_last_error()) == DYNSEL_OK) {
        dynsel_error error = *dynsel_last_error();
        error.function = r->options.function;
        status = dynsel_submission_release(&r->accessor->submission);
        (void)status; /* cannot fail: no other thread has the submission */
        *r->accessor = (dynsel_host_accessor){.data = NULL};
        (void)dynsel_pending_progress();
        return dynsel_fail(&error);
    }
    if (!is_held(r->group)) {
        status = dynsel_wait(&r->accessor->submission);
        *r->accessor = (dynsel_host_accessor){.data = NULL};
        return status;
    }
    dynsel_traced_wait(&r->slot->selection, since);
    const dynsel_buffer_record *record = r->group->uses->each[0].record;
    if (is_of_part(r)) {
        fill_in_part(r, record);
    } else {
        fill_in_whole(r, record);
    }
    return DYNSEL_OK;
}

static dynsel_status open_accessor(request *r)
{
    dynsel_status status = check(r);
    if (status != DYNSEL_OK) {
        return status;
    }
    dynsel_policy *policy = the_policy();
    (void)dynsel_pending_progress();
    dynsel_slot *slot = NULL;
    status = dynsel_pending_claim(policy, &r->options, &slot);
    if (status != DYNSEL_OK || slot == NULL) {
        return status;
    }
    r->slot = slot;
    r->group = dynsel_group_of(slot);
    status = record(r);
    if (status == DYNSEL_OK) {
        status = dynsel_choose_resource(r->group, policy, &r->options);
    }
    if (status == DYNSEL_OK) {
        status = dynsel_group_enter(r->group, &r->options, DYNSEL_SLOT_HANDLE);
    }
    if (status != DYNSEL_OK) {
        dynsel_slot_unclaim(r->slot);
        return status;
    }
    dynsel_pending_publish_handle(r->slot, &r->accessor->submission);
    return wait_until_open(r);
}

dynsel_status dynsel_host_accessor_open(dynsel_host_accessor *accessor, dynsel_buffer buffer,
                                        dynsel_access_mode mode)
{
    request r = {.options = {.function = DYNSEL_TEXT(__func__), .deadline_ns = DYNSEL_WAIT_FOREVER},
                 .buffer = buffer,
                 .mode = mode,
                 .accessor = accessor};
    return open_accessor(&r);
}

dynsel_status dynsel_host_accessor_open_for(dynsel_host_accessor *accessor, dynsel_buffer buffer,
                                            dynsel_access_mode mode, uint64_t timeout_ns)
{
    request r = {.options = {.function = DYNSEL_TEXT(__func__),
                             .deadline_ns = dynsel_deadline_after(timeout_ns)},
                 .buffer = buffer,
                 .mode = mode,
                 .accessor = accessor};
    return open_accessor(&r);
}

dynsel_status dynsel_host_accessor_open_part(dynsel_host_accessor *accessor, dynsel_buffer buffer,
                                             dynsel_access_mode mode, dynsel_range range,
                                             dynsel_range offset)
{
    request r = {.options = {.function = DYNSEL_TEXT(__func__), .deadline_ns = DYNSEL_WAIT_FOREVER},
                 .buffer = buffer,
                 .mode = mode,
                 .range = range,
                 .offset = offset,
                 .accessor = accessor};
    return open_accessor(&r);
}

dynsel_status dynsel_host_accessor_open_part_for(dynsel_host_accessor *accessor,
                                                 dynsel_buffer buffer, dynsel_access_mode mode,
                                                 dynsel_range range, dynsel_range offset,
                                                 uint64_t timeout_ns)
{
    request r = {.options = {.function = DYNSEL_TEXT(__func__),
                             .deadline_ns = dynsel_deadline_after(timeout_ns)},
                 .buffer = buffer,
                 .mode = mode,
                 .range = range,
                 .offset = offset,
                 .accessor = accessor};
    return open_accessor(&r);
}

/* The slot of an open accessor, which the caller then ends; NULL: it is not open. */
static dynsel_slot *take(const dynsel_submission *submission)
{
    const uint32_t number =
        dynsel_word_load_relaxed(&submission->slot) - DYNSEL_SUBMISSION_SLOT_BASE;
    if (number < 1 || number > CONFIG_DYNSEL_MAX_IN_FLIGHT ||
        !dynsel_slot_ref_handle(dynsel_slot_at(number), submission->generation)) {
        return NULL;
    }
    dynsel_slot *slot = dynsel_slot_at(number);
    dynsel_handler *group = dynsel_group_of(slot);
    dynsel_spinlock_acquire(&dynsel_memory_lock);
    const bool held = group->held;
    group->held = false;
    dynsel_spinlock_release(&dynsel_memory_lock);
    dynsel_slot_unref(slot, DYNSEL_SLOT_REF);
    return held ? slot : NULL;
}

dynsel_status dynsel_host_accessor_close(dynsel_host_accessor *accessor)
{
    static const dynsel_error nothing_is_wrong = {.status = DYNSEL_OK};
    if (dynsel_in_interrupt()) {
        return DYNSEL_E_CONTEXT;
    }
    if (accessor == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_INVALID, "the accessor is NULL");
    }
    dynsel_slot *slot = accessor->data != NULL ? take(&accessor->submission) : NULL;
    if (slot == NULL) {
        return DYNSEL_FAIL(DYNSEL_E_STALE, "the accessor is not open");
    }
    dynsel_pending_fail(slot, &nothing_is_wrong);
    const dynsel_status status = dynsel_submission_release(&accessor->submission);
    *accessor = (dynsel_host_accessor){.data = NULL};
    return status;
}
