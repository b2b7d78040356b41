/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of refusals because of a full table: they name the option, its value, and the value
 * that would do. */
#include <dynsel/dynsel.h>

#include <stdio.h>
#include <string.h>

#include "data/pair.h"

/* The last error says "CONFIG_DYNSEL_<name> is <value>", and has `needed` as its number. */
static void check_text(const char *name, unsigned long value, unsigned long needed)
{
    char text[400] = "";
    char begin[120];
    char number[24];
    (void)snprintf(begin, sizeof begin, "CONFIG_DYNSEL_%s is %lu, ", name, value);
    (void)snprintf(number, sizeof number, "%lu", needed);
    (void)dynsel_error_text(NULL, text, sizeof text);
    assert_int_equal(DYNSEL_E_FULL, dynsel_last_error()->status);
    const char *const found = strstr(text, begin);
    if (found == NULL || strstr(found + strlen(begin), number) == NULL ||
        strstr(text, "set it") == NULL) {
        fail_msg("expected \"%s\", %s and \"set it\" in: %s", begin, number, text);
    }
}

#define CHECK(name, needed) check_text(#name, CONFIG_DYNSEL_##name, (needed))

static void buffers(void **state)
{
    (void)state;
    static dynsel_buffer made[CONFIG_DYNSEL_MAX_BUFFERS];
    static char byte;
    unsigned count = 0;
    dynsel_status status = DYNSEL_OK;
    while (status == DYNSEL_OK) {
        assert_true(count < CONFIG_DYNSEL_MAX_BUFFERS);
        status = dynsel_buffer_init(&made[count], &byte, 1, DYNSEL_RANGE(1));
        count += status == DYNSEL_OK ? 1 : 0;
    }
    CHECK(MAX_BUFFERS, CONFIG_DYNSEL_MAX_BUFFERS + 1);
    for (unsigned i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_buffer_deinit(&made[i]));
    }
    dynsel_buffer inside = {0};
    const size_t bytes = CONFIG_DYNSEL_BUFFER_INSIDE_BYTES + 12345;
    assert_status(DYNSEL_E_FULL, dynsel_buffer_init(&inside, NULL, 1, DYNSEL_RANGE(bytes)));
    CHECK(BUFFER_INSIDE_BYTES, bytes);
    finish_with(0, 1);
}

typedef enum excess {
    ARGUMENTS,
    VALUES,
    REQUIREMENTS,
    STAGED,
    STAGED_COUNT,
    STAGED_BYTES,
    READERS,
} excess;

static dynsel_status nothing(const dynsel_launch *launch)
{
    (void)launch;
    return DYNSEL_OK;
}

static const dynsel_kernel idle = {.name = "idle", .function = nothing};

static dynsel_status exceed(dynsel_handler *handler, void *args)
{
    static unsigned char values[CONFIG_DYNSEL_ARGUMENT_BYTES + 8];
    static dynsel_accessor accessors[CONFIG_DYNSEL_MAX_REQUIREMENTS + 1];
    const uint32_t value = 1;
    switch (*(const excess *)args) {
    case ARGUMENTS:
        (void)dynsel_set_arg_value(handler, CONFIG_DYNSEL_MAX_ARGUMENTS + 2, &value, sizeof value);
        break;
    case VALUES:
        (void)dynsel_set_arg_value(handler, 0, values, sizeof values);
        break;
    case REQUIREMENTS:
        for (unsigned i = 0; i <= CONFIG_DYNSEL_MAX_REQUIREMENTS; i++) {
            accessors[i] = (dynsel_accessor){.buffer = a, .placeholder = true};
            (void)dynsel_require(handler, &accessors[i]);
        }
        break;
    case READERS: {
        dynsel_accessor reader = {.name = NULL};
        (void)dynsel_get_access(handler, a, DYNSEL_ACCESS_READ, DYNSEL_MEMORY_GLOBAL, &reader);
        (void)dynsel_set_arg_accessor(handler, 0, &reader);
        break;
    }
    case STAGED:
    case STAGED_COUNT:
    case STAGED_BYTES:
    default:
        break;
    }
    return dynsel_single_task(handler, &idle);
}

static dynsel_status submit(excess what)
{
    return dynsel_try_submit_command_group(&places[0].policy, exceed, &what, NULL);
}

static void recordings(void **state)
{
    (void)state;
    assert_status(DYNSEL_E_FULL, submit(ARGUMENTS));
    CHECK(MAX_ARGUMENTS, CONFIG_DYNSEL_MAX_ARGUMENTS + 3);
    assert_status(DYNSEL_E_FULL, submit(VALUES));
    CHECK(ARGUMENT_BYTES, CONFIG_DYNSEL_ARGUMENT_BYTES + 8);
    assert_status(DYNSEL_E_FULL, submit(REQUIREMENTS));
    CHECK(MAX_REQUIREMENTS, CONFIG_DYNSEL_MAX_REQUIREMENTS + 1);
    finish_with(0, 1);
}

static void readers(void **state)
{
    (void)state;
    sim.devices[0].pace = SIMULATED_BY_HAND;
    dynsel_status status = DYNSEL_OK;
    for (unsigned i = 0; i <= CONFIG_DYNSEL_MAX_READERS && status == DYNSEL_OK; i++) {
        status = submit(READERS);
    }
    assert_status(DYNSEL_E_FULL, status);
    CHECK(MAX_READERS, CONFIG_DYNSEL_MAX_READERS + 1);
    simulated_finish(&sim);
    assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&places[0].policy)));
    finish_with(0, 1);
}

/* Each slot holds work that nobody has collected. */
static void slots(void **state)
{
    (void)state;
    static dynsel_submission submissions[CONFIG_DYNSEL_MAX_IN_FLIGHT];
    static const dynsel_accessor none;
    (void)none;
    const job changes = add_to(a, 1);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        assert_status(DYNSEL_OK, send_job(0, &changes, &submissions[i]));
    }
    assert_status(DYNSEL_E_FULL, send_job(0, &changes, NULL));
    CHECK(MAX_IN_FLIGHT, CONFIG_DYNSEL_MAX_IN_FLIGHT);
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_IN_FLIGHT; i++) {
        assert_status(DYNSEL_OK, dynsel_wait(&submissions[i]));
    }
    finish_with(CONFIG_DYNSEL_MAX_IN_FLIGHT, 1);
}

static void resources(void **state)
{
    (void)state;
    static dynsel_resource many[CONFIG_DYNSEL_MAX_RESOURCES + 4];
    static dynsel_round_robin_policy policy;
    for (unsigned i = 0; i < CONFIG_DYNSEL_MAX_RESOURCES + 4; i++) {
        many[i] = simulated_resource(&sim, i % SIMULATED_DEVICES);
    }
    const dynsel_options options = {.resources = many, .count = CONFIG_DYNSEL_MAX_RESOURCES + 4};
    assert_status(DYNSEL_E_FULL, dynsel_round_robin_init(&policy, &options, 0));
    CHECK(MAX_RESOURCES, CONFIG_DYNSEL_MAX_RESOURCES + 4);
    finish_with(0, 1);
}

#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64 * 8
static void shared_memory(void **state)
{
    (void)state;
    static void *blocks[CONFIG_DYNSEL_SVM_BLOCKS];
    const dynsel_resource inside = {.backend = &dynsel_inline_backend};
    void *memory = NULL;
    const size_t bytes = CONFIG_DYNSEL_SVM_HOST_BYTES + 17;
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&inside, bytes, 0, &memory));
    CHECK(SVM_HOST_BYTES, bytes);
    unsigned count = 0;
    while (count < CONFIG_DYNSEL_SVM_BLOCKS &&
           dynsel_svm_alloc(&inside, 1, 1, &blocks[count]) == DYNSEL_OK) {
        count++;
    }
    assert_int_equal(CONFIG_DYNSEL_SVM_BLOCKS, count);
    assert_status(DYNSEL_E_FULL, dynsel_svm_alloc(&inside, 1, 1, &memory));
    CHECK(SVM_BLOCKS, CONFIG_DYNSEL_SVM_BLOCKS + 1);
    for (unsigned i = 0; i < count; i++) {
        assert_status(DYNSEL_OK, dynsel_svm_free(blocks[i]));
    }
    finish_with(0, 1);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_SET_UP(buffers),
        TEST_SET_UP(recordings),
        TEST_SET_UP(readers),
        TEST_SET_UP(slots),
        TEST_SET_UP(resources),
#if CONFIG_DYNSEL_SVM && CONFIG_DYNSEL_SVM_HOST_BYTES >= 64 * 8
        TEST_SET_UP(shared_memory),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
