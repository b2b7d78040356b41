/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges on real devices, and on the host's workers: results, and exactly what is moved. */
#include "device_fixture.h"

#include "support/range_cases.h"

static const size_t INT_BYTES = sizeof(int);

static dynsel_round_robin_policy policy;

static void use(const dynsel_resource *resource, size_t count)
{
    const dynsel_options options = {.resources = resource, .count = count};
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
}

static void leave(void)
{
    assert_true(dynsel_invariants_hold(&policy.policy));
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static range_world world;

static dynsel_sharing sharing_of(const dynsel_resource *resource)
{
    dynsel_backend *const backend = resource->backend;
    return backend->ops->memory == NULL ? DYNSEL_SHARES_ALL
                                        : backend->ops->memory->sharing(backend, resource->handle);
}

#if CONFIG_DYNSEL_SVM
static void take_shared(const dynsel_resource *resource)
{
    void *memory = NULL;
    if (sharing_of(resource) != DYNSEL_SHARES_NOTHING) {
        assert_status(DYNSEL_OK, dynsel_svm_alloc(resource, sizeof(range_world), 0, &memory));
        world.reached = memory;
    }
}

static void fill_shared(void)
{
    if (world.reached != NULL) {
        assert_status(DYNSEL_OK, dynsel_svm_map(world.reached, DYNSEL_ACCESS_DISCARD_WRITE));
        *world.reached = world;
        assert_status(DYNSEL_OK, dynsel_svm_unmap(world.reached));
    }
}

static void give_shared_back(void)
{
    if (world.reached != NULL) {
        assert_status(DYNSEL_OK, dynsel_svm_map(world.reached, DYNSEL_ACCESS_READ));
        assert_memory_equal(&world, world.reached, offsetof(range_world, out));
        assert_status(DYNSEL_OK, dynsel_svm_free(world.reached));
        world.reached = NULL;
    }
}
#else
static void take_shared(const dynsel_resource *resource)
{
    (void)resource;
}

static void fill_shared(void)
{
}

static void give_shared_back(void)
{
}
#endif

static void play_case(const dynsel_resource *resource, const range_case *what)
{
    range_job work = {what, &world};
    const bool stages = resource->backend->ops->memory != NULL;
    dynsel_submission submission = {.policy = NULL};
    dynsel_range_bytes bytes;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        range_fill(&world, seed);
        fill_shared();
        assert_status(DYNSEL_OK, dynsel_submit_command_group(&policy.policy, range_record, &work,
                                                             &submission));
        assert_status(DYNSEL_OK, dynsel_wait_group(dynsel_get_submission_group(&policy.policy)));
        assert_status(DYNSEL_OK, dynsel_submission_range_bytes(&submission, &bytes));
        assert_status(DYNSEL_OK, dynsel_wait(&submission));
        assert_true(range_is_right(&work, seed));
        assert_int_equal(stages ? what->staged * INT_BYTES : 0, bytes.staged_in);
        assert_int_equal(stages ? what->count * INT_BYTES : 0, bytes.staged_out);
        assert_int_equal(what->direct * INT_BYTES, bytes.direct);
    }
}

/* The device does not reach what would be passed directly. */
static void refuse_case(const range_case *what)
{
    range_job work = {what, &world};
    range_fill(&world, 1);
    assert_status(DYNSEL_E_INVALID,
                  dynsel_submit_command_group_and_wait(&policy.policy, range_record, &work));
    assert_error_says("points to memory that no resource with a form reaches");
}

static void play_all(const dynsel_resource *resource)
{
    const bool reaches = sharing_of(resource) == DYNSEL_SHARES_ALL || world.reached != NULL;
    use(resource, 1);
    for (size_t i = 0; i < RANGE_CASES; i++) {
        if (range_cases[i].direct == 0 || reaches) {
            play_case(resource, &range_cases[i]);
        } else {
            refuse_case(&range_cases[i]);
        }
    }
    leave();
}

static void each_iterator_kind_works_on_each_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        play_all(&resources[i]);
    }
}

static void each_iterator_kind_in_svm_works_on_each_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < resource_count; i++) {
        take_shared(&resources[i]);
        play_all(&resources[i]);
        give_shared_back();
    }
}

static void each_iterator_kind_works_on_host(void **state)
{
    const dynsel_resource host = {.backend = &dynsel_inline_backend};
    (void)state;
    play_all(&host);
}

#if CONFIG_DYNSEL_BACKEND_THREADS
static void each_iterator_kind_works_on_worker(void **state)
{
    size_t count = 0;
    (void)state;
    const dynsel_options options = {.backend = &dynsel_threads_backend};
    policy = (dynsel_round_robin_policy){0};
    assert_status(DYNSEL_OK, dynsel_round_robin_init(&policy, &options, 0));
    const dynsel_resource *const found = dynsel_get_resources(&policy.policy, &count);
    assert_true(count > 0);
    for (size_t i = 0; i < RANGE_CASES; i++) {
        play_case(found, &range_cases[i]);
    }
    leave();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_count_equals_expected),
        cmocka_unit_test(sharing_equals_expected),
        cmocka_unit_test(each_iterator_kind_works_on_each_device),
        cmocka_unit_test(each_iterator_kind_in_svm_works_on_each_device),
        cmocka_unit_test(each_iterator_kind_works_on_host),
#if CONFIG_DYNSEL_BACKEND_THREADS
        cmocka_unit_test(each_iterator_kind_works_on_worker),
#endif
    };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
