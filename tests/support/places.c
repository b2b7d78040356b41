/* SPDX-License-Identifier: Apache-2.0 */
#include "support/places.h"

#include <string.h>

#include "data/buffers.h"
#include "submission/pending_ops.h"

simulated_backend sim;
dynsel_fixed_resource_policy places[PLACES];

void places_begin(bool waits_deliver)
{
    simulated_reset(&sim, 1, waits_deliver);
    memset(places, 0, sizeof places);
    for (unsigned i = 0; i < PLACES; i++) {
        const dynsel_resource resource = i == HOST
                                             ? (dynsel_resource){.backend = &dynsel_inline_backend}
                                             : simulated_resource(&sim, i);
        const dynsel_options options = {.resources = &resource, .count = 1};
        assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&places[i], &options, 0));
    }
}

void places_hurry(void)
{
    simulated_finish(&sim);
    for (unsigned i = 0; i < SIMULATED_DEVICES; i++) {
        sim.devices[i].pace = SIMULATED_AT_ONCE;
    }
}

static void check_copy(const dynsel_buffer_record *record, uint32_t domain)
{
    const dynsel_copy_record *const copy = &record->copies[domain - 1];
    const bool valid = dynsel_is_valid(&record->validity, domain);
    assert_true(copy->memory.native != NULL || (!valid && !copy->lost));
    assert_false(valid && copy->lost);
    assert_false(copy->memory.native != NULL && copy->memory.shared && record->shared_by != domain);
    if (record->shared_by == domain) {
        assert_true(copy->memory.native != NULL && copy->memory.shared);
        assert_false(dynsel_is_valid(&record->validity, DYNSEL_HOST_DOMAIN) && !copy->lost &&
                     copy->memory.mapping == DYNSEL_UNMAPPED);
    }
}

void places_check(void)
{
    uint32_t failed = 0;
    for (uint32_t i = 0; i < CONFIG_DYNSEL_MAX_BUFFERS; i++) {
        const dynsel_buffer_record *const record = &dynsel_buffers[i];
        failed += dynsel_word_load_relaxed(&record->failures.known);
        assert_int_equal(DYNSEL_NO_COPY_OUT, record->copy_out.state);
        for (uint32_t d = 1; d <= CONFIG_DYNSEL_MAX_DOMAINS && !dynsel_buffer_is(record, 0); d++) {
            check_copy(record, d);
        }
    }
    assert_int_equal(dynsel_word_load_relaxed(&dynsel_pending_alarms), failed);
}

void places_end(void)
{
    places_check();
    for (unsigned i = 0; i < PLACES; i++) {
        assert_status(DYNSEL_OK, dynsel_policy_deinit(&places[i].policy));
    }
    simulated_assert_clean(&sim, true);
}

void place_is_another(unsigned place)
{
    dynsel_policy *const policy = &places[place].policy;
    for (uint32_t i = 0; i < policy->count; i++) {
        dynsel_word_store_relaxed(&policy->queues[i].domain_asked, 0);
    }
}

static size_t elements_of(const dynsel_launch *launch, size_t index)
{
    return launch->arguments[index].bytes / sizeof(int32_t);
}

static dynsel_status add_form(const dynsel_launch *launch)
{
    int32_t *data = dynsel_launch_data(launch, 0);
    const size_t last = launch->argument_count - 1;
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        data[i] += DYNSEL_LAUNCH_VALUE(launch, last, int32_t);
    }
    return DYNSEL_OK;
}

static dynsel_status set_form(const dynsel_launch *launch)
{
    int32_t *data = dynsel_launch_data(launch, 0);
    const size_t last = launch->argument_count - 1;
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        data[i] = DYNSEL_LAUNCH_VALUE(launch, last, int32_t) + (int32_t)i;
    }
    return DYNSEL_OK;
}

static dynsel_status copy_form(const dynsel_launch *launch)
{
    memcpy(dynsel_launch_data(launch, 0), dynsel_launch_data(launch, 1),
           launch->arguments[1].bytes);
    return DYNSEL_OK;
}

static dynsel_status total_form(const dynsel_launch *launch)
{
    int32_t *to = dynsel_launch_data(launch, 0);
    const int32_t *from = dynsel_launch_data(launch, 1);
    to[0] = 0;
    for (size_t i = 0; i < elements_of(launch, 1); i++) {
        to[0] += from[i];
    }
    return DYNSEL_OK;
}

static dynsel_status fail_form(const dynsel_launch *launch)
{
    const size_t last = launch->argument_count - 1;
    return (dynsel_status)DYNSEL_LAUNCH_VALUE(launch, last, int32_t);
}

static const dynsel_kernel kernels[] = {
    [ADD] = {.name = "add", .function = add_form},
    [SET] = {.name = "set", .function = set_form},
    [COPY] = {.name = "copy", .function = copy_form},
    [TOTAL] = {.name = "total", .function = total_form},
    [FAIL] = {.name = "fail", .function = fail_form},
};

static dynsel_status record_job(dynsel_handler *handler, void *args)
{
    const job *what = args;
    dynsel_accessor placeholders[3]; /* known by their addresses */
    uint32_t count = 0;
    for (; count < 3 && what->buffers[count].token != 0; count++) {
        const bool is_last = count == 2 || what->buffers[count + 1].token == 0;
        placeholders[count] =
            (dynsel_accessor){.name = "of a job",
                              .buffer = what->buffers[count],
                              .mode = (uint8_t)what->modes[count],
                              .target = (uint8_t)(is_last ? what->target : DYNSEL_MEMORY_GLOBAL),
                              .placeholder = true,
                              .range = what->parts[count] != 0 ? DYNSEL_RANGE(what->parts[count])
                                                               : (dynsel_range){.dimensions = 0}};
        (void)dynsel_require(handler, &placeholders[count]);
        (void)dynsel_set_arg_accessor(handler, count, &placeholders[count]);
    }
    (void)dynsel_set_arg_value(handler, count, &what->value, sizeof what->value);
    if (what->id != 0) {
        (void)dynsel_set_key(handler, what->id, NULL, 0);
    }
#if CONFIG_DYNSEL_REPEAT
    if (what->repeatable) {
        (void)dynsel_set_repeatable(handler);
    }
#endif
    const size_t items = what->parts[0] != 0 ? what->parts[0] : ELEMENTS;
    return dynsel_parallel_for(handler, &kernels[what->kind], DYNSEL_RANGE(items), NULL, NULL);
}

dynsel_status run_job_with(dynsel_policy *policy, const job *what)
{
    job copy = *what;
    return dynsel_submit_command_group_and_wait(policy, record_job, &copy);
}

dynsel_status run_job(unsigned place, const job *what)
{
    return run_job_with(&places[place].policy, what);
}

dynsel_status send_job_with(dynsel_policy *policy, const job *what, dynsel_submission *submission)
{
    job copy = *what;
    return dynsel_submit_command_group(policy, record_job, &copy, submission);
}

dynsel_status send_job(unsigned place, const job *what, dynsel_submission *submission)
{
    return send_job_with(&places[place].policy, what, submission);
}

dynsel_buffer new_buffer(int32_t *data)
{
    dynsel_buffer buffer = {0};
    assert_status(DYNSEL_OK,
                  dynsel_buffer_init(&buffer, data, sizeof *data, DYNSEL_RANGE(ELEMENTS)));
    return buffer;
}

static void compare(const int32_t *data, int32_t first, int32_t step)
{
    for (int32_t i = 0; i < ELEMENTS; i++) {
        assert_int_equal(first + i * step, data[i]);
    }
}

void end_buffer(dynsel_buffer *buffer, const int32_t *data, int32_t first, int32_t step)
{
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(buffer));
    compare(data, first, step);
}

void see_buffer(dynsel_buffer buffer, int32_t first, int32_t step)
{
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_READ));
    compare(seen.data, first, step);
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
}

void write_buffer(dynsel_buffer buffer, int32_t first, int32_t step)
{
    dynsel_host_accessor seen = {0};
    assert_status(DYNSEL_OK, dynsel_host_accessor_open(&seen, buffer, DYNSEL_ACCESS_DISCARD_WRITE));
    int32_t *data = seen.data;
    for (int32_t i = 0; i < ELEMENTS; i++) {
        data[i] = first + i * step;
    }
    assert_status(DYNSEL_OK, dynsel_host_accessor_close(&seen));
}

void check_moved(dynsel_buffer buffer, unsigned in, unsigned out, unsigned avoided,
                 const char *file, int line)
{
    dynsel_movement moved;
    assert_status(DYNSEL_OK, dynsel_buffer_movement(buffer, &moved));
    if (moved.copies_in != in || moved.copies_out != out || moved.copies_avoided != avoided ||
        moved.bytes_in != (uint64_t)in * BYTES || moved.bytes_out != (uint64_t)out * BYTES) {
        print_error("in %u (%u bytes), out %u (%u bytes), avoided %u; expected %u, %u, %u\n",
                    moved.copies_in, (unsigned)moved.bytes_in, moved.copies_out,
                    (unsigned)moved.bytes_out, moved.copies_avoided, in, out, avoided);
        _fail(file, line);
    }
}
