/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of vectors, as a library for linear algebra has them: a view is some elements of a buffer,
 * and views are made of views. The buffer cannot be looked into where a view is made, and where the
 * view will be evaluated is not known either; so what it keeps is a placeholder.
 */
#include <stdio.h>

#include "../common/choice.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* What the host and the devices compute: C, and OpenCL C. */
#define COMMON                                                                                     \
    typedef struct span {                                                                          \
        int offset;                                                                                \
        int stride;                                                                                \
        int count;                                                                                 \
    } span;                                                                                        \
                                                                                                   \
    static inline global float *at(global float *data, span elements, int i)                       \
    {                                                                                              \
        return &data[elements.offset + i * elements.stride];                                       \
    }                                                                                              \
                                                                                                   \
    static inline void axpy_one(global float *y, span of_y, float a, global float *x, span of_x,   \
                                int i)                                                             \
    {                                                                                              \
        *at(y, of_y, i) += a * *at(x, of_x, i);                                                    \
    }

#define TEXT(...)          TEXT_EXPANDED(__VA_ARGS__)
#define TEXT_EXPANDED(...) #__VA_ARGS__

static const char axpy_source[] =
    TEXT(COMMON) "kernel void axpy(global float *y, span of_y, float a, global float *x, span of_x)"
                 "{ axpy_one(y, of_y, a, x, of_x, get_global_id(0)); }";

#define global /* the host has one kind of memory */
COMMON
#undef global

/* Some elements of a buffer. */
typedef struct vector_view {
    dynsel_accessor data; /* a placeholder */
    span elements;
} vector_view;

static vector_view view_of(dynsel_buffer buffer, dynsel_access_mode mode, int count)
{
    return (vector_view){.data = {.buffer = buffer, .mode = (uint8_t)mode, .placeholder = true},
                         .elements = {.offset = 0, .stride = 1, .count = count}};
}

/* Of a view's elements every `stride`-th, from `offset` on. */
static vector_view view_part(vector_view of, int offset, int stride, int count)
{
    of.elements = (span){.offset = of.elements.offset + offset * of.elements.stride,
                         .stride = of.elements.stride * stride,
                         .count = count};
    return of;
}

/* Requires a view, and makes it two arguments of the kernel. */
static void view_use(dynsel_handler *handler, uint32_t index, const vector_view *view)
{
    dynsel_require(handler, &view->data);
    dynsel_set_arg_accessor(handler, index, &view->data);
    dynsel_set_arg_value(handler, index + 1, &view->elements, sizeof view->elements);
}

/* y = a * x + y */
typedef struct axpy {
    const char *text;
    vector_view y;
    float a;
    vector_view x;
} axpy;

static dynsel_status axpy_on_host(const dynsel_launch *launch)
{
    float *y = dynsel_launch_data(launch, 0);
    const span of_y = DYNSEL_LAUNCH_VALUE(launch, 1, span);
    const float a = DYNSEL_LAUNCH_VALUE(launch, 2, float);
    float *x = dynsel_launch_data(launch, 3);
    const span of_x = DYNSEL_LAUNCH_VALUE(launch, 4, span);
    for (int i = 0; i < of_y.count; i++) {
        axpy_one(y, of_y, a, x, of_x, i);
    }
    return DYNSEL_OK;
}

static const dynsel_kernel axpy_kernel = {
    .name = "axpy",
    .function = axpy_on_host,
    .source = axpy_source,
};

static dynsel_status axpy_group(dynsel_handler *handler, void *args)
{
    const axpy *expression = args;
    view_use(handler, 0, &expression->y);
    dynsel_set_arg_value(handler, 2, &expression->a, sizeof expression->a);
    view_use(handler, 3, &expression->x);
    return dynsel_parallel_for(handler, &axpy_kernel,
                               DYNSEL_RANGE((size_t)expression->y.elements.count), NULL, NULL);
}

static dynsel_status evaluate(dynsel_policy *policy, axpy *expression)
{
    dynsel_submission submission;
    dynsel_status status = dynsel_submit_command_group(policy, axpy_group, expression, &submission);
    if (status != DYNSEL_OK) {
        return status;
    }
    choice_say(expression->text, &submission);
    return dynsel_submission_release(&submission);
}

enum { ROWS = 48, COLUMNS = 64 };

static float matrix[ROWS][COLUMNS];
static float vector[COLUMNS];

static float first_of_matrix(int row, int column)
{
    return (float)(row * 7 % 5 - column % 3);
}

static void fill(void)
{
    for (int row = 0; row < ROWS; row++) {
        for (int column = 0; column < COLUMNS; column++) {
            matrix[row][column] = first_of_matrix(row, column);
        }
    }
    for (int column = 0; column < COLUMNS; column++) {
        vector[column] = (float)column;
    }
}

/* Each expression reads and writes what those before it wrote, wherever they ran. */
static dynsel_status evaluate_all(dynsel_policy *policy, dynsel_buffer m, dynsel_buffer v)
{
    const vector_view all = view_of(m, DYNSEL_ACCESS_READ_WRITE, ROWS * COLUMNS);
    const vector_view x = view_of(v, DYNSEL_ACCESS_READ, COLUMNS);
    const vector_view row = view_part(all, COLUMNS, 1, COLUMNS); /* row 1 */
    const vector_view column = view_part(all, 3, COLUMNS, ROWS); /* column 3 */
    axpy expressions[] = {
        {"row += 2 vector", row, 2, x},
        {"column -= end of vector", column, -1, view_part(x, COLUMNS - ROWS, 1, ROWS)},
        {"half of column += 3 row", view_part(column, 0, 2, ROWS / 2), 3,
         view_part(row, 4, 2, ROWS / 2)}, /* both in the matrix */
    };
    dynsel_status status = DYNSEL_OK;
    for (int i = 0; i < COUNT(expressions) && status == DYNSEL_OK; i++) {
        status = evaluate(policy, &expressions[i]);
    }
    return status;
}

/* The same in plain C. */
static int count_wrong(void)
{
    static float expected[ROWS][COLUMNS];
    int wrong = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        expected[i / COLUMNS][i % COLUMNS] = first_of_matrix(i / COLUMNS, i % COLUMNS);
    }
    for (int i = 0; i < COLUMNS; i++) {
        expected[1][i] += 2 * (float)i;
    }
    for (int i = 0; i < ROWS; i++) {
        expected[i][3] -= (float)(COLUMNS - ROWS + i);
    }
    for (int i = 0; i < ROWS; i += 2) {
        expected[i][3] += 3 * expected[1][4 + i];
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        wrong += matrix[i / COLUMNS][i % COLUMNS] != expected[i / COLUMNS][i % COLUMNS];
    }
    return wrong;
}

int main(int argc, char **argv)
{
    dynsel_policy *policy = choice_make(
        argc, argv, "Adds up rows and columns of a matrix through views; says where each sum ran.");
    dynsel_buffer m = {0};
    dynsel_buffer v = {0};
    fill();
    dynsel_status status =
        dynsel_buffer_init(&m, matrix, sizeof(float), DYNSEL_RANGE_2D(ROWS, COLUMNS));
    status = status == DYNSEL_OK
                 ? dynsel_buffer_init(&v, vector, sizeof(float), DYNSEL_RANGE(COLUMNS))
                 : status;
    status = status == DYNSEL_OK ? evaluate_all(policy, m, v) : status;
    status = status == DYNSEL_OK ? dynsel_wait_group(dynsel_get_submission_group(policy)) : status;
    /* now the results are brought back */
    status = status == DYNSEL_OK ? dynsel_buffer_deinit(&m) : status;
    status = status == DYNSEL_OK ? dynsel_buffer_deinit(&v) : status;
    const int wrong = status == DYNSEL_OK ? count_wrong() : -1;
    if (status == DYNSEL_OK) {
        (void)printf("%-28s %d of %d\n", "wrong elements", wrong, ROWS * COLUMNS);
    }
    return choice_end(policy, status, wrong == 0);
}
