/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two algorithms over any iterator with elements of type int. Each is a macro that declares, for
 * one type, a kernel with a form for the host and one for OpenCL, and the group function that
 * launches it.
 *
 * In both forms an iterator is put together out of the kernel's arguments, one a leaf: `made` says
 * how, with POINTER(n), NUMBER(n) and SIZE(n) for argument n. `parameters` are these arguments in
 * OpenCL C, called a0, a1, ...
 */
#ifndef ITERATORS_ALGORITHMS_H
#define ITERATORS_ALGORITHMS_H

#include <dynsel/dynsel.h>

#include "ranges.h"

#define POINTER(n) ((int *)launch->arguments[n].value)
#define NUMBER(n)  DYNSEL_LAUNCH_VALUE(launch, n, int)
#define SIZE(n)    DYNSEL_LAUNCH_VALUE(launch, n, uint64_t)

#define ALGORITHM_TEXT                                                                             \
    ITERATORS_TEXT "#define POINTER(n) a##n\n"                                                     \
                   "#define NUMBER(n) a##n\n"                                                      \
                   "#define SIZE(n) a##n\n"

/* So many partial sums are made side by side. */
enum { PARTS = 8 };

typedef struct reduction {
    const void *in; /* the iterator */
    uint64_t count;
    const dynsel_accessor *sums; /* a placeholder */
} reduction;

/* `reduce_<type>`, a group function: the sum of a range, in PARTS parts; and whether that range is
 * passed directly, `reduce_<type>_is_direct`. leaves: how many the type has. */
#define REDUCE(type, leaves, parameters, made)                                                     \
    REDUCE_KERNEL(type, leaves, parameters, made, #made)                                           \
    REDUCE_GROUP(type, leaves, reduce_##type##_kernel)

#define REDUCE_KERNEL(type, leaves, parameters, made, text)                                        \
    static dynsel_status reduce_##type##_on_host(const dynsel_launch *launch)                      \
    {                                                                                              \
        const type in = made;                                                                      \
        int *sums = POINTER(leaves);                                                               \
        const uint64_t count = SIZE((leaves) + 1);                                                 \
        for (size_t part = 0; part < PARTS; part++) {                                              \
            sums[part] = 0;                                                                        \
            for (size_t i = part; i < count; i += PARTS) {                                         \
                sums[part] += type##_read(in, i);                                                  \
            }                                                                                      \
        }                                                                                          \
        return DYNSEL_OK;                                                                          \
    }                                                                                              \
                                                                                                   \
    static const dynsel_kernel reduce_##type##_kernel = {                                          \
        .name = "reduce",                                                                          \
        .function = reduce_##type##_on_host,                                                       \
        .source =                                                                                  \
            ALGORITHM_TEXT "kernel void reduce(" parameters ", global int *sums, ulong count)\n"   \
                           "{\n"                                                                   \
                           "    const " #type " in = " text ";\n"                                  \
                           "    const size_t part = get_global_id(0);\n"                           \
                           "    int sum = 0;\n"                                                    \
                           "    for (ulong i = part; i < count; i += get_global_size(0)) {\n"      \
                           "        sum += " #type "_read(in, i);\n"                               \
                           "    }\n"                                                               \
                           "    sums[part] = sum;\n"                                               \
                           "}\n",                                                                  \
    };

#define REDUCE_GROUP(type, leaves, kernel)                                                         \
    enum { reduce_##type##_is_direct = dynsel_is_passed_directly_to_device(type) };                \
                                                                                                   \
    static dynsel_status reduce_##type(dynsel_handler *handler, void *args)                        \
    {                                                                                              \
        const reduction *job = args;                                                               \
        dynsel_set_range(handler, 0, type, *(const type *)job->in, job->count,                     \
                         DYNSEL_ACCESS_READ);                                                      \
        dynsel_require(handler, job->sums);                                                        \
        dynsel_set_arg(handler, leaves, job->sums);                                                \
        dynsel_set_arg(handler, (leaves) + 1, job->count);                                         \
        return dynsel_parallel_for(handler, &(kernel), DYNSEL_RANGE(PARTS), NULL, NULL);           \
    }

typedef struct transformation {
    const void *in;
    const void *out;
    uint64_t count;
} transformation;

/* `square_<in_type>_to_<out_type>`, a group function: each element of a range, squared, into
 * another; and whether both are passed directly. out_index: the first argument that is of `out`. */
#define TRANSFORM(in_type, out_type, out_index, parameters, in_made, out_made)                     \
    static dynsel_status square_##in_type##_to_##out_type##_on_host(const dynsel_launch *launch)   \
    {                                                                                              \
        const in_type in = in_made;                                                                \
        const out_type out = out_made;                                                             \
        for (size_t i = 0; i < launch->global.size[0]; i++) {                                      \
            out_type##_write(out, i, square(in_type##_read(in, i)));                               \
        }                                                                                          \
        return DYNSEL_OK;                                                                          \
    }                                                                                              \
                                                                                                   \
    static const dynsel_kernel square_##in_type##_to_##out_type##_kernel = {                       \
        .name = "transform",                                                                       \
        .function = square_##in_type##_to_##out_type##_on_host,                                    \
        .source =                                                                                  \
            ALGORITHM_TEXT "kernel void transform(" parameters ")\n"                               \
                           "{\n"                                                                   \
                           "    const " #in_type " in = " #in_made ";\n"                           \
                           "    const " #out_type " out = " #out_made ";\n"                        \
                           "    const size_t i = get_global_id(0);\n"                              \
                           "    " #out_type "_write(out, i, square(" #in_type "_read(in, i)));\n"  \
                           "}\n",                                                                  \
    };                                                                                             \
                                                                                                   \
    enum {                                                                                         \
        square_##in_type##_to_##out_type##_is_direct =                                             \
            dynsel_is_passed_directly_to_device(in_type) &&                                        \
            dynsel_is_passed_directly_to_device(out_type)                                          \
    };                                                                                             \
                                                                                                   \
    static dynsel_status square_##in_type##_to_##out_type(dynsel_handler *handler, void *args)     \
    {                                                                                              \
        const transformation *job = args;                                                          \
        dynsel_set_range(handler, 0, in_type, *(const in_type *)job->in, job->count,               \
                         DYNSEL_ACCESS_READ);                                                      \
        dynsel_set_range(handler, out_index, out_type, *(const out_type *)job->out, job->count,    \
                         DYNSEL_ACCESS_DISCARD_WRITE);                                             \
        return dynsel_parallel_for(handler, &square_##in_type##_to_##out_type##_kernel,            \
                                   DYNSEL_RANGE((size_t)job->count), NULL, NULL);                  \
    }

#endif
