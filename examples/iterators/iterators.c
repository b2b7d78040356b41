/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transforms and sums ranges of many kinds wherever a policy wants it, and tells for each how many
 * bytes were staged for it, and how many were passed directly. README.md goes through it.
 */
#include <stdio.h>

#include "../common/choice.h"
#include "algorithms.h"

enum {
    COUNT = 1000, /* elements of all arrays */
    SOME = 250,   /* of the ranges that do not use all of one */
    FIRST = 500,
    INTS = COUNT * sizeof(int)
};

REDUCE(inputs, 1, "global int *a0", inputs_make(POINTER(0)))
REDUCE(samples, 1, "global int *a0", samples_make(POINTER(0)))
REDUCE(numbers, 1, "int a0", numbers_make(NUMBER(0)))
REDUCE(squared_inputs, 1, "global int *a0", squared_inputs_make(inputs_make(POINTER(0))))
REDUCE(squares, 1, "global int *a0", squares_make(samples_make(POINTER(0))))
REDUCE(picked, 2, "global int *a0, global int *a1",
       picked_make(inputs_make(POINTER(0)), inputs_make(POINTER(1)), 0))
REDUCE(shifted, 2, "global int *a0, int a1",
       shifted_make(samples_make(POINTER(0)), numbers_make(NUMBER(1)), 0))
REDUCE(added, 2, "global int *a0, global int *a1",
       added_make(half_shared_make(samples_make(POINTER(0)), inputs_make(POINTER(1)))))
REDUCE(weighted, 2, "global int *a0, int a1",
       weighted_make(numbered_make(samples_make(POINTER(0)), numbers_make(NUMBER(1)))))
REDUCE(last_inputs, 2, "global int *a0, ulong a1",
       last_inputs_make(inputs_make(POINTER(0)), SIZE(1)))
REDUCE(last, 2, "global int *a0, ulong a1", last_make(samples_make(POINTER(0)), SIZE(1)))
REDUCE(pair, 2, "global int *a0, global int *a1",
       pair_make(samples_make(POINTER(0)), samples_make(POINTER(1))))
REDUCE_GROUP(unmarked_pair, 2, reduce_pair_kernel)
REDUCE(mixed_pair, 2, "global int *a0, global int *a1",
       mixed_pair_make(samples_make(POINTER(0)), inputs_make(POINTER(1))))

TRANSFORM(inputs, inputs, 1, "global int *a0, global int *a1", inputs_make(POINTER(0)),
          inputs_make(POINTER(1)))
TRANSFORM(samples, samples, 1, "global int *a0, global int *a1", samples_make(POINTER(0)),
          samples_make(POINTER(1)))
TRANSFORM(samples, nowhere, 1, "global int *a0", samples_make(POINTER(0)), nowhere_make())

/* The host's arrays, and the same numbers in SVM. */
static int data[COUNT];
static int other[COUNT];
static int map[SOME];
static int results[COUNT];

typedef struct shared_arrays {
    int *data;
    int *other;
    int *results;
} shared_arrays;

/* What the elements of the ranges are, in plain C. */
static int of_data(size_t i)
{
    return data[i];
}

static int of_numbers(size_t i)
{
    return FIRST + (int)i;
}

static int of_squares(size_t i)
{
    return data[i] * data[i];
}

static int of_picked(size_t i)
{
    return data[map[i]];
}

static int of_shifted(size_t i)
{
    return data[FIRST + i];
}

static int of_sums(size_t i)
{
    return data[i] + other[i];
}

static int of_weighted(size_t i)
{
    return data[i] * (FIRST + (int)i);
}

static int of_last(size_t i)
{
    return data[COUNT - 1 - i];
}

static int of_products(size_t i)
{
    return data[i] * other[i];
}

/* The program's state. */
typedef struct table {
    dynsel_policy *policy;
    dynsel_range_bytes total;
    unsigned rows;
    unsigned wrong;
} table;

/* One row: a range is reduced, or transformed into another. */
typedef struct row {
    const char *text;
    dynsel_group_fn group;
    bool direct; /* what the trait of its types says */
    const void *in;
    const void *out;
    uint64_t count;
    int (*element)(size_t i);
} row;

#define REDUCTION(text, type, iterator, count, element)                                            \
    {                                                                                              \
        text, reduce_##type, reduce_##type##_is_direct, (const type[]){iterator}, NULL, count,     \
            element                                                                                \
    }

#define TRANSFORMATION(text, in_type, in, out_type, out)                                           \
    {                                                                                              \
        text, square_##in_type##_to_##out_type, square_##in_type##_to_##out_type##_is_direct,      \
            (const in_type[]){in}, (const out_type[]){out}, COUNT, NULL                            \
    }

static void print_row(table *t, const row *r, const dynsel_range_bytes *bytes, const char *where,
                      bool right)
{
    (void)printf("%-36s %5s %9llu %10llu %7llu  %s%s\n", r->text, r->direct ? "yes" : "no",
                 (unsigned long long)bytes->staged_in, (unsigned long long)bytes->staged_out,
                 (unsigned long long)bytes->direct, where, right ? "" : "  WRONG");
    t->total.staged_in += bytes->staged_in;
    t->total.staged_out += bytes->staged_out;
    t->total.direct += bytes->direct;
    t->rows++;
    t->wrong += !right;
}

/* Runs the command group to its end. bytes, where: out. */
static dynsel_status run(const table *t, const row *r, void *job, dynsel_range_bytes *bytes,
                         const char **where)
{
    dynsel_submission submission;
    dynsel_status status = dynsel_submit_command_group(t->policy, r->group, job, &submission);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = dynsel_wait_group(dynsel_get_submission_group(t->policy));
    if (status == DYNSEL_OK) {
        status = dynsel_submission_range_bytes(&submission, bytes);
    }
    *where = dynsel_resource_name(dynsel_submission_resource(&submission));
    const dynsel_status ended = dynsel_wait(&submission);
    return status == DYNSEL_OK ? ended : status;
}

static dynsel_status add_up(dynsel_buffer sums, int *sum)
{
    dynsel_host_accessor seen = {0};
    const dynsel_status status = dynsel_host_accessor_open(&seen, sums, DYNSEL_ACCESS_READ);
    if (status != DYNSEL_OK) {
        return status;
    }
    *sum = 0;
    for (size_t part = 0; part < PARTS; part++) {
        *sum += ((const int *)seen.data)[part];
    }
    return dynsel_host_accessor_close(&seen);
}

/* The partial sums go through a buffer, so they are nothing that a range makes move. */
static dynsel_status reduce(table *t, const row *r, dynsel_buffer parts)
{
    const dynsel_accessor sums = {
        .name = "sums", .buffer = parts, .mode = DYNSEL_ACCESS_DISCARD_WRITE, .placeholder = true};
    reduction job = {r->in, r->count, &sums};
    dynsel_range_bytes bytes = {0};
    const char *where = "";
    int sum = 0;
    int expected = 0;
    dynsel_status status = run(t, r, &job, &bytes, &where);
    status = status == DYNSEL_OK ? add_up(parts, &sum) : status;
    if (status == DYNSEL_OK) {
        for (size_t i = 0; i < r->count; i++) {
            expected += r->element(i);
        }
        print_row(t, r, &bytes, where, sum == expected);
    }
    return status;
}

static dynsel_status reduce_all(table *t, const row *rows, size_t count)
{
    static int sums[PARTS];
    dynsel_buffer parts = {0};
    dynsel_status status = dynsel_buffer_init(&parts, sums, sizeof sums[0], DYNSEL_RANGE(PARTS));
    for (size_t i = 0; i < count && status == DYNSEL_OK; i++) {
        status = reduce(t, &rows[i], parts);
    }
    return status == DYNSEL_OK ? dynsel_buffer_deinit(&parts) : status;
}

/* written: where the results are. */
static dynsel_status transform(table *t, const row *r, int *written, bool shared)
{
    transformation job = {r->in, r->out, r->count};
    dynsel_range_bytes bytes = {0};
    const char *where = "";
    bool right = true;
    dynsel_status status = run(t, r, &job, &bytes, &where);
    if (status == DYNSEL_OK && shared) {
        status = dynsel_svm_map(written, DYNSEL_ACCESS_READ);
    }
    if (status != DYNSEL_OK) {
        return status;
    }
    for (size_t i = 0; written != NULL && i < r->count; i++) {
        right = right && written[i] == data[i] * data[i];
    }
    print_row(t, r, &bytes, where, right);
    return shared ? dynsel_svm_unmap(written) : DYNSEL_OK;
}

#define ROWS(rows) (sizeof(rows) / sizeof(rows)[0])

static dynsel_status with_host_arrays(table *t)
{
    const inputs in = inputs_make(data);
    const row rows[] = {
        REDUCTION("sum of host array", inputs, in, COUNT, of_data),
        REDUCTION("sum of counting", numbers, numbers_make(FIRST), COUNT, of_numbers),
        REDUCTION("sum of transform(host)", squared_inputs, squared_inputs_make(in), COUNT,
                  of_squares),
        REDUCTION("sum of permutation(host, host)", picked,
                  picked_make(in, inputs_make(map), COUNT), SOME, of_picked),
        REDUCTION("sum of reverse(host)", last_inputs, last_inputs_make(in, COUNT), SOME, of_last),
    };
    const row to_host =
        TRANSFORMATION("host array into host array", inputs, in, inputs, inputs_make(results));
    const dynsel_status status = reduce_all(t, rows, ROWS(rows));
    return status == DYNSEL_OK ? transform(t, &to_host, results, false) : status;
}

static dynsel_status with_shared_arrays(table *t, const shared_arrays *shared)
{
    const samples in = samples_make(shared->data);
    const samples second = samples_make(shared->other);
    const inputs from_host = inputs_make(other);
    const row rows[] = {
        REDUCTION("sum of SVM", samples, in, COUNT, of_data),
        REDUCTION("sum of transform(SVM)", squares, squares_make(in), COUNT, of_squares),
        REDUCTION("sum of permutation(SVM, counting)", shifted,
                  shifted_make(in, numbers_make(FIRST), COUNT), SOME, of_shifted),
        REDUCTION("sum of transform(zip(SVM, host))", added,
                  added_make(half_shared_make(in, from_host)), COUNT, of_sums),
        REDUCTION("sum of transform(zip(SVM, counting))", weighted,
                  weighted_make(numbered_make(in, numbers_make(FIRST))), COUNT, of_weighted),
        REDUCTION("sum of reverse(SVM)", last, last_make(in, COUNT), SOME, of_last),
        REDUCTION("sum of pair(SVM, SVM)", pair, pair_make(in, second), COUNT, of_products),
        REDUCTION("sum of the same by an unmarked name", unmarked_pair, pair_make(in, second),
                  COUNT, of_products),
        REDUCTION("sum of pair(SVM, host)", mixed_pair, mixed_pair_make(in, from_host), COUNT,
                  of_products),
    };
    const row to_shared =
        TRANSFORMATION("SVM into SVM", samples, in, samples, samples_make(shared->results));
    const row to_nowhere = TRANSFORMATION("SVM into discard", samples, in, nowhere, nowhere_make());
    dynsel_status status = reduce_all(t, rows, ROWS(rows));
    status = status == DYNSEL_OK ? transform(t, &to_shared, shared->results, true) : status;
    return status == DYNSEL_OK ? transform(t, &to_nowhere, NULL, false) : status;
}

static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        data[i] = i % 17 - 5;
        other[i] = i % 7 + 1;
    }
    for (int i = 0; i < SOME; i++) {
        map[i] = i * 3 + 1;
    }
}

/* Memory that one of the policy's resources shares with the host. Devices come last. */
static dynsel_status share(const dynsel_policy *policy, int **memory)
{
    dynsel_status status = DYNSEL_E_UNSUPPORTED;
    void *block = NULL;
    for (size_t i = policy->count; i > 0 && status == DYNSEL_E_UNSUPPORTED; i--) {
        status = dynsel_svm_alloc(&policy->resources[i - 1], INTS, 0, &block);
    }
    *memory = block;
    return status;
}

/* values: to begin with; NULL: none. */
static dynsel_status make_shared(const dynsel_policy *policy, const int *values, int **memory)
{
    dynsel_status status = share(policy, memory);
    if (status != DYNSEL_OK || values == NULL) {
        return status;
    }
    status = dynsel_svm_map(*memory, DYNSEL_ACCESS_DISCARD_WRITE);
    if (status != DYNSEL_OK) {
        return status;
    }
    for (size_t i = 0; i < COUNT; i++) {
        (*memory)[i] = values[i];
    }
    return dynsel_svm_unmap(*memory);
}

static dynsel_status make_all_shared(const dynsel_policy *policy, shared_arrays *shared)
{
    dynsel_status status = make_shared(policy, data, &shared->data);
    status = status == DYNSEL_OK ? make_shared(policy, other, &shared->other) : status;
    return status == DYNSEL_OK ? make_shared(policy, NULL, &shared->results) : status;
}

static dynsel_status free_shared(const shared_arrays *shared)
{
    dynsel_status status = dynsel_svm_free(shared->data);
    status = status == DYNSEL_OK ? dynsel_svm_free(shared->other) : status;
    return status == DYNSEL_OK ? dynsel_svm_free(shared->results) : status;
}

static dynsel_status print_table(table *t)
{
    shared_arrays shared = {0};
    (void)printf("%-36s %5s %9s %10s %7s  %s\n", "range", "trait", "staged in", "staged out",
                 "direct", "on");
    dynsel_status status = with_host_arrays(t);
    if (status != DYNSEL_OK) {
        return status;
    }
    status = make_all_shared(t->policy, &shared);
    if (status == DYNSEL_E_UNSUPPORTED) {
        (void)puts("no SVM: none of these devices shares memory with the host");
        return DYNSEL_OK;
    }
    status = status == DYNSEL_OK ? with_shared_arrays(t, &shared) : status;
    return status == DYNSEL_OK ? free_shared(&shared) : status;
}

/* What the policy counted is what its submissions did. */
static bool counts_agree(const table *t)
{
    dynsel_range_bytes all = {0};
    const dynsel_status status = dynsel_get_range_statistics(t->policy, &all);
    return status == DYNSEL_E_UNSUPPORTED ||
           (status == DYNSEL_OK && all.staged_in == t->total.staged_in &&
            all.staged_out == t->total.staged_out && all.direct == t->total.direct);
}

int main(int argc, char **argv)
{
    table t = {.policy =
                   choice_make(argc, argv,
                               "Sums and transforms ranges of iterators; says how many bytes were "
                               "staged for each, and\nhow many were passed directly.")};
    fill();
    const dynsel_status status = print_table(&t);
    const bool agree = status == DYNSEL_OK && counts_agree(&t);
    if (status == DYNSEL_OK) {
        (void)printf("%-36s %5s %9llu %10llu %7llu\n", "together", "",
                     (unsigned long long)t.total.staged_in, (unsigned long long)t.total.staged_out,
                     (unsigned long long)t.total.direct);
        (void)printf("%u of %u are wrong; the policy's counters %s\n", t.wrong, t.rows,
                     agree ? "agree" : "DO NOT AGREE");
    }
    return choice_end(t.policy, status, t.wrong == 0 && agree);
}
