/* SPDX-License-Identifier: Apache-2.0 */
/* The code that doc/memory.md shows, between the lines with `----`; what is not there is in
 * examples/placeholder. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "test.h"

/* An accelerator that shares the memory and not the cache, to be simulated: it works on the host's
 * memory when its work is polled. */
static unsigned cleaned;
static unsigned invalidated;

static void cache_clean_invalidate(const void *data, size_t bytes)
{
    assert_true(data != NULL && bytes != 0);
    cleaned++;
}

static void cache_invalidate(const void *data, size_t bytes)
{
    assert_true(data != NULL && bytes != 0);
    invalidated++;
}

static dynsel_status acme_run(const void *program, const dynsel_argument *arguments,
                              dynsel_range items)
{
    assert_int_equal(*(const char *)program, 'd');
    assert_non_null(arguments[0].memory);
    uint32_t *words = arguments[0].memory->native;
    for (size_t i = 0; i < dynsel_range_count(&items); i++) {
        words[i] *= 2;
    }
    return DYNSEL_OK;
}

/* ---- the accelerator ---- */
static dynsel_domain domain(dynsel_backend *backend, void *own)
{
    (void)backend;
    (void)own;
    return (dynsel_domain){.number = 1, .in_order = true};
}

static dynsel_status allocate(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    (void)backend;
    (void)own;
    if (!memory->shared) { /* a device shares it already, and this one has no memory of its own */
        return DYNSEL_E_FULL;
    }
    memory->native = memory->host;
    memory->mapping = DYNSEL_MAPPED_TO_WRITE; /* the host's cache may be newer than the memory */
    return DYNSEL_OK;
}

static void release(dynsel_backend *backend, void *own, dynsel_memory *memory)
{
    (void)backend;
    (void)own;
    memory->native = NULL;
}

static dynsel_status bring(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           const dynsel_event *after, size_t after_count, dynsel_event *done)
{
    (void)backend;
    (void)own;
    (void)contents; /* also without: an old line could be written back over the results */
    (void)after;
    (void)after_count;
    (void)done; /* it is done */
    cache_clean_invalidate(memory->host, memory->bytes);
    memory->mapping = DYNSEL_UNMAPPED;
    return DYNSEL_OK;
}

static dynsel_status fetch(dynsel_backend *backend, void *own, dynsel_memory *memory, bool contents,
                           bool to_write, dynsel_event *done)
{
    (void)backend;
    (void)own;
    (void)contents;
    (void)done;
    cache_invalidate(memory->host, memory->bytes); /* what was read ahead in the meantime */
    memory->mapping = to_write ? DYNSEL_MAPPED_TO_WRITE : DYNSEL_MAPPED_TO_READ;
    return DYNSEL_OK;
}

static const void *program_of(const dynsel_kernel *kernel)
{
    for (size_t i = 0; i < kernel->binary_count; i++) {
        if (strcmp(kernel->binaries[i].device, "acme") == 0) {
            return kernel->binaries[i].data;
        }
    }
    return NULL;
}

static bool has_form(const dynsel_kernel *kernel)
{
    return program_of(kernel) != NULL;
}

static dynsel_status launch(dynsel_backend *backend, void *own, const dynsel_command *command,
                            dynsel_event *done)
{
    (void)backend;
    (void)own;
    (void)done; /* work that goes on leaves its event here */
    if (command->kind != DYNSEL_COMMAND_KERNEL) {
        return DYNSEL_E_UNSUPPORTED; /* copies and fills */
    }
    return acme_run(program_of(command->kernel), command->launch.arguments, command->launch.global);
}

static const dynsel_memory_ops acme_memory = {.domain = domain,
                                              .allocate = allocate,
                                              .release = release,
                                              .bring = bring,
                                              .fetch = fetch,
                                              .launch = launch,
                                              .has_form = has_form};
/* ---- until here ---- */

static dynsel_status start(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    dynsel_work_call(work);
    return DYNSEL_OK;
}

static dynsel_status never_asked(dynsel_backend *backend, const dynsel_work *work)
{
    (void)backend;
    (void)work;
    return DYNSEL_OK;
}

static void nothing_to_release(dynsel_backend *backend, dynsel_work *work)
{
    (void)backend;
    (void)work;
}

static const dynsel_backend_ops acme_ops = {.name = "acme",
                                            .reports =
                                                DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION,
                                            .outlives_submit = true,
                                            .poll_synchronizes = true,
                                            .start = start,
                                            .poll = never_asked,
                                            .wait = never_asked,
                                            .release = nothing_to_release,
                                            .memory = &acme_memory};
static dynsel_backend acme = {&acme_ops};

static dynsel_status double_on_host(const dynsel_launch *launch)
{
    uint32_t *words = dynsel_launch_data(launch, 0);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        words[i] *= 2;
    }
    return DYNSEL_OK;
}

static const dynsel_kernel_binary double_binaries[] = {{"acme", "double", 7}};
static const dynsel_kernel double_kernel = {.name = "double_words",
                                            .function = double_on_host,
                                            .binaries = double_binaries,
                                            .binary_count = 1};

/* ---- a buffer for this command group only ---- */
static const dynsel_accessor words = {.name = "words", .placeholder = true}; /* of no buffer yet */

static dynsel_status double_words(dynsel_handler *handler, void *args)
{
    const dynsel_buffer *which = args;
    dynsel_require_buffer(handler, *which, &words);
    dynsel_set_arg_accessor(handler, 0, &words);
    return dynsel_parallel_for(handler, &double_kernel, DYNSEL_RANGE(4), NULL, NULL);
}
/* ---- until here ---- */

/* ---- beginning afresh ---- */
static dynsel_status clear(dynsel_handler *handler, void *args)
{
    static const uint32_t zero = 0;
    const dynsel_buffer *which = args;
    dynsel_accessor all = {.name = "words"};
    dynsel_get_access(handler, *which, DYNSEL_ACCESS_DISCARD_WRITE, DYNSEL_MEMORY_GLOBAL, &all);
    return dynsel_fill(handler, &all, &zero, sizeof zero);
}
/* ---- until here ---- */

static dynsel_round_robin_policy policy;
static uint32_t data[4];
static dynsel_buffer buffer;

/* One over the resources given; the buffer has 1, 2, 3, 4. */
static void begin(const dynsel_resource *resources, size_t count)
{
    const dynsel_options options = {.resources = resources, .count = count};
    memset(&policy, 0, sizeof policy);
    for (uint32_t i = 0; i < 4; i++) {
        data[i] = i + 1;
    }
    buffer = (dynsel_buffer){0};
    cleaned = 0;
    invalidated = 0;
    assert_int_equal(dynsel_round_robin_init(&policy, &options, 0), DYNSEL_OK);
    assert_int_equal(dynsel_buffer_init(&buffer, data, sizeof data[0], DYNSEL_RANGE(4)), DYNSEL_OK);
}

static void end(uint32_t first)
{
    assert_int_equal(dynsel_buffer_deinit(&buffer), DYNSEL_OK);
    assert_int_equal(dynsel_policy_deinit(&policy.policy), DYNSEL_OK);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(data[i], first * (i + 1));
    }
}

static void submit_double(void)
{
    assert_int_equal(dynsel_submit_command_group_and_wait(&policy.policy, double_words, &buffer),
                     DYNSEL_OK);
}

static void accessor_tells_whether_it_is_placeholder_and_has_buffer(void **state)
{
    const dynsel_accessor bound = {.buffer = {1}, .placeholder = true};
    const dynsel_accessor nothing_said = {0};
    (void)state;
    assert_true(dynsel_accessor_is_placeholder(&words) && !dynsel_accessor_has_buffer(&words));
    assert_true(dynsel_accessor_is_placeholder(&bound) && dynsel_accessor_has_buffer(&bound));
    assert_false(dynsel_accessor_is_placeholder(&nothing_said));
    assert_false(dynsel_accessor_is_placeholder(NULL) || dynsel_accessor_has_buffer(NULL));
}

static void placeholder_is_bound_to_buffer_in_command_group(void **state)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    (void)state;
    begin(&host, 1);
    submit_double();
    end(2);
}

static void accelerator_shares_host_memory_but_not_cache(void **state)
{
    const dynsel_resource resources[] = {{.backend = &acme}, {.backend = &dynsel_inline_backend}};
    dynsel_movement moved;
    (void)state;
    begin(resources, 2);
    submit_double(); /* on the accelerator, */
    assert_true(cleaned == 1 && invalidated == 0);
    submit_double(); /* and on the host */
    assert_true(cleaned == 1 && invalidated == 1);
    submit_double();
    assert_true(cleaned == 2 && invalidated == 1);
    assert_int_equal(dynsel_buffer_movement(buffer, &moved), DYNSEL_OK);
    assert_true(moved.bytes_in == 0 && moved.bytes_out == 0);
    end(8);
    assert_int_equal(invalidated, 2);
}

static dynsel_status fail_on_host(const dynsel_launch *launch)
{
    (void)launch;
    return DYNSEL_E_USER;
}

static dynsel_status spoil(dynsel_handler *handler, void *args)
{
    dynsel_require_buffer(handler, *(const dynsel_buffer *)args, &words);
    return dynsel_host_task(handler, fail_on_host);
}

static void buffer_failure_lasts_until_overwritten(void **state)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    (void)state;
    begin(&host, 1);
    assert_int_equal(dynsel_submit_command_group_and_wait(&policy.policy, spoil, &buffer),
                     DYNSEL_E_USER);
    assert_int_equal(dynsel_submit_command_group_and_wait(&policy.policy, double_words, &buffer),
                     DYNSEL_E_DEPENDENCY);
    assert_int_equal(dynsel_submit_command_group_and_wait(&policy.policy, clear, &buffer),
                     DYNSEL_OK);
    submit_double();
    end(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accessor_tells_whether_it_is_placeholder_and_has_buffer),
        cmocka_unit_test(placeholder_is_bound_to_buffer_in_command_group),
        cmocka_unit_test(accelerator_shares_host_memory_but_not_cache),
        cmocka_unit_test(buffer_failure_lasts_until_overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
