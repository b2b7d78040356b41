/* SPDX-License-Identifier: Apache-2.0 */
#include "support/range_cases.h"

#include "random.h"

#include <stdio.h>
#include <string.h>

#define N           ((size_t)RANGE_ELEMENTS)
#define DATA(i)     launch->arguments[i].value /* not NULL */
#define INT(i)      DYNSEL_LAUNCH_VALUE(launch, i, int)
#define ULONG(i)    DYNSEL_LAUNCH_VALUE(launch, i, uint64_t)
#define UNPACK(...) __VA_ARGS__
#define DIRECT(of)  (world->reached != NULL ? world->reached->of : world->of)

/* type; how many arguments; these in OpenCL C, and in C; how the kernel makes the iterator of them,
 * and a number of its element v; how the program makes it; what comes out at i. */
#define CASE(type, arguments, in_opencl, in_c, make, value, made, result)                          \
    static dynsel_status type##_form(const dynsel_launch *launch)                                  \
    {                                                                                              \
        UNPACK in_c;                                                                               \
        const type in = make;                                                                      \
        const inputs out = inputs_make(DATA(arguments));                                           \
        for (size_t i = 0; i < launch->global.size[0]; i++) {                                      \
            const type##_value v = type##_read(in, i);                                             \
            inputs_write(out, i, value);                                                           \
        }                                                                                          \
        return DYNSEL_OK;                                                                          \
    }                                                                                              \
    static dynsel_status type##_set(dynsel_handler *handler, range_world *world, size_t count)     \
    {                                                                                              \
        (void)world;                                                                               \
        const dynsel_status status =                                                               \
            dynsel_set_range(handler, 0, type, made, count, DYNSEL_ACCESS_READ);                   \
        return status != DYNSEL_OK                                                                 \
                   ? status                                                                        \
                   : dynsel_set_range(handler, arguments, inputs, inputs_make(world->out), count,  \
                                      DYNSEL_ACCESS_DISCARD_WRITE);                                \
    }                                                                                              \
    static int type##_expected(const range_world *world, size_t i)                                 \
    {                                                                                              \
        (void)world;                                                                               \
        (void)i;                                                                                   \
        return result;                                                                             \
    }                                                                                              \
    static const char type##_source[] = DYNSEL_OPENCL_ITERATORS RANGE_TYPES(DYNSEL_AS_TEXT)        \
        OWN(DYNSEL_AS_TEXT) "kernel void copy_" #type "(" in_opencl "global int *out)\n"           \
                            "{ const size_t i = get_global_id(0); const " #type " in = " #make     \
                            "; "                                                                   \
                            "const " #type "_value v = " #type "_read(in, i); out[i] = " #value    \
                            "; }\n";

#define ROW(type, count_, staged_, direct_)                                                        \
    {                                                                                              \
#type, {.name = "copy_" #type, .function = type##_form, .source = type##_source },         \
               count_,                                                                             \
               staged_,                                                                            \
               direct_,                                                                            \
               type##_set,                                                                         \
               type##_expected                                                                     \
    }

/* What goes with a type of the user's own. clang-format off */
#define OWN(AS)                                                                                    \
    AS(                                                                                            \
        typedef int own_value; typedef int own_direct_value;                                       \
        static inline int own_read(own it, size_t i) {                                             \
            return reached_read(it.first, i) + inputs_read(it.second, i) * it.shift;               \
        } static inline int own_direct_read(own_direct it, size_t i) {                             \
            return inputs_read(it.first, i) - inputs_read(it.second, i);                           \
        } static inline own own_make(reached first, inputs second, int shift) {                    \
            const own it = {first, second, shift};                                                 \
            return it;                                                                             \
        } static inline own_direct own_direct_make(inputs first, inputs second) {                  \
            const own_direct it = {first, second};                                                 \
            return it;                                                                             \
        })

OWN(DYNSEL_AS_C)

CASE(inputs, 1, "global int *p, ", (int *p = DATA(0)), inputs_make(p), v, inputs_make(world->a),
     world->a[i])
CASE(reached, 1, "global int *p, ", (int *p = DATA(0)), reached_make(p), v, reached_make(DIRECT(b)),
     world->b[i])
CASE(numbers, 1, "int n, ", (int n = INT(0)), numbers_make(n), v, numbers_make(7), 7 + (int)i)
CASE(nowhere, 0, "", (), nowhere_make(), v, nowhere_make(), 0)
CASE(squares, 1, "global int *p, ", (int *p = DATA(0)), squares_make(inputs_make(p)), v,
     squares_make(inputs_make(world->a)), world->a[i] * world->a[i])
CASE(fourths, 1, "global int *p, ", (int *p = DATA(0)), fourths_make(squares_make(inputs_make(p))),
     v, fourths_make(squares_make(inputs_make(world->a))),
     world->a[i] * world->a[i] * world->a[i] * world->a[i])
CASE(picked, 2, "global int *p, int n, ", (int *p = DATA(0); int n = INT(1)),
     picked_make(inputs_make(p), numbers_make(n), 0), v,
     picked_make(inputs_make(world->a), numbers_make(RANGE_SKIPPED), N),
     world->a[i + RANGE_SKIPPED])
CASE(mapped, 2, "global int *p, global int *q, ", (int *p = DATA(0); int *q = DATA(1)),
     mapped_make(inputs_make(p), inputs_make(q), 0), v,
     mapped_make(inputs_make(world->a), inputs_make(world->map), N), world->a[world->map[i]])
CASE(reached_by, 2, "global int *p, global int *q, ", (int *p = DATA(0); int *q = DATA(1)),
     reached_by_make(reached_make(p), inputs_make(q), 0), v,
     reached_by_make(reached_make(DIRECT(b)), inputs_make(world->map), N), world->b[world->map[i]])
CASE(backwards, 2, "global int *p, ulong n, ", (int *p = DATA(0); uint64_t n = ULONG(1)),
     backwards_make(inputs_make(p), n), v, backwards_make(inputs_make(world->a), N),
     world->a[N - 1 - i])
CASE(mapped_backwards, 3, "global int *p, global int *q, ulong n, ",
     (int *p = DATA(0); int *q = DATA(1); uint64_t n = ULONG(2)),
     mapped_backwards_make(mapped_make(inputs_make(p), inputs_make(q), 0), n), v,
     mapped_backwards_make(mapped_make(inputs_make(world->b), inputs_make(world->map), N), N),
     world->b[world->map[N - 1 - i]])
CASE(pairs, 2, "global int *p, global int *q, ", (int *p = DATA(0); int *q = DATA(1)),
     pairs_make(inputs_make(p), reached_make(q)), v.first * 3 + v.second,
     pairs_make(inputs_make(world->a), reached_make(DIRECT(b))), world->a[i] * 3 + world->b[i])
CASE(triples, 4, "global int *p, global int *q, ulong n, int m, ",
     (int *p = DATA(0); int *q = DATA(1); uint64_t n = ULONG(2); int m = INT(3)),
     triples_make(squares_make(inputs_make(p)), backwards_make(inputs_make(q), n), numbers_make(m)),
     v.first + v.second * 5 + v.third * 7,
     triples_make(squares_make(inputs_make(world->a)), backwards_make(inputs_make(world->b), N),
                  numbers_make(-3)),
     world->a[i] * world->a[i] + world->b[N - 1 - i] * 5 + ((int)i - 3) * 7)
CASE(all_four, 6,
     "global int *p, global int *q, global int *r, global int *s, ulong n, "
     "global int *t, ",
     (int *p = DATA(0); int *q = DATA(1); int *r = DATA(2); int *s = DATA(3); uint64_t n = ULONG(4);
      int *t = DATA(5)),
     all_four_make(pairs_make(inputs_make(p), reached_make(q)),
                   mapped_backwards_make(mapped_make(inputs_make(r), inputs_make(s), 0), n),
                   fourths_make(squares_make(inputs_make(t))), nowhere_make()),
     v.first.first + v.first.second + v.second + v.third + v.fourth,
     all_four_make(
         pairs_make(inputs_make(world->a), reached_make(DIRECT(b))),
         mapped_backwards_make(mapped_make(inputs_make(world->b), inputs_make(world->map), N), N),
         fourths_make(squares_make(inputs_make(world->a))), nowhere_make()),
     world->a[i] + world->b[i] + world->b[world->map[N - 1 - i]] +
         world->a[i] * world->a[i] * world->a[i] * world->a[i])
CASE(own, 3, "global int *p, global int *q, int n, ",
     (int *p = DATA(0); int *q = DATA(1); int n = INT(2)),
     own_make(reached_make(p), inputs_make(q), n), v,
     own_make(reached_make(world->a), inputs_make(world->b), 9), world->a[i] + world->b[i] * 9)
CASE(own_direct, 2, "global int *p, global int *q, ", (int *p = DATA(0); int *q = DATA(1)),
     own_direct_make(inputs_make(p), inputs_make(q)), v,
     own_direct_make(inputs_make(DIRECT(a)), inputs_make(DIRECT(b))), world->a[i] - world->b[i])
/* clang-format on */

const range_case range_cases[RANGE_CASES] = {
    ROW(inputs, N, N, 0),
    ROW(reached, N, 0, N),
    ROW(numbers, N, 0, 0),
    ROW(nowhere, N, 0, 0),
    ROW(squares, N, N, 0),
    ROW(fourths, 3, 3, 0),
    ROW(picked, N - RANGE_SKIPPED, N, 0),
    ROW(mapped, 9, N + 9, 0),
    ROW(reached_by, 9, 9, N),
    ROW(backwards, 4, N, 0),
    ROW(mapped_backwards, 7, 2 * N, 0),
    ROW(pairs, N, N, N),
    ROW(triples, 11, 11 + N, 0),
    ROW(all_four, 8, 8 + N + N + 8, 8),
    ROW(own, N, 2 * N, 0), /* no mark: nothing in it is passed directly */
    ROW(own_direct, N, 0, 2 * N),
};

dynsel_status range_record(dynsel_handler *handler, void *args)
{
    const range_job *job = args;
    const dynsel_status status = job->what->set(handler, job->world, job->what->count);
    return status == DYNSEL_OK ? dynsel_parallel_for(handler, &job->what->kernel,
                                                     DYNSEL_RANGE(job->what->count), NULL, NULL)
                               : status;
}

void range_fill(range_world *world, uint64_t seed)
{
    test_random random = {seed};
    for (size_t i = 0; i < RANGE_ELEMENTS; i++) {
        world->a[i] = (int)test_random_below(&random, 41) - 20;
        world->b[i] = (int)test_random_below(&random, 1001) - 500;
        world->map[i] = (int)test_random_below(&random, RANGE_ELEMENTS);
        world->out[i] = -7777;
    }
}

bool range_is_right(const range_job *job, uint64_t seed)
{
    range_world as_it_was;
    range_fill(&as_it_was, seed);
    for (size_t i = 0; i < RANGE_ELEMENTS; i++) {
        const int expected =
            i < job->what->count ? job->what->expected(&as_it_was, i) : as_it_was.out[i];
        if (job->world->out[i] != expected) {
            printf("%s: [%zu] is %d, not %d\n", job->what->name, i, job->world->out[i], expected);
            return false;
        }
    }
    return memcmp(job->world, &as_it_was, offsetof(range_world, out)) == 0;
}
