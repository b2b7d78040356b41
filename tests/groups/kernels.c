/* SPDX-License-Identifier: Apache-2.0 */
#include "groups/kernels.h"

#include <string.h>

/* Elements are little-endian, whatever the processor is, so that all processors agree. */
static uint64_t get(const unsigned char *data, size_t i, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t b = width; b > 0; b--) {
        value = value << 8 | data[i * width + b - 1];
    }
    return value;
}

static void put(unsigned char *data, size_t i, uint32_t width, uint64_t value)
{
    for (uint32_t b = 0; b < width; b++) {
        data[i * width + b] = (unsigned char)(value >> (8 * b));
    }
}

#define ACCESS                                                                                     \
    "typedef ulong value;\n"                                                                       \
    "#define GET(data, i, width) get_##data(data, i, width)\n"                                     \
    "#define GETTER(space, data) value get_##data(space const uchar *d, ulong i, uint width)\\\n"  \
    "{ value v = 0; for (uint b = width; b > 0; b--) v = v << 8 | d[i * width + b - 1];"           \
    " return v; }\n"                                                                               \
    "void put(global uchar *d, ulong i, uint width, value v)\n"                                    \
    "{ for (uint b = 0; b < width; b++) d[i * width + b] = (uchar)(v >> (8 * b)); }\n"             \
    "#define ID(k) (k < get_work_dim() ? get_global_id(get_work_dim() - 1 - k) : 0)\n"             \
    "#define NUMBER ((ID(0) * job.s6 + ID(1)) * job.s7 + ID(2))\n"

/* One call for each work item. */
typedef struct item {
    const dynsel_launch *launch;
    const uint32_t *job;
    size_t number; /* of the element */
} item;

static unsigned char *data_of(const item *it, size_t use)
{
    return dynsel_launch_data(it->launch, use);
}

static uint64_t read_of(const item *it, size_t use, size_t i)
{
    return get(data_of(it, use), i, it->job[JOB_WIDTHS + use]);
}

static void write_of(const item *it, size_t use, size_t i, uint64_t value)
{
    put(data_of(it, use), i, it->job[JOB_WIDTHS + use], value);
}

/* Where the work items are: a host task knows only from its arguments. */
typedef struct extent {
    size_t first[DYNSEL_MAX_DIMENSIONS];
    size_t size[DYNSEL_MAX_DIMENSIONS];
} extent;

static extent extent_of(const dynsel_launch *launch, const uint32_t *job)
{
    extent e;
    const dynsel_range *global = &launch->global;
    for (uint32_t d = 0; d < DYNSEL_MAX_DIMENSIONS; d++) {
        const bool said = d < global->dimensions;
        const bool is_task = global->dimensions == 0;
        e.first[d] = said ? launch->offset.size[d] : is_task ? job[JOB_OFFSET + d] : 0;
        e.size[d] = said                                ? global->size[d]
                    : is_task && job[JOB_RANGE + d] > 0 ? job[JOB_RANGE + d]
                                                        : 1;
    }
    return e;
}

static dynsel_status for_each(const dynsel_launch *launch, void (*work)(const item *it))
{
    /* it is always the last */
    const uint32_t *job = launch->arguments[launch->argument_count - 1].value;
    const extent e = extent_of(launch, job);
    for (size_t x = 0; x < e.size[0]; x++) {
        for (size_t y = 0; y < e.size[1]; y++) {
            for (size_t z = 0; z < e.size[2]; z++) {
                const size_t row = (x + e.first[0]) * job[JOB_ROWS] + y + e.first[1];
                const size_t number = row * job[JOB_COLUMNS] + z + e.first[2];
                work(&(item){.launch = launch, .job = job, .number = number});
            }
        }
    }
    return DYNSEL_OK;
}

static void churn_one(const item *it)
{
    const size_t i = it->number;
    write_of(it, 0, i, read_of(it, 0, i) * 3 + i + it->job[JOB_SALT]);
}

static dynsel_status churn(const dynsel_launch *launch)
{
    return for_each(launch, churn_one);
}

static void refill_one(const item *it)
{
    const size_t i = it->number;
    write_of(it, 0, i, i * it->job[JOB_SALT] + 7);
    write_of(it, 0, i, read_of(it, 0, i) * 3 + 1);
}

static dynsel_status refill(const dynsel_launch *launch)
{
    return for_each(launch, refill_one);
}

static void combine_one(const item *it)
{
    const size_t i = it->number;
    const uint64_t a = read_of(it, 1, i % it->job[JOB_COUNTS + 1]);
    const uint64_t b = read_of(it, 2, i % it->job[JOB_COUNTS + 2]);
    write_of(it, 0, i, a * 5 + b + i * it->job[JOB_SALT]);
}

static dynsel_status combine(const dynsel_launch *launch)
{
    return for_each(launch, combine_one);
}

static void stencil_one(const item *it)
{
    const size_t i = it->number;
    const size_t count = it->job[JOB_COUNTS + 1];
    const uint64_t sides =
        read_of(it, 1, (i + count - 1) % count) + read_of(it, 1, (i + 1) % count);
    write_of(it, 0, i, sides + read_of(it, 1, i % count) * 7 + it->job[JOB_SALT]);
}

static dynsel_status stencil(const dynsel_launch *launch)
{
    return for_each(launch, stencil_one);
}

static dynsel_status digest(const dynsel_launch *launch)
{
    const item it = {.launch = launch, .job = launch->arguments[2].value};
    uint64_t sum = it.job[JOB_SALT];
    for (size_t i = 0; i < it.job[JOB_COUNTS + 1]; i++) {
        sum = sum * 31 + read_of(&it, 1, i);
    }
    write_of(&it, 0, it.job[JOB_SALT] % it.job[JOB_COUNTS], sum);
    return DYNSEL_OK;
}

/* The only elements of the processor's own order of bytes. */
static void count_one(const item *it)
{
    const uint64_t value = read_of(it, 1, it->number % it->job[JOB_COUNTS + 1]) + it->number;
    unsigned char *const place = data_of(it, 0) + value % it->job[JOB_COUNTS] * sizeof(uint32_t);
    uint32_t sum = 0;
    memcpy(&sum, place, sizeof sum);
    sum += (uint32_t)value | 1u;
    memcpy(place, &sum, sizeof sum);
}

static dynsel_status count(const dynsel_launch *launch)
{
    return for_each(launch, count_one);
}

static dynsel_status mirror(const dynsel_launch *launch)
{
    const item it = {.launch = launch, .job = launch->arguments[2].value};
    uint64_t group[MIRROR_GROUP];
    for (size_t first = launch->offset.size[0];
         first < launch->offset.size[0] + launch->global.size[0]; first += MIRROR_GROUP) {
        for (size_t i = 0; i < MIRROR_GROUP; i++) {
            group[i] = read_of(&it, 0, first + i);
        }
        for (size_t i = 0; i < MIRROR_GROUP; i++) {
            write_of(&it, 0, first + i, group[MIRROR_GROUP - 1 - i] * 9 + it.job[JOB_SALT]);
        }
    }
    return DYNSEL_OK;
}

static void spoil_one(const item *it)
{
    write_of(it, 0, it->number, 0xBAD0BAD0BAD0BAD0u);
}

static dynsel_status broken(const dynsel_launch *launch)
{
    const uint32_t *job = launch->arguments[launch->argument_count - 1].value;
    (void)for_each(launch, spoil_one);
    return dynsel_fail(&(dynsel_error){.status = (dynsel_status)((int)DYNSEL_E_USER - 1),
                                       .function = "broken",
                                       .code = (int32_t)job[JOB_CODE]});
}

#define BUFFER "global uchar *x, "
#define JOB    "uint16 job)\n"
#define COMBINED(name, space)                                                                      \
    ACCESS "GETTER(global, a)\nGETTER(" space ", b)\n"                                             \
           "kernel void " name "(" BUFFER "global const uchar *a, " space " const uchar *b, " JOB  \
           "{ const ulong i = NUMBER; put(x, i, job.s0, GET(a, i % job.s4, job.s1) * 5 + "         \
           "GET(b, i % job.s5, job.s2) + i * job.s8); }\n"
#define CHURNED(name)                                                                              \
    ACCESS "GETTER(global, x)\nkernel void " name "(" BUFFER JOB                                   \
           "{ const ulong i = NUMBER; put(x, i, job.s0, GET(x, i, job.s0) * 3 + i + job.s8); }\n"

const dynsel_kernel program_kernels[KERNELS] = {
    [CHURN] = {.name = "churn", .function = churn, .source = CHURNED("churn")},
    [REFILL] = {.name = "refill",
                .function = refill,
                .source = ACCESS "GETTER(global, x)\nkernel void refill(" BUFFER JOB
                                 "{ const ulong i = NUMBER; put(x, i, job.s0, i * job.s8 + 7);"
                                 " put(x, i, job.s0, GET(x, i, job.s0) * 3 + 1); }\n"},
    [COMBINE] = {.name = "combine", .function = combine, .source = COMBINED("combine", "global")},
    [COMBINE_CONSTANT] = {.name = "combine_constant",
                          .function = combine,
                          .source = COMBINED("combine_constant", "constant")},
    [STENCIL] = {.name = "stencil",
                 .function = stencil,
                 .source = ACCESS
                 "GETTER(global, a)\nkernel void stencil(" BUFFER "global const uchar *a, " JOB
                 "{ const ulong i = NUMBER; const uint n = job.s4; put(x, i, job.s0, "
                 "GET(a, (i + n - 1) % n, job.s1) + GET(a, (i + 1) % n, job.s1) + "
                 "GET(a, i % n, job.s1) * 7 + job.s8); }\n"},
    [DIGEST] = {.name = "digest",
                .function = digest,
                .source = ACCESS "GETTER(global, a)\nkernel void digest(" BUFFER
                                 "global const uchar *a, " JOB
                                 "{ value sum = job.s8; for (uint i = 0; i < job.s4; i++) "
                                 "sum = sum * 31 + GET(a, i, job.s1); "
                                 "put(x, job.s8 % job.s3, job.s0, sum); }\n"},
    [COUNT] = {.name = "count",
               .function = count,
               .source =
                   ACCESS "GETTER(global, a)\nkernel void count(global uint *x, "
                          "global const uchar *a, " JOB
                          "{ const ulong i = NUMBER; const value v = GET(a, i % job.s4, job.s1) + "
                          "i; atomic_add(x + v % job.s3, (uint)v | 1u); }\n"},
    [MIRROR] = {.name = "mirror",
                .function = mirror,
                .source = ACCESS "GETTER(global, x)\nkernel void mirror(" BUFFER
                                 "local ulong *group, " JOB
                                 "{ const ulong i = get_global_id(0), n = get_local_size(0), "
                                 "l = get_local_id(0); group[l] = GET(x, i, job.s0); "
                                 "barrier(CLK_LOCAL_MEM_FENCE); "
                                 "put(x, i, job.s0, group[n - 1 - l] * 9 + job.s8); }\n"},
    [ONLY_C] = {.name = "only_c", .function = churn},
    [ONLY_DEVICES] = {.name = "only_devices", .source = CHURNED("only_devices")},
    [BROKEN] = {.name = "broken", .function = broken},
    [REFUSED] = {.name = "churn", .function = churn},
};

const dynsel_kernel_fn program_functions[KERNELS] = {
    [CHURN] = churn,
    [REFILL] = refill,
    [COMBINE] = combine,
    [STENCIL] = stencil,
    [COMBINE_CONSTANT] = combine,
    [DIGEST] = digest,
    [COUNT] = count,
    [MIRROR] = mirror,
    [ONLY_C] = churn,
    [BROKEN] = broken,
    [REFUSED] = churn,
    [ONLY_DEVICES] = churn,
};
