/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of devices: the host, workers, custom backends, and invalid resources. */
#include <dynsel/dynsel.h>

#include <string.h>

#include "fakes/described_backend.h"
#include "test.h"

#if CONFIG_DYNSEL_BACKEND_INLINE || CONFIG_DYNSEL_BACKEND_THREADS
static const dynsel_aspect_set of_host = 0
#define DYNSEL_ASPECT(name, text, host, opencl) | ((host) ? DYNSEL_ASPECT_BIT(name) : 0)
#include <dynsel/aspects.def>
    ;
#endif

/* No text is NULL, and the three ways to ask agree. */
static dynsel_device described_by(const dynsel_resource *resource)
{
    dynsel_device device;
    memset(&device, 0xee, sizeof(device));
    assert_status(DYNSEL_OK, dynsel_resource_describe(resource, &device));
    assert_non_null(device.backend);
    assert_non_null(device.platform);
    assert_non_null(device.vendor);
    assert_non_null(device.type);
    assert_string_equal(device.name, dynsel_resource_name(resource));
    assert_string_equal(device.backend, resource->backend->ops->name);
    assert_int_equal(dynsel_resource_aspects(resource), device.aspects);
    for (unsigned i = 0; i < 70; i++) {
        assert_int_equal(dynsel_resource_has(resource, ASPECT(i)),
                         i + 1 <= DYNSEL_ASPECT_END_ && (device.aspects >> i & 1u) != 0);
    }
    return device;
}

#if CONFIG_DYNSEL_BACKEND_INLINE
static void host_has_listed_aspects(void **state)
{
    const dynsel_resource host = {&dynsel_inline_backend, NULL};
    (void)state;
    const dynsel_device device = described_by(&host);
    assert_string_equal(device.type, "host");
    assert_int_equal(device.aspects, of_host);
    assert_int_equal(1, device.processors);
#if CONFIG_DYNSEL_ASPECT_HOST && CONFIG_DYNSEL_ASPECT_FP64 && CONFIG_DYNSEL_ASPECT_GPU
    assert_true(dynsel_resource_has(&host, DYNSEL_ASPECT_host));
    assert_true(dynsel_resource_has(&host, DYNSEL_ASPECT_fp64));
    assert_false(dynsel_resource_has(&host, DYNSEL_ASPECT_gpu));
#endif
    assert_false(dynsel_resource_has(&host, DYNSEL_ASPECT_END_));
    assert_false(dynsel_resource_has(&host, (dynsel_aspect)-1));
}
#endif

#if CONFIG_DYNSEL_BACKEND_THREADS
static void workers_have_aspects_of_host(void **state)
{
    dynsel_resource workers[CONFIG_DYNSEL_THREADS_WORKERS];
    size_t count = 0;
    (void)state;
    assert_status(DYNSEL_OK,
                  dynsel_threads_resources(workers, CONFIG_DYNSEL_THREADS_WORKERS, &count));
    for (size_t i = 0; i < count; i++) {
        const dynsel_device device = described_by(&workers[i]);
        assert_string_equal(device.type, "host");
        assert_int_equal(1, device.processors);
        assert_int_equal(device.aspects, of_host);
    }
}

static void describe_of_invalid_worker_handle_is_refused(void **state)
{
    int nobody;
    const dynsel_resource resources[] = {{&dynsel_threads_backend, &nobody},
                                         {&dynsel_threads_backend, NULL}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        dynsel_device device = {.aspects = 99};
        assert_status(DYNSEL_E_INVALID, dynsel_resource_describe(&resources[i], &device));
        assert_int_equal(device.aspects, 99);
        assert_int_equal(dynsel_resource_aspects(&resources[i]), 0);
    }
}
#endif

static void describe_of_custom_backend_returns_its_data(void **state)
{
    described_device own = {.name = "own",
                            .platform = "bench",
                            .vendor = "us",
                            .type = "accelerator",
                            .aspects = BIT(0) | BIT(2),
                            .processors = 3};
    const dynsel_resource resource = described(&own);
    (void)state;
    const dynsel_device device = described_by(&resource);
    assert_int_equal(3, device.processors);
    assert_string_equal(device.platform, "bench");
    assert_string_equal(device.vendor, "us");
    assert_string_equal(device.type, "accelerator");
    assert_int_equal(device.aspects, own.aspects);
    /* it was given what is known without it */
    assert_string_equal(own.seen.backend, "described");
    assert_string_equal(own.seen.name, "own");
    assert_string_equal(own.seen.platform, "");
    assert_string_equal(own.seen.vendor, "");
    assert_string_equal(own.seen.type, "");
    assert_int_equal(own.seen.aspects, 0);
}

static void texts_missing_in_describe_are_empty(void **state)
{
    described_device own = {.name = "own", .aspects = BIT(1)};
    const dynsel_resource resource = described(&own);
    (void)state;
    const dynsel_device device = described_by(&resource);
    assert_string_equal(device.platform, "");
    assert_string_equal(device.vendor, "");
    assert_string_equal(device.type, "");
}

static void backend_without_describe_has_no_aspects(void **state)
{
    int handle;
    const dynsel_resource resource = {&silent_backend, &handle};
    (void)state;
    const dynsel_device device = described_by(&resource);
    assert_string_equal(device.name, "silent");
    assert_string_equal(device.type, "");
    assert_int_equal(device.aspects, 0);
}

static void describe_failure_of_backend_is_returned(void **state)
{
    described_device own = {.name = "own", .aspects = BIT(0), .describes = DYNSEL_E_DEVICE};
    const dynsel_resource resource = described(&own);
    dynsel_device device = {.aspects = 99, .name = "before"};
    (void)state;
    assert_status(DYNSEL_E_DEVICE, dynsel_resource_describe(&resource, &device));
    assert_int_equal(device.aspects, 99);
    assert_string_equal(device.name, "before");
    assert_int_equal(dynsel_resource_aspects(&resource), 0);
    assert_false(dynsel_resource_has(&resource, ASPECT(0)));
    assert_int_equal(dynsel_last_error()->status, DYNSEL_E_DEVICE);
}

static void describe_of_invalid_resource_is_refused(void **state)
{
    static dynsel_backend no_ops;
    const dynsel_resource empty = {NULL, NULL};
    const dynsel_resource without_ops = {&no_ops, NULL};
    const dynsel_resource fine = {&silent_backend, NULL};
    const dynsel_resource *const wrong[] = {NULL, &empty, &without_ops};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        dynsel_device device = {.aspects = 99};
        (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_USER});
        assert_status(DYNSEL_E_INVALID, dynsel_resource_describe(wrong[i], &device));
        assert_int_equal(device.aspects, 99);
        (void)dynsel_fail(&(dynsel_error){.status = DYNSEL_E_USER});
        assert_int_equal(dynsel_resource_aspects(wrong[i]), 0);
        assert_int_equal(dynsel_last_error()->status, DYNSEL_E_INVALID);
        assert_false(dynsel_resource_has(wrong[i], ASPECT(0)));
    }
    assert_status(DYNSEL_E_INVALID, dynsel_resource_describe(&fine, NULL));
}

static void aspect_names_and_texts_equal_list(void **state)
{
    static const struct {
        dynsel_aspect aspect;
        const char *name;
        const char *text;
    } rows[] = {
#define DYNSEL_ASPECT(name, text, host, opencl) {DYNSEL_ASPECT_##name, #name, text},
#include <dynsel/aspects.def>
        {DYNSEL_ASPECT_END_, "unknown aspect", "unknown aspect"},
        {(dynsel_aspect)-1, "unknown aspect", "unknown aspect"},
        {(dynsel_aspect)1000, "unknown aspect", "unknown aspect"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(dynsel_aspect_name(rows[i].aspect), rows[i].name);
        assert_string_equal(dynsel_aspect_text(rows[i].aspect),
                            CONFIG_DYNSEL_ERROR_TEXTS ? rows[i].text : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if CONFIG_DYNSEL_BACKEND_INLINE
        cmocka_unit_test(host_has_listed_aspects),
#endif
#if CONFIG_DYNSEL_BACKEND_THREADS
        cmocka_unit_test(workers_have_aspects_of_host),
        cmocka_unit_test(describe_of_invalid_worker_handle_is_refused),
#endif
        cmocka_unit_test(describe_of_custom_backend_returns_its_data),
        cmocka_unit_test(texts_missing_in_describe_are_empty),
        cmocka_unit_test(backend_without_describe_has_no_aspects),
        cmocka_unit_test(describe_failure_of_backend_is_returned),
        cmocka_unit_test(describe_of_invalid_resource_is_refused),
        cmocka_unit_test(aspect_names_and_texts_equal_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
