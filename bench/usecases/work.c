/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../measure.h"
#include "kernels.h"
#include "log.h"
#include "memory.h"
#include "random.h"

/* One input and one output of each size. */
typedef struct data {
    uint32_t elements;
    void *in;
    void *out;
    dynsel_accessor read; /* placeholders */
    dynsel_accessor written;
} data;

static data sizes[WORK_MOST_SIZES];
static size_t size_count;
static dynsel_fixed_resource_policy fixed[RESOURCES_MOST];
static size_t fixed_count;

static dynsel_accessor open_buffer(void *memory, uint32_t elements, dynsel_access_mode mode,
                                   const char *name)
{
    dynsel_buffer buffer = {0};
    log_check(dynsel_buffer_init(&buffer, memory, sizeof(uint32_t), DYNSEL_RANGE(elements)) ==
                  DYNSEL_OK,
              "dynsel_buffer_init");
    return (dynsel_accessor){
        .name = name, .buffer = buffer, .mode = (uint8_t)mode, .placeholder = true};
}

void work_open(const uint32_t *elements, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        data *d = &sizes[i];
        const size_t bytes = (size_t)elements[i] * sizeof(uint32_t);
        *d = (data){
            .elements = elements[i], .in = memory_allocate(bytes), .out = memory_allocate(bytes)};
        uint32_t *in = d->in;
        for (uint32_t k = 0; k < elements[i]; k++) {
            in[k] = (uint32_t)random_next(&seed);
        }
        d->read = open_buffer(d->in, elements[i], DYNSEL_ACCESS_READ, "in");
        d->written = open_buffer(d->out, elements[i], DYNSEL_ACCESS_DISCARD_WRITE, "out");
    }
    size_count = count;
}

mix_kind work_kind_of(uint32_t kernel, uint32_t size, uint32_t operations)
{
    return mix_kind_of(kernel, size, sizes[size].elements, operations, sizes[size].in);
}

void work_prepare(const resources *r)
{
    const dynsel_kernel *kernels[MIX_KERNELS];
    for (size_t i = 0; i < MIX_KERNELS; i++) {
        kernels[i] = &usecase_kernels[i];
    }
    resources_prepare(r, fixed, kernels, MIX_KERNELS);
    fixed_count = r->count;
}

static dynsel_status group(dynsel_handler *handler, void *args)
{
    const mix_kind *kind = args;
    const data *d = &sizes[kind->size];
    const dynsel_kernel *kernel = &usecase_kernels[kind->kernel];
    const uint32_t words[] = {kind->elements, kind->operations};
    dynsel_require(handler, &d->read);
    dynsel_require(handler, &d->written);
    dynsel_set_arg_accessor(handler, 0, &d->read);
    dynsel_set_arg_accessor(handler, 1, &d->written);
    dynsel_set_arg_value(handler, 2, &kind->elements, sizeof kind->elements);
    dynsel_set_arg_value(handler, 3, &kind->operations, sizeof kind->operations);
    dynsel_set_key(handler, kernel->id, words, 2);
    dynsel_set_amount(handler, (uint64_t)kind->elements * kind->operations);
    return dynsel_parallel_for(handler, kernel, DYNSEL_RANGE(kind->elements), NULL, NULL);
}

static void fail(const mix_kind *kind, const char *where)
{
    char text[512];
    (void)dynsel_error_text(NULL, text, sizeof text);
    log_exit(STATUS_FAILED, "%s, %" PRIu32 " elements, on %s: %s",
             usecase_kernels[kind->kernel].name, kind->elements, where, text);
}

static void check(const mix_kind *kind, const void *results, const char *where)
{
    if (memcmp(results, kind->expected, (size_t)kind->elements * sizeof(uint32_t)) == 0) {
        return;
    }
    for (uint32_t i = 0; i < kind->elements; i++) {
        if (!mix_is_right(kind, results, i)) {
            log_exit(STATUS_FAILED,
                     "a wrong result: %s, %" PRIu32 " elements, on %s, element %" PRIu32 "",
                     kind->name, kind->elements, where, i);
        }
    }
}

/* Makes copies on devices out of date, as if the program had new input, and overwrites old results.
 */
static void renew(const data *d)
{
    dynsel_host_accessor seen = {0};
    log_check(dynsel_host_accessor_open(&seen, d->read.buffer, DYNSEL_ACCESS_WRITE) == DYNSEL_OK,
              "new input");
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "new input");
    log_check(dynsel_host_accessor_open(&seen, d->written.buffer, DYNSEL_ACCESS_DISCARD_WRITE) ==
                  DYNSEL_OK,
              "old results");
    (void)memset(seen.data, 0xff, seen.bytes);
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "old results");
}

work_run work_place(dynsel_policy *policy, const mix_kind *kind, const resources *r)
{
    const data *d = &sizes[kind->size];
    dynsel_submission submission;
    dynsel_host_accessor seen = {0};
    renew(d);
    const uint64_t began = measure_now_ns();
    if (dynsel_submit_command_group(policy, group, (void *)kind, &submission) != DYNSEL_OK) {
        fail(kind, "any resource");
    }
    work_run run = {.resource = submission.index, .reason = submission.reason};
    if (dynsel_wait(&submission) != DYNSEL_OK ||
        dynsel_host_accessor_open(&seen, d->written.buffer, DYNSEL_ACCESS_READ) != DYNSEL_OK) {
        fail(kind, r->names[run.resource]);
    }
    run.ns = measure_now_ns() - began;
    check(kind, seen.data, r->names[run.resource]);
    log_check(dynsel_host_accessor_close(&seen) == DYNSEL_OK, "close");
    return run;
}

work_run work_place_on(uint32_t index, const mix_kind *kind, const resources *r)
{
    return work_place(&fixed[index].policy, kind, r);
}

static dynsel_status never_called(const dynsel_resource *where, void *args, dynsel_event *done)
{
    (void)where;
    (void)args;
    (void)done;
    return DYNSEL_E_UNSUPPORTED;
}

work_run work_place_and_tell(dynsel_policy *policy, const mix_kind *kind, const resources *r)
{
    const uint32_t words[] = {kind->elements, kind->operations};
    const dynsel_task task = {.function = never_called,
                              .id = usecase_kernels[kind->kernel].id,
                              .key_words = words,
                              .key_word_count = 2};
    dynsel_selection selection;
    const uint64_t began = measure_now_ns();
    log_check(dynsel_select(policy, &task, &selection) == DYNSEL_OK, "dynsel_select");
    const uint64_t selecting = measure_now_ns() - began;
    work_run run = work_place_on(selection.index, kind, r);
    run.ns += selecting;
    run.reason = selection.reason;
    log_check(dynsel_report(&selection, DYNSEL_TASK_SUBMISSION) == DYNSEL_OK, "dynsel_report");
    if (dynsel_selection_needs(&selection, DYNSEL_TASK_TIME)) {
        log_check(dynsel_report_value(&selection, DYNSEL_TASK_TIME, run.ns) == DYNSEL_OK,
                  "dynsel_report_value");
    }
    log_check(dynsel_report(&selection, DYNSEL_TASK_COMPLETION) == DYNSEL_OK, "dynsel_report");
    return run;
}

void work_close(mix_kind *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(kinds[i].expected);
    }
    for (size_t i = 0; i < size_count; i++) {
        log_check(dynsel_buffer_deinit(&sizes[i].read.buffer) == DYNSEL_OK, "deinit");
        log_check(dynsel_buffer_deinit(&sizes[i].written.buffer) == DYNSEL_OK, "deinit");
        free(sizes[i].in);
        free(sizes[i].out);
    }
    for (size_t i = 0; i < fixed_count; i++) {
        log_check(dynsel_policy_deinit(&fixed[i].policy) == DYNSEL_OK, "dynsel_policy_deinit");
    }
}
