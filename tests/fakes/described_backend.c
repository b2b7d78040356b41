/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/described_backend.h"

#include "test.h"

enum { MOST_WORK = 4096 };

static described_device *offered;
static size_t offered_count;
static uint32_t tokens[MOST_WORK];
static size_t token_count;

static const dynsel_recognition anything[] = {{.backend = NULL}};
static const dynsel_target open_target[] = {
    {.name = "anything", .recognitions = anything, .recognition_count = 1}};
static const dynsel_target *targets = open_target;
static size_t target_count = 1;

/* Instead of the library's: any bit may be an aspect here. */
dynsel_aspect_set dynsel_possible_aspects(void)
{
    return (dynsel_aspect_set) ~(dynsel_aspect_set)0;
}

const dynsel_target *dynsel_get_targets(size_t *count)
{
    *count = target_count;
    return targets;
}

void described_targets(const dynsel_target *table, size_t count)
{
    targets = table != NULL ? table : open_target;
    target_count = table != NULL ? count : 1;
}

void described_offer(described_device *devices, size_t count)
{
    offered = devices;
    offered_count = count;
}

static dynsel_status get_default_resources(dynsel_backend *backend, dynsel_resource *resources,
                                           size_t capacity, size_t *count)
{
    for (size_t i = 0; i < offered_count && i < capacity; i++) {
        resources[i] = (dynsel_resource){.backend = backend, .handle = &offered[i]};
    }
    *count = offered_count;
    return DYNSEL_OK;
}

static const char *resource_name(dynsel_backend *backend, const void *handle)
{
    (void)backend;
    return ((const described_device *)handle)->name;
}

static dynsel_status fail_if(dynsel_status status, const char *function)
{
    return status == DYNSEL_OK
               ? DYNSEL_OK
               : dynsel_fail(&(dynsel_error){.status = status, .function = function});
}

static dynsel_status describe(dynsel_backend *backend, const void *handle, dynsel_device *device)
{
    described_device *own = (described_device *)handle;
    (void)backend;
    own->times_described++;
    own->seen = *device;
    device->platform = own->platform;
    device->vendor = own->vendor;
    device->type = own->type;
    device->aspects = own->aspects;
    device->processors = own->processors;
    return fail_if(own->describes, "describe");
}

static dynsel_status attach(dynsel_backend *backend, void *handle)
{
    described_device *own = handle;
    (void)backend;
    const dynsel_status status = fail_if(own->attaches, "attach");
    own->attached += status == DYNSEL_OK ? 1 : 0;
    own->times_attached++;
    return status;
}

static void detach(dynsel_backend *backend, void *handle)
{
    (void)backend;
    ((described_device *)handle)->attached--;
}

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    described_device *own = work->own;
    if (own->refuses) {
        return fail_if(DYNSEL_E_OUT_OF_SERVICE, "start");
    }
    atomic_fetch_add(&own->started, 1);
    dynsel_work_call(work);
    if (backend == &described_later_backend) {
        assert_true(token_count < MOST_WORK);
        tokens[token_count++] = work->token;
    }
    return DYNSEL_OK;
}

size_t described_finish(dynsel_status status)
{
    const size_t count = token_count;
    for (size_t i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_complete(tokens[i], status, dynsel_now_ns()));
    }
    token_count = 0;
    return count;
}

static const dynsel_backend_ops ops = {
    .name = "described",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .get_default_resources = get_default_resources,
    .resource_name = resource_name,
    .describe = describe,
    .attach = attach,
    .detach = detach,
    .start = start,
};

static const dynsel_backend_ops later_ops = {
    .name = "later",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .outlives_submit = true,
    .marks_completion = true,
    .resource_name = resource_name,
    .describe = describe,
    .attach = attach,
    .detach = detach,
    .start = start,
};

static const dynsel_backend_ops silent_ops = {
    .name = "silent",
    .reports = DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION | DYNSEL_TASK_TIME,
    .start = start,
};

dynsel_backend described_backend = {&ops};
dynsel_backend described_later_backend = {&later_ops};
dynsel_backend silent_backend = {&silent_ops};
