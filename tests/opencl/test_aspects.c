/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the OpenCL backend says that a device has, for each aspect of the list, against a second
 * implementation that knows the ways to an aspect from a table: with drivers that say yes, no,
 * nothing, or nonsense. An aspect without its ways below does not compile.
 */
#include "opencl/fixture.h"

#include "random.h"

enum {
    SVM = 0x1053,
    IL_VERSION = 0x105B,
    SUB_GROUPS = 0x105C,
    COLLECTIVES = 0x1068,
    GENERIC_SPACE = 0x1069,
    USM_HOST = 0x4190,
    USM_DEVICE = 0x4191,
    USM_SHARED = 0x4192,
    USM_SYSTEM = 0x4194,
    LONGEST_LIST = 5000
};

/* All that is given must hold; nothing at all is no way. */
typedef struct way {
    cl_device_type type;
    const char *name;       /* a part of it */
    const char *extensions; /* with a blank between them */
    cl_device_info what;    /* the answer has all of the bits, or is not 0, or has the text */
    cl_bitfield bits;
    const char *text;
} way;

typedef struct row {
    dynsel_aspect aspect;
    const char *name;
    way ways[3];
} row;

#define USM(question, answer)                                                                      \
    {                                                                                              \
        .extensions = "cl_intel_unified_shared_memory", .what = (question), .bits = (answer)       \
    }

/* The ways to each aspect, from the specifications of OpenCL and its extensions. */
#define WAYS_host                                                                                  \
    {                                                                                              \
        .type = 0                                                                                  \
    }
#define WAYS_cpu                                                                                   \
    {                                                                                              \
        .type = CL_DEVICE_TYPE_CPU                                                                 \
    }
#define WAYS_gpu                                                                                   \
    {                                                                                              \
        .type = CL_DEVICE_TYPE_GPU                                                                 \
    }
#define WAYS_accelerator                                                                           \
    {                                                                                              \
        .type = CL_DEVICE_TYPE_ACCELERATOR                                                         \
    }
#define WAYS_custom                                                                                \
    {                                                                                              \
        .type = CL_DEVICE_TYPE_CUSTOM                                                              \
    }
#define WAYS_emulated                                                                              \
    {.name = "Emulat"},                                                                            \
    {                                                                                              \
        .name = "Simulat"                                                                          \
    }
#define WAYS_host_debuggable                                                                       \
    {                                                                                              \
        .type = 0                                                                                  \
    }
#define WAYS_fp16                                                                                  \
    {                                                                                              \
        .extensions = "cl_khr_fp16"                                                                \
    }
#define WAYS_fp64                                                                                  \
    {                                                                                              \
        .extensions = "cl_khr_fp64"                                                                \
    }
#define WAYS_atomic64                                                                              \
    {                                                                                              \
        .extensions = "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"                    \
    }
#define WAYS_image                                                                                 \
    {                                                                                              \
        .what = CL_DEVICE_IMAGE_SUPPORT                                                            \
    }
#define WAYS_online_compiler                                                                       \
    {                                                                                              \
        .what = CL_DEVICE_COMPILER_AVAILABLE                                                       \
    }
#define WAYS_online_linker                                                                         \
    {                                                                                              \
        .what = CL_DEVICE_LINKER_AVAILABLE                                                         \
    }
#define WAYS_queue_profiling                                                                       \
    {                                                                                              \
        .what = CL_DEVICE_QUEUE_PROPERTIES, .bits = CL_QUEUE_PROFILING_ENABLE                      \
    }
#define WAYS_usm_device_allocations        USM(USM_DEVICE, 1)
#define WAYS_usm_host_allocations          USM(USM_HOST, 1)
#define WAYS_usm_atomic_host_allocations   USM(USM_HOST, 8)
#define WAYS_usm_shared_allocations        {.what = SVM, .bits = 2}, USM(USM_SHARED, 1)
#define WAYS_usm_atomic_shared_allocations {.what = SVM, .bits = 2 | 8}, USM(USM_SHARED, 8)
#define WAYS_usm_system_allocations        {.what = SVM, .bits = 4}, USM(USM_SYSTEM, 1)
#define WAYS_ext_opencl_svm_coarse_grain_buffer                                                    \
    {                                                                                              \
        .what = SVM, .bits = 1                                                                     \
    }
#define WAYS_ext_opencl_subgroups                                                                  \
    {.extensions = "cl_khr_subgroups"}, {.extensions = "cl_intel_subgroups"},                      \
    {                                                                                              \
        .what = SUB_GROUPS                                                                         \
    }
#define WAYS_ext_opencl_out_of_order_queue                                                         \
    {                                                                                              \
        .what = CL_DEVICE_QUEUE_PROPERTIES, .bits = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE         \
    }
#define WAYS_ext_opencl_host_unified_memory                                                        \
    {                                                                                              \
        .what = CL_DEVICE_HOST_UNIFIED_MEMORY                                                      \
    }
#define WAYS_ext_opencl_3d_image_writes                                                            \
    {                                                                                              \
        .extensions = "cl_khr_3d_image_writes"                                                     \
    }
#define WAYS_ext_opencl_spirv                                                                      \
    {                                                                                              \
        .what = IL_VERSION, .text = "SPIR-V_1.2"                                                   \
    }
#define WAYS_ext_opencl_generic_address_space                                                      \
    {.what = GENERIC_SPACE},                                                                       \
    {                                                                                              \
        .what = CL_DEVICE_OPENCL_C_VERSION, .text = "OpenCL C 2.0 "                                \
    }
#define WAYS_ext_opencl_work_group_collectives                                                     \
    {.what = COLLECTIVES},                                                                         \
    {                                                                                              \
        .what = CL_DEVICE_OPENCL_C_VERSION, .text = "OpenCL C 2.0 "                                \
    }
#define WAYS_ext_opencl_integer_dot_product                                                        \
    {                                                                                              \
        .extensions = "cl_khr_integer_dot_product"                                                 \
    }
#define WAYS_ext_opencl_priority_hints                                                             \
    {                                                                                              \
        .extensions = "cl_khr_priority_hints"                                                      \
    }
#define WAYS_ext_opencl_command_buffer                                                             \
    {                                                                                              \
        .extensions = "cl_khr_command_buffer"                                                      \
    }
#define WAYS_ext_opencl_error_correction                                                           \
    {                                                                                              \
        .what = CL_DEVICE_ERROR_CORRECTION_SUPPORT                                                 \
    }

static const row rows[] = {
#define DYNSEL_ASPECT(name, text, host, opencl) {DYNSEL_ASPECT_##name, #name, {WAYS_##name}},
#include <dynsel/aspects.def>
    {DYNSEL_ASPECT_END_, "none", {{.type = 0}}},
};

/* The questions, and how long the answer is; 0: a text. */
static const struct {
    cl_device_info what;
    size_t bytes;
} questions[] = {
    {CL_DEVICE_IMAGE_SUPPORT, 4},
    {CL_DEVICE_COMPILER_AVAILABLE, 4},
    {CL_DEVICE_LINKER_AVAILABLE, 4},
    {CL_DEVICE_QUEUE_PROPERTIES, 8},
    {CL_DEVICE_HOST_UNIFIED_MEMORY, 4},
    {CL_DEVICE_ERROR_CORRECTION_SUPPORT, 4},
    {SVM, 8},
    {SUB_GROUPS, 4},
    {COLLECTIVES, 4},
    {GENERIC_SPACE, 4},
    {USM_HOST, 8},
    {USM_DEVICE, 8},
    {USM_SHARED, 8},
    {USM_SYSTEM, 8},
    {IL_VERSION, 0},
    {CL_DEVICE_OPENCL_C_VERSION, 0},
};

enum { QUESTIONS = COUNT(questions) };

typedef struct fact {
    bool known;
    size_t bytes; /* how many the driver answers with, right or wrong */
    uint64_t number;
    const char *text;
} fact;

/* A device as its driver tells of it. */
typedef struct model {
    cl_device_type type;
    const char *name;
    bool lists_extensions;
    char extensions[LONGEST_LIST + 1];
    fact facts[QUESTIONS];
} model;

static model it;

static void know_nothing(void)
{
    it = (model){.type = CL_DEVICE_TYPE_DEFAULT, .name = "device"};
}

static size_t number_of(cl_device_info what)
{
    size_t i = 0;
    while (questions[i].what != what) {
        i++;
    }
    return i;
}

static fact *fact_of(cl_device_info what)
{
    return &it.facts[number_of(what)];
}

static bool answers_right(const fact *f)
{
    return f->known && f->bytes == questions[f - it.facts].bytes;
}

/* The second implementation. */
static bool lists(const char *word, size_t length)
{
    const char *at = it.extensions;
    while (it.lists_extensions && (at = strstr(at, word)) != NULL) {
        const bool begins = at == it.extensions || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
        at++;
    }
    return false;
}

static bool lists_all(const char *words)
{
    char copy[128];
    (void)strncpy(copy, words, sizeof(copy) - 1);
    copy[sizeof(copy) - 1] = '\0';
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        if (!lists(word, strlen(word))) {
            return false;
        }
    }
    return true;
}

static bool answers(const way *w)
{
    const fact *f = fact_of(w->what);
    if (w->text != NULL) {
        return f->known && f->text != NULL && strstr(f->text, w->text) != NULL;
    }
    return answers_right(f) && f->number != 0 && (f->number & w->bits) == w->bits;
}

static bool leads(const way *w)
{
    if (w->type == 0 && w->name == NULL && w->extensions == NULL && w->what == 0) {
        return false;
    }
    return (w->type == 0 || (it.type & w->type) != 0) &&
           (w->name == NULL || strstr(it.name, w->name) != NULL) &&
           (w->extensions == NULL || lists_all(w->extensions)) && (w->what == 0 || answers(w));
}

static dynsel_aspect_set expected(void)
{
    dynsel_aspect_set set = 0;
    for (const row *r = rows; r->aspect != DYNSEL_ASPECT_END_; r++) {
        if (leads(&r->ways[0]) || leads(&r->ways[1]) || leads(&r->ways[2])) {
            set |= (dynsel_aspect_set)1 << r->aspect;
        }
    }
    return set;
}

/* The same device on the fake OpenCL. */
static fake_answer told[QUESTIONS + 1];
static fake_device shown;
static fake_platform platform;

static fake_answer answer_to(size_t question)
{
    const fact *f = &it.facts[question];
    return (fake_answer){.what = questions[question].what,
                         .code = f->known ? CL_SUCCESS : CL_INVALID_VALUE,
                         .value = f->text != NULL ? (const void *)f->text : &f->number,
                         .bytes = f->text != NULL ? strlen(f->text) + 1 : f->bytes};
}

static void show_it(void)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        told[i] = answer_to(i);
    }
    told[QUESTIONS] = (fake_answer){.what = CL_DEVICE_EXTENSIONS,
                                    .code = it.lists_extensions ? CL_SUCCESS : CL_INVALID_VALUE,
                                    .value = it.extensions,
                                    .bytes = strlen(it.extensions) + 1};
    shown = (fake_device){.name = it.name,
                          .vendor = "nobody",
                          .type = it.type,
                          .answers = told,
                          .answer_count = COUNT(told)};
    platform = (fake_platform){.name = "one", .count = 1, .devices = &shown};
    show(&platform, 1);
}

static dynsel_aspect_set found(void)
{
    dynsel_resource resource;
    size_t count = 0;
    assert_status(DYNSEL_OK, dynsel_opencl_close());
    show_it();
    assert_status(DYNSEL_OK, dynsel_opencl_select("all;emulator", &resource, 1, &count));
    return dynsel_resource_aspects(&resource);
}

static const char *names_of(dynsel_aspect_set set)
{
    static char text[2048];
    text[0] = '\0';
    for (const row *r = rows; r->aspect != DYNSEL_ASPECT_END_; r++) {
        if ((set >> r->aspect & 1u) != 0) {
            (void)strcat(strcat(text, " "), r->name);
        }
    }
    return text;
}

/* Both agree on the device as it stands. */
static void check_it(void)
{
    const dynsel_aspect_set want = expected();
    const dynsel_aspect_set have = found();
    if (have != want) {
        print_error("not found:%s\n", names_of(want & ~have));
        print_error("found wrongly:%s\n", names_of(have & ~want));
        fail_msg("of type %u, named \"%s\", with extensions \"%.300s\"", (unsigned)it.type, it.name,
                 it.extensions);
    }
}

static bool has(const row *r)
{
    check_it();
    return (expected() >> r->aspect & 1u) != 0;
}

static void list_extensions(const char *text)
{
    it.lists_extensions = true;
    (void)strcpy(it.extensions, text);
}

static void tell(cl_device_info what, size_t bytes, uint64_t number)
{
    *fact_of(what) = (fact){.known = true, .bytes = bytes, .number = number};
}

/* A driver that says of the aspect what this way asks for, and nothing else. */
static void go(const way *w)
{
    know_nothing();
    it.type = w->type != 0 ? w->type : it.type;
    it.name = w->name != NULL ? w->name : it.name;
    if (w->extensions != NULL) {
        list_extensions(w->extensions);
    }
    if (w->text != NULL) {
        *fact_of(w->what) = (fact){.known = true, .text = w->text};
    } else if (w->what != 0) {
        tell(w->what, questions[number_of(w->what)].bytes, w->bits != 0 ? w->bits : 1);
    }
}

typedef void (*visitor)(const row *r, const way *w);

static void for_each_way(visitor visit)
{
    for (const row *r = rows; r->aspect != DYNSEL_ASPECT_END_; r++) {
        for (size_t i = 0; i < COUNT(r->ways); i++) {
            go(&r->ways[i]);
            if (leads(&r->ways[i])) {
                visit(r, &r->ways[i]);
            }
        }
    }
}

static void is_found(const row *r, const way *w)
{
    (void)w;
    assert_true(has(r));
}

static void aspect_reported_by_driver_is_found(void **state)
{
    (void)state;
    for_each_way(is_found);
}

static void device_without_answers_has_no_aspects(void **state)
{
    (void)state;
    know_nothing();
    assert_int_equal(expected(), 0);
    check_it();
    it.lists_extensions = true;
    check_it();
}

static void fails_without_each_bit(const row *r, const way *w)
{
    if (w->what == 0 || w->text != NULL) {
        return;
    }
    const size_t bytes = questions[number_of(w->what)].bytes;
    tell(w->what, bytes, 0);
    assert_false(has(r));
    for (unsigned bit = 0; bit < 8 * bytes; bit++) {
        tell(w->what, bytes, UINT64_C(1) << bit);
        assert_int_equal(has(r), w->bits == 0 || w->bits == UINT64_C(1) << bit);
        tell(w->what, bytes, (bytes == 8 ? UINT64_MAX : UINT32_MAX) & ~(UINT64_C(1) << bit));
        assert_int_equal(has(r), (w->bits >> bit & 1) == 0);
    }
}

static void aspect_with_missing_capability_bit_is_absent(void **state)
{
    (void)state;
    for_each_way(fails_without_each_bit);
}

static void fails_without_answer(const row *r, const way *w)
{
    if (w->what != 0) {
        fact_of(w->what)->known = false;
        assert_false(has(r));
    }
    if (w->extensions != NULL) {
        it.lists_extensions = false;
        assert_false(has(r));
    }
}

static void unknown_query_means_absent_aspect(void **state)
{
    (void)state;
    for_each_way(fails_without_answer);
}

static void fails_with_other_size(const row *r, const way *w)
{
    if (w->what == 0 || w->text != NULL) {
        return;
    }
    for (size_t bytes = 0; bytes <= 8; bytes++) {
        tell(w->what, bytes, UINT64_MAX);
        assert_int_equal(has(r), bytes == questions[number_of(w->what)].bytes);
    }
}

static void answer_of_wrong_size_means_absent_aspect(void **state)
{
    (void)state;
    for_each_way(fails_with_other_size);
}

static void fails_with_similar_names(const row *r, const way *w)
{
    static const char *const shapes[] = {"x%s",     "%sx",      "%s_", "_%s",    "x%sx",
                                         "%s_ext2", "cl_x %s2", "-%s", "%s,next"};
    if (w->extensions == NULL || strchr(w->extensions, ' ') != NULL) {
        return;
    }
    for (size_t i = 0; i < COUNT(shapes); i++) {
        (void)snprintf(it.extensions, sizeof(it.extensions), shapes[i], w->extensions);
        assert_false(has(r));
    }
    (void)strcpy(it.extensions, w->extensions);
    it.extensions[strlen(it.extensions) - 1] = '\0'; /* the name without its last letter */
    assert_false(has(r));
    (void)strcpy(it.extensions, w->extensions + 1);
    assert_false(has(r));
}

static void similar_extension_name_does_not_match(void **state)
{
    (void)state;
    for_each_way(fails_with_similar_names);
}

static void is_found_anywhere(const row *r, const way *w)
{
    static const char *const shapes[] = {"%s",      "%s ",        " %s",        "cl_a %s",
                                         "%s cl_a", "cl_a %s cl", "cl_a  %s  ", "x%s %s"};
    for (size_t i = 0; w->extensions != NULL && i < COUNT(shapes); i++) {
        (void)snprintf(it.extensions, sizeof(it.extensions), shapes[i], w->extensions,
                       w->extensions);
        assert_true(has(r));
    }
}

static void extension_at_any_list_position_is_found(void **state)
{
    (void)state;
    for_each_way(is_found_anywhere);
}

static void atomic64_needs_base_and_extended_atomics(void **state)
{
    (void)state;
    know_nothing();
    list_extensions("cl_khr_int64_base_atomics");
    assert_int_equal(expected(), 0);
    check_it();
    list_extensions("cl_khr_int64_extended_atomics");
    check_it();
    list_extensions("cl_khr_int64_extended_atomics cl_khr_fp16 cl_khr_int64_base_atomics");
    check_it();
}

/* A list of this length with the name at its end. */
static void list_much(size_t length, const char *name)
{
    it.lists_extensions = true;
    memset(it.extensions, 'x', length);
    it.extensions[length] = '\0';
    for (size_t i = 20; i < length; i += 20) {
        it.extensions[i] = ' ';
    }
    memcpy(&it.extensions[length - strlen(name)], name, strlen(name));
    it.extensions[length - strlen(name) - 1] = ' ';
}

/* The library has room for 4095 letters. Of a longer list it sees nothing, which is on the safe
 * side. */
static void extension_list_beyond_buffer_is_ignored(void **state)
{
    (void)state;
    know_nothing();
    for (size_t length = 4000; length < 4096; length++) {
        list_much(length, "cl_khr_fp64");
        check_it();
    }
    const dynsel_aspect_set whole = expected();
    for (size_t length = 4096; length < 4100; length++) {
        list_much(length, "cl_khr_fp64");
        assert_int_equal(expected(), whole);
        assert_int_equal(found(), 0);
    }
}

static void opencl_c_versions_are_distinguished(void **state)
{
    static const char *const others[] = {
        "OpenCL C 1.2 ", "OpenCL C 1.2 pocl", "OpenCL C 3.0 x", "OpenCL C 1.2C 1.", "",
        "OpenCL C "};
    (void)state;
    know_nothing();
    for (size_t i = 0; i < COUNT(others); i++) {
        *fact_of(CL_DEVICE_OPENCL_C_VERSION) = (fact){.known = true, .text = others[i]};
        *fact_of(IL_VERSION) = (fact){.known = true, .text = others[i]};
        assert_int_equal(expected(), 0);
        check_it();
    }
    *fact_of(IL_VERSION) = (fact){.known = true, .text = "OTHER_1.0 SPIR-V_1.2 SPIR-V_1.0"};
    check_it();
}

static void say_a_random_thing(test_random *random, size_t question)
{
    static const char *const texts[] = {"OpenCL C 2.0 a", "OpenCL C 1.2 b", "SPIR-V_1.2", "",
                                        "OpenCL C 3.0 "};
    fact *f = &it.facts[question];
    *f = (fact){.known = test_random_below(random, 4) != 0, .bytes = questions[question].bytes};
    if (f->bytes == 0) {
        f->text = texts[test_random_below(random, COUNT(texts))];
        return;
    }
    if (test_random_below(random, 8) == 0) {
        f->bytes = test_random_below(random, 9);
    }
    f->number = test_random_below(random, 2) == 0 ? 0 : test_random_below(random, 16);
}

static void list_random_extensions(test_random *random)
{
    it.lists_extensions = test_random_below(random, 8) != 0;
    for (const row *r = rows; r->aspect != DYNSEL_ASPECT_END_; r++) {
        const char *words = r->ways[test_random_below(random, 3)].extensions;
        if (words != NULL && test_random_below(random, 2) == 0) {
            (void)strcat(it.extensions, words);
            (void)strcat(it.extensions, test_random_below(random, 8) == 0 ? "_x " : " ");
        }
    }
}

static void random_devices_agree_with_model(void **state)
{
    static const cl_device_type types[] = {
        CL_DEVICE_TYPE_CPU,
        CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT,
        CL_DEVICE_TYPE_ACCELERATOR,
        CL_DEVICE_TYPE_CUSTOM,
        CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU,
        1u << 20,
    };
    static const char *const names[] = {"fast", "Intel(R) FPGA Emulation Device", "Simulated GPU"};
    test_random random = {test_seed()};
    (void)state;
    for (int round = 0; round < 3000; round++) {
        know_nothing();
        it.type = types[test_random_below(&random, COUNT(types))];
        it.name = names[test_random_below(&random, COUNT(names))];
        for (size_t i = 0; i < QUESTIONS; i++) {
            say_a_random_thing(&random, i);
        }
        list_random_extensions(&random);
        check_it();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(aspect_reported_by_driver_is_found),
        TEST(device_without_answers_has_no_aspects),
        TEST(aspect_with_missing_capability_bit_is_absent),
        TEST(unknown_query_means_absent_aspect),
        TEST(answer_of_wrong_size_means_absent_aspect),
        TEST(similar_extension_name_does_not_match),
        TEST(extension_at_any_list_position_is_found),
        TEST(atomic64_needs_base_and_extended_atomics),
        TEST(extension_list_beyond_buffer_is_ignored),
        TEST(opencl_c_versions_are_distinguished),
        TEST(random_devices_agree_with_model),
    };
    return RUN(tests);
}
