/* SPDX-License-Identifier: Apache-2.0 */
/* Every macro of the public headers in C++; test_headers.py looks for one that is missing here. */
#include <dynsel/dynsel.h>
#include <dynsel/word.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "test.h"

/* A declaration of a program of its own. */
DYNSEL_BEGIN_DECLS
DYNSEL_CHECKED dynsel_status checked(void);
int tagged(void) DYNSEL_TAGGED("tagged");
DYNSEL_END_DECLS

dynsel_status checked(void)
{
    return DYNSEL_OK;
}

int tagged(void)
{
    return 5;
}

extern "C" int by_its_symbol(void) __asm__("tagged.of_headers_" DYNSEL_CONFIG_TAG_TEXT
                                           ".take_library_and_headers_from_one_build");

static void declarations_have_the_linkage_of_c(void **)
{
    assert_status(DYNSEL_OK, checked());
    assert_int_equal(by_its_symbol(), 5);
    assert_string_equal(DYNSEL_STRINGIZE(DYNSEL_CONFIG_TAG), DYNSEL_CONFIG_TAG_TEXT);
    assert_int_equal(DYNSEL_CONFIG_HASH_TEXT[0], DYNSEL_CONFIG_TAG_TEXT[1]);
    assert_true(DYNSEL_CONFIG_HASH != 0);
    assert_true(std::strlen(DYNSEL_CONFIG_VARIANT_TEXT) != 0);
    assert_true(DYNSEL_VERSION == DYNSEL_VERSION_NUMBER(DYNSEL_VERSION_MAJOR, DYNSEL_VERSION_MINOR,
                                                        DYNSEL_VERSION_PATCH));
    assert_int_equal(DYNSEL_VERSION_TEXT[0], '0' + DYNSEL_VERSION_MAJOR);
#ifdef DYNSEL_ONE_CONFIGURATION
    assert_non_null(std::strstr(DYNSEL_ONE_CONFIGURATION, "take_both_from_one_build"));
#endif
}

/* Tasks, statuses and reports. */

static dynsel_status count_up(const dynsel_resource *, void *args, dynsel_event *)
{
    ++*static_cast<int *>(args);
    return DYNSEL_OK;
}

#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE && CONFIG_DYNSEL_BACKEND_INLINE
static void a_task_is_an_argument(void **)
{
    static dynsel_fixed_resource_policy policy;
    int count = 0;
    dynsel_resource host = {&dynsel_inline_backend, nullptr};
    dynsel_options options = {};
    options.resources = &host;
    options.count = 1;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(&policy.policy, &DYNSEL_TASK(count_up, &count)));
    dynsel_task changed = DYNSEL_TASK(count_up, &count);
    changed.id = 7;
    assert_status(DYNSEL_OK, dynsel_submit_and_wait(&policy.policy, &changed));
    assert_status(DYNSEL_OK,
                  dynsel_submit_and_wait(
                      &policy.policy, &DYNSEL_TASK(
                                          [](const dynsel_resource *, void *args, dynsel_event *) {
                                              *static_cast<int *>(args) += 10;
                                              return DYNSEL_OK;
                                          },
                                          &count)));
    assert_int_equal(count, 12);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}
#endif

static void a_task_is_a_constant(void **)
{
    static int count;
    static const dynsel_task task = DYNSEL_TASK(count_up, &count);
    assert_ptr_equal(task.args, &count);
    assert_true(task.function == count_up);
    assert_int_equal(task.form_count, 0);
    assert_true(DYNSEL_NO_TIME_LIMIT == UINT64_MAX);
    assert_true(DYNSEL_PROCESSORS_ELSEWHERE == UINT32_MAX);
}

#if CONFIG_DYNSEL_BACKEND_INLINE
DYNSEL_ASSERT_REPORTS(DYNSEL_INLINE_REPORTS, DYNSEL_TASK_SUBMISSION | DYNSEL_TASK_COMPLETION);
#if CONFIG_DYNSEL_POLICY_DYNAMIC_LOAD
DYNSEL_ASSERT_REPORTS(DYNSEL_INLINE_REPORTS, DYNSEL_DYNAMIC_LOAD_NEEDS);
#endif
#if CONFIG_DYNSEL_POLICY_AUTO_TUNE
DYNSEL_ASSERT_REPORTS(DYNSEL_INLINE_REPORTS, DYNSEL_AUTO_TUNE_NEEDS);
static_assert(DYNSEL_NEVER_RESAMPLE == 0, "");
#endif
#if CONFIG_DYNSEL_POLICY_EARLIEST_FINISH
DYNSEL_ASSERT_REPORTS(DYNSEL_INLINE_REPORTS, DYNSEL_EARLIEST_FINISH_NEEDS);
static_assert(DYNSEL_FINISH_SCALES > 0, "");
#if CONFIG_DYNSEL_LEARNED_TABLES
static_assert(DYNSEL_LEARNED_MOST_BYTES % DYNSEL_LEARNED_MOST_ALIGN == 0 ||
                  DYNSEL_LEARNED_MOST_BYTES > DYNSEL_LEARNED_MOST_ALIGN,
              "");
#endif
#endif
#if CONFIG_DYNSEL_BACKEND_THREADS
DYNSEL_ASSERT_REPORTS(DYNSEL_THREADS_REPORTS, DYNSEL_INLINE_REPORTS);
#endif
#if CONFIG_DYNSEL_BACKEND_OPENCL
DYNSEL_ASSERT_REPORTS(DYNSEL_OPENCL_REPORTS, DYNSEL_INLINE_REPORTS);
static_assert(CL_TARGET_OPENCL_VERSION >= 120, "");
#endif
#if CONFIG_DYNSEL_BACKEND_MPI
DYNSEL_ASSERT_REPORTS(DYNSEL_MPI_REPORTS, DYNSEL_INLINE_REPORTS);
static_assert(DYNSEL_MPI_SILENCE_NS < DYNSEL_MPI_IDLE_NS, "");
#endif
#if CONFIG_DYNSEL_TRACE_TO_RINGS
static_assert(DYNSEL_TRACE_LEAST_RECORDS > 0, "");
#endif
#endif

static void lists_have_their_names(void **)
{
    const char *const names[] = {
#define NAME(name, ...) #name,
        DYNSEL_STATUS_LIST(NAME) DYNSEL_REASON_LIST(NAME)
#if CONFIG_DYNSEL_RESOURCE_STATES
            DYNSEL_RESOURCE_STATE_LIST(NAME)
#endif
#undef NAME
    };
    assert_string_equal(names[0], "DYNSEL_OK");
    assert_true(sizeof names / sizeof names[0] > 20);
}

/* Aspects. */

static void aspects_are_constants(void **)
{
    static const dynsel_aspect_set expected[] = {
#define DYNSEL_ASPECT(name, text, host, opencl) DYNSEL_ASPECT_BIT(name),
#include <dynsel/aspects.def>
        0};
    assert_int_equal(sizeof expected / sizeof expected[0], DYNSEL_ASPECT_COUNT + 1);
#define DYNSEL_ASPECT(name, text, host, opencl)                                                    \
    static_assert(dynsel_all_devices_have(name) <= dynsel_any_device_has(name), #name);
#include <dynsel/aspects.def>
#if CONFIG_DYNSEL_ASPECT_FP64 && dynsel_any_device_has(fp64)
    assert_true(dynsel_any_device_has(fp64));
#endif
}

/* Iterators: what both languages share, and its text. */

#define SHARED(AS)                                                                                 \
    AS(DYNSEL_HOST_ITERATOR(inputs, float); DYNSEL_POINTER_ITERATOR(samples, float);               \
       DYNSEL_COUNTING_ITERATOR(numbers, int); DYNSEL_DISCARD_ITERATOR(nowhere, float);            \
       DYNSEL_INLINE float half(float x) {                                                         \
           return x / 2;                                                                           \
       } DYNSEL_TRANSFORM_ITERATOR(halves, inputs, half, float);                                   \
       DYNSEL_PERMUTATION_ITERATOR(picked, inputs, numbers);                                       \
       DYNSEL_REVERSE_ITERATOR(backwards, samples); DYNSEL_ZIP2_ITERATOR(two, inputs, samples);    \
       DYNSEL_ZIP3_ITERATOR(three, inputs, samples, nowhere);                                      \
       DYNSEL_ZIP4_ITERATOR(four, inputs, samples, nowhere, nowhere);)

SHARED(DYNSEL_AS_C)

static float twice_on_host(float x)
{
    return x * 2;
}
DYNSEL_HOST_TRANSFORM_ITERATOR(doubles, inputs, twice_on_host, float);

struct own {
    inputs first;
    inputs map;
    DYNSEL_COUNT_TYPE count;
    DYNSEL_GLOBAL const float *data;
    int shift;
};
typedef float own_value;
DYNSEL_PASSED_DIRECTLY(own, dynsel_is_passed_directly_to_device(inputs));
DYNSEL_NOBODY_CALLS("it is declared only") void never_called(void);
DYNSEL_NOT_WRITABLE(own);
DYNSEL_LEAVES(own, DYNSEL_COUNTED_PART(inputs, first, count) DYNSEL_READ_ONLY_PART(inputs, map)
                       DYNSEL_POINTER_PART(data) DYNSEL_VALUE_PART(shift));

struct around {
    own inside;
};
DYNSEL_PASSED_DIRECTLY(around, 1);
DYNSEL_LEAVES(around, DYNSEL_PART(own, inside));
typedef float around_value;
DYNSEL_INLINE around_value around_read(around it, size_t i)
{
    return it.inside.data[i];
}
DYNSEL_NOT_WRITABLE(around);
DYNSEL_REVERSE_ITERATOR(reversed, around);
DYNSEL_TRANSFORM_ITERATOR(mixed, reversed, half, float);

static_assert(!dynsel_is_passed_directly_to_device(inputs), "");
static_assert(!dynsel_is_passed_directly_to_device(halves), "");
static_assert(!dynsel_is_passed_directly_to_device(doubles), "");
static_assert(!dynsel_is_passed_directly_to_device(picked), "");
static_assert(!dynsel_is_passed_directly_to_device(two), "");
static_assert(!dynsel_is_passed_directly_to_device(three), "");
static_assert(!dynsel_is_passed_directly_to_device(four), "");
static_assert(!dynsel_is_passed_directly_to_device(own), "");
static_assert(dynsel_is_passed_directly_to_device(samples), "");
static_assert(dynsel_is_passed_directly_to_device(numbers), "");
static_assert(dynsel_is_passed_directly_to_device(nowhere), "");
static_assert(dynsel_is_passed_directly_to_device(backwards), "");
static_assert(dynsel_is_passed_directly_to_device(around), "");

static void iterators_read_and_write(void **)
{
    float data[] = {1, 2, 3, 4};
    const picked it = picked_make(inputs_make(data), numbers_make(1), 4);
    assert_true(picked_read(it, 0) == 2);
    picked_write(it, 1, 30);
    assert_true(data[2] == 30);
    assert_true(halves_read(halves_make(inputs_make(data)), 3) == 2);
    assert_true(doubles_read(doubles_make(inputs_make(data)), 3) == 8);
    assert_true(backwards_read(backwards_make(samples_make(data), 4), 0) == 4);
    const two pair = two_make(inputs_make(data), samples_make(data));
    two_write(pair, 0, two_value{5, 6});
    assert_true(two_read(pair, 0).first == 6);
    assert_non_null(
        strstr(DYNSEL_OPENCL_ITERATORS SHARED(DYNSEL_AS_TEXT), "DYNSEL_ZIP4_ITERATOR(four"));
}

/* The leaves that a sink gets, as text. */
struct listing {
    dynsel_leaf_sink sink;
    char text[200];
};

extern "C" void list(dynsel_leaf_sink *sink, const dynsel_leaf *leaf)
{
    char *text = reinterpret_cast<listing *>(sink)->text;
    const size_t used = strlen(text);
    (void)snprintf(text + used, sizeof(listing::text) - used, "%zu:%s%s%s%s ", leaf->offset,
                   leaf->kind == DYNSEL_LEAF_POINTER ? "pointer" : "value",
                   leaf->direct ? " direct" : "", leaf->read_only ? " const" : "",
                   leaf->extent == DYNSEL_COUNT_OF_RANGE ? "" : " counted");
}

static void leaves_are_those_of_c(void **)
{
    listing of_own = {{list}, ""};
    listing of_around = {{list}, ""};
    listing of_mixed = {{list}, ""};
    const dynsel_leaf_place whole = DYNSEL_WHOLE_ITERATOR(own);
    const dynsel_leaf_place more = DYNSEL_WHOLE_ITERATOR(around);
    const dynsel_leaf_place undecided = {
        0, DYNSEL_COUNT_OF_RANGE, DYNSEL_DIRECT_BY_ITSELF, false, false, 0};
    own_leaves(&of_own.sink, &whole);
    mixed_leaves(&of_mixed.sink, &undecided);
    assert_non_null(strstr(of_mixed.text, "0:pointer direct const counted"));
    dynsel_leaves_of(static_cast<const around *>(nullptr))(&of_around.sink, &more);
    assert_string_equal(of_own.text, "0:pointer counted 8:pointer const 24:pointer const "
                                     "32:value direct const ");
    assert_string_equal(of_around.text, "0:pointer direct counted 8:pointer direct const "
                                        "24:pointer direct const 32:value direct const ");
}

/* Arguments and ranges of command groups. */

#if CONFIG_DYNSEL_COMMAND_GROUPS && CONFIG_DYNSEL_BACKEND_INLINE &&                                \
    CONFIG_DYNSEL_POLICY_FIXED_RESOURCE

static dynsel_status add(const dynsel_launch *launch)
{
    float *data = static_cast<float *>(dynsel_launch_data(launch, 0));
    const float *more = static_cast<const float *>(dynsel_launch_data(launch, 1));
    const float factor = DYNSEL_LAUNCH_VALUE(launch, 2, float);
    for (size_t i = 0; i < launch->global.size[0]; i++) {
        data[i] += more[i] * factor;
    }
    return DYNSEL_OK;
}

struct adding {
    dynsel_accessor data;
    float more[4];
    float factor;
    bool by_range;
};

static dynsel_status add_group(dynsel_handler *handler, void *args)
{
    auto *const job = static_cast<adding *>(args);
    static const dynsel_kernel kernel = [] {
        dynsel_kernel made = {};
        made.name = "add";
        made.function = add;
        return made;
    }();
    (void)dynsel_require(handler, &job->data);
    (void)dynsel_set_arg(handler, 0, &job->data);
    (void)dynsel_set_arg(handler, 0, job->data);
    if (job->by_range) {
        (void)dynsel_set_range(handler, 1, inputs, inputs_make(job->more), 4, DYNSEL_ACCESS_READ);
    } else {
        (void)dynsel_set_arg(handler, 1, nullptr);
        (void)dynsel_set_arg(handler, 1, DYNSEL_LOCAL(4));
        (void)dynsel_set_arg(handler, 1, job->more);
    }
    (void)dynsel_set_arg(handler, 2, job->factor);
    return dynsel_parallel_for(handler, &kernel, DYNSEL_RANGE(4), nullptr, nullptr);
}

static void arguments_go_by_their_types(void **)
{
    static dynsel_fixed_resource_policy policy;
    dynsel_resource host = {&dynsel_inline_backend, nullptr};
    dynsel_options options = {};
    options.resources = &host;
    options.count = 1;
    assert_status(DYNSEL_OK, dynsel_fixed_resource_init(&policy, &options, 0));
    float data[4] = {1, 2, 3, 4};
    dynsel_buffer buffer = {};
    assert_status(DYNSEL_OK, dynsel_buffer_init(&buffer, data, sizeof data[0], DYNSEL_RANGE(4)));
    adding job = {{}, {1, 1, 1, 2}, 10, false};
    job.data.buffer = buffer;
    job.data.placeholder = true;
    for (const bool by_range : {false, true}) {
        job.by_range = by_range;
        assert_status(DYNSEL_OK,
                      dynsel_submit_command_group_and_wait(&policy.policy, add_group, &job));
    }
    assert_status(DYNSEL_OK, dynsel_buffer_deinit(&buffer));
    assert_true(data[0] == 21 && data[3] == 44);
    assert_status(DYNSEL_OK, dynsel_policy_deinit(&policy.policy));
}

static void ranges_have_sizes(void **)
{
    const dynsel_range one = DYNSEL_RANGE(5);
    const dynsel_range rows = DYNSEL_RANGE_2D(2, 3);
    const dynsel_range all = DYNSEL_RANGE_3D(2, 3, 4);
    assert_int_equal(dynsel_range_count(&one), 5);
    assert_int_equal(dynsel_range_count(&rows), 6);
    assert_int_equal(dynsel_range_count(&all), 24);
}

#endif

int main()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(declarations_have_the_linkage_of_c),
#if CONFIG_DYNSEL_POLICY_FIXED_RESOURCE && CONFIG_DYNSEL_BACKEND_INLINE
        cmocka_unit_test(a_task_is_an_argument),
#endif
        cmocka_unit_test(a_task_is_a_constant),
        cmocka_unit_test(lists_have_their_names),
        cmocka_unit_test(aspects_are_constants),
        cmocka_unit_test(iterators_read_and_write),
        cmocka_unit_test(leaves_are_those_of_c),
#if CONFIG_DYNSEL_COMMAND_GROUPS && CONFIG_DYNSEL_BACKEND_INLINE &&                                \
    CONFIG_DYNSEL_POLICY_FIXED_RESOURCE
        cmocka_unit_test(arguments_go_by_their_types),
        cmocka_unit_test(ranges_have_sizes),
#endif
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
